"""The store: what users may run, how values come out, which errors people see."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kgplatform.errors import InputError, ServerError, StatementError
from kgplatform.neo4j.store import Connection, Store, Table, is_new_enough, trace
from kgplatform.records import QueryRun

NOWHERE = "'http://127.0.0.1:9/x.csv'"


@pytest.fixture(scope="module")
def opened(neo4j_server: Connection) -> Iterator[Store]:
    """The run's server, not wiped: for statements that do not depend on what is there."""
    with Store(neo4j_server) as store:
        yield store


def run(
    store: Store, statement: str, write: bool = False, limit: int = 100, timeout: float = 30, **given: Any
) -> Table:
    return store.run_statement(statement, given, write=write, timeout=timeout, limit=limit)


LOADING = [
    f"LOAD CSV FROM {NOWHERE} AS line RETURN line",
    f"// first\nload /* x */ csv with headers from {NOWHERE} as line return line",
    f"PROFILE LOAD CSV FROM {NOWHERE} AS line RETURN line",
    f"CALL () {{ load Csv FROM {NOWHERE} AS line RETURN line }} IN TRANSACTIONS RETURN line",
    f"RETURN COLLECT {{ LOAD CSV FROM {NOWHERE} AS line RETURN line }} AS x",
    # The plan shows no trace of these.
    f"RETURN [x IN [1] | COLLECT {{ LOAD CSV FROM {NOWHERE} AS line RETURN line }}] AS x",
    f"RETURN [x IN [1] | COLLECT {{ LOAD // and\rCSV FROM {NOWHERE} AS line RETURN line }}] AS x",
    f"RETURN [x IN [1] WHERE EXISTS /* */ {{ load csv FROM {NOWHERE} AS line RETURN line }}] AS x",
    f"RETURN CASE WHEN rand() < 2 THEN COUNT {{ LOAD CSV FROM {NOWHERE} AS line RETURN line }} ELSE 0 END AS x",
    f"RETURN [x IN [1] | COLLECT \\u007b LOAD \\u0043SV FROM {NOWHERE} AS line RETURN line }}] AS x",
]
ADMINISTRATIVE = [
    "SHOW USERS",
    "CREATE USER someone SET PASSWORD 'long enough 1'",
    "alter current user set password from 'a' to 'long enough 1'",
    "CREATE DATABASE other",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "SHOW SETTINGS",
    "CALL `dbms` . components() YIELD name RETURN name",
    "CALL () { CALL dbms.info() YIELD name RETURN name } RETURN name",
    "RETURN [x IN [1] | COLLECT { CALL dbms.components() YIELD name RETURN name }] AS x",
    "/* CALL nothing */ CALL dbms.queryJmx('*') YIELD name RETURN name",
    "CALL db.clearQueryCaches()",
    "/* a */ SHOW USERS // '*/ explain RETURN 1 //'",
]
WRITING = [
    "CREATE (:Trespass)",
    "MERGE (n:Trespass) RETURN n",
    "MATCH (n) SET n:Trespass",

    "MATCH (n) DETACH DELETE n",
    "FOREACH (i IN [1] | CREATE (:Trespass))",

    "UNWIND [1, 2] AS i CALL (i) { CREATE (:Trespass {i: i}) } IN TRANSACTIONS OF 1 ROWS",
    "PROFILE CREATE (:Trespass)",
    "/* c */ // d\n profile\nCREATE (:Trespass)",
    "CYPHER runtime=slotted CREATE (:Trespass)",
    "CYPHER planner=cost PROFILE CREATE (:Trespass)",
    "EXPLAIN CREATE (:Trespass)",
    "CREATE INDEX trespass IF NOT EXISTS FOR (n:Trespass) ON (n.i)",
    "CALL db.createLabel('Trespass')",
    "/* a */ CREATE (:Trespass {text: '*/ explain RETURN 1 //'})",
    "RETURN 1; CREATE (:Trespass)",
]  # fmt: skip


@pytest.mark.parametrize("statement", LOADING)
def test_load_csv_is_refused_wherever_it_stands(opened: Store, statement: str) -> None:
    for write in (False, True):
        with pytest.raises(InputError, match="LOAD CSV is refused"):
            run(opened, statement, write)


def test_load_csv_may_be_written_about(opened: Store) -> None:
    assert run(opened, "RETURN 'LOAD CSV FROM' AS text").rows == [["LOAD CSV FROM"]]
    statement = "RETURN COUNT { UNWIND [$text] AS t WITH t WHERE t CONTAINS $text RETURN t } AS found"
    assert run(opened, statement, text="LOAD CSV").rows == [[1]]


@pytest.mark.parametrize("statement", ADMINISTRATIVE)
def test_the_server_is_not_administered(opened: Store, statement: str) -> None:
    for write in (False, True):
        with pytest.raises((InputError, StatementError), match=r"refused|Unsupported administration command"):
            run(opened, statement, write)


