"""What a prompt costs in a model's window, and how what does not fit is divided."""

import pytest

from kgplatform.readers.window import cut, tokens
from kgplatform.text import count_tokens

PROSE = "The mill was built in 1704. It ground oats for the valley! Did Dr. Reed, who owned it, live there? "


def test_line_ends_long_names_and_other_scripts_cost_more_than_prose() -> None:
    assert tokens("one two three") == count_tokens("one two three") == 3
    assert tokens("one\ntwo\n\nthree") == 5
    assert tokens("Constance Wentworth") == count_tokens("Constance Wentworth") + 1
    assert tokens("мельница") > 1.5 * count_tokens("мельница")
    assert tokens("Gesellschaft") == count_tokens("Gesellschaft") + 2
    assert tokens("") == 0


@pytest.mark.parametrize(
    "text",
    [
        *(
            PROSE * 20,
            "word " * 500,
            "x" * 5000,
            "磨坊建于1704年。" * 100,
            "\n\n".join([PROSE] * 9),
            "  " + "a b\n" * 99,
        ),
        "word",
    ],
)
def test_parts_are_the_whole_text_and_each_fits(text: str) -> None:
    for room in (10, 33, 200):
        parts = cut(text, room)
        assert "".join(parts) == text
        assert all(parts)
        assert all(tokens(part) <= room for part in parts)


def test_parts_end_where_sentences_do_else_where_words_do() -> None:
    parts = cut(PROSE * 5, 40)
    assert all(part.rstrip().endswith((".", "!", "?")) for part in parts)
    assert not any(part.rstrip().endswith("Dr.") for part in parts)
    assert all(part.endswith("word ") for part in cut("word " * 200, 30))


def test_lines_without_sentences_are_whole() -> None:
    lines = [f'"{number:08d}-7b4d": "{number:08d}-1c55",\n' for number in range(60)]
    assert all(part.startswith('"') and part.endswith(",\n") for part in cut("".join(lines), 100))
    early = f"{'word ' * 12}word\n{'word ' * 200}"
    assert len(cut(early, 60)[0].split()) > 30, "a line end near the beginning is no place for a cut"
