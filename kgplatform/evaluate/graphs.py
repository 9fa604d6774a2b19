"""The graphs of an evaluation: the one that is there, or graphs of their own for data sets.

    with Graphs(settings, note, progress) as graphs:
        kg = graphs.for_data_set(dataset)
        graphs.seconds[graphs.name_of(kg)]

A graph of its own is a home folder ``evaluation/NAME`` in the home folder of the settings, with a managed server that
runs only while it is needed. It stays on disk: the next run finds it, and an interrupted ingest resumes.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager, suppress
from dataclasses import asdict, replace
from pathlib import Path

from kgplatform.client import KnowledgeGraph, open_graph
from kgplatform.errors import BudgetError, InputError
from kgplatform.evaluate.costs import less, worth
from kgplatform.evaluate.datasets import write_corpus
from kgplatform.evaluate.journal import claimed
from kgplatform.evaluate.kept_answers import slug
from kgplatform.evaluate.setups import needs, resolved
from kgplatform.evaluate.terms import Build, DataSet, Setup, first_of
from kgplatform.ingest.pipeline import IngestReport
from kgplatform.models.chat import Chat, Ledger
from kgplatform.models.embed import Embedder
from kgplatform.models.openai_chat import OpenAIChat, make_chat
from kgplatform.neo4j.config import has_store
from kgplatform.neo4j.filters import Where
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.query import load_query
from kgplatform.readers.global_.reader import READER as CORPUS
from kgplatform.readers.reader import Need
from kgplatform.records import SILENT, Progress, TableRow, Usage
from kgplatform.settings import Settings
from kgplatform.sources.files.file_text import clean
from kgplatform.text import counted, node_id, tidy

Note = Callable[[str], None]
CURRENT = "current"
"""The name of the graph that the settings name."""
AS_USUAL = Build()
_FOLDER = "evaluation"
_DIGITS = 8
_TOLD = 5
_MOST_ROWS = 5_000_000
_SECONDS = 600.0
_BOOK = 120_000
"""Characters of texts whose gists are those of books, where nothing is said of it: some 20,000 words. The articles of
QuALITY have 5,000 words, the books of NarrativeQA 70,000."""


class Graphs(AbstractContextManager["Graphs"]):
    """Opens graphs, and closes them all when it is left; the managed servers that it started are stopped then.

    All graphs share one language model, ``chat`` (None if none is configured), with one cache, that of the settings'
    home folder, and one budget, that of ``ledger``. Graphs of their own lie in the home folder of ``settings``.
    ``built`` is told, by the name of a graph, what building it spent, by stage; ``seconds``: how long its ingest took,
    where there was something to do.
    ``where``: the graph of the settings is only the part of these documents.
    ``run``: of a repeated evaluation its number; later ones have a cache of their own, so that the model is asked anew.
    """

    def __init__(
        self,
        settings: Settings,
        note: Note = lambda line: None,
        progress: Progress = SILENT,
        *,
        embedder: Embedder | None = None,
        chat: Chat | None = None,
        where: Where | None = None,
        run: int = 1,
    ) -> None:
        self.settings = settings
        self.ledger = Ledger(settings.token_budget)
        self.chat = chat or make_chat(settings, self.ledger)
        if chat is None and self.chat is not None and run > 1:
            self.chat = OpenAIChat(settings, self.ledger, settings.home_folder / f"llm-cache-run-{run}")
        self.built: Callable[[str, dict[str, Usage]], None] = lambda graph, spent: None
        self.seconds: dict[str, float] = {}
        self._note = note
        self._progress = progress
        self._embedder = embedder
        self._where = where
        self._open: dict[str, tuple[KnowledgeGraph, ExitStack]] = {}

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        stopped = kind is not None and not issubclass(kind, Exception)
        # After Ctrl-C threads still ask, and a driver that is closed under them may fail: that is not what happened.
        with suppress(*([Exception] if stopped else [])), ExitStack() as closing:
            for opened in self._open.values():  # each is closed, whatever happens to the others
                closing.callback(opened[1].close)
            self._open.clear()

    def current(self) -> KnowledgeGraph:
        """The graph of the settings, as ``connect`` opens it."""
        return self._opened(CURRENT, self.settings)

    def for_data_set(
        self, dataset: DataSet, build: Build = AS_USUAL, *, without_model: bool = False, fill_empty: bool = True
    ) -> KnowledgeGraph:
        """A graph with just the texts of ``dataset``; the graph that is there, where the data set brings no texts.

        Built as ``build`` says; without an extractor there, by the model if one is configured and not
        ``without_model``, else by rules. The current graph is taken if it holds these texts and nothing else, or, with
        ``fill_empty``, if it is empty; else the data set gets a graph of its own.
        Raises ``InputError`` where neither is possible, ``BudgetError`` if the budget ends while it is built.
        """
        if not dataset.corpus:
            return self._without_texts(dataset, build)
        self._refuse_condition(dataset.name)
        extractor = build.extractor or ("llm" if self.chat is not None and not without_model else "local")
        graph = self._in_current(dataset, extractor, fill_empty) if build == AS_USUAL else None
        if graph is not None:
            return graph
        if self.settings.neo4j_uri is not None:
            raise InputError(
                f"{dataset.name} needs its own graph, but the one at NEO4J_URI holds other texts or was built "
                "differently. Name an empty one, or unset NEO4J_URI."
            )
        return self._in_own(dataset, replace(build, extractor=extractor))

    def holding(self, dataset: DataSet) -> KnowledgeGraph | None:
        """The current graph, if it holds the texts of ``dataset``, whatever else it holds."""
        if not self._may_hold_texts():
            return None
        graph = self.current()
        wanted, there = _identities(dataset, rows(graph, "evaluate/documents"))
        return graph if wanted <= there else None

    def empty(self, name: str, build: Build = AS_USUAL) -> KnowledgeGraph:
        """A graph of its own without documents; what an interrupted run left there is removed. Raises ``InputError`` if
        NEO4J_URI is set: no other graph can be made at that server."""
        self._refuse_condition(name)
        if self.settings.neo4j_uri is not None:
            raise InputError(
                f"The questions of {name} each have their own texts and need an empty graph. Unset NEO4J_URI, so that "
                "a managed server can be started for them."
            )
        own = self._own_name(f"{name}-apart", build, model="")
        if own in self._open:
            raise ValueError(f"the graph {own} is in use; release it first")
        return self._opened(own, self._own_settings(own, build), fresh=True)

    def name_of(self, graph: KnowledgeGraph) -> str:
        """The name of an open graph: ``CURRENT``, or that of its folder."""
        return next(name for name, (opened, _) in self._open.items() if opened is graph)

    def release(self, graph: KnowledgeGraph) -> None:
        """Close ``graph`` now, and stop its server if it was started for it: one that runs takes 1 to 2 GB."""
        self._open.pop(self.name_of(graph))[1].close()

    def _refuse_condition(self, name: str) -> None:
        if self._where:
            raise InputError(f"{name} has its own texts: a condition is for questions about your documents.", "where")

    def _without_texts(self, dataset: DataSet, build: Build) -> KnowledgeGraph:
        if build != AS_USUAL:
            raise InputError(
                f"The questions of {dataset.name} are about the connected graph, which is already built: give their "
                "texts too, as a corpus in the folder of the questions, or leave out the options for building."
            )
        graph = self.current()
        if not graph.documents():
            raise InputError("The graph has no documents. Run `kgplatform ingest PATH…` first.")
        return graph

    def _in_current(self, dataset: DataSet, extractor: str, fill_empty: bool) -> KnowledgeGraph | None:
        """The current graph with the texts of ``dataset``, or None if they do not belong there."""
        if not fill_empty and not self._may_hold_texts():
            return None
        was_open = CURRENT in self._open
        graph = self.current()
        found = rows(graph, "evaluate/documents")
        wanted, there = _identities(dataset, found)
        file = self._folder / f"{slug(dataset.name)}.jsonl"  # documents are known by it, so it never changes
        ours = {source for _, _, source in found} == {file.as_uri()}
        if wanted == there and not ours:
            self._note(f"{dataset.name}: the current graph contains exactly its {counted(len(wanted), 'text')}.")
            return graph
        if (fill_empty and (ours or not found)) or (ours and wanted == there):
            self._ingest(graph, dataset, Build(extractor=extractor), file)
            return graph
        if not was_open:
            self.release(graph)
        return None

    def _may_hold_texts(self) -> bool:
        """Whether it is worth starting the current graph's server for a look."""
        return self.settings.neo4j_uri is not None or has_store(self.settings.home_folder / "neo4j")

    def _in_own(self, dataset: DataSet, build: Build) -> KnowledgeGraph:
        model = self.chat.model if build.extractor == "llm" and self.chat is not None else ""
        name = self._own_name(dataset.name, build, model)
        if name in self._open:
            return self._open[name][0]
        settings = self._own_settings(name, build)
        graph = self._opened(name, settings)
        self._ingest(graph, dataset, build, settings.home_folder / f"{slug(dataset.name)}.jsonl")
        return graph

    @property
    def _folder(self) -> Path:
        return self.settings.home_folder / _FOLDER

    def _own_name(self, name: str, build: Build, model: str) -> str:
        """Other builds, models and embedding models have other graphs: what one has read another may not use."""
        parts = [slug(name), *([slug(build.extractor)] if build.extractor else [])]
        rest = replace(build, extractor=None, mode=None if build.mode == "flexible" else build.mode)  # as by default
        embedder = "" if self.settings.embedder == "auto" else self.settings.embedder
        if rest != AS_USUAL or model or embedder:
            told = json.dumps(asdict(rest), sort_keys=True, default=str)
            parts.append(node_id(told, model, embedder)[:_DIGITS])
        return "-".join(parts)

    def _own_settings(self, name: str, build: Build) -> Settings:
        own, tokens = self.settings.in_home(self._folder / name), build.passage_tokens
        return own if tokens is None else own.model_copy(update={"passage_tokens": tokens})

    def _opened(self, name: str, settings: Settings, *, fresh: bool = False) -> KnowledgeGraph:
        if name in self._open:
            return self._open[name][0]
        with ExitStack() as undo:
            if name != CURRENT:
                undo.enter_context(claimed(settings.home_folder, "home"))
            if settings.neo4j_uri is None:
                server = LocalNeo4j(settings, self._note)
                # One of a graph of its own was left by a run that was killed: nobody else starts it.
                if name != CURRENT or not server.status().running:
                    undo.callback(server.down)
                if fresh:  # no document, schema or embedding model of an earlier run stays
                    server.down()
                    if has_store(settings.home_folder / "neo4j"):
                        shutil.rmtree(settings.home_folder / "neo4j" / "data")
            graph = open_graph(settings, self._note, embedder=self._embedder, chat=self.chat)
            undo.callback(graph.close)
            graph.check_model()
            if self._where:  # of texts of its own ``for_data_set`` opens no other
                graph = undo.enter_context(graph.part(self._where, progress=self._progress))
            self._open[name] = (graph, undo.pop_all())
        return graph

    def _ingest(self, graph: KnowledgeGraph, dataset: DataSet, build: Build, file: Path) -> None:
        name = self.name_of(graph)
        where = "the graph that is there" if name == CURRENT else f"a graph of its own, {graph.settings.home_folder}"
        self._note(
            f"{dataset.name}: {counted(len(dataset.corpus), 'text')} into {where} (extractor {build.extractor}) …"
        )
        started = time.perf_counter()
        report = self.fill(graph, dataset, build, file)
        if report.extracted or report.added or report.changed:
            self.seconds[name] = time.perf_counter() - started
        self._tell(dataset, report)

    def fill(self, graph: KnowledgeGraph, dataset: DataSet, build: Build, file: Path) -> IngestReport:
        """Put the texts of ``dataset`` into ``graph``, by way of ``file``."""
        file.parent.mkdir(parents=True, exist_ok=True)
        write_corpus(dataset, file)
        with self.counting(graph):
            return graph.ingest(
                file,
                schema=build.schema or "general",
                extractor=build.extractor,
                mode=build.mode or "flexible",  # type: ignore[arg-type]  # from people: ``ingest`` checks it
                progress=self._progress,
            )

    @contextmanager
    def counting(self, graph: KnowledgeGraph) -> Iterator[None]:
        """Count what is spent on ``graph``; by ledgers, since not all threads of a build know who asked: that of all
        graphs, and that of its embedding model."""
        before = worth(self.ledger) | worth(graph.ledger)
        try:
            yield
        finally:  # what a build that fails has spent is spent
            self.built(self.name_of(graph), less(worth(self.ledger) | worth(graph.ledger), before))

    def _tell(self, dataset: DataSet, report: IngestReport) -> None:
        told = first_of([f"not ingested: {each.reason}" for each in report.skipped] + report.notes, _TOLD)
        if report.failed:
            told.append(
                f"{counted(len(report.failed), 'passage')} could not be read, and stay without facts: "
                f"{report.failed[0].reason} The next run tries again."
            )
        for line in told:
            self._note(f"{dataset.name}: {line}")
        if report.stopped:
            raise BudgetError(report.stopped)


