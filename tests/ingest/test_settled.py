"""Whatever comes, changes, goes and breaks off, in any order: the graph that a plain rule gives for what is left."""

import hashlib
import math
import random
import threading
from collections.abc import Callable, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from campaigns import sampled
from conftest import opened, wipe
from corpora import difference, put, put_jsonl
from graph_state import snapshot
from numpy.typing import NDArray

from kgplatform.client import KnowledgeGraph
from kgplatform.ingest import schema_expansion
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store, trace
from kgplatform.records import QueryRun
from kgplatform.resolution import (
    KeyElement,
    Shown,
    are_alike,
    best_name,
    forms_of,
    groups,
    may_be_one,
    stem_of,
)
from kgplatform.settings import load_settings

_FIRST = ("John", "Jon", "Johan", "Lord", "JOHN")
_LAST = ("Kelvin", "Kelvyn", "Mendeleev", "Mendeleyev", "Thomson", "Thompson", "11", "Field", "")
_PLAIN = ("cable", "cables", "rope", "wire", "wires", "ocean", "sea", "seas", "north sea", "founded", "kelvin")
_TYPES = ("Person", "Place", None)
_SAME_AS, _SAME_FORM = 0.2, 0.9
_DOCUMENTS, _STEPS = 5, 8


class KilledError(Exception):
    """The end of a process, played."""


class CircleEmbedder(HashEmbedder):
    """Each text at a place of a circle, so that some mean the same, and neighbours of neighbours do not."""

    def __init__(self) -> None:
        super().__init__(64)

    def embed(self, texts: Sequence[str]) -> NDArray[np.float32]:
        angles = [int(hashlib.sha256(text.encode()).hexdigest(), 16) % 72 * math.pi / 36 for text in texts]
        vectors = np.zeros((len(texts), 64), np.float32)
        vectors[:, 0], vectors[:, 1] = np.cos(angles), np.sin(angles)
        return vectors


@pytest.fixture
def same_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgplatform.ingest.settle.least_cosines", lambda embedder: (_SAME_AS, _SAME_FORM))


def line(name: str, rng: random.Random) -> dict[str, Any]:
    """A recording of one passage; sometimes there are no atomic facts, as of the rules."""
    names = list({f"{rng.choice(_FIRST)} {rng.choice(_LAST)}".strip(): rng.choice(_TYPES) for _ in range(4)}.items())
    plain = [rng.choice((str.lower, str.upper, str.title))(each) for each in rng.sample(_PLAIN, 4)]
    told = [[*plain[at : at + 2], rng.choice(names)[0]] for at in rng.choice(((), (0, 2)))]
    facts = [{"text": f"{name} {at}.", "key_elements": elements} for at, elements in enumerate(told)]
    return {"document": name, "entities": [{"name": each, "type": kind} for each, kind in names], "facts": facts}


def killing(left: int) -> Callable[[QueryRun], None]:
    """Ends the work after that many statements, before the last is committed."""

    def count(run: QueryRun) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            raise KilledError

    return count


