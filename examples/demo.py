"""The demo: a real Neo4j, the sample corpus in it, and a two-hop question with its evidence. ``make demo`` runs it.

Everything printed comes out of the graph. The one thing made beforehand is the extraction: ``extraction.jsonl`` was
written by hand and stands in for a language model (see README.md in this folder).
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from kgplatform import Answer, KgError, KnowledgeGraph, SearchResult
from kgplatform.client import open_graph
from kgplatform.interfaces.cli.shared import note
from kgplatform.interfaces.cli.show.reports import show_ingest, show_tree
from kgplatform.interfaces.cli.show.terminal import ProgressLines
from kgplatform.query import parse_query
from kgplatform.settings import Settings, load_settings

EXAMPLES = Path(__file__).parent
Row = dict[str, Any]


def main() -> None:
    """Run the demo on the graph in ``--home``."""
    parser = argparse.ArgumentParser(description="Ingest the sample corpus and answer a two-hop question from it.")
    parser.add_argument("--home", type=Path, required=True, help="Home folder of the demo's graph.")
    home = parser.parse_args().home
    try:
        settings = demo_settings(home)
        with open_graph(settings, note) as graph:
            graph.check_model()
            ingest(graph)
            grow_tree(graph)
            bridge = answer(graph, first_question())
            say_where_to_look(graph, home, bridge)
    except KgError as error:
        note(f"demo: {error}")
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        note("\nStopped. Run `make demo` again to go on.")
        sys.exit(1)


def demo_settings(home: Path) -> Settings:
    """A server of the demo's own, whatever NEO4J_URI says: it writes nothing into a graph that is not its own."""
    return load_settings(home=home).model_copy(update={"neo4j_uri": None})


def first_question() -> str:
    """The first of ``questions.jsonl``."""
    with (EXAMPLES / "questions.jsonl").open(encoding="utf-8") as lines:
        return str(json.loads(next(lines))["question"])


def ingest(graph: KnowledgeGraph) -> None:
    """The sample corpus into the graph; nothing happens to what is there already."""
    heading("The corpus")
    print("Documents about the first telegraph cables under the sea (examples/corpus), with an extraction that")
    print("was written by hand and stands in for a language model (examples/extraction.jsonl).")
    recording = EXAMPLES / "extraction.jsonl"
    with ProgressLines() as progress:
        report = graph.ingest(EXAMPLES / "corpus", extractor="recorded", recorded=recording, progress=progress)
    show_ingest(report)


def grow_tree(graph: KnowledgeGraph) -> None:
    """The knowledge tree over the graph; named by a model if there is one."""
    heading("The tree")
    with ProgressLines() as progress:
        report = graph.build_tree(progress=progress)
    show_tree(report)


def answer(graph: KnowledgeGraph, question: str) -> str:
    """Print both hops, the path between them, a model's answer if there is one. Returns what joins the hops."""
    heading("The question")
    print(question)
    found = graph.search(question)
    first, bridge, second = two_hops(graph, found)
    heading(
        f"Hop 1: in the {len(found.passages)} passages that the search found, the statement nearest to the question"
    )
    one = show_evidence(graph, first)
    heading(f"Hop 2: over {bridge}, a name that is not in the question, to another document")
    two = show_evidence(graph, second)
    show_path(graph, one, two)
    heading("The answer")
    show_answer(graph.ask(question))
    return bridge


def show_answer(reply: Answer) -> None:
    """What a model wrote, with its citations, or that none did."""
    if reply.text is None:
        print("No language model is configured, so there is no answer; the two facts are the evidence.")
        print("Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local server, and run this again to have one written.")
        return
    print(reply.text)
    for number, each in enumerate(reply.citations, 1):
        print(f"[{number}] {each.title}, characters {each.start}–{each.end}")


