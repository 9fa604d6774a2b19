"""From what all parts say to one answer that cites the places of the facts behind it.

Things are united and counted first. Statements that do not fit into one prompt are put together page by page, those of
neighbouring communities on one page, until they do; so that goes up the tree level by level.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from kgplatform.errors import ModelError
from kgplatform.models.chat import Chat, metered
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, render
from kgplatform.readers.answer_old import (
    LARGEST_FENCE,
    NONE,
    OWN_KNOWLEDGE,
    REFUSAL,
    STYLES,
    Answered,
    cite_words,
    fence_for,
    joined,
)
from kgplatform.readers.corpus.findings import Statement, unite
from kgplatform.readers.corpus.replies import Final, Remaining
from kgplatform.readers.marks import labels, replaced, without_marks
from kgplatform.readers.reader import AnswerMode, AnswerStyle
from kgplatform.readers.replies import NO_WORDS
from kgplatform.readers.run import Calls
from kgplatform.readers.statements import Source
from kgplatform.readers.support import known_only
from kgplatform.readers.window import Window, head, pack, tokens
from kgplatform.records import Citation, FoundFact, FoundPassage
from kgplatform.text import counted, listed, tidy
from kgplatform.work.threads import side_by_side

_REDUCE, _MERGE = "corpus/reduce", "corpus/merge"
_THREADS = 16
_ROUNDS = 5
"""Times that statements are put together at most; a page becomes a third as long each time, or is cut to that."""

_SHRINK = 3
_LEAST = 100
"""Tokens that a page of statements may always keep."""

_THINGS_SHARE = 2
"""Of the last prompt's room, the part that things may take where there are statements too."""

_POINTS_PLACES = 3
"""Places of a statement that are cited."""

_MOST_PLACES = 20
"""Places that are cited at the end of an answer without marks."""

_INSUFFICIENT: dict[AnswerMode, str] = {
    "reject": 'If what was found does not answer the question, set "sufficient" to false and leave "answer" empty.',
    "open": 'If what was found does not answer the question, set "sufficient" to false and answer from your own '
    "knowledge, without [ ].",
}


@dataclass(frozen=True, slots=True)
class Reduced:
    """The answer with marks of ``shown`` as the model wrote it, None where there is none; what it cites beside marks.

    ``own``: it is the model's own knowledge.
    """

    text: str | None
    shown: tuple[Statement, ...] = ()
    cited: tuple[int, ...] = ()
    own: bool = False
    note: str = ""

    def answered(self, facts: dict[str, FoundFact]) -> Answered:
        """The answer with its citations: places of ``facts``, by their ids."""
        if self.text is None or self.own:
            note = joined(self.note, OWN_KNOWLEDGE) if self.own else self.note
            return Answered(self.text or REFUSAL, note=note, holds=self.own)
        places: dict[Citation, int] = {}

        def marks(numbers: Iterable[int], most: int) -> str:
            found = [place for number in numbers for place in _places(self.shown[number - 1], facts)][:most]
            return "".join(f"[{places.setdefault(place, len(places) + 1)}]" for place in dict.fromkeys(found))

        text = replaced(self.text, labels(len(self.shown)), lambda inside: marks(map(int, inside), 100))
        if not places:
            text = f"{text} {marks(self._meant(), _MOST_PLACES)}".rstrip()
        note = self.note if places else joined(self.note, NO_WORDS)
        return Answered(text, tuple(places), note, holds=bool(places))

    def _meant(self) -> list[int]:
        """What an answer without marks rests on: what the model says, else what has its words."""
        given = [number for number in self.cited if 1 <= number <= len(self.shown)]
        texts = [
            FoundPassage(str(number), "", "", 0, len(each.text), None, each.text, 0.0, ())
            for number, each in enumerate(self.shown, 1)
        ]
        bare = without_marks(self.text or "", len(texts))
        return given or [int(cited.passage) for cited in cite_words(bare, texts)]


def _places(statement: Statement, facts: dict[str, FoundFact]) -> list[Citation]:
    """A place of each of its first facts."""
    found = [facts[fact].citations for fact in statement.facts if fact in facts]
    return [next(place for place in places if place.found) for places in found if any(p.found for p in places)][
        :_POINTS_PLACES
    ]


