"""The knowledge tree, step by step (Youtu-GraphRAG, section 3.2).

read         entities as arrays, and the tree that is there
communities  all of them, or only where the graph has changed, divided again inside where they are large
write        communities, memberships and keywords, with names put together from the members
vectors      of names and summaries, and their index: from here on the tree can be searched
names        a language model names what is new, if there is one; then the vectors of those names
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from kgplatform.errors import InputError, StoreError
from kgplatform.ingest.graph_state import define_keys, graph_state, set_state
from kgplatform.ingest.settle import embed_pending
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Progress, Usage
from kgplatform.settings import Settings
from kgplatform.tree.community_names import PER_CALL, STAGE, Named, Unnamed, name_communities
from kgplatform.tree.entity_graph import EntityGraph, Indices, signatures
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
    tree_of,
)
from kgplatform.tree.stored_tree import StoredTree, read_entity_graph, read_tree
from kgplatform.tree.write_tree import (
    COMPLETE,
    EMBEDDING,
    WRITING,
    Changes,
    central_members,
    changes,
    read_facts,
    write_tree,
)
from kgplatform.work.stopwatch import Stopwatch

LARGEST = LIMIT
"""The most entities of a community that has no communities inside."""
SHOWN = 8
_REPLACED = (
    "Another run of `kgplatform tree` began while this one was at work, and its tree replaces this one's. "
    "Wait until that run has ended; if it was stopped, run `kgplatform tree` again."
)


@dataclass(frozen=True, slots=True)
class TreeTools:
    """What building a tree works with."""

    store: Store
    embedder: Embedder
    chat: Chat | None
    settings: Settings
    ledger: Ledger
    progress: Progress


def build_tree(tools: TreeTools, *, method: str | None, update: bool, rebuild: bool) -> TreeReport:
    """Build the tree, or bring it to what the graph says now; whole if ``rebuild``, or if ``method`` is another one.

    ``update`` only says that no more than that is wanted: another method is refused, and a first tree is reported so.
    Safe to repeat, and to kill at any moment: the next call resumes. Raises ``InputError`` if there are no entities,
    if an ingest was interrupted, or for a method that cannot be; ``StoreError`` if another run has begun meanwhile.
    """
    watch, spent = Stopwatch(), tools.ledger.by_stage().get(STAGE, Usage())
    state = graph_state(tools.store)
    report = _begun(state, method, update, rebuild)
    with watch.stage("read"):
        graph = read_entity_graph(tools.store, tools.progress)
        run = _claim(tools.store)
        stored, signed = read_tree(tools.store, graph), signatures(graph)
    with watch.stage("communities"):
        tree = _tree(tools, graph, stored, signed, report)
    if report.action != "built":
        report.entities_gone = max(0, state.get("treeEntities", 0) - graph.size + report.entities_new)
    found = changes(graph, tree, stored, signed)
    now = _after_writing(state, tree, found, report)
    after = {"treeMethod": report.method, "treeEntities": graph.size, "treeState": now}
    _check_claim(tools.store, run)
    with watch.stage("write"):
        _write(tools, found, stored, after, report)
    watch.add(_settled(tools, run, {"treeState": COMPLETE}))
    with watch.stage("names"):
        _name(tools, stored, found, report)
    watch.add(_settled(tools, run, {"treeRun": None}))
    _count(found, report)
    _finish(tools, report, spent)
    report.seconds = {**watch.seconds, "total": watch.total()}
    return report


def _begun(state: Row, method: str | None, update: bool, rebuild: bool) -> TreeReport:
    known = state.get("treeMethod")
    removed = known is not None and known not in METHODS
    chosen = method or (DEFAULT if removed else known) or DEFAULT
    named(chosen)
    if update and not removed and known not in (None, chosen):
        raise InputError(f"The tree was built by the method {known}. Use rebuild to build it by {chosen}.", "rebuild")
    report = TreeReport(chosen)
    if known is None:
        report.action = "built"
        report.notes += ["There was no tree yet to update: all of it was built."] if update else []
    elif rebuild or chosen != known:
        report.action = "rebuilt"
        if removed:
            report.notes.append(f"The tree was built by the method {known}, which is gone: {chosen} rebuilt all of it.")
    elif state.get("treeState") == WRITING:
        report.action = "rebuilt"
        report.notes.append("The run before was interrupted while it wrote a large tree, which is made again.")
    else:
        report.action = "updated"
    return report


def _claim(store: Store) -> str:
    """Mark the tree as this run's, from here to the end: of two runs at once the later one counts."""
    run = uuid.uuid4().hex
    store.write(set_state(treeRun=run))
    return run


