"""Kept answers after their documents have changed: what is said of each sentence is what happened to it."""

import random
import re
from pathlib import Path

import pytest
from conftest import opened
from corpora import put_jsonl

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.explore.recheck import summary
from kgplatform.extract.schema import Schema
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.testing import ScriptedChat

PLACES = ("Arbroath", "Bergen", "Cadiz", "Dublin")
_SAID = (
    "The lighthouse of {} was designed by Thomas Stevenson.",
    "Ships from {} carried herring to the Baltic ports.",
    "The mayor of {} opened a library near the harbour.",
    "In {} the old customs house became a school.",
    "Nobody in {} remembers the storm that sank the ferry.",
)
EDITS = (("Thomas", "Robert"), ("herring", "timber"), ("library", "museum"), ("school", "theatre"), ("storm", "flood"))


def edited(sentence: str) -> str:
    """The sentence with one word changed."""
    return next(sentence.replace(old, new) for old, new in EDITS if old in sentence)


class Files:
    """A folder of documents, one of them for each place: sentences in order, that somebody works on."""

    def __init__(self, folder: Path, chance: random.Random) -> None:
        self.folder, self.chance = folder, chance
        folder.mkdir(parents=True)
        self.first = {place: [said.format(place) for said in _SAID] for place in PLACES}
        self.now = {place: list(said) for place, said in self.first.items()}

    def write(self) -> None:
        for old in self.folder.iterdir():
            old.unlink()
        for name, said in self.now.items():
            (self.folder / f"{name}.txt").write_text("\n\n".join(said), "utf-8")

    def change(self) -> None:
        """One of the things that happen to documents."""
        name = self.chance.choice(list(self.now))
        said = self.now[name]
        at = self.chance.randrange(len(said))
        match self.chance.choice(("edit", "drop", "move", "insert", "remove", "return", "rename")):
            case "edit":
                said[at] = edited(said[at]) if said[at] in self.first.get(name.removesuffix(" 2"), ()) else said[at]
            case "drop" if len(said) > 2:
                del said[at]
            case "move":
                said.insert(0, said.pop(at))
            case "insert":
                said.insert(0, f"Number {self.chance.randrange(10**9)} was painted on a wall.")
            case "remove" if len(self.now) > 1:
                del self.now[name]
            case "return":
                self.now |= {place: list(said) for place, said in self.first.items()}
            case "rename" if not name.endswith(" 2"):
                self.now[f"{name} 2"] = self.now.pop(name)

    def expected(self, place: str, sentence: str, start: int) -> tuple[str, str | None]:
        """What became of a sentence of the first text of ``place``."""
        texts = {name: "\n\n".join(said) for name, said in self.now.items()}
        text = texts.get(place)
        if text is None:  # another document may have all of its first text
            first = "\n\n".join(self.first[place])
            return ("moved", sentence) if first in texts.values() else ("lost", None)
        if sentence in text:
            return ("stands" if text[start:].startswith(sentence) else "moved"), sentence
        return ("changed", edited(sentence)) if edited(sentence) in text else ("lost", None)


@pytest.mark.parametrize("seed", range(3))
def test_what_is_said_of_a_sentence_is_what_happened_to_it(kg: KnowledgeGraph, tmp_path: Path, seed: int) -> None:
    files = Files(tmp_path / "texts", random.Random(seed))
    files.write()
    kg.ingest([files.folder], extractor="local")
    questions = (
        "Who designed the lighthouse of Arbroath?",
        "What did ships from Bergen carry?",
        "What became a school in Cadiz?",
        "Who remembers the storm in Dublin?",
    )
    for question in questions:
        assert kg.ask(question, keep=True).run
    assert {each.state for each in kg.recheck()} == {"stands"}
    told = set()
    for _ in range(3):
        for _ in range(5):
            files.change()
        files.write()
        kg.ingest([files.folder], extractor="local", prune=True)
        answers = kg.recheck()
        assert [each.question for each in answers] == [*reversed(questions)]
        for each in (sentence for answer in answers for sentence in answer.sentences):
            state, now = files.expected(each.then.title, each.then.text, each.then.start)
            assert (each.state, each.now and each.now.text) == (state, now), each
            told.add(state)
    assert len(told) > 2


SCHEMA = Schema.from_dict(
    {
        "name": "works",
        "entities": ["Person", "Organization"],
        "relations": {"led_by": {"single": True}},
        "attributes": {},
    }
)
LED = {
    "A": ("Acme was led by Ada Holt from 1990 to 1999.", "Ada Holt"),
    "B": ("Acme was led by Bob Ray from 1995 to 2005.", "Bob Ray"),
}


def lead(kg: KnowledgeGraph, folder: Path, *names: str) -> None:
    rows = [
        {
            "document": name,
            "entities": [{"name": "Acme", "type": "Organization"}, {"name": LED[name][1], "type": "Person"}],
            "triples": [{"subject": "Acme", "predicate": "led_by", "object": LED[name][1]}],
        }
        for name in names
    ]
    recorded = put_jsonl(folder / "led.jsonl", rows)
    kg.ingest([{"text": LED[name][0], "title": name, "id": name} for name in names], recorded=recorded, schema=SCHEMA)


def test_a_contradiction_a_better_passage_and_an_answer_anew(store: Store, tmp_path: Path) -> None:
    def cites(messages: Messages) -> str:
        shown = messages[-1]["content"]
        found = re.search(r"\[(\d+\.\d+)\] Perth" if "Tay?" in shown else r"\[(\d+\.\d+)\] Acme", shown)
        number = found[1] if found else "1.1"
        return f'{{"evidence": ["{number}"], "answer": "So it is [{number}].", "sufficient": true}}'

    kg = opened(store, tmp_path, ScriptedChat(cites))
    assert summary(kg.recheck()).startswith("No answers are kept")
    lead(kg, tmp_path, "A")
    kg.ingest([{"text": "Perth stands on a river.", "title": "Perth", "id": "Perth"}])
    first = kg.ask("Who led Acme?", keep=True)
    kg.chat().ask("Which bridges cross the river Tay?", keep_failed=False)
    lead(kg, tmp_path, "B")
    kg.ingest([{"text": "Two bridges cross the river Tay, and both carry trains.", "title": "Tay", "id": "Tay"}])
    better, contradicted = kg.recheck()
    assert (contradicted.state, better.state) == ("contradicted", "better")
    assert contradicted.sentences[0].against is not None
    assert "Bob Ray" in contradicted.sentences[0].against.text
    assert better.better is not None
    assert better.better.title == "Tay"
    told = "Of 2 kept answers, 1 is contradicted, 1 could be answered better."
    assert summary((better, contradicted)) == told
    kg.remove(["A"])
    (lost,) = kg.recheck(first.run or "", ask_again=True)
    assert lost.state == "lost"
    assert lost.again is not None
    assert [each.title for each in lost.again.citations] == ["B"]
    with pytest.raises(InputError, match="no saved run 'x'"):
        kg.recheck(["x"])
    assert [each.question for each in kg.recheck()].count("Who led Acme?") == 1, "the last answer to each question"
