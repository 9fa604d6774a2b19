"""Texts as models read them: every sentence has a number, so that a number is a place in the text.

    lines("The cable broke. It was mended.", "2")     # '[2.1] The cable broke.\n[2.2] It was mended.'
    numbers_in("[2.1-3], 4.1")                        # ['2.1', '2.2', '2.3', '4.1']

A model that names a number cites by construction; words that it copies have to be looked for, and of those that a model
of 1.5 billion parameters copies two of three are not found (docs/explanation/benchmarks/answers.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection
from functools import lru_cache

from kgplatform.text.sentences import Sentence, sentences

_LONGEST_RANGE = 20
"""Sentences that one range names at most: a longer one is no citation."""

_RANGE = r"[-‐-―~]"
_ONE = re.compile(
    rf"(?:(?P<part>\d{{1,4}})\s*[.:]\s*)?(?P<first>\d{{1,4}})(?:\s*{_RANGE}\s*(?:\d{{1,4}}\s*[.:]\s*)?(?P<last>\d{{1,4}}))?"
)


@lru_cache(maxsize=4096)
def numbered(text: str) -> tuple[Sentence, ...]:
    """The sentences of ``text``, the first of which has the number 1.

    The row of a table, an item of a list and a line that is not wrapped are sentences too.
    """
    return tuple(sentences(text))


def lines(text: str, label: str = "", only: Collection[int] | None = None) -> str:
    """The sentences of ``text``, one a line, with their numbers: "[2.3]" of a text with the ``label`` 2, else "[3]".

    ``only``: the numbers of those that are shown, which keep them; where some are left out stands "…".
    """
    shown, before = [], 0
    for number, place in enumerate(numbered(text), 1):
        if only is None or number in only:
            gap = ["…"] if number > before + 1 else []
            name = f"{label}.{number}" if label else str(number)
            shown += [*gap, f"[{name}] {' '.join(text[place.start : place.end].split())}"]
            before = number
    return "\n".join(shown)


def numbers_in(said: object) -> list[str]:
    """The numbers that a reply means by ``said``, a text, a number or a list of such: each once, in order.

    A range is all that is between; what follows a number of the same brackets without a part of its own has that part:
    "[2.3, 5]" is 2.3 and 2.5. What names no sentence is a part alone, "2".

    >>> numbers_in(["2.3", "[4.1-2]"]), numbers_in("passage 3, sentence 1"), numbers_in(2.5)
    (['2.3', '4.1', '4.2'], ['3.1'], ['2.5'])
    """
    if isinstance(said, (list, tuple)):
        return list(dict.fromkeys(number for each in said for number in numbers_in(each)))
    if isinstance(said, bool) or not isinstance(said, (str, int, float)):
        return []
    return list(dict.fromkeys(_named(str(said))))


def _named(said: str) -> list[str]:
    found: list[str] = []
    part, end = "", 0
    for one in _ONE.finditer(said):
        first, last = int(one["first"]), int(one["last"] or one["first"])
        between, end = said[end : one.start()], one.end()
        if not (one["part"] or part):
            part = str(first)
            found.append(part)
            continue
        # "passage 2, sentence 3" names a sentence; "2, 3" names the part too, as a list of rows does.
        if found[-1:] == [part] and not one["part"] and any(map(str.isalpha, between)):
            found.pop()
        part = str(int(one["part"] or part))
        found += [f"{part}.{number}" for number in range(first, min(last, first + _LONGEST_RANGE) + 1)]
    return found
