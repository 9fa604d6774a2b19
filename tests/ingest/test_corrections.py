"""Corrections: kept through every change of the texts, undone to the letter, waiting while their ground is gone."""

import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from campaigns import more
from conftest import wipe
from corpora import difference
from graph_state import snapshot
from read_sentences import SentenceReader, corpus, sentences

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.extract.schema import Schema
from kgplatform.ingest.corrections import Correction
from kgplatform.records import Document, Extraction, Passage
from kgplatform.sources.objects import Text

SEEDS = (*range(6), *more(*range(6, 300)))
_STEPS = 9
_GROWING = ("correct", "correct", "correct", "undo", "return", "reread", "carry")
_CHANGING = (*_GROWING, "remove", "change")


class PlainReader(SentenceReader):
    """Proposes nothing: what a schema has grown by stays on entities when its ground is gone."""

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """See ``Extractor``."""
        return replace(super().extract(passage, document, schema), proposals=())


def read(kg: KnowledgeGraph, reader: SentenceReader, texts: Sequence[Text], *, reread: bool = False) -> None:
    """Ingest ``texts``."""
    kg.ingest(list(texts), extractor=reader, schema="general", reread=reread)


def corrected(chance: random.Random, kg: KnowledgeGraph) -> Correction | None:
    """A correction of any kind of whatever the graph has; None where the kind finds nothing in it."""
    rows = kg.store.read("explore/documents")
    entities = [row[0] for row in kg.cypher("MATCH (e:Entity) RETURN e.id AS id ORDER BY id").rows]
    facts = [row[0] for row in kg.cypher("MATCH (f:Fact) RETURN f.id AS id ORDER BY id").rows]
    if len(entities) < 2 or not facts:
        return None
    one, other = chance.sample(entities, 2)
    name = chance.choice(("Ada Lovelace", "Mercury", "Someone", "Acme Works"))
    documents = [row["id"] for row in chance.sample(rows, min(2, len(rows)))]
    aliases = kg.cypher("MATCH (e:Entity) WHERE e.aliases IS NOT NULL RETURN e.id AS id, e.aliases[0] ORDER BY id").rows
    do = kg.correct
    choices = [
        lambda: do.merge(one, other, why="they are"),
        lambda: do.accept(one, other),
        lambda: do.split(one, name, documents),
        lambda: do.rename(one, name),
        lambda: do.retype(one, chance.choice(("Person", "Ship", "Deity"))),
        lambda: do.alias(one, name),
        lambda: do.refuse(one, other),
        lambda: do.drop(chance.choice(facts)),
        lambda: do.add("Nemo (Person)", "founded", "Nautilus (Ship)"),
        lambda: do.add(one, "motto", "Mobilis in mobili", value=True),
        *([lambda: do.remove_alias(*chance.choice(aliases))] * bool(aliases)),
    ]
    try:
        return chance.choice(choices)()
    except InputError as error:
        assert "one entity" in str(error)
        return None


@pytest.mark.parametrize("seed", SEEDS)
def test_after_any_history_it_is_the_graph_built_anew_with_what_is_left(
    seed: int, kg: KnowledgeGraph, tmp_path: Path
) -> None:
    chance = random.Random(seed)
    texts = {each.id: each for each in corpus(chance, 4)}
    grows = seed % 2 == 1
    there, left = dict(list(texts.items())[: 2 if grows else 4]), list[Correction]()
    reader = SentenceReader() if grows else PlainReader()
    read(kg, reader, list(there.values()))
    for _ in range(_STEPS):
        match chance.choice(_GROWING if grows else _CHANGING):
            case "correct":
                if (made := corrected(chance, kg)) is not None and made.id not in [each.id for each in left]:
                    left.append(made)
            case "undo" if left:
                kg.correct.undo(left.pop(chance.randrange(len(left))).id)
            case "remove" if len(there) > 1:
                gone = chance.choice(sorted(there))
                kg.remove(f"text:{gone}")
                del there[gone]
            case "return":
                there = dict(texts)
                read(kg, reader, list(there.values()))
            case "change":
                name = chance.choice(sorted(there))
                old = there[name]
                texts[name] = there[name] = Text(sentences(chance, 2), old.title, id=name, metadata=old.metadata)
                read(kg, reader, list(there.values()))
            case "reread":
                read(kg, reader, list(there.values()), reread=True)
            case "carry":
                kg.export(tmp_path / "graph.jsonl")
                wipe(kg.store)
                kg.import_graph(tmp_path / "graph.jsonl")
    left = [each for each in kg.correct.all() if each.id in {made.id for made in left}]
    after = snapshot(kg.store)
    wipe(kg.store)
    read(kg, reader, list(there.values()))
    alone = snapshot(kg.store)
    kg.correct.take(left)
    differ = difference(after, snapshot(kg.store))
    assert not differ, "\n".join([str(seed), *(each.text for each in left), *(each[:600] for each in differ[:12])])
    for made in chance.sample(left, len(left)):
        kg.correct.undo(made.id)
    differ = difference(alone, snapshot(kg.store))
    assert not differ, "\n".join(
        [f"{seed} undone", *(each.text for each in left), *(each[:600] for each in differ[:12])]
    )
