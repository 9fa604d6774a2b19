"""Which key elements are one thing in different words (``FORM_OF``): the nodes of GraphReader.

Section 3.2, normalisation. Stage 1 joins what has one stem, entities included, whatever their types. Stage 2 joins by
meaning what is not an entity, with its like or with one entity's group. Groups are a function of the elements and pairs
that are there, not of the order in which they came, and nothing is merged: a member points at the representative, which
bears the group's name.

What is settled holds for itself: its groups are those of a graph without what is pending. So pending elements come in
some at a time, and only what they could join is read with them. A group whose members stay among themselves beside all
that it is paired with is right, whatever lies beyond; one that would take in others is looked at again with these.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from itertools import permutations

from kgplatform.neo4j.store import Parameters, Row, Store
from kgplatform.query import batches
from kgplatform.records import Progress

_AT_ONCE = 50_000
"""Pending elements that are settled together, some 100 MB: what they touch is read again for each lot of them."""
_BATCH = 1000

Likeness = tuple[float, str, str]
"""Cosine and the ids of two key elements that mean nearly the same."""


@dataclass(frozen=True, slots=True)
class KeyElement:
    """A key element as the grouping sees it."""

    stem: str
    is_entity: bool


@dataclass(frozen=True, slots=True)
class Group:
    """Two or more members that are one thing; ``scores``: the best cosine of two stems, for those that were joined."""

    members: tuple[str, ...]
    scores: Mapping[tuple[str, str], float]


@dataclass(frozen=True, slots=True)
class Shown:
    """What decides which member represents a group."""

    name: str
    passages: int


@dataclass(frozen=True, slots=True, order=True)
class Form:
    """An edge ``FORM_OF``: ``by`` is 'stem' or 'meaning', ``score`` the cosine, 1 for a stem."""

    id: str
    target: str
    by: str
    score: float


def groups(elements: Mapping[str, KeyElement], pairs: Iterable[Likeness]) -> list[Group]:
    """The groups of two members or more, by the stems in them.

    Stems are joined the nearest first. Two groups become one only if every stem of the one means the same as every
    stem of the other, so that no chain of likenesses leads astray, and if at most one of the two has entities.
    """
    by_stem: dict[str, list[str]] = defaultdict(list)
    for element in sorted(elements):
        by_stem[elements[element].stem].append(element)
    near = _near(elements, pairs)
    anchored = {elements[element].stem for element in elements if elements[element].is_entity} if near else set()
    found = []
    joined: set[str] = set()
    for stems in _joined(near, anchored):
        joined.update(stems)
        inner = {(one, other): near[one][other] for one, other in permutations(stems, 2)}
        found.append(Group(tuple(sorted(element for stem in stems for element in by_stem[stem])), inner))
    alone = [members for stem, members in by_stem.items() if len(members) > 1 and stem not in joined]
    return [*found, *(Group(tuple(members), {}) for members in alone)]


def _near(elements: Mapping[str, KeyElement], pairs: Iterable[Likeness]) -> dict[str, dict[str, float]]:
    """The stems that mean nearly the same as each, with the best cosine."""
    near: dict[str, dict[str, float]] = defaultdict(dict)
    for score, one, other in pairs:
        if one in elements and other in elements:
            mine, theirs = elements[one].stem, elements[other].stem
            if mine != theirs and score > near[mine].get(theirs, -2):
                near[mine][theirs] = near[theirs][mine] = score
    return near


def _joined(near: Mapping[str, Mapping[str, float]], anchored: set[str]) -> list[set[str]]:
    """Sets of two stems or more that are one."""
    owner: dict[str, set[str]] = {}
    nearest = sorted((-score, one, other) for one in near for other, score in near[one].items() if one < other)
    for _, one, other in nearest:
        mine, theirs = owner.get(one) or {one}, owner.get(other) or {other}
        if mine is theirs or not all(near[stem].keys() >= theirs for stem in mine):
            continue
        if mine.isdisjoint(anchored) or theirs.isdisjoint(anchored):
            mine |= theirs
            owner.update(dict.fromkeys(mine, mine))
    sets = {min(stems): stems for stems in owner.values()}
    return [sets[first] for first in sorted(sets)]


def forms_of(group: Group, elements: Mapping[str, KeyElement], shown: Mapping[str, Shown]) -> list[Form]:
    """The edges of a group: from each member to the representative.

    That is the name that most passages mention, then the shortest, then the first in order.
    """
    target = min(group.members, key=lambda id_: (-shown[id_].passages, len(shown[id_].name), shown[id_].name, id_))
    of = elements[target].stem
    stems = {member: elements[member].stem for member in group.members if member != target}
    return [
        Form(id_, target, "stem", 1.0) if stem == of else Form(id_, target, "meaning", group.scores[stem, of])
        for id_, stem in stems.items()
    ]


def changes(old: Sequence[Form], new: Sequence[Form]) -> tuple[list[str], list[Form]]:
    """The members whose edge goes, and the edges to write, that make ``new`` of ``old``."""
    before, after = {each.id: each for each in old}, {each.id: each for each in new}
    gone = sorted(each for each in before if before[each] != after.get(each))
    return gone, sorted(each for each in new if before.get(each.id) != each)


def settle_forms(store: Store, total: int, progress: Progress) -> None:
    """Bring the forms of all pending elements up to date, which completes them. ``total``: how many there are."""
    done = 0
    progress("merging names", done, total)
    with closing(store.read_batches("ingest/pending_ids", _AT_ONCE)) as found:
        for rows in found:
            _settle_some(store, {row["id"] for row in rows})
            done += len(rows)
            progress("merging names", done, total)


class _Known:
    """Key elements as they are read, by id, with all that decides their groups."""

    def __init__(self, store: Store) -> None:
        self.rows: dict[str, Row] = {}
        self._store = store

    def read(self, ids: Iterable[str]) -> None:
        """Read what is not known yet."""
        for some in batches(sorted(set(ids) - self.rows.keys())):
            self.rows.update((row["id"], row) for row in self._store.read("ingest/form_elements", ids=some))

    def whole(self, ids: Iterable[str]) -> set[str]:
        """``ids`` with all of the same stems and of the groups that they are in."""
        found: set[str] = set()
        new = set(ids)
        while new:
            self.read(new)
            new &= self.rows.keys()  # somebody's own statement may have removed some
            found |= new
            new = {other for id_ in new for other in self.rows[id_]["others"]} - found
        return found

    def beside(self, ids: set[str]) -> set[str]:
        """The settled groups that ``ids`` are paired with; others are pending, and will look at these in their turn."""
        ends = {end for id_ in ids for end, _, is_pending in self.rows[id_]["pairs"] if not is_pending}
        found = self.whole(ends - ids) - ids
        return found - self.whole(id_ for id_ in found if self.rows[id_]["pending"])

    def groups(self, ids: set[str]) -> list[Group]:
        """The groups of ``ids``, as if there were nothing else."""
        elements = {id_: self.element(id_) for id_ in ids}
        pairs = ((score, id_, end) for id_ in ids for end, score, _ in self.rows[id_]["pairs"] if id_ < end)
        return groups(elements, pairs)

    def element(self, id_: str) -> KeyElement:
        """The element as the grouping sees it."""
        return KeyElement(self.rows[id_]["stem"], self.rows[id_]["isEntity"])


def _settle_some(store: Store, ids: set[str]) -> None:
    known = _Known(store)
    known.read(ids)
    inside = known.whole(id_ for id_ in ids & known.rows.keys() if known.rows[id_]["pending"])
    while True:
        found = known.groups(inside | known.beside(inside))
        mixed = {id_ for group in found if not inside.isdisjoint(group.members) for id_ in group.members} - inside
        if not mixed:
            break
        inside |= known.whole(mixed)
    rows = {id_: known.rows[id_] for id_ in sorted(inside)}
    elements = {id_: known.element(id_) for id_ in rows}
    shown = {id_: Shown(row["name"], row["passages"]) for id_, row in rows.items()}
    mine = (group for group in found if not inside.isdisjoint(group.members))
    wanted = [form for group in mine for form in forms_of(group, elements, shown)]
    old = [Form(id_, *form) for id_, row in rows.items() for form in row["form"]]
    gone, new = changes(old, wanted)
    went = set(gone)
    edges = [*(form for form in old if form.id in went), *new]
    touched = {end for form in edges for end in (form.id, form.target)}
    _write(store, [id_ for id_ in rows if id_ in touched], gone, new)
    store.write_rows("ingest/settled", [{"id": id_} for id_ in rows if id_ not in touched])


def _write(store: Store, touched: Sequence[str], gone: Sequence[str], new: Sequence[Form]) -> None:
    """In one transaction, since groups that are half written would pass for settled ones.

    Where that is too large for one, all that is ``touched`` is pending first, until all is written.
    """
    by_id = {form.id: asdict(form) for form in new}
    parts: list[Parameters] = [
        {"gone": some, "forms": [by_id[id_] for id_ in some if id_ in by_id]}
        for some in batches(sorted({*gone, *by_id}), _BATCH)
    ]
    if len(parts) <= 1:
        for part in parts:
            store.write(("ingest/settle_forms", {"ids": touched, **part}))
        return
    for some in batches(touched, _BATCH):
        store.write(("ingest/revisit_elements", {"ids": some}))
    for part in parts:
        store.write(("ingest/settle_forms", {"ids": [], **part}))
    store.write_rows("ingest/settled", [{"id": id_} for id_ in touched])
