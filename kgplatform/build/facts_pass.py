"""The pass of ``ingest --facts``: atomic facts, by GraphReader's own prompt, for chunks that have none from a model.

A chunk remembers in ``factsBy`` who wrote its atomic facts. The pass reads those where that is nobody, or the local
extractor, whose facts it replaces in the transaction that writes the new ones and the mark. So it goes on where it was
stopped; a chunk that failed keeps its old facts, says why in ``factsFailure``, and is tried again by the next pass.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial

from kgplatform.build.extract.fact_lines import FactLines
from kgplatform.build.extract.facts import read_facts
from kgplatform.build.reading import WINDOW, Batch, ChunkReader, Counted, Item
from kgplatform.build.report import FailedChunk
from kgplatform.build.rows import fact_rows
from kgplatform.build.settle import Progress
from kgplatform.build.write import Writer
from kgplatform.llm import Chat
from kgplatform.records import Chunk, Document, Malformed
from kgplatform.settings import Settings
from kgplatform.store import Row, Store

BY_PASS = "graphreader"


@dataclass(slots=True)
class FactsRead:
    """What a pass did. ``lacking``: chunks that it had to read; ``read``: those that it could; ``facts``: in those."""

    lacking: int = 0
    read: int = 0
    facts: int = 0
    malformed: Counter[str] = field(default_factory=Counter)
    failed: list[FailedChunk] = field(default_factory=list)
    stopped: str = ""


def chunks_without_facts(store: Store, documents: set[str] | None) -> list[Row]:
    """``id``, ``document`` and ``tokens`` of the chunks to read, of ``documents`` alone unless that is None."""
    rows = store.read("build/chunks_without_facts")
    return [row for row in rows if documents is None or row["document"] in documents]


def read_facts_of_chunks(
    store: Store, chat: Chat, settings: Settings, progress: Progress, documents: set[str] | None
) -> FactsRead:
    """Read the chunks that lack facts, ``settings.concurrency`` at once, and commit as they come."""
    lacking = [row["id"] for row in chunks_without_facts(store, documents)]
    found = FactsRead(lacking=len(lacking))
    advance = Counted(progress, "reading facts", len(lacking))
    reader: ChunkReader[FactLines] = ChunkReader(settings.concurrency, advance)
    work = partial(_read, chat, settings.facts_tokens)
    with reader, Writer(store) as writer, Batch(writer) as batch:
        for start in range(0, len(lacking), WINDOW):
            texts = store.read("build/chunk_texts", ids=lacking[start : start + WINDOW])
            known = {row["chunk"]["id"]: row for row in texts}
            for (chunk, document), outcome in reader.read([_item(row) for row in known.values()], work):
                if isinstance(outcome, FailedChunk):
                    batch.put({"id": chunk.id, "state": {"factsFailure": outcome.reason}})
                else:
                    _put(batch, chunk, document, outcome, known[chunk.id], found)
            if reader.stopped:
                break
    found.failed, found.stopped = reader.failed, reader.stopped
    return found


def _read(chat: Chat, most_tokens: int, chunk: Chunk, document: Document) -> FactLines:
    return read_facts(chat, chunk, document, most_tokens)


def _item(row: Row) -> Item:
    document = Document(row["document"], row["title"], "", "", "", "")
    return Chunk(document_id=document.id, **row["chunk"]), document


def _put(batch: Batch, chunk: Chunk, document: Document, lines: FactLines, before: Row, found: FactsRead) -> None:
    rows = fact_rows(chunk, lines.facts, before["mentions"], document.name)
    kinds, counts = _malformed(before, lines.malformed)
    state = {"factsBy": BY_PASS, "factsFailure": None, "malformedKinds": kinds, "malformedCounts": counts}
    batch.put({"id": chunk.id, "state": state}, rows, replaces_facts=True)
    found.read += 1
    found.facts += len(rows.atomic_facts)
    found.malformed.update(each.kind for each in lines.malformed)


def _malformed(before: Row, lines: Iterable[Malformed]) -> tuple[Sequence[str], Sequence[int]]:
    """What was malformed in the chunk's extraction, and in the lines of its facts, by kind."""
    counted = Counter(dict(zip(before["malformedKinds"], before["malformedCounts"], strict=True)))
    counted.update(each.kind for each in lines)
    kinds = sorted(counted)
    return kinds, [counted[kind] for kind in kinds]
