"""Export and import of invented graphs, as the commands do it: time, growth, and what the process holds."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass

from data_sets import Place
from graphs import new_graph
from large_graph import write_large_graph
from measure import MEGABYTE, growth
from tables import Section, Table

from kgplatform.neo4j.store import Store

LARGE = os.environ.get("KGPLATFORM_BENCH_LARGE") == "1"
SIZES = (5_000, 50_000) if LARGE else (600, 6_000)
"""Entities."""
NAMES = {"jsonl": "graph.jsonl", "graphml": "graph.graphml", "csv": "graph"}
GROWTH_LIMIT = 1.2
MEMORY_GROWTH_LIMIT = 1.1
IMPORT_MEMORY = 60
"""Bytes that an import may hold of each node: those of its id's hash and kind, while they are sorted."""


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ran: how many nodes, and how many of these and relationships; ``seconds`` of its report; the most
    megabytes that it held."""

    nodes: int
    elements: int
    seconds: float
    peak: float


def test_exchange(section: Callable[[str, str], Section], place: Place) -> None:
    title = f"Export and import of {SIZES[0]:,} and {SIZES[1]:,} invented entities, the server up"
    found = section("exchange_large" if LARGE else "exchange", title)
    done: dict[str, list[Done]] = {}
    with new_graph(place, "exchange") as graph:
        for entities in SIZES:
            for name, each in _both_ways(place, graph.store, entities).items():
                done.setdefault(name, []).append(each)
    for name, (small, big) in done.items():
        found.add(f"{name}: elements a second", big.elements / big.seconds, "/s")
        grown = growth((small.elements, big.elements), (small.seconds, big.seconds))
        found.add(f"{name}: growth of time", grown, "n^", at_most=GROWTH_LIMIT)
        kept = IMPORT_MEMORY * big.nodes / MEGABYTE if name.startswith("import") else 0
        found.add(f"{name}: peak memory", big.peak, "MB", at_most=MEMORY_GROWTH_LIMIT * small.peak + kept)
    rows = [
        (
            *(name, f"{each.elements:,}", f"{each.seconds:.1f}", f"{each.elements / each.seconds:,.0f}"),
            f"{each.peak:.0f} MB",
        )
        for name, both in done.items()
        for each in both
    ]
    found.tables.append(Table("Each command", ("", "elements", "seconds", "a second", "peak memory"), rows))
    found.notes.append("An element is a node or a relationship. Seconds are those of the command's report.")


def _both_ways(place: Place, store: Store, entities: int) -> dict[str, Done]:
    """Export in every format, and import the JSON lines again."""
    folder = place.folder / f"exports-{entities}"
    folder.mkdir()
    _wipe(store)
    write_large_graph(store, entities)
    done = {f"export {kind}": _run(place, "export", str(folder / name)) for kind, name in NAMES.items()}
    _wipe(store)
    return done | {"import jsonl": _run(place, "import", str(folder / NAMES["jsonl"]))}


def _wipe(store: Store) -> None:
    statement = "MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS"
    store.run_statement(statement, {}, write=True, timeout=600, limit=1)


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


def _run(place: Place, command: str, path: str) -> Done:
    """A command of kgplatform in a process of its own. Fails with what it says."""
    own = {"KGPLATFORM_HOME": str(place.folder / "exchange"), "KGPLATFORM_NEO4J_JARS": str(place.jars)}
    held = place.folder / "command.held"
    words = [sys.executable, "-c", _PROGRAM, str(held), command, path, "--json"]
    done = subprocess.run(words, capture_output=True, encoding="utf-8", cwd=place.folder, env=os.environ | own)
    assert done.returncode == 0, f"kgplatform {command} ended with {done.returncode}: {done.stderr}"
    report, peak = json.loads(done.stdout), int(held.read_text()) * 1024 / MEGABYTE
    return Done(report["nodes"], report["nodes"] + report["relationships"], report["seconds"], peak)
