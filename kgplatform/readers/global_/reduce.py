"""From what all parts say to one answer that cites the places of the facts behind it.

Things are united and counted first. Statements that do not fit into one prompt are put together page by page, those of
neighbouring communities on one page, until they do; so that goes up the tree level by level.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import ModelError
from kgplatform.models.chat import Chat, metered
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render
from kgplatform.readers.answer import NONE, Answered, AnswerReply, answer_of, joined, manner
from kgplatform.readers.global_.parts import Remaining, Statement, unite
from kgplatform.readers.numbering import FACTS, Numbering
from kgplatform.readers.reader import AnswerMode, AnswerStyle
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window, head, pack, tokens
from kgplatform.records import FoundFact, QueryRun
from kgplatform.search.evidence import Evidence
from kgplatform.text import counted, listed, tidy
from kgplatform.text.numbered import numbers_in

_REDUCE, _MERGE = "global_/reduce", "global_/merge"
_THREADS = 16
_ROUNDS = 5
"""Times that statements are put together at most; a page becomes a third as long each time, or is cut to that."""

_SHRINK = 3
_LEAST = 100
"""Tokens that a page of statements may always keep."""

_THINGS_SHARE = 2
"""Of the last prompt's room, the part that things may take where there are statements too."""

_MARKS = 3
"""Facts of a statement whose numbers stand behind it."""

_MARK = " [0.999]"

_MOST_MARKS = 20
"""Facts that stand behind a count."""


@dataclass(frozen=True, slots=True)
class Reduced:
    """The answer, the facts behind what was found, and the statements that read them."""

    answered: Answered
    facts: tuple[FoundFact, ...] = ()
    queries: tuple[QueryRun, ...] = ()


