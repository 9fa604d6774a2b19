"""How the baselines' prompts are answered by rule over ``hop_questions``, and what may go wrong with each reply."""

from __future__ import annotations

import random
from collections.abc import Mapping

from erring_model import NONE, Fields, Rule
from erring_slips import invented_name, number_of, says, says_nothing
from hop_questions import follow, hops, told
from model_by_prompt import Prompt


def _read(asked: Prompt) -> Fields:
    found = follow(asked.question, asked.data)
    numbers = [number for said in found.said if (number := number_of(said, asked))]
    marks = "".join(f"[{number}]" for number in numbers)
    return {"evidence": numbers, "answer": f"{found.answer} {marks}" if found.answer else "", "sufficient": bool(marks)}


def _of_another(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """What the text says of another ship or builder."""
    relation = hops(asked.question)[1][-1]
    said = [each.value for each in told(asked.data) if each.relation == relation and each.value not in right["answer"]]
    return {**right, "answer": chance.choice(said), "sufficient": True} if said else invented_name(asked, right, chance)


def _numbered(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """A number that nothing has that was shown."""
    return {**right, "answer": f"{right['answer'] or 'Nothing'} [77.3]"}


_SLIPS = {
    "another entity": _of_another,
    "invented name": invented_name,
    "number of nothing": _numbered,
    "none": says_nothing("answer"),
}


FULLTEXT: Mapping[str, Rule] = {"answer": Rule(_read, _SLIPS)}
CHUNKREAD: Mapping[str, Rule] = {"answer": Rule(_read, _SLIPS)}

# ----------------------------------------------------------------------------------------------------------- chunknotes


def _noted(asked: Prompt) -> Fields:
    """All that may lead to the answer, in the words of the text: of whom it will be is not known at first."""
    subject, relations = hops(asked.question)
    notes, said = asked.data.partition("\n\nNotes on what came before:\n")[2], told(asked.data)
    helps = [each for each in said if each.relation in relations and each.subject == subject or each.relation == "born"]
    words = " ".join(f"{each.words} [{number_of(each, asked)}]." for each in helps)
    return {**_read(asked), "notes": "" if words == notes.strip() else words}


def _forgotten(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """The new notes without those before, in whose place they are put."""
    piece = asked.data.partition("\n\nNotes on what came before:\n")[0]
    kept = [each for each in told(piece) if each.words in right["notes"]]
    return {**right, "notes": " ".join(f"{each.words} [{number_of(each, asked)}]." for each in kept)}


CHUNKNOTES: Mapping[str, Rule] = {
    "chunk_notes": Rule(
        _noted,
        {
            **_SLIPS,
            "forgotten notes": _forgotten,
            "no notes": lambda asked, right, chance: {**right, "notes": chance.choice(NONE)},
            "overlooked": says(notes="", answer="", sufficient=False),
        },
    )
}
