"""kgplatform itself, by the same clocks: ``ingest`` with the recorded extraction, into its managed server."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from peer import DIMENSION, Given, Held, Passage, measure, run

from kgplatform import connect

_COUNTED = Path(__file__).parent.parent / "scale_counts.cypher"


def drive(given: Given) -> dict[str, Any]:
    """Ingest the passages as documents; the recording that is given is read by kgplatform itself."""
    with connect(home=given.folder, neo4j_jars=given.neo4j["jars"], embedder=f"hash:{DIMENSION}") as graph:

        def add(passages: list[Passage], recorded: Path) -> None:
            given.asked.update(each.text for each in passages)
            graph.ingest(recorded=recorded)

        def held(passages: list[Passage]) -> Held:
            """Names that differ by nothing but case are one; a fact is a triple of a passage."""
            found = graph.cypher(_COUNTED.read_text("utf-8"), {}, limit=1)
            counts = dict(zip(found.columns, found.rows[0], strict=True))
            names = {name.casefold() for each in passages for name in each.names}
            facts = {(s.casefold(), p, o.casefold()) for each in passages for s, p, o in each.triples}
            return Held(counts["entities"], counts["facts"], len(names), len(facts))

        return measure(given, add, held)


if __name__ == "__main__":
    run(drive)
