"""ZIP archives that are documents: opened with care, and their parts of XML parsed without what XML can be made to do.

Nothing is ever unpacked onto the disk, so that no name in an archive leads out of it.
"""

from __future__ import annotations

import posixpath
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO
from urllib.parse import unquote

from kgplatform.errors import DocumentError
from kgplatform.sources.files.file_text import parsing

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped]  # publishes no types

_MAX_UNPACKED_BYTES = 1 << 30
_MAX_RATIO = 200
_IS_ENCRYPTED = 1
_OPEN_MANIFEST = "META-INF/manifest.xml"
_TITLE_TAG = "{http://purl.org/dc/elements/1.1/}title"


@contextmanager
def opened(path: str, stream: BinaryIO) -> Iterator[zipfile.ZipFile]:
    """The archive, if it is no bomb and not encrypted. What goes wrong inside is a ``DocumentError``."""
    with parsing(path, "damaged: open it in its program and save it again"), zipfile.ZipFile(stream) as archive:
        parts = archive.infolist()
        locked = _OPEN_MANIFEST in archive.namelist() and b"encryption-data" in archive.read(_OPEN_MANIFEST)
        if locked or any(part.flag_bits & _IS_ENCRYPTED for part in parts):
            raise DocumentError(path, "encrypted: remove its password first")
        unpacked, packed = sum(part.file_size for part in parts), sum(part.compress_size for part in parts)
        size, times = f"unpacks to {unpacked >> 20:,} MB", unpacked // max(1, packed)
        if unpacked > _MAX_UNPACKED_BYTES:
            raise DocumentError(path, f"{size}, and at most {_MAX_UNPACKED_BYTES >> 20:,} are read: split it")
        if unpacked > _MAX_UNPACKED_BYTES >> 4 and unpacked > _MAX_RATIO * packed:
            raise DocumentError(path, f"{size}, {times:,} times its size, which no document does: refused")
        yield archive


def read_xml(path: str, archive: zipfile.ZipFile, part: str) -> etree._Element:
    """The root of a part. Raises ``KeyError`` if it is not there, ``DocumentError`` if it defines entities."""
    from lxml import etree

    parser = etree.XMLParser(resolve_entities=False, no_network=True, load_dtd=False, remove_comments=True)
    root = etree.fromstring(archive.read(part), parser)
    dtd = root.getroottree().docinfo.internalDTD
    if dtd is not None and next(dtd.iterentities(), None) is not None:
        raise DocumentError(path, "defines XML entities of its own, which no document does: refused")
    return root


def joined(base: str, target: str) -> str:
    """The name of the part that ``target`` means in the part ``base``."""
    inside = posixpath.normpath(posixpath.join("/", posixpath.dirname(base), unquote(target.partition("#")[0])))
    return inside.lstrip("/")


def related(path: str, archive: zipfile.ZipFile, part: str) -> dict[str, tuple[str, str]]:
    """By id, the kind of each relationship of an Office part ("slide", "chart") and the part that it leads to."""
    folder, name = posixpath.split(part)
    try:
        links = read_xml(path, archive, f"{folder}/_rels/{name}.rels")
    except KeyError:
        return {}
    return {
        link.get("Id", ""): (link.get("Type", "").rpartition("/")[2], joined(part, link.get("Target", "")))
        for link in links
        if link.get("TargetMode") != "External"
    }


def core_title(path: str, archive: zipfile.ZipFile, part: str = "docProps/core.xml") -> str | None:
    """The title in the metadata, if there is one."""
    from lxml import etree

    try:
        return next((each.text for each in read_xml(path, archive, part).iter(_TITLE_TAG) if each.text), None)
    except (KeyError, etree.XMLSyntaxError, zipfile.BadZipFile):
        return None
