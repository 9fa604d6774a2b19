"""What goes wrong between us and a model's server: whether it may pass, and what it is in our words."""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from kgplatform.errors import ModelError, ReplyError
from kgplatform.text import counted

if TYPE_CHECKING:
    import openai

LONGEST_WAIT = 300.0
"""Seconds: a server that asks for a longer pause than this is not waited for."""
TIME_OUT_RETRIES = 1
_BLAMES = re.compile(r"system (?:role|message|prompt)|jinja|template|grammar|schema|response_format|unsupported param")
_TOO_LONG = re.compile(r"context.?length|context.?window|context.?size|too long|too many tokens|maximum.{0,20}tokens")
_SHOWN = 300


class BadAnswerError(ModelError):
    """The server said 200, and what it sent is not an answer. Worth another try."""


class FaultError(ModelError):
    """The server answered 500 to every try."""


class RefusedError(ModelError):
    """The server refuses the request (400, 413, 422, or 500 with words that blame the request).

    ``parameter`` is what it names as the reason, if it does; ``said``: its words.
    """

    def __init__(self, message: str, parameter: str | None, said: str = "", *, too_long: bool) -> None:
        super().__init__(message)
        self.parameter = parameter
        self.said = said
        self.too_long = too_long


def translated(
    error: openai.APIError, hide: Callable[[str], str], where: str, stage: str, model: str, retries: int
) -> ModelError:
    """``error`` in our words. ``hide`` takes the key out of the server's, after they were understood."""
    import openai

    status = getattr(error, "status_code", None)
    raw = _server_words(error)
    said = hide(raw)
    if status in (400, 413, 422) or _refuses(error):
        return _refusal(error, raw, said, f"{where}, stage {stage}", model)
    if status in (401, 403):
        return ModelError(f"{where} refused the key in stage {stage} ({status}): check OPENAI_API_KEY. {said}")
    if status == 404:
        return ModelError(
            f"{where} has no model {model!r} (stage {stage}, 404): check KGPLATFORM_CHAT_MODEL or "
            f"KGPLATFORM_EMBEDDER, and OPENAI_BASE_URL, which mostly ends in /v1. {said}"
        )
    if error.code == "insufficient_quota":
        return ModelError(f"{where}: the account has no credit left (stage {stage}). {said}")
    if isinstance(error, openai.APITimeoutError):
        retries = min(retries, TIME_OUT_RETRIES)
    tries = f"{counted(retries + 1, 'try')} in all" if is_transient(error) else "not tried again"
    if isinstance(error, openai.APITimeoutError):
        fault = "no answer in time; a larger KGPLATFORM_MODEL_TIMEOUT may help."
    elif isinstance(error, openai.APIConnectionError):
        fault = f"it cannot be reached, or broke the connection ({error.__cause__})"
        fault += ". Is it running, and is OPENAI_BASE_URL right?"
    else:
        wait = retry_after(error)
        pause = f", and asks to wait {wait:.0f} s" if wait is not None and wait > LONGEST_WAIT else ""
        fault = f"it answered {status}{pause}. {said}"
    sentence = f"{where} failed in stage {stage}, {tries}: {fault}"
    return FaultError(sentence) if status == 500 else ModelError(sentence)


def _refusal(error: openai.APIError, raw: str, said: str, where: str, model: str) -> ModelError:
    """``raw``: the server's words; ``said``: the same without the key, for people."""
    if error.code == "content_filter":
        return ReplyError(f"{where}: the content filter refused the request. {said}")
    if error.code == "context_length_exceeded" or _TOO_LONG.search(raw.lower()):
        sentence = (
            f"{where}: the prompt is longer than {model} takes; set KGPLATFORM_CONTEXT_TOKENS to the size of its "
            f"window, and for an ingest a smaller KGPLATFORM_PASSAGE_TOKENS. {said}"
        )
        return RefusedError(sentence, None, raw, too_long=True)
    return RefusedError(f"{where}: it refused the request. {said}", error.param, raw, too_long=False)


def _refuses(error: openai.APIError) -> bool:
    """Whether a 500 blames the request, as servers do whose template or grammar fails."""
    return getattr(error, "status_code", None) == 500 and bool(_BLAMES.search(_server_words(error).lower()))


def why(error: BaseException | None) -> str:
    """Why a request failed, in a few words."""
    import openai

    if isinstance(error, openai.APITimeoutError):
        return "did not answer in time"
    if isinstance(error, openai.APIStatusError):
        return f"answered {error.status_code}"
    if isinstance(error, openai.APIConnectionError):
        return "cannot be reached"
    return "sent an answer that cannot be used"


def is_transient(error: BaseException) -> bool:
    """Whether the request may be answered if it is sent again."""
    import openai

    if isinstance(error, (BadAnswerError, openai.APIConnectionError)):
        return True
    if not isinstance(error, openai.APIStatusError) or error.code == "insufficient_quota":
        return False
    if _refuses(error):
        return False
    waits_too_long = (retry_after(error) or 0.0) > LONGEST_WAIT
    return not waits_too_long and (error.status_code in (408, 429) or error.status_code >= 500)


def retry_after(error: BaseException | None) -> float | None:
    """The seconds that the server asks to wait; a date is read by the server's own clock, if it tells it."""
    headers = getattr(getattr(error, "response", None), "headers", None) or {}
    text = headers.get("retry-after")
    if text is None:
        return None
    try:
        return max(0.0, float(text)) if float(text) < float("inf") else None
    except ValueError:
        now = headers.get("date")
    try:
        start = parsedate_to_datetime(now).timestamp() if now else time.time()
        return max(0.0, parsedate_to_datetime(text).timestamp() - start)
    except (ValueError, TypeError):
        return None


def _server_words(error: openai.APIError) -> str:
    body = error.body
    words = body.get("message") if isinstance(body, dict) else body if isinstance(body, str) else None
    text = " ".join(str(words or "").split())
    return f"It says: {text[:_SHOWN]}" if text else ""
