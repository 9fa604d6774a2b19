"""Links that open a statement in Neo4j Browser, and statements with their values written out."""

from __future__ import annotations

import re
from urllib.parse import unquote

import neo4j
from hypothesis import given
from hypothesis import strategies as st

from kgplatform.interfaces.neo4j_browser.guide import browser_link, with_values
from kgplatform.neo4j.store import Store
from kgplatform.query import load_query, query_names

AWKWARD = [
    "it's",
    '"',
    "`",
    "$id",
    "\\",
    "\\u0027",
    "');MATCH (n) DETACH DELETE n//",
    "*/",
    "人物 & #1",
    "a\nb",
    "\u2028",
]


def as_browser_reads(link: str) -> str:
    """What Browser 5.24 takes for the argument: it decodes the whole address first, and then looks for the end."""
    found = re.search(r"[?&]arg=([^&#]*)", unquote(link.replace("+", " ")))
    assert found
    return found[1]


@given(st.text(st.characters(codec="utf-8")))
def test_browser_reads_the_whole_statement_from_a_link(statement: str) -> None:
    read = as_browser_reads(browser_link("http://localhost:7474/", statement))
    assert read.replace("\\u0026", "&").replace("\\u0023", "#") == (
        statement.replace("\\u0026", "&").replace("\\u0023", "#")
    )


def test_the_statement_is_no_part_of_what_a_server_gets() -> None:
    link = browser_link("http://localhost:7474/browser/", "MATCH (n) RETURN n")
    assert link.partition("#")[0] == "http://localhost:7474/browser/"


def test_parameters_are_written_out_where_they_are_parameters() -> None:
    statement = "// $a\nMATCH (n {name: $a}) /* $a */ WHERE n.`$a` = '$a' AND n.x = \"it's $a\" RETURN $ab, $a"
    assert with_values(statement, {"a": 1, "ab": [2]}) == (
        "// $a\nMATCH (n {name: 1}) /* $a */ WHERE n.`$a` = '$a' AND n.x = \"it's $a\" RETURN [2], 1"
    )


def test_a_value_stays_a_value(store: Store) -> None:
    for value in AWKWARD:
        written = with_values(
            "CREATE (:Probe) RETURN $value AS value, $list AS list", {"value": value, "list": [value]}
        )
        table = store.run_statement(written, {}, write=True, timeout=30, limit=5)
        assert table.rows == [[value, [value]]]
        assert table.counters == {"nodes_created": 1, "labels_added": 1}


def test_the_guides_statements_run_with_awkward_values(store: Store) -> None:
    for name in [each for each in query_names("interfaces/neo4j_browser/guide") if "/show_" in each]:
        query = load_query(name)
        for value in AWKWARD:
            text = with_values(query.text, dict.fromkeys(query.parameters, "word" if name.endswith("names") else value))
            assert "$" not in text.replace("$id", "")
            planned = neo4j.Query(f"EXPLAIN {text}")
            assert store.run_statement(str(planned.text), {}, write=False, timeout=30, limit=1).rows == []
