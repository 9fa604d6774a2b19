"""No prompt leaves the window, and nothing is cut in silence: hubs, long lists of names and passages."""

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest
from answers import steps_of
from conftest import wipe
from graphreader_runs import Asked, Walker, ask, go, plan, proposals, reads, step, walked

from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.readers.window import cost
from kgplatform.search.evidence import Evidence
from kgplatform.text import count_tokens

WINDOW = 4096
QUESTION = "Which of the streets leads to the old harbour?"
PAPER = {"preset": "paper", "window_tokens": 4096}
"""All names, all pages; this window for prompt and reply."""
STREET, MARKET, SCROLL = "Anchor Street", "Zebra Market", "Long Scroll"
NAMES = 3000
_SOUNDS = "ba cor dan el fir gal hem is jor kan lu mer nor or pel quin ros san tor ul ver wen xan yor zel"


def invented(count: int) -> list[str]:
    """Different names of two words."""
    chance, syllables = random.Random(1), _SOUNDS.split()
    names: dict[str, None] = {}
    while len(names) < count:
        words = ("".join(chance.choices(syllables, k=chance.randint(2, 4))).capitalize() for _ in range(2))
        names[" ".join(words)] = None
    return list(names)


OTHERS = invented(NAMES - 3)
LONG_TEXT = " ".join(
    f"Line {n} of the scroll tells of {name}, who came to the harbour." for n, name in enumerate(OTHERS)
)
WRITE = (
    "UNWIND $passages AS row MERGE (d:Document {id: row.title}) SET d.name = row.title, d.uri = row.title "
    "MERGE (c:Chunk {id: row.id}) SET c.name = row.id, c.text = row.text, c.index = row.index, c.start = 0, "
    "c.end = size(row.text) MERGE (c)-[:FROM_DOCUMENT]->(d) WITH c, row UNWIND row.facts AS fact "
    "CREATE (f:Fact {id: fact.id, kind: 'atomic', text: fact.text})-"
    "[:FROM_CHUNK {start: fact.start, end: fact.start + 1, found: true}]->(c) WITH f, fact "
    "UNWIND fact.about AS name MERGE (k:KeyElement {name: name}) "
    "ON CREATE SET k.id = name CREATE (f)-[:MENTIONS]->(k)"
)


def passage(id_: str, facts: list[tuple[str, list[str]]], text: str = "A short text.") -> dict[str, Any]:
    told = [{"id": f"{id_}-{n}", "text": text, "about": about, "start": n} for n, (text, about) in enumerate(facts)]
    return {"id": id_, "title": "atlas", "index": int(re.sub(r"\D", "", id_) or 0), "text": text, "facts": told}


def passages() -> list[dict[str, Any]]:
    """A street with 700 neighbours, a market with 900 facts in 30 passages, a scroll whose passage is far too long."""
    near = [OTHERS[start : start + 7] for start in range(0, 700, 7)]
    street = [
        passage(f"s{n}", [(f"{STREET} crosses {', '.join(names)}.", [STREET, *names])]) for n, names in enumerate(near)
    ]
    stalls = [
        [(f"Stall {30 * n + m} of {MARKET} sells goods of kind {30 * n + m}.", [MARKET]) for m in range(30)]
        for n in range(30)
    ]
    market = [passage(f"m{n}", facts) for n, facts in enumerate(stalls)]
    scroll = passage("l1", [(f"{SCROLL} is long.", [SCROLL])], LONG_TEXT)
    rest = [passage(f"r{n}", [(f"{name} is a street.", [name])]) for n, name in enumerate(OTHERS[700:])]
    return [*street, *market, scroll, *rest]


@pytest.fixture(scope="module")
def evidence(neo4j_server: Connection) -> Iterator[Evidence]:
    """Written by hand, so that it is as large as it has to be."""
    with Store(neo4j_server) as store:
        wipe(store)
        rows = passages()
        for start in range(0, len(rows), 500):
            store.run_statement(WRITE, {"passages": rows[start : start + 500]}, write=True, timeout=120, limit=1)
        yield Evidence(store, HashEmbedder(64))
        wipe(store)


def check(model: Walker) -> None:
    """All prompts stay in the window, by the reader's count and by the plainer one of the platform."""
    for asked in model.asked:
        assert cost(asked.messages) <= 0.9 * WINDOW
        assert sum(count_tokens(each["content"]) + 4 for each in asked.messages) <= 0.9 * WINDOW


def wordy(name: str) -> Walker:
    """A model that writes as much as it can, and has to be asked again on every second page."""
    seen: set[str] = set()
    long = "It is said that the harbour lies to the north of the long street. " * 200

    def first_garbage(asked: Asked, good: str) -> str:
        known, _ = asked.data in seen, seen.add(asked.data)
        return good if known or len(seen) % 2 else "I do not know."

    return Walker(
        plan=plan(long),
        nodes=lambda asked: proposals({name: 100} if name in asked.data.splitlines() else {}),
        facts=lambda asked: first_garbage(asked, step("stop_and_read_neighbor", long)),
        chunk=lambda asked: first_garbage(asked, step("search_more", long)),
        neighbours=lambda asked: first_garbage(asked, go()),
    )


