"""Statements as files: what the loader reads from a header, and what it refuses."""

from __future__ import annotations

import pytest

from kgplatform.query import data_folder, load_query, parse_query, query_names

GOOD = """// Things nearest to a question,
// in order.
// mode: read
// param $k: int: how many
// param $rows: list<map>: id, name
// returns: id, score
MATCH (n {id: $rows[0].id})
// a remark
RETURN n.id AS id, $k AS score
"""


def test_a_header_and_a_statement() -> None:
    query = parse_query("a/b", GOOD)
    assert query.name == "a/b"
    assert query.about == "Things nearest to a question,"
    assert query.mode == "read"
    assert query.parameters == {"k": "int: how many", "rows": "list<map>: id, name"}
    assert query.returns == ("id", "score")
    assert query.text == "MATCH (n {id: $rows[0].id})\nRETURN n.id AS id, $k AS score"


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("// mode: read\n", "", "`// mode: read`, `write` or `schema`"),
        ("// mode: read\n", "// mode: erase\n", "`// mode: read`, `write` or `schema`"),
        ("// mode: read\n", "// mode: read\n// mode: write\n", "`// mode: read`, `write` or `schema`"),
        ("// param $k: int: how many\n", "", r"used but not declared: \['k'\]"),
        ("$k AS", "1 AS", r"declared but not used: \['k'\]"),
        ("// param $k: int", "// param $K: int", r"declared but not used: \['K'\]; used but not declared: \['k'\]"),
    ],
)
def test_headers_that_do_not_agree(old: str, new: str, said: str) -> None:
    assert old in GOOD
    with pytest.raises(ValueError, match=f"cypher/a/b.cypher: .*{said}"):
        parse_query("a/b", GOOD.replace(old, new))


def test_names_are_those_of_the_files() -> None:
    names = query_names()
    assert names == sorted(names)
    assert {name.partition("/")[0] for name in names} >= {"ingest", "tree", "search", "explore"}
    assert query_names("neo4j/schema") == [name for name in names if name.startswith("neo4j/schema/")]
    assert len(names) == len(list(data_folder("cypher").rglob("*.cypher")))
    with pytest.raises(FileNotFoundError):
        load_query("ingest/nothing")
