"""What an ingest would do and cost: which documents are new or changed, which passages go, which are still to read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgplatform.ingest.cut import cut_document
from kgplatform.ingest.extract.atomic_facts import fact_messages
from kgplatform.ingest.extract.llm import extraction_messages
from kgplatform.ingest.extract_pass import passages_without_facts
from kgplatform.ingest.load import load
from kgplatform.ingest.schema import Schema
from kgplatform.neo4j.store import Store
from kgplatform.records import Document, Passage, SkippedFile
from kgplatform.settings import Settings
from kgplatform.text import count_tokens

EXTRACTED = "extracted"


@dataclass(slots=True)
class Plan:
    """The difference between some files and the graph. ``passages`` are all passages of the files, in reading order.

    ``other_texts``: documents that are gone, or have another text or name than the graph has for them.
    """

    documents: list[Document] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    passages: list[tuple[Passage, Document]] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    written: list[tuple[Document, list[Passage]]] = field(default_factory=list)
    stale_passages: list[str] = field(default_factory=list)
    gone_documents: list[str] = field(default_factory=list)
    other_texts: list[str] = field(default_factory=list)
    added: int = 0
    changed: int = 0
    unchanged: int = 0

    @property
    def pending(self) -> list[tuple[Passage, Document]]:
        """The passages that nothing was extracted from yet."""
        return [(passage, document) for passage, document in self.passages if passage.id not in self.done]


def make_plan(store: Store, paths: Sequence[str | Path], max_tokens: int) -> Plan:
    """Load ``paths`` and compare them with the graph; nothing is written."""
    plan = Plan()
    for item in load(paths):
        store.stop.check()
        if isinstance(item, SkippedFile):
            plan.skipped.append(item)
        else:
            plan.documents.append(item)
    known = _known(store, {document.source for document in plan.documents})
    for document in plan.documents:
        store.stop.check()
        _compare(plan, document, cut_document(document, max_tokens), known.pop(document.id, None))
    # What a file of several documents held before, and does not any more.
    for document_id, gone in sorted(known.items()):
        plan.gone_documents.append(document_id)
        plan.other_texts.append(document_id)
        plan.stale_passages += sorted(gone.states)
    return plan


def holds(store: Store, path: Path) -> bool:
    """Whether the graph has what ``path`` says: any of its documents, with the text that it has there now."""
    documents = {item.id: item.sha256 for item in load([path]) if isinstance(item, Document)}
    known = _known(store, [path.as_uri()]) if documents else {}
    return any(known[id].sha256 == sha256 for id, sha256 in documents.items() if id in known)


@dataclass(frozen=True, slots=True)
class _Known:
    """A document as the graph has it, with the states of its passages by id."""

    name: str
    sha256: str
    states: dict[str, str]


def _known(store: Store, sources: Iterable[str]) -> dict[str, _Known]:
    rows = store.read("ingest/existing_passages", sources=sorted(sources))
    return {row["id"]: _Known(row["name"], row["sha256"], dict(row["passages"])) for row in rows}


def _compare(plan: Plan, document: Document, passages: list[Passage], known: _Known | None) -> None:
    plan.passages += [(passage, document) for passage in passages]
    if known is None:
        plan.added += 1
        plan.written.append((document, passages))
        return
    wanted = {passage.id for passage in passages}
    # What a passage says may depend on the rest of its document and on the title: of another text, none is kept.
    is_same = (known.name, known.sha256) == (document.title, document.sha256)
    kept = wanted if is_same else set()
    plan.other_texts += [] if is_same else [document.id]
    plan.done |= {each for each in kept if known.states.get(each) == EXTRACTED}
    plan.stale_passages += sorted(known.states.keys() - kept)
    if is_same and known.states.keys() == wanted:
        plan.unchanged += 1
    else:
        plan.changed += 1
        plan.written.append((document, passages))


# ----------------------------------------------------------------------------------------------------------------- cost


OUTPUT_SHARE = 2.5
"""Tokens that a model writes for each token of a passage: entities, triples and facts, each with its quote. Measured on
the sample corpus's recording (docs/decisions.md)."""

FACTS_SHARE = 1.3
"""The same for lines of facts with their key elements."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """What an ingest would cost. Tokens are counted offline, within about 10 %; output tokens are a rule of thumb."""

    documents: int
    passages: int
    pending_passages: int
    calls: int
    input_tokens: int
    output_tokens: int
    skipped: tuple[SkippedFile, ...]


def estimate(
    store: Store, paths: Sequence[str | Path], schema: Schema, extractor: str, settings: Settings, *, facts: bool
) -> Estimate:
    """The calls and tokens that ``ingest`` would spend on the passages that are not in the graph yet.

    ``facts``: and on reading facts from those that lack them, in the whole graph if there are no ``paths``. Of
    what a recording says of a passage nothing is known yet: such passages count as lacking them.
    """
    plan = make_plan(store, paths, settings.passage_tokens) if paths or not facts else Plan()
    pending = plan.pending
    paid = pending if extractor == "llm" else []
    sizes = [sum(count_tokens(m["content"]) for m in extraction_messages(c, d, schema)) for c, d in paid]
    output = round(OUTPUT_SHARE * sum(passage.tokens for passage, _ in paid))
    lacking = _lacking(store, plan, unread=not paid) if facts else []
    if lacking:
        prompt = _prompt_tokens(settings.facts_tokens)
        sizes += [prompt + size for size in lacking]
        output += round(sum(min(FACTS_SHARE * size, settings.facts_tokens) for size in lacking))
    return Estimate(
        documents=len(plan.documents),
        passages=len(plan.passages),
        pending_passages=len(pending),
        calls=len(sizes),
        input_tokens=sum(sizes),
        output_tokens=output,
        skipped=tuple(plan.skipped),
    )


def _lacking(store: Store, plan: Plan, *, unread: bool) -> list[int]:
    """The tokens of passages that lack facts: those that stay as they are; with ``unread`` those to be read as well."""
    if not plan.documents:
        return [row["tokens"] for row in passages_without_facts(store, None)]
    known = passages_without_facts(store, {document.id for document in plan.documents})
    staying = [row["tokens"] for row in known if row["id"] in plan.done]
    return staying + ([passage.tokens for passage, _ in plan.pending] if unread else [])


def _prompt_tokens(most_tokens: int) -> int:
    """What a prompt for facts has besides the text."""
    empty = Passage("", "", "", 0, 0, 0, None, "", 0), Document("", "", "", "", "", "")
    return sum(count_tokens(message["content"]) for message in fact_messages(*empty, most_tokens))
