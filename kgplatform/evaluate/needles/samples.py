"""Needles from somebody's own questions, such as SQuAD's or HotpotQA's, altered so that nobody can know the answers.

    chosen = from_samples(json.loads(Path("hotpot_dev.json").read_text()), seed=1)
    multi_needle(8_000, (0, 1), needles=[each for each in chosen.needles if len(each.statements) == 2])

LongAgent takes 100 samples of SQuAD and 60 pairs of passages of HotpotQA (A, appendix A).

The answer follows the passage, and cannot be known from elsewhere (LongAgent, E 3.1 (3), A 3.1). Replaced is

- the answer, wherever it stands, also in the question, and each name that is made of its words alone;
- a name that stands in two passages and not in the question: the one that joins them;
- where the answer is yes or no, the names in the question instead.

The same words are always replaced by the same. Numbers keep their form: a year becomes another year, "1,200" another
number of four digits, a month another month.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_uppercase
from typing import Any

from kgplatform.errors import InputError
from kgplatform.evaluate.needles.haystack import RARE_NAME, SHORT_NAME, Needles, invented_name
from kgplatform.evaluate.needles.needles import is_year, other_year
from kgplatform.ingest.extract.lexicon import DAYS, INNER_PARTICLES, MONTHS
from kgplatform.ingest.extract.local import title_forms
from kgplatform.ingest.extract.names import DocumentWords, names
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


_EXPECTED = (
    'Expected is {"question", "answers": […], "passages": […]}, a record of SQuAD (question, answers, context) or one '
    "of HotpotQA (question, answer, context, supporting_facts)."
)


@dataclass(frozen=True, slots=True)
class Altered:
    """What the records gave. ``left_out``: a sentence for each that could not be altered."""

    needles: tuple[Needles, ...]
    left_out: tuple[str, ...]


def from_samples(records: Mapping[str, Any] | Iterable[Mapping[str, Any]], seed: int = 0) -> Altered:
    """Each record's passages with other names and numbers in them, and the question with the answer that follows.

    ``records`` are those of a file as ``json.loads`` gives them: SQuAD's whole file (a mapping with "data") too. What
    is replaced, ``alter`` says. A record that cannot be altered is left out, and told; raises ``InputError`` for one of
    unknown form, by its number from 1.
    """
    needles: list[Needles] = []
    left_out: list[str] = []
    for number, record in enumerate(_records(records), 1):
        sample = _sample(record, number)
        try:
            needles.append(alter(sample, random.Random(f"{seed}/{sample.question}/{sample.passages}")))
        except InputError as error:
            left_out.append(f"Record {number} is left out: {error}")
    return Altered(tuple(needles), tuple(left_out))


def _records(records: Any) -> Iterator[Mapping[str, Any]]:
    """The records, with those of SQuAD's own form, ``data`` of ``paragraphs`` of ``qas``, one by one."""
    for record in _children(records, "data") or ([records] if isinstance(records, Mapping) else records):
        paragraphs = _children(record, "paragraphs")
        if not paragraphs:
            yield record
        for paragraph in paragraphs:
            for asked in _children(paragraph, "qas"):
                yield {**asked, "context": paragraph.get("context")}


def _children(record: Any, name: str) -> list[Mapping[str, Any]]:
    found = record.get(name) if isinstance(record, Mapping) else None
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []


def _sample(record: Any, number: int) -> Sample:
    """Any record as a sample."""
    try:
        titles, passages = _passages(record)
        tidied = tuple(" ".join(passage.split()) for passage in passages)
        sample = Sample(" ".join(record["question"].split()), _answers(record), tidied, titles)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise InputError(
            f"Record {number} is of no known form ({type(error).__name__}: {error}). {_EXPECTED}"
        ) from error
    if not sample.question or not all(sample.passages) or not sample.passages:
        raise InputError(f"Record {number} has no question or no passage. {_EXPECTED}")
    return sample


def _passages(record: Mapping[str, Any]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Titles, if the record has them, and texts."""
    context = record.get("context")
    if context is None:
        return (), tuple(record["passages"])
    return ((), (context,)) if isinstance(context, str) else _supporting(context, record["supporting_facts"])


def _answers(record: Mapping[str, Any]) -> tuple[str, ...]:
    """From ``answer``, or ``answers``: a list of texts, of mappings with a text, or a mapping with a list of texts."""
    if isinstance(record.get("answer"), str):
        return (record["answer"],)
    answers = record["answers"]
    texts = answers["text"] if isinstance(answers, Mapping) else answers
    found = tuple(each["text"] if isinstance(each, Mapping) else each for each in texts)
    if not all(isinstance(each, str) for each in found):
        raise TypeError("an answer is no text")
    return found


def _supporting(context: Any, facts: Any) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Titles and texts of HotpotQA's paragraphs with supporting facts; one whose title it does not say begins with it.

    Both forms that are about: lists of pairs, and a mapping of lists.
    """
    pairs = zip(context["title"], context["sentences"], strict=True) if isinstance(context, Mapping) else context
    wanted = set(facts["title"]) if isinstance(facts, Mapping) else {title for title, _ in facts}
    texts = {title: "".join(sentences) for title, sentences in pairs if title in wanted}
    if wanted - set(texts):
        raise ValueError(f"no paragraph {min(wanted - set(texts))!r}")
    told = (text if any(find_names(form, text) for form in title_forms(title)) else f"{title}: {text}"
            for title, text in texts.items())  # fmt: skip
    return tuple(texts), tuple(told)
