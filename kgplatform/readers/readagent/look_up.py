"""Reading pages again (ReadAgent, section 3.2): which, and whether they fit into the window (appendix I).

    look_up = LookUp(brief, pages, memory, calls)
    look_up.parallel()                           # or sequential(answer_now), nearest(), without_gists(ids)
    look_up.raw, look_up.passages                # pages in full, by number; the passages that they consist of

A page takes the place of its gist, under the same tag. One that does not fit beside those before it is left out; if the
first does not fit at all, as much of it as does is read.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Literal

from pydantic import create_model

from kgplatform.errors import ModelError, ReplyError
from kgplatform.models.chat import Wanted
from kgplatform.models.forms import Form, items, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, render, with_reminder
from kgplatform.readers.choices import letter
from kgplatform.readers.numbering import Numbering
from kgplatform.readers.readagent.gist_memory import GistMemory, PageBrief
from kgplatform.readers.run import Calls, StepFound
from kgplatform.readers.window import head, tokens
from kgplatform.records import FoundPassage
from kgplatform.search.found import part_of
from kgplatform.search.pages import Pages, PageText, PageTexts
from kgplatform.text import counted
from kgplatform.text.numbered import numbered


class PagesReply(Form):
    """Pages to read again; none where the gists are enough."""

    reasoning: str = text(300)
    pages: list[int]


class NextReply(Form):
    """One page to read again, or STOP."""

    reasoning: str = text(300)
    page: int | Literal["STOP"]


class ChoiceReply(Form):
    """The letter of an option, and the numbers of the sentences that speak for it."""

    evidence: list[str] = items(12)
    choice: str


@cache
def choice_reply(count: int) -> type[ChoiceReply]:
    """``ChoiceReply`` among so many options."""
    letters: Any = Literal[tuple(map(letter, range(count)))]
    return create_model("ChoiceReply", __base__=ChoiceReply, choice=(letters, ...))


@cache
def pages_reply(most: int) -> type[PagesReply]:
    """``PagesReply`` of at most so many pages."""
    return create_model("PagesReply", __base__=PagesReply, pages=(list[int], items(most, ...)))


NO_LIST = "no list of pages"
NO_PAGE = "no such page"
_TWICE = "named twice"
_TOO_MANY = "too many pages"
_NO_ROOM = "no room"
_GONE = "gone"
_LEAST_CUT = 50
"""Tokens of a page that are worth reading by themselves."""
_PER_SENTENCE = 8
"""Tokens of the number of a sentence."""

_NEXT = "readagent/next"
_READ_ALREADY = "read again already"
_NEITHER = "no page and no STOP"
_ONE_PAGE = 'one single page that is there and was not read again yet, or with "STOP"'
_FAULTS = {
    NO_PAGE: "there is no page of that number.",
    _READ_ALREADY: "that page was read again already.",
}


@dataclass
class LookUp:
    """The pages of one run that are read again. ``ended``: the error that ended it early, where an answer was there."""

    brief: PageBrief
    pages: Pages
    memory: GistMemory
    calls: Calls
    raw: dict[int, PageText] = field(default_factory=dict)
    shown: Numbering = field(default_factory=Numbering)
    ended: ModelError | None = None
    interim: str = ""

    @property
    def passages(self) -> list[FoundPassage]:
        """What the pages consist of that were read again, in the order of reading."""
        return [passage for page in self.raw.values() for passage in page.passages]

    @property
    def text(self) -> str:
        """The memory as it is now."""
        return self.memory.text(self._in_full())

    @property
    def text_to_answer(self) -> str:
        """That of the documents of which something was read again, if anything was."""
        return self.memory.about(self.raw).text(self._in_full())

    @property
    def words(self) -> int:
        """The words of gists and pages in that text."""
        return self.memory.about(self.raw).words({number: page.text for number, page in self.raw.items()})

    def _in_full(self, more: Mapping[int, PageText] | None = None) -> dict[int, str]:
        """The pages that were read again in numbered sentences, one a line; and ``more``, which is not shown yet."""
        shown = {number: (page, self.shown) for number, page in self.raw.items()}
        shown |= {number: (page, Numbering()) for number, page in (more or {}).items()}
        return {n: "\n".join(map(numbering.sentences, page.passages)) for n, (page, numbering) in shown.items()}

    def parallel(self) -> None:
        """ReadAgent-P: the model names all pages at once. Raises ``ModelError``."""
        calls, mark = self.calls, self.calls.mark()
        messages = self.brief.lookup_messages(self.text)
        taken, refused, fault = self._ask_pages(messages)
        if refused and not taken:
            wanted = render("readagent/again", fault=_FAULTS[NO_PAGE], wanted="pages that are there")
            taken, refused, fault = self._ask_pages(with_reminder(messages, f"\n\n{wanted[1]['content']}"))
        told = f"{_listed(taken)}{_refused(refused)}{'; ' if fault else ''}{fault}"
        calls.add("look up", told, mark, prompt=self.brief.lookup_prompt)
        self._read(taken, in_order=self.brief.options.by_importance)

    def sequential(self, answer_now: Callable[[], str]) -> None:
        """ReadAgent-S: one page at a time, each seen before the next is named. ``answer_now`` gives an answer so far.

        Raises ``ModelError``, unless such an answer is there already: then see ``ended``.
        """
        most = min(self.brief.options.pages, len(self.memory.pages))
        try:
            while len(self.raw) < most:
                number = self._next()
                if number is None or not self._read([number], in_order=True):
                    return
                if self.brief.options.interim:
                    self.interim = self.brief.shortened(answer_now())
        except ModelError as error:
            if not self.interim:
                raise
            self.ended = error
            return
        every = len(self.raw) == len(self.memory.pages)
        why = "no page is left" if every else f"the limit of {counted(most, 'page')}"
        self.calls.note("look up", f"ended: {why}")

    def nearest(self) -> None:
        """The pages whose gists are nearest to the question by meaning; no model chooses."""
        numbers = {page.id: number for number, page in self.memory.pages.items()}
        near = self.pages.near(len(numbers))
        chosen = [numbers[id_] for id_ in near.ids if id_ in numbers][: self.brief.options.pages]
        self.calls.note("look up", f"nearest by meaning: {_listed(chosen)}", near.queries)
        self._read(chosen)

    def without_gists(self, ranked: Sequence[str]) -> None:
        """The best pages alone: ids, best first."""
        numbers = {page.id: number for number, page in self.memory.pages.items()}
        self._read([numbers[id_] for id_ in ranked if id_ in numbers])

    def _ask_pages(self, messages: Messages) -> tuple[list[int], list[tuple[str, str]], str]:
        """The pages that the model names, in its order; what else it names, with the reason why that is refused; and
        what is wrong with its replies, if none can be read.

        A reply that names no page asks for none, which is right where the gists are enough (section 4.5).
        """
        calls, most, before, fault = self.calls, self.brief.options.pages, self.calls.made, ""
        taken: list[int] = []
        refused: list[tuple[str, str]] = []
        numbers: list[int] = []
        try:
            numbers = ask(calls, messages, pages_reply(most), stage="look up", tokens=self.brief.reply)[0].pages
        except ReplyError:  # what is remembered may be enough for the answer
            fault = NO_LIST
        calls.counts[f"malformed.{NO_LIST}"] += calls.made - before - (not fault)
        for number in numbers:
            is_one_more = _TOO_MANY if len(taken) >= most else ""
            reason = NO_PAGE if number not in self.memory.pages else _TWICE if number in taken else is_one_more
            if reason:
                refused.append((str(number), reason))
                calls.counts[f"malformed.{reason}"] += 1
            else:
                taken.append(number)
        return taken, refused, fault

    def _next(self) -> int | None:
        """The page that the model names; None for STOP, and for a second reply that is of no use."""
        calls, mark = self.calls, self.calls.mark()
        messages = self.brief.next_messages(self.text, sorted(self.raw), self.interim)
        page, fault = self._ask_next(messages)
        faults = [_faulty(page, fault)] if fault else []
        if fault in (NO_PAGE, _READ_ALREADY):
            wanted = render("readagent/again", fault=_FAULTS[fault], wanted=_ONE_PAGE)
            again = with_reminder(messages, f"\n\n{wanted[1]['content']}")
            page, fault = self._ask_next(again)
            faults += [_faulty(page, fault)] if fault else []
            if fault:
                for sent in (messages, again):
                    calls.forget(sent, wanted=Wanted(NextReply, self.brief.reply))
        outcome = "stop" if fault or page is None else f"page {page}"
        calls.add("look up", "; ".join([*faults, outcome]), mark, prompt=_NEXT)
        return None if fault else page

    def _ask_next(self, messages: Messages) -> tuple[int | None, str]:
        """The page that the model wants, None for none, and what is wrong with that."""
        calls, before = self.calls, self.calls.made
        page, fault = None, ""
        try:
            said = ask(calls, messages, NextReply, stage="look up", tokens=self.brief.reply)[0].page
            page = None if said == "STOP" else int(said)
        except ReplyError:
            fault = _NEITHER
        calls.counts[f"malformed.{_NEITHER}"] += calls.made - before - (not fault)
        if page is not None:
            fault = NO_PAGE if page not in self.memory.pages else _READ_ALREADY if page in self.raw else ""
            calls.counts[f"malformed.{fault}"] += bool(fault)
        return page, fault

    def _read(self, numbers: Sequence[int], *, in_order: bool = False) -> bool:
        """Read pages in full, as many as fit; whether all did. ``in_order``: none after the first that does not."""
        if not numbers:
            return True
        found = self.pages.texts([self.memory.pages[number].id for number in numbers])
        before = set(self.raw)
        refused: list[tuple[str, str]] = []
        for number in numbers:
            text = found.texts.get(self.memory.pages[number].id)
            stopped = in_order and any(reason == _NO_ROOM for _, reason in refused)
            if text is None:
                refused.append((str(number), _GONE))
            elif stopped or tokens(self.memory.text(self._in_full({number: text}))) > self.brief.room:
                refused.append((str(number), _NO_ROOM))
            else:
                self.raw[number] = text
        cut = "" if self.raw else self._cut_first(numbers, found)
        refused = [each for each in refused if int(each[0]) not in self.raw]
        for _, reason in refused:
            self.calls.counts[f"refused.{reason}"] += 1
        read = [number for number in numbers if number in self.raw and number not in before]
        seen = StepFound(
            found.queries,
            pages=tuple(self.memory.pages[number].id for number in read),
            passages=tuple(passage.id for number in read for passage in self.raw[number].passages),
        )
        self.calls.note("read pages", f"{_listed(read)}{cut}{_refused(refused)}", found=seen)
        return not refused and not cut

    def _cut_first(self, numbers: Sequence[int], found: PageTexts) -> str:
        """As much of the first page as fits by itself; in words, how much that is."""
        number = next((each for each in numbers if self.memory.pages[each].id in found.texts), None)
        room = self.brief.room - tokens(self.memory.text({number: ""})) if number is not None else 0
        if number is None or room < _LEAST_CUT:
            return ""
        whole = found.texts[self.memory.pages[number].id]
        end = _fitting(whole.text, room)
        last = whole.passages[0].start + end
        parts = (part_of(passage, 0, last) for passage in whole.passages if passage.start < last)
        self.raw[number] = PageText(whole.text[:end], tuple(parts))
        self.calls.counts["cut.page"] += 1
        return f"; page {number} cut to {end:,} of {len(whole.text):,} characters"


def _fitting(text: str, room: int) -> int:
    """Where the last sentence ends that fits into ``room`` with those before it; of a longer first one, within it."""
    end, left = 0, room
    for place in numbered(text):
        left -= tokens(text[place.start : place.end]) + _PER_SENTENCE
        if left < 0:
            break
        end = place.end
    return end or len(text[: head(text, room - _PER_SENTENCE)].rstrip())


def _faulty(page: int | None, fault: str) -> str:
    """What is wrong with a request: "99 (no such page)"."""
    return fault if page is None else f"{page} ({fault})"


def _refused(refused: Sequence[tuple[str, str]]) -> str:
    listed = ", ".join(f"{said} ({reason})" for said, reason in refused)
    return f"; refused: {listed}" if listed else ""


def _listed(numbers: Sequence[int]) -> str:
    noun = "page" if len(numbers) == 1 else "pages"
    return f"{noun} {', '.join(map(str, numbers))}" if numbers else "no page"
