"""Replies in the styles of real models, written by hand: files of ``{style, reply, reads}``, one for each prompt."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kgplatform.readers.refusals import is_members_refusal

_TESTS = Path(__file__).parent.parent


def replies(file: str) -> list[Any]:
    """The replies of ``file``, below tests/, as parameters: what the model wrote, and what is to be read in it."""
    listed = yaml.safe_load((_TESTS / file).read_text(encoding="utf-8"))
    knows_more = is_members_refusal("Keine Angabe")
    wanted = (each for each in listed if "needs" not in each or knows_more)
    return [pytest.param(each["reply"], each["reads"], id=each["style"]) for each in wanted]
