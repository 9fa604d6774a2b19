"""The rule of support on real questions: gold answers over their gold passages, and exchanged ones."""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from data_sets import Data
from tables import Section, Table

from kgplatform.readers.statements import Source
from kgplatform.readers.support import support

_NAME = re.compile(r"(?<=[a-z,] )[A-Z]\w{3,}(?: [A-Z]\w+)*")


class Asked(NamedTuple):
    """A question, its answer, and the passages that support it."""

    question: str
    answer: str
    sources: list[Source]

    @property
    def is_bare(self) -> bool:
        """Whether the answer is yes or no."""
        return self.answer.lower() in ("yes", "no")


def test_support(section: Callable[[str, str], Section], data: Data) -> None:
    found = section("support", "Support: gold answers kept, exchanged ones refused, without a language model")
    rows, seconds = [], []
    for name, asked in (("HotpotQA", list(_hotpotqa(data))), ("MuSiQue", list(_musique(data)))):
        counts = {"gold answers": [(each, each.answer) for each in asked]}
        counts["another question's answer"] = list(_from_elsewhere(asked))
        counts["another name of the same passages"] = list(_from_the_same(asked))
        for kind, pairs in counts.items():
            begun = time.process_time()
            kept = sum(support(each.question, answer, each.sources).holds for each, answer in pairs)
            seconds.append((time.process_time() - begun) / len(pairs))
            rows.append((f"{name}: {kind}", str(kept), str(len(pairs)), f"{100 * kept / len(pairs):.1f}"))
            if kind == "gold answers":
                found.add(f"{name}: gold answers kept", 100 * kept / len(pairs), "%", at_least=85)
            elif kind == "another question's answer":
                found.add(f"{name}: answers of other questions kept", 100 * kept / len(pairs), "%", at_most=5)
    found.add("processor time of one check, mean", 1000 * sum(seconds) / len(seconds), "ms")
    found.tables.append(Table("Answers kept", ("", "kept", "of", "%"), rows))


def _hotpotqa(data: Data) -> Iterator[Asked]:
    for each in data.read("hotpotqa/questions.json"):
        titles = {title for title, _ in each["supporting_facts"]}
        sources = [Source("".join(said), title) for title, said in each["context"] if title in titles]
        yield Asked(each["question"], each["answer"], sources)


def _musique(data: Data) -> Iterator[Asked]:
    for each in data.read("musique/questions.json"):
        passages = [passage for passage in each["paragraphs"] if passage["is_supporting"]]
        sources = [Source(passage["paragraph_text"], passage["title"]) for passage in passages]
        yield Asked(each["question"], each["answer"], sources)


def _from_elsewhere(asked: list[Asked]) -> Iterator[tuple[Asked, str]]:
    """Each question with the answer of another one."""
    for number, each in enumerate(asked):
        other = asked[(number * 7 + 13) % len(asked)]
        if not other.is_bare and other.answer.lower() != each.answer.lower():
            yield each, other.answer


def _from_the_same(asked: list[Asked]) -> Iterator[tuple[Asked, str]]:
    """Each question with a name that its passages have, and that neither question nor answer has."""
    chance = random.Random(7)
    for each in asked:
        text = " ".join(source.text for source in each.sources)
        told = f"{each.question} {each.answer}".lower()
        names = [name for name in _NAME.findall(text) if name.lower() not in told and each.answer not in name]
        if names and not each.is_bare:
            yield each, chance.choice(names)
