"""Ways to answer a question with a small model: each reader, and a bare prompt over passages; and what comes of one.

What comes of a question is a dictionary for a journal: the text, what it cost, and of each citation whether it lies in
a passage that the data set says is needed. Scores are made of it later (``answer_tables``).
"""

import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import httpx
from graphs import nearest

from kgplatform import Citation, FoundPassage, KnowledgeGraph
from kgplatform.errors import KgError
from kgplatform.evaluate.metrics import ranks
from kgplatform.evaluate.terms import Question

Record = dict[str, Any]
PASSAGES = 5
"""Passages in a bare prompt."""

_PATIENCE = 1200
"""Seconds for one reply."""
_LONGEST = 64
"""Tokens of a reply to a bare prompt."""
_BARE = "{passages}\n\nQuestion: {question}\nAnswer in as few words as possible."
_LEFT_OUT = re.compile(r"(\d+) of the model's citations")


@dataclass(frozen=True, slots=True)
class Way:
    """A way to answer: ``name`` is unique, ``sets`` are those whose questions suit it.

    ``finds``: of a way with a bare prompt, what finds the passages; the others are readers of that ``name``.
    ``prepare``: what the graph lacks without it. ``model``: the file of the weights.
    """

    name: str
    sets: tuple[str, ...]
    finds: Callable[[KnowledgeGraph, str], Sequence[FoundPassage]] | None = None
    prepare: Callable[[KnowledgeGraph], Any] | None = None
    model: str = "qwen-1.5b.gguf"
    reader: str = ""

    def answer(self, graph: KnowledgeGraph, address: str, question: Question) -> Record:
        """What comes of ``question``, by the model at ``address``, which is the one of ``graph`` too."""
        started = time.perf_counter()
        if self.finds is not None:
            record = bare_answer(self.finds(graph, question.text), address, question.text)
        else:
            record = _read(graph, self.reader or self.name, question)
        return {**record, "seconds": round(time.perf_counter() - started, 2)}


WAYS = (
    Way("bare prompt, dense top 5", ("hotpotqa", "musique"), lambda graph, text: nearest(graph, text, PASSAGES)),
    Way(
        "bare prompt, our top 5",
        ("hotpotqa", "musique"),
        lambda graph, text: graph.search(text, top_k=PASSAGES).passages,
    ),
    Way("retrieve", ("hotpotqa", "musique")),
    Way("youtu", ("musique",)),
    Way("graphreader", ("sample",)),
    Way("readagent", ("sample",), prepare=lambda graph: graph.gist()),
    Way("longagent", ("sample",)),
    Way("global", ("broad",), prepare=lambda graph: graph.build_tree()),
    Way("cypher", ("counts",)),
    Way("retrieve, 0.5B", ("hotpotqa", "musique"), model="qwen-0.5b.gguf", reader="retrieve"),
)
DENSE, OURS, RETRIEVE, YOUTU = (way.name for way in WAYS[:4])


def bare_answer(passages: Sequence[FoundPassage], address: str, question: str) -> Record:
    shown = "\n\n".join(f"{each.title}\n{each.text}" for each in passages)
    prompt = _BARE.format(passages=shown, question=question)
    body = {"messages": [{"role": "user", "content": prompt}], "temperature": 0, "max_tokens": _LONGEST}
    reply = httpx.post(f"{address}/chat/completions", json=body, timeout=_PATIENCE).raise_for_status().json()
    used = reply["usage"]
    cost = {"calls": 1, "tokens_in": used["prompt_tokens"], "tokens_out": used["completion_tokens"]}
    return {"text": reply["choices"][0]["message"]["content"], **cost, "passages": [each.id for each in passages]}


def _read(graph: KnowledgeGraph, reader: str, question: Question) -> Record:
    before = graph.ledger.total
    try:
        answer = graph.ask(question.text, reader, answer_style="phrase")
    except KgError as error:
        spent = graph.ledger.total - before
        return {"text": None, "error": f"{type(error).__name__}: {error}", **_cost(spent)}
    left_out = _LEFT_OUT.search(answer.note)
    return {
        "text": answer.text,
        "note": answer.note,
        "refused": answer.sufficient is False,
        "statements": [[each.text, list(each.citations), list(each.unread)] for each in answer.statements],
        "citations": [_cited(graph, each, question) for each in answer.citations],
        "left_out": int(left_out[1]) if left_out else 0,
        "counts": answer.counts,
        "passages": [each.id for each in answer.evidence.passages],
        **_cost(answer.usage),
    }


def _cost(usage: Any) -> Record:
    return {"calls": usage.calls, "tokens_in": usage.input_tokens, "tokens_out": usage.output_tokens}


def _cited(graph: KnowledgeGraph, citation: Citation, question: Question) -> Record:
    """Where a citation lies. ``needed``: whether in a passage that the question needs; None if nobody knows these."""
    passage = graph.evidence.stored([citation.passage]).passages[citation.passage]
    needed = any(rank is not None for rank in ranks(question.supports, [passage])) if question.supports else None
    words = passage.text[citation.start - passage.start : citation.end - passage.start]
    return {"title": citation.title, "text": words, "needed": needed}
