"""Every metric by its name, and those of one answer that no language model is needed for.

    without_model(question, answer)      # {"em": 1.0, "f1": 1.0, …, "recall@5": 0.5, "failed": 0.0}

``docs/reference/metrics.md`` defines them. All are shares from 0 to 1 for one question; a setup's score is their mean.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal
from urllib.parse import unquote, urlsplit

from kgplatform.evaluate.answer_words import (
    compression,
    contains,
    exact_match,
    f1,
    f1_star,
    plain,
    rouge,
    score_reversion,
)
from kgplatform.evaluate.terms import Question, Text
from kgplatform.readers.answer import REFUSAL
from kgplatform.readers.choices import read_choice
from kgplatform.records import Answer, FoundPassage
from kgplatform.text import normalise_name
from kgplatform.text.matching import find_words

_SPACE = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class _Compared:
    """A retrieved passage as it is compared: its document's title and file name, and its text."""

    names: frozenset[str]
    text: str


def ranks(supports: Sequence[Text], passages: Sequence[FoundPassage]) -> tuple[int | None, ...]:
    """For each of ``supports`` the rank, from 1, of the first of ``passages`` that is of it; None if none is.

    A passage is of a support whose title is its own, or the name of its file, and in whose text its
    text stands, or the other way round, white space aside. Where a support has no text its title is enough.
    """
    compared = [_Compared(_names(passage), _squeezed(passage.text)) for passage in passages]
    return tuple(_rank(_squeezed(support.title), _squeezed(support.text), compared) for support in supports)


def recall_at(found: Sequence[int | None], k: int) -> float:
    """The share of supporting passages among the first ``k``. Raises ``ValueError`` where there are none to find."""
    if not found:
        raise ValueError("recall needs a supporting passage at least")
    return sum(rank is not None and rank <= k for rank in found) / len(found)


def all_found_at(found: Sequence[int | None], k: int) -> float:
    """1 if every supporting passage is among the first ``k``. Raises ``ValueError`` where there are none to find."""
    return float(recall_at(found, k) == 1)


def facts_found(facts: Sequence[str], read: str) -> tuple[bool, ...]:
    """Of each fact whether its words stand in what was ``read``: to the letter, folded, or nearly (``find_words``).

    What is said in other words is not found so.
    """
    return tuple(find_words(fact, read) is not None for fact in facts)


def _rank(title: str, text: str, passages: Sequence[_Compared]) -> int | None:
    fits = (title in passage.names and (passage.text in text or text in passage.text) for passage in passages)
    return next((rank for rank, fit in enumerate(fits, start=1) if fit), None)


def _names(passage: FoundPassage) -> frozenset[str]:
    """The title of a passage's document; for a file of its own, which no ``#`` follows, the file's name too."""
    address = urlsplit(passage.document)
    file = unquote(address.path.rsplit("/", 1)[-1])
    named = {passage.title} if address.fragment or not file else {passage.title, file}
    return frozenset(map(_squeezed, named))


@lru_cache(maxsize=1024)
def _squeezed(text: str) -> str:
    """``text`` in composed form without white space: passages are cut at it, and ingesting changes it."""
    return _SPACE.sub("", unicodedata.normalize("NFC", text))


def what_was_read(answer: Answer) -> str:
    """Passages under their titles, then facts, then notes that the reader made; empty if it read nothing.

    >>> what_was_read(answer)  # doctest: +SKIP
    'The cable\\nIt was laid in 1858.\\n\\n- Field paid for it.'
    """
    last = {step.path: step.notebook for step in answer.trace if step.notebook}  # of each path, by its number
    parts = [
        *(f"{passage.title}\n{passage.text}" for passage in answer.evidence.passages),
        "\n".join(f"- {fact.text}" for fact in answer.evidence.facts),
        *(last[path] for path in sorted(last)),
    ]
    return "\n\n".join(filter(None, parts))


CUTS = (2, 5, 10)
"""Ranks up to which supporting passages are looked for."""

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Metric:
    """``title`` heads a column. ``rater``: the name of the model-based rater that gives it, None if none does."""

    name: str
    title: str
    better: Better
    source: str
    rater: str | None = None


