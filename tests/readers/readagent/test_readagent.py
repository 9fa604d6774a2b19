"""ReadAgent's case study (appendix C): an invented story of eight pages, two questions, over a server on loopback."""

from pathlib import Path

import pytest
from answers import cited
from readagent_runs import Asked, Rereader, chosen, cites, details, fill, in_lines, page, pages, place_near, said

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError
from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import make_chat
from kgplatform.readers.answer import NOT_CITED
from kgplatform.readers.readagent.reader import Options, answer
from kgplatform.readers.run import Run
from kgplatform.records import Answer, Usage
from kgplatform.search.evidence import Evidence
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer, ScriptedChat
from kgplatform.text import count_words

STORY = (
    (
        "Bettany saw the balloon first. Out of its basket climbed a man in a coat of feathers, and his box hummed.",
        "Two harbour guards, Bettany and Rusk, meet a stranger who comes down in a balloon.",
    ),
    (
        "The box broke. So the stranger, Orrin Vale, let Rusk talk for an hour, and then spoke as they do there.",
        "The stranger, Orrin Vale, learns the language by listening to Rusk.",
    ),
    (
        "A launch came in with a colonel. He had a rope put round the balloon, and round the guards as well.",
        "A colonel arrives, and has the balloon roped off.",
    ),
    (
        "He was taken to the capital, and nobody saw him for a week. The Council of Ports demanded that he be heard.",
        "Orrin Vale is taken to the capital. The Council of Ports demands to hear him.",
    ),
    (
        "The quays were black with people. The minister bit his nails: his guest had slept from Monday to Sunday.",
        "The people wait for great words. The minister is nervous: his guest slept nearly all of the week.",
    ),
    (
        "Orrin Vale was led in. He was no envoy, he told the hall, and gathered beetles for a museum.",
        "Orrin Vale tells the Council that he is no envoy, and only gathers beetles.",
    ),
    (
        "Nor had he meant to come. The wind had turned, he said, and it had set him down here by mistake.",
        "He had come by mistake. He leaves, and asks for a goat.",
    ),
    (
        "The balloon rose over the customs house. A small bell could be heard from it, as goats have them.",
        "The crowd watches the balloon leave in a hurry.",
    ),
)
SLEPT = ("He learned oaths", "He slept nearly all of the time", "He rode goats", "He was too shy to speak")
LANDED = ("To tell people how to live", "To be mended", "For rare beetles", "The wind set him down by mistake")
QUESTIONS = (
    ("Why did Orrin Vale land on the coast?", LANDED, "D", ([5, 6], [3, 4, 5, 6])),
    ("What happened to Orrin Vale while the ministry had him?", SLEPT, "B", ([3, 4], [0, 1, 3, 6])),
)
"""Question, choices, the right one, and the pages that ReadAgent and that the comparator reads."""
WRONG = ("C", "A")
"""What the paper's retrieval comparator chose."""


