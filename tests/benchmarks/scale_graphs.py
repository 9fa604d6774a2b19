"""Graphs of invented corpora, each with a server and a home of its own, and what it took to make them."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from data_sets import Place
from graphs import statement
from invented import Invented
from scale_ingest import Spent

from kgplatform import KnowledgeGraph, connect
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings

EMBEDDER = os.environ.get("KGPLATFORM_BENCH_SCALE_EMBEDDER", "hash:384")
"""Read on import: the benchmarks' own runs see no setting of the person who measures."""
_INGEST = Path(__file__).with_name("scale_ingest.py")


@dataclass(frozen=True, slots=True)
class Grown:
    """A graph and what its ingest took. ``corpus``: the invented one, or None. ``questions``: its own, if not."""

    home: Path
    jars: Path
    spent: Spent
    corpus: Invented | None = None
    questions: tuple[str, ...] = ()
    embedder: str = EMBEDDER

    @contextmanager
    def open(self) -> Iterator[KnowledgeGraph]:
        """The graph as any user opens it, its server started if need be."""
        with connect(home=self.home, neo4j_jars=self.jars, embedder=self.embedder) as graph:
            yield graph

    def processor_seconds(self) -> tuple[float, float]:
        """What this process, and what the server computed until now."""
        spent, server = psutil.Process().cpu_times(), psutil.Process(self._server().status().pid).cpu_times()
        return spent.user + spent.system, server.user + server.system

    def stop(self) -> None:
        """Stop the server; the graph stays on disk."""
        self._server().down()

    def counts(self) -> Mapping[str, int]:
        """Nodes, relationships, entities, facts and passages."""
        with self.open() as graph:
            found = statement(graph, "scale_counts")
        return dict(zip(found.columns, found.rows[0], strict=True))

    def megabytes(self) -> float:
        """What the store takes on disk, without the log of transactions."""
        store = self.home / "neo4j" / "data" / "databases" / "neo4j"
        return sum(file.stat().st_size for file in store.rglob("*") if file.is_file()) / 1e6

    def _server(self) -> LocalNeo4j:
        return LocalNeo4j(load_settings(home=self.home, neo4j_jars=self.jars))


def grow(place: Place, size: int) -> Grown:
    """An invented corpus of ``size`` passages in a fresh home."""
    folder = place.folder / f"scale-{size}"
    folder.mkdir()
    corpus = Invented(size)
    texts, recorded = corpus.write(folder)
    told = {"paths": str(texts), "recorded": str(recorded)}
    spent = ingest_alone(folder / "home", place.jars, told)
    return Grown(folder / "home", place.jars, spent, corpus)


def grow_musique(place: Place) -> Grown | None:
    """MuSiQue with its recorded triples, by the same embedder, in a fresh home; None if it is not there."""
    if not place.data.has("musique/openie_gpt-3.5.json"):
        return None
    recorded = place.data.file("musique/openie_gpt-3.5.json")
    home = place.folder / "scale-musique"
    spent = ingest_alone(home, place.jars, {"paths": str(recorded), "recorded": str(recorded)})
    return Grown(home, place.jars, spent, questions=tuple(each.text for each in place.data.musique_questions()))


def grow_empty(place: Place) -> Grown:
    """A graph without anything but an empty server's work behind it."""
    return Grown(place.folder / "scale-empty", place.jars, Spent())


def ingest_alone(home: Path, jars: Path, arguments: Mapping[str, Any], **settings: Any) -> Spent:
    """``ingest`` in a process of its own, and what it took. The server stays up."""
    asked = {"home": str(home), "jars": str(jars), "settings": {"embedder": EMBEDDER, **settings}, "ingest": arguments}
    command = [sys.executable, str(_INGEST), json.dumps(asked)]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    except BaseException as error:  # whatever it is, the server that was started goes
        Grown(home, jars, Spent()).stop()
        if isinstance(error, subprocess.CalledProcessError):
            raise RuntimeError(f"The ingest into {home} failed: {error.stderr[-2000:]}") from error
        raise
    return Spent(**json.loads(done.stdout))
