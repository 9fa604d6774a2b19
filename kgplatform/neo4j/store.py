"""Neo4j: with the managed server's check for readiness (``server.py``), the only user of the driver.

    with Store(connection) as store:
        store.read("search/dense", vector=[0.1, …], k=10)              # [{"id": "2f6d…", "score": 0.83}, …]
        store.write(("ingest/entities", {"rows": rows}), ("ingest/mentions", {"rows": rows}))     # both or neither

Every statement comes from ``cypher/`` by name, but for the user's own (``run_statement``). The driver's errors are
translated here.
"""

from __future__ import annotations

import contextlib
import contextvars
import copy
import logging
import math
import random
import re
import time
import uuid
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import islice
from threading import Event
from typing import Any, Literal, TypeVar
from urllib.parse import urlsplit

import neo4j
from neo4j import GraphDatabase
from neo4j import exceptions as driver_errors

from kgplatform.concurrency.spans import span
from kgplatform.concurrency.threads import NEVER, Stop, in_background, short_works
from kgplatform.errors import InputError, ServerError, StatementError, StoppedError, StoreError
from kgplatform.neo4j.process import Strikes
from kgplatform.neo4j.statement_guard import as_explain, refuse_plan, why_too_large, without_explain
from kgplatform.query import BATCH_ROWS, Query, batches, load_query
from kgplatform.records import QueryRun, Table, TableRow
from kgplatform.text import did_you_mean


def plain(value: Any) -> Any:
    """``value`` as JSON can hold it: nodes and relationships become dictionaries, without long vectors."""
    if isinstance(value, neo4j.graph.Node | neo4j.graph.Relationship):
        properties = {key: plain(item) for key, item in sorted(value.items()) if key != "embedding"}
        if isinstance(value, neo4j.graph.Node):
            return {"labels": sorted(value.labels), "properties": properties}
        return {"type": value.type, "properties": properties}
    if isinstance(value, neo4j.graph.Path):
        pairs = zip(value.relationships, value.nodes, strict=False)
        return {
            "nodes": [plain(node) for node in value.nodes],
            "relationships": [plain(relationship) for relationship in value.relationships],
            "forward": [relationship.start_node == node for relationship, node in pairs],
        }
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def table_of(result: neo4j.Result, limit: int) -> tuple[Table, neo4j.ResultSummary]:
    """The first ``limit`` rows of ``result``, which is consumed."""
    columns = tuple(result.keys())
    rows = [TableRow(columns, map(plain, record.values())) for record in islice(result, limit)]
    truncated = result.peek() is not None
    summary = result.consume()
    changes = {name: count for name, count in vars(summary.counters).items() if type(count) is int and count}
    return Table(columns, rows, truncated, changes), summary


def _unknown_in(summary: neo4j.ResultSummary) -> dict[str, str]:
    """What the planner says of each name that the graph does not have, "The label `Persn` does not exist.", and its
    code."""
    told = (each for each in summary.gql_status_objects if each.gql_status in _UNKNOWN)
    return {_UNKNOWN_SAID.sub("", each.status_description): each.gql_status for each in told}


def refuse_unsafe(
    session: neo4j.Session, statement: str, parameters: Parameters, write: bool, timeout: float, mark: Parameters
) -> neo4j.ResultSummary:
    """The summary of the plan. Raises ``InputError`` for what users may not run."""
    try:
        asked = neo4j.Query(as_explain(statement), metadata=mark, timeout=timeout)
        summary = session.run(asked, parameters).consume()
    except driver_errors.CypherSyntaxError as error:
        raise StatementError(f"Neo4j cannot run the statement: {without_explain(message_of(error))}") from error
    refuse_plan(statement, summary.plan or {}, summary.query_type, write=write)
    return summary


# What the driver logs, such as notifications and broken connections, gets who asks for logs; nobody else does.
logging.getLogger("neo4j").addHandler(logging.NullHandler())

