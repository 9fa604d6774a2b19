"""Measures the ranges of the layers of a quantised embedding model, which are fixed then: ``python calibrate.py``.

Over passages and titles of 2Wiki, pieces of the medical text and questions about it, drawn by seed, the 2nd percentile
of each layer's least number and the 98th of its greatest: what lies outside is cut off. The file is written beside
``kgplatform/models/onnx_encoder.py``. ``KGPLATFORM_BENCH_DATA`` names the folder of the data sets.
"""

import json
import os
import random
import sys
from pathlib import Path

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it has no types
from tokenizers import Tokenizer

from kgplatform.models import onnx_encoder
from kgplatform.models.onnx_encoder import (
    DEFAULT,
    LONGEST,
    OWN_MODELS,
    fetch_weights,
    model_class,
    quantisers,
    read_jar,
)
from kgplatform.settings import load_settings

DATA = Path(os.environ.get("KGPLATFORM_BENCH_DATA", Path(__file__).parents[3] / "shared" / "data"))
OUTSIDE = 2
"""Percent of the texts whose least, or greatest, number is cut off."""


def texts(question: str) -> list[str]:
    """480 texts of every kind that is embedded; a question begins with ``question``."""
    draw = random.Random(1)
    passages = json.loads((DATA / "2wiki" / "corpus.json").read_text("utf-8"))
    medical = json.loads((DATA / "medical" / "corpus.json").read_text("utf-8"))[0]["context"]
    asked = json.loads((DATA / "medical" / "questions.json").read_text("utf-8"))
    pieces = [(draw.randrange(len(medical) - 1000), length) for length in (900, 120) for _ in range(60)]
    return [
        *(f"{each['title']}\n{each['text']}" for each in draw.sample(passages, 150)),
        *(each["title"] for each in draw.sample(passages, 150)),
        *(medical[start : start + length] for start, length in pieces),
        *(question + each["question"] for each in draw.sample(asked, 60)),
    ]


def with_inputs_shown(network: bytes) -> bytes:
    """``network``, whose outputs are followed by the input of each quantised layer, to measure their ranges."""
    model = model_class().FromString(network)
    for node in quantisers(model.graph):
        model.graph.output.add(name=node.input[0])
    return bytes(model.SerializeToString())


def main(model: str) -> None:
    """Measure ``model`` and write its file."""
    network, tokenizer = read_jar(fetch_weights(model, load_settings().jar_folder, print))
    session = onnxruntime.InferenceSession(with_inputs_shown(network), providers=["CPUExecutionProvider"])
    cut = Tokenizer.from_buffer(tokenizer)
    cut.enable_truncation(LONGEST)
    cut.no_padding()
    seen = []
    for text in texts(OWN_MODELS[model].query):
        ids = np.array([cut.encode(text).ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        seen.append([(layer.min(), layer.max()) for layer in session.run(None, given)[1:]])
    least = np.percentile(seen, OUTSIDE, axis=0)[:, 0]
    greatest = np.percentile(seen, 100 - OUTSIDE, axis=0)[:, 1]
    lines = [f"{low:.4f} {high:.4f}\n" for low, high in zip(least, greatest, strict=True)]
    Path(onnx_encoder.__file__).with_name(f"{model}.ranges").write_text("".join(lines), "utf-8")


if __name__ == "__main__":
    main(*(sys.argv[1:] or [DEFAULT]))
