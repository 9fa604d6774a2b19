"""Citations of answers that quote nothing: their own words, found in what was read."""

from __future__ import annotations

from dataclasses import replace

import pytest
from answers import passage

from kgplatform.readers.answer import cite_words

READ = (
    passage("band", "Danko Jones is a rock trio from Toronto, formed in 1996."),
    passage("castle", "Casa Loma is a Gothic castle in Toronto, Canada. It has 98 rooms and 3,500 visitors a day."),
    passage("aside", "Nothing here. Yes, casa loma was named once, on 12 May 1914."),
    passage("song", 'The song is called "Cadillac", and the Physical Geography of the Sea is no song. 東京は大きい。'),
)
ROOMS = "It has 98 rooms and 3,500 visitors a day."
TEXTS = {each.id: each.text for each in READ}


@pytest.mark.parametrize(
    ("answer", "cited"),
    [
        ("Casa Loma.", [("castle", "Casa Loma"), ("aside", "casa loma")]),
        ("**Casa Loma**", [("castle", "Casa Loma"), ("aside", "casa loma")]),
        ("The castle is Casa Loma.", [("castle", "Casa Loma is a Gothic castle in Toronto, Canada.")]),
        ("1996", [("band", "1996")]),
        ("3,500", [("castle", "3,500")]),
        ("12 May 1914", [("aside", "12 May 1914")]),
        ("東京", [("song", "東京")]),
        ("It was formed in 1996 in Toronto.", [("band", TEXTS["band"])]),
        ("It is a rock trio from Toronto, formed in 1996.", [("band", TEXTS["band"])]),
        ("They say that it is called “Cadillac”.", [("song", READ[3].text[:80])]),
        (
            "A trio was formed in Toronto. Nobody knows why. It has 98 rooms.",
            [("band", TEXTS["band"]), ("castle", ROOMS)],
        ),
    ],
)
def test_what_can_be_told_from_other_words_is_found(answer: str, cited: list[tuple[str, str]]) -> None:
    assert [(each.passage, TEXTS[each.passage][each.start : each.end]) for each in cite_words(answer, READ)] == cited


@pytest.mark.parametrize(
    "answer",
    [
        "",
        " . ",
        "Yes",
        "No.",
        "The",
        "Paris",
        "I do not know.",
        "99",
        "Cas",
        "True",
        "He wrote the Geography of the Sea",
    ],
)
def test_what_any_text_may_say_cites_nothing(answer: str) -> None:
    assert cite_words(answer, READ) == ()
    assert cite_words("Casa Loma", ()) == ()


def test_at_most_three_passages_in_the_given_order_and_offsets_of_the_document() -> None:
    many = [passage(f"p{n}", "Casa Loma.") for n in range(9)]
    assert [each.passage for each in cite_words("Casa Loma", many)] == ["p0", "p1", "p2"]
    late = replace(READ[0], start=100, end=100 + len(READ[0].text))
    (found,) = cite_words("Danko Jones, a rock trio from Toronto", [READ[1], late])
    assert (found.passage, found.start, found.end) == ("band", 100, 100 + len(READ[0].text))
