"""Cypher statements as files: ``cypher/<caller>/<name>.cypher``, each with a header that is checked.

    // Passages nearest to the question by meaning.
    // mode: read
    // param $k: int: how many
    // returns: id, score
    CALL db.index.vector.queryNodes(...)

A file that declares what it does not use, or uses what it does not declare, is refused with its name. Where many rows
come in one, as a list of lists, ``// each: id, score`` names what a list holds: Bolt sends a row in half a dozen calls.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TypeVar

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
    """The statement ``"search/passage"`` from ``cypher/search/passage.cypher``.

    Raises ``ValueError`` (a fault of the platform, not of its user) if the header and the statement disagree.
    """
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
