"""``kill -9`` in the middle of ``kgplatform gist``, and the same again: the graph of a run that nothing disturbed."""

import json
import threading
from collections import Counter
from pathlib import Path

import pytest
from corpora import difference
from gists import assert_memory, by_rules, ingested, opened, pages_of, paragraph, story
from graph_state import snapshot
from killed_passes import Driver, Killer

from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer

pytestmark = pytest.mark.killed
pytest_plugins = ["killed_passes"]


@pytest.fixture
def killed(neo4j_server: Connection, tmp_path: Path, passes: Driver) -> Killer:
    return Killer(neo4j_server, passes, home=tmp_path / "home", embedder="hash:64", concurrency=2)


def test_killed_at_pages_and_gists_and_run_again(store: Store, tmp_path: Path, killed: Killer) -> None:
    """Only what was under way at a kill may be asked for again, and the cache has most of that."""
    kg = opened(store, tmp_path / "home")
    ingested(kg, tmp_path / "files", {"long.txt": story([100] * 18), "one.txt": paragraph("one", 30)})
    undisturbed = kg.gist()
    wanted = snapshot(store)
    kg.cypher("MATCH (p:Page) DETACH DELETE p", write=True)
    kg.cypher("MATCH (d:Document) REMOVE d.compression", write=True)
    lock, prompts = threading.Lock(), Counter[str]()

    def counted(messages: Messages) -> str:
        with lock:
            prompts[json.dumps(messages)] += 1
        return by_rules(messages)

    with OpenAIServer(counted) as server:
        model = {"openai_base_url": server.base_url}
        killed(("gist/pages", 3), "gist", settings=model)
        assert len(pages_of(kg)) == 2, "a page is there as soon as its end is known; what was not committed is not"
        killed(("gist/gists", 3), "gist", settings=model)
        assert 2 <= sum("gist" in page for page in pages_of(kg)) < undisturbed.pages
        last = opened(store, tmp_path / "home", None, openai_base_url=server.base_url)
        report = last.gist()
        assert report.complete
    assert difference(snapshot(store), wanted) == []
    assert len(assert_memory(last, "long")) == undisturbed.pages - 1
    assert len(prompts) == 2 * undisturbed.pages - 2, (
        "one for each gist, and for the end of each page but the last ones"
    )
    assert sum(prompts.values()) - len(prompts) <= 2 * 2, "at most what two threads had under way at each kill"


def test_a_removal_that_is_killed_takes_all_pages_or_none(store: Store, tmp_path: Path, killed: Killer) -> None:
    kg = opened(store, tmp_path / "home")
    ingested(kg, tmp_path / "files", {"ten.txt": story([100] * 10), "one.txt": paragraph("one", 30)})
    kg.gist()
    one = assert_memory(kg, "one")
    held = "MATCH (d:Document {name: 'ten'}) RETURN COUNT { (:Chunk)-[:FROM_DOCUMENT]->(d) } > 0"
    killed(("ingest/remove_documents", 1), "remove", "ten")
    assert kg.cypher(held).rows == [[False]]
    assert pages_of(kg, "ten") == []
    kg.remove("ten")
    assert assert_memory(kg, "one") == one
