"""The reflection of the reader ``youtu``: what its prompts show of the evidence."""

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
