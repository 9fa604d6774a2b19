"""E-books (EPUB): the chapters in the order in which they are read, under their names in the table of contents."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.sources.files.archive import joined, opened, read_xml
from kgplatform.sources.files.file_text import FileText, Parts
from kgplatform.sources.html_text import html_tree, shown_text
from kgplatform.text import clipped, tidy

if TYPE_CHECKING:
    from lxml import etree  # type: ignore[import-untyped]  # publishes no types

_PAGES = ("application/xhtml+xml", "text/html")
_LONGEST_NAME = 80
_CONTAINER = "META-INF/container.xml"
_ENCRYPTION, _LOCKED = "META-INF/encryption.xml", "{*}CipherReference"
_MARK = "\ue000"
_MARKED = re.compile(f"{_MARK}(\\d+){_MARK}")


@dataclass(frozen=True, slots=True)
class _Item:
    """A file of the book, by its name in the archive."""

    name: str
    kind: str
    properties: str


def read_book(path: str, stream: BinaryIO) -> FileText:
    """The text of all chapters; one that cannot be read is a fault."""
    parts, faults = Parts(), []
    with opened(path, stream) as archive:
        found = next(read_xml(path, archive, _CONTAINER).iter("{*}rootfile"), None)
        if found is None:
            raise DocumentError(path, "damaged e-book: it does not say where its text is")
        package = joined("", found.get("full-path", ""))
        root = read_xml(path, archive, package)
        items = {
            each.get("id", ""): _Item(
                joined(package, each.get("href", "")), each.get("media-type", ""), each.get("properties", "")
            )
            for each in root.iter("{*}item")
        }
        spine = [items[id_] for each in root.iter("{*}itemref") if (id_ := each.get("idref", "")) in items]
        pages = [each for each in spine if each.kind in _PAGES and "nav" not in each.properties.split()]
        with suppress(KeyError):
            locked = {joined("", each.get("URI", "")) for each in read_xml(path, archive, _ENCRYPTION).iter(_LOCKED)}
            if locked & {each.name for each in pages}:  # and not only the fonts
                raise DocumentError(path, "encrypted e-book (DRM): no program but its shop's can read it")
        names, label = _contents(path, archive, list(items.values())), ""
        for number, page in enumerate(pages, start=1):
            label = (label if names else "") or f"part {number}"
            try:
                tree = html_tree(archive.read(page.name))
            except (KeyError, zipfile.BadZipFile, ValueError):
                faults.append(f"{page.name} is damaged and cannot be read")
                continue
            for name, text in () if tree is None else _sections(tree, names.get(page.name, {})):
                label = name or label
                parts.add(text, label)
        title = next((tidy(each.text) for each in root.iter("{*}title") if each.text), None)
    return parts.found(title, tuple(faults))


def _sections(tree: etree._Element, names: dict[str, str]) -> Iterator[tuple[str, str]]:
    """The text of a page from one entry of the table of contents to the next, each with its name. Marks go into the
    tree where the entries lead, and are found again in its text."""
    marked = [(element, names[id_]) for element in tree.iter("*") if (id_ := element.get("id")) and id_ in names]
    for number, (element, _) in enumerate(marked):
        element.text = f"{_MARK}{number}{_MARK}{element.text or ''}"
    before, *rest = _MARKED.split(shown_text(tree))
    yield names.get("", ""), before
    for mark, text in zip(rest[::2], rest[1::2], strict=True):
        yield marked[int(mark)][1], text


def _contents(path: str, archive: zipfile.ZipFile, items: Sequence[_Item]) -> dict[str, dict[str, str]]:
    """By file, and in it by the id that it leads to or "", the name of each entry of the table of contents."""
    names: dict[str, dict[str, str]] = {}
    for item in items:
        is_nav = "nav" in item.properties.split()
        if is_nav or item.kind == "application/x-dtbncx+xml":
            try:
                tree = html_tree(archive.read(item.name)) if is_nav else read_xml(path, archive, item.name)
            except (KeyError, zipfile.BadZipFile, ValueError):
                continue
            for target, name in () if tree is None else _entries(tree, is_nav=is_nav):
                names.setdefault(joined(item.name, target), {}).setdefault(target.partition("#")[2], name)
    return names


def _entries(tree: etree._Element, *, is_nav: bool) -> Iterator[tuple[str, str]]:
    """Where each entry of a table of contents leads, and its name; ``is_nav``: it is in HTML, not of the older kind."""
    if not is_nav:
        for point in tree.iter("{*}navPoint"):
            parents = [each for each in (point.getparent(),) if each.tag == point.tag]
            words = ["".join(each.find("{*}navLabel").itertext()) for each in (*parents, point)]
            yield point.find("{*}content").get("src", ""), _name(words)
        return
    for nav in tree.iter("nav"):
        if nav.get("epub:type", "toc") == "toc":
            for link in nav.iter("a"):
                above = [each.find("a") for each in link.iterancestors("li")][1:2]
                words = ["".join(each.itertext()) for each in (*above, link) if each is not None]
                yield link.get("href", ""), _name(words)


def _name(words: Sequence[str]) -> str:
    """An entry, below the one that it belongs to, as a label: "3" alone would say nothing."""
    name = " · ".join(clipped(tidy(each), _LONGEST_NAME) for each in words if tidy(each))
    return name if any(letter.isalpha() for letter in name) else f"chapter {name}".strip()
