"""The readers ``chunkread`` and ``chunknotes``: every passage in reading order, with or without notes carried on."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import pytest
from answers import cited
from model_by_prompt import Prompt
from texts import ingest, lines, sizes

from kgplatform.errors import BudgetError, InputError
from kgplatform.models.chat import Ledger
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.readers.answer import NO_MODEL, NONE, OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.baselines import chunk_read
from kgplatform.readers.baselines.chunk_read import Options
from kgplatform.readers.replies import NO_WORDS
from kgplatform.readers.run import Run
from kgplatform.readers.window import tokens
from kgplatform.records import Answer
from kgplatform.retrieve.evidence import Evidence
from kgplatform.testing import ScriptedChat

QUESTION = "In which town was the keeper of the lamp born?"
TEXTS = {
    "alpha.txt": f"{lines(30, 'tower')}\n\nThe lamp was kept by Mara Voss.\n\n{lines(30, 'stairs')}",
    "beta.txt": lines(60, "coast"),
    "gamma.txt": f"{lines(9, 'men')}\n\nMara Voss was born in Ostrel. She never left the coast.\n\n{lines(9, 'end')}",
}
Say = Callable[[str, str], str]
ONE = Options(window_tokens=2600)
"""A window that has room for one passage of 1,200 tokens, or two short ones."""


@pytest.fixture(scope="module")
def evidence(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """A graph of three texts in passages of at most 1,200 tokens: more than a small window holds. It is only read."""
    with Store(neo4j_server) as store:
        yield ingest(store, tmp_path_factory.mktemp("chunkread"), TEXTS, passage_tokens=1200)


@pytest.fixture(scope="module")
def passages(evidence: Evidence) -> list[str]:
    """The texts of all passages, in reading order."""
    return [each.text for page, _ in evidence.in_reading_order() for each in page]


def by_rule(say: Say) -> ScriptedChat:
    """A model that sees the notes and the piece, and says what ``say`` makes of them."""

    def reply(messages: Messages) -> str:
        shown = Prompt(messages).data
        piece, _, notes = shown.removeprefix("Piece:\n").partition("\n\nNotes on what came before:\n")
        return say(notes, piece)

    return ScriptedChat(reply)


def joins(notes: str, piece: str) -> str:
    """Notes who kept the lamp; answers where that one was born."""
    keeper = re.search(r"kept by (\w+ \w+)", f"{piece} {notes}")
    born = keeper and re.search(rf"{keeper[1]} was born in (\w+)", piece)
    noted = f"[summary] The lamp was kept by {keeper[1]}.\n" if keeper and keeper[0] not in notes else ""
    return f"{noted}[answerable] {born[1]}" if born else f"{noted}[unanswerable]"


def shown(chat: ScriptedChat) -> list[str]:
    """The pieces, in order."""
    asked = (Prompt(call.messages).data.removeprefix("Piece:\n") for call in chat.calls)
    return [each.partition("\n\nNotes on what came before:\n")[0] for each in asked]


def noted(chat: ScriptedChat) -> list[str]:
    """The notes before each piece."""
    return [Prompt(call.messages).data.rpartition("\n\nNotes on what came before:\n")[2] for call in chat.calls]


def read(evidence: Evidence, chat: ScriptedChat, options: Options = ONE, notes: bool = False) -> Answer:
    how = chunk_read.answer_with_notes if notes else chunk_read.answer
    return how(QUESTION, Run(evidence, chat, Ledger()), options)


# ----------------------------------------------------------------------------------------------------------- chunk read


def test_each_passage_is_read_by_itself_in_order_up_to_the_first_that_answers(
    evidence: Evidence, passages: list[str]
) -> None:
    def say(_: str, piece: str) -> str:
        found = re.search(r"Mara Voss was born in (\w+)", piece)
        return f"[answerable] {found[1]}" if found else "[unanswerable]"

    chat = by_rule(say)
    done = read(evidence, chat)
    place = len(chat.calls) - 1
    assert place > 1
    assert "\n\n".join(passages).startswith("\n\n".join(shown(chat)))
    assert sum(each.count("born in Ostrel") for each in shown(chat)[:-1]) == 0
    assert done.text == "Ostrel [1]"
    assert cited(done) == [("gamma", "Ostrel")]
    assert (done.reader, done.note) == ("chunkread", "")
    assert done.counts == {"read.unanswerable": place, "read.answerable": 1}
    reads = done.trace[:-1]
    assert [step.name for step in done.trace] == ["read passage"] * (place + 1) + ["find citations"]
    assert all(step.prompt == "baselines/chunk_read" and 1 <= len(step.passages) <= 2 for step in reads)
    assert [run.name for step in reads for run in step.queries] == ["retrieve/reading_order"]
    assert [each.title for each in done.evidence.passages][-1] == "gamma"


def test_pieces_fill_the_window_that_the_model_has(evidence: Evidence, passages: list[str]) -> None:
    """As few calls as can be: one for a text that fits, and the paper's window on request."""
    large = by_rule(lambda notes, piece: "[unanswerable]")
    chunk_read.answer(QUESTION, Run(evidence, large, Ledger()), Options())
    assert shown(large) == ["\n\n".join(passages)]
    small = by_rule(lambda notes, piece: "[unanswerable]")
    chunk_read.answer(QUESTION, Run(evidence, small, Ledger()), Options(preset="paper"))
    assert 1 < len(small.calls) < len(passages)
    assert max(sizes(small.calls)) <= 0.9 * 4096 - 512


