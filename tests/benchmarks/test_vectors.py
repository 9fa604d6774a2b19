"""The vector index of passages on real texts by a real model: what filling it costs, and what it loses.

Hashed words, which other benchmarks of large graphs use for speed, lie unlike any model's vectors: their nearest
neighbours are hard to find, and say nothing of what a user's search loses.
"""

import re
from collections.abc import Callable, Sequence
from random import Random
from typing import Any

from corpora import put_jsonl
from data_sets import Data, Place
from graphs import MODEL
from measure import growth
from scale_graphs import Grown, ingest_alone
from scale_search import WARM_UPS, embedded, indexed, kept, nearest
from tables import Section, Table

SIZES = (8_000, 25_000, 78_000)
KEPT_LIMIT = 99
"""Percent of the ten nearest."""
_MEDICAL_QUESTIONS = 250
_SHORTEST = 25
"""Characters of a sentence that stands alone."""
_SENTENCE_END = re.compile(r"(?<=[.!?]) +")


def test_vectors(section: Callable[[str, str], Section], data: Data, place: Place) -> None:
    found = section("vectors", "Vectors: the index of passages, on real texts by a real model")
    texts, questions = _texts(data), _questions(data)
    rows, sizes, spent = [], [], []
    for size in SIZES:
        grown = _grow(place, texts[:size])
        share, seconds = _asked(grown, questions)
        grown.stop()
        sizes.append(grown.spent.passages)
        spent.append(grown.spent.processor["indexes"])
        rows.append((f"{sizes[-1]:,}", f"{spent[-1]:.1f} s", f"{share:.2f} %", f"{1000 * seconds:.1f} ms"))
        found.add(f"{sizes[-1]:,}: of the ten nearest, those that the index has", share, "%", at_least=KEPT_LIMIT)
    found.add("indexes: growth by processor time", growth(sizes, spent), "n^")
    columns = ("texts", "all indexes, of processors", "of the ten nearest", "the server, a search")
    found.tables.append(Table("What the index costs and keeps", columns, rows))
    found.notes += [
        f"Embedder: {MODEL}. Texts: passages of MuSiQue, 2Wiki and HotpotQA, sentences of them and the medical text, "
        "and pairs of sentences, mixed; each a document of its own, ingested without any triple.",
        f"{len(questions):,} questions of MuSiQue, HotpotQA and the medical text, beside exact comparison with all.",
    ]


def _texts(data: Data) -> list[str]:
    passages = [item["text"] for name in ("musique", "2wiki") for item in data.read(f"{name}/corpus.json")]
    passages += data.hotpotqa_texts()
    long = [*passages, *(item["context"] for item in data.read("medical/corpus.json"))]
    sentences = [each for text in long for each in _SENTENCE_END.split(text) if len(each) > _SHORTEST]
    pairs = [f"{one} {other}" for one, other in zip(sentences[::2], sentences[1::2], strict=False)]
    every = list(dict.fromkeys([*passages, *sentences, *pairs]))
    Random(1).shuffle(every)
    return every


def _questions(data: Data) -> list[str]:
    medical = data.medical_questions()[:_MEDICAL_QUESTIONS]
    return [each.text for each in (*data.musique_questions(), *data.hotpotqa_questions(), *medical)]


def _grow(place: Place, texts: Sequence[str]) -> Grown:
    folder = place.folder / f"vectors-{len(texts)}"
    folder.mkdir()
    nothing: dict[str, Any] = {"extracted_entities": [], "extracted_triples": []}
    items = [{"title": str(at), "text": text, **nothing} for at, text in enumerate(texts)]
    recorded = put_jsonl(folder / "recorded.jsonl", items)
    told = {"paths": str(recorded), "recorded": str(recorded)}
    spent = ingest_alone(folder / "home", place.jars, told, embedder=MODEL)
    return Grown(folder / "home", place.jars, spent, embedder=MODEL)


def _asked(grown: Grown, questions: Sequence[str]) -> tuple[float, float]:
    """Percent of the ten nearest passages that the index has, and the server's seconds for a search of it."""
    with grown.open() as graph:
        vectors = embedded(graph, questions)
        exact = nearest(graph, vectors)
        indexed(graph, vectors[:WARM_UPS])
        before = grown.processor_seconds()[1]
        found = indexed(graph, vectors)
        return kept(found, exact), (grown.processor_seconds()[1] - before) / len(questions)
