"""Clocks, memory, and what the machine was busy with."""

import hashlib
import os
import platform
import resource
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from kgplatform.models.embed import Embedder
from kgplatform.neo4j.config import VERSION

Vectors = NDArray[np.float32]

MEGABYTE = 1_000_000
MEMORY_LIMIT = 1500
"""Megabytes that the Python process may take at most."""


class RememberingEmbedder:
    """Another embedder that computes no text twice. ``seconds`` are all those spent in ``embed``, lookups included.

    ``computed`` counts texts since the last ``reset``.
    """

    def __init__(self, inner: Embedder) -> None:
        self.name = inner.name
        self._inner = inner
        self._vectors: dict[bytes, Vectors] = {}
        self._lock = threading.Lock()
        self.reset()

    def reset(self) -> None:
        """Set the counters to nothing; the vectors stay."""
        self.seconds = 0.0
        self.computed = 0

    @property
    def dimension(self) -> int:
        """As the other embedder says."""
        return self._inner.dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder.embed``."""
        started = time.perf_counter()
        keys = [hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
        missing = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._vectors}
        for key, vector in zip(missing, self._inner.embed(list(missing.values())), strict=True):
            self._vectors[key] = vector.copy()
        vectors = np.array([self._vectors[key] for key in keys], np.float32).reshape(-1, self.dimension)
        with self._lock:
            self.computed += len(missing)
            self.seconds += time.perf_counter() - started
        return vectors


class PeakMemory:
    """The most memory that this process held since this was made, in megabytes; where the system is not Linux, which
    forgets an earlier peak when asked to, since the run began."""

    def __init__(self) -> None:
        with suppress(OSError):
            Path("/proc/self/clear_refs").write_text("5", "ascii")

    def megabytes(self) -> float:
        """The peak until now."""
        return peak_megabytes(resource.getrusage(resource.RUSAGE_SELF))


def peak_megabytes(usage: resource.struct_rusage) -> float:
    """``ru_maxrss``, which is in kilobytes on Linux and in bytes on macOS."""
    unit = 1 if platform.system() == "Darwin" else 1024
    return usage.ru_maxrss * unit / MEGABYTE


def conditions() -> str:
    """The machine and how busy it is, in one line."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    now = datetime.now(timezone.utc).strftime("%Y-%m-%d %H:%M")
    return (
        f"{now} UTC; {cores} cores ({_processor()}); load average before it began {load}; "
        f"Python {platform.python_version()}, Neo4j {VERSION}."
    )


def _processor() -> str:
    about = Path("/proc/cpuinfo")
    lines = about.read_text("utf-8").splitlines() if about.exists() else []
    names = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(names, platform.processor() or platform.machine())


def growth(sizes: Sequence[float], seconds: Sequence[float]) -> float:
    """The exponent p of ``seconds`` as a multiple of ``sizes ** p``, by least squares on their logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(seconds), 1)[0])


def exponent(sizes: Sequence[float], values: Sequence[float]) -> str:
    """The same in words; nothing where there is no growth to speak of."""
    return f"n^{growth(sizes, values):.2f}" if len(sizes) > 1 and min(values) > 0 else ""


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which ``share`` percent of ``values`` lie."""
    return float(np.percentile(values, share))