def test_where_no_passage_answers_it_refuses(evidence: Evidence, passages: list[str]) -> None:
    chat = by_rule(lambda notes, piece: "[unanswerable]")
    done = read(evidence, chat)
    nothing = "The language model found no answer in what it read."
    assert (done.text, done.citations, done.note) == (REFUSAL, (), nothing)
    assert done.counts == {"read.unanswerable": len(chat.calls)}
    assert "\n\n".join(shown(chat)) == "\n\n".join(passages)
    assert done.evidence.passages == ()
    replies = ["[unanswerable]"] * len(chat.calls)
    open_mode = Options("open", window_tokens=2600)
    known = read(evidence, ScriptedChat([*replies, '{"sufficient": false, "answer": "Bergen"}']), open_mode)
    assert (known.text, known.note) == ("Bergen", OWN_KNOWLEDGE)


def test_a_passage_larger_than_the_window_is_read_in_parts(evidence: Evidence, passages: list[str]) -> None:
    chat = by_rule(lambda notes, piece: "[unanswerable]")
    read(evidence, chat, Options(window_tokens=1000))
    assert len(shown(chat)) > len(passages)
    assert "".join(shown(chat)).replace("\n", "") == "".join(passages).replace("\n", "")
    assert max(sizes(chat.calls)) <= 900
    small = by_rule(joins)
    done = read(evidence, small, Options(window_tokens=1000), notes=True)
    assert done.text == "Ostrel [1]"
    assert cited(done) == [("gamma", "Ostrel")]
    assert max(sizes(small.calls)) <= 900


def test_the_calls_are_bounded(evidence: Evidence) -> None:
    chat = by_rule(lambda notes, piece: "[unanswerable]")
    done = read(evidence, chat, Options(calls=2, window_tokens=2600))
    assert len(chat.calls) == 2
    assert (done.text, done.note) == (REFUSAL, "Not all was read: the 2 calls were made before the end of the text.")
    broken = by_rule(lambda notes, piece: "Hm.")
    assert read(evidence, broken, Options(calls=1)).counts == {"read.unanswerable": 1, "malformed.no answer": 1}
    assert len(broken.calls) == 1, "asking again is a call too"


