"""Plain text, in any encoding, and text with marks, as it reads: web pages, Rich Text (RTF), subtitles (SRT, WebVTT),
Markdown, the cells of Jupyter notebooks (Markdown and code), and reStructuredText.

No marks, no targets of links. Nothing that a file names is included or run.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from html import unescape
from itertools import pairwise
from typing import TYPE_CHECKING, Any, BinaryIO

from kgplatform.errors import DocumentError
from kgplatform.neo4j.metadata import flat
from kgplatform.records import MetadataValue
from kgplatform.sources.decode import Decoded, decode
from kgplatform.sources.files.file_text import FileText, Parts, by_heading, by_line, clean, lines, parsing
from kgplatform.sources.html_text import headings_of, html_tree, main_text
from kgplatform.text import tidy

if TYPE_CHECKING:
    import yaml
    from docutils import nodes
    from markdown_it.token import Token


_FIELD = re.compile(r"[A-Za-z][\w-]*:(?=\s|$)")
_LONGEST_HEAD = 5000


def read_text(path: str, stream: BinaryIO) -> FileText:
    """Plain text in any encoding."""
    source = decode(path, stream.read())
    if not source.text.strip():
        raise DocumentError(path, "has no text, only white space")
    return FileText(source.text, title_field(source.text[:_LONGEST_HEAD]), by_line(source.text), source.faults)


def title_field(text: str) -> str | None:
    """What ``Title:`` says among the fields that a text begins with, as a PEP does (RFC 822 has them so)."""
    fields = re.split(r"\n(?![^\S\n])", text.partition("\n\n")[0].lstrip())
    if len(fields) < 2 or not all(map(_FIELD.match, fields)):
        return None
    return next((field[6:] for field in fields if field[:6].lower() == "title:"), None)


def read_html(path: str, stream: BinaryIO) -> FileText:
    """The main text of a page; if it has none, all that is visible."""
    return page_text(path, decode(path, stream.read()))


def page_text(path: str, source: Decoded) -> FileText:
    """The main text of the page ``source``; if it has none, all that is visible."""
    with parsing(path, "HTML that cannot be parsed: save the page again"):
        page = html_tree(source.text.encode())
        if page is None:
            return FileText("")
        title = next(filter(None, headings_of(page, ("title", "h1"))), None)
        headings = headings_of(page)
        text = clean(main_text(page))
        return FileText(text, title, by_heading(text, headings, title), source.faults)


_INFO_TITLE = re.compile(r"\{\\info\b.{0,2000}?\{\\title ([^{}\\]{1,300})\}", re.S)
_FOOTNOTE = re.compile(r"\{(?:\\\*)?\\footnote\b(?:\\ftnalt\b)? ?")


def read_rich_text(path: str, stream: BinaryIO) -> FileText:
    """The paragraphs, apart by blank lines; a note stands where its number does."""
    from striprtf.striprtf import rtf_to_text

    with parsing(path, "damaged RTF: open it in its program and save it again"):
        source = stream.read().decode("latin-1")
        text = clean(rtf_to_text(_FOOTNOTE.sub("{ ", source), errors="replace"))  # type: ignore[no-untyped-call]  # publishes no types
        lines = (line.strip().strip("|").strip() for line in text.split("\n"))
        title = _INFO_TITLE.search(source)
        return FileText(re.sub(r"\n{3,}", "\n\n", "\n\n".join(lines)).strip(), tidy(title[1]) if title else None)


_TIMES = re.compile(r"^\s*(?:(\d+):)?(\d{1,2}):(\d{2})[.,]\d{1,3}\s*-->.*$", re.M)
_SPEAKER = re.compile(r"<v(?:\.[^ >]*)?\s+([^>]*)>")
_MARK = re.compile(r"<[^<>\n]*>|\{\\[^{}\n]*\}")


def read_captions(path: str, stream: BinaryIO) -> FileText:
    """The captions in one text, so that sentences go on from one to the next. Without times it is plain text."""
    source = decode(path, stream.read())
    if not source.text.strip():
        raise DocumentError(path, "has no text, only white space")
    parts, last = Parts(), ""
    for label, said in _cues(source.text):
        if said != last:  # captions that roll up say their last line again
            parts.add(said, label, " ")
            last = said
    return parts.found(None, source.faults) if parts.text else FileText(source.text, None, (), source.faults)


def _cues(text: str) -> Iterator[tuple[str, str]]:
    """When each caption is shown, and its words."""
    times = list(_TIMES.finditer(text))
    for at, found in enumerate(times):
        end = times[at + 1].start() if at + 1 < len(times) else len(text)
        words = re.split(r"\n[^\S\n]*\n", text[found.end() : end].strip("\n"))[0]
        said = unescape(_MARK.sub("", _SPEAKER.sub(r"\1: ", words)))
        yield f"at {int(found[1] or 0)}:{found[2]:0>2}:{found[3]}", tidy(said)


_FRONT_MATTER = re.compile(r"(---|\+\+\+)[^\S\n]*\n(?=[\w\"'-]+\s*[:=])(.*?\n)(?:\1|\.\.\.)[^\S\n]*(?:\n|$)", re.S)
_TAG = re.compile(r"<!--.*?(?:-->|$)|<(?:script|style)\b.*?(?:</|$)|<[^<>]*>", re.S | re.I)


def read_markdown(path: str, stream: BinaryIO) -> FileText:
    """Markdown as it reads: no marks, no link targets, no front matter; headings are paragraphs."""
    return _markdown(path, decode(path, stream.read()))


def read_notebook(path: str, stream: BinaryIO) -> FileText:
    """The cells of a Jupyter notebook, without what they printed."""
    with parsing(path, "damaged notebook: save it again from Jupyter"):
        source = decode(path, stream.read())
        found = json.loads(source.text)
        cells = (
            found["cells"] if "cells" in found else [each for sheet in found["worksheets"] for each in sheet["cells"]]
        )
        said = [(each["cell_type"], "".join(each.get("source", each.get("input", "")))) for each in cells]
    parts = [f"{_FENCE}\n{text}\n{_FENCE}" if kind == "code" else text for kind, text in said if kind != "raw"]
    return _markdown(path, Decoded(clean("\n\n".join(parts)), source.faults))


_FENCE = "~" * 32


def _markdown(path: str, decoded: Decoded) -> FileText:
    from markdown_it import MarkdownIt

    source = decoded.text
    front = _FRONT_MATTER.match(source)
    with parsing(path, "Markdown that cannot be parsed: save it as plain text"):
        tokens = MarkdownIt("commonmark").enable("table").parse(source[front.end() :] if front else source)
        headings = [_inline(each.children) for each, after in pairwise(tokens) if after.type == "heading_close"]
        said = _TOML_KEY.sub(r"\1: ", front[2]) if front and front[1] == "+++" else front[2] if front else ""
        stated, metadata, faults = said_in(said, "its front matter", 2) if said else ("", {}, ())
        title = stated or next(iter(headings), None)
        text = clean(_render(tokens))
        return FileText(text, title, by_heading(text, headings, title), decoded.faults + faults, metadata)


def said_in(source: str, what: str, first: int) -> tuple[str, dict[str, MetadataValue], tuple[str, ...]]:
    """The title that YAML names, or ""; what it says beside that; and the lines that are not YAML: their values are
    kept as texts. ``what`` it is, for people, and the number of its ``first`` line.

    A value is a number, a date or true only where it is written as nothing else would be: "01234", "no" and "12:30"
    are texts.
    """
    import yaml

    def read(part: str) -> dict[Any, Any]:
        said = yaml.load(part, Loader=_plain_loader())
        if not isinstance(said, dict):
            raise ValueError
        return said

    said: dict[Any, Any] = {}
    faults: list[str] = []
    try:
        said = read(source)
    except (yaml.YAMLError, ValueError, RecursionError):  # an impossible date is a ValueError
        for part in _FRONT_VALUE.finditer(source):
            try:
                said |= read(part[0])
            except (yaml.YAMLError, ValueError, RecursionError):
                said[part[1].strip("\"' ")] = _unquoted(tidy(part[2]))
                number = source.count("\n", 0, part.start()) + first
                faults.append(f"line {number} of {what} is not YAML: its value is kept as a text")
    kept = flat({name: value for name, value in said.items() if str(name).lower() != "title"})
    faults += [f"{name} in {what} was left out: it cannot be stored as metadata" for name in kept.left_out]
    named = next((value for name, value in said.items() if str(name).lower() == "title"), None)
    title = "" if named is None or isinstance(named, dict | list) else tidy(str(named))
    return title, kept.metadata, tuple(faults)


def typed(text: str) -> object:
    """What ``text`` means as a value of front matter: by itself, without comments, or as a list in brackets."""
    import yaml

    loader: Any = _plain_loader()(text)  # its methods have no types
    try:
        if text.lstrip()[:1] in ("[", '"', "'"):
            return loader.get_single_data()
        tag = loader.resolve(yaml.ScalarNode, text.strip(), (True, False))
        return loader.construct_object(yaml.ScalarNode(tag, text.strip()))
    except (yaml.YAMLError, ValueError, RecursionError):
        return text


_TOML_KEY = re.compile(r"^([\w.-]+)[^\S\n]*=[^\S\n]*", re.M)
"""Of a TOML value, which is YAML but for the sign between them."""
_FRONT_VALUE = re.compile(r"^([\w\"'][^:=\n]*?)[^\S\n]*:(?=\s)(.*\n(?:[^\S\n]+.*\n|-.*\n|\n)*)", re.M)
"""A value of front matter, with the lines that are indented below it."""


@cache
def _plain_loader() -> type[yaml.SafeLoader]:
    """YAML whose values are what they look like to anybody: YAML 1.1 takes "no" for false and "12:30" for 750."""
    import yaml

    class Plain(yaml.SafeLoader):
        yaml_implicit_resolvers: dict[str, Any] = {}

    for kind, pattern in (
        ("bool", r"true|false"),
        ("int", r"0|-?[1-9][0-9]{0,17}"),
        ("float", r"-?(?:0|[1-9][0-9]{0,14})\.(?:0|[0-9]{0,14}[1-9])"),
        ("timestamp", r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?:[Tt ][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?(?:Z|[+-][0-9:]+)?)?"),
        ("null", r"null|~|"),
        ("merge", r"<<"),
    ):
        Plain.add_implicit_resolver(f"tag:yaml.org,2002:{kind}", re.compile(f"(?:{pattern})\\Z"), None)
    return Plain


def _unquoted(text: str) -> str:
    return text[1:-1] if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'" else text


def _render(tokens: list[Token]) -> str:
    """The text of the blocks: one blank line between blocks, one line end between list items and table rows."""
    parts: list[str] = []
    bullets: list[str] = []
    rows: list[list[str]] = []
    for token in tokens:
        if token.type == "inline":
            parts.append(_inline(token.children))
        elif token.type in ("fence", "code_block"):
            parts.append(token.content.rstrip("\n") + "\n\n")
        elif token.type == "html_block":
            parts.append(tidy(_TAG.sub(" ", token.content)) + "\n\n")
        elif token.type in ("paragraph_close", "heading_close"):
            parts.append("\n" if token.hidden else "\n\n")
        elif token.type == "table_open":
            rows = []
        elif token.type == "tr_open":
            rows.append([])
        elif token.type in ("th_close", "td_close"):
            rows[-1].append(parts.pop())
        elif token.type == "table_close":
            parts.append("\n".join(lines(rows, first=any(rows[0]))) + "\n\n")
        elif token.type in ("bullet_list_open", "ordered_list_open"):
            bullets.append("- " if token.type[0] == "b" else "")
        elif token.type in ("bullet_list_close", "ordered_list_close"):
            bullets.pop()
            parts.append("" if bullets else "\n")
        elif token.type == "list_item_open":
            parts.append("  " * (len(bullets) - 1) + (bullets[-1] or f"{token.info}{token.markup} "))
    return re.sub(r"\n{3,}", "\n\n", "".join(parts)).strip()


def _inline(children: list[Token] | None) -> str:
    parts = []
    for child in children or []:
        if child.type in ("text", "code_inline"):
            parts.append(child.content)
        elif child.type == "softbreak":
            parts.append(" ")
        elif child.type == "hardbreak":
            parts.append("\n")
        elif child.type == "image":
            parts.append(_inline(child.children))
    return "".join(parts)


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

    decoded = decode(path, stream.read())
    source = decoded.text
    if not source.strip():
        raise DocumentError(path, "has no text, only white space")
    with parsing(path, "reStructuredText that cannot be parsed: save it as plain text (.txt)"):
        _allow(source)
        tree = publish_doctree(source, settings_overrides=_SETTINGS)
        headings = [heading.astext() for heading in tree.findall(nodes.title)]
        title = title_field(source) or next(iter(headings), None)
        text = "\n\n".join(_blocks(tree))
        return FileText(text, title, by_heading(text, headings, title), decoded.faults)


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
