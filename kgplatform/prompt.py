"""Prompts as files: ``prompts/<folder>/<name>.md`` with ``$inputs`` (``string.Template``: JSON braces stay readable).

The part before a line ``---`` is the system message, the part after it the user message. What documents say goes in
as values, never as template text, so nothing in a document can add an input.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from string import Template

from kgplatform.text import node_id

Messages = list[dict[str, str]]

_FOLDER = Path(__file__).with_name("prompts")


def prompt_names() -> list[str]:
    """All prompts, as names for ``render``, in order."""
    return sorted(f"{path.parent.name}/{path.stem}" for path in _FOLDER.glob("*/*.md"))


@cache
def source_of(name: str) -> str:
    """The file of the prompt ``name``."""
    return (_FOLDER / f"{name}.md").read_text("utf-8")


@cache
def _load(name: str) -> tuple[Template, Template]:
    system, _, user = source_of(name).partition("\n---\n")
    return Template(system.strip()), Template(user.strip())


def render(name: str, **inputs: str) -> Messages:
    """The messages of prompt ``name`` with ``inputs`` filled in. Raises ``KeyError`` if one is missing or unknown."""
    system, user = _load(name)
    wanted = _inputs(system) | _inputs(user)
    if wanted != set(inputs):
        raise KeyError(f"prompts/{name}.md wants {sorted(wanted)}, got {sorted(inputs)}")
    return [
        {"role": "system", "content": system.substitute(inputs)},
        {"role": "user", "content": user.substitute(inputs)},
    ]


def with_reminder(messages: Messages, name: str, **inputs: str) -> Messages:
    """The same prompt with what the prompt ``name`` asks at its very end: an answer that cannot be used would not fit
    beside it."""
    *before, last = messages
    return [*before, {**last, "content": f"{last['content']}\n\n{render(name, **inputs)[1]['content']}"}]


def _inputs(template: Template) -> set[str]:
    return {found["named"] or found["braced"] for found in template.pattern.finditer(template.template)} - {None}


LARGEST_FENCE = "data-a1a1a1a1a1a1"
"""As many tokens as tags can have, to measure a prompt with."""


def fence_for(*texts: str, used: str = "") -> str:
    """The name of the tags round ``texts``: made from them, so that none of them can contain it. ``used``, that of an
    earlier prompt, stays where none does contain it: its beginning is then the same."""
    return used if used and not any(used in text for text in texts) else f"data-{node_id(*texts)[:12]}"
