"""What differs between systems: it stands in one module, and without POSIX something else does the work.

Neither macOS nor Windows was there to be tried: what is tried here, on Linux, is the code that they run.
"""

import ast
import io
import json
import os
import re
import stat
import subprocess
import sys
from itertools import count
from pathlib import Path

import psutil
import pytest
from bounded_children import children
from bounded_work import die_once, fill, keep, noise, pid, steps
from conftest import variables
from stopped import Working, until

from kgplatform.concurrency import system
from kgplatform.concurrency.files import claim, file_lock, write_atomically
from kgplatform.concurrency.workers import BoundedCalls, ExceededError
from kgplatform.errors import StoppedError
from kgplatform.interfaces.uploads import safe_name
from kgplatform.neo4j.store import Connection, Store

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


def test_an_ingest_without_what_is_posix_alone(neo4j_server: Connection, store: Store, tmp_path: Path) -> None:
    (tmp_path / "note.md").write_text("Cyrus Field founded the Atlantic Telegraph Company.", "utf-8")
    (tmp_path / "page.html").write_text("<p>Isambard Brunel designed the Great Eastern.</p>", "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_POSIX + BOUNDS + INGEST],  # its home is in this folder, too
        cwd=tmp_path,
        env={**os.environ, **variables(neo4j_server)},
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


ENDLESS = "(a+)+$", "a" * 60 + "b"
"""A pattern and a text that a regex searches for ever, without giving another thread of Python its turn."""


def test_one_child_does_all_calls_and_none_is_left(capfd: pytest.CaptureFixture[str]) -> None:
    """There is none before the first call. A call that is left takes it along; what it prints is no answer."""
    with BoundedCalls(60, 500) as calls:
        assert children() == []
        first = list(calls.each(pid))
        assert list(calls.each(range, 3)) == [0, 1, 2]
        assert list(calls.each(noise)) == ["answer"]
        assert capfd.readouterr() == ("", "")
        assert list(calls.each(pid)) == first == [each.pid for each in children()]
        found = calls.each(count)
        assert [next(found), next(found)] == [0, 1]
        found.close()  # type: ignore[attr-defined]  # a generator
        assert children() == []
        assert list(calls.each(range, 3)) == [0, 1, 2]
    assert children() == []


def test_what_takes_too_long_ends_whatever_code_it_is_in_and_the_next_call_works() -> None:
    """The time is that of a step, not of all of them."""
    with BoundedCalls(1, 500) as calls:
        assert list(calls.each(steps, 0.4, 0.4, 0.4)) == [0.4, 0.4, 0.4]
        found = calls.each(steps, 0.1, 30)
        assert next(found) == 0.1
        with pytest.raises(ExceededError, match="seconds"):
            next(found)
        with pytest.raises(ExceededError, match="seconds"):
            list(calls.each(re.findall, *ENDLESS))
        assert children() == []
        assert list(calls.each(range, 3)) == [0, 1, 2]


@pytest.mark.parametrize(("function", "argument"), [(bytes, 400_000_000), (fill, 400)], ids=["at once", "in pieces"])
def test_what_takes_too_much_memory_ends(function: object, argument: int) -> None:
    with BoundedCalls(60, 200) as calls:
        with pytest.raises(ExceededError, match="memory"):
            list(calls.each(function, argument))  # type: ignore[arg-type]  # a function of one number
        assert list(calls.each(range, 3)) == [0, 1, 2]


def test_a_child_that_holds_much_is_followed_by_another() -> None:
    with BoundedCalls(60, 400) as calls:
        assert list(calls.each(keep, 50)) == [1]
        assert list(calls.each(keep, 150)) == [2]
        assert list(calls.each(keep, 1)) == [1]


def test_a_crash_is_told_by_its_signal_and_one_by_chance_is_made_good(tmp_path: Path) -> None:
    """Results that came before a crash are good, and come once."""
    with BoundedCalls(60, 500) as calls:
        with pytest.raises(ExceededError) as caught:
            list(calls.each(os.abort))
        assert (caught.value.bound, caught.value.signal) == ("crash", "SIGABRT")
        assert list(calls.each(die_once, tmp_path / "died")) == ["alive"]
        found = calls.each(count)
        assert next(found) == 0
        children()[0].kill()
        seen = []
        with pytest.raises(ExceededError, match="SIGKILL"):
            for each in found:
                seen.append(each)
        assert seen == list(range(1, len(seen) + 1))


def test_an_error_in_the_child_is_raised_here() -> None:
    with BoundedCalls(60, 500) as calls:
        with pytest.raises(RuntimeError, match=r"Traceback[\s\S]*No such file or directory: '/nowhere'"):
            list(calls.each(open, "/nowhere"))
        with pytest.raises(RuntimeError, match="ended with status 3"):
            list(calls.each(os._exit, 3))
        assert list(calls.each(range, 3)) == [0, 1, 2]


def test_it_can_be_stopped_from_another_thread() -> None:
    working = Working(lambda stop: list(BoundedCalls(600, 500, stop).each(re.findall, *ENDLESS)))
    until(lambda: bool(children()))
    assert isinstance(working.stopped(), StoppedError)
    assert children() == []


SCRIPT = """
import json, re, sys
from kgplatform.concurrency.workers import BoundedCalls
calls = BoundedCalls(float(sys.argv[1]), 500)
print(json.dumps(list(calls.each(range, 3))), flush=True)
print(calls._child.pid, flush=True)
list(calls.each(re.findall, *json.loads(sys.argv[2]))) if len(sys.argv) > 2 else sys.stdin.read()
"""


@pytest.mark.parametrize("work", [(), (json.dumps(ENDLESS),)], ids=["idle", "busy"])
def test_a_script_without_a_guard_works_and_its_child_ends_with_it_even_if_it_is_killed(
    tmp_path: Path, work: tuple[str, ...]
) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "worked in").mkdir()
    (tmp_path / "worked in" / "json.py").write_text("raise SystemExit('a file where we work was imported')")
    command = [sys.executable, str(tmp_path / "script.py"), "1", *work]
    where = tmp_path / "worked in"
    parent = subprocess.Popen(command, cwd=where, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert parent.stdout is not None
    assert json.loads(parent.stdout.readline()) == [0, 1, 2]
    child = psutil.Process(int(parent.stdout.readline()))
    if work:
        until(lambda: not child.is_running() or child.cpu_times().user > 0.3)
    parent.kill()
    parent.communicate()
    until(lambda: not child.is_running() or child.status() == psutil.STATUS_ZOMBIE)


def test_all_of_a_file_or_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write_atomically(path, b"first")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    write_atomically(path, b"second", mode=0o400)
    assert (path.read_bytes(), stat.S_IMODE(path.stat().st_mode)) == (b"second", 0o400)
    (tmp_path / "folder").mkdir()
    with pytest.raises(OSError, match="folder"):
        write_atomically(tmp_path / "folder", b"third")
    assert sorted(each.name for each in tmp_path.iterdir()) == ["file", "folder"]


def test_one_at_a_time_has_a_lock(tmp_path: Path) -> None:
    path = tmp_path / "new" / "lock"
    waits: list[str] = []
    with file_lock(path, lambda: waits.append("waiting")):
        assert claim(path) is None
    held = claim(path)
    assert held is not None
    with held:
        held.write("mine")

    def free() -> None:
        waits.append("waiting")
        again.close()

    again = claim(path)
    assert again is not None
    assert again.read() == "mine"
    with file_lock(path, free):
        assert waits == ["waiting"]
