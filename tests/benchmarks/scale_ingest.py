"""One ingest in a process of its own, whose memory is that of the ingest alone: what it took, as JSON.

    python scale_ingest.py '{"home": "…", "jars": "…", "settings": {"embedder": "hash:384"}, "ingest": {"paths": "…"}}'

``settings`` are those of ``connect``, ``ingest`` the arguments of that method. The server stays up.
"""

import json
import resource
import sys
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
from measure import MEGABYTE, peak_megabytes

from kgplatform import connect
from kgplatform.concurrency.spans import Stopwatch
from kgplatform.neo4j import process
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings


@dataclass(slots=True)
class Spent:
    """What an ingest took. ``clock``: seconds of its stages, as it reports them; ``processor``: what Python and the
    server computed in each, both together.
    """

    passages: int = 0
    seconds: float = 0.0
    python: float = 0.0
    server: float = 0.0
    peak_megabytes: float = 0.0
    clock: dict[str, float] = field(default_factory=dict)
    processor: dict[str, float] = field(default_factory=dict)


class _Processors:
    """What Python and the server computed until now, an importer and servers that have ended included."""

    def __init__(self, settings: dict[str, Any]) -> None:
        self._local = LocalNeo4j(load_settings(**settings))

    def seconds(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        server = psutil.Process(self._local.status().pid).cpu_times()
        for child in list(process._children.values()):
            child.poll()  # the system counts what has ended once it was asked for
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return np.array([time.process_time(), server.user + server.system + ended.ru_utime + ended.ru_stime])


@contextmanager
def _stages(processors: _Processors) -> Iterator[dict[str, np.ndarray[Any, np.dtype[np.float64]]]]:
    """What Python and the server compute in each stage of stopwatches; of stages within another the inner has it."""
    found: defaultdict[str, np.ndarray[Any, np.dtype[np.float64]]] = defaultdict(lambda: np.zeros(2))
    inside = [np.zeros(2)]
    timed = Stopwatch.stage

    @contextmanager
    def stage(watch: Stopwatch, name: str) -> Iterator[None]:
        before = processors.seconds()
        inside.append(np.zeros(2))
        with timed(watch, name):
            yield
        spent = processors.seconds() - before
        found[name] += spent - inside.pop()
        inside[-1] += spent

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stopwatch, "stage", stage)
        yield found


def _peak() -> float:
    """Megabytes. Linux also counts what the parent held before this program began, but not in this file."""
    status = Path("/proc/self/status")
    lines = status.read_text("ascii").splitlines() if status.exists() else []
    kilobytes = next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), None)
    return kilobytes * 1024 / MEGABYTE if kilobytes else peak_megabytes(resource.getrusage(resource.RUSAGE_SELF))


def spend(home: str, jars: str, settings: dict[str, Any], ingest: dict[str, Any]) -> Spent:
    """Ingest, and measure."""
    own = {"home": Path(home), "neo4j_jars": Path(jars)}
    spent = Spent()
    with connect(**own, **settings) as graph:
        processors = _Processors(own)
        before, began = processors.seconds(), time.perf_counter()
        with _stages(processors) as stages:
            report = graph.ingest(**ingest)
        after, spent.seconds = processors.seconds(), time.perf_counter() - began
    spent.passages, spent.clock = report.passages, dict(report.seconds)
    spent.python, spent.server = (end - start for end, start in zip(after, before, strict=True))
    spent.peak_megabytes = _peak()
    spent.processor = {name: sum(both) for name, both in stages.items()}
    return spent


if __name__ == "__main__":
    print(json.dumps(asdict(spend(**json.loads(sys.argv[1])))))
