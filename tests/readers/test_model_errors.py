"""Models that err: a reader's answer stays right in most cases, nothing ends in an error or a loop or is paid twice.

What is drawn in docs/benchmarks.md, in small (``make bench ONLY=errors``).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import wipe
from erring_model import FORMS, ErringModel, ask_all
from erring_readers import FLEET, READAGENT, READERS

from kgplatform.client import KnowledgeGraph
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings
from kgplatform.testing import ScriptedChat

QUESTIONS = FLEET.questions[:8]
MEMBERS = 14
"""More than LongAgent's team has over this corpus."""
MOST_CALLS = {
    "youtu": 11,
    "graphreader": 2 * (3 + 3 * 10),
    "readagent": 6,
    "longagent": 2 * 5 * (2 * MEMBERS + 3),
}
"""Of a question: steps that a reader may take, each asked for at most twice."""


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


@pytest.mark.parametrize(
    ("reader", "least"), [("youtu", 95), ("graphreader", 70), ("readagent", 70), ("longagent", 60)]
)
def test_most_answers_stay_right_where_one_call_in_five_errs(
    graph: KnowledgeGraph, tmp_path: Path, reader: str, least: int
) -> None:
    rules, options = READERS[reader]
    none, some = (
        ask_all(graph, reader, rules, QUESTIONS, errs=errs, seeds=seeds, folder=tmp_path, **options)
        for errs, seeds in ((0.0, (1,)), (0.2, (1, 2)))
    )
    assert (none.share, none.failed, none.again) == (100, 0, 0)
    assert not none.errors
    assert some.share >= least
    assert some.failed <= 1, "of 16 questions: a leader that twice says nothing is an error in words"
    assert some.again == 0
    assert max(none.most, some.most) <= MOST_CALLS[reader]
    assert 0.1 * some.calls < some.errors.total() < 0.3 * some.calls
    assert {*some.errors} & {*FORMS}
    assert {*some.errors} - {*FORMS}


def test_where_every_call_errs_readers_come_to_an_end_all_the_same(graph: KnowledgeGraph, tmp_path: Path) -> None:
    for reader, (rules, options) in READERS.items():
        tally = ask_all(graph, reader, rules, QUESTIONS[:3], errs=1.0, seeds=(1,), folder=tmp_path, **options)
        assert tally.errors.total() == tally.calls
        assert tally.most <= MOST_CALLS[reader]
