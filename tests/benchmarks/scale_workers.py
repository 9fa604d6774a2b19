"""What two workers read in the time of one, without the database's writes: loading, cutting, reading, making rows."""

from __future__ import annotations

import json
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from data_sets import Data, Place

from kgplatform import KnowledgeGraph, connect
from kgplatform.concurrency.open_workers import bounded_calls, open_workers
from kgplatform.extract import make_extractor
from kgplatform.extract.schema import load_schema
from kgplatform.ingest.compare import Plan, compare, lay
from kgplatform.ingest.window import Tools, extract_passages
from kgplatform.ingest.write import Statement
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.prompt import Messages
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

MODEL_SECONDS = 0.3
"""What the simulated model takes for a reply, which names one person."""
MODEL_LIMIT, RULES_LIMIT = 1.8, 1.6
_ROUNDS = 3
_NOTES = 900


def by_model(place: Place) -> dict[int, float]:
    """Seconds for 900 passages that a model reads, eight calls in progress a worker, by the number of workers."""
    folder = place.folder / "notes"
    folder.mkdir()
    for number in range(_NOTES):
        (folder / f"{number:03}.txt").write_text(f"The mill at Arden number {number} was built by Ada Brook.\n" * 5)
    with OpenAIServer(_slowly) as server:
        return _fastest(place, [folder], "llm", openai_base_url=server.base_url)


def by_rules(place: Place, data: Data) -> dict[int, float]:
    """The same for all real texts that there are, read by the local extractor."""
    files = [data.file(f"{name}/corpus.json") for name in ("2wiki", "musique", "medical")]
    return _fastest(place, [*files, data.hotpotqa_corpus(place.folder)], "local")


def _slowly(_messages: Messages) -> str:
    time.sleep(MODEL_SECONDS)
    return json.dumps({"entities": [{"name": "Ada Brook", "type": "Person"}], "triples": [], "attributes": []})


def _fastest(place: Place, files: list[Path], extractor: str, **settings: str) -> dict[int, float]:
    found = {1: float("inf"), 2: float("inf")}
    own: dict[str, Any] = {"home": place.folder / "workers", "neo4j_jars": place.jars, "embedder": "hash:384"}
    try:
        for turn, number in enumerate([*found] * _ROUNDS):
            # Another model is another cache key: each turn asks all.
            with connect(**own, workers=number, chat_model=f"simulated-{turn}", **settings) as graph:
                found[number] = min(found[number], _read(graph, files, extractor))
    finally:
        LocalNeo4j(load_settings(**own)).down()
    return found


def _silent(stage: str, done: int, total: int) -> None:
    """Progress that nobody sees."""


class _Nowhere:
    """Takes what would be written."""

    def put(self, statements: list[Statement]) -> None:
        """Nothing is kept."""


def _read(graph: KnowledgeGraph, files: list[Path], extractor: str) -> float:
    """Seconds until all passages of ``files`` are read. The graph stays empty."""
    made = make_extractor(extractor, None, graph.language_model)
    settings, store, nowhere = graph.settings, graph.store, _Nowhere()
    tools = Tools(
        store, graph.embedder, made, load_schema("general"), made.default_mode, settings, graph.ledger, _silent
    )
    began = time.perf_counter()
    with (
        Pass(store, "ingest", _silent) as turn,
        Plan(settings.home_folder) as plan,
        bounded_calls(settings, store.stop) as calls,
        open_workers(settings) or nullcontext() as workers,
    ):
        lay(store, compare(store, files, settings, calls, workers), plan, _silent, nowhere)
        read = extract_passages(tools, plan, turn, nowhere, workers)
    assert read.read == plan.passages and not read.failed, read
    return time.perf_counter() - began
