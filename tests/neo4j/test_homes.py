"""Homes that were copied, moved, shared, or are on a full disk: each has its own server, and nothing is lost."""

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from disks import leave, small_disk
from neo4j.exceptions import Neo4jError
from own_servers import Make, keep, notes

from kgplatform.concurrency.files import folder_mark
from kgplatform.concurrency.system import is_locked
from kgplatform.errors import ServerError
from kgplatform.neo4j.config import VERSION
from kgplatform.neo4j.process import COPIED, RECORD, ServerRecord, StartError, load_record, own_record, process_mark
from kgplatform.neo4j.store import Connection, trouble_of

pytest_plugins = ["own_servers"]

HOLD = """
import fcntl, sys
with open(sys.argv[1], "w") as file:
    fcntl.lockf(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.killed
def test_a_copy_of_a_running_home_has_a_server_of_its_own_and_a_moved_one_is_restarted(
    make: Make, tmp_path: Path
) -> None:
    """At the end, the data of the copy are damaged."""
    home, copy, moved, link = (tmp_path / name for name in ("home", "copy", "moved", "link"))
    original = make(home)
    connection = original.up()
    keep(connection, "before")
    link.symlink_to(home)
    assert make(link).up() == connection  # another way to the same home
    assert make(tmp_path / "none" / ".." / "home").status().pid == original.status().pid
    shutil.copytree(home, copy)

    other = make(copy)
    assert not other.status().running and other.connection() is None
    assert other.down() is False
    assert original.status().running
    said: list[str] = []
    its = make(copy, said.append).up()
    assert its.uri != connection.uri and its.browser_url != connection.browser_url
    assert other.status().pid != original.status().pid
    assert [line for line in said if "copied while its server ran" in line]
    keep(its, "in the copy")
    assert (notes(connection), notes(its)) == (["before"], ["before", "in the copy"])
    assert other.down() and not (copy / "neo4j" / COPIED).exists()
    assert notes(connection) == ["before"]

    home.rename(moved)
    said.clear()
    again = make(moved, said.append).up()
    assert said[0].startswith("This home was moved while its server ran")
    assert notes(again) == ["before"]
    assert not home.exists()

    store = copy / "neo4j" / "data" / "databases" / "neo4j" / "neostore"
    store.write_bytes(b"\xff" * store.stat().st_size)
    with pytest.raises(StartError, match=r"the data in .* cannot be opened \(.*copy the home again.*backup") as told:
        other.up()
    assert "\n" not in str(told.value)
    assert not other.status().running


def record_in(home: Path, **changes: str) -> Path:
    """The record of a server that this process could be, with ``changes``."""
    home.mkdir(parents=True)
    ServerRecord(os.getpid(), process_mark(os.getpid()) or "", 1, 2, VERSION).save(home / RECORD)
    (home / RECORD).write_text(json.dumps(json.loads((home / RECORD).read_text()) | changes))
    return home


def test_a_record_is_of_its_folder_only(tmp_path: Path) -> None:
    home = record_in(tmp_path / "home")
    shutil.copytree(home, tmp_path / "copy")
    found = own_record(home)
    assert found is not None and (found.folder, found.host) == (folder_mark(home), platform.node())
    assert load_record(tmp_path / "copy" / RECORD) is None
    assert own_record(tmp_path / "copy") is None
    assert (tmp_path / "copy" / COPIED).is_file() and not (tmp_path / "copy" / RECORD).exists()
    assert not found.has_moved(home)
    home.rename(tmp_path / "moved")
    moved = own_record(tmp_path / "moved")
    assert moved == found and found.has_moved(tmp_path / "moved")


def test_a_disk_with_another_number_after_a_restart_makes_no_copy(tmp_path: Path) -> None:
    home = record_in(tmp_path / "home", began="before the restart")
    written = json.loads((home / RECORD).read_text())
    (home / RECORD).write_text(json.dumps(written | {"folder": f"1:{home.stat().st_ino}"}))
    assert own_record(home) is None
    assert not (home / COPIED).exists()


def test_a_server_on_another_machine_is_left_alone(make: Make, tmp_path: Path) -> None:
    """Its process cannot be seen from here; the lock on its files can, where machines share them."""
    home = record_in(tmp_path / "home" / "neo4j", began="elsewhere", host="far.example")
    lock = home / "data" / "databases" / "store_lock"
    lock.parent.mkdir(parents=True)
    before = (home / RECORD).read_bytes()
    with subprocess.Popen([sys.executable, "-c", HOLD, lock], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline() == b"held\n"
        assert is_locked(lock)
        for act in (make(tmp_path / "home").up, make(tmp_path / "home").down):
            with pytest.raises(ServerError, match=r"runs on another machine, far\.example\. Stop it there"):
                act()
        assert (home / RECORD).read_bytes() == before
        holder.communicate()
    assert not is_locked(lock) and own_record(home) is None


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A small file system. Ask for it before ``make``: its servers end before it is gone."""
    with small_disk(tmp_path / "disk", 160) as folder:
        yield folder


