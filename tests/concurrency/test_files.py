"""Files that are written whole, and locks on files."""

import stat
from pathlib import Path

import pytest

from kgplatform.concurrency.files import claim, file_lock, write_atomically


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
