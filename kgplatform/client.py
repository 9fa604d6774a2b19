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

from kgplatform.chat_thread import ChatThread
from kgplatform.errors import InputError
from kgplatform.graph.info import DocumentInfo, Stats, element_graph
from kgplatform.graph.look import Look
from kgplatform.graph.runs import call_statistics, keep_run
from kgplatform.graph.threads import check_thread, remove_thread
from kgplatform.ingest.bound import MODES as MODES
from kgplatform.ingest.bound import Mode
from kgplatform.ingest.estimate import Estimate, estimate
from kgplatform.ingest.extract import EXTRACTORS as EXTRACTORS
from kgplatform.ingest.extract import Extractor, default_extractor, make_extractor, with_recording
from kgplatform.ingest.extract.local import LocalExtractor
from kgplatform.ingest.extract.recorded import RecordedExtractor
from kgplatform.ingest.extract_pass import Tools
from kgplatform.ingest.pipeline import IngestReport, ingest, ingest_facts, remove_documents
from kgplatform.ingest.schema import Schema, load_schema, shipped_schemas
from kgplatform.ingest.settle import reembed
from kgplatform.models.chat import Chat
from kgplatform.models.embed import Embedder
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.connect import open_store
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.statement_guard import why_refused
from kgplatform.opened import OpenedGraph
from kgplatform.readers.readers import READERS, find, options_for, stages_by_reader
from kgplatform.readers.relevance import judged, judged_answer
from kgplatform.readers.run import CONTEXT, Hear, Run, SchemaTypes, Tell, evidence_of_failure, listened
from kgplatform.records import Answer, Progress, SearchResult, Table
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.live_schema import live_schema, shown_schema
from kgplatform.retrieve.question import asked
from kgplatform.retrieve.search import SEARCHES as SEARCHES
from kgplatform.retrieve.search import search
from kgplatform.settings import Settings, load_settings
from kgplatform.text import unknown
from kgplatform.work.spans import span
from kgplatform.work.stopping import Stop

if TYPE_CHECKING:
    from kgplatform.exchange import ExchangeReport
    from kgplatform.gist.options import GistReport
    from kgplatform.tree.build_tree import TreeReport

_SILENT: Progress = lambda stage, done, total: None  # noqa: E731 - a default, not a definition


def connect(
    *, home: str | Path | None = None, report: Callable[[str], None] = lambda line: None, **settings: Any
) -> KnowledgeGraph:
    """Open the graph that the settings name: ``NEO4J_URI``, else the managed local server, which is started if need be.

    ``home`` and ``settings`` (names as in ``kgplatform.settings``) override the environment. ``report`` gets a line
    about whatever takes long. Raises ``ServerError`` if there is no usable server and ``EmbeddingMismatchError`` if the
    graph was embedded by another model than the one that is set.
    """
    graph = open_graph(load_settings(home=home, **settings), report)
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
    embedder: Embedder | None = None,
    chat: Chat | None = None,
) -> KnowledgeGraph:
    """Like ``connect``, for work without embeddings: which model made the vectors is not checked.

    ``embedder``, ``chat``: models in place of those that are set.
    """
    store = open_store(settings, report)
    try:
        store.check()
    except BaseException:  # whatever it is, close the connections and pass it on
        store.close()
        raise
    return KnowledgeGraph(store, settings, embedder=embedder, chat=chat, report=report)


def check_options(reader: str | None, options: Mapping[str, Any]) -> Any:
    """What ``reader`` makes of ``options`` in ``KnowledgeGraph.ask``: an object of its own class of options.

    Raises ``InputError`` for a reader or an option that does not exist, and for a value of the wrong type or out of
    bounds.
    """
    given = {name: value for name, value in options.items() if value is not None}
    return options_for(reader or READERS[0].name, given)


