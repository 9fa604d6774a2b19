"""Ratings on disk, so that no rating is paid for twice, whatever stopped the run before.

    with Ratings(folder / "ratings.jsonl", chat, concurrency=8) as ratings:
        ratings.all("judge", [ToRate(question, answer.text) for …])

A rating is known by its prompts and the model, which is all that it depends on: another wording of a prompt, another
model, answer or right answer is another rating.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kgplatform.concurrency.threads import Work, run_works
from kgplatform.errors import BudgetError, ModelError
from kgplatform.evaluate.journal import Journal
from kgplatform.evaluate.score.raters import (
    CUT,
    FLAGGED,
    READ_TOKENS,
    UNRATED,
    Rating,
    ToRate,
    prompts,
    rate,
    without_asking,
)
from kgplatform.models.chat import Chat
from kgplatform.models.reply_cache import cache_key
from kgplatform.records import SILENT, Progress
from kgplatform.text import counted

_RATING = TypeAdapter(Rating)


class Ratings:
    """The ratings in ``file``, and those that ``chat`` makes, at most ``concurrency`` at once. Close it after use.

    ``faults``: a sentence for each line of the file that cannot be read; it is rated again. ``read_tokens`` bounds
    what the rater ``facts`` sees. Raises ``InputError`` where the file cannot be opened.
    """

    def __init__(self, file: Path, chat: Chat, concurrency: int, *, read_tokens: int = READ_TOKENS) -> None:
        self.chat = chat
        self.concurrency = concurrency
        self.read_tokens = read_tokens
        self._journal = Journal(file, "rating")
        self._kept: dict[str, Rating] = {}
        self.faults: tuple[str, ...] = self._journal.faults
        for record in self._journal.records:
            key, rating = record.get("key"), _rating(record)
            if isinstance(key, str) and rating is not None:
                self._kept[key] = rating
            else:
                self.faults += (f"{file}: a line is not a rating; it is left out.",)

    def __enter__(self) -> Ratings:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file. A second time does nothing."""
        self._journal.close()

    def all(self, rater: str, items: Sequence[ToRate], progress: Progress = SILENT) -> list[Rating]:
        """The ratings of ``items``, in their order. Those in the file are not asked for again, nor the same one twice.

        Each is on the disk as soon as it is there. Where the model fails, that answer is unrated and its flag says why;
        it is asked for again by another run, as is one without a verdict. Raises ``BudgetError`` when the tokens are
        used up, with what is in progress kept, and ``KgError`` where the file cannot be written.
        """
        keys = [self._key(rater, item) for item in items]
        wanted = {key: item for key, item in zip(keys, items, strict=True) if key is not None}
        known = {key: self._kept[key] for key in wanted if key in self._kept}
        new = self._ask(rater, {key: item for key, item in wanted.items() if key not in known}, len(known), progress)
        made = known | new
        plain = [without_asking(rater, item) for item in items]
        return [each or made[key or ""] for each, key in zip(plain, keys, strict=True)]

    def _key(self, rater: str, item: ToRate) -> str | None:
        """What a rating depends on, in 64 letters; None where no model is needed for it."""
        if without_asking(rater, item) is not None:
            return None
        sent = prompts(rater, item, self.read_tokens)
        return cache_key({"rater": rater, "model": self.chat.model, "prompts": sent})

    def _ask(self, rater: str, wanted: Mapping[str, ToRate], known: int, progress: Progress) -> dict[str, Rating]:
        """What the model made of each, by its key."""
        made: dict[str, Rating] = {}
        total = known + len(wanted)

        def done(key: str, item: ToRate, rating: Rating | ModelError) -> Iterable[Work]:
            if isinstance(rating, ModelError):
                rating = Rating({}, (f"{UNRATED}: {rating}",), settled=False)
            made[key] = rating
            if rating.settled:
                self._keep(key, rater, item, rating)
            progress(f"rate ({rater})", known + len(made), total)
            return ()

        works = []
        for number, (key, item) in enumerate(wanted.items()):
            ask, kept = partial(rate, rater, item, self.chat, read_tokens=self.read_tokens), partial(done, key, item)
            works.append(Work(number, ask, kept, kept))
        stopped = run_works(works, self.concurrency)
        if stopped:
            raise BudgetError(stopped)
        return made

    def _keep(self, key: str, rater: str, item: ToRate, rating: Rating) -> None:
        """On the disk, and then in memory. Question and answer are for people who look into the file."""
        told = {"rater": rater, "question": item.question.id, "answer": item.text}
        said = {"scores": dict(rating.scores), "flags": list(rating.flags), "counts": dict(rating.counts)}
        self._journal.add({"key": key, **told, **said})
        self._kept[key] = rating


def remarks(rater: str, ratings: Sequence[Rating]) -> tuple[str, ...]:
    """What a person must know of ``ratings`` to read their scores, a sentence each; most often nothing."""
    whys = Counter(flag.partition(":")[0] for rating in ratings for flag in rating.flags)
    first = {why: next(f for rating in ratings for f in rating.flags if f.startswith(why)) for why in whys}
    meaning = {
        UNRATED: "unrated, counted neither as right nor as wrong; the first",
        FLAGGED: "without a verdict, counted as wrong; the first",
        CUT: "rated by the beginning of what was read; the first",
    }
    of = f"of {counted(len(ratings), 'answer')}"
    return tuple(
        f"Rater {rater}: {whys[why]:,} {of} {said}: {first[why].partition(': ')[2]}"
        for why, said in meaning.items()
        if why in whys
    )


def _rating(record: Mapping[str, Any]) -> Rating | None:
    """The rating in a line of the file; None where it is none."""
    try:
        return _RATING.validate_python({name: record[name] for name in ("scores", "flags", "counts")})
    except (KeyError, ValidationError):
        return None
