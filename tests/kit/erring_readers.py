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

from erring_model import INVENTED, NONE, Fields, Rule, Slip, Trial
from hop_questions import ASKS, Followed, Said, follow, hops, planted, told
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


def _marks(number: str) -> Slip:
    """Another number behind everything that is said or noted, or none."""

    def slip(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
        key = "notebook" if "notebook" in right else "answer"
        return {**right, key: re.sub(r"\s*\[\d+\.\d+\]", number and f" [{number}]", right[key])}

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
    number = _number_of(said, asked)
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


def _answered(asked: Prompt, text: str | None = None) -> Fields:
    """The answer that ``text``, else all data, leads to, with the numbers of its sentences; nothing where none is."""
    found = follow(asked.question, asked.data if text is None else text)
    if not found.answer:
        return {"evidence": [], "answer": "", "sufficient": False}
    numbers = list(dict.fromkeys(number for said in found.said if (number := _number_of(said, asked))))
    marks = "".join(f"[{number}]" for number in numbers)
    return {"evidence": numbers, "answer": f"{found.answer} {marks}".strip(), "sufficient": True}


def _number_of(said: Said, asked: Prompt) -> str:
    """Of the sentence that says it, or behind it in notes; empty where there is none."""
    noted = re.search(rf"{re.escape(said.words)} \[([\d.]+)\]", asked.data)
    return asked.number_of(said.words) or (noted[1] if noted else "")


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


def _evidence(asked: Prompt) -> str:
    return re.split(r"\n\nNotes:\n", asked.data)[0]


def _reflect(asked: Prompt) -> Fields:
    found = follow(asked.question, _evidence(asked))
    wanted = "" if found.answer else found.question
    return {"reasoning": "By what is said.", "query": wanted, "answer": found.answer}


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
        {
            "another entity": lambda asked, right, chance: {
                "answers": [[other(words, chance) for words in each] for each in right["answers"]]
            },
            "none": lambda asked, right, chance: {"answers": [[chance.choice(NONE)] for _ in right["answers"]]},
        },
    ),
    "answer": Rule(
        lambda asked: _answered(asked, _evidence(asked)),
        {
            "another entity": another_entity,
            "number in a list alone": lambda asked, right, chance: {
                **no_number(asked, right, chance),
                "evidence": right["evidence"],
            },
            "no number": no_number,
            "wrong number": wrong_number,
            "none": says_nothing("answer"),
        },
    ),
    "reflect": Rule(
        _reflect,
        {
            "another entity": another_entity,
            "wrong sub-question": lambda asked, right, chance: {
                **right,
                "query": about_another(asked.question, chance),
                "answer": "",
            },
            "asked before": lambda asked, right, chance: {**right, "query": asked.question, "answer": ""},
            "none": lambda asked, right, chance: {**right, "query": chance.choice(NONE), "answer": chance.choice(NONE)},
        },
    ),
}


_NODES = ("Harbour Board of 1799", "the old shipyard", "Captain Nemo Drake")
"""That no graph has."""
_VERBS = {"builder": "built", "launched": "launched", "born": "born"}


def _plan(asked: Prompt) -> Fields:
    subject, relations = hops(asked.data)
    return {"steps": [f"Find the {relation}." for relation in relations], "key_information": [subject]}


def _nodes(asked: Prompt) -> Fields:
    """What is asked about, and the words of its relations."""
    names = asked.data.partition("Nodes:\n")[2].splitlines()
    subject, relations = hops(asked.question)
    chosen = [name for name in (subject, *(_VERBS[each] for each in relations)) if name in names]
    return {"reasoning": "By name.", "nodes": [{"node": name, "score": 95 - 10 * n} for n, name in enumerate(chosen)]}


def _state(asked: Prompt) -> tuple[str, str, str]:
    """Previous actions, the notebook, and what is shown below it."""
    done, _, rest = asked.data.partition("\n\nNotebook:\n")
    notebook, _, shown = re.sub(r"\A\(empty\)", "", rest.strip()).partition("\n\n")
    return done, notebook.strip(), shown


