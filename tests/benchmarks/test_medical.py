"""One long text from the command line: time, throughput, memory, and whether it says how far it is."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from data_sets import Place
from graphs import MODEL
from measure import MEMORY_LIMIT, peak_megabytes
from tables import Section, Table

from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings

COMMAND = Path(sys.executable).parent / "kgplatform"
_SHOWN_LINES = 4


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ran: what it printed, how long it took, and the most megabytes that it held."""

    output: str
    errors: str
    seconds: float
    peak: float


def test_medical(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("medical", "Medical: one text of 1 MB from the command line, local extractor")
    corpus = place.data.file("medical/corpus.json")
    home = place.folder / "medical"
    server = LocalNeo4j(load_settings(home=home, neo4j_jars=place.jars))
    try:
        server.up()
        done = _ingest(place, home, corpus)
    finally:
        server.down()
    _add(found, done, json.loads(done.output))


def _add(found: Section, done: Done, report: dict[str, Any]) -> None:
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
    found.notes += [f"Progress, for example: `{line}`" for line in progress[:_SHOWN_LINES]]


def _ingest(place: Place, home: Path, corpus: Path) -> Done:
    """Run the command to its end; the system says how much memory it took, without that of the server."""
    environment = {
        **os.environ,
        "KGPLATFORM_HOME": str(home),
        "KGPLATFORM_NEO4J_JARS": str(place.jars),
        "KGPLATFORM_EMBEDDER": MODEL,
    }
    command = [COMMAND, "ingest", str(corpus), "--extractor", "local", "--json"]
    output, errors = place.folder / "medical.out", place.folder / "medical.err"
    started = time.perf_counter()
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(command, stdout=out, stderr=err, env=environment)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - started
    printed, said = output.read_text("utf-8"), errors.read_text("utf-8")
    if process.returncode:
        raise AssertionError(f"kgplatform ingest ended with {process.returncode}: {said}")
    return Done(printed, said, seconds, peak_megabytes(usage))
