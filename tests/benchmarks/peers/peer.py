"""What the drivers of all peers share: the recorded passages they are given, the clocks, and the figures they print.

    python with_lightrag.py '{"folder": "…", "recorded": "…", "addition": "…", "neo4j": {"uri": "…", …}}'

A driver runs in the environment of its peer, where of kgplatform only the hash embedder can be loaded. It prints one
line of JSON; whatever its peer prints goes to the error stream.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kgplatform.models.embed import HashEmbedder

DIMENSION = 384
EMBEDDER = HashEmbedder(DIMENSION)
SHORT_REPLY = "A thing of which the passages say this and that."
"""What a model says where something other than an extraction is asked for: a summary."""


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage with what was recorded of it."""

    title: str
    text: str
    names: Sequence[str]
    triples: Sequence[Sequence[str]]


@dataclass(slots=True)
class Given:
    """What the benchmark gives to a driver. ``neo4j``: address, user, password and process id of a server, or nothing.

    ``whole``: all passages are to be one document. ``calls``: how often the peer asked its model for
    anything until now; ``asked``: the texts whose extraction it asked for.
    """

    folder: Path
    recorded: Path
    addition: Path
    neo4j: Mapping[str, Any] = field(default_factory=dict)
    whole: bool = False
    calls: int = 0
    asked: set[str] = field(default_factory=set)
    _known: dict[str, Passage] = field(default_factory=dict)

    def passages(self, file: Path) -> list[Passage]:
        """Those of a recording; their extraction can be asked for afterwards."""
        entries = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
        found = [
            Passage(each["title"], each["text"], each["extracted_entities"], each["extracted_triples"])
            for each in entries
        ]
        self._known.update((each.text, each) for each in found)
        return found

    def reply(self, text: str) -> Passage:
        """What a model would find in ``text``, which is a passage or a prompt's part that holds nothing else."""
        self.asked.add(text)
        return self._known[text]


@dataclass(frozen=True, slots=True)
class Held:
    """What is in a peer's store, and what should be by its own way of telling one thing from another."""

    entities: int
    relations: int
    wanted_entities: int
    wanted_relations: int


def seconds_of(process: int | None) -> float:
    """What a process, by its id, computed until now (Linux); nothing, if there is none."""
    if process is None:
        return 0.0
    fields = Path(f"/proc/{process}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / float(os.sysconf("SC_CLK_TCK"))


def peak_megabytes() -> float:
    """The most memory this process held until now, in megabytes (Linux)."""
    lines = Path("/proc/self/status").read_text("ascii").splitlines()
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith("VmHWM"))


def measure(
    given: Given,
    add: Callable[[list[Passage], Path], None],
    held: Callable[[list[Passage]], Held],
    of_server: Callable[[], float] | None = None,
) -> dict[str, Any]:
    """Add the corpus, then the passages more, and look into the store after each. ``add`` is also given their file.

    ``of_server``: what the database computed until now, where that is not one process from beginning to end.
    """
    corpus, addition = given.passages(given.recorded), given.passages(given.addition)
    server = of_server or (lambda: seconds_of(given.neo4j.get("pid")))
    before = peak_megabytes()
    seconds, own, database = _timed(server, lambda: add(corpus, given.recorded))
    peak = peak_megabytes()
    found, calls = held(corpus), given.calls
    more, more_own, more_server = _timed(server, lambda: add(addition, given.addition))
    return {
        "passages": len(corpus),
        "asked": len(given.asked),
        "wanted_asked": len({each.text for each in [*corpus, *addition]}),
        "seconds": seconds,
        "python": own,
        "server": database,
        "before_megabytes": before,
        "peak_megabytes": peak,
        "more_seconds": more,
        "more_processor": more_own + more_server,
        "calls": calls,
        "more_calls": given.calls - calls,
        "entities": found.entities,
        "relations": found.relations,
        "wanted_entities": found.wanted_entities,
        "wanted_relations": found.wanted_relations,
    }


def run(drive: Callable[[Given], dict[str, Any]]) -> None:
    """The program of a driver: what it is given is its argument."""
    out = os.dup(1)
    os.dup2(2, 1)  # what peers print is not the result
    asked = json.loads(sys.argv[1])
    paths = {name: Path(asked[name]) for name in ("folder", "recorded", "addition")}
    figures = drive(Given(**paths, neo4j=asked.get("neo4j") or {}, whole=asked.get("whole", False)))
    with os.fdopen(out, "w") as stream:
        stream.write(json.dumps(figures) + "\n")


def names_and_pairs(passages: Iterable[Passage], key: Callable[[str], str] = str, *, least: int = 2) -> tuple[int, int]:
    """How many names there are, and pairs of names that a triple joins, in whatever direction.

    So do peers count that keep one undirected relation between two entities. ``least``: 1 if one of an entity with
    itself counts as well.
    """
    names: set[str] = set()
    pairs: set[frozenset[str]] = set()
    for each in passages:
        names.update(map(key, each.names))
        ends = (frozenset((key(subject), key(object_))) for subject, _, object_ in each.triples)
        pairs.update(pair for pair in ends if len(pair) >= least)
    return len(names), len(pairs)


def _timed(server: Callable[[], float], work: Callable[[], None]) -> tuple[float, float, float]:
    """Seconds that ``work`` takes: by the clock, of this process's processors, of the database server's."""
    began, computed, of_server = time.perf_counter(), time.process_time(), server()
    work()
    return time.perf_counter() - began, time.process_time() - computed, server() - of_server