def _check_claim(store: Store, run: str) -> None:
    if graph_state(store).get("treeRun") != run:
        raise StoreError(_REPLACED)


def _tree(tools: TreeTools, graph: EntityGraph, stored: StoredTree, signed: Indices, report: TreeReport) -> Tree:
    """The new tree; an update changes none but the communities that a change is in."""
    vectors = tools.embedder.embed(graph.relation_names) if named(report.method).reads_relations else None
    before, changed = stored.levels(), stored.signatures != signed
    start = before[0]
    tools.progress("finding communities", 0, 1)
    if report.action == "updated":
        labels = numbered(start)
        if changed.any():  # else there is nothing to look for, and no neighbours to be found
            labels = partition(graph, report.method, relation_vectors=vectors, start=start, movable=changed)
        found = nest(graph, labels, LARGEST, report.method, relation_vectors=vectors, start=before, movable=changed)
    else:
        labels = partition(graph, report.method, relation_vectors=vectors)
        found = nest(graph, labels, LARGEST, report.method, relation_vectors=vectors)
    tools.progress("finding communities", 1, 1)
    if report.action != "built":
        report.entities_new = int(np.count_nonzero(start < 0))
        report.entities_changed = int(np.count_nonzero(changed & (start >= 0)))
        report.entities_moved = _moved(start, labels)
    return tree_of(graph, found)


def _moved(start: Indices, labels: Indices) -> int:
    """How many entities are not with most of those who were in their community before."""
    known = start >= 0
    pairs, pair_of, sizes = np.unique(
        np.stack([start[known], labels[known]]), axis=1, return_inverse=True, return_counts=True
    )
    if not len(sizes):
        return 0
    order = np.lexsort((pairs[1], -sizes, pairs[0]))
    most = order[np.unique(pairs[0][order], return_index=True)[1]]
    return int(np.count_nonzero(~np.isin(pair_of.ravel(), most)))


def _after_writing(before: Row, tree: Tree, found: Changes, report: TreeReport) -> str:
    """A tree that can be searched stays so if most of it does; what is new has no vectors yet, and is not found."""
    mostly_kept = report.action == "updated" and 2 * len(found.new) <= len(tree.communities)
    return COMPLETE if mostly_kept and before.get("treeState") == COMPLETE else EMBEDDING


def _write(tools: TreeTools, found: Changes, stored: StoredTree, state: Row, report: TreeReport) -> None:
    define_keys(tools.store)
    write_tree(tools.store, found, state, tools.chat is not None, tools.progress)
    if report.action == "rebuilt" and tools.chat is not None:
        others = [each.id for each in _named_without(found.tree, stored)]
        for start in range(0, len(others), 1000):
            tools.store.write(("tree/names_due", {"ids": others[start : start + 1000]}))


def _named_without(tree: Tree, stored: StoredTree) -> list[Community]:
    """The communities that stay, and have a name that no model gave though one could."""
    known = stored.communities
    return [each for each in tree.communities if each.id in known and _could_be_named(each, known[each.id].name_by)]


def _could_be_named(community: Community, name_by: str) -> bool:
    return community.size > 1 and name_by != "model"