T = TypeVar("T")
Row = dict[str, Any]
Parameters = dict[str, Any]

OLDEST_SERVER = (5, 26)
SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
ANY_TIME = ("", "~")
"""Days before and after all ISO dates."""
_THREADS = 4
"""Threads shared by all searches of a store; with more, they contend for the interpreter lock."""
_RETRY_SECONDS = 30
_RETRY_SPREAD = 0.2
_BY_OTHERS = ("Neo.ClientError.Statement.EntityNotFound", "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists")
"""Another transaction removed a node between two steps of a statement, or made the same index between looking for it
and making it: done again, the statement does not meet that."""
_GIVEN_UP = "This run's lease expired; another run took over. Run the same command again: it resumes where it stopped."
_GRACE = 5.0
"""Seconds after its time-out in which a statement ends: the server looks at it every half second, and may be busy."""
_HUNG, _LONGEST = 10.0, 20.0
"""Seconds without any answer, and for which a statement may still go on that was told to end, after which a managed
server is started again."""
_AGAIN = "The server was restarted: run the statement again."
_ENDED, _HANGS = (
    "The database stopped while the statement was running.",
    "The database stopped responding while the statement was running.",
)
_VERSION = re.compile(r"(\d+)\.(\d+)")
_UNKNOWN = ("01N50", "01N51", "01N52")
"""The server's codes for a label, a relationship type and a property that nothing in the graph has."""
_UNKNOWN_SAID = re.compile(r"\Awarn: [^.]+\. | Verify that the spelling is correct\.\Z")


@dataclass(frozen=True)
class Connection:
    """Where a graph is. ``uri`` speaks Bolt; ``browser_url`` opens Neo4j Browser, where its address is known.
    ``strikes``: the statements that have ended it, if it is the managed server."""

    uri: str
    username: str
    password: str = field(repr=False)
    database: str | None = None
    browser_url: str | None = None
    strikes: Strikes = field(default_factory=Strikes, repr=False, compare=False)


Tracer = Callable[[QueryRun], None]
Revive = Callable[[float, bool], bool]
"""Starts a server again that has ended or, if the second is True, hangs; whether there is a new one since the first, a
time."""

# The one context variable of the package: ``trace`` takes no graph and no store, and what it is told must be what its
# own thread or task does. A view of a store (``within``) asks it once, and hands on to other threads what it said.
_tracers: contextvars.ContextVar[tuple[Tracer, ...]] = contextvars.ContextVar("tracers", default=())


