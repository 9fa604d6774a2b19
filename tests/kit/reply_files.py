"""Replies in the styles of real models, written by hand: files of ``{style, reply, reads}``, one for each prompt.

A file of the same name in ``blind/`` has replies by someone who had not seen what reads them. What is still read
wrongly has ``misses: true``, and fails the tests once it is read right.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

_TESTS = Path(__file__).parent.parent


def rows(file: str) -> list[dict[str, Any]]:
    """The replies of ``file``, below tests/, and after them the blind ones."""
    path = _TESTS / file
    blind = yaml.safe_load((path.parent / "blind" / path.name).read_text(encoding="utf-8"))
    return yaml.safe_load(path.read_text(encoding="utf-8")) + [
        {**row, "style": f"blind: {row['style']}"} for row in blind
    ]


def styled(file: str) -> list[Any]:
    """The same as parameters."""
    return [_parameter(row, row) for row in rows(file)]


def replies(file: str) -> list[Any]:
    """The same as pairs of parameters: what the model wrote, and what is to be read in it."""
    return [_parameter(row, row["reply"], row["reads"]) for row in rows(file)]


def _parameter(row: dict[str, Any], *values: Any) -> Any:
    marks = [pytest.mark.xfail(reason="not read yet", strict=True)] if row.get("misses") else []
    return pytest.param(*values, id=row["style"], marks=marks)
