"""A folder of texts without its names, the map beside it, and the way back to the letter."""

from __future__ import annotations

import json
import os
import stat
import threading
from pathlib import Path

import pytest

from kgplatform.errors import InputError, KgError
from kgplatform.evaluate.anonymise.folder import Map, read_map
from kgplatform.evaluate.anonymise.hidden_names import Candidate, SourceNames
from kgplatform.evaluate.anonymise.hide import AnonymityReport, HideRequest, anonymise
from kgplatform.evaluate.anonymise.restore import restore


def person(name: str, *aliases: str, weight: int = 1) -> Candidate:
    return Candidate("PERSON", name, aliases, is_person=True, weight=weight)


def own(*candidates: Candidate) -> list[SourceNames]:
    return [SourceNames(candidates)]


AHAB = own(person("Captain Ahab", "Ahab"), Candidate("LOCATION", "Nantucket"))


def run(folder: Path, out: Path, names: list[SourceNames] = AHAB, **more: object) -> AnonymityReport:
    return anonymise(HideRequest(folder, out, **more), lambda _: names)  # type: ignore[arg-type]  # fields by name


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A book in several encodings and forms."""
    place = tmp_path / "book"
    (place / "Captain Ahab").mkdir(parents=True)
    (place / "one.txt").write_bytes(b"\xef\xbb\xbfCaptain Ahab\r\nof Nantucket.\tAhab's [PERSON#1]\r\n\r\n")
    (place / "Captain Ahab" / "ahab_of_Nantucket.md").write_text("# Ahab\n\nHe came home.")
    (place / "Ahab.txt").write_bytes("Ahab, très âgé.".encode("cp1252"))
    (place / "wide.txt").write_bytes("\ufeffAhab went to Nantucket.\n".encode("utf-16-le"))
    (place / "corpus.json").write_text(
        '[ {"title":"Ahab", "text":"Captain\\nAhab \\u00e9t\\u00e9", "n": 1, "Ahab": ["Nantucket"]} ]\n'
    )
    (place / "lines.jsonl").write_text('{"title": "A", "text": "Ahab é"}\n{"title": "B", "text": Ahab\n')
    (place / "page.html").write_text("<html><head><title>T</title></head><body><p>Ahab was there.</p></body></html>")
    (place / "empty.txt").write_bytes(b"")
    return place


def test_a_folder_and_back(folder: Path, tmp_path: Path) -> None:
    before = tree(folder)
    report = run(folder, tmp_path / "out")
    assert tree(folder) == before
    ahab, place = placeholder(tmp_path, "Captain Ahab"), placeholder(tmp_path, "Nantucket")
    hidden = tree(tmp_path / "out")
    assert hidden["one.txt"] == f"\ufeff{ahab}\r\nof {place}.\t{ahab}'s [PERSON#1]\r\n\r\n".encode()
    assert ahab != "[PERSON#1]"
    assert hidden[f"{ahab}.txt"] == f"{ahab}, très âgé.".encode()
    assert hidden["wide.txt"] == f"{ahab} went to {place}.\n".encode()
    assert hidden["corpus.json"].decode() == (
        f'[ {{"title":"{ahab}", "text":"{ahab} \\u00e9t\\u00e9", "n": 1, "Ahab": ["{place}"]}} ]\n'
    )
    assert hidden["lines.jsonl"].decode().split("\n")[0] == f'{{"title": "A", "text": "{ahab} é"}}'
    assert hidden["page.txt"].decode() == f"{ahab} was there."
    assert not any(b"Ahab" in data for name, data in hidden.items() if name != "corpus.json")
    assert sorted(hidden) == sorted(
        ["one.txt", f"{ahab}/ahab of {place}.md", f"{ahab}.txt", "wide.txt", "corpus.json", "lines.jsonl", "page.txt"]
    )
    assert "lines.jsonl, line 2: not valid JSON; its names were replaced as in plain text" in report.notes
    assert "page.html: written as text, page.txt" in report.notes
    assert [each.reason for each in report.skipped if "empty" in each.path] == ["empty file"]
    assert (report.entities, report.files) == ({"LOCATION": 1, "PERSON": 1}, 7)
    back = restore(tmp_path / "out", tmp_path / "out.map.json", tmp_path / "back")
    assert "wide.txt: written in UTF-8" in report.notes
    assert tree(tmp_path / "back") == {
        **{name: data for name, data in before.items() if name not in ("page.html", "empty.txt")},
        "Ahab.txt": "Ahab, très âgé.".encode(),
        "wide.txt": b"Ahab went to Nantucket.\n",
        "page.html.txt": b"Ahab was there.",
    }
    assert (back.exact, back.by_name, back.missing) == (7, (), ())


def mapped(tmp_path: Path) -> Map:
    return read_map(tmp_path / "out.map.json")


def placeholder(tmp_path: Path, name: str) -> str:
    return next(each.placeholder for each in mapped(tmp_path).entities if each.name == name)


def test_the_map_is_private_and_the_same_twice(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out")
    run(folder, tmp_path / "again")
    assert stat.S_IMODE((tmp_path / "out.map.json").stat().st_mode) == 0o600
    assert (tmp_path / "out.map.json").read_bytes() == (tmp_path / "again.map.json").read_bytes()
    assert tree(tmp_path / "out") == tree(tmp_path / "again")


def test_questions_share_the_dictionary(folder: Path, tmp_path: Path) -> None:
    questions = tmp_path / "questions.jsonl"
    asked = {"id": "Ahab", "question": "Whose ship?", "answer": "Ahab's", "documents": ["Ahab.txt", "page.html"]}
    questions.write_text(json.dumps(asked) + "\nbroken Ahab\n")
    report = run(folder, tmp_path / "out", questions=questions)
    ahab = placeholder(tmp_path, "Captain Ahab")
    first, second = (tmp_path / "out.questions.jsonl").read_text().splitlines()
    assert json.loads(first) == {**asked, "answer": f"{ahab}'s", "documents": [f"{ahab}.txt", "page.txt"]}
    assert second == f"broken {ahab}"
    assert "questions.jsonl, line 2: not valid JSON; its names were replaced as in plain text" in report.notes
    hidden = tmp_path / "out.questions.jsonl"
    restore(tmp_path / "out", tmp_path / "out.map.json", tmp_path / "back", hidden)
    assert (tmp_path / "back.questions.jsonl").read_bytes() == questions.read_bytes()
    hidden.write_text(f"New: {ahab}")
    report_back = restore(tmp_path / "out", tmp_path / "out.map.json", tmp_path / "more", hidden)
    assert (tmp_path / "more.questions.jsonl").read_text() == "New: Captain Ahab"
    assert "restored by the names of the map" in report_back.notes[-1]


def test_files_that_were_changed_since(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out", own(person('Ahab "Old" Coffin', "Ahab")))
    out = tmp_path / "out"
    (ahab,) = (each.placeholder for each in mapped(tmp_path).entities)
    (out / "one.txt").write_text(f"{ahab} again, [PERSON#99]")
    (out / "corpus.json").write_text(json.dumps([{"title": "x", "text": ahab}]))
    (out / "new.txt").write_text(f"Of {ahab}")
    (out / "image.txt").write_bytes(bytes(range(256)))
    (out / "wide.txt").unlink()
    report = restore(out, tmp_path / "out.map.json", tmp_path / "back")
    assert report.by_name == ("corpus.json", "image.txt", "new.txt", "one.txt")
    assert report.missing == ("wide.txt",)
    assert (tmp_path / "back" / "one.txt").read_text() == 'Ahab "Old" Coffin again, [PERSON#99]'
    assert json.loads((tmp_path / "back" / "corpus.json").read_text()) == [{"title": "x", "text": 'Ahab "Old" Coffin'}]
    assert (tmp_path / "back" / "new.txt").read_text() == 'Of Ahab "Old" Coffin'
    assert "image.txt: not text; left out" in report.notes


def test_places_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    for out in (folder, folder / "inside", tmp_path):
        with pytest.raises(InputError, match="or the other way round"):
            run(folder, out)
    for place in (tmp_path / "out" / "map.json", folder / "map.json"):
        with pytest.raises(InputError, match="would lie among the texts"):
            run(folder, tmp_path / "out", map=place)
    with pytest.raises(InputError, match="is not a folder"):
        run(folder / "one.txt", tmp_path / "out")
    with pytest.raises(InputError, match="No name was found"):
        run(folder, tmp_path / "out", own(person("…")))
    (tmp_path / "nothing").mkdir()
    with pytest.raises(InputError, match="There is no text in"):
        run(tmp_path / "nothing", tmp_path / "out")
    with pytest.raises(InputError, match="The questions .* cannot be read: no such file"):
        run(folder, tmp_path / "out", questions=tmp_path / "none.jsonl")
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.map.json").exists()
    (tmp_path / "out").mkdir()
    run(folder, tmp_path / "out")
    with pytest.raises(InputError, match="is not empty"):
        run(folder, tmp_path / "out")
    (tmp_path / "other.map.json").write_text("{}")
    with pytest.raises(InputError, match="other.map.json exists already, and may be needed"):
        run(folder, tmp_path / "other")


def test_the_map_has_a_place_of_its_own(folder: Path, tmp_path: Path) -> None:
    """Neither the questions nor the texts are written over it."""
    questions = tmp_path / "asked.jsonl"
    questions.write_text('{"question": "Where is Ahab?", "answer": "Nantucket"}')
    for place in ("out.questions.jsonl", "out"):
        with pytest.raises(InputError, match=f"{place} is already the name of another output. "):
            run(folder, tmp_path / "out", questions=questions, map=tmp_path / place)
    assert not (tmp_path / "out").exists()
    assert not (tmp_path / "out.questions.jsonl").exists()


def test_names_that_stand_nowhere(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="None of the names is in the texts"):
        run(folder, tmp_path / "out", own(person("Ishmael")))
    assert not (tmp_path / "out").exists()


def test_names_in_keys_are_told(folder: Path, tmp_path: Path) -> None:
    (folder / "lines.jsonl").write_text('{"title": "A", "text": "x", "age of Ahab": 58}\n{"\\x": "text": Ahab\n')
    told = [note for note in run(folder, tmp_path / "out").notes if "keys" in note]
    assert told == [
        "corpus.json: keys are left as they are, names and all: Ahab",
        "lines.jsonl: keys are left as they are, names and all: age of Ahab",
    ]


def test_a_title_that_is_lost_is_followed_to_the_file(folder: Path, tmp_path: Path) -> None:
    """A page is known to ``ingest`` by its title, its text by the file's name."""
    (folder / "page.html").write_text("<html><head><title>The Whale</title></head><body><p>Ahab.</p></body></html>")
    questions = tmp_path / "asked.jsonl"
    questions.write_text('{"question": "Who?", "answer": "Ahab", "documents": ["The Whale"]}')
    run(folder, tmp_path / "out", questions=questions)
    assert json.loads((tmp_path / "out.questions.jsonl").read_text())["documents"] == ["page.txt"]


