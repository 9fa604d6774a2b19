"""The jar folder: filled from a Maven repository, checked, mended, shared."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from conftest import JARS, ROOT
from jar_repository import Repository, flipped, linked_jars, one_jar, serve, spoil, use_repository

from kgplatform.errors import ServerError
from kgplatform.neo4j.config import VERSION, install, locked_jars


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    with serve(tmp_path, monkeypatch) as found:
        yield found


@pytest.fixture(scope="module", autouse=True)
def _real_jars() -> None:
    install(JARS, lambda line: None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A complete jar folder, by hard links: replace a file in it, never write into one."""
    return linked_jars(tmp_path / "jars")


def test_lock_file_names_each_jar_once_with_its_checksum() -> None:
    jars = locked_jars()
    assert len({jar.path for jar in jars}) == len(jars) == 203
    assert all(len(bytes.fromhex(jar.sha256)) == 32 and jar.size > 0 for jar in jars)
    versions = {jar.version for jar in jars if (jar.group, jar.artifact) == ("org.neo4j", "neo4j")}
    assert versions == {VERSION}
    assert any(jar.artifact == "neo4j-browser" for jar in jars)


def test_complete_folder_asks_the_network_for_nothing(folder: Path, repository: Repository) -> None:
    said: list[str] = []
    paths = install(folder, said.append)
    assert [path.relative_to(folder).as_posix() for path in paths] == [jar.path for jar in locked_jars()]
    assert repository.asked == said == []


@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_only_a_damaged_jar_is_fetched_again(folder: Path, repository: Repository, damage: str) -> None:
    jar = one_jar()
    path = folder / jar.path
    if damage == "missing":
        path.unlink()
    else:
        spoil(path, path.read_bytes()[:-1])
    install(folder, lambda line: None)
    assert repository.asked == [jar.path]
    assert path.read_bytes() == (JARS / jar.path).read_bytes()


def test_recheck_finds_what_the_size_does_not_show(folder: Path, repository: Repository) -> None:
    jar = one_jar()
    spoil(folder / jar.path, flipped(folder / jar.path))
    install(folder, lambda line: None)
    assert repository.asked == []
    install(folder, lambda line: None, recheck=True)
    assert repository.asked == [jar.path]


@pytest.mark.parametrize(("fault", "words"), [("flip", "damaged"), ("cut", "does not give"), ("missing", "does not")])
def test_bad_repository_is_one_sentence_and_leaves_no_bad_file(
    folder: Path, repository: Repository, fault: str, words: str
) -> None:
    jar = one_jar()
    (folder / jar.path).unlink()
    repository.fault = fault
    with pytest.raises(ServerError, match=words) as caught:
        install(folder, lambda line: None)
    assert Path(jar.path).name in str(caught.value)
    assert not (folder / jar.path).exists()
    repository.fault = ""
    install(folder, lambda line: None)
    assert (folder / jar.path).stat().st_size == jar.size


def test_a_bad_jar_goes_even_where_no_other_comes(folder: Path, repository: Repository) -> None:
    """Else the next start, which asks for the size only, would run with it."""
    jar = one_jar()
    spoil(folder / jar.path, flipped(folder / jar.path))
    repository.fault = "missing"
    with pytest.raises(ServerError, match="does not give"):
        install(folder, lambda line: None, recheck=True)
    assert not (folder / jar.path).exists()


def test_a_busy_repository_is_asked_again(folder: Path, repository: Repository) -> None:
    jar = one_jar()
    (folder / jar.path).unlink()
    repository.fault = "busy"
    install(folder, lambda line: None)
    assert repository.asked == [jar.path, jar.path]
    assert (folder / jar.path).read_bytes() == (JARS / jar.path).read_bytes()


def test_no_network_says_what_to_do(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_repository(tmp_path, monkeypatch, "http://127.0.0.1:9")
    (folder / one_jar().path).unlink()
    with pytest.raises(ServerError, match="KGPLATFORM_NEO4J_JARS"):
        install(folder, lambda line: None)


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match=str(tmp_path / "file" / "jars")):
        install(tmp_path / "file" / "jars", lambda line: None)


def test_two_processes_fill_an_empty_folder_and_fetch_each_file_once(tmp_path: Path, repository: Repository) -> None:
    folder = tmp_path / "new" / "jars"
    code = "import sys, pathlib, kgplatform.neo4j.config as n; n.install(pathlib.Path(sys.argv[1]), print)"
    command = [sys.executable, "-c", code, str(folder)]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert sorted(repository.asked) == sorted(jar.path for jar in locked_jars())
    for jar in locked_jars():
        assert (folder / jar.path).stat().st_size == jar.size
