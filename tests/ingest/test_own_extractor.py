"""An extractor of one's own: what it raises or returns by mistake costs its passage, and is told."""

from pathlib import Path

import pytest

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.extract.schema import Schema
from kgplatform.records import Document, ExtractedEntity, Extraction, Passage


class Odd:
    name = "odd"
    default_mode = "flexible"

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


@pytest.mark.parametrize(
    ("lack", "said"), [({"default_mode": "flexibel"}, "must be strict or flexible"), ({"extract": None}, "no extract")]
)
def test_what_is_none_is_refused(kg: KnowledgeGraph, tmp_path: Path, lack: dict[str, object], said: str) -> None:
    members = {name: each for name, each in {**vars(Odd), **lack}.items() if each is not None}
    with pytest.raises(InputError, match=said):
        kg.ingest(tmp_path, extractor=type("Lacking", (), members)())