def _settled(tools: TreeTools, run: str, state: Row) -> dict[str, float]:
    """Give the communities the vectors that they lack, and write ``state`` of the graph. The seconds by stage."""
    seconds = embed_pending(tools.store, tools.embedder, "communities", tools.progress)
    _check_claim(tools.store, run)
    tools.store.write(set_state(**state))
    return seconds


def _name(tools: TreeTools, stored: StoredTree, found: Changes, report: TreeReport) -> None:
    due = _due(found, stored, report.action) if tools.chat is not None else []
    named_now: set[str] = set()
    failed: set[str] = set()

    def commit(names: list[Named]) -> None:
        rows = [{"id": each.id, "name": each.name, "summary": each.summary, "by": "model"} for each in names]
        tools.store.write(("tree/names", {"rows": rows}))
        named_now.update(each.id for each in names)
        tools.progress("naming communities", len(named_now), len(due))

    if tools.chat is not None:
        batches = [[each.id for each in due[start : start + PER_CALL]] for start in range(0, len(due), PER_CALL)]
        describe = partial(_unnamed, tools.store, found.graph, {each.id: each for each in due})
        naming = name_communities(tools.chat, batches, describe, tools.settings.concurrency, commit)
        report.calls, report.failures, report.stopped = naming.calls, naming.reasons, naming.stopped
        failed.update(naming.failed)
        report.names_without_model = len(
            {each.id for each in _named_without(found.tree, stored)} - {each.id for each in due}
        )
    _count_names(found, named_now, failed, report)


def _count_names(found: Changes, named_now: set[str], failed: set[str], report: TreeReport) -> None:
    """Where each community's name is from: the four numbers add up to all of them."""
    together = ({each.id for each in found.new if each.size > 1} | failed) - named_now
    report.named_by_model = len(named_now)
    report.named_by_members, report.failed_names = len(together), len(failed)
    report.named_after_member = sum(each.size == 1 for each in found.new + found.renamed)
    others = report.named_by_model + report.named_by_members + report.named_after_member
    report.names_kept = len(found.tree.communities) - others


def _due(found: Changes, stored: StoredTree, action: str) -> list[Community]:
    """The communities that a model is to name, the largest first: if the budget runs out, they are named."""
    new = {each.id for each in found.new}
    known = stored.communities
    due = [
        each
        for each in found.tree.communities
        if each.size > 1
        and (
            each.id in new
            or known[each.id].name_due
            or (action == "rebuilt" and _could_be_named(each, known[each.id].name_by))
        )
    ]
    return sorted(due, key=lambda each: (each.depth, -each.size, each.id))


def _unnamed(store: Store, graph: EntityGraph, due: Mapping[str, Community], ids: Sequence[str]) -> list[Unnamed]:
    batch = [due[each] for each in ids]
    facts = read_facts(store, graph, batch)
    return [Unnamed(each.id, each.size, central_members(graph, each), facts[each.id]) for each in batch]


def _count(found: Changes, report: TreeReport) -> None:
    communities = found.tree.communities
    report.entities, report.communities = found.graph.size, len(communities)
    report.depths = np.bincount([each.depth for each in communities]).tolist()
    report.keywords = sum(len(each.keywords(found.graph)) for each in communities)
    report.communities_new, report.communities_gone = len(found.new), len(found.gone)
    report.communities_kept = len(communities) - len(found.new)


def _finish(tools: TreeTools, report: TreeReport, spent: Usage) -> None:
    report.largest = [
        LargeCommunity(
            row["id"], row["name"], row["nameBy"], row["summary"], row["depth"], row["size"], tuple(row["keywords"])
        )
        for row in tools.store.read("tree/largest", limit=SHOWN)
    ]
    usage = tools.ledger.by_stage().get(STAGE, Usage()) - spent
    if usage != Usage():
        report.usage = {STAGE: usage}


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


@dataclass(slots=True)
class TreeReport:
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