def test_a_reading_statement_cannot_write(store: Store) -> None:
    store.run_statement("CREATE (:Seed {name: 'kept'})", {}, write=True, timeout=30, limit=1)
    for statement in WRITING:
        with pytest.raises((InputError, StatementError)):
            run(store, statement)
    assert run(store, "MATCH (n) RETURN labels(n), properties(n)").rows == [[["Seed"], {"name": "kept"}]]
    assert run(store, "SHOW INDEXES YIELD name WHERE name = 'trespass' RETURN name").rows == []


def test_the_access_mode_holds_where_the_plan_is_wrong(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgplatform.neo4j.store.refuse_unsafe", lambda *_: None)
    with pytest.raises(StatementError, match=r"(?i)read access mode"):
        run(store, "CREATE (:Trespass)")
    assert run(store, "MATCH (n) RETURN count(n)").rows == [[0]]


def test_what_reads_is_run(opened: Store) -> None:
    for statement, rows in [
        ("RETURN 1 AS x", [[1]]),
        ("  return 1 as x ;", [[1]]),
        ("EXPLAIN RETURN 1 AS x", []),
        ("// a comment\nRETURN 1 AS x // and another", [[1]]),
        ("CYPHER runtime=slotted RETURN 1 AS x", [[1]]),
        ("UNWIND [1, 2] AS x RETURN x ORDER BY x DESC", [[2], [1]]),
        ("CALL () { RETURN 1 AS x UNION RETURN 2 AS x } RETURN x ORDER BY x", [[1], [2]]),
        ("RETURN 'CREATE (n)' AS x", [["CREATE (n)"]]),
    ]:
        table = run(opened, statement)
        assert (table.columns, table.rows, table.truncated, table.counters) == (("x",), rows, False, {}), statement
    assert run(opened, "SHOW INDEXES YIELD name RETURN count(*) >= 0 AS x").rows == [[True]]
    assert run(opened, "CALL db.labels() YIELD label RETURN count(*) >= 0 AS x").rows == [[True]]


def test_writing_when_asked(store: Store) -> None:
    table = run(store, "CREATE (n:Kept {name: $name}) RETURN n.name AS name", write=True, name="Ada")
    assert table.rows == [["Ada"]]
    assert table.counters == {"labels_added": 1, "nodes_created": 1, "properties_set": 1}
    limited = run(store, "UNWIND range(1, 2000) AS i CREATE (:Kept {i: i}) RETURN i", write=True, limit=3)
    assert (limited.rows, limited.truncated) == ([[1], [2], [3]], True)
    assert run(store, "MATCH (n:Kept) RETURN count(n)").rows == [[2001]]


def test_rows_are_cut_at_the_limit(opened: Store) -> None:
    endless = run(opened, "UNWIND range(1, 1000000000) AS i RETURN i", limit=3)
    assert (endless.rows, endless.truncated) == ([[1], [2], [3]], True)
    exact = run(opened, "UNWIND range(1, 3) AS i RETURN i", limit=3)
    assert (exact.rows, exact.truncated) == ([[1], [2], [3]], False)


def test_a_statement_ends_at_its_time_limit(opened: Store) -> None:
    long = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b WITH a, b WHERE a + b < 0 RETURN count(*)"
    with pytest.raises(StatementError, match="timeout"):
        run(opened, long, timeout=0.5)
    assert run(opened, "RETURN 1").rows == [[1]]


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("MATCH (n RETURN n", '(line 1, column 10 (offset: 9))\n"MATCH (n RETURN n"\n          ^'),
        ("MATCH (n)\nRETRUN n", "line 2, column 1"),
        ("RETURN 1; RETURN 2", "exactly one statement"),
        ("RETURN 1 / 0", "/ by zero"),
        ("CALL no.such.procedure()", "no.such.procedure"),
    ],
)
def test_what_is_wrong_is_said_where_it_was_typed(opened: Store, statement: str, said: str) -> None:
    with pytest.raises(StatementError) as caught:
        run(opened, statement)
    assert said in str(caught.value)
    assert "EXPLAIN " not in str(caught.value)
    with pytest.raises(InputError, match="empty"):
        run(opened, " \n ")


def test_a_name_that_the_graph_does_not_have_is_told_with_the_nearest(store: Store) -> None:
    run(store, "CREATE (:Person {name: 'a'})-[:KNOWS]->(:Person)", write=True)
    found = run(store, "MATCH (p:Persn)-[:KNOW]->(q) WHERE p.nmae = 'a' RETURN p")
    assert sorted(found.notes) == [
        "The label `Persn` does not exist. Did you mean Person?",
        "The property `nmae` does not exist. Did you mean name?",
        "The relationship type `KNOW` does not exist. Did you mean KNOWS?",
    ]
    assert run(store, "MATCH (p:Person)-[:KNOWS]->() WHERE p.name = 'b' RETURN p").notes == ()


