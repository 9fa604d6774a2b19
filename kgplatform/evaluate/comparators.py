"""What readers are compared with: the retrievers of neo4j-graphrag over the same graph, and the model alone.

The retrievers of Neo4j's own package neo4j-graphrag, over the same database and the same embedding model.

    retriever = Official(kg, "official-hybrid")
    retriever.search("Who designed the ship that laid the cable?", 10).passages
    official_answer(kg, "Who designed the ship?", "official-vector", "reject", 10).text

They are used as their documentation has it, with all options as they are by default. One thing is done for them: the
library hands a question to Lucene as it is, where "/" and "(" are operators and can be errors; such signs are escaped.
"""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ModelError, ReplyError, SettingError, StoreError, to_install
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import fence_for, render
from kgplatform.readers.answer import OWN_KNOWLEDGE, REFUSAL, REPLY_TOKENS, STYLES, Answered, record
from kgplatform.readers.baselines.retrieve import answer_from, found_elsewhere
from kgplatform.readers.reader import AnswerMode, AnswerStyle, check, option, style_option
from kgplatform.readers.run import Calls
from kgplatform.records import Answer, SearchResult
from kgplatform.text import WORD_RUN, tidy, unknown

CLOSED = "closed"
OFFICIAL = ("official-vector", "official-hybrid")
ROUTES = ("bm25", "dense", "hybrid")
"""Comparators that are the reader ``retrieve`` by the route of that name."""
_PACKAGE = "neo4j_graphrag"
_VECTORS, _WORDS = "chunk_embedding", "chunk_text"
"""The indexes of passages (cypher/neo4j/schema): by meaning, and by words."""
_SIGNS = re.compile(r'[-+!(){}\[\]^"~*?:\\/&|<>=]')
_OPERATORS = re.compile(r"\b(?:AND|OR|NOT|TO)\b")


@dataclass(frozen=True, slots=True)
class ClosedOptions:
    """The model alone, without any document: nothing could make it refuse."""

    mode: AnswerMode = "open"
    answer_style: AnswerStyle = style_option()

    def __post_init__(self) -> None:
        check(self)
        if self.mode != "open":
            raise InputError("closed is the model without documents: its only mode is open.")


@dataclass(frozen=True, slots=True)
class OfficialOptions:
    """Retrieval by neo4j-graphrag, the answer by our prompt, over ``top_k`` passages."""

    mode: AnswerMode = "reject"
    top_k: int = option(10, "number of passages", least=1)
    answer_style: AnswerStyle = style_option()

    def __post_init__(self) -> None:
        check(self)


OPTIONS: dict[str, type[Any]] = {**dict.fromkeys(OFFICIAL, OfficialOptions), CLOSED: ClosedOptions}
"""Of the comparators that are no readers."""


