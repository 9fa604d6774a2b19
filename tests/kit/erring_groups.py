"""How the prompts of ``global`` are answered by rule over ``group_questions``, and what may go wrong with them."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from typing import Any

from erring_model import NONE, Fields, Rule, Slip, Trial
from erring_readers import no_number, says, says_nothing, wrong_number
from group_questions import RULES, planted
from model_by_prompt import Prompt

TOWNS = planted(seed=7, towns=45, valleys=3)


def _found(change: Any) -> Slip:
    """``change`` makes other points, and other items, of those that there are."""

    def slip(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
        return {**right, **{name: change(right[name], chance) for name in ("points", "items")}}

    return slip


def _with_invented(found: Sequence[Fields], chance: random.Random) -> list[Fields]:
    """A town that no text has, beside those that there are."""
    said = (
        {"name": "Nemo Harbour"} if found and "name" in found[0] else {"point": "Nemo Harbour keeps bees.", "score": 90}
    )
    return [*found, {**said, "facts": [1]}]


def _less_one(found: Sequence[Fields], chance: random.Random) -> list[Fields]:
    lost = chance.randrange(len(found)) if found else 0
    return [*found[:lost], *found[lost + 1 :]]


def _of_another(found: Sequence[Fields], chance: random.Random) -> list[Fields]:
    """One thing under the name of another of its part; of points nothing."""
    names = [each["name"] for each in found if "name" in each]
    return [{**found[0], "name": chance.choice(names)}, *found[1:]] if names else [*found]


def _rated(found: Sequence[Fields], chance: random.Random) -> list[Fields]:
    return [{**each, "score": chance.choice([0, 1, 1000, "low", "none", None])} for each in found]


def _invents(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**right, "answer": f"{right['answer']}. Most of them are kept by Nemo Drake."}


def _other_number(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """One more of what is counted; else the last of what is listed is left out."""
    said = right["answer"]
    shorter = re.sub(r"[;,][^;,]*$", "", said)
    return {**right, "answer": str(int(said) + 1) if said.isdigit() else shorter}


GLOBAL = Trial(
    {
        "map": Rule(
            RULES["global_/map"],
            {
                "invented sentence": _found(_with_invented),
                "forgotten point": _found(_less_one),
                "another entity": _found(_of_another),
                "wrong rating": _found(_rated),
                "no numbers": _found(lambda found, chance: [{**each, "facts": []} for each in found]),
                "wrong numbers": _found(lambda found, chance: [{**each, "facts": [900]} for each in found]),
                "none": _found(lambda found, chance: [chance.choice(NONE)]),
            },
        ),
        "reduce": Rule(
            RULES["global_/reduce"],
            {
                "invented sentence": _invents,
                "wrong number": _other_number,
                "wrong citation": wrong_number,
                "no number": no_number,
                "insufficient": says(sufficient=False),
                "none": says_nothing("answer"),
            },
        ),
    },
    TOWNS.questions,
    {"part_tokens": 1000},
)
