"""How a reply of the reflection ends, what the run remembers of it, and what of the evidence a prompt shows."""

from __future__ import annotations

import json

import pytest
from answers import fact, passage

from kgplatform.errors import InputError
from kgplatform.models.chat import Ledger
from kgplatform.models.reply import ask
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window, cost
from kgplatform.readers.youtu.memory import AgentMemory
from kgplatform.readers.youtu.reflect import StepReply, Thought, read_free, reflect_messages, thought_of
from kgplatform.records import SearchResult
from kgplatform.testing import ScriptedChat

QUESTION = "Where was the builder of the mill at Hollow Ford born?"


def read(reply: str) -> Thought:
    """A reply through the function that the reader uses, without asking again."""
    calls = Calls(ScriptedChat([reply]), Ledger(), limit=1)
    return thought_of(ask(calls, [{"role": "user", "content": "?"}], StepReply, stage="reflect", free=read_free)[0])


@pytest.mark.parametrize(
    ("reply", "said", "query"),
    [
        ("So the answer is: Saltmarsh", "Saltmarsh", ""),
        ("**so the ANSWER is:** *Saltmarsh*", "Saltmarsh", ""),
        ("### So the answer is:\n\nSaltmarsh\nbecause", "Saltmarsh", ""),
        ("The new query is: Who was Vink?", "", "Who was Vink?"),
        ("- **The New Query is**: `Who was Vink?`", "", "Who was Vink?"),
        ("__The new query is:__ “Who was Vink?”", "", "Who was Vink?"),
        ("The new query is:\n\n> Who was Vink?", "", "Who was Vink?"),
        ("The new query is: a\nNo. The new query is: b", "", "b"),
        ("The new query is: a\nSo the answer is: b", "b", ""),
        ("So the answer is: b\nThe new query is: a", "", "a"),
        ("So the answer is: not stated\nThe new query is: a", "", "a"),
        ("The new query is: a\nSo the answer is: not stated in the passages.", "", "a"),
        ("New query: Who was Vink?", "", "Who was Vink?"),
        ("<think>The new query is: a</think>So the answer is: b", "b", ""),
        ("<think>So the answer is: b</think>The new query is: a", "", "a"),
        ("So the answer is: b</think>The new query is: a", "", "a"),
        ("The new query is：谁建了磨坊？", "", "谁建了磨坊？"),
        ("The new query is:", "", ""),
        ("So the answer is:", "", ""),
        ("The answer is Saltmarsh.", "Saltmarsh.", ""),
        ("Whether the answer is Saltmarsh, nobody says.", "", ""),
        ('{"missing": "her birth", "query": "Vink?", "answer": "Anna Reed built it."}', "", "Vink?"),
        ('{"missing": "nothing", "query": "Vink?", "answer": "Saltmarsh"}', "Saltmarsh", ""),
        ('{"missing": "", "query": "none", "answer": "No"}', "No", ""),
        ('{"missing": "it", "query": "", "answer": "keine Angabe"}', "", ""),
    ],
)
def test_the_exits_of_a_reply(reply: str, said: str, query: str) -> None:
    thought = read(reply)
    assert (thought.answer, thought.query) == (said, query)


def test_the_example_of_the_prompt_is_no_thought() -> None:
    chat = ScriptedChat(
        [
            '{"reasoning": "Passage 2 says that Mara Quill built the lighthouse. Her birth is not in the evidence.", '
            '"missing": "where Mara Quill was born", "query": "Where was Mara Quill born?", "answer": ""}',
            '{"query": "Who was Vink?"}',
        ]
    )
    reply, repairs = ask(
        Calls(chat, Ledger()), [{"role": "user", "content": "?"}], StepReply, stage="reflect", free=read_free
    )
    assert (thought_of(reply).query, repairs) == ("Who was Vink?", 1)


def found(step: int, count: int = 9) -> SearchResult:
    texts = [passage(f"s{step}p{n}", f"{step} {n} " + "word " * 20) for n in range(count)]
    return SearchResult("q", tuple(texts), (fact(f"f{step}", f"fact {step}"),), 0.5)


def test_the_evidence_is_bounded_and_holds_the_best_of_every_step() -> None:
    memory = AgentMemory(QUESTION, Window(8_192), 200, results=[found(step) for step in range(3)])
    shown = memory.evidence()
    assert [each.id for each in shown.passages][:4] == ["s2p0", "s1p0", "s0p0", "s2p1"]
    assert len(shown.passages) < 9
    assert [each.id for each in shown.facts] == ["f2", "f1", "f0"]
    assert (shown.question, shown.seconds) == (QUESTION, 1.5)


def test_what_was_shown_keeps_its_number_and_the_prompts_their_beginning() -> None:
    memory = AgentMemory(QUESTION, Window(32_768), results=[found(0, 3)], queries=[QUESTION])
    first = reflect_messages(memory, QUESTION, 1, 5)
    assert memory.adds(found(1, 3))
    memory.thoughts.append("Not yet.")
    second = reflect_messages(memory, "Vink?", 2, 5)
    assert first[0] == second[0]
    assert [each.id for each in memory.evidence().passages] == ["s0p0", "s0p1", "s0p2", "s1p0", "s1p1", "s1p2"]
    beginning = first[1]["content"].partition("\n\nFacts")[0]
    assert "[3] " in beginning
    assert second[1]["content"].startswith(beginning)
    assert second[1]["content"].endswith("Current query: Vink?\nStep 2 of at most 5.")


def test_nothing_new_is_what_a_prompt_has_shown() -> None:
    memory = AgentMemory(QUESTION, Window(8_192), 200, results=[found(0)])
    assert len(memory.evidence().passages) < 9
    assert memory.adds(SearchResult("q", found(0).passages[8:], (), 0.0)), "the room had been too small for it"
    assert not memory.adds(SearchResult("q", found(0).passages[:1], found(0).facts, 0.0))


@pytest.mark.parametrize("size", [2_048, 4_096, 32_768])
def test_prompt_and_reply_fit_into_the_window(size: int) -> None:
    long = SearchResult(
        "q", tuple(passage(f"p{n}", "Ein langes Wort, 漢字 und mehr. " * 40) for n in range(60)), (), 0.0
    )
    window = Window(size, reply=size // 4)
    memory = AgentMemory(QUESTION, window, results=[found(n) for n in range(6)] + [long], queries=[QUESTION] * 3)
    memory.thoughts += [f"thought {n} " * 300 for n in range(6)]
    assert cost(reflect_messages(memory, QUESTION, 5, 5)) <= window.limit
    assert memory.notes().endswith("thought 5 " * 3), "the newest thoughts, and their ends, are kept"
    alone = AgentMemory(QUESTION, window, results=[SearchResult("q", (passage("p", "word " * 50_000),), (), 0.0)])
    assert cost(reflect_messages(alone, QUESTION, 1, 5)) <= window.limit
    assert len(alone.evidence().passages) == 1


def test_a_question_that_leaves_no_room() -> None:
    with pytest.raises(InputError, match="leaves no room for evidence in a window of 2,048 tokens"):
        AgentMemory("word " * 1_000, Window(2_048)).evidence()


def test_the_form_that_servers_get_is_an_object() -> None:
    schema = StepReply.model_json_schema()
    assert list(schema["properties"]) == ["reasoning", "missing", "query", "answer"]
    assert "maxLength" in json.dumps(schema)
