"""The models: which are used, at which server, what they spent since this server began, and whether one answers.

Keys are never told; nor is what an address has beside host and path.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit, urlunsplit

from fastapi import APIRouter, Request, Response

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import ModelError, SettingError
from kgplatform.evaluate.costs import load_prices, worth
from kgplatform.evaluate.terms import Spent
from kgplatform.interfaces.http.failures import error_of, errors
from kgplatform.interfaces.http.parts import Served
from kgplatform.shown import as_fields

router = APIRouter(prefix="/api/models", tags=["models"])

_OPENAI = "https://api.openai.com/v1"


@router.get("", summary="The models and their usage")
async def models(request: Request, parts: Served) -> Response:
    """`spent`: what this server spent since it began, by stage; `cached_calls` cost nothing. `money`: what the language
    model's tokens cost at OpenAI's list prices of the day `as_of`; null for other servers and models."""
    return await parts.workers.answer(request, lambda graph: _told(parts.graph))


@router.post("/test", summary="Call the language model once", responses=errors(429))
async def test(request: Request, parts: Served) -> Response:
    """A short call that no cache answers, and that is not tried again. `error` says what to do where it failed."""
    return await parts.workers.answer(request, _tried, kind="asks")


def _told(graph: KnowledgeGraph) -> dict[str, Any]:
    settings = graph.settings
    spent = graph.ledger.by_stage()
    chat = graph.language_model
    return {
        "chat": chat and {"model": chat.model, "address": _plain(settings.openai_base_url or _OPENAI)},
        "has_key": settings.openai_api_key is not None,
        "embedder": graph.embedder.name,
        "budget": settings.token_budget,
        "spent": [{"stage": stage, **as_fields(usage)} for stage, usage in spent.items()],
        "money": _money(graph) if chat and settings.openai_base_url is None else None,
    }


def _plain(address: str) -> str:
    """``address`` without a user, a password, or what follows the path."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def _money(graph: KnowledgeGraph) -> dict[str, Any] | None:
    prices = load_prices()
    spent = {stage: each for stage, each in worth(graph.ledger).items() if stage != "embed"}
    amount = prices.cost(sum(spent.values(), Spent()), graph.settings.chat_model)
    return None if amount is None else {"amount": round(amount, 6), "currency": prices.currency, "as_of": prices.as_of}


def _tried(graph: KnowledgeGraph) -> dict[str, Any]:
    try:
        trial = graph.try_model()
    except (ModelError, SettingError) as error:
        return {"ok": False, "error": error_of(error)["message"]}
    return {"ok": True, **as_fields(trial)}