def test_values_of_every_type_are_json(store: Store) -> None:
    statement = (
        "CREATE path = (a:Thing {name: 'a', embedding: [0.1, 0.2], when: date('2020-02-29')})-[r:R {w: 2}]->(b:Other) "
        "RETURN path, a, r, [a, {inner: b}] AS nested, date('2020-01-02') AS date, "
        "datetime('2020-01-02T03:04:05+01:00') AS moment, localtime('03:04') AS time, duration('P1Y2DT3S') AS span, "
        "point({longitude: 1, latitude: 2}) AS place, 0.0 / 0 AS nan, -1.0 / 0 AS least, null AS nothing, "
        "true AS yes, 'é\"\\n' AS text, 9007199254740993 AS large, 1.5 AS number, $bytes AS bytes, "
        "[1, [2, 'x']] AS list, {a: date('2020-01-01')} AS map"
    )
    table = run(store, statement, write=True, bytes=b"ab")
    row = json.loads(json.dumps(dict(zip(table.columns, table.rows[0], strict=True)), allow_nan=False))
    node = {"labels": ["Thing"], "properties": {"name": "a", "when": "2020-02-29"}}
    other = {"labels": ["Other"], "properties": {}}
    edge = {"type": "R", "properties": {"w": 2}}
    assert row["path"] == {"nodes": [node, other], "relationships": [edge], "forward": [True]}
    assert (row["a"], row["r"], row["nested"]) == (node, edge, [node, {"inner": other}])
    assert (row["date"], row["span"], row["map"]) == ("2020-01-02", "P1Y2DT3S", {"a": "2020-01-01"})
    assert row["moment"].startswith("2020-01-02T03:04:05")
    assert row["time"].startswith("03:04:00")
    assert "1.0, 2.0" in row["place"]
    assert (row["nan"], row["least"], row["nothing"], row["yes"]) == ("nan", "-inf", None, True)
    assert (row["text"], row["large"], row["number"], row["list"]) == ('é"\n', 2**53 + 1, 1.5, [1, [2, "x"]])
    assert "ab" in row["bytes"]


def test_parameters_are_data(store: Store) -> None:
    nasty = "x'}) DETACH DELETE n //`$(label)`\u202e\u200b\n${y}"
    run(store, "CREATE (:Thing {name: $name})", write=True, name=nasty)
    assert run(store, "MATCH (n:Thing {name: $name}) RETURN n.name", name=nasty).rows == [[nasty]]
    several = run(store, "RETURN $a AS a, $b AS b, $c AS c", a=[1, {"k": None}], b=2.5, c=True)
    assert several.rows == [[[1, {"k": None}], 2.5, True]]


def test_statements_are_called_as_declared(opened: Store) -> None:
    with pytest.raises(ValueError, match=r"cypher/ingest/documents.cypher is a write statement over \['rows'\]"):
        opened.read("ingest/documents", rows=[])
    with pytest.raises(ValueError, match="called as write with"):
        opened.write(("ingest/documents", {"row": []}))
    with pytest.raises(ValueError, match="schema"):
        opened.read("neo4j/schema/constraint_chunk")


def test_a_transaction_is_written_whole_or_not_at_all(store: Store) -> None:
    good = ("ingest/set_graph_state", {"state": {"embeddingModel": "x"}})
    bad = ("ingest/same_as", {"rows": [{"one": "a", "other": "b"}], "threshold": "no number"})
    broken = ("ingest/set_graph_state", {"state": {"nested": {"maps": "are no property"}}})
    with pytest.raises(StatementError):
        store.write(good, bad, broken)
    assert store.read("ingest/graph_state") == []
    store.write(good)
    assert store.read("ingest/graph_state") == [{"graph": store.read("ingest/graph_state")[0]["graph"]}]


def test_tracing_tells_statement_parameters_and_rows(store: Store) -> None:
    told: list[QueryRun] = []
    with trace(told.append):
        store.write(("ingest/set_graph_state", {"state": {"a": 1}}))
        store.read("ingest/graph_state")
    store.read("ingest/graph_state")
    assert [(each.name, each.rows) for each in told] == [("ingest/set_graph_state", 0), ("ingest/graph_state", 1)]
    assert told[0].parameters == {"state": {"a": 1}}
    assert "MERGE" in told[0].statement
    assert all(each.seconds > 0 for each in told)


def test_servers_that_will_do_and_those_that_are_too_old_or_something_else() -> None:
    assert all(map(is_new_enough, ["5.26.0", "5.27-aura", "5.100.1", "2025.10.1-x"]))
    assert not any(map(is_new_enough, ["5.25.1", "5.3.0", "4.4.40", "", "dev", "5"]))


@pytest.mark.parametrize("address", ["http://127.0.0.1:7474", "localhost", "", "bolt:/x", "neo4j://127.0.0.1:70000"])
def test_an_address_that_is_none(address: str) -> None:
    with pytest.raises(ServerError, match=r"NEO4J_URI cannot be used: .* is not an address like bolt://host:7687"):
        Store(Connection(address, "neo4j", "x"))
