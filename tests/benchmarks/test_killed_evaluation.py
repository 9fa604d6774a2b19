"""`kgplatform evaluate` over all questions of the sample corpus by five readers, killed and gone on with."""

from __future__ import annotations

import time
from pathlib import Path

from evaluation_runs import READERS, check_resumed, open_bench

from kgplatform.neo4j.store import Store

QUESTIONS = 20


def test_an_evaluation_that_was_killed_comes_to_the_same_results(store: Store, tmp_path: Path) -> None:
    started = time.perf_counter()
    with open_bench(store, tmp_path, QUESTIONS) as bench:
        results = check_resumed(bench, QUESTIONS)
    print(f"\n{QUESTIONS} questions, {len(READERS.split(','))} readers, 7 runs: {time.perf_counter() - started:.0f} s")
    for each in results["setups"]:
        scores = {name: round(each["scores"][name]["mean"], 3) for name in ("judge", "lr1", "f1")}
        print(each["setup"]["name"], scores, sum(spent["calls"] for spent in each["spent"].values()), "calls")
