"""Long invented texts with needles in them, and questions about the needles. Everything is made here from word lists.

    hay = single_needles(8_000, depths=15)
    hay.text, hay.needles[0].question, hay.needles[0].answer

A needle says ``The X of Y is Z.`` A text of ``single_needles`` has one for each depth, each about something else, so
that the others are distractors of the same form for each question.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgplatform.build.chunk import chunk_document
from kgplatform.records import Document
from kgplatform.text import count_tokens


def _listed(text: str, between: str = " ") -> list[str]:
    return text.split(between)


_SYLLABLES = _listed(
    "ba dor el fin gar hol im jas kel lor mun nev os pra quil ras sol tem ul vor wyn yar zel bri cath dun"
)
_TITLES = _listed("Captain Doctor Widow Abbot Mayor Smith Scribe Miller")
_THINGS = _listed("harbour orchard mill tower bridge library market granary chapel foundry lighthouse quarry")
_DEEDS = _listed("repaired painted sold visited measured described praised rented guarded inherited")
_TIMES = _listed("in spring;before the harvest;after the flood;on a Sunday;at noon;in the third year", ";")
_ASIDES = (
    "Nobody wrote down why.",
    "The rain had come early that year.",
    "It was spoken of for a long time.",
    "Some said otherwise, but they were few.",
    "The accounts of that season are lost.",
)
_SECRETS = _listed("password crest motto emblem colour anthem")


@dataclass(frozen=True, slots=True)
class Needle:
    """A question, its answer, and where the sentence that answers it begins, as a share of the text."""

    question: str
    answer: str
    depth: float


@dataclass(frozen=True, slots=True)
class Haystack:
    """A text and what is hidden in it."""

    text: str
    needles: tuple[Needle, ...]

    @property
    def tokens(self) -> int:
        """As the platform counts them."""
        return count_tokens(self.text)


def single_needles(tokens: int, depths: int = 15, seed: int = 0) -> Haystack:
    """About ``tokens`` of text with a needle at each of ``depths`` even depths, the first and the last sentence too."""
    chance = random.Random(f"{seed}/{tokens}")
    facts = list(_facts(chance, depths))
    sentences = _filler(chance, tokens - count_tokens(" ".join(said for said, _, _ in facts)))
    places = [round(each * len(sentences) / (depths - 1)) if depths > 1 else 0 for each in range(depths)]
    for (said, _, _), place in sorted(zip(facts, places, strict=True), key=lambda each: -each[1]):
        sentences.insert(place, said)
    text = _paragraphs(sentences)
    return Haystack(text, tuple(Needle(asked, told, text.index(said) / len(text)) for said, asked, told in facts))


def joined_needles(tokens: int, seed: int = 0) -> Haystack:
    """Two needles far apart, which only one name joins: neither answers the question alone."""
    chance = random.Random(f"{seed}/{tokens}/joined")
    sentences = _filler(chance, tokens)
    relic, keeper, home = f"{_name(chance)} Lantern", f"{_name(chance)} {_name(chance)}", _name(chance)
    sentences.insert(len(sentences) // 8, f"The keeper of the {relic} is {keeper}.")
    sentences.insert(len(sentences) * 7 // 8, f"The birthplace of {keeper} is {home}.")
    text = _paragraphs(sentences)
    asked = f"What is the birthplace of the keeper of the {relic}?"
    return Haystack(text, (Needle(asked, home, text.index(f"of {keeper}") / len(text)),))


def cut_needle(tokens: int, chunk_tokens: int, seed: int = 0) -> Haystack:
    """A needle of two sentences with a chunk's border between them: the second says the answer, and names nothing.

    Raises ``AssertionError`` if no place in the text puts a border there.
    """
    chance = random.Random(f"{seed}/{tokens}/cut")
    sentences = _filler(chance, tokens)
    owner, word = f"Baron {_name(chance)}", _name(chance).lower()
    first, second = f"The password of {owner} was changed by night.", f"Since then it is {word}."
    for place in range(len(sentences) // 2, len(sentences)):
        text = _paragraphs([*sentences[:place], first, second, *sentences[place:]])
        chunks = chunk_document(Document("d", "d", "d", "d", text, ""), chunk_tokens)
        if any(chunk.text.rstrip().endswith(first) for chunk in chunks):
            return Haystack(text, (Needle(f"What is the password of {owner}?", word, text.index(first) / len(text)),))
    raise AssertionError("no chunk of this text ends where it was to end")


def _facts(chance: random.Random, count: int) -> Iterator[tuple[str, str, str]]:
    """Sentence, question and answer; all owners and answers differ."""
    seen: set[str] = set()
    while len(seen) < 2 * count:
        owner, answer = f"Baron {_name(chance)}", _name(chance).lower()
        if owner in seen or answer in seen:
            continue
        seen.update((owner, answer))
        secret = _SECRETS[len(seen) // 2 % len(_SECRETS)]
        yield f"The {secret} of {owner} is {answer}.", f"What is the {secret} of {owner}?", answer


def _filler(chance: random.Random, tokens: int) -> list[str]:
    """Sentences about invented people and places; names come back, the more the longer the text is."""
    people = [f"{chance.choice(_TITLES)} {_name(chance)}" for _ in range(max(4, tokens // 60))]
    places = [_name(chance) for _ in range(max(3, tokens // 120))]
    sentences: list[str] = []
    while tokens > 0:
        said = (
            f"{chance.choice(people)} {chance.choice(_DEEDS)} the {chance.choice(_THINGS)} at {chance.choice(places)} "
            f"{chance.choice(_TIMES)}."
        )
        sentences.append(said if chance.random() < 0.7 else chance.choice(_ASIDES))
        tokens -= count_tokens(sentences[-1])
    return sentences


def _name(chance: random.Random) -> str:
    return "".join(chance.choice(_SYLLABLES) for _ in range(chance.choice((2, 3, 3)))).capitalize()


def _paragraphs(sentences: Sequence[str], size: int = 6) -> str:
    return "\n\n".join(" ".join(sentences[at : at + size]) for at in range(0, len(sentences), size))
