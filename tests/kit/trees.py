"""What tests of the tree share: graphs of two or more plain groups, a model that names, and the tree as plain data."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from corpora import put, put_jsonl

from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages

Line = dict[str, Any]


def group(theme: str, size: int) -> Line:
    """A recorded document about ``size`` things of one theme, which all know each other."""
    names = [f"{theme} {number}" for number in range(size)]
    return {
        "document": f"{theme}.txt",
        "entities": [{"name": name, "type": "Person"} for name in names],
        "triples": [
            {"subject": one, "predicate": "knows", "object": other}
            for number, one in enumerate(names)
            for other in names[number + 1 :]
        ],
        "attributes": [{"entity": names[0], "key": "birth date", "value": "1819"}],
        "facts": [{"text": f"{names[0]} met {names[1]} at sea.", "key_elements": [names[0], names[1]]}],
    }


def text_of(line: Line) -> str:
    """The text of a recorded document: its statements, one a sentence."""
    return " ".join(f"{each['subject']} {each['predicate']} {each['object']}." for each in line["triples"]) or " ".join(
        f"{each['name']} is here." for each in line["entities"]
    )


def ingest(kg: KnowledgeGraph, folder: Path, lines: Sequence[Line]) -> list[Path]:
    """Documents and their recording, ingested; the documents' files."""
    files = put(folder, {line["document"]: text_of(line) for line in lines})
    kg.ingest(files, recorded=put_jsonl(folder / "recording.jsonl", list(lines)), mode="flexible")
    return files


def numbers(messages: Messages) -> list[int]:
    """The numbers of the communities that a prompt asks about."""
    return [int(number) for number in re.findall(r"^Community (\d+),", messages[1]["content"], re.M)]


def centers(messages: Messages) -> list[str]:
    """Their centres, in order."""
    return re.findall(r"^Community \d+, \d+ members?: (.+?)(?: \(|;|$)", messages[1]["content"], re.M)


def names(messages: Messages) -> str:
    """A model's answer that names every community after its centre."""
    asked = zip(numbers(messages), centers(messages), strict=True)
    return json.dumps({"communities": [[f"Around {center}", f"{number}.1"] for number, center in asked]})


def rows(store: Store, statement: str, **parameters: Any) -> list[list[Any]]:
    """The rows of a reading statement."""
    return store.run_statement(statement, parameters, write=False, timeout=60, limit=10**6).rows


def communities(store: Store) -> dict[str, dict[str, Any]]:
    """All communities by id, as properties, but for the vectors."""
    found = rows(store, "MATCH (c:Community) RETURN c.id, properties(c)")
    return {identity: {k: v for k, v in known.items() if k != "embedding"} for identity, known in found}


def assert_whole(store: Store) -> None:
    """Every entity is in one leaf, sizes are true, and nothing hangs in the air."""
    wrong = [
        "MATCH (e:Entity) WHERE COUNT { (e)-[:MEMBER_OF]->(:Community) } <> 1 RETURN e.name",
        "MATCH (c:Community) WHERE c.size <> COUNT { (c)<-[:PARENT*0..]-(:Community)<-[:MEMBER_OF]-(:Entity) } "
        "RETURN c.name",
        "MATCH (c:Community) WHERE c:Pending OR c.embedding IS NULL OR c.level <> 4 RETURN c.name",
        "MATCH (c:Community) WHERE NOT EXISTS "
        "{ (:Entity {id: c.center})-[:MEMBER_OF]->(:Community)-[:PARENT*0..]->(c) } RETURN c.name",
        "MATCH (c:Community) WHERE EXISTS { (c)<-[:PARENT]-() } AND EXISTS { (c)<-[:MEMBER_OF]-() } RETURN c.name",
        "MATCH (c:Community) WHERE COUNT { (c)-[:PARENT]->() } <> CASE c.depth WHEN 0 THEN 0 ELSE 1 END RETURN c.name",
        "MATCH (c:Community)-[:PARENT]->(p) WHERE c.depth <> p.depth + 1 RETURN c.name",
        "MATCH (k:Keyword) WHERE k.level <> 3 OR COUNT { (k)-[:KEYWORD_OF]->(:Community) } <> 1 "
        "OR COUNT { (k)<-[:REPRESENTED_BY]-(:Entity) } <> 1 RETURN k.name",
        "MATCH (c:Community) WHERE COUNT { (c)<-[:KEYWORD_OF]-() } <> "
        "CASE WHEN c.size = 1 THEN 0 WHEN c.size > 5 THEN 5 ELSE c.size END RETURN c.name",
        "MATCH (e:Entity)-[:REPRESENTED_BY]->(k)-[:KEYWORD_OF]->(c) WHERE e.name <> k.name OR NOT EXISTS "
        "{ (e)-[:MEMBER_OF]->(:Community)-[:PARENT*0..]->(c) } RETURN k.name",
    ]
    assert {statement: found for statement in wrong if (found := rows(store, statement))} == {}
