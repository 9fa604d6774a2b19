"""One long text from the command line: time, throughput and memory."""

from __future__ import annotations

import json
from collections.abc import Callable

from commands import run
from data_sets import Place
from graphs import MODEL, new_graph
from measure import MEMORY_LIMIT
from tables import Section


def test_medical(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("medical", "Medical: one text of 1 MB from the command line, local extractor")
    corpus = place.data.file("medical/corpus.json")
    with new_graph(place, "medical") as graph:
        home = graph.settings.home_folder
        done = run(place, home, "ingest", str(corpus), "--extractor", "local", "--json", embedder=MODEL)
    report = json.loads(done.output)
    found.add("ingest, the whole command, the server up", done.seconds, "s")
    found.add("of which embedding, with loading the model", report["seconds"]["embedding"], "s")
    found.add("throughput of text, embedding included", report["characters"] / 1000 / done.seconds, "kB/s")
    found.add("peak memory of the Python process", done.peak, "MB", at_most=MEMORY_LIMIT)
