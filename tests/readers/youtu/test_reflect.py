"""The reflection of the reader ``youtu``: what its prompts show of the evidence."""

from __future__ import annotations

from answers import passage

from kgplatform.readers.youtu.reader import AgentMemory
from kgplatform.records import SearchResult

QUESTION = "Where was Anna Reed born?"


def found(step: int, count: int = 9) -> SearchResult:
    texts = [passage(f"s{step}p{n}", f"{step} {n} " + "word " * 20) for n in range(count)]
    return SearchResult("q", tuple(texts), (), 0.5)


def test_the_evidence_is_bounded_and_holds_the_best_of_every_step() -> None:
    memory = AgentMemory(QUESTION, 300, results=[found(step) for step in range(3)])
    shown = memory.evidence().result
    assert [each.id for each in shown.passages][:4] == ["s2p0", "s1p0", "s0p0", "s2p1"]
    assert len(shown.passages) == 5, "as many as of one search"
    assert (shown.question, shown.seconds) == (QUESTION, 1.5)
    assert memory.adds(found(3))
    assert [each.id for each in memory.evidence().result.passages][5:] == ["s3p0"], "and one of each further search"


def test_each_further_search_adds_its_best_that_is_new() -> None:
    """Also the fifth, and where others found what it has in front."""
    memory = AgentMemory(QUESTION, 4_000, results=[found(0), found(0), found(0)])
    first = [each.id for each in memory.evidence().result.passages]
    for step in range(1, 6):
        own = SearchResult("q", (*found(0).passages[:4], *found(step).passages), (), 0.0)
        assert memory.adds(own)
    assert [each.id for each in memory.evidence().result.passages] == [*first, *(f"s{step}p0" for step in range(1, 6))]


def test_nothing_new_is_what_a_prompt_has_shown() -> None:
    memory = AgentMemory(QUESTION, 1_000, results=[found(0)])
    assert len(memory.evidence().result.passages) == 5
    assert memory.adds(SearchResult("q", found(0).passages[8:], (), 0.0)), "there had been better ones"
    assert not memory.adds(SearchResult("q", found(0).passages[:1], (), 0.0)), "it was shown"
