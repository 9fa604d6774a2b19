"""Needles from somebody's own questions, such as SQuAD's or HotpotQA's, altered so that nobody can know the answers.

    chosen = from_samples(json.loads(Path("hotpot_dev.json").read_text()), seed=1)
    multi_needle(8_000, (0, 1), needles=[each for each in chosen.needles if len(each.statements) == 2])

LongAgent takes 100 samples of SQuAD and 60 pairs of passages of HotpotQA (A, appendix A).

The answer follows from the passage, and cannot be known from elsewhere (LongAgent, E 3.1 (3), A 3.1). Replaced is

- the answer, wherever it stands, also in the question, and each name that is made of its words alone;
- a name that is in two passages and not in the question: the one that joins them;
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
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, Field, ValidationError

from kgplatform.errors import InputError
from kgplatform.evaluate.anonymise.mentions import with_edits
from kgplatform.evaluate.needles.haystack import RARE_NAME, SHORT_NAME, Needles, invented_name
from kgplatform.evaluate.needles.needles import YES_OR_NO, is_year, other_year
from kgplatform.ingest.extract.lexicon import DAYS, INNER_PARTICLES, MONTHS
from kgplatform.ingest.extract.local import LEADING_ARTICLE, title_forms
from kgplatform.ingest.extract.names import DocumentWords, names
from kgplatform.places import find_names
from kgplatform.sentences import sentences
from kgplatform.text import normalise_name, tidy

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
    answers = tuple(dict.fromkeys(LEADING_ARTICLE.sub("", tidy(answer)) for answer in sample.answers if answer.strip()))
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
        raise InputError(f"Its answer, {answers[0]!r}, is not in its passages.")
    # An answer that nothing was replaced in is not right any more.
    replaced = tuple(dict.fromkeys(new for new in map(other.phrase, answers) if new not in answers))
    return Needles(
        other.apply(sample.question),
        answers if is_choice else replaced,
        statements,
        () if is_choice else answers,
        other.phrase(bridges[0]) if bridges else None,
    )


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
        own = [name for name in _names(text) if (words := _own_words(name)) and self.words.keys() >= set(words)]
        phrases = dict.fromkeys([*self._phrases, *own])
        spans = [(start, -end, self.phrase(phrase)) for phrase in phrases for start, end in _places(phrase, text)]
        edits: list[tuple[int, int, str]] = []
        for start, minus_end, new in sorted(spans):  # of those that begin together the longest first
            if not edits or start >= edits[-1][1]:
                edits.append((start, -minus_end, new))
        return with_edits(text, edits)

    def _learn(self, phrase: str) -> None:
        words = _own_words(phrase)
        for place, word in enumerate(words):
            make = _form(word, is_last=place == len(words) - 1)
            if word not in self.words and make is not None:
                self.words[word] = self._fresh(word, make)

    def _fresh(self, word: str, make: Callable[[random.Random], str]) -> str:
        """What ``make`` makes, if it is not in the sample yet."""
        for _ in range(_TRIES):
            other = make(self._chance)
            if other not in self.words.values() and not re.search(rf"(?<!\w){re.escape(other)}(?!\w)", self._text):
                return other
        raise InputError(f"No replacement for {word!r} was found that its passages do not have already.")


def _own_words(phrase: str) -> list[str]:
    return [word for word in _WORD.findall(phrase) if word not in _KEPT]


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
    named = [name for passage in sample.passages for name in _names(passage) if " " in name]
    known = [normalise_name(text) for text in (sample.question, *answers)]
    return [
        name
        for name in dict.fromkeys([*_titles(sample), *named])
        if not any((key := normalise_name(name)) in each or each in key for each in known)
        and sum(bool(find_names(name, passage)) for passage in sample.passages) > 1
    ]


def _asked_about(sample: Sample) -> list[str]:
    """The names in the question that a passage has."""
    return [
        name
        for name in dict.fromkeys([*_titles(sample), *_names(sample.question)])
        if find_names(name, sample.question) and any(find_names(name, passage) for passage in sample.passages)
    ]


def _titles(sample: Sample) -> list[str]:
    return [form for title in sample.titles for form in title_forms(title)[-1:]]


def _names(text: str) -> list[str]:
    words = DocumentWords.of(text, "")
    return [span.name for sentence in sentences(text) for span in names(text, sentence.start, sentence.end, words)]


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
    is replaced, ``alter`` says. A record that cannot be altered is left out with a reason; raises ``InputError`` for
    one of unknown form, by its number from 1.
    """
    needles: list[Needles] = []
    left_out: list[str] = []
    for number, record in enumerate(_records(records), 1):
        try:
            sample = _Record.model_validate(record).sample()
        except (ValidationError, ValueError) as error:
            first = error.errors()[0] if isinstance(error, ValidationError) else {"loc": (), "msg": str(error)}
            place = ".".join(map(str, first["loc"]))
            said = f"{place}: {first['msg']}" if place else first["msg"]
            raise InputError(f"Record {number} is of no known form ({said}). {_EXPECTED}") from error
        try:
            needles.append(alter(sample, random.Random(f"{seed}/{sample.question}/{sample.passages}")))
        except InputError as error:
            left_out.append(f"Record {number} is left out: {error}")
    return Altered(tuple(needles), tuple(left_out))


def _records(records: Any) -> Iterator[Any]:
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


def _texts(answers: Any) -> Any:
    """Of a list of texts, of mappings with a text, or a mapping with a list of texts: the texts."""
    listed = answers.get("text") if isinstance(answers, Mapping) else answers
    return [each.get("text") if isinstance(each, Mapping) else each for each in listed or ()]


def _pairs(found: Any) -> Any:
    """A mapping of two lists, as the hub of Hugging Face has it, as the pairs that were published."""
    return list(zip(*found.values(), strict=True)) if isinstance(found, Mapping) else found


_Words = Annotated[str, AfterValidator(lambda text: " ".join(text.split())), Field(min_length=1)]


class _Record(BaseModel):
    """A record of any of the forms."""

    question: _Words
    answer: str | None = None
    answers: Annotated[tuple[str, ...] | None, BeforeValidator(_texts)] = None
    passages: tuple[_Words, ...] = ()
    context: Annotated[_Words | list[tuple[str, list[str]]] | None, BeforeValidator(_pairs)] = None
    supporting_facts: Annotated[list[tuple[str, int]], BeforeValidator(_pairs)] = []

    def sample(self) -> Sample:
        """The same for all forms. Raises ``ValueError`` where something is missing."""
        answers = self.answers if self.answer is None else (self.answer,)
        passages = (self.context,) if isinstance(self.context, str) else self.passages
        titles: tuple[str, ...] = ()
        if isinstance(self.context, list):
            titles, passages = self._supporting(self.context)
        if answers is None or not passages:
            raise ValueError("it has no answer or no passage")
        return Sample(self.question, answers, passages, titles)

    def _supporting(self, context: list[tuple[str, list[str]]]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Titles and texts of HotpotQA's paragraphs with supporting facts; one that does not say its title begins
        with it."""
        wanted = {title for title, _ in self.supporting_facts}
        texts = {title: " ".join("".join(sentences).split()) for title, sentences in context if title in wanted}
        if wanted - texts.keys():
            raise ValueError(f"no paragraph {min(wanted - texts.keys())!r}")
        told = [
            text if any(find_names(form, text) for form in title_forms(title)) else f"{title}: {text}"
            for title, text in texts.items()
        ]
        return tuple(texts), tuple(told)
