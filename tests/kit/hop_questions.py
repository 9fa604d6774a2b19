"""An invented corpus of ships and those who built them, with questions of one hop and of two, for any reader.

    fleet = planted(30)
    fleet.ingest(kg, folder)
    followed = follow("Where was the builder of the Petrel born?", text)      # by reading the sentences of ``text``

Each ship and each builder has a document. A model that answers by rule ``follow``s a question through whatever a
prompt shows: what it says was brought before its eyes, and nothing of it says how well a real model reads.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from answers import cited
from corpora import put, put_jsonl

from kgplatform.client import KnowledgeGraph
from kgplatform.records import Answer

_SHIPS = re.findall(
    r"\w+",
    "Albatross Bittern Curlew Dunlin Egret Fulmar Gannet Heron Ibis Jackdaw Kestrel Lapwing Merlin Nightjar Osprey "
    "Petrel Quail Redshank Sandpiper Tern Umbrette Vireo Wagtail Xenops Yellowhammer Zosterops Avocet Bunting "
    "Cormorant Dotterel",
)
_STARTS = ("Bel", "Cor", "Dun", "Fal", "Gor", "Hal", "Jor", "Kel", "Lor", "Mar", "Nor", "Pel", "Quor", "Sel", "Tor")
_FIRST = ("Ada", "Bruno", "Clara", "Dirk", "Elsa", "Felix", "Greta", "Henk", "Ines", "Jonas")
_CARGO = ("salt", "timber", "wool", "herring", "slate", "barley", "copper", "wine", "flax", "lamp oil")
_TOLD: dict[str, re.Pattern[str]] = {
    "builder": re.compile(r"[Tt]he (?P<subject>[A-Z]\w+) was built by (?P<value>[A-Z]\w+ [A-Z]\w+)"),
    "launched": re.compile(r"[Tt]he (?P<subject>[A-Z]\w+) was launched in (?P<value>\d{4})"),
    "born": re.compile(r"(?P<subject>[A-Z]\w+ [A-Z]\w+) was born in (?P<value>[A-Z]\w+)"),
}
_ASKED = (
    (re.compile(r"[Ww]here was the builder of the ([A-Z]\w+) born"), ("builder", "born")),
    (re.compile(r"[Ww]ho built the ([A-Z]\w+)"), ("builder",)),
    (re.compile(r"year was the ([A-Z]\w+) launched"), ("launched",)),
    (re.compile(r"[Ww]here was ([A-Z]\w+ [A-Z]\w+) born"), ("born",)),
)
ASKS = {
    "builder": "Who built the {}?",
    "launched": "In which year was the {} launched?",
    "born": "Where was {} born?",
}
"""A question for each relation, to be filled with its subject."""


@dataclass(frozen=True, slots=True)
class Said:
    """A statement as a text has it, word by word."""

    relation: str
    subject: str
    value: str
    words: str


@dataclass(frozen=True, slots=True)
class Followed:
    """What a text says on the way to an answer; ``wanted``: the relation and the subject that it lacks, if any."""

    said: tuple[Said, ...]
    wanted: tuple[str, str] | None

    @property
    def answer(self) -> str:
        """Empty where something is missing."""
        return "" if self.wanted or not self.said else self.said[-1].value

    @property
    def question(self) -> str:
        """What would have to be asked next."""
        return ASKS[self.wanted[0]].format(self.wanted[1]) if self.wanted else ""


def hops(question: str) -> tuple[str, tuple[str, ...]]:
    """What ``question`` is about, and the relations that lead to its answer; ``("", ())`` where it says neither."""
    found = next(((m[1], path) for pattern, path in _ASKED if (m := pattern.search(question))), None)
    return found or ("", ())


def told(text: str) -> list[Said]:
    """All statements of ``text``."""
    return [
        Said(relation, found["subject"], found["value"], found[0])
        for relation, pattern in _TOLD.items()
        for found in pattern.finditer(text)
    ]


def follow(question: str, text: str) -> Followed:
    """``question`` as far as ``text`` leads; where it contradicts itself, as it says most often, and first."""
    subject, relations = hops(question)
    known = told(text)
    way: list[Said] = []
    for relation in relations:
        here = [each for each in known if (each.relation, each.subject) == (relation, subject)]
        if not here:
            return Followed(tuple(way), (relation, subject))
        value, _ = Counter(each.value for each in here).most_common(1)[0]
        way.append(next(each for each in here if each.value == value))
        subject = value
    return Followed(tuple(way), None)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, the name or year that answers it, and all others of its kind."""

    text: str
    answer: str
    rivals: frozenset[str]

    def is_right(self, answer: Answer) -> bool:
        """It is said, nothing else of its kind is, and a citation leads to words that have it."""
        words = set(re.findall(r"\w+", answer.text or ""))
        return (
            self.answer in words and not words & self.rivals and any(self.answer in quote for _, quote in cited(answer))
        )


