"""Whoever may see a part of a workspace gets the answers of a workspace that has nothing else."""

import os
import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest
from campaigns import WHOLE
from leaks import SECRETS, Sides, build, requests, sides_of
from teams import Team, quick_servers_of, team

pytestmark = [pytest.mark.killed, pytest.mark.long]
SEED = 20261129
PROBES = 100_000 if os.environ.get(WHOLE) == "1" else 600


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


@pytest.mark.parametrize("kind", PLANTED)
def test_leaks_that_are_put_in_are_found(made: Team, sides: Sides, kind: str) -> None:
    sides.part.get("/api/about")
    space = made.host.spaces._open[made.host.workspaces.id_of("whole")]
    (app,) = [each for key, each in space.apps.items() if key not in ("to read", "to write")]
    store = app.app.state.parts.graph.store
    undo = "MATCH (n) OPTIONAL MATCH (n)-[r]->() RETURN elementId(n), properties(n), labels(n)"
    before = {
        row[0]: (row[1], row[2]) for row in store.run_statement(undo, {}, write=False, timeout=60, limit=10**5).rows
    }
    edges = {
        row[0]
        for row in store.run_statement(
            "MATCH ()-[r]->() RETURN elementId(r)", {}, write=False, timeout=60, limit=10**5
        ).rows
    }
    store.run_statement(PLANTED[kind], {"secret": SECRETS[0]}, write=True, timeout=60, limit=10)
    try:
        chance = random.Random(SEED)
        assert any(sides.leak(each) for each in islice(requests(chance, sides.ids), 2000)), kind
    finally:
        after = store.run_statement(undo, {}, write=False, timeout=60, limit=10**5).rows
        changed = [{"id": row[0], "properties": before[row[0]][0]} for row in after if row[0] in before]
        store.run_statement(
            "MATCH ()-[r]->() WHERE NOT elementId(r) IN $edges DELETE r",
            {"edges": sorted(edges)},
            write=True,
            timeout=60,
            limit=1,
        )
        store.run_statement(
            "MATCH (n) WHERE NOT elementId(n) IN $known DETACH DELETE n",
            {"known": sorted(before)},
            write=True,
            timeout=60,
            limit=1,
        )
        for row in changed:
            store.run_statement(
                "MATCH (n) WHERE elementId(n) = $id SET n = $properties REMOVE n:Nightjar",
                row,
                write=True,
                timeout=60,
                limit=1,
            )
