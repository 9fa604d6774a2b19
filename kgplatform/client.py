"""The client: one object that every door calls.

from kgplatform import connect

with connect() as kg:
    kg.ingest("docs/")
    print(kg.search("Who designed the ship that …?").passages[0].text)
"""

from __future__ import annotations

import contextlib
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgplatform.changes import ChangeableGraph
from kgplatform.chat_thread import ChatThread
from kgplatform.errors import Code, InputError, ModelError, coded
from kgplatform.graph.info import Stats, element_graph
from kgplatform.graph.look import Look
from kgplatform.graph.runs import call_statistics, keep_run
from kgplatform.graph.threads import check_thread, remove_thread
from kgplatform.ingest.bound import MODES as MODES
from kgplatform.ingest.extract import extractors as extractors
from kgplatform.ingest.schema import Schema, load_schema, shipped_schemas
from kgplatform.models.chat import Chat
from kgplatform.models.embed import Embedder
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.models.own import AnswerMessages, EmbedTexts, as_chat, as_embedder
from kgplatform.neo4j.connect import open_store
from kgplatform.neo4j.statement_guard import why_refused
from kgplatform.readers.answer import joined
from kgplatform.readers.grounding import verified
from kgplatform.readers.readers import READERS, check_can_be_kept, find, options_for, stages_by_reader
from kgplatform.readers.relevance import judged, judged_answer
from kgplatform.readers.run import CONTEXT, Calls, Hear, Run, SchemaTypes, Tell, evidence_of_failure, listened
from kgplatform.records import SILENT, Answer, Progress, SearchResult, Step, Table
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.live_schema import live_schema, shown_schema
from kgplatform.retrieve.question import asked
from kgplatform.retrieve.search import SEARCHES as SEARCHES
from kgplatform.retrieve.search import search
from kgplatform.retrieve.within import documents_where, search_within
from kgplatform.settings import Settings, load_settings
from kgplatform.work.arguments import checked, typed
from kgplatform.work.spans import span
from kgplatform.work.stopping import Stop
from kgplatform.work.threads import heard

if TYPE_CHECKING:
    from kgplatform.exchange import ExchangeReport


@typed
def connect(
    *,
    home: str | Path | None = None,
    report: Callable[[str], None] = lambda line: None,
    chat: Chat | AnswerMessages | None = None,
    embedder: str | Embedder | EmbedTexts | None = None,
    **settings: Any,
) -> KnowledgeGraph:
    """Open the graph that the settings name: ``NEO4J_URI``, else the managed local server, which is started if need be.

    ``home`` and ``settings`` (names as in ``kgplatform.settings``) override the environment. ``report`` gets a line
    about whatever takes long. ``chat``, ``embedder``: models in place of those that are set: an object with the methods
    of the protocol ``Chat`` or ``Embedder``, or a function, from messages to a string and from texts to their vectors;
    ``embedder`` may be the name of one. Raises ``InputError``, ``ServerError`` if there is no usable server, and
    ``EmbeddingMismatchError`` if the graph was embedded by another model than the one that is set.
    """
    name, own = (embedder, None) if embedder is None or isinstance(embedder, str) else (None, as_embedder(embedder))
    model = as_chat(chat)  # what cannot be used is told before a server is started for it
    graph = open_graph(load_settings(home=home, embedder=name, **settings), report, embedder=own, chat=model)
    try:
        graph.check_model()
    except BaseException:  # whatever it is, close the connections and pass it on
        graph.close()
        raise
    return graph


def open_graph(
    settings: Settings,
    report: Callable[[str], None] = lambda line: None,
    *,
    embedder: Embedder | EmbedTexts | None = None,
    chat: Chat | AnswerMessages | None = None,
) -> KnowledgeGraph:
    """Like ``connect``, for work without embeddings: which model made the vectors is not checked.

    ``embedder``, ``chat``: models in place of those that are set, or functions, as for ``connect``.
    """
    models: dict[str, Any] = {"embedder": None if embedder is None else as_embedder(embedder), "chat": as_chat(chat)}
    store = open_store(settings, report)
    try:
        store.check()
    except BaseException:  # whatever it is, close the connections and pass it on
        store.close()
        raise
    return KnowledgeGraph(store, settings, **models, report=report)


def check_options(reader: str | None, options: Mapping[str, Any]) -> Any:
    """What ``reader`` makes of ``options`` in ``KnowledgeGraph.ask``: an object of its own class of options.

    Raises ``InputError`` for a reader or an option that does not exist, and for a value of the wrong type or out of
    bounds.
    """
    given = {name: value for name, value in options.items() if value is not None}
    return options_for(reader or READERS[0].name, given)


