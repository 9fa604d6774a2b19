"""What the jobs of this server do: ingest uploads or the sample, build the tree, and work on documents."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.stopping import Stop
from kgplatform.errors import InputError
from kgplatform.explore.jobs import Claim
from kgplatform.interfaces.http.document_jobs import document_works
from kgplatform.interfaces.http.jobs import Work
from kgplatform.interfaces.http.sample import sample_work
from kgplatform.interfaces.uploads import Uploads, finish_uploads
from kgplatform.records import Progress
from kgplatform.shown import as_fields, plain


def works(graph: KnowledgeGraph, uploads: Uploads) -> Mapping[str, Work]:
    """By kind. Ingests may run beside each other; the tree is built of what all of them have finished."""
    works: dict[str, Work] = {"ingest": _ingests(graph, uploads), "tree": _trees(graph), "sample": sample_work(graph)}
    return {**works, **document_works(graph, uploads)}


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
