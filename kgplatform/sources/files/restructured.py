"""reStructuredText as it reads: no marks, no targets of links. Nothing that it names is included or run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.sources.decode import decode
from kgplatform.sources.files.file_text import FileText, clean, parsing
from kgplatform.sources.files.plain import title_field
from kgplatform.sources.files.table import lines

if TYPE_CHECKING:
    from docutils import nodes

_DIRECTIVE = re.compile(r"^[^\S\n]*(?:\.\.[^\S\n]+(?:\|[^|\n]+\|[^\S\n]+)?)([\w:+.-]+?)::(?:\s|$)", re.M)
_ROLE = re.compile(r":([\w+.-]+(?::[\w+.-]+)*):`")
_ROLE_TARGET = re.compile(r"^(.*?)\s*<[^<>]*>$", re.S)
_NO_TEXT = frozenset(("toctree", "index", "highlight", "currentmodule", "module", "meta", "contents", "sectnum"))
"""Directives, of Sphinx too, whose words are not for readers."""
_SETTINGS = {
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "_disable_config": True,
    "report_level": 5,
    "halt_level": 5,
    "warning_stream": False,
    "line_length_limit": 10_000_000,
    "doctitle_xform": False,
    "docinfo_xform": False,
}


def read_restructured(path: str, stream: BinaryIO) -> FileText:
    """Paragraphs, headings and code apart by blank lines; the words of directives and roles that Sphinx adds, too."""
    from docutils import nodes
    from docutils.core import publish_doctree

    source = clean(decode(path, stream.read()))
    if not source.strip():
        raise DocumentError(path, "has no text, only white space")
    with parsing(path, "reStructuredText that cannot be parsed: save it as plain text (.txt)"):
        _allow(source)
        tree = publish_doctree(source, settings_overrides=_SETTINGS)
        heading = next(iter(tree.findall(nodes.title)), None)
        title = title_field(source) or (heading.astext() if heading is not None else None)
        return FileText("\n\n".join(_blocks(tree)), title)


def _allow(source: str) -> None:
    """Make known what ``source`` uses and docutils does not know, so that its words are kept."""
    from docutils.frontend import get_default_settings
    from docutils.parsers.rst import Parser, directives, roles
    from docutils.parsers.rst.languages import en
    from docutils.utils import new_document

    settings = get_default_settings(Parser)
    settings.report_level = settings.halt_level = 5
    document = new_document("", settings)
    for name in {each.lower() for each in _DIRECTIVE.findall(source)}:
        if directives.directive(name, en, document)[0] is None:
            directives.register_directive(name, _passing())
    for name in {each.lower() for each in _ROLE.findall(source)}:
        if roles.role(name, en, 0, document.reporter)[0] is None:
            roles.register_local_role(name, _role)


class _AnyOption(dict[str, Any]):
    """Options by whatever name."""

    def __bool__(self) -> bool:
        return True

    def __missing__(self, _: str) -> Any:
        return lambda argument: argument


def _passing() -> Any:
    """A directive that says its argument and its content."""
    from docutils import nodes
    from docutils.parsers.rst import Directive

    class Passing(Directive):  # type: ignore[misc]  # publishes no types
        optional_arguments = 1
        final_argument_whitespace = True
        has_content = True
        option_spec = _AnyOption()

        def run(self) -> list[nodes.Node]:
            if self.name.rpartition(":")[2] in _NO_TEXT:
                return []
            words = nodes.paragraph("", " ".join(self.arguments))
            held = nodes.container()
            self.state.nested_parse(self.content, self.content_offset, held)
            return [words, *held.children] if self.arguments else list(held.children)

    return Passing


def _role(_name: str, _raw: str, text: str, *_: object, **__: object) -> tuple[list[Any], list[Any]]:
    """``:ref:`The words <target>``` says the words."""
    from docutils import nodes, utils

    plain = utils.unescape(text)
    found = _ROLE_TARGET.match(plain)
    return [nodes.inline("", found[1] if found and found[1] else plain.lstrip("~!"))], []


def _blocks(tree: nodes.Node) -> Iterator[str]:
    """What stands in ``tree``, block by block; lists and tables as one block each."""
    from docutils import nodes

    for node in tree.children:
        if isinstance(node, nodes.table):
            yield "\n".join(_table(node))
        elif isinstance(node, nodes.bullet_list | nodes.enumerated_list):
            yield "\n".join(_items(node))
        elif isinstance(node, nodes.Invisible | nodes.system_message | nodes.raw | nodes.substitution_definition):
            continue
        elif isinstance(node, nodes.TextElement | nodes.line | nodes.Text):
            if text := node.astext().strip("\n").rstrip():
                yield text if isinstance(node, nodes.literal_block) else text.replace("\n", " ")
        elif isinstance(node, nodes.field | nodes.option_list_item):
            yield ": ".join(filter(None, (" ".join(_blocks_of(each)) for each in node.children)))
        else:
            yield from _blocks(node)


def _blocks_of(node: nodes.Node) -> Iterator[str]:
    from docutils import nodes

    if isinstance(node, nodes.TextElement):
        yield node.astext()
    else:
        yield from _blocks(node)


def _items(node: nodes.Node, depth: int = 0) -> Iterator[str]:
    """The items of a list, a line each where they are one paragraph."""
    from docutils import nodes

    for number, item in enumerate(node.children, start=1):
        bullet = "- " if isinstance(node, nodes.bullet_list) else f"{number}. "
        lead = "  " * depth + bullet
        for child in item.children:
            if isinstance(child, nodes.bullet_list | nodes.enumerated_list):
                yield from _items(child, depth + 1)
                continue
            for text in _blocks_of(child):
                yield lead + (text if isinstance(child, nodes.literal_block) else text.replace("\n", " "))
                lead = "  " * (depth + 1)


def _table(table: nodes.table) -> Iterator[str]:
    from docutils import nodes

    for title in table.findall(nodes.title):
        yield title.astext()
    rows = [
        [" ".join(" ".join(_blocks_of(each)) for each in entry.children) for entry in row.children]
        for row in table.findall(nodes.row)
    ]
    yield from lines(rows, first=True if next(iter(table.findall(nodes.thead)), None) is not None else None)
