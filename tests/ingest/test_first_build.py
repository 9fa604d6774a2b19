"""First builds by bulk import: the graph is the one that transactions write, whatever comes between."""

import os
import random
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import _SERVERS, wipe
from corpora import FIELD, OTHERS, RECORDING, difference, extracted, invented, put, put_jsonl
from graph_state import snapshot

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.threads import NEVER, Stop
from kgplatform.errors import InputError, ServerError, StoppedError, StoreError
from kgplatform.ingest.pipeline import IngestReport
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.process import ServerRecord, load_record
from kgplatform.neo4j.server import LocalNeo4j, drop_half_import, import_full
from kgplatform.neo4j.store import Store
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import OpenAIServer

SAID = "The graph was empty, so Neo4j's bulk import loaded "
SHIPS = ("Petrel", "Sea Lark", "Marigold")
STRANGE = {
    "strange.txt": 'The "Lark", it says \\ here,\r\n\r\nsank; "off", in 1866 🚢.\n\n, "" and\ta ba\x1fd\x07 sign',
    "unread.txt": "Nothing was recorded of this text, which is a failure.",
}
"""Signs that mean something in CSV, and a passage that cannot be read."""
STRANGE_RECORDING: dict[str, Any] = {
    "document": "strange.txt",
    "entities": [{"name": 'The "Lark"', "type": 'a "ship",\nor so'}, {"name": "1866"}],
    "triples": [{"subject": 'The "Lark"', "predicate": 'sank, "off",', "object": "1866"}],
    "attributes": [{"entity": 'The "Lark"', "key": "\\", "value": '"'}],
    "facts": [{"text": '"off", in 1866 🚢', "key_elements": ['"off",']}],
}
INGEST = """
import sys
from pathlib import Path
from kgplatform.client import open_graph
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings
LocalNeo4j.__init__.__kwdefaults__["java"] = Path(sys.argv[2])
with open_graph(load_settings()) as graph:
    graph.ingest(sys.argv[1], extractor="local", progress=lambda stage, done, total: print(stage, done, flush=True))
"""


@pytest.fixture(scope="module")
def managed(quick_java: Path) -> Iterator[Settings]:
    """Settings of a home with a managed server of its own; every ingest into its empty graph is a first build."""
    home = Path(tempfile.mkdtemp(dir=os.environ[_SERVERS]))
    settings = load_settings(home=home, bulk_import=1, embedder="hash:64", passage_tokens=40)
    with pytest.MonkeyPatch.context() as patch:
        defaults = LocalNeo4j.__init__.__kwdefaults__
        assert defaults is not None
        patch.setitem(defaults, "java", quick_java)
        try:
            yield settings
        finally:
            LocalNeo4j(settings).down()


@pytest.fixture
def own(managed: Settings) -> Iterator[Store]:
    """The managed server's database, empty."""
    with Store(LocalNeo4j(managed).up()) as store:
        wipe(store)
        yield store


def opened(store: Store, settings: Settings, **more: Any) -> KnowledgeGraph:
    return KnowledgeGraph(store, settings.model_copy(update=more), embedder=HashEmbedder(64))


def pid_of(settings: Settings) -> int | None:
    return LocalNeo4j(settings).status().pid


def assert_nothing_is_left(settings: Settings) -> None:
    assert {each.name for each in settings.home_folder.iterdir()} <= {"neo4j", "llm-cache"}
    assert not (settings.home_folder / "neo4j" / "importing.json").exists()


def ships_of(files: list[Path]) -> list[dict[str, Any]]:
    """Recordings that type ships as the schema does not, and propose it: it grows on the way."""
    proposal = {"kind": "entity", "name": "Vessel", "confidence": 0.97, "example": "Petrel"}
    return [
        {
            "document": file.name,
            "entities": [{"name": ship, "type": "Vessel"} for ship in SHIPS if ship in file.read_text()],
            "proposals": [proposal],
        }
        for file in files
    ]


