"""What an ingest would cost, before anything is written or paid for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgplatform.concurrency.workers import bounded_calls
from kgplatform.extract.llm import FACTS_TOKENS, LlmExtractor, extraction_messages, fact_messages, facts_request
from kgplatform.extract.schema import Schema
from kgplatform.ingest.compare import compare
from kgplatform.ingest.facts_pass import passages_without_facts
from kgplatform.models.chat import Chat
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Document, Passage, Progress, SkippedFile
from kgplatform.settings import Settings
from kgplatform.shown import Shown
from kgplatform.sources.objects import NO_TEXTS, Texts
from kgplatform.text import count_tokens

OUTPUT_SHARE = 1.3
"""Tokens that a model writes for each token of a passage, on average (docs/explanation/benchmarks/extraction.md)."""

FACTS_SHARE = 2.2
"""The same for facts with their key elements."""


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Shown):
    """What an ingest would cost. Tokens are counted offline, within about 10 %; output tokens are a rule of thumb."""

    documents: int
    passages: int
    pending_passages: int
    calls: int
    input_tokens: int
    output_tokens: int
    skipped: tuple[SkippedFile, ...]


def estimate(
    store: Store,
    paths: Sequence[str | Path],
    schema: Schema,
    extractor: str,
    settings: Settings,
    *,
    texts: Texts = NO_TEXTS,
    facts: bool,
    reread: bool,
    progress: Progress,
    chat: Chat | None = None,
) -> Estimate:
    """The calls and tokens that ``ingest`` would spend on the passages that are not in the graph yet.

    ``facts``: and on reading facts from those that lack them, in the whole graph if there are no ``paths``. Of
    what a recording says of a passage nothing is known yet: such passages count as lacking them. ``reread``: and on
    those that are in the graph. ``chat``: the model whose replies to passages were of no use, if it is not asked for
    those again. ``texts``: what is in no file.
    """
    is_read = extractor == "llm"
    request = LlmExtractor(chat).request(schema) if chat is not None and is_read else ""
    asked_for_facts = facts_request(chat) if chat is not None else ""
    # What a prompt for facts has besides the text.
    empty = Passage("", "", "", 0, 0, 0, None, "", 0), Document("", "", "", "", "", "")
    prompt = sum(count_tokens(message["content"]) for message in fact_messages(*empty, FACTS_TOKENS))
    documents = passages = pending = 0
    skipped: list[SkippedFile] = []
    calls, input_tokens, output_tokens = 0, 0, 0.0

    def add(sent: int, written: float) -> None:
        nonlocal calls, input_tokens, output_tokens
        calls, input_tokens, output_tokens = calls + 1, input_tokens + sent, output_tokens + written

    def add_facts(sizes: Iterable[int]) -> None:
        for size in sizes:
            add(prompt + size, min(FACTS_SHARE * size, FACTS_TOKENS))

    def lacking(of: Iterator[str] | None = None) -> Iterator[Row]:
        return (row for row in passages_without_facts(store, asked_for_facts, of) if not row["unread"])

    how: dict[str, Any] = {"request": request, "reread": reread, "progress": progress}
    with bounded_calls(settings, store.stop) as bounds:
        for group in compare(store, paths, settings, bounds, texts=texts, **how) if paths or texts else ():
            new = [(passage, each.document) for each in group.documents for passage in each.pending]
            documents += len(group.documents)
            passages += sum(len(each.passages) for each in group.documents)
            pending += len(new)
            skipped += group.skipped
            for passage, document in new if is_read else ():
                messages = extraction_messages(passage, document, schema)
                add(sum(count_tokens(each["content"]) for each in messages), OUTPUT_SHARE * passage.tokens)
            if facts:
                done = frozenset[str]().union(*(each.done for each in group.documents))
                ids = (each.document.id for each in group.documents)
                add_facts(row["tokens"] for row in lacking(ids) if row["id"] in done)
                add_facts(() if is_read else (passage.tokens for passage, _ in new))
    if facts and not documents:
        add_facts(row["tokens"] for row in lacking())
    return Estimate(documents, passages, pending, calls, input_tokens, round(output_tokens), tuple(skipped))
