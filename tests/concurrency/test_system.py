"""What differs between systems: it stands in one module, and without POSIX something else does the work.

Neither macOS nor Windows was there to be tried: what is tried here, on Linux, is the code that they run.
"""

import ast
import io
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from kgplatform.concurrency import system
from kgplatform.interfaces.uploads import safe_name
from kgplatform.neo4j.store import Connection

PACKAGE = Path(system.__file__).parent.parent
_POSIX = re.compile(
    r"\b(?:fcntl|resource\.|import (?:pwd|grp|termios|pty|resource)"
    r"|os\.(?:fork|kill|killpg|getuid|geteuid|setsid|mkfifo|statvfs|getpgid)|SIGKILL|setitimer|start_new_session|preexec_fn)\b|\"/proc\b"
)
_REFUSED = re.compile(r'[<>:"|?*\\\x00-\x1f]|[. ]$|^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)', re.IGNORECASE)
ROOT = PACKAGE.parent
SHIPPED = ("kgplatform", "cypher", "schemas", "docs", "examples", "tests", "docker")
ELSEWHERE = {"neo4j/memory.py": "control groups, which are Linux's; elsewhere there are none, and it says so"}

WITHOUT_POSIX = '''
import builtins, signal, sys

POSIX = {"fcntl", "resource", "pwd", "grp", "termios", "pty", "tty"}
real = builtins.__import__

def blocked(name, globals=None, locals=None, fromlist=(), level=0):
    """As on Windows, for the platform alone: other libraries have their own ways there."""
    if name.partition(".")[0] in POSIX and str((globals or {}).get("__name__")).startswith("kgplatform"):
        raise ImportError(name)
    return real(name, globals, locals, fromlist, level)

builtins.__import__ = blocked
import importlib
loads = importlib.import_module
importlib.import_module = lambda name, package=None: (
    blocked(name, {"__name__": "kgplatform"}) if name in POSIX else loads(name, package)
)
del signal.setitimer
from kgplatform.concurrency import system
assert system.fcntl is None and system.resource is None
assert system.held_memory() > 1_000_000
'''

INGEST = """
from kgplatform import connect

with connect(embedder="hash:64") as kg:
    text = {"id": "https://example.org/a?b=c:d|e", "title": "What? A: B", "text": "Verne wrote of the Nautilus."}
    report = kg.ingest(["note.md", "page.html", text], extractor="local")
    assert (report.added, report.skipped) == (3, []), report
    assert kg.search("Who founded the Atlantic Telegraph Company?").passages
"""

BOUNDS = """
from kgplatform.concurrency.workers import BoundedCalls, ExceededError
from kgplatform.concurrency.files import claim, file_lock
from pathlib import Path

with file_lock(Path("lock")):
    assert claim(Path("lock")) is None
"""


def test_what_is_posix_alone_stands_in_one_module() -> None:
    found = {
        str(path.relative_to(PACKAGE)): sorted({each[0] for each in _POSIX.finditer(path.read_text("utf-8"))})
        for path in PACKAGE.rglob("*.py")
    }
    assert {name for name, names in found.items() if names} - set(ELSEWHERE) == {"concurrency/system.py"}, found


def test_every_text_file_has_an_encoding() -> None:
    """Windows has another default than UTF-8."""
    for path in PACKAGE.rglob("*.py"):
        text = path.read_text("utf-8")
        for call in ast.walk(ast.parse(text)) if "open(" in text or "_text(" in text else ():
            if isinstance(call, ast.Call) and _opens_text(call):
                assert "encoding" in {each.arg for each in call.keywords}, (path, call.lineno)


def _opens_text(call: ast.Call) -> bool:
    """Whether it opens a file as text without an encoding among its unnamed arguments."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    mode = call.args[0] if call.args else None
    if name == "open":
        return isinstance(mode, ast.Constant) and mode.value in ("r", "w", "a", "x", "a+", "r+", "w+")
    is_method = isinstance(call.func, ast.Attribute)
    return is_method and ((name == "read_text" and not call.args) or (name == "write_text" and len(call.args) < 2))


def test_an_ingest_without_what_is_posix_alone(given_server: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("Cyrus Field founded the Atlantic Telegraph Company.", "utf-8")
    (tmp_path / "page.html").write_text("<p>Isambard Brunel designed the Great Eastern.</p>", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX + BOUNDS + INGEST],  # its home is in this folder, too
        cwd=tmp_path,
        env={**os.environ, **given_server},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert not [path for path in tmp_path.rglob("*") if _REFUSED.search(path.name)]


def test_no_file_has_a_name_that_windows_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor do two differ in case alone."""
    names = [str(path.relative_to(ROOT)) for folder in SHIPPED for path in (ROOT / folder).rglob("*")]
    assert not [name for name in names if any(map(_REFUSED.search, name.split("/")))]
    assert len({name.casefold() for name in names}) == len(names)
    monkeypatch.setattr(system, "NOT_IN_NAMES", '<>:"|?*')
    assert safe_name("What? A: B.txt") == "What%3F A%3A B.txt"


def test_what_a_code_page_lacks_is_written_too(monkeypatch: pytest.MonkeyPatch) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, "cp1252"))
    system.speak_utf8()
    print("夏目漱石 – Kokoro", flush=True)
    assert written.getvalue().decode("cp1252").split() == ["????", "–", "Kokoro"]


def test_a_step_that_takes_too_long_ends_without_a_timer_too(tmp_path: Path) -> None:
    spin = "clock = system.StepClock(0.2); clock.start()\nwhile True: pass"
    done = subprocess.run([sys.executable, "-c", f"{WITHOUT_POSIX}\n{spin}"], cwd=tmp_path, check=False)
    assert system.ended_by(done.returncode) == "time"


def test_a_step_that_waits_for_ever_ends_though_it_takes_no_processor(tmp_path: Path) -> None:
    wait = "import time; from kgplatform.concurrency import system; system.StepClock(0.05).start(); time.sleep(600)"
    done = subprocess.run([sys.executable, "-c", wait], cwd=tmp_path, check=False)
    assert system.ended_by(done.returncode) == "time"


def test_a_process_is_told_by_when_it_began_and_a_zombie_is_gone() -> None:
    """By what Linux tells, and by what is told elsewhere."""
    ways = (system.process_mark, system._mark_elsewhere)
    marks = [mark_of(os.getpid()) for mark_of in ways]
    assert None not in marks
    assert marks == [mark_of(os.getpid()) for mark_of in ways]
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        for mark_of, mark in zip(ways, marks, strict=True):
            assert mark_of(child.pid) not in (None, mark)
        system.end_process(child.pid)
        os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
        assert [mark_of(child.pid) for mark_of in ways] == [None, None]


@pytest.fixture
def given_server(neo4j_server: Connection, store: object) -> dict[str, str]:
    """The run's server, empty, as the environment names it."""
    return {
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USERNAME": neo4j_server.username,
        "NEO4J_PASSWORD": neo4j_server.password,
    }
