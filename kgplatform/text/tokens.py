"""How many tokens a language model sees in a text, about, without any download.

    count_tokens("Hello, world!")      # 4
    count_tokens("Здравствуйте")       # 4

Tokenizers learn whole words of the languages that they see most of, and pieces of others, so that a letter costs what
its script costs. The shares are fitted to o200k_base (GPT-4o and later) on people's paragraphs in fifteen languages,
for other scripts on names of countries and languages; docs/explanation/benchmarks/languages.md has how far off it is.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Mapping

_LETTER = r"[^\W\d_]"
# Vowel signs and other marks of Arabic, Hebrew and of India's and South East Asia's scripts: they belong to the word.
_MARK = r"\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06ed\u0900-\u0963\u0970-\u0dff"
_MARK += r"\u0e31-\u0eff\u0f71-\u0f84\u102b-\u103e\u17b4-\u17d3"
# A run of letters, a run of digits, or one other visible character. Runs of ASCII letters alone stand first because
# they are found and counted many times as fast.
_PIECE = re.compile(rf"[A-Za-z]+(?!{_LETTER}|[{_MARK}])|(?:{_LETTER}|[{_MARK}])+|\d+|[^\w\s]|_")
_NOT_ASCII = re.compile(r"[^\x00-\x7f]")
_DIGITS_PER_TOKEN = 3
_LETTERS_PER_TOKEN = 7
_UNIT = 70

_SCRIPTS = (
    (0x007F, 10, 10, "ASCII"),
    (0x00FF, 56, 125, "é, ü, ñ"),
    (0x036F, 98, 151, "ğ, ș, ư"),
    (0x03FF, 25, 78, "Greek"),
    (0x052F, 18, 38, "Cyrillic"),
    (0x058F, 26, 135, "Armenian"),
    (0x05FF, 26, 78, "Hebrew"),
    (0x08FF, 23, 60, "Arabic"),
    (0x09FF, 23, 76, "Devanagari, Bengali"),
    (0x0DFF, 29, 130, "other scripts of India"),
    (0x0E7F, 32, 75, "Thai"),
    (0x0FFF, 119, 190, "Lao, Tibetan"),
    (0x109F, 35, 135, "Burmese"),
    (0x10FF, 26, 135, "Georgian"),
    (0x11FF, 70, 90, "Hangul, in pieces"),
    (0x139F, 126, 170, "Ethiopic"),
    (0x17FF, 40, 120, "Khmer, and what lies before it"),
    (0x1DFF, 70, 140, "others"),
    (0x1EFF, 21, 74, "ế, ợ"),
    (0x1FFF, 25, 78, "Greek with accents"),
    (0x2BFF, 70, 122, "punctuation and signs"),
    (0xA000, 70, 95, "Han, Kana"),
    (0xABFF, 70, 140, "others"),
    (0xD7FF, 70, 90, "Hangul"),
    (0xFEFF, 70, 95, "forms for compatibility"),
    (0xFFFF, 70, 95, "wide and narrow forms"),
    (0x10FFFF, 70, 210, "what has a second plane: emoji, rare Han"),
)
"""The last code point; seventieths of a token a letter costs with o200k_base, and with that of six tokenizers in use
(cl100k_base, o200k_base, and those of Llama 3, Qwen, Mistral and DeepSeek) that needs most; which they are."""


class _Costs(dict[str, int]):
    """What each letter costs, in seventieths of a token, found once."""

    def __init__(self, column: int) -> None:
        super().__init__()
        self._column = column

    def __missing__(self, letter: str) -> int:
        row = _SCRIPTS[bisect_left(_LASTS, ord(letter))]
        self[letter] = cost = int(row[self._column])
        return cost


_LASTS = [row[0] for row in _SCRIPTS]
_COSTS: Mapping[str, int] = _Costs(1)
_HIGHEST: Mapping[str, int] = _Costs(2)


def count_tokens(text: str) -> int:
    """About how many tokens a language model sees in ``text``: for sizes and estimates, never for bills (the server's
    own figures are used for those).

    The tokens of two texts with white space between them are those of both; a longer text has no fewer.
    """
    total = 0
    for piece in _PIECE.findall(text):
        if len(piece) == 1 and piece.isascii():
            total += 1
        elif piece.isascii():
            total += -(-len(piece) // (_DIGITS_PER_TOKEN if piece[0].isdigit() else _LETTERS_PER_TOKEN))
        else:
            total += -(-sum(map(_COSTS.__getitem__, piece)) // _UNIT)
    return total


def tokens_more(text: str) -> float:
    """How many tokens more than ``count_tokens`` letters of other scripts and with accents may cost, with the tokenizer
    that needs most for them.
    """
    if text.isascii():
        return 0.0
    letters = _NOT_ASCII.findall(text)
    return (sum(map(_HIGHEST.__getitem__, letters)) - sum(map(_COSTS.__getitem__, letters))) / _UNIT
