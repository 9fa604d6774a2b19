"""Who of LongAgent's members contradict each other, and how two of them find out who is wrong (LongAgent, section 2.3).

    clusters = clustered({1: "No Mention", 5: "the Yale Law Journal", 7: "The Wall Street Journal"})
    done = resolve(clusters, "each", reread, stands, random.Random(0))
    done.clusters, done.merges

A member whose part does not have the answer is prone to invent one, and one whose part has it rarely errs. So two
members with different answers read both parts: the one that invented its answer corrects itself. How many members say
the same counts for nothing. Nothing here calls a model: ``reread`` does.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from kgplatform.readers.refusals import is_members_refusal
from kgplatform.text import normalise_name

Way = Literal["each", "once", "off"]

_ARTICLE = re.compile(r"\b(?:the|an?)\b")
_THOUSANDS = re.compile(r"(?<=\d)[, ](?=\d{3}(?!\d))")
# All that is not a word, except the signs that make it another number or name: -5, 1.5, 2-1, C++, B-.
_SIGN = re.compile(
    r"(?P<minus>(?<!\w)[-−–](?=\d))|(?P<between>(?<=\d)[\W_]+(?=\d))|(?P<kept>(?<=\w)(?:[+#]+|-(?!\w)))|[\W_]"
)
_KEPT_SIGNS = {"minus": "-", "between": "."}


@dataclass(frozen=True, slots=True)
class Cluster:
    """Members that gave the same answer, by number; ``answer`` in the words of the first, or of its last merge."""

    answer: str
    members: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class SharedReading:
    """What a member says that has read two parts: None for no mention. ``failed``: it said nothing that can be used."""

    answer: str | None
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Merge:
    """Two members of which one read both their parts, or each did, and the outcome.

    ``kept`` are the answers that remain, ``dropped`` those that do not. ``unsettled``: both remain, since neither of
    them can be told from the truth.
    """

    first: int
    second: int
    kept: tuple[str, ...]
    dropped: tuple[str, ...]
    unsettled: bool = False


@dataclass(frozen=True, slots=True)
class Resolution:
    """The clusters that are left, in order; those of ``unsettled`` contradict each other still."""

    clusters: tuple[Cluster, ...]
    merges: tuple[Merge, ...]
    unsettled: tuple[Cluster, ...]


Reread = Callable[[Sequence[tuple[int, int]]], Sequence[SharedReading]]
"""Of each pair (i, j): what member i says that has read its part and then j's; all of them at the same time."""

Stands = Callable[[str, int], bool]
"""Whether the words of an answer stand in the part of a member."""


@dataclass(frozen=True, slots=True)
class _Verdict:
    """What becomes of two clusters: at most one stays in the queue, at most one is set aside as it cannot be settled.

    ``new``: the one that stays has an answer that neither of them had.
    """

    stays: tuple[Cluster, ...]
    aside: tuple[Cluster, ...] = ()
    new: bool = False


def same(first: str, second: str) -> bool:
    """Whether two answers are the same but for case, punctuation, articles and spaces. 1.5 and 15 are not."""
    return _key(first) == _key(second)


def clustered(answers: Mapping[int, str], *, exact: bool = False) -> list[Cluster]:
    """Members with the same answer together, in the order of their first members; refusals are left out.

    ``exact``: only answers that are the same to the letter are together, as in the paper's transcripts.
    """
    by_key: dict[str, list[int]] = {}
    for number in sorted(answers):
        if not is_members_refusal(answers[number]):
            by_key.setdefault(answers[number] if exact else _key(answers[number]), []).append(number)
    return [Cluster(answers[numbers[0]], tuple(numbers)) for numbers in by_key.values()]


def resolve(clusters: Sequence[Cluster], way: Way, reread: Reread, stands: Stands, chance: random.Random) -> Resolution:
    """Two clusters at a time, the first two, until one is left: a member of each reads both parts.

    ``way`` "each": both members read, the first its own part and then the other's, the second the other way round. One
    that keeps its answer stays, one that does not is dropped; where both keep theirs, the second is set aside. "once":
    the first member alone reads, and its word is final (appendix B, to the letter). Every merge takes one cluster at
    least out, so that there are fewer merges than clusters.
    """
    queue = list(clusters)
    aside: list[Cluster] = []
    merges: list[Merge] = []
    while len(queue) >= 2:
        x, y, *rest = queue
        i, j = chance.choice(x.members), chance.choice(y.members)
        readings = tuple(reread(((i, j), (j, i)) if way == "each" else ((i, j),)))
        verdict = _once(x, y, readings[0]) if way == "once" else _each(x, y, i, j, readings, stands)
        merges.append(_merge(x, y, i, j, verdict))
        queue = [*verdict.stays, *rest] if not verdict.new else _fused([*verdict.stays, *rest])
        aside += verdict.aside
        assert len(merges) < len(clusters), "a merge took no cluster out"
    left = sorted(_together([*queue, *aside]), key=lambda cluster: cluster.members)
    return Resolution(tuple(left), tuple(merges), tuple(left) if aside and len(left) > 1 else ())


