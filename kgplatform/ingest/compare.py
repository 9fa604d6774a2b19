"""Files beside the graph: what is new in them, what changed, what is gone. Group by group, in bounded memory."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Literal

from kgplatform.concurrency.files import Spool
from kgplatform.concurrency.system import path_of
from kgplatform.concurrency.threads import Stop
from kgplatform.concurrency.workers import BoundedCalls, LocalWorkers
from kgplatform.errors import InputError
from kgplatform.ingest.corrections import set_written
from kgplatform.ingest.write import Sink, Writer, document_statements, remove, update_statements
from kgplatform.neo4j.metadata import flat
from kgplatform.neo4j.store import Store
from kgplatform.records import (
    Document,
    GoneFile,
    MetadataValue,
    Passage,
    Progress,
    SkippedFile,
    metadata_of,
    written_on,
)
from kgplatform.settings import Settings
from kgplatform.sources.corpus_file import Fields
from kgplatform.sources.cut import cut_document
from kgplatform.sources.load import CutDocument, CutShort, cut_by, described, load, load_by, load_within, named_folders
from kgplatform.sources.objects import NO_TEXTS, Texts
from kgplatform.text.languages import ENGLISH, language_of
from kgplatform.text.times import times_in

EXTRACTED, UNREAD = "extracted", "unread"
"""States of passages that are not read again: the second where a model's reply to the same request was of no use."""

_GROUP_PASSAGES = 500
_GROUP_ITEMS = 1000


@dataclass(frozen=True, slots=True)
class Compared:
    """A document of the files beside the graph's: which passages are ``done`` there, and which are ``stale``.

    ``unread``: those of the done ones that a model's reply was of no use for. ``again``: those that are there and not
    done; what one of them says stays until it is read.
    ``is_other_text``: the graph has it with another text or title. ``described``: its metadata, or the
    time of its file, are others, and to be written; ``only_described``: and nothing else.
    """

    document: Document
    passages: Sequence[Passage]
    verdict: Literal["added", "changed", "unchanged", "reread"]
    done: frozenset[str] = frozenset()
    stale: frozenset[str] = frozenset()
    is_other_text: bool = False
    unread: frozenset[str] = frozenset()
    again: frozenset[str] = frozenset()
    described: bool = False
    only_described: bool = False

    @property
    def pending(self) -> list[Passage]:
        """The passages that are to be read."""
        return [passage for passage in self.passages if passage.id not in self.done]


@dataclass(slots=True)
class Group:
    """Some files, compared. ``gone``: documents that files held before and do not any more, with their passages."""

    documents: list[Compared] = field(default_factory=list)
    skipped: list[SkippedFile] = field(default_factory=list)
    gone: dict[str, list[str]] = field(default_factory=dict)


def compare(
    store: Store,
    paths: Sequence[str | Path],
    settings: Settings,
    calls: BoundedCalls,
    workers: LocalWorkers | None = None,
    *,
    texts: Texts = NO_TEXTS,
    request: str = "",
    reread: bool = False,
    metadata: Mapping[str, MetadataValue | None] | None = None,
    progress: Progress = lambda stage, done, total: None,
) -> Iterator[Group]:
    """Load ``paths`` within the bounds of ``calls`` and compare them with the graph, in the order of the files; nothing
    is written.

    Groups have some 500 passages, so that what a group takes does not depend on how much there is. ``request``: what
    passages would be asked with (``Tools.request``); those that failed with just that are left unread. ``reread``:
    nothing that the graph has counts as done. ``texts``: what is in no file, compared after the files. ``metadata``:
    of every document, beneath what it says itself.
    """
    files = _Files(store, request, metadata or {}, reread=reread)
    group: list[CutDocument] = []
    skipped: list[SkippedFile] = []
    passages = documents = 0
    progress("documents", 0, 0)
    for item in _cut(paths, texts, settings, calls, workers, store.stop):
        store.stop.check()
        if isinstance(item, SkippedFile):
            skipped.append(item)
            if isinstance(item, CutShort):
                files.cut_short.add(item.source)
        else:
            group.append(item)
            passages += len(item[1])
            documents += 1
            progress("documents", documents, 0)
        if passages >= _GROUP_PASSAGES or len(group) + len(skipped) >= _GROUP_ITEMS:
            yield files.compared(group, skipped)
            group, skipped, passages = [], [], 0
    yield files.compared(group, skipped, is_last=True)


