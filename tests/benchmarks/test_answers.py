"""Answers of a real, small language model: how right they are, what they rest on, and what they cost, by reader.

Hours on two cores: every answer is kept at once in a journal, ``.kgplatform/bench/answers/WAY.jsonl``, and a further
run asks only what is not answered yet. Delete a journal to have its way asked again. The tables are of all journals.
Questions with an even place in their set are for tuning; the odd half is reported apart too.
"""

import json
import os
import re
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from answer_tables import add_figures, differences, in_order, table
from answer_ways import WAYS, Record, Way
from conftest import RESULTS, ROOT
from data_sets import Data
from graphs import Graphs, Step
from tables import Section
from weights import WEIGHTS, is_up, served

from kgplatform import KnowledgeGraph
from kgplatform.evaluate.datasets import load
from kgplatform.evaluate.journal import Journal
from kgplatform.evaluate.terms import Question

EXAMPLES = ROOT / "examples"
SETS = {
    **{"hotpotqa": "HotpotQA, local extractor", "musique": "MuSiQue, recorded triples"},
    **{"sample": "The sample corpus, two hops", "broad": "The sample corpus, broad questions"},
    "counts": "The sample corpus, counts and lists",
}
MOST = {"hotpotqa": 100, "musique": 50}
"""Questions of a data set, the first ones."""
_COUNTS, _OTHERS = 20, 10
"""Of our own sets."""

_WAYS = [each.strip() for each in os.environ.get("KGPLATFORM_BENCH_ANSWERS", "").split(";") if each.strip()]
_SETS = os.environ.get("KGPLATFORM_BENCH_ANSWERS_SETS", "").split() or list(SETS)
_ASKED = "answers" in os.environ.get("ONLY", "").split()
_COUNT = int(os.environ.get("KGPLATFORM_BENCH_ANSWERS_QUESTIONS", "1000" if _ASKED else "0"))
_THREADS = int(os.environ.get("KGPLATFORM_BENCH_ANSWERS_THREADS", "1"))
_SERVER = os.environ.get("KGPLATFORM_BENCH_ANSWERS_SERVER", "")
_JOURNALS = Path(os.environ.get("KGPLATFORM_BENCH_ANSWERS_JOURNALS", RESULTS / "answers")).absolute()
_MODELS = ROOT / ".kgplatform" / "models"


@dataclass(frozen=True, slots=True)
class Work:
    """What a way has not answered yet of the set ``name``: questions with their places in it."""

    name: str
    way: Way
    questions: Sequence[tuple[int, Question]]


@pytest.mark.timeout(7 * 24 * 3600)
def test_answers(section: Callable[[str, str], Section], graphs: Graphs, data: Data) -> None:
    """Ask what is not answered yet, and put all answers into tables."""
    found = section("answers", "Answers of a real, small language model")
    for model in WEIGHTS:
        works = [work for name in _SETS for work in _works(name, model, data)]
        if works:
            with _model(model) as address:
                for name in dict.fromkeys(work.name for work in works):
                    with _graph(name, graphs, address) as graph:
                        _ask([work for work in works if work.name == name], graph, address)
    answered = [record for way in WAYS for record in _records(way)]
    if not answered:
        pytest.skip("Nothing is asked and nothing answered; make bench ONLY=answers asks, for hours.")
    _report(found, answered)


def _works(name: str, model: str, data: Data) -> list[Work]:
    """What is still to be asked of the set ``name``; nothing where its data is not there."""
    count = min(_COUNT, MOST.get(name, _COUNTS if name == "counts" else _OTHERS))
    ways = [way for way in WAYS if way.model == model and name in way.sets and way.name in (_WAYS or [way.name])]
    if not count or not ways or (name in MOST and not data.has(f"{name}/questions.json")):
        return []
    questions = list(enumerate(_questions(name, data)[:count]))
    works = []
    for way in ways:
        known = {record["question"] for record in _records(way) if record["set"] == name}
        works.append(Work(name, way, [(at, question) for at, question in questions if question.id not in known]))
    return [work for work in works if work.questions]


