"""Which names mean one thing: entities that are likely the same, and key elements that are one in different words.

``like_names``: whether two entities' names are alike depends on the two names alone, never on what else is in the
graph, so that adding and removing documents in any order gives the same ``SAME_AS`` edges. Candidates come from keys
that like names share, hence in time proportional to the number of names. Two names are alike if, accents, case and
punctuation apart,

- they have the same words, in any order ("Obama, Barack"; also one name under two types),
- one has all words of the other and exactly one more, which is no number ("Lord Kelvin", "Kelvin"), or
- their consonants agree and they are spelt nearly alike ("Mendeleev", "Mendeleyev").

``groups``: the nodes of GraphReader (section 3.2, normalisation). Stage 1 joins what has one stem, entities included,
whatever their types. Stage 2 joins by meaning what is no entity, with its like or with one entity's group. Groups are a
function of the elements and pairs that are there, not of the order in which they came, and nothing is merged: a member
points at the representative, which bears the group's name. All are computed at once, which takes a fraction of a second
for 20,000 elements, and only what differs is written.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rapidfuzz import fuzz

from kgplatform.ingest.stems import may_be_one, stem_of
from kgplatform.neo4j.store import Row, Store, batches

_WORD = re.compile(r"[^\W_]+")
_UNSAID = frozenset(("the", "a", "an", "of", "and"))
_VOWELS = str.maketrans("", "", "aeiouy")
_SHORTEST_SKELETON = 4
_LEAST_RATIO = 85.0

Pair = tuple[str, str]


def best_name(forms: Iterable[str]) -> tuple[str, list[str]]:
    """The form that most passages use (then the first in order), and the others: a function of the set of mentions."""
    counts = Counter(forms)
    ranked = sorted(counts, key=lambda form: (-counts[form], form))
    return ranked[0], sorted(ranked[1:])


def like_names(new: Mapping[str, str], every: Mapping[str, str]) -> list[Pair]:
    """Pairs of ids whose names are alike, at least one of them in ``new``; sorted, the smaller id first.

    Both map ids to normalised names; ``every`` holds ``new`` too.
    """
    words = {each: _words(name) for each, name in every.items()}
    same, longer, skeletons = _buckets(words)
    pairs: set[Pair] = set()
    for each in new:
        mine = words[each]
        others = [*same.get(mine, ()), *longer.get(mine, ())]
        for shorter in _shortened(mine):
            others += same.get(shorter, ())
        skeleton = _skeleton(mine)
        if skeleton:
            others += (o for o in skeletons[skeleton] if _spelt_alike(mine, words[o]))
        pairs.update((min(each, other), max(each, other)) for other in others if other != each)
    return sorted(pairs)


Words = tuple[str, ...]


def _buckets(words: Mapping[str, Words]) -> tuple[dict[Words, list[str]], dict[Words, list[str]], dict[str, list[str]]]:
    """Ids by their words, by their words but one, and by their consonants."""
    same: dict[Words, list[str]] = defaultdict(list)
    longer: dict[Words, list[str]] = defaultdict(list)
    skeletons: dict[str, list[str]] = defaultdict(list)
    for each, mine in words.items():
        if not mine:
            continue
        same[mine].append(each)
        for shorter in _shortened(mine):
            longer[shorter].append(each)
        skeleton = _skeleton(mine)
        if skeleton:
            skeletons[skeleton].append(each)
    return dict(same), dict(longer), dict(skeletons)


def _words(name: str) -> Words:
    plain = "".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c))
    words = sorted(word for word in _WORD.findall(plain) if word not in _UNSAID)
    return tuple(words or _WORD.findall(plain))


def _shortened(words: Words) -> Iterator[Words]:
    """``words`` without one of them, but for numbers: "1866 cable" is no other name of "cable"."""
    if len(words) < 2:
        return
    for position, word in enumerate(words):
        rest = words[:position] + words[position + 1 :]
        if not any(c.isdigit() for c in word) and not all(each.isdigit() for each in rest):
            yield rest


def _skeleton(words: Words) -> str:
    """The consonants of a name in Latin letters, doubles folded; empty if they are too few to mean anything."""
    joined = "".join(words)
    if not joined.isascii():
        return ""
    bare = joined.translate(_VOWELS)
    folded = "".join(c for position, c in enumerate(bare) if position == 0 or bare[position - 1] != c)
    return folded if len(folded) >= _SHORTEST_SKELETON and not folded.isdigit() else ""


def _spelt_alike(one: Words, other: Words) -> bool:
    digits = [sorted(word for word in words if any(c.isdigit() for c in word)) for words in (one, other)]
    return digits[0] == digits[1] and fuzz.ratio(" ".join(one), " ".join(other)) >= _LEAST_RATIO


# -------------------------------------------------------------------------------------- key elements that are one thing


Likeness = tuple[float, str, str]
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
    passages: int


@dataclass(frozen=True, slots=True, order=True)
class Form:
    """An edge ``FORM_OF``: ``by`` is 'stem' or 'meaning', ``score`` the cosine, 1 for a stem."""

    id: str
    target: str
    by: str
    score: float


def groups(elements: Mapping[str, Element], pairs: Iterable[Likeness]) -> list[Group]:
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


def _scores(elements: Mapping[str, Element], pairs: Iterable[Likeness]) -> dict[tuple[str, str], float]:
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

    That is the name that most passages mention, then the shortest, then the first in order.
    """
    target = min(group.members, key=lambda each: (-shown[each].passages, len(shown[each].name), shown[each].name, each))
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