def _cut(
    paths: Sequence[str | Path],
    texts: Texts,
    settings: Settings,
    calls: BoundedCalls,
    workers: LocalWorkers | None,
    stop: Stop,
) -> Iterator[CutDocument | SkippedFile]:
    fields, max_tokens = Fields.of(settings), settings.passage_tokens
    given = texts.documents(calls, fields)
    if workers is not None:
        return cut_by(workers, chain(described(load_by(workers, paths, fields, calls, stop)), given), max_tokens, stop)
    items = chain(load(paths, calls, fields), given)
    return ((item, cut_document(item, max_tokens)) if isinstance(item, Document) else item for item in items)


def holds(store: Store, path: Path, settings: Settings) -> bool:
    """Whether the graph has what ``path`` says: any of its documents, with the text that it has there now."""
    items = load_within(settings, [path], store.stop)
    documents = (item for item in items if isinstance(item, Document))
    while some := {each.id: each.sha256 for each in islice(documents, _GROUP_ITEMS)}:
        known = _known(store, list(some))
        if any(known[id].sha256 == sha256 for id, sha256 in some.items() if id in known):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Known:
    """A document as the graph has it, with the states of its passages by id."""

    title: str
    sha256: str
    states: dict[str, str]
    metadata: dict[str, MetadataValue]
    modified: str
    given: dict[str, MetadataValue]


class _Files:
    """Which files the graph knows. It remembers the known documents of the file that is being read, 150 bytes each."""

    def __init__(
        self, store: Store, request: str, metadata: Mapping[str, MetadataValue | None], *, reread: bool
    ) -> None:
        self._store = store
        self._request = request
        self._metadata = metadata
        self._reread = reread
        self._source = ""
        self._size = 0
        self._met: set[str] = set()
        self.cut_short: set[str] = set()
        """Files whose rest is not known: nothing is gone from them."""

    def compared(self, group: Sequence[CutDocument], skipped: list[SkippedFile], *, is_last: bool = False) -> Group:
        """The documents of ``group``, and what is gone from the files that end in it; the last one ends all."""
        # How many documents the graph has of each file that begins here, and of the one that is being read.
        new = sorted({document.source for document, _ in group} - {self._source})
        rows = self._store.read("ingest/file_sizes", sources=new) if new else []
        sizes = {row["source"]: row["documents"] for row in rows} | {self._source: self._size}
        known = _known(
            self._store, [document.id for document, _ in group if sizes.get(document.source) != 0], self._request
        )
        result = Group(skipped=skipped)
        for document, passages in group:
            if document.source != self._source:
                result.gone |= self._gone()
                self._source, self._size, self._met = document.source, sizes[document.source], set()
            before = known.get(document.id)
            if before is not None:
                self._met.add(document.id)
            document = _given(document, {**(before.given if before else {}), **self._metadata})
            result.documents.append(_compared(document, passages, before, reread=self._reread))
        if is_last:
            result.gone |= self._gone()
        return result

    def _gone(self) -> dict[str, list[str]]:
        """What the graph has of the file that ends here, but the file has not. Mostly counting shows: nothing."""
        if len(self._met) == self._size or self._source in self.cut_short:
            return {}
        rows = self._store.read("ingest/documents_of_file", source=self._source)
        return {row["id"]: sorted(row["passages"]) for row in rows if row["id"] not in self._met}


def _known(store: Store, ids: Sequence[str], request: str = "") -> dict[str, _Known]:
    rows = store.read("ingest/existing_documents", ids=ids, request=request) if ids else []
    return {
        row["id"]: _Known(
            row["name"],
            row["sha256"],
            dict(row["passages"]),
            metadata_of(row["properties"]),
            row["modified"] or "",
            _given_before(row["given"]),
        )
        for row in rows
    }


def _given_before(text: str | None) -> dict[str, MetadataValue]:
    """What a document has from earlier ingests; none where somebody wrote something else there."""
    with suppress(ValueError):
        found = json.loads(text or "{}")
        return flat(found).metadata if isinstance(found, dict) else {}
    return {}


