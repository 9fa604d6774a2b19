"""How GraphReader's prompts are answered by rule over ``hop_questions``, and what may go wrong with each reply."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping

from erring_model import NONE, Fields, Rule, Slip
from erring_slips import another_entity, answered, other, says, says_nothing
from hop_questions import follow, hops, told
from model_by_prompt import Prompt

_INVENTED = ("Harbour Board of 1799", "the old shipyard", "Captain Nemo Drake")


_VERBS = {"builder": "built", "launched": "launched", "born": "born"}


def _plan(asked: Prompt) -> Fields:
    question = asked.data
    subject, relations = hops(question)
    return {"steps": [f"Find the {relation}." for relation in relations], "key_information": [subject]}


def _wrong_plan(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**right, "key_information": [other(name, chance) for name in right["key_information"]]}


def _nodes(asked: Prompt) -> Fields:
    """What is asked about, and the words of its relations."""
    names = asked.data.partition("Nodes:\n")[2].splitlines()
    subject, relations = hops(asked.question)
    chosen = [name for name in (subject, *(_VERBS[each] for each in relations)) if name in names]
    return {"reasoning": "By name.", "nodes": [{"node": name, "score": 95 - 10 * n} for n, name in enumerate(chosen)]}


def _invented_nodes(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**right, "nodes": [{"node": name, "score": 90} for name in _INVENTED]}


def _other_nodes(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    return {**right, "nodes": [{"node": other(each["node"], chance), "score": 80} for each in right["nodes"]]}


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
    said = {"reasoning": "By name.", "notebook": notebook}
    return (
        {**said, "action": "read_chunk", "chunks": chosen} if chosen else {**said, "action": "stop_and_read_neighbor"}
    )


def _chunk(asked: Prompt) -> Fields:
    _, notebook, shown = _state(asked)
    found = follow(asked.question, f"{notebook}\n{shown}")
    for said in found.said:
        number = re.search(rf"^(\[[\d.]+\]) .*{re.escape(said.words)}", shown, re.MULTILINE)
        if number and said.words not in notebook:
            notebook = f"{notebook}\n{said.words} {number[1]}".strip()
    return {"reasoning": "By name.", "notebook": notebook, "action": "termination" if found.answer else "search_more"}


def _forgotten(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """Nothing of the notebook, in one of the ways that it is left out."""
    return {**right, "notebook": chance.choice(["", *NONE])}


def _last_alone(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """The newest note without those before it."""
    return {**right, "notebook": right["notebook"].rpartition("\n")[2]}


def _wrong_note(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
    """The last note says another value, under the same mark."""
    known = told(right["notebook"])
    value = known[-1].value if known else ""
    return {**right, "notebook": right["notebook"].replace(value, other(value, chance)) if value else ""}


def _marks(number: str) -> Slip:
    """Another number behind everything, or none."""

    def slip(asked: Prompt, right: Fields, chance: random.Random) -> Fields:
        key = "notebook" if "notebook" in right else "answer"
        return {**right, key: re.sub(r"\s*\[\d+\.\d+\]", number and f" [{number}]", right[key])}

    return slip


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
            "wrong plan": _wrong_plan,
            "none": lambda asked, right, chance: {"steps": [chance.choice(NONE)], "key_information": []},
        },
    ),
    "nodes": Rule(
        _nodes,
        {
            "invented node": _invented_nodes,
            "another entity": _other_nodes,
            "none": says(nodes=[{"node": "none", "score": 0}]),
        },
    ),
    "facts": Rule(
        _facts,
        {
            "forgotten notebook": _forgotten,
            "unknown passage": says(action="read_chunk", chunks=[99]),
            "action of another step": says(action="read_neighbor_node", node="Captain Nemo Drake"),
            "overlooked": says(action="stop_and_read_neighbor", chunks=[]),
        },
    ),
    "chunk": Rule(
        _chunk,
        {
            "forgotten notebook": _forgotten,
            "forgotten notes": _last_alone,
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
        answered,
        {
            "another entity": another_entity,
            "wrong number": _marks("47.11"),
            "no number": _marks(""),
            "none": says_nothing("answer"),
        },
    ),
}
