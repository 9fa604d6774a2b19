"""When two names mean one thing: by the names alone, and in the graph for key elements.

``best_name``: what an entity is called of all the names that passages use.

``are_alike``: entities that are likely the same (``SAME_AS``). Whether two names are alike depends on the two alone,
never on what else is in the graph, so that adding and removing documents in any order gives the same edges. Like names
share properties (``found_by``), by which the graph finds them (``ingest.settle``). Two names are alike if, accents,
case and punctuation apart,

- they have the same words, titles apart, which may be turned around a comma ("Obama, Barack", "Barack Obama"),
- one has middle names that the other leaves out ("Cyrus West Field", "Cyrus Field"), or
- they are spelt nearly alike, their consonants the same ("Mendeleev", "Mendeleyev"),

their types may be of one thing, and the name tells it from others: one word seldom does. What a passage says of two
names goes before that (``extract.aliases``): "Kelvin" is Lord Kelvin where most passages that name him say so.

``settle_forms``: which key elements are one thing in different words (``FORM_OF``): the nodes of GraphReader (section
3.2, normalisation). Stage 1 joins what has one stem (``stem_of``), entities included, whatever their types. Stage 2
joins by meaning what is not an entity, with its like or with one entity's group. Groups are a function of the elements
and pairs that are there, not of the order in which they came, and nothing is merged: a member points at the
representative, which bears the group's name.

What is settled holds for itself: its groups are those of a graph without what is pending. So pending elements come in
some at a time, and only what they could join is read with them. A group whose members stay among themselves beside all
that it is paired with is right, whatever lies beyond; one that would take in others is looked at again with these.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from itertools import permutations

from rapidfuzz import fuzz

from kgplatform.extract.aliases import TITLES, are_of_one_kind, may_be_one_person
from kgplatform.extract.lexicon import DAYS, GIVEN_NAMES, LAST_WORDS, MONTHS, PEOPLES, WORDS, is_common
from kgplatform.neo4j.store import Parameters, Row, Store
from kgplatform.query import batches
from kgplatform.records import Progress
from kgplatform.text import normalise_name

_WORD = re.compile(r"[^\W_]+")
_UNSAID = frozenset(("the", "a", "an", "of", "and"))
_VOWELS = str.maketrans("", "", "aeiouy")
_FEWEST_CONSONANTS = 4
_LEAST_RATIO = 85.0
_LONG_NAME = 6


def best_name(forms: Iterable[str]) -> tuple[str, list[str]]:
    """The form that most passages use (then the first in order), and the others: a function of the set of mentions."""
    counts = Counter(forms)
    ranked = sorted(counts, key=lambda form: (-counts[form], form))
    return ranked[0], sorted(ranked[1:])


Words = tuple[str, ...]
"""The words of a name, sorted, without accents and without words that say nothing."""
Named = tuple[str, str | None]
"""The normalised name of an entity, and its type."""


def are_alike(one: Named, other: Named) -> bool:
    """Whether two entities are called alike, by their names and types alone.

    >>> are_alike(("obama, barack", "Person"), ("barack obama", None)), are_alike(("apollo 11", None), ("apollo", None))
    (True, False)
    """
    (mine, my_title), (theirs, their_title) = _untitled(one[0]), _untitled(other[0])
    is_told = my_title and their_title and my_title != their_title
    if is_told or not are_of_one_kind(one[1], other[1]) or not (_tells(mine) or _tells(theirs)):
        return False
    if sorted(mine) == sorted(theirs):
        is_work = "Work" in (one[1], other[1]) or one[1] == other[1] is None
        if is_work and (one[1] != other[1] or _plain_words(one[0]) != _plain_words(other[0])):
            return one[1] == other[1] is None and one[0] == other[0]
        return mine == theirs or _may_turn(one[0], other[0], mine)
    consonants = consonants_of(_outer(mine))
    if not consonants or consonants != consonants_of(_outer(theirs)):
        return False
    if len(mine) != len(theirs) and _outer(mine) == _outer(theirs):
        return {one[1], other[1]} <= {"Person", None} and may_be_one_person(one[0], other[0])
    if "".join(mine) == "".join(theirs):
        return len("".join(mine)) >= _LONG_NAME
    differing = [pair for pair in zip(mine, theirs, strict=False) if pair[0] != pair[1]]
    if len(mine) != len(theirs) or len(differing) > 1:
        return False
    return _spelt_alike(*differing[0], alone=len(mine) == 1)


def _outer(words: list[str]) -> list[str]:
    """The words of a name without what stands between a given name and the last: Cyrus West Field is Cyrus Field."""
    return [words[0], words[-1]] if len(words) in (3, 4) and words[0] in GIVEN_NAMES else words


def _tells(words: Sequence[str]) -> bool:
    """Whether a name is of one thing mostly: one word is of many, or a rare one, and so are two given names."""
    full = [word for word in words if len(word) > 2 and not _ROMAN.fullmatch(word)]
    return (len(full) > 1 and not GIVEN_NAMES.issuperset(words)) or len("".join(full)) > _LONG_NAME + 2


def _untitled(key: str) -> tuple[list[str], frozenset[str]]:
    """The words of a name in order, without its titles, and these; a title before one word alone, or before "of", is a
    part of it."""
    plain = _plain_words(key)
    words = [word for word in plain if word not in _UNSAID]
    for count in (1, 2):
        if len(words) < count or words[count - 1] not in TITLES or plain[count : count + 1] == ["of"]:
            break
        if sum(not _ROMAN.fullmatch(word) for word in words[count:]) > 1:
            return words[count:], frozenset(words[:count])
    return words, frozenset()


def _may_turn(one: str, other: str, words: Sequence[str]) -> bool:
    """Whether the same words in another order are one name: around a comma or "of", or of a given name and another."""
    turned = ("," in one) != ("," in other) or (" of " in one) != (" of " in other)
    given = sum(word in GIVEN_NAMES for word in words)
    return turned or (len(words) == 2 and given == 1 and not TITLES.intersection(words))


def _spelt_alike(one: str, other: str, *, alone: bool) -> bool:
    """Whether two words are spelt nearly alike: a vowel inside may differ, or how often a consonant is written, not how
    they end, which tells Antonio from Antonia; and they are no ordinary words."""
    shortest, least = (_LONG_NAME + 3, _LEAST_RATIO + 8) if alone else (_LONG_NAME - 1, _LEAST_RATIO)
    ends = [(word[0], word[-1].replace("y", "i")) for word in (one, other)]
    fits = ends[0] == ends[1] and min(len(one), len(other)) >= shortest and abs(len(one) - len(other)) < 2
    is_told = any(_ROMAN.fullmatch(word) or _HAS_DIGIT.search(word) or is_common(word) for word in (one, other))
    return fits and not is_told and fuzz.ratio(one, other) >= least


def words_of(name: str) -> Words:
    """The words of a normalised name, without titles."""
    return tuple(sorted(_untitled(name)[0] or _plain_words(name)))


def _plain_words(name: str) -> list[str]:
    return _WORD.findall("".join(c for c in unicodedata.normalize("NFKD", name) if not unicodedata.combining(c)))


def consonants_of(words: Sequence[str]) -> str:
    """The consonants of a name in Latin letters, doubles folded; empty if they are too few to mean anything."""
    joined = "".join(words)
    if not joined.isascii():
        return ""
    bare = joined.translate(_VOWELS)
    folded = "".join(c for position, c in enumerate(bare) if position == 0 or bare[position - 1] != c)
    return folded if len(folded) >= _FEWEST_CONSONANTS and not folded.isdigit() else ""


def counted_words(words: Words) -> str:
    """``words`` as a property, with how many they are.

    >>> counted_words(words_of("obama, barack"))
    '#2 barack obama'
    """
    return " ".join((f"#{len(words)}", *words))


def found_by(key: str) -> dict[str, str | None]:
    """The properties by which an entity of this normalised name is found; None for what it does not have."""
    words = words_of(key)
    return {
        "stem": stem_of(key),
        "nameWords": counted_words(words) if words else None,
        "consonants": consonants_of(_outer(_untitled(key)[0])) or None,
    }


_POSSESSIVE = re.compile(r"(?<=[^\W\d_])['’]s?(?=\s|\Z)")
_DASHES = dict.fromkeys(map(ord, "\u2010\u2011\u2012\u2013\u2014\u2212"), "-")
# What stands between digits, or as a sign before or behind them, belongs to the number.
_IN_NUMBER = re.compile(r"(?<=\d)[^\w\s](?=\d)|(?<=\d)[%‰](?!\w)|(?<!\S)-(?=\d)|#(?=\d)")
_HAS_NUMBER = re.compile(r"[\d#]")
_LETTERS = re.compile(r"[^\W\d_]+")
_LATIN = re.compile(r"[a-z\u00df-\u00f6\u00f8-\u024f]+")
_HAS_DIGIT = re.compile(r"\d")
_ROMAN = re.compile(r"[ivx]+")
_SHORTEST = 4
_NO_PLURALS = WORDS["no plurals"]
_TELLING = DAYS | MONTHS | WORDS["opposites"]
_SIBILANT = re.compile(r"(?:ss|x|ch|sh)es\Z")
_SILENT_E = re.compile(r"(?:[^s]s|z|ch|sh)e\Z")
_IES = {"movies": "movie", "calories": "calorie", "cookies": "cookie", "zombies": "zombie", "genies": "genie"}


class _Spaces(dict[int, int]):
    """Punctuation to space, found once per character."""

    def __missing__(self, code: int) -> int:
        self[code] = found = ord(" ") if unicodedata.category(chr(code)).startswith("P") else code
        return found


_SPACES = _Spaces()


def stem_of(name: str, forms: Iterable[str] = ()) -> str:
    """What all forms of ``name`` have in common; never empty for a name that is not. ``forms``: as passages write it.

    Compatibility forms and case folded, punctuation to space, and each English plural to its singular; but not of a
    proper name, whose last word every passage writes with a capital, unless it is a people or says of what kind it is:
    William and Williams are two, Greeks and Greek, Academy Awards and Academy Award are not. More is not taken away: a
    Porter stem joins organ with organization, and a rule for -ed and -ing hard with Harding.

    >>> stem_of("Hard-Rock  Bands"), stem_of("Alzheimer's disease"), stem_of("World War II"), stem_of("1,000")
    ('hard rock band', 'alzheimer disease', 'world war ii', '1,000')
    """
    key = normalise_name(name)
    words = _words(key)
    if is_proper(forms):
        last = [_singular(word) for word in words[-1:]]
        is_kind = PEOPLES.issuperset(last) or (len(words) > 1 and last[0] in LAST_WORDS)
        return " ".join([*words[:-1], *last] if is_kind else words) or key
    return " ".join(map(_singular, words)) or key


def is_proper(forms: Iterable[str]) -> bool:
    """Whether all ``forms``, of which there is one, have a capital in their last word.

    >>> is_proper(["Williams"]), is_proper(["Virus", "virus"]), is_proper(["HIV viruses"]), is_proper([])
    (True, False, False, False)
    """
    last = [_LETTERS.findall(_POSSESSIVE.sub("", form))[-1:] for form in forms]
    return bool(last) and all(words and words[0][0].isupper() for words in last)


def may_be_one(name: str, other: str) -> bool:
    """Whether numbers, single letters and words of opposite meaning agree in two normalised names.

    >>> may_be_one("stage ii", "stage iii"), may_be_one("hard rock trio", "hard rock band")
    (False, True)
    """
    mine, theirs = (
        sorted(
            word
            for word in _words(each)
            if len(word) == 1 or _HAS_DIGIT.search(word) or word in _TELLING or _ROMAN.fullmatch(word)
        )
        for each in (name, other)
    )
    return mine == theirs


def _words(key: str) -> list[str]:
    """The words of a normalised name; symbols such as + and what belongs to a number are kept, punctuation is not."""
    plain = _POSSESSIVE.sub("", key.translate(_DASHES))
    if not _HAS_NUMBER.search(plain):
        return plain.translate(_SPACES).split()
    kept = {found.start() for found in _IN_NUMBER.finditer(plain)}
    letters = []
    for place, letter in enumerate(plain):
        is_sharp = letter == "#" and plain[max(0, place - 1) : place].isalpha()  # as in C#, where it parts no words
        parts = place not in kept and not is_sharp and unicodedata.category(letter).startswith("P")
        letters.append(" " if parts else letter)
    return "".join(letters).split()


def _singular(word: str) -> str:
    """The singular of an English noun, also for words that are none; words in other scripts stay (after Harman, 1991,
    "How effective is suffixing?", with the plurals on -es that sibilants take)."""
    if len(word) < _SHORTEST or word in _NO_PLURALS or not _LATIN.fullmatch(word):
        return word
    bare = _without_s(word)
    # Without the e behind a sibilant: whether it is the plural's own or the word's cannot be told.
    return bare[:-1] if len(bare) > _SHORTEST and _SILENT_E.search(bare) else bare


def _without_s(word: str) -> str:
    if word in _IES:
        return _IES[word]
    if not word.endswith("s") or word.endswith(("ss", "us", "is")):
        return word
    if word.endswith("ies") and len(word) > _SHORTEST:
        return word[:-3] + "y"
    if _SIBILANT.search(word) or (word.endswith("uses") and len(word) > _SHORTEST + 2 and word[-5] not in "aou"):
        return word[:-2]
    return word[:-1]


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
    """The edges of a group: from each member to the representative. That is the name that most passages mention, then
    the shortest, then the first in order."""
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


@dataclass(frozen=True, slots=True)
class _Known:
    """Key elements as they are read, by id, with all that decides their groups."""

    store: Store
    rows: dict[str, Row] = field(default_factory=dict)

    def read(self, ids: Iterable[str]) -> None:
        """Read what is not known yet."""
        for some in batches(sorted(set(ids) - self.rows.keys())):
            self.rows.update((row["id"], row) for row in self.store.read("ingest/form_elements", ids=some))

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


def _settle_some(store: Store, ids: set[str]) -> None:
    known = _Known(store)
    known.read(ids)
    inside = known.whole(id_ for id_ in ids & known.rows.keys() if known.rows[id_]["pending"])
    while True:
        # The settled groups that these are paired with; others are pending, and will look at these in their turn.
        ends = {end for id_ in inside for end, _, is_pending in known.rows[id_]["pairs"] if not is_pending}
        near = known.whole(ends - inside) - inside
        near -= known.whole(id_ for id_ in near if known.rows[id_]["pending"])
        # The groups of all these, as if there were nothing else.
        here = {id_: known.rows[id_] for id_ in inside | near}
        elements = {id_: KeyElement(row["stem"], row["isEntity"]) for id_, row in here.items()}
        pairs = ((score, id_, end) for id_, row in here.items() for end, score, _ in row["pairs"] if id_ < end)
        found = groups(elements, pairs)
        mixed = {id_ for group in found if not inside.isdisjoint(group.members) for id_ in group.members} - inside
        if not mixed:
            break
        inside |= known.whole(mixed)
    rows = {id_: known.rows[id_] for id_ in sorted(inside)}
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
    """In one transaction, since groups that are half written would pass for settled ones. Where that is too large for
    one, all that is ``touched`` is pending first, until all is written."""
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
