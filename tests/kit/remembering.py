"""What the tests of the reader readagent share: gist memories that are written as they are given, and a model by rules.

    evidence = fill(store, folder, {"story.txt": [("The text of page 0 …", "its gist"), …]})
    model = Rereader(lookup=lambda asked: "I want to look up Page [5, 6] to …", choose=lambda asked: "Answer: (D)")

The pass that makes gists is not needed for that: see ``written_pages``.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from reading import Prompt
from texts import ingest
from written_pages import Written, define_pages, run, write_pages

from kgplatform.models.chat import Ledger
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.readers.readagent.reader import Options, answer
from kgplatform.readers.run import Run
from kgplatform.records import Answer
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.question import make_question
from kgplatform.testing import Fault, ScriptedChat

_MOVE = "UNWIND $rows AS row MATCH (p:Page {name: row.name}) SET p.embedding = row.vector"


def fill(store: Store, folder: Path, texts: Mapping[str, Sequence[Written]], passage_tokens: int = 1200) -> Evidence:
    """An empty graph, filled with documents by file name, each remembered by the pages that are given for it."""
    evidence = ingest(
        store, folder, {name: "\n\n".join(text for text, _ in pages) for name, pages in texts.items()}, passage_tokens
    )
    define_pages(store)
    for name, pages in texts.items():
        write_pages(store, Path(name).stem, pages)
    return evidence


def place_near(store: Store, question: str, pages: Sequence[str], best: Sequence[str]) -> None:
    """Give ``pages`` (names) vectors such that ``best`` are the nearest to ``question``, in that order.

    None is as near as the question itself: which of two that are comes first is nobody's to say.
    """
    towards = make_question(question, HashEmbedder(64)).vector
    away = [-number for number in towards]
    ranks = {name: rank for rank, name in enumerate(best)}
    rows = []
    for name in pages:
        share = 0.95 - 0.05 * ranks[name] if name in ranks else -1.0
        shift = [0.0] * 64
        shift[0] = 1 - abs(share)
        vector = towards if share > 0 else away
        rows.append({"name": name, "vector": [abs(share) * a + b for a, b in zip(vector, shift, strict=True)]})
    run(store, _MOVE, rows=rows)


def document_ids(evidence: Evidence) -> dict[str, str]:
    """The ids of the documents, by name."""
    found = run(evidence._store, "MATCH (d:Document) RETURN d.name AS name, d.id AS id")
    return {row[0]: row[1] for row in found}


# ----------------------------------------------------------------------------------------------------------- the model

STARTS = {
    "You remember a text by its gists: each": "lookup",
    "You remember a long text": "ordered",
    "You remember a text by its gists, under": "next",
    "You answer a question about a text that you remember": "answer",
    "You choose the right answer": "choose",
    "You answer a question from numbered": "own knowledge",
}


class Asked(Prompt):
    """A prompt of the reader, taken apart."""

    @property
    def question(self) -> str:
        return self.user.removeprefix("Question: ").partition("\n")[0]

    @property
    def data(self) -> str:
        """What stands between the tags."""
        found = re.search(r"<(data-\w+)>\n(.*?)\n?</\1>", self.user, re.DOTALL)
        assert found is not None
        return found[2]

    @property
    def memory(self) -> dict[int, str]:
        """What stands under each tag, by number, in order."""
        parts = re.split(r"^<Page (\d+)>\n", self.data, flags=re.MULTILINE)[1:]
        return {
            int(number): text.partition("\n\n# ")[0].rstrip("\n")
            for number, text in zip(parts[::2], parts[1::2], strict=True)
        }

    @property
    def read(self) -> str:
        """The list of pages that were read already."""
        found = re.search(r"Read again already \(.*\): (.*)", self.user)
        return found[1] if found else ""


Rule = Callable[[Asked], "str | Fault"]


class Rereader:
    """Plays the model: a rule for each kind of prompt, or replies in order. ``asked`` has every prompt, in order."""

    def __init__(self, **rules: Rule | Sequence[str | Fault | Exception]) -> None:
        self.asked: list[Asked] = []
        self._rules = rules
        self._lock = threading.Lock()

    def __call__(self, messages: Messages) -> Any:
        asked = Asked(kind(messages), messages)
        with self._lock:
            place = len(self.of(asked.kind))
            self.asked.append(asked)
        rule = self._rules[asked.kind]
        if callable(rule):
            return rule(asked)
        reply = rule[place]
        if isinstance(reply, Exception):
            raise reply
        return reply

    def of(self, kind: str) -> list[Asked]:
        return [each for each in self.asked if each.kind == kind]

    @property
    def kinds(self) -> list[str]:
        return [each.kind for each in self.asked]


def kind(messages: Messages) -> str:
    return next(name for start, name in STARTS.items() if messages[0]["content"].startswith(start))


def ask(evidence: Evidence, model: Rereader, question: str, **options: Any) -> Answer:
    return answer(question, Run(evidence, ScriptedChat(model), Ledger()), Options(**options))


def details(answer: Answer, name: str) -> list[str]:
    """What the steps of this name say, in order."""
    return [each.detail for each in answer.trace if each.name == name]