@dataclass
class Reducer:
    """Makes one answer of what was found. ``window`` has room for the replies; ``chat`` is what ``calls`` counts."""

    question: str
    window: Window
    calls: Calls
    chat: Chat
    mode: AnswerMode
    style: AnswerStyle

    def reduce(self, statements: Sequence[Statement], things: Sequence[Statement]) -> Reduced:
        """One answer of all of it. Where the last call fails, the answer is what was found, and the note says so.

        Raises nothing for a model that fails: all parts have been paid for by then.
        """
        things, statements = unite(things), unite(statements)
        self.calls.counts.update({"points": len(statements), "things": len(things)})
        if not things and not statements:
            return Reduced(None)
        room = self.window.room(self._messages(NONE))
        listed_things = _fitting(things, room // _THINGS_SHARE if statements else room)
        left = room - _cost(listed_things)
        merged = self._merged(statements, left)
        best = _fitting(sorted(merged, key=lambda each: -each.score), left)
        cut = len(things) - len(listed_things) + len(merged) - len(best)
        counted_ = (
            f"Things that were found in all parts and counted: {len(things):,} ({listed([t.text for t in things])})."
        )
        note = joined(
            counted_ if things else "",
            f"Things and points that did not fit into the last prompt: {cut:,}." if cut else "",
        )
        return self._final(Reduced(None, (*listed_things, *best), note=note), len(listed_things), len(things))

    def _merged(self, statements: list[Statement], room: int) -> list[Statement]:
        """Statements put together until they fit into ``room``."""
        for number in range(1, _ROUNDS + 1):
            if _cost(statements) <= room:
                break
            whole = self.window.room(self._merge_messages([]))
            pages = pack([_line(n, each) for n, each in enumerate(statements, 1)], whole)
            works = [partial(self._merge, [statements[place] for place in page], number) for page in pages]
            done = side_by_side(works, _THREADS)
            self.calls.steps += [step for calls, _ in done for step in calls.steps]
            self.calls.counts["calls.merge"] += sum(calls.made for calls, _ in done)
            statements = unite(each for _, remaining in done for each in remaining)
        return statements

    def _merge(self, page: list[Statement], number: int) -> tuple[Calls, list[Statement]]:
        """What remains of a page: no more than a third of it. Where the call fails, its best statements as they are."""
        chat, ledger = metered(self.chat)
        own = Calls(chat, ledger)
        mark = own.mark()
        name, most = f"merge, round {number}", max(_LEAST, _cost(page) // _SHRINK)
        try:
            messages = self._merge_messages(page)
            reply, _ = ask(own, messages, Remaining, stage="merge", tokens=self.window.reply)
        except ModelError as error:
            own.add(name, f"failed, so the best of {counted(len(page), 'point')} stay: {error}", mark, prompt=_MERGE)
            return own, _fitting(sorted(page, key=lambda each: -each.score), most)
        remaining = [
            Statement(tidy(point.point), _facts(point.facts, page), point.score)
            for point in reply.points
            if point.score
        ]
        kept = _fitting([each for each in remaining if each.facts] or page, most)
        own.add(name, f"{counted(len(kept), 'point')} of {len(page):,}", mark, prompt=_MERGE)
        return own, kept

    def _final(self, found: Reduced, things: int, total: int) -> Reduced:
        """The last call."""
        data = _findings(found.shown, things, total)
        mark = self.calls.mark()
        messages = self._messages(data)
        try:
            most, show = self.window.reply, self.calls.shown("answer")
            reply, repairs = ask(self.calls, messages, Final, stage="reduce", tokens=most, show=show)
        except ModelError as error:
            self.calls.add("answer", f"failed: {error}", mark, prompt=_REDUCE)
            return _as_found(found, str(error))
        self.calls.counts["calls.reduce"] = self.calls.made
        is_answered = reply.sufficient and bool(reply.answer)
        outcome = "answered" if is_answered else "what was found is not enough"
        detail = f"{outcome}, from {counted(things, 'thing')} and {counted(len(found.shown) - things, 'point')}"
        self.calls.add("answer", f"{detail}; repairs: {repairs}" if repairs else detail, mark, prompt=_REDUCE)
        if is_answered:
            sources = [Source(f"{total} {data}"), *(Source(each.text) for each in found.shown)]
            text, unknown = known_only(self.question, reply.answer, sources)
            is_count = str(total) in re.findall(r"\d+", text.replace(",", ""))
            cited = reply.citations or (range(1, things + 1) if is_count else ())
            return replace(found, text=text or None, cited=tuple(cited), note=joined(found.note, unknown))
        return replace(found, text=reply.answer or None, own=True) if self.mode == "open" and reply.answer else found

    def _messages(self, findings: str) -> Messages:
        inputs = {"style": STYLES[self.style], "insufficient": _INSUFFICIENT[self.mode]}
        return render(_REDUCE, question=self.question, findings=findings, fence=_fence(findings), **inputs)

    def _merge_messages(self, page: Sequence[Statement]) -> Messages:
        shown = "\n".join(_line(number, each) for number, each in enumerate(page, 1)) or NONE
        words = str(max(_LEAST, _cost(page) // _SHRINK) // 2)
        return render(_MERGE, question=self.question, statements=shown, fence=_fence(shown), words=words)


def _fence(shown: str) -> str:
    return LARGEST_FENCE if shown == NONE else fence_for(shown)


def _line(number: int, each: Statement) -> str:
    return f"[{number}] {each.text}" + (f" (score {each.score})" if each.score else "")


def _cost(statements: Sequence[Statement]) -> int:
    return sum(tokens(_line(number, each)) + 1 for number, each in enumerate(statements, 1))


def _fitting(statements: Sequence[Statement], room: int) -> list[Statement]:
    """The first of them that fit; of a first one that does not, its beginning."""
    pages = pack([_line(number, each) for number, each in enumerate(statements, 1)], room)
    first = [statements[place] for place in pages[0]] if pages else []
    return [replace(each, text=each.text[: head(each.text, room)]) for each in first] if len(first) == 1 else first


def _facts(numbers: Iterable[int], page: Sequence[Statement]) -> tuple[str, ...]:
    """The facts of the statements with these numbers."""
    chosen = [page[number - 1] for number in numbers if 1 <= number <= len(page)]
    return tuple(dict.fromkeys(fact for each in chosen for fact in each.facts))


def _findings(shown: Sequence[Statement], things: int, total: int) -> str:
    lines = [_line(number, each) for number, each in enumerate(shown, 1)]
    of_them = f", of which {things:,} are listed" if things < total else ""
    head_ = [f"Things that were found, put together from all parts; their number is {total:,}{of_them}:"]
    points = ["Statements:", *lines[things:]] if lines[things:] else []
    return "\n".join([*(head_ + lines[:things] + [""] if things else []), *points]).strip()


def _as_found(found: Reduced, error: str) -> Reduced:
    """What was found as it is, for want of an answer."""
    text = "\n".join(f"- {each.text} [{number}]" for number, each in enumerate(found.shown, 1))
    note = f"The language model wrote no answer from it, so this is what the parts say. {error}"
    return replace(found, text=text, note=joined(note, found.note))
