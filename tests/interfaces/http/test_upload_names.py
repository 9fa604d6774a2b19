"""The names under which uploads are kept: whatever a client calls a file, it stays in its folder."""

import io
import shutil
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgplatform.errors import InputError
from kgplatform.interfaces.uploads import Uploads, safe_name
from kgplatform.shown import given_name


@pytest.mark.parametrize(
    ("name", "kept"),
    [
        ("Report (final).pdf", "Report (final).pdf"),
        ("50% off.txt", "50% off.txt"),
        ("a%2Fb.txt", "a%252Fb.txt"),
        ("2023/Report.md", "2023%2FReport.md"),
        ("../../etc/passwd", "%2E%2E%2F..%2Fetc%2Fpasswd"),
        ("me\\notes.md", "me%5Cnotes.md"),
        (".bashrc", "%2Ebashrc"),
        ("a\x00b\n.txt", "a%00b%0A.txt"),
        ("trailing. . ", "trailing%2E%20%2E%20"),
        ("NUL", "%4EUL"),
        ("\u202egnp.exe.txt", "%E2%80%AEgnp.exe.txt"),
        ("e\u0301.txt", "e\u0301.txt"),
        ("é.txt", "é.txt"),
        ("<img src=x onerror=alert(1)>.md", "<img src=x onerror=alert(1)>.md"),
    ],
)
def test_a_name_is_kept_so_that_it_can_be_shown_as_it_was(name: str, kept: str) -> None:
    assert safe_name(name) == kept
    assert given_name(kept) == name


def test_no_name() -> None:
    for name in ("", "..", "/", "\x00", "\u202e", " . . "):
        with pytest.raises(InputError, match="cannot be a file name"):
            safe_name(name)


def test_a_long_name_stays_the_same_and_its_own() -> None:
    one, other = safe_name("x" * 500 + ".pdf"), safe_name("x" * 501 + ".pdf")
    assert one != other
    assert one == safe_name("x" * 500 + ".pdf")
    assert len(one.encode()) <= 255
    assert given_name(one).endswith("x….pdf")
    assert one.endswith(".pdf")
    assert len(safe_name("ß" * 300 + "." + "y" * 300).encode()) <= 255


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
    assert len(kept.encode()) <= 255
    assert given_name(kept) == name or "…" in given_name(kept)


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
