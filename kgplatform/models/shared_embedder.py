"""A model of ours on the machines of a cluster: each worker embeds a part of the texts.

The processes of one machine gain nothing by it: there a model uses all processors as it is.
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from kgplatform.concurrency.stopping import Stop
from kgplatform.concurrency.workers import Workers
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import Embedder, LocalEmbedder, make_embedder
from kgplatform.models.onnx_encoder import Vectors
from kgplatform.settings import Settings

_LEAST_SHARE = 16
"""Texts that are worth a way to another machine."""


def shared(embedder: Embedder, settings: Settings, workers: Workers | None, stop: Stop) -> Embedder:
    """``embedder``, on the machines of the workers if they have others and it is a model that runs on ours.

    A service is asked from here: it is the network that one waits for, and what is paid is counted here.
    """
    if workers is None or not settings.ray or not isinstance(embedder, LocalEmbedder):
        return embedder
    return SharedEmbedder(embedder, settings, workers, stop)


class SharedEmbedder:
    """See ``Embedder``. Vectors do not depend on how texts are shared out: each is computed by itself."""

    def __init__(self, inner: LocalEmbedder, settings: Settings, workers: Workers, stop: Stop) -> None:
        self.name = inner.name
        self._inner = inner
        self._settings = pickle.dumps(settings, pickle.HIGHEST_PROTOCOL)
        self._workers, self._stop = workers, stop

    @property
    def dimension(self) -> int:
        """As the model says."""
        return self._inner.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder.embed``."""
        if len(texts) < 2 * _LEAST_SHARE:
            return self._inner.embed(texts)
        size = max(_LEAST_SHARE, -(-len(texts) // self._workers.number))
        parts = [tuple(texts[at : at + size]) for at in range(0, len(texts), size)]
        sent = [self._workers.submit(embed_share, TextShare(self._settings, part)) for part in parts]
        return np.concatenate([self._stop.result_of(each) for each in sent])


@dataclass(frozen=True, slots=True)
class TextShare:
    """What a worker is sent. ``settings``: pickled, and the same for all shares."""

    settings: bytes
    texts: tuple[str, ...]


def embed_share(share: TextShare) -> Vectors:
    """In a worker: the vectors (n, d) of the texts."""
    return _embedder(share.settings).embed(share.texts)


@lru_cache(maxsize=2)
def _embedder(settings: bytes) -> Embedder:
    """Made once in a worker: weights are loaded, and where they are not there, fetched."""
    return make_embedder(pickle.loads(settings), Ledger())