def _verified(answer: Answer, run: Run) -> Answer:
    """``answer`` with what the model says of its statements; as it is where there is no model, or where that fails."""
    if run.chat is None:
        return answer
    calls = Calls(run.chat, run.ledger, run.tell)
    try:
        return verified(answer, calls)
    except ModelError as error:
        note = joined(answer.note, f"Its statements were not verified: {error}")
        return replace(answer, note=note, usage=answer.usage + calls.usage)


def _above_zero(name: str, value: float | None) -> None:
    if value is not None and not value > 0:
        raise InputError(f"{name} must be more than 0.", name)


@checked
class KnowledgeGraph(ChangeableGraph):
    """An open graph. Close it, or use it in a ``with`` block. Searching is safe from several threads."""

    def search(
        self, question: str, route: str = "all", top_k: int = 10, *, where: Mapping[str, Any] | None = None
    ) -> SearchResult:
        """The passages and facts nearest to ``question`` by one route, or by all, best first, with citations.

        Each passage has its best ``sentence`` and a ``relevance``; a fact is ``relevant`` if it speaks to the question.
        ``where``: only documents with these metadata, such as ``{"author": "Verne", "year": [1869, 1870]}``: a list
        names values any of which will do. Raises ``InputError``.
        """
        self._need_documents()
        if where:
            asked(question)
            documents = documents_where(self.store, where)
            found = search_within(self.store, self.embedder, question, route, top_k, documents)
        else:
            found = search(self.store, self.embedder, question, route, top_k)
        return judged(found, question, self.embedder.name)

    def ask(
        self,
        /,
        question: str,
        reader: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        where: Mapping[str, Any] | None = None,
        keep: bool = False,
        verify: bool = False,
        on_step: Tell | None = None,
        on_text: Hear | None = None,
        stop: Stop | None = None,
        **more: Any,
    ) -> Answer:
        """An answer from the graph that cites sentences; without a language model, the evidence.

        ``reader``: by default the first of all. ``options`` and ``more`` are the reader's
        (docs/reference/commands.md); None stands for the default. All readers have ``mode``: "reject" refuses to answer
        if the documents do not say, "open" falls back on the model's own knowledge. ``where``: only documents with
        these metadata, as in ``search``; "global" and "cypher", which read the whole graph, refuse it. ``keep`` saves
        the run in the graph, as a ``Run`` with its ``Step`` nodes and edges to what it found. ``verify`` asks the model
        once more, whether the cited sentences support each statement (``Statement.supported``). ``on_step`` gets each
        step as it happens, ``on_text`` the answer so far while it is written (in another thread); what they raise ends
        the run. ``stop``, set by another thread, ends it within a second. Raises ``InputError``, ``StoppedError``, and
        ``ModelError``, whose ``evidence`` is what was found until then.
        """
        options = {**(options or {}), **more}
        chosen = check_options(reader, options)
        self._need_documents()
        asked(question)
        if options.get("documents"):
            chosen = replace(chosen, documents=tuple(info.id for info in self._named(options["documents"])))
        started, name = time.perf_counter(), reader or READERS[0].name
        only = self._only(name, where) if where else None
        told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        spanned = span(f"invoke_agent {name}", told, calls_out=False)
        with (
            spanned,
            self.run(on_step=on_step, on_text=on_text, stop=stop, only=only) as run,
            evidence_of_failure(question, run) as run,
        ):
            answer = find(name).answer(question, run, chosen)
            answer = _verified(answer, run) if verify else answer
        answer = judged_answer(answer, self.embedder.name)
        return keep_run(self.store, answer, self.model_name, time.perf_counter() - started) if keep else answer

    def stream(
        self,
        /,
        question: str,
        reader: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        where: Mapping[str, Any] | None = None,
        keep: bool = False,
        verify: bool = False,
        stop: Stop | None = None,
        **more: Any,
    ) -> Iterator[Step | str | Answer]:
        """What ``ask`` does, as it happens: each step, the text of the answer so far, and at last the answer.

        Only the answer has citations. A text is whole and takes the place of the one before; it is empty where the
        model starts over. Leaving the loop early stops the reader, as ``stop`` does. Raises what ``ask`` raises.
        """
        check_options(reader, {**(options or {}), **more})
        how: dict[str, Any] = {"options": options, "where": where, "keep": keep, "verify": verify, **more}

        def asked(hear: Callable[[Step | str], None], stop: Stop) -> Answer:
            return self.ask(question, reader, on_step=hear, on_text=hear, stop=stop, **how)

        return heard(asked, stop or self.store.stop)

    def chat(self, id: str | None = None) -> ChatThread:
        """A thread, whose ``ask`` understands follow-up questions and keeps each in the graph: a new one, or that with
        ``id``. Raises ``InputError`` if there is no such thread; ``look.threads`` lists them."""
        if id is not None:
            check_thread(self.store, id)
        return ChatThread(self, id or uuid.uuid4().hex)

    def remove_thread(self, id: str) -> None:
        """Remove a thread with its runs and their steps. Raises ``InputError`` if there is no such thread."""
        remove_thread(self.store, id)

    @contextlib.contextmanager
    def run(
        self,
        *,
        on_step: Tell | None = None,
        on_text: Hear | None = None,
        stop: Stop | None = None,
        only: Sequence[str] | None = None,
    ) -> Iterator[Run]:
        """What a reader gets for one question. Its ledger counts what that question alone spends. ``only``: ids of the
        documents that it is shown anything of."""
        with listened(on_step, stop or self.store.stop) as (tell, ended):
            graph = self.within(ended)
            chat = graph.language_model
            context = chat.context() if isinstance(chat, OpenAIChat) else self.settings.context_tokens
            evidence = Evidence(graph.store, graph.embedder, only)
            yield Run(evidence, chat, graph.ledger, graph._schema_types, tell, context or CONTEXT, on_text)

    @property
    def evidence(self) -> Evidence:
        """What readers read: searches, passages, pages and nodes of the graph."""
        return Evidence(self.store, self.embedder)

    @cached_property
    def look(self) -> Look:
        """What people look at: names, neighbours, the tree, the map, documents with their facts, saved runs."""
        return Look(self.store)

    def cypher(
        self,
        statement: str,
        parameters: dict[str, Any] | None = None,
        *,
        write: bool = False,
        guarded: bool = False,
        timeout: float | None = None,
        limit: int | None = None,
    ) -> Table:
        """Run a statement, read-only unless ``write``. ``timeout`` in seconds, ``limit`` in rows; default: as set.

        ``guarded``, for other people's statements: raises ``InputError`` for what no time-out ends
        (docs/reference/security.md).
        """
        _above_zero("timeout", timeout)
        _above_zero("limit", limit)
        if guarded and (why := why_refused(statement, parameters or {})):
            raise coded(Code.STATEMENT_REFUSED, why=why)
        return self.store.run_statement(
            statement,
            parameters or {},
            write=write,
            timeout=timeout or self.settings.cypher_timeout,
            limit=limit or self.settings.cypher_limit,
        )

    def schemas(self) -> dict[str, Schema]:
        """The shipped schemas and the graph's own, by name."""
        schemas = {name: load_schema(name) for name in shipped_schemas()}
        if (own := self.schema()) is not None:
            schemas.setdefault(own.schema.name, own.schema)
        return schemas

    def schema_text(self, tokens: int = 3000) -> str:
        """Labels, types, relations and properties with counts and examples, for someone who writes Cypher."""
        return shown_schema(live_schema(self.store)[0], tokens)

    def stats(self) -> Stats:
        """Counts of nodes by label and relationships by type, and of key elements with their facts and neighbours."""
        return Stats(
            counts := self.look.counts(),
            {row["type"]: row["count"] for row in self.store.read("graph/relationship_counts")},
            element_graph(self.store, counts),
            call_statistics(self.store, stages_by_reader()),
            self.store.read("graph/untyped")[0]["entities"],
        )

    def export(self, path: str | Path, format: str | None = None, *, progress: Progress = SILENT) -> ExchangeReport:
        """Write the whole graph to ``path``: "jsonl", "graphml", or "csv" (a folder); default: by its ending.

        The file appears when it is complete. Raises ``InputError`` for an unknown format.
        """
        from kgplatform.exchange import export_graph

        return export_graph(self.store, Path(path), format, progress)

    def _only(self, reader: str, where: Mapping[str, Any]) -> list[str]:
        """The ids of the documents ``where`` that is so. Raises ``InputError``, also where there are none."""
        check_can_be_kept(reader)
        found = documents_where(self.store, where)
        if not found:
            raise InputError("No document has these metadata. `documents` shows what each has.", "where")
        return found

    def _schema_types(self) -> SchemaTypes | None:
        """The schema with what was added to it, in the words that readers know."""
        if (found := self.schema()) is None:
            return None
        grown = found.schema.with_expansions(found.expansions)
        kinds = (grown.entities, grown.relations, grown.attributes)
        return SchemaTypes(grown.prompt_text(), *(tuple(each.name for each in kind) for kind in kinds))
