"""Embeddings (skeleton)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kgplatform.errors import SettingError
from kgplatform.llm import Ledger
from kgplatform.settings import Settings


class Embedder(Protocol):
    """Texts to vectors."""

    name: str

    @property
    def dimension(self) -> int:
        """Length of a vector."""

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """``(n, dimension)``, rows of length 1; ``n`` may be 0."""


def make_embedder(settings: Settings, ledger: Ledger) -> Embedder:
    """Skeleton."""
    from kgplatform.testing import HashEmbedder

    if settings.embedder.startswith("hash:"):
        return HashEmbedder(int(settings.embedder.partition(":")[2]))
    raise SettingError("not yet")
