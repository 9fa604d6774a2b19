"""``kill -9`` at any moment of `kgplatform evaluate`, and the same command again: the results of an undisturbed run.

Two readers over a real Neo4j and a real server that plays a language model by rules (``simulated_readers``); the
command is a process of its own, which is killed as it sends a certain request. They are forked from one that has
loaded the modules, which is half of the command's work.
"""

import json
import os
import signal
import threading
from pathlib import Path

import pytest
from conftest import EXAMPLES, variables
from killed_passes import answer, driver, say
from model_by_prompt import Prompt
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer

pytestmark = pytest.mark.killed

READERS = "retrieve,readagent"
KILLED_AT = (("gist/gist", 1), ("readers/answer", 2), ("evaluate/rater_strict", 1))
"""A prompt, and which request with it kills the run that sends it; one run after the other, each goes on from the one
before: in the gists, in the answers, in the ratings."""
_COMMANDS = """
import json, os, sys
import matplotlib.backends.backend_agg, matplotlib.figure, rouge_score.rouge_scorer
import kgplatform.evaluate.evaluation, kgplatform.evaluate.plots, kgplatform.evaluate.report
from kgplatform.interfaces.cli import evaluate, main

for line in sys.stdin:
    order = json.loads(line)
    child = os.fork()
    if not child:
        said = os.open(order["said"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.environ.update(order["environment"])
        sys.argv = ["kgplatform", *order["arguments"]]
        main.main()
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Forks a command for every line that it reads, and prints its process id and how it ended."""
OPTIONS = ["--readers", READERS, "--prepare", "--json", "--rate", "judge", "--rate", "lr"]


def test_killed_again_and_again_it_comes_to_the_same_results(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """A document of the first questions, without gists and tree."""
    kg.ingest(EXAMPLES / "corpus" / "Cyrus_Field.md", extractor="recorded", recorded=EXAMPLES / "extraction.jsonl")
    lines = (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "questions.jsonl").write_text("\n".join(lines[:2]), encoding="utf-8")
    lock, running, waits = threading.Lock(), list[int](), list[tuple[str, int]]()

    def model(messages: Messages) -> str:
        with lock:
            if waits and Prompt(messages).name == waits[0][0]:
                waits[0] = waits[0][0], waits[0][1] - 1
                if waits[0][1] == 0:
                    os.kill(running[0], signal.SIGKILL)
        return reply(messages)

    with OpenAIServer(model) as server, driver(tmp_path, _COMMANDS) as commands:
        given = {"OPENAI_BASE_URL": server.base_url, "KGPLATFORM_MODEL_RETRIES": "0", **variables(kg.store.connection)}

        def run(out: str, *kill_at: tuple[str, int]) -> int:
            """Run the command, with a home of its own, and say how it ended."""
            order = {
                "arguments": ["evaluate", "questions.jsonl", *OPTIONS, "--out", out],
                "environment": {**given, "KGPLATFORM_HOME": str(tmp_path / f"home of {out}")},
                "said": str(tmp_path / "said"),
            }
            with lock:
                waits[:] = kill_at
                say(commands, order)
                running[:] = [answer(commands)]
            return answer(commands)

        for request in KILLED_AT:
            assert run("disturbed", request) == -signal.SIGKILL, (tmp_path / "said").read_text("utf-8")
            assert not (tmp_path / "disturbed" / "results.json").exists()
        for out in ("disturbed", "undisturbed"):
            assert run(out) == 0, (tmp_path / "said").read_text("utf-8")
    disturbed, results = ((tmp_path / out / "results.json").read_bytes() for out in ("disturbed", "undisturbed"))
    assert disturbed == results
    found = json.loads(results)
    assert [each["setup"]["name"] for each in found["setups"]] == READERS.split(",")
    assert all(each["failed"] == 0 and each["spent"] for each in found["setups"])
    assert len(found["answers"]) == 4
    assert {"judge", "lr1", "f1"} <= set(found["metrics"])
