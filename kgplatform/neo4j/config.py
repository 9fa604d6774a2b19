"""What the managed Neo4j is told: its configuration, its JVM's options, and the password of its one user."""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path

from kgplatform.errors import ServerError, SettingError
from kgplatform.neo4j.process import Ports
from kgplatform.settings import Settings, env_name

_JVM_SIZE = re.compile(r"[1-9][0-9]*[kKmMgG]")

_CONF = """\
# Written by kgplatform at every start; changes made here are lost.
server.default_listen_address=127.0.0.1
server.default_advertised_address=127.0.0.1
server.bolt.listen_address=127.0.0.1:{bolt}
server.bolt.advertised_address=127.0.0.1:{bolt}
server.http.listen_address=127.0.0.1:{http}
server.http.advertised_address=127.0.0.1:{http}
server.https.enabled=false
server.memory.heap.initial_size={heap}
server.memory.heap.max_size={heap}
server.memory.pagecache.size={page_cache}
server.logs.config=conf/server-logs.xml
server.logs.user.config=conf/user-logs.xml
dbms.security.auth_enabled=true
dbms.security.allow_csv_import_from_file_urls=false
internal.dbms.cypher_ip_blocklist=0.0.0.0/0,::/0
dbms.usage_report.enabled=false
client.allow_telemetry=false
db.logs.query.enabled=OFF
server.bolt.telemetry.enabled=false
internal.dbms.bolt.netty_server_shutdown_quiet_period=0
internal.server.bolt.thread_pool_shutdown_wait_time=1s
db.tx_log.preallocate=false
db.tx_log.rotation.retention_policy=1 files
"""

_SERVER_LOGS = """\
<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Appenders>
    <RollingRandomAccessFile name="DebugLog" fileName="${config:server.directories.logs}/debug.log"
                             filePattern="$${config:server.directories.logs}/debug.log.%02i">
      <PatternLayout pattern="%d{yyyy-MM-dd HH:mm:ss.SSSZ}{GMT+0} %-5p [%c{1.}] %m%n"/>
      <Policies><SizeBasedTriggeringPolicy size="4 MB"/></Policies>
      <DefaultRolloverStrategy fileIndex="min" max="2"/>
    </RollingRandomAccessFile>
  </Appenders>
  <Loggers>
    <Root level="WARN"><AppenderRef ref="DebugLog"/></Root>
  </Loggers>
</Configuration>
"""

_USER_LOGS = """\
<?xml version="1.0" encoding="UTF-8"?>
<Configuration status="ERROR">
  <Appenders>
    <Console name="ConsoleAppender" target="SYSTEM_OUT">
      <PatternLayout pattern="%d{yyyy-MM-dd HH:mm:ss.SSSZ}{GMT+0} %-5p %m%n"/>
    </Console>
  </Appenders>
  <Loggers>
    <Root level="INFO"><AppenderRef ref="ConsoleAppender"/></Root>
  </Loggers>
</Configuration>
"""

_JVM_OPTIONS = (
    "-XX:+UseParallelGC",
    "-XX:+ExitOnOutOfMemoryError",
    "-XX:-UsePerfData",
    "-Djava.awt.headless=true",
    "-Dfile.encoding=UTF-8",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/java.io=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
)
_INHERITED = ("PATH", "HOME", "TZ")


def write_configuration(home: Path, settings: Settings, ports: Ports, class_path: list[Path]) -> list[str]:
    """Write ``conf/`` of the server whose folder is ``home``; return the arguments for ``java`` that run it."""
    heap = _jvm_size(settings, "neo4j_heap")
    page_cache = _jvm_size(settings, "neo4j_page_cache")
    conf = _CONF.format(bolt=ports.bolt, http=ports.http, heap=heap, page_cache=page_cache)
    _write(home / "conf" / "neo4j.conf", conf)
    _write(home / "conf" / "server-logs.xml", _SERVER_LOGS)
    _write(home / "conf" / "user-logs.xml", _USER_LOGS)
    _write(home / "conf" / "class-path.args", _class_path_option(class_path))
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
    _write(path, password)
    return password


def has_store(home: Path) -> bool:
    """Whether the server was started before, so that its own store holds the password."""
    return (home / "data" / "databases" / "system").exists()


def _jvm_size(settings: Settings, name: str) -> str:
    value: str = getattr(settings, name)
    if not _JVM_SIZE.fullmatch(value):
        raise SettingError(f"{env_name(name)} is {value!r}, which is no size; write it like 512m or 2g.")
    return value.lower()


def _class_path_option(jars: list[Path]) -> str:
    """One line of a JVM argument file; quotes and backslashes in a path are escaped, a colon cannot be."""
    if any(":" in str(jar) for jar in jars):
        raise SettingError(f"{env_name('neo4j_jars')} names a folder with a colon in its path; Java cannot use that.")
    joined = ":".join(str(jar) for jar in jars)
    escaped = joined.replace("\\", "\\\\").replace('"', '\\"')
    return f'-cp "{escaped}"\n'


def _write(path: Path, text: str) -> None:
    """Whole or not at all, for the owner only."""
    part = path.with_name(path.name + ".part")
    part.unlink(missing_ok=True)
    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(text)
    part.replace(path)
