"""Questions over 2Wiki's passages, made by templates like those that 2WikiMultihopQA was made by (Ho and others, 2020).

The data set's own questions are not there. These have its four kinds in about its shares, and the passages that they
rest on: what a film's passage says of its director, and a person's of a parent, where another passage is about them.
"""

import random
import re
from collections.abc import Iterator, Sequence
from typing import Any

from kgplatform.evaluate.terms import Question, Text

SEED = 5
COMPOSITIONAL, COMPARISON, BRIDGE, INFERENCE = 84, 50, 44, 22

_NAME = r"[A-Z][\w.\-' ]+?"
_DIRECTED = re.compile(
    rf"[^.]{{0,200}}?\bfilms?\b[^.]{{0,120}}?directed by ({_NAME})"
    r"(?=[,.;]| and | starring| with| from| based| in | for| who)"
)
_CHILD = re.compile(r"\b(?:son|daughter) of ([A-Z][\w-]+(?: (?:of|de|von|the|[A-Z][\w-]*))+)")
_LIVED = re.compile(r"[^.]{0,80}\([^()]*\d{4}[^()]*\) (?:was|is) an? ")
_ASIDE = re.compile(r" \([^)]*\)$")
_OF_DIRECTOR = (
    *("Where was the director of film {} born?", "When did the director of film {} die?"),
    *("Which country is the director of film {} from?", "What is the place of birth of the director of film {}?"),
    "Who is the spouse of the director of film {}?",
)
_COMPARED = ("Which film came out first, {} or {}?", "Are {} and {} from the same country?")
_OLDER = ("Who was born first, {} or {}?", "Who died later, {} or {}?", "Are {} and {} of the same nationality?")
_BRIDGED = (
    "Which film has the director who was born earlier, {} or {}?",
    "Which film has the director who died first, {} or {}?",
    "Do both films {} and {} have the directors from the same country?",
)
_INFERRED = ("Who is the grandfather of {}?", "Who is the grandmother of {}?")


def questions(passages: Sequence[dict[str, Any]]) -> list[Question]:
    """200 questions about ``passages`` (``title``, ``text``), drawn by seed."""
    texts = {each["title"]: each["text"] for each in passages}
    directors = sorted(_pairs(texts, _DIRECTED.match))
    parents = sorted(_pairs(texts, _CHILD.search))
    people = sorted(title for title, text in texts.items() if _LIVED.match(text))
    draw = random.Random(SEED)
    asked: list[tuple[str, str, tuple[str, ...]]] = []
    for film, director in draw.sample(directors, COMPOSITIONAL):
        asked.append(("compositional", draw.choice(_OF_DIRECTOR).format(film), (film, director)))
    for _ in range(COMPARISON // 2):
        two = tuple(film for film, _ in draw.sample(directors, 2))
        asked.append(("comparison", draw.choice(_COMPARED).format(*two), two))
    for _ in range(COMPARISON // 2):
        two = tuple(draw.sample(people, 2))
        asked.append(("comparison", draw.choice(_OLDER).format(*two), two))
    for _ in range(BRIDGE):
        (one, first), (other, second) = draw.sample(directors, 2)
        asked.append(("bridge comparison", draw.choice(_BRIDGED).format(one, other), (one, first, other, second)))
    for child, parent in draw.sample(parents, INFERENCE):
        asked.append(("inference", draw.choice(_INFERRED).format(child), (child, parent)))
    return [
        Question(id=f"{kind} {number}", text=text, kind=kind, supports=tuple(map(Text, dict.fromkeys(supports))))
        for number, (kind, text, supports) in enumerate(asked)
    ]


def _pairs(texts: dict[str, str], find: Any) -> Iterator[tuple[str, str]]:
    """Titles of passages, and of those about who is named by what ``find`` finds in them, where one passage is."""
    titles: dict[str, list[str]] = {}
    for title in texts:
        titles.setdefault(_ASIDE.sub("", title), []).append(title)
    for title, text in texts.items():
        found = find(text)
        about = titles.get(found[1], []) if found else []
        if len(about) == 1 and about[0] != title:
            yield title, about[0]