class Official:
    """One of their retrievers over the passages of ``kg``: ``official-vector``, or ``official-hybrid``.

    Raises ``SettingError`` if neo4j-graphrag is not installed, ``InputError`` for a graph that has no indexes yet.
    """

    def __init__(self, kg: KnowledgeGraph, kind: str) -> None:
        if kind not in OFFICIAL:
            raise InputError(unknown("official retriever", kind, OFFICIAL))
        if not is_installed():
            raise SettingError(f"neo4j-graphrag is not installed. Run `{to_install('graphrag')}`.")
        if kg.schema() is None:
            raise InputError("The graph is empty, or its first ingest was not finished. Run `kgplatform ingest` first.")
        self.kind = kind
        self._kg = kg
        with self._theirs("the set-up") as driver:
            self._retriever = self._made(driver)

    def search(self, question: str, top_k: int = 10) -> SearchResult:
        """The ``top_k`` best passages as neo4j-graphrag finds and orders them.

        Raises ``InputError`` for a question without any word, ``StoreError`` where the library fails.
        """
        started = time.perf_counter()
        asked = tidy(question)
        if not WORD_RUN.search(asked):
            raise InputError("The question is empty. Ask it in words.")
        query: dict[str, Any] = {"query_text": asked}
        with self._theirs("a search"):
            if self.kind != "official-vector":  # it gets the vector too: it would embed the escaped words
                vector = self._retriever.embedder.embed_query(asked)
                query = {"query_text": escaped(asked), "query_vector": vector}
            found = self._retriever.search(**query, top_k=top_k)
        scores = {item.content: float(item.metadata["score"]) for item in found.items}
        result = found_elsewhere(self._kg.evidence, asked, scores, self.kind)
        return SearchResult(asked, result.passages, (), round(time.perf_counter() - started, 4))

    def _made(self, driver: Any) -> Any:
        # Here: half a second to load, and an extra that few have.
        from neo4j_graphrag.retrievers import HybridRetriever, VectorRetriever

        from kgplatform.interfaces.integrations.neo4j_graphrag import KgEmbedder

        options: dict[str, Any] = {
            "return_properties": ["id"],
            "result_formatter": _item,
            "neo4j_database": self._kg.connection.database,
        }
        embedder = KgEmbedder(self._kg)
        if self.kind == "official-vector":
            return VectorRetriever(driver, _VECTORS, embedder, **options)
        return HybridRetriever(driver, _VECTORS, _WORDS, embedder, **options)

    @contextmanager
    def _theirs(self, doing: str) -> Iterator[Any]:
        """Their work, with the driver; what goes wrong is raised as the platform's errors."""
        from neo4j_graphrag.exceptions import Neo4jGraphRagError

        what = f"{doing} of neo4j-graphrag's {self.kind.removeprefix('official-')} retriever"
        try:
            with self._kg.lend_driver(what) as driver:
                yield driver
        except Neo4jGraphRagError as error:
            ours = error.__cause__
            if isinstance(ours, ModelError):  # which KgEmbedder told in their words
                raise ours from ours.__cause__
            raise StoreError(f"neo4j-graphrag failed at {what}: {error}") from error


def is_installed() -> bool:
    """Whether neo4j-graphrag is there (extra ``graphrag``)."""
    return find_spec(_PACKAGE) is not None


def official_answer(
    kg: KnowledgeGraph,
    question: str,
    kind: str,
    mode: AnswerMode = "reject",
    top_k: int = 10,
    answer_style: AnswerStyle = "sentences",
) -> Answer:
    """Their retrieval and the platform's own answer, with its prompt and its citations.

    So it differs from the reader ``retrieve`` by what was retrieved alone. Raises what ``Official`` raises, and
    ``ModelError``.
    """
    with kg.run() as run:
        return answer_from(Official(kg, kind).search(question, top_k), run, mode, kind, answer_style)


def escaped(question: str) -> str:
    """``question`` as words for Lucene's query parser, which has operators among signs and words in capitals.

    >>> escaped("Who sang AC/DC AND won?")
    'Who sang AC\\\\/DC and won\\\\?'
    """
    return _OPERATORS.sub(lambda found: found[0].lower(), _SIGNS.sub(lambda sign: "\\" + sign[0], question))


def _item(record: Any) -> Any:
    """Their result for one passage: its id, and the score."""
    from neo4j_graphrag.types import RetrieverResultItem

    return RetrieverResultItem(content=record["node"]["id"], metadata={"score": record["score"]})


_NO_ANSWER = "The language model gave no answer from its own knowledge."
_ZERO_SHOT = "evaluate/zero_shot"
_THOUGHTS = 200
"""Tokens of them, before the answer."""


class Known(Form):
    """The answer that the model holds right, or most likely."""

    reasoning: str = text(600)
    answer: str


def answer_closed(question: str, calls: Calls, options: ClosedOptions) -> Answer:
    """What the model knows by itself; it cites nothing. Raises ``ModelError``."""
    style = options.answer_style
    mark = calls.mark()
    messages = render(_ZERO_SHOT, question=question, style=STYLES[style], fence=fence_for(question))
    try:
        said, _ = ask(calls, messages, Known, stage="answer", tokens=_THOUGHTS + REPLY_TOKENS[style])
        told, answered = "from the model's own knowledge", Answered(said.answer.strip(), note=OWN_KNOWLEDGE)
    except ReplyError:
        told, answered = "the model gave no answer", Answered(REFUSAL, note=_NO_ANSWER)
    calls.add("answer", told, mark, prompt=_ZERO_SHOT)
    return record(CLOSED, answered, SearchResult(question, (), (), 0.0), calls)
