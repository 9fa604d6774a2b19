"""The client: one object that every door calls.

from kgplatform import connect

with connect() as kg:
    kg.ingest("docs/")
    print(kg.search("Who designed the ship that …?").passages[0].text)

A graph is open as a whole, and once more for each piece of work:

    work = kg.within(stop)             # on the same connections and caches
    work.ask("Who designed the ship?")
    work.ledger.total                  # what this work spent; ``stop.set()`` in another thread ends it

A thread of questions understands what was asked before, and is kept in the graph:

    thread = kg.chat()
    thread.ask("Who designed the Great Eastern?")
    thread.ask("And who was its captain?").note        # 'Asked as: Who was the captain of the Great Eastern?'
    kg.chat(thread.id).turns                           # later, perhaps in another process
"""

from __future__ import annotations

import copy
import json
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kgplatform.adopt.adopt import Adopt
from kgplatform.adopt.rows import RowExtractor
from kgplatform.concurrency.arguments import checked, typed
from kgplatform.concurrency.files import write_atomically
from kgplatform.concurrency.spans import span
from kgplatform.concurrency.threads import Stop, heard
from kgplatform.correct import Correct
from kgplatform.errors import (
    BudgetError,
    Code,
    InputError,
    KgError,
    ModelError,
    SettingError,
    coded,
    to_install,
    wrong_value,
)
from kgplatform.explore.info import DocumentInfo, Stats, element_graph, named_documents
from kgplatform.explore.jobs import JobQueue
from kgplatform.explore.look import Look
from kgplatform.explore.recheck import SHAKEN, CheckedAnswer, KeptAnswer, recheck
from kgplatform.explore.runs import Turn, call_statistics, check_thread, keep_run, remove_thread, turns_of
from kgplatform.explore.watch import FIRST, EvidenceChange, watch
from kgplatform.extract import Extractor, default_extractor, make_extractor, with_recording
from kgplatform.extract import extractors as extractors
from kgplatform.extract.bound import KINDS as KINDS
from kgplatform.extract.bound import MODES as MODES
from kgplatform.extract.bound import Mode
from kgplatform.extract.llm import LlmExtractor
from kgplatform.extract.local import LocalExtractor
from kgplatform.extract.recorded import RecordedExtractor
from kgplatform.extract.schema import GraphSchema, Schema, load_schema, shipped_schemas
from kgplatform.ingest.compare import describe, holds
from kgplatform.ingest.estimate import Estimate, estimate
from kgplatform.ingest.facts_pass import lacks_facts
from kgplatform.ingest.graph_state import (
    OLDER_GRAPH,
    check_embedder,
    graph_state,
    is_up_to_date,
    set_state,
    state_meanwhile,
)
from kgplatform.ingest.pipeline import IngestReport, ingest, ingest_facts, introduced, remove_documents
from kgplatform.ingest.settle import reembed
from kgplatform.ingest.window import Tools
from kgplatform.models.chat import Chat, Ledger, within
from kgplatform.models.embed import Embedder, OpenAIEmbedder, make_embedder
from kgplatform.models.openai_chat import OpenAIChat, Trial, make_chat, try_model
from kgplatform.models.own import AnswerMessages, EmbedTexts, as_chat, as_embedder
from kgplatform.neo4j.filters import Where as Where
from kgplatform.neo4j.filters import documents_where, fitting_documents
from kgplatform.neo4j.filters import metadata_to_give as metadata_to_give
from kgplatform.neo4j.memory import unbounded
from kgplatform.neo4j.passes import Pass, wait_meanwhile
from kgplatform.neo4j.passes import Turn as PassTurn
from kgplatform.neo4j.server import LocalNeo4j, open_store
from kgplatform.neo4j.statement_guard import why_refused
from kgplatform.neo4j.store import Connection, Row, Store
from kgplatform.parts import Parts
from kgplatform.readers.answer import joined, verified
from kgplatform.readers.readers import READERS, find, options_for, stages_by_reader
from kgplatform.readers.relevance import judged, judged_answer
from kgplatform.readers.run import CONTEXT, Calls, Hear, Run, SchemaTypes, Tell, evidence_of_failure, listened
from kgplatform.readers.thread import FAILED, Exchange, stand_alone
from kgplatform.records import SILENT, Answer, Citation, Conflict, Progress, SearchResult, Step, Table, Usage
from kgplatform.search.conflicts import Single, conflicts, disputes
from kgplatform.search.evidence import Evidence, question_at
from kgplatform.search.live_schema import live_schema, shown_schema
from kgplatform.search.question import asked
from kgplatform.search.search import ROUTES_OF_WHOLE, search
from kgplatform.search.search import SEARCHES as SEARCHES
from kgplatform.settings import MODEL, MODEL_FILE, Settings, load_settings, model_values, saved_model, with_model
from kgplatform.sources.corpus_file import Fields
from kgplatform.sources.objects import Ingestible, gather
from kgplatform.text import tidy, unknown
from kgplatform.text.times import period

if TYPE_CHECKING:
    import py2neo  # type: ignore[import-untyped]  # it ships no types
    from typing_extensions import Unpack

    from kgplatform.exchange import ExchangeReport, Verified
    from kgplatform.gist.options import GistReport
    from kgplatform.readers.readers import GivenOptions
    from kgplatform.settings import GivenSettings
    from kgplatform.tree.build_tree import TreeReport

CYPHER_TIMEOUT, CYPHER_LIMIT = 30.0, 1000
"""The seconds and the rows of a statement that is given no others."""
_FOLLOWED_EVERY = 2.0

