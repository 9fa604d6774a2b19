"""What people are shown of a search: the sentence of a passage, and the facts that speak to the question."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from data_sets import Data
from graphs import Built, Graphs
from tables import Section, Table

from kgplatform import FoundFact, FoundPassage, KnowledgeGraph, SearchResult
from kgplatform.evaluate.metrics import ranks
from kgplatform.evaluate.terms import Question
from kgplatform.models.embed import embed_question
from kgplatform.readers.relevance import FIRST, LEAST, judged
from kgplatform.text import tidy
from kgplatform.text.sentences import sentences

FIRSTS = (1, 2, 3, 10)
LEASTS = (0.1, 0.15, 0.2, 0.25, 0.3)
STRANGE = 200
"""Questions about other texts that are asked of a graph at most."""


class Paragraph(NamedTuple):
    """A supporting paragraph of HotpotQA; ``gold``: the characters of its supporting sentences."""

    question: str
    passage: FoundPassage
    others: list[FoundPassage]
    gold: list[tuple[int, int]]


def test_shown(section: Callable[[str, str], Section], graphs: Graphs, data: Data) -> None:
    found = section("shown", "What is shown: the best sentence of a passage, and the facts that speak to the question")
    _sentences(found, data, graphs)
    hotpotqa, musique, strange = data.hotpotqa_questions(), data.musique_questions(), data.medical_questions()[:STRANGE]
    _facts(found, graphs, "HotpotQA, local extractor", graphs.hotpotqa(), hotpotqa, (musique, strange))
    _in_sentences(found, graphs, data, graphs.hotpotqa())
    graphs.stop(graphs.hotpotqa().home)
    _facts(found, graphs, "MuSiQue, recorded triples", graphs.musique(), musique, (hotpotqa, strange))
    found.notes += [
        "A fact is right if a place that states it lies in a supporting passage.",
        "Without an answer: questions of the other two data sets, whose texts the graph does not have.",
        f"In use: the best sentences of the first {FIRST} passages, {LEAST} of the question.",
    ]


def _sentences(found: Section, data: Data, graphs: Graphs) -> None:
    """Of the supporting paragraphs with a choice, how often the chosen sentence is a supporting one."""
    paragraphs = [each for each in _paragraphs(data) if _has_choice(each)]
    ways: dict[str, Callable[[Paragraph], tuple[int, int]]] = {
        "by words (in use)": _by_words,
        "the first": lambda each: _places(each.passage)[0],
        "by cosine": lambda each: _by_cosine(each, graphs, ""),
        "by cosine, with the title": lambda each: _by_cosine(each, graphs, f"{each.passage.title}: "),
    }
    right = {
        name: 100 * sum(_hits(way(each), each) for each in paragraphs) / len(paragraphs) for name, way in ways.items()
    }
    found.add("best sentence is a supporting one", right["by words (in use)"], "%", at_least=75)
    rows = [(name, f"{share:.1f}") for name, share in right.items()]
    found.tables.append(
        Table(f"HotpotQA: one sentence of {len(paragraphs)} supporting passages", ("sentence", "right, %"), rows)
    )


def _paragraphs(data: Data) -> Iterator[Paragraph]:
    for each in data.read("hotpotqa/questions.json"):
        passages = [_passage(title, "".join(said)) for title, said in each["context"]]
        for passage, (title, said) in zip(passages, each["context"], strict=True):
            gold = {number for name, number in each["supporting_facts"] if name == title}
            at, spans = 0, []
            for number, sentence in enumerate(said):
                spans += [(at, at + len(sentence))] if number in gold else []
                at += len(sentence)
            if spans:
                yield Paragraph(each["question"], passage, passages, spans)


def _passage(title: str, text: str) -> FoundPassage:
    return FoundPassage(title, title, title, 0, len(text), None, text, 0.0, ())


def _places(passage: FoundPassage) -> list[tuple[int, int]]:
    return [(each.start, each.end) for each in sentences(passage.text)]


def _has_choice(each: Paragraph) -> bool:
    return any(not _hits(place, each) for place in _places(each.passage))


def _hits(place: tuple[int, int], each: Paragraph) -> bool:
    middle = sum(place) / 2
    return any(start <= middle < end for start, end in each.gold)


def _by_words(each: Paragraph) -> tuple[int, int]:
    result = judged(SearchResult(each.question, tuple(each.others), (), 0.0), each.question)
    (quote,) = (passage.sentence for passage in result.passages if passage.id == each.passage.id)
    return (quote.start, quote.end) if quote else _places(each.passage)[0]


def _by_cosine(each: Paragraph, graphs: Graphs, before: str) -> tuple[int, int]:
    places = _places(each.passage)
    vectors = graphs.embedder.embed([before + each.passage.text[start:end] for start, end in places])
    cosines = (vectors @ embed_question(graphs.embedder, each.question)).tolist()
    return max(zip(cosines, places, strict=True), key=lambda pair: pair[0])[1]


@dataclass(frozen=True, slots=True)
class Searched:
    """A search, and which of its facts a supporting passage states."""

    result: SearchResult
    right: frozenset[str] = frozenset()

    def shown(self, first: int, least: float) -> list[FoundFact]:
        """The facts that would be shown."""
        return [
            each for each in judged(self.result, self.result.question, first=first, least=least).facts if each.relevant
        ]


def _facts(
    found: Section,
    graphs: Graphs,
    title: str,
    built: Built,
    questions: Sequence[Question],
    others: Sequence[Sequence[Question]],
) -> None:
    with graphs.open(built.home) as graph:
        asked = [_search(graph, each) for each in questions]
        strange = [_search(graph, each) for each in (question for some in others for question in some)]
    found.add(f"{title}: shown facts that are right", _precision(asked, FIRST, LEAST), "%", at_least=88)
    found.add(f"{title}: questions that show any", _share(asked, FIRST, LEAST), "%")
    found.add(f"{title}: questions without an answer that show any", _share(strange, FIRST, LEAST), "%", at_most=10)
    kept = sum(len(each.right) for each in asked) / max(1, sum(len(each.result.facts) for each in asked))
    rows = [("all that are found", "", f"{100 * kept:.1f}", "100.0", "100.0")]
    for first in FIRSTS:
        for least in LEASTS:
            shares = (_precision(asked, first, least), _share(asked, first, least), _share(strange, first, least))
            rows.append((f"first {first}", f"{least:g}", *(f"{share:.1f}" for share in shares)))
    columns = ("best sentence of the", "of the question", "right, %", "any, %", "without an answer, %")
    found.tables.append(
        Table(f"{title}: facts shown for {len(asked)} questions and {len(strange)} others", columns, rows)
    )


def _in_sentences(found: Section, graphs: Graphs, data: Data, built: Built) -> None:
    """Of the facts shown for HotpotQA's questions, those that a supporting sentence states, not only its passage."""
    gold: dict[str, set[str]] = {}
    for each in _paragraphs(data):
        said = {tidy(each.passage.text[start:end]) for start, end in each.gold}
        gold.setdefault(tidy(each.question), set()).update(said)
    shown = []
    with graphs.open(built.home) as graph:
        for question, said in gold.items():
            result = graph.search(question)
            for fact in (fact for fact in result.facts if fact.relevant):
                stated = [tidy(words) for words in _sentences_with(fact, result.passages[:FIRST])]
                shown.append(any(words in sentence or sentence in words for words in stated for sentence in said))
    found.add("HotpotQA, local extractor: in a supporting sentence", 100 * sum(shown) / len(shown), "%")


