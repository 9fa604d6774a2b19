"""Corrections: kept through every change of the texts, undone to the letter, waiting while their ground is gone."""

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from campaigns import more
from conftest import wipe
from corpora import difference
from graph_state import snapshot
from model_by_prompt import Prompt
from read_sentences import NAMES, SentenceReader, corpus, sentences

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, StoreError
from kgplatform.extract.schema import Schema
from kgplatform.ingest.corrections import Correction
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.records import Document, Extraction, Passage
from kgplatform.settings import load_settings
from kgplatform.sources.objects import Text
from kgplatform.testing import ScriptedChat

SEEDS = (*range(4), *more(*range(4, 300)))
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


def test_one_that_is_cut_short_is_finished_by_whoever_writes_next(kg: KnowledgeGraph) -> None:
    texts = corpus(random.Random(5), 6)
    read(kg, PlainReader(), texts)
    (one, *_), (other, *_), *_ = kg.cypher("MATCH (e:Entity) RETURN e.id ORDER BY e.id").rows
    made = kg.correct.merge(one, other)
    wanted = snapshot(kg.store)
    for statement in ("ingest/remove_facts", "ingest/passage_states", "correct/applied", "ingest/element_names"):
        kg.correct.undo(made.id)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Store, "write", failing_at(statement))
            with pytest.raises(StoreError, match="cut short"):
                kg.correct.take([made])
        assert difference(snapshot(kg.store), wanted)
        read(kg, PlainReader(), texts)
        assert difference(snapshot(kg.store), wanted) == []


def failing_at(statement: str) -> Callable[..., Any]:
    """``Store.write`` that fails at a statement, as where its process is killed there."""
    write = Store.write

    def failing(store: Store, *statements: Any) -> Any:
        if any(name == statement for name, _ in statements):
            raise StoreError("cut short")
        return write(store, *statements)

    return failing


def test_facts_that_a_model_reads_later_are_corrected_too(store: Store, tmp_path: Path) -> None:
    texts = corpus(random.Random(3), 4)
    names = [name for name in NAMES if name.isascii()]

    def facts(messages: Messages) -> str:
        told = Prompt(messages).sentences.items()
        return json.dumps({"facts": [[number, "", *(n for n in names if n in said)] for number, said in told]})

    settings = load_settings(home=tmp_path / "home", embedder="hash:64")
    kg = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=ScriptedChat(facts))
    read(kg, PlainReader(), texts)
    ids = [row[0] for row in kg.cypher("MATCH (e:Entity) RETURN e.id ORDER BY e.id").rows]
    made = [kg.correct.merge(ids[0], ids[1]), kg.correct.rename(ids[2], "Someone"), kg.correct.refuse(ids[3], ids[4])]
    kg.store.write(("ingest/passage_states", {"rows": facts_by_rules(kg)}))
    kg.ingest(facts=True)
    after = snapshot(store)
    wipe(store)
    read(kg, PlainReader(), texts)
    kg.store.write(("ingest/passage_states", {"rows": facts_by_rules(kg)}))
    kg.ingest(facts=True)
    alone = snapshot(store)
    kg.correct.take(made)
    assert difference(after, snapshot(store)) == []
    for each in made:
        kg.correct.undo(each.id)
    assert difference(alone, snapshot(store)) == []


def facts_by_rules(kg: KnowledgeGraph) -> list[dict[str, Any]]:
    """All passages as if rules had found their facts, which a model replaces."""
    return [{"id": row[0], "state": {"factsBy": "local"}} for row in kg.cypher("MATCH (c:Chunk) RETURN c.id").rows]


def test_a_part_has_what_was_corrected_in_it(kg: KnowledgeGraph, tmp_path: Path) -> None:
    texts = corpus(random.Random(11), 6)
    read(kg, PlainReader(), texts)
    there = "MATCH (e:Entity)--(:Chunk)--(d:Document) WHERE d.meta_number < 2 RETURN DISTINCT e.id ORDER BY e.id"
    entities = kg.cypher(there).rows
    made = [kg.correct.rename(entities[0][0], "Someone"), kg.correct.alias(entities[1][0], "The Other")]
    kg.export(tmp_path / "part.jsonl", where={"number": [0, 1]})
    wipe(kg.store)
    kg.import_graph(tmp_path / "part.jsonl")
    part = snapshot(kg.store)
    wipe(kg.store)
    read(kg, PlainReader(), texts[:2])
    kg.correct.take(made)
    assert (differ := difference(part, snapshot(kg.store))) == [], "\n".join(differ[:9])


