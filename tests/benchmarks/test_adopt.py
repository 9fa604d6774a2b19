"""A graph that was there before, adopted beside documents: are its rows found, how fast is it read, what does it take?

``KGPLATFORM_BENCH_ADOPT``: nodes and relationships of the large one, "20000 100000" by default.
``KGPLATFORM_BENCH_ADOPT_EMBEDDER``: the model for that one, ``hash:384`` by default. The examples are of the shape of
Northwind and of Movies (``example_graphs``), and have the model that people have.
"""

import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random

from data_sets import Place
from example_graphs import movies, northwind, run
from graphs import MODEL, new_graph
from invented import Invented
from measure import PeakMemory, percentile
from tables import Section, Table

from kgplatform import IngestReport, KnowledgeGraph, Text
from kgplatform.neo4j.store import Store

NODES, JOINS = map(int, os.environ.get("KGPLATFORM_BENCH_ADOPT", "20000 100000").split())
EMBEDDER = os.environ.get("KGPLATFORM_BENCH_ADOPT_EMBEDDER", "hash:384")
PASSAGES, QUESTIONS, CHANGED, TOP = 2000, 60, 100, 5
SLOWER_LIMIT = 1.5

NORTHWIND = {
    "Which customer is in Graz?": "Ernst Handel",
    "Who bought order 10355?": "Around the Horn",
    "Which company supplies Ikura?": "Tokyo Traders",
    "What is the unit price of Carnarvon Tigers?": "Carnarvon Tigers",
    "Who does Nancy Davolio report to?": "Nancy Davolio",
    "Which products did order 10258 contain?": "Order 10258",
    "When was order 10643 made?": "Order 10643",
    "What is in the category Confections?": "Confections",
    "Which supplier is in Melbourne?": "Pavlova, Ltd.",
    "What is the customer ID of Berglunds snabbköp?": "Berglunds snabbköp",
}
MOVIES = {
    "Who played Chuck Noland?": "Tom Hanks",
    "Who directed The Matrix?": "Lana Wachowski",
    "In which year was Apollo 13 released?": "Apollo 13",
    "When was Helen Hunt born?": "Helen Hunt",
    "Who reviewed Cloud Atlas?": "Jessica Thompson",
    "Which film has the tagline Welcome to the Real World?": "The Matrix",
    "What role did Kevin Bacon have in Apollo 13?": "Kevin Bacon",
    "Who directed Jerry Maguire?": "Cameron Crowe",
    "Whom does Jessica Thompson follow?": "Jessica Thompson",
    "In which films did Halle Berry act?": "Halle Berry",
}
LETTERS = (
    "Around the Horn is a customer in London. Thomas Hardy, who buys for it, asked for Chang and got it late.",
    "Tokyo Traders sends its seafood by air. Ikura, which it has sold for years, arrived thawed in Graz.",
    "Nancy Davolio visited Ernst Handel in Graz. Andrew Fuller, to whom she reports, was pleased with the order.",
    "The Matrix was shot in Sydney. Keanu Reeves trained for months, as did Carrie-Anne Moss.",
    "Tom Hanks lost weight for Cast Away, which Robert Zemeckis shot in two parts on an island of Fiji.",
    "Cloud Atlas divided the critics. Halle Berry has several roles in it, and Tom Hanks has six.",
)


def test_adopt(section: Callable[[str, str], Section], place: Place) -> None:
    title = f"An adopted graph: two examples, and one of {NODES:,} nodes and {JOINS:,} relationships"
    found = section("adopt", title)
    with new_graph(place, "adopt-theirs", embedder="hash:64") as other:
        theirs, may = other.store, {"adopt_uri": other.connection.uri, "adopt_password": other.connection.password}
        with new_graph(place, "adopt-examples", embedder=MODEL, **may) as graph:
            graph.ingest([Text(text, id=f"letter {number}") for number, text in enumerate(LETTERS)], extractor="local")
            for name, load, questions in (("Northwind", northwind, NORTHWIND), ("Movies", movies, MOVIES)):
                load(theirs)
                _ask(found, f"of the shape of {name}", graph, questions)
                graph.adopt.forget()
                run(theirs, "MATCH (n) DETACH DELETE n")
        with new_graph(place, "adopt-large", embedder=EMBEDDER, **may) as graph:
            _make(theirs)
            _measure(found, place, graph, theirs)
    found.notes.append(
        f"The model is {MODEL} for the examples, each beside {len(LETTERS)} short texts, and {EMBEDDER} for the large "
        f"graph, which is beside {PASSAGES:,} invented passages. {QUESTIONS} questions on these, before and after."
    )


def _adopt(graph: KnowledgeGraph) -> IngestReport:
    """Read all that is proposed, as it is proposed."""
    Path("adopt.yaml").write_text(graph.adopt.propose(), "utf-8")
    return graph.adopt.ingest("adopt.yaml")