class KnowledgeGraph(OpenedGraph):
    """An open graph. Close it, or use it in a ``with`` block. Searching is safe from several threads."""

    def ingest(
        self,
        paths: str | Path | Sequence[str | Path] = (),
        *,
        schema: str | Path | Schema | None = None,
        extractor: str | Extractor | None = None,
        recorded: str | Path | None = None,
        mode: Mode | None = None,
        facts: bool = False,
        prune: bool = False,
        reread: bool = False,
        retry_failed: bool = False,
        progress: Progress = _SILENT,
    ) -> IngestReport:
        """Update the graph from the files and folders of ``paths``.

        ``schema``: a file or a shipped name; by default the graph's own, "general" for a new graph. ``extractor``:
        "llm", "local", "recorded" or one's own; by default ``recorded`` if a recording is given or
        ``paths`` is one, else ``llm`` if a model is configured, else ``local``. ``mode``: "strict" keeps what the
        schema allows, "flexible" the rest too, marked; by default what suits the extractor. An open-IE recording
        holds its passages too: it may be given alone, as ``paths`` or as ``recorded``. ``facts``: also have the model
        read atomic facts from passages that have none from a model; without ``paths``, from those of the whole graph.
        ``prune``: also remove the documents of files that are gone from the folders of ``paths``. ``reread``: read
        unchanged documents again too, with another schema, say; replies to the same prompts come from the cache.
        ``retry_failed``: also ask again for passages that the model gave no usable reply for.
        """
        files, recording = with_recording(paths, recorded, extractor)
        if not files and (prune or reread or not facts):
            raise InputError("Name at least one file or folder to ingest.")
        facts_from = self._model("Facts are read") if facts else None
        if facts and not files:
            self._need_documents()
        reader = make_extractor(extractor if files else "local", recording, self.language_model)
        with self._writing("ingest", progress) as turn:
            tools = self._tools(turn, reader, schema, mode, progress)
            tools = replace(tools, facts_from=facts_from, retry_failed=retry_failed)
            if facts and not files:
                return ingest_facts(tools, turn)
            report = ingest(tools, files, turn, prune=prune, reread=reread)
        if isinstance(reader, RecordedExtractor) and report.extracted == report.passages:  # else some were used before
            report.notes.extend(f"{title}: recorded, but not among the documents" for title in reader.unused())
        return report

    def estimate(
        self,
        paths: str | Path | Sequence[str | Path] = (),
        *,
        schema: str | Path | Schema | None = None,
        extractor: str | None = None,
        recorded: str | Path | None = None,
        facts: bool = False,
        reread: bool = False,
        retry_failed: bool = False,
        progress: Progress = _SILENT,
    ) -> Estimate:
        """What ``ingest`` would cost; nothing is written and no model is called."""
        files, recording = with_recording(paths, recorded, extractor)
        if not files and (reread or not facts):
            raise InputError("Name at least one file or folder to ingest.")
        by = extractor or default_extractor(recording, self.language_model)
        chat = None if retry_failed else self.language_model
        how: dict[str, Any] = {"facts": facts, "reread": reread, "chat": chat, "progress": progress}
        return estimate(self.store, files, self._schema(schema), by, self.settings, **how)

    def remove(
        self, documents: str | Path | Sequence[str | Path], *, progress: Progress = _SILENT
    ) -> list[DocumentInfo]:
        """Remove documents with all that only they support; returns them.

        They are named by id, URI, path or title; a folder means all documents of files in it.
        """
        with self._writing("remove", progress) as turn:
            chosen = self._named(documents)
            ids = sorted(each.id for each in chosen)
            passages = [row["id"] for row in self.store.read("graph/document_passages", documents=ids)]
            remove_documents(self._tools(turn, LocalExtractor(), None, None, progress), ids, passages)
        self._look_for_documents()
        return chosen

    def reembed(self, *, progress: Progress = _SILENT) -> dict[str, float]:
        """Embed the whole graph again with the model that is set; returns the seconds of each stage."""
        with self._writing("reembed", progress) as turn:
            self._embed_as_set()
            return reembed(turn.store, self.embedder, self.settings, progress)

    def build_tree(
        self,
        *,
        method: str | None = None,
        update: bool = False,
        rebuild: bool = False,
        progress: Progress = _SILENT,
    ) -> TreeReport:
        """Build the knowledge tree (levels 3 and 4: keywords and communities), or bring it up to date with the graph.

        ``method``: how communities are found; default: that of the existing tree. Another method, or ``rebuild``, finds
        all communities again; those with the same members keep their names. Otherwise only what changed is rebuilt;
        ``update`` says so explicitly and cannot be combined with ``rebuild``. Without a tree, all of it is built.
        """
        # Here: it loads what no other command needs, and takes a second to do so.
        from kgplatform.tree.build_tree import TreeTools, build_tree

        if update and rebuild:
            raise InputError("A tree is either updated or rebuilt: choose one of update and rebuild.")
        with self._writing("tree", progress) as turn:
            self._need_documents()
            tools = TreeTools(turn, self.embedder, self.language_model, self.settings, self.ledger, progress)
            return build_tree(tools, method=method, update=update, rebuild=rebuild)

    def gist(
        self,
        documents: str | Sequence[str] = (),
        *,
        preset: str = "report",
        min_words: int | None = None,
        max_words: int | None = None,
        uniform: bool = False,
        question: str | None = None,
        instruction: str = "",
        fit: int | None = None,
        shrink: str = "merge",
        progress: Progress = _SILENT,
    ) -> GistReport:
        """Give documents the gist memory that the reader ``readagent`` reads: pages, each shortened by the model.

        ``documents``: by id, URI, path or title; default: all. ``preset``: the kind of text, "report", "article",
        "book", "script" or "transcript": the size of pages, and what gists keep; ``min_words``, ``max_words``: other
        sizes. ``uniform``: pages of equal length, without asking the model. ``question``: a memory for this question.
        ``instruction``: further instructions for shortening. ``fit``: the most tokens of a document's gists;
        ``shrink``: how to fit, "merge" pages or shorten the "older" gists. Raises ``InputError``.
        """
        from kgplatform.gist.gist_documents import GistTools, gist_documents
        from kgplatform.gist.options import GistOptions

        options = GistOptions.of(
            preset,
            min_words,
            max_words,
            uniform=uniform,
            question=question,
            instruction=instruction,
            fit=fit,
            shrink=shrink,
        )
        graph = self.within()
        chat = graph._model("Gists are written")
        with graph._writing("gist", progress, "beside") as turn:
            self._need_documents()
            chosen = self._named(documents) if documents or documents == "" else self.documents()
            tools = GistTools(turn.store, graph.embedder, chat, self.settings, graph.ledger, progress)
            return gist_documents(tools, [each.id for each in chosen], options)

    def search(self, question: str, route: str = "all", top_k: int = 10) -> SearchResult:
        """The passages and facts nearest to ``question`` by one route, or by all, best first, with citations.

        Each passage has its best ``sentence`` and a ``relevance``; a fact is ``relevant`` if it speaks to the question.
        """
        self._need_documents()
        return judged(search(self.store, self.embedder, question, route, top_k), question, self.embedder.name)

    def ask(
        self,
        question: str,
        reader: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        keep: bool = False,
        on_step: Tell | None = None,
        on_text: Hear | None = None,
        stop: Stop | None = None,
        **more: Any,
    ) -> Answer:
        """An answer from the graph with checked citations; without a language model, the evidence.

        ``reader``: by default the first of all. ``options`` and ``more`` are the reader's
        (docs/reference/commands.md); None stands for the default. All readers have ``mode``: "reject" refuses to answer
        if the documents do not say, "open" falls back on the model's own knowledge. ``keep`` saves the run in the
        graph, as a ``Run`` with its ``Step`` nodes and edges to what it found. ``on_step`` gets each step as it
        happens, ``on_text`` the answer so far while it is written (in another thread); what they raise ends the run.
        ``stop``, set by another thread, ends it within a second. Raises ``InputError``, ``StoppedError``, and
        ``ModelError``, whose ``evidence`` is what was found until then.
        """
        options = {**(options or {}), **more}
        chosen = check_options(reader, options)
        self._need_documents()
        asked(question)
        if options.get("documents"):
            chosen = replace(chosen, documents=tuple(info.id for info in self._named(options["documents"])))
        started, name = time.perf_counter(), reader or READERS[0].name
        told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        spanned = span(f"invoke_agent {name}", told, calls_out=False)
        with (
            spanned,
            self.run(on_step=on_step, on_text=on_text, stop=stop) as run,
            evidence_of_failure(question, run) as run,
        ):
            answer = find(name).answer(question, run, chosen)
        answer = judged_answer(answer, self.embedder.name)
        return keep_run(self.store, answer, time.perf_counter() - started) if keep else answer

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
        self, *, on_step: Tell | None = None, on_text: Hear | None = None, stop: Stop | None = None
    ) -> Iterator[Run]:
        """What a reader gets for one question. Its ledger counts what that question alone spends."""
        with listened(on_step, stop or self.store.stop) as (tell, ended):
            graph = self.within(ended)
            chat = graph.language_model
            context = chat.context() if isinstance(chat, OpenAIChat) else self.settings.context_tokens
            yield Run(graph.evidence, chat, graph.ledger, graph._schema_types, tell, context or CONTEXT, on_text)

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
        if guarded and (why := why_refused(statement, parameters or {})):
            raise InputError(f"{why} `kgplatform cypher` runs whatever reads.")
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

    def export(self, path: str | Path, format: str | None = None, *, progress: Progress = _SILENT) -> ExchangeReport:
        """Write the whole graph to ``path``: "jsonl", "graphml", or "csv" (a folder); default: by its ending.

        The file appears when it is complete. Raises ``InputError`` for an unknown format.
        """
        from kgplatform.exchange import export_graph

        return export_graph(self.store, Path(path), format, progress)

    def import_graph(
        self, path: str | Path, format: str | None = None, *, merge: bool = False, progress: Progress = _SILENT
    ) -> ExchangeReport:
        """Import an export into the empty graph; with ``merge``, add its nodes to what is there.

        Raises ``InputError``, before anything is written, for a file that is not an export and, without ``merge``, for
        a graph with documents.
        """
        from kgplatform.exchange import import_graph

        with self._writing("import", progress) as turn:
            report = import_graph(
                turn.store, self.settings, lambda: self.embedder, Path(path), format, merge=merge, progress=progress
            )
        self._look_for_documents()
        self._forget_embedder()  # the export says which model made its vectors
        return report

    def _tools(
        self,
        turn: Pass,
        extractor: Extractor,
        schema: str | Path | Schema | None,
        mode: Mode | None,
        progress: Progress,
    ) -> Tools:
        if mode not in (None, *MODES):
            raise InputError(unknown("mode", str(mode), MODES))
        return Tools(
            store=turn.store,
            embedder=self.embedder,
            extractor=extractor,
            schema=self._schema(schema),
            mode=mode or extractor.default_mode,
            settings=self.settings,
            ledger=self.ledger,
            progress=progress,
        )

    def _schema_types(self) -> SchemaTypes | None:
        """The schema with what was added to it, in the words that readers know."""
        if (found := self.schema()) is None:
            return None
        grown = found.schema.with_expansions(found.expansions)
        kinds = (grown.entities, grown.relations, grown.attributes)
        return SchemaTypes(grown.prompt_text(), *(tuple(each.name for each in kind) for kind in kinds))
