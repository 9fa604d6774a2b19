"""Requests that schemathesis makes up from the description of the interface: none is a fault of the platform."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from sample_server import opened

from kgplatform.client import KnowledgeGraph
from kgplatform.neo4j.store import Connection
from kgplatform.testing import OpenAIServer

pytest_plugins = ["sample_server"]

schemathesis = pytest.importorskip("schemathesis", reason="schemathesis is not installed")

calm = settings(max_examples=6, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@pytest.fixture(scope="module")
def sample(
    neo4j_server: Connection, model: OpenAIServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[KnowledgeGraph]:
    """A small graph that may be changed."""
    home = tmp_path_factory.mktemp("made-up")
    (home / "field.txt").write_text("Cyrus Field founded the Atlantic Telegraph Company in London.")
    with opened(neo4j_server, home, model) as graph:
        graph.ingest(home / "field.txt", extractor="local")
        yield graph


@pytest.fixture(scope="module")
def description(address: str) -> Any:
    """The interface as it describes itself; streams of events, which do not end, are left out."""
    schema = schemathesis.openapi.from_dict(httpx.get(f"{address}/api/openapi.json").json())
    schema.config.update(base_url=address)
    return schema.exclude(path_regex="events$")


@pytest.mark.long
def test_no_request_is_a_fault(description: Any) -> None:
    tried = set()
    for operation in description.get_all_operations():
        calm(given(operation.ok().as_strategy())(lambda case: check(case)))()
        tried.add(operation.ok().label)
    assert len(tried) > 20


def check(case: Any) -> None:
    """The answer is one of those that the description has, and an error has its form."""
    response = case.call(timeout=120)
    assert response.status_code != 500, response.text
    if response.status_code >= 400:
        told = set(response.json()["error"])
        assert {"kind", "message"} <= told <= {"kind", "message", "code", "parameters", "evidence"}
    assert str(response.status_code) in case.operation.definition.raw["responses"], response.text