# -------------------------------------------------------------------------------------------- their groups in the graph


_CANDIDATES = 50
"""Nearest neighbours that are looked at; of the ten nearest, the index misses none then (docs/decisions.md)."""
_IDS = 500


def is_plain(keys: Sequence[Row]) -> bool:
    """Whether any of the key elements is no entity."""
    return not all(row["isEntity"] for row in keys)


def with_stems(store: Store, keys: list[Row]) -> list[Row]:
    """``keys``, each with its stem, which elements of an older graph get now."""
    missing = [row for row in keys if row["stem"] is None]
    for row in missing:
        row["stem"] = stem_of(row["key"])
    store.write_rows("ingest/set_stems", [{"id": row["id"], "stem": row["stem"]} for row in missing])
    return keys


def find_pairs(store: Store, pending: Sequence[str], keys: Sequence[Row], threshold: float) -> None:
    """Find again what means nearly the same as the ``pending`` elements; one of each pair is no entity."""
    known = {row["id"]: row for row in keys}
    ids = sorted(pending)
    plain = [each for each in ids if not known[each]["isEntity"]]
    pairs: dict[tuple[str, str], float] = {}
    for statement, asked in (("ingest/near_elements", ids), ("ingest/near_entities", plain)):
        for start in range(0, len(asked), _IDS):
            some = asked[start : start + _IDS]
            for row in store.read(statement, ids=some, candidates=_CANDIDATES, threshold=threshold):
                one, other = _in_order(known[row["id"]], known[row["other"]])
                if may_be_one(one["key"], other["key"]):
                    pairs[one["id"], other["id"]] = row["score"]
    for start in range(0, len(ids), _IDS):
        store.write(("ingest/remove_form_pairs", {"ids": ids[start : start + _IDS]}))
    rows = [{"one": one, "other": other, "score": pairs[one, other]} for one, other in sorted(pairs)]
    store.write_rows("ingest/write_form_pairs", rows)


def _in_order(one: Row, other: Row) -> tuple[Row, Row]:
    """The element that is no entity first; of two such, the one with the smaller id."""
    first, second = sorted((one, other), key=lambda row: (row["isEntity"], row["id"]))
    return first, second


def settle_forms(store: Store, keys: Sequence[Row]) -> None:
    """Bring the edges ``FORM_OF`` to what stems and pairs say."""
    elements = {row["id"]: Element(row["stem"], row["isEntity"]) for row in keys}
    pairs = (
        [(row["score"], row["one"], row["other"]) for row in store.read("ingest/form_pairs")] if is_plain(keys) else []
    )
    found = groups(elements, pairs)
    shown = _shown(store, [each for group in found for each in group.members])
    wanted = [form for group in found for form in forms_of(group, elements, shown)]
    old = [Form(**row) for row in store.read("ingest/forms")]
    gone, new = changes(old, wanted)
    for start in range(0, len(gone), _IDS):
        store.write(("ingest/remove_forms", {"ids": gone[start : start + _IDS]}))
    rows = [{"id": form.id, "target": form.target, "by": form.by, "score": form.score} for form in new]
    store.write_rows("ingest/write_forms", rows)


def _shown(store: Store, ids: Sequence[str]) -> dict[str, Shown]:
    return {
        row["id"]: Shown(row["name"], row["passages"])
        for batch in batches([{"id": each} for each in ids])
        for row in store.read("ingest/form_names", ids=[each["id"] for each in batch])
    }
