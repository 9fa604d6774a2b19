"""The knowledge tree, step by step (Youtu-GraphRAG, section 3.2).

read         entities as arrays, and the tree that is there
communities  all of them, or only where the graph has changed, divided again inside where they are large
write        communities, memberships and keywords, with names put together from the members
vectors      of names and summaries, and their index: from here on the tree can be searched
names        a language model names what is new, if there is one; then the vectors of those names
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from typing import Any

import numpy as np

from kgplatform.concurrency.spans import Stopwatch
from kgplatform.errors import InputError
from kgplatform.ingest.graph_state import define_keys, graph_state, set_state
from kgplatform.ingest.settle import embed_pending, settle
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder, embed_what_can_be
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import Progress, Usage
from kgplatform.settings import Settings
from kgplatform.shown import Shown
from kgplatform.tree.community_names import PER_CALL, STAGE, Named, Naming, Unnamed, name_communities
from kgplatform.tree.entity_graph import signatures
from kgplatform.tree.part import Due, Part, read_part
from kgplatform.tree.partition import (
    DEFAULT,
    LIMIT,
    METHODS,
    Community,
    Tree,
    named,
    nest,
    numbered,
    partition,
    settled,
    tree_of,
)
from kgplatform.tree.stored_tree import (
    COMPLETE,
    EMBEDDING,
    WRITING,
    Changes,
    central_members,
    changes,
    count_entities,
    read_entity_graph,
    read_facts,
    read_tree,
    write_tree,
)

LARGEST = LIMIT
"""The most entities of a community that has no communities inside."""
SHOWN = 8
_SETTLED = "An ingest or a removal had been interrupted. Its names were joined; run its command again to finish it."


@dataclass(frozen=True, slots=True)
class TreeTools:
    """What building a tree works with. ``turn`` is alone, until the tree can be searched."""

    turn: Pass
    embedder: Embedder
    chat: Chat | None
    settings: Settings
    ledger: Ledger
    progress: Progress

    @property
    def store(self) -> Store:
        """What the turn is of."""
        return self.turn.store


def build_tree(tools: TreeTools, *, method: str | None, update: bool, rebuild: bool) -> TreeReport:
    """Build the tree, or bring it to what the graph says now; whole if ``rebuild``, or if ``method`` is another one.

    ``update`` only says that no more than that is wanted: another method is refused, and a first tree is reported so.
    Safe to repeat, and to kill at any moment: the next call resumes. What an ingest or a removal left that was killed
    is settled first. Raises ``InputError`` if there are no entities, or for a method that cannot be.
    """
    watch, before = Stopwatch(), graph_state(tools.store)
    course = _course(before, method, update, rebuild)
    if pending := tools.store.read("tree/size")[0]["pending"]:
        done = settle(tools.store, tools.embedder, tools.settings, tools.progress)
        watch.add(done.seconds)
        is_news = pending > sum(each.kind == "entities" for each in done.unembedded)
        course.notes.extend([*([_SETTLED] if is_news else ()), *done.all_notes()])
    with watch.stage("read"):
        size = count_entities(tools.store)
        # Where this is, changes are marked, with its value, which earlier versions counted.
        tools.store.write(set_state(treeRuns=before.get("treeRuns", 1)))
        part = _read(tools, size, before, course)
    with watch.stage("communities"):
        tree, entities = _tree(tools, part, course)
    found = changes(part.graph, tree, part.stored, part.signed)
    # A tree that can be searched stays so if most of it does; what is new has no vectors yet, and is not found.
    communities = len(found.tree.communities) + sum(part.elsewhere.depths)
    mostly_kept = course.action == "updated" and 2 * len(found.new) <= communities
    now = COMPLETE if mostly_kept and before.get("treeState") == COMPLETE else EMBEDDING
    after = {"treeMethod": course.method, "treeEntities": part.size, "treeState": now}
    with watch.stage("write"):
        write_tree(tools.store, found, after, tools.chat is not None, tools.progress)
        known, others = part.stored.communities, list[str]()
        if course.action == "rebuilt" and tools.chat is not None:  # those that stay, and that the model could name
            others = [each.id for each in found.tree.communities if each.id in known and known[each.id].could_be_named]
        for some in batches(others):
            tools.store.write(("tree/names_due", {"ids": some}))
        for statement, ids in (("entities", part.due_entities), ("communities", part.due_communities)):
            for some in batches(ids):
                tools.store.write((f"tree/{statement}_done", {"ids": some}))
    watch.add(embed_pending(tools.store, tools.embedder, "communities", tools.progress).seconds)
    tools.store.write(set_state(treeState=COMPLETE))
    tools.turn.share("beside")  # a model takes its time, and writes names alone
    with watch.stage("names"):
        names = _name(tools, part, found, course)
    done = embed_pending(tools.store, tools.embedder, "communities", tools.progress)
    watch.add(done.seconds)
    course.notes.extend(done.all_notes())
    return _report(tools.store, before, course, part, found, entities | names, watch)


@dataclass(frozen=True, slots=True)
class _Course:
    """What a run does: the tree is ``action`` ("built", "rebuilt" or "updated") by ``method``."""

    method: str
    action: str
    notes: list[str] = field(default_factory=list)


def _course(state: Row, method: str | None, update: bool, rebuild: bool) -> _Course:
    known = state.get("treeMethod")
    removed = known is not None and known not in METHODS
    chosen = method or (DEFAULT if removed else known) or DEFAULT
    named(chosen)
    if update and not removed and known not in (None, chosen):
        raise InputError(f"The tree was built by the method {known}. Use rebuild to build it by {chosen}.", "rebuild")
    if known is None:
        return _Course(chosen, "built", ["There was no tree to update, so it was built."] if update else [])
    if removed:
        said = f"The tree was built by the method {known}, which no longer exists; it was rebuilt by {chosen}."
        return _Course(chosen, "rebuilt", [said])
    if rebuild or chosen != known:
        return _Course(chosen, "rebuilt")
    if state.get("treeState") == WRITING:
        said = "An earlier run was interrupted while it wrote a large tree; the tree is being rebuilt."
        return _Course(chosen, "rebuilt", [said])
    return _Course(chosen, "updated")


def _read(tools: TreeTools, size: int, before: Row, course: _Course) -> Part:
    """What the run looks at: what has changed, where that is little of a large graph, else all of it."""
    define_keys(tools.store)
    entities = [row["id"] for row in tools.store.read("tree/due_entities")]
    lost = tools.store.read("tree/due_communities")
    due = Due(entities, [row["id"] for row in lost], {row["top"]: row["size"] for row in lost})
    if course.action == "updated" and "treeRuns" in before:  # since then changes are marked
        (counts,) = tools.store.read("tree/counts")
        part = None if counts["namesDue"] else read_part(tools.store, due, size, counts, tools.progress)
        if part is not None:
            return part
    graph = read_entity_graph(tools.store, tools.progress)
    return Part(graph, read_tree(tools.store, graph), signatures(graph), graph.size, due.entities, due.communities)


def _tree(tools: TreeTools, part: Part, course: _Course) -> tuple[Tree, dict[str, int]]:
    """The new tree; an update changes none but the communities that a change is in. And of the entities what the report
    has: how many are new to the tree, have changed since, and are with others than before."""
    graph, method = part.graph, course.method
    vectors = None
    if named(method).reads_relations:  # what has no vector is like no other relation
        vectors = embed_what_can_be(tools.embedder, graph.relation_names).vectors
    before, changed = part.stored.levels(), part.stored.signatures != part.signed
    start = before[0]
    tools.progress("finding communities", 0, 1)
    if part.labels is not None:
        labels = settled(graph, part.labels, method, changed | (start < 0))
    elif course.action != "updated":
        labels = partition(graph, method, relation_vectors=vectors)
    elif changed.any():
        labels = partition(graph, method, relation_vectors=vectors, start=start, movable=changed)
    else:  # there is nothing to look for, and no neighbours to be found
        labels = numbered(start)
    kept = {"start": before, "movable": changed} if course.action == "updated" else {}
    found = nest(graph, labels, LARGEST, method, relation_vectors=vectors, **kept)
    tools.progress("finding communities", 1, 1)
    counts = {"entities_new": 0, "entities_changed": 0, "entities_moved": 0}
    if course.action != "built":
        counts["entities_new"] = int(np.count_nonzero(start < 0))
        counts["entities_changed"] = int(np.count_nonzero(changed & (start >= 0)))
        known = start >= 0
        pairs, pair_of, sizes = np.unique(
            np.stack([start[known], labels[known]]), axis=1, return_inverse=True, return_counts=True
        )
        if len(sizes):  # those that are not with most of those who were in their community before
            order = np.lexsort((pairs[1], -sizes, pairs[0]))
            most = order[np.unique(pairs[0][order], return_index=True)[1]]
            counts["entities_moved"] = int(np.count_nonzero(~np.isin(pair_of.ravel(), most)))
    return tree_of(graph, found), counts


def _name(tools: TreeTools, part: Part, found: Changes, course: _Course) -> dict[str, Any]:
    """Have a model name what is due, if there is one; of the names what the report has."""
    stored, due = part.stored, list[Community]()
    if tools.chat is not None:  # the largest first: if the budget runs out, they are named
        rebuilt = course.action == "rebuilt"
        lack = {id_ for id_, each in stored.communities.items() if each.name_due or (rebuilt and each.could_be_named)}
        wanted = lack | {community.id for community in found.new}
        due = [community for community in found.tree.communities if community.size > 1 and community.id in wanted]
        due.sort(key=lambda community: (community.depth, -community.size, community.id))
    named_now: set[str] = set()
    by_id = {community.id: community for community in due}

    def describe(ids: Sequence[str]) -> list[Unnamed]:
        batch = [by_id[id_] for id_ in ids]
        facts = read_facts(tools.store, found.graph, batch)
        return [Unnamed(each.id, each.size, central_members(found.graph, each), facts[each.id]) for each in batch]

    def commit(names: list[Named]) -> None:
        rows = [{"id": name.id, "name": name.name, "summary": name.summary, "by": "model"} for name in names]
        tools.store.write(("tree/names", {"rows": rows}))
        named_now.update(name.id for name in names)
        tools.progress("naming communities", len(named_now), len(due))

    spent = tools.ledger.by_stage().get(STAGE, Usage())
    naming, left = Naming(), set[str]()
    if tools.chat is not None:
        ids = list(batches([community.id for community in due], PER_CALL))
        naming = name_communities(tools.chat, ids, describe, tools.settings.calls_at_once, commit)
        nameable = {id_ for id_, each in stored.communities.items() if each.could_be_named}
        left = nameable.intersection(community.id for community in found.tree.communities) - by_id.keys()
    together = {community.id for community in found.new if community.size > 1} | set(naming.failed)
    usage = tools.ledger.by_stage().get(STAGE, Usage()) - spent
    return {
        "named_by_model": len(named_now),
        "named_by_members": len(together - named_now),
        "named_after_member": sum(community.size == 1 for community in found.new + found.renamed),
        "names_without_model": len(left) + (part.elsewhere.unnamed if tools.chat is not None else 0),
        "failed_names": len(naming.failed),
        "failures": naming.reasons,
        "calls": naming.calls,
        "usage": {STAGE: usage} if usage != Usage() else {},
        "stopped": naming.stopped,
    }


def _report(
    store: Store, before: Row, course: _Course, part: Part, found: Changes, counts: dict[str, Any], watch: Stopwatch
) -> TreeReport:
    """``counts``: what entities and names have of the report."""
    elsewhere, communities = part.elsewhere, found.tree.communities
    inside = np.bincount([community.depth for community in communities])
    every = [here + there for here, there in zip_longest(inside.tolist(), elsewhere.depths, fillvalue=0)]
    depths = [communities for communities in every if communities]  # the deepest may be gone
    largest = []
    for row in store.read("tree/largest", limit=SHOWN):
        named = row["id"], row["name"], row["nameBy"], row["summary"], row["depth"], row["size"]
        largest.append(LargeCommunity(*named, tuple(row["keywords"])))
    return TreeReport(
        course.method,
        course.action,
        entities=part.size,
        communities=sum(depths),
        depths=depths,
        keywords=elsewhere.keywords + sum(len(community.keywords(part.graph)) for community in communities),
        entities_gone=max(0, before.get("treeEntities", 0) - part.size + counts["entities_new"]),
        communities_kept=sum(depths) - len(found.new),
        communities_new=len(found.new),
        communities_gone=len(found.gone),
        names_kept=sum(depths) - sum(counts[f"named_{by}"] for by in ("by_model", "by_members", "after_member")),
        seconds={**watch.seconds, "total": watch.total()},
        largest=largest,
        notes=course.notes,
        **counts,
    )


@dataclass(frozen=True, slots=True)
class LargeCommunity:
    """One of the largest communities, as the graph has it now. ``name_by``: "model" or "members"."""

    id: str
    name: str
    name_by: str
    summary: str
    depth: int
    size: int
    keywords: tuple[str, ...]


@dataclass(frozen=True, slots=True, repr=False)
class TreeReport(Shown):
    """What ``kgplatform tree`` did. ``depths``: how many communities there are at each depth, the top first.

    ``communities_kept``, ``_new`` and ``_gone`` add up to those before and now; ``entities_moved`` were with others
    before. Each community's name is counted once: ``named_by_model`` in this run, ``named_by_members`` put together in
    this run or asked for in vain, ``named_after_member`` the new names of communities of one, ``names_kept`` the rest.
    ``failed_names``: those of ``named_by_members`` that the model was asked for in vain. ``names_without_model``: those
    of ``names_kept`` that it could give, but is asked for only by a rebuild. ``calls``: prompts that were sent to it.
    """

    method: str
    action: str = ""
    entities: int = 0
    communities: int = 0
    depths: list[int] = field(default_factory=list)
    keywords: int = 0
    entities_new: int = 0
    entities_gone: int = 0
    entities_changed: int = 0
    entities_moved: int = 0
    communities_kept: int = 0
    communities_new: int = 0
    communities_gone: int = 0
    named_by_model: int = 0
    named_by_members: int = 0
    named_after_member: int = 0
    names_kept: int = 0
    names_without_model: int = 0
    failed_names: int = 0
    failures: list[str] = field(default_factory=list)
    calls: int = 0
    usage: dict[str, Usage] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    largest: list[LargeCommunity] = field(default_factory=list)
    stopped: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def complete(self) -> bool:
        """Whether the run went to its end."""
        return not self.stopped
