"""``kill -9`` at any moment of `kgplatform evaluate`, and the same command again: the results of an undisturbed run.

All five readers over questions of the sample corpus, a real Neo4j, a real server that plays a language model by rules
(``simulated_readers``), and the command in a process of its own. ``tests/benchmarks`` has it with all questions and
kills.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from evaluation_runs import KILLED_AT, check_resumed, open_bench

from kgplatform.neo4j.store import Store

pytestmark = pytest.mark.killed

QUESTIONS = 2


def test_killed_again_and_again_it_comes_to_the_same_results(store: Store, tmp_path: Path) -> None:
    with open_bench(store, tmp_path, QUESTIONS) as bench:
        check_resumed(bench, QUESTIONS, [each for each in KILLED_AT if each[0] != "longagent/member"])
