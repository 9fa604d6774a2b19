"""The rewritten network of the default embedding model beside the one that was fetched."""

import numpy as np
import onnxruntime  # type: ignore[import-untyped]  # it has no types
from tokenizers import Tokenizer

from kgplatform.models.onnx_encoder import DEFAULT, HEADS, fetch_weights, ranges_of, read_jar, with_fixed_ranges
from kgplatform.settings import load_settings

TEXTS = [
    "Ada Brook",
    "Who built the harbour of the town that Ada Brook left?",
    "The harbour was built in 1866 by Ada Brook. " * 5,
    "Whales sing in the deep sea, 北京, Zürich 🚀",
]


def first_tokens(network: bytes, tokenizer: bytes) -> np.ndarray:
    session = onnxruntime.InferenceSession(network, providers=["CPUExecutionProvider"])
    cut = Tokenizer.from_buffer(tokenizer)
    cut.no_padding()
    taken = {each.name for each in session.get_inputs()}
    vectors = []
    for text in TEXTS:
        ids = np.array([cut.encode(text).ids], np.int64)
        given = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": np.zeros_like(ids)}
        tokens = session.run(None, {name: given[name] for name in taken})[0]
        vectors.append(tokens[0, 0] / np.linalg.norm(tokens[0, 0]))
    return np.array(vectors)


def test_vectors_stay_those_of_the_network_that_was_fetched() -> None:
    """Within what 8-bit numbers leave open: the fetched network is as far from the one in full precision."""
    network, tokenizer = read_jar(fetch_weights(DEFAULT, load_settings().jar_folder, print))
    fetched = first_tokens(network, tokenizer)
    rewritten = first_tokens(with_fixed_ranges(network, ranges_of(DEFAULT), HEADS), tokenizer)
    assert np.einsum("ij,ij->i", fetched, rewritten).min() > 0.99
