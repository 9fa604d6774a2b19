"""How fast a graph is written, how that grows, and whether all that was recorded is in it."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from data_sets import Data, write_corpus
from graphs import Built, Graphs, Step, statement
from measure import MEMORY_LIMIT, growth
from tables import Section

RECORDED = "musique/openie_gpt-3.5.json"
WRITING_LIMIT = 30
GROWTH_LIMIT = 1.1


def test_build(section: Callable[[str, str], Section], graphs: Graphs, data: Data) -> None:
    found = section("build", "Build: MuSiQue with its recorded extraction into a fresh managed Neo4j")
    items = data.read(RECORDED)
    graphs.embedder.embed(["Is the model loaded?"])
    whole = graphs.musique()
    found.add("ingest, the model loaded", whole.seconds, "s")
    found.add(f"of which embedding {whole.computed:,} texts", whole.embedding, "s")
    found.add("graph writing: the rest", whole.writing, "s", at_most=WRITING_LIMIT)
    found.add("peak memory of the Python process", whole.peak, "MB", at_most=MEMORY_LIMIT)
    _add_counts(found, graphs, whole, [triple for item in items for triple in item["extracted_triples"]])
    _add_growth(found, graphs, items)


def _add_counts(found: Section, graphs: Graphs, whole: Built, given: list[Any]) -> None:
    report = whole.reports[0]
    formed = sum(
        isinstance(triple, list) and len(triple) == 3 and all(isinstance(each, str) for each in triple)
        for triple in given
    )
    with graphs.open(whole.home) as graph:
        evidence = statement(graph, "evidence").rows[0][0]
        states = Counter(state for _, state in statement(graph, "indexes").rows)
    found.add("triples in the graph + duplicates", evidence + report.duplicates, exactly=formed)
    found.add("malformed triples reported", report.malformed.total(), exactly=len(given) - formed)
    found.add("indexes online", states["ONLINE"], exactly=states.total())
    found.notes.append(f"{evidence:,} pieces of evidence and {report.duplicates:,} duplicates.")


def _add_growth(found: Section, graphs: Graphs, items: list[dict[str, Any]]) -> None:
    builds: dict[int, Built] = {}
    for part in (4, 2, 1):
        chosen = items[::part]
        file = write_corpus(graphs.folder / f"one-in-{part}.json", chosen)
        builds[len(chosen)] = built = graphs.build(f"growth-{part}", [Step(file, file)])
        graphs.stop(built.home)
    sizes = sorted(builds)
    found.add("graph writing, vectors remembered", builds[sizes[-1]].writing, "s", at_most=WRITING_LIMIT)
    exponent = growth(sizes, [builds[size].writing for size in sizes])
    found.add("growth of that, over a quarter, a half, all", exponent, "n^", at_most=GROWTH_LIMIT)
    found.notes.append(
        "Growth: every fourth passage, every second, all; a fresh server and home each; vectors remembered from the "
        "first build, so that looking them up (not counted) stands for embedding."
    )
