"""The options of the reader ``graphreader``."""

from __future__ import annotations

from dataclasses import dataclass

from kgplatform.readers.reader import AnswerMode, check, mode_option, option, window_option


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works, as the paper measures it: each of ``nodes`` starts a path of its own."""

    mode: AnswerMode = mode_option()
    nodes: int = option(5, "how many nodes to start from; each is the start of a path of its own", least=1)
    plan: bool = option(True, "the rational plan")
    random_nodes: int | None = option(
        None, "a seed, by which initial nodes and neighbours are drawn at random, not chosen (table 4)", example="7"
    )
    prefilter: int | None = option(
        None,
        "choose the initial nodes among this many that are nearest to the question and the plan by meaning, not among "
        "all; the trace says so",
        least=1,
        example="50",
    )
    calls: int = option(10, "the most function calls of a path", least=1)
    window_tokens: int = window_option()
    passages: int = option(200, "the most passages of a node whose facts are shown", least=1)
    neighbours: int = option(1000, "the most neighbours of a node that are shown", least=1)

    def __post_init__(self) -> None:
        check(self)
