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
    nodes: int = option(5, "number of start nodes; each starts its own path", least=1)
    candidates: int = option(
        60,
        "number of candidates for the start nodes, those nearest to the question and the plan by name and by meaning; "
        "with preset=paper all nodes",
        least=1,
    )
    plan: bool = option(True, "the rational plan")
    random_nodes: int | None = option(
        None,
        "random seed: draws start nodes and neighbours at random instead of asking the model (table 4 of the paper)",
        example="7",
    )
    calls: int = option(10, "maximum function calls per path", least=1)
    window_tokens: int | None = window_option()
    reading_tokens: int = option(
        600, "amount of text to read at once: a passage with those before and after it in its document", least=1
    )
    list_pages: int = option(
        1,
        "maximum prompts for the facts or the neighbours of one node, those nearest to the question first; with "
        "preset=paper as many as needed",
        least=1,
    )
    passages: int = option(200, "maximum passages per node whose facts are shown", least=1)
    neighbours: int = option(1000, "maximum neighbours shown per node", least=1)

    def __post_init__(self) -> None:
        check(self)

    @property
    def is_paper(self) -> bool:
        """Whether all names and all pages are shown, in prompts of the paper's size."""
        return self.preset == "paper"
