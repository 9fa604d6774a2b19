"""Fixtures: the command line run in this process, on the run's server."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from kgplatform.interfaces.cli import main as cli


@dataclass(frozen=True)
class Done:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """All of standard output as one JSON document."""
        return json.loads(self.out)


Run = Callable[..., Done]


@pytest.fixture
def environment(at_server: None, monkeypatch: pytest.MonkeyPatch) -> None:
    """The run's server, and output of a pipe, with the width of a narrow terminal: it must not matter."""
    monkeypatch.setenv("COLUMNS", "60")
    for name in ("FORCE_COLOR", "TTY_COMPATIBLE", "PY_COLORS", "GITHUB_ACTIONS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def run(environment: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    """Run a command line."""

    def command(*arguments: object) -> Done:
        monkeypatch.setattr(sys, "argv", ["kgplatform", *map(str, arguments)])
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capsys.readouterr()
        code = ended.value.code
        return Done(code if isinstance(code, int) else 0, out, err)

    return command
