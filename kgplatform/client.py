"""One object for every door: the command line, Python, and what comes after them.

from kgplatform import connect

with connect() as kg:
    kg.ingest("docs/")
    print(kg.search("Who designed the ship that …?").passages[0].text)
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgplatform.build.estimate import estimate
from kgplatform.build.extract import Extractor, Mode
from kgplatform.build.extract.local import LocalExtractor
from kgplatform.build.extract.model import LlmExtractor
from kgplatform.build.extract.recorded import RecordedExtractor
from kgplatform.build.pipeline import Tools, ingest, ingest_facts, remove_documents
from kgplatform.build.recording import with_recording
from kgplatform.build.report import Estimate, IngestReport
from kgplatform.build.schema import Expansion, Schema, load_schema
from kgplatform.build.settle import Progress, check_embedder, graph_state, reembed
from kgplatform.connecting import find_connection
from kgplatform.embed import Embedder, OpenAIEmbedder, make_embedder
from kgplatform.errors import InputError, SettingError
from kgplatform.info import DocumentInfo, ElementGraph, GraphSchema, Stats, named_documents
from kgplatform.keep import call_statistics, keep_run
from kgplatform.llm import Chat, Ledger, OpenAIChat, make_chat, metered
from kgplatform.look import Look
from kgplatform.readers.calls import telling
from kgplatform.readers.choose import answer_with, options_for
from kgplatform.readers.youtu import SchemaTypes
from kgplatform.records import Answer, SearchResult, Step
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.search import search
from kgplatform.settings import Settings, load_settings
from kgplatform.stopping import Stop, stoppable
from kgplatform.store import Row, Store, Table

if TYPE_CHECKING:
    import py2neo  # type: ignore[import-untyped]  # it ships no types

    from kgplatform.build.gist.report import GistReport
    from kgplatform.build.tree.report import TreeReport
    from kgplatform.exchange import ExchangeReport

EXTRACTORS = ("llm", "local", "recorded")

_SILENT: Progress = lambda stage, done, total: None  # noqa: E731 - a default, not a definition


def connect(
    *, home: str | Path | None = None, report: Callable[[str], None] = lambda line: None, **settings: Any
) -> KnowledgeGraph:
    """Open the graph that the settings name: ``NEO4J_URI``, else the managed local server, which is started if need be.

    ``home`` and ``settings`` (names as in ``kgplatform.settings``) come before the environment. ``report`` is told in
    one line what takes long. Raises ``ServerError`` if there is no usable server and ``EmbeddingMismatchError`` if the
    graph was embedded by another model than the one that is set.
    """
    graph = open_graph(load_settings(home=Path(home) if home is not None else None, **settings), report)
    try:
        graph.check_model()
    except BaseException:  # whatever it is, the connections are closed, and it goes on
        graph.close()
        raise
    return graph


def open_graph(settings: Settings, report: Callable[[str], None] = lambda line: None) -> KnowledgeGraph:
    """Like ``connect``, for work that no embedding model is needed for: which one made the vectors is not checked."""
    store = Store(find_connection(settings, report))
    try:
        store.check()
    except BaseException:  # whatever it is, the connections are closed, and it goes on
        store.close()
        raise
    return KnowledgeGraph(store, settings)


class KnowledgeGraph:
    """A graph that is open. Close it, or use it in a ``with`` block. Searching is safe from several threads."""

    def __init__(
        self, store: Store, settings: Settings, *, embedder: Embedder | None = None, chat: Chat | None = None
    ) -> None:
        self.store = store
        self.settings = settings
        self.ledger = Ledger(settings.max_tokens)
        self._given_embedder = embedder
        self._given_chat = chat
        self._has_documents = False

    def __enter__(self) -> KnowledgeGraph:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections. A managed server stays up; ``kgplatform down`` stops it."""
        self.store.close()
        for model in (self.__dict__.get("chat"), self.__dict__.get("embedder")):
            if isinstance(model, OpenAIChat | OpenAIEmbedder):
                model.close()

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model: the one that is set, else the one that the graph was embedded with."""
        if self._given_embedder is not None:
            return self._given_embedder
        stored = graph_state(self.store).get("embeddingModel")
        if self.settings.embedder == "auto" and stored is not None:
            return make_embedder(self.settings.model_copy(update={"embedder": stored}), self.ledger)
        return make_embedder(self.settings, self.ledger)

    @cached_property
    def chat(self) -> Chat | None:
        """The language model, or None if none is configured."""
        return self._given_chat or make_chat(self.settings, self.ledger)

    def check_model(self) -> None:
        """Raise ``EmbeddingMismatchError`` if the graph was embedded by another model than the one that is set."""
        state = graph_state(self.store)
        if state.get("embeddingModel"):
            check_embedder(state, self.embedder)

    # ---------------------------------------------------------------------------------------------------------- in

    def ingest(
        self,
        paths: str | Path | Sequence[str | Path] = (),
        *,
        schema: str | Path | Schema = "general",
        extractor: str | Extractor | None = None,
        recorded: str | Path | None = None,
        mode: Mode | None = None,
        facts: bool = False,
        progress: Progress = _SILENT,
    ) -> IngestReport:
        """Bring the graph to what the files of ``paths`` say.

        ``extractor``: "llm", "local", "recorded" or one's own; by default ``recorded`` if a recording is given or
        ``paths`` is one, else ``llm`` if a model is configured, else ``local``. ``mode``: "strict" keeps what the
        schema allows, "flexible" the rest too, marked; by default what suits the extractor. An open-IE recording
        holds its passages too: it may be given alone, as ``paths`` or as ``recorded``. ``facts``: then have the model
        read atomic facts from the chunks that have none from a model; without ``paths``, from those of the whole graph.
        """
        files, recording = with_recording(paths, recorded, extractor)
        facts_from = self._model("Facts are read") if facts else None
        if facts and not files:
            self._need_documents()
            return ingest_facts(
                replace(self._tools(LocalExtractor(), "general", None, progress), facts_from=facts_from)
            )
        reader = self._extractor(extractor, recording)
        tools = replace(self._tools(reader, schema, mode, progress), facts_from=facts_from)
        report = ingest(tools, files)
        if isinstance(reader, RecordedExtractor) and report.extracted == report.chunks:  # else some were used before
            report.notes += [f"{title}: recorded, but not among the documents" for title in reader.unused()]
        return report

    def estimate(
        self,
        paths: str | Path | Sequence[str | Path] = (),
        *,
        schema: str | Path | Schema = "general",
        extractor: str | None = None,
        recorded: str | Path | None = None,
        facts: bool = False,
    ) -> Estimate:
        """What ``ingest`` would cost; nothing is written and no model is called."""
        files, recording = with_recording(paths, recorded, extractor)
        name = extractor or self._default_extractor(recording)
        return estimate(self.store, files, _schema(schema), name, self.settings, facts=facts)

    def remove(self, documents: str | Sequence[str], *, progress: Progress = _SILENT) -> list[DocumentInfo]:
        """Remove documents, named by id, URI, path, or name, with all that only they support; returns them."""
        chosen = self._named(documents)
        ids = sorted(each.id for each in chosen)
        chunks = [row["id"] for row in self.store.read("client/document_chunks", documents=ids)]
        remove_documents(self._tools(LocalExtractor(), "general", None, progress), ids, chunks)
        self._has_documents = False  # until that is looked at again
        return chosen

    def reembed(self, *, progress: Progress = _SILENT) -> dict[str, float]:
        """Embed the whole graph again with the model that is set; returns the seconds of each stage."""
        embedder = self._given_embedder or make_embedder(self.settings, self.ledger)
        self.__dict__["embedder"] = embedder
        return reembed(self.store, embedder, self.settings, progress)

    def build_tree(
        self,
        *,
        method: str | None = None,
        update: bool = False,
        rebuild: bool = False,
        progress: Progress = _SILENT,
    ) -> TreeReport:
        """Build the knowledge tree, or bring it to what the graph says now: levels 3 and 4, keywords and communities.

        ``method``: how communities are found; by default that of the tree that is there. Another one, or ``rebuild``,
        finds all of them anew; communities with the same members keep their names. Without either, only what changed
        is done again; ``update`` says so, and is refused with either. Where there is no tree, all of it is built.
        """
        # Here: it loads what no other command needs, and takes a second to do so.
        from kgplatform.build.tree.build_tree import TreeTools, build_tree

        if update and rebuild:
            raise InputError("A tree is either updated or rebuilt: give --update or --rebuild.")
        self._need_documents()
        tools = TreeTools(self.store, self.embedder, self.chat, self.settings, self.ledger, progress)
        return build_tree(tools, method=method, update=update, rebuild=rebuild)

    def gist(
        self,
        documents: str | Sequence[str] = (),
        *,
        preset: str = "article",
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

        ``documents``: by id, URI, path or name; all without any. ``preset``: sizes of pages and what the texts are
        like, "article", "book", "script" or "transcript"; ``min_words``, ``max_words``: other sizes. ``uniform``: pages
        of equal length, which the model is not asked about. ``question``: a second memory, for this question alone.
        ``instruction``: what else the model is to keep in mind as it shortens. ``fit``: the most tokens of a document's
        gists; ``shrink``: "merge" pages where there are more, or shorten "older" gists again. Raises ``InputError``.
        """
        from kgplatform.build.gist.gist_documents import GistTools, gist_documents
        from kgplatform.build.gist.options import GistOptions

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
        chat = self._model("Gists are written")
        self._need_documents()
        chosen = self._named(documents) if documents else self.documents()
        tools = GistTools(self.store, self.embedder, chat, self.settings, progress)
        return gist_documents(tools, [each.id for each in chosen], options)

    # --------------------------------------------------------------------------------------------------------- out

    def search(self, question: str, route: str = "all", top_k: int = 10) -> SearchResult:
        """The passages and facts nearest to ``question`` by one route, or by all, best first, with citations."""
        self._need_documents()
        return search(self.store, self.embedder, question, route, top_k)

    def ask(
        self,
        question: str,
        reader: str = "retrieve",
        *,
        keep: bool = False,
        on_step: Callable[[Step], None] | None = None,
        stop: Stop | None = None,
        **options: Any,
    ) -> Answer:
        """An answer from the graph with checked citations; without a language model, the evidence.

        ``options`` are those of the reader (the class ``Options`` in its module, and docs/commands.md): all have
        ``mode``, "reject" to refuse where the documents do not say, "open" to fall back on the model's own knowledge;
        None stands for the default. ``keep`` writes the run into the graph, as a ``Run`` with its ``Step`` nodes and
        edges to what it found. ``on_step`` is told each step as it happens; what it raises ends the run. ``stop``, set
        by another thread, ends it within a second. Raises ``InputError`` for an option that the reader does not have,
        ``ModelError``, and ``StoppedError``.
        """
        chosen = options_for(reader, {name: value for name, value in options.items() if value is not None})
        self._need_documents()
        if options.get("documents"):
            chosen = replace(chosen, documents=tuple(each.id for each in self._named(options["documents"])))
        started = time.perf_counter()
        evidence = Evidence(self.store, self.embedder)
        with metered() as meter, stoppable(stop), telling(on_step):
            answer = answer_with(reader, chosen, question, evidence, self.chat, meter, self._schema_types)
        return keep_run(self.store, answer, time.perf_counter() - started) if keep else answer

    @cached_property
    def look(self) -> Look:
        """What a person sees of the graph: names, neighbours, the tree, the map, documents with their facts, runs."""
        return Look(self.store)

    def cypher(
        self,
        statement: str,
        parameters: dict[str, Any] | None = None,
        *,
        write: bool = False,
        timeout: float | None = None,
        limit: int | None = None,
    ) -> Table:
        """Run a statement, read-only unless ``write``. ``timeout`` in seconds, ``limit`` in rows; else as set."""
        return self.store.run_statement(
            statement,
            parameters or {},
            write=write,
            timeout=timeout or self.settings.cypher_timeout,
            limit=limit or self.settings.cypher_limit,
        )

    def documents(self) -> list[DocumentInfo]:
        """The documents of the graph, by name."""
        return [DocumentInfo(**row) for row in self.store.read("client/documents")]

    def schema(self) -> GraphSchema | None:
        """The schema of the last ingest with its expansions; None before the first."""
        state = graph_state(self.store)
        if "schema" not in state:
            return None
        expansions = tuple(Expansion(**each) for each in json.loads(state.get("expansions", "[]")))
        return GraphSchema(Schema.from_dict(json.loads(state["schema"])), expansions)

    def stats(self) -> Stats:
        """Counts of nodes by label and relationships by type, and of key elements with their facts and neighbours."""
        nodes: list[Row] = self.store.read("client/node_counts")
        relationships = self.store.read("client/relationship_counts")
        return Stats(
            {row["label"]: row["count"] for row in nodes},
            {row["type"]: row["count"] for row in relationships},
            ElementGraph(*self.store.read("client/element_graph")[0].values()),
            call_statistics(self.store),
        )

    # ---------------------------------------------------------------------------------------------------- in and out

    def export(self, path: str | Path, format: str | None = None, *, progress: Progress = _SILENT) -> ExchangeReport:
        """Write the whole graph to ``path``: "graphml", "jsonl", "cypher", or "csv" (a folder); else by its ending.

        The file is there when it is whole. Raises ``InputError`` for a format that does not exist.
        """
        from kgplatform.exchange import export_graph

        return export_graph(self.store, Path(path), format, progress)

    def import_graph(
        self, path: str | Path, format: str | None = None, *, merge: bool = False, progress: Progress = _SILENT
    ) -> ExchangeReport:
        """Make the empty graph what an export holds; with ``merge``, bring the export's nodes into what is there.

        Raises ``InputError`` for a file that is no export, before anything is written, and for a graph with documents.
        """
        from kgplatform.exchange import import_graph

        report = import_graph(
            self.store, self.settings, lambda: self.embedder, Path(path), format, merge=merge, progress=progress
        )
        self._has_documents = False  # until that is looked at again
        self.__dict__.pop("embedder", None)  # the export says which model made its vectors
        return report

    def py2neo(self) -> py2neo.Graph:
        """A py2neo ``Graph`` on the same database, for those who use it (extra ``py2neo``; no longer maintained)."""
        try:
            from py2neo import Graph
        except ImportError as error:
            raise SettingError("py2neo is not installed. Run `pip install 'kgplatform[py2neo]'`.") from error
        connection = self.store.connection
        return Graph(connection.uri, auth=(connection.username, connection.password), name=connection.database)

    # ------------------------------------------------------------------------------------------------------- parts

    def _tools(self, extractor: Extractor, schema: str | Path | Schema, mode: Mode | None, progress: Progress) -> Tools:
        if mode not in (None, "strict", "flexible"):
            raise InputError(f"There is no mode {mode!r}; there are strict and flexible.")
        return Tools(
            store=self.store,
            embedder=self.embedder,
            extractor=extractor,
            schema=_schema(schema),
            mode=mode or extractor.default_mode,
            settings=self.settings,
            ledger=self.ledger,
            progress=progress,
        )

    def _model(self, what: str) -> Chat:
        """The language model, by which ``what`` ("Gists are written"). Raises ``SettingError`` if there is none."""
        if self.chat is None:
            raise SettingError(f"{what} by a language model. Set OPENAI_API_KEY, or OPENAI_BASE_URL.")
        return self.chat

    def _default_extractor(self, recorded: str | Path | None) -> str:
        return "recorded" if recorded is not None else "llm" if self.chat is not None else "local"

    def _extractor(self, chosen: str | Extractor | None, recorded: str | Path | None) -> Extractor:
        if chosen is not None and not isinstance(chosen, str):
            return chosen
        name = chosen or self._default_extractor(recorded)
        if name == "recorded":
            if recorded is None:
                raise InputError("The extractor `recorded` needs a recording. Name it with --recorded FILE.")
            return RecordedExtractor(recorded)
        if name == "llm":
            if self.chat is None:
                raise SettingError(
                    "The extractor `llm` needs a language model. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a local "
                    "server, or use --extractor local."
                )
            return LlmExtractor(self.chat)
        if name == "local":
            return LocalExtractor()
        raise InputError(f"There is no extractor {name!r}; there are {', '.join(EXTRACTORS)}.")

    def _schema_types(self) -> SchemaTypes | None:
        """The schema with what was added to it, in the words that readers know."""
        if (found := self.schema()) is None:
            return None
        grown = found.schema.with_expansions(found.expansions)
        kinds = (grown.entities, grown.relations, grown.attributes)
        return SchemaTypes(grown.prompt_text(), *(tuple(each.name for each in kind) for kind in kinds))

    def _named(self, documents: str | Sequence[str]) -> list[DocumentInfo]:
        return named_documents(documents, self.documents())

    def _need_documents(self) -> None:
        if self._has_documents:
            return
        state = graph_state(self.store)
        if not state:
            raise InputError("The graph is empty. Run `kgplatform ingest PATH…` first.")
        if "schema" not in state:
            raise InputError("The first ingest has not been finished. Run the same `kgplatform ingest` again.")
        if not self.store.read("client/has_documents"):
            raise InputError("The graph has no documents. Run `kgplatform ingest PATH…` first.")
        self._has_documents = True


def _schema(schema: str | Path | Schema) -> Schema:
    return schema if isinstance(schema, Schema) else load_schema(schema)
