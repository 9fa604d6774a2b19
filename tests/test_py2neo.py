"""The bridge to py2neo: a ``Graph`` on the same database."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import SettingError


def test_a_query_through_py2neo(kg: KnowledgeGraph, tmp_path: Path) -> None:
    pytest.importorskip("py2neo")
    (tmp_path / "a.txt").write_text("Cyrus Field met Samuel Morse in New York.")
    kg.ingest(tmp_path / "a.txt", extractor="local")
    graph = kg.py2neo()
    found = graph.run("MATCH (e:Entity {key: $key}) RETURN e.name AS name", key="cyrus field").data()
    assert found == [{"name": "Cyrus Field"}]
    assert graph.nodes.match("Document").count() == 1


def test_without_py2neo_it_says_what_to_install(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py2neo", None)
    with pytest.raises(SettingError, match=r"pip install 'kgplatform\[py2neo\]'"):
        kg.py2neo()
