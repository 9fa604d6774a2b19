"""The forward pass of all-MiniLM-L6-v2 in numpy: the same vectors as sentence-transformers, to 1e-6.

It needs neither torch nor transformers, whose import takes longer than most commands run: a question is embedded
well under a second after the start of the process, in a quarter of the memory. ``docs/decisions.md`` has the figures.

The network is BERT (Devlin et al., 2019): word, position and type embeddings, then layers of self-attention and a
feed-forward net, each added to its input and normalised; the vector is the mean over the tokens, made length 1.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kgplatform.work.stopping import Stop
from kgplatform.work.threads import side_by_side

Vectors = NDArray[np.float32]

WIDTH = 384
LONGEST = 256
"""Word pieces that the model was trained for, the two that mark start and end included."""
_HEADS = 12
_LAYERS = 6
_EPSILON = np.float32(1e-12)
_BATCH_TOKENS = 1024
_BLOCK = 32
# Abramowitz and Stegun, 7.1.26: the complementary error function to 1.5e-7, as far as float32 can tell.
_ERFC_P = np.float32(0.3275911)
_ERFC = tuple(np.float32(a) for a in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592))


class MiniLM:
    """The model in ``folder`` (its ``model.safetensors`` and ``tokenizer.json``), ready when constructed."""

    def __init__(self, folder: Path) -> None:
        from safetensors.numpy import load_file
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        weights = load_file(folder / "model.safetensors")
        self._words = weights["embeddings.word_embeddings.weight"]
        types = weights["embeddings.token_type_embeddings.weight"][0]
        self._positions = weights["embeddings.position_embeddings.weight"] + types
        self._norm = _pair(weights, "embeddings.LayerNorm")
        self._layers = [_layer(weights, f"encoder.layer.{number}.") for number in range(_LAYERS)]
        self._start, self._end = self._tokenizer.encode("").ids

    def embed(self, texts: Sequence[str], batch: int, stop: Stop) -> Vectors:
        """``(n, 384)``, rows of length 1; at most ``batch`` texts at once. A text longer than the model reads is cut
        into windows of even length, whose vectors are averaged. Raises ``StoppedError`` between two batches.
        """
        windows: list[list[int]] = []
        owners: list[int] = []
        for number, encoding in enumerate(self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)):
            cut = _windows(encoding.ids)
            windows += cut
            owners += [number] * len(cut)
        vectors = self._run(windows, batch, stop)
        if len(windows) == len(texts):
            return vectors
        sums = np.zeros((len(texts), WIDTH), dtype=np.float32)
        np.add.at(sums, owners, vectors)
        return unit(sums)

    def _run(self, windows: list[list[int]], batch: int, stop: Stop) -> Vectors:
        """Windows of one length go through together: no padding, so no mask and no wasted work."""
        groups = list(_groups([len(ids) for ids in windows], batch))
        out = np.empty((len(windows), WIDTH), dtype=np.float32)

        def run(group: list[int]) -> None:
            stop.check()
            ids = [[self._start, *windows[index], self._end] for index in group]
            out[group] = self._forward(np.array(ids, dtype=np.int64))

        with _one_blas_thread():
            if len(groups) == 1:
                run(groups[0])
            else:
                cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
                side_by_side([partial(run, group) for group in groups], cores)
        return out

    def _forward(self, ids: NDArray[np.int64]) -> Vectors:
        """Unit vectors ``(n, 384)`` for token ids ``(n, length)``. Inside, a row is one token of one text."""
        number, length = ids.shape
        rows = (self._words[ids] + self._positions[:length]).reshape(-1, WIDTH)
        rows = _normalised(rows, self._norm)
        for qkv, out, norm, wide, narrow, last in self._layers:
            heads = _attend(_linear(rows, qkv).reshape(number, length, 3, _HEADS, WIDTH // _HEADS))
            rows = _normalised(rows + _linear(heads.reshape(-1, WIDTH), out), norm)
            rows = _normalised(rows + _linear(_gelu(_linear(rows, wide)), narrow), last)
        return unit(rows.reshape(number, length, WIDTH).mean(axis=1))


Affine = tuple[Vectors, Vectors]


def _pair(weights: dict[str, Vectors], name: str) -> Affine:
    return weights[f"{name}.weight"], weights[f"{name}.bias"]


def _matrix(weights: dict[str, Vectors], *names: str) -> Affine:
    """Weight ``(in, out)`` and bias of a linear layer; several side by side are one wider layer."""
    weight = np.concatenate([weights[f"{name}.weight"] for name in names])
    return np.ascontiguousarray(weight.T), np.concatenate([weights[f"{name}.bias"] for name in names])


def _layer(weights: dict[str, Vectors], at: str) -> tuple[Affine, Affine, Affine, Affine, Affine, Affine]:
    return (
        _matrix(weights, *(f"{at}attention.self.{part}" for part in ("query", "key", "value"))),
        _matrix(weights, f"{at}attention.output.dense"),
        _pair(weights, f"{at}attention.output.LayerNorm"),
        _matrix(weights, f"{at}intermediate.dense"),
        _matrix(weights, f"{at}output.dense"),
        _pair(weights, f"{at}output.LayerNorm"),
    )


def _linear(rows: Vectors, layer: Affine) -> Vectors:
    result: Vectors = rows @ layer[0]
    result += layer[1]
    return result


def _attend(parts: Vectors) -> Vectors:
    """Softmax attention over ``(n, length, 3, heads, width)``: queries, keys, values. Gives ``(n, length, …)``."""
    queries, keys, values = parts.transpose(2, 0, 3, 1, 4)
    scores = (queries * np.float32(queries.shape[-1] ** -0.5)) @ keys.transpose(0, 1, 3, 2)
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    result: Vectors = (scores @ values).transpose(0, 2, 1, 3)
    return result


def _gelu(x: Vectors) -> Vectors:
    """``x`` times the normal distribution's share below it, in place, in blocks that stay in the processor's cache.

    By hand, because ``scipy.special.erf`` takes twice as long as the matrix products around it.
    """
    for start in range(0, len(x), _BLOCK):
        _gelu_block(x[start : start + _BLOCK])
    return x


def _gelu_block(x: Vectors) -> None:
    """``max(x, 0) - |x| erfc(|x| / sqrt 2) / 2``, which is the same."""
    size = np.abs(x)
    t = size * (_ERFC_P * np.float32(0.5**0.5))
    t += 1
    np.reciprocal(t, out=t)
    series = t * _ERFC[0]
    for coefficient in _ERFC[1:]:
        series += coefficient
        series *= t
    np.multiply(size, size, out=t)
    t *= np.float32(-0.5)
    np.exp(t, out=t)
    series *= t
    series *= size
    series *= np.float32(0.5)
    np.maximum(x, 0, out=x)
    x -= series


def _normalised(rows: Vectors, norm: Affine) -> Vectors:
    """Each row with mean 0 and variance 1, then scaled and shifted by ``norm``."""
    rows = rows - rows.mean(axis=1, keepdims=True)
    variance = np.einsum("ij,ij->i", rows, rows) / np.float32(WIDTH)
    rows *= (1 / np.sqrt(variance + _EPSILON))[:, None]
    rows *= norm[0]
    rows += norm[1]
    return rows


def unit(rows: Vectors) -> Vectors:
    """``rows`` (n, d), each made length 1."""
    result: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return result


def _windows(ids: list[int]) -> list[list[int]]:
    """``ids`` in the fewest windows that the model can read, of even length; no token is lost."""
    most = LONGEST - 2
    number = max(1, -(-len(ids) // most))
    return [ids[len(ids) * i // number : len(ids) * (i + 1) // number] for i in range(number)]


def _groups(lengths: list[int], batch: int) -> Iterator[list[int]]:
    """Indices of windows of equal length, at most ``batch`` of them and about ``_BATCH_TOKENS`` tokens together."""
    group: list[int] = []
    for index in sorted(range(len(lengths)), key=lambda i: (lengths[i], i)):
        full = len(group) >= batch or len(group) * (lengths[index] + 2) >= _BATCH_TOKENS
        if group and (full or lengths[group[0]] != lengths[index]):
            yield group
            group = []
        group.append(index)
    if group:
        yield group


_blas_lock = threading.Lock()
_blas_users = 0
_blas_limit: Any = None


@contextmanager
def _one_blas_thread() -> Iterator[None]:
    """One BLAS thread a matrix product while any ``MiniLM`` works: we use the cores by batches instead.

    BLAS threads wait for each other by spinning, which on a busy machine makes a question eight times slower.
    """
    global _blas_users, _blas_limit
    from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]  # it has no types

    with _blas_lock:
        if _blas_users == 0:
            _blas_limit = threadpool_limits(1, user_api="blas")
        _blas_users += 1
    try:
        yield
    finally:
        with _blas_lock:
            _blas_users -= 1
            if _blas_users == 0:
                _blas_limit.restore_original_limits()
