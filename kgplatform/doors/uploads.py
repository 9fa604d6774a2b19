"""Files that clients send: kept under safe names in a folder of the graph's home that only its owner can read.

A document's URI is the address of its file. The file is kept so that a second upload of the same name is the same
document with, perhaps, another text; it goes when no document comes from it any more. What lies there is what the graph
was made of: an upload that nothing came of does not take the place of an earlier one.

Until then an upload is put aside in a folder of its own, with a lock that ends with its process: what a killed process
has left can be told from what another one is at.
"""

from __future__ import annotations

import fcntl
import hashlib
import logging
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, TextIO

from kgplatform import IngestReport
from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, StoreError
from kgplatform.work.stopping import Stop

log = logging.getLogger(__name__)

_LONGEST = 200
"""Bytes of a name: file systems take 255, and some add to it."""
_ASIDE = ".new-"
_CLAIM = ".claim"
"""The file that is locked while a folder's process lives. It has the names of what was put aside, one a line."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.I)
_HIDDEN = ("Cc", "Cs", "Co", "Cn")
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Characters that change the direction of text, by which a name can look like another."""


@dataclass(frozen=True, slots=True)
class Staged:
    """Files that have come in and are not yet in their place."""

    folder: Path
    names: tuple[str, ...]
    claim: TextIO

    @property
    def earlier(self) -> Path:
        """Where the files lie whose place they took. No upload has a name that begins with a dot."""
        return self.folder / ".earlier"

    def drop(self) -> None:
        """Forget them, and those whose place they took."""
        with _alone(self.folder.parent):  # nobody claims what is half gone
            shutil.rmtree(self.folder, ignore_errors=True)
        self.claim.close()


class Uploads:
    """The folder ``uploads`` of a home."""

    def __init__(self, home: Path) -> None:
        self.folder = home / "uploads"

    def stage(self, files: Sequence[tuple[str, BinaryIO]]) -> Staged:
        """Copy ``files``, each with the name that the client gave it. Raises ``InputError`` for a name that leaves
        nothing to call a file by, and for two files of one name."""
        names = [safe_name(name) for name, _ in files]
        twice = {name for name in names if [other.casefold() for other in names].count(name.casefold()) > 1}
        if twice:
            raise InputError(f"Two files are called {min(twice)}. Give one of them another name.")
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        staged = self._put_aside(tuple(names))
        try:
            staged.claim.write("\n".join(names))
            staged.claim.flush()
            for name, (_, stream) in zip(names, files, strict=True):
                with (staged.folder / name).open("xb") as target:
                    shutil.copyfileobj(stream, target)
        except BaseException:  # whatever it is, no half of an upload is left
            staged.drop()
            raise
        return staged

    def abandoned(self) -> list[Staged]:
        """What processes that are gone have put aside. It is the caller's now, to end with ``keep``."""
        if not self.folder.is_dir():
            return []
        with _alone(self.folder):
            claims = [(folder, _claimed(folder / _CLAIM)) for folder in sorted(self.folder.glob(f"{_ASIDE}*"))]
        return [Staged(folder, tuple(claim.read().splitlines()), claim) for folder, claim in claims if claim]

    def _put_aside(self, names: tuple[str, ...]) -> Staged:
        with _alone(self.folder):  # nobody finds the folder before it is claimed
            folder = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=self.folder))
            claim = _claimed(folder / _CLAIM)
        assert claim is not None
        return Staged(folder, names, claim)

    def place(self, staged: Staged) -> list[Path]:
        """Put them where the graph reads them, each in place of an earlier one of its name, which is set aside."""
        staged.earlier.mkdir()
        for name in staged.names:
            with suppress(FileNotFoundError):
                (self.folder / name).replace(staged.earlier / name)
            (staged.folder / name).replace(self.folder / name)
        return [self.folder / name for name in staged.names]

    def keep(self, staged: Staged, is_used: Callable[[Path], bool]) -> None:
        """Keep those that are used in the place of an earlier one; where one is not, that is put back."""
        try:
            for earlier in _files_of(staged.earlier):
                place = self.folder / earlier.name
                if not (place.is_file() and is_used(place)):
                    earlier.replace(place)
        finally:
            staged.drop()

    def forget(self, sources: Collection[str], kept: Collection[str]) -> None:
        """Delete the files at ``sources`` (URIs) that are uploads, but for those that documents still come from."""
        gone = set(sources) - set(kept)
        if not gone or not self.folder.is_dir():
            return
        for file in self.folder.iterdir():
            if file.as_uri() in gone:
                with suppress(FileNotFoundError):
                    file.unlink()


