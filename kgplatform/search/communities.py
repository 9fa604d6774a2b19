"""The communities of the tree with what they have to say, all of them, as a question over the whole graph needs them.

    groups = read_groups(store, embedder, "Which themes do the letters have?", level=0, most=None, facts=None)
    groups.found[0].name, groups.found[0].facts[0].text, groups.left_out

Each fact is in one community, whatever the number of entities that it joins.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from kgplatform.errors import Code, coded
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import FoundCommunity, QueryRun
from kgplatform.search.conflicts import over
from kgplatform.search.question import Question

_PAGE = 100
"""Communities whose facts are read at once."""

_DEEPEST = 1000
_ALL = 1_000_000_000
_MEMBERS = 100
"""Members of a community that are named, where no fact is about them: an innermost one has no more in all."""


@dataclass(frozen=True, slots=True)
class GroupFact:
    """A fact by its id and words. ``about``: the name of the entity at which it is at home."""

    id: str
    text: str
    about: str


@dataclass(frozen=True, slots=True)
class Group:
    """A community. ``above``: name and summary of those around it, the outermost first.

    ``facts``: those about one thing side by side; ``facts_left_out`` are more. ``members``: those that no fact is
    about, with their types.
    """

    community: FoundCommunity
    depth: int
    above: tuple[tuple[str, str], ...] = ()
    facts: tuple[GroupFact, ...] = ()
    facts_left_out: int = 0
    members: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Groups:
    """``found``: communities in the order of the tree, those inside the same one side by side.

    ``outside``: facts that are in no community, as a group without a name. ``left_out``: communities that are not in
    ``found``. ``unfound``: facts of communities whose words stand in no passage; they are nowhere here.
    """

    found: tuple[Group, ...]
    outside: Group
    left_out: int
    unfound: int
    queries: tuple[QueryRun, ...]


def check_tree(store: Store) -> None:
    """Raises ``InputError`` where the graph has no finished tree."""
    if not store.read("search/tree"):
        raise coded(Code.NO_TREE)


def read_groups(
    store: Store, embedder: Embedder, question: str, level: int | None, most: int | None, facts: int | None
) -> Groups:
    """The communities at depth ``level`` and innermost ones above it; the innermost of all for None.

    ``most``: only so many, the nearest to ``question`` by meaning. ``facts``: at most so many of a community, those
    that most passages state. Raises ``InputError`` where the graph has no finished tree.
    """
    store = store.recording()
    vector = Question(question, embedder).vector
    rows = store.read("search/communities", deepest=_DEEPEST if level is None else level, vector=vector)
    if not rows:
        check_tree(store)
    ranked = sorted(rows, key=lambda row: (-row["score"], row["id"]))[:most]
    nearest = {row["id"] for row in ranked}
    kept = []
    for row in (row for row in rows if row["id"] in nearest):
        community = FoundCommunity(row["id"], row["name"], row["summary"], row["size"], round(row["score"], 6))
        kept.append(Group(community, row["depth"], tuple((name, summary) for name, summary in row["above"])))
    found: list[Group] = []
    same: dict[str, list[str]] = {}
    unfound = 0
    for start in range(0, len(kept), _PAGE):
        page = {group.community.id: group for group in kept[start : start + _PAGE]}
        bounds = {"most": _ALL if facts is None else facts, "members": _MEMBERS}
        said = {row["id"]: row for row in store.read("search/community_facts", ids=list(page), **bounds)}
        gone = over(store, {fact["id"] for row in said.values() for fact in row["facts"]})
        for id_, group in page.items():
            if id_ in said:
                told, left_out = said[id_]["facts"], said[id_]["total"] - len(said[id_]["facts"])
                told = [fact for fact in told if fact["id"] not in gone]
                members = tuple(said[id_]["members"])
                found.append(replace(group, facts=_facts(told), facts_left_out=left_out, members=members))
        same |= {fact["id"]: fact["sameAs"] for row in said.values() for fact in row["facts"] if fact["sameAs"]}
        unfound += sum(row["unfound"] for row in said.values())
    # Triples and attributes are left out of which a statement in any group says the same, in the words of the text.
    listed = {fact.id for group in found for fact in group.facts}
    found = [
        replace(group, facts=tuple(fact for fact in group.facts if listed.isdisjoint(same.get(fact.id, ()))))
        for group in found
    ]
    outside = Group(FoundCommunity("", "", "", 0, 0.0), 0)
    if len(kept) == len(rows):
        (row,) = store.read("search/facts_outside", most=_ALL if facts is None else facts)
        shown = _facts(row["facts"])
        outside = replace(outside, facts=shown, facts_left_out=row["total"] - len(shown))
    return Groups(tuple(found), outside, len(rows) - len(kept), unfound, store.queries)


def _facts(rows: Iterable[Row]) -> tuple[GroupFact, ...]:
    """Those about one thing side by side, in an order that is the same for every question."""
    ordered = sorted(rows, key=lambda row: (row["about"], row["text"], row["id"]))
    return tuple(GroupFact(row["id"], row["text"], row["about"]) for row in ordered)
