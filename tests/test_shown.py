"""How results show themselves at a prompt and in a notebook, and as dictionaries; what a closed graph says."""

import json
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest
from corpora import put

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.neo4j.store import Store
from kgplatform.records import Answer, Citation, FoundFact, FoundPassage, SearchResult, Table, TableRow, Usage
from kgplatform.settings import Settings

EVIL = '<script>alert("1")</script> & \x1b[31m'
PLACE = Citation("d", f"Title {EVIL}", 3, 9, None, "p")
PASSAGE = FoundPassage("p", "d", f"Title {EVIL}", 0, 900, 2, f"Text {EVIL} " + "word " * 900, 0.8123456, ("dense",))
FACTS = (
    FoundFact("f", f"Fact {EVIL}", 0.5, ("triple",), (PLACE,)),
    FoundFact("g", "beside the point", 0.4, ("triple",), (PLACE,), relevant=False),
)
RESULT = SearchResult(f"Who {EVIL}?", (PASSAGE,) * 2, FACTS, 0.25)
ANSWER = Answer("Who?", "retrieve", f"She {EVIL}", (PLACE,), RESULT, (), Usage(1, 20, 3), f"Note {EVIL}")
ROWS = Table(("n", EVIL), [TableRow(("n", EVIL), (number, EVIL)) for number in range(70)], False, {})


class Tags(HTMLParser):
    """The tags and the texts of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert attrs in ([], [("style", "text-align:left")])
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("shown", [RESULT, ANSWER, ROWS, Answer("Q", "r", None, (), RESULT, (), Usage(), EVIL)])
def test_all_text_in_html_is_data(shown: SearchResult | Answer | Table) -> None:
    page = Tags(shown._repr_html_())
    assert page.tags <= {"p", "table", "thead", "tbody", "tr", "th", "td"}
    assert '<script>alert("1")</script> &' in page.text
    assert "\x1b" not in page.text
    assert len(page.text) < 10_000, "long texts and tables are cut"
    assert "beside the point" not in page.text


def test_a_line_at_the_prompt_and_what_there_is_in_it(store: Store, settings: Settings) -> None:
    for shown in (RESULT, ANSWER, PASSAGE, ROWS, FACTS[0]):
        line = repr(shown)
        assert line.startswith(f"{type(shown).__name__}(")
        assert "\n" not in line
        assert len(line) < 500
    assert str(ANSWER) == ANSWER.text
    assert str(Answer("Who?", "retrieve", None, (), RESULT, (), Usage(), "No model.")) == "No model."
    assert (len(RESULT), list(RESULT), len(ROWS)) == (2, [PASSAGE, PASSAGE], 70)
    assert next(iter(ROWS)) == {"n": 0, EVIL: EVIL}
    assert not SearchResult("Who?", (), FACTS, 0.1)
    uri = store.connection.uri
    assert repr(KnowledgeGraph(store, settings)) == f"KnowledgeGraph({uri}, home {settings.home_folder})"


def test_data_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    frame = ROWS.to_df()
    assert (list(frame.columns), len(frame), frame["n"].sum()) == (["n", EVIL], 70, sum(range(70)))
    assert list(RESULT.to_df()["title"]) == [f"Title {EVIL}"] * 2
    assert list(RESULT.to_df("facts")["score"]) == [0.5, 0.4]
    assert list(Table(("a",), [], False, {}).to_df().columns) == ["a"]
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match="pandas is not installed. Run `pip install pandas`."):
        ROWS.to_df()


def test_a_row_of_a_statement_has_its_values_by_name_and_by_place(kg: KnowledgeGraph) -> None:
    table = kg.cypher("RETURN 1 AS n, 'Ada' AS name")
    (row,) = table.rows
    number, name = row
    assert (row["name"], row[1], name, row[:1], row.get("born")) == ("Ada", "Ada", "Ada", [1], None)
    assert dict(row) == dict(row.items()) == {"n": number, "name": name} == next(iter(table))
    assert row == [1, "Ada"]
    assert json.loads(json.dumps(row)) == [1, "Ada"]
    with pytest.raises(KeyError, match="'born' is none of the columns n, name"):
        row["born"]


def test_dictionaries_are_json(kg: KnowledgeGraph, tmp_path: Path) -> None:
    report = kg.ingest(put(tmp_path, {"a.txt": "Ada Lovelace was born in London.", "b.txt": ""}), extractor="local")
    skipped = {"path": str(tmp_path / "b.txt"), "reason": "empty file", "in_part": False}
    assert json.loads(json.dumps(report.to_dict()))["skipped"] == [skipped]
    found = kg.search("Where was Ada Lovelace born?")
    assert found.to_dict()["passages"][0]["title"] == "a"
    assert json.dumps(ANSWER.to_dict() | found.to_dict())
    assert kg.cypher("MATCH (d:Document) RETURN d.name AS name").to_dict()["rows"] == [["a"]]


def test_a_closed_graph_says_so(kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg.ingest(put(tmp_path, {"a.txt": "Ada Lovelace was born in London."}), extractor="local")
    kg.search("Ada")
    part = kg.within()
    kg.close()
    questions = (lambda: kg.search("Who?"), lambda: part.search("Who?"), lambda: kg.ask("Who?"), kg.documents)
    for work in (*questions, lambda: kg.ingest(tmp_path), lambda: kg.remove("a"), lambda: kg.cypher("RETURN 1")):
        with pytest.raises(InputError, match=r"^This graph is closed\. Open it again with connect\(\)\.$"):
            work()