class Store(contextlib.AbstractContextManager["Store"]):
    """One database. Thread-safe; open one and keep it.

    Where the work that a statement is for is stopped (``within``), it ends at once, on the server too, and all that its
    transaction wrote is taken back; then ``StoppedError`` is raised.
    """

    def __init__(self, connection: Connection, revive: Revive | None = None) -> None:
        """``revive`` starts the server again where that is ours to do."""
        self.connection = connection
        self._revive = revive
        self.stop = NEVER
        self._tracers: tuple[Tracer, ...] | None = None
        self._kept: list[QueryRun] | None = None
        self.fence: tuple[str, Parameters] | None = None
        """What each write of this store begins with, where it is a pass's (``fenced``)."""
        self.as_of = ANY_TIME
        """The days whose facts its reads find (``at``)."""
        self.single: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())
        """The relations, and the attributes, of which a subject has one value at a time, where it is at some days."""
        self._threads = ThreadPoolExecutor(_THREADS, "searching")
        self._closed = Event()
        try:
            parts = urlsplit(connection.uri)
            is_address = parts.scheme in SCHEMES and bool(parts.hostname) and parts.port != 0
        except ValueError:  # the port is not a number, or too large
            is_address = False
        if not is_address:
            raise ServerError(
                f"NEO4J_URI cannot be used: {connection.uri!r} is not an address like bolt://host:7687 or neo4j://host:7687."
            )
        with translated(f"connect to {connection.uri}"):
            self._driver = GraphDatabase.driver(
                connection.uri,
                auth=(connection.username, connection.password),
                user_agent="kgplatform",
                connection_timeout=15,
                max_transaction_retry_time=_RETRY_SECONDS,
                notifications_min_severity="OFF",
            )

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._closed.set()
        self._driver.close()
        self._threads.shutdown()  # what still reads fails now

    def within(self, stop: Stop) -> Store:
        """This store for a piece of work, in whatever threads: ended by ``stop``, and traced by who traces now."""
        view = copy.copy(self)
        view.stop = stop
        view._tracers = self._told()
        return view

    def fenced(self, fence: tuple[str, Parameters]) -> Store:
        """This store for a pass, whose transactions begin with the write ``fence`` and are none if it finds nothing."""
        view = self.within(self.stop)
        view.fence = fence
        return view

    def at(self, days: tuple[str, str], single: tuple[tuple[str, ...], tuple[str, ...]] = ((), ())) -> Store:
        """This store, whose reads leave out facts of other times than ``days``, the first and that after the last; and
        those of ``single`` relations and attributes that another fact had ended."""
        view = self.within(self.stop)
        view.as_of, view.single = days, single
        return view

    def recording(self) -> Store:
        """This store, as one that keeps what it reads (``queries``), for the trace of a reader."""
        view = self.within(self.stop)
        view._kept = []
        return view

    @property
    def queries(self) -> tuple[QueryRun, ...]:
        """What was read since ``recording``, in order."""
        return tuple(self._kept or ())

    def at_once(self, *works: Callable[[Store], Any]) -> list[Any]:
        """The results of ``works``, which only read, at the same time, in order. Each is given the store to read from.
        What they read is kept in the order of the works. Threads are shared (``short_works``)."""
        self._check_open()
        stores = [self.recording() for _ in works]
        results = short_works([partial(work, store) for work, store in zip(works, stores, strict=True)], self._threads)
        if self._kept is not None:
            self._kept += [run for store in stores for run in store.queries]
        return results

    def check(self) -> str:
        """The server's version. Raises ``ServerError`` if it cannot be reached or is older than 5.26."""
        with translated(f"connect to {self.connection.uri}"):
            agent = self._driver.get_server_info().agent
        version = agent.rpartition("/")[2]
        if not is_new_enough(version):
            raise ServerError(
                f"{self.connection.uri} runs Neo4j {version}; the platform needs 5.26 or newer. "
                "Upgrade it, or unset NEO4J_URI to use the managed local server."
            )
        return version

    def read(self, name: str, **parameters: Any) -> list[Row]:
        """The rows of a ``mode: read`` statement."""
        if "asOf" in load_query(name).parameters:
            parameters = {**parameters, "asOf": [*self.as_of]}
        query = _checked(name, "read", parameters)

        def once(mark: Parameters) -> tuple[list[Row], QueryRun]:
            # A transaction that is begun and committed goes to the server and back twice more.
            statement = neo4j.Query(query.text, metadata=mark)
            with self._session(neo4j.READ_ACCESS) as session:
                return self._rows(query, parameters, lambda: session.run(statement, parameters))

        with self._stoppable() as mark, translated(name):
            rows, run = self._tried(once, mark)
        if self._kept is not None:
            self._kept.append(run)
        return rows

    def read_batches(self, name: str, size: int = BATCH_ROWS, **parameters: Any) -> Generator[list[Row], None, None]:
        """The rows of a ``mode: read`` statement, ``size`` at a time, as they come: neither side holds all of them. Its
        transaction stays open until the last. What is written meanwhile may show in later rows, or not."""
        query = _checked(name, "read", parameters)
        with self._stoppable() as mark, translated(name), self._session(neo4j.READ_ACCESS) as session:
            result = session.run(neo4j.Query(query.text, metadata=mark), parameters)
            while True:
                rows = self._rows(query, parameters, lambda: result, size)[0]
                if rows:
                    yield rows
                elif result.peek() is None:  # rows that come in lists may be none, and more lists follow
                    return

    def meet_again(self) -> None:
        """Forget what was of a server that has been started again with another database on the same port. Connections
        are closed, and a bookmark of the old database would be waited for. Raises ``ServerError``."""
        with translated("neo4j/last_change"):
            with contextlib.suppress(driver_errors.DriverError):  # one that is closed takes the other ones with it
                self._driver.verify_connectivity()
            with self._driver.session() as session:
                session.run(neo4j.Query(load_query("neo4j/last_change").text)).consume()
                now = session.last_bookmarks().raw_values
            bookmarks = self._driver.execute_query_bookmark_manager
            bookmarks.update_bookmarks(bookmarks.get_bookmarks(), now)

    def last_change(self) -> frozenset[str]:
        """Another value after each transaction that changed the database, whoever ran it: the bookmark of a read."""

        def once(mark: Parameters) -> frozenset[str]:
            with self._session(neo4j.READ_ACCESS) as session:
                session.run(neo4j.Query(load_query("neo4j/last_change").text, metadata=mark)).consume()
                return session.last_bookmarks().raw_values

        with self._stoppable() as mark, translated("neo4j/last_change"):
            return self._tried(once, mark)

    def write(self, *statements: tuple[str, Parameters]) -> list[list[Row]]:
        """Run ``mode: write`` statements, in order, in one managed transaction: all of them or none."""
        fence = [self.fence] if self.fence else []
        queries = [(_checked(name, "write", parameters), parameters) for name, parameters in (*fence, *statements)]

        def once(mark: Parameters) -> list[list[Row]]:
            results: list[list[Row]] = []
            with self._session(neo4j.WRITE_ACCESS) as session, session.begin_transaction(metadata=mark) as transaction:
                for query, parameters in queries:
                    results.append(self._rows(query, parameters, partial(transaction.run, query.text, parameters))[0])
                    if fence and not results[0]:
                        raise StoreError(_GIVEN_UP)
            return results[len(fence) :]

        with self._stoppable() as mark, translated(", ".join(query.name for query, _ in queries)):
            return self._tried(once, mark)

    def write_rows(self, name: str, rows: Sequence[Row], **parameters: Any) -> None:
        """Run a write over many ``rows``, in transactions of 1,000."""
        for batch in batches(rows):
            self.write((name, {"rows": batch, **parameters}))

    def define(self, name: str, **parameters: Any) -> None:
        """Run a ``mode: schema`` statement: constraints and indexes, which cannot share a transaction with data."""
        query = _checked(name, "schema", parameters)

        def once(mark: Parameters) -> None:
            with self._session(neo4j.WRITE_ACCESS) as session:
                session.run(neo4j.Query(query.text, metadata=mark), parameters).consume()

        with self._stoppable() as mark, translated(name):
            self._tried(once, mark)

    def run_statement(
        self, statement: str, parameters: Parameters, *, write: bool, timeout: float, limit: int
    ) -> Table:
        """Run a user's ``statement``, read-only unless ``write``.

        The plan is asked for first: its query type must be a read and it may not load files; then the statement runs
        in the matching access mode, so that the server refuses what the plan did not show.
        Raises ``InputError`` if it is refused, ``StatementError`` if the server cannot run it, or cannot end it: it is
        waited for no longer than ``timeout`` seconds and a few more. ``ServerError`` says whether the server ended.
        """
        return self._bounded(
            statement, parameters, timeout, partial(self._user_statement, statement, parameters, write, timeout, limit)
        )

    def _bounded(self, statement: str, parameters: Parameters, timeout: float, ask: Callable[[Parameters], T]) -> T:
        """What ``ask`` gives of a user's ``statement``, whose transactions have the metadata it is called with. It is
        waited for no longer than ``timeout`` and some 30 seconds; then the managed server is started again."""
        if why := why_too_large(statement, parameters):
            raise InputError(why)
        strikes = self.connection.strikes
        strikes.refuse(statement)
        life = strikes.life()
        mark, began = {"kgplatform": uuid.uuid4().hex}, time.time()
        running, ending = in_background(partial(ask, mark), "statement"), None
        try:
            try:
                answer = running.result(timeout + _GRACE)
            except TimeoutError:
                ending = in_background(partial(self._end, mark["kgplatform"]), "ending")
                ending.result(_HUNG)
                answer = running.result(_LONGEST)
        except TimeoutError as error:
            strikes.add(statement, life)
            hangs = ending is not None and not ending.done()
            is_new = self._revived(began, hangs=True)
            if hangs:
                raise ServerError(f"{_HANGS} {_AGAIN if is_new else 'Restart it.'}") from error
            what = "the server was restarted to end it" if is_new else "it keeps running on the server"
            raise StatementError(
                f"The statement did not finish within {timeout:g} s, and Neo4j cannot cancel it: {what}. Ask for less "
                "at once."
            ) from error
        except ServerError as error:
            if isinstance(error.__cause__, GONE):
                strikes.add(statement, life)
            if self._revived(began):
                raise ServerError(f"{_ENDED} {_AGAIN}") from error
            raise
        strikes.forgive(statement)
        return answer

    def _user_statement(
        self, statement: str, parameters: Parameters, write: bool, timeout: float, limit: int, mark: Parameters
    ) -> Table:
        access = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
        until = time.monotonic() + timeout
        session = self._session(access, "WARNING")
        with self._stoppable(mark) as marked, translated("the statement"), session:
            refuse_unsafe(session, statement, parameters, write, timeout, marked)
            left = max(0.01, until - time.monotonic())
            table, summary = table_of(
                session.run(neo4j.Query(statement, metadata=marked, timeout=left), parameters), limit
            )
            told = _unknown_in(summary)
            known: dict[str, list[str]] = {}
            for row in session.run(load_query("neo4j/names").text) if told else ():
                known.setdefault(row["code"], []).append(row["name"])
            notes = (f"{said}{did_you_mean(said.split('`')[1], known.get(code, ()))}" for said, code in told.items())
            return replace(table, notes=tuple(notes))

    def _revived(self, since: float, *, hangs: bool = False) -> bool:
        """Whether the server has ended, or hangs, and has been started again ``since`` then."""
        return self._revive is not None and self._revive(since, hangs)

    def unknown_names(self, statement: str, parameters: Parameters, timeout: float) -> tuple[str, ...]:
        """The labels, relationship types and properties of a user's ``statement`` that the graph does not have.

        As the planner says them: "The label `Persn` does not exist." The statement is only planned, and must be one
        that reads. Raises as ``run_statement`` does.
        """

        def ask(mark: Parameters) -> tuple[str, ...]:
            session = self._session(neo4j.READ_ACCESS, "WARNING")
            with self._stoppable(mark) as marked, translated("the statement"), session:
                return tuple(_unknown_in(refuse_unsafe(session, statement, parameters, False, timeout, marked)))

        return self._bounded(statement, parameters, timeout, ask)

    @contextlib.contextmanager
    def lend_driver(self, to: str) -> Iterator[neo4j.Driver]:
        """The driver itself, for a library (``to``) that needs one; errors are translated as the platform's own are."""
        with translated(to):
            yield self._driver

    @contextlib.contextmanager
    def _stoppable(self, mark: Parameters | None = None) -> Iterator[Parameters]:
        """Metadata of transactions (``mark``, if given), which are ended on the server where the work is stopped."""
        if not self.stop.can_be_set:
            yield mark or {}
            return
        self.stop.check()
        marked = mark or {"kgplatform": uuid.uuid4().hex}
        try:
            with self.stop.ending(lambda: self._end(marked["kgplatform"])):
                yield marked
        except StoreError as error:
            if self.stop.is_set:
                raise StoppedError from error
            raise

    def _tried(self, once: Callable[[Parameters], T], mark: Parameters) -> T:
        """As the driver's managed transactions try again, but they cannot be stopped while they wait. A managed server
        that has ended is started again."""
        until, pause = time.monotonic() + _RETRY_SECONDS, 1.0
        while True:
            began = time.time()
            try:
                return once(mark)
            except (driver_errors.Neo4jError, driver_errors.DriverError) as error:
                if isinstance(error, GONE) and self._revived(began):  # what that took is not the statement's
                    until = time.monotonic() + _RETRY_SECONDS
                    continue
                met_others = getattr(error, "code", None) in _BY_OTHERS
                if not (error.is_retryable() or met_others) or time.monotonic() >= until:
                    raise
            self.stop.sleep(pause + random.uniform(0, _RETRY_SPREAD))
            pause *= 2

    def _rows(
        self, query: Query, parameters: Parameters, run: Callable[[], neo4j.Result], most: int | None = None
    ) -> tuple[list[Row], QueryRun]:
        """The rows that ``run`` gives, or the next ``most``, and what it was; the tracers are called with it."""
        started = time.perf_counter()
        with span(query.name, {"db.system.name": "neo4j", "db.query.text": query.text}) as tell:
            result = run()
            columns = result.keys()
            # Not ``result.data()``, which looks into every element of every list.
            rows = [dict(zip(columns, record.values(), strict=True)) for record in islice(result, most)]
            if query.each:
                rows = [dict(zip(query.each, each, strict=True)) for row in rows for each in row[columns[0]]]
            tell({"db.response.returned_rows": len(rows)})
        ran = QueryRun(query.name, query.text, parameters, len(rows), time.perf_counter() - started)
        for tracer in self._told():
            tracer(ran)
        return rows, ran

    def _told(self) -> tuple[Tracer, ...]:
        return _tracers.get() if self._tracers is None else self._tracers

    def _end(self, mark: str) -> None:
        query = _checked("neo4j/end", "read", {"mark": mark})
        # A server that is gone has ended them itself, and who waits for them is told so.
        gone = contextlib.suppress(driver_errors.Neo4jError, driver_errors.DriverError)
        with gone, self._session(neo4j.READ_ACCESS) as session:
            session.run(neo4j.Query(query.text), {"mark": mark}).consume()

    def _check_open(self) -> None:
        if self._closed.is_set():
            raise InputError("This graph is closed. Open it again with connect().")

    def _session(self, access: str, notices: Literal["OFF", "WARNING"] = "OFF") -> neo4j.Session:
        self._check_open()
        return self._driver.session(
            database=self.connection.database,
            default_access_mode=access,
            notifications_min_severity=notices,
            bookmark_manager=self._driver.execute_query_bookmark_manager,
        )


