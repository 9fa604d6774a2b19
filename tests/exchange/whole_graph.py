"""A graph that has everything which the platform writes, and what a person may have added to it."""

from typing import Any

from conftest import EXAMPLES
from graphreader_runs import walk
from written_pages import define_pages, write_pages

from kgplatform.client import KnowledgeGraph
from kgplatform.ingest.pipeline import IngestReport
from kgplatform.neo4j.store import Store

DOCUMENTS = ("Atlantic_Telegraph_Company.pdf", "Cyrus_Field.md", "Expedition_of_1865.pdf", "Success_of_1866.md")
PEOPLE = """
MATCH (e:Entity {name: 'Cyrus Field'})
SET e.born = date('1819-11-30'), e.met = datetime('1954-07-10T09:30:00.000000001+01:00[Europe/London]'),
    e.seen = datetime('1866-07-27T12:00:00.5Z'), e.rings = localtime('12:30:00'), e.calls = time('09:00:00-05:00'),
    e.wrote = localdatetime('1866-07-27T23:59:59'), e.voyage = duration('P1Y2M10DT2H30M5.5S'),
    e.lost = duration('-P3DT1H'), e.days = [date('1866-07-13'), date('1866-07-27')],
    e.limit = 1.0 / 0.0, e.unknown = 0.0 / 0.0, e.shares = [1.5, -0.25, 1e-300], e.ages = [1, -2, 9223372036854775807],
    e.nothing = [], e.empty = '', e.flags = [true, false], e.mixed = 1, e.`own note` = $note, e.strange = $strange,
    e.labels2 = ['a,b', 'c;d', '"'], e.zero = -0.0
SET e:`Own Label`
WITH e
MATCH (o:Entity {name: 'Great Eastern'})
SET o.mixed = 'text', o.nothing = ['x', '']
CREATE (e)-[:`Own Type` {since: date('1866-01-01'), sure: 0.5}]->(o)
CREATE (e)-[:`Own Type` {since: date('1866-01-01'), sure: 0.5}]->(o)
CREATE (o)-[:NICKNAMED {as: ['the ship']}]->(e)
"""
NOTE = "it's \"quoted\", \\ and\ntwo lines\ttab, $x `tick`; 'a';\n"
STRANGE = "a\u0001b\rc]]>&amp;<x>\u2028\U0001f6a2\ufffe"


def ingest_some(graph: KnowledgeGraph) -> IngestReport:
    """Ingest a few of the examples: all kinds of nodes and relationships come with them."""
    paths = [EXAMPLES / "corpus" / name for name in DOCUMENTS]
    return graph.ingest(paths, recorded=EXAMPLES / "extraction.jsonl")


def fill(graph: KnowledgeGraph) -> None:
    """Ingest, build the tree, write pages, keep a run, and add what people may add."""
    ingest_some(graph)
    graph.build_tree()
    define_pages(graph.store)
    document = graph.documents()[0].title
    write_pages(graph.store, document, [("The first page.", "The first."), ("All the rest.", "The rest.")])
    graph.ask("Who founded the Atlantic Telegraph Company?", keep=True)
    walk(graph, "Who designed the ship?", "Cyrus Field", "Great Eastern", keep=True)
    graph.cypher(PEOPLE, {"note": NOTE, "strange": STRANGE}, write=True)


def add_strangers(graph: KnowledgeGraph) -> None:
    """What others keep in the same database: nodes of theirs, one of which hangs on one of ours."""
    statement = "MATCH (e:Entity {name: 'Cyrus Field'}) CREATE (e)-[:KNOWS]->(:Stranger {id: 'x'})-[:KNOWS]->(e)"
    graph.cypher(statement, write=True)
    graph.cypher("CREATE (:Document {title: 'of another program'})", write=True)


def everything(store: Store) -> list[Any]:
    """Labels, properties and relationships, with all types and digits, as texts that can be compared."""
    nodes = "MATCH (n) WHERE NOT n:Stranger RETURN n.id, [l IN labels(n) | [l]], [k IN keys(n) | [k, valueType(n[k])]]"
    edges = (
        "MATCH (a)-[r]->(b) WHERE NOT b:Stranger "
        "RETURN a.id, type(r), b.id, [k IN keys(r) | [k, valueType(r[k]), toStringOrNull(r[k])]]"
    )
    rows = [_rows(store, statement) for statement in (nodes, edges)]
    values = _rows(
        store, "MATCH (n) WHERE NOT n:Stranger UNWIND keys(n) AS k RETURN n.id, k, toStringOrNull(n[k]), n[k]"
    )
    return [sorted(map(_sorted, each), key=repr) for each in (*rows, values)]


def _rows(store: Store, statement: str) -> list[list[Any]]:
    return store.run_statement(statement, {}, write=False, timeout=120, limit=10**6).rows


def _sorted(row: list[Any]) -> list[Any]:
    return [
        sorted(each, key=repr) if isinstance(each, list) and each and isinstance(each[0], list) else each
        for each in row
    ]
