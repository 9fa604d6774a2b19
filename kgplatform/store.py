"""Neo4j: the one user of the driver.

    with Store(connection) as store:
        store.read("retrieve/passage", vector=[...], k=10)
        store.write(("build/chunks", {"rows": rows}), ("build/evidence", {"rows": rows}))

Every statement comes from ``cypher/`` by name, but for the user's own (``run_statement``). The driver's errors are
translated here, and here alone.
"""

from __future__ import annotations

import contextlib
import contextvars
import logging
import math
import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal
from urllib.parse import urlsplit

import neo4j
from neo4j import GraphDatabase
from neo4j import exceptions as driver_errors
from tenacity import Retrying, retry_if_exception, stop_after_delay, wait_exponential, wait_random

from kgplatform.errors import InputError, ServerError, StatementError, StoppedError, StoreError
from kgplatform.query import Query, load_query
from kgplatform.records import QueryRun
from kgplatform.stopping import can_be_stopped, check_stopped, ended_by, is_stopped, sleep

# The driver logs what a session asks to be told. Who wants that in a log gets it; nobody is told unasked.
logging.getLogger("neo4j.notifications").addHandler(logging.NullHandler())

Row = dict[str, Any]
Parameters = dict[str, Any]

OLDEST_SERVER = (5, 26)
_SCHEMES = ("bolt", "bolt+s", "bolt+ssc", "neo4j", "neo4j+s", "neo4j+ssc")
_BATCH_ROWS = 1000
_RETRY_SECONDS = 30
_EXPLAIN = "EXPLAIN "
_PLAN_SECONDS = 30
# White space or a comment. A comment ends at its first end: longer ones would hide what stands between. That of a line
# is a carriage return too.
_GAP = r"(?:[\s\u180e]|//[^\r\n]*[\r\n]|/\*(?:(?!\*/).)*\*/)"
_PLAN_ASKED = re.compile(rf"{_GAP}*(?:explain|profile)\b", re.I | re.S)
_LOAD_CSV = re.compile(rf"\bload{_GAP}+csv\b", re.I | re.S)
_SUBQUERY_EXPRESSION = re.compile(rf"\b(?:collect|count|exists){_GAP}*\{{", re.I | re.S)
_ESCAPE = re.compile(r"\\u+([0-9a-f]{4})", re.I)
_VERSION = re.compile(r"(\d+)\.(\d+)")
_POSITION = re.compile(r"\(line 1, column (\d+) \(offset: (\d+)\)\)")
_UNKNOWN = ("01N50", "01N51", "01N52")
"""The server's codes for a label, a relationship type and a property that nothing in the graph has."""
_UNKNOWN_SAID = re.compile(r"\Awarn: [^.]+\. | Verify that the spelling is correct\.\Z")
_SERVER_COMMANDS = ("ShowTransactions", "TerminateTransactions", "ShowSettings")


@dataclass(frozen=True, slots=True)
class Connection:
    """Where a graph is. ``uri`` speaks Bolt; ``browser_url`` opens Neo4j Browser, where its address is known."""

    uri: str
    username: str
    password: str = field(repr=False)
    database: str | None = None
    browser_url: str | None = None


@dataclass(frozen=True, slots=True)
class Table:
    """Rows of a user's statement. ``truncated`` if the row limit cut them; ``counters`` are what it changed."""

    columns: tuple[str, ...]
    rows: list[list[Any]]
    truncated: bool
    counters: dict[str, int]


_tracers: contextvars.ContextVar[tuple[Callable[[QueryRun], None], ...]] = contextvars.ContextVar("tracers", default=())


