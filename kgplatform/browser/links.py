"""Statements as links into Neo4j Browser 5.24, which puts them in its editor.

browser_link("http://localhost:7474", "MATCH (n) RETURN n LIMIT 5")
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from kgplatform.pasteable import literal

# A text, a quoted name or a comment, in which a dollar is none of ours, or a parameter.
_TOKEN = re.compile(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`|//[^\n]*|/\*.*?\*/|\$(\w+)", re.S)


def browser_link(base: str, statement: str) -> str:
    """The address that opens the Browser at ``base`` with ``statement`` in its editor.

    The statement stands in the fragment: no server gets it, logs it, or finds it too long.
    """
    # Browser decodes the address before it looks for the end of an argument, so that `&` and `#` would end it there.
    # Cypher reads them all the same when they are written as escapes.
    kept = statement.replace("&", "\\u0026").replace("#", "\\u0023")
    return f"{base.rstrip('/')}/#?cmd=edit&arg={quote(kept, safe='')}"


def with_values(statement: str, parameters: Mapping[str, Any]) -> str:
    """``statement`` with its parameters written out, so that it stands alone.

    Browser draws the result of one statement. It only ticks off those that follow ``:param`` lines in one text.

    >>> with_values("RETURN $x, '$x'", {"x": "it's"})
    "RETURN 'it\\\\'s', '$x'"
    """
    return _TOKEN.sub(lambda found: literal(parameters[found[1]]) if found[1] in parameters else found[0], statement)
