"""``kill -9`` at any moment, and the same command again: the graph of a run that nothing disturbed.

Each kind of step once; ``make bench ONLY=faults`` has more of them.
"""

import json
from functools import partial
from pathlib import Path

import conftest
import pytest
from campaigns import more
from conftest import wipe
from corpora import difference, invented
from graph_state import snapshot
from killed_passes import Driver, Killer
from model_by_prompt import Prompt

from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer

opened = partial(conftest.opened, passage_tokens=40)


pytestmark = pytest.mark.killed
pytest_plugins = ["killed_passes"]

SMALL = {
    **{"kgplatform.ingest.compare._GROUP_PASSAGES": 16, "kgplatform.ingest.window._COMMIT_ROWS": 60},
    **{"kgplatform.ingest.window._COMMIT_SECONDS": 3600, "kgplatform.ingest.settle._BATCH": 20},
    "kgplatform.resolution._BATCH": 20,
}
"""Small batches, which give every stage several transactions, at the same rows however slow the machine is."""
FILES = 20
# In the order in which an ingest comes by; each run starts from what the killed ones before it left.
KILLS = [
    ("ingest/set_graph_state", 1),  # the graph does not know its embedding model yet
    ("ingest/next_passages", 2),  # documents and passages written, and lost with their transaction
    ("ingest/mentions", 2),
    *more(("extracting", 20), ("ingest/element_names", 1), ("ingest/embed", 2)),
    ("embedding facts", 2),
    *more(("ingest/same_as", 1)),
    ("ingest/settled", 1),
]


@pytest.fixture(autouse=True)
def small_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    """As in the processes that are killed, so that the runs in this process go the same ways."""
    for name, value in SMALL.items():
        monkeypatch.setattr(name, value)


@pytest.fixture
def killed(neo4j_server: Connection, tmp_path: Path, passes: Driver) -> Killer:
    return Killer(neo4j_server, passes, SMALL, home=tmp_path / "home", embedder="hash:64", passage_tokens=40)


def test_killed_anywhere_and_run_again(store: Store, tmp_path: Path, killed: Killer) -> None:
    files = invented(tmp_path / "notes", FILES)
    kg = opened(store, tmp_path / "home")
    undisturbed = kg.ingest(files, extractor="local")
    wanted = snapshot(store)
    wipe(store)
    for point in KILLS:
        killed(point, "ingest", [str(tmp_path / "notes")], extractor="local")
    report = kg.ingest(files, extractor="local")
    assert difference(snapshot(store), wanted) == []
    assert (report.passages, report.extracted, report.complete) == (undisturbed.passages, 0, True)
    for count in ("kept", "mapped", "dropped", "off_schema", "statements_found", "statements_not_found", "duplicates"):
        assert getattr(report, count) == getattr(undisturbed, count), count
    assert kg.search("Who founded Kestrel Lines?").passages


def test_a_change_that_was_killed(store: Store, tmp_path: Path, killed: Killer) -> None:
    """Old content goes and new content comes in several transactions; then a removal is killed, too."""
    files = invented(tmp_path / "notes", 8)
    kg = opened(store, tmp_path / "home")
    for file in files[:4]:
        file.write_text(file.read_text().replace("Kestrel", "Falcon").replace("Petrel", "Gannet"))
    kg.ingest(files[:6], extractor="local")
    remaining = snapshot(store)
    wipe(store)
    invented(tmp_path / "notes", 8)
    kg.ingest(files, extractor="local")
    for file in files[:4]:
        file.write_text(file.read_text().replace("Kestrel", "Falcon").replace("Petrel", "Gannet"))
    folder = str(tmp_path / "notes")
    for point in [("ingest/remove_facts", 1), *more(("ingest/passages", 1)), ("ingest/element_names", 1)]:
        killed(point, "ingest", [folder], extractor="local")
    for point in [("ingest/remove_mentions", 1), *more(("ingest/embed_elements", 1)), ("ingest/remove_documents", 1)]:
        killed(point, "remove", [files[6].as_uri(), files[7].as_uri()])
    kg.remove([files[6].as_uri(), files[7].as_uri()])
    assert difference(snapshot(store), remaining) == []


def sentences_as_facts(messages: Messages) -> str:
    """One fact a sentence; its key elements are its words with a capital, and some verbs."""
    facts = []
    for number, said in Prompt(messages).sentences.items():
        words = [word.strip(".") for word in said.replace(",", "").split()]
        facts.append([number, "", *(word for word in words if word[:1].isupper() or word in ("works", "founded"))])
    return json.dumps({"facts": [fact for fact in facts if len(fact) > 2]})


def test_a_killed_pass_for_facts(store: Store, tmp_path: Path, killed: Killer) -> None:
    files = invented(tmp_path / "notes", 10)
    with OpenAIServer(sentences_as_facts) as server:
        kg = opened(store, tmp_path / "other", openai_base_url=server.base_url)
        kg.ingest(files, extractor="local", facts=True)
        wanted = snapshot(store)
        wipe(store)
        kg = opened(store, tmp_path / "home", openai_base_url=server.base_url)
        kg.ingest(files, extractor="local")
        asked = len(server.requests_to("/completions"))
        points = [
            *more(("ingest/remove_atomic_facts", 1)),
            ("reading facts", 25),
            *more(("embedding elements", 1)),
            ("ingest/settle_forms", 1),
            *more(("ingest/settled", 1)),
        ]
        for point in points:
            killed(point, "ingest", facts=True, settings={"openai_base_url": server.base_url})
        report = kg.ingest(facts=True)
    assert (report.facts_read, report.complete) == (0, True), "all were committed before the last of the kills"
    under_way = 2 * 8  # of the kills, at most two come while the model is asked, by eight threads
    assert len(server.requests_to("/completions")) - asked <= 30 + under_way, (
        "only what was under way is asked for again"
    )
    assert difference(snapshot(store), wanted) == []