class Store:
    """One database. Thread-safe; open one and keep it.

    Where the work that a statement is for is stopped (``stopping``), it ends at once, on the server too, and all that
    its transaction wrote is taken back; then ``StoppedError`` is raised.
    """

    def __init__(self, connection: Connection) -> None:
        self.connection = connection
        if not _is_address(connection.uri):
            raise ServerError(
                f"NEO4J_URI cannot be used: {connection.uri!r} is no address like bolt://host:7687 or neo4j://host:7687."
            )
        with _translated(f"connect to {connection.uri}"):
            self._driver = GraphDatabase.driver(
                connection.uri,
                auth=(connection.username, connection.password),
                user_agent="kgplatform",
                connection_timeout=15,
                max_transaction_retry_time=_RETRY_SECONDS,
                notifications_min_severity="OFF",
            )

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close all connections."""
        self._driver.close()

    def check(self) -> str:
        """The server's version. Raises ``ServerError`` if it cannot be reached or is older than 5.26."""
        with _translated(f"connect to {self.connection.uri}"):
            agent = self._driver.get_server_info().agent
        version = agent.rpartition("/")[2]
        if not is_new_enough(version):
            raise ServerError(
                f"{self.connection.uri} runs Neo4j {version}; the platform needs 5.26 or newer. "
                "Upgrade it, or unset NEO4J_URI to use the managed local server."
            )
        return version

    # ------------------------------------------------------------------------------------ the platform's statements

    def read(self, name: str, **parameters: Any) -> list[Row]:
        """The rows of a ``mode: read`` statement."""
        query = _checked(name, "read", parameters)

        def once(mark: Parameters) -> list[Row]:
            # A transaction that is begun and committed goes to the server and back twice more.
            statement = neo4j.Query(query.text, metadata=mark)
            with self._session(neo4j.READ_ACCESS) as session:
                return _rows(query, parameters, lambda: session.run(statement, parameters))

        with self._stoppable() as mark, _translated(name):
            return _retrying(once, mark)

    def last_change(self) -> frozenset[str]:
        """Another value after each transaction that changed the database, whoever ran it: the bookmark of a read."""

        def once(mark: Parameters) -> frozenset[str]:
            with self._session(neo4j.READ_ACCESS) as session:
                session.run(neo4j.Query(load_query("store/last_change").text, metadata=mark)).consume()
                return session.last_bookmarks().raw_values

        with self._stoppable() as mark, _translated("store/last_change"):
            return _retrying(once, mark)

    def write(self, *statements: tuple[str, Parameters]) -> list[list[Row]]:
        """Run ``mode: write`` statements, in order, in one managed transaction: all of them or none."""
        queries = [(_checked(name, "write", parameters), parameters) for name, parameters in statements]

        def once(mark: Parameters) -> list[list[Row]]:
            with self._session(neo4j.WRITE_ACCESS) as session, session.begin_transaction(metadata=mark) as transaction:
                return [
                    _rows(query, parameters, partial(transaction.run, query.text, parameters))
                    for query, parameters in queries
                ]

        with self._stoppable() as mark, _translated(", ".join(query.name for query, _ in queries)):
            return _retrying(once, mark)

    def write_rows(self, name: str, rows: Sequence[Row], **parameters: Any) -> None:
        """Run a write over many ``rows``, in transactions of 1,000."""
        for batch in batches(rows):
            self.write((name, {"rows": batch, **parameters}))

    def define(self, name: str, **parameters: Any) -> None:
        """Run a ``mode: schema`` statement: constraints and indexes, which cannot share a transaction with data."""
        query = _checked(name, "schema", parameters)
        with self._stoppable() as mark, _translated(name), self._session(neo4j.WRITE_ACCESS) as session:
            session.run(neo4j.Query(query.text, metadata=mark), parameters).consume()

    # ----------------------------------------------------------------------------------------- the user's statements

    def run_statement(
        self, statement: str, parameters: Parameters, *, write: bool, timeout: float, limit: int
    ) -> Table:
        """Run a user's ``statement``, read-only unless ``write``.

        The plan is asked for first: its query type must be a read and it may not load files; then the statement runs
        in the matching access mode, so that the server refuses what the plan did not show.
        Raises ``InputError`` if it is refused, ``StatementError`` if the server cannot run it. ``timeout`` in seconds.
        """
        access = neo4j.WRITE_ACCESS if write else neo4j.READ_ACCESS
        with self._stoppable() as mark, _translated("the statement"), self._session(access) as session:
            _refuse_unsafe(session, statement, parameters, write)
            result = session.run(neo4j.Query(statement, metadata=mark, timeout=timeout), parameters)
            columns = tuple(result.keys())
            rows: list[list[Any]] = []
            truncated = False
            for record in result:
                if len(rows) == limit:
                    truncated = True
                    break
                rows.append([_plain(value) for value in record.values()])
            counters = result.consume().counters
            return Table(columns, rows, truncated, _changes(counters))

    def unknown_names(self, statement: str, parameters: Parameters) -> tuple[str, ...]:
        """The labels, relationship types and properties of a user's ``statement`` that the graph does not have.

        As the planner says them: "The label `Persn` does not exist." The statement is only planned, and must be one
        that reads. Raises as ``run_statement`` does.
        """
        with _translated("the statement"), self._session(neo4j.READ_ACCESS, "WARNING") as session:
            summary = _refuse_unsafe(session, statement, parameters, write=False)
            told = [each for each in summary.gql_status_objects if each.gql_status in _UNKNOWN]
            return tuple(dict.fromkeys(_UNKNOWN_SAID.sub("", each.status_description) for each in told))

    @contextlib.contextmanager
    def lend_driver(self, to: str) -> Iterator[neo4j.Driver]:
        """The driver itself, for a library (``to``) that needs one; errors are translated as the platform's own are."""
        with _translated(to):
            yield self._driver

    @contextlib.contextmanager
    def _stoppable(self) -> Iterator[Parameters]:
        """Metadata of transactions, which are ended on the server where the work is stopped."""
        if not can_be_stopped():
            yield {}
            return
        check_stopped()
        mark = uuid.uuid4().hex
        try:
            with ended_by(lambda: self._end(mark)):
                yield {"kgplatform": mark}
        except StoreError as error:
            if is_stopped():
                raise StoppedError from error
            raise

    def _end(self, mark: str) -> None:
        query = _checked("store/end", "read", {"mark": mark})
        # A server that is gone has ended them itself, and who waits for them is told so.
        gone = contextlib.suppress(driver_errors.Neo4jError, driver_errors.DriverError)
        with gone, self._session(neo4j.READ_ACCESS) as session:
            session.run(neo4j.Query(query.text), {"mark": mark}).consume()

    def _session(self, access: str, notices: Literal["OFF", "WARNING"] = "OFF") -> neo4j.Session:
        return self._driver.session(
            database=self.connection.database,
            default_access_mode=access,
            notifications_min_severity=notices,
            bookmark_manager=self._driver.execute_query_bookmark_manager,
        )


