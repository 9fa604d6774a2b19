"""What a program has in hand, as documents: texts, dictionaries, open files, documents of LangChain and LlamaIndex,
and pages of the web.

    with gather([Path("docs"), Text("…", source="https://…"), {"text": "…", "author": "Verne"}], folder) as given:
        given.paths                                  # files and folders, which are loaded as always
        given.texts.documents(calls, fields)         # the others, those of one source together

A string is a path or an address of the web, never a text. What is gathered lies on disk until it is read.
"""

from __future__ import annotations

import hashlib
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field, replace
from io import StringIO
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from kgplatform.concurrency.files import Shards
from kgplatform.concurrency.workers import BoundedCalls
from kgplatform.errors import InputError
from kgplatform.neo4j.metadata import NOTHING, Flat, flat, is_missing
from kgplatform.records import Document, SkippedFile
from kgplatform.sources.corpus_file import Fields, as_name
from kgplatform.sources.files.file_text import clean
from kgplatform.sources.load import load_file
from kgplatform.text import node_id


@dataclass(frozen=True, slots=True)
class Text:
    """A text to ingest that is in no file.

    ``id`` or ``source`` (its address: a URL, a path, a key) names it: ingested again, it is compared with what the
    graph has under that name. Without either it is named by its title and what it says: another one is another
    document. Several texts of one ``source``, such as the pages of a book, are told apart by their order. ``title``: by
    default its first words. ``metadata``: flat values, for filters.
    """

    text: str
    title: str = ""
    source: str = ""
    id: str = ""
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)


class Loader(Protocol):
    """A loader of LangChain."""

    def lazy_load(self) -> Iterator[Any]:
        """The documents, one after the other."""


Ingestible = str | os.PathLike[str] | Text | Mapping[str, Any] | Loader | Iterable[Any]
"""What ``ingest`` takes; documents of other libraries, open files and tables are iterables to Python."""

ADOPTED = "adopted"
"""Begins the URIs of rows of another graph (``kgplatform.adopt``), and is the extractor that reads them."""
_ADDRESS = re.compile(rf"(?!text:|{ADOPTED}:)[A-Za-z][A-Za-z0-9+.-]*:\S+")
_WEB = re.compile(r"https?://\S+", re.IGNORECASE)
_LONGEST_PATH = 4096
_CAPTION = 80
_ROW = 200
"""Characters of a text that take as much memory as a row of other things."""
_SOURCES = ("source", "file_path", "url")
"""Keys of the metadata of other libraries under which they say where a text comes from."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text, or a file's name with its content; ``source`` names it, or the file that it is a part of."""

    source: str
    content: Text | tuple[Path, bytes]
    is_whole: bool
    """Whether nothing else can be of that source."""


class _BlankError(InputError):
    """A text that says nothing, such as a blank page: among others it is left out."""


