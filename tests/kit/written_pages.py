"""Pages with gists that are given, written by a statement of our own, as the pass that makes gists leaves them."""

from collections.abc import Sequence
from typing import Any

from kgplatform.ingest.graph_state import vector_options
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.text import count_tokens, count_words, node_id, tidy

Written = tuple[str, str | None]
"""The text of a page, and its gist; None where it could not be gisted."""

_FIND = "MATCH (d:Document {name: $name}) RETURN d.id AS id, d.characters AS characters"
_WRITE = """
UNWIND $rows AS row
MATCH (d:Document {id: row.document})
MERGE (p:Page {id: row.page.id})
SET p = row.page
MERGE (p)-[:PAGE_OF]->(d)
"""
_JOIN = "MATCH (a:Page {memory: $memory}), (b:Page {memory: $memory, index: a.index + 1}) MERGE (a)-[:NEXT_PAGE]->(b)"


def define_pages(store: Store) -> None:
    """The constraint and the vector index of pages."""
    store.define("neo4j/schema/constraint_page")
    store.define("neo4j/schema/vector_page", options=vector_options("page", 64))
    store.define("neo4j/schema/await_indexes", seconds=60)


def write_pages(
    store: Store, name: str, pages: Sequence[Written], question: str = "", *, embedded: bool = True, whole: bool = True
) -> None:
    """A memory of the document ``name``; of all its text but the last character where it is not ``whole``."""
    ((document, characters),) = run(store, _FIND, name=name)
    asked = tidy(question)
    memory = node_id("memory", document, asked)
    vectors = HashEmbedder(64).embed([gist or "" for _, gist in pages]).tolist()
    rows, start = [], 0
    for index, ((text, gist), vector) in enumerate(zip(pages, vectors, strict=True)):
        last = index == len(pages) - 1
        end = (characters if whole else characters - 1) if last else start + len(text) + 2
        page: dict[str, Any] = {
            **{"id": node_id("page", document, asked, start), "name": f"{name} · page {index}", "index": index},
            **{"start": start, "end": end, "words": count_words(text), "tokens": count_tokens(text)},
            **{"memory": memory, "question": asked, "made": "by a test", "flag": ""},
        }
        if gist is None:
            page["failure"] = "The model failed."
        else:
            page |= {"gist": gist, "gistWords": count_words(gist), "gistTokens": count_tokens(gist)}
            page |= {"embedding": vector} if embedded else {}
        rows.append({"document": document, "page": page})
        start = end
    run(store, _WRITE, rows=rows)
    run(store, _JOIN, memory=memory)


def run(store: Store, statement: str, **parameters: Any) -> list[list[Any]]:
    return store.run_statement(statement, parameters, write=True, timeout=60, limit=10_000).rows
