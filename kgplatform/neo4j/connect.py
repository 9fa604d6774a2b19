"""Which database the settings name: that of ``NEO4J_URI``, else that of the managed local Neo4j."""

from __future__ import annotations

from contextlib import suppress

import neo4j
from neo4j.exceptions import DriverError

from kgplatform.concurrency.maven import Report
from kgplatform.errors import SettingError
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import SCHEMES, Connection, Store
from kgplatform.query import load_query
from kgplatform.settings import Settings


def open_store(settings: Settings, report: Report) -> Store:
    """The database of the given server, else of the managed local one, which is started if need be, and again where it
    ends by itself; ``report`` gets a line about what takes long.

    Raises ``SettingError`` for another protocol or no password, ``ServerError`` if the local server does not start.
    """
    if settings.neo4j_uri is None:
        server = LocalNeo4j(settings, report)
        return Store(server.up(), server.revive)
    if settings.neo4j_uri.partition("://")[0] not in SCHEMES:
        raise SettingError(f"NEO4J_URI={settings.neo4j_uri} cannot be used: it must begin with neo4j:// or bolt://.")
    if settings.neo4j_password is None:
        raise SettingError("NEO4J_URI is set, but NEO4J_PASSWORD is not. Set it, or unset NEO4J_URI.")
    password = settings.neo4j_password.get_secret_value()
    return Store(Connection(settings.neo4j_uri, settings.neo4j_username, password, settings.neo4j_database))


def meet_again(store: Store) -> None:
    """Let ``store`` forget what was of a server that has been started again with another database on the same port.

    Its connections are closed, and a bookmark of the old database would be waited for. Raises ``ServerError``.
    """
    with store.lend_driver("neo4j/last_change") as driver:
        with suppress(DriverError):  # a connection that turns out to be closed takes the other ones with it
            driver.verify_connectivity()
        with driver.session() as session:
            session.run(neo4j.Query(load_query("neo4j/last_change").text)).consume()
            now = session.last_bookmarks().raw_values
        bookmarks = driver.execute_query_bookmark_manager
        bookmarks.update_bookmarks(bookmarks.get_bookmarks(), now)
