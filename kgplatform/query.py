"""Cypher statements: as files, ``cypher/<caller>/<name>.cypher``, each with a header that is checked …

    // Passages nearest to the question by meaning.
    // mode: read
    // param $k: int: how many
    // returns: id, score
    CALL db.index.vector.queryNodes(...)

A file that declares what it does not use, or uses what it does not declare, is refused with its name. Where many rows
come in one, as a list of lists, ``// each: id, score`` names what a list holds: Bolt sends a row in half a dozen calls.

… and as people paste them, a ``:param`` line for each parameter, then the statement:

    // 7. search/triple: 50 rows in 6 ms
    :param vector => [.0123,-.0456,…];
    :param k => 50;
    CALL db.index.vector.queryNodes('fact_embedding', $k, $vector) …;

Neo4j Browser and cypher-shell read that alike. The map form, ``:params {k: 50}``, will not do: Neo4j Browser takes its
numbers for floats, and ``LIMIT $k`` refuses those. A vector, which is hundreds of numbers, is
written again only where it changes; pasted in order, every statement finds the parameters that it ran with.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from kgplatform.records import QueryRun

_PARAM = re.compile(r"//\s*param\s+\$(\w+):\s*(.+)")
_RETURNS = re.compile(r"//\s*returns:\s*(.+)")
_EACH = re.compile(r"//\s*each:\s*(.+)")
_MODE = re.compile(r"//\s*mode:\s*(\w+)\s*$")
_USED = re.compile(r"\$(\w+)")


@dataclass(frozen=True, slots=True)
class Query:
    """One statement with its header. ``parameters`` maps a name to the type and meaning that the header gives.

    ``each``: the names of what a list holds where the one column is a list of lists, the rows; else empty.
    """

    name: str
    about: str
    mode: str
    parameters: dict[str, str]
    returns: tuple[str, ...]
    each: tuple[str, ...]
    text: str


def data_folder(name: str) -> Path:
    """The folder ``cypher``, ``schemas`` … : inside the installed package, else beside it in a checkout."""
    inside = Path(__file__).with_name(name)
    return inside if inside.is_dir() else inside.parents[1] / name


@cache
def load_query(name: str) -> Query:
    """The statement ``"search/passage"`` from ``cypher/search/passage.cypher``. Raises ``ValueError`` (a fault of the
    platform, not of its user) if the header and the statement disagree."""
    return parse_query(name, (data_folder("cypher") / f"{name}.cypher").read_text("utf-8"))


def parse_query(name: str, source: str) -> Query:
    """Read ``source`` and check that its header declares exactly the parameters that it uses."""
    lines = source.split("\n")
    header = [line for line in lines if line.startswith("//")]
    text = "\n".join(line for line in lines if not line.lstrip().startswith("//")).strip()
    modes = [found[1] for line in header if (found := _MODE.match(line))]
    if modes not in (["read"], ["write"], ["schema"]):
        raise ValueError(f"cypher/{name}.cypher: the header needs one line `// mode: read`, `write` or `schema`")
    declared = {found[1]: found[2] for line in header if (found := _PARAM.match(line))}
    used = set(_USED.findall(text))
    if used != set(declared):
        raise ValueError(
            f"cypher/{name}.cypher: declared but not used: {sorted(set(declared) - used)}; "
            f"used but not declared: {sorted(used - set(declared))}"
        )
    return Query(
        name=name,
        about=header[0].removeprefix("//").strip(),
        mode=modes[0],
        parameters=declared,
        returns=_names(_RETURNS, header),
        each=_names(_EACH, header),
        text=text,
    )


def _names(line_of: re.Pattern[str], header: list[str]) -> tuple[str, ...]:
    listed = next((found[1] for line in header if (found := line_of.match(line))), "")
    return tuple(part.strip() for part in listed.split(",") if part.strip())


def query_names(folder: str = "") -> list[str]:
    """All statements, or those of one ``folder``, as names for ``load_query``, in order."""
    root = data_folder("cypher")
    return sorted(path.relative_to(root).with_suffix("").as_posix() for path in (root / folder).rglob("*.cypher"))


T = TypeVar("T")

BATCH_ROWS = 1000


def batches(rows: Sequence[T], size: int = BATCH_ROWS) -> Iterator[Sequence[T]]:
    """``rows`` in slices of ``size``, each for one statement."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


@dataclass(frozen=True, slots=True)
class SavedQuery:
    """A statement of ``cypher/saved`` that people begin with, in Neo4j Browser and the explorer.

    ``text``: the whole file, a comment of a ``title`` and what it shows (``about``), then the ``statement``.
    """

    name: str
    text: str
    title: str
    about: str
    statement: str


@cache
def saved_queries() -> dict[str, SavedQuery]:
    """All of them, by the names of their files: "tree"."""
    found = {}
    for path in sorted((data_folder("cypher") / "saved").glob("*.cypher")):
        text = path.read_text("utf-8").strip()
        comment = [line.removeprefix("//").strip() for line in text.splitlines() if line.startswith("//")]
        statement = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
        found[path.stem] = SavedQuery(path.stem, text, comment[0], " ".join(comment[1:]), statement)
    return found


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
        vectors = {
            name: lines[name]
            for name, value in run.parameters.items()
            if isinstance(value, list) and len(value) >= _VECTOR and all(isinstance(item, float) for item in value)
        }
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
            return "{" + ", ".join(f"{name_in_cypher(key)}: {literal(item)}" for key, item in value.items()) + "}"
        case list() | tuple():
            return "[" + ",".join(literal(item) for item in value) + "]"
    raise TypeError(f"a parameter of the type {type(value).__name__} has no form in Cypher here")


def _escaped(letter: str) -> str:
    if letter in _ESCAPES or letter.isprintable():
        return _ESCAPES.get(letter, letter)
    units = letter.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2))


def name_in_cypher(name: str) -> str:
    """A label or a property as Cypher writes it, in backticks where it needs them."""
    return name if name.isidentifier() and name.isascii() else f"`{name.replace('`', '``')}`"
