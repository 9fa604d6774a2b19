"""What the prompts of a ReadAgent run share: the question, its options, and the room that each leaves for the memory.

    brief = make_brief("Who kept the lamp?", Options(lookup="sequential", pages=3))
    brief.room                                   # tokens of gists and pages that fit into every prompt of the run
    brief.answer_messages(memory)                # at most as large as the window, whatever memory of that size

The last prompt, the answer's, has the longest memory (section 4). The room is that of the largest prompt all the same:
so each page that was accepted is in every prompt after it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from kgplatform.errors import InputError
from kgplatform.prompt import Messages, render
from kgplatform.readers.answer import NONE, fence_for
from kgplatform.readers.choices import check_choices, letter, read_choice, shown
from kgplatform.readers.marked import LARGEST_FENCE, Said, asked, read_answer, reminder, room_for
from kgplatform.readers.reader import (
    AnswerMode,
    check,
    documents_option,
    mode_option,
    option,
    window_option,
)
from kgplatform.readers.window import head, tokens

Lookup = Literal["parallel", "sequential", "none", "nearest", "bm25", "dense"]

MOST_PAGES = 100
"""That may be read again for one question: a list of more is none that a model can choose."""

_INTERIM_PART = 16
"""Of the window, the part that an answer so far may take."""

_AGAIN_TOKENS = 80
"""Of what is added where a prompt is sent again."""

_NUMBER_TOKENS = 4


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works.

    ``lookup``: how the pages are found that are read again. ``parallel``: the model names them at once (ReadAgent-P);
    ``sequential``: one at a time, seeing those before (ReadAgent-S); ``none``: none is (GistMem); ``nearest``: those
    whose gists are nearest to the question by meaning, without asking the model (GistMem with neural retrieval, table
    4). Comparators without gists, from the best pages alone (section 4.2): ``bm25`` by the words of their text, over
    the pages of the chosen documents alone; ``dense`` by the meaning of their gists, as the paper does for
    NarrativeQA (section 4.4). ``by_importance`` reads up to the first page that does not fit (appendix I).
    ``choices``: one of them is always chosen, so that ``mode`` says nothing about them.
    """

    mode: AnswerMode = mode_option()
    lookup: Lookup = option(
        "parallel",
        "pages to read again are asked for all at once (parallel), one by one (sequential), not at all (none), or are "
        "those whose gists are nearest by meaning (nearest); bm25 and dense answer from the best pages alone, without "
        "gists",
    )
    pages: int = option(5, "the most pages that are read again", least=1, most=MOST_PAGES)
    by_importance: bool = option(
        False, "with lookup=parallel: the most important page first, as many as the window holds"
    )
    interim: bool = option(
        False, "with lookup=sequential: an answer after each page, shown when the next one is asked for"
    )
    choices: tuple[str, ...] = option(
        (),
        "an answer to choose from; given once for each, they become (A), (B), …",
        example="a horse",
        one="choice",
    )
    documents: tuple[str, ...] = documents_option()
    window_tokens: int = window_option(8192)

    def __post_init__(self) -> None:
        check(self)
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


@dataclass(frozen=True, slots=True)
class PageBrief:
    """The question, the options, and ``room``: the tokens of memory that fit into each prompt."""

    question: str
    options: Options
    room: int = 0

    @property
    def lookup_prompt(self) -> str:
        """The name of the prompt that asks for all pages at once."""
        return "readagent/lookup_ordered" if self.options.by_importance else "readagent/lookup"

    @property
    def answer_prompt(self) -> str:
        """The name of the prompt that asks for the answer."""
        return "readagent/choose" if self.options.choices else "readagent/answer"

    @property
    def marks(self) -> str:
        """How the reply with the answer begins, for one that has to be asked for again."""
        if not self.options.choices:
            return "the answer, or reply with [unanswerable]"
        return f"Answer: (X), where X is one of {', '.join(map(letter, range(len(self.options.choices))))}"

    def lookup_messages(self, memory: str) -> Messages:
        """Asks for all pages at once."""
        most = self.options.pages
        pages = "one page at most" if most == 1 else f"1 to {most} pages"
        return render(self.lookup_prompt, question=self._shown, pages=pages, fence=_fence(memory), memory=memory)

    def next_messages(self, memory: str, read: Sequence[int], interim: str) -> Messages:
        """Asks for the next page, or STOP; ``interim`` is the answer so far, empty where there is none."""
        listed = ", ".join(f"Page {number}" for number in read) or NONE
        interim = f"\n\nMy answer so far, from this alone: {interim}" if interim else ""
        fence = _fence(memory, interim)
        return render("readagent/next", question=self._shown, fence=fence, memory=memory, read=listed, interim=interim)

    def answer_messages(self, memory: str) -> Messages:
        """Asks for the answer."""
        return render(self.answer_prompt, question=self._shown, fence=_fence(memory), memory=memory)

    def read_answer(self, text: str) -> Said:
        """The answer in a reply; the text of an option where there are choices."""
        if not self.options.choices:
            return read_answer(text)
        number = read_choice(text, self.options.choices)
        return Said(None if number is None else self.options.choices[number], marked=number is not None)

    def with_letter(self, answer: str, text: str) -> str:
        """``text``, which begins with ``answer``, behind the letter of that option: "(C) a horse [1]"."""
        choices = self.options.choices
        return f"({letter(choices.index(answer))}) {text}" if choices else text

    def shortened(self, interim: str) -> str:
        """An answer so far, cut to what a prompt has room for."""
        return interim[: head(interim, self._interim_tokens)].strip() if interim else ""

    @property
    def _interim_tokens(self) -> int:
        return self.options.window_tokens // _INTERIM_PART

    @property
    def _shown(self) -> str:
        """The question, with its options under it."""
        choices = shown(self.options.choices)
        return f"{self.question}\n\nOptions:\n{choices}" if choices else self.question

    def _prompts(self) -> list[tuple[Messages, int]]:
        """Every prompt of the run without its memory, and the tokens that may come on top of it."""
        prompts = [(self.answer_messages(""), tokens(reminder(self.marks)))]
        if self.options.lookup == "parallel":
            prompts.append((self.lookup_messages(""), 0))
        if self.options.lookup == "sequential":
            listed = _NUMBER_TOKENS * self.options.pages
            interim = self._interim_tokens + _AGAIN_TOKENS if self.options.interim else 0
            prompts.append((self.next_messages("", (), ""), _AGAIN_TOKENS + listed + interim))
        return prompts


def make_brief(question: str, options: Options) -> PageBrief:
    """Raises ``InputError`` for an empty question, or one that leaves no room for a memory."""
    brief = PageBrief(asked(question), options)
    rooms = [room_for(options.window_tokens, messages, "", more) for messages, more in brief._prompts()]
    return replace(brief, room=min(rooms))


def _fence(memory: str, *more: str) -> str:
    return fence_for(memory, *more) if memory else LARGEST_FENCE
