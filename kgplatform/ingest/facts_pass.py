"""The pass of ``ingest --facts``: atomic facts by GraphReader's own prompt, from passages without any by a model.

A passage remembers in ``factsBy`` who wrote its atomic facts, and the pass reads those where that is nobody, or the
local extractor, whose facts it replaces in the transaction that writes the new ones and the mark. A passage that failed
says why, keeps the facts that it had, and is tried again by the next pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

from kgplatform.extract.grounded_names import without_inventions
from kgplatform.extract.llm import FACTS_TOKENS, facts_request, read_facts
from kgplatform.extract.schema import Schema
from kgplatform.ingest.compare import Plan
from kgplatform.ingest.corrections import uncorrect
from kgplatform.ingest.window import WINDOW, Commits, FailedPassage, Item, PassageReader, Tools, by_kind, not_kept
from kgplatform.ingest.write import Writer, fact_rows
from kgplatform.models.chat import Chat
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Document, Extraction, Passage, metadata_of, written_on

BY_PASS = "graphreader"
"""What the pass is called in the graph (``factsBy``) and in reports: the reader whose facts these are."""

_DOCUMENTS = 500


@dataclass(frozen=True, slots=True)
class FactsRead:
    """What a pass did. ``lacking``: passages that it had to read; ``read``: those that it did; ``facts``: in those.

    ``unread``: of those that lack facts, how many are not read, since the model's reply was of no use before.
    ``unnamed``: key elements that their passage does not name, which were left out; ``left_out``: these, by the reason.
    """

    lacking: int = 0
    read: int = 0
    facts: int = 0
    unnamed: int = 0
    left_out: dict[str, Counter[str]] = field(default_factory=dict)
    unread: int = 0
    malformed: Counter[str] = field(default_factory=Counter)
    failed: list[FailedPassage] = field(default_factory=list)
    stopped: str = ""


def passages_without_facts(store: Store, request: str = "", documents: Iterator[str] | None = None) -> Iterator[Row]:
    """``id`` and ``tokens`` of the passages to read, of ``documents``, or of the whole graph, and whether they are left
    ``unread``: by ``facts_request``, if it is given."""
    after = ""
    while True:
        if documents is not None:
            some = list(islice(documents, _DOCUMENTS))
        else:
            some = [row["id"] for row in store.read("ingest/document_ids", after=after, limit=_DOCUMENTS)]
        if not some:
            return
        yield from store.read("ingest/passages_without_facts", documents=some, request=request)
        after = some[-1]


def lacks_facts(store: Store) -> bool:
    """Whether some passage has no atomic facts from a model or a recording."""
    return any(True for _ in passages_without_facts(store))


def read_facts_of_passages(tools: Tools, chat: Chat, turn: Pass, plan: Plan | None, schema: Schema | None) -> FactsRead:
    """Read the passages that lack facts, several at once, and commit as they come. ``schema``: as it has grown."""
    store = tools.store
    request = facts_request(chat)
    known_failures = "" if tools.retry_failed else request

    def lacking() -> Iterator[Row]:
        return passages_without_facts(store, known_failures, None if plan is None else plan.document_ids)

    unread = Counter(row["unread"] for row in lacking())
    total = unread[False]
    wanted = (row["id"] for row in lacking() if not row["unread"])
    tools.progress("reading facts", 0, total)
    read, facts, malformed, left_out = 0, 0, Counter[str](), dict[str, Counter[str]]()
    reader: PassageReader[Extraction] = PassageReader(
        tools.settings.calls_at_once, lambda number: tools.progress("reading facts", number, total), store.stop
    )
    work = partial(read_facts, chat, most_tokens=FACTS_TOKENS)
    with reader, Writer(store) as writer, Commits(writer, turn, "facts") as commits:
        while not reader.stopped and (some := list(islice(wanted, WINDOW))):
            commits.give_way()
            uncorrect(store, [row["id"] for row in store.read("correct/corrected", ids=some)], schema)
            texts = store.read("ingest/passage_texts", ids=some)
            known = {row["passage"]["id"]: row for row in texts}
            items: list[Item] = [
                (
                    Passage(document_id=row["document"], **row["passage"]),
                    Document(row["document"], row["title"], "", "", "", "", metadata=metadata_of(row["properties"])),
                )
                for row in known.values()
            ]
            for (passage, document), outcome in reader.read(items, work):
                if isinstance(outcome, FailedPassage):
                    failed = {"factsFailure": outcome.reason, "factsUnreadBy": request if outcome.is_final else None}
                    commits.put({"id": passage.id, "state": failed})
                else:
                    found, invented = _put_facts(commits, passage, document, outcome, known[passage.id])
                    read, facts = read + 1, facts + found
                    for name, reason in invented.items():
                        left_out.setdefault(reason, Counter())[name] += 1
                    malformed.update(item.kind for item in outcome.malformed)
    unnamed, whole = sum(map(Counter.total, left_out.values())), total + unread[True]
    read_now = (whole, read, facts, unnamed, left_out, unread[True], malformed)
    return FactsRead(*read_now, reader.failed, reader.stopped)


def _put_facts(
    commits: Commits, passage: Passage, document: Document, found: Extraction, before: Row
) -> tuple[int, dict[str, str]]:
    """Replace the facts of a passage; returns how many it has now, and which key elements were left out, and why.
    ``before``: what its extraction counted."""
    usable, unnamed = without_inventions(found, passage, document.title)
    rows = fact_rows(passage, usable.facts, before["mentions"], document.title, written_on(document.metadata))
    malformed = Counter(dict(zip(before["malformedKinds"], before["malformedCounts"], strict=True)))
    kinds, counts = by_kind(found.malformed, malformed)
    state = {
        "factsBy": BY_PASS,
        "factsFailure": None,
        "factsUnreadBy": None,
        "malformedKinds": kinds,
        "malformedCounts": counts,
    }
    state |= {"unnamed": before["unnamed"] + len(unnamed), "notKept": not_kept({}, unnamed, before["notKept"])}
    commits.put({"id": passage.id, "state": state}, rows)
    return len(rows.atomic_facts), unnamed
