"""The part of a graph that some documents speak of is the graph that is built of these alone."""

import random
from pathlib import Path

import pytest
from campaigns import more
from conftest import wipe
from corpora import difference
from graph_state import snapshot
from read_sentences import SentenceReader, corpus

from kgplatform.client import KnowledgeGraph
from kgplatform.sources.objects import Text

SEEDS = (*range(4), *more(*range(4, 300)))
_PARTS = 3


def built(kg: KnowledgeGraph, texts: list[Text]) -> None:
    """Build a graph of ``texts``."""
    wipe(kg.store)
    kg.ingest(texts, extractor=SentenceReader(), schema="general")


@pytest.mark.parametrize("seed", SEEDS)
def test_a_part_is_the_graph_of_its_documents_alone(seed: int, kg: KnowledgeGraph, tmp_path: Path) -> None:
    chance = random.Random(seed)
    texts = corpus(chance, chance.randint(2, 7))
    built(kg, texts)
    chosen = [sorted(chance.sample(range(len(texts)), chance.randint(1, len(texts)))) for _ in range(_PARTS)]
    for number, some in enumerate(chosen):
        kg.export(tmp_path / f"{number}.jsonl", where={"number": list(some)})
    for number, some in enumerate(chosen):
        wipe(kg.store)
        kg.import_graph(tmp_path / f"{number}.jsonl")
        part = snapshot(kg.store)
        built(kg, [texts[each] for each in some])
        differ = difference(part, snapshot(kg.store))
        assert not differ, "\n".join([str((seed, some)), *differ[:12]])
