"""Names into placeholders: all mentions of all forms in a text, the longest first, in time proportional to the text.

finder = Finder({"Ahab": "[PERSON#3]", "Captain Ahab": "[PERSON#3]"})
finder.mentions("Captain Ahab's ship")     # [Mention(start=0, end=12, placeholder='[PERSON#3]')]
number_entities([("PERSON", "Ahab"), ("LOCATION", "Nantucket")], seed=0, taken={1})
# {("PERSON", "Ahab"): "[PERSON#3]", ("LOCATION", "Nantucket"): "[LOCATION#2]"}
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from kgplatform.text import WORD, in_word, is_unspaced, node_id, normalise_name, tidy

# Between the words of a name: blanks, with at most one line end among them.
_GAP = r"(?:[^\S\r\n]+(?:(?:\r\n?|\n)[^\S\r\n]*)?|(?:\r\n?|\n)[^\S\r\n]*)"
_APOSTROPHES = "'’ʼ"
_HYPHENS = "-\u2010\u2011"
PLACEHOLDER = re.compile(r"\[([^\W\d_](?:\w*[^\W_])?)#(\d{1,9})\]")
_NO_LABEL = re.compile(r"\W+|_+")
_LETTERS = re.compile(r"[^\W\d_]+")
_EDGES = "".join(sorted(set("\"'“”‘’«»„()[]{}<>,;:!?*_` \t")))


@dataclass(frozen=True, slots=True)
class Mention:
    """``text[start:end]`` is a name, and ``placeholder`` is to stand in its place."""

    start: int
    end: int
    placeholder: str


class _Form:
    """One form of a name. Its pattern is made when a text has its first word: most never are."""

    def __init__(self, spellings: Sequence[Sequence[str]], placeholder: str) -> None:
        self.placeholder = placeholder
        self._spellings = spellings

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """All spellings of the form."""
        ways = (_GAP.join(map(_word_pattern, words)) for words in self._spellings)
        return re.compile("|".join(ways))


class Finder:
    """All forms of all names. ``forms`` maps each to its placeholder; ``plain_words`` are not looked for in capitals.

    A form is found in its own case, at the beginning of a sentence, or in capitals throughout ("AHAB"); as whole words,
    whatever the white space between them, in composed or decomposed Unicode. A common word in lower case is no name.
    """

    def __init__(self, forms: Mapping[str, str], plain_words: Iterable[str] = ()) -> None:
        self._by_piece: dict[str, list[_Form]] = defaultdict(list)
        plain = frozenset(plain_words)
        for form in sorted(forms, key=lambda form: (-len(form), form)):
            words = tidy(form).strip(_EDGES).split()
            if not words:
                continue
            spelt = _spellings(words, in_capitals=form not in plain)
            found = _Form(spelt, forms[form])
            pieces = [WORD.search(each[0]) for each in spelt]
            for piece in dict.fromkeys(each[0].casefold() for each in pieces if each):
                self._by_piece[piece].append(found)

    def mentions(self, text: str) -> list[Mention]:
        """What stands for names in ``text``, from left to right; of overlapping ones the longest, then the first."""
        taken = bytearray(len(text))
        kept: list[Mention] = []
        for found in sorted(self._candidates(text), key=lambda mention: (mention.start - mention.end, mention.start)):
            # None of those that were taken is shorter, so that one that overlaps covers an end of this one.
            if not (taken[found.start] or taken[found.end - 1]):
                taken[found.start : found.end] = b"\1" * (found.end - found.start)
                kept.append(found)
        return sorted(kept, key=lambda mention: mention.start)

    def placeholder_of(self, name: str) -> str | None:
        """What stands for ``name`` as a whole, if it is a form of a name."""
        found = self.mentions(name)
        whole = found and not any(in_word(letter) for letter in name[: found[0].start] + name[found[0].end :])
        return found[0].placeholder if whole else None

    def replaced(self, text: str) -> str:
        """``text`` with all its names replaced."""
        return with_edits(text, [(mention.start, mention.end, mention.placeholder) for mention in self.mentions(text)])

    def _candidates(self, text: str) -> list[Mention]:
        found: list[Mention] = []
        for piece in WORD.finditer(text):
            for form in self._by_piece.get(piece[0].casefold(), ()):
                match = form.pattern.match(text, piece.start())
                if match and _is_whole(text, match.start(), match.end()):
                    found.append(Mention(match.start(), match.end(), form.placeholder))
        return found


def with_edits(text: str, edits: Sequence[tuple[int, int, str]]) -> str:
    """``text`` with the characters ``[start, end)`` of each edit replaced; edits in order, without overlap."""
    parts: list[str] = []
    at = 0
    for start, end, new in edits:
        parts += (text[at:start], new)
        at = end
    return "".join((*parts, text[at:]))


def _spellings(words: Sequence[str], *, in_capitals: bool) -> list[list[str]]:
    """Ways to write a name: as it is, with a capital first letter, in capitals; each composed and decomposed."""
    first = words[0][:1].upper() + words[0][1:]
    ways = [list(words), [first, *words[1:]]]
    if in_capitals:
        ways.append([word.upper() for word in words])
    forms = [[unicodedata.normalize(form, word) for word in way] for way in ways for form in ("NFC", "NFD")]
    return [list(way) for way in dict.fromkeys(map(tuple, forms))]


def _letter(letter: str) -> str:
    for alike in (_APOSTROPHES, _HYPHENS):
        if letter in alike:
            return f"[{re.escape(alike)}]"
    return re.escape(letter)


def _word_pattern(word: str) -> str:
    """The full stop of "Mrs." may be missing."""
    last = r"\.?" if word[-1] == "." and len(word) > 1 else _letter(word[-1])
    return "".join(map(_letter, word[:-1])) + last


def _is_whole(text: str, start: int, end: int) -> bool:
    """Whether no word goes on at either end; in scripts without spaces nobody can tell, and all is whole."""
    return not (_joined(text[start - 1 : start], text[start]) or _joined(text[end : end + 1], text[end - 1]))


def _joined(outside: str, inside: str) -> bool:
    if not outside or not in_word(outside) or not in_word(inside):
        return False
    is_mark = unicodedata.category(outside)[0] == "M"
    return is_mark or not is_unspaced(outside + inside)


def label_of(type_name: str) -> str:
    """The word of a type in placeholders: ``Work of Art`` is ``WORK_OF_ART``. Empty if it has no letter."""
    parts = [part for part in _NO_LABEL.split(type_name.upper()) if part]
    return "_".join(parts) if parts and parts[0][0].isalpha() else ""


def taken_numbers(text: str) -> set[int]:
    """The numbers of placeholders that ``text`` has of itself, whatever their label: no entity may get one."""
    return {int(found[2]) for found in PLACEHOLDER.finditer(text)}


def number_entities(
    entities: Iterable[tuple[str, str]], seed: int, taken: frozenset[int] | set[int]
) -> dict[tuple[str, str], str]:
    """The placeholder of each ``(label, name)``.

    One row of numbers serves all labels. Their order is that of hashes of seed, label and name: the same for the same
    entities and seed, and neither the order of appearance nor that of the alphabet, which would give answers away.
    """
    ordered = sorted(set(entities), key=lambda entity: (node_id(seed, entity[0], normalise_name(entity[1])), entity))
    numbers = (number for number in range(1, len(ordered) + len(taken) + 1) if number not in taken)
    return {entity: f"[{entity[0]}#{number}]" for entity, number in zip(ordered, numbers, strict=False)}


@dataclass(frozen=True, slots=True)
class WordUse:
    """How the texts write their words: how often with a capital, how often without."""

    capital: Mapping[str, int]
    lower: Mapping[str, int]

    @classmethod
    def of(cls, texts: Iterable[str]) -> WordUse:
        """The use of all words of ``texts``; those in capitals tell nothing."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(_LETTERS.findall(text))
        capital: Counter[str] = Counter()
        lower: Counter[str] = Counter()
        for word, count in counts.items():
            if word.islower() or not word[0].isupper():
                lower[word.lower()] += count
            elif not word.isupper():
                capital[word.lower()] += count
        return cls(capital, lower)

    def is_name(self, form: str) -> bool:
        """Whether a form is more often written as a name than as a word; of several words it always is."""
        words = _LETTERS.findall(form.lower())
        return len(words) != 1 or self.capital.get(words[0], 0) > self.lower.get(words[0], 0)

    def is_word(self, form: str) -> bool:
        """Whether a form of one word is written as a common word anywhere."""
        return all(self.lower.get(word, 0) for word in _LETTERS.findall(form.lower()))
