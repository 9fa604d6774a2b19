"""Paragraphs: between which ReadAgent can pause."""

from gists import paragraph, story
from hypothesis import given
from hypothesis import settings as tries
from hypothesis import strategies as st

from kgplatform.gist.options import Style
from kgplatform.gist.pagination import Paragraph, length, paragraphs

PIECES = st.sampled_from(
    ["\n", "\n\n", " ", "  \n \n", "One two three. ", "four", "ANN: Yes. ", "INT. HALL", "海を見る。", "\f", "\u2029",
     "a" * 90, "No. 5 is open! ", "🚢", "\r\n"]
)  # fmt: skip
STYLES: tuple[Style, ...] = ("prose", "turns", "scenes")


def texts(text: str, found: list[Paragraph]) -> list[str]:
    return [text[each.start : each.end] for each in found]


def test_blank_lines_part_paragraphs() -> None:
    text = " \n One.\nStill one. \n\n\n Two. \n \t\n Three.\f Four.\n"
    found = paragraphs(text, 300)
    assert texts(text, found) == ["One.\nStill one.", "Two.", "Three.", "Four."]
    assert [each.words for each in found] == [3, 1, 1, 1]
    assert paragraphs(" \n\n ", 300) == []


def test_a_long_paragraph_is_cut_at_sentence_ends() -> None:
    text = story([50, 400, 20])
    found = paragraphs(text, 100)
    assert max(each.words for each in found) <= 100
    assert sum(each.words for each in found) == 470
    assert all(text[each.end - 1] == "." for each in found)
    assert (found[0].words, found[-1].words) == (50, 20), "the others stay whole"


def test_a_long_sentence_is_cut_where_nothing_else_helps() -> None:
    text = "word " * 1000
    found = paragraphs(text, 300)
    assert max(each.words for each in found) <= 300
    assert " ".join(texts(text, found)).split() == text.split()


def test_scripts_that_do_not_part_words_count_by_tokens() -> None:
    text = "这是一个很长的句子。" * 300
    assert length(text) == 3000 // 4
    found = paragraphs(text, 100)
    assert max(each.words for each in found) <= 100
    assert "".join(texts(text, found)) == text
    english = paragraph("w", 500)
    assert length(english) == 500


def test_a_turn_of_a_speaker_is_a_paragraph() -> None:
    text = (
        "Ada Norrby: I open the meeting.\nWe are seven today,\nand one is late.\n"
        "Prof. Wei (chair): Thank you.\nSee http://example.org: it says so.\nBEN: No!\n\nADA: Why: 10:30 is early."
    )
    found = texts(text, paragraphs(text, 300, "turns"))
    assert found == [
        "Ada Norrby: I open the meeting.\nWe are seven today,\nand one is late.",
        "Prof. Wei (chair): Thank you.\nSee http://example.org: it says so.",
        "BEN: No!",
        "ADA: Why: 10:30 is early.",
    ]
    assert len(paragraphs(text, 300)) == 2, "in prose, lines part nothing"


def test_turns_where_nobody_is_named_or_the_white_space_is_not_known() -> None:
    text = "i open the meeting\nwe are seven today\nand one is late"
    assert texts(text, paragraphs(text, 300, "turns")) == text.split("\n")
    text = "ADA: One.\nBEN: Two. CY: Three. Two more. DEE: Four."
    unsure = [0, text.index("CY"), text.index("Two more")]
    found = texts(text, paragraphs(text, 300, "turns", unsure))
    assert found == ["ADA: One.", "BEN: Two.", "CY: Three. Two more. DEE: Four."]


def test_scenes_of_a_script() -> None:
    text = "FADE IN:\nEXT. HARBOUR - DAY\nA ship.\nADA\nWe sail.\n\nBEN\nNo.\nINT. CABIN\nDark.\nCUT TO:\nSCENE 2\nEnd."
    found = texts(text, paragraphs(text, 300, "scenes"))
    assert found == [
        "FADE IN:", "EXT. HARBOUR - DAY\nA ship.\nADA\nWe sail.", "BEN\nNo.", "INT. CABIN\nDark.", "CUT TO:",
        "SCENE 2\nEnd.",
    ]  # fmt: skip
    lines = "\n".join(f"Line {number} is short" for number in range(50))
    cut = paragraphs(lines, 40, "scenes", whole_lines=True)
    assert [each.words for each in cut] == [40] * 5
    assert all(part.startswith("Line") for part in texts(lines, cut))


@tries(max_examples=50, deadline=None)
@given(st.lists(PIECES, max_size=60).map("".join), st.sampled_from(STYLES), st.integers(1, 12), st.booleans())
def test_paragraphs_are_all_of_the_text(text: str, style: Style, most: int, whole_lines: bool) -> None:
    found = paragraphs(text, most, style, whole_lines=whole_lines)
    at = 0
    for each in found:
        assert text[at : each.start].strip() == ""
        assert text[each.start : each.end] == text[each.start : each.end].strip() != ""
        assert each.words == length(text[each.start : each.end])
        at = each.end
    assert text[at:].strip() == ""
    assert all(each.words <= most for each in found), "not even a long word is too long: it is cut"
