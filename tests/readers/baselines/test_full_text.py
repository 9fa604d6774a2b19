"""The reader ``fulltext``: the longest beginning, or end, that the window holds, in whole paragraphs, read at once."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from answers import cited
from model_by_prompt import Prompt
from texts import ingest, lines, sizes

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError
from kgplatform.models.chat import Ledger
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.readers.answer import NO_MODEL, OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.baselines import full_text
from kgplatform.readers.baselines.full_text import Options, answer, read_part
from kgplatform.readers.replies import NO_WORDS
from kgplatform.readers.run import Run
from kgplatform.readers.window import tokens
from kgplatform.records import Answer
from kgplatform.retrieve.evidence import Evidence
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer, ScriptedChat

QUESTION = "Who kept the lamp?"
LAMP = "The lamp was kept by Mara Voss from 1871 on."
LAMP_AND_MORE = f"{LAMP} She lit it every evening, and put it out in the morning."
LONG = " ".join(f"In the year {n} the sea took stones from the foot of the tower." for n in range(1700, 1750))
SMALL = Options(preset="paper")
"""A window of 4,096 tokens, of which a reply may take an eighth."""

TEXTS = {
    "alpha.txt": f"{LAMP_AND_MORE}\n\n{lines(20, 'tower')}\n\n{LONG}",
    "beta.txt": f"{lines(200, 'coast')}\n\nIn the end Jon Reed kept the lamp of the coast.",
    "gamma.txt": "The pier was built of oak.",
}


@pytest.fixture(scope="module")
def evidence(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    """A graph of three texts, of which a small window holds the first and some of the second; it is only read."""
    with Store(neo4j_server) as store:
        yield ingest(store, tmp_path_factory.mktemp("fulltext"), TEXTS, passage_tokens=300)


def ask(evidence: Evidence, reply: str, options: Options = SMALL) -> tuple[Answer, ScriptedChat]:
    chat = ScriptedChat([reply, '{"sufficient": false, "answer": "I think it was Bob."}'])
    return answer(QUESTION, Run(evidence, chat, Ledger()), options), chat


def ids(evidence: Evidence) -> dict[str, str]:
    """The ids of the documents, by name."""
    kg = KnowledgeGraph(evidence._store, load_settings(embedder="hash:64"), embedder=HashEmbedder(64))
    return {each.title: each.id for each in kg.documents()}


def test_the_beginning_is_whole_paragraphs_in_reading_order_and_fills_the_window(evidence: Evidence) -> None:
    done, chat = ask(evidence, "Mara Voss")
    shown = Prompt(chat.calls[0].messages).data
    first, second = (TEXTS[name].rstrip() for name in ("alpha.txt", "beta.txt"))
    head, _, rest = shown.partition("\n\n# beta\n\n")
    assert head == f"# alpha\n\n{first}"
    assert second.startswith(f"{rest}\n\n"), "cut at the end of a paragraph, and nothing is missing inside"
    (size,) = sizes(chat.calls)
    assert 0.9 * 4096 - 512 - 80 < size <= 0.9 * 4096 - 512, "a reply has its room"
    assert len(chat.calls) == 1
    read = len(first) + len(rest)
    total = sum(map(len, TEXTS.values()))
    assert done.trace[0].detail == f"characters 0-{read:,} of {total:,} (2 of 3 documents)"
    assert [step.name for step in done.trace] == ["read", "answer", "find citations"]
    assert [run.name for run in done.trace[0].queries] == ["retrieve/reading_order", "retrieve/size"]


@pytest.mark.parametrize("room", [40, 100, 333, 2500, 4000])
def test_the_text_is_within_the_room_and_the_next_paragraph_would_not_be(evidence: Evidence, room: int) -> None:
    beginning = read_part(evidence, room)
    assert tokens(beginning.text) <= room
    assert tokens(beginning.text) > room - 40
    assert not beginning.whole
    by_title = {each.title: TEXTS[f"{each.title}.txt"] for each in beginning.passages}
    for each in beginning.passages:
        assert by_title[each.title][each.start : each.end] == each.text


def test_a_paragraph_that_several_passages_share_is_shown_whole_or_not_at_all(evidence: Evidence) -> None:
    longer = tokens(f"# alpha\n\n{TEXTS['alpha.txt']}")
    assert tokens(LONG) > 2 * 300, "it is longer than two passages"
    assert read_part(evidence, longer).text.endswith(f"grey sea below.\n\n{LONG}")
    without = read_part(evidence, longer - 5)
    assert without.text.endswith("grey sea below.")
    assert all("the sea took" not in each.text for each in without.passages)


def test_of_a_first_paragraph_that_is_too_large_the_sentences_that_fit(evidence: Evidence) -> None:
    assert tokens(LAMP_AND_MORE) > 20
    assert read_part(evidence, 20).text == f"# alpha\n\n{LAMP} "
    assert read_part(evidence, 20).passages[0].text == f"{LAMP} "
    assert read_part(evidence, 3).text == ""


@pytest.mark.parametrize("room", [60, 100, 333, 2500, 4000])
def test_the_end_is_within_the_room_and_the_paragraph_before_it_would_not_be(evidence: Evidence, room: int) -> None:
    end = read_part(evidence, room, from_end=True)
    assert tokens(end.text) <= room
    assert tokens(end.text) > room - 40
    assert not end.whole
    assert end.text.endswith("\n\n# gamma\n\nThe pier was built of oak.")
    by_title = {each.title: TEXTS[f"{each.title}.txt"] for each in end.passages}
    assert list(by_title) == sorted(by_title), "in reading order"
    for each in end.passages:
        assert by_title[each.title][each.start : each.end] == each.text


def test_the_end_of_a_document_is_whole_paragraphs(evidence: Evidence) -> None:
    beta = TEXTS["beta.txt"]
    end = read_part(evidence, 1000, (ids(evidence)["beta"],), from_end=True)
    head, _, rest = end.text.partition("\n\n")
    assert head == "# beta"
    assert beta.endswith(f"\n\n{rest}")
    assert end.passages[0].start == len(beta) - len(rest)


def test_of_a_last_paragraph_that_is_too_large_the_last_sentences_or_words(evidence: Evidence) -> None:
    alpha = (ids(evidence)["alpha"],)
    end = read_part(evidence, 100, alpha, from_end=True).text
    assert end.startswith("# alpha\n\nIn the year 17")
    assert LONG.endswith(end.removeprefix("# alpha\n\n"))
    assert 60 < tokens(end) <= 100
    across = read_part(evidence, 600, alpha, from_end=True)
    assert len(across.passages) > 1, "the paragraph is longer than a passage"
    assert LONG.endswith(across.text.removeprefix("# alpha\n\n"))
    assert read_part(evidence, 14, alpha, from_end=True).text.endswith("the foot of the tower.")
    assert read_part(evidence, 3, alpha, from_end=True).text == ""


def test_the_end_is_not_counted_anew_for_each_paragraph_that_is_left_out(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []

    def count(text: str) -> int:
        counted.append(tokens(text))
        return counted[-1]

    monkeypatch.setattr(full_text, "tokens", count)
    end = read_part(evidence, 2500, from_end=True)
    assert tokens(end.text) <= 2500
    assert sum(number > 1000 for number in counted) < 10, "some thirty paragraphs are left out"


def test_the_reader_reads_the_end_of_chosen_documents(evidence: Evidence) -> None:
    done, chat = ask(evidence, "Jon Reed", Options(preset="paper", from_end=True, documents=(ids(evidence)["beta"],)))
    shown = Prompt(chat.calls[0].messages).data
    assert shown.endswith("In the end Jon Reed kept the lamp of the coast.")
    assert "# alpha" not in shown
    assert max(sizes(chat.calls)) <= 0.9 * 4096
    read, total = len(shown.removeprefix("# beta\n\n")), len(TEXTS["beta.txt"])
    assert done.trace[0].detail == f"the last {read:,} characters of {total:,} (1 of 1 documents)"
    assert [run.name for run in done.trace[0].queries] == ["retrieve/reading_order_back", "retrieve/size"]
    assert cited(done) == [("beta", "Jon Reed")]
    whole, chat = ask(evidence, "Oak.", Options(from_end=True, window_tokens=64_000))
    both = [
        Prompt(each.calls[0].messages).data for each in (chat, ask(evidence, "Oak.", Options(window_tokens=64_000))[1])
    ]
    assert both[0] == both[1], "a text that fits is read in full either way"
    assert "(3 of 3 documents)" in whole.trace[0].detail
    alone, chat = ask(evidence, "Mara Voss", Options(documents=(ids(evidence)["gamma"],)))
    assert Prompt(chat.calls[0].messages).data == "# gamma\n\nThe pier was built of oak."
    assert (alone.citations, alone.note) == ((), NO_WORDS)


def test_a_large_window_holds_everything(evidence: Evidence) -> None:
    done, chat = ask(evidence, "Jon Reed", Options(window_tokens=64_000))
    total = sum(map(len, TEXTS.values()))
    assert done.trace[0].detail == f"characters 0-{total:,} of {total:,} (3 of 3 documents)"
    assert Prompt(chat.calls[0].messages).data.endswith("\n\n# gamma\n\nThe pier was built of oak.")
    assert done.text == "Jon Reed [1]"
    assert cited(done) == [("beta", "Jon Reed")]


def test_the_answers_words_are_cited_where_they_stand(evidence: Evidence) -> None:
    done, _ = ask(evidence, "The lamp was kept by Mara Voss from 1871 on.")
    assert done.text == f"{LAMP} [1]"
    assert cited(done) == [("alpha", LAMP.rstrip("."))] or cited(done) == [("alpha", LAMP)]
    assert (done.reader, done.note, done.counts) == ("fulltext", "", {})
    assert done.evidence.passages[0].title == "alpha"
    assert done.usage.calls == 0, "a script costs the ledger nothing"


def test_an_answer_without_words_of_the_text_stands_with_a_note(evidence: Evidence) -> None:
    done, _ = ask(evidence, "Somebody whom nobody remembers [3].")
    assert (done.text, done.citations, done.note) == ("Somebody whom nobody remembers.", (), NO_WORDS)
    beyond, _ = ask(evidence, "Jon Reed")
    assert (beyond.citations, beyond.note) == ((), NO_WORDS), "it stands in the graph, but was not read"


def test_what_the_text_does_not_say(evidence: Evidence) -> None:
    refused, chat = ask(evidence, "[unanswerable]")
    nothing = "The language model found no answer in what it read."
    assert (refused.text, refused.citations, refused.note, len(chat.calls)) == (REFUSAL, (), nothing, 1)
    known, chat = ask(evidence, "[Unanswerable]", Options("open"))
    assert (known.text, known.note, len(chat.calls)) == ("I think it was Bob.", OWN_KNOWLEDGE, 2)


def test_an_empty_reply_is_asked_for_again_inside_of_the_window(evidence: Evidence) -> None:
    chat = ScriptedChat([" ", "Mara Voss"])
    done = answer(QUESTION, Run(evidence, chat, Ledger()), SMALL)
    assert done.text == "Mara Voss [1]"
    assert done.counts == {"malformed.no answer": 1}
    assert max(sizes(chat.calls)) <= 0.9 * 4096
    nothing = answer(QUESTION, Run(evidence, ScriptedChat(["", ""]), Ledger()), Options())
    assert (nothing.text, nothing.counts) == (REFUSAL, {"malformed.no answer": 2})


def test_without_a_model_the_evidence_is_the_answer(evidence: Evidence) -> None:
    done = answer(QUESTION, Run(evidence, None, Ledger()), Options())
    assert (done.text, done.note, done.reader) == (None, NO_MODEL, "fulltext")
    assert done.evidence.passages
    chosen = answer(QUESTION, Run(evidence, None, Ledger()), Options(documents=(ids(evidence)["gamma"],)))
    assert [each.title for each in chosen.evidence.passages] == ["gamma"]


def test_what_cannot_be_asked_is_refused(evidence: Evidence) -> None:
    with pytest.raises(InputError, match="The question is empty"):
        answer("?", Run(evidence, ScriptedChat([]), Ledger()), Options())
    with pytest.raises(InputError, match="leaves no room for a text"):
        answer("word " * 4000, Run(evidence, ScriptedChat([]), Ledger()), SMALL)
    with pytest.raises(InputError, match="window_tokens must be at least"):
        Options(window_tokens=10)


def test_over_the_wire(evidence: Evidence, neo4j_server: Connection, tmp_path: Path) -> None:
    def finds(messages: Messages) -> str:
        found = re.search(r"kept by (\w+ \w+)", Prompt(messages).data)
        return found[1] if found else "[unanswerable]"

    with OpenAIServer(finds) as server, Store(neo4j_server) as store:
        settings = load_settings(home=tmp_path, embedder="hash:64", openai_base_url=server.base_url)
        kg = KnowledgeGraph(store, settings, embedder=HashEmbedder(64))
        done = kg.ask(QUESTION, "fulltext", window_tokens=4000)
        assert done.text == "Mara Voss [1]"
        assert done.usage.calls == len(server.requests_to("/chat/completions")) == 1
        assert 2700 < done.usage.input_tokens <= 3600 - 500
    broken = ScriptedChat(lambda messages: (_ for _ in ()).throw(ModelError("It timed out.")))
    with pytest.raises(ModelError, match="It timed out"):
        answer(QUESTION, Run(evidence, broken, Ledger()), Options())