_LONGBENCH = "LongBench; GraphReader, 4.1"
_READAGENT = "ReadAgent, 4.1; GraphReader, appendix B"
_ALL = (
    Metric("judge", "Judged right", "higher", "Youtu-GraphRAG, 4.1", "judge"),
    Metric("lr1", "LR-1", "higher", _READAGENT, "lr"),
    Metric("lr2", "LR-2", "higher", _READAGENT, "lr"),
    Metric("strict", "Strict rater", "higher", "ReadAgent, figure 6", "lr"),
    Metric("permissive", "Permissive rater", "higher", "ReadAgent, figure 7", "lr"),
    Metric("choice", "Right choice", "higher", "QuALITY; ReadAgent, 4.3"),
    Metric("reverted", "Reverted", "higher", "AnonyRAG: Youtu-GraphRAG, appendix B"),
    Metric("restored", "Placeholders restored", "higher", "this project"),
    Metric("em", "EM", "higher", "SQuAD; GraphReader, 4.1"),
    Metric("f1", "F1", "higher", f"SQuAD; {_LONGBENCH}"),
    Metric("f1*", "F1*", "higher", "LV-Eval; GraphReader, 4.1"),
    Metric("contains", "Contains", "higher", "LongAgent, appendix B, without a person"),
    Metric("rouge1", "ROUGE-1", "higher", "Lin 2004; ReadAgent, 4.1"),
    Metric("rouge2", "ROUGE-2", "higher", "Lin 2004; ReadAgent, 4.1"),
    Metric("rougeL", "ROUGE-L", "higher", "Lin 2004; ReadAgent, 4.1"),
    Metric("hallucination", "Hallucination", "lower", "LongAgent, 4.2"),
    Metric("refusal", "Wrong refusal", "lower", "LongAgent, 4.2; Youtu-GraphRAG, 4.1"),
    *(Metric(f"recall@{k}", f"Recall@{k}", "higher", "Youtu-GraphRAG, 4.1") for k in CUTS),
    *(Metric(f"all@{k}", f"All found@{k}", "higher", "this project") for k in CUTS),
    Metric("facts", "Facts read", "higher", "GraphReader, appendix F, without a model"),
    Metric("facts.all", "All facts read", "higher", "GraphReader, appendix F, without a model"),
    Metric("compression", "Compression", "higher", "ReadAgent, section 4"),
    Metric("failed", "Failed", "lower", "this project"),
)
METRICS: dict[str, Metric] = {each.name: each for each in _ALL}
"""By name, in the order in which they are shown: what tells most about the answers comes first."""


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """The metrics ``names``, each once, in the order of ``METRICS``. Raises ``KeyError`` for an unknown one."""
    place = {name: at for at, name in enumerate(METRICS)}
    return tuple(sorted(set(names), key=place.__getitem__))


def in_order(scores: Mapping[str, float]) -> dict[str, float]:
    """The same scores in the order in which metrics are shown."""
    return {name: scores[name] for name in ordered(scores)}


def without_model(question: Question, answer: Answer) -> dict[str, float]:
    """Every score of ``answer`` that applies to ``question`` and needs no rater, in the order of ``METRICS``.

    An answer without a text is a failure: 0 wherever something could have been right, and ``failed`` 1; it neither
    refused nor invented anything. Raises ``SettingError`` where ROUGE's package is missing.
    """
    if answer.text is None:
        could_be = _of_text(question, "", refused=True)
        scores = {name: 0.0 for name in could_be if name != "hallucination"} | {"failed": 1.0}
    else:
        scores = _of_text(question, answer.text, has_refused(answer))
    scores |= _of_retrieval(question, answer)
    rate = compression(answer.counts)
    if rate is not None:
        scores["compression"] = rate
    return in_order(scores)


def has_refused(answer: Answer) -> bool:
    """Whether the model said that what it read does not have the answer, or nothing was written; no words decide it."""
    return answer.text is not None and (answer.sufficient is False or answer.text.strip() in ("", REFUSAL))


def _of_text(question: Question, text: str, refused: bool) -> dict[str, float]:
    if not question.answerable:
        return {"hallucination": float(not refused), "failed": 0.0}
    refused = refused and not exact_match(plain(text), question.answers)
    scores = {"failed": 0.0}
    if question.placeholders:
        done = score_reversion(plain(text), question.placeholders)
        scores |= {"reverted": float(done.whole), "restored": done.restored}
    elif question.answers:
        scores |= _of_words(question, plain(text), refused)
    if question.placeholders or question.answers:
        scores["refusal"] = float(refused)
    return scores


def _of_words(question: Question, said: str, refused: bool) -> dict[str, float]:
    """The scores of what was ``said`` against the right answers; of a choice its words count, not its letter.

    ``refused``: the reader said that there is no answer, and what else it said is not the right one.
    """
    scores: dict[str, float] = {}
    answers = question.answers
    if question.choices:
        chosen = None if refused else read_choice(said, question.choices)
        said = said if chosen is None else question.choices[chosen]
        right = normalise_name(said) in map(normalise_name, answers)
        scores["choice"] = float(chosen is not None and right)
    scores |= {"em": exact_match(said, answers), "f1": f1(said, answers)}
    if question.keywords:
        scores["f1*"] = f1_star(said, answers, question.keywords)
    scores["contains"] = 0.0 if refused else contains(said, answers)
    return scores | rouge(said, answers)


def _of_retrieval(question: Question, answer: Answer) -> dict[str, float]:
    scores: dict[str, float] = {}
    if question.supports:
        found = ranks(question.supports, answer.evidence.passages)
        scores |= {f"recall@{k}": recall_at(found, k) for k in CUTS}
        scores |= {f"all@{k}": all_found_at(found, k) for k in CUTS}
    if question.facts:
        stated = facts_found(question.facts, what_was_read(answer))
        scores |= {"facts": sum(stated) / len(stated), "facts.all": float(all(stated))}
    return scores