def test_the_graph_is_the_same_and_another_ingest_waits(
    managed: Settings, own: Store, store: Store, tmp_path: Path
) -> None:
    """Recorded triples, attributes and facts, with what means something in CSV, and a schema that grows on the way.

    The other ingest goes on in the database that the build has made, on the same connection.
    """
    files, lines = put(tmp_path / "notes", FIELD | OTHERS | STRANGE), [*RECORDING, STRANGE_RECORDING]
    ships = invented(tmp_path / "notes", 4)
    files, lines = [*files, *ships], [*lines, *ships_of(ships)]
    extra = {"text": "A note.", "title": "Extra", "id": "extra", "year": 1866, "tags": ["a", "b"], "draft": False}
    files, lines = [*files, extra], [*lines, {"document": "Extra", "entities": []}]
    more = put(tmp_path / "more", {"one.txt": "Ada Norrby was born in Brest in 1901."})
    how = {"recorded": put_jsonl(tmp_path / "r.jsonl", lines), "mode": "flexible"}
    by_transactions = opened(store, managed, home=tmp_path / "home")
    incremental = by_transactions.ingest(files, **how)
    by_transactions.ingest(more, **how)

    told, reports, pids = list[str](), list[IngestReport](), list[int | None]()
    other = opened(own, managed)

    def wait(stage: str, done: int, total: int) -> None:
        if not stage.startswith("waiting for an ingest (process "):
            pids.append(pid_of(managed))
        told.append(stage)

    def begin(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("importing", 0):
            thread.start()
            while not told:
                time.sleep(0.05)

    thread = threading.Thread(target=lambda: reports.append(other.ingest(more, **how, progress=wait)))
    with Store(own.connection) as first:
        report = opened(first, managed).ingest(files, **how, progress=begin)
        thread.join()
    assert told[0].startswith("waiting for an ingest (process ")
    assert difference(snapshot(own), snapshot(store)) == []
    assert {each.name for each in report.expansions} == {"Vessel", "financed"}
    assert incremental.notes == [], "its server is not run from its home"
    assert report.notes[0].startswith(SAID)
    assert without_costs(report) == without_costs(incremental)
    assert_nothing_is_left(managed)
    assert [each.added for each in reports] == [1]
    assert not [note for note in reports[0].notes if note.startswith(SAID)]
    assert {*pids} == {pid_of(managed)}, "what comes later starts no server"


def without_costs(report: IngestReport) -> dict[str, Any]:
    """What it says of the graph. Which of two ingests at a time settles an entity is chance."""
    kept = {name: getattr(report, name) for name in report.__dataclass_fields__}
    return {name: value for name, value in kept.items() if name not in ("usage", "seconds", "notes", "settled")}


def test_a_small_corpus_and_what_a_model_reads_are_written_by_transactions(
    managed: Settings, own: Store, tmp_path: Path
) -> None:
    server = pid_of(managed)
    report = opened(own, managed, bulk_import=10).ingest(invented(tmp_path / "small", 3), extractor="local")
    assert (report.passages, report.extracted, report.notes) == (9, 9, [])
    wipe(own)
    with OpenAIServer(extracted) as model:
        graph = opened(own, managed, openai_base_url=model.base_url)
        report = graph.ingest(invented(tmp_path / "read", 2), extractor="llm")
    assert (report.extracted, report.notes) == (6, [])
    assert pid_of(managed) == server


def test_what_somebody_wrote_meanwhile_is_not_lost(managed: Settings, own: Store, tmp_path: Path) -> None:
    def write(stage: str, done: int, total: int) -> None:
        if (stage, done) == ("importing", 0):
            own.run_statement("CREATE (:Note {id: 'x'})", {}, write=True, timeout=30, limit=1)

    graph = opened(own, managed)
    with pytest.raises(StoreError, match="Another process wrote to the graph"):
        graph.ingest(invented(tmp_path, 3), extractor="local", progress=write)
    assert_nothing_is_left(managed)
    assert graph.cypher("MATCH (n:Note) RETURN n.id").rows == [["x"]]


def test_a_disk_without_room(managed: Settings, own: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr("kgplatform.ingest.bulk.shutil.disk_usage", lambda path: usage)
    with pytest.raises(InputError, match=r"needs .* GB in .*KGPLATFORM_HOME, or set KGPLATFORM_BULK_IMPORT=0"):
        opened(own, managed).ingest(invented(tmp_path, 3), extractor="local")
    assert own.read("ingest/is_empty")[0]["empty"]
    assert_nothing_is_left(managed)


# Last of what needs the server: after it, that is a new one, which plans every statement anew.


def killed(settings: Settings, folder: Path, java: Path, when: Callable[[list[str]], bool]) -> None:
    """Ingest in a process of its own, and kill it as soon as ``when``, which gets the lines that it printed."""
    names = ("home", "bulk_import", "embedder", "passage_tokens")
    environment = {f"KGPLATFORM_{name.upper()}": str(getattr(settings, name)) for name in names}
    lines: list[str] = []
    with subprocess.Popen(
        [sys.executable, "-c", INGEST, str(folder), str(java)],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        reading = threading.Thread(target=lambda: lines.extend(iter(process.stdout.readline, "")))
        reading.start()
        try:
            while not when(lines):
                assert process.poll() is None, "it was over before it was killed"
                time.sleep(0.01)
        finally:
            process.kill()
            reading.join()


@pytest.mark.killed
def test_killed_anywhere_and_run_again(
    managed: Settings, own: Store, store: Store, tmp_path: Path, quick_java: Path
) -> None:
    """While the importer runs, and when that is over but the server does not run yet."""
    files = invented(tmp_path / "notes", 3)
    opened(store, managed, home=tmp_path / "home").ingest(files, extractor="local")
    neo4j = managed.home_folder / "neo4j"
    mark = neo4j / "importing.json"
    importers: list[int] = []

    def is_importing(_: list[str]) -> bool:
        record = load_record(mark)
        if record is None or record.pid in importers:
            return False
        importers.append(record.pid)
        time.sleep(random.uniform(0, 1.5))
        return True

    def is_imported(lines: list[str]) -> bool:
        is_importing(lines)
        return len(importers) == 2 and not mark.exists() and (neo4j / "server.json").exists()

    killed(managed, tmp_path / "notes", quick_java, is_importing)
    killed(managed, tmp_path / "notes", quick_java, is_imported)
    assert not any(map(psutil.pid_exists, importers))
    with Store(LocalNeo4j(managed).up()) as again:
        report = opened(again, managed).ingest(files, extractor="local")
        assert (report.extracted, report.notes) == (0, []), "all came in with the import"
        assert difference(snapshot(again), snapshot(store)) == []
    assert_nothing_is_left(managed)


def program(folder: Path, lines: str) -> Path:
    """In place of Java."""
    file = folder / "java"
    file.write_text(f"#!/bin/sh\n{lines}\n")
    file.chmod(0o755)
    return file


def test_an_import_is_all_or_nothing(tmp_path: Path) -> None:
    database, log = tmp_path / "data" / "databases" / "neo4j", tmp_path / "log"

    def half_made() -> None:
        for kind in ("databases", "transactions"):
            (tmp_path / "data" / kind / "neo4j").mkdir(parents=True)

    half_made()
    assert import_full(program(tmp_path, "echo done"), [], tmp_path, tmp_path, log, NEVER)
    assert database.exists()
    assert log.read_text() == "done\n"
    assert not import_full(program(tmp_path, "exit 1"), [], tmp_path, tmp_path, log, NEVER)
    assert not database.exists()
    half_made()
    stop = Stop()
    stop.set()
    with pytest.raises(StoppedError):
        import_full(program(tmp_path, "exec sleep 600"), [], tmp_path, tmp_path, log, stop)
    drop_half_import(tmp_path)
    assert {each.name for each in tmp_path.rglob("*")} == {"java", "log", "data", "databases", "transactions"}


def test_an_import_that_fails_says_why_and_the_server_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    java = program(tmp_path, "echo 'java.io.IOException: No space left on device'; exit 1")
    server = LocalNeo4j(load_settings(home=tmp_path / "home"), java=java)
    started = list[bool]()

    def start() -> ServerRecord:
        started.append(True)
        return ServerRecord(os.getpid(), "", 1, 2, "")

    monkeypatch.setattr(server, "_start", start)
    with pytest.raises(ServerError, match=r"bulk import failed: the disk of .* is full; .*\(log: .*import.log\)\.$"):
        server.replace_database([("Chunk", "chunks.csv")], [], tmp_path)
    assert started