def _facts(asked: Prompt) -> Fields:
    _, notebook, shown = _state(asked)
    groups = re.split(r"^Passage (\d+): .*\n", shown.partition("Its facts")[2], flags=re.MULTILINE)[1:]
    wanted = follow(asked.question, notebook).wanted
    facts = zip(groups[::2], groups[1::2], strict=True)
    chosen = [int(number) for number, text in facts if wanted and wanted[1] in text]
    action = {"action": "read_chunk", "chunks": chosen} if chosen else {"action": "stop_and_read_neighbor"}
    return {"reasoning": "By name.", "notebook": notebook, **action}


def _chunk(asked: Prompt) -> Fields:
    _, notebook, shown = _state(asked)
    found = follow(asked.question, f"{notebook}\n{shown}")
    for said in found.said:
        number = re.search(rf"^(\[[\d.]+\]) .*{re.escape(said.words)}", shown, re.MULTILINE)
        if number and said.words not in notebook:
            notebook = f"{notebook}\n{said.words} {number[1]}".strip()
    return {"reasoning": "By name.", "notebook": notebook, "action": "termination" if found.answer else "search_more"}


def _forgotten_notebook(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """Nothing of it, in one of the ways that it is left out."""
    return {**right, "notebook": chance.choice(["", *NONE])}


def _wrong_note(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """The last note says another value, under the same mark."""
    known = told(right["notebook"])
    value = known[-1].value if known else ""
    return {**right, "notebook": right["notebook"].replace(value, other(value, chance)) if value else ""}


def _neighbours(asked: Prompt) -> Fields:
    done, notebook, shown = _state(asked)
    names = shown.partition("Its neighbours")[2].splitlines()[1:]
    wanted = follow(asked.question, notebook).wanted
    goal = wanted[1] if wanted else ""
    if goal in names and f"at {goal}:" not in done:
        return {"reasoning": "By name.", "action": "read_neighbor_node", "node": goal}
    return {"reasoning": "By name.", "action": "termination"}


GRAPHREADER: Mapping[str, Rule] = {
    "plan": Rule(
        _plan,
        {
            "wrong plan": lambda asked, right, chance: {
                **right,
                "key_information": [other(name, chance) for name in right["key_information"]],
            },
            "none": lambda asked, right, chance: {"steps": [chance.choice(NONE)], "key_information": []},
        },
    ),
    "nodes": Rule(
        _nodes,
        {
            "invented node": says(nodes=[{"node": name, "score": 90} for name in _NODES]),
            "another entity": lambda asked, right, chance: {
                **right,
                "nodes": [{"node": other(each["node"], chance), "score": 80} for each in right["nodes"]],
            },
            "none": says(nodes=[{"node": "none", "score": 0}]),
        },
    ),
    "facts": Rule(
        _facts,
        {
            "forgotten notebook": _forgotten_notebook,
            "unknown passage": says(action="read_chunk", chunks=[99]),
            "action of another step": says(action="read_neighbor_node", node="Captain Nemo Drake"),
            "overlooked": says(action="stop_and_read_neighbor", chunks=[]),
        },
    ),
    "chunk": Rule(
        _chunk,
        {
            "forgotten notebook": _forgotten_notebook,
            "forgotten notes": lambda asked, right, chance: {
                **right,
                "notebook": right["notebook"].rpartition("\n")[2],
            },
            "another entity": _wrong_note,
            "wrong number": _marks("47.11"),
            "no number": _marks(""),
            "action of another step": says(action="read_neighbor_node", node="Captain Nemo Drake"),
            "overlooked": says(action="search_more"),
        },
    ),
    "neighbours": Rule(
        _neighbours,
        {
            "invented node": says(action="read_neighbor_node", node="Captain Nemo Drake"),
            "action of another step": says(action="search_more"),
            "overlooked": says(action="termination", node=""),
        },
    ),
    "answer": Rule(
        _answered,
        {
            "another entity": another_entity,
            "wrong number": _marks("47.11"),
            "no number": _marks(""),
            "none": says_nothing("answer"),
        },
    ),
}


def _lookup(asked: Prompt) -> Fields:
    gists = asked.pages
    found = follow(asked.question, "\n".join(gists.values()))
    names = {hops(asked.question)[0], *(said.value for said in found.said)} - {""}
    pages = [n for n, text in gists.items() if any(name in text for name in names)]
    return {"reasoning": "By the names in the gists.", "pages": pages[:5]}


def _remembered(asked: Prompt) -> Fields:
    """Its sentences are in the list of evidence alone."""
    found = _answered(asked, "\n".join(asked.pages.values()))
    return {**found, "answer": found["answer"].partition(" [")[0]}


READAGENT: Mapping[str, Rule] = {
    "gist": Rule(lambda asked: {"gist": asked.data.partition(". ")[0] + "."}, {}),
    "lookup": Rule(
        _lookup,
        {
            "unknown page": says(pages=[777]),
            "an unknown page beside": lambda asked, right, chance: {**right, "pages": [777, *right["pages"]]},
            "another entity": lambda asked, right, chance: {
                **right,
                "pages": [chance.choice(sorted(asked.pages)) for _ in right["pages"]],
            },
            "a page spoken of": says(reasoning="The gist of Page [0] is of another ship."),
            "none": says(pages=[]),
        },
    ),
    "answer": Rule(_remembered, {"another entity": another_entity, "none": says_nothing("answer")}),
}


_STATED = {"builder": "The {} was built by {}", "launched": "The {} was launched in {}", "born": "{} was born in {}"}


def _envelope(kind: str, content: str) -> Fields:
    """Of the leader, whichever form is asked for."""
    return {"type": kind, "content": content, "answer": content, "sufficient": bool(content)}


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


def _decide(asked: Prompt) -> Fields:
    found = _known(asked)
    if found.answer:
        return _envelope("answer", found.answer)
    is_asked = found.question in asked.section("Instruction")
    return _envelope("instruction", f"Look more closely: {found.question}" if is_asked else found.question)


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
    "instruct": Rule(
        lambda asked: _envelope("instruction", follow(asked.section("Objective"), "").question),
        {"wrong sub-question": _other_content, "none": says_nothing("content")},
    ),
    "member": _MEMBER,
    "joint": _MEMBER,
    "group": Rule(
        _group,
        {"overlooked": says(groups=[]), "other numbers": says(groups=[{"members": [77, 78], "relation": "same"}])},
    ),
    "decide": Rule(_decide, _LEADER),
    "end": Rule(lambda asked: _envelope("answer", _known(asked).answer), _LEADER),
}


_WORDS = {"builder": "built by", "launched": "launched in", "born": "born in"}
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
    given = dict(zip(("verb", "then"), (_WORDS[each] for each in relations), strict=False))
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
        _answered,
        {
            "another entity": another_entity,
            "invented name": invented_name,
            "wrong number": wrong_number,
            "no number": no_number,
            "none": says_nothing("answer"),
        },
    ),
}