def test_they_are_merged_with_another_graph(kg: KnowledgeGraph, tmp_path: Path) -> None:
    texts = corpus(random.Random(12), 4)
    read(kg, PlainReader(), texts)
    both = (
        "MATCH (e:Entity)--(:Chunk)--(d:Document) WITH e, collect(d.meta_number < 2) AS first WHERE true IN first AND "
    )
    entity = kg.cypher(f"{both} false IN first RETURN e.id ORDER BY e.id").rows[0][0]
    wipe(kg.store)
    read(kg, PlainReader(), texts[:2])
    made = kg.correct.rename(entity, "Someone")
    kg.export(tmp_path / "one.jsonl")
    wipe(kg.store)
    read(kg, PlainReader(), texts[2:])
    kg.import_graph(tmp_path / "one.jsonl", merge=True)
    merged = snapshot(kg.store)
    wipe(kg.store)
    read(kg, PlainReader(), texts)
    kg.correct.take([made])
    assert difference(merged, snapshot(kg.store)) == []


def test_one_waits_while_its_ground_is_gone_and_is_carried_by_a_file(kg: KnowledgeGraph, tmp_path: Path) -> None:
    ada, morse = Text('"Ada" (Person) founded "Acme" (Organization).', id="a"), Text("Of nobody.", id="m")
    read(kg, PlainReader(), [ada, morse])
    made = [kg.correct.rename("Ada", "Ada Lovelace"), kg.correct.add("Ada", "met", "Nemo (Person)", why="a letter")]
    assert [each.passages for each in kg.correct.all()] == [2, 1]
    assert kg.correct.rename("Ada", "Lovelace").text == "Ada Lovelace (Person) is called Lovelace"
    assert kg.search("Whom did Lovelace meet?", where="not by_hand").passages[0].title != "Added by root"
    kg.remove("text:a")
    assert [each.passages for each in kg.correct.all()] == [1, 1, 1], "of what was added by hand"
    kg.correct.undo(made[1].id)
    assert [each.passages for each in kg.correct.all()] == [0, 0]
    assert kg.correct.save(tmp_path / "corrections.jsonl") == 2
    wipe(kg.store)
    read(kg, PlainReader(), [ada, morse])
    assert kg.correct.load(tmp_path / "corrections.jsonl") == 2
    assert kg.correct.load(tmp_path / "corrections.jsonl") == 0
    assert [row[0] for row in kg.cypher("MATCH (e:Entity) RETURN e.name ORDER BY e.name").rows] == ["Acme", "Lovelace"]


@pytest.mark.parametrize(
    ("action", "given", "told"),
    [
        ("merge", {"entity": "Ada", "into": "Ada"}, "are one entity already"),
        ("merge", {"entity": "Ada"}, "into is missing"),
        ("merge", {"entity": "Ada", "into": "Acme", "type": "Ship"}, "not type"),
        ("rename", {"entity": "Ad", "name": "x"}, "No entity is called 'Ad'. Did you mean"),
        ("rename", {"entity": "Mercury", "name": "x"}, '"Mercury (Deity)", "Mercury (Ship)"'),
        ("rename", {"entity": "Ada", "name": " "}, "too long to be a name"),
        ("drop", {"fact": "Ada sold Acme"}, "No fact has the id or the text"),
        ("add", {"subject": "Nobody", "predicate": "met", "object": "Ada"}, "No entity is called 'Nobody'"),
        ("split", {"entity": "Ada", "name": "x", "documents": ["none"]}, "There is no document 'none'"),
        ("undo", {}, 'Unknown correction "undo"'),
    ],
)
def test_what_cannot_be_corrected_is_told(kg: KnowledgeGraph, action: str, given: dict[str, Any], told: str) -> None:
    if not kg.documents():
        said = '"Ada" (Person) founded "Acme" (Organization). "Mercury" (Ship) haunts "Mercury" (Deity).'
        read(kg, PlainReader(), [Text(said, id="a")])
    with pytest.raises(InputError, match=re.escape(told)):
        kg.correct.do(action, given)


