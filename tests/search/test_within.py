"""A search with a condition finds the same by the indexes of the whole graph as by comparing all that fits."""

from dataclasses import replace

import pytest

from kgplatform.client import KnowledgeGraph
from kgplatform.records import SearchResult
from kgplatform.search import search as module
from kgplatform.sources.objects import Text

SHIPS = ("Great Eastern", "Titanic", "Beagle", "Endurance", "Fram", "Vasa", "Argo")
PEOPLE = ("Robert Halpin", "Edward Smith", "Robert FitzRoy", "Frank Worsley", "Otto Sverdrup")
ROUTES = ("all", "bm25", "dense", "hybrid", "passage", "triple")


@pytest.fixture
def ships(kg: KnowledgeGraph) -> KnowledgeGraph:
    """280 documents; those with an even number are of the sea, and the last ten alone speak of cats."""
    texts = [
        Text(
            f"{PEOPLE[n % 5]} founded the {SHIPS[n % 7]} Company. Its file is RX-{n:04}/7."
            if n < 270
            else f"The cat number {n} sleeps on the warm roof.",
            f"Log {n}",
            id=f"log-{n}",
            metadata={"sea": n % 2 == 0, "number": n},
        )
        for n in range(280)
    ]
    kg.ingest(texts, extractor="local")
    return kg


def found(graph: KnowledgeGraph, question: str, route: str, where: str) -> SearchResult:
    result = graph.search(question, route, 5, where=where)
    assert all(place.document for fact in result.facts for place in fact.citations)
    return replace(result, seconds=0)


def test_the_ways_agree(ships: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = [
        ("Who founded the Beagle Company?", "sea"),
        ("RX-0042/7", "sea"),
        ("RX-0043/7", "sea"),
        ("Who founded the Argo Company?", "not number = 3"),
        ("Who founded the Vasa Company?", "number >= 240"),  # few of those near it fit
        ("Which cat sleeps?", "number < 200"),
    ]
    ways: list[dict[tuple[str, str, str], SearchResult]] = []
    for most in (10**6, 0):
        monkeypatch.setattr(module, "_MOST", most)
        ways.append({(*each, route): found(ships, each[0], route, each[1]) for each in asked for route in ROUTES})
    for key, result in ways[0].items():
        assert result.passages or result.facts or (key[0] == "Which cat sleeps?" and key[2] == "bm25"), key
        ids = {int(each.title.removeprefix("Log ")) for each in result.passages}
        ids |= {int(each.title.removeprefix("Log ")) for fact in result.facts for each in fact.citations}
        fits = {"sea": lambda n: n % 2 == 0, "number >= 240": lambda n: n >= 240, "number < 200": lambda n: n < 200}
        assert all(fits.get(key[1], lambda n: n != 3)(each) for each in ids), key
        other = ways[1][key]
        if key[2] in ("dense", "triple"):
            scores = [each.score for each in (*result.passages, *result.facts)]
            assert scores == [each.score for each in (*other.passages, *other.facts)], key
        elif (
            key[1] == "sea"
        ):  # of passages with equally many words, which are cut off depends on how many are asked for
            assert [each.title for each in result.passages[:1]] == [each.title for each in other.passages[:1]], key


def test_exact_words_come_first_among_what_fits(ships: KnowledgeGraph) -> None:
    for route in ("all", "bm25"):
        for number in (42, 118, 0):
            assert found(ships, f"What is in RX-{number:04}/7?", route, "sea").passages[0].title == f"Log {number}"
        assert "RX-0043/7" not in found(ships, "RX-0043/7", route, "sea").passages[0].text
