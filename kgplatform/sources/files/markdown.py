"""Markdown as it reads, and the cells of Jupyter notebooks, which are Markdown and code."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, BinaryIO

from kgplatform.neo4j.metadata import flat
from kgplatform.records import MetadataValue
from kgplatform.sources.decode import decode
from kgplatform.sources.files.file_text import FileText, clean, parsing
from kgplatform.sources.files.table import lines
from kgplatform.text import tidy

if TYPE_CHECKING:
    from markdown_it.token import Token

_FRONT_MATTER = re.compile(r"(---|\+\+\+)[^\S\n]*\n(?=[\w\"'-]+\s*[:=])(.*?\n)(?:\1|\.\.\.)[^\S\n]*(?:\n|$)", re.S)
_TAG = re.compile(r"<!--.*?(?:-->|$)|<(?:script|style)\b.*?(?:</|$)|<[^<>]*>", re.S | re.I)
_FRONT_TITLE = re.compile(r"^title[^\S\n]*[:=](.*)$", re.M | re.I)


def read_markdown(path: str, stream: BinaryIO) -> FileText:
    """Markdown as it reads: no marks, no link targets, no front matter; headings are paragraphs."""
    return _markdown(path, clean(decode(path, stream.read())))


def read_notebook(path: str, stream: BinaryIO) -> FileText:
    """The cells of a Jupyter notebook, without what they printed."""
    with parsing(path, "damaged notebook: save it again from Jupyter"):
        found = json.loads(decode(path, stream.read()))
        cells = (
            found["cells"] if "cells" in found else [each for sheet in found["worksheets"] for each in sheet["cells"]]
        )
        said = [(each["cell_type"], "".join(each.get("source", each.get("input", "")))) for each in cells]
    parts = [f"{_FENCE}\n{text}\n{_FENCE}" if kind == "code" else text for kind, text in said if kind != "raw"]
    return _markdown(path, clean("\n\n".join(parts)))


_FENCE = "~" * 32


def _markdown(path: str, source: str) -> FileText:
    from markdown_it import MarkdownIt

    front = _FRONT_MATTER.match(source)
    with parsing(path, "Markdown that cannot be parsed: save it as plain text"):
        tokens = MarkdownIt("commonmark").enable("table").parse(source[front.end() :] if front else source)
        said = _FRONT_TITLE.search(front[2]) if front else None
        headings = (tokens[at + 1] for at, token in enumerate(tokens) if token.type == "heading_open")
        stated = _unquoted(said[1].strip()) if said else ""
        title = stated or next((_inline(heading.children) for heading in headings), None)
        return FileText(clean(_render(tokens)), title, metadata=_said_in_front(front[2]) if front else {})


def _said_in_front(source: str) -> dict[str, MetadataValue]:
    """What YAML front matter says beside the title; nothing where it is not YAML."""
    import yaml

    try:
        said = yaml.safe_load(source)
    except (yaml.YAMLError, ValueError, RecursionError):  # an impossible date is a ValueError
        return {}
    if not isinstance(said, dict):
        return {}
    return flat({name: value for name, value in said.items() if str(name).lower() != "title"}).metadata


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
