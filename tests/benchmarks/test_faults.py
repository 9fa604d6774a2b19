"""Campaigns of faults, seeded: processes side by side with kills among them, each pass killed alone, and the attacks
that the tests have in lists: hostile files, imports and statements, models, servers and disks that fail.

``KGPLATFORM_BENCH_SCHEDULES`` says how many schedules, ``KGPLATFORM_BENCH_SEED`` which ones.
"""

import os
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

from campaigns import WHOLE
from conftest import ROOT
from schedules import Campaign, Outcome
from tables import Section

from kgplatform.neo4j.store import Connection, Store

SEED = int(os.environ.get("KGPLATFORM_BENCH_SEED", "20"))
SCHEDULES = int(os.environ.get("KGPLATFORM_BENCH_SCHEDULES", "40"))
ALONE = 8
ATTACKS = {
    "hostile files, beside good ones": "tests/sources/test_hostile_files.py",
    "hostile text, growth to a fiftyfold": "tests/extract/test_linear_time.py",
    "hostile imports, into an empty and a filled graph": "tests/exchange/test_hostile_imports.py",
    "statements against memory and time": "tests/neo4j/test_bombs.py",
    "replies of models without end": "tests/models/test_endless.py",
    "servers that end or hang": "tests/neo4j/test_revived.py",
    "homes copied, moved and shared; full and read-only disks": "tests/neo4j/test_homes.py",
    "passes killed at each of their statements": "tests/ingest/test_interrupted.py",
    "histories of a graph, with passes that break off": "tests/ingest/test_settled.py",
}
METHODS = ("ingest", "remove", "build_tree", "gist", "reembed", "import_graph")


def test_processes_side_by_side(
    neo4j_server: Connection, store: Store, tmp_path: Path, section: Callable[[str, str], Section]
) -> None:
    table = section(
        "faults-side-by-side", f"Processes side by side: random schedules of 2 to 6 operations at once, seed {SEED}"
    )
    with Campaign(neo4j_server, store, tmp_path, SEED) as campaign:
        outcomes = _carried_out(SCHEDULES, campaign.run)
    _tell(table, outcomes)
    assert not any(each.faults for each in outcomes)


def test_each_pass_killed(
    neo4j_server: Connection, store: Store, tmp_path: Path, section: Callable[[str, str], Section]
) -> None:
    table = section(
        "faults-killed", f"Each pass killed: one operation, killed one to four times and begun again, seed {SEED}"
    )
    outcomes = []
    with Campaign(neo4j_server, store, tmp_path, SEED) as campaign:
        for method in METHODS:
            outcomes += _carried_out(ALONE, lambda number, method=method: campaign.run_alone(method, number))
    _tell(table, outcomes)
    assert not any(each.faults for each in outcomes)


def test_attacks(tmp_path: Path, section: Callable[[str, str], Section]) -> None:
    table = section("faults-attacks", "Attacks: the tests that have them, each in a list, as they are")
    for what, file in ATTACKS.items():
        began, report = time.monotonic(), tmp_path / f"{Path(file).stem}.xml"
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junit-xml={report}", file]
        subprocess.run(command, cwd=ROOT, env=os.environ | {WHOLE: "1"}, stdout=subprocess.DEVNULL, check=False)
        suite = ElementTree.parse(report).getroot()[0]
        cases, skipped = int(suite.attrib["tests"]), int(suite.attrib["skipped"])
        table.add(what, cases - skipped)
        table.add(f"{what}: failed", int(suite.attrib["failures"]) + int(suite.attrib["errors"]), exactly=0)
        table.notes.append(f"{file}: {time.monotonic() - began:.0f} s, {skipped} skipped")
        table.notes += [
            f"{case.attrib['name']}: {fault.attrib.get('message', '')[:300]}"
            for case in suite.iter("testcase")
            for fault in (*case.iter("failure"), *case.iter("error"))
        ]
    assert all(figure.met is not False for figure in table.figures)


def _carried_out(count: int, run: Callable[[int], Outcome]) -> list[Outcome]:
    outcomes = []
    for number in range(count):
        began = time.monotonic()
        outcome = run(number)
        outcomes.append(outcome)
        said = "; ".join(map(str, outcome.operations))
        print(
            f"{number}: {time.monotonic() - began:.0f} s, {outcome.kills} kills: {said}", *outcome.faults, sep="\n    "
        )
    return outcomes


def _tell(table: Section, outcomes: list[Outcome]) -> None:
    faults = [fault for each in outcomes for fault in each.faults]
    twice = sum(int(fault.split()[0]) for fault in faults if fault.endswith("paid twice"))
    table.add("schedules", len(outcomes))
    table.add("operations", sum(len(each.operations) for each in outcomes))
    table.add("kills that met a process", sum(each.kills for each in outcomes))
    table.add("calls of the model that were paid twice", twice, exactly=0)
    faulty = sum(bool(each.faults) for each in outcomes)
    table.add("schedules with an error, or a graph that no order of the commands makes", faulty, exactly=0)
    by_method = Counter(each.method for outcome in outcomes for each in outcome.operations)
    table.notes.append(", ".join(f"{count} x {method}" for method, count in sorted(by_method.items())))