class Texts:
    """What is in no file, kept in ``folder`` until it is read. Each time that it is read it gives the same.

    ``blank``: how many texts said nothing. ``notes``: what was left out, for people.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder, self._open = folder, ExitStack()
        self._shards: Shards | None = None
        self._left_out: Counter[str] = Counter()
        self._as_texts: Counter[str] = Counter()
        self._number = self._others_of_an_id = self.blank = 0

    def __bool__(self) -> bool:
        return self._number > 0

    @property
    def notes(self) -> list[str]:
        """Sentences about what was left out, the last time that the texts were read."""
        told = []
        if self._left_out:
            listed = _listed(self._left_out)
            told.append(f"Left out of the metadata, since the values are not flat or are too long: {listed}.")
        if self._as_texts:
            told.append(f"Converted to texts, since a list may have only one type: {_listed(self._as_texts)}.")
        if self.blank:
            told.append(f"Left out, since they are empty: {self.blank:,} of the texts.")
        if self._others_of_an_id:
            others = f"{self._others_of_an_id:,} of the texts"
            told.append(f"Left out, since an earlier text has the same id: {others}. Give each text its own id.")
        return told

    def add(self, piece: _Piece, said: Flat) -> None:
        """Keep a piece on disk."""
        if self._shards is None:
            assert self._folder is not None
            self._folder.mkdir(parents=True, exist_ok=True)
            self._shards = self._open.enter_context(Shards(self._folder))
        key = node_id("source", piece.source)
        size = len(piece.content.text if isinstance(piece.content, Text) else piece.content[1])
        row = {"key": key, "number": self._number, "piece": piece}
        self._shards.add("pieces", [row], "key", weight=1 + size // _ROW)
        self._left_out.update(said.left_out)
        self._as_texts.update(said.as_texts)
        self._number += 1

    def documents(self, calls: BoundedCalls, fields: Fields) -> Iterator[Document | SkippedFile]:
        """The documents, those of one source side by side and in their order; files are parsed within bounds."""
        parts = self._shards.parts("pieces") if self._shards is not None else iter(())
        self._others_of_an_id = 0
        for rows in parts:
            numbers: Counter[str] = Counter()
            firsts: dict[str, str] = {}
            for row in sorted(rows, key=lambda row: (row["key"], row["number"])):
                piece: _Piece = row["piece"]
                numbers[piece.source] += 1
                if isinstance(piece.content, Text):
                    first = firsts.setdefault(piece.source, piece.content.text)
                    if not piece.is_whole or numbers[piece.source] == 1:
                        source, text, number = piece.source, piece.content, numbers[piece.source]
                        uri = source if number == 1 else f"{source}#{number}"
                        title = text.title if number == 1 else f"{text.title} ({number})"
                        digest = hashlib.sha256(text.text.encode()).hexdigest()
                        named = node_id("document", uri), title, uri, source
                        yield Document(*named, text.text, digest, metadata=text.metadata)
                    else:
                        self._others_of_an_id += piece.content.text != first
                else:
                    path, content = piece.content
                    for found in load_file(path, content, fields, calls):
                        yield _at(piece.source, path, found)

    def close(self) -> None:
        """Remove what was kept."""
        self._open.close()


NO_TEXTS = Texts()


@dataclass(slots=True)
class Given(AbstractContextManager["Given"]):
    """``paths`` of files and folders, and ``texts``. A context manager: at its end the texts are gone."""

    paths: list[str | Path] = field(default_factory=list)
    texts: Texts = NO_TEXTS

    def __exit__(self, *_: object) -> None:
        self.texts.close()

    def __bool__(self) -> bool:
        return bool(self.paths or self.texts)


def gather(given: Any, folder: Path, fields: Fields) -> Given:
    """What was ``given``: one thing, or any number in a list, an iterator, a table, or a loader of LangChain.

    ``folder``: where texts lie until they are read. ``fields``: what dictionaries call texts and titles. Raises
    ``InputError`` for what is none of these, and then nothing is kept.
    """
    found, blank = Given(texts=Texts(folder)), None
    try:
        for each in _each(given):
            try:
                if is_web(each):
                    from kgplatform.sources.web import fetch  # what it needs of HTTP takes time to load

                    page = fetch(each)
                    piece = _Piece(each, (Path(page.name).absolute(), page.content), is_whole=False)
                    found.texts.add(piece, NOTHING)
                elif isinstance(each, str | os.PathLike):
                    is_long = isinstance(each, str) and ("\n" in each or len(each) > _LONGEST_PATH)
                    if is_long and not os.path.lexists(each):
                        raise InputError(
                            "A string names a file or a folder. To ingest a text, wrap it: kgplatform.Text(text)."
                        )
                    found.paths.append(each if isinstance(each, str) else Path(each))
                else:
                    found.texts.add(*_piece(each, fields))
            except _BlankError as error:
                blank = error
                found.texts.blank += 1
        if blank is not None and not found:
            raise blank
    except BaseException:  # whatever it is, what was kept goes
        found.texts.close()
        raise
    return found


def _each(given: Any) -> Iterator[Any]:
    """The things that ``given`` is, or has in it, lists of lists too; a table has its rows."""
    if callable(lazily := getattr(given, "lazy_load", None)):  # a loader of LangChain
        given = lazily()
    elif hasattr(given, "iterrows") and callable(as_dict := getattr(given, "to_dict", None)):  # a DataFrame of pandas
        given = as_dict("records")
    is_one = hasattr(given, "read") or hasattr(given, "page_content") or callable(getattr(given, "get_content", None))
    if is_one or isinstance(given, str | bytes | os.PathLike | Mapping | Text):
        yield given
    elif isinstance(given, Iterable):
        for each in given:
            yield from _each(each) if isinstance(each, list | tuple) else (each,)
    else:
        raise _refused(given)


def is_web(given: object) -> bool:
    """Whether ``given`` is an address of the web."""
    return isinstance(given, str) and _WEB.fullmatch(given) is not None


def _piece(each: Any, fields: Fields) -> tuple[_Piece, Flat]:
    """What ``each`` is, and what is said of it."""
    if isinstance(each, Text):
        return _named(each)
    if isinstance(each, Mapping):
        return _named(_text_of(each, fields))
    if hasattr(each, "read"):
        return _of_stream(each)
    if isinstance(content := getattr(each, "page_content", None), str):
        return _named(_of_library(content, each, str(getattr(each, "id", None) or "")))
    if callable(get := getattr(each, "get_content", None)):  # its ids are made up anew with each load
        return _named(_of_library(str(get()), each, ""))
    raise _refused(each)


def _refused(each: object) -> InputError:
    kind = type(each).__name__
    return InputError(
        f"A value of type {kind} cannot be ingested. Give paths, kgplatform.Text(text), dictionaries with a text, open "
        "files, or documents of LangChain or LlamaIndex."
    )


def _text_of(given: Mapping[Any, Any], fields: Fields) -> Text:
    """A dictionary: its text and title under the usual keys; what else it has is metadata. NaN is nothing."""
    has_text = any(key in given for key in fields.text)
    given = {name: value for name, value in given.items() if not is_missing(value)}
    keys = next((key for key in fields.text if key in given), None)
    if keys is None and has_text:
        raise _BlankError("A text to ingest is empty.")
    if keys is None or not isinstance(given[keys], str):
        raise InputError(f"A dictionary to ingest needs a text: {{'{fields.text[0]}': '…'}}.")
    title = next((key for key in fields.title if key in given), None)
    more = given.get("metadata")
    used = {keys, title, "id", *(("metadata",) if isinstance(more, Mapping) else ())}
    metadata = {name: value for name, value in given.items() if name not in used}
    metadata |= more if isinstance(more, Mapping) else {}
    name, source = given.get("id"), metadata.get("source")
    return Text(
        given[keys],
        title="" if title is None or given[title] is None else str(given[title]),
        source="" if source is None else str(source),
        id="" if name is None else str(name),
        metadata=metadata,
    )


def _of_library(text: str, each: Any, id: str) -> Text:
    metadata = getattr(each, "metadata", None)
    known = metadata if isinstance(metadata, Mapping) else {}
    source = next((str(known[key]) for key in _SOURCES if known.get(key)), "")
    title = known.get("title") or known.get("file_name")
    return Text(text, title=str(title or (Path(source).name if source else "")), source=source, id=id, metadata=known)


def _of_stream(stream: Any) -> tuple[_Piece, Flat]:
    """An open file, from where it stands to its end: by its name it is what its path would be."""
    name = getattr(stream, "name", None)
    try:
        content = stream.read()
    except (OSError, ValueError) as error:  # closed, open for writing alone, of another encoding
        raise InputError(f"The open file {name or stream!r:.100} cannot be read: {error}".rstrip(".") + ".") from error
    if isinstance(content, str) and (isinstance(stream, StringIO) or not isinstance(name, str)):
        return _named(Text(content))
    if not isinstance(name, str) or not isinstance(content, str | bytes):
        raise InputError(
            "An open file without a name cannot be told apart from others: set its name, such as report.pdf."
        )
    path = Path(name).absolute()
    data = content.encode() if isinstance(content, str) else content
    return _Piece(path.as_uri(), (path, data), is_whole=False), NOTHING


def _named(given: Text) -> tuple[_Piece, Flat]:
    """A text with what names it: its id, its source, or else what it says."""
    for name in ("text", "title", "source", "id"):
        if not isinstance(getattr(given, name), str):
            raise InputError(f"The {name} of a text must be a string, not {type(getattr(given, name)).__name__}.")
    if not isinstance(given.metadata, Mapping):
        raise InputError(f"The metadata of a text must be a dictionary, not {type(given.metadata).__name__}.")
    text = clean(given.text)
    if not text.strip():
        called = given.title or given.id or given.source
        raise _BlankError(f"The text {called!r:.100} is empty." if called else "A text to ingest is empty.")
    said = flat({**given.metadata, **({"source": given.source} if given.source else {})})
    said.metadata.pop("title", None)
    said_in_all = f"{clean(given.title)}\n{text}" if given.title.strip() else text
    name = given.id if given.id.strip() else given.source.strip()
    name = name or hashlib.sha256(said_in_all.encode()).hexdigest()[:32]
    source = source_of_id(name)
    title = as_name(given.title) or as_name(text.strip().partition("\n")[0][:_CAPTION]) or name
    is_whole = bool(given.id.strip()) or not given.source.strip()
    return _Piece(source, Text(text, title, metadata=said.metadata), is_whole), said


def source_of_id(name: str) -> str:
    """The URI of a text whose id or source is ``name``: an address is its own; any two names have two."""
    return name if _ADDRESS.fullmatch(name) else f"text:{quote(name, safe='/', errors='surrogatepass')}"


def _at(source: str, path: Path, found: Document | SkippedFile) -> Document | SkippedFile:
    """What was ``found`` in the content of a file that would stand at ``path``, as what stands at ``source``."""
    if isinstance(found, SkippedFile):
        return found if source == path.as_uri() else replace(found, path=source)
    uri = found.uri.replace(path.as_uri(), source, 1)
    return replace(found, uri=uri, source=source, id=node_id("document", uri))


def _listed(left_out: Counter[str]) -> str:
    return ", ".join(f"{name} ({times} times)" if times > 1 else name for name, times in sorted(left_out.items()))
