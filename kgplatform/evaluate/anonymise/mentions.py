"""Names into placeholders: all mentions of all forms in a text, the longest first, in time proportional to the text.

finder = Finder({"Ahab": "[PERSON#3]", "Captain Ahab": "[PERSON#3]"})
finder.mentions("Captain Ahab's ship")     # [(0, 12, '[PERSON#3]')]
"""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache

from kgplatform.text import WORD, in_word, is_unspaced, tidy

PLACEHOLDER = re.compile(r"\[([^\W\d_](?:\w*[^\W_])?)#(\d{1,9})\]")
# Between the words of a name: blanks, with at most one line end among them.
_GAP = r"(?:[^\S\r\n]+(?:(?:\r\n?|\n)[^\S\r\n]*)?|(?:\r\n?|\n)[^\S\r\n]*)"
_ALIKE = {letter: f"[{re.escape(letters)}]" for letters in ("'’ʼ", "-\u2010\u2011") for letter in letters}
_EDGES = "\"'“”‘’«»„()[]{}<>,;:!?*_` \t"

Edit = tuple[int, int, str]
"""The characters ``[start, end)`` of a text, and what is to stand there."""


class Finder:
    """All forms of all names. ``forms`` maps each to its placeholder; ``plain_words`` are not looked for in capitals.

    A form is found in its own case, at the beginning of a sentence, or in capitals throughout ("AHAB"); as whole words,
    whatever the white space between them, in composed or decomposed Unicode. A common word in lower case is no name.
    """

    def __init__(self, forms: Mapping[str, str], plain_words: Iterable[str] = ()) -> None:
        self._by_piece: dict[str, list[tuple[tuple[str, ...], str]]] = defaultdict(list)
        plain = frozenset(plain_words)
        for form, placeholder in sorted(forms.items()):
            name = tidy(form).strip(_EDGES)
            ways = _spellings(name, in_capitals=form not in plain)
            for piece in dict.fromkeys(found[0].casefold() for way in ways if (found := WORD.search(way))):
                self._by_piece[piece].append((ways, placeholder))

    def mentions(self, text: str) -> list[Edit]:
        """What stands for names in ``text``, from left to right; of overlapping ones the longest, then the first."""
        taken = bytearray(len(text))
        kept: list[Edit] = []
        for start, end, placeholder in sorted(self._candidates(text), key=lambda found: (found[0] - found[1], found)):
            # None of those that were taken is shorter, so that one that overlaps covers an end of this one.
            if not (taken[start] or taken[end - 1]):
                taken[start:end] = b"\1" * (end - start)
                kept.append((start, end, placeholder))
        return sorted(kept)

    def placeholder_of(self, name: str) -> str | None:
        """What stands for ``name`` as a whole, if it is a form of a name."""
        for start, end, placeholder in self.mentions(name)[:1]:
            if not any(map(in_word, name[:start] + name[end:])):
                return placeholder
        return None

    def replaced(self, text: str) -> str:
        """``text`` with all its names replaced."""
        return with_edits(text, self.mentions(text))

    def _candidates(self, text: str) -> Iterator[Edit]:
        for piece in WORD.finditer(text):
            for ways, placeholder in self._by_piece.get(piece[0].casefold(), ()):
                match = _pattern(ways).match(text, piece.start())
                if match and _is_whole(text, match.start(), match.end()):
                    yield match.start(), match.end(), placeholder


def with_edits(text: str, edits: Sequence[Edit]) -> str:
    """``text`` with the characters ``[start, end)`` of each edit replaced; edits in order, without overlap."""
    parts: list[str] = []
    at = 0
    for start, end, new in edits:
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))


def _spellings(name: str, *, in_capitals: bool) -> tuple[str, ...]:
    """Ways to write a name: as it is, with a capital first letter, in capitals; each composed and decomposed."""
    ways = [name, name[:1].upper() + name[1:], *([name.upper()] if in_capitals else [])]
    return tuple(dict.fromkeys(unicodedata.normalize(form, way) for way in ways for form in ("NFC", "NFD")))


@lru_cache(maxsize=1 << 16)
def _pattern(ways: tuple[str, ...]) -> re.Pattern[str]:
    """All spellings of a form. It is made when a text has its first word: most never are."""
    return re.compile("|".join(_GAP.join(map(_word_pattern, way.split())) for way in ways))


def _word_pattern(word: str) -> str:
    """The full stop of "Mrs." may be missing."""
    letters = "".join(_ALIKE.get(letter, re.escape(letter)) for letter in word)
    return f"{letters}?" if word[-1] == "." and len(word) > 1 else letters


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word goes on at either end; in scripts without spaces nobody can tell, and all is whole."""
    return not (_joined(text[start - 1 : start], text[start]) or _joined(text[end : end + 1], text[end - 1]))


def _joined(outside: str, inside: str) -> bool:
    if not outside or not in_word(outside) or not in_word(inside):
        return False
    return unicodedata.category(outside)[0] == "M" or not is_unspaced(outside + inside)
