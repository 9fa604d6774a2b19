"""First builds by bulk import: the graph is the one that transactions write, whatever comes between."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from conftest import START_TIMEOUT, wipe
from corpora import FIELD, OTHERS, RECORDING, difference, extracted, invented, put, put_jsonl
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.models.openai_chat import make_chat
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Store
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import OpenAIServer


@pytest.fixture(scope="module")
def managed(quick_java: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Settings]:
    """Settings of a home with a managed server of its own; every ingest into the empty graph is a first build."""
    home = tmp_path_factory.mktemp("managed")
    settings = load_settings(
        home=home, neo4j_start_timeout=START_TIMEOUT, bulk_import=1, embedder="hash:64", passage_tokens=40
    )
    with pytest.MonkeyPatch.context() as patch:
        defaults = LocalNeo4j.__init__.__kwdefaults__
        assert defaults is not None
        patch.setitem(defaults, "java", quick_java)
        try:
            yield settings
        finally:
            LocalNeo4j(settings).down()


def opened(store: Store, settings: Settings, **more: Any) -> KnowledgeGraph:
    given = settings.model_copy(update=more)
    ledger = Ledger()
    graph = KnowledgeGraph(store, given, embedder=HashEmbedder(64), chat=make_chat(given, ledger))
    graph.ledger = ledger
    return graph


@pytest.mark.parametrize("kind", ["local", "recorded", "llm"])
def test_equal(kind: str, managed: Settings, store: Store, tmp_path: Path) -> None:
    how: dict[str, Any] = {"extractor": kind}
    with OpenAIServer(extracted) as server:
        more = {}
        if kind == "recorded":
            files = put(tmp_path / "notes", FIELD | OTHERS)
            how = {"recorded": put_jsonl(tmp_path / "r.jsonl", RECORDING), "mode": "flexible"}
        else:
            files = invented(tmp_path / "notes", 30)
        if kind == "llm":
            more = {"openai_base_url": server.base_url}
        kg = opened(store, load_settings(home=tmp_path / "home", embedder="hash:64", passage_tokens=40), **more)
        kg.ingest(files, **how)
        with Store(LocalNeo4j(managed).up()) as mine:
            wipe(mine)
            kg = opened(mine, managed, **more)
            bulk = kg.ingest(files, **how)
            print(bulk.notes, bulk.seconds)
            assert difference(snapshot(mine), snapshot(store)) == []
