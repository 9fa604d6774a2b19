"""What may go wrong with a reply over ``hop_questions`` whatever the reader: another entity, nothing, one of the forms
of "none"."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

from erring_model import INVENTED, NONE, Fields, Slip
from hop_questions import Said, follow, hops, planted, told
from model_by_prompt import Prompt

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
    """The answer of another entity that is shown, with the number of its sentence; else any other one."""
    answer = right["answer"].split(" [")[0]
    if not answer:
        return {**right, "sufficient": True}
    shown = [each for each in told(asked.data) if each.value != answer and _kind(each.value) == _kind(answer)]
    if not shown:
        return {**right, "answer": other(answer, chance)}
    said = chance.choice(shown)
    if "evidence" not in right:
        return {**right, "answer": said.value}
    number = number_of(said, asked)
    return {**right, "answer": f"{said.value} [{number or '1.1'}]", "evidence": [number] if number else []}


def invented_name(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """Another name or year, of which no text tells, in place of the answer; its numbers stay."""
    answer, gap, marks = right["answer"].partition(" [")
    return {**right, "answer": f"{chance.choice(INVENTED)}{gap}{marks}", "sufficient": True}


def no_number(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """An answer that cites nothing."""
    cited = {"evidence": []} if "evidence" in right else {}
    return {**right, "answer": re.sub(r"\s*\[.*?\]", "", right["answer"]), **cited}


def wrong_number(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """Numbers of what was not shown."""
    cited = {"evidence": ["77.3" for _ in right["evidence"]]} if "evidence" in right else {}
    return {**right, "answer": re.sub(r"\[[\d.]+\]", "[77.3]", right["answer"]), **cited}


def _kind(value: str) -> int:
    return value.isdigit() + 2 * (" " in value)


def answered(asked: Prompt, text: str | None = None) -> Fields:
    """The answer that ``text``, else all data, leads to, with the numbers of its sentences; nothing where none is."""
    found = follow(asked.question, asked.data if text is None else text)
    if not found.answer:
        return {"evidence": [], "answer": "", "sufficient": False}
    numbers = list(dict.fromkeys(number for said in found.said if (number := number_of(said, asked))))
    marks = "".join(f"[{number}]" for number in numbers)
    return {"evidence": numbers, "answer": f"{found.answer} {marks}".strip(), "sufficient": True}


def number_of(said: Said, asked: Prompt) -> str:
    """Of the sentence that says it, or behind it in notes; empty where there is none."""
    noted = re.search(rf"{re.escape(said.words)} \[([\d.]+)\]", asked.data)
    return asked.number_of(said.words) or (noted[1] if noted else "")