def _given(document: Document, metadata: Mapping[str, MetadataValue | None]) -> Document:
    """``document`` with the ``metadata`` that ingests gave it, beneath its own; those of None are taken away."""
    given = {name: value for name, value in metadata.items() if value is not None}
    whole = dict(sorted({**given, **document.metadata}.items()))
    return replace(document, metadata=whole, given=given) if given else document


def describe(store: Store, documents: Sequence[str], metadata: Mapping[str, MetadataValue | None]) -> None:
    """Give documents (ids) ``metadata`` as an ingest of them would; None takes a name away. Raises ``InputError`` for a
    name that a document has from its own text, or from a file beside it: that is what would count."""
    described, dated = list[Document](), list[str]()
    for id_, known in _known(store, documents).items():
        own = {name: value for name, value in known.metadata.items() if known.given.get(name) != value}
        if taken := sorted(own.keys() & metadata.keys()):
            raise InputError(f'The document "{known.title}" says {taken[0]} itself. Change it there, and ingest it.')
        document = Document(id_, known.title, "", "", "", "", metadata=own, modified=known.modified)
        described.append(_given(document, {**known.given, **metadata}))
        if written_on(described[-1].metadata) != written_on(known.metadata):
            dated += known.states
    store.write(*update_statements((), described))
    set_written(store, dated)


def _compared(document: Document, passages: Sequence[Passage], known: _Known | None, *, reread: bool) -> Compared:
    if known is None:
        return Compared(document, passages, "added", described=bool(document.metadata))
    is_same = known.metadata == document.metadata
    described = not is_same or (known.modified, known.given) != (document.modified, document.given)
    # What a passage says may depend on the rest of its document and on the title: of another text, none is kept.
    if (known.title, known.sha256) != (document.title, document.sha256):
        every = frozenset(known.states)
        return Compared(document, passages, "changed", stale=every, is_other_text=True, described=described)
    wanted = {passage.id for passage in passages}
    stale, there = frozenset(known.states.keys() - wanted), frozenset(known.states.keys() & wanted)
    # "Last year" depends on the day of the document.
    days = [written_on(each) for each in (known.metadata, document.metadata)]
    if reread or (days[0] != days[1] and times_in(document.text, days[0]) != times_in(document.text, days[1])):
        return Compared(document, passages, "reread", stale=stale, again=there, described=described)
    unread = frozenset(passage for passage in there if known.states[passage] == UNREAD)
    done = unread.union(passage for passage in there if known.states[passage] == EXTRACTED)
    same_passages = known.states.keys() == wanted
    verdict: Literal["changed", "unchanged"] = "unchanged" if same_passages and is_same else "changed"
    return Compared(
        document,
        passages,
        verdict,
        done,
        stale,
        unread=unread,
        again=there - done,
        described=described,
        only_described=same_passages and described,
    )


class NewLanguages:
    """Languages other than English of new and changed documents, in which none of the graph's was before.

    What the graph has is asked for once, with the first document that is not English: most ingests never do. Where the
    documents of an older graph had no language yet (not ``are_told``), all of theirs are new.
    """

    def __init__(self, store: Store, *, are_told: bool) -> None:
        self._store = store
        self.are_told = are_told
        self._documents: Counter[str] = Counter()
        self._before: frozenset[str] | None = None

    def among(self, groups: Iterable[Group]) -> Iterator[Group]:
        """``groups``, each looked at before it is written."""
        for group in groups:
            news = (each.document.text for each in group.documents if each.verdict in ("added", "changed"))
            found = [code for code in map(language_of, news) if code not in ("", ENGLISH)]
            if found and self._before is None:
                self._before = frozenset(self._there())
            self._documents.update(found)
            yield group

    @property
    def codes(self) -> list[str]:
        """ISO 639-1; those of most documents first."""
        if not self.are_told:
            return self._there()
        ranked = sorted(self._documents.items(), key=lambda each: (-each[1], each[0]))
        return [code for code, _ in ranked if code not in (self._before or ())]

    def _there(self) -> list[str]:
        found = (row["language"] for row in self._store.read("ingest/languages"))
        return [code for code in found if code != ENGLISH]