@contextlib.contextmanager
def trace(callback: Tracer) -> Iterator[None]:
    """Tell ``callback`` every statement of the platform that is begun in this context, with its time: ``trace(print)``.
    It is called in the thread in which the statement ran."""
    token = _tracers.set((*_tracers.get(), callback))
    try:
        yield
    finally:
        _tracers.reset(token)


def is_new_enough(version: str) -> bool:
    """Whether a server that calls itself ``version`` ("5.26.30", "5.27-aura", "2025.10.1") will do."""
    found = _VERSION.match(version)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST_SERVER


def _checked(name: str, mode: str, parameters: Parameters) -> Query:
    query = load_query(name)
    if query.mode != mode or set(query.parameters) != set(parameters):
        raise ValueError(
            f"cypher/{name}.cypher is a {query.mode} statement over {sorted(query.parameters)}; "
            f"called as {mode} with {sorted(parameters)}"
        )
    return query


# -------------------------------------------------------------------------------------------------------- its errors

_PANIC = re.compile(r"needs to be restarted|Could not append transaction|TransactionLogError")
_DISK = re.compile(r"No space left on device|Disk quota exceeded|not enough space|Read-only file system")


def has_panicked(error: Exception) -> bool:
    """Whether ``error`` says that the database has stopped working: after an error of its disk Neo4j refuses all work
    until it is started again, a panic in its own words."""
    return bool(_PANIC.search(str(error)))


