"""Language models that score answers: four raters, each with its paper's idea and a prompt of our own.

    rate("lr", ToRate(question, "Cyrus Field, in 1858"), chat).scores
    # {'lr1': 1.0, 'lr2': 1.0, 'strict': 0.0, 'permissive': 1.0}

``judge``   one digit, right or wrong, against all right answers at once (Youtu-GraphRAG)
``lr``      ReadAgent's strict and permissive rater, of which LR-1 and LR-2 are made (section 4.1, figures 6 and 7;
            GraphReader, appendix B): each right answer is compared by itself, and the best one counts
``rubric``  LongAgent's three levels (EMNLP, appendix B): 2 and 1 of 2 points count as correct
``facts``   which of the supporting facts are in what the reader had read (GraphReader, appendix F, figure 19)

A reply that gives no verdict is asked for once more, with what was wrong; then the answer is unrated, and a flag says
so. Of ``judge`` alone such an answer counts as wrong, flagged.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Literal, TypeVar

from pydantic import BaseModel, Field, create_model, model_validator

from kgplatform.errors import InputError, ReplyError
from kgplatform.evaluate.score import metrics
from kgplatform.evaluate.score.answer_words import plain
from kgplatform.evaluate.terms import Question
from kgplatform.models.chat import Chat
from kgplatform.models.forms import Form, items, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, render
from kgplatform.readers.window import head
from kgplatform.text import tidy, unknown

Degree = Literal["yes", "partially", "no"]


class Correctness(Form):
    """Whether an answer is right."""

    PROMPT: ClassVar[str] = "evaluate/rater_judge"

    reasoning: str = text(600)
    correct: int = Field(ge=0, le=1)


class StrictAgreement(Form):
    """Whether two answers agree, without anything between yes and no."""

    PROMPT: ClassVar[str] = "evaluate/rater_strict"

    reasoning: str = text(600)
    agrees: Literal["yes", "no"]


class Agreement(Form):
    """How far two answers agree."""

    PROMPT: ClassVar[str] = "evaluate/rater_permissive"

    reasoning: str = text(600)
    agrees: Degree


class Points(Form):
    """How consistent an answer is."""

    PROMPT: ClassVar[str] = "evaluate/rater_rubric"

    reasoning: str = text(600)
    score: int = Field(ge=0, le=2)


class FactVerdict(Form):
    """Of one supporting fact, thoughts first: whether it is truly needed, and whether the text says it."""

    fact: int
    reasoning: str = text(300)
    needed: bool
    recalled: bool


class Recall(Form):
    """Which of the supporting facts are needed, and which of those the text says: ``FACTS`` verdicts."""

    PROMPT: ClassVar[str] = "evaluate/rater_facts"
    FACTS: ClassVar[int] = 0

    facts: list[FactVerdict]

    @model_validator(mode="after")
    def _has_each(self) -> Recall:
        if not len({each.fact for each in self.facts}) == len(self.facts) == self.FACTS:
            raise ValueError(f"write one verdict for each of the {self.FACTS} facts")
        return self

    @property
    def needed(self) -> int:
        """How many facts are needed."""
        return sum(each.needed for each in self.facts)

    @property
    def recalled(self) -> int:
        """How many of those the text says."""
        return sum(each.needed and each.recalled for each in self.facts)


@cache
def recall_of(count: int) -> type[Recall]:
    """``Recall`` of ``count`` facts."""
    form = create_model("Recall", __base__=Recall, facts=(list[FactVerdict], items(count, ...)))
    form.FACTS = count
    return form


V = TypeVar("V", bound=BaseModel)

RATERS = ("judge", "lr", "rubric", "facts")
METRICS = {
    rater: tuple(metric.name for metric in metrics.METRICS.values() if metric.rater == rater) for rater in RATERS
}
"""What each rater scores."""
READ_TOKENS = 16_000
"""Of what a reader had read, as much as the rater ``facts`` sees."""

UNRATED, FLAGGED, CUT = "unrated", "flagged", "cut"
"""How flags begin: no score; a score for want of a verdict; a score for a part of the text."""

_VERDICT_TOKENS = 600
"""Of a reply, thoughts and verdict: what is longer breaks off, and is asked for with more room."""
_FACT_TOKENS = 150
"""The same for one supporting fact."""


@dataclass(frozen=True, slots=True)
class ToRate:
    """One answer. ``text``: None where the reader failed; ``read``: see ``metrics.what_was_kept`` (rater ``facts``).
    ``refused``: see ``metrics.has_refused``."""

    question: Question
    text: str | None
    read: str = ""
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Rating:
    """What a rater makes of one answer: scores from 0 to 1 by metric, none of those that do not apply or are unrated.

    ``flags``: what to know of them, a sentence each, beginning with ``unrated``, ``flagged`` or ``cut``. ``counts``:
    ``points`` of the rubric, ``facts.recalled`` and ``facts.needed``. ``settled`` is False where the model gave no
    verdict: another run is to ask it again.
    """

    scores: Mapping[str, float]
    flags: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)
    settled: bool = True


def rate(rater: str, item: ToRate, chat: Chat, *, read_tokens: int = READ_TOKENS) -> Rating:
    """The rating of one answer. ``read_tokens`` bounds what the rater ``facts`` sees of ``item.read``.

    No model is asked about a question that the rater cannot rate (no right answer, or no supporting facts) or an answer
    that is missing, which scores 0. Raises ``InputError`` for an unknown rater, ``ModelError`` and ``BudgetError``.
    """
    return without_asking(rater, item) or _RATINGS[rater](prompts(rater, item, read_tokens), item, chat, read_tokens)


def without_asking(rater: str, item: ToRate) -> Rating | None:
    """The rating where no model is needed for it; None where one is. Raises ``InputError`` for an unknown rater."""
    if rater not in METRICS:
        raise InputError(unknown("rater", rater, RATERS))
    question, text = item.question, item.text
    if rater == "facts":
        missing = text is None or not item.read.strip()
        if not question.facts:
            return Rating({})
        needed = len(question.facts)
        return Rating({"facts.rated": 0.0}, counts=_fact_counts(0, needed)) if missing else None
    if not question.answerable or not question.answers:
        return Rating({})
    if text is None or not text.strip() or (rater == "judge" and item.refused):
        return Rating(dict.fromkeys(METRICS[rater], 0.0))
    return None


def prompts(rater: str, item: ToRate, read_tokens: int = READ_TOKENS) -> list[Messages]:
    """The prompts whose replies make a rating: of ``lr`` two for each right answer, of the others one.

    They hold all that a rating depends on, but for the model.
    """
    question = item.question
    if rater == "facts":
        return [_facts_messages(question, item.read[: head(item.read, read_tokens)])]
    answer = plain(item.text or "")
    if rater == "lr":
        return [_lr_messages(name, question, answer, tidy(each)) for each in question.answers for name in _LR_PROMPTS]
    references = "\n".join(map(tidy, question.answers))
    fence = fence_for(question.text, references, answer)
    return [render(_PROMPTS[rater], question=question.text, references=references, answer=answer, fence=fence)]


_LR_PROMPTS = (StrictAgreement.PROMPT, Agreement.PROMPT)


def lr_level(strict: bool, permissive: Degree) -> Literal["none", "partial", "exact"]:
    """GraphReader's truth table (appendix B): exact if either rater says yes in full, partial if only the permissive
    one sees anything in common."""
    if strict or permissive == "yes":
        return "exact"
    return "partial" if permissive == "partially" else "none"


def _lr(asked: Sequence[Messages], item: ToRate, chat: Chat, _: int) -> Rating:
    """The best over the right answers. What a missing verdict could still change has no score."""
    verdicts: list[tuple[bool | None, Degree | None]] = []
    for first, second in zip(asked[::2], asked[1::2], strict=True):
        said, more = _verdict(chat, first, StrictAgreement, "lr"), _verdict(chat, second, Agreement, "lr")
        strict = None if said is None else said.agrees == "yes"
        permissive = None if more is None else more.agrees
        verdicts.append((strict, permissive))
        if strict and permissive == "yes":  # no other right answer can add to that
            break
    worst = _lr_scores([(strict or False, permissive or "no") for strict, permissive in verdicts])
    best = _lr_scores([(strict is not False, permissive or "yes") for strict, permissive in verdicts])
    scores = {metric: value for metric, value in worst.items() if best[metric] == value}
    if scores == worst:
        return Rating(scores)
    silent = [name for place, name in enumerate(("strict", "permissive")) if any(v[place] is None for v in verdicts)]
    who = f"{' and '.join(silent)} rater{'s' if len(silent) > 1 else ''}"
    return Rating(scores, (f"{UNRATED}: the {who} gave no verdict, asked twice.",), settled=False)


def _lr_scores(verdicts: Sequence[tuple[bool, Degree]]) -> dict[str, float]:
    levels = {lr_level(*verdict) for verdict in verdicts}
    degrees = {permissive for _, permissive in verdicts}
    return {
        "lr1": float("exact" in levels),
        "lr2": float(levels != {"none"}),
        "strict": float(any(strict for strict, _ in verdicts)),
        "permissive": float(degrees != {"no"}),
    }


def _lr_messages(prompt: str, question: Question, answer: str, reference: str) -> Messages:
    fence = fence_for(question.text, reference, answer)
    return render(prompt, question=question.text, answer=answer, reference=reference, fence=fence)


_PROMPTS = {"judge": Correctness.PROMPT, "rubric": Points.PROMPT}


def _judge(asked: Sequence[Messages], item: ToRate, chat: Chat, _: int) -> Rating:
    said = _verdict(chat, asked[0], Correctness, "judge")
    if said is None:
        return Rating({"judge": 0.0}, (f"{FLAGGED}: the judge gave no verdict, asked twice: wrong.",), settled=False)
    return Rating({"judge": float(said.correct)})


def _rubric(asked: Sequence[Messages], item: ToRate, chat: Chat, _: int) -> Rating:
    said = _verdict(chat, asked[0], Points, "rubric")
    if said is None:
        return Rating({}, (f"{UNRATED}: the rubric rater gave no score, asked twice.",), settled=False)
    return Rating({"accuracy": float(said.score > 0)}, counts={"points": said.score})


def _facts(asked: Sequence[Messages], item: ToRate, chat: Chat, read_tokens: int) -> Rating:
    count = len(item.question.facts)
    said = _verdict(chat, asked[0], recall_of(count), "facts", max(_VERDICT_TOKENS, _FACT_TOKENS * count))
    if said is None:
        return Rating({}, (f"{UNRATED}: the facts rater gave no verdict, asked twice.",), settled=False)
    seen, whole = head(item.read, read_tokens), len(item.read)
    flags = (f"{CUT}: {seen:,} of {whole:,} characters that were read were rated.",) if seen < whole else ()
    if not said.needed:
        return Rating({}, (f"{UNRATED}: the rater says that none of the facts is needed.",), _fact_counts(0, 0))
    return Rating({"facts.rated": said.recalled / said.needed}, flags, _fact_counts(said.recalled, said.needed))


def _facts_messages(question: Question, text: str) -> Messages:
    facts = "\n".join(f"{number}. {tidy(each)}" for number, each in enumerate(question.facts, 1))
    fence = fence_for(question.text, text, facts)
    count = str(len(question.facts))
    return render(Recall.PROMPT, question=question.text, text=text, facts=facts, count=count, fence=fence)


def _fact_counts(found: int, needed: int) -> dict[str, int]:
    return {"facts.recalled": found, "facts.needed": needed}


_RATINGS: Mapping[str, Callable[[Sequence[Messages], ToRate, Chat, int], Rating]] = {
    "judge": _judge,
    "lr": _lr,
    "rubric": _rubric,
    "facts": _facts,
}


def _verdict(chat: Chat, messages: Messages, form: type[V], rater: str, tokens: int = _VERDICT_TOKENS) -> V | None:
    """The verdict on ``messages``; None where two replies have none, which the chat then forgets."""
    try:
        return ask(chat, messages, form, stage=f"rate_{rater}", tokens=tokens)[0]
    except ReplyError:
        return None