def test_a_text_without_names_proves_no_map(folder: Path, tmp_path: Path) -> None:
    (folder / "plain.txt").write_text("The sea was calm.")
    run(folder, tmp_path / "out")
    run(folder, tmp_path / "other", own(Candidate("SAILOR", "Ahab"), Candidate("PORT", "Nantucket")))
    assert tree(tmp_path / "out")["plain.txt"] == tree(tmp_path / "other")["plain.txt"]
    with pytest.raises(InputError, match="It is the map of another folder"):
        restore(tmp_path / "out", tmp_path / "other.map.json", tmp_path / "back")


def test_a_new_file_gives_way(folder: Path, tmp_path: Path) -> None:
    """A file that was put among the texts takes no other's place, nor one outside, and a changed page is a text."""
    run(folder, tmp_path / "out", own(person("Ahab", "Captain Ahab"), person("../../Ishmael/")))
    ahab = placeholder(tmp_path, "Ahab")
    out, back = tmp_path / "out", tmp_path / "back"
    (out / "Ahab.txt").write_text("A new one.")
    (out / "page.txt").write_text(f"{ahab} was here.")
    report = restore(out, tmp_path / "out.map.json", back)
    assert (back / "Ahab.txt").read_text() == "Ahab, très âgé."
    assert (back / "Ahab (2).txt").read_text() == "A new one."
    assert (back / "page.html.txt").read_text() == "Ahab was here."
    assert report.by_name == ("Ahab.txt", "page.txt")
    content = json.loads((tmp_path / "out.map.json").read_text())
    content["entities"][0]["name"] = "../../Ishmael"
    (tmp_path / "strange.json").write_text(json.dumps(content))
    (out / f"{ahab}er.txt").write_text("Another.")
    restore(out, tmp_path / "strange.json", tmp_path / "again")
    assert (tmp_path / "again" / ".. .. Ishmaeler.txt").read_text() == "Another."


