"""What a program has in hand is ingested, keeps its identity, and is found again by its metadata."""

import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from typing import Any

import pandas
import pytest
from corpora import put

from kgplatform import InputError, KnowledgeGraph, Text
from kgplatform.client import Where
from kgplatform.models.embed import HashEmbedder
from kgplatform.testing import ScriptedChat

CABLE = "Cyrus Field founded the Atlantic Telegraph Company in 1856."
SHIP = "Isambard Brunel designed the Great Eastern, a ship of iron."
FRONT = "---\ntitle: Nemo\nauthor: Jules Verne\ndate: 1870-03-20\ntags: [sea, ships]\nog:url: x\n---\n"
CLOSED = io.StringIO("x")
CLOSED.close()
BOOK = "Captain Nemo commands the Nautilus beneath the sea."


@dataclass
class Page:
    """As LangChain's ``Document``, which is told by what it has."""

    page_content: str
    metadata: dict[str, Any] = field(default_factory=dict)
    id: str | None = None


class Node:
    """As LlamaIndex's ``Document``, with an id that is another with each load."""

    def __init__(self, text: str, **metadata: Any) -> None:
        self.id_, self.metadata, self._text = str(id(self)), metadata, text

    def get_content(self) -> str:
        return self._text


class Loader:
    """As a loader of LangChain."""

    def __init__(self, *pages: Page) -> None:
        self._pages = pages

    def lazy_load(self) -> Iterator[Page]:
        yield from self._pages


def test_two_titles_or_ids_are_two_documents(kg: KnowledgeGraph) -> None:
    ids = ["2023", "2023/Report", "text:a%20b", "a b", "a", " a", "A", "e\u0301", "é", "...", "None", "\ud800"]
    kg.ingest([Text(f"Number {number}.", title=id, id=id) for number, id in enumerate(ids)], extractor="local")
    assert len(kg.documents()) == len(ids)
    kg.ingest([Text(CABLE, title="One"), Text(CABLE, title="Other"), Text(CABLE)], extractor="local")
    assert len(kg.documents()) == len(ids) + 3


def metadata(kg: KnowledgeGraph) -> dict[str, Any]:
    return {info.title: dict(info.metadata) for info in kg.documents()}


