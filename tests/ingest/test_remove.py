"""What is taken away leaves no trace, whatever it shares with what stays; files that are gone, renamed, and folders."""

import os
import shutil
from pathlib import Path

import pytest
from conftest import wipe
from corpora import FIELD, OTHERS, RECORDING, difference, put, put_jsonl
from graph_state import Snapshot, snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import DocumentError, InputError
from kgplatform.records import GoneFile


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    return put_jsonl(tmp_path / "recording.jsonl", RECORDING)


def rows(kg: KnowledgeGraph, statement: str) -> list[list[object]]:
    return kg.cypher(statement, limit=10_000).rows


def alone(kg: KnowledgeGraph, files: list[Path], **options: object) -> Snapshot:
    """The graph of ``files`` alone; the database is empty afterwards."""
    kg.ingest(files, **options)  # type: ignore[arg-type]
    found = snapshot(kg.store)
    wipe(kg.store)
    return found


def test_removing_the_second_gives_the_first_alone(kg: KnowledgeGraph, tmp_path: Path, recording: Path) -> None:
    first, others = put(tmp_path, FIELD), put(tmp_path, OTHERS)
    wanted = alone(kg, first, recorded=recording)
    kg.ingest(first, recorded=recording)
    kg.ingest(others, recorded=recording)

    # What the second brings is there, else this test would prove nothing.
    field = "MATCH (e:Entity {key: 'cyrus field'}) RETURN e.name, e.aliases"
    assert rows(kg, field) == [["CYRUS FIELD", ["Cyrus Field"]]]
    assert rows(kg, "MATCH (k:KeyElement {key: 'cable'}) RETURN k.name, k.aliases") == [["Cable", ["cable"]]]
    likely = "MATCH (:Entity {key: 'cyrus field'})-[s:SAME_AS]-(e) RETURN e.name, s.score >= 0.8"
    assert rows(kg, likely) == [["Cyrus West Field", True]]
    weights = "MATCH (:Entity {key: 'cyrus field'})-[r:FOUNDED]->() RETURN r.weight ORDER BY r.weight"
    assert rows(kg, weights) == [[2], [2]]
    shared = "MATCH (a:Attribute {key: 'birth date'})<-[:VALUE]-(f:Fact) RETURN f.subject ORDER BY f.subject"
    assert rows(kg, shared) == [["CYRUS FIELD"], ["Cyrus Field"]]
    graph = kg.schema()
    assert graph is not None
    assert [(each.kind, each.name, each.count) for each in graph.expansions] == [("relation", "financed", 2)]

    removed = kg.remove([path.name for path in others[:1]] + [others[1].as_uri()])
    assert sorted(each.uri for each in removed) == sorted(path.as_uri() for path in others)
    assert difference(snapshot(kg.store), wanted) == []


def test_how_a_document_may_be_named(kg: KnowledgeGraph, tmp_path: Path, recording: Path) -> None:
    folder = tmp_path / "more"
    put(folder, {"pair.jsonl": '{"title": "One", "text": "Ada Byron wrote."}\n{"title": "Two", "text": "Two, too."}\n'})
    put(folder, {"one.txt": "Another One."})
    kg.ingest(folder)
    with pytest.raises(InputError, match="There is no document 'Three'"):
        kg.remove(["One", "Three"])
    assert len(kg.documents()) == 3
    (folder / "again").mkdir()
    put(folder / "again", {"one.txt": "A third One."})
    kg.ingest(folder)
    with pytest.raises(InputError, match="2 documents are called 'one'") as caught:
        kg.remove("one")
    assert (folder / "again" / "one.txt").as_uri() in str(caught.value)
    assert [info.title for info in kg.remove("Two")] == ["Two"]
    assert [info.title for info in kg.remove(str(folder / "pair.jsonl"))] == ["One"]
    left = kg.documents()
    assert len(kg.remove([left[0].uri, left[1].id])) == 2
    assert kg.documents() == []


