"""Corpora of any size that nobody wrote, with the statistics of MuSiQue's, and questions on them.

docs/explanation/benchmarks/growth.md tells how.

    corpus = Invented(100_000)
    corpus.write(folder)        # corpus.jsonl and recorded.jsonl, a passage at a time
    corpus.questions()          # the same ones at each size

A passage is a function of the seed and its number, so that nothing is held in memory. It has a title and some
statements; its text says these in sentences, and the recording has them as triples. The names in a statement are

- names of this passage alone, dates, numbers and phrases among them: three of five;
- thirty names that a share of all passages mentions, one passage in six the first: the countries and languages;
- names that other passages mention too, each the likelier the more do (Simon, 1955). Which: a passage's place points
  at a place before it, and that perhaps at another one, until one has a name of its own. A title is such a name.

``PLANTED`` passages are spread evenly among the others; they answer questions of one hop, or in pairs of two: the
first says who designed a thing, the second, whose title is that name, where the designer was born. Such a passage has
no names but its own, so that nothing else joins the two.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from random import Random
from typing import Any

ONE_HOP = TWO_HOP = 100
PLANTED = ONE_HOP + 2 * TWO_HOP
_STEP = 7
"""Planted passages are laid this far apart from their order, so that the two of a pair are not neighbours."""
_HUBS = 30
_HUB_SHARE, _HUB_EXPONENT = 0.16, 0.75
_PLACES = 8
_NEW_NAMES = 0.3
_FIRST_PLACES = 300
"""Places before the first passage, each with a name of its own: without them the first few names would be in all."""
_OWN, _HUB = 0.6, 0.09
_STATEMENTS, _SPREAD, _MOST_STATEMENTS = 6.9, 0.55, 45
_ASIDE, _FILLED = 0.95, 0.33
"""Sentences that begin with a name beside those of their triples; clauses that say more than their triple."""
_HUB_WEIGHTS = list(accumulate(_HUB_SHARE * rank**-_HUB_EXPONENT for rank in range(1, _HUBS + 1)))
_PREDICATES = [
    *("is", "located in", "has", "was", "includes", "born in", "stars", "is part of", "starring", "won", "held in"),
    *("written by", "features", "directed by", "released in", "became", "designed by", "died in", "represented"),
    *("served as", "established in", "consists of", "appeared in", "played for", "located near", "owned by"),
    *("bordered by", "produced by", "covers", "founded in", "hosted in", "based in", "published by", "involved"),
    *("received", "named after", "participated in", "wrote", "associated with", "founded by", "married to"),
    *("moved to", "studied at", "opposed by", "succeeded by", "known for", "formed in", "led by", "sold to"),
]
_PREDICATE_WEIGHTS = list(accumulate((rank + 2) ** -0.85 for rank in range(len(_PREDICATES))))
_VERBS = ("made", "took", "called", "brought", "gave", "kept", "found", "built", "praised", "joined", "left", "changed")
_LINKS = ("by", "in", "of", "as", "with", "for", "at", "to", "from", "under")
_OPENINGS = ("With", "Before", "After", "According to", "In the time of", "Near", "Unlike", "For")
_PARTICIPLES = ("ed", "rn", "wn", "lt", "ng", "ld", "de", "ht")
_FIRST_HOPS = (
    ("designed by", "designed"),
    ("founded by", "founded"),
    ("written by", "wrote"),
    ("directed by", "directed"),
)
_SECOND_HOPS = (
    ("born in", "Where was {} born?"),
    ("studied at", "Where did {} study?"),
    ("married to", "Who was {} married to?"),
    ("died in", "In which place did {} die?"),
)

Triple = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class InventedPassage:
    """A passage and what was recorded of it."""

    title: str
    text: str
    names: tuple[str, ...]
    triples: tuple[Triple, ...]


@dataclass(frozen=True, slots=True)
class PlantedQuestion:
    """``supports``: the titles of the passages that answer it, one or two."""

    text: str
    supports: tuple[str, ...]


class Invented:
    """A corpus of ``size`` passages; another ``seed`` is another corpus."""

    def __init__(self, size: int, seed: int = 1) -> None:
        if size < PLANTED:
            raise ValueError(f"An invented corpus has at least {PLANTED} passages.")
        self.size = size
        self._seed = seed

    def passages(self) -> Iterator[InventedPassage]:
        """All passages, in order."""
        return map(self.passage, range(self.size))

    def passage(self, number: int) -> InventedPassage:
        """The passage of this number."""
        place = number * PLANTED // self.size
        if number == -(-place * self.size // PLANTED):
            return self._planted(place * _STEP % PLANTED)
        return self._written(Random(f"{self._seed} passage {number}"), self._title(number), number)

    def questions(self) -> list[PlantedQuestion]:
        """The questions that planted passages answer, of one hop and of two by turns."""
        found = []
        for number in range(ONE_HOP):
            title, predicate, _ = self._statement(number)
            found.append(PlantedQuestion(dict(_SECOND_HOPS)[predicate].format(title), (title,)))
            thing, made, maker = self._statement(ONE_HOP + 2 * number)
            _, predicate, _ = self._statement(ONE_HOP + 2 * number + 1)
            who = f"the person who {dict(_FIRST_HOPS)[made]} {thing}"
            found.append(PlantedQuestion(dict(_SECOND_HOPS)[predicate].format(who), (thing, maker)))
        return found

    def entries(self) -> Iterator[dict[str, Any]]:
        """All passages with what was recorded of them, in the form of MuSiQue's recording."""
        for each in self.passages():
            extracted = {"extracted_entities": each.names, "extracted_triples": each.triples}
            yield {"title": each.title, "text": each.text, **extracted}

    def write(self, folder: Path) -> tuple[Path, Path]:
        """``corpus.jsonl`` with titles and texts, and ``recorded.jsonl`` with their extraction."""
        corpus, recorded = folder / "corpus.jsonl", folder / "recorded.jsonl"
        with corpus.open("w", encoding="utf-8") as texts, recorded.open("w", encoding="utf-8") as entries:
            for entry in self.entries():
                texts.write(json.dumps({"title": entry["title"], "text": entry["text"]}) + "\n")
                entries.write(json.dumps(entry) + "\n")
        return corpus, recorded

    def _planted(self, number: int) -> InventedPassage:
        statement = self._statement(number)
        return self._written(Random(f"{self._seed} planted {number}"), statement[0], None, statement)

    def _statement(self, number: int) -> Triple:
        """What the planted passage of this number says: the first of a pair, the second of it, or one hop."""
        if number < ONE_HOP:
            return self._person(number), _SECOND_HOPS[number % 4][0], self._proper(f"answer {number}")
        pair, second = divmod(number - ONE_HOP, 2)
        if second:
            return self._person(number), _SECOND_HOPS[pair // 4 % 4][0], self._proper(f"answer {number}")
        return self._proper(f"planted {number}"), _FIRST_HOPS[pair % 4][0], self._person(number + 1)

    def _person(self, number: int) -> str:
        rng = Random(f"{self._seed} person {number}")
        return " ".join(drawn_word(rng).capitalize() for _ in range(3))

    def _proper(self, key: str) -> str:
        return proper_name(f"{self._seed} {key}")

    def _title(self, number: int) -> str:
        return self._proper(f"title {number}")

    def _written(self, rng: Random, title: str, number: int | None, said: Triple | None = None) -> InventedPassage:
        """A passage about ``title``; without a ``number`` all names are its own."""
        count = min(_MOST_STATEMENTS, max(2, round(_STATEMENTS * rng.lognormvariate(0, _SPREAD))))
        triples = [said] if said else []
        names = dict.fromkeys([title, *(said or ())[2:]])
        sentences = [_clause(rng, said) + "."] if said else []
        while len(triples) < count:
            subject = title if rng.random() < 0.55 or len(names) < 2 else rng.choice(list(names))
            stated = []
            for _ in range(rng.randrange(1, 5)):
                stated.append((subject, _predicate(rng), self._name(rng, number, len(names))))
                names[stated[-1][2]] = None
            triples += stated
            aside = self._name(rng, number, len(names)) if rng.random() < _ASIDE else ""
            if aside:
                names[aside] = None
            sentences.append(_sentence(rng, subject, [_clause(rng, triple, subject) for triple in stated], aside))
        return InventedPassage(title, " ".join(sentences), tuple(names), tuple(triples))

    def _name(self, rng: Random, number: int | None, place: int) -> str:
        kind = rng.random()
        if number is None or kind < _OWN:
            return passing_name(f"{self._seed} {rng.random()}")
        if kind < _OWN + _HUB:
            return self._proper(f"hub {rng.choices(range(_HUBS), cum_weights=_HUB_WEIGHTS)[0]}")
        return self._shared(number * _PLACES + 1 + place % (_PLACES - 1))

    def _shared(self, place: int) -> str:
        """The name at a place: a title, a new one, or that of an earlier place."""
        while place >= 0:
            number, within = divmod(place, _PLACES)
            if within == 0:
                return self._title(number)
            rng = Random(f"{self._seed} place {place}")
            if rng.random() < _NEW_NAMES:
                break
            place = rng.randrange(place + _FIRST_PLACES) - _FIRST_PLACES
        return self._proper(f"shared {place}")


def _predicate(rng: Random) -> str:
    kind = rng.random()
    if kind < 0.6:
        return rng.choices(_PREDICATES, cum_weights=_PREDICATE_WEIGHTS)[0]
    middle = f"{drawn_word(rng)} " if kind > 0.8 else ""
    return f"{rng.choice(_VERBS)} {middle}{rng.choice(_LINKS)}"


def _clause(rng: Random, triple: Triple, subject: str | None = None) -> str:
    """The triple in words, with its subject unless that was said before."""
    _, predicate, object_ = triple
    first = predicate.split()[0]
    passive = " " in predicate and first.endswith(_PARTICIPLES) and first not in _VERBS
    words = f"was {predicate} {object_}" if passive else f"{predicate} {object_}"
    return words if subject else f"{triple[0]} {words}"


def _sentence(rng: Random, subject: str, clauses: list[str], aside: str) -> str:
    filled = [
        f"{each} {rng.choice(_LINKS)} the {drawn_word(rng)}" if rng.random() < _FILLED else each for each in clauses
    ]
    whole = ", ".join(filled[:-1]) + " and " + filled[-1] if len(filled) > 1 else filled[0]
    opening = f"{rng.choice(_OPENINGS)} {aside}, {subject}" if aside else subject
    return f"{opening} {whole}."


# Words are drawn from a vocabulary without end. Its first 5,000 ranks follow Zipf's law with exponent 1, as those of
# the real corpora do; the later ones fall with exponent 1.5, so that it grows with the power 2/3 of the text.


def _split(words: str) -> tuple[str, ...]:
    return tuple(words.split())


_ONSETS = _split(
    "b b c c d d f f g h h j k l l m m n n p p r r s s t t v w w z "
    "bl br ch cl cr dr fl fr gl gr kl kr pl pr qu sc sh sl sm sn sp st str sw th tr"
)
_VOWELS = _split("a a a a e e e e i i i o o o u u ai ea ee ie oa ou y")
_CODAS = ("",) * 8 + _split("b ck d g k l m m n n p r r s s t t x ft ld ll mp nd nt ng rd rk rn ss st th")
_FLAT, _KNEE, _STEEP, _TAIL = 12, 5_000, 1.5, 0.2
"""Ranks over which the commonest words are about equally common; where the exponent changes; the share beyond it."""
_LAST = 10**9
_MONTHS = _split("January February March April May June July August September October November December")
_BODIES = _split("University Company Museum Orchestra Institute Railway Party Church Club Society Army Agency Band")
_SITES = _split("County River Bridge Island Province Valley District Park Castle Lake Station Street Harbour")
_WORKS = _split("Album Story Journal Trilogy Symphony Chronicle Letters Song Game Report Prize League Treaty")


def drawn_word(rng: Random) -> str:
    """A word of the vocabulary, the commoner the likelier."""
    if rng.random() < _TAIL:
        rank = _KNEE * (1 - rng.random()) ** (-1 / (_STEEP - 1))
    else:
        rank = _FLAT * ((_FLAT + _KNEE) / _FLAT) ** rng.random() - _FLAT
    return word(min(int(rank), _LAST))


@lru_cache(100_000)
def word(rank: int) -> str:
    """The word of this rank; common ones are short."""
    rng = Random(f"word {rank}")
    count = 1 + (rank > 40) + (rank > 20_000) + (rng.random() < 0.25)
    return "".join(_syllable(rng) for _ in range(count))


def _syllable(rng: Random) -> str:
    return rng.choice(_ONSETS) + rng.choice(_VOWELS) + rng.choice(_CODAS)


def proper_name(key: str) -> str:
    """What a passage can be about, for a ``key``: a person, a place, a body or a work."""
    rng = Random(f"name {key}")
    first, second, third = (drawn_word(rng).capitalize() for _ in range(3))
    kind = rng.random()
    if kind < 0.35:
        return f"{first} {second}" if rng.random() < 0.7 else f"{first} {third} {second}"
    if kind < 0.6:
        return f"{first}{drawn_word(rng)}"
    if kind < 0.75:
        return f"{first} {rng.choice(_SITES)}"
    if kind < 0.9:
        return f"{first} {rng.choice(_BODIES)}" if rng.random() < 0.5 else f"{rng.choice(_BODIES)} of {first} {second}"
    return f"{first} {second} {rng.choice(_WORKS)}"


def passing_name(key: str) -> str:
    """What one passage mentions, for a ``key``: a name, a date, a number of things, or a phrase."""
    rng = Random(f"passing {key}")
    kind = rng.random()
    if kind < 0.3:
        return proper_name(key)
    if kind < 0.38:
        return str(int(2019 - 260 * rng.random() ** 2))
    if kind < 0.47:
        return f"{rng.randrange(1, 29)} {rng.choice(_MONTHS)} {int(2019 - 150 * rng.random() ** 2)}"
    if kind < 0.55:
        return f"{int(10 ** (1 + 5 * rng.random())):,} {drawn_word(rng)}s"
    words = [drawn_word(rng) for _ in range(rng.choice((1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 4, 5, 7)))]
    return " ".join(words) if len(words) < 3 else f"{' '.join(words[:-2])} of the {' '.join(words[-2:])}"
