"""One command on two published data sets: recall by route, its graphs built on the way, as a user would run it."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from commands import run
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
    named = [word for folder in folders for word in ("--path", str(folder))]
    home, out = place.folder / "evaluate-home", place.folder / "evaluation"
    done = run(place, home, "evaluate", "--retrieval-only", *named, "--home", str(home), "--out", str(out), "--json")
    report = json.loads(done.output)
    found.add("the whole command, graphs and servers included", done.seconds, "s", at_most=SECONDS_LIMIT)
    for measured in report["measured"]:
        name, rows = measured["dataset"], {row["route"]: row for row in measured["rows"]}
        found.add(f"{name}: building the graph", measured["seconds"], "s")
        for at, wanted in zip((_FIVE, _TEN), WANTED[name], strict=True):
            share = 100 * rows["all"]["recall"][at]["mean"]
            found.add(f"{name}: R@{report['cuts'][at]}, all routes", share, "%", at_least=wanted)
        found.tables.append(_table(name, report["cuts"], measured["rows"]))
        found.notes += [f"{name}: {note}" for note in measured["notes"]]
    records = list(place.folder.rglob("server.json"))
    left = [LocalNeo4j(load_settings(home=each.parent.parent, neo4j_jars=place.jars)).down() for each in records]
    found.add("servers that are left running", sum(left), exactly=0)


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
