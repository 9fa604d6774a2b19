"""Whether a search found anything that fits: the relevance of passages, calibrated and measured.

Each graph is asked its own questions, and some whose answer no text of it has. A logistic regression over the passages
that HotpotQA's graph gives finds the weights; they are measured on graphs and questions that took no part in it. Near
misses are questions of HotpotQA whose supporting passages were left out of the graph: nothing but their distractors is
there.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from data_sets import Data, write_corpus
from graphs import MODEL, Built, Graphs, Step
from measure import percentile
from numpy.typing import NDArray
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from tables import Section, Table

from kgplatform import KnowledgeGraph, SearchResult
from kgplatform.evaluate.metrics import ranks
from kgplatform.evaluate.terms import Question
from kgplatform.readers.relevance import FITS, relevance_of, shares

WRONGLY = (1, 5, 10)
"""Percent of the questions without an answer that a threshold lets pass."""
BINS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
NONSENSE = (
    *("asdf qwerty zxcv", "lorem ipsum dolor sit amet", "What is the airspeed of an unladen blorp?"),
    *("Who won the chess cup of 2031?", "How do I reset the password of my router?"),
    *("What will the weather be tomorrow?", "Which recipe for tiramisu needs no eggs?"),
    *("How do I sort a list in Python by two keys?", "hello", "Where did I leave my keys?"),
)


@dataclass(frozen=True, slots=True)
class Asked:
    """A search: of each passage its cosine and its share of the question, and whether it is a supporting one."""

    features: NDArray[np.float64]
    right: NDArray[np.bool_]
    answerable: bool

    @property
    def best(self) -> float:
        """The relevance of the best passage that shares a word with the question, with the weights in use."""
        shared = self.features[:, 1] > 0
        return max((each for each, is_shared in zip(self.relevance, shared, strict=True) if is_shared), default=0.0)

    @property
    def relevance(self) -> list[float]:
        return [relevance_of(cosine, share, MODEL) for cosine, share in self.features.tolist()]


def test_fits(section: Callable[[str, str], Section], graphs: Graphs, data: Data) -> None:
    found = section("fits", "Whether anything fits: the relevance of passages, calibrated and held out")
    hotpotqa, musique, medical = data.hotpotqa_questions(), data.musique_questions(), data.medical_questions()[::5]
    nonsense = [Question(str(number), text) for number, text in enumerate(NONSENSE)]
    strange = data.two_wiki_questions()
    fitted = _ask(graphs, graphs.hotpotqa(), hotpotqa, [*strange, *medical[::2], *nonsense])
    _fit(found, fitted)
    _measure(found, "HotpotQA (the weights are from it)", fitted)
    held_out = {
        "MuSiQue, recorded triples": _ask(graphs, graphs.musique(), musique, [*hotpotqa, *medical[1::2]]),
        "Medical, one text": _ask(graphs, graphs.medical(), medical[1::2], [*musique, *hotpotqa]),
        "HotpotQA, near misses": _near_misses(graphs, data, hotpotqa),
    }
    for name, asked in held_out.items():
        _measure(found, name, asked)
    _curve(found, {"HotpotQA (fitted)": fitted, **held_out})
    _reliability(found, [each for name, asked in held_out.items() if "Medical" not in name for each in asked])
    found.notes += [
        f"A search fits if its best passage has a relevance of {FITS:g} or more.",
        "Without an answer: questions of the other data sets and nonsense; half of the medical ones and MuSiQue's are "
        "no part of the fit.",
        "The medical questions do not say which passage answers them: they count by question alone.",
    ]


def _near_misses(graphs: Graphs, data: Data, questions: Sequence[Question]) -> list[Asked]:
    """Every other question's supporting passages are left out of the graph."""
    kept = {support.title for each in questions[::2] for support in each.supports}
    left_out = {support.title for each in questions[1::2] for support in each.supports} - kept
    items = [
        {"title": title, "text": "".join(said)}
        for each in data.read("hotpotqa/questions.json")
        for title, said in each["context"]
        if title not in left_out
    ]
    once = list({each["title"]: each for each in items}.values())
    built = graphs.once("hotpotqa-without", [Step(write_corpus(Path(graphs.folder) / "hotpotqa-without.json", once))])
    missed = [each for each in questions[1::2] if all(support.title in left_out for support in each.supports)]
    return _ask(graphs, built, questions[::2], missed)


