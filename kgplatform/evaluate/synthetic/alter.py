"""Questions of a data set made counterfactual: names and numbers are replaced by invented ones.

    sample = Sample("Who wrote Hamlet?", ("William Shakespeare",), ("Hamlet is a play by William Shakespeare.",))
    alter(sample, random.Random(1)).statements      # ("Hamlet is a play by Dorvin Quilrasoltem.",)

So the answer follows the passage, and cannot be known from elsewhere (LongAgent, E 3.1 (3), A 3.1). Replaced is

- the answer, wherever it stands, also in the question, and each name that is made of its words alone;
- a name that stands in two passages and not in the question: the one that joins them;
- where the answer is yes or no, the names in the question instead.

The same words are always replaced by the same. Numbers keep their form: a year becomes another year, "1,200" another
number of four digits, a month another month.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from string import ascii_uppercase

from kgplatform.build.extract.local import title_forms
from kgplatform.build.extract.names import DocumentWords, names
from kgplatform.build.extract.words import DAYS, INNER_PARTICLES, MONTHS
from kgplatform.errors import InputError
from kgplatform.evaluate.synthetic.haystack import Needles
from kgplatform.evaluate.synthetic.invented import RARE_NAME, SHORT_NAME, invented_name
from kgplatform.evaluate.synthetic.needles import is_year, other_year
from kgplatform.places import find_names
from kgplatform.sentences import sentences
from kgplatform.text import normalise_name, tidy

YES_OR_NO = frozenset({"yes", "no"})

_ARTICLE = re.compile(r"\A(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
_WORD = re.compile(r"\w(?:[\w.'’&-]*\w)?", re.UNICODE)
_DIGITS = re.compile(r"\d+")
_ORDINAL = re.compile(r"\d+(?:st|nd|rd|th)", re.IGNORECASE)
_KEPT = INNER_PARTICLES | {"a", "an", "A", "An", "And", "The", "Of"}
"""Words inside of names that stay; in capitals some of them are names: Ben, Al."""

_LONGER_NUMBER = re.compile(r"(?<=\d)[.,](?=\d)")
_MONTHS = sorted(MONTHS)
_DAYS = sorted(DAYS)
_TRIES = 1000


@dataclass(frozen=True, slots=True)
class Sample:
    """A question of a data set: each of ``answers`` is right, and the question needs all of ``passages``.

    ``titles``: what passages are about, in any order; may be empty.
    """

    question: str
    answers: tuple[str, ...]
    passages: tuple[str, ...]
    titles: tuple[str, ...] = ()


def alter(sample: Sample, chance: random.Random) -> Needles:
    """What ``sample`` becomes. Raises ``InputError`` with the reason if it cannot be made counterfactual."""
    answers = tuple(dict.fromkeys(_ARTICLE.sub("", tidy(answer)) for answer in sample.answers if answer.strip()))
    if not answers:
        raise InputError("It has no answer.")
    is_choice = YES_OR_NO.issuperset(map(str.casefold, answers))
    bridges = _bridges(sample, answers)
    other = _Replacements(sample, chance, [*(_asked_about(sample) if is_choice else answers), *bridges])
    if not is_choice and other.phrase(answers[0]) == answers[0]:
        raise InputError(f"Its answer, {answers[0]!r}, has no name and no number that could be replaced.")
    if not other.words:
        raise InputError("Its answer is yes or no, and its question has no name that could be replaced.")
    statements = tuple(map(other.apply, sample.passages))
    if not is_choice and not any(find_names(other.phrase(answers[0]), said) for said in statements):
        raise InputError(f"Its answer, {answers[0]!r}, does not stand in its passages.")
    return Needles(
        other.apply(sample.question),
        answers if is_choice else _unlike(answers, map(other.phrase, answers)),
        statements,
        () if is_choice else answers,
        other.phrase(bridges[0]) if bridges else None,
    )


def _unlike(answers: Sequence[str], others: Iterable[str]) -> tuple[str, ...]:
    """The ``others`` that are none of ``answers``: one that nothing was replaced in is not right any more."""
    return tuple(dict.fromkeys(each for each in others if each not in answers))


class _Replacements:
    """What becomes of words and phrases, all over one sample."""

    def __init__(self, sample: Sample, chance: random.Random, phrases: Iterable[str]) -> None:
        self.words: dict[str, str] = {}
        self._phrases = list(dict.fromkeys(phrases))
        self._chance = chance
        self._text = "\n".join((sample.question, *sample.passages))
        for phrase in self._phrases:
            self._learn(phrase)

    def phrase(self, phrase: str) -> str:
        """``phrase`` with other words."""
        return _WORD.sub(lambda match: self.words.get(match[0], match[0]), phrase)

    def apply(self, text: str) -> str:
        """``text`` with the phrases replaced, wherever they stand, and the names that their words make up."""
        own = [name for name in _names(text) if self._has_all_words_of(name)]
        spans = [
            (start, -end, phrase)
            for phrase in dict.fromkeys([*self._phrases, *own])
            for start, end in _places(phrase, text)
        ]
        parts: list[str] = []
        at = 0
        for start, minus_end, phrase in sorted(spans):  # of those that begin together the longest first
            if start >= at:
                parts += (text[at:start], self.phrase(phrase))
                at = -minus_end
        return "".join((*parts, text[at:]))

    def _has_all_words_of(self, name: str) -> bool:
        words = [word for word in _WORD.findall(name) if word not in _KEPT]
        return bool(words) and all(word in self.words for word in words)

    def _learn(self, phrase: str) -> None:
        words = [word for word in _WORD.findall(phrase) if word not in _KEPT]
        for place, word in enumerate(words):
            make = _form(word, is_last=place == len(words) - 1)
            if word not in self.words and make is not None:
                self.words[word] = self._fresh(word, make)

    def _fresh(self, word: str, make: Callable[[random.Random], str]) -> str:
        """What ``make`` makes, if it stands nowhere in the sample yet."""
        for _ in range(_TRIES):
            other = make(self._chance)
            if other not in self.words.values() and not re.search(rf"(?<!\w){re.escape(other)}(?!\w)", self._text):
                return other
        raise InputError(f"Nothing was found to stand in for {word!r}, which its passages do not have already.")


def _form(word: str, *, is_last: bool) -> Callable[[random.Random], str] | None:
    """What makes another word of the same form; None for a word that is neither a name nor a number."""
    if _ORDINAL.fullmatch(word):
        return lambda chance: f"{chance.randrange(4, 21)}th"
    if is_year(word):
        return lambda chance: other_year(chance, word)
    if _DIGITS.search(word):
        return lambda chance: _DIGITS.sub(lambda digits: _number(chance, digits[0]), word)
    if word.islower():
        return None
    for listed in (_MONTHS, _DAYS):
        if word.casefold() in listed:
            return lambda chance: chance.choice(listed).capitalize()
    if len(word.strip(".")) == 1 and word.isupper():
        return lambda chance: chance.choice(ascii_uppercase)
    syllables = RARE_NAME if is_last else SHORT_NAME
    if word.isupper():
        return lambda chance: invented_name(chance, SHORT_NAME).upper()
    return lambda chance: invented_name(chance, syllables)


def _number(chance: random.Random, digits: str) -> str:
    """Another number of as many digits."""
    least = 10 ** (len(digits) - 1) if len(digits) > 1 else 0
    return str(chance.randrange(least, 10 ** len(digits)))


def _bridges(sample: Sample, answers: Sequence[str]) -> list[str]:
    """Names that join passages, titles first: of two words or more or a title, and neither answer nor asked about."""
    titles = [form for title in sample.titles for form in title_forms(title)[-1:]]
    named = [name for passage in sample.passages for name in _names(passage) if " " in name]
    known = [normalise_name(text) for text in (sample.question, *answers)]
    return [
        name
        for name in dict.fromkeys([*titles, *named])
        if not any(_overlap(normalise_name(name), each) for each in known)
        and sum(bool(find_names(name, passage)) for passage in sample.passages) > 1
    ]


def _overlap(one: str, other: str) -> bool:
    return one in other or other in one


def _asked_about(sample: Sample) -> list[str]:
    """The names in the question that a passage has."""
    titles = [form for title in sample.titles for form in title_forms(title)[-1:]]
    return [
        name
        for name in dict.fromkeys([*titles, *_names(sample.question)])
        if find_names(name, sample.question) and any(find_names(name, passage) for passage in sample.passages)
    ]


def _names(text: str) -> list[str]:
    words = DocumentWords.of(text, "")
    return [span.name for each in sentences(text) for span in names(text, each.start, each.end, words)]


def _places(phrase: str, text: str) -> Iterator[tuple[int, int]]:
    """Where ``phrase`` stands, as written and folded; not where it is a part of a longer number."""
    found = find_names(phrase, text)
    if found and found[0].exact:
        masked = text
        for place in found:
            masked = masked[: place.start] + "\0" * (place.end - place.start) + masked[place.end :]
        found += find_names(phrase, masked)
    for place in found:
        if not any(_LONGER_NUMBER.match(text, at) for at in (place.start - 1, place.end) if at >= 0):
            yield place.start, place.end
