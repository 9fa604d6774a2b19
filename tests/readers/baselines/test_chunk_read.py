"""The readers ``chunkread`` and ``chunknotes``: every passage in reading order, with or without notes carried on."""

import json
from collections.abc import Callable, Mapping

import pytest
from answers import cited
from model_by_prompt import Prompt
from texts import ingest, lines, sizes

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError, InputError
from kgplatform.models.chat import Ledger
from kgplatform.prompt import Messages
from kgplatform.readers.answer import NONE, OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.baselines import chunk_read
from kgplatform.readers.baselines.chunk_read import Options
from kgplatform.readers.run import Run
from kgplatform.readers.window import tokens
from kgplatform.records import Answer
from kgplatform.search.evidence import Evidence
from kgplatform.testing import ScriptedChat

QUESTION = "In which town was the keeper of the lamp born?"
TEXTS = {
    "alpha.txt": f"{lines(30, 'tower')}\n\nThe lamp was kept by Mara Voss.\n\n{lines(30, 'stairs')}",
    "beta.txt": lines(60, "coast"),
    "gamma.txt": f"{lines(9, 'men')}\n\nMara Voss was born in Ostrel. She never left the coast.\n\n{lines(9, 'end')}",
}
Say = Callable[[str, Mapping[str, str]], dict[str, object]]
ONE = Options(window_tokens=3200)
"""A window that has room for one passage of 1,200 tokens, or two short ones."""


