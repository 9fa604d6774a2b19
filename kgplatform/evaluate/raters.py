"""Language models that score answers, each with its paper's idea and a prompt of our own; their ratings on disk.

    rate("lr", ToRate(question, "Cyrus Field, in 1858"), chat).scores
    # {'lr1': 1.0, 'lr2': 1.0, 'strict': 0.0, 'permissive': 1.0}

``judge``   one digit, right or wrong, against all right answers at once (Youtu-GraphRAG)
``lr``      ReadAgent's strict and permissive rater, of which LR-1 and LR-2 are made (section 4.1, figures 6 and 7;
            GraphReader, appendix B): each right answer is compared by itself, and the best one counts

A reply that gives no verdict is asked for once more, with what was wrong; then the answer is unrated, which is told. Of
``judge`` alone such an answer counts as wrong.

    with Ratings(folder / "ratings.jsonl", chat, concurrency=8) as ratings:
        ratings.all("judge", [ToRate(question, answer.text) for …])

No rating is paid for twice, whatever stopped the run before. It is known by its prompts and the model, which is all
that it depends on: another wording of a prompt, another model, answer or right answer is another rating.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Literal, TypeVar

from pydantic import BaseModel, Field, TypeAdapter

from kgplatform.concurrency.threads import Work, run_works
from kgplatform.errors import BudgetError, InputError, ModelError, ReplyError
from kgplatform.evaluate import metrics
from kgplatform.evaluate.journal import Journal
from kgplatform.evaluate.metrics import plain
from kgplatform.evaluate.terms import Question
from kgplatform.models.chat import Chat
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.models.request import cache_key
from kgplatform.prompt import Messages, fence_for, render
from kgplatform.records import SILENT, Progress
from kgplatform.text import counted, tidy, unknown

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


V = TypeVar("V", bound=BaseModel)

RATERS = ("judge", "lr")
METRICS = {
    rater: tuple(metric.name for metric in metrics.METRICS.values() if metric.rater == rater) for rater in RATERS
}
"""The scores that each rater gives."""

_VERDICT_TOKENS = 600
"""Of a reply, thoughts and verdict: what is longer breaks off, and is asked for with more room."""


@dataclass(frozen=True, slots=True)
class ToRate:
    """One answer. ``text``: None where the reader failed; ``refused``: see ``metrics.has_refused``."""

    question: Question
    text: str | None
    refused: bool = False


@dataclass(frozen=True, slots=True)
class Rating:
    """What a rater makes of one answer: scores from 0 to 1 by metric, none of those that do not apply or are unrated.

    ``fault``: why the model gave no verdict, a sentence; another run is to ask it again.
    """

    scores: Mapping[str, float]
    fault: str = ""


def rate(rater: str, item: ToRate, chat: Chat) -> Rating:
    """The rating of one answer. No model is asked about a question without a right answer, or an answer that is
    missing, which scores 0. Raises ``InputError`` for an unknown rater, ``ModelError`` and ``BudgetError``."""
    known = without_asking(rater, item)
    if known is not None:
        return known
    asked = prompts(rater, item)
    if rater != "judge":
        return _lr(asked, chat)
    said = _verdict(chat, asked[0], Correctness, "judge")
    if said is None:
        return Rating({"judge": 0.0}, "the judge gave no verdict, asked twice: wrong.")
    return Rating({"judge": float(said.correct)})


def without_asking(rater: str, item: ToRate) -> Rating | None:
    """The rating where no model is needed for it; None where one is. Raises ``InputError`` for an unknown rater."""
    if rater not in METRICS:
        raise InputError(unknown("rater", rater, RATERS))
    if not item.question.answerable or not item.question.answers:
        return Rating({})
    if item.text is None or not item.text.strip() or (rater == "judge" and item.refused):
        return Rating(dict.fromkeys(METRICS[rater], 0.0))
    return None


def prompts(rater: str, item: ToRate) -> list[Messages]:
    """The prompts whose replies make a rating: of ``lr`` two for each right answer, of ``judge`` one. They hold all
    that a rating depends on, but for the model."""
    asked, answer, right = item.question.text, plain(item.text or ""), list(map(tidy, item.question.answers))
    if rater == "judge":
        listed = "\n".join(right)
        fence = fence_for(asked, listed, answer)
        return [render(Correctness.PROMPT, question=asked, references=listed, answer=answer, fence=fence)]
    return [
        render(form.PROMPT, question=asked, reference=each, answer=answer, fence=fence_for(asked, each, answer))
        for each in right
        for form in (StrictAgreement, Agreement)
    ]


def _lr(asked: Sequence[Messages], chat: Chat) -> Rating:
    """The best over the right answers, by GraphReader's truth table (appendix B): exact if either rater says yes in
    full, partial if only the permissive one sees anything in common."""
    said: list[tuple[bool, Degree]] = []
    for first, second in zip(asked[::2], asked[1::2], strict=True):
        strict, permissive = _verdict(chat, first, StrictAgreement, "lr"), _verdict(chat, second, Agreement, "lr")
        if strict is None or permissive is None:
            who = "strict" if strict is None else "permissive"
            return Rating({}, f"the {who} rater gave no verdict, asked twice.")
        said.append((strict.agrees == "yes", permissive.agrees))
        if said[-1] == (True, "yes"):  # no other right answer can add to that
            break
    is_strict, degrees = any(strict for strict, _ in said), {degree for _, degree in said}
    exact, permits = is_strict or "yes" in degrees, degrees != {"no"}
    scores = {"lr1": exact, "lr2": exact or permits, "strict": is_strict, "permissive": permits}
    return Rating({metric: float(value) for metric, value in scores.items()})


def _verdict(chat: Chat, messages: Messages, form: type[V], rater: str) -> V | None:
    """The verdict on ``messages``; None where two replies have none, which the chat then forgets."""
    try:
        return ask(chat, messages, form, stage=f"rate_{rater}", tokens=_VERDICT_TOKENS)[0]
    except ReplyError:
        return None


_SCORES = TypeAdapter(dict[str, float])


class Ratings(Journal):
    """The ratings in ``file``, and those that ``chat`` makes, at most ``concurrency`` at once. Close it after use.

    What a line that cannot be read was about is rated again. Raises ``InputError`` where the file cannot be opened.
    """

    def __init__(self, file: Path, chat: Chat, concurrency: int) -> None:
        super().__init__(file, "rating")
        self.chat = chat
        self.concurrency = concurrency
        self._known: dict[str, Rating] = {}
        self.take_in(lambda line: self._known.update({line["key"]: Rating(_SCORES.validate_python(line["scores"]))}))

    def all(self, rater: str, items: Sequence[ToRate], progress: Progress = SILENT) -> list[Rating]:
        """The ratings of ``items``, in their order. Those in the file are not asked for again, nor the same one twice.

        Each is on the disk as soon as it is there. Where the model fails, that answer is unrated and its ``fault`` says
        why; it is asked for again by another run, as is one without a verdict. Raises ``BudgetError`` when the tokens
        are used up, with what is in progress kept, and ``KgError`` where the file cannot be written.
        """
        plain = [without_asking(rater, item) for item in items]
        keys = [
            cache_key({"rater": rater, "model": self.chat.model, "prompts": prompts(rater, item)})
            if known is None
            else ""
            for known, item in zip(plain, items, strict=True)
        ]
        wanted = {key: item for key, item in zip(keys, items, strict=True) if key}
        made = {key: self._known[key] for key in wanted if key in self._known}

        def done(key: str, item: ToRate, rating: Rating | ModelError) -> Iterable[Work]:
            if isinstance(rating, ModelError):
                rating = Rating({}, str(rating))
            elif not rating.fault:
                # Question and answer are for people who look into the file.
                told = {"rater": rater, "question": item.question.id, "answer": item.text}
                self.add({"key": key, **told, "scores": dict(rating.scores)})
                self._known[key] = rating
            made[key] = rating
            progress(f"rate ({rater})", len(made), len(wanted))
            return ()

        works = []
        for number, (key, item) in enumerate((key, item) for key, item in wanted.items() if key not in made):
            kept = partial(done, key, item)
            works.append(Work(number, partial(rate, rater, item, self.chat), kept, kept))
        stopped = run_works(works, self.concurrency)
        if stopped:
            raise BudgetError(stopped)
        return [each or made[key] for each, key in zip(plain, keys, strict=True)]


def remarks(rater: str, ratings: Sequence[Rating]) -> tuple[str, ...]:
    """What a person must know of ``ratings`` to read their scores, a sentence each; most often nothing."""
    faults = [rating for rating in ratings if rating.fault]
    told = {
        "unrated, counted neither as right nor as wrong": [each.fault for each in faults if not each.scores],
        "without a verdict, counted as wrong": [each.fault for each in faults if each.scores],
    }
    return tuple(
        f"Rater {rater}: {len(whys):,} of {counted(len(ratings), 'answer')} {what}; the first: {whys[0]}"
        for what, whys in told.items()
        if whys
    )