def _questions(name: str, data: Data) -> list[Question]:
    if name in MOST:
        return data.hotpotqa_questions() if name == "hotpotqa" else data.musique_questions()
    if name == "sample":
        return list(load(EXAMPLES / "questions.jsonl").questions)
    own = load(Path(__file__).parent / "sample_questions.jsonl").questions
    return [question for question in own if question.kind == {"broad": "broad", "counts": "count"}[name]]


@contextmanager
def _model(model: str) -> Iterator[str]:
    """The address of a server of ``model``: one that runs already, if the larger is wanted and it is named."""
    if _SERVER and model == next(iter(WEIGHTS)):
        yield _SERVER
        return
    file = _MODELS / model
    if not file.exists():
        pytest.skip(f"The weights are not there: {file}. make bench ONLY=answers brings them.")
    with served(file, _THREADS) as address:
        yield address


@contextmanager
def _graph(name: str, graphs: Graphs, address: str) -> Iterator[KnowledgeGraph]:
    """The graph of a set, with the model at ``address``, which answers one request at a time."""
    if name in MOST:
        built = graphs.hotpotqa() if name == "hotpotqa" else graphs.musique()
    else:
        built = graphs.once("sample", [Step(EXAMPLES / "corpus", EXAMPLES / "extraction.jsonl")])
    settings: dict[str, Any] = {"openai_base_url": address, "model_timeout": 1200, "concurrency": 1}
    with graphs.open(built.home, **settings) as graph:
        yield graph


def _ask(works: Sequence[Work], graph: KnowledgeGraph, address: str) -> None:
    """Each question to every way before the next one; each answer is kept as it comes.

    Fails where the model's server is gone.
    """
    told = subprocess.run(["git", "-C", str(ROOT), "describe", "--always", "--dirty"], capture_output=True, text=True)
    for prepare in {work.way.prepare for work in works if work.way.prepare is not None}:
        prepare(graph)
    turns = [(at, question, work) for work in works for at, question in work.questions]
    for at, question, work in sorted(turns, key=lambda turn: turn[0]):
        record = work.way.answer(graph, address, question)
        assert is_up(address), f"The model's server at {address} does not answer."
        about = {"key": f"{work.name}/{question.id}", "set": work.name, "at": at, "question": question.id}
        asked = {"asked": question.text, "answers": question.answers, "code": told.stdout.strip()}
        with Journal(_file(work.way)) as journal:
            journal.add({**about, **asked, **record})
        print(f"{work.way.name}, {work.name} {at}: {record['text']!r}, {record['seconds']} s", flush=True)


def _file(way: Way) -> Path:
    return _JOURNALS / f"{re.sub(r'[^a-z0-9.]+', '-', way.name.lower())}.jsonl"


def _records(way: Way) -> list[Record]:
    """What is in the journal of ``way``, of each question the last."""
    if not _file(way).exists():
        return []
    lines = _file(way).read_text("utf-8").splitlines()
    records = {record["key"]: record for record in map(json.loads, lines) if "key" in record}.values()
    return [{**record, "way": way.name} for record in records]


def _report(found: Section, answered: Sequence[Record]) -> None:
    """A table of each set, and what is wanted."""
    for name, title in SETS.items():
        answers = in_order([record for record in answered if record["set"] == name])
        if answers:
            add_figures(found, title, answers)
            found.tables.append(table(title, answers))
            if name in MOST:
                found.tables.append(differences(f"{title}: paired", answers))
    found.notes += [
        "Odd: questions with an odd place in their set alone, which nothing was tuned to. Cited: of the answers that "
        "the model itself calls answers. Exist: of the sentences cited, those that the model was shown. In gold: of "
        "the citations, those in a passage that the question needs. Tokens and seconds: means of a question.",
        "Intervals: bootstrap over questions. p: paired permutation test, not adjusted.",
        f"Models: {'; '.join(each.title for each in WEIGHTS.values())}, on llama.cpp, greedy.",
        f"Answered by the code at {', '.join(sorted({record['code'] for record in answered}))}.",
    ]
