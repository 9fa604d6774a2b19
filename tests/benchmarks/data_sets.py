"""The data of the benchmarks: corpora as files for ``ingest``, questions with the passages that answer them."""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import two_wiki

from kgplatform.evaluate.datasets import load
from kgplatform.evaluate.datasets import write_corpus as write_data_set
from kgplatform.evaluate.metrics import ranks, recall_at
from kgplatform.evaluate.terms import Question
from kgplatform.records import FoundPassage


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

    def has(self, name: str) -> bool:
        """Whether ``name`` is there."""
        return (self._folder / name).exists()

    def read(self, name: str) -> Any:
        """The content of the JSON file ``name``."""
        return json.loads(self.file(name).read_text("utf-8"))

    def musique_questions(self) -> list[Question]:
        """MuSiQue: the supporting paragraphs, by title and text, and the parts of each question."""
        return list(load(self.file("musique/questions.json").parent).questions)

    def musique_warm_ups(self, count: int) -> list[str]:
        """First parts of questions, as the data set takes them apart: like the questions, and none of them."""
        return [each["question_decomposition"][0]["question"] for each in self.read("musique/questions.json")[:count]]

    def two_wiki_questions(self) -> list[Question]:
        """Questions made by templates over 2Wiki's passages: the data set's own are not there."""
        return two_wiki.questions(self.read("2wiki/corpus.json"))

    def hotpotqa_questions(self) -> list[Question]:
        """HotpotQA: the paragraphs with supporting facts."""
        return list(load(self.file("hotpotqa/questions.json").parent).questions)

    def hotpotqa_texts(self) -> list[str]:
        """The texts of those paragraphs, each once."""
        return list(dict.fromkeys(each.text for each in load(self.file("hotpotqa/questions.json").parent).corpus))

    def medical_questions(self) -> list[Question]:
        """Those about the medical text; which part of it answers them is not told."""
        return [Question(str(n), each["question"]) for n, each in enumerate(self.read("medical/questions.json"))]

    def hotpotqa_corpus(self, folder: Path) -> Path:
        """The paragraphs of all questions as one corpus file in ``folder``, each once."""
        return write_data_set(load(self.file("hotpotqa/questions.json").parent), folder / "hotpotqa.jsonl")


@dataclass(frozen=True, slots=True)
class Place:
    """Where a run finds its data and its parts."""

    folder: Path
    data: Data
    jars: Path


def write_corpus(file: Path, items: Sequence[dict[str, Any]]) -> Path:
    """``items`` as a JSON file; returns it."""
    file.write_text(json.dumps(items, ensure_ascii=False), "utf-8")
    return file


def recall(
    questions: Sequence[Question], results: Iterable[Sequence[FoundPassage]], cuts: Sequence[int]
) -> list[float]:
    """Percent of supporting passages among the first ``k`` results, averaged over the questions, for each cut ``k``.

    A result is a passage; a supporting passage that was cut into several passages is found with any of them.
    """
    found = [ranks(each.supports, list(passages)) for each, passages in zip(questions, results, strict=True)]
    return [100 * sum(recall_at(each, cut) for each in found) / len(found) for cut in cuts]
