"""The options of the reader ``readagent``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgplatform.errors import InputError
from kgplatform.readers.choices import check_choices
from kgplatform.readers.reader import AnswerOptions, Preset, documents_option, option, preset_option, window_option

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
