"""A command of kgplatform in a process of its own: what it printed, how long it took, and the most that it held."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from data_sets import Place
from measure import MEGABYTE

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
class Ran:
    """``seconds`` by the clock, starting Python included; ``peak``: megabytes."""

    output: str
    errors: str
    seconds: float
    peak: float


def run(place: Place, home: Path, *words: str, **settings: str) -> Ran:
    """Run ``kgplatform`` with ``words`` and ``settings`` on the graph of ``home``. Fails with what the command says."""
    own = {"KGPLATFORM_HOME": str(home), "KGPLATFORM_NEO4J_JARS": str(place.jars)}
    own |= {f"KGPLATFORM_{name.upper()}": value for name, value in settings.items()}
    held = place.folder / "command.held"
    command = [sys.executable, "-c", _PROGRAM, str(held), *words]
    started = time.perf_counter()
    done = subprocess.run(
        command, capture_output=True, encoding="utf-8", cwd=place.folder, env={**os.environ, **own}, check=False
    )
    seconds = time.perf_counter() - started
    assert done.returncode == 0, f"kgplatform {words[0]} ended with {done.returncode}: {done.stderr}"
    return Ran(done.stdout, done.stderr, seconds, int(held.read_text()) * 1024 / MEGABYTE)
