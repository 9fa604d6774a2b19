"""Long invented texts with needles in them, and questions about the needles: for GraphReader.

    hay = single_needles(8_000, depths=15)
    hay.text, hay.needles[0].question, hay.needles[0].answer

A needle says ``The X of Y is Z.`` A text of ``single_needles`` has one for each depth, each about something else, so
that the others are distractors of the same form for each question.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgplatform.evaluate.needles import filler, invented_name, paragraphs
from kgplatform.records import Document
from kgplatform.sources.cut import cut_document
from kgplatform.text import count_tokens

_SECRETS = ("password", "crest", "motto", "emblem", "colour", "anthem")


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
    sentences = list(filler(chance, tokens - count_tokens(" ".join(said for said, _, _ in facts))))
    places = [round(each * len(sentences) / (depths - 1)) if depths > 1 else 0 for each in range(depths)]
    for (said, _, _), place in sorted(zip(facts, places, strict=True), key=lambda each: -each[1]):
        sentences.insert(place, said)
    text = _text(sentences)
    return Haystack(text, tuple(Needle(asked, told, text.index(said) / len(text)) for said, asked, told in facts))


def joined_needles(tokens: int, seed: int = 0) -> Haystack:
    """Two needles far apart, which only one name joins: neither answers the question alone."""
    chance = random.Random(f"{seed}/{tokens}/joined")
    sentences = list(filler(chance, tokens))
    relic, keeper = f"{invented_name(chance)} Lantern", f"{invented_name(chance)} {invented_name(chance)}"
    home = invented_name(chance)
    sentences.insert(len(sentences) // 8, f"The keeper of the {relic} is {keeper}.")
    sentences.insert(len(sentences) * 7 // 8, f"The birthplace of {keeper} is {home}.")
    text = _text(sentences)
    asked = f"What is the birthplace of the keeper of the {relic}?"
    return Haystack(text, (Needle(asked, home, text.index(f"of {keeper}") / len(text)),))


def cut_needle(tokens: int, passage_tokens: int, seed: int = 0) -> Haystack:
    """A needle of two sentences with a passage's border between them: the second says the answer, and names nothing.

    Raises ``AssertionError`` if no place in the text puts a border there.
    """
    chance = random.Random(f"{seed}/{tokens}/cut")
    sentences = list(filler(chance, tokens))
    owner, word = f"Baron {invented_name(chance)}", invented_name(chance).lower()
    first, second = f"The password of {owner} was changed by night.", f"Since then it is {word}."
    for place in range(len(sentences) // 2, len(sentences)):
        text = _text([*sentences[:place], first, second, *sentences[place:]])
        passages = cut_document(Document("d", "d", "d", "d", text, ""), passage_tokens)
        if any(passage.text.rstrip().endswith(first) for passage in passages):
            return Haystack(text, (Needle(f"What is the password of {owner}?", word, text.index(first) / len(text)),))
    raise AssertionError("no passage of this text ends where it was to end")


def _facts(chance: random.Random, count: int) -> Iterator[tuple[str, str, str]]:
    """Sentence, question and answer; all owners and answers differ."""
    seen: set[str] = set()
    while len(seen) < 2 * count:
        owner, answer = f"Baron {invented_name(chance)}", invented_name(chance).lower()
        if owner in seen or answer in seen:
            continue
        seen.update((owner, answer))
        secret = _SECRETS[len(seen) // 2 % len(_SECRETS)]
        yield f"The {secret} of {owner} is {answer}.", f"What is the {secret} of {owner}?", answer


def _text(sentences: Sequence[str]) -> str:
    return "\n\n".join(paragraphs(sentences))
