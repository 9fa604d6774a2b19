"""The sample corpus, for a graph that is still empty: twenty documents whose facts were written by hand.

It comes with the package (``examples/`` of the repository); a job reads it and builds the tree.
"""

from __future__ import annotations

from importlib import resources
from typing import Any

from fastapi import APIRouter, Request, Response

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.stopping import Stop
from kgplatform.explore.jobs import Claim, Job
from kgplatform.interfaces.http.failures import busy, errors
from kgplatform.interfaces.http.jobs import Work
from kgplatform.interfaces.http.parts import Parts, Served
from kgplatform.query import data_folder
from kgplatform.records import Progress
from kgplatform.shown import as_fields, plain

router = APIRouter(prefix="/api")

NOTE = "The facts of the sample were written by hand; no model read them from the documents."


@router.post(
    "/sample", tags=["documents"], summary="Load the sample corpus", status_code=202, responses=errors(403, 409, 429)
)
async def load_sample(request: Request, parts: Served) -> Response:
    """Twenty short documents about the first telegraph cables, with facts that were written by hand, and their tree.
    Only for a graph without documents."""
    parts.refuse_change()
    return await parts.workers.answer(request, lambda graph: {"job": _queued(parts, graph)}, status=202)


def _queued(parts: Parts, graph: KnowledgeGraph) -> Job:
    if graph.documents():
        raise busy("The graph already has documents. Load the sample into an empty graph.", 409)
    return parts.jobs.add("sample", {})


def sample_work(graph: KnowledgeGraph) -> Work:
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
        told = as_fields(report) | {"notes": [NOTE, *report.notes], "complete": report.complete}
        return dict(plain(told))

    return Work(run, lambda claim, report: None, alone=True)
