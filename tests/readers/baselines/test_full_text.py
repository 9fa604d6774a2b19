"""The reader ``fulltext``: the longest beginning, or end, that the window holds, in whole sentences, read at once."""

import json

import pytest
from answers import cited
from model_by_prompt import Prompt
from readagent_runs import document_ids
from texts import ingest, lines, sizes

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.models.chat import Ledger
from kgplatform.prompt import Messages
from kgplatform.readers.baselines.full_text import Options, answer, read_part
from kgplatform.readers.run import Run
from kgplatform.readers.window import Numbering, tokens
from kgplatform.records import Answer
from kgplatform.search.evidence import Evidence
from kgplatform.testing import ScriptedChat

QUESTION = "Who kept the lamp?"
LAMP = "The lamp was kept by Mara Voss from 1871 on."
LAMP_AND_MORE = f"{LAMP} She lit it every evening, and put it out in the morning."
LONG = " ".join(f"In the year {n} the sea took stones from the foot of the tower." for n in range(1700, 1750))
SMALL = Options(preset="paper")
"""A window of 4,096 tokens."""

TEXTS = {
    "alpha.txt": f"{LAMP_AND_MORE}\n\n{lines(20, 'tower')}\n\n{LONG}",
    "beta.txt": f"{lines(200, 'coast')}\n\nIn the end Jon Reed kept the lamp of the coast.",
    "gamma.txt": "The pier was built of oak.",
}


@pytest.fixture(scope="module")
def evidence(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    """A graph of three texts, of which a small window holds the first and some of the second; it is only read."""
    return ingest(shared_kg.store, tmp_path_factory.mktemp("fulltext"), TEXTS, passage_tokens=300)


def ask(evidence: Evidence, said: str, options: Options = SMALL) -> tuple[Answer, ScriptedChat]:
    """A model that says this, and cites the last sentence that has it."""

    def reply(messages: Messages) -> str:
        holding = [number for number, sentence in Prompt(messages).sentences.items() if said in sentence]
        return json.dumps({"evidence": [], "answer": f"{said} [{holding[-1]}]", "sufficient": True})

    chat = ScriptedChat(reply)
    return answer(QUESTION, Run(evidence, chat, Ledger()), options), chat


def sentences(chat: ScriptedChat) -> list[str]:
    """What the model was shown, in order."""
    return list(Prompt(chat.calls[0].messages).sentences.values())


def test_the_beginning_is_whole_sentences_in_reading_order_and_fills_the_window(evidence: Evidence) -> None:
    done, chat = ask(evidence, LAMP)
    shown = sentences(chat)
    assert shown[:2] == [LAMP, "She lit it every evening, and put it out in the morning."]
    everything = " ".join(" ".join(text.split()) for text in TEXTS.values())
    assert everything.startswith(" ".join(shown)), "nothing is missing inside"
    (size,) = sizes(chat.calls)
    assert 0.9 * 4096 - 500 - 160 < size <= 0.9 * 4096 - 500, f"a reply has its room: {size}"
    total = sum(map(len, TEXTS.values()))
    read = {each.document: each.end for each in done.evidence.passages}
    assert done.trace[0].detail == f"characters 0-{sum(read.values()):,} of {total:,} (2 of 3 documents)"
    assert [step.name for step in done.trace] == ["read", "answer"]
    assert [run.name for run in done.trace[0].queries] == ["search/reading_order", "search/size"]
    assert (done.text, done.reader, done.note) == (f"{LAMP.rstrip('.')} [1].", "fulltext", "")
    assert cited(done) == [("alpha", LAMP)]


@pytest.mark.parametrize("from_end", [False, True])
@pytest.mark.parametrize("room", [60, 2500])
def test_the_text_is_within_the_room_and_the_next_sentence_would_not_be(
    evidence: Evidence, room: int, from_end: bool
) -> None:
    part = read_part(evidence, room, from_end=from_end)
    assert 0.95 * room - 60 < tokens(Numbering().passages(part.passages)) <= room
    assert not part.whole
    by_title = {each.title: TEXTS[f"{each.title}.txt"] for each in part.passages}
    assert list(by_title) == sorted(by_title), "in reading order"
    for each in part.passages:
        assert by_title[each.title][each.start : each.end] == each.text
    end = part.passages[-1].title if from_end else part.passages[0].title
    assert end == ("gamma" if from_end else "alpha")


def test_of_a_first_or_last_sentence_that_is_too_large_its_words(evidence: Evidence) -> None:
    alpha = (document_ids(evidence)["alpha"],)
    (first,) = read_part(evidence, 20, alpha).passages
    assert 0 < len(first.text) < len(LAMP)
    assert LAMP.startswith(first.text)
    (last,) = read_part(evidence, 20, alpha, from_end=True).passages
    assert 0 < len(last.text) < 80
    assert LONG.endswith(last.text)


def test_the_reader_reads_the_end_of_chosen_documents(evidence: Evidence) -> None:
    beta = (document_ids(evidence)["beta"],)
    done, chat = ask(evidence, "Jon Reed", Options(preset="paper", from_end=True, documents=beta))
    assert sentences(chat)[-1] == "In the end Jon Reed kept the lamp of the coast."
    assert {each.title for each in done.evidence.passages} == {"beta"}
    assert max(sizes(chat.calls)) <= 0.9 * 4096
    read, total = len(TEXTS["beta.txt"]) - done.evidence.passages[0].start, len(TEXTS["beta.txt"])
    assert done.trace[0].detail == f"the last {read:,} characters of {total:,} (1 of 1 documents)"
    assert [run.name for run in done.trace[0].queries] == ["search/reading_order_back", "search/size"]
    assert cited(done) == [("beta", "In the end Jon Reed kept the lamp of the coast.")]
    large = (Options(from_end=True, window_tokens=64_000), Options(window_tokens=64_000))
    (whole, back), (_, forth) = (ask(evidence, "oak", options) for options in large)
    assert sentences(back) == sentences(forth), "a text that fits is read in full either way"
    total = sum(map(len, TEXTS.values()))
    assert whole.trace[0].detail == f"the last {total:,} characters of {total:,} (3 of 3 documents)"


def test_what_cannot_be_asked_is_refused(evidence: Evidence) -> None:
    with pytest.raises(InputError, match="The question is empty"):
        answer("?", Run(evidence, ScriptedChat([]), Ledger()), Options())
    with pytest.raises(InputError, match="leaves room for"):
        answer("word " * 4000, Run(evidence, ScriptedChat([]), Ledger()), SMALL)