def trouble_of(error: Exception) -> ServerError | None:
    """What ``error``, the driver's, says of the server itself, worded for people; None if it is about the statement."""
    code = str(getattr(error, "code", ""))
    if "ReadOnly" in code:
        return ServerError(
            "The database is read-only. Allow writing (`server.databases.read_only`, or `ALTER DATABASE`), then run "
            "the same command again."
        )
    if code.startswith("Neo.ClientError"):
        return None
    if has_panicked(error):
        return ServerError(
            "The database has stopped working, most likely because its disk is full or cannot be written. Free some "
            "space there, then run the same command again: it restarts the managed server (restart any other "
            "yourself). What was finished is kept."
        )
    if _DISK.search(str(error)):
        return ServerError(
            "The disk of the database is full, or cannot be written. Free some space there, then run the same command "
            "again: what was finished is kept."
        )
    if code.endswith("DatabaseUnavailable"):
        return ServerError(
            "The database is closed. If its server is not still starting, run `kgplatform down`, then the same "
            "command again to see the reason (for your own server, see its log)."
        )
    return None


_TIMED_OUT = ("TransactionTimedOut", "TransactionTimedOutClientConfiguration")
_TOO_LARGE = ("MemoryPoolOutOfMemoryError", "TransactionOutOfMemoryError")
GONE = (driver_errors.ServiceUnavailable, driver_errors.SessionExpired)
"""What is raised where the server does not answer."""


