"""What an ingest goes through: the documents of its files in order, on disk, so that memory does not depend on them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from pathlib import Path

from kgplatform.concurrency.spool import Spool
from kgplatform.ingest.compare import Compared, Group
from kgplatform.ingest.write import Sink, Writer, document_statements, metadata_statements, remove, waiting_statements
from kgplatform.neo4j.store import Store
from kgplatform.records import Document, Passage, Progress, SkippedFile


@dataclass(frozen=True, slots=True)
class Planned:
    """A document with its passages in reading order. Of those that are done only the id is left, and the document has
    no text where all are.
    """

    document: Document
    passages: tuple[Passage | str, ...]


class Plan:
    """Documents in the order of their files, and how many there are. Iterating reads them from disk.

    ``verdicts`` counts documents as "added", "changed" and "unchanged"; ``pending`` counts passages to read,
    ``again`` those of them that are in the graph, and ``unread`` those that are left unread (``Compared``).
    """

    def __init__(self, folder: Path) -> None:
        self.skipped: list[SkippedFile] = []
        self.verdicts = Counter[str]()
        self.removed = self.passages = self.pending = self.again = self.unread = self.characters = 0
        self._spool: Spool[Planned] = Spool(folder)

    def __enter__(self) -> Plan:
        return self

    def __exit__(self, *_: object) -> None:
        self._spool.close()

    def __len__(self) -> int:
        return len(self._spool)

    def __iter__(self) -> Iterator[Planned]:
        return iter(self._spool)

    def add(self, group: Group) -> None:
        """Append the documents of ``group``."""
        self.skipped += group.skipped
        self.removed += len(group.gone)
        for each in group.documents:
            self.verdicts[each.verdict] += 1
            self.passages += len(each.passages)
            self.pending += len(each.passages) - len(each.done)
            self.again += len(each.again)
            self.unread += len(each.unread)
            self.characters += len(each.document.text)
            self._spool.add(_planned(each))

    @property
    def document_ids(self) -> Iterator[str]:
        """The ids of all documents, in order."""
        return (planned.document.id for planned in self)


def _planned(each: Compared) -> Planned:
    passages = tuple(passage.id if passage.id in each.done else passage for passage in each.passages)
    is_done = len(each.done) == len(each.passages)
    return Planned(replace(each.document, text="", locations=()) if is_done else each.document, passages)


def lay(store: Store, groups: Iterable[Group], plan: Plan, progress: Progress, spill: Sink | None = None) -> None:
    """Write the documents and passages that are new, take away what is gone, and append all of it to ``plan``.

    What is to be read again keeps what it says until it is: a model that fails, or a process that is killed, takes
    nothing. From here on every passage has a state in the graph, or in ``spill``, which takes the writes of a first
    build.
    """
    with Writer(store) if spill is None else nullcontext(spill) as writer:
        for group in groups:
            stale = [passage for each in group.documents for passage in sorted(each.stale)]
            stale += [passage for passages in group.gone.values() for passage in passages]
            other_texts = [each.document.id for each in group.documents if each.is_other_text] + sorted(group.gone)
            remove(store, stale, sorted(group.gone), other_texts)
            new = [each for each in group.documents if each.verdict != "unchanged" and not each.only_described]
            written = [(each.document, each.passages) for each in new]
            laid = document_statements(written, frozenset(other_texts)) if written else []
            again = [passage for each in group.documents if each.verdict == "reread" for passage in sorted(each.again)]
            described = [each.document for each in group.documents if each.described]
            writer.put([*laid, *waiting_statements(again), *metadata_statements(described)])
            plan.add(group)
    progress("documents", len(plan), len(plan))
