"""Steps and answers as clients get them: with statements to paste, and without the vectors of their parameters."""

from __future__ import annotations

from typing import Any

from kgplatform.pasteable import pasteable
from kgplatform.records import Answer, QueryRun, Step
from kgplatform.web.encoding import as_fields

_LONGEST_LIST = 32
"""A parameter with more items than this, such as a vector, is left out."""


def step_json(step: Step) -> dict[str, Any]:
    """A ``Step`` with ``statements``: each can be pasted into Neo4j Browser by itself."""
    statements = [
        {
            "number": each.number,
            "name": each.run.name,
            "rows": each.run.rows,
            "seconds": round(each.run.seconds, 4),
            "text": each.alone,
        }
        for each in pasteable(step.queries)
    ]
    return as_fields(step) | {"queries": [_query_json(run) for run in step.queries], "statements": statements}


def answer_json(answer: Answer) -> dict[str, Any]:
    """An ``Answer`` with its trace in that form."""
    return as_fields(answer) | {"trace": [step_json(step) for step in answer.trace]}


def _query_json(run: QueryRun) -> dict[str, Any]:
    short = {name: value for name, value in run.parameters.items() if not _is_long(value)}
    return as_fields(run) | {"parameters": short, "seconds": round(run.seconds, 4)}


def _is_long(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) > _LONGEST_LIST
