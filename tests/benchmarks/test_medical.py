"""One long text from the command line: time, throughput, memory, and whether it says how far it is."""

from __future__ import annotations

import json
from collections.abc import Callable

from commands import run
from data_sets import Place
from graphs import MODEL, new_graph
from measure import MEMORY_LIMIT
from tables import Section, Table


def test_medical(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("medical", "Medical: one text of 1 MB from the command line, local extractor")
    corpus = place.data.file("medical/corpus.json")
    with new_graph(place, "medical") as graph:
        home = graph.settings.home_folder
        done = run(place, home, "ingest", str(corpus), "--extractor", "local", "--json", embedder=MODEL)
    report = json.loads(done.output)
    progress = [line for line in done.errors.splitlines() if " of " in line]
    found.add("ingest, the whole command, the server up", done.seconds, "s")
    found.add("of which embedding, with loading the model", report["seconds"]["embedding"], "s")
    found.add("throughput of text, embedding included", report["characters"] / 1000 / done.seconds, "kB/s")
    apart = done.seconds - report["seconds"]["embedding"]
    found.add("throughput of text, embedding apart", report["characters"] / 1000 / apart, "kB/s")
    found.add("passages", report["passages"])
    found.add("lines of progress on the error stream", len(progress), at_least=1)
    found.add("peak memory of the Python process", done.peak, "MB", at_most=MEMORY_LIMIT)
    stages = [(stage, f"{seconds:.2f} s") for stage, seconds in report["seconds"].items()]
    found.tables.append(Table("Seconds by stage, as the command reports them", ("stage", "time"), stages))