@pytest.fixture(scope="module")
def evidence(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return fill(shared_kg.store, tmp_path_factory.mktemp("story"), {"Off the wind.txt": STORY}, passage_tokens=120)


def over_the_wire(evidence: Evidence, model: Rereader, question: str, folder: Path, **options: object) -> Answer:
    """The answer by the real client's chat, from a server on loopback that plays ``model``."""
    with OpenAIServer(model) as server:
        ledger = Ledger()
        chat = make_chat(load_settings(home=folder, openai_base_url=server.base_url), ledger)
        done = answer(question, Run(evidence, chat, ledger), Options(**options))  # type: ignore[arg-type]  # as they are named
        requests = server.requests_to("/chat/completions")
    assert done.usage.calls == ledger.total.calls == len(requests)
    assert done.usage == sum((each.usage for each in done.trace), Usage())
    return done


def right_with_pages(right: str, wrong: str, needed: list[int]) -> Rereader:
    """Looks up ``needed``, and is right where it has these pages in full and the gists of the others."""

    def choose(asked: Asked) -> str:
        known = len(asked.memory) == len(STORY) and set(needed) <= set(asked.full)
        return chosen(right, asked.number_of(in_lines(STORY[needed[0]][0]).split("\n")[0])) if known else chosen(wrong)

    return Rereader(lookup=pages(*needed), choose=choose)


@pytest.mark.parametrize("number", range(2))
def test_the_case_study(evidence: Evidence, tmp_path: Path, number: int) -> None:
    question, choices, right, (needed, _) = QUESTIONS[number]
    model = right_with_pages(right, WRONG[number], needed)
    done = over_the_wire(evidence, model, question, tmp_path, choices=choices, pages=4)
    assert model.kinds == ["lookup", "choose"]
    look_up, choose = model.asked
    assert list(look_up.memory) == list(choose.memory) == list(range(8)), "the tags, in order"
    assert list(look_up.memory.values()) == [gist for _, gist in STORY]
    assert "1 to 4 pages" in look_up.user
    for n, (text, gist) in enumerate(STORY):
        assert choose.plain(n) == (in_lines(text) if n in needed else gist)
    assert all(
        f"({letter}) {text}" in each.user for each in model.asked for letter, text in zip("ABCD", choices, strict=True)
    )
    assert done.text == f"({right}) {choices['ABCD'.index(right)]} [1]"
    assert cited(done) == [("Off the wind", in_lines(STORY[needed[0]][0]).split("\n")[0])]
    assert done.counts["pages.looked_up"] == 2
    assert details(done, "look up") == [f"pages {needed[0]}, {needed[1]}"]
    assert [each.name for each in done.trace] == ["remember", "look up", "read pages", "answer"]


def test_the_comparator_sees_its_pages_and_no_gists(evidence: Evidence, tmp_path: Path) -> None:
    question, choices, right, (needed, retrieved) = QUESTIONS[0]
    names = [f"Off the wind · page {n}" for n in range(8)]
    place_near(evidence._store, question, names, [names[n] for n in retrieved])
    model = right_with_pages(right, WRONG[0], needed)
    done = over_the_wire(evidence, model, question, tmp_path, choices=choices, pages=4, lookup="dense")
    assert model.kinds == ["choose"]
    assert {n: model.asked[0].plain(n) for n in model.asked[0].memory} == {n: in_lines(STORY[n][0]) for n in retrieved}
    assert (done.text or "").startswith(f"({WRONG[0]})")
    assert done.counts["words.in_context"] == sum(count_words(STORY[n][0]) for n in retrieved)


def test_an_open_question_cites_the_pages_that_were_read_again(evidence: Evidence, tmp_path: Path) -> None:
    model = Rereader(lookup=[pages(6)], answer=[cites("It had set him down here by mistake.", "set him down here")])
    done = over_the_wire(evidence, model, "Why did Orrin Vale land there?", tmp_path)
    assert done.text == "It had set him down here by mistake [1]."
    ((title, words),) = cited(done)
    assert (title, "it had set him down here by mistake" in words) == ("Off the wind", True)
    assert all(each.text in STORY[6][0] for each in done.evidence.passages), "cut to the page"


def test_what_only_a_gist_says_is_not_cited(evidence: Evidence, tmp_path: Path) -> None:
    model = Rereader(answer=[said("The Council of Ports.", "1.1")])
    done = over_the_wire(evidence, model, "Who demands to hear him?", tmp_path, lookup="none")
    assert (done.text, done.citations) == ("The Council of Ports.", ())
    assert done.note.startswith(NOT_CITED)


def test_zero_pages_are_an_answer_and_see_what_gist_memory_alone_sees(evidence: Evidence, tmp_path: Path) -> None:
    question = "What is the story about?"
    prompts = []
    for options, rules in (
        ({"lookup": "none"}, {}),
        ({"lookup": "parallel"}, {"lookup": [pages()]}),
        ({"lookup": "sequential"}, {"next": [page("STOP")]}),
    ):
        model = Rereader(answer=[cites("A man in a balloon.")], **rules)  # type: ignore[arg-type]  # lists of replies
        done = over_the_wire(evidence, model, question, tmp_path / str(len(prompts)), **options)
        prompts.append(model.of("answer")[0].messages)
        assert (done.counts["pages.looked_up"], details(done, "read pages")) == (0, [])
        assert not [name for name in done.counts if name.startswith("malformed")]
    assert all(each == prompts[0] for each in prompts)


def test_what_cannot_be_asked_is_refused(evidence: Evidence) -> None:
    with pytest.raises(InputError, match="The question is empty"):
        answer(" ?", Run(evidence, ScriptedChat([]), Ledger()), Options())
    with pytest.raises(InputError, match="leaves room for"):
        answer("word " * 8000, Run(evidence, ScriptedChat([]), Ledger()), Options(preset="paper"))
    broken = ScriptedChat(lambda messages: (_ for _ in ()).throw(ModelError("It timed out.")))
    with pytest.raises(ModelError, match="It timed out"):
        answer("Who?", Run(evidence, broken, Ledger()), Options())