def _ask(graphs: Graphs, built: Built, own: Sequence[Question], strange: Sequence[Question]) -> list[Asked]:
    with graphs.open(built.home) as graph:
        asked = [*_searched(graph, own, True), *_searched(graph, strange, False)]
    graphs.stop(built.home)
    return asked


def _searched(graph: KnowledgeGraph, questions: Sequence[Question], answerable: bool) -> Iterator[Asked]:
    for question in questions:
        result = graph.search(question.text)
        yield Asked(_features(result), _right(result, question, answerable), answerable)


def _features(result: SearchResult) -> NDArray[np.float64]:
    cosines = [each.cosine for each in result.passages]
    return np.array(list(zip(cosines, shares(result, result.question), strict=True)), np.float64).reshape(-1, 2)


def _right(result: SearchResult, question: Question, answerable: bool) -> NDArray[np.bool_]:
    supports = question.supports if answerable else ()
    return np.array([any(ranks(supports, [each])) for each in result.passages], np.bool_)


def _fit(found: Section, asked: Sequence[Asked]) -> None:
    """Questions with an answer weigh as much together as those without."""
    counts = {kind: sum(each.answerable is kind for each in asked) for kind in (True, False)}
    weights = np.concatenate([np.full(len(each.right), 1 / counts[each.answerable]) for each in asked])
    features, right = np.concatenate([each.features for each in asked]), np.concatenate([each.right for each in asked])
    model = LogisticRegression(C=1000, max_iter=2000).fit(features, right, weights * len(weights) / weights.sum())
    numbers = (model.intercept_[0], *model.coef_[0])
    names = ("intercept", "weight of the cosine", "weight of the share")
    found.tables.append(Table("Weights", names, [[f"{number:.1f}" for number in numbers]]))


def _measure(found: Section, name: str, asked: Sequence[Asked]) -> None:
    """Near misses are no part of what is wanted: the rule cannot tell a distractor from an answer."""
    wanted = {} if "near" in name else {"at_least": 95.0}
    best, answerable = _best(asked)
    found.add(f"{name}: area under the curve", 100 * roc_auc_score(answerable, best), "%", **wanted)
    found.add(f"{name}: questions with an answer that fit", 100 * (best[answerable] >= FITS).mean(), "%", at_least=90)
    bounds = {} if "near" in name else {"at_most": 12.0}
    found.add(f"{name}: without an answer that fit", 100 * (best[~answerable] >= FITS).mean(), "%", **bounds)


def _best(asked: Sequence[Asked]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    return np.array([each.best for each in asked]), np.array([each.answerable for each in asked], np.bool_)


def _curve(found: Section, sets: dict[str, Sequence[Asked]]) -> None:
    rows = []
    for name, asked in sets.items():
        best, answerable = _best(asked)
        cuts = [percentile(best[~answerable].tolist(), 100 - share) for share in WRONGLY]
        passed = [f"{100 * (best[answerable] > cut).mean():.1f} (from {cut:.3f})" for cut in cuts]
        rows.append((name, str(answerable.sum()), str((~answerable).sum()), *passed))
    columns = ("graph", "with an answer", "without", *(f"{share} % wrongly" for share in WRONGLY))
    found.tables.append(Table("Questions with an answer that pass, %, where so many without one do", columns, rows))


def _reliability(found: Section, asked: Sequence[Asked]) -> None:
    """Questions with an answer weigh as much together as those without, as in the fit."""
    answerable = np.array([each.answerable for each in asked for _ in each.right], np.bool_)
    relevance = np.array([number for each in asked for number in each.relevance])
    right = np.concatenate([each.right for each in asked])
    counts = {kind: sum(each.answerable is kind for each in asked) for kind in (True, False)}
    weights = np.where(answerable, 1 / counts[True], 1 / counts[False])
    rows = []
    for low, high in zip(BINS, BINS[1:], strict=False):
        inside = (relevance >= low) & ((relevance < high) | (high == 1))
        if inside.any():
            said, true = (np.average(each[inside], weights=weights[inside]) for each in (relevance, right))
            rows.append((f"{low:g} to {high:g}", str(inside.sum()), f"{said:.3f}", f"{true:.3f}"))
    found.tables.append(
        Table("Held-out passages by relevance", ("relevance", "passages", "mean relevance", "supporting"), rows)
    )
