"""What the jobs of this server do: ingest uploads or the sample, build the tree, and work on documents."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.stopping import NEVER
from kgplatform.errors import InputError
from kgplatform.explore.info import DocumentInfo
from kgplatform.explore.jobs import Claim
from kgplatform.interfaces.http.jobs import Work
from kgplatform.interfaces.uploads import Uploads, finish_uploads, forget_unused
from kgplatform.query import data_folder
from kgplatform.records import Progress, SkippedFile
from kgplatform.shown import as_fields, plain

if TYPE_CHECKING:
    from kgplatform import IngestReport
    from kgplatform.tree.build_tree import TreeReport

Finish = Callable[[KnowledgeGraph, Uploads, Claim, dict[str, Any] | None], None]

_SAMPLE_NOTE = "The facts of the sample were written by hand; no model read them from the documents."


def works(graph: KnowledgeGraph, uploads: Uploads) -> Mapping[str, Work]:
    """By kind. Ingests may run beside each other; the tree is built of what all of them have finished, and the sample
    is ingested with its tree. A removal runs beside no other job.
    """

    def work(run: Callable[..., dict[str, Any]], *, alone: bool = False, finish: Finish = lambda *_: None) -> Work:
        return Work(
            lambda claim, stop, progress: run(graph.within(stop), uploads, claim, progress),
            partial(finish, graph, uploads),
            alone,
        )

    return {
        "ingest": work(_ingest, finish=_finish_ingest),
        "tree": work(_build_tree, alone=True),
        "sample": work(_load_sample, alone=True),
        "reread": work(_reread),
        "gist": work(_gist),
        "remove": work(_remove, alone=True),
    }


def _told(report: IngestReport | TreeReport, **changed: Any) -> dict[str, Any]:
    """The report as JSON has it, with what is ``changed`` in it."""
    return dict(plain(as_fields(report) | {"complete": report.complete} | changed))


def _ingest(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    name = claim.parameters["schema"]
    schema = graph.schemas().get(name) if name else None
    if name and schema is None:
        raise InputError(f"The schema {name} is no longer the graph's. Upload the files again with another one.")
    staged = uploads.staged(claim.folder, claim.job.files)
    report = graph.ingest(uploads.put(staged), **{**claim.parameters, "schema": schema}, progress=progress)
    home = f"{uploads.folder}/"  # the client knows its files by the names that it gave them
    return _told(report, skipped=[replace(file, path=file.path.removeprefix(home)) for file in report.skipped])


def _finish_ingest(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, report: dict[str, Any] | None) -> None:
    skipped = {file["path"] for file in report["skipped"] if not file["in_part"]} if report else set(claim.job.files)
    staged = uploads.staged(claim.folder, claim.job.files)
    finish_uploads(graph, uploads, staged, read=set(claim.job.files) - skipped)


def _build_tree(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    report = graph.build_tree(**claim.parameters, progress=progress)
    return _told(report, usage=graph.ledger.by_stage())


def _load_sample(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    folder = data_folder("examples")
    report = graph.ingest(folder / "corpus", recorded=folder / "extraction.jsonl", progress=progress)
    graph.build_tree(progress=progress)
    return _told(report, notes=[_SAMPLE_NOTE, *report.notes])


def _reread(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    there, gone = _files(chosen(graph, claim.parameters["documents"]))
    if not there:
        raise InputError("The files of these documents are no longer where they were. Add them again.")
    if graph.language_model is not None:
        graph.try_model()  # one that does not answer is met before thousands of passages wait for it
    report = graph.ingest(there, reread=True, progress=progress)
    skipped = [replace(file, path=Path(file.path).name) for file in report.skipped]
    return _told(report, skipped=[*skipped, *(SkippedFile(each.title, "its file is no longer there") for each in gone)])


def _gist(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    ids = [each.id for each in chosen(graph, claim.parameters["documents"])]
    return dict(plain(as_fields(graph.gist(ids, progress=progress))))


def _remove(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    known = {each.id: each for each in graph.documents()}
    chosen = [known[id_] for id_ in claim.parameters["documents"] if id_ in known]  # else they are gone already
    if chosen:
        graph.remove([each.id for each in chosen], progress=progress)
    forget_unused(graph.within(NEVER), uploads, [each.source for each in chosen])  # it stays removed
    return {"removed": len(claim.parameters["documents"])}


def chosen(graph: KnowledgeGraph, ids: Sequence[str]) -> list[DocumentInfo]:
    """The documents with these ``ids``. Raises ``InputError`` if one is gone."""
    known = {each.id: each for each in graph.documents()}
    if strange := [id_ for id_ in ids if id_ not in known]:
        raise InputError(f"Document {strange[0]!r:.200} is no longer in the graph. Reload the list.")
    return [known[id_] for id_ in dict.fromkeys(ids)]


def _files(documents: Sequence[DocumentInfo]) -> tuple[list[Path], list[DocumentInfo]]:
    """The files that documents come from, and the documents whose file is not there."""
    files: dict[Path, None] = {}
    gone = []
    for document in documents:
        address = urlsplit(document.source)
        file = Path(unquote(address.path))
        if address.scheme == "file" and file.is_file():
            files[file] = None
        else:
            gone.append(document)
    return list(files), gone
