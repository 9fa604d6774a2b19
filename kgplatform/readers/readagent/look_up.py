"""Reading pages again (ReadAgent, section 3.2): which, and whether they fit into the window (appendix I).

    look_up = LookUp(brief, pages, memory, calls)
    look_up.parallel()                           # or sequential(answer_now), nearest(), without_gists(ids)
    look_up.raw, look_up.passages                # pages in full, by number; the passages that they consist of

A page takes the place of its gist, under the same tag. One that does not fit beside those before it is left out; if the
first does not fit at all, as much of it as does is read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field

from kgplatform.errors import ModelError
from kgplatform.models.json_text import without_thoughts
from kgplatform.prompt import Messages, render, with_reminder
from kgplatform.readers.readagent.gist_memory import GistMemory, PageBrief
from kgplatform.readers.run import Calls, StepFound
from kgplatform.readers.window import head, tokens
from kgplatform.records import FoundPassage
from kgplatform.retrieve.found import part_of
from kgplatform.retrieve.pages import Pages, PageText, PageTexts
from kgplatform.text import counted

NO_PAGE = "no such page"
NO_NUMBER = "no page number"
TWICE = "named twice"
TOO_MANY = "too many pages"
EMPTY = "empty reply"

NO_ROOM = "no room"
_GONE = "gone"
_LEAST_CUT = 50
"""Tokens of a page that are worth reading by themselves."""

_NEXT = "readagent/next"
_READ_ALREADY = "read again already"
_NEITHER = "no page and no STOP"
_FAULTS = {
    NO_PAGE: "there is no page of that number.",
    _READ_ALREADY: "that page was read again already.",
    _NEITHER: "it names no page and does not say STOP.",
}


@dataclass
class LookUp:
    """The pages of one run that are read again. ``ended``: the error that ended it early, where an answer was there."""

    brief: PageBrief
    pages: Pages
    memory: GistMemory
    calls: Calls
    raw: dict[int, str] = field(default_factory=dict)
    passages: list[FoundPassage] = field(default_factory=list)
    ended: ModelError | None = None
    interim: str = ""

    @property
    def text(self) -> str:
        """The memory as it is now."""
        return self.memory.text(self.raw)

    def parallel(self) -> None:
        """ReadAgent-P: the model names all pages at once. Raises ``ModelError``."""
        calls, mark = self.calls, self.calls.mark()
        messages = self.brief.lookup_messages(self.text)
        reply = calls.send(messages, stage="look up")
        said = without_thoughts(reply.text, cut_off=reply.cut_off)
        request = read_request(said, self.memory.pages.keys(), self.brief.options.pages)
        for _, reason in request.refused:
            self.calls.counts[f"malformed.{reason}"] += 1
        if request.fault:
            self.calls.counts[f"malformed.{request.fault}"] += 1
            calls.forget(messages)
        calls.add("look up", _told(request), mark, prompt=self.brief.lookup_prompt)
        self._read(request.taken, in_order=self.brief.options.by_importance)

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

    def _next(self) -> int | None:
        """The page that the model names; None for STOP, and for a second reply that is of no use."""
        calls, mark = self.calls, self.calls.mark()
        messages = self.brief.next_messages(self.text, sorted(self.raw), self.interim)
        asked, fault = self._ask_next(messages)
        faults = [_faulty(asked, fault)] if fault else []
        if fault:
            reminder = render("readagent/again", fault=_FAULTS[fault])[1]["content"]
            again = with_reminder(messages, f"\n\n{reminder}")
            asked, fault = self._ask_next(again)
        if fault:
            faults.append(_faulty(asked, fault))
            for sent in (messages, again):
                calls.forget(sent)
        outcome = "stop" if fault or asked.page is None else f"page {asked.page}"
        calls.add("look up", "; ".join([*faults, outcome]), mark, prompt=_NEXT)
        return None if fault else asked.page

    def _ask_next(self, messages: Messages) -> tuple[Next, str]:
        """What the model wants, and what is wrong with that."""
        reply = self.calls.send(messages, stage="look up")
        asked = read_next(without_thoughts(reply.text, cut_off=reply.cut_off))
        fault = self._judge(asked)
        if fault:
            self.calls.counts[f"malformed.{fault}"] += 1
        return asked, fault

    def _judge(self, asked: Next) -> str:
        if asked.page is None:
            return "" if asked.stop else _NEITHER
        if asked.page not in self.memory.pages:
            return NO_PAGE
        return _READ_ALREADY if asked.page in self.raw else ""

    def _read(self, numbers: Sequence[int], *, in_order: bool = False) -> bool:
        """Read pages in full, as many as fit; whether all did. ``in_order``: none after the first that does not."""
        if not numbers:
            return True
        found = self.pages.texts([self.memory.pages[number].id for number in numbers])
        before, passages = set(self.raw), len(self.passages)
        refused: list[tuple[str, str]] = []
        for number in numbers:
            text = found.texts.get(self.memory.pages[number].id)
            stopped = in_order and any(reason == NO_ROOM for _, reason in refused)
            if text is None:
                refused.append((str(number), _GONE))
            elif stopped or not self._fits(number, text.text):
                refused.append((str(number), NO_ROOM))
            else:
                self._take(number, text)
        cut = "" if self.raw else self._cut_first(numbers, found)
        refused = [each for each in refused if int(each[0]) not in self.raw]
        for _, reason in refused:
            self.calls.counts[f"refused.{reason}"] += 1
        read = [number for number in numbers if number in self.raw and number not in before]
        seen = StepFound(
            found.queries,
            pages=tuple(self.memory.pages[number].id for number in read),
            passages=tuple(passage.id for passage in self.passages[passages:]),
        )
        self.calls.note("read pages", f"{_listed(read)}{cut}{_refused(refused)}", found=seen)
        return not refused and not cut

    def _fits(self, number: int, text: str) -> bool:
        return tokens(self.memory.text({**self.raw, number: text})) <= self.brief.room

    def _take(self, number: int, text: PageText) -> None:
        self.raw[number] = text.text
        self.passages += text.passages

    def _cut_first(self, numbers: Sequence[int], found: PageTexts) -> str:
        """As much of the first page as fits by itself; in words, how much that is."""
        number = next((each for each in numbers if self.memory.pages[each].id in found.texts), None)
        room = self.brief.room - tokens(self.memory.text({number: ""})) if number is not None else 0
        if number is None or room < _LEAST_CUT:
            return ""
        whole = found.texts[self.memory.pages[number].id]
        end = len(whole.text[: head(whole.text, room)].rstrip())
        self._take(number, _shortened(whole, end))
        self.calls.counts["cut.page"] += 1
        return f"; page {number} cut to {end:,} of {len(whole.text):,} characters"


def _shortened(page: PageText, end: int) -> PageText:
    """The first ``end`` characters of a page, with what its passages have of them."""
    last = page.passages[0].start + end
    return PageText(
        page.text[:end], tuple(part_of(passage, 0, last) for passage in page.passages if passage.start < last)
    )


def _told(request: Request) -> str:
    """What was asked for: "2, 8; refused: 99 (no such page)"."""
    return f"{_listed(request.taken)}{_refused(request.refused)}{'; ' if request.fault else ''}{request.fault}"


def _faulty(asked: Next, fault: str) -> str:
    """What is wrong with a request: "99 (no such page)"."""
    return fault if asked.page is None else f"{asked.page} ({fault})"


def _refused(refused: Sequence[tuple[str, str]]) -> str:
    listed = ", ".join(f"{said} ({reason})" for said, reason in refused)
    return f"; refused: {listed}" if listed else ""


def _listed(numbers: Sequence[int]) -> str:
    noun = "page" if len(numbers) == 1 else "pages"
    return f"{noun} {', '.join(map(str, numbers))}" if numbers else "no page"


_BETWEEN = r"(?:[\s,;&/*>)\]<(-]|and\b|or\b|then\b|to\b|[–—])"
_BRACKET = rf"\[[^\[\]]*\](?:{_BETWEEN}*(?:pages?\s*)?\[[^\[\]]*\])*"
_OF_PAGES = re.compile(rf"\bpages?\b[^\w\[\n]{{0,4}}({_BRACKET})", re.IGNORECASE)
_BRACKETED = re.compile(_BRACKET)
_IN_WORDS = re.compile(rf"\bpages?\b[^\w\[\n]{{0,4}}(\d+(?:{_BETWEEN}+(?:pages?\W{{0,3}})?\d+)*)", re.IGNORECASE)
_ENTRY = re.compile(r"[,;\[\]]|\band\b|\bor\b|\bthen\b|&", re.IGNORECASE)
_PAGE_WORD = re.compile(r"\bpages?\b", re.IGNORECASE)
# Two numbers with "to" or a dash between them, or one, which may be below zero.
_NUMBER = re.compile(r"(?<![\w.])(\d{1,6})\s*(?:[-–—]|\bto\b)\s*(\d{1,6})(?![\w.])|[-−]?\d+")
_NEXT_PAGE = re.compile(r"\bpage\b\s*(?:number|no\.?)?[^\w\n-]{0,4}(\d+)", re.IGNORECASE)
_ONLY_NUMBER = re.compile(r"[^\w-]*(\d+)\W*")
_STOP = re.compile(r"\bstop\b", re.IGNORECASE)
_STOP_FIRST = re.compile(r"\W*stop\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Request:
    """The numbers that are ``taken``, in the order of the reply, and what else it names, as written, with the reason.

    ``fault``: what is wrong with a reply that says nothing. A reply that names no page asks for none, which is right
    where the gists are enough (section 4.5).
    """

    taken: tuple[int, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    fault: str = ""


@dataclass(frozen=True, slots=True)
class Next:
    """The one page that is asked for; ``stop``: none any more. Neither where the reply says neither."""

    page: int | None = None
    stop: bool = False


def read_request(text: str, known: Collection[int], most: int) -> Request:
    """The first list of pages in ``text``: at most ``most`` of ``known``, each once.

    A list in brackets that stands behind the word "page" counts first, then any that has a number, then numbers that
    stand behind that word ("Pages 7 and 12").
    """
    taken: list[int] = []
    refused: list[tuple[str, str]] = []
    for said, number in _entries(_first_list(text)):
        reason = _refusal(number, taken, known, most)
        if reason or number is None:
            refused.append((said, reason))
        else:
            taken.append(number)
    return Request(tuple(taken), tuple(refused), "" if text.strip() else EMPTY)


def read_next(text: str) -> Next:
    """The first page that a reply names, unless it begins with STOP; STOP anywhere where it names none."""
    found = _NEXT_PAGE.search(text) or _ONLY_NUMBER.fullmatch(text)
    if _STOP_FIRST.match(text) or (found is None and _STOP.search(text)):
        return Next(stop=True)
    return Next(int(found[1]) if found else None)


def _first_list(text: str) -> str:
    if found := _OF_PAGES.search(text):
        return found[1]
    for bracketed in _BRACKETED.finditer(text):
        if any(letter.isdigit() for letter in bracketed[0]):
            return bracketed[0]
    return found[1] if (found := _IN_WORDS.search(text)) else ""


def _entries(listed: str) -> Iterator[tuple[str, int | None]]:
    """What a list names, as written, with its number; None for what has none."""
    for entry in filter(None, map(str.strip, _ENTRY.split(_PAGE_WORD.sub(" ", listed)))):
        numbers = list(_NUMBER.finditer(entry))
        if not numbers:
            yield entry, None
        for found in numbers:
            if found[1] is None:
                yield found[0], int(found[0].replace("−", "-"))
            else:
                yield from _between(found[0], int(found[1]), int(found[2]))


def _between(said: str, first: int, last: int) -> Iterator[tuple[str, int | None]]:
    """``3-5`` as 3, 4 and 5; what does not ascend, or is longer than any list, by its two ends."""
    if first < last <= first + 100:
        yield from ((str(number), number) for number in range(first, last + 1))
    else:
        yield from ((said, first), (said, last))


def _refusal(number: int | None, taken: Collection[int], known: Collection[int], most: int) -> str:
    if number is None:
        return NO_NUMBER
    if number not in known:
        return NO_PAGE
    if number in taken:
        return TWICE
    return TOO_MANY if len(taken) >= most else ""
