"""Words for text: the identity of names and nodes, and a count of tokens."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from kgplatform.text import (
    count_tokens,
    is_unspaced,
    node_id,
    normalise_name,
    passage_name,
    passage_title,
    tidy,
    title_key,
    without_lone_surrogates,
)

ANY_TEXT = st.text(alphabet=st.characters(), max_size=60)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        *(("  Ada   LOVELACE\n", "ada lovelace"), ("Ada\x9d\x07 Qui\x80ll", "ADA QUILL"), ("Ｂｊörk", "Bjo\u0308rk")),
        *(("Straße", "STRASSE"), ("İstanbul", "İSTANBUL"), ("Σίσυφος", "ΣΊΣΥΦΟΣ"), ("ｶﾌｶ", "カフカ")),
        *(("نجيب\u00a0محفوظ", "نجيب محفوظ"), ("한국", "\u1112\u1161\u11ab\u1100\u116e\u11a8")),
    ],
)
def test_names_that_are_the_same(one: str, other: str) -> None:
    assert normalise_name(one) == normalise_name(other)


@pytest.mark.parametrize(
    ("one", "other"), [("Møller", "Moller"), ("Zoë", "Zoe"), ("鲁迅", "魯迅"), ("C", "C++"), ("a b", "ab")]
)
def test_names_that_are_not(one: str, other: str) -> None:
    assert normalise_name(one) != normalise_name(other)


@given(ANY_TEXT)
def test_normalising_once_is_enough(name: str) -> None:
    normal = normalise_name(name)
    assert normalise_name(normal) == normal
    assert normalise_name(tidy(name)) == normal
    assert normal == normal.strip()


@given(ANY_TEXT)
def test_tidy_keeps_the_letters(name: str) -> None:
    assert tidy("\U0001f468\u200d\U0001f469 e\u0301") == "\U0001f468\u200d\U0001f469 é"
    shown = tidy(name)
    assert tidy(shown) == shown
    kept = "".join(each for each in name if unicodedata.category(each) != "Cc" or each.isspace())
    assert shown.split() == unicodedata.normalize("NFC", kept).split()


@pytest.mark.parametrize(
    ("title", "key"),
    [
        *(("The Matrix (film)", "the matrix"), ("Paris (Texas) ", "paris"), ("(film)", "(film)")),
        *(("Live (at Leeds) tonight", "live (at leeds) tonight"), ("鲁迅（作家）", "鲁迅(作家)")),
    ],
)
def test_titles_as_questions_say_them(title: str, key: str) -> None:
    assert title_key(title) == key


@given(ANY_TEXT, st.integers(1, 10**6))
@example("A title · 2", 3)
def test_the_name_of_a_passage_holds_the_title(title: str, number: int) -> None:
    assert passage_title(passage_name(title, number)) == title
    assert passage_title("· 1") == passage_title("chunk 3") == ""


def test_ids_stay_what_they_are() -> None:
    """A graph holds ids for years: another way to make them needs another format version."""
    assert node_id("entity", "ada lovelace", "Person") == "ad12688bcbd19ae0daa81be2f60365f7"
    assert node_id("a", "b") != node_id("ab") != node_id("b", "a")
    assert len(node_id("\ud800 half a pair")) == 32


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        *(("", 0), ("1815", 2), ("Hello, world!", 4), ("x" * 70, 10), ("中文" * 200 + "A", 401), ("Straße" * 7, 11)),
        *(("ភាសាខ្មែរ", 6), ("телеграф", 3), ("المحيط", 2), ("👍🏽", 2)),
    ],
)
def test_counting_tokens(text: str, tokens: int) -> None:
    assert count_tokens(text) == tokens


def test_scripts_without_spaces() -> None:
    assert [is_unspaced(text) for text in ("Ada鲁", "ไ", "မြန်မာ", "한국", "\U00020000", "Ада", "عدا", "")] == [
        *(True, True, True, True, True),
        *(False, False, False),
    ]


def test_lone_surrogates_are_replaced() -> None:
    assert without_lone_surrogates("a\ud800b\U0001f600") == "a\ufffdb\U0001f600"


@given(ANY_TEXT, ANY_TEXT)
def test_a_longer_text_has_no_fewer_tokens(one: str, other: str) -> None:
    assert max(count_tokens(one), count_tokens(other)) <= count_tokens(f"{one} {other}")
    assert count_tokens(f"{one} {other}") == count_tokens(one) + count_tokens(other)
