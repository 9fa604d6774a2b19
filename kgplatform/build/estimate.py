"""What an ingest would cost, before it costs anything."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from kgplatform.build.extract.model import extraction_messages
from kgplatform.build.plan import make_plan
from kgplatform.build.report import Estimate
from kgplatform.build.schema import Schema
from kgplatform.store import Store
from kgplatform.text import count_tokens

OUTPUT_SHARE = 2.5
"""Tokens that a model writes for each token of a chunk: entities, triples and facts, each with its quote. Measured on
the sample corpus's recording (docs/decisions.md)."""


def estimate(store: Store, paths: Sequence[str | Path], schema: Schema, extractor: str, chunk_tokens: int) -> Estimate:
    """The calls and tokens that ``ingest`` would spend on the chunks that are not in the graph yet."""
    plan = make_plan(store, paths, chunk_tokens)
    pending = plan.pending
    paid = pending if extractor == "llm" else []
    sizes = [sum(count_tokens(m["content"]) for m in extraction_messages(c, d, schema)) for c, d in paid]
    return Estimate(
        documents=len(plan.documents),
        chunks=len(plan.chunks),
        pending_chunks=len(pending),
        calls=len(paid),
        input_tokens=sum(sizes),
        output_tokens=round(OUTPUT_SHARE * sum(chunk.tokens for chunk, _ in paid)),
        skipped=tuple(plan.skipped),
    )