G = TypeVar("G", bound="KnowledgeGraph")


@typed
def connect(
    *,
    home: str | Path | None = None,
    report: Callable[[str], None] = lambda line: None,
    chat: Chat | AnswerMessages | None = None,
    embedder: str | Embedder | EmbedTexts | None = None,
    **settings: Unpack[GivenSettings],
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
    own_embedder, own_chat = None if embedder is None else as_embedder(embedder), as_chat(chat)
    store = open_store(settings, report)
    try:
        store.check()
    except BaseException:  # whatever it is, close the connections and pass it on
        store.close()
        raise
    return KnowledgeGraph(store, settings, embedder=own_embedder, chat=own_chat, report=report)


def check_options(reader: str | None, options: Mapping[str, Any]) -> Any:
    """What ``reader`` makes of ``options`` in ``KnowledgeGraph.ask``: an object of its own class of options.

    Raises ``InputError`` for a reader or an option that does not exist, and for a value of the wrong type or out of
    bounds.
    """
    given = {name: value for name, value in options.items() if value is not None}
    return options_for(reader or READERS[0].name, given)


def check_tree_method(method: str) -> None:
    """Raise ``InputError`` for a method of ``KnowledgeGraph.build_tree`` that does not exist or cannot be used."""
    from kgplatform.tree.partition import named  # as build_tree's own imports

    named(method)


def verify_answer(file: Path, folder: Path, settings: Settings) -> Verified:
    """What the documents in ``folder`` have of the evidence in ``file``, which ``export_answer`` wrote; no database is
    opened. Raises ``InputError``."""
    from kgplatform.exchange import verify_answer

    return verify_answer(file, folder, settings)


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


def _single(store: Store) -> Single:
    known = GraphSchema.of(state_meanwhile(store))
    return known.schema.single if known else ((), ())


def _store_at(store: Store, as_of: str | None, single: Single | None = None) -> Store:
    """``store``, whose reads leave out what is said of other times than ``as_of``. ``single``: the schema's, if they
    are read already. Raises ``InputError``."""
    if as_of is None:
        return store
    try:
        return store.at(period(as_of), _single(store) if single is None else single)
    except ValueError as error:
        said = f'The time must be a year, month or day such as "2019", "2019-06" or "2019-06-30", not "{as_of:.50}".'
        raise InputError(said, "as_of") from error


@checked
class KnowledgeGraph:
    """An open graph. Close it, or use it in a ``with`` block. Safe from several threads."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        embedder: Embedder | None = None,
        chat: Chat | None = None,
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.store = store
        self._report = report
        self.settings = settings
        self.ledger: Ledger = Ledger(settings.token_budget)
        self._given_embedder = embedder
        self._given_chat = chat
        self._whole: KnowledgeGraph | None = None
        """The graph that this is a part of."""
        self._followed = [time.monotonic()]
        """When it was last looked at which model made the vectors; shared by all parts, too."""
        self._learnt: set[str] = set()
        """What was found out about the graph, shared by all pieces of work."""
        self.parts: Parts[KnowledgeGraph] = Parts(settings, open_graph, report)
        """Graphs of a part of its documents that are open; shared by all pieces of work."""

    def __enter__(self: G) -> G:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        home = f", home {self.settings.home_folder}" if self.settings.neo4j_uri is None else ""
        return f"{type(self).__name__}({self.store.connection.uri}{home})"

    def close(self) -> None:
        """Close the connections, but for those of models that were given. A managed server keeps running;
        ``kgplatform down`` stops it."""
        self.parts.close()
        self.store.close()
        for name, given in (("language_model", self._given_chat), ("embedder", self._given_embedder)):
            model = self.__dict__.get(name)
            if given is None and isinstance(model, OpenAIChat | OpenAIEmbedder):
                model.close()

    @property
    def connection(self) -> Connection:
        """The database's address, user name and password."""
        return self.store.connection

    @property
    def stop(self) -> Stop:
        """What ends this work."""
        return self.store.stop

    def ingest(
        self,
        paths: Ingestible = (),
        *,
        schema: str | Path | Schema | None = None,
        extractor: str | Extractor | None = None,
        recorded: str | Path | None = None,
        mode: Mode = "flexible",
        facts: bool = False,
        prune: bool = False,
        reread: bool = False,
        retry_failed: bool = False,
        introduce: Sequence[str] = (),
        metadata: Mapping[str, Any] | None = None,
        progress: Progress = SILENT,
    ) -> IngestReport:
        """Update the graph from ``paths``: files, folders and web addresses, or what is in no file.

        That is one or several of: ``Text``, dictionaries with a ``text``, open files, documents of LangChain and
        LlamaIndex, a DataFrame; a list or any iterator of them, or a loader of LangChain. A string is always a path or
        an address: pages come from public addresses alone, with at most 50 MB.

        ``schema``: a file or a shipped name; by default the graph's own, "general" for a new graph. ``extractor``:
        "llm", "local", "recorded" or one's own; by default ``recorded`` if a recording is given or
        ``paths`` is one, else ``llm`` if a model is configured, else ``local``. ``mode``: "flexible" marks what is
        outside the schema, "strict" drops it. An open-IE recording holds its passages too: it may be given alone, as
        ``paths`` or as ``recorded``. ``facts``: also have the model read atomic facts from passages that have none from
        a model; without ``paths``, from those of the whole graph.
        ``prune``: also remove the documents of files that are gone from the folders of ``paths``. ``reread``: read
        unchanged documents again too, with another schema, say; replies to the same prompts come from the cache.
        ``retry_failed``: also ask again for passages that the model gave no usable reply for. ``introduce``: sources
        (addresses) of which the model, where it is the extractor, also writes a short summary and three questions, if
        they have none; the notes of the report have them. ``metadata``: of every document of ``paths``, beneath what it
        and files beside it say; kept until another ingest gives the name another value, or None.
        """
        with gather(paths, self.settings.home_folder, Fields.of(self.settings)) as given:
            recording = with_recording(given, recorded, extractor)
            asked = metadata_to_give(metadata) if metadata else {}
            if not given and (prune or reread or asked or not facts):
                raise InputError("Name at least one file or folder to ingest.")
            facts_from = self._model("Facts are read") if facts else None
            if facts and not given:
                self._need_documents()
            reader = make_extractor(extractor if given else "local", recording, lambda: self.language_model)
            with self._writing("ingest", progress) as turn:
                tools = self._tools(turn, reader, schema, mode, progress)
                tools = replace(tools, facts_from=facts_from, retry_failed=retry_failed, metadata=asked)
                if facts and not given:
                    return ingest_facts(tools, turn)
                report = ingest(tools, given.paths, given.texts, turn, prune=prune, reread=reread)
        if isinstance(reader, RecordedExtractor) and report.extracted == report.passages:  # else some were used before
            report.notes.extend(f"{title}: recorded, but not among the documents" for title in reader.unused())
        if introduce and isinstance(reader, LlmExtractor):
            report.notes.extend(introduced(self.store, self._model("Summaries are written"), introduce))
        return report

    def estimate(
        self,
        paths: Ingestible = (),
        *,
        schema: str | Path | Schema | None = None,
        extractor: str | None = None,
        recorded: str | Path | None = None,
        facts: bool = False,
        reread: bool = False,
        retry_failed: bool = False,
        progress: Progress = SILENT,
    ) -> Estimate:
        """What ``ingest`` would cost; nothing is written and no model is called."""
        with gather(paths, self.settings.home_folder, Fields.of(self.settings)) as given:
            recording = with_recording(given, recorded, extractor)
            if not given and (reread or not facts):
                raise InputError("Name at least one file or folder to ingest.")
            by = extractor or default_extractor(recording, lambda: self.language_model)
            asks = (by == "llm" or facts) and not retry_failed
            return estimate(
                self.store,
                given.paths,
                self._schema(schema),
                by,
                self.settings,
                texts=given.texts,
                facts=facts,
                reread=reread,
                chat=self.language_model if asks else None,
                progress=progress,
            )

    def remove(
        self, documents: str | Path | Sequence[str | Path], *, progress: Progress = SILENT
    ) -> list[DocumentInfo]:
        """Remove documents with all that only they support; returns them.

        They are named by id, URI, path or title; a folder means all documents of files in it.
        """
        with self._writing("remove", progress) as turn:
            chosen = self._named(documents)
            ids = sorted(each.id for each in chosen)
            passages = [row["id"] for row in self.store.read("explore/document_passages", documents=ids)]
            remove_documents(self._tools(turn, LocalExtractor(), None, "flexible", progress), ids, passages)
        self._learnt.discard("documents")  # perhaps these were all
        return chosen

    def describe(self, documents: str | Path | Sequence[str | Path], metadata: Mapping[str, Any]) -> list[DocumentInfo]:
        """Give documents, named as in ``remove``, metadata in place of what ingests gave them; None takes a name away.
        Nothing is read again. Raises ``InputError`` for a name that a document itself has a value for."""
        given = metadata_to_give(metadata)
        with self._writing("correct", SILENT) as turn:
            ids = [each.id for each in self._named(documents)]
            describe(turn.store, ids, given)
        return [each for each in self.documents() if each.id in ids]

    def reembed(self, *, progress: Progress = SILENT) -> dict[str, float]:
        """Embed the whole graph again with the model that is set; returns the seconds of each stage."""
        with self._writing("reembed", progress) as turn:
            self._forget_embedder()
            *_, whole = self._wholes()  # the embedder that is set, whichever the graph was embedded with
            whole.embedder = whole._given_embedder or make_embedder(whole.settings, whole.ledger, whole._report)
            done = reembed(turn.store, self.embedder, self.settings, progress)
        for note in done.all_notes():
            self._report(note)
        return done.seconds

    def build_tree(
        self, *, method: str | None = None, update: bool = False, rebuild: bool = False, progress: Progress = SILENT
    ) -> TreeReport:
        """Build the knowledge tree (levels 3 and 4: keywords and communities), or bring it up to date with the graph.

        ``method``: how communities are found; default: that of the existing tree. Another method, or ``rebuild``, finds
        all communities again; those with the same members keep their names. Otherwise only what changed is rebuilt;
        ``update`` says so explicitly and cannot be combined with ``rebuild``. Without a tree, all of it is built.
        """
        # Here: it loads what no other command needs, and takes a second to do so.
        from kgplatform.tree.build_tree import TreeTools, build_tree

        if update and rebuild:
            raise InputError("Choose either update or rebuild, not both.")
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
        progress: Progress = SILENT,
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

    def import_graph(
        self, path: str | Path, format: str | None = None, *, merge: bool = False, progress: Progress = SILENT
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
        self._learnt.discard("documents")
        self._forget_embedder()  # the export says which model made its vectors
        return report

    def search(
        self,
        question: str,
        route: str = "all",
        top_k: int = 10,
        *,
        where: Where | None = None,
        as_of: str | None = None,
    ) -> SearchResult:
        """The passages and facts nearest to ``question`` by one route, or by all, best first, with citations.

        Each passage has its best ``sentence`` and a ``relevance``; a fact is ``relevant`` if it speaks to the question.
        ``where``: only documents with these metadata, such as ``{"author": "Verne", "year": [1869, 1870]}``, a list
        being values any of which will do, or ``'author = "Verne" and year >= 1869'`` (docs/reference/python.md); a
        route that walks over the whole graph is asked of the ``part`` of these. ``as_of``: a year, month or day,
        "2019-06"; facts that are only stated of other times are left out. Raises ``InputError``.
        """
        self._need_documents()
        asked(question)
        store = _store_at(self.store, as_of)
        only = None if where is None else documents_where(self.store, where)
        is_part = only is not None
        if only and where is not None and route in ROUTES_OF_WHOLE:
            with self.part(where) as part:
                return part.search(question, route, top_k, as_of=as_of)
        found = search(store, self.embedder, question, route, top_k, documents=only or (), within=is_part)
        return replace(judged(found, question, self.embedder.name), as_of=as_of)

    def ask(
        self,
        /,
        question: str,
        reader: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        where: Where | None = None,
        as_of: str | None = None,
        keep: bool = False,
        verify: bool = False,
        on_step: Tell | None = None,
        on_text: Hear | None = None,
        stop: Stop | None = None,
        **more: Unpack[GivenOptions],
    ) -> Answer:
        """An answer from the graph that cites sentences; without a language model, the evidence.

        ``reader``: by default the first of all. ``options`` and ``more`` are the reader's
        (docs/reference/commands.md); None stands for the default. All readers have ``mode``: "reject" refuses to answer
        if the documents do not say, "open" falls back on the model's own knowledge. ``where``: only documents with
        these metadata, as in ``search``; what reads the whole graph is asked of the ``part`` of these. ``as_of``: only
        facts of that time, as in ``search``. ``keep`` saves
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
        started, name, only = time.perf_counter(), reader or READERS[0].name, fitting_documents(self.store, where)
        of_whole = find(name).whole_graph or getattr(chosen, "route", None) in ROUTES_OF_WHOLE
        if only and where is not None and of_whole:
            with self.within(stop or self.store.stop).part(where) as part:
                ask = partial(part.ask, question, reader, options=options, as_of=as_of, verify=verify)
                answer = ask(on_step=on_step, on_text=on_text)
            return self._kept(answer, started, options, where, as_of) if keep else answer
        told = {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": name}
        spanned = span(f"invoke_agent {name}", told, calls_out=False)
        with (
            spanned,
            self.run(on_step=on_step, on_text=on_text, stop=stop, only=only, as_of=as_of) as run,
            evidence_of_failure(question, run) as run,
        ):
            answer = find(name).answer(question_at(question, as_of), run, chosen)
            answer = _verified(answer, run) if verify else answer
            disputed = run.evidence.disputes(_single(self.store), answer.citations) if answer.citations else ()
        answer = judged_answer(answer, self.embedder.name)
        question = tidy(question)
        of_time = replace(answer.evidence, question=question, as_of=as_of)
        answer = replace(answer, question=question, evidence=of_time, disputes=disputed)
        return self._kept(answer, started, options, where, as_of) if keep else answer

    def _kept(
        self,
        answer: Answer,
        started: float,
        options: Mapping[str, Any],
        where: Where | None,
        as_of: str | None,
        turn: Row | None = None,
    ) -> Answer:
        """``answer``, saved with what a search without a model finds now: ``recheck`` compares that with what it finds
        later."""
        seconds, asked_with = time.perf_counter() - started, {"options": options, "where": where, "as_of": as_of}
        found = None
        if not (turn and turn["failed"]):
            with suppress(ModelError):  # of embeddings: the answer counts
                found = self.search(answer.question, where=where, as_of=as_of).passages
        return keep_run(self.store, answer, self.model_name, seconds, turn, asked_with=asked_with, nearest=found)

    def recheck(
        self,
        runs: str | Sequence[str] = (),
        *,
        better: bool = True,
        ask_again: bool = False,
        progress: Progress = SILENT,
    ) -> tuple[CheckedAnswer, ...]:
        """What became of kept answers, the last first: whether the sentences that each rests on stand, moved, changed,
        or are lost, whether another place contradicts them, and whether a passage would answer ``better`` now, which
        takes a search each.

        ``runs``: ids; by default the last answer to every question that was kept. ``ask_again``: the model, if there is
        one, answers anew those that do not stand; each is kept. Raises ``InputError`` for a run that is not there.
        """
        named = [runs] if isinstance(runs, str) else list(runs)
        rows = self.store.read("explore/kept_answers", runs=named)
        kept = [each for each in map(KeptAnswer.of, rows) if each]
        if missing := set(named) - {each.run for each in kept}:
            self.look.run(min(missing))
            raise InputError(
                f"The run {min(missing)} has no sentences to check: it failed, or an earlier version kept it. "
                "Ask again with the option keep.",
                "keep",
            )
        single = _single(self.store)

        def search(question: str, asked: Mapping[str, Any]) -> SearchResult:
            return self.search(question, where=asked["where"], as_of=asked["as_of"])

        def dispute(citations: Sequence[Citation], asked: Mapping[str, Any]) -> tuple[Conflict, ...]:
            return disputes(_store_at(self.store, asked["as_of"], single), single, citations)

        checked = recheck(self.store, kept, dispute, search if better else None, progress)
        if not ask_again:
            return checked
        self._model("Questions are asked again")

        return tuple(
            replace(each, again=self.ask(each.question, each.reader, keep=True, **was.asked_with))
            if each.state in SHAKEN
            else each
            for each, was in zip(checked, kept, strict=True)
        )

    def watch(
        self, question: str, *, where: Where | None = None, as_of: str | None = None, every: float = 2.0
    ) -> Iterator[EvidenceChange]:
        """Each change of the sentences that a search finds for ``question``, after whatever wrote the graph. The graph
        is looked at ``every`` so many seconds; ``stop`` ends it."""

        def find() -> tuple[Citation, ...]:
            return self.search(question, where=where, as_of=as_of).first_sentences(FIRST)

        return watch(self.store, question, find, every)

    @contextmanager
    def part(self, where: Where, *, progress: Progress = SILENT) -> Iterator[KnowledgeGraph]:
        """The graph that a build of the documents that fit ``where`` alone would be: its names, types, aliases, counts,
        order and communities follow from these.

        For reading. It lies in the home folder, with a managed server of its own while it is open: made the first time,
        and when these documents, or what was read of them, have changed. Raises ``InputError`` where none fits.
        """
        self._need_documents()
        *_, whole = self._wholes()
        with whole.parts.opened(self, where, progress) as part:
            yield part

    def stream(
        self,
        /,
        question: str,
        reader: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        where: Where | None = None,
        as_of: str | None = None,
        keep: bool = False,
        verify: bool = False,
        stop: Stop | None = None,
        **more: Unpack[GivenOptions],
    ) -> Iterator[Step | str | Answer]:
        """What ``ask`` does, as it happens: each step, the text of the answer so far, and at last the answer.

        Only the answer has citations. A text is whole and takes the place of the one before; it is empty where the
        model starts over. Leaving the loop early stops the reader, as ``stop`` does. Raises what ``ask`` raises.
        """
        options = {**(options or {}), **more}
        check_options(reader, options)
        ask = partial(self.ask, question, reader, options=options, where=where, as_of=as_of, keep=keep, verify=verify)
        return heard(lambda hear, stop: ask(on_step=hear, on_text=hear, stop=stop), stop or self.store.stop)

    def chat(self, id: str | None = None) -> ChatThread:
        """A thread, whose ``ask`` understands follow-up questions and keeps each in the graph: a new one, or that with
        ``id``. Raises ``InputError`` if there is no such thread; ``look.threads`` lists them."""
        if id is not None:
            check_thread(self.store, id)
        return ChatThread(self, id or uuid.uuid4().hex)

    def remove_thread(self, id: str) -> None:
        """Remove a thread with its runs and their steps. Raises ``InputError`` if there is no such thread."""
        remove_thread(self.store, id)

    @contextmanager
    def run(
        self,
        *,
        on_step: Tell | None = None,
        on_text: Hear | None = None,
        stop: Stop | None = None,
        only: Sequence[str] | None = None,
        as_of: str | None = None,
    ) -> Iterator[Run]:
        """What a reader gets for one question. Its ledger counts what that question alone spends. ``only``: ids of the
        documents that it is shown anything of; ``as_of``: the time, as for ``ask``."""
        with listened(on_step, stop or self.store.stop) as (tell, ended):
            graph = self.within(ended)

            def types() -> SchemaTypes | None:  # of the schema with what was added to it, as readers know them
                if (found := graph.schema()) is None:
                    return None
                grown = found.grown
                kinds = (grown.entities, grown.relations, grown.attributes)
                return SchemaTypes(grown.prompt_text(), *(tuple(each.name for each in kind) for kind in kinds))

            chat = graph.language_model
            context = chat.context() if isinstance(chat, OpenAIChat) else self.settings.context_tokens
            evidence = Evidence(_store_at(graph.store, as_of), graph.embedder, only, as_of)
            yield Run(evidence, chat, graph.ledger, types, tell, context or CONTEXT, on_text)

    @property
    def evidence(self) -> Evidence:
        """What readers read: searches, passages, pages and nodes of the graph."""
        return Evidence(self.store, self.embedder)

    @cached_property
    def look(self) -> Look:
        """What people look at: names, neighbours, the tree, the map, documents with their facts, saved runs."""
        return Look(self.store)

    @cached_property
    def correct(self) -> Correct:
        """What people correct: merge, split, rename, and facts that are not so; kept through every ingest, and undone
        to the letter."""
        return Correct(self.store, self._correcting, self.documents)

    @contextmanager
    def _correcting(self, progress: Progress) -> Iterator[Tools]:
        if "schema" not in self.state():
            raise coded(Code.EMPTY_GRAPH)
        with self._writing("correct", progress) as turn:
            yield self._tools(turn, LocalExtractor(), None, "flexible", progress)

    @cached_property
    def adopt(self) -> Adopt:
        """A graph of yours in another database, read beside the documents: its nodes are documents of sentences."""
        return Adopt(self.store, self.settings, self._adopting, lambda: self._schema(None))

    @contextmanager
    def _adopting(self, schema: Schema, progress: Progress) -> Iterator[tuple[Pass, Tools]]:
        with self._writing("ingest", progress) as turn:
            yield turn, self._tools(turn, RowExtractor(), schema, "flexible", progress)
        self._learnt.discard("documents")  # perhaps the rows were all

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
        """Run a statement, read-only unless ``write``. ``timeout``: seconds, by default 30; ``limit``: rows, by default
        1,000.

        ``guarded``, for other people's statements: raises ``InputError`` for what no time-out ends
        (docs/reference/security.md).
        """
        for name, value in (("timeout", timeout), ("limit", limit)):
            if value is not None and not value > 0:
                raise InputError(f"{name} must be more than 0.", name)
        if guarded and (why := why_refused(statement, parameters or {})):
            raise coded(Code.STATEMENT_REFUSED, why=why)
        return self.store.run_statement(
            statement, parameters or {}, write=write, timeout=timeout or CYPHER_TIMEOUT, limit=limit or CYPHER_LIMIT
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
            {row["type"]: row["count"] for row in self.store.read("explore/relationship_counts")},
            element_graph(self.store, counts),
            call_statistics(self.store, stages_by_reader()),
            self.store.read("explore/untyped")[0]["entities"],
        )

    def export(
        self,
        path: str | Path,
        format: str | None = None,
        *,
        where: Where | None = None,
        progress: Progress = SILENT,
    ) -> ExchangeReport:
        """Write the whole graph to ``path``: "jsonl", "graphml", or "csv" (a folder); default: by its ending.

        ``where``: only the ``part`` that documents with these metadata speak of. As "jsonl" it is without tree, and an
        import settles its names anew. The file appears when it is complete. Raises ``InputError`` for an unknown
        format, or where no document fits.
        """
        from kgplatform.exchange import export_graph
        from kgplatform.exchange.elements import chosen_format

        documents = fitting_documents(self.store, where)
        if documents and where is not None and chosen_format(Path(path), format) != "jsonl":  # read back by others
            with self.part(where, progress=progress) as part:
                return export_graph(part.store, Path(path), format, progress)
        return export_graph(self.store, Path(path), format, progress, documents)

    def export_answer(self, run: str, path: str | Path) -> Path:
        """Write a kept answer with its evidence to a ZIP, which a browser shows and ``verify_answer`` checks
        (docs/reference/answer-file.md). Raises ``InputError`` for a run that is not there."""
        from kgplatform.exchange import export_answer

        return export_answer(self.store, run, Path(path))

    def lend_driver(self, to: str) -> AbstractContextManager[Any]:
        """The driver itself, for a library (``to``) that needs one; errors are translated as the platform's own are."""
        return self.store.lend_driver(to)

    def py2neo(self) -> py2neo.Graph:
        """A py2neo ``Graph`` on the same database, for those who use it (extra ``py2neo``; no longer maintained)."""
        try:
            from py2neo import Graph
        except ImportError as error:
            raise SettingError(f"py2neo is not installed. Run `{to_install('py2neo')}`.") from error
        connection = self.store.connection
        return Graph(connection.uri, auth=(connection.username, connection.password), name=connection.database)

    def state(self) -> Row:
        """What the graph knows about itself, such as its schema and its models; empty for a new graph."""
        return graph_state(self.store)

    def conflicts(self, limit: int = 100) -> tuple[Conflict, ...]:
        """Pairs of facts that differ in what has one value at a time, as the graph's schema says (``single``)."""
        return conflicts(self.store, _single(self.store), limit)

    def schema(self) -> GraphSchema | None:
        """The schema of the last ingest with its expansions; None before the first."""
        return GraphSchema.of(state_meanwhile(self.store))

    def use_schema(self, schema: str | Path | Schema) -> Schema:
        """Have the next ingest use ``schema``, a file or a shipped name. What was read before stays as it is until it
        is read again. Raises ``SchemaError``, and ``InputError`` for a graph without documents, which has no schema."""
        found, own = self._schema(schema), self.schema()
        if own is None:
            raise InputError("The graph has no schema yet: give this one with the first documents.")
        chosen = None if found == own.schema else json.dumps(found.to_dict(), ensure_ascii=False)
        self.store.write(set_state(schemaChosen=chosen))
        return found

    def check(self) -> str:
        """The version of the server. Raises ``StoreError`` if the database is down."""
        return self.store.check()

    def server_advice(self) -> str:
        """One sentence on what to do where the graph has outgrown the memory of its managed server, or where another
        server does not bound the memory of statements; else empty."""
        if self.settings.neo4j_uri is None:
            return LocalNeo4j(self.settings).status().advice
        return unbounded(self.store)

    def database_id(self) -> str:
        """What tells the graph's database from all others."""
        return str(self.store.read("neo4j/database")[0]["id"])

    def documents(self) -> list[DocumentInfo]:
        """The documents of the graph, by title."""
        return [DocumentInfo.of(row) for row in self.store.read("explore/documents")]

    def holds(self, file: Path) -> bool:
        """Whether the graph holds any document of ``file`` with the text that it has now."""
        return holds(self.store, file, self.settings)

    def lacks_facts(self) -> bool:
        """Whether some passage has no atomic facts from a model or a recording."""
        return lacks_facts(self.store)

    def jobs(self, place: str, server: str, lease: float) -> JobQueue:
        """The jobs of the graph's servers, for ``server``, whose uploads are ``place``; it holds one for ``lease``
        seconds without a sign of life."""
        return JobQueue(self.store, place, server, lease)

    def within(self: G, stop: Stop | None = None) -> G:
        """This graph for one piece of work, on the same connections: ``ledger`` counts what this work alone spends.

        ``stop``, set by another thread, ends the work within a second, whatever it waits for; by default the graph's
        own. Close only the whole.
        """
        part = copy.copy(self)
        for bound in ("embedder", "language_model", "look", "correct", "adopt"):
            part.__dict__.pop(bound, None)
        part.store, part.ledger, part._whole = self.store.within(stop or self.store.stop), Ledger(), self
        return part

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model: the one that is set, otherwise the one that the graph was embedded with."""
        if self._whole is not None:
            return within(self._whole.embedder, meter=self.ledger, stop=self.store.stop)
        if self._given_embedder is not None:
            return self._given_embedder
        stored = self.state().get("embeddingModel")
        if self.settings.embedder == "auto" and stored is not None:
            return make_embedder(self.settings.model_copy(update={"embedder": stored}), self.ledger, self._report)
        return make_embedder(self.settings, self.ledger, self._report)

    @cached_property
    def language_model(self) -> Chat | None:
        """The language model, or None if none is configured."""
        if self._whole is not None:
            return within(self._whole.language_model, meter=self.ledger, stop=self.store.stop)
        if isinstance(self._given_chat, OpenAIChat):  # it has been given its meters
            return self._given_chat
        if self._given_chat is not None:
            return within(self._given_chat, meter=self.ledger)
        return make_chat(self.settings, self.ledger)

    @property
    def model_name(self) -> str | None:
        """The language model's name, or None if none is configured."""
        return self.language_model.model if self.language_model is not None else None

    def try_model(self) -> Trial:
        """Call the language model once, whatever is in the cache: what it replied, how fast, and what that cost.

        Raises ``SettingError`` if there is none, and ``ModelError``, which says what to do.
        """
        ledgers = [part.ledger for part in self._wholes()]
        return try_model(self.language_model, self.settings, ledgers, self.store.stop)

    def list_models(self, address: str | None, key: str | None = None) -> list[str]:
        """The models that the server at ``address`` lists, for ``connect_model``; empty where it lists none."""
        chat = OpenAIChat(self._with_model(address, key, ""), self.ledger, None)
        try:
            return within(chat, stop=self.store.stop).listed()
        finally:
            chat.close()

    def connect_model(self, address: str | None, key: str | None, model: str) -> Trial:
        """Ask another language model from now on, here and wherever this home is opened, if it answers a short call.

        ``address``: base URL of the server, None for OpenAI. ``key``: None for none, or for the one of the same
        address. Raises ``SettingError`` where the model was chosen from outside, or the home cannot keep it, and
        ``ModelError`` where it does not answer: then nothing has changed.
        """
        *_, whole = self._wholes()
        chosen = self._with_model(address, key, model)
        ledgers = [part.ledger for part in self._wholes()]
        trial = try_model(make_chat(chosen, self.ledger), chosen, ledgers, self.store.stop)
        file = chosen.home_folder / MODEL_FILE
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(file, json.dumps(model_values(chosen)).encode())
        except OSError as error:
            raise SettingError(f"{file} cannot be written: {error.strerror}.") from error
        whole.settings = chosen
        whole.__dict__.pop("language_model", None)  # what still uses the one before ends it
        return trial

    @property
    def is_model_open(self) -> bool:
        """Whether ``connect_model`` may choose the model: neither the environment nor the program did."""
        *_, whole = self._wholes()
        unset = {name: Settings.model_fields[name].default for name in MODEL}
        free = (unset, saved_model(whole.settings.home_folder))  # none, or one that was connected for this home
        return whole._given_chat is None and model_values(whole.settings) in free

    def _with_model(self, address: str | None, key: str | None, model: str) -> Settings:
        *_, whole = self._wholes()
        if not self.is_model_open:
            raise SettingError(
                "The language model was chosen where the program was started. Remove OPENAI_API_KEY, OPENAI_BASE_URL "
                "and KGPLATFORM_CHAT_MODEL from its environment and from .env, and start it again."
            )
        if key is None and whole.settings.openai_base_url == address:
            key = model_values(whole.settings)["openai_api_key"]
        return with_model(whole.settings, address, key, model)

    def check_model(self) -> None:
        """Raise ``EmbeddingMismatchError`` if the graph was embedded by another model than the one that is set.

        Waits while the graph is imported or embedded again.
        """
        wait_meanwhile(self.store, ("import", "reembed"), self._report)
        state = self.state()
        if state.get("embeddingModel"):
            check_embedder(state, self.embedder)

    def _tools(
        self,
        turn: Pass,
        extractor: Extractor,
        schema: str | Path | Schema | None,
        mode: Mode,
        progress: Progress,
    ) -> Tools:
        if mode not in MODES:
            raise InputError(unknown("mode", str(mode), MODES))
        return Tools(
            store=turn.store,
            embedder=self.embedder,
            extractor=extractor,
            schema=self._schema(schema),
            mode=mode,
            settings=self.settings,
            ledger=self.ledger,
            progress=progress,
        )

    @contextmanager
    def _writing(self, kind: str, progress: Progress, turn: PassTurn = "alone") -> Iterator[Pass]:
        """A pass of this ``kind``, once its turn has come; what is known of the graph is looked at again."""
        with Pass(self.store, kind, progress, turn) as opened:
            if kind != "import":  # the file says which model it has
                self._follow_model(opened.store)
            yield opened

    def _follow_model(self, store: Store) -> None:
        """Use the graph's own model, if it is to be that: another process may have embedded the graph again."""
        used = next((part.__dict__["embedder"].name for part in self._wholes() if "embedder" in part.__dict__), None)
        if used is not None and self.settings.embedder == "auto":
            stored = graph_state(store).get("embeddingModel")
            if stored not in (None, used):
                self._forget_embedder()

    def _wholes(self) -> Iterator[KnowledgeGraph]:
        """This graph, that which it is a part of, and so on."""
        part: KnowledgeGraph | None = self
        while part is not None:
            yield part
            part = part._whole

    def _forget_embedder(self) -> None:
        """Look again which model made the graph's vectors."""
        for part in self._wholes():
            part.__dict__.pop("embedder", None)

    def _schema(self, given: str | Path | Schema | None) -> Schema:
        if given is None:
            own = self.schema()
            return (own.chosen or own.schema) if own is not None else load_schema("general")
        if not isinstance(given, str | Path | Schema):
            raise wrong_value("schema", given, "name one, or a file, or give a kgplatform.Schema")
        return given if isinstance(given, Schema) else load_schema(given)

    def _model(self, what: str) -> Chat:
        """The language model, which does ``what`` ("Gists are written"). Raises ``SettingError`` if there is none."""
        if self.language_model is None:
            raise SettingError(
                f"{what} by a language model, and none is configured. Set OPENAI_API_KEY, or OPENAI_BASE_URL."
            )
        return self.language_model

    def _need_documents(self) -> None:
        """Raise ``InputError`` if there is nothing to ask; documents once seen are not looked for again.

        What another process makes of the graph's vectors is noticed, if not at once.
        """
        is_known = "documents" in self._learnt
        if not is_known or time.monotonic() > self._followed[0] + _FOLLOWED_EVERY:
            self._followed[0] = time.monotonic()
            self._follow_model(self.store)
        if is_known:
            return
        state = self.state()
        if not state:
            raise coded(Code.EMPTY_GRAPH)
        if "schema" not in state:
            raise coded(Code.UNFINISHED_INGEST)
        if not self.store.read("explore/has_documents"):
            raise coded(Code.NO_DOCUMENTS)
        if not is_up_to_date(state):
            self._report(OLDER_GRAPH)
        self._learnt.add("documents")

    def _named(self, documents: str | Path | Sequence[str | Path]) -> list[DocumentInfo]:
        return named_documents(documents, self.documents())


@checked
class ChatThread:
    """A thread of ``graph``; ``id`` names it. It is kept turn by turn: what is not asked leaves nothing."""

    def __init__(self, graph: KnowledgeGraph, id: str) -> None:
        self._graph = graph
        self.id = id

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All questions and answers so far, as the graph has them now."""
        return turns_of(self._graph.store, self.id)

    def ask(
        self,
        /,
        question: str,
        reader: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        where: Where | None = None,
        as_of: str | None = None,
        verify: bool = False,
        on_step: Tell | None = None,
        on_text: Hear | None = None,
        stop: Stop | None = None,
        keep_failed: bool = True,
        **more: Unpack[GivenOptions],
    ) -> Answer:
        """An answer, as ``KnowledgeGraph.ask`` gives it, from any reader; it is kept as the next turn. ``where`` and
        ``as_of`` are of this question alone.

        A follow-up is first made to stand alone, by one call of the model: the answer's ``question`` is what the reader
        was asked, and its ``note`` says so. The first question of a thread is asked as it is. A question for which the
        model fails is kept as a turn without an answer, so that the next may refer to it, unless ``keep_failed`` is
        False or the token budget is used up. Raises what ``ask`` raises.
        """
        started, graph = time.perf_counter(), self._graph
        # What was asked before, less the same question, which failed.
        turns = (turn for turn in self.turns if turn.text is not None or tidy(turn.asked) != tidy(question))
        earlier = [Exchange(turn.question, turn.text) for turn in turns]
        alone, whole = follow_up(graph, question, earlier, on_step, stop)

        def kept(answer: Answer, *, failed: bool = False) -> Answer:
            turn = {"thread": self.id, "asked": question, "failed": failed}
            return graph._kept(whole(answer), started, options or {}, where, as_of, turn)

        options = {**(options or {}), **more}
        try:
            asked_of: dict[str, Any] = {"options": options, "where": where, "as_of": as_of, "verify": verify}
            answer = graph.ask(alone, reader, **asked_of, on_step=on_step, on_text=on_text, stop=stop)
        except ModelError as error:
            if keep_failed and not isinstance(error, BudgetError):
                nothing, cost = SearchResult(alone, (), (), 0.0), sum((step.usage for step in error.steps), Usage())
                name, why = reader or READERS[0].name, f"It failed: {error}"
                with suppress(KgError):  # the error of the model counts
                    kept(Answer(alone, name, None, (), nothing, error.steps, cost, why), failed=True)
            raise
        return kept(answer)


def follow_up(
    graph: KnowledgeGraph,
    question: str,
    earlier: Sequence[Exchange],
    on_step: Tell | None = None,
    stop: Stop | None = None,
) -> tuple[str, Callable[[Answer], Answer]]:
    """``question`` as it stands alone, without the questions ``earlier``, by one call of the model; and what adds that
    call, with a note on it, to the answer of a reader that is asked so."""
    alone, note, spent = question, "", Usage()
    steps: tuple[Step, ...] = ()
    if earlier:
        with graph.run(on_step=on_step, stop=stop) as run:
            if run.chat is None:
                note = FAILED
            else:
                calls = Calls(run.chat, run.ledger, run.tell)
                alone, note = stand_alone(question, earlier, calls, run.context)
                note = note or ("" if alone == question else f"Asked as: {alone}")
                steps, spent = tuple(calls.steps), calls.usage

    def whole(answer: Answer) -> Answer:
        told = joined(note, answer.note)
        return replace(answer, note=told, trace=(*steps, *answer.trace), usage=spent + answer.usage)

    return alone, whole
