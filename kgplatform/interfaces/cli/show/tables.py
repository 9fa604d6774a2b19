"""What the commands that list and count print: rows of a statement, documents, counts, the schema."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kgplatform.interfaces.cli.show.answers import show_stages
from kgplatform.interfaces.cli.show.terminal import console, safe, table
from kgplatform.readers.readers import stages_by_reader
from kgplatform.shown import plain
from kgplatform.text import counted

if TYPE_CHECKING:
    from kgplatform.explore.info import DocumentInfo, GraphSchema, Stats
    from kgplatform.explore.runs import CallStatistics
    from kgplatform.records import Table


def show_rows(rows: Table) -> None:
    """Rows of a user's statement."""
    out = console()
    if rows.columns:
        table(out, rows.columns, ([_cell(value) for value in row] for row in rows.rows))
    changes = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in rows.counters.items())
    more = "; there are more (--limit)" if rows.truncated else ""
    out.print(f"{counted(len(rows.rows), 'row')}{more}{'; ' + changes if changes else ''}")


def show_documents(documents: Sequence[DocumentInfo]) -> None:
    """The documents of the graph."""
    out = console()
    if documents:
        table(
            out,
            ("Document", "Passages", "Read", "Failed", "Tokens", "Pages", "Saved", "Address"),
            (
                (d.title, *(f"{n:,}" for n in (d.passages, d.extracted, d.failed, d.tokens, d.pages)), _saved(d), d.uri)
                for d in documents
            ),
        )
    out.print(counted(len(documents), "document"))


def _saved(document: DocumentInfo) -> str:
    """The share of its words that gists save; empty unless every page has one."""
    return "" if document.compression is None else f"{document.compression:.1f}%"


def show_stats(stats: Stats) -> None:
    """Counts by label and by type, and the graph of key elements."""
    out = console()
    table(out, ("Nodes", "Count"), ((label, f"{count:,}") for label, count in stats.nodes.items()))
    table(out, ("Relationships", "Count"), ((kind, f"{count:,}") for kind, count in stats.relationships.items()))
    if stats.untyped:
        entities = counted(stats.nodes.get("Entity", 0), "entity")
        out.print(f"{stats.untyped:,} of {entities} have no type in the schema.")
    graph = stats.elements
    if graph is None:
        out.print("The graph that GraphReader walks is counted only up to 50,000 key elements.")
    elif graph.nodes:
        out.print(
            f"For GraphReader: {counted(graph.nodes, 'node')} (key elements with all their forms) and "
            f"{counted(graph.facts, 'fact')}; per node {graph.mean_neighbours:.1f} neighbours (at most "
            f"{graph.most_neighbours:,}) and {graph.mean_facts:.1f} facts (at most {graph.most_facts:,})."
        )
    if stats.calls:
        show_calls(stats.calls)


def show_calls(calls: CallStatistics) -> None:
    """Statistics of the saved walks."""
    out = console()
    walkers = " or ".join(stages_by_reader())
    of = f"{counted(calls.runs, 'saved run')} of {walkers} with {counted(calls.paths, 'path')}"
    means = f"{calls.per_run:g} per run, {calls.per_path:g} per path"
    out.print(f"Function calls of {of}: {calls.calls:,}, {means}")
    show_stages(out, calls.stages)


def show_schema(found: GraphSchema) -> None:
    """The schema with what was added to it."""
    out = console()
    schema = found.schema
    for kind, types in (("entity", schema.entities), ("relation", schema.relations), ("attribute", schema.attributes)):
        table(out, (f"{kind.capitalize()} types", "Meaning"), ((each.name, each.description) for each in types))
        out.print()
    for expansion in found.expansions:
        out.print(
            f"Added: {expansion.kind} [bold]{safe(expansion.name)}[/bold] (confidence {expansion.confidence:.2f}, "
            f"{counted(expansion.count, 'document')}), as in: {safe(expansion.example)}"
        )
    grown = counted(len(found.expansions), "type")
    out.print(f"Schema {safe(schema.name)}; {grown} added to it in this graph.")


def _cell(value: object) -> str:
    """A value as people read it: a node by its labels and name, a relationship by its type, all else as JSON."""
    match value:
        case str():
            return value
        case {"labels": list(labels), "properties": dict(properties), **rest} if not rest:
            name = properties.get("name", properties.get("id", ""))
            # An entity is shown by its type; every entity is a key element too.
            shown = [label for label in labels if label not in ("Entity", "KeyElement")] or labels
            return f"(:{':'.join(shown)} {json.dumps(name, ensure_ascii=False)})"
        case {"type": str(kind), "properties": dict(), **rest} if not rest:
            return f"[:{kind}]"
        case {"nodes": list(nodes), "relationships": list(relationships), **rest} if not rest:
            steps = zip([_cell(each) for each in relationships], [_cell(each) for each in nodes[1:]], strict=True)
            return _cell(nodes[0]) + "".join(f"-{relationship}-{node}" for relationship, node in steps)
        case [*items]:
            return f"[{', '.join(_cell(item) for item in items)}]"
    return json.dumps(plain(value), ensure_ascii=False)
