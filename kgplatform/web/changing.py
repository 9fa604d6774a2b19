"""What changes the graph: uploads, removals and the tree; and the jobs that do the long ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from typing import Any, cast

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import EventSourceResponse
from starlette.datastructures import FormData, UploadFile
from starlette.types import Message, Receive

from kgplatform.build.extract import Mode
from kgplatform.build.report import IngestReport
from kgplatform.build.schema import Schema, shipped_schemas
from kgplatform.build.settle import Progress
from kgplatform.client import EXTRACTORS, KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.llm import metered
from kgplatform.stopping import unstoppable
from kgplatform.web import examples
from kgplatform.web.encoding import Json, as_fields
from kgplatform.web.faults import RefusedError, not_found
from kgplatform.web.jobs import Job
from kgplatform.web.keeping import forget_unused, keep_used
from kgplatform.web.parts import Parts, Responses, Served, errors, says, streams
from kgplatform.web.room import Share
from kgplatform.web.streams import stream, told_job
from kgplatform.web.uploads import Staged, Uploads

router = APIRouter(prefix="/api")

_ACCEPTED = "The job that does it. It goes on when the client leaves."
_EVENTS: Responses = {200: {"description": "Server-sent events.", "content": streams(examples.JOB_EVENTS)}}
_TRUE = ("true", "1", "on", "yes")
_FALSE = ("false", "0", "off", "no", "")
_FIELDS = ("schema", "extractor", "mode", "facts")


class TreeBody(BaseModel):
    """How the tree is built."""

    model_config = ConfigDict(extra="forbid", json_schema_extra={"examples": [examples.TREE_BODY]})

    method: str | None = Field(None, description="How communities are found; else as those that are there.")
    rebuild: bool = Field(False, description="All communities anew, not only what changed.")


# ----------------------------------------------------------------------------------------------------------- documents


@router.post(
    "/documents",
    tags=["documents"],
    summary="Upload files, and ingest them",
    status_code=202,
    responses=says({"job": examples.JOB}, _ACCEPTED, 202) | errors(400, 403, 429, 507),
    openapi_extra={"requestBody": {"required": True, "content": {"multipart/form-data": examples.UPLOAD_FORM}}},
)
async def upload(request: Request, parts: Served) -> Response:
    """One or more `files`, and how to read them. A file of the same name takes the place of an earlier one."""
    parts.refuse_change()
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise InputError("Files are sent as multipart/form-data, in fields called `files`.")
    parts.jobs.check()
    parts.room.check(int(request.headers.get("content-length", 0)))
    with parts.room.share() as share, _told_where_full():
        sent = Request(request.scope, _taking(request.receive, share))
        # As they come in, files lie where no folder has a name for them: nothing of them is left if this process is
        # killed.
        async with sent.form(max_files=parts.limits.files, max_fields=len(_FIELDS)) as form:
            work = partial(_take_in, parts, form, share)
            return await parts.running.answer(request, work, status=202)


@router.delete(
    "/documents/{id:path}",
    tags=["documents"],
    summary="Remove a document",
    responses=says({"removed": examples.DOCUMENTS["documents"]}) | errors(403, 404, 409),
)
async def remove(id: str, request: Request, parts: Served) -> Response:
    """With all that only it supports, and with its uploaded file. By id or URI."""
    parts.refuse_change()
    return await parts.running.answer(request, lambda: _remove(parts, id))


@contextmanager
def _told_where_full() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        sentence = f"The server cannot keep the upload: {error.strerror or error}. See to its disk, then send it again."
        raise RefusedError(507, "StorageError", sentence, {"Connection": "close"}) from error


def _taking(receive: Receive, share: Share) -> Receive:
    """``receive``, which takes room for what comes."""

    async def taking() -> Message:
        message = await receive()
        share.take(len(message.get("body", b"")))
        return message

    return taking


def _take_in(parts: Parts, form: FormData, share: Share) -> dict[str, Job]:
    """Check what was asked for, put the files aside, and queue their ingest."""
    files = [each for each in form.getlist("files") if isinstance(each, UploadFile)]
    if not files:
        raise InputError("No file came. Send one or more in fields called `files`.")
    given = {name: value for name, value in form.items() if isinstance(value, str)}
    asked = _ingest_options(parts.graph, given)
    staged = parts.uploads.stage([(each.filename or "", each.file) for each in files], dropped=share.free)
    try:
        work = partial(_ingest, parts.graph, parts.uploads, staged, asked)
        job = parts.jobs.add("ingest", work, files=staged.names, drop=staged.drop)
        share.keep()
        return {"job": job}
    except BaseException:  # whatever it is, no upload is left behind
        staged.drop()
        raise


def _ingest_options(graph: KnowledgeGraph, given: Mapping[str, str]) -> dict[str, Any]:
    """The arguments of ``KnowledgeGraph.ingest``. Raises ``InputError`` for a field or a value that is not there."""
    if foreign := sorted(set(given) - set(_FIELDS)):
        raise InputError(f"There is no field {foreign[0]!r}; there are files, {', '.join(_FIELDS)}.")
    extractor, mode, facts = given.get("extractor", ""), given.get("mode", ""), given.get("facts", "").lower()
    if extractor not in ("", *EXTRACTORS):
        raise InputError(f"There is no extractor {extractor!r}; there are {', '.join(EXTRACTORS)}.")
    if mode not in ("", "strict", "flexible"):
        raise InputError(f"There is no mode {mode!r}; there are strict and flexible.")
    if facts not in (*_TRUE, *_FALSE):
        raise InputError("`facts` must be true or false.")
    return {
        "schema": _schema(graph, given.get("schema") or "general"),
        "extractor": extractor or None,
        "mode": cast(Mode | None, mode or None),
        "facts": facts in _TRUE,
    }


def _schema(graph: KnowledgeGraph, name: str) -> str | Schema:
    """A schema that comes along, or the graph's own. A path would be one of the server's files: it is no name here."""
    if name in (shipped := shipped_schemas()):
        return name
    found = graph.schema()
    if found is not None and found.schema.name == name:
        return found.schema
    own = [] if found is None else [found.schema.name]
    raise InputError(f"There is no schema {name!r}; there are {', '.join([*shipped, *own])}.")


def _ingest(
    graph: KnowledgeGraph, uploads: Uploads, staged: Staged, asked: Mapping[str, Any], progress: Progress
) -> dict[str, Any]:
    files = uploads.place(staged)
    doubtful = {str(file) for file in files}
    try:
        with metered() as meter:
            report = graph.ingest(files, progress=progress, **asked)
        doubtful = {each.path for each in report.skipped}
    finally:
        with unstoppable():
            keep_used(graph, uploads, staged, lambda file: str(file) not in doubtful)
            forget_unused(graph, uploads, [file.as_uri() for file in files])
    report.usage = meter.by_stage()  # of this job: others spend at the same time
    return _report(report, uploads)


def _report(report: IngestReport, uploads: Uploads) -> dict[str, Any]:
    """The report, its files by the names that they came with."""
    home = f"{uploads.folder}/"
    skipped = [{"path": each.path.removeprefix(home), "reason": each.reason} for each in report.skipped]
    return as_fields(report) | {"skipped": skipped, "complete": report.complete}


def _remove(parts: Parts, id: str) -> dict[str, Any]:
    known = [info for info in parts.graph.documents() if id in (info.id, info.uri)]
    if not known:
        raise not_found(InputError(f"There is no document {id!r:.200}. GET /api/documents lists them."))
    with parts.jobs.alone(), unstoppable():  # a client that leaves does not leave half of a removal
        removed = parts.graph.remove([each.id for each in known])
        forget_unused(parts.graph, parts.uploads, [each.source for each in removed])
    return {"removed": removed}


# ---------------------------------------------------------------------------------------------------------------- tree


@router.post(
    "/tree",
    tags=["tree"],
    summary="Build the knowledge tree, or bring it up to date",
    status_code=202,
    responses=says({"job": examples.JOB | {"kind": "tree", "files": []}}, _ACCEPTED, 202) | errors(400, 403, 429),
)
async def build_tree(body: TreeBody, parts: Served) -> Response:
    """Without a tree all of it is built; else only what changed is done again, unless `rebuild` is asked for."""
    parts.refuse_change()
    work = partial(_build_tree, parts.graph, body)
    return Json({"job": parts.jobs.add("tree", work, drop=lambda: None)}, 202)


def _build_tree(graph: KnowledgeGraph, body: TreeBody, progress: Progress) -> dict[str, Any]:
    with metered() as meter:
        report = graph.build_tree(method=body.method, rebuild=body.rebuild, progress=progress)
    report.usage = meter.by_stage()
    return as_fields(report) | {"complete": report.complete}


# ---------------------------------------------------------------------------------------------------------------- jobs


@router.get("/jobs", tags=["jobs"], summary="The jobs", responses=says({"jobs": [examples.JOB]}))
async def jobs(parts: Served) -> Response:
    """The latest first; a hundred are remembered after their end."""
    return Json({"jobs": parts.jobs.all()})


@router.get("/jobs/{id}", tags=["jobs"], summary="A job", responses=says(examples.JOB) | errors(404))
async def job(id: str, parts: Served) -> Response:
    """How far it is, and at its end its report or its error."""
    return Json(parts.jobs.get(id))


@router.get(
    "/jobs/{id}/events",
    tags=["jobs"],
    summary="A job as it goes on",
    response_class=EventSourceResponse,
    responses=_EVENTS | errors(404),
)
async def job_events(id: str, parts: Served) -> Response:
    """An event `progress` where there is news, and `end` at the end. The job goes on without a listener."""
    parts.jobs.get(id)
    return stream(told_job(parts.running, parts.jobs, id), parts.limits)


@router.delete(
    "/jobs/{id}", tags=["jobs"], summary="Stop a job", responses=says({"job": examples.JOB}) | errors(403, 404)
)
async def stop_job(id: str, parts: Served) -> Response:
    """What it has done is kept; the same upload goes on from there."""
    parts.refuse_change()
    return Json({"job": parts.jobs.stop(id)})