def test_one_is_undone_whatever_was_made_of_its_entity_since(kg: KnowledgeGraph) -> None:
    said = '"Bob" (Person) founded "Acme" (Organization). "Rob" (Person) founded "Acme" (Organization).'
    read(kg, PlainReader(), [Text(said, id="a")])
    merged = [kg.correct.alias("Bob", "Bobby"), kg.correct.merge("Bob", "Rob")]
    kg.correct.undo(merged[0].id)
    names = "MATCH (e:Entity {type: 'Person'}) RETURN e.name, e.aliases ORDER BY e.name"
    assert kg.cypher(names).rows == [["Rob", ["Bob"]]]
    kg.correct.undo(merged[1].id)
    for name in ("Robert", "Rob", "Robert"):
        again = kg.correct.rename("Rob", name)
        assert [row[0] for row in kg.cypher(names).rows] == ["Bob", name]
    assert [each.text for each in kg.correct.all()][-1] == again.text
    for each in kg.correct.all():
        kg.correct.undo(each.id)
    for made in (kg.correct.alias("Bob", "Bobby"), kg.correct.remove_alias("Bob", "Bobby")):
        assert made.passages == 1, "though no passage calls him so"
    assert kg.cypher(names).rows == [["Bob", None], ["Rob", None]]


def test_those_of_another_graph_come_in_the_order_in_which_they_were_made(kg: KnowledgeGraph) -> None:
    texts = corpus(random.Random(7), 4)
    read(kg, PlainReader(), texts)
    one, other, *_ = (row[0] for row in kg.cypher("MATCH (e:Entity)--(:Chunk) RETURN DISTINCT e.id ORDER BY e.id").rows)
    made = [kg.correct.rename(one, "Someone"), kg.correct.merge("Someone", other)]
    wanted = snapshot(kg.store)
    for order in ((1, 0), (0, 1)):
        for each in kg.correct.all():
            kg.correct.undo(each.id)
        for number in order:
            kg.correct.take([made[number]])
        assert difference(snapshot(kg.store), wanted) == [], order


@pytest.mark.parametrize(
    "damage",
    [
        {"kind": "add", "what": {}},
        {"kind": "merge", "what": {"entity": ["Ada", "Person"]}},
        {"what": {"entity": ["Ada", "Person"], "name": 7}},
        {"what": {"entity": "Ada", "name": "x"}},
        {"what": {"entity": ["A" * 20_000, None], "name": "x"}},
        {"at": "yesterday"},
        {"at": "2026-01-01T00:00:00"},
        {"who": ["root"]},
        {"kind": "explode"},
    ],
)
def test_a_file_of_corrections_is_checked_before_any_is_made(
    kg: KnowledgeGraph, tmp_path: Path, damage: dict[str, Any]
) -> None:
    if not kg.documents():
        read(kg, PlainReader(), [Text('"Ada" (Person) founded "Acme" (Organization).', id="a")])
        kg.correct.rename("Ada", "Ada Lovelace")
    kg.correct.save(tmp_path / "kept.jsonl")
    head, line = map(json.loads, (tmp_path / "kept.jsonl").read_text().splitlines())
    (tmp_path / "bad.jsonl").write_text("\n".join(map(json.dumps, (head, line | damage))))
    with pytest.raises(InputError, match="can be used|damaged"):
        kg.correct.load(tmp_path / "bad.jsonl")
    kg.export(tmp_path / "graph.jsonl")
    exported = (tmp_path / "graph.jsonl").read_text().splitlines()
    place, node = next(
        (n, each) for n, each in enumerate(map(json.loads, exported)) if each.get("labels") == ["Correction"]
    )
    node["properties"] |= {key: json.dumps(value) if key == "what" else value for key, value in damage.items()}
    exported[place] = json.dumps(node)
    (tmp_path / "graph.jsonl").write_text("\n".join(exported) + "\n")
    with pytest.raises(InputError, match="Nothing was imported"):
        kg.import_graph(tmp_path / "graph.jsonl", merge=True)
    assert [each.text for each in kg.correct.all()] == ["Ada (Person) is called Ada Lovelace"]
