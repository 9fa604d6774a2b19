"""Imports that are hostile in every way that we know: each is refused in one sentence, with its place, and the graph
stays exactly as it was, whether it was empty or not."""

import gzip
import json
import os
import re
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from campaigns import sampled
from conftest import DIMENSION, EXAMPLES, wipe
from graph_lines import GRAPH, VECTOR, Line, good, link, node, write
from whole_graph import everything

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.exchange import importer
from kgplatform.exchange.elements import Node
from kgplatform.query import load_query, query_names

PLACE = r"line \d+, "

Change = Callable[[list[Line]], object]


def value(given: Any, *, link: bool = False) -> Change:
    """Ada's node, or the relationship at the end, has a property of that value."""
    return lambda lines: lines[6 if link else 3]["properties"].update(made=given)


def of_node(**properties: Any) -> Change:
    return lambda lines: lines[3]["properties"].update(properties)


def of_graph(**properties: Any) -> Change:
    return lambda lines: lines[0]["properties"].update(properties)


VALUES: dict[str, Any] = {
    "a day that is not": {"date": "2026-02-31"},
    "a year too late": {"date": "+999999999-01-01"},
    "a year too early": {"date": "-0044-03-15"},
    "an hour that is not": {"localtime": "24:00"},
    "an offset that is not": {"time": "12:00+99:99"},
    "a zone that is not": {"datetime": "2026-01-01T00:00Z[Nowhere/None]"},
    "a zone with another offset": {"datetime": "2026-01-01T00:00+05:00[Europe/Berlin]"},
    "years too many": {"duration": "P999999999999999999Y"},
    "a duration in disorder": {"duration": "P1D1Y"},
    "a list with one bad date": [{"date": "2026-02-28"}, {"date": "2026-02-29"}],
    "a list of two types": [{"date": "2026-11-21"}, {"time": "12:00Z"}],
    "a date that is a number": {"date": 7},
    "a type that is not": {"what": "x"},
    "two types": {"date": "2026-11-21", "time": "12:00"},
    "a number that is not special": {"float": "1.5"},
    "a latitude that is not": {"point": {"srid": 4326, "x": 20.0, "y": 100.0}},
    "a point of infinity": {"point": {"srid": 7203, "x": float("1e400"), "y": 1.0}},
    "a point of three numbers on a plane": {"point": {"srid": 7203, "x": 1.0, "y": 1.0, "z": 1.0}},
    "a coordinate system that is not": {"point": {"srid": 4327, "x": 1.0, "y": 1.0}},
    "65 bits": 2**63,
    "numbers and words": [1, "x"],
    "a list in a list": [[1], [2]],
    "a map": {"a": 1, "b": 2},
    "null": None,
    "half a character": "a\ud800b",
    "bytes that are none": {"bytes": "AP8"},
}
CHANGES: dict[str, Change] = {
    **{name: value(given) for name, given in VALUES.items()},
    **{f"{name}, in a relationship": value(VALUES[name], link=True) for name in ("a day that is not", "65 bits")},
    "dimension -1": of_graph(embeddingDimension=-1),
    "dimension 100,000": of_graph(embeddingDimension=100_000),
    "dimension in words": of_graph(embeddingDimension="64"),
    "vectors of two lengths": of_node(embedding=VECTOR[1:]),
    "a vector that is not a number": of_node(embedding=[*VECTOR[1:], {"float": "NaN"}]),
    "a vector of whole numbers": of_node(embedding=[1] * DIMENSION),
    "a vector in a text": of_node(embedding="[0.5]"),
    **{f"too long a {name}": of_node(**{name: "x" * 8200}) for name in ("name", "stem")},
    "too long a source": lambda g: g[1]["properties"].update(source="x" * 8200),
    "a name of bytes": of_node(key="ü" * 4100),
    "a key that is a number": of_node(key=7),
    "a type that is a list": of_node(type=["x"]),
    "a count that is text": lambda g: g.append(link("FROM_CHUNK", "a", "c", count="1")),
    "an element without a name": lambda g: g[3]["properties"].pop("name"),
    "an element without a key": lambda g: g[3]["properties"].pop("key"),
    "an element without a stem": of_graph(format=2),
    "a passage without a text": lambda g: g[2]["properties"].pop("text"),
    "an empty name of a property": of_node(**{"": 1}),
    "a long name of a property": of_node(**{"x" * 70_000: 1}),
    "an empty label": lambda g: g[3]["labels"].append(""),
    "a label with NUL": lambda g: g[3]["labels"].append("A\x00"),
    "an end that is not": lambda g: g.append(link("KNEW", "a", "nobody")),
    "one id twice": lambda g: g.insert(2, node("a", "Document", name="x")),
    "an empty id": lambda g: g[1].update(node=""),
    "a long id": lambda g: g[1].update(node="x" * 501),
    "a later format": of_graph(format=99),
    "half an import": of_graph(importing="x"),
    "no embedding model": lambda g: g[0]["properties"].pop("embeddingModel"),
    "a node at the end": lambda g: g.append(node("z", "Document", name="z")),
    "no kind": lambda g: g[1].update(labels=["Person"]),
    "two kinds": lambda g: g[1].update(labels=["Chunk", "Document"]),
    "an entity that is no key element": lambda g: g[3].update(labels=["Entity", "Fact"]),
    "a label with a backtick": lambda g: g[3]["labels"].append("A`) DETACH DELETE (n) //"),
    "a label like ours": lambda g: g[3]["labels"].append("CHUNK"),
    "a property with a backtick": of_node(**{"a`b": 1}),
    "code for a date": value({"date": "') RETURN 1 //"}),
    "a second id": of_node(id="other"),
    "another key": lambda g: g[3].update(more=1),
    "no graph": lambda g: g.pop(0),
    "two graphs": lambda g: g.insert(1, node("graph", "Graph", **GRAPH)),
}
LAST: dict[str, Any] = {
    **{"first": {"date": "0001-01-01"}, "last": {"date": "9999-12-31"}, "most": 2**63 - 1, "least": -(2**63)},
    **{"late": {"time": "23:59:59.999999999+18:00"}, "lasting": {"duration": "PT2562047788015215H30M7S"}},
    "then": {"datetime": "9999-12-31T23:59:59.999999999+00:00"},
    **{"letters": "\u0000\u001f\ufffe\U0010ffff", "stem": "x" * 8000, "leap": [{"date": "2024-02-29"}]},
    **{"a-b.c": {"float": "NaN"}, "人物": []},
}


