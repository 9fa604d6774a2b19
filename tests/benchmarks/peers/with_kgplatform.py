"""kgplatform itself, by the same clocks: ``ingest`` with the recorded extraction, into its managed server."""

from __future__ import annotations

import resource
from pathlib import Path
from typing import Any

from peer import DIMENSION, Given, Held, Passage, measure, run, seconds_of

from kgplatform import connect, load_schema
from kgplatform.neo4j import process
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings

_COUNTED = Path(__file__).parent.parent / "scale_counts.cypher"


def drive(given: Given) -> dict[str, Any]:
    """Ingest the passages as documents; the recording that is given is read by kgplatform itself."""
    own = {"home": given.folder, "neo4j_jars": Path(given.neo4j["jars"])}
    server, schema = LocalNeo4j(load_settings(**own)), load_schema("general")

    def of_server() -> float:
        """A large first build stops the server, runs an importer and starts another server; all are children."""
        for child in list(process._children.values()):
            child.poll()  # the system counts what has ended once it was asked for
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        return seconds_of(server.status().pid) + ended.ru_utime + ended.ru_stime

    with connect(**own, embedder=f"hash:{DIMENSION}") as graph:

        def add(passages: list[Passage], recorded: Path) -> None:
            given.asked.update(each.text for each in passages)
            print(graph.ingest(recorded=recorded))

        def called(predicate: str) -> str:
            relation = schema.relation(predicate)
            return relation.name if relation else predicate

        def held(passages: list[Passage]) -> Held:
            """Names that differ by nothing but case are one, as are predicates that the schema calls the same."""
            found = graph.cypher(_COUNTED.read_text("utf-8"), {}, limit=1)
            counts = dict(zip(found.columns, found.rows[0], strict=True))
            names = {name.casefold() for each in passages for name in each.names}
            facts = {(s.casefold(), called(p), o.casefold()) for each in passages for s, p, o in each.triples}
            return Held(counts["entities"], counts["facts"], len(names), len(facts))

        return measure(given, add, held, of_server)


if __name__ == "__main__":
    run(drive)
