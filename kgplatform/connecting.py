"""Where the graph is: the server that ``NEO4J_URI`` names, else the managed local one."""

from __future__ import annotations

from collections.abc import Callable

from kgplatform.errors import SettingError
from kgplatform.local_neo4j import LocalNeo4j
from kgplatform.settings import Settings
from kgplatform.store import Connection

_SCHEMES = tuple(f"{protocol}{security}" for protocol in ("neo4j", "bolt") for security in ("", "+s", "+ssc"))


def find_connection(settings: Settings, report: Callable[[str], None]) -> Connection:
    """The given server, else the managed local one, started if need be; ``report`` is told what takes long.

    Raises ``SettingError`` for another protocol or no password, ``ServerError`` if the local server does not start.
    """
    if settings.neo4j_uri is None:
        return LocalNeo4j(settings, report).up()
    scheme = settings.neo4j_uri.partition("://")[0]
    if scheme not in _SCHEMES:
        raise SettingError(f"NEO4J_URI={settings.neo4j_uri} cannot be used: it must begin with neo4j:// or bolt://.")
    if settings.neo4j_password is None:
        raise SettingError("NEO4J_URI is set, but NEO4J_PASSWORD is not. Set it, or unset NEO4J_URI.")
    return Connection(
        settings.neo4j_uri,
        settings.neo4j_username,
        settings.neo4j_password.get_secret_value(),
        settings.neo4j_database,
        None,
    )
