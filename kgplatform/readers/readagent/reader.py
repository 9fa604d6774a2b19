"""Reader ``readagent`` (ReadAgent, arXiv 2402.09727): remember the gists, read some pages again, answer.

    answer(question, run, Options(lookup="sequential", pages=3))

The gists are those that `kgplatform gist` made, once for all questions. Calls of the model: one look-up and one answer
in parallel; up to ``pages`` look-ups, one more for STOP, and one answer in sequence; replies that are asked for again
come on top, and with ``interim`` an answer after each page. The last of them is the answer then.

    brief = make_brief("Who kept the lamp?", Options(lookup="sequential", pages=3))
    brief.room                                   # tokens of gists and pages that fit into every prompt of the run
    memory_of(pages).text({5: "the whole of page 5"})   # "<Page 4>\\na gist\\n<Page 5>\\nthe whole of page 5\\n…"

What is remembered (section 3.1) are gists in reading order, each under the tag of its page, up to the window. The last
prompt, the answer's, has the longest memory (section 4). The room is that of the largest prompt all the same: so each
page that was accepted is in every prompt after it.

The tags are the program's. In one document a tag has the index of its page; where several documents are remembered the
pages are counted through, from 0, under the titles of their documents. What does not fit is chosen by retrieval: the
pages whose gists are nearest to the question, and those that hold the passages that a search finds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Any, Literal, TypeVar

from pydantic import create_model

from kgplatform.errors import Code, InputError, ModelError, ReplyError, coded
from kgplatform.models.chat import Wanted
from kgplatform.models.forms import Form, items, text
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render, with_reminder
from kgplatform.readers.answer import (
    NONE,
    Answered,
    AnswerReply,
    answer_of,
    cited_manner,
    outcome,
    record,
    reply_room,
    without_model,
    write_answer,
)
from kgplatform.readers.choices import check_choices, letter, shown_choices
from kgplatform.readers.reader import (
    AnswerMode,
    AnswerOptions,
    Preset,
    Reader,
    documents_option,
    option,
    preset_option,
    window_option,
)
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import Numbering, Window, head, room_for, short_name, tokens, window_of
from kgplatform.records import Answer, QueryRun, SearchResult
from kgplatform.search.evidence import Evidence
from kgplatform.search.found import part_of, rank_scores
from kgplatform.search.pages import MemorySize, Pages, PageText, PageTexts, StoredPage
from kgplatform.search.question import asked
from kgplatform.text import count_words, counted
from kgplatform.text.sentences import numbered

Lookup = Literal["parallel", "sequential", "none", "nearest", "bm25", "dense"]
MOST_PAGES = 100
"""The most that may be read again for one question: a model cannot choose from a longer list."""


@dataclass(frozen=True, slots=True)
class Options(AnswerOptions):
    """How the reader works.

    ``lookup``: how the pages are found that are read again. ``parallel``: the model names them at once (ReadAgent-P);
    ``sequential``: one at a time, seeing those before (ReadAgent-S); ``none``: none is (GistMem); ``nearest``: those
    whose gists are nearest to the question by meaning, without asking the model (GistMem with neural retrieval, table
    4). Comparators without gists, from the best pages alone (section 4.2): ``bm25`` by the words of their text, over
    the pages of the chosen documents alone; ``dense`` by the meaning of their gists, as the paper does for
    NarrativeQA (section 4.4). ``by_importance`` reads up to the first page that does not fit (appendix I).
    ``choices``: one of them is always chosen, so that ``mode`` says nothing about them.
    """

    lookup: Lookup = option(
        "parallel",
        "how to choose the pages to read again: the model asks for all at once (parallel) or one by one (sequential), "
        "the pages with the most similar gists are taken (nearest), or none are (none); bm25 and dense answer from "
        "the best pages alone, without gists",
    )
    pages: int = option(5, "maximum number of pages to read again", least=1, most=MOST_PAGES)
    by_importance: bool = option(
        False, "with lookup=parallel: the most important pages first, as many as fit into the window"
    )
    interim: bool = option(
        False, "with lookup=sequential: write an answer after each page and show it in the next request"
    )
    choices: tuple[str, ...] = option(
        (),
        "an answer to choose from; repeat the option for each; they become (A), (B), …",
        example="a horse",
        one="choice",
    )
    documents: tuple[str, ...] = documents_option()
    window_tokens: int | None = window_option()
    preset: Preset = preset_option()

    def __post_init__(self) -> None:
        AnswerOptions.__post_init__(self)
        check_choices(self.choices)
        if self.by_importance and self.lookup != "parallel":
            raise InputError(
                "by_importance orders what is asked for at once: leave it out, or use lookup=parallel.",
                "by_importance",
                "lookup",
            )
        if self.interim and self.lookup != "sequential":
            raise InputError(
                "interim answers come between look-ups: leave them out, or use lookup=sequential.", "interim", "lookup"
            )


_INTERIM_PART = 16  # of the window, the part that an answer so far may take
_AGAIN_TOKENS = 80  # of what is added where a prompt is sent again
_NUMBER_TOKENS = 4
_OF_SEVERAL = 800
"""Tokens of the gists of several documents that are remembered. The paper remembers one, and all of it."""
_PAPER_WINDOW = 8192  # tokens (section 4)


@dataclass(frozen=True, slots=True)
class PageBrief:
    """The question, the options, the window, and ``room``: the tokens of memory that fit into each prompt.

    ``tag``: the name of the tags round the memory. It stays the same while pages are read again, so that one prompt
    begins as the one before, up to the first page that is read again.
    """

    question: str
    options: Options
    window: int
    room: int = 0
    tag: str = ""

    @property
    def reply(self) -> int:
        """The most tokens of a reply."""
        return reply_room(self.options.answer_style, self.window)

    @property
    def lookup_prompt(self) -> str:
        """The name of the prompt that asks for all pages at once."""
        return "readagent/lookup_ordered" if self.options.by_importance else "readagent/lookup"

    @property
    def answer_prompt(self) -> str:
        """The name of the prompt that asks for the answer."""
        return "readagent/choose" if self.options.choices else "readagent/answer"

    def lookup_messages(self, memory: str) -> Messages:
        """Asks for all pages at once."""
        most = self.options.pages
        pages = "one page at most" if most == 1 else f"1 to {most} pages"
        return render(self.lookup_prompt, question=self._shown, pages=pages, **self._fenced(memory))

    def next_messages(self, memory: str, read: Sequence[int], interim: str) -> Messages:
        """Asks for the next page, or STOP; ``interim`` is the answer so far, empty where there is none."""
        listed = ", ".join(f"Page {number}" for number in read) or NONE
        interim = f"\n\nMy answer so far, from this alone: {interim}" if interim else ""
        fenced = self._fenced(memory, interim)
        return render("readagent/next", question=self._shown, read=listed, interim=interim, **fenced)

    def answer_messages(self, memory: str) -> Messages:
        """Asks for the answer."""
        style, mode = self.options.answer_style, self.options.mode
        inputs = {} if self.options.choices else cited_manner(style, mode)
        return render(self.answer_prompt, question=self._shown, **inputs, **self._fenced(memory))

    @property
    def _shown(self) -> str:
        """The question, with its options under it."""
        choices = shown_choices(self.options.choices)
        return f"{self.question}\n\nOptions:\n{choices}" if choices else self.question

    def _fenced(self, memory: str, *more: str) -> dict[str, str]:
        is_free = self.tag and not any(self.tag in text for text in (memory, *more))
        fence = self.tag if is_free else fence_for(memory, *more) if memory else LARGEST_FENCE
        return {"fence": fence, "memory": memory}


def make_brief(question: str, options: Options, context: int = 32_768) -> PageBrief:
    """``context``: the window of the model, in tokens, of which a reply has its part. Raises ``InputError`` for an
    empty question, or one that leaves no room for a memory."""
    window = window_of(options.window_tokens, options.preset, context, _PAPER_WINDOW)
    brief = PageBrief(asked(question), options, window)
    kept = Window(window, brief.reply)
    prompts = [(brief.answer_messages(""), 0)]
    if options.lookup == "parallel":
        prompts.append((brief.lookup_messages(""), 0))
    elif options.lookup == "sequential":
        interim = window // _INTERIM_PART if options.interim else 0
        prompts.append((brief.next_messages("", (), ""), _NUMBER_TOKENS * options.pages + interim))
    return replace(
        brief, room=min(room_for(kept, brief._shown, messages, more + _AGAIN_TOKENS) for messages, more in prompts)
    )


NOT_GISTED = "(not gisted)"
_TAG_TOKENS = 6
_LONGER = 1.2  # how many more tokens a text can have in a window than by the count that is stored with pages
_TAG = re.compile(r"<(\s*page\s+\d+\s*)>", re.IGNORECASE)
_PASSAGES = 50  # passages of a search whose pages are remembered first, where not all can be


@dataclass(frozen=True, slots=True)
class GistMemory:
    """Pages by the numbers of their tags, in reading order. ``gists`` is False where only raw pages are shown;
    ``titled``: they stand under the titles of their documents. ``of_words``: how many the text has that they stand for;
    ``note``: what they leave out."""

    pages: dict[int, StoredPage]
    gists: bool
    titled: bool
    of_words: int = 0
    note: str = ""

    def about(self, numbers: Collection[int]) -> GistMemory:
        """The memory of the documents that the pages ``numbers`` are of, to answer from; all of it for no page."""
        documents = {self.pages[number].document for number in numbers}
        kept = {number: page for number, page in self.pages.items() if page.document in documents}
        return replace(self, pages=kept) if documents else self

    def text(self, raw: Mapping[int, str]) -> str:
        """The memory as a prompt shows it: pages that are in ``raw`` in full, in place of their gists."""
        lines: list[str] = []
        last = ""
        for number, page in self.pages.items():
            if number not in raw and not self.gists:
                continue
            if self.titled and page.document != last:
                lines += [*([""] if lines else []), f"# {short_name(page.title)}"]
                last = page.document
            gist = NOT_GISTED if page.gist is None else page.gist
            # What looks like a tag of ours stands in round brackets: no page can pass words off as another page's.
            lines += (f"<Page {number}>", _TAG.sub(r"(\1)", raw.get(number, gist)))
        return "\n".join(lines)


def memory_of(pages: Sequence[StoredPage], *, gists: bool = True) -> GistMemory:
    """The memory of ``pages``, which are in reading order."""
    one = len({page.document for page in pages}) == 1
    return GistMemory({page.index if one else place: page for place, page in enumerate(pages)}, gists, not one)


def remember(brief: PageBrief, pages: Pages, evidence: Evidence, calls: Calls) -> GistMemory:
    """The gists of the chosen documents, as many as fit beside a page that is read again; a step of the trace says so.

    Of several documents those that are nearest to the question, in few tokens, but with the paper's preset.

    Raises ``InputError`` where there are no gists.
    """
    size = pages.size()
    if size.ungisted == size.pages:  # or there is none
        raise coded(Code.NO_GISTS)
    if brief.options.lookup == "nearest":
        need_vectors(size)
    looked_up = 0 if brief.options.lookup == "none" else brief.options.pages
    is_bounded = size.documents > 1 and brief.options.preset != "paper" and size.unembedded < size.pages - size.ungisted
    most = _OF_SEVERAL if is_bounded else brief.room
    room, chosen = min(most, _beside(brief.room, size, min(looked_up, 1))), ""
    found = pages.all() if size.tokens + _TAG_TOKENS * size.pages <= room else None  # else they surely do not fit
    if found and tokens((memory := memory_of(found.pages)).text({})) <= room:
        queries = found.queries
    else:
        chosen = ", chosen by retrieval"
        memory, queries = _best(brief, pages, size, evidence, min(most, _beside(brief.room, size, looked_up)))
    parts = [
        (size.for_question, f"{counted(size.for_question, 'document')} by the gists made for this question"),
        (size.without, f"{counted(size.without, 'document')} without gists left out"),
        (size.ungisted, f"{counted(size.ungisted, 'page')} not gisted"),
    ]
    more = "".join(f"; {said}" for number, said in parts if number)
    shown, cost = len(memory.pages), tokens(memory.text({}))
    detail = f"{shown:,} of {counted(size.pages, 'gist')}{chosen}, {cost:,} tokens{more}"
    calls.note("remember", detail, (*size.queries, *queries))
    by_meaning = bool(chosen) or brief.options.lookup == "nearest"
    return replace(memory, of_words=size.words, note=left_out(size, by_meaning=by_meaning))


def need_vectors(size: MemorySize) -> None:
    """Raise ``InputError`` where no gist can be found by meaning."""
    if size.unembedded == size.pages - size.ungisted:
        raise coded(Code.NO_GIST_VECTORS)


def left_out(size: MemorySize, *, by_meaning: bool) -> str:
    """A note on documents without gists and, where pages were looked for ``by_meaning``, on gists without vectors."""
    notes = []
    if size.without:
        were = "was" if size.without == 1 else "were"
        notes.append(
            f"{counted(size.without, 'document')} without finished gists {were} left out; make gists of all first."
        )
    if by_meaning and size.unembedded:
        notes.append(f"Not looked for: {counted(size.unembedded, 'gist')} without vectors; make gists again.")
    return " ".join(notes)


def _beside(room: int, size: MemorySize, pages: int) -> int:
    """What ``room`` leaves for gists beside that many ``pages`` that are read again: half of it at least."""
    return room - min(int(pages * size.longest * _LONGER), room // 2)


def _best(
    brief: PageBrief, pages: Pages, size: MemorySize, evidence: Evidence, room: int
) -> tuple[GistMemory, tuple[QueryRun, ...]]:
    """The gists of the best pages, best first, as many as ``room`` holds; in reading order."""
    need_vectors(size)
    mean = _TAG_TOKENS + size.tokens // size.pages
    near = pages.near(2 * room // mean)
    searched = evidence.search(brief.question, documents=brief.options.documents, top_k=_PASSAGES)
    holding = pages.with_passages([passage.id for passage in searched.result.passages])
    scores = rank_scores([near.ids, holding.ids])
    ranked = sorted(scores, key=lambda each: -scores[each])
    found = pages.named(ranked)
    by_id, kept, titled = {page.id: page for page in found.pages}, set[str](), set[str]()
    for page in (by_id[each] for each in ranked if each in by_id):  # each document costs its title once
        cost = _TAG_TOKENS + tokens(NOT_GISTED if page.gist is None else page.gist) + 1
        cost += 0 if page.document in titled else tokens(f"\n# {short_name(page.title)}") + 1
        if cost <= room:
            room -= cost
            kept.add(page.id)
            titled.add(page.document)
    if not kept:
        raise InputError("No gist fits into the window with the question. Raise window_tokens.", "window_tokens")
    memory = memory_of([page for page in found.pages if page.id in kept])
    return memory, (*near.queries, *searched.queries, *holding.queries, *found.queries)


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
    ranked: Sequence[str] = ()
    if options.lookup in ("bm25", "dense"):  # the model sees the best pages alone, and no gists
        memory, ranked = _retrieved(options, pages, calls)
    else:
        memory = remember(brief, pages, run.evidence, calls)
    return _Run(replace(brief, tag=fence_for(memory.text({}))), pages, calls, memory).answer(ranked)


def _retrieved(options: Options, pages: Pages, calls: Calls) -> tuple[GistMemory, Sequence[str]]:
    """The best pages by the comparators ``bm25`` and ``dense``: as a memory without gists, and best first."""
    size = pages.size()
    if not size.pages:
        raise coded(Code.NO_GISTS)
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
        """Read pages again in the way that was chosen, and answer; ``ranked``: ids of pages found without gists. Where
        nothing is remembered there is no answer, or in open mode what the model knows."""
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
        elif not self.memory.gists:
            self._read([numbers[id_] for id_ in ranked if id_ in numbers])
        words, whole = self.last_words if self.ended else self._words, self.memory.of_words
        if words:  # question, options, tags and titles do not count in the compression rate (section 4)
            rate = 100 * (1 - words / whole)  # ReadAgent, section 4; below 0 if more are shown than the text has
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
        """The model's answer from the memory as it is now; the one that it gave after the last page, if it did. The
        memory is that of the documents of which something was read again, if anything was."""
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
        """The words of gists and pages that an answer is from; tags, titles and what is not gisted do not count."""
        memory, raw = self.memory.about(self.raw), self.raw
        gists = {number: (page.gist or "") if memory.gists else "" for number, page in memory.pages.items()}
        return sum(count_words(raw[number].text if number in raw else gist) for number, gist in gists.items())

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
        """ReadAgent-S: one page at a time, each seen before the next is named. Raises ``ModelError``, unless there is
        an answer so far: then see ``ended``."""
        most = min(self.brief.options.pages, len(self.memory.pages))
        try:
            while len(self.raw) < most:
                number = self._next()
                if number is None or not self._read([number], in_order=True):
                    return
                if self.brief.options.interim:
                    answered = self._ask("interim answer", "")
                    said = answered.plain if answered.holds else NONE
                    self.interim = said[: head(said, self.brief.window // _INTERIM_PART)].strip()
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
        faults = [(page, fault)] if fault else []
        if fault in (NO_PAGE, _READ_ALREADY):
            again = with_reminder(messages, _AGAIN, fault=_FAULTS[fault], wanted=_ONE_PAGE)
            page, fault = self._ask_next(again)
            faults += [(page, fault)] if fault else []
            if fault:
                for sent in (messages, again):
                    calls.forget(sent, wanted=Wanted(NextReply, self.brief.reply))
        outcome = "stop" if fault or page is None else f"page {page}"
        told = [why if wrong is None else f"{wrong} ({why})" for wrong, why in faults]
        calls.add("look up", "; ".join([*told, outcome]), mark, prompt=_NEXT)
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
            left -= tokens(whole.text[place.shown : place.end]) + _PER_SENTENCE
            if left < 0:
                break
            end = place.end
        end = end or len(whole.text[: head(whole.text, room - _PER_SENTENCE)].rstrip())
        last = whole.passages[0].start + end
        parts = (part_of(passage, 0, last) for passage in whole.passages if passage.start < last)
        self.raw[number] = PageText(whole.text[:end], tuple(parts))
        self.calls.counts["cut.page"] += 1
        return f"; page {number} cut to {end:,} of {len(whole.text):,} characters"


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
