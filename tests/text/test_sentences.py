"""Where sentences end, in every script and on nasty texts; the passageer's and the extractor's view of it."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgplatform.text.sentences import (
    LIKELY,
    LONGEST_SENTENCE,
    PARAGRAPH,
    SENTENCE,
    lines,
    numbered,
    ranked_sentences,
    sentences,
)


def cut(text: str) -> list[str]:
    return [text[found.start : found.end] for found in sentences(text)]


def ranks(text: str, least: int = LIKELY) -> list[int]:
    return [rank for _, _, rank in ranked_sentences(text, least)]


@pytest.mark.parametrize(
    "expected",
    [
        ("Mr. and Mrs. Hale met Prof. Lund.", "They left."),
        ("We read J. R. R. Tolkien and J.K. Rowling.", "It rained."),
        ("It costs 3.50, e.g. Fig. 3, Vol. II, Op. 53 and No. 5.", "He said no.", "She said yes."),
        ("Acme Inc. Berlin met Blue Bros. Pictures Ltd. in Jan. 1920.", "Nobody came."),
        ("She left.[12]", "He stayed.[a]", "(They met again.)", "“Why?”", "It ended."),
        ("“Is it you?” she asked.", "“Yes!” he said.", "Then... nothing.", "He waited… and waited."),
        ("He kept Ada's.", "She didn't.", "They don’t.", "Nor do I."),
        ("It was U.S.-based (St. Ives).", "It closed."),
        ("Am 3. Oktober, im 19. Jahrhundert, kam Dr. Klein bzw. Frau Groß z.B. nach Köln.", "Er blieb."),
        ("Он жил на ул. Ленина.", "Потом уехал.", "Почему?"),
        ("« Elle change tout. »", "Il meurt en 52 av. J.-C.", "J.-C. Blanc le dit : « Oui ! »", "Paul rit."),
        ("Nació en EE. UU. en 1912.", "Volvió a los EE. UU.", "Las FF. AA. callan.", "Va a 10 Gbit/s.", "Corre."),
        ("상권의 〈2. 현성명자품〉에 있다.", "본다."),
    ],
    ids=lambda expected: expected[0][:20],
)
def test_abbreviations_are_no_ends(expected: tuple[str, ...]) -> None:
    assert cut(" ".join(expected)) == list(expected)
    assert cut("  " + "\n\n".join(expected) + "\n") == list(expected)


@pytest.mark.parametrize(
    ("text", "passages", "sentences_"),
    [
        *(("He was aged 12. Then he left.", 1, 2), ("It was World War I. New roads came.", 1, 2)),
        *(("It was built in 1912. Then it burnt.", 2, 2), ("By I. Kant and J. Mill.", 1, 1)),
        ("1. One plum. 2. Two pears. (3) No. 3. It ended.", 3, 4),
    ],
)
def test_a_full_stop_after_a_number_is_likely_an_end(text: str, passages: int, sentences_: int) -> None:
    """An extractor cuts there; a passage does not end there, for it may be an ordinal."""
    assert (len(ranks(text, SENTENCE)), len(cut(text))) == (passages, sentences_)


@pytest.mark.parametrize(
    "expected",
    [
        *(
            ("他来了。", "她走了！", "为什么？", "“我不知道。”", "真的。"),
            ("東京に行った。", "「本当？」と彼は言った。", "そうだ｡", "(終わり。)", "東京。"),
        ),
        *(("क्या वह आई।", "वह गई॥", "हाँ।"), ("እሱ መጣ።", "ሄደ።"), ("ՆԱ եկավ։", "Հետո գնաց։")),
    ],
    ids=["chinese", "japanese", "hindi", "amharic", "armenian"],
)
def test_full_ends_need_no_space(expected: tuple[str, ...]) -> None:
    for between in ("", " ", "\n"):
        assert cut(between.join(expected)) == list(expected)


def test_arabic_and_urdu() -> None:
    assert cut("هل جاء محمد؟ نعم، جاء أمس. ثم ذهب!") == ["هل جاء محمد؟", "نعم، جاء أمس.", "ثم ذهب!"]
    assert cut("وہ آیا۔وہ گیا۔ کیوں؟") == ["وہ آیا۔", "وہ گیا۔", "کیوں؟"]


def test_scripts_in_one_line() -> None:
    assert cut("Mr. No came at 5 p.m. in May. 他走了。She left. हाँ।") == [
        "Mr. No came at 5 p.m. in May.",
        "他走了。",
        "She left.",
        "हाँ।",
    ]


def test_lists_tables_and_headings_end_with_their_lines() -> None:
    listed = ["# A heading", "The list:", "- Paris", "- Rome", "1. Oslo", "(b) Bern", "end of it"]
    text = "\n".join(listed) + "\n\n| Ada | Bo |\n|---|---|\n| Cy | Di |\n"
    assert cut(text) == [*listed, "| Ada | Bo |", "| Cy | Di |"]
    assert [text[start:end] for start, end, _ in ranked_sentences(text)] == [
        *("# A heading", "The list:", "- Paris", "- Rome", "1. Oslo", "(b) Bern\nend of it", "| Ada | Bo |"),
        *("|---|---|", "| Cy | Di |"),
    ]


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("Luis Mandoki\n\nHe was born in Mexico City. He studied.", "Luis Mandoki He was born in Mexico City."),
        ("# Luis Mandoki\nHe was born. He studied.", "# Luis Mandoki He was born."),
        ("標題\n\n這是一個句子。另一個。", "標題 這是一個句子。"),
        ("सारांश\n\nयह एक वाक्य है। दूसरा।", "सारांश यह एक वाक्य है।"),
        ("Causes:\n\n“The sun is one.” The wind is another.", "Causes: “The sun is one.”"),
        ("Monday: closed\n\nTuesday: open\n\nCall us.", "Monday: closed"),
        ("Monday: closed\nWe are open on other days.", "Monday: closed"),
        ("- Monday\n\nClosed then.", "- Monday"),
        ("| a | b |\n\nA table stands above.", "| a | b |"),
        ("It is closed.\n\nCall us.", "It is closed."),
    ],
)
def test_a_heading_has_the_number_of_the_sentence_below_it(text: str, first: str) -> None:
    assert lines(text).splitlines()[0] == f"[1] {first}"
    place = numbered(text)[0]
    assert place == next(each for each in sentences(text) if each.end == place.end), "the heading is not cited"


def test_ranks() -> None:
    text = "Title\n\nFirst one. Second one\nin short lines.\n- an item\fPage two"
    expected = [PARAGRAPH, PARAGRAPH, SENTENCE, LIKELY, SENTENCE, PARAGRAPH]
    assert ranks(text) == expected
    assert ranks(text, SENTENCE) == [rank for rank in expected if rank >= SENTENCE]
    assert ranks(text, PARAGRAPH) == [PARAGRAPH] * 3


@pytest.mark.parametrize("line_end", ["\n", "\r\n", "\u2028", " \n  "])
def test_wrapped_prose_is_joined_and_short_lines_are_not(line_end: str) -> None:
    prose = "the long line of this paragraph is wrapped in the middle of New"
    assert cut(f"{prose}{line_end}York. It goes on.") == [f"{prose}{line_end}York.", "It goes on."]
    assert cut(f"{prose}{line_end}- York") == [prose, "- York"]
    assert cut(f"{prose}{line_end * 2}York") == [prose, "York"]
    assert cut(f"New{line_end}York") == ["New", "York"]
    assert cut(f"{prose}\tand a tab{line_end}York") == [f"{prose}\tand a tab", "York"]
    assert cut(f"{prose[:20]}|{prose[20:40]}{line_end}York") == [f"{prose[:20]}|{prose[20:40]}", "York"]


def test_a_sentence_runs_on_over_a_page() -> None:
    text = "It starts on\n\npage two. Next one.\n\nnew page"
    pages = frozenset({text.index("page two"), text.index("new page")})
    found = [text[start:end] for start, end, _ in ranked_sentences(text, page_starts=pages)]
    assert found == ["It starts on\n\npage two.", "Next one.", "new page"]
    assert len(ranks(text, SENTENCE)) == 4


PIECES = [
    "Ada met Dr. No. ",
    "Why? ",
    "aged 12. ",
    "World War I. ",
    "3. ",
    "他来了。",
    "「本当？」と",
    "هل؟ ",
    "x" * 3000,
]
PIECES += ["\n", "\n\n", "\r\n", " ", "\t", "- a\n", "| b |", "# H\n", "...", '."', "[1]"]
PIECES += ["\u2029", "\x0c", "\x1c", "e\u0301"]


@settings(max_examples=50, deadline=None)
@given(st.lists(st.sampled_from(PIECES), max_size=40).map("".join) | st.text(max_size=200))
def test_promises_hold_for_any_text(text: str) -> None:
    for least in (LIKELY, SENTENCE, PARAGRAPH):
        spans = list(ranked_sentences(text, least))
        assert "".join("".join(text[start:end] for start, end, _ in spans).split()) == "".join(text.split())
        assert all(text[start:end] == text[start:end].strip() != "" for start, end, _ in spans)
        assert all(left[1] <= right[0] for left, right in zip(spans, spans[1:], strict=False))
        assert all(rank >= least for _, _, rank in spans)
    found = cut(text)
    assert all(each == each.strip() and len(each) <= LONGEST_SENTENCE for each in found)
    assert all(re.search(r"[^\W_]", each) for each in found)
    assert sum(map(str.isalnum, "".join(found))) == sum(map(str.isalnum, text))


def test_what_says_nothing_is_left_out() -> None:
    assert cut("") == cut(" \n\t ") == cut("— … !!! ***\n\n---\n_____") == []
    assert cut("*** Yes. ... [...] No.") == ["*** Yes.", "No."]


def test_a_text_without_ends_is_cut_at_spaces() -> None:
    assert {len(each) for each in cut("word " * 1000)} == {1999, 999}
    assert [len(each) for each in cut("x" * 5000)] == [2000, 2000, 1000]
    assert cut("a" + " " * 5000 + "b") == ["a", "b"]


@pytest.mark.parametrize(
    "text",
    [
        *("Ada met Dr. No in Lund and " * 15_000, "x" * 400_000, "a" + "\t " * 200_000 + "\nb", "a\r" * 80_000),
        *('."' * 120_000, "。」" * 200_000, "12. " * 20_000, "a.b" * 120_000, "[1]" * 120_000, "#\n" * 80_000),
        "'a. A" * 30_000,
    ],
    ids=lambda text: repr(text[:6]),
)
def test_long_texts_are_read_in_linear_time(text: str) -> None:
    for found in sentences(text):
        assert 0 < found.end - found.start <= LONGEST_SENTENCE
    assert sum(end - start for start, end, _ in ranked_sentences(text)) <= len(text)
