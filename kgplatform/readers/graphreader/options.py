"""The options of the reader ``graphreader``."""

from __future__ import annotations

from dataclasses import dataclass

from kgplatform.readers.reader import (
    AnswerMode,
    AnswerStyle,
    Preset,
    check,
    mode_option,
    option,
    preset_option,
    style_option,
    window_option,
)

PAPER_WINDOW = 4096
"""Tokens of a prompt (section 4.1)."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works: each of ``nodes`` starts a path of its own."""

    mode: AnswerMode = mode_option()
    answer_style: AnswerStyle = style_option()
    preset: Preset = preset_option()
    nodes: int = option(5, "how many nodes to start from; each is the start of a path of its own", least=1)
    candidates: int = option(
        60,
        "how many nodes, the nearest to the question and the plan by name and by meaning, the initial nodes are chosen "
        "from; with preset=paper all",
        least=1,
    )
    plan: bool = option(True, "the rational plan")
    random_nodes: int | None = option(
        None, "a seed, by which initial nodes and neighbours are drawn at random, not chosen (table 4)", example="7"
    )
    calls: int = option(10, "the most function calls of a path", least=1)
    window_tokens: int | None = window_option()
    reading_tokens: int = option(
        600, "how much text is read at once: a passage with those before and after it in its document", least=1
    )
    list_pages: int = option(
        1,
        "the most prompts in which the facts or the neighbours of one node are shown, those nearest to the question "
        "first; with preset=paper as many as they need",
        least=1,
    )
    passages: int = option(200, "the most passages of a node whose facts are shown", least=1)
    neighbours: int = option(1000, "the most neighbours of a node that are shown", least=1)

    def __post_init__(self) -> None:
        check(self)

    @property
    def is_paper(self) -> bool:
        """Whether all names and all pages are shown, in prompts of the paper's size."""
        return self.preset == "paper"