def _ask(found: Section, name: str, graph: KnowledgeGraph, questions: dict[str, str]) -> None:
    _adopt(graph)
    ranks = {}
    for question, wanted in questions.items():
        titles = [each.title.rpartition(" (")[0] for each in graph.search(question)]
        ranks[question] = titles.index(wanted) + 1 if wanted in titles else 0
    top = sum(0 < rank <= TOP for rank in ranks.values())
    found.add(f"{name}: rows among the first {TOP}, of {len(ranks)}", top, at_least=0.9 * len(ranks))
    rows = [(question, questions[question], str(rank or "not found")) for question, rank in ranks.items()]
    found.tables.append(Table(f"Where the row stands: {name}", ("question", "row", "rank"), rows))
    of = "COUNT { (e)-[:FROM_CHUNK]->()-[:FROM_DOCUMENT]->(d) WHERE d.meta_adopted IS"
    joined = f"MATCH (e:Entity) WHERE {of} NULL }} > 0 AND {of} NOT NULL }} > 0 RETURN e.name"
    names = sorted(row[0] for row in graph.cypher(joined).rows)
    found.notes.append(f"{name}: entities that texts and rows share by name and type: {', '.join(names) or 'none'}.")


def _names(count: int) -> Iterator[str]:
    """Different names of two words."""
    chance, seen = Random(50), set[str]()
    parts = ["ka", "ro", "mi", "ten", "sal", "dor", "vin", "el", "bra", "qui", "lo", "fen", "gar", "ust"]
    while len(seen) < count:
        name = " ".join("".join(chance.choices(parts, k=3)).title() for _ in range(2))
        if name not in seen:
            seen.add(name)
            yield name


def _make(theirs: Store) -> None:
    """Customers, nine of ten nodes, who order products."""
    names, customers = [*_names(NODES)], NODES - NODES // 10
    run(theirs, "CREATE CONSTRAINT FOR (c:Customer) REQUIRE c.code IS UNIQUE")
    run(theirs, "CREATE CONSTRAINT FOR (p:Product) REQUIRE p.code IS UNIQUE")
    nodes = [{"code": number, "name": name, "city": names[number % 500]} for number, name in enumerate(names)]
    for label, some in (("Customer", nodes[:customers]), ("Product", nodes[customers:])):
        for start in range(0, len(some), 10_000):
            made = f"UNWIND $rows AS row CREATE (n:{label}) SET n = row"
            run(theirs, made, rows=some[start : start + 10_000])
    chance = Random(51)
    ends = "UNWIND $rows AS row MATCH (c:Customer {code: row[0]}), (p:Product {code: row[1]})"
    for start in range(0, JOINS, 10_000):
        days = (f"2024-{chance.randint(1, 12):02}-{chance.randint(1, 28):02}" for _ in range(10_000))
        rows = [(chance.randrange(customers), chance.randrange(customers, NODES), day) for day in days]
        run(theirs, f"{ends} CREATE (c)-[:ORDERED {{on: row[2]}}]->(p)", rows=rows[: JOINS - start])


def _measure(found: Section, place: Place, graph: KnowledgeGraph, theirs: Store) -> None:
    corpus = Invented(PASSAGES)
    folder = place.folder / "adopt-texts"
    folder.mkdir()
    texts, recorded = corpus.write(folder)
    graph.ingest(texts, recorded=recorded)
    questions = [each.text for each in corpus.questions()][:QUESTIONS]
    alone, memory = _p50(graph, questions), PeakMemory()
    began = time.perf_counter()
    report = _adopt(graph)
    seconds = time.perf_counter() - began
    found.add("rows a second", report.added / seconds, "/s")
    found.add("facts a second", report.statements_found / seconds, "/s")
    found.add("peak memory of Python", memory.megabytes(), "MB")
    after = _p50(graph, questions)
    found.add("search, p50: texts alone", alone, "ms")
    found.add("search, p50: beside the rows", after, "ms")
    found.add("beside that of texts alone", after / alone, "times", at_most=SLOWER_LIMIT)
    run(theirs, f"MATCH (c:Customer) WHERE c.code < {CHANGED} SET c.city = 'Atlantis'")
    for name in (f"refresh, {CHANGED} rows changed", "refresh, none changed"):
        began = time.perf_counter()
        graph.adopt.refresh()
        found.add(name, time.perf_counter() - began, "s")
    began = time.perf_counter()
    found.add("forgotten", graph.adopt.forget(), exactly=report.added)
    found.add("forget", time.perf_counter() - began, "s")
    stages = [(name, f"{spent:.1f} s") for name, spent in report.seconds.items()]
    found.tables.append(Table("Where the time goes", ("stage", "seconds"), stages))


def _p50(graph: KnowledgeGraph, questions: list[str]) -> float:
    """Milliseconds of a search, after a round to warm up."""
    spent = []
    for number in range(2):
        for question in questions:
            began = time.perf_counter()
            graph.search(question)
            if number:
                spent.append(time.perf_counter() - began)
    return 1000 * percentile(spent, 50)
