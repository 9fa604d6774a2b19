"""What an ingest would cost, before it costs anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgplatform.build.extract.facts import fact_messages
from kgplatform.build.extract.model import extraction_messages
from kgplatform.build.facts_pass import chunks_without_facts
from kgplatform.build.plan import Plan, make_plan
from kgplatform.build.report import Estimate
from kgplatform.build.schema import Schema
from kgplatform.records import Chunk, Document
from kgplatform.settings import Settings
from kgplatform.store import Store
from kgplatform.text import count_tokens

OUTPUT_SHARE = 2.5
"""Tokens that a model writes for each token of a chunk: entities, triples and facts, each with its quote. Measured on
the sample corpus's recording (docs/decisions.md)."""

FACTS_SHARE = 1.3
"""The same for lines of facts with their key elements."""


def estimate(
    store: Store, paths: Sequence[str | Path], schema: Schema, extractor: str, settings: Settings, *, facts: bool
) -> Estimate:
    """The calls and tokens that ``ingest`` would spend on the chunks that are not in the graph yet.

    ``facts``: and on reading facts from those that lack them, in the whole graph if there are no ``paths``. Of
    what a recording says of a chunk nothing is known yet: such chunks count as lacking them.
    """
    plan = make_plan(store, paths, settings.chunk_tokens) if paths or not facts else Plan()
    pending = plan.pending
    paid = pending if extractor == "llm" else []
    sizes = [sum(count_tokens(m["content"]) for m in extraction_messages(c, d, schema)) for c, d in paid]
    output = round(OUTPUT_SHARE * sum(chunk.tokens for chunk, _ in paid))
    lacking = _lacking(store, plan, unread=not paid) if facts else []
    if lacking:
        prompt = _prompt_tokens(settings.facts_tokens)
        sizes += [prompt + size for size in lacking]
        output += round(sum(min(FACTS_SHARE * size, settings.facts_tokens) for size in lacking))
    return Estimate(
        documents=len(plan.documents),
        chunks=len(plan.chunks),
        pending_chunks=len(pending),
        calls=len(sizes),
        input_tokens=sum(sizes),
        output_tokens=output,
        skipped=tuple(plan.skipped),
    )


def _lacking(store: Store, plan: Plan, *, unread: bool) -> list[int]:
    """The tokens of chunks that lack facts: those that stay as they are, and with ``unread`` those still to be read."""
    if not plan.documents:
        return [row["tokens"] for row in chunks_without_facts(store, None)]
    known = chunks_without_facts(store, {document.id for document in plan.documents})
    staying = [row["tokens"] for row in known if row["id"] in plan.done]
    return staying + ([chunk.tokens for chunk, _ in plan.pending] if unread else [])


def _prompt_tokens(most_tokens: int) -> int:
    """What a prompt for facts has besides the text."""
    empty = Chunk("", "", "", 0, 0, 0, None, "", 0), Document("", "", "", "", "", "")
    return sum(count_tokens(message["content"]) for message in fact_messages(*empty, most_tokens))
