"""What the tests of the reader readagent share: gist memories that are written as they are given, and a model by rules.

    evidence = fill(store, folder, {"story.txt": [("The text of page 0 …", "its gist"), …]})
    model = Rereader(lookup=lambda asked: "I want to look up Page [5, 6] to …", choose=lambda asked: "Answer: (D)")

The pass that makes gists is not needed for that: see ``written_pages``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from model_by_prompt import Line, Model, Prompt
from texts import ingest
from written_pages import Written, define_pages, run, write_pages

from kgplatform.models.chat import Ledger
from kgplatform.models.hash_embedder import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.readers.readagent.reader import Options, answer
from kgplatform.readers.run import Run
from kgplatform.records import Answer
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.question import make_question
from kgplatform.testing import ScriptedChat

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


class Asked(Prompt):
    """A prompt of the reader, taken apart."""

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


class Rereader(Model[Asked]):
    """Plays the model: a rule for each kind of prompt, or replies in order."""

    def __init__(self, **rules: Line | Sequence[Line]) -> None:
        super().__init__(rules, Asked)


def ask(evidence: Evidence, model: Rereader, question: str, **options: Any) -> Answer:
    return answer(question, Run(evidence, ScriptedChat(model), Ledger()), Options(**options))


def details(answer: Answer, name: str) -> list[str]:
    """What the steps of this name say, in order."""
    return [each.detail for each in answer.trace if each.name == name]
