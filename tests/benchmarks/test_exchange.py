"""Export and import of invented graphs, as the commands do it: time, growth, and what the process holds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from data_sets import Place
from large_graph import write_large_graph
from measure import MEGABYTE, growth
from tables import Section, Table

from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Store
from kgplatform.settings import load_settings

LARGE = os.environ.get("KGPLATFORM_BENCH_LARGE") == "1"
SIZES = (5_000, 50_000) if LARGE else (600, 6_000)
"""Entities."""
NAMES = {"jsonl": "graph.jsonl", "graphml": "graph.graphml", "csv": "graph"}
GROWTH_LIMIT = 1.2
MEMORY_GROWTH_LIMIT = 1.1
IMPORT_MEMORY = 60
"""Bytes that an import may hold of each node: those of its id's hash and kind, while they are sorted."""
_PROGRAM = """
import atexit, pathlib, re, sys

def tell(file=sys.argv.pop(1)):
    held = re.search(r"VmHWM:\\s+([0-9]+) kB", pathlib.Path("/proc/self/status").read_text())
    pathlib.Path(file).write_text(held[1])

atexit.register(tell)
from kgplatform.interfaces.cli.main import main
main()
"""
"""The command, which itself tells what it held, in kilobytes (Linux): what the system tells of a process that began as
a copy of this one is at least what this one held."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ran: how many elements it moved, in how many seconds, and the most megabytes that it held.

    ``seconds`` are those of its report, ``whole`` those on the wall, starting Python included.
    """

    nodes: int
    elements: int
    seconds: float
    whole: float
    processor: float
    peak: float


def test_exchange(section: Callable[[str, str], Section], place: Place) -> None:
    title = f"Export and import of {SIZES[0]:,} and {SIZES[1]:,} invented entities, the server up"
    found = section("exchange_large" if LARGE else "exchange", title)
    done: dict[str, list[Done]] = {}
    server = LocalNeo4j(load_settings(home=place.folder / "exchange", neo4j_jars=place.jars))
    try:
        with Store(server.up()) as store:
            for entities in SIZES:
                for name, each in _both_ways(place, store, entities).items():
                    done.setdefault(name, []).append(each)
    finally:
        server.down()
    for name, (small, big) in done.items():
        _add(found, name, small, big)
    columns = ("", "elements", "seconds", "with Python's start", "of processor", "elements a second", "peak memory")
    rows = [
        (
            *(name, f"{each.elements:,}", f"{each.seconds:.1f}", f"{each.whole:.1f}", f"{each.processor:.1f}"),
            *(f"{each.elements / each.seconds:,.0f}", f"{each.peak:.0f} MB"),
        )
        for name, both in done.items()
        for each in both
    ]
    found.tables.append(Table("Each command", columns, rows))
    found.notes.append("An element is a node or a relationship. Seconds are those of the command's report.")


def _add(found: Section, name: str, small: Done, big: Done) -> None:
    found.add(f"{name}: elements a second", big.elements / big.seconds, "/s")
    grown = growth((small.elements, big.elements), (small.seconds, big.seconds))
    found.add(f"{name}: growth of time", grown, "n^", at_most=GROWTH_LIMIT)
    kept = IMPORT_MEMORY * big.nodes / MEGABYTE if name.startswith("import") else 0
    found.add(f"{name}: peak memory", big.peak, "MB", at_most=MEMORY_GROWTH_LIMIT * small.peak + kept)


def _both_ways(place: Place, store: Store, entities: int) -> dict[str, Done]:
    """Export in every format, and import the JSON lines again."""
    folder = place.folder / f"exports-{entities}"
    folder.mkdir()
    _wipe(store)
    write_large_graph(store, entities)
    done = {f"export {kind}": _run(place, "export", folder / name) for kind, name in NAMES.items()}
    _wipe(store)
    return done | {"import jsonl": _run(place, "import", folder / NAMES["jsonl"])}


def _wipe(store: Store) -> None:
    statement = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"
    store.run_statement(statement, {}, write=True, timeout=600, limit=1)


def _run(place: Place, command: str, path: Path) -> Done:
    """Run the command to its end, and ask it how much memory it took."""
    own = {"KGPLATFORM_HOME": str(place.folder / "exchange"), "KGPLATFORM_NEO4J_JARS": str(place.jars)}
    output, errors, held = (place.folder / f"exchange.{each}" for each in ("out", "err", "held"))
    words = [sys.executable, "-c", _PROGRAM, str(held), command, str(path), "--json"]
    started = time.perf_counter()
    with output.open("wb") as out, errors.open("wb") as err:
        process = subprocess.Popen(words, stdout=out, stderr=err, env={**os.environ, **own})
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    whole = time.perf_counter() - started
    assert process.returncode == 0, errors.read_text("utf-8")
    report = json.loads(output.read_text("utf-8"))
    processor = usage.ru_utime + usage.ru_stime
    elements = report["nodes"] + report["relationships"]
    return Done(report["nodes"], elements, report["seconds"], whole, processor, int(held.read_text()) * 1024 / MEGABYTE)
