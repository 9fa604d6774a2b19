"""An extractor of one's own: what it raises or returns by mistake costs its passage, and is told."""

from pathlib import Path
from typing import Any

import pytest

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.extract.schema import Schema
from kgplatform.records import Document, ExtractedEntity, Extraction, Passage


class Odd:
    name = "odd"

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        if document.title == "raises":
            raise KeyError("born")
        if document.title == "returns":
            return {"entities": []}  # type: ignore[return-value]  # that is the fault
        return Extraction(entities=(ExtractedEntity("Ada", "Person"),))


def test_its_errors_cost_their_passages(kg: KnowledgeGraph, tmp_path: Path) -> None:
    for name in ("raises", "returns", "works"):
        (tmp_path / f"{name}.txt").write_text("Ada was born.", "utf-8")
    report = kg.ingest(tmp_path, extractor=Odd())
    (raised, returned) = report.failed
    assert raised.name.startswith("raises") and returned.name.startswith("returns")
    assert raised.reason.startswith("The extractor odd failed (KeyError: 'born'; test_own_extractor.py, line ")
    assert returned.reason == "The extractor odd must return an Extraction, not dict."
    assert [each.name for each in kg.look.find("Ada")] == ["Ada"]


def test_what_is_none_is_refused(kg: KnowledgeGraph, tmp_path: Path) -> None:
    lacking: Any = type("Lacking", (), {"name": "lacking"})()
    with pytest.raises(InputError, match="no extract"):
        kg.ingest(tmp_path, extractor=lacking)
