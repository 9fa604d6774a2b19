"""Whoever may see a part of a workspace gets the answers of a workspace that has nothing else."""

import os
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from campaigns import WHOLE
from leaks import SECRETS, Sides, build, requests, sides_of
from teams import Team, quick_servers_of, team

from kgplatform.neo4j.store import Store

pytestmark = [pytest.mark.killed, pytest.mark.long]
SEED = 20261129
PROBES = 100_000 if os.environ.get(WHOLE) == "1" else 250


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory, quick_java: Path) -> Iterator[Team]:
    """The two workspaces, served."""
    with quick_servers_of(quick_java):
        folder = tmp_path_factory.mktemp("leaks")
        build(folder, SEED)
        with team(folder) as served:
            yield served


@pytest.fixture(scope="module")
def sides(made: Team) -> Sides:
    """Who asks."""
    return sides_of(made)


def test_nothing_leaks(sides: Sides) -> None:
    chance = random.Random(SEED)
    found = {}
    for request in islice(requests(chance, sides.ids), PROBES):
        if leak := sides.leak(request):
            found[str(request)[:300]] = leak
    assert found == {}


PLANTED = {
    "an entity": "MATCH (e:Entity) WITH e LIMIT 1 SET e.name = $secret",
    "an alias": "MATCH (e:Entity) WITH e LIMIT 1 SET e.aliases = [$secret]",
    "a type": "MATCH (e:Entity) WITH e LIMIT 1 SET e.type = $secret",
    "a label": "MATCH (e:Entity) WITH e LIMIT 1 SET e:Nightjar, e.inSchema = true",
    "a fact": "MATCH (f:Fact {kind: 'triple'}) WITH f LIMIT 1 SET f.text = $secret",
    "a predicate": "MATCH (f:Fact {kind: 'triple'}) WITH f LIMIT 1 SET f.predicate = $secret",
    "an atomic fact": "MATCH (f:Fact {kind: 'atomic'}) WITH f LIMIT 1 SET f.text = $secret",
    "a value": "MATCH (a:Attribute) WITH a LIMIT 1 SET a.value = $secret, a.name = $secret",
    "a title": "MATCH (d:Document) WITH d LIMIT 1 SET d.name = $secret",
    "metadata": "MATCH (d:Document) WITH d LIMIT 1 SET d.meta_codeword = $secret",
    "a name of metadata": "MATCH (d:Document) WITH d LIMIT 1 SET d.meta_nightjar = 1",
    "an address": "MATCH (d:Document) WITH d LIMIT 1 SET d.uri = $secret, d.source = $secret",
    "a text": "MATCH (c:Chunk) WITH c LIMIT 1 SET c.text = c.text + $secret",
    "a community": "MATCH (c:Community) WITH c LIMIT 1 SET c.name = $secret",
    "a summary": "MATCH (c:Community) WITH c LIMIT 1 SET c.summary = $secret",
    "a keyword": "MATCH (k:Keyword) WITH k LIMIT 1 SET k.name = $secret",
    "a type that the schema grew by": "MATCH (g:Graph) SET g.expansions = "
    '\'[{"kind": "entity", "name": "Nightjar", "confidence": 0.95, "support": 2, "example": ""}]\'',
    "one fact more": "MATCH (e:Entity) WITH e LIMIT 1 MATCH (c:Chunk) WITH e, c LIMIT 1 "
    "CREATE (:Fact {id: 'x', kind: 'atomic', name: 'x', text: 'x'})-[:MENTIONS]->(e)",
    "one mention more": "MATCH (e:Entity), (c:Chunk) WHERE NOT (e)-[:FROM_CHUNK]->(c) WITH e, c LIMIT 1 "
    "CREATE (e)-[:FROM_CHUNK {count: 1, names: [e.name]}]->(c)",
    "a run": "CREATE (r:Run {id: 'r', name: $secret, question: $secret, reader: 'bm25', answer: '', at: datetime()})",
    "one document more": "CREATE (:Document {id: 'd', name: 'd', key: 'd', uri: 'd', source: 'd'})",
}


@pytest.fixture(scope="module")
def store(made: Team, sides: Sides) -> Store:
    """That of the workspace with all documents."""
    sides.part.get("/api/about")
    space = made.host.spaces._open[made.host.workspaces.id_of("whole")]
    (app,) = [each for key, each in space.apps.items() if key not in ("to read", "to write")]
    found: Store = app.app.state.parts.graph.store
    return found


Elements = dict[str, dict[str, Any]]
"""Properties, by element."""


def elements(store: Store, what: str) -> Elements:
    """``what``: a pattern of which ``e`` is part."""
    statement = f"MATCH {what} RETURN elementId(e), properties(e)"
    return dict(store.run_statement(statement, {}, write=False, timeout=60, limit=10**5).rows)


@pytest.fixture(scope="module")
def before(store: Store) -> tuple[Elements, Elements]:
    """Nodes and relationships as they are."""
    return elements(store, "(e)"), elements(store, "()-[e]->()")


def undo(store: Store, before: tuple[Elements, Elements]) -> None:
    """Bring back what was before."""
    nodes, edges = before
    after = elements(store, "(e)")
    changed = [{"id": id_, "as": nodes[id_]} for id_ in after.keys() & nodes.keys() if after[id_] != nodes[id_]]
    for statement, parameter in (
        ("MATCH ()-[e]->() WHERE NOT elementId(e) IN $given DELETE e", [*edges]),
        ("MATCH (e) WHERE NOT elementId(e) IN $given DETACH DELETE e", [*nodes]),
        ("UNWIND $given AS row MATCH (e) WHERE elementId(e) = row.id SET e = row.as REMOVE e:Nightjar", changed),
    ):
        store.run_statement(statement, {"given": parameter}, write=True, timeout=60, limit=1)


USUAL = ("an alias", "a predicate", "a value", "a name of metadata", "a text", "a summary", "a run")
"""Those of the tests; a campaign plants all."""


@pytest.mark.parametrize("kind", PLANTED if os.environ.get(WHOLE) == "1" else USUAL)
def test_leaks_that_are_put_in_are_found(
    store: Store, sides: Sides, before: tuple[Elements, Elements], kind: str
) -> None:
    store.run_statement(PLANTED[kind], {"secret": SECRETS[0]}, write=True, timeout=60, limit=10)
    try:
        chance = random.Random(SEED)
        assert any(sides.leak(each) for each in islice(requests(chance, sides.ids), 2000)), kind
    finally:
        undo(store, before)