def test_a_reply_with_neither_mark_is_asked_for_again_then_counts_as_unanswerable(
    evidence: Evidence, passages: list[str]
) -> None:
    chat = ScriptedChat(["Hm.", "[unanswerable]", "Hm.", "Hm.", "**Answerable**: Mara Voss of Bergen, in 1871"])
    done = read(evidence, chat)
    assert done.counts == {"read.unanswerable": 2, "malformed.no answer": 3, "read.answerable": 1}
    first, again, second, once_more, third = shown(chat)
    assert first == again != second == once_more != third
    assert "no reply that can be used" in done.trace[1].detail
    assert max(sizes(chat.calls)) <= 0.9 * 2600
    assert (done.text, done.citations, done.note) == ("Mara Voss of Bergen, in 1871", (), NO_WORDS), (
        "the third does not say so"
    )


def test_errors_and_questions_that_cannot_be_asked(evidence: Evidence) -> None:
    def spent(notes: str, piece: str) -> str:
        raise BudgetError("No tokens left.")

    with pytest.raises(BudgetError):
        read(evidence, by_rule(spent))
    with pytest.raises(InputError, match="calls must be at least 1"):
        Options(calls=0)
    with pytest.raises(InputError, match="window_tokens must be"):
        Options(window_tokens=999)
    for how in (chunk_read.answer, chunk_read.answer_with_notes):
        with pytest.raises(InputError, match="The question is empty"):
            how(" ", Run(evidence, ScriptedChat([]), Ledger()), Options())
        with pytest.raises(InputError, match="leaves no room"):
            how("word " * 4000, Run(evidence, ScriptedChat([]), Ledger()), Options(preset="paper"))
        done = how(QUESTION, Run(evidence, None, Ledger()), Options())
        assert (done.text, done.note) == (None, NO_MODEL)


# ---------------------------------------------------------------------------------------------------------- with notes


def test_thoughts_of_the_model_are_no_notes(evidence: Evidence, passages: list[str]) -> None:
    chat = ScriptedChat(
        ["<think>[summary] a draft</think>[summary] kept by Mara\n[unanswerable]", "[answerable] Ostrel"]
    )
    done = read(evidence, chat, notes=True)
    assert [step.notebook for step in done.trace if step.prompt] == ["kept by Mara", "kept by Mara"]
    assert noted(chat) == [NONE, "kept by Mara"]


def test_notes_join_what_stands_in_passages_far_apart(evidence: Evidence, passages: list[str]) -> None:
    chat = by_rule(joins)
    done = read(evidence, chat, notes=True)
    assert done.text == "Ostrel [1]"
    assert cited(done) == [("gamma", "Ostrel")]
    assert done.reader == "chunknotes"
    first = next(n for n, text in enumerate(shown(chat)) if "kept by" in text)
    assert noted(chat) == [NONE] * (first + 1) + ["The lamp was kept by Mara Voss."] * (len(chat.calls) - first - 1)
    assert {each.title for each in done.evidence.passages} >= {"gamma", "alpha"}
    assert read(evidence, by_rule(joins)).text == REFUSAL, "without notes nothing joins the two"


def test_new_notes_replace_the_old_ones_and_never_break_the_window(evidence: Evidence, passages: list[str]) -> None:
    count = 0

    def say(notes: str, piece: str) -> str:
        nonlocal count
        count += 1
        return f"[summary] {f'Note {count} is kept and goes on. ' * 400}\n[unanswerable]"

    chat = by_rule(say)
    done = read(evidence, chat, notes=True)
    assert done.counts == {"read.unanswerable": len(chat.calls), "cut.notes": len(chat.calls)}
    assert max(sizes(chat.calls)) <= 0.9 * 2600
    for number, each in enumerate(noted(chat)[1:], start=1):
        assert f"Note {number} is kept" in each
        assert f"Note {number - 1} is kept" not in each
        assert each.endswith("goes on."), "cut at the end of a sentence"
        assert tokens(each) <= 2600 // 8


def test_notes_without_a_mark_say_that_nothing_answers_yet(evidence: Evidence) -> None:
    chat = ScriptedChat(["[summary] It was Mara Voss.", '{"notes": "", "answer": "Mara Voss"}'])
    done = read(evidence, chat, notes=True)
    assert noted(chat) == [NONE, "It was Mara Voss."]
    assert cited(done) == [("alpha", "Mara Voss")], "cited from a passage that was noted"