def edit(old: str, new: str) -> Callable[[Path], object]:
    """A change of the file."""

    def change(path: Path) -> None:
        text = path.read_text("utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), "utf-8")

    return change


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-20])


def compressed(path: Path) -> None:
    path.write_bytes(gzip.compress(path.read_bytes())[:-9])


BYTES: dict[str, Callable[[Path], object]] = {
    "cut off": cut,
    "compressed, and cut off": compressed,
    "GraphML by another name": lambda path: path.write_text('<graphml xmlns="x"/>'),
    "a number of 5,000 digits": edit('"weight":1', f'"weight":{"9" * 5000}'),
    "NaN": edit('"weight":1', '"weight":NaN'),
    "a vector beyond all numbers": edit("0.5", "1e999"),
    "a byte of no sign": lambda path: path.write_bytes(path.read_bytes().replace(b"Ada", b"A\xffa", 1)),
    "a node too many": edit('"nodes":5', '"nodes":4'),
}
PLACELESS = (
    *("one id twice", "no graph", "cut off", "a node too many", "a byte of no sign", "compressed, and cut off"),
    "GraphML by another name",
)
"""What is wrong with the file as a whole, or so that nobody can say where."""


def test_hostile_files_change_nothing(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Into an empty graph, and a part of them into one with a document: merged they would mix with it."""
    files: list[tuple[str, Path]] = []
    for number, (change, changed) in enumerate(CHANGES.items()):
        lines = good()
        changed(lines)
        files.append((change, write(tmp_path / str(number) / "graph.jsonl", lines)))
    for number, change in enumerate(BYTES):
        path = write(tmp_path / f"bytes-{number}" / "graph.jsonl", good())
        BYTES[change](path)
        files.append((change, path))
    refuse_all(kg, files)
    kg.ingest(EXAMPLES / "corpus" / "Cyrus_Field.md", recorded=EXAMPLES / "extraction.jsonl")
    refuse_all(kg, sampled(files), merge=True)


def test_the_file_that_they_are_made_of_is_fine(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Also with the last values that Neo4j and its driver hold."""
    lines = good()
    lines[3]["properties"] |= LAST
    assert kg.import_graph(write(tmp_path / "graph.jsonl", lines)).nodes == 5
    kg.export(tmp_path / "again.jsonl")
    (ada,) = [each for each in read(tmp_path / "again.jsonl") if each.get("node") == "a"]
    assert {key: ada["properties"][key] for key in LAST} == LAST


def test_every_index_of_ours_is_bounded() -> None:
    """Neo4j refuses a text of more than some 8,000 bytes in an index: when the index is made, which is the end."""
    for name in query_names("neo4j/schema"):
        if not name.startswith("neo4j/schema/index_"):
            continue
        label, columns = re.findall(r"FOR \(n:(\w+)\) ON \((.*)\)", load_query(name).text)[0]
        kind = "KeyElement" if label == "Entity" else label
        for column in columns.replace("n.", "").split(", "):
            assert column in importer._INDEXED or importer._TYPES[kind][column] == "long"
            assert column in importer._TYPES[kind]


def test_a_stream_is_kept_until_it_is_imported(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """It can be read once, and an import reads twice: to check, and to write."""
    lines = good()
    for number, (changed, message) in enumerate(((False, ""), (True, "line 5, has a property 'made' that is not"))):
        wipe(kg.store)
        if changed:
            CHANGES["a day that is not"](lines)
        content = write(tmp_path / str(number) / "graph.jsonl", lines).read_bytes()
        pipe = tmp_path / str(number) / "pipe"
        os.mkfifo(pipe)
        with ThreadPoolExecutor(1) as writer:
            writer.submit(pipe.write_bytes, content)
            if changed:
                with pytest.raises(InputError, match=message) as told:
                    kg.import_graph(pipe)
                assert str(pipe) in str(told.value)
            else:
                report = kg.import_graph(pipe)
                assert (report.nodes, report.path) == (5, pipe)
        assert kg.cypher("MATCH (e:Entity) RETURN count(e)").rows == [[0 if changed else 2]]
    assert not list(kg.settings.home_folder.glob("import-*"))


def test_long_texts_are_written_few_at_a_time() -> None:
    """A thousand lines of the longest would not fit into a server's memory."""
    texts = [Node(str(number), ("Chunk",), {"text": "x" * 2**20}) for number in range(50)]
    assert [len(batch) for batch in importer._batches(iter(texts))] == [17, 17, 16]
    vectors = [Node(str(number), ("Chunk",), {"embedding": [0.5] * 400}) for number in range(2001)]
    assert [len(batch) for batch in importer._batches(iter(vectors))] == [1000, 1000, 1]


def read(path: Path) -> list[Line]:
    return [json.loads(line) for line in path.read_text("utf-8").split("\n") if line]


def refuse_all(kg: KnowledgeGraph, files: Sequence[tuple[str, Path]], **options: Any) -> None:
    before = everything(kg.store)
    taken, wrong = [], []
    for change, path in files:
        try:
            kg.import_graph(path, **options)
            taken.append(change)
        except InputError as error:
            has_place = re.search(PLACE, str(error)) or change in PLACELESS
            if not has_place or str(path) not in str(error) or "\n" in str(error):
                wrong.append((change, str(error)))
    assert (taken, wrong) == ([], [])
    assert everything(kg.store) == before
