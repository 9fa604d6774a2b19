"""Invented corpora with questions about groups, and a model that answers them by rule from what a prompt shows.

    corpus = planted(seed=7, towns=60, valleys=4)
    corpus.ingest(kg, folder)
    with OpenAIServer(GroupModel()) as server: ...

Each document tells of a town: in which valley it lies, what it keeps, has and sings of. A question is about a whole
valley or about all towns, so that no few documents answer it. The model reads the sentences that it is shown. What it
gets right says what was brought before its eyes, and nothing of how well a real model reads.
"""

import json
import random
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from corpora import put, put_jsonl
from model_by_prompt import Prompt

from kgplatform.client import KnowledgeGraph
from kgplatform.prompt import Messages
from kgplatform.records import Answer

Kind = Literal["how many", "which themes", "in common"]

KEPT = re.findall(r"\w+", "bees geese goats mules sheep doves hens oxen ponies carp")
BUILT = re.findall(r"\w+", "mill quay forge chapel windlass granary smokehouse kiln weir tollhouse")
SUNG = re.findall(r"\w+", "storms harvests widows saints wolves frost wine exile thieves comets floods shepherds")
_STARTS = re.findall(
    r"\w+", "Ar Bel Cor Dun Es Fal Gor Hal Il Jor Kel Lor Mar Nor Or Pel Quor Ros Sel Tor Ul Ver Wen Yar Zel"
)
_ENDS = re.findall(r"\w+", "den more vik stead holm ance by field thal una wick mont bra sund dale")
_VALLEYS = re.findall(r"\w+", "Orrin Tessel Vanner Murrow Quill Brask Ludden Haver Pinto Zorell Ammer Fenwold")

_LIES = re.compile(r"\b([A-Z]\w+) lies in (?:the )?([A-Z]\w+) valley")
_HAS = re.compile(r"\b([A-Z]\w+) (keeps|has a|sings of) (\w+)")


@dataclass(frozen=True)
class Asked:
    """A question; ``answers``: a number, or all that must be named; ``needs``: the sentences that it rests on."""

    kind: Kind
    text: str
    answers: frozenset[str]
    needs: frozenset[str]

    def is_right(self, answer: Answer) -> bool:
        """Whether it cites, and has the number, or names all of it and nothing else of the kind."""
        text = re.sub(r"\[\d+\]", "", answer.text or "") if answer.citations else ""
        if self.kind == "how many":
            return set(re.findall(r"\d+", text)) == self.answers
        return {word for word in (*KEPT, *BUILT, *SUNG) if re.search(rf"\b{word}\b", text)} == self.answers


@dataclass(frozen=True)
class Corpus:
    """Texts by file name, what an extractor would read from them, and the questions."""

    texts: dict[str, str]
    recording: list[dict[str, Any]]
    questions: list[Asked]

    def ingest(self, kg: KnowledgeGraph, folder: Path) -> None:
        """Put into the graph, with its tree."""
        files = put(folder / "texts", self.texts)
        kg.ingest(files, recorded=put_jsonl(folder / "recording.jsonl", self.recording), mode="flexible")
        kg.build_tree()


def planted(seed: int, towns: int, valleys: int) -> Corpus:
    """``towns`` documents, shared out among ``valleys``; all that is in them is drawn with ``seed``."""
    chance = random.Random(seed)
    names = chance.sample([start + end for start in _STARTS for end in _ENDS], towns)
    told: dict[str, list[tuple[str, str]]] = {}
    shared: dict[str, str] = {}
    for number, valley in enumerate(chance.sample(_VALLEYS, valleys)):
        members = names[number::valleys]
        shared[valley] = chance.choice(BUILT)
        for town, says in zip(members, _lives(chance, members, shared[valley]), strict=True):
            told[town] = [("lies in", f"{valley} valley"), *says]
    texts = {f"{town.lower()}.txt": _text(chance, town, says) for town, says in told.items()}
    recording = [_recorded(town, says) for town, says in told.items()]
    return Corpus(texts, recording, [*_how_many(told), *_themes(told, shared), *_in_common(told, shared)])


def _lives(chance: random.Random, members: Sequence[str], shared: str) -> list[list[tuple[str, str]]]:
    """What is told of each town of a valley: all share one thing, and all but one share each of four others."""
    nearly = chance.sample([each for each in BUILT if each != shared], 4)
    lives = []
    without = {each: chance.choice(members) for each in nearly}
    for town in members:
        drawn = chance.sample(KEPT, 2)
        things = [shared, *drawn, *(each for each in nearly if without[each] != town)]
        says = [("keeps" if each in KEPT else "has a", each) for each in things]
        lives.append([*says, *(("sings of", theme) for theme in chance.sample(SUNG, 1))])
    return lives


def sentence(town: str, predicate: str, thing: str) -> str:
    """As the text has it, and the facts of the graph."""
    return f"{town} {predicate} {'the ' if predicate == 'lies in' else ''}{thing}"


def _text(chance: random.Random, town: str, says: Sequence[tuple[str, str]]) -> str:
    parts = [f"{sentence(town, *each)}." for each in says]
    chance.shuffle(parts)
    idle = f"Its clock was hung in {chance.randint(1500, 1890)}, and its bridge was paid for by a draper."
    return " ".join([*parts, idle])


