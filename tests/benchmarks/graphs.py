"""Graphs of the benchmarks, each with a managed server and a home folder of its own, built when first asked for."""

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
from data_sets import Data, Place
from measure import PeakMemory, RememberingEmbedder

from kgplatform import FoundPassage, IngestReport, KnowledgeGraph, connect
from kgplatform.models.embed import embed_question
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Table
from kgplatform.settings import load_settings

MODEL = "local:bge-small-en-v1.5-q"
_HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Built:
    """How a graph was built: one report a step, in order. ``seconds`` by the clock on the wall, embedding included."""

    home: Path
    reports: tuple[IngestReport, ...]
    seconds: float
    embedding: float
    computed: int
    peak: float

    @property
    def writing(self) -> float:
        """Seconds for all but embedding: reading files, extracting, writing, joining, indexing."""
        return self.seconds - self.embedding


@dataclass(frozen=True, slots=True)
class Step:
    """One call of ``ingest``: the corpus, and its recorded extraction if there is one, else the rules extract."""

    corpus: Path
    recorded: Path | None = None


@contextmanager
def new_graph(place: Place, name: str, **settings: Any) -> Iterator[KnowledgeGraph]:
    """An empty graph in the home ``name``, with ``settings``; its server is stopped afterwards."""
    own = {"home": place.folder / name, "neo4j_jars": place.jars}
    try:
        with connect(**own, **settings) as graph:
            yield graph
    finally:
        LocalNeo4j(load_settings(**own)).down()


class Graphs:
    """Homes under ``folder``. Servers stay up until ``close``, since starting one makes it slow for a while."""

    def __init__(self, folder: Path, data: Data, embedder: RememberingEmbedder, jars: Path) -> None:
        self.folder = folder
        self.embedder = embedder
        self._data = data
        self._jars = jars
        self._built: dict[str, Built] = {}
        self._up: list[Path] = []

    def musique(self) -> Built:
        """MuSiQue with its recorded open information extraction."""
        recorded = self._data.file("musique/openie_gpt-3.5.json")
        return self.once("musique", [Step(recorded, recorded)])

    def musique_by_rules(self) -> Built:
        """MuSiQue with what the rules extract."""
        return self.once("musique-local", [Step(self._data.file("musique/corpus.json"))])

    def hotpotqa(self) -> Built:
        """HotpotQA's pooled paragraphs with what the rules extract."""
        return self.once("hotpotqa", [Step(self._data.hotpotqa_corpus(self.folder))])

    def two_wiki(self) -> Built:
        """2Wiki's passages with what the rules extract."""
        return self.once("2wiki", [Step(self._data.file("2wiki/corpus.json"))])

    def encyclopedias(self) -> Built:
        """All passages of MuSiQue, 2Wiki and HotpotQA with what the rules extract."""
        corpora = [self._data.file(f"{name}/corpus.json") for name in ("musique", "2wiki")]
        return self.once("encyclopedias", [*map(Step, corpora), Step(self._data.hotpotqa_corpus(self.folder))])

    def medical(self) -> Built:
        """The medical text with what the rules extract."""
        return self.once("medical", [Step(self._data.file("medical/corpus.json"))])

    def combined(self) -> Built:
        """2Wiki by the rules, MuSiQue as recorded, HotpotQA by the rules, in one graph."""
        recorded = self._data.file("musique/openie_gpt-3.5.json")
        steps = [
            Step(self._data.file("2wiki/corpus.json")),
            Step(recorded, recorded),
            Step(self._data.hotpotqa_corpus(self.folder)),
        ]
        return self.once("combined", steps)

    def once(self, name: str, steps: Sequence[Step]) -> Built:
        """The graph ``name``, built now if it was not before."""
        if name not in self._built:
            self._built[name] = self.build(name, steps)
        return self._built[name]

    def build(self, name: str, steps: Sequence[Step]) -> Built:
        """A fresh server and home, and ``steps`` ingested into it, with the embedder that remembers."""
        home = self.folder / name
        with self.open(home) as graph:
            graph.embedder = self.embedder
            self.embedder.reset()
            memory, started = PeakMemory(), time.perf_counter()
            reports = tuple(_ingest(graph, step) for step in steps)
            seconds = time.perf_counter() - started
        spent = self.embedder
        return Built(home, reports, seconds, spent.seconds, spent.computed, memory.megabytes())

    @contextmanager
    def open(self, home: Path, **settings: Any) -> Iterator[KnowledgeGraph]:
        """The graph of ``home`` as any user opens it, with ``settings``; its server is started if need be."""
        if home not in self._up:
            self._up.append(home)
        with connect(home=home, neo4j_jars=self._jars, embedder=MODEL, **settings) as graph:
            yield graph

    def stop(self, home: Path) -> None:
        """Stop the server of ``home``; the graph stays on disk."""
        self._server(home).down()
        self._up.remove(home)

    def processor_seconds(self, home: Path) -> tuple[float, float]:
        """What Python, and what the server of ``home`` computed until now."""
        server = psutil.Process(self._server(home).status().pid).cpu_times()
        return time.process_time(), float(server.user + server.system)

    def close(self) -> None:
        """Stop all servers."""
        for home in list(self._up):
            self.stop(home)

    def _server(self, home: Path) -> LocalNeo4j:
        return LocalNeo4j(load_settings(home=home, neo4j_jars=self._jars))


def _ingest(graph: KnowledgeGraph, step: Step) -> IngestReport:
    if step.recorded is not None:
        return graph.ingest(step.corpus, recorded=step.recorded)
    return graph.ingest(step.corpus, extractor="local")


def nearest(graph: KnowledgeGraph, question: str, count: int) -> list[FoundPassage]:
    """The passages nearest to ``question`` by the vector index, best first: what retrieval has to beat."""
    vector = embed_question(graph.embedder, question).tolist()
    table = statement(graph, "dense", k=count, vector=vector)
    return [FoundPassage(**dict(zip(table.columns, row, strict=True)), routes=()) for row in table.rows]


def statement(graph: KnowledgeGraph, name: str, **parameters: Any) -> Table:
    """The rows of ``NAME.cypher`` beside this file, asked as a user would ask."""
    text = (_HERE / f"{name}.cypher").read_text("utf-8")
    return graph.cypher(text, parameters, limit=10_000)
