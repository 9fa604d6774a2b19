"""Searches, by the code of whichever commit is on the path: in a process of its own, beside the one that measures.

It reads lines of JSON: first where the graph is to be, and what to ingest, where it is not there yet; then questions.
It writes one for each: the seconds of the search, the processor seconds of Python.
"""

from __future__ import annotations

import json
import sys
import time
from typing import Any

from kgplatform import KnowledgeGraph, connect


def _say(value: Any) -> None:
    print(json.dumps(value), flush=True)


def _fill(graph: KnowledgeGraph, corpus: str) -> None:
    if not graph.stats().nodes.get("Chunk"):
        graph.ingest(corpus, recorded=corpus)


def main() -> None:
    """Ingest, if need be, and answer until there are no more lines."""
    given = json.loads(sys.stdin.readline())
    with connect(home=given["home"], neo4j_jars=given["jars"]) as graph:
        _fill(graph, given["recorded"])
        _say("ready")
        for line in sys.stdin:
            question = json.loads(line)
            processor, began = time.process_time(), time.perf_counter()
            graph.search(question)
            _say([time.perf_counter() - began, time.process_time() - processor])


if __name__ == "__main__":
    main()
