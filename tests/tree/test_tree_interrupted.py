"""``kill -9`` in the middle of ``kgplatform tree --rebuild``, and the same again: the graph of an undisturbed run."""

from pathlib import Path

import pytest
from corpora import difference
from graph_state import snapshot
from killed_passes import Driver, Killer
from trees import group, ingest

from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.store import Connection, Store

pytestmark = pytest.mark.killed
pytest_plugins = ["killed_passes"]

POINTS = [
    *(("tree/write_communities", 1), ("tree/write_keywords", 1), ("tree/entities_done", 1), ("ingest/embed", 1)),
    ("ingest/set_graph_state", 2),
]


@pytest.mark.parametrize("at_once", [50_000, 1], ids=["in one transaction", "in many"])
def test_killed_anywhere_and_run_again(
    kg: KnowledgeGraph, store: Store, neo4j_server: Connection, tmp_path: Path, passes: Driver, at_once: int
) -> None:
    ingest(kg, tmp_path / "one", [group("Sailor", 6), group("Miner", 5)])
    kg.build_tree()
    ingest(kg, tmp_path / "two", [{**group("Weaver", 7), "document": "two.txt"}])
    constants = {"kgplatform.tree.stored_tree.AT_ONCE": at_once}
    killed = Killer(neo4j_server, passes, constants, home=tmp_path / "home", embedder="hash:64")
    for point in POINTS:
        killed(point, "build_tree", rebuild=True)
        if point == POINTS[0]:
            assert "treeDue" in str(snapshot(store)), "what has changed is still due"
    kg.build_tree(rebuild=True)
    again = snapshot(store)
    kg.build_tree(rebuild=True)
    assert difference(again, snapshot(store)) == []