def rows(graph: KnowledgeGraph, query: str, **parameters: object) -> list[TableRow]:
    """The rows of a statement of ours. Raises ``InputError`` for more than 5 million."""
    table = graph.cypher(load_query(query).text, dict(parameters), limit=_MOST_ROWS, timeout=_SECONDS)
    if table.truncated:
        raise InputError(f"The graph has more than {_MOST_ROWS:,} rows to read. Use one with fewer texts.")
    return table.rows


def _identities(dataset: DataSet, documents: list[TableRow]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The texts of ``dataset`` and those of the graph, each by name and content; untitled ones by content alone."""
    wanted = {
        (tidy(clean(document.title)), hashlib.sha256(clean(document.text).encode()).hexdigest())
        for document in dataset.corpus
        if clean(document.text).strip()
    }
    untitled = {sha256 for title, sha256 in wanted if not title}
    there = {("" if sha256 in untitled else name, sha256) for name, sha256, _ in documents}
    return wanted, there


def _lacking(kg: KnowledgeGraph, setups: Sequence[Setup]) -> dict[Need, list[Setup]]:
    """What ``kg`` does not have, with the setups that need it: pages of all documents, atomic facts of all passages
    from a model or a recording, and the tree."""
    lacks: dict[Need, Callable[[], bool]] = {
        "gists": lambda: not all(document.pages for document in kg.documents()),
        "facts": kg.lacks_facts,
        "tree": lambda: kg.state().get("treeState") != "complete",
    }
    needing = {need: [setup for setup in setups if need in needs(setup)] for need in lacks}
    return {need: wanting for need, wanting in needing.items() if wanting and lacks[need]()}


def check_prepared(kg: KnowledgeGraph, setups: Sequence[Setup]) -> tuple[str, ...]:
    """A note for each thing without which a reader works, but not as it is meant to. Raises ``InputError`` where a
    setup could not answer any question without what is missing."""
    lacking, notes = _lacking(kg, setups), []
    if "gists" in lacking:
        names = " and ".join(setup.name for setup in lacking["gists"])
        without = sum(not document.pages for document in kg.documents())
        lack = f"{counted(without, 'document')} {'has' if without == 1 else 'have'} none"
        raise InputError(
            f"{names} reads gists of pages, and {lack}. Run `kgplatform gist` first, or add prepare.", "prepare"
        )
    by_community = [each for each in setups if each.reader == CORPUS.name or resolved(each).get("route") == "community"]
    if "tree" in lacking:
        lack, run = "the graph has no knowledge tree", "run `kgplatform tree`"
        if by_community:
            what = f"{' and '.join(setup.name for setup in by_community)} reads communities, and {lack}"
            raise InputError(f"{what}. {run.capitalize()} first, or add prepare.", "prepare")
        notes.append(f"{lack.capitalize()}, so nothing was found by communities: {run}, or evaluate with prepare.")
    if "facts" in lacking:
        walkers = " and ".join(dict.fromkeys(setup.reader for setup in lacking["facts"]))
        notes.append(
            f"Some passages have no atomic facts from a model, so {walkers} walked over what they have instead: run "
            "`kgplatform ingest` with facts, or evaluate with prepare."
        )
    return tuple(notes)


def prepare(kg: KnowledgeGraph, setups: Sequence[Setup], build: Build, progress: Progress) -> tuple[str, ...]:
    """Build what is missing; returns a note for each part that could not be built whole.

    What is there already, and was built with the same options, costs nothing. Raises ``BudgetError`` where the tokens
    ran out: what was built until then is kept.
    """
    lacking, notes = _lacking(kg, setups), []
    if "facts" in lacking:
        read = kg.ingest(facts=True, progress=progress)
        _check(read.stopped)
        if read.facts_failed:
            notes.append("The atomic facts of some passages could not be read.")
    documents = kg.documents()
    unfinished = any(document.compression is None for document in documents)  # as a run that was ended leaves them
    is_needed = any("gists" in needs(setup) for setup in setups)
    if is_needed and ("gists" in lacking or build.gist or unfinished):
        characters = sum(document.characters for document in documents)
        preset = "book" if characters > _BOOK * len(documents) else "report"
        gists = kg.gist(**{"preset": preset, **build.gist}, progress=progress)
        _check(gists.stopped)
        if gists.failed:
            notes.append("The gists of some pages could not be written.")
    if "tree" in lacking and kg.stats().nodes.get("Entity"):  # of a text without any there is no tree to build
        _check(kg.build_tree(progress=progress).stopped)
    return tuple(notes)


def _check(stopped: str) -> None:
    if stopped:
        raise BudgetError(stopped)
