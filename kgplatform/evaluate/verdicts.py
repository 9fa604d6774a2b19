"""What raters say, read from replies in free text: yes, partially or no; a score.

    read_degree("**Yes, partially.** Both name the river.")    # 'partially'
    read_score("Reason: the year is off.\\nScore: 1", "012")    # 1

A verdict counts where replies have it: behind a label such as "Score:", at the start, or in the last line. Elsewhere
"no" and "1" are words of a sentence. Two choices side by side ("YES or NO") are the question said again, and none.
"""

from __future__ import annotations

import re
from typing import Literal

Degree = Literal["yes", "partially", "no"]

# All that is repeated has a bound, so that a reply of any length is read in a time that grows with it alone.
_MARKS = r"[\W_]{0,20}"
_SURE_LABEL = r"(?:verdict|rating|score|judge?ment|decision|conclusion|final answer)"
_BEFORE_LABEL = r"(?:(?:my|the|overall|final|so|therefore|hence|thus)[\W_]{1,5}){0,3}"
_LABEL = rf"{_BEFORE_LABEL}(?:{_SURE_LABEL}|answer|correct(?:ness)?|result|reply)"
_IS = r"(?:[^\w\n]|_){0,9}(?:\b(?:is|would be)\b)?"
_NOT_A_LIST = (
    r"(?!\W{0,4}(?:/|\||\bor\b|\band\b)\W{0,4}(?:yes|no|partially)\b)"
    r"(?!\W{1,4}yes\W{1,3}partially\W{1,5}(?:or\W{1,4})?no\b)"
)
# What may follow a verdict: the end, a sign, or a reason. "No difference" is none.
_ENDS = (
    rf"(?![^\W_]){_NOT_A_LIST}"
    r"(?=[\s*_]{0,9}(?:\Z|\n|[^\w\s/|]|(?:because|since|as|john|his|her|he|she|it|this|the|both)\b))"
)
_PARTLY = r"(?:partial(?:ly)?|partly|in part)\b"
_BETWEEN = r"(?:[^\w.!?\n]|_)"
_WORDS = (
    rf"(?P<partially>(?:yes{_BETWEEN}{{0,5}}(?:(?:but|only|it|does|agrees|is|at|least){_BETWEEN}{{1,5}}){{0,4}})?{_PARTLY})"
    rf"{_NOT_A_LIST}|(?P<yes>yes)(?!{_BETWEEN}{{0,5}}{_PARTLY}){_ENDS}|(?P<no>no){_ENDS}"
)
_LABELLED = re.compile(
    rf"^{_MARKS}{_LABEL}\b{_IS}|\b{_SURE_LABEL}\b(?:[^\w\n]|_){{0,5}}(?:\bis\b|[:=])", re.IGNORECASE | re.MULTILINE
)
_NO_OTHER = r"(?!\s{0,3}(?:/|\||,|\bor\b)\s{0,3}\d|\s{1,3}(?:out\s)?of\b)"


def read_yes_no(text: str) -> bool | None:
    """Whether a reply says yes or no; None if it says neither, or something between them."""
    degree = read_degree(text)
    return None if degree in (None, "partially") else degree == "yes"


def read_degree(text: str) -> Degree | None:
    """Which of the three a reply says, None if none of them."""
    found = _placed(text, _WORDS)
    kinds: tuple[Degree, ...] = ("yes", "partially", "no")
    return next((kind for kind in kinds if found and found[kind]), None)


def read_score(text: str, scores: str) -> int | None:
    """The score that a reply gives, one of the digits ``scores``; "2/2" and "2 points" are 2, "1/0" and "12" none."""
    found = _placed(text, _score(scores))
    return int(found["score"]) if found else None


def _score(scores: str) -> str:
    highest = max(scores)
    whole = rf"(?:\s?/\s?{highest}(?!\w))?" if highest > "1" else ""
    return rf"(?<![\w.,/−-])(?P<score>[{scores}])(?![\w%]|[.,]\d){whole}{_NO_OTHER}"


def _placed(text: str, verdict: str) -> re.Match[str] | None:
    """The verdict behind the last label, else at the start, else in the last line."""
    said = re.compile(rf"{_MARKS}(?:{verdict})", re.IGNORECASE)
    after = [match for label in _LABELLED.finditer(text) if (match := said.match(text, label.end()))]
    if after:
        return after[-1]
    end = text.rstrip()
    return said.match(text) or said.match(end, end.rfind("\n") + 1)