@contextlib.contextmanager
def trace(callback: Callable[[QueryRun], None]) -> Iterator[None]:
    """Tell ``callback`` every statement of the platform that runs in this context, with its time: ``trace(print)``."""
    token = _tracers.set((*_tracers.get(), callback))
    try:
        yield
    finally:
        _tracers.reset(token)


def _is_address(uri: str) -> bool:
    try:
        parts = urlsplit(uri)
        return parts.scheme in _SCHEMES and bool(parts.hostname) and parts.port != 0
    except ValueError:  # the port is no number, or too large
        return False


def is_new_enough(version: str) -> bool:
    """Whether a server that calls itself ``version`` ("5.26.30", "5.27-aura", "2025.10.1") will do."""
    found = _VERSION.match(version)
    return found is not None and (int(found[1]), int(found[2])) >= OLDEST_SERVER


def batches(rows: Sequence[Row], size: int = _BATCH_ROWS) -> Iterator[Sequence[Row]]:
    """``rows`` in slices of ``size``."""
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _may_pass(error: BaseException) -> bool:
    return isinstance(error, (driver_errors.Neo4jError, driver_errors.DriverError)) and error.is_retryable()


# As the driver's managed transactions try again, but they cannot be stopped while they wait.
_retrying = Retrying(
    stop=stop_after_delay(_RETRY_SECONDS),
    wait=wait_exponential() + wait_random(0, 0.2),
    retry=retry_if_exception(_may_pass),
    sleep=sleep,
    reraise=True,
)


def _rows(query: Query, parameters: Parameters, run: Callable[[], neo4j.Result]) -> list[Row]:
    """The rows that ``run`` gives; who traces is told of it."""
    started = time.perf_counter()
    result = run()
    columns = result.keys()
    # Not ``result.data()``, which looks into every element of every list.
    rows = [dict(zip(columns, record.values(), strict=True)) for record in result]
    for callback in _tracers.get():
        callback(QueryRun(query.name, query.text, parameters, len(rows), time.perf_counter() - started))
    return rows


def _checked(name: str, mode: str, parameters: Parameters) -> Query:
    query = load_query(name)
    if query.mode != mode or set(query.parameters) != set(parameters):
        raise ValueError(
            f"cypher/{name}.cypher is a {query.mode} statement over {sorted(query.parameters)}; "
            f"called as {mode} with {sorted(parameters)}"
        )
    return query


# -------------------------------------------------------------------------------------------------- what users may run


def _refuse_unsafe(session: neo4j.Session, statement: str, parameters: Parameters, write: bool) -> neo4j.ResultSummary:
    """The summary of the plan. Raises ``InputError`` for what users may not run."""
    if not statement.strip():
        raise InputError("The statement is empty.")
    summary = _explain(session, statement, parameters)
    operators = set(_operators(summary.plan or {}))
    names = {name for name, _ in operators}
    if any(name.startswith("LoadCSV") for name in names) or _may_hide_load_csv(statement):
        raise InputError("LOAD CSV is refused: statements may not read files or addresses. Use `kgplatform ingest`.")
    if any(name == "ProcedureCall" and detail.lstrip().startswith("dbms.") for name, detail in operators):
        raise InputError("Procedures under `dbms.` are refused: they act on the server, not on the graph.")
    if names.intersection(_SERVER_COMMANDS) or (summary.query_type == "s" and not _is_index_change(names)):
        raise InputError("Administrative commands are refused. Run them in Neo4j Browser as the administrator.")
    if not write and summary.query_type != "r":
        raise InputError("This statement writes. Add --write (in Python: write=True) if you mean it.")
    return summary


