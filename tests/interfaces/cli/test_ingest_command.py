"""`kgplatform ingest` and `remove` as a person meets them: what is refused, what is said, and the exit status."""

from pathlib import Path

import pytest
from command_line import Run
from corpora import put

from kgplatform.neo4j.store import Store
from kgplatform.testing import Fault, OpenAIServer

pytest_plugins = ["command_line"]
pytestmark = pytest.mark.usefixtures("store")

ADA = "Ada Lovelace was born in London in 1815. "


def test_an_empty_name_is_not_the_folder_that_one_is_in(run: Run, tmp_path: Path) -> None:
    put(tmp_path, {"notes.txt": ADA})
    for arguments, says in (
        (["ingest", "notes.txt", ""], "A path is empty. Name a file or a folder; `.` is the current folder."),
        (["ingest", "--facts", "--reread"], "Name at least one file or folder to ingest."),
        (["status", "--home", ""], "The name of the home folder is empty. Name a folder, or leave it out."),
        (["remove", ""], "A document's name is empty. `kgplatform documents` lists the documents."),
    ):
        done = run(*arguments)
        assert (done.code, done.out, done.err) == (2, "", f"kgplatform: {says}\n")
    assert run("documents", "--json").document == {"documents": []}


def test_what_has_no_file_and_what_failed_are_told_and_a_folder_is_removed(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    empty = tmp_path / "empty"
    empty.mkdir()
    done = run("ingest", empty)
    assert (done.code, f"{empty} has no files.\n" in done.out) == (2, True)
    put(tmp_path / "docs", {f"{number:02}.txt": ADA for number in range(22)} | {"more.txt": f"Twice. {ADA}"})

    def one_fails(messages: list[dict[str, str]]) -> str | Fault:
        said = messages[-1]["content"]
        return Fault.refuse(400, "too long") if "Twice" in said else '{"entities": []}'

    with OpenAIServer(one_fails) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        done = run("ingest", empty, tmp_path / "docs")
    assert (done.code, f"{empty} has no files.\n" in done.out) == (3, True)
    assert "1 passage failed. Run the same command again to retry." in done.out
    done = run("remove", tmp_path / "docs")
    assert done.out.startswith("Removed 23 documents: 00, 01, ")
    assert done.out.endswith(" and 3 more\n")


def test_files_that_are_gone(run: Run, tmp_path: Path) -> None:
    one, two, _ = put(tmp_path / "docs", {"one.txt": ADA, "two.txt": "Two.", "three.txt": "Three."})
    run("ingest", tmp_path / "docs")
    one.rename(tmp_path / "docs" / "new.txt")
    two.unlink()
    done = run("ingest", tmp_path / "docs")
    assert done.code == 0
    assert done.out.splitlines()[:4] == [
        f"File gone: {one} (the same text is in {tmp_path}/docs/new.txt)",
        f"File gone: {two}",
        "2 documents are still in the graph although the files are gone; --prune removes them.",
        "Documents: 1 new, 1 unchanged. Passages: 2, 1 read now by the extractor local.",
    ]
    done = run("ingest", tmp_path / "docs", "--prune")
    assert "Documents: 2 unchanged, 2 removed." in done.out
    assert "still in the graph" not in done.out


def test_settings_in_force(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGPLATFORM_WORKERS", "many")
    done = run("settings", "--home", tmp_path / "here")
    assert done.code == 2
    assert done.err.startswith("kgplatform: A setting cannot be used: KGPLATFORM_WORKERS: ")
    lines = [line.split("\t")[:3] for line in done.out.splitlines()]
    assert lines[:2] == [["Setting", "Value", "From"], ["KGPLATFORM_HOME", f"{tmp_path}/here", "argument"]]
    assert ["KGPLATFORM_WORKERS", "many", "environment"] in lines
    assert ["NEO4J_PASSWORD", "********", "environment"] in lines


def test_a_run_that_finishes_what_another_left_says_so(run: Run, store: Store, tmp_path: Path) -> None:
    put(tmp_path / "docs", {"one.txt": ADA})
    run("ingest", tmp_path / "docs")
    assert "Nothing changed: 1 document is up to date.\nSchema" in run("ingest", tmp_path / "docs").out
    # As an ingest leaves the graph that was killed after the last passage was read.
    left = "MATCH (e:Entity) SET e:Pending RETURN count(e)"
    ((number,),) = store.run_statement(left, {}, write=True, timeout=30, limit=1).rows
    done = run("ingest", tmp_path / "docs").out
    assert "Nothing left to read: 1 document is up to date.\n" in done
    assert f"Finished {number} names, facts and passages that an earlier run had left.\n" in done
