"""Names of texts in other languages than English and German, found by rules, and titles that are a file's name."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from kgplatform.extract.local import LocalExtractor
from kgplatform.extract.schema import load_schema
from kgplatform.records import Document
from kgplatform.sources.cut import cut_document


def names(text: str, title: str = "0", uri: str = "file:///texts/0.jsonl#0") -> set[str]:
    """The names that the rules find in a document."""
    document = Document("d", title, uri, uri.partition("#")[0], text, "")
    found = (LocalExtractor().extract(each, document, load_schema("general")) for each in cut_document(document, 1200))
    return {entity.name for each in found for entity in each.entities}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "Au XIXe siècle, le roi d'Allemagne a quitté l’Espagne pour aller dans le nord. L'Italie est loin.",
            {"Allemagne", "Espagne", "Italie"},
        ),
        (
            "El camino de Siria y Egipto no es el de los reyes. Desde Roma se va al mar.",
            {"Siria", "Egipto", "Roma"},
        ),
        (
            "Через Тайн в это время не было моста. Закон Великобритании 1981 года и не был забыт. К 1956 году всё.",
            {"Тайн", "Закон Великобритании"},
        ),
        ("メディアはウィーンのメインスタジアムを報じた。冷夏・多雨の年であった。", {"ウィーン"}),
        ("画家理查德·帕克斯和穆罕默德·阿里，以及威廉·弗里思。", {"理查德·帕克斯", "穆罕默德·阿里", "威廉·弗里思"}),
        ('그는 "21세기 법의 대표적인 사례로 기억될 것"이라고 말했다.', set()),
    ],
    ids=["fr", "es", "ru", "ja", "zh", "ko"],
)
def test_names_of_other_languages(text: str, wanted: set[str]) -> None:
    assert names(text) == wanted


@pytest.mark.parametrize("title", ["report", "Annual Report 2020", "scan0001", "Meeting Minutes", "readme"])
def test_what_only_a_file_is_called_is_no_name(title: str) -> None:
    text = "Ada Quill wrote the report in Lund. It is in the Budget Plan.xlsx and in README.md, too."
    assert names(text, title, f"file:///texts/{quote(title)}.pdf") == {"Ada Quill", "Lund"}


def test_a_file_may_have_a_name() -> None:
    text = "Ada Quill wrote in Lund that Apollo 11 flew."
    for title in ("Cyrus Field", "berlin", "鲁迅", "Apollo 11"):
        assert title in names(text, title, f"file:///texts/{quote(title)}.md")
    assert "Annual Report 2020" in names(text, "Annual Report 2020"), "whoever gives a title means it"
