"""Statements as Neo4j Browser and cypher-shell take them: a ``:param`` line for each parameter, then the statement.

    // 7. search/triple: 50 rows in 6 ms
    :param vector => [.0123,-.0456,…];
    :param k => 50;
    CALL db.index.vector.queryNodes('fact_embedding', $k, $vector) …;

Both read ``:param name => value`` alike. The map form, ``:params {k: 50}``, will not do: Neo4j Browser takes its
numbers for floats, and ``LIMIT $k`` refuses those. A vector, which is hundreds of numbers, is
written again only where it changes; pasted in order, every statement finds the parameters that it ran with.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from kgplatform.records import QueryRun

_VECTOR = 32
"""Numbers of a list that is written once for all statements that share it."""
_ESCAPES = {"\\": "\\\\", "'": "\\'", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@dataclass(frozen=True, slots=True)
class Pasteable:
    """One statement to paste. ``vectors`` and ``parameters`` are ``:param`` lines, to be pasted before ``statement``.

    ``number`` counts the different runs of a list from 1. ``before`` is the number whose vectors still hold, None if
    the statement needs none or brings its own.
    """

    number: int
    run: QueryRun
    vectors: tuple[str, ...]
    parameters: tuple[str, ...]
    statement: str
    before: int | None
    own_vectors: tuple[str, ...]
    """All that it needs, told before or not."""

    @property
    def alone(self) -> str:
        """Everything to paste where nothing was pasted before it."""
        return "\n".join((*self.own_vectors, *self.parameters, self.statement))

    @property
    def text(self) -> str:
        """Everything to paste, after what was pasted before it."""
        return "\n".join((*self.vectors, *self.parameters, self.statement))


def pasteable(runs: Iterable[QueryRun]) -> list[Pasteable]:
    """The different statements of ``runs``, in order: the same one with the same parameters comes once."""
    told: dict[str, tuple[str, int]] = {}
    found: dict[tuple[str, tuple[str, ...]], Pasteable] = {}
    for run in runs:
        lines = {name: parameter_line(name, value) for name, value in run.parameters.items()}
        if (key := (run.statement, tuple(lines.values()))) in found:
            continue
        number = len(found) + 1
        vectors = {name: line for name, line in lines.items() if _is_vector(run.parameters[name])}
        new = {name: line for name, line in vectors.items() if told.get(name, ("", 0))[0] != line}
        told |= {name: (line, number) for name, line in new.items()}
        found[key] = Pasteable(
            number=number,
            run=run,
            vectors=tuple(new.values()),
            parameters=tuple(line for name, line in lines.items() if name not in vectors),
            statement=f"{run.statement.strip()};",
            before=max((told[name][1] for name in vectors if name not in new), default=None),
            own_vectors=tuple(vectors.values()),
        )
    return list(found.values())


def numbers_of(runs: Iterable[QueryRun], among: Iterable[Pasteable]) -> list[int]:
    """The numbers that ``runs`` have ``among`` the statements of ``pasteable``, in order, each once."""
    known = [(each.run.statement, each.run.parameters, each.number) for each in among]
    wanted = [(run.statement, run.parameters) for run in runs]
    return [number for statement, parameters, number in known if (statement, parameters) in wanted]


def parameter_line(name: str, value: Any) -> str:
    """``:param k => 50;``."""
    # Neo4j Browser reads no map after the arrow, but a list of maps.
    written = f"[{literal(value)}][0]" if isinstance(value, Mapping) else literal(value)
    return f":param {name} => {written};"


def literal(value: Any) -> str:
    """``value`` as Cypher writes it, on one line.

    A float keeps all its digits: fewer change a score in its last place, and then, now and then, the order of rows.

    >>> literal(["it's", 1, None, 0.25])
    "['it\\\\'s',1,null,.25]"
    """
    match value:
        case None | bool():
            return json.dumps(value)
        case str():
            plain = value.isprintable() and not _ESCAPES.keys() & set(value)
            return "'" + (value if plain else "".join(_escaped(letter) for letter in value)) + "'"
        case int():
            return str(value)
        case float():
            if not math.isfinite(value):
                return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            text = repr(value)
            return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) and value else text
        case Mapping():
            return "{" + ", ".join(f"{_key(key)}: {literal(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(literal(item) for item in value) + "]"
    raise TypeError(f"a parameter of the type {type(value).__name__} has no form in Cypher here")


def _escaped(letter: str) -> str:
    if letter in _ESCAPES or letter.isprintable():
        return _ESCAPES.get(letter, letter)
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def _key(name: str) -> str:
    return name if name.isidentifier() and name.isascii() else f"`{name.replace('`', '``')}`"


def _is_vector(value: Any) -> bool:
    return isinstance(value, list) and len(value) >= _VECTOR and all(isinstance(item, float) for item in value)
