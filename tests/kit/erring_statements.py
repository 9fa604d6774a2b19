"""How the prompts of ``cypher`` are answered by rule over ``hop_questions``, and what may go wrong with each reply."""

from __future__ import annotations

import random
from collections.abc import Mapping

from erring_model import Fields, Rule, Slip
from erring_slips import another_entity, answered, invented_name, no_number, other, says, says_nothing, wrong_number
from hop_questions import hops
from model_by_prompt import Prompt

_VERBS = {"builder": "built by", "launched": "launched in", "born": "born in"}
_ONE_HOP = (
    "MATCH (:Entity {name: $name})<-[:MENTIONS]-(f:Fact) WHERE f.text CONTAINS $verb "
    "RETURN f.text AS fact, f.id AS sources"
)
_TWO_HOPS = (
    "MATCH (:Entity {name: $name})<-[:MENTIONS]-(f:Fact)-[:MENTIONS]->(:Entity)<-[:MENTIONS]-(g:Fact) "
    "WHERE f.text CONTAINS $verb AND g.text CONTAINS $then "
    "RETURN f.text AS first, g.text AS second, [f.id, g.id] AS sources"
)


def _write(asked: Prompt) -> Fields:
    """Facts in words, by whom they mention."""
    subject, relations = hops(asked.question)
    given = dict(zip(("verb", "then"), (_VERBS[each] for each in relations), strict=False))
    statement = _TWO_HOPS if len(relations) > 1 else _ONE_HOP
    return {"reasoning": "By name.", "statement": statement, "parameters": {"name": subject, **given}}


def _instead(old: str, new: str) -> Slip:
    """Other words in the statement."""
    return lambda asked, right, chance: {**right, "statement": right["statement"].replace(old, new)}


def _other_name(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**right, "parameters": {**right["parameters"], "name": other(right["parameters"]["name"], chance)}}


CYPHER: Mapping[str, Rule] = {
    "write": Rule(
        _write,
        {
            "invented relationship": _instead("MENTIONS", "TELLS_OF"),
            "invented label": _instead(":Entity", ":Vessel"),
            "invented property": _instead("f.text", "f.sentence"),
            "syntax error": _instead("RETURN ", ""),
            "wrong direction": _instead("<-[:MENTIONS]-", "-[:MENTIONS]->"),
            "writes": _instead("RETURN ", "SET f.seen = true RETURN "),
            "another entity": _other_name,
            "missing parameter": says(parameters={}),
            "none": says_nothing("statement"),
        },
    ),
    "answer": Rule(
        answered,
        {
            "another entity": another_entity,
            "invented name": invented_name,
            "wrong number": wrong_number,
            "no number": no_number,
            "none": says_nothing("answer"),
        },
    ),
}
