"""Needle tasks as a data set for any reader, and what was found as a map over length and depth (LongAgent, fig. 3).

    data_set = needle_data_set("single", parse_lengths("1000-16000:4"), parse_depths("single", "0,0.5,1"), samples=2)
    heat_map(results).found["longagent"]         # rows: depths; columns: lengths; shares from 0 to 1

Texts are made when they are needed, and again when they are needed again: 1,500 of them may have 100 million tokens.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from typing import Any, NamedTuple

from kgplatform.errors import InputError
from kgplatform.evaluate.needles import (
    NeedleTask,
    even,
    hidden_number,
    key_value,
    math_find,
    multi_needle,
    pass_key,
    single_needle,
)
from kgplatform.evaluate.terms import DataSet, Question, Results, Setup, Text
from kgplatform.text import unknown

Depths = float | tuple[float, ...]
"""Where one needle stands, or several that belong together: shares of the text from 0 to 1."""

METRIC = "contains"
"""A needle is found where its answer is in the reply, word for word: LongAgent's check without a person."""


class _Task(NamedTuple):
    """What makes it from a length, a depth and a seed, and what LongAgent calls such work."""

    make: Callable[[int, Any, int], NeedleTask]
    work: str


_TASKS = {
    "single": _Task(single_needle, "qa"),
    "multi": _Task(multi_needle, "qa"),
    "pass-key": _Task(pass_key, "passkey"),
    "number": _Task(hidden_number, "number"),
    "key-value": _Task(key_value, "kv"),
    "math": _Task(math_find, "math"),
}
KINDS = tuple(_TASKS)
_PAIR = 2
_CELL = re.compile(rf"({'|'.join(KINDS)}), (\d+) tokens, depths? ([\d./e-]+)")
_RANGE = re.compile(r"([\d.]+)\s*-\s*([\d.]+)\s*:\s*(\d{1,4})")


@dataclass(frozen=True, slots=True)
class HeatMap:
    """What was found of the needles, by setup: rows are ``depths``, columns are ``lengths`` (tokens).

    ``found``: the share of a cell's answers that were right by ``metric``; None where none was scored. ``counts``: how
    many were. Two needles have both their depths in one name: "0/0.33".
    """

    setups: tuple[str, ...]
    lengths: tuple[int, ...]
    depths: tuple[str, ...]
    found: Mapping[str, tuple[tuple[float | None, ...], ...]]
    counts: Mapping[str, tuple[tuple[int, ...], ...]]
    metric: str


def needle_data_set(
    kind: str,
    lengths: Sequence[int],
    depths: Sequence[Depths],
    samples: int = 1,
    *,
    seed: int = 0,
) -> DataSet:
    """``samples`` tasks of ``kind`` at each length and depth, each about a text of its own.

    Raises ``InputError`` for what cannot be made, before anybody is asked anything.
    """
    if kind not in KINDS:
        raise InputError(unknown("needle task", kind, KINDS))
    if not lengths or not depths or samples < 1:
        raise InputError("There is nothing to ask: give at least one length, one depth and one sample.")
    for given, word in ((lengths, "length"), ([_depth_name(depth) for depth in depths], "depth")):
        if len(set(given)) < len(given):
            raise InputError(
                f"A {word} is given twice. Give each once; samples asks for several tasks of each.", "samples"
            )
    if any(isinstance(depth, tuple) != (kind == "multi") for depth in depths):
        wants = "the depths of two needles, such as 0/0.33" if kind == "multi" else "one depth, such as 0.5"
        raise InputError(f"A task {kind} has {wants}.")
    make = _TASKS[kind].make
    cells: dict[str, tuple[int, Depths, int]] = {}
    questions: list[Question] = []
    for length, depth, number in product(lengths, depths, range(samples)):
        task = make(length, depth, seed + number)
        cells[task.id] = (length, depth, seed + number)
        questions.append(
            Question(
                id=task.id,
                text=task.question,
                answers=task.answers,
                facts=task.hidden,  # which the answer needs: so it shows whether a reader read them at all
                within=(task.id,),
                kind=cell_name(kind, length, depth),
            )
        )

    def text_of(title: str) -> Text:
        return Text(title, make(*cells[title]).text)

    return DataSet(f"needles, {kind}", tuple(questions), apart=True, text_of=text_of)


