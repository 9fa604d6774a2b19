"""Searches in other languages than English: by words, on a real server, with a model that knows English only."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from conftest import DIMENSION

from kgplatform import KnowledgeGraph
from kgplatform.ingest.graph_state import FORMAT_VERSION, OLDER_GRAPH
from kgplatform.models.embed import MULTILINGUAL, HashEmbedder
from kgplatform.models.onnx_encoder import DEFAULT
from kgplatform.neo4j.store import Store
from kgplatform.search.question import longest_names, names_in
from kgplatform.settings import Settings

TEXTS = {
    "zh": "大西洋电报公司成立于一八五六年。赛勒斯·菲尔德从伦敦购买了电缆。",
    "ja": "大西洋横断ケーブルは一八六六年に完成した。船はグレート・イースタン号であった。",
    "th": "สายเคเบิลเส้นแรกถูกวางในมหาสมุทรแอตแลนติก เรือลำนั้นใหญ่ที่สุดในโลก",
    "ko": "위대한 동쪽 호는 대서양에 전선을 놓았다. 선장은 제임스 앤더슨이었다.",
    "ru": "Инженеры испытывали новые кабели в гавани. Капитан корабля вёл подробные записи о глубинах.",
    "de": "Die Ingenieure prüften die Kabel im Hafen. Der Kapitän führte genaue Aufzeichnungen über die Tiefen.",
    "en": "The engineers tested the cables in the harbour. The captain kept notes of the depths.",
}
ASKED = {
    **{
        "zh": "谁购买了电缆？",
        "ja": "ケーブルが完成したのはいつですか。",
        "th": "เรือลำไหนใหญ่ที่สุด",
        "ko": "대서양에 무엇을 놓았습니까?",
    },
    **{"ru": "Кто вёл запись о глубине и кабеле?", "de": "Wer hat eine Aufzeichnung der Tiefe gemacht?"},
    "en": "Who kept a note of depth?",
}


class EnglishOnly(HashEmbedder):
    """Hashed words under the name of a model that knows English only."""

    def __init__(self) -> None:
        super().__init__(DIMENSION)
        self.name = f"local:{DEFAULT}"


@pytest.fixture
def english_only(store: Store, settings: Settings) -> KnowledgeGraph:
    return KnowledgeGraph(store, settings, embedder=EnglishOnly())


def corpus(folder: Path, texts: Mapping[str, str]) -> Path:
    file = folder / "corpus.json"
    file.write_text(json.dumps([{"title": f"of {code}", "text": text} for code, text in texts.items()]), "utf-8")
    return file


def first_titles(kg: KnowledgeGraph, route: str) -> dict[str, str]:
    found = {code: kg.search(question, route=route).passages for code, question in ASKED.items()}
    return {code: passages[0].title for code, passages in found.items() if passages}


def test_each_language_is_found_by_its_own_words(english_only: KnowledgeGraph, tmp_path: Path) -> None:
    kg = english_only
    report = kg.ingest(corpus(tmp_path, TEXTS), extractor="local")
    (note,) = report.notes
    assert note.startswith("Some documents are in German, Japanese, Korean, Russian, Thai and Chinese, and the ")
    assert f"KGPLATFORM_EMBEDDER={MULTILINGUAL}" in note
    wanted = {code: f"of {code}" for code in ASKED}
    for route in ("bm25", "passage", "all"):
        assert first_titles(kg, route) == wanted, route
    rows = kg.cypher("MATCH (d:Document) RETURN d.name AS name, d.language AS language").rows
    assert dict(rows) == {title: code for code, title in wanted.items()}
    (stored,) = kg.cypher("MATCH (c:Chunk) WHERE c.name STARTS WITH 'of en' RETURN c.words").rows
    assert stored == [None], "English has its own index"
    assert kg.search(ASKED["en"]).fits is not None
    assert kg.search(ASKED["zh"]).fits is kg.search(ASKED["de"]).fits is None, "the calibration is English"
    assert kg.ingest(tmp_path / "corpus.json", extractor="local").notes == [], "it is said once"


def test_an_older_graph_gets_its_words(english_only: KnowledgeGraph, tmp_path: Path) -> None:
    kg = english_only
    kg.ingest(corpus(tmp_path, TEXTS), extractor="local")
    kg.cypher("MATCH (n:Document|Chunk) REMOVE n.language, n.words", write=True)
    kg.cypher("MATCH (g:Graph) SET g.format = 3 REMOVE g.languages", write=True)
    heard: list[str] = []
    found = first_titles(KnowledgeGraph(kg.store, kg.settings, embedder=kg.embedder, report=heard.append), "bm25")
    assert heard == [OLDER_GRAPH], "said once"
    assert found["zh"] == "of zh", "pairs of letters are found in the index of before, too"
    assert "th" not in found
    (tmp_path / "more.txt").write_text("The ship came back to the harbour.")
    told, _ = kg.ingest(tmp_path / "more.txt", extractor="local").notes
    assert told.startswith("The graph was made by an earlier version; its texts in German, ")
    assert first_titles(kg, "bm25")["th"] == "of th"
    assert kg.state()["format"] == FORMAT_VERSION
    assert kg.cypher("MATCH (d:Document {name: 'of th'}) RETURN d.language").rows == [["th"]]


def test_names_are_found_where_no_white_space_parts_words() -> None:
    question = "大西洋电报公司是谁创立的？"
    assert "大西洋电报公司" in names_in(question)
    assert longest_names(question, {"大西洋电报公司", "大西洋", "公司", "york"}) == {"大西洋电报公司"}
    assert longest_names("Who left New York?", {"new york", "york", "yor"}) == {"new york"}