_COPIES = 100
"""Files with one text, the first by name, among which the likeliest new name is looked for."""


def check_prune(store: Store, paths: Sequence[str | Path]) -> None:
    """Raise ``InputError`` where a folder has no file at all, but the graph has documents of it. More often than not
    its disk is not mounted, and what a model read of them was paid for."""
    for folder, is_empty in named_folders(paths):
        if is_empty and store.read("ingest/files_beneath", folder=f"{folder.as_uri().rstrip('/')}/"):
            raise InputError(
                f"{folder} has no files, but the graph has documents from it. To remove them, run `kgplatform remove "
                f"{folder}`."
            )


def gone_files(store: Store, paths: Sequence[str | Path], *, prune: bool, progress: Progress) -> list[GoneFile]:
    """The files beneath the folders of ``paths`` that are gone; with ``prune``, their documents are removed."""
    folders = [folder for folder, _ in named_folders(paths)]
    beneath = [f"{folder.as_uri().rstrip('/')}/" for folder in folders]
    known = {row["source"] for each in beneath for row in store.read("ingest/files_beneath", folder=each)}
    sources = []
    for source in sorted(known):
        try:
            path_of(source).stat()
        except (FileNotFoundError, NotADirectoryError):
            sources.append(source)
        except OSError:  # where a folder cannot be entered, or a server does not answer, nobody knows
            continue
    rows = store.read("ingest/gone_files", sources=sources) if sources else []
    rows.sort(key=lambda row: str(row["source"]))
    asked = {"texts": sorted({row["sha256"] for row in rows}), "gone": sources, "most": _COPIES}
    same = store.read("ingest/files_with_texts", **asked) if rows else []
    elsewhere = {row["sha256"]: row["sources"] for row in same}
    for number, source in enumerate(sources if prune else (), start=1):
        documents = store.read("ingest/documents_of_file", source=source)
        ids = [row["id"] for row in documents]
        remove(store, [passage for row in documents for passage in row["passages"]], ids, ids)
        progress("removing files that are gone", number, len(sources))
    return [
        GoneFile(
            _shown(row["source"]),
            row["documents"],
            _nearest(row["source"], elsewhere.get(row["sha256"], ())),
            removed=prune,
        )
        for row in rows
    ]


def _nearest(gone: str, sources: Sequence[str]) -> str | None:
    """Of the files with the same text that which changed last beside the one that is gone: it was renamed, mostly."""

    def near(source: str) -> tuple[int, float]:
        shared = os.path.commonprefix([source, gone]).rpartition("/")[0]
        try:
            return len(shared), path_of(source).stat().st_ctime
        except OSError:
            return len(shared), 0.0

    return _shown(max(sources, key=near)) if sources else None


def _shown(source: str) -> str:
    return os.fsencode(path_of(source)).decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Planned:
    """A document with its passages in reading order. Of those that are done only the id is left, and the document has
    no text where all are."""

    document: Document
    passages: tuple[Passage | str, ...]


class Plan(AbstractContextManager["Plan"]):
    """Documents in the order of their files, and how many there are. Iterating reads them from disk.

    ``verdicts`` counts documents as "added", "changed" and "unchanged"; ``pending`` counts passages to read,
    ``again`` those of them that are in the graph, and ``unread`` those that are left unread (``Compared``).
    """

    def __init__(self, folder: Path) -> None:
        self.skipped: list[SkippedFile] = []
        self.verdicts = Counter[str]()
        self.removed = self.passages = self.pending = self.again = self.unread = self.characters = 0
        self._spool: Spool[Planned] = Spool(folder)

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
            passages = tuple(passage.id if passage.id in each.done else passage for passage in each.passages)
            is_done = len(each.done) == len(each.passages)
            document = replace(each.document, text="", locations=()) if is_done else each.document
            self._spool.add(Planned(document, passages))

    @property
    def document_ids(self) -> Iterator[str]:
        """The ids of all documents, in order."""
        return (planned.document.id for planned in self)


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
            writer.put([*laid, *update_statements(again, described)])
            plan.add(group)
    progress("documents", len(plan), len(plan))
