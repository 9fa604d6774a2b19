"""The journal of an evaluation: what was added is there again, whatever stopped the process that added it."""

import os
import signal
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from kgplatform.errors import KgError
from kgplatform.evaluate.journal import Journal, write_whole


def test_what_was_added_is_there_again(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "answers.jsonl"
    records = [{"key": "a", "text": "Größe \u2028 \ud800"}, {"key": "b", "text": "line\nbreak"}]
    with Journal(path) as journal:
        assert journal.records == []
        for record in records:
            journal.add(record)
    with Journal(path) as journal:
        assert (journal.records, journal.faults) == (records, ())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert len(path.read_bytes().splitlines()) == 2


@pytest.mark.parametrize("torn", [b'{"key": "c", "te', b'{"key": "c"}', b"\0\0\0\0", b"\0\0\n", b"[1]\n", b"\xff\n"])
def test_a_last_line_that_was_not_finished_is_cut_off(torn: bytes, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'{"key": "a"}\n{"key": "b"}\n' + torn)
    with Journal(path) as journal:
        assert [record["key"] for record in journal.records] == ["a", "b"]
        assert journal.faults == ()
        journal.add({"key": "d"})
    assert path.read_bytes() == b'{"key": "a"}\n{"key": "b"}\n{"key": "d"}\n'


def test_a_broken_line_in_the_middle_is_named_and_stays(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    path.write_bytes(b'{"key": "a"}\nnonsense\n\n"text"\n{"key": "b"}\n')
    with Journal(path, "rating") as journal:
        assert [record["key"] for record in journal.records] == ["a", "b"]
        assert journal.faults == tuple(f"{path}, line {n}: this is not a valid rating; it is left out." for n in (2, 4))
    assert b"nonsense" in path.read_bytes()


FULL_AND_KILLED = """
    import resource, signal, sys
    from pathlib import Path
    from kgplatform.errors import KgError
    from kgplatform.evaluate.journal import Journal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    journal = Journal(Path(sys.argv[1]))
    journal.add({"key": "first"})
    journal.add({"key": "second"})
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, resource.RLIM_INFINITY))
    for _ in range(2):
        try:
            journal.add({"key": "x" * 200})
        except KgError as error:
            print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    journal.add({"key": "third"})
    for number in range(1_000_000):
        journal.add({"key": str(number), "text": "x" * 5_000})
        print(number, flush=True)
"""


def test_neither_a_full_disk_nor_kill_9_loses_what_add_returned_from(tmp_path: Path) -> None:
    """A limit on the size of files: a part of the line is written, then no more, as on a full disk."""
    path = tmp_path / "answers.jsonl"
    command = [sys.executable, "-c", textwrap.dedent(FULL_AND_KILLED), str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        said = [process.stdout.readline() for _ in range(2)]
        for line in process.stdout:
            if line.strip() == "40":
                os.kill(process.pid, signal.SIGKILL)
                break
        added = [40, *map(int, process.stdout.read().split())]
    assert (
        said
        == [f"No space is left for {path}. 2 answers are kept; free some space and run the same command again.\n"] * 2
    )
    with Journal(path) as journal:
        keys = [record["key"] for record in journal.records]
        assert journal.faults == ()
    assert keys[:3] == ["first", "second", "third"]
    assert keys[3:] == [str(number) for number in range(len(keys) - 3)]
    assert added[-1] <= int(keys[-1]) <= added[-1] + 1


def test_a_whole_file_or_the_one_before(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    write_whole(path, b"first")
    write_whole(path, b"second", mode=0o644)
    assert path.read_bytes() == b"second"
    assert list(tmp_path.iterdir()) == [path]
    with pytest.raises(KgError, match=r"^.*cannot be written: .*\. All answers are kept; fix that "):
        write_whole(path / "results.json", b"third")
