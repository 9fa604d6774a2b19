"""How the managed Neo4j is set up: its program files, its configuration, its JVM's options, and the password of its one
user. The program files are fetched once into one folder that all homes share; the lock file beside this module names
every jar.
"""

from __future__ import annotations

import os
import re
import secrets
from collections.abc import Sequence
from pathlib import Path

from kgplatform.concurrency.files import write_atomically
from kgplatform.concurrency.maven import FetchError, Jar, Report, fetch, read_lock
from kgplatform.errors import ServerError, SettingError
from kgplatform.neo4j.memory import AUTO, Memory, bytes_of
from kgplatform.neo4j.process import Ports
from kgplatform.settings import Settings, env_name

_JVM_SIZE = re.compile(r"[1-9][0-9]*[kKmMgG]")

TEMPLATES = Path(__file__).with_name("conf")
"""The files of the server's configuration; those of braces are filled in."""

_JVM_OPTIONS = (
    "-XX:+UseParallelGC",
    "-XX:+ExitOnOutOfMemoryError",
    # A heap that is full to the brim ends the server: else it collects garbage for minutes, and answers nobody
    # (docs/explanation/decisions.md).
    "-XX:GCTimeLimit=50",
    "-XX:GCHeapFreeLimit=85",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
_LEAST_BUFFER, _MOST_BUFFER, _BUFFERS = 16, 1900, 10
"""Megabytes of vectors that become one segment of a new index, and how many such buffers a heap would hold."""
_OF_ONE, _OF_ALL = 0.25, 0.5
"""The parts of the heap that one transaction, and all of them together, may hold."""
_INHERITED = ("PATH", "HOME", "TZ")


def write_configuration(home: Path, memory: Memory, ports: Ports, class_path: list[Path]) -> list[str]:
    """Write ``conf/`` of the server whose folder is ``home``; return the arguments for ``java`` that run it."""
    heap = memory.heap
    buffer = min(max(_LEAST_BUFFER, bytes_of(heap) // _BUFFERS // 2**20), _MOST_BUFFER)
    indexes = {"buffer": buffer, "most_merged": buffer // 2}
    shares = {"transaction": _OF_ONE, "transactions": _OF_ALL}  # of the heap, for one transaction and for all together
    statements = {name: int(bytes_of(heap) * share) // 2**20 for name, share in shares.items()}
    places = {"bolt": ports.bolt, "http": ports.http, "heap": heap, "page_cache": memory.page_cache}
    values = places | indexes | statements
    configuration = (TEMPLATES / "neo4j.conf").read_text("utf-8").format(**values)
    write_atomically(home / "conf" / "neo4j.conf", configuration.encode())
    for name in ("server-logs.xml", "user-logs.xml"):
        write_atomically(home / "conf" / name, (TEMPLATES / name).read_bytes())
    # In a JVM argument file, quotes and backslashes in a path are escaped; what parts the paths cannot be.
    if any(os.pathsep in str(jar) for jar in class_path):
        sign = "colon" if os.pathsep == ":" else "semicolon"
        raise SettingError(f"{env_name('neo4j_jars')} names a folder with a {sign} in its path; Java cannot use that.")
    joined = os.pathsep.join(str(jar) for jar in class_path)
    escaped = joined.replace("\\", "\\\\").replace('"', '\\"')
    write_atomically(home / "conf" / "class-path.args", f'-cp "{escaped}"\n'.encode())
    temporary = home / "run"
    return [
        f"-Xms{heap}",
        f"-Xmx{heap}",
        f"-Djava.io.tmpdir={temporary}",
        f"-Djna.tmpdir={temporary}",
        f"-XX:ErrorFile={home / 'logs' / 'jvm-crash.log'}",
        *_JVM_OPTIONS,
        f"@{home / 'conf' / 'class-path.args'}",
        "org.neo4j.server.CommunityEntryPoint",
        "--console-mode",
        f"--home-dir={home}",
        f"--config-dir={home / 'conf'}",
    ]


def set_password_arguments(home: Path) -> list[str]:
    """Arguments for ``java`` that give the server its first password, read from the file and shown to nobody."""
    return [
        "-Xshare:auto",
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        f"@{home / 'conf' / 'class-path.args'}",
        "org.neo4j.cli.AdminTool",
        "dbms",
        "set-initial-password",
        f"@{home / 'password'}",
    ]


Files = Sequence[tuple[str, str]]
"""CSV files for the importer: the labels or the type of their rows, empty where a column says them, and their names."""


def import_arguments(home: Path, heap: str, nodes: Files, relationships: Files) -> list[str]:
    """Arguments for ``java`` that make the server's database of files in the folder in which it runs. Nodes have
    numbers from 0 on, those of all files together."""
    return [
        f"-Xmx{heap}",
        *_admin_tool(home),
        *("database", "import", "full", "neo4j", "--overwrite-destination=true", "--id-type=actual"),
        *("--array-delimiter=U+001F", "--multiline-fields=true", "--bad-tolerance=0", "--high-parallel-io=on"),
        f"--report-file={home / 'logs' / 'import.report'}",
        *(f"--nodes={labels}={file}" if labels else f"--nodes={file}" for labels, file in nodes),
        *(f"--relationships={kind}={file}" if kind else f"--relationships={file}" for kind, file in relationships),
    ]


def check_arguments(home: Path) -> list[str]:
    """Arguments for ``java`` that look for what does not fit together in the database of a stopped server."""
    return [*_admin_tool(home), "database", "check", "neo4j", f"--report-path={home / 'logs'}"]


def _admin_tool(home: Path) -> list[str]:
    temporary, classes = home / "run", home / "conf" / "class-path.args"
    return [f"-Djava.io.tmpdir={temporary}", *_JVM_OPTIONS, f"@{classes}", "org.neo4j.cli.AdminTool"]


def java_environment(home: Path) -> dict[str, str]:
    """Few variables: no key or password of the caller's, no JVM options from outside; paths in any script work."""
    kept = {name: os.environ[name] for name in _INHERITED if name in os.environ}
    return {**kept, "LC_ALL": "C.UTF-8", "NEO4J_HOME": str(home), "NEO4J_CONF": str(home / "conf")}


def ensure_password(home: Path) -> str:
    """The password in ``home``, made on first use. Raises ``ServerError`` if it was lost."""
    path = home / "password"
    try:
        return path.read_text("utf-8").strip()
    except FileNotFoundError as error:
        if has_store(home):
            raise ServerError(
                f"The password file {path} is missing, but {home / 'data'} holds a graph that needs it. Put the "
                f"password back into that file, or delete {home} to begin with an empty graph."
            ) from error
    password = secrets.token_hex(16)
    write_atomically(path, password.encode())
    return password


def has_store(home: Path) -> bool:
    """Whether the server was started before, so that its own store holds the password."""
    return (home / "data" / "databases" / "system").exists()


def set_memory(settings: Settings) -> Memory:
    """Heap and page cache as they are set: each a size, or ``auto``. Raises ``SettingError``."""
    sizes = {name: str(getattr(settings, name)) for name in ("neo4j_heap", "neo4j_page_cache")}
    for name, size in sizes.items():
        if size != AUTO and not _JVM_SIZE.fullmatch(size):
            raise SettingError(f"{env_name(name)} is {size!r}, which is not a size; write it like 512m or 2g, or auto.")
    return Memory(*map(str.lower, sizes.values()))


VERSION = "5.26.30"
_LOCK_FILE = Path(__file__).with_name(f"neo4j-{VERSION}.lock")


def locked_jars() -> list[Jar]:
    """Every jar of the server, in the order of the class path."""
    return read_lock(_LOCK_FILE)


def install(folder: Path, report: Report, *, recheck: bool = False, only: str = "") -> list[Path]:
    """Make sure that every jar, or that of the artifact ``only``, lies whole in ``folder``; return them in the order of
    the class path. ``recheck`` reads every file again even if nothing seems to have changed. Raises ``ServerError``."""
    jars = [jar for jar in locked_jars() if only in ("", jar.artifact)]
    try:
        return fetch(folder, jars, f"Neo4j {VERSION}", report, recheck=recheck)
    except FetchError as error:
        raise ServerError(str(error)) from error