@contextlib.contextmanager
def translated(doing: str) -> Iterator[None]:
    """The driver's errors inside of it are raised as ours, which say what was done (``doing``)."""
    try:
        yield
    except driver_errors.AuthError as error:
        raise ServerError(
            "The database refused the user name or password. Check NEO4J_USERNAME and NEO4J_PASSWORD."
        ) from error
    except GONE as error:
        raise ServerError(
            f"The database does not answer ({doing}): {_first_line(error).rstrip(' :.')}. "
            "Check that it runs, and that NEO4J_URI is its address."
        ) from error
    except driver_errors.Neo4jError as error:
        raise _in_words(error, doing) from error
    except driver_errors.ConfigurationError as error:
        raise ServerError(f"NEO4J_URI cannot be used: {_first_line(error)}") from error
    except driver_errors.DriverError as error:
        raise trouble_of(error) or StoreError(f"Neo4j failed at {doing}: {_first_line(error)}") from error
    except (OverflowError, UnicodeEncodeError) as error:  # from the driver, as it sends
        raise InputError("A parameter has a number or a character that Neo4j cannot hold.") from error


def _in_words(error: driver_errors.Neo4jError, doing: str) -> StoreError:
    kind = (error.code or "").rpartition(".")[2]
    if kind in _TIMED_OUT:
        return StatementError(f"Neo4j stopped {doing} at its timeout: request less at once, or allow more time.")
    if kind in _TOO_LARGE:
        return StatementError(
            f"Neo4j stopped {doing}: it needs more memory than allowed. Request less at once, with LIMIT."
        )
    if kind == "DatabaseNotFound":
        return ServerError(f"Unknown database ({message_of(error)}). Check NEO4J_DATABASE.")
    if trouble := trouble_of(error):
        return trouble
    if isinstance(error, driver_errors.ClientError):
        return StatementError(f"Neo4j cannot run {doing}: {message_of(error)}")
    return StoreError(f"Neo4j failed at {doing}: {_first_line(error)}")


def message_of(error: driver_errors.Neo4jError) -> str:
    """What the server says."""
    return (error.message or str(error)).strip()


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
