"""Words for text: identity of names, identity of nodes, how things are told, and how many tokens a language model sees.

    count_tokens("Hello, world!")      # 4
    count_tokens("Здравствуйте")       # 4

Tokenizers learn whole words of the languages that they see most of, and pieces of others, so that a letter costs what
its script costs. The shares are fitted to o200k_base (GPT-4o and later) on people's paragraphs in fifteen languages,
for other scripts on names of countries and languages; docs/explanation/benchmarks/languages.md has how far off it is.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from bisect import bisect_left
from collections.abc import Iterable, Mapping, Sequence
from difflib import get_close_matches

_SPACE = re.compile(r"\s+")
_NO_NAME = dict.fromkeys([*range(9), *range(14, 28), *range(127, 133), *range(134, 160)])
"""The control characters that are not white space: whatever steers a terminal or was damaged, no name has it."""
_CONTROL = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "\ufffd")
LONGEST_NAME = 500
"""Characters of a name. Longer ones are not names, and Neo4j cannot index much longer ones."""
_NUMBERED = " · "
_ASIDE = re.compile(r"\s*\([^()]*\)\s*$")

UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    r"\uf900-\ufaff\U00020000-\U0003ffff"
)
"""For a class of a regex: scripts whose words no white space parts, and Korean, which adds its particles to them.

Thai and Lao, Burmese, Khmer, Kana, Han, Hangul.
"""

WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
"""A run of letters and digits; of a script that is written without spaces, one letter."""

WORD_RUN = re.compile(r"\w+")
"""Letters, digits and underscores without a break; of a script that is written without spaces, a whole clause."""

_UNSPACED_LETTER = re.compile(rf"[{UNSPACED}]")


def tidy(text: str) -> str:
    """``text`` in Unicode's composed form, white space folded to single spaces: a name as it is shown."""
    printable = text if text.isprintable() else text.translate(_NO_NAME)
    return _SPACE.sub(" ", unicodedata.normalize("NFC", printable)).strip()


def normalise_name(name: str) -> str:
    """The identity of a name: compatibility forms unified, case folded, white space folded. Script is kept.

    >>> normalise_name("  Ｂｊörk   GUÐMUNDSDÓTTIR ")
    'björk guðmundsdóttir'
    """
    return folded(name if name.isprintable() else name.translate(_NO_NAME))


def folded(name: str) -> str:
    """``name`` without what spelling and white space make of it, as scores compare answers: control characters stay."""
    if name.isascii():  # most are, and a question has hundreds of runs of words
        return " ".join(name.lower().split())
    composed = unicodedata.normalize("NFKC", name).casefold()
    # Case folding can undo the composition (as for U+0130), so that a second fold would differ: compose again.
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", composed)).strip()


def title_key(title: str) -> str:
    """The identity of a title as a question would say it: normalised, without a trailing "(film)" or the like."""
    return (normalise_name(_ASIDE.sub("", title)) or normalise_name(title))[:LONGEST_NAME]


def passage_name(title: str, number: int) -> str:
    """What passage ``number``, from 1, of the document ``title`` is called."""
    return f"{title}{_NUMBERED}{number}"


def passage_title(name: str) -> str:
    """The title in a ``passage_name``; empty if there is none."""
    return name.rpartition(_NUMBERED)[0]


def type_key(name: str) -> str:
    """The identity of a type's name: ``directed by``, ``directed_by``, ``Directed-By`` and ``directedBy`` are one.
    Letters, digits and marks count, case and all else do not."""
    letters = "".join(filter(in_word, unicodedata.normalize("NFKC", name)))
    return unicodedata.normalize("NFKC", letters.casefold())


def in_word(letter: str) -> bool:
    """Whether a character belongs to a word: a letter, a digit, or a mark on one."""
    return letter.isalnum() or unicodedata.category(letter).startswith("M")


def is_unspaced(text: str) -> bool:
    """Whether ``text`` has letters of a script that is written without spaces (``UNSPACED``)."""
    return _UNSPACED_LETTER.search(text) is not None


def without_lone_surrogates(text: str) -> str:
    """``text`` with each half of a surrogate pair replaced by U+FFFD: no UTF-8, and so no JSON body, can carry it."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def node_id(*parts: object) -> str:
    """The id of the node that ``parts`` identify: 128 bits of SHA-256, in hexadecimal."""
    joined = "\x1f".join("" if part is None else str(part) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def hash64(text: str) -> int:
    """64 bits that stand for ``text`` where there are too many to keep; two texts may have the same."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def count_words(text: str) -> int:
    """How many words ``text`` has, as white space parts them (ReadAgent counts so)."""
    return len(text.split())


def rejoin(pieces: Iterable[tuple[int, str]], start: int, end: int) -> str:
    """The characters ``[start, end)`` of a document, from its passages: ``(first character, text)``, in order.

    Passages leave out white space alone. Which it was is not known: one character between two passages is given as a
    space, more of them as line ends.

    >>> rejoin([(0, "One."), (6, "Two."), (11, "Three.")], 0, 13)
    'One.\\n\\nTwo. Th'
    """
    parts: list[str] = []
    at = start
    for first, text in pieces:
        inside = text[max(0, at - first) : max(0, end - first)]
        if inside:
            parts += (_blank(max(0, first - at)), inside)
            at = max(at, first) + len(inside)
    return "".join((*parts, _blank(end - at)))


def _blank(length: int) -> str:
    return " " if length == 1 else "\n" * length


def counted(number: int, noun: str) -> str:
    """``1 document``, ``2,000 documents``, ``3 entities``."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def clipped(text: str, most: int) -> str:
    """``text`` on one line, in at most ``most`` characters, the mark of the cut included."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"


def listed(items: Sequence[str], most: int = 10) -> str:
    """``a, b and 3 more``: the first ``most`` of ``items``; ``none`` without any."""
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more if items else "none"


def without_controls(text: str) -> str:
    """``text`` from a document or a model without the codes that steer a terminal."""
    return text.translate(_CONTROL)


def duration(seconds: float) -> str:
    """``85 ms``, ``2.4 s``, ``3 min 05 s``, ``2 h 10 min``."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` Did you mean X?``, with a blank before it; nothing where no known word is near."""
    by_case = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), by_case, n=1)
    return f" Did you mean {by_case[found[0]]}?" if found else ""


def unknown(noun: str, word: str, known: Iterable[str]) -> str:
    """`Unknown reader "x". Did you mean y? Choose one of y, z.`: the sentence for a bad choice, on one line."""
    known = list(known)
    return f'Unknown {noun} "{tidy(word)[:100]}".{did_you_mean(word, known)} Choose one of {", ".join(known)}.'


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
    that needs most for them."""
    if text.isascii():
        return 0.0
    letters = _NOT_ASCII.findall(text)
    return (sum(map(_HIGHEST.__getitem__, letters)) - sum(map(_COSTS.__getitem__, letters))) / _UNIT
