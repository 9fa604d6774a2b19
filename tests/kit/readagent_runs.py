"""What the tests of the reader readagent share: gist memories that are written as they are given, and a model by rules.

    evidence = fill(store, folder, {"story.txt": [("The text of page 0 …", "its gist"), …]})
    model = Rereader(lookup=pages(5, 6), choose=chosen("D"))

The pass that makes gists is not needed for that: see ``written_pages``.
"""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from model_by_prompt import Line, Model, Prompt
from texts import ingest
from written_pages import Written, define_pages, run, write_pages

from kgplatform.client import KnowledgeGraph
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.readers.readagent.reader import Options, answer
from kgplatform.readers.run import Run
from kgplatform.records import Answer
from kgplatform.search.evidence import Evidence
from kgplatform.search.question import Question
from kgplatform.testing import ScriptedChat
from kgplatform.text.sentences import lines

_NUMBER = re.compile(r"^\[\d+\.\d+\] ", re.MULTILINE)
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
    towards = Question(question, HashEmbedder(64)).vector
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


class Asked(Prompt):
    """A prompt of the reader, taken apart."""

    @property
    def memory(self) -> dict[int, str]:
        """What stands under each tag, by number, in order; sentences with their numbers."""
        return {number: text.partition("\n\n# ")[0].rstrip("\n") for number, text in self.pages.items()}

    def plain(self, number: int) -> str:
        """A page as it stands in full, its sentences in lines, without their numbers."""
        return _NUMBER.sub("", self.memory[number])

    @property
    def full(self) -> list[int]:
        """The numbers of the pages that stand in full."""
        return [number for number, text in self.memory.items() if _NUMBER.match(text)]

    def number_of(self, words: str) -> str:
        """The number of the sentence in which ``words`` stand, in brackets; empty for none."""
        found = re.search(rf"^(\[[\d.]+\]) .*{re.escape(words)}", self.data, re.MULTILINE)
        return found[1] if found else ""

    @property
    def read(self) -> str:
        """The list of pages that were read already."""
        found = re.search(r"Read again already: (.*)", self.user)
        return found[1] if found else ""


class Rereader(Model[Asked]):
    """Plays the model: a rule for each kind of prompt, or replies in order."""

    def __init__(self, **rules: Line | Sequence[Line]) -> None:
        super().__init__(rules, Asked)


def pages(*numbers: int) -> str:
    return json.dumps({"reasoning": "To see.", "pages": numbers})


def page(number: int | str) -> str:
    """A reply that asks for one page, or says STOP."""
    return json.dumps({"reasoning": "To see.", "page": number})


def chosen(letter: str, *evidence: str) -> str:
    return json.dumps({"evidence": evidence, "choice": letter})


def said(answer: str, *evidence: str, sufficient: bool = True) -> str:
    return json.dumps({"evidence": evidence, "answer": answer, "sufficient": sufficient})


def cites(answer: str, words: str = "") -> Callable[[Asked], str]:
    """Answers, and cites the first sentence that has ``words``, or those of the answer."""
    return lambda asked: said(answer, asked.number_of(words or answer))


def in_lines(text: str) -> str:
    """A text with each of its sentences in a line, as a page in full has them."""
    return _NUMBER.sub("", lines(text, "1"))


def ask(evidence: Evidence, model: Rereader, question: str, **options: Any) -> Answer:
    return answer(question, Run(evidence, ScriptedChat(model), Ledger()), Options(**options))


def details(answer: Answer, name: str) -> list[str]:
    """What the steps of this name say, in order."""
    return [each.detail for each in answer.trace if each.name == name]


def first_sentence(messages: Messages) -> str:
    """Says the first sentence of the first passage."""
    found = re.search(r"^\[(\d+\.\d+)\] ([^.]+)", messages[-1]["content"], re.MULTILINE)
    number, words = found.groups() if found else ("", "")
    return json.dumps({"evidence": [number], "answer": f"{words} [{number}].", "sufficient": True})


def read_again(graph: KnowledgeGraph) -> None:
    """Two pages of one document, and a kept run that read the first of them again."""
    define_pages(graph.store)
    document = graph.documents()[0].title
    write_pages(graph.store, document, [("The first page.", "The first."), ("All the rest.", "The rest.")])
    chat = ScriptedChat([pages(0), said("It says so.", "1.1")])
    reading = KnowledgeGraph(graph.store, graph.settings, embedder=HashEmbedder(64), chat=chat)
    assert reading.ask("What does it say?", "readagent", documents=[document], keep=True).counts["pages.looked_up"] == 1