def test_a_damaged_line_removes_no_document_and_a_removed_line_does(kg: KnowledgeGraph, tmp_path: Path) -> None:
    lines = [f'{{"title": "{title}", "text": "{title} keeps the tools."}}\n' for title in ("One", "Two", "Three")]
    file = tmp_path / "c.jsonl"
    for damaged in (lines[0][:20] + "\n" + lines[1], lines[0] + '{"title": "Two"}\n', lines[0] + lines[1][:-9]):
        file.write_text("".join(lines))
        kg.ingest(file)
        file.write_text(damaged)
        report = kg.ingest(file)
        assert report.removed == 0 and len(report.skipped) == 1
        assert titles(kg) == ["One", "Three", "Two"]
    file.write_text(lines[0])
    assert kg.ingest(file).removed == 2
    assert titles(kg) == ["One"]


ADA = "Ada Lovelace was born in London in 1815."
CHARLES = "Charles Babbage designed the Analytical Engine in London."
GRACE = "Grace Hopper was born in New York City in 1906."


def titles(kg: KnowledgeGraph) -> list[str]:
    return [info.title for info in kg.documents()]


def test_a_file_that_is_gone_is_named_and_goes_when_asked(kg: KnowledgeGraph, tmp_path: Path) -> None:
    folder = tmp_path / "my docs"
    kept, gone, grave = put(folder, {"charles.txt": CHARLES, "ada ü.txt": ADA, "grace.txt": GRACE})
    kg.ingest(grave, extractor="local")
    kg.ingest(kept, extractor="local")
    wanted = snapshot(kg.store)
    kg.ingest(gone, extractor="local")
    gone.unlink()
    report = kg.ingest(folder, extractor="local")
    assert report.gone == [GoneFile(str(gone), 1, None, removed=False)]
    assert (report.removed, titles(kg)) == (0, ["ada ü", "charles", "grace"])
    report = kg.ingest(folder, extractor="local", prune=True)
    assert report.gone == [GoneFile(str(gone), 1, None, removed=True)]
    assert (report.removed, report.unchanged) == (1, 2)
    assert difference(snapshot(kg.store), wanted) == []
    assert kg.ingest(folder, extractor="local", prune=True).gone == []


def test_a_file_whose_name_is_no_utf_8_goes_by_what_is_shown_of_it(kg: KnowledgeGraph, tmp_path: Path) -> None:
    file = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9\n.txt"))
    try:
        file.write_text(ADA)
    except OSError:
        pytest.skip("the file system takes UTF-8 alone")
    shown = f"{tmp_path}/caf\ufffd\n.txt"
    for name in (shown, file, str(file), file.as_uri(), "caf\ufffd"):
        assert kg.ingest(str(file), extractor="local").added == 1
        assert [info.title for info in kg.remove(name)] == ["caf\ufffd"]
    other = file.with_name(file.name.replace("\udce9", "\udce8"))
    other.write_text(CHARLES)
    kg.ingest([file, other], extractor="local")
    with pytest.raises(InputError, match="Several files are shown as"):
        kg.remove(shown)


