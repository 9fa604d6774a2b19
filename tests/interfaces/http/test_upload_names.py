"""The names under which uploads are kept: whatever a client calls a file, it stays in its folder."""

from __future__ import annotations

import io
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgplatform.errors import InputError
from kgplatform.interfaces.uploads import Uploads, safe_name


@pytest.mark.parametrize(
    ("given_name", "kept"),
    [
        ("../../etc/passwd", "passwd"),
        ("C:\\Users\\me\\notes.md", "notes.md"),
        (".bashrc", "bashrc"),
        ("a\x00b\n.txt", "ab.txt"),
        ("trailing. . ", "trailing"),
        ("NUL", "_NUL"),
        ("\u202egnp.exe.txt", "gnp.exe.txt"),
        ("e\u0301.txt", "é.txt"),
        ("<img src=x onerror=alert(1)>.md", "<img src=x onerror=alert(1)>.md"),
    ],
)
def test_a_safe_name(given_name: str, kept: str) -> None:
    assert safe_name(given_name) == kept


def test_no_name() -> None:
    for name in ("", "..", "/", "a/", "\x00", "\u202e", " . . "):
        with pytest.raises(InputError, match="cannot be a file name"):
            safe_name(name)


def test_a_long_name_stays_the_same_and_its_own() -> None:
    one, other = safe_name("x" * 500 + ".pdf"), safe_name("x" * 501 + ".pdf")
    assert one != other
    assert one == safe_name("x" * 500 + ".pdf")
    assert len(one.encode()) <= 200
    assert one.endswith(".pdf")
    assert len(safe_name("ß" * 300 + "." + "y" * 300).encode()) <= 200


@given(st.text(max_size=300))
def test_no_name_leaves_the_folder(name: str) -> None:
    try:
        kept = safe_name(name)
    except InputError:
        return
    assert Path("/folder", kept).parent == Path("/folder")
    assert kept not in (".", "..")
    assert not kept.startswith(".")
    assert "\x00" not in kept
    assert len(kept.encode()) <= 250
    assert safe_name(kept) == kept


def test_a_copied_home_that_serves_the_same_graph_is_another_place(tmp_path: Path) -> None:
    home = Uploads(tmp_path / "home", shares_graph=True)
    place = home.place()
    assert Uploads(tmp_path / "home", shares_graph=True).place() == place
    shutil.copytree(tmp_path / "home", tmp_path / "copy")
    shutil.copytree(tmp_path / "home", tmp_path / "own-graph")
    other = Uploads(tmp_path / "copy", shares_graph=True).place()
    assert other != place and Uploads(tmp_path / "copy", shares_graph=True).place() == other
    assert Uploads(tmp_path / "own-graph").place() == place  # its graph was copied too, with the jobs in it
    (tmp_path / "home").rename(tmp_path / "renamed")
    assert Uploads(tmp_path / "renamed", shares_graph=True).place() == place
    (tmp_path / "uploads.id").write_text("0123abc")  # of an earlier version
    assert [Uploads(tmp_path, shares_graph=True).place() for _ in range(2)] == ["0123abc", "0123abc"]


def test_a_link_in_the_folder_is_replaced_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("mine")
    uploads = Uploads(tmp_path / "home")
    uploads.put(uploads.stage([("a.txt", io.BytesIO(b"one"))], "graph"))
    assert stat.S_IMODE(uploads.folder.stat().st_mode) == 0o700
    (uploads.folder / "a.txt").unlink()
    (uploads.folder / "a.txt").symlink_to(secret)
    uploads.put(uploads.stage([("a.txt", io.BytesIO(b"two"))], "graph"))
    assert secret.read_text() == "mine"
    assert (uploads.folder / "a.txt").read_text() == "two"
