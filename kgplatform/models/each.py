"""Vectors of many texts from a model that may refuse some: a text that it cannot embed costs that text alone.

A call that fails is halved, if the model still embeds a word by itself; otherwise it is the model that fails, and the
error is raised. What both halves give tells how many texts a call may have. One text that fails is too long if as many
other words fail too: then it is halved as well, and the vectors of its parts are averaged. What was learnt is kept.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.onnx_encoder import Vectors, unit
from kgplatform.text import count_tokens

WORD = "dimension"
"""What is asked to learn the dimension, and whether a model works."""
_LONGER = 1.5
"""Models differ in what is a token: so many times as many words are surely as long as a text."""

Ask = Callable[[list[str], bool], Vectors]
"""From n texts to (n, d). A row that is all zero or not finite is no vector; not all of them are. Raises
``ModelError``. The second argument: whether it is worth to wait long for a model that fails."""


@dataclass(slots=True)
class Learnt:
    """What is known of a model: the ``dimension``, 0 if that is not known; the ``most`` texts of a call; from how many
    tokens on (``too_long``) a text is refused."""

    most: int
    dimension: int = 0
    too_long: float = math.inf


@dataclass(frozen=True, slots=True)
class Embedded:
    """``vectors`` (n, d), rows of length 1, but zeros where there is none; ``failures``: why, by row. ``in_parts``: how
    many texts were too long."""

    vectors: Vectors
    failures: dict[int, ModelError] = field(default_factory=dict)
    in_parts: int = 0

    def whole(self) -> Vectors:
        """The vectors. Raises the first failure."""
        for error in self.failures.values():
            raise error
        return self.vectors


@dataclass(frozen=True, slots=True)
class _One:
    """What became of one text."""

    vector: NDArray[np.float32] | None = None
    error: ModelError | None = None
    in_parts: bool = False


def embed_each(ask: Ask, texts: Sequence[str], learnt: Learnt, at_once: int) -> Embedded:
    """What ``ask`` gives for each of ``texts``, of which there is one at least; ``at_once`` calls at the same time.

    Raises ``ModelError`` if it is not a text that fails, but the model.
    """
    distinct = list(dict.fromkeys(texts))
    cut = [_parts(text, count_tokens(text) // learnt.too_long + 1) for text in distinct]
    flat = [part for parts in cut for part in parts]
    works = [partial(_asked, ask, flat[at : at + learnt.most], learnt) for at in range(0, len(flat), learnt.most)]
    done = iter([one for some in (side_by_side(works, at_once) if works[1:] else [works[0]()]) for one in some])
    found = {text: _joined([next(done) for _ in parts]) for text, parts in zip(distinct, cut, strict=True)}
    vectors = np.zeros((len(texts), learnt.dimension), dtype=np.float32)
    failures = {}
    for row, one in enumerate(map(found.__getitem__, texts)):
        if one.error is not None:
            failures[row] = one.error
        else:
            vectors[row] = one.vector
    return Embedded(vectors, failures, sum(one.in_parts for one in found.values()))


def usable(vectors: Vectors) -> NDArray[np.bool_]:
    """Which rows are vectors."""
    return np.asarray(np.isfinite(vectors).all(axis=1) & vectors.any(axis=1))


def _asked(ask: Ask, texts: list[str], learnt: Learnt, is_up: bool = False) -> list[_One]:
    """``is_up``: the model is known to work."""
    most = learnt.most
    if len(texts) > most:  # learnt meanwhile
        some = [_asked(ask, texts[at : at + most], learnt, is_up) for at in range(0, len(texts), most)]
        return [one for each in some for one in each]
    try:
        vectors = ask(texts, not is_up)
    except BudgetError:
        raise
    except ModelError as error:
        if not is_up:
            _check(ask, error)
        return _halved(ask, texts, learnt, error)
    good = usable(vectors)
    rest = [text for text, is_vector in zip(texts, good, strict=True) if not is_vector]
    again = iter(_asked(ask, rest, learnt, True) if rest else ())
    return [_One(unit(row[None])[0]) if ok else next(again) for row, ok in zip(vectors, good, strict=True)]


def _check(ask: Ask, error: ModelError) -> None:
    """Raise ``error`` if the model cannot embed one word."""
    try:
        ask([WORD], False)
    except BudgetError:
        raise
    except ModelError:
        raise error from error.__cause__


def _halved(ask: Ask, texts: list[str], learnt: Learnt, error: ModelError) -> list[_One]:
    """What a working model gives for the halves of ``texts``, which together are an ``error``; or of the one text."""
    middle = -(-len(texts) // 2)
    if middle < len(texts):
        found = [*_asked(ask, texts[:middle], learnt, True), *_asked(ask, texts[middle:], learnt, True)]
        if not any(one.error or one.in_parts for one in found):
            learnt.most = min(learnt.most, middle)
        return found
    (text,) = texts
    if len(text) < 2 or not _is_too_long(ask, text):
        return [_One(error=error)]
    one = _joined(_asked(ask, _parts(text, 2), learnt, True))
    if one.error is not None:
        return [_One(error=error)]
    learnt.too_long = min(learnt.too_long, count_tokens(text))
    return [one]


def _is_too_long(ask: Ask, text: str) -> bool:
    try:
        ask([" ".join([WORD] * math.ceil(count_tokens(text) * _LONGER))], False)
    except BudgetError:
        raise
    except ModelError:
        return True
    return False


def _parts(text: str, number: float) -> list[str]:
    """``text`` in parts of even length; a part without a visible character would be refused."""
    size = max(1, math.ceil(len(text) / number))
    return [text[at : at + size].strip() or "-" for at in range(0, len(text), size)] if number > 1 else [text]


def _joined(parts: list[_One]) -> _One:
    """What became of a text in ``parts``."""
    if len(parts) == 1:
        return parts[0]
    failed = [part.error for part in parts if part.error is not None]
    if failed:
        return _One(error=failed[0])
    vectors = np.array([part.vector for part in parts], dtype=np.float32)
    return _One(unit(vectors.sum(axis=0, keepdims=True))[0], in_parts=True)
