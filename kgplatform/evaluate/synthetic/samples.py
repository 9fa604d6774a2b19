"""Needles from somebody's own questions, such as SQuAD's or HotpotQA's, altered so that nobody can know the answers.

    chosen = from_samples(json.loads(Path("hotpot_dev.json").read_text()), seed=1)
    multi_needle(8_000, (0, 1), needles=[each for each in chosen.needles if len(each.statements) == 2])

LongAgent takes 100 samples of SQuAD and 60 pairs of passages of HotpotQA (A, appendix A).
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kgplatform.build.extract.local import title_forms
from kgplatform.errors import InputError
from kgplatform.evaluate.synthetic.alter import Sample, alter
from kgplatform.evaluate.synthetic.haystack import Needles
from kgplatform.places import find_names

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