def _once(x: Cluster, y: Cluster, reading: SharedReading) -> _Verdict:
    """Appendix B: the merged answer decides; one that neither gave replaces both. The paper never has none: both go."""
    said = reading.answer
    if reading.failed:
        return _Verdict((x,), (y,))
    if said is None:
        return _Verdict(())
    is_x, is_y = same(said, x.answer), same(said, y.answer)
    if is_x != is_y:
        return _Verdict((replace(x if is_x else y, answer=said),))
    return _Verdict((replace(_nearer(said, x, y), answer=said),), new=True)


def _each(x: Cluster, y: Cluster, i: int, j: int, readings: Sequence[SharedReading], stands: Stands) -> _Verdict:
    """Equation 3 of E: both members have both parts, so that the one whose answer was invented changes it."""
    if any(reading.failed for reading in readings):
        return _Verdict((x,), (y,))
    first, second = (reading.answer for reading in readings)
    kept = [
        replace(cluster, answer=said)
        for cluster, said in ((x, first), (y, second))
        if said is not None and same(said, cluster.answer)
    ]
    if kept:
        return _Verdict((kept[0],), tuple(kept[1:]))
    changed = {_key(said): said for said in (first, second) if said is not None}
    if first is not None and second is not None and len(changed) == 1:
        return _Verdict((_new(first, x, y, i, j, stands),), new=True)
    said_there = [said for said in changed.values() if stands(said, i) or stands(said, j)]
    supported = tuple(_new(said, x, y, i, j, stands) for said in said_there)
    return _Verdict(supported[:1], supported[1:], new=bool(supported))


def _new(said: str, x: Cluster, y: Cluster, i: int, j: int, stands: Stands) -> Cluster:
    """A cluster with an answer that came from both parts, of the members whose part has its words."""
    has_x, has_y = stands(said, i), stands(said, j)
    base = _nearer(said, x, y) if has_x == has_y else (x if has_x else y)
    return replace(base, answer=said)


def _nearer(said: str, x: Cluster, y: Cluster) -> Cluster:
    """The cluster whose answer is more like ``said``; of equals the second."""
    like_x, like_y = (SequenceMatcher(None, said, cluster.answer).ratio() for cluster in (x, y))
    return x if like_x > like_y else y


def _fused(queue: list[Cluster]) -> list[Cluster]:
    """The first cluster together with a later one of the same answer."""
    first, *rest = queue
    twins = [cluster for cluster in rest if same(cluster.answer, first.answer)]
    return [_union([first, *twins]), *(cluster for cluster in rest if cluster not in twins)]


def _together(clusters: Sequence[Cluster]) -> list[Cluster]:
    """Those that came to the same answer one by one as one."""
    by_key: dict[str, list[Cluster]] = {}
    for cluster in clusters:
        by_key.setdefault(_key(cluster.answer), []).append(cluster)
    return [_union(twins) for twins in by_key.values()]


def _union(clusters: Sequence[Cluster]) -> Cluster:
    return Cluster(clusters[0].answer, tuple(sorted({number for cluster in clusters for number in cluster.members})))


def _merge(x: Cluster, y: Cluster, i: int, j: int, verdict: _Verdict) -> Merge:
    kept = tuple(cluster.answer for cluster in (*verdict.stays, *verdict.aside))
    dropped = tuple(cluster.answer for cluster in (x, y) if not any(same(cluster.answer, said) for said in kept))
    return Merge(i, j, kept, dropped, unsettled=bool(verdict.aside))


def _key(answer: str) -> str:
    """What makes two answers the same; an answer of signs alone is its own key."""
    folded = normalise_name(answer)
    return _SIGN.sub(_kept_sign, _ARTICLE.sub(" ", _THOUSANDS.sub("", folded))) or folded


def _kept_sign(found: re.Match[str]) -> str:
    kind = found.lastgroup or ""
    return _KEPT_SIGNS.get(kind, found[0] if kind else "")