RETRIEVE: Mapping[str, Rule] = {
    "answer": replace(YOUTU["answer"], slips={**YOUTU["answer"].slips, "invented name": invented_name})
}


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
FULLTEXT: Mapping[str, Rule] = {"answer": Rule(_answered, _OF_TEXTS)}
_NOTES = "\n\nNotes on what came before:\n"


def _in_notes(said: Sequence[Said], asked: Prompt) -> str:
    return " ".join(f"{each.words} [{_number_of(each, asked)}]." for each in said)


def _noted(asked: Prompt) -> Fields:
    """All that may lead to the answer, in the words of the text: of whom it will be is not known at first."""
    subject, relations = hops(asked.question)
    said = told(asked.data)
    helps = [each for each in said if each.relation in relations and each.subject == subject or each.relation == "born"]
    words = _in_notes(helps, asked)
    return {**_answered(asked), "notes": "" if words == asked.data.partition(_NOTES)[2].strip() else words}


def _forgotten_notes(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """The new notes without those before, in whose place they are put."""
    kept = [each for each in told(asked.data.partition(_NOTES)[0]) if each.words in right["notes"]]
    return {**right, "notes": _in_notes(kept, asked)}


CHUNKNOTES: Mapping[str, Rule] = {
    "chunk_notes": Rule(
        _noted,
        {
            **_OF_TEXTS,
            "forgotten notes": _forgotten_notes,
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
