"""Vectors without a model: a bag of hashed words, for tests (``KGPLATFORM_EMBEDDER=hash:64``)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kgplatform.text import WORD, normalise_name


class HashEmbedder:
    """An ``Embedder``: texts that share words are near, and the same text has the same vector on every machine."""

    def __init__(self, dimension: int = 64) -> None:
        self.name = f"hash:{dimension}"
        self._dimension = dimension

    @property
    def dimension(self) -> int:
        """The length of a vector."""
        return self._dimension

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dimension)``, rows of length 1."""
        vectors = np.zeros((len(texts), self._dimension), dtype=np.float32)
        for row, text in enumerate(texts):
            for word in WORD.findall(normalise_name(text)) or [""]:
                digest = hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest()
                vectors[row, int.from_bytes(digest, "big") % self._dimension] += 1
        lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
        result: NDArray[np.float32] = vectors / lengths
        return result