def _recorded(town: str, says: Sequence[tuple[str, str]]) -> dict[str, Any]:
    kinds = {"lies in": "Valley", "keeps": "Animal", "has a": "Building", "sings of": "Theme"}
    return {
        "document": f"{town.lower()}.txt",
        "entities": [{"name": town, "type": "Town"}, *({"name": o, "type": kinds[p]} for p, o in says)],
        "triples": [{"subject": town, "predicate": p, "object": o, "quote": sentence(town, p, o)} for p, o in says],
    }


Told = dict[str, list[tuple[str, str]]]


def _how_many(told: Told) -> list[Asked]:
    asked = []
    for thing in KEPT:
        having = [town for town, says in told.items() if ("keeps", thing) in says]
        needs = frozenset(sentence(town, "keeps", thing) for town in having)
        asked.append(Asked("how many", f"How many towns keep {thing}?", frozenset({str(len(having))}), needs))
    return asked


def _themes(told: Told, shared: dict[str, str]) -> list[Asked]:
    asked = []
    for valley in shared:
        members = {town: says for town, says in told.items() if ("lies in", f"{valley} valley") in says}
        sung = {(town, o) for town, says in members.items() for p, o in says if p == "sings of"}
        needs = [sentence(town, "sings of", o) for town, o in sung]
        question = f"Which themes do the songs of the towns in the {valley} valley have?"
        asked.append(Asked("which themes", question, frozenset(o for _, o in sung), frozenset(needs)))
    return asked


def _in_common(told: Told, shared: dict[str, str]) -> list[Asked]:
    asked = []
    for valley, thing in shared.items():
        members = {town: says for town, says in told.items() if ("lies in", f"{valley} valley") in says}
        needs = {sentence(town, p, o) for town, says in members.items() for p, o in says if p != "sings of"}
        question = f"What do all towns in the {valley} valley have in common?"
        asked.append(Asked("in common", question, frozenset({thing}), frozenset(needs)))
    return asked


Sentences = Sequence[tuple[Any, str]]
"""What a prompt shows, each with its number."""


class GroupModel:
    """Answers ``global`` by rules, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Prompt] = []

    def __call__(self, messages: Messages) -> str:
        prompt = Prompt(messages)  # several threads ask
        self.asked.append(prompt)
        return json.dumps(RULES[prompt.name](prompt))


def _map(prompt: Prompt) -> dict[str, Any]:
    shown = [(int(n), text) for n, text in re.findall(r"^\[(\d+)\] (.+)$", prompt.data, re.MULTILINE)]
    properties = _properties(prompt.question, shown)
    points = [{"point": f"{town} {p} {o}.", "facts": [n], "score": 60} for n, town, p, o in properties]
    return {"points": points, "items": [{"name": name, "facts": [n]} for n, name in _things(prompt.question, shown)]}


def _things(question: str, shown: Sentences) -> list[tuple[Any, str]]:
    """What a question counts or lists."""
    kept = re.match(r"How many towns keep (\w+)\?", question)
    said = [(n, *found) for n, text in shown for found in _HAS.findall(text)]
    if kept:
        return [(n, town) for n, town, p, o in said if p == "keeps" and o == kept[1]]
    if question.startswith("Which themes"):
        members = _members(question, shown)
        return [(n, o) for n, town, p, o in said if p == "sings of" and town in members]
    return []


def _properties(question: str, shown: Sentences) -> list[tuple[Any, str, str, str]]:
    """What each of a group is like, where the question asks what they share."""
    if not question.startswith("What do all"):
        return []
    members = _members(question, shown)
    said = [(n, *found) for n, text in shown for found in _HAS.findall(text)]
    return [each for each in said if each[1] in members and each[2] != "sings of"]


def _members(question: str, shown: Sentences) -> set[str]:
    wanted = re.search(r"the (\w+) valley", question)
    return {town for _, text in shown for town, valley in _LIES.findall(text) if wanted and valley == wanted[1]}


def _common(properties: Iterable[tuple[Any, str, str, str]]) -> dict[str, list[Any]]:
    """What all towns that come up have, with the numbers that say so."""
    by_town: dict[str, set[str]] = {}
    numbers: dict[str, list[Any]] = {}
    for n, town, _, thing in properties:
        by_town.setdefault(town, set()).add(thing)
        numbers.setdefault(thing, []).append(n)
    shared = set.intersection(*by_town.values()) if by_town else set()
    return {thing: numbers[thing] for thing in sorted(shared)}


def _reduce(prompt: Prompt) -> dict[str, Any]:
    lines = re.findall(r"^- (.+?)((?: ?\[0\.\d+\])*)$", prompt.data, re.MULTILINE)
    shown = [(re.findall(r"0\.\d+", marks)[0], text) for text, marks in lines if marks]
    if prompt.question.startswith("How many"):
        counted = re.search(r"their number is ([\d,]+)", prompt.data)
        return _final(counted[1].replace(",", "") if counted else "0", [n for n, _ in shown])
    if prompt.question.startswith("Which"):
        return _final(", ".join(f"{text} [{n}]" for n, text in shown))
    common = _common((n, *found) for n, text in shown for found in _HAS.findall(text))
    return _final("; ".join(f"All of them: {thing} [{ns[0]}]" for thing, ns in common.items()))


def _final(answer: str, evidence: Sequence[str] = ()) -> dict[str, Any]:
    return {"evidence": list(evidence), "answer": answer, "sufficient": bool(answer)}


RULES = {"global_/map": _map, "global_/reduce": _reduce}
"""By the prompt's name: its reply."""
