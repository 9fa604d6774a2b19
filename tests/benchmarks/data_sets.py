"""The data of the benchmarks: corpora as files for ``ingest``, questions with the passages that answer them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kgplatform.records import Passage

TITLE, TEXT = 0, 1
Gold = tuple[str, str]
"""Title and text of a supporting passage; the text is empty where the title alone tells it."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question, and its supporting passages."""

    text: str
    gold: tuple[Gold, ...]


class Data:
    """The folder of the data sets; a benchmark that needs one that is not there is skipped."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def file(self, name: str) -> Path:
        """The path of ``name``, such as ``musique/corpus.json``; skips the test if it does not exist."""
        path = self._folder / name
        if not path.exists():
            pytest.skip(f"The data is not there: {path}. KGPLATFORM_BENCH_DATA names the folder that holds {name}.")
        return path

    def read(self, name: str) -> Any:
        """The content of the JSON file ``name``."""
        return json.loads(self.file(name).read_text("utf-8"))

    def musique_questions(self) -> list[Question]:
        """MuSiQue: the supporting paragraphs, by title and text."""
        return [
            Question(
                each["question"],
                tuple((p["title"], p["paragraph_text"]) for p in each["paragraphs"] if p["is_supporting"]),
            )
            for each in self.read("musique/questions.json")
        ]

    def musique_warm_ups(self, count: int) -> list[str]:
        """First parts of questions, as the data set takes them apart: like the questions, and none of them."""
        return [each["question_decomposition"][0]["question"] for each in self.read("musique/questions.json")[:count]]

    def hotpotqa_questions(self) -> list[Question]:
        """HotpotQA: the paragraphs with supporting facts, by title, which no two paragraphs here share."""
        return [
            Question(each["question"], tuple((title, "") for title in sorted({t for t, _ in each["supporting_facts"]})))
            for each in self.read("hotpotqa/questions.json")
        ]

    def hotpotqa_corpus(self, folder: Path) -> Path:
        """The paragraphs of all questions as one corpus file in ``folder``, each once."""
        paragraphs = dict.fromkeys(
            (title, "".join(sentences))
            for question in self.read("hotpotqa/questions.json")
            for title, sentences in question["context"]
        )
        return write_corpus(folder / "hotpotqa.json", [{"title": a, "text": b} for a, b in paragraphs])


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run finds its data and its parts. ``vectors``: the file that keeps them, if it was asked for."""

    folder: Path
    data: Data
    jars: Path
    vectors: Path | None


def write_corpus(file: Path, items: Sequence[dict[str, Any]]) -> Path:
    """``items`` as a JSON file; returns it."""
    file.write_text(json.dumps(items, ensure_ascii=False), "utf-8")
    return file


def recall(questions: Sequence[Question], results: Iterable[Sequence[Passage]], cuts: Sequence[int]) -> list[float]:
    """Percent of supporting passages among the first ``k`` results, averaged over the questions, for each cut ``k``.

    A result is a chunk; a supporting passage that was cut into several chunks is found with any of them.
    """
    shares = [_shares(question, list(found), cuts) for question, found in zip(questions, results, strict=True)]
    return [100 * sum(share[at] for share in shares) / len(shares) for at in range(len(cuts))]


def _shares(question: Question, found: list[Passage], cuts: Sequence[int]) -> list[float]:
    return [
        sum(any(_is(each, gold) for each in found[:k]) for gold in question.gold) / len(question.gold) for k in cuts
    ]


def _is(passage: Passage, gold: Gold) -> bool:
    text = _squeezed(gold[TEXT])
    return _squeezed(passage.title) == _squeezed(gold[TITLE]) and (not text or _squeezed(passage.text) in text)


def _squeezed(text: str) -> str:
    return re.sub(r"\s+", "", text)
