"""Needle-in-a-Haystack PLUS: one counterfactual statement in a long text, or two that must both be found.

    single_needle(8_000, 0.5, seed=3)
    multi_needle(8_000, (0.33, 1), seed=3, haystack=book, needles=from_samples(records).needles)

After LongAgent, sections 3.1 of both versions and appendix A of the longer one.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence

from kgplatform.errors import InputError
from kgplatform.evaluate.synthetic.haystack import Needles, hide, own_paragraphs, without
from kgplatform.evaluate.synthetic.invented import filler, paragraphs
from kgplatform.evaluate.synthetic.needles import joined_statements, single_statement
from kgplatform.evaluate.synthetic.task import NeedleTask, Wanted

_SPARE = 200
"""Tokens of invented text more than is needed, since its last paragraph is cut to what fits."""


def single_needle(
    length: int, depth: float, seed: int = 0, *, haystack: str | None = None, needles: Sequence[Needles] | None = None
) -> NeedleTask:
    """A text of ``length`` tokens with one statement at ``depth`` (0 to 1) that answers the question.

    ``haystack``: your own text, taken from its beginning; else an invented one. ``needles``: what to draw the
    statement from, such as ``from_samples`` makes (those of one passage); else it is a fact that everybody knows,
    altered. Raises ``InputError`` for a length or a depth that cannot be had, and for a haystack that is too short.
    """
    return _task(Wanted("qa", "single", length, (depth,), seed), haystack, needles, single_statement)


def multi_needle(
    length: int,
    depths: tuple[float, ...],
    seed: int = 0,
    *,
    haystack: str | None = None,
    needles: Sequence[Needles] | None = None,
) -> NeedleTask:
    """As ``single_needle``, with two statements at two ``depths`` that one name joins: neither answers alone.

    With ``needles`` of your own there may be more: as many as ``depths``.
    """
    return _task(Wanted("qa", "multi", length, depths, seed), haystack, needles, joined_statements)


def _task(
    wanted: Wanted, haystack: str | None, needles: Sequence[Needles] | None, invent: Callable[[random.Random], Needles]
) -> NeedleTask:
    chance = wanted.chance()
    choices = [invent(chance)] if needles is None else needles
    fitting = [each for each in choices if len(each.statements) == len(wanted.depths)]
    if not fitting:
        raise InputError(f"None of the needles has as many passages as there are depths ({len(wanted.depths)}).")
    told = chance.choice(fitting)
    source = paragraphs(filler(chance, wanted.length + _SPARE)) if haystack is None else own_paragraphs(haystack)
    return hide(wanted, told, _free(source, told))


def _free(source: Iterator[str], told: Needles) -> Iterator[str]:
    """The paragraphs that neither give the answer nor say what the world says."""
    yes_or_no = {"yes", "no"}
    return without(source, [each for each in (*told.answers, *told.world) if each.lower() not in yes_or_no])