@pytest.mark.killed
def test_a_disk_that_fills_up_loses_nothing(disk: Path, make: Make) -> None:
    """The next command starts the server again, at the same address, but not before there is room. And when it was
    stopped in between.

    The transaction that does not fit is larger than the buffer of Neo4j's log: stopped in order, the server would
    write part of it twice, and could not read its log again.
    """
    said: list[str] = []
    server = make(disk / "home", said.append)
    connection = server.up()
    before = server.status()
    keep(connection, "before")
    fill_up(disk, connection)
    with pytest.raises(ServerError, match="has stopped working"):
        notes(connection)
    with pytest.raises(StartError, match=r"did not start: the disk of .* is full; make room"):
        server.up()
    assert any("has stopped working after an error; it is restarted" in line for line in said)
    (disk / "filler").unlink()
    again = server.up()
    assert notes(again) == ["before"]
    assert (server.status().pid != before.pid, server.status().uri) == (True, before.uri)

    fill_up(disk, again)
    (disk / "filler").unlink()
    assert server.down() is True
    again = server.up()
    keep(again, "after")
    assert notes(again) == ["after", "before"]


def fill_up(disk: Path, connection: Connection) -> None:
    """Write more than there is room for on ``disk``, which ends the server's work."""
    leave(disk, 12_000_000)
    with pytest.raises(ServerError, match=r"has stopped working.* disk is full.*Free some space.*same command") as told:
        keep(connection, *(f"{number:06}" + "x" * 2000 for number in range(6000)))
    assert "\n" not in str(told.value)


def test_a_server_on_a_disk_that_became_read_only_can_be_ended(disk: Path, make: Make) -> None:
    """Else the disk could not be taken down and mended."""
    home = disk / "home" / "neo4j"
    home.mkdir(parents=True)
    with subprocess.Popen(["sleep", "600"]) as process:
        ServerRecord(process.pid, process_mark(process.pid) or "", 1, 2, VERSION).save(home / RECORD)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        with pytest.raises(ServerError, match=r"cannot be used \(Read-only file system\); make it writable"):
            make(disk / "home").up()
        assert make(disk / "home").down() is True
        assert process.wait() != 0
    assert make(disk / "home").down() is False


@pytest.mark.parametrize(
    ("code", "message", "said"),
    [
        ("Neo.DatabaseError.Statement.ExecutionFailed", "/x: Read-only file system", "cannot be written"),
        (
            "Neo.TransientError.General.DatabaseUnavailable",
            "The database is not currently available.",
            "`kgplatform down`",
        ),
        ("Neo.ClientError.General.WriteOnReadOnlyAccessDatabase", "No writes.", "is read-only. Allow writing"),
        ("Neo.ClientError.Statement.SyntaxError", "Variable `needs to be restarted` not defined", None),
    ],
)
def test_what_a_server_in_trouble_says(code: str, message: str, said: str | None) -> None:
    found = trouble_of(Neo4jError._hydrate_neo4j(code=code, message=message))
    if said is None:
        assert found is None
    else:
        assert isinstance(found, ServerError)
        assert re.search(said, str(found))
