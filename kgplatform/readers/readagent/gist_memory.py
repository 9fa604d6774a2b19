"""What ReadAgent remembers (section 3.1): gists in reading order, each under the tag of its page, up to the window.

    brief = make_brief("Who kept the lamp?", Options(lookup="sequential", pages=3))
    brief.room                                   # tokens of gists and pages that fit into every prompt of the run
    memory_of(pages).text({5: "the whole of page 5"})   # "<Page 4>\\na gist\\n<Page 5>\\nthe whole of page 5\\n…"

The last prompt, the answer's, has the longest memory (section 4). The room is that of the largest prompt all the same:
so each page that was accepted is in every prompt after it.

The tags are the program's. In one document a tag has the index of its page; where several documents are remembered the
pages are counted through, from 0, under the titles of their documents. What does not fit is chosen by retrieval: the
pages whose gists are nearest to the question, and those that hold the passages that a search finds.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kgplatform.errors import Code, InputError, coded
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render
from kgplatform.readers.answer import NONE, cited_manner, reply_room
from kgplatform.readers.choices import check_choices, shown_choices
from kgplatform.readers.reader import AnswerOptions, Preset, documents_option, option, preset_option, window_option
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window, room_for, short_name, tokens, window_of
from kgplatform.records import QueryRun
from kgplatform.search.evidence import Evidence
from kgplatform.search.found import rank_scores
from kgplatform.search.pages import MemorySize, Pages, StoredPage
from kgplatform.search.question import asked
from kgplatform.text import count_words, counted

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

    @property
    def has_gists(self) -> bool:
        """Whether the model sees gists, and not the best pages alone."""
        return self.lookup not in ("bm25", "dense")


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
    def interim_tokens(self) -> int:
        """The most tokens of an answer so far."""
        return self.window // _INTERIM_PART

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
    """``context``: the window of the model, in tokens, of which a reply has its part.

    Raises ``InputError`` for an empty question, or one that leaves no room for a memory.
    """
    window = window_of(options.window_tokens, options.preset, context, _PAPER_WINDOW)
    brief = PageBrief(asked(question), options, window)
    kept = Window(window, brief.reply)
    prompts = [(brief.answer_messages(""), 0)]
    if options.lookup == "parallel":
        prompts.append((brief.lookup_messages(""), 0))
    elif options.lookup == "sequential":
        interim = brief.interim_tokens if options.interim else 0
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
                lines.append(_heading(page, first=not lines))
                last = page.document
            # What looks like a tag of ours stands in round brackets: no page can pass words off as another page's.
            lines += (f"<Page {number}>", _TAG.sub(r"(\1)", raw.get(number, _gist(page))))
        return "\n".join(lines)

    def words(self, raw: Mapping[int, str]) -> int:
        """The words of gists and raw pages in that text; tags, titles and what is not gisted do not count."""
        shown = (raw.get(number, (page.gist or "") if self.gists else "") for number, page in self.pages.items())
        return sum(map(count_words, shown))


def memory_of(pages: Sequence[StoredPage], *, gists: bool = True) -> GistMemory:
    """The memory of ``pages``, which are in reading order."""
    one = len({page.document for page in pages}) == 1
    return GistMemory({page.index if one else place: page for place, page in enumerate(pages)}, gists, not one)


def remember(brief: PageBrief, pages: Pages, evidence: Evidence, calls: Calls) -> GistMemory:
    """The gists of the chosen documents, as many as fit beside a page that is read again; a step of the trace says so.

    Of several documents those that are nearest to the question, in few tokens, but with the paper's preset.

    Raises ``InputError`` where there are no gists.
    """
    size = need_pages(pages)
    if size.ungisted == size.pages:
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


def need_pages(pages: Pages) -> MemorySize:
    """How much there is to read. Raises ``InputError`` where no document has pages."""
    size = pages.size()
    if not size.pages:
        raise coded(Code.NO_GISTS)
    return size


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
    kept = _fitting(ranked, {page.id: page for page in found.pages}, room)
    if not kept:
        raise InputError("No gist fits into the window with the question. Raise window_tokens.", "window_tokens")
    memory = memory_of([page for page in found.pages if page.id in kept])
    return memory, (*near.queries, *searched.queries, *holding.queries, *found.queries)


def _fitting(ranked: Sequence[str], pages: Mapping[str, StoredPage], room: int) -> set[str]:
    """The ids of the pages that fit, tried best first; each document costs its title once."""
    kept: set[str] = set()
    titled: set[str] = set()
    for page in (pages[each] for each in ranked if each in pages):
        cost = _TAG_TOKENS + tokens(_gist(page)) + 1
        if page.document not in titled:
            cost += tokens(_heading(page)) + 1
        if cost <= room:
            room -= cost
            kept.add(page.id)
            titled.add(page.document)
    return kept


def _gist(page: StoredPage) -> str:
    return NOT_GISTED if page.gist is None else page.gist


def _heading(page: StoredPage, *, first: bool = False) -> str:
    return f"{'' if first else chr(10)}# {short_name(page.title)}"
