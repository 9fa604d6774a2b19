"""Function calls of GraphReader by stage and function, with their shares, as its paper counts them (Table 8).

    stages_of({"facts.read_chunk": 3, "chunk.search_more": 2, "chunk.termination": 1, "malformed.no action": 1})

The readers count under such names (``Answer.counts``); what belongs to no stage is no function call.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

STAGES = ("facts", "chunk", "neighbours")
"""Where functions are called: at a node's atomic facts, at a chunk, at a node's neighbours (section 3.3.2)."""


@dataclass(frozen=True, slots=True)
class FunctionCalls:
    """How often one function was called; ``share`` of the calls of its stage, from 0 to 1."""

    name: str
    calls: int
    share: float


@dataclass(frozen=True, slots=True)
class StageCalls:
    """How many functions were called in one stage; ``share`` of all calls, from 0 to 1. The most frequent first."""

    stage: str
    calls: int
    share: float
    functions: tuple[FunctionCalls, ...]


@dataclass(frozen=True, slots=True)
class CallStatistics:
    """The function calls of all kept runs of the reader graphreader (Table 8).

    The paper counts three to four calls for a question and does not say whether a path or all five are meant, so both
    means are here: ``per_run`` and ``per_path``.
    """

    runs: int
    paths: int
    calls: int
    per_run: float
    per_path: float
    stages: tuple[StageCalls, ...]


def stages_of(counts: Mapping[str, int]) -> tuple[StageCalls, ...]:
    """The function calls among ``counts``, the stages in the order of ``STAGES``; those without a call are left out."""
    by_stage: dict[str, dict[str, int]] = {stage: {} for stage in STAGES}
    for name, number in counts.items():
        stage, _, function = name.partition(".")
        if stage in by_stage and function and number > 0:
            by_stage[stage][function] = number
    total = sum(sum(functions.values()) for functions in by_stage.values())
    return tuple(_stage(stage, functions, total) for stage, functions in by_stage.items() if functions)


def statistics(counts: Mapping[str, int], runs: int, paths: int) -> CallStatistics:
    """The statistics of ``counts``, summed over ``runs`` runs with ``paths`` paths in all; both at least 1."""
    stages = stages_of(counts)
    calls = sum(each.calls for each in stages)
    return CallStatistics(runs, paths, calls, round(calls / runs, 2), round(calls / paths, 2), stages)


def _stage(stage: str, functions: Mapping[str, int], total: int) -> StageCalls:
    calls = sum(functions.values())
    ranked = sorted(functions.items(), key=lambda each: (-each[1], each[0]))
    shares = tuple(FunctionCalls(name, number, round(number / calls, 4)) for name, number in ranked)
    return StageCalls(stage, calls, round(calls / total, 4), shares)
