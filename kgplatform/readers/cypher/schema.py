"""The schema that a graph has, as a prompt shows it: what there is most of first, and no more than fits.

shown_schema(schema, 3000)
# Nodes: Document 20, Chunk 21, …
# Entities by type: Person 73 ("Cyrus Field", …), …
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

from kgplatform.retrieve.statement_schema import LiveSchema, Property, Relation
from kgplatform.text import count_tokens

_EXAMPLE = 40
"""Characters of a value that is shown to tell what values look like."""

_PLAIN = re.compile(r"[^\W\d]\w*")
_NO_RELATION = Relation("Entity", "RELATED_TO", "Entity", 0)


def shown_schema(schema: LiveSchema, tokens: int) -> str:
    """Labels, properties, types, relations, attributes: a part a line or a list, none longer than its share of
    ``tokens``, and what one leaves is left to those after it."""
    parts = [
        ("Nodes: ", ", ", [f"{label} {count:,}" for label, count in schema.labels.items()]),
        ("Properties, with an example: ", "; ", [_properties(*each) for each in _by_label(schema.properties)]),
        (
            "Entities by type, with examples: ",
            ", ",
            [_with(each.label, each.count, each.examples) for each in schema.types],
        ),
        ("Relations between entities:\n", "\n", [_relation(each) for each in schema.relations]),
        (
            "Attributes of entities, with an example:\n",
            "\n",
            [_with(f"{quoted(each.label)} {each.key}", each.count, [each.example]) for each in schema.attributes],
        ),
        ("Predicates of RELATED_TO: ", ", ", [f"{_example(name)} {n:,}" for name, n in schema.predicates.items()]),
    ]
    shown: list[str] = []
    left = tokens
    for number, (title, gap, items) in enumerate(parts):
        if items:
            shown.append(title + gap.join(_fitting(items, left // (len(parts) - number))))
            left -= count_tokens(shown[-1])
    return "\n".join(shown)


def example_relation(schema: LiveSchema) -> dict[str, str]:
    """The labels and type of the relation that there is most of, for examples."""
    of = schema.relations[0] if schema.relations else _NO_RELATION
    return {"head": quoted(of.head), "relation": quoted(of.type), "tail": quoted(of.tail)}


def quoted(name: str) -> str:
    """A label or type as a statement writes it: in backticks where it needs them."""
    return name if _PLAIN.fullmatch(name) else f"`{name.replace('`', '``')}`"


def _fitting(items: Sequence[str], tokens: int) -> list[str]:
    """The first of ``items`` that fit, one at least, and how many are left out."""
    kept: list[str] = []
    for item in items:
        tokens -= count_tokens(item) + 1
        if tokens < 0 and kept:
            return [*kept, f"… and {len(items) - len(kept)} more"]
        kept.append(item)
    return kept


def _by_label(properties: Iterable[Property]) -> list[tuple[str, list[Property]]]:
    return [(label, list(group)) for label, group in groupby(properties, lambda each: each.label)]


def _properties(label: str, properties: Sequence[Property]) -> str:
    shown = (f"{each.name} {each.type.removesuffix(' NOT NULL')} {_example(each.example)}" for each in properties)
    return f"{label} {{{', '.join(shown)}}}"


def _relation(each: Relation) -> str:
    return f"{quoted(each.head)} -[{quoted(each.type)}]-> {quoted(each.tail)} {each.count:,}"


def _with(name: str, count: int, examples: Iterable[str]) -> str:
    return f"{name} {count:,} ({', '.join(map(_example, examples))})"


def _example(value: str | None) -> str:
    flat = " ".join((value or "").split())
    return f'"{flat if len(flat) <= _EXAMPLE else flat[: _EXAMPLE - 1] + "…"}"'