def test_all_that_people_have_in_hand(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (path,) = put(tmp_path, {"field.txt": CABLE})
    (other,) = put(tmp_path, {"ship.txt": SHIP})
    with other.open(encoding="utf-8") as stream:
        given = [
            path,
            stream,
            Text("A text without a name.\nIt has two lines."),
            {"text": BOOK, "title": "Nemo", "author": "Jules Verne", "year": 1870, "parts": {"one": 1}, "id": 7},
            Page("The first page.", {"source": "https://example.org/book", "page": 1}),
            Page("The second page.", {"source": "https://example.org/book", "page": 2}),
            Node("What LlamaIndex has read.", file_path="notes/a.md", written=date(1901, 2, 3)),
            io.StringIO("A text that is open in memory."),
        ]
        report = kg.ingest((each for each in given), extractor="local")
    assert (report.added, report.skipped) == (8, [])
    assert report.notes == ["Left out of the metadata, since the values are not flat or are too long: parts."]
    known = {info.title: info for info in kg.documents()}
    assert known["Nemo"].uri == "text:7"
    assert known["Nemo"].metadata == {"author": "Jules Verne", "year": 1870}
    assert known["ship"].uri == other.as_uri()
    assert known["book"].uri == "https://example.org/book"
    assert known["book (2)"].metadata == {"page": 2, "source": "https://example.org/book"}
    assert known["a.md"].metadata == {**{"file_path": "notes/a.md", "source": "notes/a.md"}, "written": "1901-02-03"}
    assert "A text without a name." in known
    again = kg.ingest(
        [*given[2:6], path, other, Node("What LlamaIndex has read.", file_path="notes/a.md", written="1901-02-03")],
        extractor="local",
    )
    assert (again.added, again.changed, again.unchanged, again.removed) == (0, 0, 7, 0)
    # The book has one page now; another author alone is no reason to read again.
    changed = kg.ingest(
        [Page("The first page.", {"source": "https://example.org/book"}), {"text": BOOK, "title": "Nemo", "id": "7"}],
        extractor="local",
    )
    assert (changed.changed, changed.removed, changed.extracted) == (2, 1, 0)
    assert metadata(kg)["Nemo"] == {}
    assert kg.estimate(Text("Another.")).documents == 1
    assert [info.title for info in kg.remove("text:7")] == ["Nemo"]


def test_loaders_and_tables(kg: KnowledgeGraph) -> None:
    kg.ingest(Loader(Page(CABLE, {"title": "Field", "tags": ["cable", "sea"]})), extractor="local")
    kg.ingest(pandas.DataFrame({"text": [SHIP, BOOK], "year": [1858, None]}), extractor="local")
    assert metadata(kg) == {"Field": {"tags": ["cable", "sea"]}, SHIP: {"year": 1858.0}, BOOK: {}}
    lists = {"pages": (1, 2), "shares": [1, 0.5], "read": [True, False], "tags": ["cable", 7], "deep": [[1]]}
    report = kg.ingest([[Text(CABLE, id="lists", metadata=lists)], []], extractor="local")
    assert metadata(kg)[CABLE] == {"pages": [1, 2], "read": [True, False], "shares": [1.0, 0.5], "tags": ["cable", "7"]}
    assert [note.partition(":")[2] for note in report.notes] == [" deep.", " tags."]
    names = {each.name: each for each in kg.look.metadata(limit=1)}
    assert (names["tags"].values, names["tags"].distinct) == ((("cable", 2),), 3)
    assert {passage.title for passage in kg.search("a cable", where={"pages": 2})} == {CABLE}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (
            CABLE + "\n" + SHIP,
            r"A string names a file or a folder. To ingest a text, wrap it: kgplatform.Text\(text\).",
        ),
        ([3], "A value of type int cannot be ingested. Give paths, "),
        ({"txt": "x"}, "A dictionary to ingest needs a text: {'text': '…'}."),
        (Text(" "), "A text to ingest is empty."),
        (Text("x", metadata=[1]), "The metadata of a text must be a dictionary, not list."),  # type: ignore[arg-type]
        (Text(None), "The text of a text must be a string, not NoneType."),  # type: ignore[arg-type]  # on purpose
        (CLOSED, "The open file .* cannot be read: I/O operation on closed file."),
        (io.BytesIO(b"%PDF-1.4"), "An open file without a name cannot be told apart from others: set its name"),
    ],
)
def test_what_is_refused(kg: KnowledgeGraph, given: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        kg.ingest(given)
    assert kg.documents() == []
    assert not [*kg.settings.home_folder.glob("*")] if kg.settings.home_folder.exists() else True


def test_what_says_nothing_and_other_texts_of_an_id_are_left_out_and_told(kg: KnowledgeGraph) -> None:
    nan = float("nan")
    table = pandas.DataFrame({"text": [CABLE, SHIP, None], "id": ["k1", nan, "k3"], "title": ["Cable", nan, "None"]})
    report = kg.ingest(table, extractor="local")
    assert report.added == 2
    assert report.notes == ["Left out, since they are empty: 1 of the texts."]
    assert {info.title: info.source.partition(":")[2][:2] for info in kg.documents()}["Cable"] == "k1"
    assert [info.title for info in kg.documents() if info.title != "Cable"] == [SHIP]
    report = kg.ingest([Page(CABLE), Page(" "), Text(SHIP, id="k1"), Text(BOOK, id="k1"), Text(SHIP, id="k1")])
    assert report.notes[0] == "Left out, since they are empty: 1 of the texts."
    assert report.notes[1].startswith("Left out, since an earlier text has the same id: 1 of the texts.")
    assert kg.remove("k1")
    assert BOOK not in {info.title for info in kg.documents()}


def test_metadata_of_files(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = {
        "note.md": f"{FRONT}{BOOK}\n",
        "broken.md": f"---\nauthor: [\n---\n{SHIP}\n",
        "two.jsonl": f'{{"title": "Field", "text": "{CABLE}", "year": 1856, "draft": false, "deep": {{"a": 1}}}}\n',
    }
    kg.ingest(put(tmp_path, files), extractor="local")
    known = metadata(kg)
    assert known["Nemo"] == {"author": "Jules Verne", "date": "1870-03-20", "og_url": "x", "tags": ["sea", "ships"]}
    assert known["Field"] == {"year": 1856, "draft": False}
    assert known["broken"] == {"author": "["}
    kg.export(tmp_path / "graph.jsonl")
    kg.store.write(("ingest/remove_documents", {"documents": [info.id for info in kg.documents()]}))
    assert metadata(kg) == {}
    kg.import_graph(tmp_path / "graph.jsonl", merge=True)
    assert metadata(kg) == known


def test_only_documents_that_fit(kg: KnowledgeGraph) -> None:
    same = "The cable was laid by the Great Eastern."
    kg.ingest(
        [
            {"id": "1", "title": "One", "text": f"{CABLE} {same}", "author": "Field", "year": 1856, "tags": ["cable"]},
            {"id": "2", "title": "Two", "text": f"{SHIP} {same}", "author": "Brunel", "year": 1858},
            {"id": "3", "title": "Three", "text": BOOK, "author": "Verne", "year": 1870, "tags": ["sea", "cable"]},
        ],
        extractor="local",
    )
    question = "Who founded the Atlantic Telegraph Company?"

    def titles(where: Where, **more: Any) -> set[str]:
        return {passage.title for passage in kg.search(question, where=where, **more)}

    shown = kg.look.document_page(sort="file").documents
    assert {each.title: each.metadata["year"] for each in shown} == {"One": 1856, "Two": 1858, "Three": 1870}
    assert titles({"author": "Brunel"}) == {"Two"}
    assert titles({"year": [1856, 1870]}) == {"One", "Three"}
    assert titles({"tags": "cable", "author": "Verne"}) == {"Three"}
    assert titles({"author": "Nobody"}) == set()
    for route in ("passage", "hybrid", "dense", "bm25"):
        assert titles({"author": "Brunel"}, route=route) <= {"Two"}
    assert kg.search(question, where={"year": 1856}).passages[0].metadata["author"] == "Field"
    assert titles("year < 1858 or author = Verne") == {"One", "Three"}
    everywhere, one = kg.search(question), kg.search(question, "triple", where={"author": "Field"})
    assert {place.title for fact in one.facts for place in fact.citations} == {"One"}
    assert everywhere.passages[0].title == "One"
    with pytest.raises(InputError, match='No document has metadata "auther". Did you mean author'):
        kg.search(question, where={"auther": "Field"})
    assert {passage.title for passage in kg.ask(question, where={"author": "Brunel"}).evidence} == {"Two"}
    with pytest.raises(InputError, match="No document fits this condition"):
        kg.ask(question, where={"author": "Nobody"})
    chat = ScriptedChat(lambda messages: '{"evidence": [], "answer": "No.", "sufficient": true}')
    graph = KnowledgeGraph(kg.store, kg.settings, embedder=HashEmbedder(64), chat=chat)
    answer = graph.ask(question, "fulltext", where={"author": "Brunel"})
    assert {passage.title for passage in answer.evidence} == {"Two"}
    with pytest.raises(InputError, match="None of the named documents has this metadata"):
        graph.ask(question, "fulltext", where={"author": "Brunel"}, documents=["One"])