@pytest.fixture(scope="module")
def evidence(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A graph of three texts in passages of at most 1,200 tokens: more than a small window holds. It is only read."""
    return ingest(shared_kg.store, tmp_path_factory.mktemp("chunkread"), TEXTS, passage_tokens=1200)


@pytest.fixture(scope="module")
def passages(evidence: Evidence) -> list[str]:
    """The texts of all passages, in reading order, on one line each."""
    return [" ".join(each.text.split()) for page, _ in evidence.in_reading_order() for each in page]


def by_rule(say: Say) -> ScriptedChat:
    """A model that sees the notes and the sentences of a piece by number, and says what ``say`` makes of them."""
    return ScriptedChat(lambda messages: json.dumps(say(noted_in(messages), Prompt(messages).sentences)))


def noted_in(messages: Messages) -> str:
    return Prompt(messages).data.rpartition("\n\nNotes on what came before:\n")[2]


def found(words: str, sentences: Mapping[str, str]) -> dict[str, object]:
    """An answer by the number of the sentence that has ``words``; else none."""
    number = next((number for number, text in sentences.items() if words in text), "")
    answer = f"{words.split()[-1]} [{number}]" if number else ""
    return {"evidence": [], "answer": answer, "sufficient": bool(number)}


def joins(notes: str, sentences: Mapping[str, str]) -> dict[str, object]:
    """Notes who kept the lamp, with the number; answers where that one was born."""
    kept = next((f"{text} [{number}]" for number, text in sentences.items() if "kept by" in text), "")
    is_known = kept or "kept by" in notes
    said = found("Mara Voss was born in Ostrel", sentences) if is_known else found("", {})
    return {**said, "notes": kept}


def nothing(notes: str, sentences: Mapping[str, str]) -> dict[str, object]:
    return {"evidence": [], "answer": "", "sufficient": False}


def shown(chat: ScriptedChat) -> list[str]:
    """The text of each piece, in order."""
    return [" ".join(Prompt(call.messages).sentences.values()) for call in chat.calls]


def noted(chat: ScriptedChat) -> list[str]:
    """The notes before each piece."""
    return [noted_in(call.messages) for call in chat.calls]


def read(evidence: Evidence, chat: ScriptedChat, options: Options = ONE, notes: bool = False) -> Answer:
    how = chunk_read.answer_with_notes if notes else chunk_read.answer
    return how(QUESTION, Run(evidence, chat, Ledger()), options)


def test_each_passage_is_read_by_itself_in_order_up_to_the_first_that_answers(
    evidence: Evidence, passages: list[str]
) -> None:
    chat = by_rule(lambda notes, sentences: found("Mara Voss was born in Ostrel", sentences))
    done = read(evidence, chat)
    place = len(chat.calls) - 1
    assert place > 1
    assert " ".join(passages).startswith(" ".join(shown(chat)))
    assert done.text == "Ostrel [1]"
    assert cited(done) == [("gamma", "Mara Voss was born in Ostrel.")]
    assert (done.reader, done.note) == ("chunkread", "")
    assert done.counts == {"read.unanswerable": place, "read.answerable": 1}
    assert [step.name for step in done.trace] == ["read passage"] * (place + 1)
    assert all(step.prompt == "readers/answer" and step.passages for step in done.trace)
    assert [run.name for step in done.trace for run in step.queries] == ["search/reading_order"]
    assert [each.title for each in done.evidence.passages][-1] == "gamma"


def test_pieces_fill_the_window_that_the_model_has(evidence: Evidence, passages: list[str]) -> None:
    """As few calls as can be: one for a text that fits, and the paper's window on request."""
    large = by_rule(nothing)
    chunk_read.answer(QUESTION, Run(evidence, large, Ledger()), Options())
    assert shown(large) == [" ".join(passages)]
    small = by_rule(nothing)
    chunk_read.answer(QUESTION, Run(evidence, small, Ledger()), Options(preset="paper"))
    assert len(small.calls) > 1
    assert max(sizes(small.calls)) <= 0.9 * 4096 - 500


def test_where_no_passage_answers_it_refuses(evidence: Evidence, passages: list[str]) -> None:
    chat = by_rule(nothing)
    done = read(evidence, chat)
    note = "The language model found no answer in what it read."
    assert (done.text, done.citations, done.note) == (REFUSAL, (), note)
    assert done.counts == {"read.unanswerable": len(chat.calls)}
    assert " ".join(shown(chat)) == " ".join(passages)
    assert done.evidence.passages == ()

    def knows(notes: str, sentences: Mapping[str, str]) -> dict[str, object]:
        return nothing(notes, sentences) if sentences else {"answer": "Bergen", "sufficient": False}

    known = read(evidence, by_rule(knows), Options("open", window_tokens=3200))
    assert (known.text, known.note) == ("Bergen", OWN_KNOWLEDGE)


def test_a_passage_larger_than_the_window_is_read_in_parts(evidence: Evidence, passages: list[str]) -> None:
    chat = by_rule(nothing)
    read(evidence, chat, Options(window_tokens=1200))
    assert len(shown(chat)) > len(passages)
    assert " ".join(shown(chat)) == " ".join(passages)
    assert max(sizes(chat.calls)) <= 0.9 * 1200
    small = by_rule(joins)
    done = read(evidence, small, Options(window_tokens=1800), notes=True)
    assert done.text == "Ostrel [1]"
    assert max(sizes(small.calls)) <= 0.9 * 1800


def test_the_calls_are_bounded(evidence: Evidence) -> None:
    chat = by_rule(nothing)
    done = read(evidence, chat, Options(calls=2, window_tokens=3200))
    assert len(chat.calls) == 2
    assert done.text == REFUSAL
    assert done.note.endswith("Not all was read: the 2 calls were made before the end of the text.")
    broken = ScriptedChat(["Hm."])
    assert read(evidence, broken, Options(calls=1)).counts == {"read.unanswerable": 1, "malformed.no answer": 1}
    assert len(broken.calls) == 1, "asking again is a call too"


def test_a_reply_that_cannot_be_used_is_asked_for_again_then_counts_as_unanswerable(evidence: Evidence) -> None:
    none, last = json.dumps(nothing("", {})), json.dumps({"answer": "Mara Voss of Bergen", "sufficient": True})
    chat = ScriptedChat(["Hm.", none, "Hm.", "Hm.", last])
    done = read(evidence, chat)
    assert done.counts == {"read.unanswerable": 2, "malformed.no answer": 1, "read.answerable": 1}
    first, again, second, once_more, third = shown(chat)
    assert first == again != second == once_more != third
    assert "no reply that can be used" in done.trace[1].detail
    assert max(sizes(chat.calls)) <= 0.9 * 3200
    assert (done.text, done.citations) == ("Mara Voss of Bergen", ())


def test_errors_and_questions_that_cannot_be_asked(evidence: Evidence) -> None:
    def spent(notes: str, sentences: Mapping[str, str]) -> dict[str, object]:
        raise BudgetError("No tokens left.")

    with pytest.raises(BudgetError):
        read(evidence, by_rule(spent))
    for how in (chunk_read.answer, chunk_read.answer_with_notes):
        with pytest.raises(InputError, match="The question is empty"):
            how(" ", Run(evidence, ScriptedChat([]), Ledger()), Options())
        with pytest.raises(InputError, match="leaves room for"):
            how("word " * 4000, Run(evidence, ScriptedChat([]), Ledger()), Options(preset="paper"))


def test_notes_join_what_stands_in_passages_far_apart(evidence: Evidence) -> None:
    chat = by_rule(joins)
    done = read(evidence, chat, notes=True)
    assert done.text == "Ostrel [1]"
    assert cited(done) == [("gamma", "Mara Voss was born in Ostrel.")]
    assert done.reader == "chunknotes"
    first = next(n for n, text in enumerate(shown(chat)) if "kept by" in text)
    before, after = noted(chat)[: first + 1], noted(chat)[first + 1 :]
    assert set(before) == {NONE}
    assert all(each.startswith("The lamp was kept by Mara Voss. [") for each in after)
    assert {each.title for each in done.evidence.passages} >= {"gamma", "alpha"}
    assert read(evidence, by_rule(joins)).text == REFUSAL, "without notes nothing joins the two"


def test_new_notes_replace_the_old_ones_and_never_break_the_window(evidence: Evidence) -> None:
    count = 0

    def say(notes: str, sentences: Mapping[str, str]) -> dict[str, object]:
        nonlocal count
        count += 1
        return {"notes": f"Note {count} is kept and goes on. " * 400, "answer": "", "sufficient": False}

    chat = by_rule(say)
    done = read(evidence, chat, notes=True)
    assert done.counts == {"read.unanswerable": len(chat.calls), "cut.notes": len(chat.calls)}
    assert max(sizes(chat.calls)) <= 0.9 * 3200
    for number, each in enumerate(noted(chat)[1:], start=1):
        assert f"Note {number} is kept" in each
        assert f"Note {number - 1} is kept" not in each
        assert each.endswith("goes on."), "cut at the end of a sentence"
        assert tokens(each) <= 3200 // 8


def test_notes_alone_say_that_nothing_answers_yet_and_are_cited_by_their_numbers(evidence: Evidence) -> None:
    chat = ScriptedChat(
        [json.dumps({"notes": "It was Mara Voss [1.31]."}), json.dumps({"answer": "Mara [1.31]", "sufficient": True})]
    )
    done = read(evidence, chat, notes=True)
    assert noted(chat) == [NONE, "It was Mara Voss [1.31]."]
    assert cited(done) == [("alpha", "The lamp was kept by Mara Voss.")], "of a passage that was noted"
    assert [step.notebook for step in done.trace] == ["It was Mara Voss [1.31]."] * 2
