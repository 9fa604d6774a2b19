"""What Neo4j Browser is given: a guide to the user's own graph, statements as links, the saved queries as favourites.

browser_link("http://localhost:7474", "MATCH (n) RETURN n LIMIT 5")

Browser reads ``<slide>`` elements from HTML, and runs a ``<pre class="runnable">`` when its arrow is clicked. Names and
texts come from documents: each is escaped for HTML, and for Cypher by ``pasteable.literal``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from kgplatform.explore.look import Look
from kgplatform.interfaces.neo4j_browser.style import KINDS, color_of, text_color_on
from kgplatform.neo4j.pasteable import literal
from kgplatform.query import load_query, saved_queries
from kgplatform.text import clipped

Row = dict[str, Any]

_FEW = 5
_LONGEST = 160


def guide(look: Look) -> str:
    """The HTML of the guide to the graph as it is now."""
    counts = look.counts()
    if not counts.get("Document"):
        how = (
            "Run kgplatform ingest with a file or folder, then open this guide again with :guide and the same address."
        )
        return _page([_slide("The graph is empty", how)])
    found = look.highlights(2 * _FEW)
    few = {kind: rows[:_FEW] for kind, rows in found.items()}
    saved = [(each.title, each.statement) for each in saved_queries().values()]
    return _page(
        [
            _overview(counts, look.types()),
            _documents(few["documents"]),
            _entities(few["entities"]),
            _relations(found["relations"]),
            _facts(few["facts"]),
            _communities(few["communities"]),
            _runs(few["runs"]),
            _slide(
                "Saved queries",
                "They are also among your favourites (the star on the left), in the folder kgplatform.",
                statements=saved,
            ),
        ]
    )


def _page(slides: Iterable[str]) -> str:
    inside = "\n".join(
        f'<slide class="row-fluid">\n<div style="padding: 0 16px">\n{slide}</div>\n</slide>' for slide in slides
    )
    deck = f'<carousel class="deck container-fluid">\n{inside}\n</carousel>'
    return f'<title>Your graph</title>\n<article class="guide">\n{deck}\n</article>\n'


def _slide(title: str, about: str, inside: str = "", statements: Iterable[tuple[str, str]] = ()) -> str:
    """``inside`` is HTML. Each of the ``statements`` stands below what it shows, and runs at a click."""
    runnable = "".join(
        f'<p>{_escaped(shows)}</p>\n<pre class="pre-scrollable code runnable">{_escaped(statement)}</pre>\n'
        for shows, statement in statements
    )
    return f"<h3>{_escaped(title)}</h3>\n<p>{_escaped(about)}</p>\n{inside}{runnable}"


def _overview(counts: dict[str, int], types: dict[str, int]) -> str:
    shown = [_colored(name, color_of(name), number) for name, number in list(types.items())[: 4 * _FEW]]
    kinds = [_colored(kind, KINDS[kind], counts[kind]) for kind in KINDS if counts.get(kind) and kind != "Entity"]
    return _slide(
        "What is in it",
        "Click the arrow of a statement to run it, or the statement itself to edit it first.",
        "<p>Entities, in the colours of their types:</p>\n<p>"
        + ("\n".join(shown) or "none yet")
        + "</p>\n<p>Their sources, and what was built from them:</p>\n<p>"
        + "\n".join(kinds)
        + "</p>\n",
        [("The entities with the most facts", saved_queries()["most_connected"].statement)],
    )


def _documents(rows: Sequence[Row]) -> str:
    shows = "{name}: its passages, and the entities in them"
    states = (f"What it states ({rows[0]['facts']} facts)", _statement("show_document_facts", id=rows[0]["id"]))
    return _slide(
        "Documents",
        "Each is cut into passages (label Chunk), which name entities and state facts. Those with the most facts:",
        _list(_counted(row["name"], row["facts"], "facts") for row in rows),
        [*((shows.format(**row), _statement("show_document", id=row["id"])) for row in rows[:2]), states],
    )


def _entities(rows: Sequence[Row]) -> str:
    about = "The people and things that the documents name. Each node is one name of one type."
    if not rows:
        return _slide("Entities", f"{about} None yet.")
    first = rows[0]
    shown = [(f"Around {_named(row)}", _statement("show_entity", id=row["id"])) for row in rows[:3]]
    shown.append((f"Facts about {first['name']}", _statement("show_entity_facts", id=first["id"])))
    if words := " ".join(re.findall(r"\w+", first["name"].lower())[:2]):
        shown.append(("Entities by a word of their name", _statement("show_names", words=words)))
    return _slide("Entities", about, _list(_counted(_named(row), row["facts"], "facts") for row in rows), shown)


def _relations(rows: Sequence[Row]) -> str:
    return _slide(
        "Relations",
        "Entities that facts connect have a relationship of the relation's own type. Its property weight counts the "
        "facts; fact is the id of one of them.",
        _list(_counted(row["type"], row["count"], "times") for row in rows),
        [(row["type"], _statement("show_relation", type=row["type"])) for row in rows[:3]],
    )


def _facts(rows: Sequence[Row]) -> str:
    return _slide(
        "Facts and their evidence",
        "Each fact records which characters of which passages state it. These are stated by the most passages:",
        _list(_counted(row["text"], row["passages"], "passages") for row in rows),
        [(_short(row["text"]), _statement("show_fact", id=row["id"])) for row in rows[:3]],
    )


def _communities(rows: Sequence[Row]) -> str:
    if not rows:
        how = "There is no tree yet. Run kgplatform tree to group the entities into communities."
        return _slide("The knowledge tree", how)
    shown = [(_short(row["name"]), _statement("show_community", id=row["id"])) for row in rows[:3]]
    return _slide(
        "The knowledge tree",
        "Communities hold the entities that belong together; keywords stand for them.",
        _list(f"{_counted(row['name'], row['size'], 'entities')}. {_escaped(_short(row['summary']))}" for row in rows),
        [*shown, ("The tree from the top", saved_queries()["tree"].statement)],
    )


def _runs(rows: Sequence[Row]) -> str:
    none_yet = "There is no saved run yet. Run kgplatform ask --keep, and see here what the reader did."
    return _slide(
        "Questions that were asked",
        "Saved runs: a reader's steps, with what each found." if rows else none_yet,
        statements=[
            (f"{_short(row['question'])} ({row['reader']}, {row['steps']} steps)", _statement("show_run", id=row["id"]))
            for row in rows
        ],
    )


def _statement(name: str, **values: Any) -> str:
    """A statement of ``cypher/interfaces/neo4j_browser/guide`` with its parameters written out."""
    return with_values(load_query(f"interfaces/neo4j_browser/guide/{name}").text, values)


def _named(row: Row) -> str:
    return f"{row['name']} ({row['type']})" if row["type"] else str(row["name"])


def _list(items: Iterable[str]) -> str:
    """``items`` are HTML."""
    return "<ul>\n" + "".join(f"<li>{item}</li>\n" for item in items) + "</ul>\n"


def _counted(text: str, number: int, of_what: str) -> str:
    return f"{_escaped(_short(text))} <small>({number:,} {of_what})</small>"


def _colored(name: str, color: str, number: int) -> str:
    look = f"background: {color}; color: {text_color_on(color)}; border-radius: 10px; padding: 1px 9px; margin: 2px 0"
    return f'<span style="display: inline-block; {look}">{_escaped(name)} {number:,}</span>'


def _short(text: str) -> str:
    return clipped(text, _LONGEST)


def _escaped(text: str) -> str:
    """For text and quoted values. Browser removes from a guide whatever looks like ``onclick="…"``, even in text."""
    return html.escape(text).replace("=", "&#61;")


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
        {"id": f"kgplatform-{each.name}", "folder": FOLDER["id"], "content": each.text}
        for each in saved_queries().values()
    ]
