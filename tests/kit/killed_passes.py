"""``kill -9`` at a given point of a pass, that is in the transaction of a statement or between two steps.

    kill = Killer(connection, driver, home=folder, embedder="hash:64")
    kill(("ingest/mentions", 2), "ingest", ["notes"], extractor="local")

A process of its own calls the graph's method, and kills itself after the n-th run of the statement of that name, before
it is committed, or at the n-th progress call of the stage of that name.
"""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from conftest import _OURS as OURS
from conftest import variables

from kgplatform.neo4j.store import Connection
from kgplatform.settings import env_name

Driver = subprocess.Popen[str]

_PASSES = """
import importlib, json, os, signal, sys
from kgplatform import trace
from kgplatform.client import open_graph
from kgplatform.settings import load_settings

def run(name, number, method, arguments, options, environment, constants):
    os.environ.update(environment)
    for constant, value in constants.items():
        module, _, attribute = constant.rpartition(".")
        setattr(importlib.import_module(module), attribute, value)
    seen = 0
    def count(what):
        nonlocal seen
        seen += what == name
        if seen == number:
            os.kill(os.getpid(), signal.SIGKILL)
    if method != "remove":
        options["progress"] = lambda stage, done, total: count(stage)
    with open_graph(load_settings()) as graph, trace(lambda executed: count(executed.name)):
        getattr(graph, method)(*arguments, **options)

for line in sys.stdin:
    child = os.fork()
    if not child:
        run(**json.loads(line))
        os._exit(0)
    print(os.waitpid(child, 0)[1], flush=True)
"""
"""Forks a process for every line that it reads, so that the modules are loaded once, and prints how each ended."""
_OF_CALLS = "import openai.resources.chat, httpx, httpcore2, trio, truststore, kgplatform.gist.gist_documents"
"""What each process would load at its first call of a model, which takes a second."""


@contextmanager
def driver(folder: Path, code: str = _PASSES) -> Iterator[Driver]:
    """A process that runs ``code`` in ``folder``, reads lines and writes lines; it ends where they end."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    with subprocess.Popen(
        [sys.executable, "-c", f"{_OF_CALLS}\n{code}"],
        env=environment,
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        yield process
        assert process.stdin is not None
        process.stdin.close()


@pytest.fixture(scope="module")
def passes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """The driver that ``Killer`` needs."""
    with driver(tmp_path_factory.mktemp("passes")) as process:
        yield process


def say(process: Driver, line: dict[str, Any]) -> None:
    """Give the driver something to do."""
    assert process.stdin is not None
    print(json.dumps(line), file=process.stdin, flush=True)


def answer(process: Driver) -> int:
    """The next number that the driver prints."""
    assert process.stdout is not None
    return int(process.stdout.readline())


class Killer:
    """Calls methods of the graph on ``server`` in processes that are killed. ``settings``: theirs, by name.

    ``constants``: values for constants of our modules, by their full names.
    """

    def __init__(
        self, server: Connection, process: Driver, constants: Mapping[str, int] | None = None, **settings: object
    ) -> None:
        self._process = process
        self._constants = dict(constants or {})
        self._environment = variables(server) | _environment(settings)

    def __call__(
        self,
        point: tuple[str, int],
        method: str,
        *arguments: Any,
        settings: Mapping[str, object] | None = None,
        **how: Any,
    ) -> None:
        """Call ``method(*arguments, **how)`` until it comes to ``point``, and make sure that it did."""
        order = {
            "name": point[0],
            "number": point[1],
            "method": method,
            "arguments": arguments,
            "options": how,
            "environment": self._environment | _environment(settings or {}),
            "constants": self._constants,
        }
        say(self._process, order)
        assert os.WTERMSIG(answer(self._process)) == signal.SIGKILL, f"{point} was not reached"


def _environment(settings: Mapping[str, object]) -> dict[str, str]:
    """Environment variables that set these settings."""
    return {env_name(name): str(value) for name, value in settings.items()}
