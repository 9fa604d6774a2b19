"""Reader ``readagent`` (ReadAgent, arXiv 2402.09727): remember the gists, read some pages again, answer.

    answer(question, run, Options(lookup="sequential", pages=3))

The gists are those that `kgplatform gist` made, once for all questions. Calls of the model: one look-up and one answer
in parallel; up to ``pages`` look-ups, one more for STOP, and one answer in sequence; replies that are asked for again
come on top, and with ``interim`` an answer after each page. The last of them is the answer then.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, TypeVar

from pydantic import create_model

from kgplatform.errors import InputError, ModelError, ReplyError
from kgplatform.models.chat import Wanted
from kgplatform.models.forms import Form, items, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, with_reminder
from kgplatform.readers.answer import (
    NONE,
    Answered,
    AnswerReply,
    answer_of,
    outcome,
    record,
    without_model,
    write_answer,
)
from kgplatform.readers.choices import letter
from kgplatform.readers.numbering import Numbering
from kgplatform.readers.readagent.gist_memory import (
    GistMemory,
    Options,
    PageBrief,
    left_out,
    make_brief,
    memory_of,
    need_pages,
    need_vectors,
    remember,
)
from kgplatform.readers.reader import AnswerMode, Reader
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import head, tokens
from kgplatform.records import Answer, SearchResult
from kgplatform.search.found import part_of
from kgplatform.search.pages import Pages, PageText, PageTexts
from kgplatform.text import compression_rate, counted
from kgplatform.text.sentences import numbered

BM25_PAGES = 20_000
"""Pages that are compared by their words: the text of all of them is read for that."""


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer from gists and the pages that were read again, whose sentences it cites.

    ``counts``: ``words.in_context`` and ``words.of_text`` make the compression rate (section 4), ``pages.looked_up`` is
    what the paper calls # LU. Raises ``InputError`` where there are no gists, and ``ModelError``.
    """
    brief = make_brief(question, options, run.context)
    if run.chat is None:
        found = run.evidence.search(brief.question, documents=options.documents)
        return without_model(brief.question, READER.name, found, run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    pages = run.evidence.pages(brief.question, options.documents)
    if options.has_gists:
        memory = remember(brief, pages, run.evidence, calls)
        ranked: Sequence[str] = ()
    else:
        memory, ranked = _retrieved(options, pages, calls)
    return _Run(replace(brief, tag=fence_for(memory.text({}))), pages, calls, memory).answer(ranked)


def _retrieved(options: Options, pages: Pages, calls: Calls) -> tuple[GistMemory, Sequence[str]]:
    """The best pages by the comparators ``bm25`` and ``dense``: as a memory without gists, and best first."""
    size = need_pages(pages)
    if options.lookup == "dense":
        need_vectors(size)
        found = pages.near(options.pages)
    elif size.pages > BM25_PAGES:
        raise InputError(
            f"bm25 reads the text of every page, and there are {size.pages:,}; it does so for {BM25_PAGES:,} at most. "
            "Choose documents.",
            "documents",
        )
    else:
        found = pages.best_by_words(options.pages)
    named = pages.named(found.ids)
    detail = f"the best {len(found.ids):,} of {size.pages:,} by {options.lookup}"
    note = left_out(size, by_meaning=options.lookup == "dense")
    calls.note("find pages", detail, (*size.queries, *found.queries, *named.queries))
    return replace(memory_of(named.pages, gists=False), of_words=size.words, note=note), found.ids


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


F = TypeVar("F", bound=Form)


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
_LEAST_CUT = 50  # tokens of a page that are worth reading by themselves
_PER_SENTENCE = 8  # tokens of the number of a sentence
_NEXT, _AGAIN = "readagent/next", "readagent/again"
_READ_ALREADY = "read again already"
_NEITHER = "no page and no STOP"
_ONE_PAGE = 'one single page that is there and was not read again yet, or with "STOP"'
_FAULTS = {NO_PAGE: "there is no page of that number.", _READ_ALREADY: "that page was read again already."}


@dataclass
class _Run:
    """One question on its way from the ``memory`` to the answer, by pages that are read again (section 3.2).

    A page takes the place of its gist, under the same tag. One that does not fit beside those before it is left out; if
    the first does not fit at all, as much of it as does is read (appendix I). ``raw``: the pages in full, by number.
    ``said``: answers by memory, the last from ``last_words`` words; ``interim``: that, as the next look-up shows it.
    ``ended``: the error that ended the look-up early, where an answer was there.
    """

    brief: PageBrief
    pages: Pages
    calls: Calls
    memory: GistMemory
    raw: dict[int, PageText] = field(default_factory=dict)
    shown: Numbering = field(default_factory=Numbering)
    said: dict[str, Answered] = field(default_factory=dict)
    last_words: int = 0
    interim: str = ""
    ended: ModelError | None = None

    def answer(self, ranked: Sequence[str]) -> Answer:
        """Read pages again in the way that was chosen, and answer; ``ranked``: ids of pages found without gists.

        Where nothing is remembered there is no answer, or in open mode what the model knows.
        """
        question, options = self.brief.question, self.brief.options
        numbers = {page.id: number for number, page in self.memory.pages.items()}
        if options.lookup == "parallel":
            self._parallel()
        elif options.lookup == "sequential":
            self._sequential()
        elif options.lookup == "nearest":  # by meaning; no model chooses
            near = self.pages.near(len(numbers))
            chosen = [numbers[id_] for id_ in near.ids if id_ in numbers][: options.pages]
            self.calls.note("look up", f"nearest by meaning: {_listed(chosen)}", near.queries)
            self._read(chosen)
        elif not options.has_gists:
            self._read([numbers[id_] for id_ in ranked if id_ in numbers])
        words, whole = self.last_words if self.ended else self._words, self.memory.of_words
        if words:  # question, options, tags and titles do not count in the compression rate (section 4)
            rate = 100 * compression_rate(words, whole)
            answered = self._ask("answer", f"{words:,} of {whole:,} words in the prompt, compression rate {rate:.1f} %")
        else:
            mode: AnswerMode = "reject" if options.choices else options.mode
            answered = write_answer(question, Selection.of(question), self.calls, mode)
        ended = f"The look-up ended early: {self.ended}" if self.ended else ""
        passages = tuple(passage for page in self.raw.values() for passage in page.passages)
        evidence, notes = SearchResult(question, passages, (), 0.0), (self.memory.note, ended)
        done = record(READER.name, answered, evidence, self.calls, *notes, is_shown=False)
        sizes = {"words.in_context": words, "words.of_text": whole, "pages.looked_up": len(self.raw)}
        return replace(done, counts=dict(sorted((done.counts | sizes).items())))

    def _ask(self, name: str, detail: str) -> Answered:
        """The model's answer from the memory as it is now; the one that it gave after the last page, if it did.

        The memory is that of the documents of which something was read again, if anything was.
        """
        calls, brief, choices = self.calls, self.brief, self.brief.options.choices
        memory = self.memory.about(self.raw).text(self._in_full())
        if self.ended or memory in self.said:
            answered = self.said.get(memory) or list(self.said.values())[-1]
            calls.note(name, f"the last interim answer; {detail}")
            return answered
        mark, messages = calls.mark(), brief.answer_messages(memory)
        form: type[AnswerReply | ChoiceReply] = choice_reply(len(choices)) if choices else AnswerReply
        show = None if choices else calls.shown("answer")
        reply, repairs = ask(calls, messages, form, stage="answer", tokens=brief.reply, show=show)
        if isinstance(reply, ChoiceReply):  # the option behind its letter, with what speaks for it: "(C) a horse [1]"
            option = choices[ord(reply.choice) - ord(letter(0))]
            answered = answer_of(AnswerReply(answer=option, evidence=reply.evidence), self.shown, "reject")
            answered = replace(answered, text=f"({reply.choice}) {answered.text}", sufficient=None)
        else:
            answered = answer_of(reply, self.shown, brief.options.mode)
        told = filter(None, (outcome(answered, repairs), detail))
        calls.add(name, "; ".join(told), mark, prompt=brief.answer_prompt)
        self.said[memory] = answered
        self.last_words = self._words
        return answered

    @property
    def _words(self) -> int:
        """The words of gists and pages that an answer is from."""
        return self.memory.about(self.raw).words({number: page.text for number, page in self.raw.items()})

    def _in_full(self, more: Mapping[int, PageText] | None = None) -> dict[int, str]:
        """The pages that were read again in numbered sentences, one a line; and ``more``, which is not shown yet."""
        shown = {number: (page, self.shown) for number, page in self.raw.items()}
        shown |= {number: (page, Numbering()) for number, page in (more or {}).items()}
        return {n: "\n".join(map(numbering.sentences, page.passages)) for n, (page, numbering) in shown.items()}

    def _parallel(self) -> None:
        calls, mark = self.calls, self.calls.mark()
        messages = self.brief.lookup_messages(self.memory.text(self._in_full()))
        taken, refused, fault = self._ask_pages(messages)
        if refused and not taken:
            again = with_reminder(messages, _AGAIN, fault=_FAULTS[NO_PAGE], wanted="pages that are there")
            taken, refused, fault = self._ask_pages(again)
        told = f"{_listed(taken)}{_refused(refused)}{'; ' if fault else ''}{fault}"
        calls.add("look up", told, mark, prompt=self.brief.lookup_prompt)
        self._read(taken, in_order=self.brief.options.by_importance)

    def _sequential(self) -> None:
        """ReadAgent-S: one page at a time, each seen before the next is named.

        Raises ``ModelError``, unless there is an answer so far: then see ``ended``.
        """
        most = min(self.brief.options.pages, len(self.memory.pages))
        try:
            while len(self.raw) < most:
                number = self._next()
                if number is None or not self._read([number], in_order=True):
                    return
                if self.brief.options.interim:
                    answered = self._ask("interim answer", "")
                    said = answered.plain if answered.holds else NONE
                    self.interim = said[: head(said, self.brief.interim_tokens)].strip()
        except ModelError as error:
            if not self.interim:
                raise
            self.ended = error
            return
        every = len(self.raw) == len(self.memory.pages)
        why = "no page is left" if every else f"the limit of {counted(most, 'page')}"
        self.calls.note("look up", f"ended: {why}")

    def _ask_pages(self, messages: Messages) -> tuple[list[int], list[tuple[str, str]], str]:
        """The pages that the model names, in its order; what else it names, with the reason why that is refused; and
        what is wrong with its replies, if none can be read.

        A reply that names no page asks for none, which is right where the gists are enough (section 4.5).
        """
        calls, most = self.calls, self.brief.options.pages
        taken: list[int] = []
        refused: list[tuple[str, str]] = []
        said = self._said(messages, pages_reply(most), NO_LIST)  # without any, what is remembered may be enough
        for number in said.pages if said else ():
            is_one_more = _TOO_MANY if len(taken) >= most else ""
            reason = NO_PAGE if number not in self.memory.pages else _TWICE if number in taken else is_one_more
            if reason:
                refused.append((str(number), reason))
                calls.counts[f"malformed.{reason}"] += 1
            else:
                taken.append(number)
        return taken, refused, "" if said else NO_LIST

    def _said(self, messages: Messages, form: type[F], fault: str) -> F | None:
        """The reply to a look-up; None where there is none, and each that could not be used counts as ``fault``."""
        calls, before, said = self.calls, self.calls.made, None
        with suppress(ReplyError):
            said = ask(calls, messages, form, stage="look up", tokens=self.brief.reply)[0]
        calls.counts[f"malformed.{fault}"] += calls.made - before - bool(said)
        return said

    def _next(self) -> int | None:
        """The page that the model names; None for STOP, and for a second reply that is of no use."""
        calls, mark = self.calls, self.calls.mark()
        messages = self.brief.next_messages(self.memory.text(self._in_full()), sorted(self.raw), self.interim)
        page, fault = self._ask_next(messages)
        faults = [_faulty(page, fault)] if fault else []
        if fault in (NO_PAGE, _READ_ALREADY):
            again = with_reminder(messages, _AGAIN, fault=_FAULTS[fault], wanted=_ONE_PAGE)
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
        said = self._said(messages, NextReply, _NEITHER)
        if said is None or said.page == "STOP":
            return None, "" if said else _NEITHER
        page = said.page
        fault = NO_PAGE if page not in self.memory.pages else _READ_ALREADY if page in self.raw else ""
        self.calls.counts[f"malformed.{fault}"] += bool(fault)
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
        end, left = 0, room  # where the last sentence ends that fits with those before it, or within a longer first one
        for place in numbered(whole.text):
            left -= tokens(whole.text[place.start : place.end]) + _PER_SENTENCE
            if left < 0:
                break
            end = place.end
        end = end or len(whole.text[: head(whole.text, room - _PER_SENTENCE)].rstrip())
        last = whole.passages[0].start + end
        parts = (part_of(passage, 0, last) for passage in whole.passages if passage.start < last)
        self.raw[number] = PageText(whole.text[:end], tuple(parts))
        self.calls.counts["cut.page"] += 1
        return f"; page {number} cut to {end:,} of {len(whole.text):,} characters"


def _faulty(page: int | None, fault: str) -> str:
    """What is wrong with a request: "99 (no such page)"."""
    return fault if page is None else f"{page} ({fault})"


def _refused(refused: Sequence[tuple[str, str]]) -> str:
    listed = ", ".join(f"{said} ({reason})" for said, reason in refused)
    return f"; refused: {listed}" if listed else ""


def _listed(numbers: Sequence[int]) -> str:
    noun = "page" if len(numbers) == 1 else "pages"
    return f"{noun} {', '.join(map(str, numbers))}" if numbers else "no page"


READER = Reader(
    "readagent",
    "Answers from gists of pages after re-reading the relevant pages. Needs gists of the documents.",
    Options,
    answer,
    title="Gists, then pages (ReadAgent)",
    takes="2 calls",
    needs=lambda options: ("gists",),
    usual=True,
)