@dataclass(frozen=True, slots=True)
class Fleet:
    """Texts by file name, what an extractor would read from them, and the questions."""

    texts: dict[str, str]
    recording: list[dict[str, Any]]
    questions: tuple[Asked, ...]
    ships: tuple[str, ...]
    builders: tuple[str, ...]
    places: tuple[str, ...]

    def ingest(self, kg: KnowledgeGraph, folder: Path) -> None:
        """Put into the graph."""
        files = put(folder / "texts", self.texts)
        kg.ingest(files, recorded=put_jsonl(folder / "recording.jsonl", self.recording), mode="flexible")


def planted(count: int) -> Fleet:
    """``count`` ships, at most thirty, as many builders, and a question about each ship or its builder."""
    ships = tuple(_SHIPS[:count])
    chance = random.Random(count)
    builders = tuple(f"{_FIRST[n % 10]} {_STARTS[n % 15]}{'vik' if n < 15 else 'stead'}" for n in range(count))
    places = tuple(chance.sample([start + end for start in _STARTS for end in ("holm", "mouth", "wick")], count))
    years = tuple(str(1801 + 3 * n) for n in range(count))
    texts, recording, questions = {}, [], []
    for n, (ship, builder, place, year) in enumerate(zip(ships, builders, places, years, strict=True)):
        lines = (f"The {ship} was built by {builder}.", f"The {ship} was launched in {year}.")
        texts[f"{ship}.txt"] = " ".join([*lines, *_more(ship, n)])
        known = [_fact(lines[0], ship, builder, "built"), _fact(lines[1], ship, year, "launched")]
        triples = [{"subject": ship, "predicate": "built by", "object": builder}]
        recording.append(_recorded(f"{ship}.txt", {ship: "Product", builder: "Person"}, triples, known))
        born = f"{builder} was born in {place}."
        texts[f"{builder}.txt"] = " ".join([born, *_life(builder, n)])
        triples = [{"subject": builder, "predicate": "born in", "object": place}]
        recording.append(
            _recorded(
                f"{builder}.txt", {builder: "Person", place: "Place"}, triples, [_fact(born, builder, place, "born")]
            )
        )
        questions.append(_question(n, ship, builder, place, year, places, years))
    return Fleet(texts, recording, tuple(questions), ships, builders, places)


def _question(
    n: int, ship: str, builder: str, place: str, year: str, places: Sequence[str], years: Sequence[str]
) -> Asked:
    """Every second one has two hops."""
    elsewhere = frozenset(places) - {place}
    if n % 2 == 0:
        return Asked(f"Where was the builder of the {ship} born?", place, elsewhere)
    if n % 4 == 1:
        return Asked(ASKS["launched"].format(ship), year, frozenset(years) - {year})
    return Asked(ASKS["born"].format(builder), place, elsewhere)


def _more(ship: str, n: int) -> list[str]:
    return [
        f"For many years she carried {_CARGO[n % 10]} and {_CARGO[(n + 3) % 10]} along the coast and seldom lay still.",
        f"Her crew of {6 + n % 5} slept in hammocks, and painted the {ship} each spring in the same dark green.",
        "What became of her bell is not known, though two inns claim to have it.",
    ]


def _life(builder: str, n: int) -> list[str]:
    return [
        f"As a child {builder.split()[0]} drew hulls with chalk on every door of the street, to the dismay of all.",
        f"The yard of {builder} had {3 + n % 4} slips, a forge and a loft for sails, and was closed each winter.",
        "The tools were sold after the great flood, and nobody kept the plans.",
    ]


def _fact(text: str, *elements: str) -> dict[str, Any]:
    return {"text": text, "key_elements": list(elements)}


def _recorded(
    name: str, kinds: dict[str, str], triples: list[dict[str, str]], facts: list[dict[str, Any]]
) -> dict[str, Any]:
    entities = [{"name": entity, "type": kind} for entity, kind in kinds.items()]
    return {"document": name, "entities": entities, "triples": triples, "facts": facts}
