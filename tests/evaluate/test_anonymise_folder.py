"""A folder of texts without its names, and the map beside it."""

import json
import os
import stat
import threading
from pathlib import Path
from typing import Any

import pytest

from kgplatform.errors import InputError, KgError
from kgplatform.evaluate.anonymise import AnonymityReport, anonymise
from kgplatform.evaluate.hidden_names import Candidate, SourceNames


def person(name: str, *aliases: str) -> Candidate:
    return Candidate("PERSON", name, aliases, is_person=True)


def own(*candidates: Candidate) -> SourceNames:
    return SourceNames(candidates)


AHAB = own(person("Captain Ahab", "Ahab"), Candidate("LOCATION", "Nantucket"))


def run(folder: Path, out: Path, names: SourceNames = AHAB, **more: Any) -> AnonymityReport:
    return anonymise(folder, out, lambda _: names, **more)


def texts_of(folder: Path) -> dict[str, str]:
    """The texts by their titles."""
    lines = (folder / "texts.jsonl").read_text("utf-8").splitlines()
    return {value["title"]: value["text"] for value in map(json.loads, lines)}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A book in several encodings."""
    place = tmp_path / "book"
    (place / "Captain Ahab").mkdir(parents=True)
    (place / "one.txt").write_bytes(b"\xef\xbb\xbfCaptain Ahab\r\nof Nantucket.\tAhab's [PERSON#1]\r\n\r\n")
    (place / "Captain Ahab" / "ahab_of_Nantucket.txt").write_text("Ahab came home.")
    (place / "old.txt").write_bytes("Ahab, très âgé.".encode("cp1252"))
    (place / "empty.txt").write_bytes(b"")
    return place


@pytest.fixture
def rich_folder(folder: Path) -> Path:
    """The book in several forms too, which are read in processes of their own."""
    (folder / "corpus.json").write_text('[{"title":"Ahab", "text":"Captain\\nAhab \\u00e9t\\u00e9", "n": 1}]')
    (folder / "page.html").write_text("<html><head><title>T</title></head><body><p>Ahab was there.</p></body></html>")
    return folder


def placeholder(tmp_path: Path, name: str) -> str:
    entities = json.loads((tmp_path / "out.map.json").read_text())["entities"]
    return next(str(each["placeholder"]) for each in entities if each["name"] == name)


def test_a_folder_and_its_questions(rich_folder: Path, tmp_path: Path) -> None:
    before = {path: path.read_bytes() for path in rich_folder.rglob("*") if path.is_file()}
    questions, hidden_questions = tmp_path / "questions.jsonl", tmp_path / "out.questions.jsonl"
    asked = {"id": "Ahab", "question": "Whose ship?", "answer": "Ahab's", "documents": ["page.html", "Ahab", "one"]}
    questions.write_text(json.dumps(asked) + "\n")
    report = run(rich_folder, tmp_path / "out", questions=questions)
    assert {path: path.read_bytes() for path in before} == before
    ahab, place = placeholder(tmp_path, "Captain Ahab"), placeholder(tmp_path, "Nantucket")
    assert ahab != "[PERSON#1]"
    hidden = texts_of(tmp_path / "out")
    assert hidden["one"].split() == [ahab, "of", f"{place}.", f"{ahab}'s", "[PERSON#1]"]
    assert hidden["old"] == f"{ahab}, très âgé."
    assert hidden[ahab] == f"{ahab} été"
    assert hidden["T"] == f"{ahab} was there."
    assert sorted(hidden) == sorted(["one", f"ahab of {place}", "old", ahab, "T"])  # of a name in lower case no part
    told = json.loads(hidden_questions.read_text())
    assert told == {**asked, "answer": f"{ahab}'s", "documents": ["T", ahab, "one"]}
    assert [each.reason for each in report.skipped if "empty" in each.path] == ["empty file"]
    assert (report.entities, report.texts) == ({"LOCATION": 1, "PERSON": 1}, 5)


def test_the_map_is_private_and_the_same_twice(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out")
    run(folder, tmp_path / "again")
    assert stat.S_IMODE((tmp_path / "out.map.json").stat().st_mode) == 0o600
    assert (tmp_path / "out.map.json").read_bytes() == (tmp_path / "again.map.json").read_bytes()
    assert texts_of(tmp_path / "out") == texts_of(tmp_path / "again")


def test_places_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    for out in (folder, folder / "inside", tmp_path):
        with pytest.raises(InputError, match="contains the other"):
            run(folder, out)
    (tmp_path / "nothing").mkdir()
    for place, names, said in (
        (folder / "one.txt", AHAB, "is not a folder"),
        (folder, own(person("…")), "No names to replace were found"),
        (folder, own(person("Ishmael")), "None of the names occurs in the texts"),
        (tmp_path / "nothing", AHAB, "There is no text in"),
    ):
        with pytest.raises(InputError, match=said):
            run(place, tmp_path / "out", names)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.map.json").exists()
    run(folder, tmp_path / "out")
    with pytest.raises(InputError, match="is not empty"):
        run(folder, tmp_path / "out")
    (tmp_path / "other.map.json").write_text("{}")
    with pytest.raises(InputError, match="other.map.json exists already, and may be needed"):
        run(folder, tmp_path / "other")


def test_where_writing_fails_nothing_is_left(folder: Path, tmp_path: Path) -> None:
    """A full device: /dev/full takes no byte."""
    (tmp_path / f"out.map.json.{os.getpid()}-{threading.get_ident()}.tmp").symlink_to("/dev/full")
    with pytest.raises(KgError, match=r"No space is left for .*The texts themselves are as they were"):
        run(folder, tmp_path / "out")
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, no folder")
    with pytest.raises(KgError, match=r"cannot be written: .*The texts themselves are as they were"):
        run(folder, blocked / "out")
    assert blocked.read_text() == "a file, no folder"
    assert not (tmp_path / "out").exists()
