"""What the window allows ReadAgent to read again (appendix I), and the compression rate at the last prompt."""

import random
import re
from typing import Any

import pytest
from readagent_runs import Rereader, ask, cites, details, document_ids, fill, in_lines, page, pages, said
from texts import lines

from kgplatform.client import KnowledgeGraph
from kgplatform.readers.readagent.reader import Options, make_brief
from kgplatform.readers.window import cost, tokens
from kgplatform.records import Answer
from kgplatform.search.evidence import Evidence

QUESTION = "Who kept the lamp?"
PLACES = ("tower", "pier", "mill", "chapel", "quarry", "market", "bridge", "orchard", "forge")
WINDOW = 2000
ROOM = make_brief(QUESTION, Options(window_tokens=WINDOW)).room


def sized(*shares: float) -> list[tuple[str, str]]:
    """Pages that take these shares of the room, less a tenth of it for gists and tags."""
    paragraph = tokens(f"[1.10] {lines(1, 'mill')}") + 1
    return [
        (f"Page about the {place}.\n\n{lines(round(share * 0.9 * ROOM / paragraph), place)}", f"About the {place}.")
        for share, place in zip(shares, PLACES, strict=False)
    ]


def words(count: int, word: str) -> str:
    return " ".join([word] * count)


ROOMS = sized(0.1, 0.4, 0.35, 0.5, 0.1)
LARGE = sized(1.5, 1.6)
TENFOLD = [(f"{words(99, place)}.\n{place}", words(15, place)) for place in (*PLACES, "ferry")]


