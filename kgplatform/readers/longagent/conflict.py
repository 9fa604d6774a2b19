"""Who of LongAgent's members contradict each other, and how it is found out who is wrong (LongAgent, section 2.3).

    united, rivals = sorted_out(clustered(replies), [Group(members=[1, 2], relation="conflicting")])
    done = tournament(united, rivals, reread, random.Random(0))      # done.clusters, done.merges

A member whose part does not have the answer is prone to invent one, and one whose part has it rarely errs. So a member
reads the parts of both that contradict each other. How many members say the same counts for nothing. Nothing here calls
a model: ``reread`` does.

Answers are the same where they are the same date, or differ in nothing but case, punctuation and spaces. That two
wordings mean the same is for the leader to say, which groups them.

>>> same("15 September 1859", "September 15, 1859"), is_part("1859", "15 September 1859")
(True, True)
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import lru_cache
from typing import Literal

from kgplatform.errors import ModelError
from kgplatform.readers.grounding import Date, dates_in
from kgplatform.readers.longagent.options import Group
from kgplatform.records import Step
from kgplatform.text import normalise_name
from kgplatform.text.matching import find_names

_THOUSANDS = re.compile(r"(?<=\d)[, ](?=\d{3}(?!\d))")
# All that is not a word, except the signs that make it another number or name: -5, 1.5, 2-1, C++, B-.
_SIGN = re.compile(
    r"(?P<minus>(?<!\w)[-−–](?=\d))|(?P<between>(?<=\d)[\W_]+(?=\d))|(?P<kept>(?<=\w)(?:[+#]+|-(?!\w)))|[\W_]"
)
_KEPT_SIGNS = {"minus": "-", "between": ".", "": ""}
_YEAR = re.compile(r"1\d{3}|20\d{2}")
_LONGEST_DATE = 80


def same(first: str, second: str) -> bool:
    """Whether two answers are the same date, or the same but for case, punctuation and spaces; 1.5 and 15 are not."""
    return value_of(first) == value_of(second)


@lru_cache(maxsize=4096)
def value_of(answer: str) -> str | Date:
    """What makes two answers the same: a date that is all of it, else the letters and signs that count."""
    folded = normalise_name(answer).strip(" .")
    if len(folded) <= _LONGEST_DATE:
        for start, end, dates in dates_in(folded):
            if (start, end) == (0, len(folded)) and len(dates) == 1:
                return next(iter(dates))
    kept = _SIGN.sub(lambda sign: _KEPT_SIGNS.get(sign.lastgroup or "", sign[0]), _THOUSANDS.sub("", folded))
    return kept or folded


def is_part(part: str, whole: str) -> bool:
    """Whether ``part`` is the less complete of two dates that agree, such as the year."""
    first, second = (  # a number that can be a year is one
        (int(value), 0, 0) if isinstance(value, str) and _YEAR.fullmatch(value) else value
        for value in map(value_of, (part, whole))
    )
    if isinstance(first, str) or isinstance(second, str):
        return False
    return first != second and all(each in (0, other) for each, other in zip(first, second, strict=True))


MemberOutcome = Literal["answer", "no mention", "malformed", "failed"]


@dataclass(frozen=True, slots=True)
class MemberReply:
    """What a member said: ``text`` is empty where it has no answer. ``readers``: it, and whose part it read too.
    ``sentences``: the numbers of those that say so, as far as they were shown.

    ``step`` of the trace has what was sent, got and spent in ``calls`` calls.
    """

    readers: tuple[int, ...]
    outcome: MemberOutcome
    text: str = ""
    sentences: tuple[str, ...] = ()
    step: Step = Step("member", "", 0.0)
    calls: int = 0
    error: ModelError | None = None

    @property
    def member(self) -> int:
        """The number of the member that replied."""
        return self.readers[0]


@dataclass(frozen=True, slots=True)
class Cluster:
    """Members whose answers agree, by number; ``answer`` in the words of the first, or of its last merge.

    ``sentences``: the numbers of those that say so, in the part of one of them. ``others``: further wordings.
    """

    answer: str
    members: tuple[int, ...]
    sentences: tuple[str, ...] = ()
    others: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Duel:
    """Two clusters that contradict each other; member ``i`` reads its part, and then that of ``j``."""

    x: Cluster
    y: Cluster
    i: int
    j: int


@dataclass(frozen=True, slots=True)
class Merge:
    """A duel, what was read in it (the first reading, and the second if there was one), and the outcome.

    ``stays``: the cluster that goes on; none where both were taken back. ``aside``: the one that it contradicts still,
    since neither can be told from the truth. ``confirmed``: whether a reader repeated what is left.
    """

    duel: Duel
    readings: tuple[MemberReply, ...]
    stays: tuple[Cluster, ...] = ()
    aside: tuple[Cluster, ...] = ()
    confirmed: bool = False

    @property
    def kept(self) -> tuple[str, ...]:
        """The answers that remain."""
        return tuple(cluster.answer for cluster in (*self.stays, *self.aside))

    @property
    def dropped(self) -> tuple[str, ...]:
        """Those of the duel that do not, not even as a part of one that has both."""
        left = set(map(value_of, self.kept))
        gone = [cluster for cluster in (self.duel.x, self.duel.y) if value_of(cluster.answer) not in left]
        return tuple(
            each.answer
            for each in gone
            if not any(
                set(each.members) <= set(winner.members) and find_names(each.answer, winner.answer)
                for winner in self.stays
            )
        )


@dataclass(frozen=True, slots=True)
class Resolution:
    """The clusters that are left, in order; those of ``unsettled`` contradict each other still."""

    clusters: tuple[Cluster, ...]
    merges: tuple[Merge, ...] = ()
    unsettled: tuple[Cluster, ...] = ()


Reread = Callable[[Sequence[Duel]], Sequence[MemberReply]]
"""Of each duel: what member i says that has read its part and then j's; all of them at the same time."""


