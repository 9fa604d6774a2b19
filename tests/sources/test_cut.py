"""What cutting into passages promises: exact offsets, nothing lost, nothing cut that need not be."""

import random
import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from kgplatform.errors import InputError
from kgplatform.records import Document, Location, Passage
from kgplatform.sources.cut import cut_document
from kgplatform.text import count_tokens, node_id


def document(text: str, locations: tuple[Location, ...] = ()) -> Document:
    return Document("doc", "The name", "file:///d.txt", "file:///d.txt", text, "", locations)


def passages(text: str, max_tokens: int) -> list[Passage]:
    found = cut_document(document(text), max_tokens)
    check(text, found, max_tokens)
    return found


def texts(text: str, max_tokens: int) -> list[str]:
    return [passage.text for passage in passages(text, max_tokens)]


def check(text: str, found: list[Passage], max_tokens: int) -> None:
    end = 0
    for index, passage in enumerate(found):
        assert passage.index == index
        assert text[passage.start : passage.end] == passage.text == passage.text.strip() != ""
        assert not text[end : passage.start].strip()
        assert passage.tokens == count_tokens(passage.text)
        assert passage.tokens <= max_tokens or len(passage.text) == 1
        assert passage.id == node_id("chunk", "doc", passage.start, passage.end, passage.text)
        end = passage.end
    assert not text[end:].strip()


def sentences_in_one_piece(text: str, max_tokens: int, *sentences: str) -> None:
    """Every cut of ``text`` lies between ``sentences``, at every size that has room for the longest of them."""
    assert "".join(text.split()) == "".join("".join(sentences).split())
    least = max(count_tokens(sentence) for sentence in sentences)
    for size in range(least, max(least, max_tokens) + 1):
        found = texts(text, size)
        for sentence in sentences:
            assert any(sentence in passage for passage in found), (size, sentence, found)


PIECES = [
    *("Ada met Dr. Babbage in London. ", "Why? ", "It cost 3.5 pounds! ", "no capital here "),
    *("\n", "\n\n", "\r\n", " ", "- item\n", "# Heading\n"),
    *("他在北京。", "「本当？」と言った。", "وُلدت في لندن؟ ", "वह आई। ", "Привет, мир. ", "กรุงเทพมหานคร"),
    *("e\u0301\u0323", "👩‍👩‍👧‍👦", "🇩🇪🇫🇷", "각", "\u200b", "\x0c", "\u2029"),
    *("…", ". . .", '."', "(U.S.)", "1234567890", "x" * 50),
]


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=60).map("".join), st.integers(1, 60))
@example("", 1)
@example(" \n\t\n ", 5)
@example("a", 1)
@example("e\u0301\u0323", 1)
def test_promises_hold_for_mixed_scripts(text: str, max_tokens: int) -> None:
    passages(text, max_tokens)


@settings(max_examples=25, deadline=None)
@given(st.text(max_size=300), st.integers(1, 40))
def test_promises_hold_for_any_text(text: str, max_tokens: int) -> None:
    passages(text, max_tokens)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.integers(20, 80))
def test_plain_sentences_are_never_cut(seed: int, max_tokens: int) -> None:
    dice = random.Random(seed)
    words = ("engine", "ada", "number", "programs", "analytical", "note")
    made = [" ".join(dice.choices(words, k=dice.randint(1, 9))).capitalize() + dice.choice(".?!") for _ in range(40)]
    text = "".join(sentence + dice.choice((" ", " ", "\n", "\n\n")) for sentence in made)
    found = texts(text, max_tokens)
    assert [s for passage in found for s in re.split(r"(?<=[.?!])\s+", passage)] == made


def test_nothing_in_nothing_out() -> None:
    assert passages("", 10) == passages(" \n \t\n", 10) == []


def test_a_size_without_room_is_refused() -> None:
    with pytest.raises(InputError, match="0 tokens"):
        cut_document(document("Text."), 0)


def test_names_count_from_one_and_ids_depend_on_the_text() -> None:
    first, second = passages("One one one. Two two two.", 4)
    assert (first.name, first.index, second.name, second.index) == ("The name · 1", 0, "The name · 2", 1)
    assert passages("One one one. Two two twi.", 4)[0].id == first.id
    assert passages("One one one. Two two twi.", 4)[1].id != second.id


@pytest.mark.parametrize(
    "sentences",
    [
        ("We saw Dr. Smith today. ", "He was well. ", "So was Prof. J. R. R. Tolkien of Oxford."),
        ("他来了。", "她走了！", "为什么？", "“我不知道。”", "真的。"),
        ("First.\r\n", "Second one\r\nhere.\r\n", "Third."),
    ],
)
def test_sentences_stay_whole_at_every_size(sentences: tuple[str, ...]) -> None:
    sentences_in_one_piece("".join(sentences), 40, *(sentence.strip() for sentence in sentences))