def _explain(session: neo4j.Session, statement: str, parameters: Parameters) -> neo4j.ResultSummary:
    """The summary with the plan; nothing is run. An error names places in ``statement`` as it was given."""
    asked = _PLAN_ASKED.match(statement)
    bare = statement[asked.end() :].lstrip() if asked else statement
    try:
        return session.run(neo4j.Query(_EXPLAIN + bare, timeout=_PLAN_SECONDS), parameters).consume()
    except driver_errors.CypherSyntaxError as error:
        raise StatementError(f"Neo4j cannot run the statement: {_without_explain(_message(error))}") from error


def _without_explain(message: str) -> str:
    """The server's complaint, with the line as the user typed it where it is the first, which ``EXPLAIN`` opens."""
    if f'"{_EXPLAIN}' not in message:
        return message
    moved = _POSITION.sub(_moved, message).replace(f'"{_EXPLAIN}', '"')
    text, mark, caret = moved.rpartition("\n")
    return f"{text}{mark}{caret[len(_EXPLAIN) :] if caret.strip() == '^' else caret}"


def _moved(position: re.Match[str]) -> str:
    column, offset = (int(number) - len(_EXPLAIN) for number in position.groups())
    return f"(line 1, column {column} (offset: {offset}))"


def _may_hide_load_csv(statement: str) -> bool:
    """Whether LOAD CSV could stand in a subquery expression, which the plan does not always show.

    ``\\u0041`` is a letter anywhere in Cypher. Words inside of quotes count too: a parameter can carry those.
    """
    text = _ESCAPE.sub(lambda found: chr(int(found[1], 16)), statement)
    return _LOAD_CSV.search(text) is not None and _SUBQUERY_EXPRESSION.search(text) is not None


def _operators(plan: dict[str, Any]) -> Iterator[tuple[str, str]]:
    name = str(plan.get("operatorType", "")).partition("@")[0]
    yield name, str(plan.get("args", {}).get("Details", ""))
    for child in plan.get("children", ()):
        yield from _operators(child)


def _is_index_change(operators: set[str]) -> bool:
    return any("Index" in name or "Constraint" in name for name in operators)


def _changes(counters: neo4j.SummaryCounters) -> dict[str, int]:
    return {name: count for name, count in vars(counters).items() if type(count) is int and count}


def _plain(value: Any) -> Any:
    """``value`` as JSON can hold it: nodes and relationships become dictionaries, without long vectors."""
    if isinstance(value, neo4j.graph.Node):
        return {"labels": sorted(value.labels), "properties": _plain_properties(value)}
    if isinstance(value, neo4j.graph.Relationship):
        return {"type": value.type, "properties": _plain_properties(value)}
    if isinstance(value, neo4j.graph.Path):
        nodes = [_plain(node) for node in value.nodes]
        return {"nodes": nodes, "relationships": [_plain(relationship) for relationship in value.relationships]}
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def _plain_properties(entity: neo4j.graph.Entity) -> dict[str, Any]:
    return {key: _plain(value) for key, value in sorted(entity.items()) if key != "embedding"}


# --------------------------------------------------------------------------------------------------- errors, translated


@contextlib.contextmanager
def _translated(doing: str) -> Iterator[None]:
    try:
        yield
    except driver_errors.AuthError as error:
        raise ServerError(
            "The database refused the user name or password. Check NEO4J_USERNAME and NEO4J_PASSWORD."
        ) from error
    except (driver_errors.ServiceUnavailable, driver_errors.SessionExpired) as error:
        raise ServerError(
            f"The database does not answer ({doing}): {_first_line(error).rstrip(' :.')}. "
            "Check that it runs, and that NEO4J_URI is its address."
        ) from error
    except driver_errors.ConfigurationError as error:
        raise ServerError(f"NEO4J_URI cannot be used: {_first_line(error)}") from error
    except driver_errors.ClientError as error:
        if (error.code or "").endswith("DatabaseNotFound"):
            raise ServerError(f"There is no such database ({_message(error)}). Check NEO4J_DATABASE.") from error
        raise StatementError(f"Neo4j cannot run {doing}: {_message(error)}") from error
    except (driver_errors.Neo4jError, driver_errors.DriverError) as error:
        raise StoreError(f"Neo4j failed at {doing}: {_first_line(error)}") from error
    except (OverflowError, UnicodeEncodeError) as error:  # from the driver, as it sends
        raise InputError("A parameter has a number or a character that Neo4j cannot hold.") from error


def _message(error: driver_errors.Neo4jError) -> str:
    return (error.message or str(error)).strip()


def _first_line(error: Exception) -> str:
    return str(error).strip().split("\n")[0]
