"""What an ingest would do: which documents are new or changed, which chunks go and which are still to be read."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from kgplatform.build.chunk import chunk_document
from kgplatform.build.load import load
from kgplatform.records import Chunk, Document, SkippedFile
from kgplatform.stopping import check_stopped
from kgplatform.store import Store

EXTRACTED = "extracted"


@dataclass(slots=True)
class Plan:
    """The difference between some files and the graph. ``chunks`` are all chunks of the files, in reading order.

    ``other_texts``: documents that are gone, or have another text or name than the graph has for them.
    """

    documents: list[Document] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    chunks: list[tuple[Chunk, Document]] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    written: list[tuple[Document, list[Chunk]]] = field(default_factory=list)
    stale_chunks: list[str] = field(default_factory=list)
    gone_documents: list[str] = field(default_factory=list)
    other_texts: list[str] = field(default_factory=list)
    added: int = 0
    changed: int = 0
    unchanged: int = 0

    @property
    def pending(self) -> list[tuple[Chunk, Document]]:
        """The chunks that nothing was extracted from yet."""
        return [(chunk, document) for chunk, document in self.chunks if chunk.id not in self.done]


def make_plan(store: Store, paths: Sequence[str | Path], max_tokens: int) -> Plan:
    """Load ``paths`` and compare them with the graph; nothing is written."""
    plan = Plan()
    for item in load(paths):
        check_stopped()
        if isinstance(item, SkippedFile):
            plan.skipped.append(item)
        else:
            plan.documents.append(item)
    known = _known(store, {document.source for document in plan.documents})
    for document in plan.documents:
        check_stopped()
        _compare(plan, document, chunk_document(document, max_tokens), known.pop(document.id, None))
    # What a file of several documents held before, and does not any more.
    for document_id, gone in sorted(known.items()):
        plan.gone_documents.append(document_id)
        plan.other_texts.append(document_id)
        plan.stale_chunks += sorted(gone.states)
    return plan


def holds(store: Store, path: Path) -> bool:
    """Whether the graph has what ``path`` says: any of its documents, with the text that it has there now."""
    documents = {item.id: item.sha256 for item in load([path]) if isinstance(item, Document)}
    known = _known(store, [path.as_uri()]) if documents else {}
    return any(known[id].sha256 == sha256 for id, sha256 in documents.items() if id in known)


@dataclass(frozen=True, slots=True)
class _Known:
    """A document as the graph has it, with the states of its chunks by id."""

    name: str
    sha256: str
    states: dict[str, str]


def _known(store: Store, sources: Iterable[str]) -> dict[str, _Known]:
    rows = store.read("build/existing_chunks", sources=sorted(sources))
    return {row["id"]: _Known(row["name"], row["sha256"], dict(row["chunks"])) for row in rows}


def _compare(plan: Plan, document: Document, chunks: list[Chunk], known: _Known | None) -> None:
    plan.chunks += [(chunk, document) for chunk in chunks]
    if known is None:
        plan.added += 1
        plan.written.append((document, chunks))
        return
    wanted = {chunk.id for chunk in chunks}
    # What a chunk says may depend on the rest of its document and on the title: of another text, none is kept.
    is_same = (known.name, known.sha256) == (document.name, document.sha256)
    kept = wanted if is_same else set()
    plan.other_texts += [] if is_same else [document.id]
    plan.done |= {each for each in kept if known.states.get(each) == EXTRACTED}
    plan.stale_chunks += sorted(known.states.keys() - kept)
    if is_same and known.states.keys() == wanted:
        plan.unchanged += 1
    else:
        plan.changed += 1
        plan.written.append((document, chunks))