def test_sentence_ends_are_used() -> None:
    assert texts("他来了。她走了！为什么？真的。", 8) == ["他来了。她走了！", "为什么？真的。"]
    assert texts("One two three. Four five six! Seven eight nine?", 4) == [
        "One two three.",
        "Four five six!",
        "Seven eight nine?",
    ]


def test_list_items_and_table_rows_are_units() -> None:
    text = "Things\n- one apple here\n- two pears there\n3. three plums too\n| a | b |"
    assert texts(text, 6)[:3] == ["Things\n- one apple here", "- two pears there", "3. three plums too"]


def test_an_overlong_sentence_is_cut_at_lines_then_clauses_then_words() -> None:
    lines = "alpha beta gamma delta\n" * 5
    assert texts(lines, 10) == ["alpha beta gamma delta\nalpha beta gamma delta"] * 2 + ["alpha beta gamma delta"]
    assert texts("one two three four, five six seven eight nine ten", 7) == [
        "one two three four,",
        "five six seven eight nine ten",
    ]
    assert texts("one two three four five six seven", 3) == ["one two three", "four five six", "seven"]
    assert texts("我们去北京，他们去上海，大家都很高兴", 8) == ["我们去北京，", "他们去上海，", "大家都很高兴"]


def test_a_huge_word_is_cut_at_the_limit_and_a_latin_letter_does_not_make_chinese_one() -> None:
    assert [len(text) for text in texts("x" * 100, 10)] == [70, 30]
    assert [len(text) for text in texts("A" + "中文" * 99, 50)] == [50, 50, 50, 49]


def test_graphemes_stay_whole_where_there_is_room() -> None:
    for grapheme in ("e\u0301", "👩‍👩‍👧‍👦", "🇩🇪", "👍🏽", "क्षि", "\u1112\u1161\u11ab", "☂\ufe0f"):
        for passage in texts(grapheme * 200, 25):
            assert len(passage) % len(grapheme) == 0, (grapheme, passage)
    # One without end obeys the limit all the same.
    assert len(texts("e" + "\u0301" * 1000, 100)) > 10


@pytest.mark.parametrize(
    "text",
    ["a" * 100_000, "中文字符" * 25_000, '."' * 50_000, "e\u0301" * 50_000, "Name\n\n" * 20_000],
    ids=lambda text: repr(text[:6]),
)
def test_a_hundred_thousand_characters_without_structure(text: str) -> None:
    passages(text, 400)


def test_a_paragraph_end_is_preferred_if_the_passage_is_half_full() -> None:
    first, second = "A b c d e f. G h i j k l. ", "M n o p q r. S t u v w x. Y z a b c d."
    assert texts(first.strip() + "\n\n" + second, 22) == [first.strip(), second]


def test_passages_are_filled() -> None:
    sizes = [passage.tokens for passage in passages("Ada wrote notes on it. " * 500, 100)]
    assert min(sizes[:-2]) >= 90 and sum(sizes) == 3000


def test_a_heading_stays_with_its_text() -> None:
    body = "This is a sentence of text. " * 4
    for heading in ("The second part", "## The second part", "Part II\n\nThe second part"):
        found = texts(f"{body}\n\n{heading}\n\n{body}", 40)
        assert found[1].startswith(heading) and len(found) == 2
    assert texts("One two three four five six seven.\n# Head\nEight nine ten eleven.", 12)[1].startswith(
        "# Head\nEight"
    )


def test_a_list_of_short_lines_is_no_row_of_headings() -> None:
    assert min(passage.tokens for passage in passages("\n\n".join(["A name"] * 100), 20)) == 20


def test_no_tiny_tail_where_it_can_be_balanced() -> None:
    sizes = [passage.tokens for passage in passages("One two three four. " * 8 + "End.", 40)]
    assert sizes == [20, 22]


def paged(*pages: str) -> Document:
    spans, start = [], 0
    for number, text in enumerate(pages, start=1):
        if text:
            spans.append(Location(f"page {number}", start, start + len(text)))
            start += len(text) + 2
    return document("\n\n".join(text for text in pages if text), tuple(spans))


def test_a_passage_has_the_page_of_its_first_character() -> None:
    found = cut_document(paged("One one one. Two two two.", "", "Three three. Four four."), 4)
    assert [passage.page for passage in found] == [1, 1, 3, 3]
    assert passages("No pages.", 5)[0].page is None


def test_a_sentence_that_runs_on_over_the_page_is_not_cut() -> None:
    source = paged("Short one here. This sentence starts on", "page two and ends there. Another one here.")
    found = cut_document(source, 12)
    check(source.text, found, 12)
    assert any("starts on\n\npage two and ends there." in passage.text for passage in found)
    assert texts("A heading without stop\n\nlower case paragraph here.", 6)[0] == "A heading without stop"