def clustered(replies: Sequence[MemberReply], *, exact: bool = False) -> list[Cluster]:
    """Members with the same answer together, in the order of their first members.

    An answer that is part of exactly one other, as a year is of a date, is with it. ``exact``: only answers that are
    the same to the letter are together, as in the paper's transcripts.
    """
    by_value: dict[object, list[Cluster]] = {}
    for reply in replies:
        key = reply.text if exact else value_of(reply.text)
        by_value.setdefault(key, []).append(Cluster(reply.text, (reply.member,), reply.sentences))
    clusters = [_union(twins) for twins in by_value.values()]
    wholes: dict[int, list[Cluster]] = {}
    for place, each in enumerate(clusters):
        fuller = [] if exact else [n for n, other in enumerate(clusters) if is_part(each.answer, other.answer)]
        fullest = [n for n in fuller if not any(is_part(clusters[n].answer, clusters[m].answer) for m in fuller)]
        wholes.setdefault(fullest[0] if len(fullest) == 1 else place, []).append(each)
    united = (_union(sorted(parts, key=lambda each: each is not clusters[whole])) for whole, parts in wholes.items())
    return sorted(united, key=lambda cluster: cluster.members)


def sorted_out(
    clusters: Sequence[Cluster], groups: Sequence[Group] | None
) -> tuple[list[Cluster], list[tuple[int, ...]]]:
    """The clusters with those that mean the same united, and which of these contradict each other, by place.

    ``groups`` number the clusters from 1; None if nothing is known of them: then all contradict each other. Two dates
    or numbers that differ are not the same, whatever a group says, but contradict each other.
    """
    if groups is None:
        return list(clusters), [tuple(range(len(clusters)))] if len(clusters) > 1 else []
    root = list(range(len(clusters)))
    rivals: list[list[int]] = []
    for group in groups:
        places = [number - 1 for number in group.members if 0 < number <= len(clusters)]
        differ = group.relation == "same" and _values_differ([clusters[n] for n in places])
        if group.relation == "conflicting" or differ:
            rivals.append(places)
        elif group.relation == "same" and places:
            old = {root[place] for place in places}
            root = [min(old) if each in old else each for each in root]
    kept = sorted(set(root))
    united = [_union([clusters[n] for n in range(len(clusters)) if root[n] == each]) for each in kept]
    joined: list[set[int]] = []  # sets with a common member are one
    for places in rivals:
        of_them = {kept.index(root[place]) for place in places}
        of_them = of_them.union(*(other for other in joined if other & of_them))
        joined = [*(other for other in joined if not other & of_them), of_them]
    return united, [tuple(sorted(each)) for each in joined if len(each) > 1]


