"""A quantised BERT network, rewritten for what it is used for here: the vector of the first token, in batches.

The file from Maven Central quantises each layer's input by the range of the whole batch, so that a text's vector would
depend on its company. Here the ranges are fixed: they were measured once (``*.ranges`` beside this file, made by
``tests/benchmarks/calibrate.py``) and differ little from text to text, so a vector is as near to that of the network
in full precision as before (docs/explanation/decisions.md). The rest saves time and leaves vectors alone: product,
scale and bias are one step, attention is another, without a mask, since nothing is padded; and the last layer computes
the first token alone.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

Range = tuple[float, float]
"""The least and the greatest number of a layer's input."""

_STEPS = 255
_OF_LAYER = 6
"""Products of a layer: query, key, value, what attention gives, and the two of the feed-forward net."""
_PRODUCT, _MICROSOFT = "MatMulIntegerToFloat", "com.microsoft"
_FLOAT, _UINT8, _INT64 = 1, 2, 7
_INT_ATTRIBUTE = 2
_REPEATED, _OPTIONAL = 3, 1
_STRING, _MESSAGE, _BYTES, _INT = 9, 11, 12, 3
# The part of ONNX's format that is read or written here; protobuf keeps the rest as it is.
_FORMAT: dict[str, list[tuple[str, int, int, str | int]]] = {
    "Model": [("graph", 7, _OPTIONAL, "Graph"), ("opset", 8, _REPEATED, "Opset")],
    "Opset": [("domain", 1, _OPTIONAL, _STRING), ("version", 2, _OPTIONAL, _INT)],
    "Graph": [
        ("node", 1, _REPEATED, "Node"),
        ("initializer", 5, _REPEATED, "Tensor"),
        ("output", 12, _REPEATED, "Value"),
    ],
    "Node": [
        ("input", 1, _REPEATED, _STRING),
        ("output", 2, _REPEATED, _STRING),
        ("op_type", 4, _OPTIONAL, _STRING),
        ("attribute", 5, _REPEATED, "Attribute"),
        ("domain", 7, _OPTIONAL, _STRING),
    ],
    "Attribute": [("name", 1, _OPTIONAL, _STRING), ("i", 3, _OPTIONAL, _INT), ("type", 20, _OPTIONAL, _INT)],
    "Tensor": [
        ("dims", 1, _REPEATED, _INT),
        ("data_type", 2, _OPTIONAL, _INT),
        ("name", 8, _OPTIONAL, _STRING),
        ("raw_data", 9, _OPTIONAL, _BYTES),
    ],
    "Value": [("name", 1, _OPTIONAL, _STRING)],
}


def with_fixed_ranges(network: bytes, ranges: Sequence[Range], heads: int) -> bytes:
    """``network``, whose quantised layers take the ``ranges`` of their inputs, in order, as given; see above.

    ``heads``: of its attention. It takes token ids without padding; its output is ``(n, 1, width)``, the first token.
    Raises ``ValueError`` if it is not such a network.
    """
    model = _model_class().FromString(network)
    graph = model.graph
    _keep_first_token(graph)
    _fix_ranges(graph, ranges)
    _fuse_products(graph)
    _fuse_attention(graph, heads)
    _drop_unused(graph)
    model.opset.add(domain=_MICROSOFT, version=1)
    rewritten: bytes = model.SerializeToString()
    return rewritten


def with_inputs_shown(network: bytes) -> bytes:
    """``network``, whose outputs are followed by the input of each quantised layer, to measure their ranges."""
    model = _model_class().FromString(network)
    for node in _quantisers(model.graph):
        model.graph.output.add(name=node.input[0])
    shown: bytes = model.SerializeToString()
    return shown


@lru_cache(maxsize=1)
def _model_class() -> Any:
    from google.protobuf import (  # type: ignore[import-untyped]  # it has no types
        descriptor_pb2,
        descriptor_pool,
        message_factory,
    )

    file = descriptor_pb2.FileDescriptorProto(name="onnx_part.proto", package="onnx_part", syntax="proto3")
    for message, fields in _FORMAT.items():
        described = file.message_type.add(name=message)
        for name, number, label, kind in fields:
            added = described.field.add(name=name, number=number, label=label)
            if isinstance(kind, str):
                added.type, added.type_name = _MESSAGE, f".onnx_part.{kind}"
            else:
                added.type = kind
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("onnx_part.Model"))


def _quantisers(graph: Any) -> list[Any]:
    return [node for node in graph.node if node.op_type == "DynamicQuantizeLinear"]


def _keep_first_token(graph: Any) -> None:
    """In the last layer, ask for the first token alone: its query, and what is added to what it attends to."""
    query, producers, consumers = _products(graph)[-_OF_LAYER], _producers(graph), _consumers(graph)
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
    for node, (least, greatest) in zip(_quantisers(graph), ranges, strict=True):
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
    for product in _products(graph):
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


def _products(graph: Any) -> list[Any]:
    return [node for node in graph.node if node.op_type == "MatMulInteger"]


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
