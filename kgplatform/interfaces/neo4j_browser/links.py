"""Statements for Neo4j Browser: as links that put them in its editor, and the saved ones as its favourites.

browser_link("http://localhost:7474", "MATCH (n) RETURN n LIMIT 5")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from kgplatform.interfaces.saved_queries import saved_text
from kgplatform.neo4j.pasteable import literal
from kgplatform.query import query_names

FOLDER = {"id": "kgplatform", "name": "kgplatform"}
"""The folder of the favourites."""

# A text, a quoted name or a comment, where a dollar is not a parameter; or a parameter.
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/|\$(\w+)", re.S)


def browser_link(base: str, statement: str) -> str:
    """The address that opens the Browser at ``base`` with ``statement`` in its editor.

    The statement is in the fragment: no server sees it, logs it, or rejects it as too long.
    """
    # Browser decodes the address before it looks for the end of an argument, so `&` and `#` would end the statement.
    # Cypher reads them as escapes too.
    kept = statement.replace("&", "\\u0026").replace("#", "\\u0023")
    return f"{base.rstrip('/')}/#?cmd=edit&arg={quote(kept, safe='')}"


def with_values(statement: str, parameters: Mapping[str, Any]) -> str:
    """``statement`` with its parameters written out, so that it stands alone.

    Browser draws the result of a single statement only, not of one that follows ``:param`` lines in the same text.

    >>> with_values("RETURN $x, '$x'", {"x": "it's"})
    "RETURN 'it\\\\'s', '$x'"
    """
    return _TOKEN.sub(lambda found: literal(parameters[found[1]]) if found[1] in parameters else found[0], statement)


def favorites() -> list[dict[str, str]]:
    """The saved queries of ``cypher/saved`` as Browser's favourites: each file's text, titled by its first line."""
    return [
        {"id": f"kgplatform-{name.removeprefix('saved/')}", "folder": FOLDER["id"], "content": saved_text(name)}
        for name in query_names("saved")
    ]
