"""Files that clients send: kept under safe names in a folder of the graph's home that only its owner can read.

A document's URI is the address of its file. The file is kept as long as a document comes from it, so that a later
upload of the same name updates that document. An upload that fails does not replace an earlier one.

Until it is ingested, an upload is set aside in a folder of its own, which its job names. While it is arriving, the
folder has a lock that ends with its process. So what no job needs, and no process is about to give to one, can go.
"""

from __future__ import annotations

import hashlib
import logging
import re
import shutil
import tempfile
import unicodedata
import uuid
from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TextIO

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency import system
from kgplatform.concurrency.files import claim, file_lock, folder_mark, write_atomically
from kgplatform.errors import InputError, StoreError
from kgplatform.shown import UPLOADS, given_name

log = logging.getLogger(__name__)

_LONGEST = 255
"""Bytes of a name that file systems take."""
_ASIDE = ".new-"
_CLAIM = ".claim"
"""The file that is locked while an upload arrives. It lists the names of what was set aside, one per line."""
_GRAPH = ".graph"
"""The file that names the graph whose job needs the folder: a home may serve several."""
_RESERVED = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.I)
_ESCAPE = re.compile("%(?=[0-9A-Fa-f]{2}|-)")
_HIDDEN = ("Cc", "Cs", "Co", "Cn")
_TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")
"""Characters that change the direction of text, by which a name can look like another."""


@dataclass(frozen=True, slots=True)
class Staged:
    """Files that have arrived but are not in their place yet."""

    folder: Path
    names: tuple[str, ...]
    claim: TextIO | None = None

    @property
    def earlier(self) -> Path:
        """Where the files are that they replaced. No upload has a name that begins with a dot."""
        return self.folder / ".earlier"

    def drop(self) -> None:
        """Delete them, and those that they replaced."""
        with _alone(self.folder.parent):  # nobody claims what is half deleted
            shutil.rmtree(self.folder, ignore_errors=True)
        self.let_go()

    def let_go(self) -> None:
        """End the lock: from here on a job keeps the folder."""
        if self.claim is not None:
            self.claim.close()


class Uploads:
    """The folder ``uploads`` of a home. ``shares_graph``: homes of other places may serve the same graph."""

    def __init__(self, home: Path, *, shares_graph: bool = False) -> None:
        self.folder = home / UPLOADS
        self._shares_graph = shares_graph

    def place(self) -> str:
        """What tells this folder from those of other homes, wherever the home is renamed or mounted.

        A copy of a home has its file too. Where both serve one graph, it gets an id of its own, for the files of a job
        come to one of them only; with a graph of its own it keeps the id, by which that graph's jobs find their files.
        """
        file = self.folder.with_name("uploads.id")
        with _alone(self.folder):
            here = folder_mark(self.folder.parent).partition(":")[2]  # the number of a disk may change
            id_, _, home = (file.read_text("utf-8") if file.is_file() else "").strip().partition(" ")
            if not id_ or (self._shares_graph and home not in ("", here)):  # an earlier version wrote the id alone
                id_ = uuid.uuid4().hex
            if home != here:
                write_atomically(file, f"{id_} {here}".encode())
            return id_

    def stage(self, files: Sequence[tuple[str, BinaryIO]], graph: str) -> Staged:
        """Copy ``files``, each with the name that the client gave it, for a job of ``graph`` (the database's id).

        Raises ``InputError`` for a name that names nothing, and for two files of one name, or of names that the file
        system takes for one.
        """
        names = [safe_name(name) for name, _ in files]
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self.folder.chmod(0o700)
        there = {each.name for each in self.folder.iterdir()}
        if other := next((name for name in names if name not in there and (self.folder / name).exists()), None):
            raise InputError(f"The server's disk takes {given_name(other)} for another upload. Rename the file.")
        with _alone(self.folder):  # nobody finds the folder before it is claimed
            folder = Path(tempfile.mkdtemp(prefix=_ASIDE, dir=self.folder))
            claimed = claim(folder / _CLAIM)
            assert claimed is not None
            (folder / _GRAPH).write_text(graph, "utf-8")
            claimed.write("\n".join(names))
            claimed.flush()
        staged = Staged(folder, tuple(names), claimed)
        try:
            for name, (_, stream) in zip(names, files, strict=True):
                if (staged.folder / name).exists():
                    raise InputError(f"Two files are called {given_name(name)}. Rename one of them.")
                with (staged.folder / name).open("xb") as target:
                    shutil.copyfileobj(stream, target)
        except BaseException:  # whatever it is, no half of an upload is left
            staged.drop()
            raise
        return staged

    def staged(self, folder: str, names: Sequence[str]) -> Staged:
        """What was set aside for a job."""
        return Staged(self.folder / folder, tuple(names))

    def abandoned(self, graph: KnowledgeGraph) -> list[Staged]:
        """What was set aside for ``graph`` and no job needs. The caller owns it now, and ends it with ``keep``."""
        if not self.folder.is_dir():
            return []
        with _alone(self.folder):
            claims = [(each, claim(each / _CLAIM)) for each in sorted(self.folder.glob(f"{_ASIDE}*"))]
        left = [Staged(each, tuple(claimed.read().splitlines()), claimed) for each, claimed in claims if claimed]
        if not left:
            return []
        # Asked for now: who set one aside gave it to a job before its lock ended.
        kept, own = graph.jobs(self.place(), "", 0).load().folders, graph.database_id()
        gone = []
        for each in left:
            whose = each.folder / _GRAPH  # an earlier version made none
            if each.folder.name not in kept and (not whose.is_file() or whose.read_text("utf-8") in ("", own)):
                gone.append(each)
            else:
                each.let_go()
        return gone

    def put(self, staged: Staged) -> list[Path]:
        """Put them where the graph reads them; earlier files of their names are set aside. Those that a killed process
        has put there already stay. Raises ``InputError`` for one that is nowhere."""
        if staged.folder.is_dir():
            staged.earlier.mkdir(exist_ok=True)
        for name in staged.names:
            if (staged.folder / name).is_file():
                with suppress(FileNotFoundError):
                    (self.folder / name).replace(staged.earlier / name)
                (staged.folder / name).replace(self.folder / name)
            elif not (staged.folder.is_dir() and (self.folder / name).is_file()):
                raise InputError(f"The uploaded file {given_name(name)} is no longer on the server. Upload it again.")
        return [self.folder / name for name in staged.names]

    def keep(self, staged: Staged, is_used: Callable[[Path], bool]) -> None:
        """Keep those that are used; where one is not, put the earlier file back."""
        try:
            # A killed process may not have made the folder.
            for earlier in list(staged.earlier.iterdir()) if staged.earlier.is_dir() else []:
                place = self.folder / earlier.name
                if not (place.is_file() and is_used(place)):
                    earlier.replace(place)
        finally:
            staged.drop()


