"""Models that err: a reader's answer stays right in most cases, nothing ends in an error or a loop or is paid twice,
and nothing that a model invents is cited.

What is drawn in docs/explanation/benchmarks/errors.md, in small (``make bench ONLY=errors``).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from conftest import wipe
from erring_model import ErringModel, ask_all, check
from erring_readers import FLEET, READAGENT, READERS

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings
from kgplatform.testing import ScriptedChat

MEMBERS = 14
"""More than LongAgent's team has over this corpus."""
PIECES = 8
"""More than the corpus has for the readers of pieces."""
MOST_CALLS = {
    "youtu": 11,
    "graphreader": 2 * (3 + 3 * 10),
    "readagent": 6,
    "longagent": 2 * 5 * (2 * MEMBERS + 3),
    "retrieve": 2,
    "cypher": 6,
    "fulltext": 2,
    "chunkread": 2 * PIECES,
    "chunknotes": 2 * PIECES,
}
"""Of a question: steps that a reader may take, each asked for at most twice."""
MEASURED = {
    "youtu": 97,
    "graphreader": 89,
    "readagent": 86,
    "longagent": 89,
    "retrieve": 92,
    "cypher": 79,
    "fulltext": 91,
    "chunkread": 79,
    "chunknotes": 81,
}
"""Percent right where one call in five errs, as docs/explanation/benchmarks/errors.md has it."""


@pytest.fixture(scope="module")
def graph(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """The fleet with its gists, made without errors."""
    folder = tmp_path_factory.mktemp("fleet")
    with Store(neo4j_server) as store:
        wipe(store)
        settings, embedder = load_settings(home=folder / "home", embedder="hash:256"), HashEmbedder(256)
        chat = ScriptedChat(ErringModel(READAGENT))
        kg = KnowledgeGraph(store, settings, embedder=embedder, chat=chat)
        FLEET.ingest(kg, folder)
        kg.gist()
        yield KnowledgeGraph(store, settings, embedder=embedder)


@pytest.mark.parametrize("reader", READERS)
def test_most_answers_stay_right_where_one_call_in_five_errs(
    graph: KnowledgeGraph, tmp_path: Path, reader: str
) -> None:
    trial = READERS[reader]
    none, some = (
        ask_all(graph, reader, replace(trial, questions=asked), errs=errs, seeds=seeds, folder=tmp_path)
        for asked, errs, seeds in ((trial.questions[:2], 0.0, (1,)), (trial.questions[:5], 0.2, (1, 2)))
    )
    check(none, some, measured=MEASURED[reader] / 100, most=MOST_CALLS[reader])


def test_where_every_call_errs_readers_come_to_an_end_all_the_same(graph: KnowledgeGraph, tmp_path: Path) -> None:
    for reader, trial in READERS.items():
        few = replace(trial, questions=trial.questions[:1])
        tally = ask_all(graph, reader, few, errs=1.0, seeds=(1,), folder=tmp_path)
        assert tally.errors.total() == tally.calls
        assert tally.most <= MOST_CALLS[reader]
        assert tally.invented == 0
