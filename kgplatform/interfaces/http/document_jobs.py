"""Work on documents that are in the graph, several at once: read them again, give them gists, remove them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote, urlsplit

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.stopping import Stop
from kgplatform.errors import InputError
from kgplatform.explore.info import DocumentInfo
from kgplatform.explore.jobs import Claim
from kgplatform.interfaces.http.failures import errors
from kgplatform.interfaces.http.jobs import Work
from kgplatform.interfaces.http.parts import Served
from kgplatform.interfaces.uploads import Uploads, forget_unused
from kgplatform.records import Progress, SkippedFile
from kgplatform.shown import as_fields, plain

router = APIRouter(prefix="/api")

_MOST = 10_000
DocumentWork = Literal["reread", "gist", "remove"]


class DocumentsBody(BaseModel):
    """Documents of the graph, and what is to be done with them."""

    model_config = ConfigDict(extra="forbid")

    work: DocumentWork
    documents: list[str] = Field(min_length=1, max_length=_MOST, description="Ids, as /api/documents has them.")


@router.post(
    "/documents/jobs",
    tags=["documents"],
    summary="Read documents again, give them gists, or remove them",
    status_code=202,
    responses=errors(400, 403, 429),
)
async def work_on(body: DocumentsBody, request: Request, parts: Served) -> Response:
    """The answer is a job. `reread` reads the documents' files again by the schema and the model that are set now, if
    the model answers."""
    parts.refuse_change()

    def begin(graph: KnowledgeGraph) -> object:
        if body.work == "gist" and graph.language_model is None:
            raise InputError("Gists are written by a language model, and none is configured for this server.")
        _chosen(graph, body.documents)
        return {"job": parts.jobs.add(body.work, {"documents": body.documents})}

    return await parts.workers.answer(request, begin, status=202)


def document_works(graph: KnowledgeGraph, uploads: Uploads) -> Mapping[str, Work]:
    """By kind. A removal runs beside no other job."""

    def reread(claim: Claim, stop: Stop, progress: Progress) -> dict[str, Any]:
        there, gone = _files(_chosen(graph, claim.parameters["documents"]))
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
        ids = [each.id for each in _chosen(graph, claim.parameters["documents"])]
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


def _chosen(graph: KnowledgeGraph, ids: Sequence[str]) -> list[DocumentInfo]:
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