def _values_differ(clusters: Sequence[Cluster]) -> bool:
    """Whether two of them are numbers or dates of their own."""
    valued = [each.answer for each in clusters if any(letter.isdigit() for letter in each.answer)]
    return any(
        sorted(filter(str.isdigit, one)) != sorted(filter(str.isdigit, other)) and not is_part(one, other)
        for n, one in enumerate(valued)
        for other in valued[:n]
        if not is_part(other, one)
    )


def _union(clusters: Sequence[Cluster]) -> Cluster:
    first = clusters[0]
    members = tuple(sorted({number for cluster in clusters for number in cluster.members}))
    sentences = next((cluster.sentences for cluster in clusters if cluster.sentences), ())
    said = [text for cluster in clusters for text in (cluster.answer, *cluster.others)]
    others = tuple(text for text in dict.fromkeys(said) if not same(text, first.answer))
    return Cluster(first.answer, members, sentences, others)


def tournament(
    clusters: Sequence[Cluster], rivals: Sequence[tuple[int, ...]], reread: Reread, chance: random.Random
) -> Resolution:
    """Of each set of ``rivals`` (places in ``clusters``), two by two, until one is left; all pairs of a round at once.

    A member of one of the two reads both parts. What it says decides if it is one of the two answers, or has both of
    them, and names sentences that say so; else a member of the other reads too, and what both say decides. Where that
    is not clear both answers are left, unless no reader repeated them and another answer of the set was repeated. Every
    duel takes one cluster at least out of its set, so that there are fewer duels than clusters.
    """
    queues = [[clusters[place] for place in places] for places in rivals]
    asides: list[list[Cluster]] = [[] for _ in queues]
    merges: list[Merge] = []
    while any(len(queue) > 1 for queue in queues):
        drawn = [
            [
                Duel(x, y, chance.choice(x.members), chance.choice(y.members))
                for x, y in zip(queue[::2], queue[1::2], strict=False)
            ]
            for queue in queues
        ]
        every = [duel for duels in drawn for duel in duels]
        found = zip(every, reread(every), strict=True)
        readings: dict[Duel, tuple[MemberReply, ...]] = {duel: (reading,) for duel, reading in found}
        # Those that one reading does not decide are read by the other member, too.
        doubtful = [duel for duel, (one,) in readings.items() if not one.sentences or _side(duel, one) not in _KNOWN]
        again = reread([replace(duel, i=duel.j, j=duel.i) for duel in doubtful]) if doubtful else ()
        both = readings | {duel: (*readings[duel], second) for duel, second in zip(doubtful, again, strict=True)}
        judged = [_judge(duel, said) for duel, said in both.items()]
        merges += judged
        done = iter(judged)
        for queue, aside, duels in zip(queues, asides, drawn, strict=True):
            here = [next(done) for _ in duels]
            queue[:] = [*queue[2 * len(duels) :], *(cluster for merge in here for cluster in merge.stays)]
            aside += [cluster for merge in here for cluster in merge.aside]
    assert len(merges) < max(1, len(clusters)), "a duel took no cluster out"
    confirmed = {value_of(answer) for merge in merges if merge.confirmed for answer in merge.kept}
    contested = {place for places in rivals for place in places}
    settled = [cluster for place, cluster in enumerate(clusters) if place not in contested]
    unsettled: list[Cluster] = []
    for queue, aside in zip(queues, asides, strict=True):
        if any(value_of(each.answer) in confirmed for each in queue):
            aside = [each for each in aside if value_of(each.answer) in confirmed]
        (unsettled if aside else settled).extend([*queue, *aside])
    return _left(settled, unsettled, merges)


