"""The rows of a statement as a prompt shows them: numbered like the sentences of one passage.

rows = Rows(tried, sources, statement, room=1100)
rows.text                      # 'Rows of the statement MATCH …:\n[1.1] name: Cyrus Field\n[1.2] …'
rows.sources("1.2")            # the places of the documents behind row 2
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from kgplatform.readers.numbering import Numbering, Source
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import tokens
from kgplatform.records import Citation, FoundPassage
from kgplatform.search.statement import Sources, Tried, is_id
from kgplatform.text import clipped
from kgplatform.text.locations import citation_of

_CELL = 400
"""Characters of a value that are shown."""
_ITEMS = 20
"""Of a list."""
_HIDDEN = ("id", "embedding", "elementEmbedding", "fact")


class Rows(Numbering):
    """The first rows of ``tried`` that fit into ``room`` tokens, less the ids in them; ``behind`` is what they rest on.

    A row is cited where its facts are stated, or by its passages where it has no facts.
    """

    def __init__(self, tried: Tried, behind: Sources, statement: str, room: int) -> None:
        super().__init__()
        self._behind = behind
        self._statement = statement
        self._total = len(tried.rows)
        self._lines = list(_fitting(tried, room))
        is_part = tried.more or len(self._lines) < self._total
        more = f" (the first {len(self._lines)}; there are more)" if is_part else ""
        shown = "\n".join(f"[1.{number}] {line}" for number, line in enumerate(self._lines, 1))
        self.text = f"Rows of the statement {statement}{more}:\n{shown}"

    def sources(self, number: str) -> tuple[Source, ...] | None:
        """What stands behind a row, "1.2" or "2"; empty where no passage does, None for a row that was not shown."""
        row = int(number.rpartition(".")[2]) - 1
        if not 0 <= row < len(self._lines):
            return None
        near = (self._lines[row], self._statement, str(self._total))
        return tuple(Source(place, (*near, place.text, place.title)) for place in self._places(row))

    def _places(self, row: int) -> Iterator[Citation]:
        behind = self._behind
        facts = [behind.known_facts[each] for each in behind.facts[row] if each in behind.known_facts]
        stated = [place for fact in facts for place in [next((each for each in fact.citations if each.found), None)]]
        for place in filter(None, stated):
            passage = behind.known_passages.get(place.passage)
            yield replace(place, text=_words(passage, place.start, place.end)) if passage else place
        if not any(stated):
            known = (behind.known_passages.get(each) for each in behind.passages[row])
            for passage in filter(None, known):
                whole = citation_of(passage, passage.start, passage.end, found=False)
                yield replace(whole, text=_words(passage, passage.start, passage.end))


@dataclass(frozen=True, slots=True)
class RowSelection(Selection):
    """``Rows``, where a prompt has passages."""

    @property
    def is_empty(self) -> bool:
        """There are rows."""
        return False

    def text(self, shown: Numbering) -> str:
        """The rows that were ``shown``."""
        return shown.text if isinstance(shown, Rows) else ""


def _words(passage: FoundPassage, start: int, end: int) -> str:
    return " ".join(passage.text[start - passage.start : end - passage.start].split())


def _fitting(tried: Tried, room: int) -> Iterator[str]:
    for number, row in enumerate(tried.rows):
        cells = {name: _without_ids(cell) for name, cell in zip(tried.columns, row, strict=True)}
        line = "; ".join(f"{name}: {_short(cell)}" for name, cell in cells.items() if cell is not None) or "(nothing)"
        room -= tokens(line) + 6
        if room < 0 and number:
            return
        yield line


def _without_ids(value: Any) -> Any:
    """``value`` as words tell it: None for ids and for lists of nothing else."""
    if is_id(value):
        return None
    if isinstance(value, dict):
        inner = value.get("properties", value)
        kept = {name: _without_ids(each) for name, each in inner.items() if name not in _HIDDEN}
        return {name: each for name, each in kept.items() if each is not None} or None
    if isinstance(value, (list, tuple)):
        items = [_without_ids(item) for item in value]
        return [item for item in items if item is not None][:_ITEMS] or None
    return value


def _short(value: Any) -> str:
    return clipped(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _CELL)