def _sentences_with(fact: FoundFact, passages: Sequence[FoundPassage]) -> Iterator[str]:
    """The best sentences of ``passages`` that state ``fact``."""
    for passage in passages:
        quote = passage.sentence
        places = [place for place in fact.citations if place.passage == passage.id]
        if quote and any(place.start < quote.end and quote.start < place.end for place in places):
            yield quote.text


def _search(graph: KnowledgeGraph, question: Question) -> Searched:
    result = graph.search(question.text)
    ids = sorted({place.passage for fact in result.facts for place in fact.citations})
    stored = graph.evidence.stored(ids).passages
    right = {id_ for id_, passage in stored.items() if any(ranks(question.supports, [passage]))}
    return Searched(result, frozenset(fact.id for fact in result.facts if _is_in(fact, right)))


def _is_in(fact: FoundFact, passages: set[str]) -> bool:
    return any(place.passage in passages for place in fact.citations)


def _precision(asked: Sequence[Searched], first: int, least: float) -> float:
    shown = [fact.id in each.right for each in asked for fact in each.shown(first, least)]
    return 100 * sum(shown) / max(1, len(shown))


def _share(asked: Sequence[Searched], first: int, least: float) -> float:
    return 100 * sum(bool(each.shown(first, least)) for each in asked) / len(asked)