def two_hops(graph: KnowledgeGraph, found: SearchResult) -> tuple[str, str, str]:
    """A statement of the passages found, a name that leads on from it, and another document's statement about that.

    Of several the nearest to the question by meaning. Statements are given by the id of their fact.
    """
    passages = [passage.id for passage in found.passages]
    for one in nearest(graph, found.question, run(graph, "statements", {"passages": passages})):
        others = run(graph, "other_documents", {"fact": one["fact"], "question": found.question})
        for two in nearest(graph, found.question, others):
            return one["fact"], two["bridge"], two["fact"]
    raise KgError("Nothing in the passages that were found leads on to another document.")


def nearest(graph: KnowledgeGraph, question: str, rows: list[Row]) -> list[Row]:
    """``rows``, those whose text is nearest to the question first."""
    vectors = graph.embedder.embed([question, *(row["text"] for row in rows)])
    cosines = (vectors[1:] @ vectors[0]).tolist()
    order = sorted(range(len(rows)), key=lambda position: (-cosines[position], position))
    return [rows[position] for position in order]


def show_evidence(graph: KnowledgeGraph, fact: str) -> str:
    """Print a fact with every place that states it, and return its text."""
    rows = run(graph, "evidence", {"fact": fact})
    print(rows[0]["text"])
    for row in rows:
        page = f", page {row['page']}" if row["page"] is not None else ""
        print(f"  {row['document']}{page}, characters {row['start']}–{row['end']}: “{' '.join(row['words'].split())}”")
        print(f"  {row['uri']}")
    return str(rows[0]["text"])


def show_path(graph: KnowledgeGraph, one: str, two: str) -> None:
    """Print the path between two facts, by their texts, and how to see it in Neo4j Browser."""
    heading("The path between them in the graph")
    for row in run(graph, "path", {"one": one, "two": two}):
        for step in in_words(row["path"]):
            print(step)
    print("\nThe same as a picture: paste this into Neo4j Browser (examples/path.cypher, its parameters filled in).\n")
    print(statement("path").replace("$one", literal(one)).replace("$two", literal(two)))


def in_words(path: Row) -> list[str]:
    """One line a node, with the relationship that leads to it."""
    kinds = ["", *(relationship["type"] for relationship in path["relationships"])]
    return [
        f"  {kind:14}{node['labels'][0] if len(node['labels']) == 1 else own_type(node)}: {node['properties']['name']}"
        for kind, node in zip(kinds, path["nodes"], strict=True)
    ]


def literal(text: str) -> str:
    """``text`` as Cypher writes it; for the screen only."""
    return json.dumps(text, ensure_ascii=False)


def own_type(node: Row) -> str:
    """The schema's type of an entity."""
    return str(node["properties"].get("type") or "Entity")


def say_where_to_look(graph: KnowledgeGraph, home: Path, name: str) -> None:
    """Neo4j Browser, a first query, the commands that go on from here, and how to stop."""
    heading("Look at it")
    print(f"Neo4j Browser: {graph.store.connection.browser_url}")
    print(f"User neo4j, password in {home / 'neo4j' / 'password'}")
    print(f"A first query: MATCH path = (:Entity {{name: {literal(name)}}})--(:Entity) RETURN path")
    print()
    print("Explore it: .venv/bin/kgplatform serve --open --home", home)
    print("Browse it:  .venv/bin/kgplatform browser --home", home)
    print("Ask more:   .venv/bin/kgplatform ask --home", home, '"Who designed the ship that laid the first cable?"')
    print("Stop it:    .venv/bin/kgplatform down --home", home)


def run(graph: KnowledgeGraph, name: str, parameters: dict[str, Any]) -> list[Row]:
    """The rows of the statement ``name`` of this folder."""
    return [*graph.cypher(statement(name), parameters)]


def statement(name: str) -> str:
    """The statement in ``NAME.cypher`` of this folder, without its header."""
    return parse_query(name, (EXAMPLES / f"{name}.cypher").read_text(encoding="utf-8")).text


def heading(text: str) -> None:
    """A line that begins a part."""
    print(f"\n== {text}", flush=True)


if __name__ == "__main__":
    main()
