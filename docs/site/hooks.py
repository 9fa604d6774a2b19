"""What ``make docs`` adds: addresses of files that are no pages become the repository's words, and the HTTP reference.

A page says where the reference of the HTTP door belongs with ``<!-- openapi -->``; it is made from the application itself.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)]*)?\)")
_MARK = "<!-- openapi -->"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links out of docs/ lead nowhere on a site: their words stay, as code. The reference goes to its mark."""
    folder = posixpath.dirname(page.file.src_uri)

    def without_link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        if "://" in target or not posixpath.normpath(posixpath.join(folder, target)).startswith(".."):
            return found[0]
        return words if words.startswith("`") else f"`{words}`"

    linked = _LINK.sub(without_link, markdown)
    return linked.replace(_MARK, _reference()) if _MARK in linked else linked


def _reference() -> str:
    from kgplatform.web.reference import http_reference

    return http_reference()
