"""Metadata beside files and folders: whose come first, and what is said of those that cannot be read."""

import os
from pathlib import Path

import pytest
from conftest import opened
from corpora import put

from kgplatform.neo4j.store import Store
from kgplatform.records import Document, SkippedFile
from kgplatform.sources.load import load

FILES = {
    "all.meta.yaml": "project: cables\nyear: 1850\nauthor: nobody\n",
    "all/one.txt": "The cable was laid.",
    "all/one.txt.meta.yaml": "title: The first cable\nyear: 1858\ntags: [sea, cable]\nbuilt: 12:30\n",
    "all/two.md": "---\nauthor: Field\nyear: 1866\n---\nThe second cable held.",
    "all/two.md.meta.yml": "year: no\n",
    "all/old.meta.yaml": "author: Brunel\n",
    "all/old/list.jsonl": '{"title": "A", "text": "An iron ship.", "year": 1843}\n{"title": "B", "text": "A ship."}\n',
    "all/old/list.jsonl.meta.yaml": "title: not of each item\nlanguage: en\n",
}


def found(folder: Path) -> tuple[dict[str, Document], list[SkippedFile]]:
    items = list(load([folder]))
    documents = {each.title: each for each in items if isinstance(each, Document)}
    return documents, [each for each in items if isinstance(each, SkippedFile)]


def test_a_files_own_come_first_then_its_text_then_its_folders(tmp_path: Path) -> None:
    documents, skipped = found(put(tmp_path, FILES)[1].parent)
    assert skipped == []
    assert {title: dict(each.metadata) for title, each in documents.items()} == {
        "The first cable": {
            "author": "nobody",
            "built": "12:30",
            "project": "cables",
            "tags": ["sea", "cable"],
            "year": 1858,
        },
        "two": {"author": "Field", "project": "cables", "year": "no"},
        "A": {"author": "Brunel", "language": "en", "project": "cables", "year": 1843},
        "B": {"author": "Brunel", "language": "en", "project": "cables", "year": 1850},
    }


def test_a_file_alone_has_the_same_as_with_its_folder_and_a_sidecar_of_nothing_is_a_text(tmp_path: Path) -> None:
    paths = put(tmp_path, {**FILES, "all/reprot.pdf.meta.yaml": "year: 1\n"})
    folder = paths[1].parent
    both = [folder / "two.md", folder / "two.md.meta.yml"]
    (alone,) = (each for each in load(both) if isinstance(each, Document))
    assert dict(alone.metadata) == dict(found(folder)[0]["two"].metadata) == {**alone.metadata, "year": "no"}
    assert found(folder / "two.md.meta.yml")[0]["two.md.meta"].text.strip() == "year: no"
    assert "reprot.pdf.meta" in found(folder)[0], "a slip of the pen is seen"


@pytest.mark.parametrize(
    ("said", "title"),
    [
        ("title: >\n  The first\n  cable\n", "The first cable"),
        ('title: "A title" # note\n', "A title"),
        ('{"title": "From JSON", "year": 1}\n', "From JSON"),
        ("title: 1984\n", "1984"),
        ("title: null\nyear: 1\n", "one"),
    ],
)
def test_titles(tmp_path: Path, said: str, title: str) -> None:
    put(tmp_path, {"a/one.txt": "The cable.", "a/one.txt.meta.yaml": said})
    assert list(found(tmp_path / "a")[0]) == [title]


def test_what_cannot_be_read_is_told_once_and_costs_that_alone(tmp_path: Path) -> None:
    files = {
        "x.meta.yaml": "just words\n",
        "x/a.txt": "One.",
        "x/a.txt.meta.yaml": "author: [\nyear: 1858\n",
        "x/b.txt": "Two.",
        "x/b.txt.meta.yaml": "deep: {a: {b: 1}}\nyear: 1\n",
        "x/c.txt": "Three.",
        "x/c.txt.meta.yaml": "# nothing yet\n",
    }
    documents, skipped = found(put(tmp_path, files)[1].parent)
    (tmp_path / "x" / "c.txt.meta.yaml").unlink()
    os.mkfifo(tmp_path / "x" / "c.txt.meta.yaml")  # whose reading would wait for ever
    again = found(tmp_path / "x")[1]
    assert [dict(documents[name].metadata) for name in "abc"] == [{"author": "[", "year": 1858}, {"year": 1}, {}]
    told = {(Path(each.path).name, each.reason) for each in skipped}
    assert told == {
        ("x.meta.yaml", "it has no lines like `author: Jules Verne`"),
        ("a.txt.meta.yaml", "line 1 of it is not YAML: its value is kept as a text"),
        ("b.txt.meta.yaml", "deep in it was left out: it cannot be stored as metadata"),
        ("c.txt.meta.yaml", "it has no lines like `author: Jules Verne`"),
    }
    assert len(skipped) == len(told)
    said = "is no file of at most 1,000,000 bytes: no metadata are read from it"
    assert ("c.txt.meta.yaml", said) in {(Path(each.path).name, each.reason) for each in again}


def test_a_change_of_them_is_no_new_reading_and_a_new_time_no_change(store: Store, tmp_path: Path) -> None:
    kg = opened(store, tmp_path / "home")
    folder = put(tmp_path / "corpus", FILES)[1].parent
    os.utime(folder / "two.md", (0, 1_000_000_000))
    kg.ingest(folder, extractor="local")
    titles = [
        sorted(each.title for each in kg.search("a cable", where=where))
        for where in ("modified < 2002-01-01", "modified = 2001-09-09", 'modified within "90 days" and project')
    ]
    assert titles == [["two"], ["two"], ["A", "B", "The first cable"]]
    os.utime(folder / "two.md", (0, 1_100_000_000))
    report = kg.ingest(folder, extractor="local")
    assert (report.extracted, report.unchanged, report.changed) == (0, 4, 0)
    assert {info.title: info.modified_at for info in kg.documents()}["two"] == "2004-11-09T11:33:20Z"
    (folder / "one.txt.meta.yaml").write_text("title: The first cable\nyear: 1859\n")
    (folder / "two.md.meta.yml").unlink()
    report = kg.ingest(folder, extractor="local")
    assert (report.extracted, report.unchanged, report.changed) == (0, 2, 2)
    assert {info.title: info.metadata.get("year") for info in kg.documents()} == {
        **{"The first cable": 1859, "two": 1866},
        **{"A": 1843, "B": 1850},
    }
    assert {each.title for each in kg.search("a cable", where="project = cables and year >= 1859")} == {
        "The first cable",
        "two",
    }