def test_all_names_are_shown_in_as_many_prompts_as_they_need(evidence: Evidence) -> None:
    model = wordy(SCROLL)
    done = ask(evidence, model, QUESTION, nodes=1, calls=1, **PAPER)
    batches = [each.data.splitlines() for each in model.of("nodes")]
    assert len(batches) > 3
    assert sorted(name for batch in batches for name in batch) == sorted([*OTHERS, STREET, MARKET, SCROLL])
    steps = steps_of(done, "initial nodes")
    assert len(steps) == len(batches), "a call for each"
    assert f"; {NAMES:,} nodes shown; begins at {SCROLL} (100)" in steps[-1].detail
    assert sum(len(each.queries) for each in steps) == NAMES // 1000
    check(model)


def test_the_neighbours_of_a_hub_are_paged_and_one_function_call(evidence: Evidence) -> None:
    model = wordy(STREET)
    done = ask(evidence, model, QUESTION, nodes=1, **PAPER)
    shown = dict.fromkeys(name for each in model.of("neighbours") for name in each.data.splitlines() if name in OTHERS)
    assert set(shown) == set(OTHERS[:700])
    pages = [name for name in walked(done) if name.startswith("neighbours, page")]
    assert pages == [f"neighbours, page {n} of {len(pages) + 1}" for n in range(1, len(pages) + 1)]
    assert pages
    assert done.counts["neighbours.termination"] == 1
    assert f"(page {len(pages) + 1} of {len(pages) + 1};" in model.of("neighbours")[-1].user
    check(model)


def test_the_facts_of_a_node_are_paged_by_whole_groups_and_one_function_call(evidence: Evidence) -> None:
    model = wordy(MARKET)

    def last_and_first(asked: Asked) -> str:
        here = asked.passages_shown
        return step("stop_and_read_neighbor") if "Stall 0 " in asked.data else reads(here[-1], here[0])

    model.rules["facts"] = last_and_first
    done = ask(evidence, model, QUESTION, nodes=1, calls=50, **PAPER)
    prompts = list({each.data: each for each in model.of("facts")}.values())
    facts = [line for each in prompts for line in each.numbers]
    assert len(facts) == len(set(facts)) == 900
    groups = [each.passages_shown for each in prompts]
    assert len([number for group in groups for number in group]) == 30, "no group stands on two pages"
    chosen = [number for group in groups[1:] for number in dict.fromkeys((group[-1], group[0]))]
    read = list(dict.fromkeys(each.passages_shown[0] for each in model.of("chunk")))
    assert read == chosen, "all pages' passages, in their order"
    assert done.counts["facts.read_chunk"] == 1
    assert "900 facts of 30 passages shown" in steps_of(done, "read_chunk")[0].detail
    check(model)


def test_a_group_that_is_larger_than_a_page_is_split(evidence: Evidence) -> None:
    model = wordy(MARKET)
    done = ask(evidence, model, QUESTION, nodes=1, calls=1, preset="paper", window_tokens=2432)
    assert len({line for each in model.of("facts") for line in each.numbers}) == 900
    assert done.counts["facts.stop_and_read_neighbor"] == 1
    assert all(cost(each.messages) <= 0.9 * 2432 for each in model.asked)


def test_a_passage_that_is_larger_than_the_window_is_read_in_parts(evidence: Evidence) -> None:
    model = wordy(SCROLL)
    model.rules["facts"] = lambda asked: reads(1)
    done = ask(evidence, model, QUESTION, nodes=1, calls=500, **PAPER)
    parts = list({each.data: each for each in model.of("chunk")}.values())
    assert len(parts) > 10
    assert " ".join(said for part in parts for said in part.numbers) == LONG_TEXT
    assert done.counts["chunk.search_more"] == len(parts), "a function call each"
    assert ", sentences 1 to " in steps_of(done, "search_more")[0].detail
    assert len(done.evidence.passages) == 1
    check(model)


# Not the paper's sizes.


def test_the_start_takes_two_calls_whatever_the_size_of_the_graph(evidence: Evidence) -> None:
    model = wordy(STREET)
    done = ask(evidence, model, f"Which street crosses {STREET} near {MARKET}?", nodes=1, calls=1)
    assert [each.kind for each in model.asked][:3] == ["plan", "nodes", "facts"]
    names = model.of("nodes")[0].data.splitlines()
    assert names[:2] == [STREET, MARKET], "those that the question names"
    assert len(names) <= 100
    asked = model.of("nodes")[0].user
    assert asked.index(STREET) < asked.index("Question: "), "names first, question last"
    assert done.trace[1].queries


def test_a_hub_is_bounded_in_calls_and_told(evidence: Evidence) -> None:
    model = wordy(MARKET)
    bounds: dict[str, Any] = {"nodes": 1, "reading_tokens": 600, "calls": 1}
    done = ask(evidence, model, f"What does {MARKET} sell?", **bounds, list_pages=2)
    shown = re.search(
        r"(\d+) facts of the nearest (\d+) of 30 passages shown", steps_of(done, "stop_and_read_neighbor")[0].detail
    )
    assert shown
    assert len({line for each in model.of("facts") for line in each.numbers}) == int(shown[1]) < 900
    assert len({each.data for each in model.of("facts")}) == 2
    model = wordy(STREET)
    done = ask(evidence, model, f"Where does {STREET} lead?", nodes=1, reading_tokens=600, list_pages=1)
    (last,) = steps_of(done, "termination")
    assert re.search(r"at Anchor Street: the nearest \d+ of 700 neighbours", last.detail)
    assert len({each.data for each in model.of("neighbours")}) == 1