def reader_options(setup: Setup, question: Question, names: Collection[str]) -> dict[str, Any]:
    """What ``question`` adds to the options of ``setup``, whose reader has those of ``names``: the kind of work, where
    the reader can be told (LongAgent, as in the paper)."""
    cell = _CELL.fullmatch(question.kind)
    if cell is None or "task" not in names or "task" in setup.options:
        return {}
    return {"task": _TASKS[cell[1]].work}


def parse_lengths(text: str) -> tuple[int, ...]:
    """Tokens of texts: "1000,8000", or "1000-16000:4" for four lengths at even distances, both ends included.

    Raises ``InputError``.
    """
    if between := _RANGE.fullmatch(text.strip()):
        return even(*(_length(each, text) for each in between.groups()))
    return tuple(_length(each, text) for each in text.split(","))


def parse_depths(kind: str, text: str) -> tuple[Depths, ...]:
    """Depths from 0 to 1: "0,0.5,1", or "0-1:10" for ten at even distances, both ends included.

    Two needles have pairs, "0/0.33,0/1"; of single depths every pair is made, as in LongAgent (A, appendix A.2).
    Raises ``InputError``.
    """
    if kind == "multi" and "/" in text:
        found = tuple(tuple(_depth(part, text) for part in each.split("/")) for each in text.split(","))
        if any(len(each) != _PAIR for each in found):
            raise InputError(f"{text!r}: each place must be a pair of depths, such as 0/0.33.")
        return found
    if between := _RANGE.fullmatch(text.strip()):
        least, most, count = _depth(between[1], text), _depth(between[2], text), int(between[3])
        if count < _PAIR or least >= most:
            raise InputError(f"{text!r} makes no depths: write 0-1:10, the smaller one first, and two or more of them.")
        depths = tuple(least + step * (most - least) / (count - 1) for step in range(count))
    else:
        depths = tuple(_depth(each, text) for each in text.split(","))
    if kind == "multi" and len(depths) < _PAIR:
        raise InputError(f"{text!r} is one depth, and two needles need two. Write 0/0.5, or list several depths.")
    return tuple(combinations(sorted(depths), _PAIR)) if kind == "multi" else depths


def _length(word: str, text: str) -> int:
    if not re.fullmatch(r"\s*[1-9][0-9]{0,8}\s*", word):
        raise InputError(f"{text!r}: {word.strip()!r} is not a length. Write tokens as 1000,8000 or as 1000-16000:4.")
    return int(word)


def _depth(word: str, text: str) -> float:
    if not re.fullmatch(r"\s*(?:0(?:\.[0-9]{1,6})?|1(?:\.0{1,6})?)\s*", word):
        raise InputError(
            f"{text!r}: {word.strip()!r} is not a depth. Write shares from 0 to 1, as 0,0.5,1 or as 0-1:10."
        )
    return float(word)


def cell_name(kind: str, length: int, depth: Depths) -> str:
    """What a question at one place of the map has as its kind: ``single, 1000 tokens, depth 0.5``."""
    return f"{kind}, {length} tokens, {'depths' if isinstance(depth, tuple) else 'depth'} {_depth_name(depth)}"


def _depth_name(depth: Depths) -> str:
    return "/".join(f"{each:.6g}" for each in (depth if isinstance(depth, tuple) else (depth,)))


def heat_map(results: Results) -> HeatMap | None:
    """What each setup found, by length and depth; None where no answer is to a needle task."""
    asked = [(answer, cell) for answer in results.answers if (cell := _CELL.fullmatch(answer.kind))]
    if not asked:
        return None
    cells: dict[tuple[str, int, str], list[float]] = {}
    for answer, cell in asked:
        if METRIC in answer.scores:
            cells.setdefault((answer.setup, int(cell[2]), cell[3]), []).append(answer.scores[METRIC])
    lengths = tuple(sorted({int(cell[2]) for _, cell in asked}))
    depths = tuple(sorted({cell[3] for _, cell in asked}, key=lambda depth: tuple(map(float, depth.split("/")))))
    setups = tuple(setup.setup.name for setup in results.setups)

    def table(of: Callable[[list[float]], Any]) -> dict[str, tuple[tuple[Any, ...], ...]]:
        return {
            setup: tuple(tuple(of(cells.get((setup, length, depth), [])) for length in lengths) for depth in depths)
            for setup in setups
        }

    shares = table(lambda found: sum(found) / len(found) if found else None)
    return HeatMap(setups, lengths, depths, shares, table(len), METRIC)
