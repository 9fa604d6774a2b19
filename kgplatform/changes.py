"""An open graph that can be changed: documents come and go, their tree and gists are made, exports are brought in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kgplatform.errors import InputError
from kgplatform.graph.info import DocumentInfo
from kgplatform.ingest.bound import MODES, Mode
from kgplatform.ingest.corpus_file import Fields
from kgplatform.ingest.estimate import Estimate, estimate
from kgplatform.ingest.extract import Extractor, default_extractor, make_extractor, with_recording
from kgplatform.ingest.extract.local import LocalExtractor
from kgplatform.ingest.extract.recorded import RecordedExtractor
from kgplatform.ingest.extract_pass import Tools
from kgplatform.ingest.given import Ingestible, gather
from kgplatform.ingest.pipeline import IngestReport, ingest, ingest_facts, remove_documents
from kgplatform.ingest.schema import Schema
from kgplatform.ingest.settle import reembed
from kgplatform.neo4j.passes import Pass
from kgplatform.opened import OpenedGraph
from kgplatform.records import SILENT, Progress
from kgplatform.text import unknown
from kgplatform.work.arguments import checked

if TYPE_CHECKING:
    from kgplatform.exchange import ExchangeReport
    from kgplatform.gist.options import GistReport
    from kgplatform.tree.build_tree import TreeReport


@checked
class ChangeableGraph(OpenedGraph):
    """An open graph with the methods that change it."""

    def ingest(
        self,
        paths: Ingestible = (),
        *,
        schema: str | Path | Schema | None = None,
        extractor: str | Extractor | None = None,
        recorded: str | Path | None = None,
        mode: Mode | None = None,
        facts: bool = False,
        prune: bool = False,
        reread: bool = False,
        retry_failed: bool = False,
        progress: Progress = SILENT,
    ) -> IngestReport:
        """Update the graph from ``paths``: files and folders, or what is in no file.

        That is one or several of: ``Text``, dictionaries with a ``text``, open files, documents of LangChain and
        LlamaIndex, a DataFrame; a list or any iterator of them, or a loader of LangChain. A string is always a path.

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
        with gather(paths, self.settings.home_folder, Fields.of(self.settings)) as given:
            recording = with_recording(given, recorded, extractor)
            if not given and (prune or reread or not facts):
                raise InputError("Name at least one file or folder to ingest.")
            facts_from = self._model("Facts are read") if facts else None
            if facts and not given:
                self._need_documents()
            reader = make_extractor(extractor if given else "local", recording, self.language_model)
            with self._writing("ingest", progress) as turn:
                tools = self._tools(turn, reader, schema, mode, progress)
                tools = replace(tools, facts_from=facts_from, retry_failed=retry_failed)
                if facts and not given:
                    return ingest_facts(tools, turn)
                report = ingest(tools, given.paths, given.texts, turn, prune=prune, reread=reread)
        if isinstance(reader, RecordedExtractor) and report.extracted == report.passages:  # else some were used before
            report.notes.extend(f"{title}: recorded, but not among the documents" for title in reader.unused())
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
            by = extractor or default_extractor(recording, self.language_model)
            chat = None if retry_failed else self.language_model
            how: dict[str, Any] = {"facts": facts, "reread": reread, "chat": chat, "progress": progress}
            return estimate(self.store, given.paths, self._schema(schema), by, self.settings, texts=given.texts, **how)

    def remove(
        self, documents: str | Path | Sequence[str | Path], *, progress: Progress = SILENT
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

    def reembed(self, *, progress: Progress = SILENT) -> dict[str, float]:
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
        progress: Progress = SILENT,
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
