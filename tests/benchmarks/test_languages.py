"""Whether questions in other languages than English find the passage that answers them.

The questions and paragraphs are people's: XQuAD (the same 240 paragraphs of Wikipedia, translated by people), JSQuAD
and KorQuAD (Japanese and Korean Wikipedia). Of each question one paragraph is right, that which it was asked about.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from data_sets import Data, Place, recall, write_corpus
from graphs import MODEL, new_graph
from tables import Section, Table

from kgplatform import FoundPassage, KnowledgeGraph
from kgplatform.evaluate.terms import Question, Text
from kgplatform.text.languages import NAMES, language_of

FILES = {
    **{code: f"xquad/xquad.{code}.json" for code in ("en", "de", "es", "ru", "ar", "hi", "tr", "th", "zh")},
    "ja": "jsquad/valid-v1.3.json",
    "ko": "korquad/KorQuAD_v1.0_dev.json",
}
"""In the folder of the data sets; those that are not there are left out. The files of the repositories
google-deepmind/xquad, yahoojapan/JGLUE (datasets/jsquad-v1.3) and korquad/korquad.github.io (dataset)."""
PARAGRAPHS = 240
QUESTIONS = 120
CUTS = (1, 5, 10)
ROUTES = ("dense", "bm25", "all")


@dataclass(frozen=True, slots=True)
class Asked:
    """A language's paragraphs and the questions about them."""

    paragraphs: list[str]
    questions: list[Question]


def test_languages(section: Callable[[str, str], Section], place: Place, data: Data) -> None:
    found = section("languages", "Search in other languages: the paragraph that a question was asked about")
    rows, fits = [], []
    for code in FILES:
        try:
            asked = _asked(data, code)
        except pytest.skip.Exception:
            continue
        with new_graph(place, f"language-{code}", embedder=MODEL) as graph:
            corpus = [{"title": str(number), "text": text} for number, text in enumerate(asked.paragraphs, start=1)]
            graph.ingest(write_corpus(place.folder / f"{code}.json", corpus), extractor="local")
            for route in ROUTES:
                rows.append((NAMES[code], route, *_recall(graph, asked.questions, route)))
            found.add(f"{NAMES[code]}: R@5, all", float(rows[-1][3]), "%", at_least=95)
            fits.append((NAMES[code], *_said(graph, asked.questions, code)))
    if not rows:
        pytest.skip("None of the files of tests/benchmarks/test_languages.py is in the folder of the data sets.")
    found.tables.append(
        Table(f"Recall with {MODEL}", ("language", "route", *(f"R@{cut}" for cut in CUTS), "questions"), rows)
    )
    found.tables.append(
        Table(
            "What is told, of questions that have an answer", ("language", "language known", "told: nothing fits"), fits
        )
    )


def _asked(data: Data, code: str) -> Asked:
    paragraphs: list[str] = []
    asked: list[tuple[str, int]] = []
    for article in data.read(FILES[code])["data"]:
        for paragraph in article["paragraphs"]:
            if len(paragraphs) < PARAGRAPHS:
                asked += [(each["question"], len(paragraphs)) for each in paragraph["qas"]]
                paragraphs.append(paragraph["context"].rpartition(" [SEP] ")[2])  # JSQuAD puts the title before
    chosen = asked[:: max(1, len(asked) // QUESTIONS)][:QUESTIONS]
    questions = [
        Question(str(number), text, supports=(Text(str(at + 1), paragraphs[at]),))
        for number, (text, at) in enumerate(chosen)
    ]
    return Asked(paragraphs, questions)


def _recall(graph: KnowledgeGraph, questions: Sequence[Question], route: str) -> list[str]:
    results = (_searched(graph, each, route) for each in questions)
    return [*(f"{share:.1f}" for share in recall(questions, results, CUTS)), str(len(questions))]


def _searched(graph: KnowledgeGraph, question: Question, route: str) -> Sequence[FoundPassage]:
    return graph.search(question.text, route=route, top_k=max(CUTS)).passages


def _said(graph: KnowledgeGraph, questions: Sequence[Question], code: str) -> list[str]:
    """Percent of questions whose language is known, and of those told that no passage is likely to hold the answer."""
    known = sum(language_of(each.text) == code for each in questions)
    wrongly = sum(graph.search(each.text).fits is False for each in questions)
    return [f"{100 * number / len(questions):.1f}" for number in (known, wrongly)]