def test_maps_that_cannot_be_used(folder: Path, tmp_path: Path) -> None:
    run(folder, tmp_path / "out")
    out, file = tmp_path / "out", tmp_path / "map.json"
    content = json.loads((tmp_path / "out.map.json").read_text())
    wrong: list[tuple[object, str]] = [
        ([], "is not a map of `kgplatform anonymise`"),
        ({**content, "version": 1}, "is of version 1; this program reads version 2"),
        ({**content, "files": [{"name": 1}]}, "is damaged: files.0"),
        ({**content, "files": []}, "It is the map of another folder"),
        ({**content, "files": [{**content["files"][0], "original": "../x"}]}, "is not a path inside a folder"),
        ({**content, "files": [{**each, "edits": []} for each in content["files"]]}, "it does not restore"),
    ]
    for value, sentence in wrong:
        file.write_text(json.dumps(value))
        with pytest.raises(InputError, match=sentence):
            restore(out, file, tmp_path / "back")
    file.write_text("{")
    with pytest.raises(InputError, match="not valid JSON"):
        restore(out, file, tmp_path / "back")
    with pytest.raises(InputError, match="cannot be read: no such file"):
        restore(out, tmp_path / "none", tmp_path / "back")
    with pytest.raises(InputError, match="or the other way round"):
        restore(out, tmp_path / "out.map.json", out / "x")
    with pytest.raises(InputError, match="is not a folder"):
        restore(tmp_path / "none", tmp_path / "out.map.json", tmp_path / "back")
    assert not (tmp_path / "back").exists()


def test_where_writing_fails_nothing_is_left(folder: Path, tmp_path: Path) -> None:
    """A full device: /dev/full takes no byte."""
    (tmp_path / f"out.map.json.{os.getpid()}-{threading.get_ident()}.tmp").symlink_to("/dev/full")
    with pytest.raises(KgError, match="No space is left for .*The texts themselves are as they were"):
        run(folder, tmp_path / "out")
    blocked = tmp_path / "blocked"
    blocked.write_text("a file, no folder")
    with pytest.raises(KgError, match="cannot be written: .*The texts themselves are as they were"):
        run(folder, blocked / "out")
    assert blocked.read_text() == "a file, no folder"
    with pytest.raises(KgError, match="cannot be written"):
        run(folder, tmp_path / "out", map=blocked / "map.json")
    assert not (tmp_path / "out").exists()
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".out")] == []
