"""The pages about the papers: every test that they name is there."""

from __future__ import annotations

import re

from conftest import ROOT
from doc_pages import DOCS

PAGES = sorted(next(DOCS.rglob("papers")).glob("*.md"))
TESTS = {
    path.relative_to(ROOT / "tests").as_posix(): set(
        re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
    )
    for path in (ROOT / "tests").rglob("test_*.py")
}


def test_every_test_that_a_page_names_is_there() -> None:
    """``file.py::test_name`` names a file; a bare ``test_name`` is somewhere in the tests."""
    assert PAGES
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"`((?:[\w./]*test_\w+\.py)(?:::test_\w+)?|test_\w+)`", text)
        assert named
        assert [each for each in named if not _is_there(each)] == [], page


def _is_there(name: str) -> bool:
    file, _, function = name.rpartition("::") if "::" in name else ("", "", name)
    if name.endswith(".py"):
        return any(known.endswith(name) for known in TESTS)
    places = [functions for known, functions in TESTS.items() if known.endswith(file)]
    return any(function in functions for functions in places)