@dataclass
class Reducer:
    """Makes one answer of what was found. ``window`` has room for the replies; ``chat`` is what ``calls`` counts."""

    question: str
    window: Window
    calls: Calls
    chat: Chat
    mode: AnswerMode
    style: AnswerStyle
    evidence: Evidence
    shown: Numbering = field(default_factory=Numbering)

    def reduce(self, statements: Sequence[Statement], things: Sequence[Statement]) -> Reduced:
        """One answer of all of it. Where the last call fails, the answer is what was found, and the note says so.

        Raises nothing for a model that fails: all parts have been paid for by then.
        """
        things, statements = unite(things), unite(statements)
        self.calls.counts.update({"points": len(statements), "things": len(things)})
        room = self.window.room(self._messages(NONE))
        listed_things = _fitting(things, room // _THINGS_SHARE if statements else room)
        left = room - _cost(listed_things)
        merged = self._merged(statements, left)
        best = _fitting(sorted(merged, key=lambda each: -each.score), left)
        cut = len(things) - len(listed_things) + len(merged) - len(best)
        told = f"Things that were found in all parts and counted: {len(things):,} ({listed([t.text for t in things])})."
        note = joined(
            told if things else "",
            f"Things and points that did not fit into the last prompt: {cut:,}." if cut else "",
        )
        ids = dict.fromkeys(fact for each in (*listed_things, *best) for fact in each.facts)
        facts, queries = self.evidence.facts(tuple(ids))
        known = tuple(facts[each] for each in ids if each in facts)
        self.shown.facts(known)
        numbers = {fact.id: f"{FACTS}.{number}" for number, fact in enumerate(known, 1)}
        answered = self._final(_lines(listed_things, numbers), _lines(best, numbers), len(things))
        return Reduced(replace(answered, note=joined(answered.note, note)), known, queries)

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
            reply, _ = ask(own, self._merge_messages(page), Remaining, stage="merge", tokens=self.window.reply)
        except ModelError as error:
            own.add(name, f"failed, so the best of {counted(len(page), 'point')} stay: {error}", mark, prompt=_MERGE)
            return own, _fitting(sorted(page, key=lambda each: -each.score), most)
        remaining = []
        for point in reply.points:
            chosen = [page[number - 1] for number in point.facts if 1 <= number <= len(page)]
            behind = tuple(dict.fromkeys(fact for each in chosen for fact in each.facts))
            remaining += [Statement(tidy(point.point), behind, point.score)] if point.score else []
        kept = _fitting(remaining or page, most)
        own.add(name, f"{counted(len(kept), 'point')} of {len(page):,}", mark, prompt=_MERGE)
        return own, kept

    def _final(self, things: list[str], points: list[str], total: int) -> Answered:
        """The last call. ``total`` things were found, of which ``things`` are listed."""
        mark = self.calls.mark()
        of_them = f", of which {len(things):,} are listed" if len(things) < total else ""
        title = f"Things that were found, put together from all parts; their number is {total:,}{of_them}:"
        shown = [title, *things, ""] if things else []
        shown += ["Statements:", *points] if points else []
        messages = self._messages("\n".join(shown).strip())
        try:
            most, show = self.window.reply, self.calls.shown("answer")
            reply, repairs = ask(self.calls, messages, AnswerReply, stage="reduce", tokens=most, show=show)
        except ModelError as error:
            self.calls.add("answer", f"failed: {error}", mark, prompt=_REDUCE)
            found = answer_of(AnswerReply(answer="\n".join([*things, *points])), self.shown, self.mode)
            note = f"The language model wrote no answer from it, so this is what the parts say. {error}"
            return replace(found, note=joined(note, found.note), sufficient=None)
        self.calls.counts["calls.reduce"] = self.calls.made
        outcome = "answered" if reply.sufficient else "what was found is not enough"
        detail = f"{outcome}, from {counted(len(things), 'thing')} and {counted(len(points), 'point')}"
        self.calls.add("answer", f"{detail}; repairs: {repairs}" if repairs else detail, mark, prompt=_REDUCE)
        if not reply.evidence and str(total) in re.findall(r"\d+", reply.answer.replace(",", "")):
            behind = numbers_in(re.findall(r"\[[\d.]+\]", "".join(things)))[:_MOST_MARKS]
            reply = reply.model_copy(update={"evidence": behind})
        return answer_of(reply, self.shown, self.mode)

    def _messages(self, findings: str) -> Messages:
        asks = manner(self.style, self.mode)
        return render(_REDUCE, question=self.question, findings=findings, fence=_fence(findings), **asks)

    def _merge_messages(self, page: Sequence[Statement]) -> Messages:
        lines = (f"[{number}] {each.text} (score {each.score})" for number, each in enumerate(page, 1))
        shown = "\n".join(lines) or NONE
        words = str(max(_LEAST, _cost(page) // _SHRINK) // 2)
        return render(_MERGE, question=self.question, statements=shown, fence=_fence(shown), words=words)


def _fence(shown: str) -> str:
    return LARGEST_FENCE if shown == NONE else fence_for(shown)


def _line(number: int, each: Statement) -> str:
    """A line that is as long as that of any prompt."""
    return f"[{number}] {each.text} (score {each.score}){_MARK * min(len(each.facts), _MARKS)}"


def _lines(statements: Sequence[Statement], numbers: dict[str, str]) -> list[str]:
    """As the last prompt has them: with the numbers of their first facts behind them."""
    marks = [[f"[{numbers[fact]}]" for fact in each.facts if fact in numbers][:_MARKS] for each in statements]
    return [f"- {each.text} {''.join(own)}".rstrip() for each, own in zip(statements, marks, strict=True)]


def _cost(statements: Sequence[Statement]) -> int:
    return sum(tokens(_line(number, each)) + 1 for number, each in enumerate(statements, 1))


def _fitting(statements: Sequence[Statement], room: int) -> list[Statement]:
    """The first of them that fit; of a first one that does not, its beginning."""
    pages = pack([_line(number, each) for number, each in enumerate(statements, 1)], room)
    first = [statements[place] for place in pages[0]] if pages else []
    return [replace(each, text=each.text[: head(each.text, room)]) for each in first] if len(first) == 1 else first
