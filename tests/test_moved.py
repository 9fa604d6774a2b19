"""Old names of modules lead to the modules of now, with a warning that names them."""

import sys
from importlib import import_module

import pytest

DOCUMENTED = {
    "adapters.langchain": "interfaces.integrations.langchain",
    "adapters.llamaindex": "interfaces.integrations.llamaindex",
    "adapters.neo4j_graphrag": "interfaces.integrations.neo4j_graphrag",
    "doors.browser.links": "interfaces.neo4j_browser.site",
    "doors.http.app": "interfaces.http.app",
    "graph.info": "explore.info",
    "graph.look": "explore.look",
    "graph.profile": "explore.profile",
    "graph.threads": "explore.runs",
    "ingest.extract": "extract",
    "ingest.given": "sources.objects",
    "ingest.schema": "extract.schema",
    "text.numbered": "text.sentences",
    "interfaces.neo4j_browser.guide": "interfaces.neo4j_browser.site",
    "work.stopping": "concurrency.threads",
}
"""What the documentation of the release before named."""


def test_a_documented_name_leads_to_the_same_module(monkeypatch: pytest.MonkeyPatch) -> None:
    for old, new in DOCUMENTED.items():
        monkeypatch.delitem(sys.modules, f"kgplatform.{old}", raising=False)
        with pytest.warns(DeprecationWarning, match=rf"kgplatform\.{old} is kgplatform\.{new} now"):
            module = import_module(f"kgplatform.{old}")
        assert module is sys.modules[f"kgplatform.{new}"]
        assert (module.__name__, getattr(module.__spec__, "name", None)) == (f"kgplatform.{new}",) * 2
    with pytest.raises(ModuleNotFoundError):
        import_module("kgplatform.doors.nothing")
