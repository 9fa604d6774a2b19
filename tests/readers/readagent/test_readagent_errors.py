"""ReadAgent with a model that errs by chance: a page that is not there, prose for JSON, labels, an empty reply."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Iterator

import pytest
from readagent_runs import Asked, Rereader, ask, fill

from kgplatform.neo4j.store import Connection, Store
from kgplatform.retrieve.evidence import Evidence

PLACES = ("tower", "pier", "mill", "chapel", "quarry", "market", "bridge", "orchard", "forge")
NINE = [(f"The {place} was kept by Mara {place.title()}.", f"About the {place}.") for place in PLACES]
QUESTIONS = 27


def listed(pages: list[int], asked: Asked, chance: random.Random, share: float) -> str:
    """The pages as they were asked for, or with an error."""
    is_json = "JSON" in asked.system
    names = ", ".join(map(str, pages))
    right = (
        json.dumps({"reasoning": "Its gist says so.", "pages": pages})
        if is_json
        else f"I want to look up Page [{names}]"
    )
    errors = (
        json.dumps({"pages": [77]}) if is_json else "I want to look up Page [77] to see.",
        f"The gist of Page [0] is of another place, so I want to look up Page [{names}] to see who kept it.",
        f"### Pages\n\nPage [{pages[0]}] to see who kept it.\n\nThe gist of page 8 is of no use.",
        f'Sure!\n```json\n{{"Pages": "Page {names}"}}\n```',
        "",
    )
    return chance.choice(errors) if chance.random() < share else right


def worded(answer: str, asked: Asked, chance: random.Random, share: float) -> str:
    """The answer as it was asked for, or in another form."""
    right = json.dumps({"reasoning": "The page says so.", "answer": answer}) if "JSON" in asked.system else answer
    errors = (
        f"Answer: {answer}",
        f"### Final Answer\n\n**{answer}**",
        f'Here it is:\n```json\n{{"Answer": "{answer}", "sufficient": "yes"}}\n```',
        f"<think>Mara Pier?</think>\n**Antwort:** {answer}",
        "",
    )
    return chance.choice(errors) if chance.random() < share else right


def model(seed: int, share: float) -> Rereader:
    """Knows the page by its gist, and who it was by the page; ``share`` of its replies have an error."""
    chance = random.Random(seed)

    def place(asked: Asked) -> str:
        found = re.search(r"kept the (\w+)\?", asked.user)
        return found[1] if found else ""

    def lookup(asked: Asked) -> str:
        pages = [n for n, text in asked.memory.items() if place(asked) in text]
        return listed(pages, asked, chance, share)

    def answer(asked: Asked) -> str:
        found = re.search(rf"The {place(asked)} was kept by (Mara \w+)", asked.data)
        return worded(found[1], asked, chance, share) if found else "[unanswerable]"

    return Rereader(lookup=lookup, answer=answer)


@pytest.fixture(scope="module")
def nine(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    with Store(neo4j_server) as store:
        yield fill(store, tmp_path_factory.mktemp("errors"), {"Keepers.txt": NINE})


def right(evidence: Evidence, share: float) -> float:
    """The share of questions whose answer is right to the letter."""
    hits = 0
    for number in range(QUESTIONS):
        place = PLACES[number % len(PLACES)]
        done = ask(evidence, model(number, share), f"Who kept the {place}?")
        hits += re.sub(r"[\s.]*(\[\d+\])*$", "", done.text or "") == f"Mara {place.title()}"
    return hits / QUESTIONS


@pytest.mark.parametrize(("share", "least"), [(0.0, 1.0), (0.3, 0.95)])
def test_a_model_that_errs_is_read_all_the_same(nine: Evidence, share: float, least: float) -> None:
    assert right(nine, share) >= least
