"""What the jobs of this server do: ingest uploads or the sample, build the tree, and work on documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib import resources
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.stopping import Stop
from kgplatform.errors import InputError
from kgplatform.explore.info import DocumentInfo
from kgplatform.explore.jobs import Claim
from kgplatform.interfaces.http.jobs import Work
from kgplatform.interfaces.uploads import Uploads, finish_uploads, forget_unused
from kgplatform.query import data_folder
from kgplatform.records import Progress, SkippedFile
from kgplatform.shown import as_fields, plain

_SAMPLE_NOTE = "The facts of the sample were written by hand; no model read them from the documents."


def works(graph: KnowledgeGraph, uploads: Uploads) -> Mapping[str, Work]:
    """By kind. Ingests may run beside each other; the tree is built of what all of them have finished."""
    return {
        "ingest": _ingests(graph, uploads),
        "tree": _trees(graph),
        "sample": _samples(graph),
        **_documents(graph, uploads),
    }


def _ingests(graph: KnowledgeGraph, uploads: Uploads) -> Work:
    def run(claim: Claim, stop: Stop, progress: Progress) -> dict[str, Any]:
        name = claim.parameters["schema"]
        schema = graph.schemas().get(name) if name else None
        if name and schema is None:
            raise InputError(f"The schema {name} is no longer the graph's. Upload the files again with another one.")
        options = {**claim.parameters, "schema": schema, "progress": progress}
        staged = uploads.staged(claim.folder, claim.job.files)
        report = graph.within(stop).ingest(uploads.put(staged), **options)
        home = f"{uploads.folder}/"  # the client knows its files by the names that it gave them
        skipped = [replace(file, path=file.path.removeprefix(home)) for file in report.skipped]
        return dict(plain(as_fields(replace(report, skipped=skipped)) | {"complete": report.complete}))

    def finish(claim: Claim, report: dict[str, Any] | None) -> None:
        skipped = (
            {file["path"] for file in report["skipped"] if not file["in_part"]} if report else set(claim.job.files)
        )
        staged = uploads.staged(claim.folder, claim.job.files)
        finish_uploads(graph, uploads, staged, read=set(claim.job.files) - skipped)

    return Work(run, finish, alone=False)


def _trees(graph: KnowledgeGraph) -> Work:
    def run(claim: Claim, stop: Stop, progress: Progress) -> dict[str, Any]:
        part = graph.within(stop)
        report = part.build_tree(**claim.parameters, progress=progress)
        report = replace(report, usage=part.ledger.by_stage())
        return dict(plain(as_fields(report) | {"complete": report.complete}))

    return Work(run, lambda claim, report: None, alone=True)


def _samples(graph: KnowledgeGraph) -> Work:
    """Ingests the sample and builds its tree. The tree stands alone, and so does this."""

    def run(claim: Claim, stop: Stop, progress: Progress) -> dict[str, Any]:
        part = graph.within(stop)
        folder = data_folder("examples")
        with (
            resources.as_file(folder / "corpus") as corpus,
            resources.as_file(folder / "extraction.jsonl") as recorded,
        ):
            report = part.ingest(corpus, recorded=recorded, progress=progress)
        part.build_tree(progress=progress)
        told = as_fields(report) | {"notes": [_SAMPLE_NOTE, *report.notes], "complete": report.complete}
        return dict(plain(told))

    return Work(run, lambda claim, report: None, alone=True)


def _documents(graph: KnowledgeGraph, uploads: Uploads) -> Mapping[str, Work]:
    """By kind. A removal runs beside no other job."""

    def reread(claim: Claim, stop: Stop, progress: Progress) -> dict[str, Any]:
        there, gone = _files(chosen(graph, claim.parameters["documents"]))
        if not there:
            raise InputError("The files of these documents are no longer where they were. Add them again.")
        part = graph.within(stop)
        if part.language_model is not None:
            part.try_model()  # one that does not answer is met before thousands of passages wait for it
        report = part.ingest(there, reread=True, progress=progress)
        skipped = [replace(file, path=Path(file.path).name) for file in report.skipped]
        skipped += [SkippedFile(each.title, "its file is no longer there") for each in gone]
        return dict(plain(as_fields(replace(report, skipped=skipped)) | {"complete": report.complete}))

    def gist(claim: Claim, stop: Stop, progress: Progress) -> dict[str, Any]:
        part = graph.within(stop)
        ids = [each.id for each in chosen(graph, claim.parameters["documents"])]
        return dict(plain(as_fields(part.gist(ids, progress=progress))))

    def remove(claim: Claim, stop: Stop, progress: Progress) -> dict[str, Any]:
        known = {each.id: each for each in graph.documents()}
        chosen = [known[id_] for id_ in claim.parameters["documents"] if id_ in known]  # else they are gone already
        part = graph.within(stop)
        if chosen:
            part.remove([each.id for each in chosen], progress=progress)
        forget_unused(graph, uploads, [each.source for each in chosen])
        return {"removed": len(claim.parameters["documents"])}

    ends = {"finish": lambda claim, report: None}
    return {
        "reread": Work(reread, **ends, alone=False),
        "gist": Work(gist, **ends, alone=False),
        "remove": Work(remove, **ends, alone=True),
    }


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
