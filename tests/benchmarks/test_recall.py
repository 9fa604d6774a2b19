"""Whether the passages that answer a question are found: supporting-passage recall."""

from collections.abc import Callable, Sequence

from data_sets import Data, recall
from graphs import Built, Graphs, nearest
from measure import MEMORY_LIMIT, PeakMemory
from tables import Section, Table

from kgplatform import KnowledgeGraph
from kgplatform.evaluate.terms import Question
from kgplatform.readers.baselines.retrieve import search_parts

CUTS = (2, 5, 10)
PARTS_WANTED = (93, 97)
"""R@5 and R@10 where each part of a question is searched, with the answers to the parts before it filled in."""
_ROW = ("", "R@2", "R@5", "R@10", "questions")


def test_recall(section: Callable[[str, str], Section], graphs: Graphs, data: Data) -> None:
    found = section("recall", "Recall: supporting passages among the first 2, 5 and 10")
    musique, hotpotqa = data.musique_questions(), data.hotpotqa_questions()
    _measure(found, graphs, "MuSiQue, recorded triples", graphs.musique(), musique, (78, 82))
    parts = [each.parts for each in musique]
    _with_tree(found, graphs, "MuSiQue, recorded triples", graphs.musique(), musique, parts)
    _measure(found, graphs, "HotpotQA, local extractor", graphs.hotpotqa(), hotpotqa, (86, 95))
    _with_tree(found, graphs, "HotpotQA, local extractor", graphs.hotpotqa(), hotpotqa)
    graphs.stop(graphs.hotpotqa().home)
    _measure(found, graphs, "MuSiQue, local extractor", graphs.musique_by_rules(), musique)
    graphs.stop(graphs.musique_by_rules().home)
    _measure(found, graphs, "2Wiki, local extractor, by templates", graphs.two_wiki(), data.two_wiki_questions())
    graphs.stop(graphs.two_wiki().home)
    found.notes.append("Dense: the nearest by the vector index of the same graph, in the same run.")


def _measure(
    found: Section,
    graphs: Graphs,
    title: str,
    built: Built,
    questions: Sequence[Question],
    wanted: tuple[float, float] | None = None,
) -> None:
    memory = PeakMemory()
    with graphs.open(built.home) as graph:
        rows = {"all": _by_route(graph, questions, "all"), "dense": _dense(graph, questions)}
    if wanted is not None:
        found.add(f"{title}: R@5", rows["all"][1], "%", at_least=wanted[0])
        found.add(f"{title}: R@10", rows["all"][2], "%", at_least=wanted[1])
    peak = max(memory.megabytes(), built.peak)
    found.add(f"{title}: peak memory of the Python process", peak, "MB", at_most=MEMORY_LIMIT)
    shown = [(name, *(f"{share:.1f}" for share in row), str(len(questions))) for name, row in rows.items()]
    found.tables.append(Table(title, ("route", *_ROW[1:]), shown))


def _with_tree(
    found: Section,
    graphs: Graphs,
    title: str,
    built: Built,
    questions: Sequence[Question],
    parts: Sequence[Sequence[str]] = (),
) -> None:
    """Build the tree, and compare; with ``parts``, search each part of a question too, and merge what is found."""
    with graphs.open(built.home) as graph:
        before = _by_route(graph, questions, "all")
        report = graph.build_tree()
        after = _by_route(graph, questions, "all")
        rows = {"all, without the tree": before, "all": after, "community": _by_route(graph, questions, "community")}
        if parts:
            rows["all, by parts"] = by_parts = _by_parts(graph, questions, parts)
    for at, cut in enumerate(CUTS[1:], start=1):
        found.add(f"{title}: R@{cut} with the tree, less R@{cut} without", after[at] - before[at], "%", at_least=0)
        if parts:
            found.add(f"{title}: R@{cut} by parts", by_parts[at], "%", at_least=PARTS_WANTED[at - 1])
    shown = [(name, *(f"{share:.1f}" for share in row), str(len(questions))) for name, row in rows.items()]
    tree = f"{report.communities:,} communities by the method {report.method}"
    found.tables.append(Table(f"{title}, with the knowledge tree: {tree}", ("route", *_ROW[1:]), shown))


def _by_parts(graph: KnowledgeGraph, questions: Sequence[Question], parts: Sequence[Sequence[str]]) -> list[float]:
    return recall(questions, (search_parts(graph.search, each, max(CUTS)).passages for each in parts), CUTS)


def _by_route(graph: KnowledgeGraph, questions: Sequence[Question], route: str) -> list[float]:
    results = (graph.search(each.text, route=route, top_k=max(CUTS)).passages for each in questions)
    return recall(questions, results, CUTS)


def _dense(graph: KnowledgeGraph, questions: Sequence[Question]) -> list[float]:
    return recall(questions, (nearest(graph, each.text, max(CUTS)) for each in questions), CUTS)
