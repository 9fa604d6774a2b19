"""Conflicts, judged: of those found in texts that nobody here wrote, how many are contradictions.

Encyclopedias hardly contradict themselves, so that what is found there is mostly wrong: two people of one name, a town
and its county. Beside all that is found stand second texts (``second_texts``), half of which contradict a passage.

``contradictions.jsonl`` has the others, judged by reading both passages: what each is known by (``of``), and its cause.
Those of "even" subjects were judged before the mechanism was made. What is drawn and not judged yet is printed.
"""

import json
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from data_sets import Data, Place
from graphs import new_graph
from second_texts import Said, sample, second_texts
from tables import Section, Table

from kgplatform import KnowledgeGraph
from kgplatform.extract.schema import Schema, load_schema
from kgplatform.records import Conflict

SECOND = 240
"""Second texts that contradict, and as many that do not."""
DRAWN = 100
_ALL = 10_000
_RIGHT = "contradiction"
_EMBEDDER = "hash:64"
"""Whether facts contradict each other is no matter of their vectors."""
_FOUNDED = ("founded", "established", "formed", "opened", "built", "completed", "constructed", "created", "launched")
_ADDED = {
    "born_on": ("was born on",),
    "died_on": ("was killed on",),
    "founded_in": tuple(f"{be}{verb} {on}" for verb in _FOUNDED for be in ("", "was ") for on in ("in", "on")),
    "ended_in": ("dissolved in", "closed in", "was abolished in", "disbanded in", "demolished in", "ended in"),
    "has_population": ("population", "has population of", "had population of", "has a population of", "population of"),
    "has_area": ("area", "has area of", "covers area of", "has total area of", "total area"),
    "has_height": ("elevation", "has elevation of", "height", "has height of", "located at elevation of"),
    "has_length": ("length", "has length of"),
    "has_capital": ("capital", "capital is", "has capital city"),
}
"""Relations of which a thing has one at a time, under the words of the recorded triples."""
_MORE = {"born_in": ("was born in", "born at", "was born at"), "died_in": ("died at",)}
_STATED = """
MATCH (f:Fact)-[:SUBJECT]->(s:Entity)
WHERE f.inSchema AND f.predicate IN $names
MATCH (f)-[at:FROM_CHUNK {found: true}]->(c:Chunk)-[:FROM_DOCUMENT]->(d:Document)
RETURN s.name AS subject, f.predicate AS name, f.object AS value, d.name AS title,
       substring(c.text, at.start - c.start, at.end - at.start) AS sentence
ORDER BY title, sentence, name, value
"""


def test_contradictions(section: Callable[[str, str], Section], place: Place, data: Data) -> None:
    found = section("contradictions", "Conflicts: of those found, judged, how many are contradictions")
    corpora = [data.file("musique/corpus.json"), data.file("2wiki/corpus.json"), data.hotpotqa_corpus(place.folder)]
    with new_graph(place, "conflicts-by-rules", embedder=_EMBEDDER) as graph:
        for corpus in corpora:
            graph.ingest(corpus, extractor="local")
        alone = graph.conflicts(_ALL)
        second = second_texts(list(_stated(graph)), SECOND)
        notes = [{"id": f"note{at}", "title": f"Note {at}", "text": each.text} for at, each in enumerate(second)]
        graph.ingest(notes, extractor="local")
        by_rules = graph.conflicts(_ALL)
    recorded = data.file("musique/openie_gpt-3.5.json")
    with new_graph(place, "conflicts-recorded", embedder=_EMBEDDER) as graph:
        graph.ingest(recorded, recorded=recorded, schema=schema())
        by_model = graph.conflicts(_ALL)
    judged = {json.dumps(each, ensure_ascii=False): cause for *each, cause in map(json.loads, _lines())}
    causes = Counter[tuple[str, str]]()
    conflicts = {of(each): each for each in (*by_rules, *by_model)}
    made = {f"Note {at}": each.of for at, each in enumerate(second) if each.change != "form"}
    for half in ("even", "odd"):
        drawn = sample([each for each in conflicts if _half(each) == half], DRAWN)
        for each in drawn:
            cause = _RIGHT if _is_made(conflicts[each], made) else judged.get(each, "not judged")
            causes[half, cause] += 1
            print(*[each] * (cause == "not judged"))
        precision = 100 * causes[half, _RIGHT] / max(1, len(drawn))
        found.add(f"precision, {len(drawn)} drawn, {half}", precision, "%", at_least=90)
    told = {at.title for each in by_rules for fact in each.facts for at in fact.citations}
    found.add("second texts that contradict, found", 100 * len(told & made.keys()) / len(made), "%")
    found.add("found without second texts, in 11,869 passages", len(alone) + len(by_model))
    rows = [
        (cause, *(str(causes[half, cause]) for half in ("even", "odd"))) for cause in sorted({c for _, c in causes})
    ]
    found.tables.append(Table("Of those drawn", ("cause", "even", "odd"), rows))


def _is_made(conflict: Conflict, made: dict[str, Said]) -> bool:
    """Whether a second text was made to contradict the passage that it is of, in this."""
    titles = {at.title for fact in conflict.facts for at in fact.citations}
    return any(
        said.title in titles and (said.subject, said.name) == (conflict.subject, conflict.name)
        for said in (made[title] for title in titles & made.keys())
    )


def of(conflict: Conflict) -> str:
    """What a conflict is known by: its subject, what has one value, and the two facts."""
    values = sorted(fact.text for fact in conflict.facts)
    return json.dumps([conflict.subject, conflict.name, *values], ensure_ascii=False)


def schema() -> Schema:
    """The shipped schema, with what a thing has one of under the words of the recorded triples."""
    content = load_schema("general").to_dict()
    for relation in content["relations"]:
        relation["aliases"] = [*relation.get("aliases", ()), *_MORE.get(relation["name"], ())]
    content["relations"] += [{"name": name, "single": True, "aliases": [*words]} for name, words in _ADDED.items()]
    return Schema.from_dict(content)


def _stated(graph: KnowledgeGraph) -> Iterator[Said]:
    """The sentences that state a value of what a thing has one of."""
    general = load_schema("general")
    names = [each.name for each in (*general.relations, *general.attributes) if each.single]
    table = graph.cypher(_STATED, {"names": names}, limit=20_000)
    for row in table.rows:
        yield Said(**dict(zip(table.columns, row, strict=True)))


def _half(conflict: str) -> str:
    return ("even", "odd")[zlib.crc32(json.loads(conflict)[0].encode()) % 2]


def _lines() -> list[str]:
    return Path(__file__).with_name("contradictions.jsonl").read_text("utf-8").splitlines()