def finish_uploads(graph: KnowledgeGraph, uploads: Uploads, staged: Staged, read: Collection[str] = ()) -> None:
    """Clean up after an ingest, however it ended: only files that documents come from stay, and where an upload failed,
    the earlier one is back. ``read``: the names of those that are known to have been ingested."""
    doubtful = {str(uploads.folder / name) for name in staged.names if name not in read}
    try:  # only the doubtful ones are looked up
        uploads.keep(staged, lambda file: str(file) not in doubtful or graph.holds(file))
    except StoreError as error:  # the later ones stay until the next upload of their names
        log.warning("earlier uploads were not put back: %s", type(error).__name__)
    forget_unused(graph, uploads, [(uploads.folder / name).as_uri() for name in staged.names])


def forget_unused(graph: KnowledgeGraph, uploads: Uploads, sources: Sequence[str]) -> None:
    """Delete the uploads among ``sources`` (URIs) that no document comes from."""
    try:
        gone = set(sources) - {document.source for document in graph.documents()}
    except StoreError as error:  # they stay until the next upload of their names
        log.warning("uploads were not cleaned up: %s", type(error).__name__)
        return
    for file in uploads.folder.iterdir() if gone and uploads.folder.is_dir() else ():
        if file.as_uri() in gone:
            file.unlink(missing_ok=True)


def end_abandoned(graph: KnowledgeGraph, uploads: Uploads) -> None:
    """Clean up what no job needs, as its job would have: what was not ingested is deleted."""
    try:
        for staged in uploads.abandoned(graph):
            finish_uploads(graph, uploads, staged)
    except OSError as error:  # the server can do without
        log.warning("uploads that no job needs are left in %s: %s", uploads.folder, error.strerror or error)
    except StoreError as error:  # it is looked again
        log.warning("uploads that no job needs were not looked for: %s", type(error).__name__)


def _alone(uploads: Path) -> AbstractContextManager[None]:
    """No other process or thread makes, claims or removes what is set aside meanwhile."""
    return file_lock(uploads.with_name("uploads.lock"))


def safe_name(given: str) -> str:
    """The file name under which an upload is kept: as it was ``given``, but for what a name in a folder cannot have, or
    what would hide it there, which stands as in an address: ``given_name`` has it back, so that no two have one.

    What has more bytes than a file may have keeps its beginning and its suffix, with a hash of all of it in between.
    Raises ``InputError`` if it names nothing.

    >>> safe_name("2023/Report.md"), safe_name(".notes.md")
    ('2023%2FReport.md', '%2Enotes.md')
    """
    if not any(char.isalnum() for char in given):
        raise InputError(f"{given[:100]!r} cannot be a file name. Use letters or digits.")
    first, last = len(given) - len(given.lstrip(". ")), len(given.rstrip(". "))
    first += _RESERVED.fullmatch(given) is not None
    name = ""
    for at, char in enumerate(given):
        is_unsafe = unicodedata.category(char) in _HIDDEN or char in _TURNS or char in f"/\\{system.NOT_IN_NAMES}"
        if not first <= at < last or is_unsafe or (char != " " and char.isspace()) or _ESCAPE.match(given, at):
            char = "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
        name += char
    if len(name.encode()) <= _LONGEST:
        return name
    suffix = Path(name).suffix if len(Path(name).suffix.encode()) <= 16 else ""
    digest = hashlib.sha256(name.encode()).hexdigest()[:12]
    room = _LONGEST - len(suffix.encode()) - len(digest) - 2
    stem = name.removesuffix(suffix).encode()[:room].decode("utf-8", "ignore")
    return f"{stem}%-{digest}{suffix}"
