"""Memory gisting: what the prompt asks for, and what becomes of every reply."""

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
    shorten,
)
from kgplatform.gist.options import GistOptions
from kgplatform.models.chat import Reply
from kgplatform.records import Usage
from kgplatform.testing import ScriptedChat

PAGE = story([60, 60])
ARTICLE = GistOptions.of()


def cut_off(text: str) -> Reply:
    return Reply(f'{{"gist": "{text}', Usage(1, 1, 1), cut_off=True)


def writing(*said: str | Reply) -> ScriptedChat:
    """A model that writes these gists, each in its form; an empty one is no reply."""
    return ScriptedChat([shortened(each) if isinstance(each, str) and each else each for each in said])


@pytest.mark.parametrize(
    ("options", "rule"),
    [
        (GistOptions.of(question="Who sailed?"), "- The reader wants to know: Who sailed? Keep all that bears on that"),
        (GistOptions.of(instruction="Keep the $signatures."), "- The reader asks besides: Keep the $signatures."),
        (GistOptions.of("transcript"), "- Say who said, asked, proposed or decided what."),
    ],
)
def test_what_the_user_wants_is_a_rule(options: GistOptions, rule: str) -> None:
    chat = writing("Ada sailed.")
    assert shorten(chat, f"\n{PAGE}\n\n", options) == Gist("Ada sailed.")
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
    short, chinese = paragraph("one", 30), "第一天，船从港口出发。" * 100
    assert shorten(writing("", ""), short, ARTICLE).text == short
    first = shorten(writing("", ""), chinese, ARTICLE).text
    assert 100 < len(first) <= 160, "also of a text that white space does not part"
    assert chinese.startswith(first)
    again = shorten(writing("", " "), "Ada sailed.", ARTICLE, again=True)
    assert again.text == "", "what is there is better"


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
