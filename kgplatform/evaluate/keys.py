"""By what an answer is known again: all that it depends on, as one hash. Where any of it changed, it is asked anew."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, is_dataclass
from functools import cache
from importlib import metadata, resources
from typing import Any

from kgplatform.build.settle import graph_state
from kgplatform.client import KnowledgeGraph
from kgplatform.evaluate.question import Question, Text
from kgplatform.evaluate.results import Build, Setup
from kgplatform.evaluate.setups import resolved

_OF_RUNS = {"Run", "Step"}
_RELATIONSHIPS_OF_RUNS = {"HAS_STEP", "NEXT_STEP", "FOUND", "CITES", "AT"}
_RATERS = ("rater_", "judge_")


def answer_key(setup: Setup, asked: Sequence[Any], question: Question, model: str, graph: str) -> str:
    """``asked``: the question's text and the options as the reader gets them; ``graph``: from a function below."""
    return fingerprint(
        {
            "setup": setup.name,
            "reader": setup.reader,
            "options": resolved(setup),
            "build": setup.build,
            "asked": asked,
            "question": [question.id, question.text, question.within, question.choices],
            "model": model,
            "graph": graph,
            "prompts": prompts_fingerprint(),
        }
    )


def question_fingerprint(question: Question) -> str:
    """All that scores depend on, beside the answer."""
    return fingerprint({"question": question, "version": _version()})


def graph_fingerprint(kg: KnowledgeGraph) -> str:
    """The state of a graph: its documents, how far they were read, what was built on them. Kept runs do not count."""
    stats = kg.stats()
    nodes = {label: count for label, count in stats.nodes.items() if label not in _OF_RUNS}
    joined = {kind: count for kind, count in stats.relationships.items() if kind not in _RELATIONSHIPS_OF_RUNS}
    return fingerprint(
        {"documents": kg.documents(), "state": graph_state(kg.store), "nodes": nodes, "relationships": joined}
    )


def texts_fingerprint(texts: Sequence[Text], build: Build, how: Mapping[str, Any]) -> str:
    """A graph that is made of ``texts`` for some questions alone; ``how``: what else it is made with."""
    return fingerprint({"texts": texts, "build": build, "how": how})


@cache
def prompts_fingerprint() -> str:
    """The prompts of this version of the package, but for those of raters, which no answer depends on."""
    folder = resources.files("kgplatform") / "prompts"
    files = sorted((each for each in folder.iterdir() if each.name.endswith(".md")), key=lambda each: each.name)
    return fingerprint(
        {each.name: each.read_text(encoding="utf-8") for each in files if not each.name.startswith(_RATERS)}
    )


def fingerprint(value: Any) -> str:
    """SHA-256, in hexadecimal, of something that JSON or ``asdict`` can write; the order of keys does not matter."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


@cache
def _version() -> str:
    return metadata.version("kgplatform")
