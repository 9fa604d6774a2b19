"""How each reader's prompts are answered by rule over ``hop_questions``, and what may go wrong with each reply.

A rule reads what its prompt shows. The errors are those that real models were seen to make: a sub-question about
another ship, or about "that builder"; the answer of another entity; names and numbers that are not there; a notebook
that is forgotten; numbers of sentences that are wrong or missing; one of the many forms of "none".
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from erring_model import NONE, Fields, Rule, Trial
from erring_slips import (
    FLEET,
    about_another,
    another_entity,
    answered,
    invented_name,
    no_number,
    number_of,
    other,
    says,
    says_nothing,
    wrong_number,
)
from erring_statements import CYPHER
from erring_walks import GRAPHREADER
from hop_questions import ASKS, Followed, Said, follow, hops, told
from model_by_prompt import Prompt

# ---------------------------------------------------------------------------------------------------------------- youtu


def _decompose(asked: Prompt) -> Fields:
    subject, relations = hops(asked.question)
    filled = [ASKS[relation].format(subject if n == 0 else f"#{n}") for n, relation in enumerate(relations)]
    return {"sub_questions": filled, "types": [], "group": False}


def _dangling(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    words = ["that builder", "the answer to sub-question 1", "he"]
    parts = [part.replace("#1", chance.choice(words)) for part in right["sub_questions"]]
    return {**right, "sub_questions": parts if len(parts) > 1 else ["When did that happen?", *parts]}


def _wrong_part(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    first, *rest = right["sub_questions"]
    return {**right, "sub_questions": [about_another(first, chance), *rest]}


def _fill_in(asked: Prompt) -> Fields:
    parts = re.split(r"^Question \d+: (.*)$", asked.data, flags=re.MULTILINE)
    found = [follow(question, shown).answer for shown, question in zip(parts[::2], parts[1::2], strict=False)]
    return {"answers": [[each] if each else [] for each in found]}


def _other_answers(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {"answers": [[other(words, chance) for words in each] for each in right["answers"]]}


def _no_answers(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {"answers": [[chance.choice(NONE)] for _ in right["answers"]]}


def _evidence(asked: Prompt) -> str:
    return re.split(r"\n\nNotes:\n", asked.data)[0]


def _number_in_a_list_alone(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**no_number(asked, right, chance), "evidence": right["evidence"]}


def _reflect(asked: Prompt) -> Fields:
    found = follow(asked.question, _evidence(asked))
    wanted = "" if found.answer else found.question
    return {"reasoning": "By what is said.", "query": wanted, "answer": found.answer}


def _other_query(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**right, "query": about_another(asked.question, chance), "answer": ""}


def _old_query(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**right, "query": asked.question, "answer": ""}


def _no_exit(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**right, "query": chance.choice(NONE), "answer": chance.choice(NONE)}


YOUTU: Mapping[str, Rule] = {
    "decompose": Rule(
        _decompose,
        {
            "wrong sub-question": _wrong_part,
            "dangling sub-question": _dangling,
            "none": lambda asked, right, chance: {**right, "sub_questions": [chance.choice(NONE)]},
        },
    ),
    "fill_in": Rule(
        _fill_in,
        {"another entity": _other_answers, "none": _no_answers},
    ),
    "answer": Rule(
        lambda asked: answered(asked, _evidence(asked)),
        {
            "another entity": another_entity,
            "number in a list alone": _number_in_a_list_alone,
            "no number": no_number,
            "wrong number": wrong_number,
            "none": says_nothing("answer"),
        },
    ),
    "reflect": Rule(
        _reflect,
        {
            "another entity": another_entity,
            "wrong sub-question": _other_query,
            "asked before": _old_query,
            "none": _no_exit,
        },
    ),
}

# ------------------------------------------------------------------------------------------------------------ readagent


def _lookup(asked: Prompt) -> Fields:
    gists = asked.pages
    found = follow(asked.question, "\n".join(gists.values()))
    names = {hops(asked.question)[0], *(said.value for said in found.said)} - {""}
    pages = [n for n, text in gists.items() if any(name in text for name in names)]
    return {"reasoning": "By the names in the gists.", "pages": pages[:5]}


def _other_pages(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**right, "pages": [chance.choice(sorted(asked.pages)) for _ in right["pages"]]}


def _page_beside(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """One that is not there, before those that are."""
    return {**right, "pages": [777, *right["pages"]]}


def _remembered(asked: Prompt) -> Fields:
    """Its sentences are in the list of evidence alone."""
    found = answered(asked, "\n".join(asked.pages.values()))
    return {**found, "answer": found["answer"].partition(" [")[0]}


READAGENT: Mapping[str, Rule] = {
    "gist": Rule(lambda asked: {"gist": asked.data.partition(". ")[0] + "."}, {}),
    "lookup": Rule(
        _lookup,
        {
            "unknown page": says(pages=[777]),
            "an unknown page beside": _page_beside,
            "another entity": _other_pages,
            "a page spoken of": says(reasoning="The gist of Page [0] is of another ship."),
            "none": says(pages=[]),
        },
    ),
    "answer": Rule(
        _remembered,
        {"another entity": another_entity, "none": says_nothing("answer")},
    ),
}

# ------------------------------------------------------------------------------------------------------------ longagent


def _envelope(kind: str, content: str) -> Fields:
    """Of the leader, whichever form is asked for."""
    return {"type": kind, "content": content, "answer": content, "sufficient": bool(content)}


def _instruct(asked: Prompt) -> Fields:
    return _envelope("instruction", follow(asked.section("Objective"), "").question)


def _member(asked: Prompt) -> Fields:
    found = follow(asked.section("Instruction"), asked.data)
    named = [number for said in found.said[-1:] if (number := asked.number_of(said.words))]
    return {"mentioned": bool(found.answer), "content": found.answer, "sentences": named if found.answer else []}


def _invents(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """An answer where the part has none, as the paper has it: a name of the part, or one that stands nowhere."""
    shown = [each.value for each in told(asked.data)]
    _, relations = hops(asked.section("Instruction"))
    any_of = {"builder": FLEET.builders, "launched": ("1795", "1799"), "born": FLEET.places}
    content = chance.choice([*shown, *chance.sample(any_of[relations[-1]], 2)]) if relations else "the old shipyard"
    return {"mentioned": True, "content": content, "sentences": []}


def _known(asked: Prompt) -> Followed:
    """The objective, by all instructions and replies so far; where replies differ, the first counts."""
    lines = []
    instruction = ""
    for message in asked.messages[1:]:
        said = message["content"]
        if message["role"] == "assistant":
            instruction = json.loads(said)["content"]
            continue
        subject, relations = hops(asked.section("Instruction", said) or instruction)
        for line in re.findall(r"^Members? [\d-]+: (.*)$", asked.section("Replies", said), re.MULTILINE):
            value = re.split(r" — “| \(also: | \[\d", line)[0]
            lines += [_STATED[relations[-1]].format(subject, value)] if relations else []
    return follow(asked.section("Objective"), "\n".join(lines))


_STATED = {"builder": "The {} was built by {}", "launched": "The {} was launched in {}", "born": "{} was born in {}"}


def _decide(asked: Prompt) -> Fields:
    found = _known(asked)
    if found.answer:
        return _envelope("answer", found.answer)
    is_asked = found.question in asked.section("Instruction")
    return _envelope("instruction", f"Look more closely: {found.question}" if is_asked else found.question)


def _end(asked: Prompt) -> Fields:
    return _envelope("answer", _known(asked).answer)


def _group(asked: Prompt) -> Fields:
    """All replies contradict each other, since each question has one answer."""
    count = len(asked.section("Replies").splitlines())
    return {"reasoning": "By rule.", "groups": [{"members": list(range(1, count + 1)), "relation": "conflicting"}]}


def _other_content(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    is_asked = right["type"] == "instruction"
    content = about_another(right["content"], chance) if is_asked else other(right["content"], chance)
    return {**right, "content": content, "answer": content}


_MEMBER = Rule(
    _member,
    {
        "invented answer": _invents,
        "overlooked": says(mentioned=False, content="", sentences=[]),
        "missing numbers": says(sentences=[]),
        "none": says_nothing("content"),
    },
)


_LEADER = {"another entity": _other_content, "none": says_nothing("content")}
LONGAGENT: Mapping[str, Rule] = {
    "instruct": Rule(_instruct, {"wrong sub-question": _other_content, "none": says_nothing("content")}),
    "member": _MEMBER,
    "joint": _MEMBER,
    "group": Rule(
        _group,
        {"overlooked": says(groups=[]), "other numbers": says(groups=[{"members": [77, 78], "relation": "same"}])},
    ),
    "decide": Rule(_decide, _LEADER),
    "end": Rule(_end, _LEADER),
}

# ------------------------------------------------------------------------------ retrieve, and readers of whole texts

_SLIPS = {**YOUTU["answer"].slips, "invented name": invented_name}
RETRIEVE: Mapping[str, Rule] = {"answer": replace(YOUTU["answer"], slips=_SLIPS)}


def _of_another(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """What the text says of another ship or builder, also where it has no answer."""
    relation = hops(asked.question)[1][-1]
    said = [each.value for each in told(asked.data) if each.relation == relation and each.value not in right["answer"]]
    return {**right, "answer": chance.choice(said), "sufficient": True} if said else invented_name(asked, right, chance)


def _number_of_nothing(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """A number that nothing has that was shown, beside those that are right."""
    return {**right, "answer": f"{right['answer'] or 'Nothing'} [77.3]"}


_OF_TEXTS = {
    "another entity": _of_another,
    "invented name": invented_name,
    "number of nothing": _number_of_nothing,
    "none": says_nothing("answer"),
}
FULLTEXT: Mapping[str, Rule] = {"answer": Rule(answered, _OF_TEXTS)}
_NOTES = "\n\nNotes on what came before:\n"


def _in_notes(said: Sequence[Said], asked: Prompt) -> str:
    return " ".join(f"{each.words} [{number_of(each, asked)}]." for each in said)


def _noted(asked: Prompt) -> Fields:
    """All that may lead to the answer, in the words of the text: of whom it will be is not known at first."""
    subject, relations = hops(asked.question)
    said = told(asked.data)
    helps = [each for each in said if each.relation in relations and each.subject == subject or each.relation == "born"]
    words = _in_notes(helps, asked)
    return {**answered(asked), "notes": "" if words == asked.data.partition(_NOTES)[2].strip() else words}


def _forgotten(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """The new notes without those before, in whose place they are put."""
    kept = [each for each in told(asked.data.partition(_NOTES)[0]) if each.words in right["notes"]]
    return {**right, "notes": _in_notes(kept, asked)}


CHUNKNOTES: Mapping[str, Rule] = {
    "chunk_notes": Rule(
        _noted,
        {
            **_OF_TEXTS,
            "forgotten notes": _forgotten,
            "no notes": lambda asked, right, chance: {**right, "notes": chance.choice(NONE)},
            "overlooked": says(notes="", answer="", sufficient=False),
        },
    )
}

_IN_ONE_PIECE = [question for question in FLEET.questions if len(hops(question.text)[1]) == 1]
"""Two documents may lie far apart, and a reader of pieces that carries nothing on cannot join them."""

READERS: Mapping[str, Trial] = {
    "youtu": Trial(YOUTU, FLEET.questions, {"top_k": 5}),
    "graphreader": Trial(GRAPHREADER, FLEET.questions, {"nodes": 3}),
    "readagent": Trial(READAGENT, FLEET.questions),
    "longagent": Trial(LONGAGENT, FLEET.questions, {"member_tokens": 450}),
    "retrieve": Trial(RETRIEVE, FLEET.questions),
    "cypher": Trial(CYPHER, FLEET.questions),
    "fulltext": Trial(FULLTEXT, FLEET.questions),
    "chunkread": Trial(FULLTEXT, _IN_ONE_PIECE, {"window_tokens": 2000}),
    "chunknotes": Trial(CHUNKNOTES, FLEET.questions, {"window_tokens": 3000}),
}
"""All readers of a text; ``global``, which is asked about groups, is tried in ``erring_groups``."""
