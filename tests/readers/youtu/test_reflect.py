"""How a reply of the reflection ends, and what the run remembers of it."""

from __future__ import annotations

import pytest
from answers import fact, passage

from kgplatform.readers.youtu.reflect import AgentMemory, read_thought
from kgplatform.records import SearchResult

QUESTION = "Where was the builder of the mill at Hollow Ford born?"


@pytest.mark.parametrize(
    ("reply", "said", "query"),
    [
        ("So the answer is: Saltmarsh", "Saltmarsh", None),
        ("**so the ANSWER is:** *Saltmarsh*", "Saltmarsh", None),
        ("### So the answer is:\n\nSaltmarsh\nbecause", "Saltmarsh", None),
        ("The new query is: Who was Vink?", None, "Who was Vink?"),
        ("- **The New Query is**: `Who was Vink?`", None, "Who was Vink?"),
        ("__The new query is:__ “Who was Vink?”", None, "Who was Vink?"),
        ("The new query is:\n\n> Who was Vink?", None, "Who was Vink?"),
        ("The new query is: a\nNo. The new query is: b", None, "b"),
        ("The new query is: a\nSo the answer is: b", "b", None),
        ("So the answer is: b\nThe new query is: a", "b", None),
        ("<think>The new query is: a</think>So the answer is: b", "b", None),
        ("<think>So the answer is: b</think>The new query is: a", None, "a"),
        ("So the answer is: b</think>The new query is: a", None, "a"),
        ("<Thinking>So the answer is: b", None, None),
        ("The new query is: a\n<think>So the answer is: b", None, "a"),
        ("The new query is：谁建了磨坊？", None, "谁建了磨坊？"),
        ("The new query is:", None, ""),
        ("So the answer is:", "", None),
        ("The answer is Saltmarsh.", None, None),
        ("", None, None),
    ],
)
def test_the_exits_of_a_reply(reply: str, said: str | None, query: str | None) -> None:
    thought = read_thought(reply)
    assert (thought.answer, thought.query) == (said, query)


def test_the_evidence_is_bounded_and_holds_the_best_of_every_step() -> None:
    memory = AgentMemory(QUESTION, 150)
    for step in range(3):
        texts = [passage(f"s{step}p{n}", f"{step} {n} " + "word " * 20) for n in range(9)]
        memory.results.append(SearchResult("q", tuple(texts), (fact(f"f{step}", f"fact {step}"),), 0.5))
    shown = memory.evidence()
    assert [each.id for each in shown.passages][:4] == ["s2p0", "s1p0", "s0p0", "s2p1"]
    assert len(shown.passages) < 9
    assert [each.id for each in shown.facts] == ["f2", "f1", "f0"]
    assert (shown.question, shown.seconds) == (QUESTION, 1.5)
    memory.thoughts.append("x" * 5000 + "\nThe new query is: y")
    assert len(memory.notes()) < 2100
    assert memory.notes().endswith("The new query is: y")