@pytest.mark.usefixtures("same_form")
@pytest.mark.parametrize("seed", sampled(range(1, 5)))
def test_any_history_ends_with_the_graph_of_what_is_left(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    rng = random.Random(seed)
    for module in ("ingest.settle", "resolution") if seed % 2 else ():
        monkeypatch.setattr(f"kgplatform.{module}._BATCH", 5)
        monkeypatch.setattr("kgplatform.resolution._AT_ONCE", 5)
    settings = load_settings(home=tmp_path / "home", embedder="hash:64", same_as_threshold=_SAME_AS)
    kg = KnowledgeGraph(store, settings, embedder=CircleEmbedder())
    lines: dict[str, dict[str, Any]] = {}
    told = tmp_path / "r.jsonl"

    def write(name: str, version: int) -> None:
        lines[name] = line(name, rng)
        one, other, *more = [each["name"] for each in lines[name]["entities"]] * 2
        said = f"{one}, also known as {other}, met {more[0]}." if rng.random() < 0.6 else ""
        put(tmp_path, {name: f"Version {version} of {name}. {said}"})
        put_jsonl(told, list(lines.values()))

    def step(version: int) -> None:
        name = f"d{rng.randrange(_DOCUMENTS)}.txt"
        if name in lines and rng.random() < 0.4:
            del lines[name]
            put_jsonl(told, list(lines.values()))
            if there := [document.uri for document in kg.documents() if document.uri.endswith(name)]:
                kg.remove(there)
        else:
            write(name, version)
            kg.ingest(tmp_path / name, recorded=told)

    for version in range(_STEPS):
        if rng.random() < 0.5:
            with trace(killing(rng.randrange(5, 70))):
                try:
                    step(version)
                except KilledError:
                    continue
        else:
            step(version)
    write("d0.txt", _STEPS)  # something is left
    there = [tmp_path / name for name in sorted(lines)]
    kg.ingest(there, recorded=told)
    wanted = {path.as_uri() for path in there}
    if more := [document.uri for document in kg.documents() if document.uri not in wanted]:
        kg.remove(more)
    assert edges(store) == by_the_rule(store)
    found = snapshot(store)
    wipe(store)
    kg.ingest(there, recorded=told)
    assert difference(found, snapshot(store)) == []


# At what an ingest reads or writes, another one begins.
_MOMENTS = ("ingest/mentions", "ingest/pending_elements", "ingest/form_elements")


@pytest.mark.usefixtures("same_form")
@pytest.mark.parametrize("moment", _MOMENTS)
def test_an_ingest_that_begins_meanwhile_loses_nothing(store: Store, tmp_path: Path, moment: str) -> None:
    """Both write to the same elements, and one settles after the other."""
    settings = load_settings(home=tmp_path / "home", embedder="hash:64", same_as_threshold=_SAME_AS)
    said = {"a.txt": ("Lord Kelvin", "cable", "wire"), "b.txt": ("LORD KELVIN", "cables", "Wires")}
    said |= {"c.txt": ("LORD KELVIN", "cables", "wires")}
    recorded = [
        {
            "document": name,
            "entities": [{"name": lord, "type": "Person"}, {"name": "Lord Kelvyn", "type": "Person"}],
            "facts": [{"text": f"{lord} had {one} and {other}.", "key_elements": [lord, one, other]}],
        }
        for name, (lord, one, other) in said.items()
    ]
    told = put_jsonl(tmp_path / "r.jsonl", recorded)
    put(tmp_path, {name: f"{lord} had {one} and {other}." for name, (lord, one, other) in said.items()})
    kg = KnowledgeGraph(store, settings, embedder=CircleEmbedder())
    waits = threading.Event()

    def progress(stage: str, done: int, total: int) -> None:
        if stage.startswith("waiting for an ingest") or done:
            waits.set()

    files = [tmp_path / "b.txt", tmp_path / "c.txt"]
    another = threading.Thread(target=lambda: kg.ingest(files, recorded=told, progress=progress))

    def once(run: QueryRun) -> None:
        if run.name == moment and not another.ident:
            another.start()
            waits.wait()

    with trace(once):
        kg.ingest(tmp_path / "a.txt", recorded=told)
    assert another.ident, "the moment came"
    another.join()
    assert edges(store) == by_the_rule(store)
    found = snapshot(store)
    wipe(store)
    kg.ingest([tmp_path / name for name in said], recorded=told)
    assert difference(found, snapshot(store)) == []


def test_the_types_that_another_run_adds_meanwhile_stay(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, {"a.txt": "The vessel sailed.", "b.txt": "The island was near."})
    grown = (("a.txt", "Vessel"), ("b.txt", "Island"))
    told = put_jsonl(
        tmp_path / "r.jsonl",
        [
            {"document": name, "proposals": [{"kind": "entity", "name": kind, "confidence": 0.99, "example": kind}]}
            for name, kind in grown
        ],
    )
    monkeypatch.setattr(schema_expansion, "SUPPORT", 1)
    kg = opened(store, tmp_path / "home")
    another = threading.Thread(target=lambda: kg.ingest(tmp_path / "b.txt", recorded=told, mode="flexible"))

    def once(run: QueryRun) -> None:
        if run.name == "ingest/proposed" and not another.ident:
            another.start()

    with trace(once):
        kg.ingest(tmp_path / "a.txt", recorded=told, mode="flexible")
    another.join()
    shown = kg.schema()
    assert shown is not None
    assert {each.name for each in shown.expansions} == {"Vessel", "Island"}


Edge = tuple[str, str, str, str]


def rows(store: Store, statement: str) -> list[list[Any]]:
    return store.run_statement(statement, {}, write=False, timeout=60, limit=10**6).rows


def edges(store: Store) -> set[Edge]:
    """What says that elements belong together, with its score to three digits."""
    likely = rows(store, "MATCH (a)-[s:SAME_AS]->(b) RETURN a.id, b.id, s.by, s.score")
    forms = rows(store, "MATCH (a)-[f:FORM_OF]->(b) RETURN a.id, b.id, f.by, f.score")
    return {(one, other, by, f"{score:.3f}") for one, other, by, score in likely + forms}


def said_by_passages(store: Store, passages: dict[str, int]) -> dict[tuple[str, str], str]:
    """Pairs of entities and why they are one: any passage states it, or most that have a part of a name mean the whole.
    ``passages``: how many name each."""
    told: dict[tuple[str, str], list[tuple[bool, str, str, str]]] = {}
    for line, passage in rows(store, "MATCH (c:Chunk) UNWIND c.alike AS line RETURN line, c.id"):
        one, other, by, *_ = line.split()
        told.setdefault((min(one, other), max(one, other)), []).append((by == "part", by, passage, one))
    firsts = {pair: (len(every), *min(every)) for pair, every in told.items()}
    return {pair: by for pair, (n, is_part, by, _, part) in firsts.items() if not is_part or 2 * n > passages[part]}


def by_the_rule(store: Store) -> set[Edge]:
    """The same from names, vectors and mentions alone: each element beside each, and the groups of all at once."""
    assert rows(store, "MATCH (n) WHERE n:Pending OR n.joinDue RETURN n.id") == []
    every = rows(
        store,
        "MATCH (k:KeyElement) RETURN k.id, k.key, k:Entity, k.name, coalesce(k.embedding, k.elementEmbedding), "
        "COLLECT { MATCH (k)-[m:FROM_CHUNK]->() RETURN m.names }, k.type",
    )
    said = said_by_passages(store, {row[0]: len(row[5]) for row in every})
    pairs: list[tuple[float, str, str]] = []
    found: set[Edge] = set()
    for one, other in combinations(sorted(every, key=lambda row: (row[2], row[0])), 2):
        score = round(float(np.dot(one[4], other[4])), 4)
        if one[2] and other[2]:
            by = said.get((one[0], other[0]))
            joined = by or (score >= _SAME_AS and are_alike((one[1], one[6]), (other[1], other[6])))
            by = by or "name"
        else:
            by, joined = "meaning", score >= _SAME_FORM and may_be_one(one[1], other[1])
            pairs += [(score, one[0], other[0])] if joined else []
        found |= {(one[0], other[0], by, f"{score:.3f}")} if joined else set()
    forms_by_id = {row[0]: [form for names in row[5] for form in names] for row in every}
    elements = {row[0]: KeyElement(stem_of(row[3], forms_by_id[row[0]]), row[2]) for row in every}
    shown = {row[0]: Shown(row[3], len(row[5])) for row in every}
    for id_, _, _, name, *_ in every:
        assert name == best_name(forms_by_id[id_])[0], id_
    forms = [form for group in groups(elements, pairs) for form in forms_of(group, elements, shown)]
    return found | {(form.id, form.target, form.by, f"{form.score:.3f}") for form in forms}
