"""What an ingest would cost, before anything is written or paid for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kgplatform.concurrency.bounded import bounded_calls
from kgplatform.extract.llm import FACTS_TOKENS, LlmExtractor, extraction_messages, fact_messages, facts_request
from kgplatform.extract.schema import Schema
from kgplatform.ingest.compare import Group, compare
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
    cost = _Cost(store, schema, chat, is_read=is_read, facts=facts)
    request = LlmExtractor(chat).request(schema) if chat is not None and is_read else ""
    how: dict[str, Any] = {"request": request, "reread": reread, "progress": progress}
    with bounded_calls(settings, store.stop) as calls:
        for group in compare(store, paths, settings, calls, texts=texts, **how) if paths or texts else ():
            cost.add(group)
    if facts and not cost.documents:
        cost.add_lacking(passages_without_facts(store, cost.request))
    return Estimate(
        documents=cost.documents,
        passages=cost.passages,
        pending_passages=cost.pending,
        calls=cost.calls,
        input_tokens=cost.input_tokens,
        output_tokens=round(cost.output_tokens),
        skipped=tuple(cost.skipped),
    )


class _Cost:
    """What there is, and the calls and tokens that it takes. ``is_read``: passages that are not done are read by the
    model; ``facts``: for facts, too."""

    def __init__(self, store: Store, schema: Schema, chat: Chat | None, *, is_read: bool, facts: bool) -> None:
        self.documents = self.passages = self.pending = self.calls = self.input_tokens = 0
        self.output_tokens = 0.0
        self.skipped: list[SkippedFile] = []
        self._store, self._schema, self._is_read, self._facts = store, schema, is_read, facts
        self.request = facts_request(chat, FACTS_TOKENS) if chat is not None else ""
        # What a prompt for facts has besides the text.
        empty = Passage("", "", "", 0, 0, 0, None, "", 0), Document("", "", "", "", "", "")
        self._prompt = sum(count_tokens(message["content"]) for message in fact_messages(*empty, FACTS_TOKENS))

    def add(self, group: Group) -> None:
        """Count the passages of ``group``, and what they take."""
        pending = [(passage, each.document) for each in group.documents for passage in each.pending]
        self.documents += len(group.documents)
        self.passages += sum(len(each.passages) for each in group.documents)
        self.pending += len(pending)
        self.skipped += group.skipped
        if self._is_read:
            for passage, document in pending:
                messages = extraction_messages(passage, document, self._schema)
                self._add(sum(count_tokens(each["content"]) for each in messages), OUTPUT_SHARE * passage.tokens)
        if self._facts:
            done = frozenset[str]().union(*(each.done for each in group.documents))
            lacking = passages_without_facts(self._store, self.request, (each.document.id for each in group.documents))
            self.add_lacking(row for row in lacking if row["id"] in done)
            self._add_facts(() if self._is_read else (passage.tokens for passage, _ in pending))

    def add_lacking(self, passages: Iterable[Row]) -> None:
        """Count what reading facts takes from those ``passages_without_facts`` that are read."""
        self._add_facts(row["tokens"] for row in passages if not row["unread"])

    def _add_facts(self, sizes: Iterable[int]) -> None:
        for size in sizes:
            self._add(self._prompt + size, min(FACTS_SHARE * size, FACTS_TOKENS))

    def _add(self, input_tokens: int, output_tokens: float) -> None:
        self.calls += 1
        self.input_tokens += input_tokens
        self.output_tokens += output_tokens