@pytest.fixture(scope="module")
def evidence(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """Several documents, each remembered by itself."""
    chance = random.Random(0)
    by_chance = sized(*(chance.uniform(0.05, 1.1) for _ in range(9)))
    texts = {"Rooms.txt": ROOMS, "Large.txt": LARGE, "Tenfold.txt": TENFOLD, "Chance.txt": by_chance}
    return fill(shared_kg.store, tmp_path_factory.mktemp("window"), texts, passage_tokens=200)


def ask_about(evidence: Evidence, name: str, model: Rereader, question: str = QUESTION, **options: Any) -> Answer:
    """The answer from one document alone, in the small window."""
    documents = (document_ids(evidence)[name],)
    return ask(evidence, model, question, **{"documents": documents, "window_tokens": WINDOW} | options)


@pytest.mark.parametrize(
    ("wanted", "expanded", "refused"), [([2, 1, 3, 4], [1, 2], [3, 4]), ([3, 2, 1, 0], [2, 3], [1, 0])]
)
def test_by_importance_stops_at_the_first_page_that_does_not_fit(
    evidence: Evidence, wanted: list[int], expanded: list[int], refused: list[int]
) -> None:
    model = Rereader(lookup_ordered=[pages(*wanted)], answer=[cites("No.")])
    done = ask_about(evidence, "Rooms", model, by_importance=True)
    assert model.asked[1].full == expanded
    assert done.counts["refused.no room"] == len(refused), "those after it are not tried"
    listed = ", ".join(f"{number} (no room)" for number in refused)
    assert details(done, "read pages") == [f"pages {wanted[0]}, {wanted[1]}; refused: {listed}"]
    assert "in the order of their importance" in model.asked[0].user


def test_in_plain_parallel_what_does_not_fit_is_left_out_and_what_comes_after_it_is_tried(evidence: Evidence) -> None:
    model = Rereader(lookup=[pages(2, 1, 3, 4)], answer=[cites("No.")])
    done = ask_about(evidence, "Rooms", model)
    assert model.asked[1].full == [1, 2, 4]
    assert details(done, "read pages") == ["pages 2, 1, 4; refused: 3 (no room)"]
    assert (done.counts["refused.no room"], done.counts["pages.looked_up"]) == (1, 3)


def test_a_sequential_look_up_ends_early_where_the_next_page_does_not_fit(evidence: Evidence) -> None:
    model = Rereader(next=[page(1), page(2), page(3), page(4)], answer=[cites("No.")])
    done = ask_about(evidence, "Rooms", model, lookup="sequential")
    assert model.kinds == ["next", "next", "next", "answer"]
    assert model.asked[-1].full == [1, 2]
    assert details(done, "read pages")[-1] == "no page; refused: 3 (no room)"


@pytest.mark.parametrize(
    ("options", "replies"),
    [({}, {"lookup": [pages(1, 0)]}), ({"lookup": "sequential"}, {"next": [page(1)]}), ({"lookup": "bm25"}, {})],
)
def test_a_page_that_does_not_fit_by_itself_is_cut_and_that_is_said(
    evidence: Evidence, options: dict[str, Any], replies: dict[str, list[str]]
) -> None:
    model = Rereader(answer=[cites("About the pier.")], **replies)
    done = ask_about(evidence, "Large", model, "Who kept the pier?", **options)
    shown = model.of("answer")[0].plain(1)
    assert in_lines(LARGE[1][0]).startswith(shown)
    assert 0.5 * WINDOW < cost(model.of("answer")[0].messages) <= 0.9 * WINDOW
    (cut,) = re.findall(rf"page 1 cut to ([\d,]+) of {len(LARGE[1][0]):,} characters", details(done, "read pages")[-1])
    assert shown == in_lines(LARGE[1][0][: int(cut.replace(",", ""))])
    assert (done.counts["cut.page"], done.counts["pages.looked_up"]) == (1, 1)
    assert done.evidence.passages
    (read,) = [each for each in done.trace if each.name == "read pages"]
    assert read.passages == tuple(each.id for each in done.evidence.passages), "none of what was cut off"
    assert all(in_lines(each.text) in shown for each in done.evidence.passages)
    assert [each.end - each.start for each in done.evidence.passages] == [len(p.text) for p in done.evidence.passages]


def test_every_prompt_stays_within_the_window(evidence: Evidence) -> None:
    chance = random.Random(0)
    wanted = chance.sample(range(9), 9)
    ways: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({}, {"lookup": [pages(*wanted)]}),
        ({"by_importance": True}, {"lookup_ordered": [pages(*wanted)]}),
        ({"lookup": "sequential", "interim": True}, {"next": lambda asked: page(chance.randrange(-1, 12))}),
        ({"lookup": "nearest"}, {}),
        ({"lookup": "bm25"}, {}),
    ]
    for options, rules in ways:
        model = Rereader(answer=said("word " * 2000), **rules)
        ask_about(evidence, "Chance", model, "Who kept the tower by the sea?", pages=9, **options)
        assert max(cost(each.messages) for each in model.asked) <= 0.9 * WINDOW
        assert "answer" in model.kinds


def test_the_compression_rate_of_the_hand_example(evidence: Evidence) -> None:
    """1,000 words in ten pages, 150 of gists; a page of 100 in place of its 15 leaves 235 in the prompt: 76.5 %."""
    wide = {"window_tokens": 8192}
    done = ask_about(evidence, "Tenfold", Rereader(lookup=[pages(4)], answer=[cites("No.")]), **wide)
    assert (done.counts["words.in_context"], done.counts["words.of_text"]) == (235, 1000)
    assert details(done, "answer") == [
        "answered, 0 citations; 235 of 1,000 words in the prompt, compression rate 76.5 %"
    ]
    alone = ask_about(evidence, "Tenfold", Rereader(answer=[cites("No.")]), lookup="none", **wide)
    assert details(alone, "answer") == [
        "answered, 0 citations; 150 of 1,000 words in the prompt, compression rate 85.0 %"
    ]
    best = ask_about(
        evidence, "Tenfold", Rereader(answer=[cites("No.")]), "Is it a quarry?", lookup="bm25", pages=1, **wide
    )
    assert details(best, "answer") == [
        "answered, 0 citations; 100 of 1,000 words in the prompt, compression rate 90.0 %"
    ]
