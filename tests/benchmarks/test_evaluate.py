"""One command on two published data sets: recall by route, its graphs built on the way, as a user would run it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest
from data_sets import Place
from tables import Section, Table

from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings

SECONDS_LIMIT = 600
WANTED = {"musique": (74.9, 82.3), "hotpotqa": (87.0, 95.2)}
"""R@5 and R@10 of all routes: what was measured in memory once, MuSiQue with recorded triples."""
_FIVE, _TEN = 1, 2


def test_evaluate_retrieval_only(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("evaluate", "Evaluate: one command, retrieval only, from empty homes to the table")
    folders = [place.data.file(f"{name}/questions.json").parent for name in WANTED]
    report, seconds = _run(place, [str(each) for each in folders])
    found.add("the whole command, graphs and servers included", seconds, "s", at_most=SECONDS_LIMIT)
    for measured in report["measured"]:
        name, rows = measured["dataset"], {row["route"]: row for row in measured["rows"]}
        found.add(f"{name}: building the graph", measured["seconds"], "s")
        for at, wanted in zip((_FIVE, _TEN), WANTED[name], strict=True):
            share = 100 * rows["all"]["recall"][at]["mean"]
            found.add(f"{name}: R@{report['cuts'][at]}, all routes", share, "%", at_least=wanted)
        found.tables.append(_table(name, report["cuts"], measured["rows"]))
        found.notes += [f"{name}: {note}" for note in measured["notes"]]
    left = [file for file in place.folder.rglob("server.json") if _was_running(place, file)]
    found.add("servers that are left running", len(left), exactly=0)


def _run(place: Place, folders: list[str]) -> tuple[dict[str, Any], float]:
    """The command in a process of its own, without a key of any model."""
    home, out = place.folder / "evaluate-home", place.folder / "evaluation"
    options = ["--retrieval-only", *folders, "--home", str(home), "--out", str(out), "--json"]
    environment = {**os.environ, "KGPLATFORM_NEO4J_JARS": str(place.jars)}
    started = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-m", "kgplatform.interfaces.cli.main", "evaluate", *options],
        cwd=place.folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    seconds = time.perf_counter() - started
    if done.returncode:
        pytest.fail(f"kgplatform evaluate ended with {done.returncode}:\n{done.stderr}")
    report: dict[str, Any] = json.loads(done.stdout)
    return report, seconds


def _table(name: str, cuts: list[int], rows: list[dict[str, Any]]) -> Table:
    columns = ("route", *(f"R@{cut}" for cut in cuts), *(f"all@{cut}" for cut in cuts), "p50", "p95", "questions")
    shown = [
        (
            row["route"],
            *(f"{100 * each['mean']:.1f}" for each in (*row["recall"], *row["all_found"])),
            f"{row['p50']:.0f} ms",
            f"{row['p95']:.0f} ms",
            str(row["questions"]),
        )
        for row in rows
    ]
    return Table(name, columns, shown)


def _was_running(place: Place, record: Any) -> bool:
    """Whether the server of a pid file was running; it is stopped then."""
    return LocalNeo4j(load_settings(home=record.parent.parent, neo4j_jars=place.jars)).down()
