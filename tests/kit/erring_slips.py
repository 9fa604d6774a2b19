"""What may go wrong with a reply over ``planted_ships`` whatever the reader: another entity, nothing, one of the forms
of "none"."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from erring_model import INVENTED, NONE, Fields, Slip
from model_by_prompt import Prompt
from planted_ships import Said, hops, planted, told

FLEET = planted(30)
"""The corpus that all are asked about."""


def other(words: str, chance: random.Random) -> str:
    """Another of the same kind: a ship for a ship, a builder, a place, a year."""
    kinds: tuple[Sequence[str], ...] = (FLEET.ships, FLEET.builders, FLEET.places)
    kind = next((each for each in kinds if words in each), [str(year) for year in range(1700, 1720)])
    return chance.choice([each for each in kind if each != words])


def about_another(question: str, chance: random.Random) -> str:
    subject, _ = hops(question)
    return question.replace(subject, other(subject, chance)) if subject else question


def says(**values: object) -> Slip:
    return lambda asked, right, chance: {**right, **values}


def says_nothing(key: str) -> Slip:
    def slip(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
        refused = {"sufficient": False} if "sufficient" in right else {}
        return {**right, **refused, key: chance.choice(NONE)}

    return slip


def another_entity(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """The answer of another entity that is shown, with its words for a quote; else any other one."""
    answer = right["answer"].split(" [")[0]
    if not answer:
        return {**right, "sufficient": True}
    shown = [each for each in told(asked.data) if each.value != answer and _kind(each.value) == _kind(answer)]
    if not shown:
        return {**right, "answer": other(answer, chance)}
    said = chance.choice(shown)
    citations = [{"passage": label_of(said, asked) or "1", "quote": said.words}] if "citations" in right else []
    mark = f" [{citations[0]['passage']}]" if citations else ""
    return {**right, "answer": said.value + mark, **({"citations": citations} if citations else {})}


def invented_name(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """Another name or year, of which no text tells, in place of the answer; its marks and citations stay."""
    answer, gap, marks = right["answer"].partition(" [")
    return {**right, "answer": f"{chance.choice(INVENTED)}{gap}{marks}", "sufficient": True}


def no_mark(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """An answer that cites nothing."""
    cited = {"citations": []} if "citations" in right else {}
    return {**right, "answer": re.sub(r"\s*\[.*?\]", "", right["answer"]), **cited}


def wrong_mark(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """Marks and citations of what was not shown."""
    cited = {"citations": [_elsewhere(each) for each in right["citations"]]} if "citations" in right else {}
    return {**right, "answer": re.sub(r"\[\w+\]", "[77]", right["answer"]), **cited}


def _elsewhere(citation: Any) -> Any:
    return {**citation, "passage": "77"} if isinstance(citation, dict) else 77


def _kind(value: str) -> int:
    return value.isdigit() + 2 * (" " in value)


def label_of(said: Said, asked: Prompt) -> str:
    """The label of the passage or fact that has it."""
    number = next((n for n, text in asked.passages.items() if said.words in text), 0)
    fact = re.search(rf"^\[?(F\d+)\]? .*{re.escape(said.words)}", asked.data, re.MULTILINE)
    return str(number) if number else fact[1] if fact else ""
