"""Memory gisting: what the prompt asks for, and what becomes of every reply."""

from __future__ import annotations

import pytest
from gists import paragraph, shortened, story
from model_by_prompt import Prompt

from kgplatform.gist.gist_documents import (
    BEGINNING,
    LONGER,
    LOOPED,
    NO_GIST,
    OWN_TEXT,
    PUT_RIGHT,
    TAGGED,
    Gist,
    beginning,
    shorten,
    shorten_again,
)
from kgplatform.gist.options import GistOptions
from kgplatform.models.chat import Reply
from kgplatform.prompt import source_of
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat

PAGE = story([60, 60])
ARTICLE = GistOptions.of()


def cut_off(text: str) -> Reply:
    return Reply(f'{{"gist": "{text}', Usage(1, 1, 1), cut_off=True)


def writing(*said: str | Reply) -> ScriptedChat:
    """A model that writes these gists, each in its form; an empty one is no reply."""
    return ScriptedChat([shortened(each) if isinstance(each, str) and each else each for each in said])


def test_the_prompt_asks_to_shorten() -> None:
    """Not to summarise: that restructures (section 3.1)."""
    chat = writing("Ada sailed.")
    assert shorten(chat, f"\n{PAGE}\n\n", ARTICLE) == Gist("Ada sailed.")
    (call,) = chat.calls
    system = call.messages[0]["content"]
    assert "You shorten a passage from a report" in system
    assert "Keep names, figures and dates" in system
    assert call.messages[1]["content"].endswith("Shorten this passage to about 30 words.")
    assert "summar" not in system.lower()
    assert (Prompt(call.messages).data, call.stage) == (PAGE, "gist")


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (GistOptions.of(question="Who sailed?"), "- The reader wants to know: Who sailed? Keep all that bears on that"),
        (GistOptions.of(instruction="Keep the $signatures."), "- The reader asks besides: Keep the $signatures."),
        (GistOptions.of("script"), "- Give people their full names."),
        (GistOptions.of("transcript"), "- Say who said, asked, proposed or decided what."),
    ],
)
def test_what_the_user_wants_is_a_rule(options: GistOptions, rule: str) -> None:
    chat = writing("Ada sailed.")
    shorten(chat, PAGE, options)
    assert rule in chat.calls[0].messages[0]["content"]
    assert Prompt(chat.calls[0].messages).data == PAGE, "and no part of the data"


@pytest.mark.parametrize(
    ("said", "text", "malformed"),
    [
        ("Ada sails to Brest.", "Ada sails to Brest.", ()),
        ("<Page 3>\nAda sails to Brest.", "Ada sails to Brest.", (TAGGED,)),
        ("Ada sails.\n<Page 4>\nBen stays.", "Ada sails.\nBen stays.", (TAGGED,)),
        ("<text-0123456789ab>\nAda sails.\n</text-0123456789ab>", "Ada sails.", (TAGGED,)),
        ("Ada reads page 3 and says: no.", "Ada reads page 3 and says: no.", ()),
    ],
)
def test_tags_are_taken_off(said: str, text: str, malformed: tuple[str, ...]) -> None:
    assert shorten(writing(said), PAGE, ARTICLE) == Gist(text, "", malformed)


@pytest.mark.parametrize("empty", ["", "Ada sailed.", '{"gist": ""}'])
def test_without_a_gist_the_model_is_asked_once_more(empty: str) -> None:
    chat = ScriptedChat([empty, shortened("Ada sailed.")])
    gist = shorten(chat, PAGE, ARTICLE)
    assert (gist.text, gist.flag) == ("Ada sailed.", "")
    assert gist.malformed == (PUT_RIGHT,)
    asked = chat.calls[1].messages
    assert [message["role"] for message in asked] == ["system", "user"], "without the reply, which it would repeat"
    assert "A reply to this could not be used: " in asked[1]["content"]


def test_without_a_gist_twice_the_first_words_are() -> None:
    gist = shorten(writing("", ""), PAGE, ARTICLE)
    assert gist == Gist(" ".join(PAGE.split()[:60]), BEGINNING, (NO_GIST,))
    short = paragraph("one", 30)
    assert shorten(writing("", ""), short, ARTICLE).text == short


def test_a_gist_longer_than_its_page_is_asked_for_again_and_then_left_for_the_page() -> None:
    longer = f"{PAGE} More."
    assert shorten(writing(longer, "Ada sailed."), PAGE, ARTICLE) == Gist("Ada sailed.", "", (LONGER,))
    twice = shorten(writing(longer, longer), f"{PAGE}\n\n", ARTICLE)
    assert twice == Gist(PAGE, OWN_TEXT, (LONGER, LONGER))
    assert shorten(writing(PAGE), PAGE, ARTICLE) == Gist(PAGE), "as long is not longer"


@pytest.mark.parametrize(
    "looped",
    [
        "Ada sailed to Brest. " * 5,
        "Ada sailed.\nBen stayed at home.\n" + "Ben stayed at home.\n" * 4,
        "Ada sailed and sailed" + " and sailed on" * 6,
        "".join(f"Ada sailed to Brest. The wind was {wind}. " for wind in ("east", "mild", "hot", "cold", "wet")),
        "Ada sailed to Brest. " * 4 + "Then she came home, and told of it.",
    ],
)
def test_a_gist_that_goes_round_in_circles_is_not_stored(looped: str) -> None:
    chat = writing(looped, "Ada sailed.")
    assert shorten(chat, PAGE, ARTICLE) == Gist("Ada sailed.", "", (LOOPED,))
    assert "the same is said again and again" in chat.calls[1].messages[-1]["content"]
    twice = shorten(writing(looped, cut_off(looped)), PAGE, ARTICLE)
    assert twice == Gist(" ".join(PAGE.split()[:60]), BEGINNING, (LOOPED,))
    assert shorten(writing(looped), looped * 2, ARTICLE).flag == "", "where the page itself does so"


def test_the_example_is_no_gist() -> None:
    example = next(line for line in source_of("gist/gist").splitlines() if line.startswith("{"))
    assert shorten(ScriptedChat([example, shortened("Ada sailed.")]), PAGE, ARTICLE) == Gist(
        "Ada sailed.", "", (PUT_RIGHT,)
    )


def test_a_gist_that_was_cut_off_is_asked_for_with_more_room() -> None:
    chat = writing(cut_off("Ada sailed. Ben"), "Ada sailed. Ben stayed.")
    assert shorten(chat, PAGE, ARTICLE) == Gist("Ada sailed. Ben stayed.", "", (PUT_RIGHT,))
    first, second = (call.wanted.tokens or 0 for call in chat.calls)
    assert second > first


def test_once_more_is_said_to_be_so() -> None:
    chat = writing("Ada sailed.")
    assert shorten_again(chat, "Ada sailed to Brest in May.", ARTICLE).text == "Ada sailed."
    (call,) = chat.calls
    assert "Shorten it again, to about half" in call.messages[0]["content"]
    assert (Prompt(call.messages).data, call.stage) == ("Ada sailed to Brest in May.", "shorten")
    assert shorten_again(writing("", " "), "Ada sailed.", ARTICLE).text == "", "what is there is better"


def test_the_first_words_of_a_text_that_white_space_does_not_part() -> None:
    text = "第一天，船从港口出发。" * 100
    assert 100 < len(beginning(text)) <= 160
    assert text.startswith(beginning(text))
