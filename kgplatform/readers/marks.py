"""The marks of an answer: the numbers of the passages and facts that a prompt showed, [1] and [F2], and no others.

without_marks("Who was born? [1819] Ada [2].", 5)      # 'Who was born? [1819] Ada.'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping

_LABEL = r"(?:passages?|facts?|sources?|rows?|nos?\.?|#)?\s*(?:F\s*)?\d{1,9}"
_MARK = re.compile(
    rf"(?P<space>[ \t\u00a0]*)(?:\[\s*(?P<square>{_LABEL}(?:\s*(?:,|;|and|&|-|–)\s*{_LABEL})*)\s*\]"
    rf"|【\s*(?P<round>{_LABEL}(?:\s*[,;、]\s*{_LABEL})*)[^】]*】)",
    re.IGNORECASE,
)
_ONE = re.compile(r"(?P<fact>F|facts?\s*F?)?\s*(?P<number>\d{1,9})", re.IGNORECASE)
_OTHER_MARK = re.compile(
    r"(?<=\w)\s*\((?P<round>\d{1,2})\)(?=\W*(?:$|\s))|(?:(?<=[^\W\d]{4})|(?<=[.,;]))(?P<raised>[⁰¹²³⁴-⁹]{1,2})"
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_LONGEST_STRAY = 2
"""Characters of a label that was not shown: a longer number is more likely a year or a quantity."""
_LEFT = re.compile(r"\s+(?=[.,;:!?](?:\s|$))")


def labels(passages: int, facts: int = 0) -> frozenset[str]:
    """The names of what a prompt showed: "1", "2", …, "F1", …"""
    return frozenset([*map(str, range(1, passages + 1)), *(f"F{n}" for n in range(1, facts + 1))])


def label_of(said: object) -> str:
    """The label that a model means by ``said``: "2" for 2, "[2]" and "Passage 2", "F1" for "Fact 1"; empty for none.

    >>> label_of("Passage 3"), label_of("[F1]"), label_of(2.0), label_of("the first one")
    ('3', 'F1', '2', '')
    """
    if isinstance(said, bool) or not isinstance(said, int | float | str):
        return ""
    found = _ONE.search(str(int(said)) if isinstance(said, float) else str(said))
    return _named(found) if found else ""


def marked(text: str, shown: Collection[str]) -> list[str]:
    """The labels among ``shown`` that ``text`` marks, each once, in order."""
    found = [label for mark in _MARK.finditer(text) for label in _inside(mark) if label in shown]
    return list(dict.fromkeys(found))


def without_marks(text: str, passages: int, facts: int = 0) -> str:
    """``text`` less the marks of the passages and facts that were shown: as many as these. Other brackets stay."""
    shown = labels(passages, facts)
    return replaced(text, shown, lambda inside: "")


def replaced(text: str, shown: Collection[str], mark: Callable[[list[str]], str]) -> str:
    """``text`` with ``mark(labels)`` in the place of each mark of what was ``shown``.

    A number of one or two digits behind other words is a mark too, of nothing that was shown: it goes. Other brackets
    stay, "[1819]" among them.
    """

    def put(found: re.Match[str]) -> str:
        inside = _inside(found)
        known = [label for label in inside if label in shown]
        strays = [label for label in inside if label not in shown]
        if not inside or any(len(label) > _LONGEST_STRAY for label in strays):
            return found[0]
        if strays and not text[: found.start()].strip():
            return found[0]
        new = mark(known) if known else ""
        return found["space"] + new if new else ""

    return _LEFT.sub("", _MARK.sub(put, text)).strip()


def squared(text: str, cited: Collection[str]) -> str:
    """``text`` with "[1]" for the "(1)" and "¹" behind words, where 1 is among the ``cited``; "km²" stays."""

    def put(found: re.Match[str]) -> str:
        number = found["round"] or found["raised"].translate(_RAISED)
        return f" [{number}]" if number in cited else found[0]

    return _OTHER_MARK.sub(put, text)


def renumbered(text: str, shown: Collection[str], numbers: Mapping[str, Iterable[int]]) -> str:
    """``text`` with the numbers of citations in the place of labels. What has no number loses its mark; what no mark
    leads to is marked at the end."""

    def put(inside: list[str]) -> str:
        return "".join(f"[{n}]" for n in dict.fromkeys(n for label in inside for n in numbers.get(label, ())))

    led = {n for label in marked(text, shown) for n in numbers.get(label, ())}
    rest = "".join(f"[{n}]" for n in sorted({n for each in numbers.values() for n in each} - led))
    return f"{replaced(text, shown, put)} {rest}".strip()


def _inside(mark: re.Match[str]) -> list[str]:
    said = mark["square"] or mark["round"]
    is_facts = said.lstrip()[:1] in "Ff"
    ones = [_named(one) for one in _ONE.finditer(said)]
    ranged = re.fullmatch(r"\D*(\d+)\s*[-–]\s*\D*(\d+)", said)
    if ranged and 0 < int(ranged[2]) - int(ranged[1]) < 20:
        ones = [str(n) for n in range(int(ranged[1]), int(ranged[2]) + 1)]
    return [f"F{each}" if is_facts and each[0] != "F" else each for each in ones]


def _named(one: re.Match[str]) -> str:
    return f"{'F' if one['fact'] else ''}{int(one['number'])}"