def ingest_uploads(graph: KnowledgeGraph, uploads: Uploads, staged: Staged, stop: Stop, **options: Any) -> IngestReport:
    """``graph.ingest`` of what was staged, until ``stop`` is set.

    At its end, whatever that is, those files stay that documents come from, and an earlier upload is back in its place
    where nothing came of the later one.
    """
    files = uploads.place(staged)
    doubtful = {str(file) for file in files}
    try:
        report = graph.within(stop).ingest(files, **options)
        doubtful = {skipped.path for skipped in report.skipped}
        return report
    finally:  # also where the ingest was stopped
        _keep_used(graph, uploads, staged, doubtful)
        forget_unused(graph, uploads, [file.as_uri() for file in files])


def forget_unused(graph: KnowledgeGraph, uploads: Uploads, sources: Sequence[str]) -> None:
    """Delete those of the uploads at ``sources`` that no document comes from."""
    try:
        uploads.forget(sources, {document.source for document in graph.documents()})
    except StoreError as error:  # they stay, and the next upload of their names takes their place
        log.warning("uploads were not looked through: %s", type(error).__name__)


def end_abandoned(graph: KnowledgeGraph, uploads: Uploads) -> None:
    """End the uploads of processes that were killed, as these would have: nothing of what was not ingested is left."""
    try:
        for staged in uploads.abandoned():
            files = [uploads.folder / name for name in staged.names]
            _keep_used(graph, uploads, staged, {str(file) for file in files})
            forget_unused(graph, uploads, [file.as_uri() for file in files])
    except OSError as error:  # nothing that is served now needs it
        log.warning("uploads of an earlier server are left in %s: %s", uploads.folder, error.strerror or error)


def _keep_used(graph: KnowledgeGraph, uploads: Uploads, staged: Staged, doubtful: Collection[str]) -> None:
    """Keep those that the graph holds; only the ``doubtful`` ones are looked up there."""
    try:
        uploads.keep(staged, lambda file: str(file) not in doubtful or graph.holds(file))
    except StoreError as error:  # the later ones stay, and the next upload of their names takes their place
        log.warning("earlier uploads were not put back: %s", type(error).__name__)


@contextmanager
def _alone(uploads: Path) -> Iterator[None]:
    """Inside of it no other process, and no other thread, makes, claims or removes what is put aside."""
    with uploads.with_name("uploads.lock").open("a") as lock:  # closing it ends the lock
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _claimed(file: Path) -> TextIO | None:
    """``file``, opened and locked until it is closed or this process ends; None if another has it."""
    claim = file.open("a+", encoding="utf-8")
    try:
        fcntl.flock(claim, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        claim.close()
        return None
    claim.seek(0)
    return claim


def _files_of(folder: Path) -> list[Path]:
    """Nothing where there is no such folder: the process that was to make it has been killed before."""
    return list(folder.iterdir()) if folder.is_dir() else []


def safe_name(given: str) -> str:
    """The last part of ``given`` as a file may be called: no folder, nothing hidden, nothing that turns text round.

    A long name keeps its beginning and its suffix, with a hash of all of it between, so that it stays the same name.
    Raises ``InputError`` where nothing is left.

    >>> safe_name("../../etc/passwd"), safe_name("C:\\\\Users\\\\me\\\\.notes.md")
    ('passwd', 'notes.md')
    """
    last = re.split(r"[/\\]", unicodedata.normalize("NFC", given))[-1]
    shown = "".join(char for char in last if unicodedata.category(char) not in _HIDDEN and char not in _TURNS)
    name = " ".join(shown.split()).lstrip(". ").rstrip(". ")
    if not name:
        raise InputError(f"A file cannot be called {given[:100]!r}. Give it a name with letters or digits.")
    if _RESERVED.fullmatch(name):
        name = f"_{name}"
    return name if len(name.encode()) <= _LONGEST else _shortened(name)


def _shortened(name: str) -> str:
    suffix = Path(name).suffix if len(Path(name).suffix.encode()) <= 16 else ""
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    room = _LONGEST - len(suffix.encode()) - len(digest) - 1
    stem = name.removesuffix(suffix).encode()[:room].decode("utf-8", "ignore")
    return f"{stem}-{digest}{suffix}"