def once(clusters: Sequence[Cluster], reread: Reread, chance: random.Random) -> Resolution:
    """Appendix B to the letter: the first two, until one is left; the first member reads both, its word is final.

    An answer that neither of the two gave replaces both, together with a later one that is the same. The paper never
    has none: both go.
    """
    queue = list(clusters)
    aside: list[Cluster] = []
    merges: list[Merge] = []
    while len(queue) >= 2:
        x, y = queue[:2]
        duel = Duel(x, y, chance.choice(x.members), chance.choice(y.members))
        (reading,) = reread([duel])
        said = reading.text
        if reading.outcome == "no mention":
            merge = Merge(duel, (reading,))
        elif not said:
            merge = Merge(duel, (reading,), (x,), (y,))
        else:
            given = [each for each in (x, y) if same(said, each.answer)]
            base = given[0] if len(given) == 1 else _nearer(said, x, y)
            winner = replace(base, answer=said, sentences=reading.sentences or base.sentences)
            merge = Merge(duel, (reading,), (winner,))
            if len(given) != 1:
                twins = [each for each in queue[2:] if same(each.answer, said)]
                merge = replace(merge, stays=(_union([*merge.stays, *twins]),))
                queue = [*queue[:2], *(each for each in queue[2:] if each not in twins)]
        merges.append(merge)
        queue = [*merge.stays, *queue[2:]]
        aside += merge.aside
    return _left((), [*queue, *aside], merges) if aside else _left(queue, (), merges)


_KNOWN = ("x", "y", "both")


def _side(duel: Duel, reading: MemberReply) -> str:
    """Whose answer a reading is: "x", "y", "both" or "new"; else why it is none."""
    if not reading.text:
        return reading.outcome

    def names(said: str, answer: str) -> bool:  # one of both has the other in it, or a part of its date
        return any(is_part(*two) or find_names(*two) for two in ((said, answer), (answer, said)))

    wordings = [(cluster.answer, *cluster.others) for cluster in (duel.x, duel.y)]
    for agrees in (same, names):
        is_x, is_y = (any(agrees(reading.text, text) for text in texts) for texts in wordings)
        if is_x or is_y:
            return "both" if is_x and is_y else "x" if is_x else "y"
    return "new"


def _judge(duel: Duel, readings: tuple[MemberReply, ...]) -> Merge:
    """What one or two readings make of a duel: where two differ, an answer that was given before outweighs another."""
    sides = [_side(duel, reading) for reading in readings]
    known = [n for n, side in enumerate(sides) if side in _KNOWN]
    if len({sides[n] for n in known}) == 1:
        winner = _winner(duel, sides[known[0]], readings[known[0]])
    elif sides == ["new", "new"] and same(readings[0].text, readings[1].text):
        winner = _winner(duel, "new", readings[0])
    elif sides == ["no mention", "no mention"]:
        return Merge(duel, readings)
    else:  # nothing is clear, or one says x, and the other y, or both of them
        return Merge(duel, readings, (duel.x,), (duel.y,), confirmed=bool(known))
    return Merge(duel, readings, (winner,), confirmed=True)


def _winner(duel: Duel, side: str, reading: MemberReply) -> Cluster:
    """``reading`` in the place of the cluster that it is nearest to; of both where it has both their answers."""
    said = reading.text
    if side == "both":
        base = replace(_union([duel.x, duel.y]), others=())
    elif side == "new":
        base = _nearer(said, duel.x, duel.y)
    else:
        base = duel.x if side == "x" else duel.y
        if not (same(said, base.answer) or is_part(base.answer, said)):
            said = base.answer  # only the fuller of two wordings is kept
    return replace(base, answer=said, sentences=reading.sentences or base.sentences)


def _nearer(said: str, x: Cluster, y: Cluster) -> Cluster:
    """The cluster whose answer is more like ``said``; of equals the second."""
    like_x, like_y = (SequenceMatcher(None, said, cluster.answer).ratio() for cluster in (x, y))
    return x if like_x > like_y else y


def _left(settled: Sequence[Cluster], unsettled: Sequence[Cluster], merges: Sequence[Merge]) -> Resolution:
    """What is left, those that came to the same answer one by one as one."""
    by_value: dict[object, list[Cluster]] = {}
    for cluster in (*settled, *unsettled):
        by_value.setdefault(value_of(cluster.answer), []).append(cluster)
    left = sorted(map(_union, by_value.values()), key=lambda cluster: cluster.members)
    still_open = {value_of(cluster.answer) for cluster in unsettled}
    contradict = tuple(cluster for cluster in left if value_of(cluster.answer) in still_open)
    return Resolution(tuple(left), tuple(merges), contradict if len(contradict) > 1 else ())
