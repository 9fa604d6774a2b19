"""``kill -9`` at any moment of `kgplatform evaluate`, and the same command again: the results of an undisturbed run.

All five readers over questions of the sample corpus, a real Neo4j, a real server that plays a language model by rules
(``simulated_readers``), and the command in a process of its own, which is killed as it sends a certain request.
"""

from __future__ import annotations

import json
import os
import signal
import threading
from dataclasses import dataclass, field
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

READERS = "retrieve,youtu,graphreader,readagent,longagent"
KILLED_AT = (("gist/gist", 3), ("graphreader/facts", 5), ("evaluate/rater_strict", 4))
"""A prompt, and which request with it kills the run that sends it; one run after the other, each goes on from the one
before: in the gists, in a walk, in the ratings."""
QUESTIONS = 2
CORPUS = ("Cyrus_Field.md", "People.json", "Voyages.jsonl", "John_Pender.docx")

_DRIVER = """
import json, os, sys
import matplotlib.figure, rouge_score.rouge_scorer
import kgplatform.evaluate.plots, kgplatform.evaluate.report, kgplatform.evaluate.evaluation
import kgplatform.interfaces.cli.show.evaluation
from kgplatform.interfaces.cli import main as cli

def run(arguments, environment, said):
    os.environ.update(environment)
    file = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(file, 1)
    os.dup2(file, 2)
    sys.argv = ["kgplatform", *arguments]
    try:
        cli.main()
    except SystemExit as end:
        sys.stdout.flush()
        os._exit(end.code or 0)
    os._exit(3)

for line in sys.stdin:
    child = os.fork()
    if not child:
        run(**json.loads(line))
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
"""Forks a process for every line that it reads, so that the modules are loaded once; prints its id and how it ended."""


@dataclass
class Model:
    """The rules, and the process that is killed as it sends a certain request."""

    kill_at: tuple[str, int] | None = None
    seen: int = 0
    process: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def __call__(self, messages: Messages) -> str:
        with self._lock:
            self.seen += self.kill_at is not None and Prompt(messages).name == self.kill_at[0]
            if self.kill_at is not None and self.seen == self.kill_at[1]:
                os.kill(self.process, signal.SIGKILL)
        return reply(messages)


def test_killed_again_and_again_it_comes_to_the_same_results(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """The documents of the first questions, without gists and tree."""
    files = [EXAMPLES / "corpus" / name for name in CORPUS]
    kg.ingest(files, extractor="recorded", recorded=EXAMPLES / "extraction.jsonl")
    lines = (EXAMPLES / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    questions, said, model = tmp_path / "questions.jsonl", tmp_path / "said", Model()
    questions.write_text("\n".join(lines[:QUESTIONS]), encoding="utf-8")
    options = ["--readers", READERS, "--prepare", "--json", "--parallel", "2", "--rate", "judge", "--rate", "lr"]
    with OpenAIServer(model) as server, driver(tmp_path, _DRIVER) as process:
        given = {"OPENAI_BASE_URL": server.base_url, "KGPLATFORM_MODEL_RETRIES": "0", **variables(kg.store.connection)}

        def run(out: str, kill_at: tuple[str, int] | None = None) -> int:
            """Run the command, with a home of its own, and say how it ended."""
            model.seen, model.kill_at = 0, kill_at
            arguments = ["evaluate", str(questions), *options, "--out", str(tmp_path / out)]
            environment = {**given, "KGPLATFORM_HOME": str(tmp_path / f"home of {out}")}
            say(process, {"arguments": arguments, "environment": environment, "said": str(said)})
            model.process = answer(process)
            return answer(process)

        for request in KILLED_AT:
            assert run("disturbed", request) == -signal.SIGKILL, said.read_text("utf-8")
            assert not (tmp_path / "disturbed" / "results.json").exists()
        for out in ("disturbed", "undisturbed"):
            assert run(out) == 0, said.read_text("utf-8")
    disturbed, results = ((tmp_path / out / "results.json").read_bytes() for out in ("disturbed", "undisturbed"))
    assert disturbed == results
    found = json.loads(results)
    assert [each["setup"]["name"] for each in found["setups"]] == READERS.split(",")
    assert all(each["failed"] == 0 and each["spent"] for each in found["setups"])
    assert len(found["answers"]) == QUESTIONS * len(found["setups"])
    assert {"judge", "lr1", "f1"} <= set(found["metrics"])
    # They are no readers that all say the same.
    assert len({each["scores"]["f1"]["mean"] for each in found["setups"]}) > 1
