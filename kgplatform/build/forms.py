"""Which key elements are one thing in different words: the nodes of GraphReader (section 3.2, normalisation).

Stage 1 joins what has one stem, entities included, whatever their types. Stage 2 joins by meaning what is no entity,
with its like or with one entity's group. Groups are a function of the elements and pairs that are there, not of the
order in which they came, and nothing is merged: a member points at the representative, which bears the group's name.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

Pair = tuple[float, str, str]
"""Cosine and the ids of two key elements that mean nearly the same."""


@dataclass(frozen=True, slots=True)
class Element:
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
    chunks: int


@dataclass(frozen=True, slots=True, order=True)
class Form:
    """An edge ``FORM_OF``: ``by`` is 'stem' or 'meaning', ``score`` the cosine, 1 for a stem."""

    id: str
    target: str
    by: str
    score: float


def groups(elements: Mapping[str, Element], pairs: Iterable[Pair]) -> list[Group]:
    """The groups of two members or more, by the stems in them.

    Stems are joined the nearest first. Two groups become one only if every stem of the one means the same as every
    stem of the other, so that no chain of likenesses leads astray, and if at most one of the two has entities.
    """
    by_stem: dict[str, list[str]] = defaultdict(list)
    for each in sorted(elements):
        by_stem[elements[each].stem].append(each)
    scores = _scores(elements, pairs)
    anchored = {elements[each].stem for each in elements if elements[each].is_entity} if scores else set()
    found = []
    joined: set[str] = set()
    for stems in _joined(scores, anchored):
        joined.update(stems)
        inner = {(one, other): score for (one, other), score in scores.items() if one in stems and other in stems}
        found.append(Group(tuple(sorted(each for stem in stems for each in by_stem[stem])), inner))
    alone = [members for stem, members in by_stem.items() if len(members) > 1 and stem not in joined]
    return [*found, *(Group(tuple(members), {}) for members in alone)]


def _scores(elements: Mapping[str, Element], pairs: Iterable[Pair]) -> dict[tuple[str, str], float]:
    """The best cosine of each two stems, both ways round."""
    scores: dict[tuple[str, str], float] = {}
    for score, one, other in pairs:
        if one in elements and other in elements:
            stems = (elements[one].stem, elements[other].stem)
            if stems[0] != stems[1]:
                for each in (stems, stems[::-1]):
                    scores[each] = max(score, scores.get(each, score))
    return scores


def _joined(scores: Mapping[tuple[str, str], float], anchored: set[str]) -> list[set[str]]:
    """Sets of two stems or more that are one."""
    owner: dict[str, set[str]] = {}
    for one, other in sorted(scores, key=lambda pair: (-scores[pair], pair)):
        mine, theirs = owner.setdefault(one, {one}), owner.setdefault(other, {other})
        if mine is theirs or (mine & anchored and theirs & anchored):
            continue
        if all((left, right) in scores for left in mine for right in theirs):
            mine |= theirs
            owner.update(dict.fromkeys(theirs, mine))
    sets = {min(stems): stems for stems in owner.values() if len(stems) > 1}
    return [sets[first] for first in sorted(sets)]


def forms_of(group: Group, elements: Mapping[str, Element], shown: Mapping[str, Shown]) -> list[Form]:
    """The edges of a group: from each member to the representative.

    That is the name that most chunks mention, then the shortest, then the first in order.
    """
    target = min(group.members, key=lambda each: (-shown[each].chunks, len(shown[each].name), shown[each].name, each))
    stem = elements[target].stem
    return [
        Form(each, target, *_why(group, elements[each].stem, stem)) for each in group.members if each != target
    ]  # fmt: skip


def _why(group: Group, stem: str, of: str) -> tuple[str, float]:
    return ("stem", 1.0) if stem == of else ("meaning", group.scores[stem, of])


def changes(old: Sequence[Form], new: Sequence[Form]) -> tuple[list[str], list[Form]]:
    """The members whose edge goes, and the edges to write, that make ``new`` of ``old``."""
    before, after = {each.id: each for each in old}, {each.id: each for each in new}
    gone = sorted(each for each in before if before[each] != after.get(each))
    return gone, sorted(each for each in new if before.get(each.id) != each)
