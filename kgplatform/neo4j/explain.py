"""What a user's statement would do, by the plan that the server makes of it before it runs.

summary = session.run(as_explain(statement)).consume()
refuse_plan(statement, summary.plan, summary.query_type, write=False)
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from kgplatform.errors import InputError

_EXPLAIN = "EXPLAIN "
# White space or a comment. A comment ends at its first end: longer ones would hide what stands between. That of a line
# is a carriage return too.
_GAP = r"(?:[\s\u180e]|//[^\r\n]*[\r\n]|/\*(?:(?!\*/).)*\*/)"
_PLAN_ASKED = re.compile(rf"{_GAP}*(?:explain|profile)\b", re.I | re.S)
_LOAD_CSV = re.compile(rf"\bload{_GAP}+csv\b", re.I | re.S)
_SUBQUERY_EXPRESSION = re.compile(rf"\b(?:collect|count|exists){_GAP}*\{{", re.I | re.S)
_ESCAPE = re.compile(r"\\u+([0-9a-f]{4})", re.I)
_POSITION = re.compile(r"\(line 1, column (\d+) \(offset: (\d+)\)\)")
_SERVER_COMMANDS = ("ShowTransactions", "TerminateTransactions", "ShowSettings")


def as_explain(statement: str) -> str:
    """``statement`` as one that is only planned, whatever it asks for itself."""
    asked = _PLAN_ASKED.match(statement)
    return _EXPLAIN + (statement[asked.end() :].lstrip() if asked else statement)


def refuse_plan(statement: str, plan: dict[str, Any], query_type: str | None, *, write: bool) -> None:
    """Raise ``InputError`` for what users may not run; also for what writes, unless ``write``."""
    operators = set(_operators(plan))
    names = {name for name, _ in operators}
    if any(name.startswith("LoadCSV") for name in names) or _may_hide_load_csv(statement):
        raise InputError("LOAD CSV is refused: statements may not read files or addresses. Use `kgplatform ingest`.")
    if any(name == "ProcedureCall" and detail.lstrip().startswith("dbms.") for name, detail in operators):
        raise InputError("Procedures under `dbms.` are refused: they act on the server, not on the graph.")
    if names.intersection(_SERVER_COMMANDS) or (query_type == "s" and not _is_index_change(names)):
        raise InputError("Administrative commands are refused. Run them in Neo4j Browser as the administrator.")
    if not write and query_type != "r":
        raise InputError("This statement writes. Add --write (in Python: write=True) if you mean it.")


def without_explain(message: str) -> str:
    """The server's complaint, with the line as the user typed it where it is the first, which ``EXPLAIN`` opens."""
    if f'"{_EXPLAIN}' not in message:
        return message
    moved = _POSITION.sub(_moved, message).replace(f'"{_EXPLAIN}', '"')
    text, mark, caret = moved.rpartition("\n")
    return f"{text}{mark}{caret[len(_EXPLAIN) :] if caret.strip() == '^' else caret}"


def _moved(position: re.Match[str]) -> str:
    column, offset = (int(number) - len(_EXPLAIN) for number in position.groups())
    return f"(line 1, column {column} (offset: {offset}))"


def _may_hide_load_csv(statement: str) -> bool:
    """Whether LOAD CSV could stand in a subquery expression, which the plan does not always show.

    ``\\u0041`` is a letter anywhere in Cypher. Words inside of quotes count too: a parameter can carry those.
    """
    text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), statement)
    return _LOAD_CSV.search(text) is not None and _SUBQUERY_EXPRESSION.search(text) is not None


def _operators(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Name and details of each operator of ``plan``."""
    name = str(plan.get("operatorType", "")).partition("@")[0]
    yield name, str(plan.get("args", {}).get("Details", ""))
    for child in plan.get("children", ()):
        yield from _operators(child)


def _is_index_change(operators: set[str]) -> bool:
    return any("Index" in name or "Constraint" in name for name in operators)
