"""What ``make docs`` adds: links to files that are no pages become plain words, and the references are written.

A link to a name that stands alone, ``[kgplatform.client.connect](…)``, becomes its signature and docstring. The HTTP
reference belongs where ``<!-- openapi -->`` stands; it is made from the application itself.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

_LINK = re.compile(r"(?<!!)\[([^\]]+)\]\(([^)#\s]+)(#[^)]*)?\)")
_NAME = re.compile(r"^\[(kgplatform\.[\w.]+)\]\(\S+\.py\)$", re.M)
_MARK = "<!-- openapi -->"


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Links out of docs/ lead nowhere on a site: their words stay, as code. The reference goes to its mark."""
    folder = posixpath.dirname(page.file.src_uri)

    def without_link(found: re.Match[str]) -> str:
        words, target = found[1], found[2]
        if "://" in target or not posixpath.normpath(posixpath.join(folder, target)).startswith(".."):
            return found[0]
        return words if words.startswith("`") else f"`{words}`"

    linked = _LINK.sub(without_link, _NAME.sub(r"::: \1", markdown))
    return linked.replace(_MARK, "\n".join(_reference())) if _MARK in linked else linked


def _reference() -> Iterator[str]:
    """Every endpoint by topic: what it does, what it takes, and its example."""
    from kgplatform.interfaces.http.app import make_app
    from kgplatform.settings import load_settings

    # Nothing is asked of the graph to describe what could be asked, and nothing is written in its home.
    graph = SimpleNamespace(settings=load_settings(), jobs=lambda *given: None)
    described = make_app(graph, read_only=True).openapi()  # type: ignore[arg-type]  # all that is asked of it
    for tag in described["tags"]:
        yield f"\n### {tag['name'].capitalize()}\n\n{tag['description']}\n"
        for path, operations in described["paths"].items():
            for method, operation in operations.items():
                if tag["name"] in operation.get("tags", ()):
                    yield from _operation(f"{method.upper()} {path}", operation)


def _operation(title: str, operation: dict[str, Any]) -> Iterator[str]:
    yield f"\n#### `{title}`\n\n{operation.get('summary', '')}.\n\n{operation.get('description', '')}\n"
    if parameters := operation.get("parameters"):
        yield "| parameter | in | meaning |\n|---|---|---|"
        for each in parameters:
            told = each.get("description") or each.get("schema", {}).get("description", "")
            yield f"| `{each['name']}` | {each['in']} | {told} |"
        yield ""
    for words, holder in (("Request", operation.get("requestBody")), ("Answer", _success(operation))):
        for example in _examples(holder or {}):
            yield f"{words}:\n\n```json\n{example}\n```\n"


def _success(operation: dict[str, Any]) -> dict[str, Any] | None:
    return next((told for code, told in operation["responses"].items() if code.startswith("2")), None)


def _examples(holder: dict[str, Any]) -> Iterator[str]:
    for content in holder.get("content", {}).values():
        several = [each.get("value") for each in content.get("examples", {}).values()]
        for value in [content["example"]] if "example" in content else several:
            yield value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
