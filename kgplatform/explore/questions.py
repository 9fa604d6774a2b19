"""Questions to begin with, made of what the graph says: for people who do not know yet what is in it.

    questions(store, 4)
    # ('Who founded Atlantic Telegraph Company?', 'What do the documents say about Cyrus Field?', …)

Which are made depends on the graph alone. They are English, whatever the documents are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, islice, zip_longest

from kgplatform.neo4j.store import Row, Store

_LOOKED = 2000
"""Relations that are looked at: a large graph is not read for this."""
_HUB = 1000
"""What has more facts is as good as everything: "Who knows England?"."""
_ROWS = 400
_LONGEST = 60
"""Characters of a name."""
_ASKS = re.compile(r"[a-z]+ed|[a-z]+[^s\W]s(?: (?:for|to|with|in|at|on|by))?")
"""Relations that make a question behind "Who": founded, owns, works for. "laid by" and "located in" lack a word."""
_PEOPLE = frozenset({"person", "people", "human", "author", "character"})


def questions(store: Store, limit: int = 4) -> tuple[str, ...]:
    """At most ``limit`` questions, of as many sorts as there are; none for a graph without relations."""
    rows = store.read("explore/askable", looked=_LOOKED, hub=_HUB, limit=_ROWS)
    sorts = [_who(rows), _connected(rows), _about(rows)]
    in_turns = chain.from_iterable(zip_longest(*sorts))
    return tuple(islice(filter(None, in_turns), limit))


def _who(rows: Sequence[Row]) -> Iterator[str]:
    """Questions with one answer, each about another thing and another relation; what somebody did comes first."""
    used: set[str] = set()
    for row in sorted(rows, key=lambda row: not row["predicate"].endswith("ed")):
        words = row["predicate"].replace("_", " ").lower()
        is_asked = row["rivals"] == 1 and _ASKS.fullmatch(words) and _fits(row["object"])
        if is_asked and not used & {words, row["object"], row["subject"]}:
            used |= {words, row["object"], row["subject"]}
            yield f"{_asking(row['type'])} {words} {row['object']}?"


def _asking(type_: str | None) -> str:
    if type_ is None:
        return "Who or what"
    return "Who" if type_.lower() in _PEOPLE else f"Which {type_.replace('_', ' ').lower()}"


def _connected(rows: Sequence[Row]) -> Iterator[str]:
    """Two things that a third one joins, the best known first: their sentences may stand in two documents."""
    near: dict[str, set[str]] = {}
    for row in rows:
        near.setdefault(row["subject"], set()).add(row["object"])
        near.setdefault(row["object"], set()).add(row["subject"])
    used: set[str] = set()
    for middle in sorted(near, key=lambda name: (-len(near[name]), name)):
        ends = [name for name in sorted(near[middle], key=lambda name: (-len(near[name]), name)) if _fits(name)]
        pair = next(((one, two) for one in ends[:8] for two in ends[:8] if one < two and two not in near[one]), None)
        if pair and not used & {*pair, middle}:
            used |= {*pair, middle}
            yield f"How are {pair[0]} and {pair[1]} connected?"


def _about(rows: Sequence[Row]) -> Iterator[str]:
    """What most is said of."""
    facts = {row[end]: row[f"{end}_facts"] for row in rows for end in ("subject", "object")}
    for name in sorted(filter(_fits, facts), key=lambda name: (-facts[name], name)):
        yield f"What do the documents say about {name}?"


def _fits(name: str) -> bool:
    return 0 < len(name) <= _LONGEST