def test_only_beneath_the_folders_that_are_named(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (inside,) = put(tmp_path / "docs", {"a.txt": ADA})
    (beside,) = put(tmp_path / "docs2", {"b.txt": CHARLES})
    (alone,) = put(tmp_path, {"c.txt": GRACE})
    kg.ingest([inside, beside, alone], extractor="local")
    (here,) = put(tmp_path / "docs" / "deep", {"d.txt": GRACE})
    beside.unlink()
    alone.unlink()
    assert kg.ingest([tmp_path / "docs", inside], extractor="local", prune=True).gone == []
    shutil.rmtree(tmp_path / "docs" / "deep")
    report = kg.ingest([tmp_path / "docs"], extractor="local", prune=True)
    assert [file.path for file in report.gone] == [str(here)]
    assert titles(kg) == ["a", "b", "c"]


def test_a_renamed_file_is_said_to_be_one(kg: KnowledgeGraph, tmp_path: Path) -> None:
    old, corpus = put(tmp_path, {"old.txt": ADA, "other.txt": CHARLES})
    put_jsonl(tmp_path / "corpus.jsonl", [{"title": "One", "text": GRACE}, {"title": "Two", "text": CHARLES}])
    kg.ingest(tmp_path, extractor="local")
    new = old.rename(tmp_path / "new.txt")
    (tmp_path / "corpus.jsonl").unlink()
    report = kg.ingest(tmp_path, extractor="local")
    assert report.gone == [
        GoneFile(str(tmp_path / "corpus.jsonl"), 2, None, removed=False),
        GoneFile(str(old), 1, str(new), removed=False),
    ]
    assert kg.ingest(tmp_path, extractor="local", prune=True).removed == 3
    assert titles(kg) == ["new", "other"]
    assert corpus.exists()


def test_of_several_copies_the_one_beside_it_is_the_new_name(kg: KnowledgeGraph, tmp_path: Path) -> None:
    put(tmp_path / "a", {"copy.txt": ADA})
    old, *_ = put(tmp_path / "docs", {"old.txt": ADA, "b.txt": GRACE, "zz.txt": ADA})
    put(tmp_path / "z", {"copy.txt": ADA})
    kg.ingest(tmp_path, extractor="local")
    new = old.rename(tmp_path / "docs" / "zeta.txt")
    assert kg.ingest(tmp_path, extractor="local").gone == [GoneFile(str(old), 1, str(new), removed=False)]


def test_a_folder_without_a_file_is_not_pruned(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """As a mount point looks when nothing is mounted."""
    folder = tmp_path / "mount"
    (file,) = put(folder, {"a.txt": ADA})
    kg.ingest(folder, extractor="local")
    file.unlink()
    with pytest.raises(InputError, match=rf"{folder} has no files, .*`kgplatform remove {folder}`\.$"):
        kg.ingest(folder, extractor="local", prune=True)
    assert titles(kg) == ["a"]
    report = kg.ingest(folder, extractor="local")
    assert (report.notes, len(report.gone)) == ([f"{folder} has no files."], 1)
    wipe(kg.store)
    assert kg.ingest(folder, extractor="local", prune=True).notes == [f"{folder} has no files."]


def test_documents_by_their_folder(kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put(tmp_path / "notes" / "2026", {"a.txt": ADA})
    put(tmp_path / "notes", {"b.txt": CHARLES})
    put(tmp_path / "notes of others", {"c.txt": GRACE, "notes.txt": ADA})
    kg.ingest(tmp_path, extractor="local")
    monkeypatch.chdir(tmp_path / "notes of others")
    assert [info.title for info in kg.remove("../notes/2026")] == ["a"]
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"'notes' is the title of a document and the name of a folder\."):
        kg.remove("notes")
    assert [info.title for info in kg.remove(tmp_path / "notes")] == ["b"]
    assert titles(kg) == ["c", "notes"]
    assert {info.title for info in kg.remove(".")} == {"c", "notes"}


def test_nothing_is_no_name(kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (file,) = put(tmp_path, {"notes.txt": ADA})
    monkeypatch.chdir(tmp_path)
    kg.ingest(file, extractor="local")
    for nothing in (" ", [""], [], ["notes.txt", ""]):
        with pytest.raises(InputError, match=r"^(A path is empty\. |Name at least one file or folder to ingest\.$)"):
            kg.ingest(nothing, extractor="local")  # type: ignore[arg-type]  # one of them is an empty list
        with pytest.raises(InputError, match=r"^(A path is empty\. |Name at least one file or folder to ingest\.$)"):
            kg.estimate(nothing)  # type: ignore[arg-type]  # the same
        with pytest.raises(InputError, match=r"^(A document's name is empty\. |Name at least one document\. )"):
            kg.remove(nothing)  # type: ignore[arg-type]  # the same
    with pytest.raises(DocumentError, match="no such file or folder"):
        kg.ingest(tmp_path / "nowhere", prune=True)
    assert titles(kg) == ["notes"]
