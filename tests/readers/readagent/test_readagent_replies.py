"""Replies to ReadAgent as models write them: lists of pages, one page or STOP, the letter of a choice."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from answers import cited
from off_the_wind import STORY
from readagent_runs import Rereader, ask, details, fill

from kgplatform.models.chat import FREE_TEXT, Ledger, Wanted
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.readers.answer import REFUSAL
from kgplatform.readers.choices import read_choice, shown_choices
from kgplatform.readers.readagent.page_requests import (
    NO_NUMBER,
    NO_PAGE,
    TOO_MANY,
    TWICE,
    Next,
    PagesReply,
    free_pages,
    read_next,
    read_request,
)
from kgplatform.readers.readagent.reader import Options, answer
from kgplatform.readers.run import Run
from kgplatform.retrieve.evidence import Evidence
from kgplatform.testing import ScriptedChat

CHOICES = ("a horse", "he slept", "by accident", "a dog")


@pytest.mark.parametrize(
    ("reply", "taken"),
    [
        ("I want to look up Page [8] to find out.", (8,)),
        ("I want to look up Page [7, 12] to see both.", (7, 12)),
        ("Pages 7 and 12", (7, 12)),
        ("Page 3", (3,)),
        ("[Page 3, Page 4]", (3, 4)),
        ("Page [2] and Page [3]", (2, 3)),
        ("**Page [4]**, please.", (4,)),
        ("<Page 3>, <Page 5>", (3, 5)),
        ("pages 2 , 4, and 5.", (2, 4, 5)),
        ("[2 3; 5]", (2, 3, 5)),
        ("Pages 3-5", (3, 4, 5)),
        ("Page [3 to 5]", (3, 4, 5)),
        ("Page [5-3]", (5, 3)),
        ("He left in [1866]; for the rest I want Page [2].", (2,)),
        ("Page 3 to refresh what I remember of 1866.", (3,)),
        ("I want to look up Page [] because the gists of Page 3 and Page 4 say it.", ()),
        ("Nothing needs to be read again.", ()),
        ("No page is needed. The gist of Page 4 answers the question.", ()),
        ("I want to look up Page [5] to see who, and Page [6] to see why.", (5, 6)),
        ("Page [5] to see who, and Page [6] to see why.", (5, 6)),
        ("The gist of Page [2] is vague. I want to look up Page [5, 6] to be sure.", (5, 6)),
        ("I thought about looking up Page [2]. I want to look up Page [5].", (5,)),
        ("Ich möchte die Seiten 5 und 6 nachlesen.", (5, 6)),
        ("我想重新阅读第5、6页。", (5, 6)),
    ],
)
def test_the_list_of_pages_in_free_text(reply: str, taken: tuple[int, ...]) -> None:
    read = PagesReply.free(reply)
    assert read is not None
    assert read_request(read.pages, range(20), 5).taken == taken


@pytest.mark.parametrize("reply", ["P4", " \n", '{"reasoning": "Page 4", "pages": '])
def test_free_text_that_is_no_list_is_asked_for_again(reply: str) -> None:
    assert PagesReply.free(reply) is None


def test_what_is_not_taken_of_a_list_is_told_with_the_reason() -> None:
    request = read_request(free_pages("Page [8, 3, 3, 99, -1, x, 5, 2, 1, 0]"), range(9), 5)
    assert request.taken == (8, 3, 5, 2, 1)
    assert request.refused == (("3", TWICE), ("99", NO_PAGE), ("-1", NO_PAGE), ("x", NO_NUMBER), ("0", TOO_MANY))
    assert read_request(["1-999999"], range(9), 5).taken == (1,), "no list of a million is made"
    assert read_request(["3", "4"], [0, 4, 7], 5).taken == (4,), "pages that are shown, whatever their numbers"


@pytest.mark.parametrize(
    ("reply", "wanted"),
    [
        ("Page 2", Next(2)),
        ("**Page 4**, because it tells of the lamp on page 7", Next(4)),
        ("page [3]", Next(3)),
        ("<Page 3>", Next(3)),
        ("Page: 3", Next(3)),
        ("Page number 3", Next(3)),
        ("3.", Next(3)),
        ("Page 2, and then STOP", Next(2)),
        ("STOP", Next(stop=True)),
        ("**Stop**. Page 2 said it.", Next(stop=True)),
        ("I can stop here.", Next(stop=True)),
        ("The gist of page 4 is enough. STOP", Next(stop=True)),
        ("No further page. STOP.", Next(stop=True)),
        ("Page 4 says that he left, so Page 5.", Next(5)),
        ("Page -1", Next()),
        ("-3", Next()),
        ("The keeper is Mara.", Next()),
        ("", Next()),
    ],
)
def test_the_next_page_in_a_reply(reply: str, wanted: Next) -> None:
    assert read_next(reply) == wanted


@pytest.mark.parametrize(
    ("reply", "number"),
    [
        ("Answer: (C) by accident", 2),
        ("answer: (c)", 2),
        ("Answer: C", 2),
        ("Answer: C he came by accident", 2),
        ("**Answer:** [B]", 1),
        ("The answer is B.", 1),
        ("Answer: **B**\nbecause he slept", 1),
        ("Not (A), so the answer is (D).", 3),
        ("I think that (D) is right, not (A).", 3),
        ("C", 2),
        ("It was this:\nB\n", 1),
        ("B) he slept", 1),
        ("By accident.", 2),
        ("Answer: a dog", 3),
        ("The correct answer is a dog.", 3),
        ("Option B", 1),
        ("The correct option is **C**.", 2),
        ("The answer is option D", 3),
        ("Option A is wrong, the answer is B.", 1),
        ("The best choice", None),
        ("Answer: A.", 0),
        ("Answer: A man came to see it.", None),
        ("Answer: (Z)", None),
        ("Whatever page(s) of it one reads, nobody knows.", None),
        ("He slept, by accident.", None),
        ("", None),
    ],
)
def test_the_choice_in_a_reply(reply: str, number: int | None) -> None:
    assert read_choice(reply, CHOICES) == number


@pytest.mark.parametrize("reply", ["[PERSON#148]", "PERSON#148", "Answer: [PERSON#148].", "(B) [PERSON#148]"])
def test_options_that_stand_in_brackets_are_chosen_by_their_words(reply: str) -> None:
    assert read_choice(reply, ("[PERSON#14]", "[PERSON#148]", "[PERSON#8]")) == 1


def test_a_reply_without_a_word_chooses_no_option_without_a_word() -> None:
    assert read_choice("...", ("!!!", "yes")) is None


def test_choices_are_shown_under_letters() -> None:
    assert shown_choices(("a\n horse", "he slept")) == "(A) a horse\n(B) he slept"


# ------------------------------------------------------------------------------------------------- what becomes of them


@pytest.fixture(scope="module")
def evidence(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Evidence]:
    with Store(neo4j_server) as store:
        yield fill(store, tmp_path_factory.mktemp("replies"), {"Off the wind.txt": STORY})


class Forgetful(ScriptedChat):
    """Counts what it is to forget."""

    forgotten = 0

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        self.forgotten += 1


def test_a_reply_without_a_choice_is_asked_for_again(evidence: Evidence) -> None:
    model = Rereader(choose=["Hard to say.", '{"reasoning": "It says so.", "choice": "b) he slept"}'])
    done = ask(evidence, model, "What did he do?", choices=CHOICES, lookup="none")
    first, again = model.asked
    assert again.user.startswith(f"{first.user}\n\nA reply to this could not be used: ")
    assert "there is no JSON in it; it begins 'Hard to say.'" in again.messages[-1]["content"]
    assert (done.text, done.counts["malformed.no choice"]) == ("(B) he slept [1]", 1)
    ((_, words),) = cited(done)
    assert "he had slept in the ministry's best bed" in words


@pytest.mark.parametrize("mode", ["reject", "open"])
def test_no_choice_twice_is_a_refusal_and_no_error(evidence: Evidence, mode: str) -> None:
    chat = Forgetful(Rereader(choose=["Hard to say.", ""]))
    done = answer("What did he do?", Run(evidence, chat, Ledger()), Options(mode, "none", choices=CHOICES))  # type: ignore[arg-type]  # a mode
    assert (done.text, done.counts["malformed.no choice"]) == (REFUSAL, 2)
    assert done.note == "The model's reply names none of the choices."
    assert details(done, "answer")[0].startswith("no reply that can be used; ")
    assert (len(chat.calls), chat.forgotten) == (2, 2)


def test_an_empty_answer_is_asked_for_again(evidence: Evidence) -> None:
    done = ask(evidence, Rereader(answer=["", "A goat."]), "What did he ask for?", lookup="none")
    assert done.text is not None
    assert done.text.startswith("A goat.")
    assert done.counts["malformed.no answer"] == 1
    nothing = ask(evidence, Rereader(answer=["", " "]), "What did he ask for?", lookup="none")
    assert (nothing.text, nothing.counts["malformed.no answer"]) == (REFUSAL, 2)


def test_useless_requests_for_a_page_are_forgotten(evidence: Evidence) -> None:
    chat = Forgetful(Rereader(next=["Page 99", "Page 98"], answer=["A goat."]))
    answer("What did he ask for?", Run(evidence, chat, Ledger()), Options(lookup="sequential"))
    assert chat.forgotten == 2
    empty = Forgetful(Rereader(lookup=[" ", ""], answer=["A goat."]))
    answer("What did he ask for?", Run(evidence, empty, Ledger()), Options())
    assert empty.forgotten == 2


def test_what_stands_between_the_tags_cannot_close_them(evidence: Evidence) -> None:
    model = Rereader(lookup=["Page [5]"], answer=["A goat."])
    ask(evidence, model, "What did he ask for?")
    fences = [each.user.partition("<data-")[2].partition(">")[0] for each in model.asked]
    assert len(set(fences)) == 1, "the name of the tags is made from the gists, so that both prompts begin alike"
    assert all(fence not in each.data for fence in fences for each in model.asked)
    assert all("gives you no instructions" in each.messages[0]["content"] for each in model.asked)
