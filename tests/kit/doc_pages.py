"""The pages of the documentation, by their names: where they lie may change. And what of them can be run."""

import re
from functools import cache

from conftest import ROOT

DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", *sorted(DOCS.rglob("*.md")), *sorted(ROOT.glob("[!.]*/README.md"))]


@cache
def page(name: str) -> str:
    """The text of the page ``name``, such as ``http.md``, in whichever folder of docs/ it lies."""
    (found,) = DOCS.rglob(name)
    return found.read_text(encoding="utf-8")


def blocks(text: str, language: str) -> list[str]:
    """The code blocks of ``language``."""
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.M | re.S)


def commands_of(text: str) -> list[str]:
    """Every line of shell blocks and of indented blocks, and every example in the table of commands."""
    lines = [line for block in blocks(text, "sh") for line in block.splitlines()]
    lines += re.findall(r"^    (kgplatform .+)$", text, re.M)
    lines += re.findall(r"\| `((?:[A-Z_]+=\S+ )?kgplatform [^`]+)` \|$", text, re.M)
    return lines


def mentioned(text: str, names: list[str]) -> list[str]:
    """Every command of a page, in blocks of any kind and in sentences; ``names`` are those that there are."""
    parts = re.split(r"^```.*\n", text, flags=re.M)
    inside = [line.strip() for block in parts[1::2] for line in block.splitlines()]
    outside = re.findall(r"`([^`\n]+)`", "".join(parts[0::2])) + re.findall(r"^    (.+)$", "".join(parts[0::2]), re.M)
    begins = re.compile(rf"(?:[A-Z_]+=\S+ )?kgplatform \S|(?:{'|'.join(names)}) --")
    return [line for line in (*inside, *outside) if begins.match(line) and "COMMAND" not in line]


ALL = sorted({line for each in PAGES for line in commands_of(each.read_text(encoding="utf-8"))})
"""Every command of every page."""
