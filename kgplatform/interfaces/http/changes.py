"""The endpoints that change the graph: uploads, removals, the schema, the tree; and what their jobs do.

Jobs ingest uploads or the sample, build the tree, and work on documents.
"""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Collection, Sequence
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import anyio
from fastapi import APIRouter, Query, Request, Response
from pydantic import Field, Json, ValidationError
from sse_starlette import EventSourceResponse, ServerSentEvent
from starlette.datastructures import FormData, UploadFile

from kgplatform.client import KINDS, MODES, KnowledgeGraph, check_tree_method, extractors, metadata_to_give
from kgplatform.concurrency.system import path_of
from kgplatform.concurrency.threads import NEVER
from kgplatform.correct import ACTIONS, Correction
from kgplatform.errors import InputError, StoppedError
from kgplatform.explore.info import DocumentInfo
from kgplatform.explore.jobs import Claim, Files, Job
from kgplatform.extract.schema import schema_of_text
from kgplatform.interfaces.http.ask import STREAMED, event, stream
from kgplatform.interfaces.http.failures import HttpRequestError, busy, errors, not_found, where_and_what
from kgplatform.interfaces.http.jobs import Jobs, Work
from kgplatform.interfaces.http.parts import Id, Parts, Sent, Served, Workers
from kgplatform.interfaces.uploads import Uploads, finish_uploads, forget_unused
from kgplatform.query import data_folder
from kgplatform.records import Progress, SkippedFile
from kgplatform.shown import as_fields, given_name, plain
from kgplatform.sources.objects import is_web
from kgplatform.text import unknown

if TYPE_CHECKING:
    from kgplatform import IngestReport
    from kgplatform.tree.build_tree import TreeReport

router = APIRouter(prefix="/api")

_LOOK_EVERY = 0.2
"""Seconds between two looks at a job."""

_SAMPLE_NOTE = "The facts of the sample were written by hand; no model read them from the documents."
_LONGEST_SCHEMA = 200_000
_LONGEST_ADDRESSES = 100_000
_MOST_IDS = 10_000
_LONGEST_NAMED = 4000
DocumentWork = Literal["reread", "gist", "remove"]


class UploadFields(Sent):
    """How to read files that are uploaded, and web pages beside them."""

    addresses: str = Field("", max_length=_LONGEST_ADDRESSES, description="Addresses of web pages, one on each line.")
    pasted: bool = Field(False, description="The files are pasted texts: a model is to introduce them.")
    schema_: str = Field(
        "",
        alias="schema",
        description="One of the schemas of /api/about; by default the graph's own, `general` for a new graph.",
    )
    extractor: str = Field("", json_schema_extra={"enum": ["", *extractors()]})
    mode: str = Field("flexible", json_schema_extra={"enum": [*MODES]})
    facts: bool = Field(False, description="Also have a model read atomic facts.")
    retry_failed: bool = Field(False, description="Ask the model again about passages without a usable reply.")
    metadata: Json[dict[str, Any]] = Field({}, description="Of all these documents, as a JSON object; null removes.")


_FILES = {"type": "array", "items": {"type": "string", "format": "binary"}}
_FIELDS = UploadFields.model_json_schema()
_FORM = {**_FIELDS, "properties": {"files": _FILES, **_FIELDS["properties"]}}


class TreeBody(Sent):
    """How to build the tree."""

    method: str | None = Field(None, description="How communities are found; default: as in the existing tree.")
    rebuild: bool = Field(False, description="Find all communities again, not only what changed.")


class SchemaBody(Sent):
    """A schema file, and whether the next ingest is to use it."""

    text: str = Field(max_length=_LONGEST_SCHEMA, description="YAML, or JSON if `name` ends in .json.")
    name: str = Field("schema.yaml", max_length=200, description="The name of the file.")
    use: bool = Field(False, description="Use it in the next ingest; otherwise it is only checked.")


class DocumentsBody(Sent):
    """Documents of the graph, and what is to be done with them."""

    work: DocumentWork
    documents: list[str] = Field(min_length=1, max_length=_MOST_IDS, description="Ids, as /api/documents has them.")
    mode: Literal["", "flexible", "strict"] = Field(
        "flexible", description="For `reread`: `flexible` keeps what the schema lacks, marked."
    )


class DescribeBody(Sent):
    """Documents of the graph, and metadata for them."""

    documents: list[str] = Field(min_length=1, max_length=_MOST_IDS, description="Ids, as /api/documents has them.")
    metadata: dict[str, Any] = Field(min_length=1, description="Values by name; null takes a name away.")


class CorrectionBody(Sent):
    """What to correct. Entities are given by id, or by name, with the type in brackets where several have it."""

    action: str = Field(json_schema_extra={"enum": [*ACTIONS]})
    entity: str = Field("", max_length=_LONGEST_NAMED)
    into: str = Field("", max_length=_LONGEST_NAMED, description="For `merge`: the entity that it is.")
    name: str = Field("", max_length=_LONGEST_NAMED, description="For `split`, `rename`, `alias`, `remove-alias`.")
    type: str = Field("", max_length=_LONGEST_NAMED, description="For `retype`.")
    documents: list[str] = Field([], max_length=_MOST_IDS, description="For `split`: ids of documents or passages.")
    one: str = Field("", max_length=_LONGEST_NAMED, description="For `accept` and `refuse`: a likely duplicate.")
    other: str = Field("", max_length=_LONGEST_NAMED)
    fact: str = Field("", max_length=_LONGEST_NAMED, description="For `drop`: its id.")
    subject: str = Field("", max_length=_LONGEST_NAMED, description="For `add`: an entity; a new one with its type.")
    predicate: str = Field("", max_length=_LONGEST_NAMED)
    object: str = Field("", max_length=_LONGEST_NAMED)
    value: bool = Field(False, description="For `add`: the object is a value, not an entity.")
    why: str = Field("", max_length=2000)


@router.post(
    "/documents",
    tags=["documents"],
    summary="Upload files and ingest them",
    status_code=202,
    responses=errors(400, 403, 429, 507),
    openapi_extra={"requestBody": {"required": True, "content": {"multipart/form-data": {"schema": _FORM}}}},
)
async def upload(request: Request, parts: Served) -> Response:
    """One or more `files` or `addresses`, and how to read them. A file replaces an earlier upload of the same name."""
    parts.refuse_change()
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise InputError("Send files as multipart/form-data, in fields called `files`.")
    load = await parts.workers.look(lambda graph: parts.jobs.check())
    size = int(request.headers.get("content-length", parts.limits.upload))  # without one it may be the largest
    with parts.workers.arriving(size, kept=load.bytes):
        try:
            # Arriving files have no name in any folder: nothing of them is left if this process is killed.
            async with request.form(max_files=parts.limits.files, max_fields=len(UploadFields.model_fields)) as form:
                return await parts.workers.answer(request, lambda graph: _take_in(parts, form, size), status=202)
        except OSError as error:
            why = error.strerror or error
            sentence = f"The server cannot store the upload: {why}. Free its disk, then send it again."
            raise HttpRequestError(507, "StorageError", sentence, {"Connection": "close"}) from error


@router.delete("/documents/{id:path}", tags=["documents"], summary="Remove a document", responses=errors(403, 404, 409))
async def remove(id: str, request: Request, parts: Served) -> Response:
    """Also removes everything that only it supports, and its uploaded file. `id`: its id or URI."""
    parts.refuse_change()

    def removed(_: KnowledgeGraph) -> dict[str, Any]:  # on the graph that no client stops: half a removal must not be
        known = [info for info in parts.graph.documents() if id in (info.id, info.uri)]
        if not known:
            raise not_found(InputError(f"Unknown document {id!r:.200}. GET /api/documents lists all."))
        with parts.jobs.alone():
            removed = parts.graph.remove([info.id for info in known])
            forget_unused(parts.graph, parts.uploads, [info.source for info in removed])
        return {"removed": removed}

    return await parts.workers.answer(request, removed)


def _take_in(parts: Parts, form: FormData, size: int) -> dict[str, Job]:
    """Check the form, put the files aside, and queue their ingest, which counts ``size`` bytes until it has ended."""
    files = [file for file in form.getlist("files") if isinstance(file, UploadFile)]
    try:
        asked = UploadFields.model_validate({name: value for name, value in form.items() if isinstance(value, str)})
    except ValidationError as error:
        raise InputError("; ".join(map(where_and_what, error.errors())) + ".") from error
    # A schema is a shipped one or the graph's own, never a path: that would be one of the server's files.
    for what, name, known in (
        ("schema", asked.schema_, parts.graph.schemas()),
        ("extractor", asked.extractor, extractors()),
        ("mode", asked.mode, MODES),
    ):
        if name and name not in known:
            raise InputError(unknown(what, name, known))
    metadata_to_give(asked.metadata)
    addresses = asked.addresses.split()
    if strange := [each for each in addresses if not is_web(each)]:
        raise InputError(f"{strange[0]:.200} is no address of the web: it begins with https:// or http://.")
    if not (files or addresses):
        raise InputError("The request has no file. Send one or more in fields called `files`.")
    more = {"extractor": asked.extractor or None, "addresses": addresses}
    options = asked.model_dump(by_alias=True) | more
    named = [(file.filename or "", file.file) for file in files]
    staged = parts.uploads.stage(named, parts.graph.database_id())
    try:
        lie = Files(parts.uploads.place(), staged.folder.name, staged.names, size, socket.gethostname())
        job = parts.jobs.add("ingest", options, lie)
    except BaseException:  # whatever it is, no upload is left behind
        staged.drop()
        raise
    staged.let_go()
    return {"job": job}


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
        chosen(graph, body.documents)
        return {"job": parts.jobs.add(body.work, body.model_dump(include={"documents", "mode"}))}

    return await parts.workers.answer(request, begin, status=202)


@router.post(
    "/documents/metadata", tags=["documents"], summary="Give documents metadata", responses=errors(400, 403, 409)
)
async def describe(body: DescribeBody, request: Request, parts: Served) -> Response:
    """In place of what uploads gave them; nothing is read again. What a document says itself stays."""
    parts.refuse_change()

    def described(_: KnowledgeGraph) -> object:
        with parts.jobs.alone():
            ids = [info.id for info in chosen(parts.graph, body.documents)]
            return {"documents": parts.graph.describe(ids, body.metadata)}

    return await parts.workers.answer(request, described)


@router.get("/corrections", tags=["corrections"], summary="What was corrected by hand")
async def corrections(request: Request, parts: Served) -> Response:
    """In the order in which it was done, each with how many passages it applies to; 0: it waits for one."""
    return await parts.workers.answer(request, lambda graph: {"corrections": graph.correct.all()})


@router.get("/corrections/duplicates", tags=["corrections"], summary="Entities that are likely one")
async def duplicates(request: Request, parts: Served, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Response:
    """The likeliest first, without those that somebody told apart."""
    return await parts.workers.answer(request, lambda graph: {"duplicates": graph.correct.duplicates(limit)})


@router.get("/corrections/namesakes", tags=["corrections"], summary="Entities that may be several of one name")
async def namesakes(request: Request, parts: Served, limit: Annotated[int, Query(ge=1, le=500)] = 50) -> Response:
    """What documents tell of each is nothing that is told of one thing: the documents, facts and passages of two sides.
    Post the correction `split` of `id`, with `called` as its `name` and the `documents` of the second side."""
    return await parts.workers.answer(request, lambda graph: {"namesakes": graph.correct.namesakes(limit)})


@router.post("/corrections", tags=["corrections"], summary="Correct the graph", responses=errors(400, 403, 409))
async def correct(body: CorrectionBody, request: Request, parts: Served) -> Response:
    """Kept through every ingest, until it is undone. The answer is the correction, with its `id`; `entities` are the
    ids of its entity before and after, or of the two that it tells apart."""
    parts.refuse_change()
    given = body.model_dump(exclude={"action", "why"}, exclude_defaults=True)

    def made(_: KnowledgeGraph) -> object:  # on the graph that no client stops
        with parts.jobs.alone():
            doing = copy(parts.graph.correct)
            doing.who = person.name if (person := request.scope.get("kgplatform.person")) else doing.who
            return _with_ids(doing.do(body.action, given, why=body.why))

    return await parts.workers.answer(request, made)


@router.delete("/corrections/{id}", tags=["corrections"], summary="Undo a correction", responses=errors(403, 404, 409))
async def undo(id: Id, request: Request, parts: Served) -> Response:
    """The graph is then as if it had never been made."""
    parts.refuse_change()

    def undone(_: KnowledgeGraph) -> object:
        with parts.jobs.alone():
            if id not in {each.id for each in parts.graph.correct.all()}:
                raise not_found(InputError(f"No correction has the id {id[:100]!r}."))
            return {"undone": _with_ids(parts.graph.correct.undo(id))}

    return await parts.workers.answer(request, undone)


def _with_ids(correction: Correction) -> dict[str, Any]:
    return as_fields(correction) | {"entities": correction.ids}


@router.post(
    "/sample", tags=["documents"], summary="Load the sample corpus", status_code=202, responses=errors(403, 409, 429)
)
async def load_sample(request: Request, parts: Served) -> Response:
    """Twenty short documents about the first telegraph cables, with facts that were written by hand, and their tree.
    Only for a graph without documents."""
    parts.refuse_change()

    def begin(graph: KnowledgeGraph) -> object:
        if graph.documents():
            raise busy("The graph already has documents. Load the sample into an empty graph.", 409)
        return {"job": parts.jobs.add("sample", {})}

    return await parts.workers.answer(request, begin, status=202)


@router.post("/schema", tags=["about"], summary="Check a schema, and use it", responses=errors(400, 403))
async def use_schema(body: SchemaBody, request: Request, parts: Served) -> Response:
    """Nothing that was read before is changed: the next ingest uses it, and documents that are read again."""
    if body.use:
        parts.refuse_change()

    def check(graph: KnowledgeGraph) -> object:
        schema = schema_of_text(body.text, body.name)
        if body.use:
            graph.use_schema(schema)
        return {"schema": schema.to_dict(), "used": body.use}

    return await parts.workers.answer(request, check)


@router.post(
    "/tree",
    tags=["tree"],
    summary="Build or update the knowledge tree",
    status_code=202,
    responses=errors(400, 403, 429),
)
async def build_tree(body: TreeBody, request: Request, parts: Served) -> Response:
    """Builds all of it if there is no tree or with `rebuild`; otherwise only what changed."""
    parts.refuse_change()

    def begin(graph: KnowledgeGraph) -> object:
        if body.method is not None:
            check_tree_method(body.method)
        return {"job": parts.jobs.add("tree", body.model_dump())}

    return await parts.workers.answer(request, begin, status=202)


@router.get("/jobs", tags=["jobs"], summary="The jobs")
async def jobs(request: Request, parts: Served) -> Response:
    """Those of all servers of the graph, the latest first. The last hundred are remembered."""
    return await parts.workers.answer(request, lambda graph: {"jobs": parts.jobs.all()})


@router.get("/jobs/{id}", tags=["jobs"], summary="A job", responses=errors(404))
async def job(id: str, request: Request, parts: Served) -> Response:
    """Its progress, and at its end its report or its error."""
    return await parts.workers.answer(request, lambda graph: parts.jobs.get(id))


@router.get(
    "/jobs/{id}/events",
    tags=["jobs"],
    summary="Follow a job",
    response_class=EventSourceResponse,
    responses=STREAMED | errors(404),
)
async def job_events(id: str, parts: Served) -> Response:
    """An event `progress` whenever there is news, and `end` at its end. The job continues if nobody listens."""
    await parts.workers.look(lambda graph: parts.jobs.get(id))
    return stream(_events_of(parts.workers, parts.jobs, id), parts.limits)


async def _events_of(workers: Workers, jobs: Jobs, id: str) -> AsyncIterator[ServerSentEvent]:
    """``progress`` whenever there is news, then ``end``."""
    last = None
    while not workers.closing:
        try:
            job = await workers.look(lambda graph: jobs.get(id))
        except StoppedError:
            return
        if job.ended:
            yield event("end", job)
            return
        if (news := (job.state, job.stage, job.done)) != last:
            last = news
            yield event("progress", job)
        await anyio.sleep(_LOOK_EVERY)


@router.delete("/jobs/{id}", tags=["jobs"], summary="Stop a job", responses=errors(403, 404))
async def stop_job(id: str, request: Request, parts: Served) -> Response:
    """On whichever server it runs. What it has done is kept; the same upload resumes from there."""
    parts.refuse_change()
    return await parts.workers.answer(request, lambda graph: {"job": parts.jobs.stop(id)})


def _told(report: IngestReport | TreeReport, **changed: Any) -> dict[str, Any]:
    """The report as JSON has it, with what is ``changed`` in it."""
    return dict(plain(as_fields(report) | {"complete": report.complete} | changed))


def _ingest(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    name = claim.parameters["schema"]
    schema = graph.schemas().get(name) if name else None
    if name and schema is None:
        raise InputError(f"The schema {name} is no longer the graph's. Upload the files again with another one.")
    staged = uploads.staged(claim.folder, claim.job.files)
    how = {**claim.parameters, "schema": schema, "mode": claim.parameters.get("mode") or "flexible"}
    addresses, is_pasted = how.pop("addresses", []), how.pop("pasted", False)  # jobs of earlier versions have neither
    files = [(uploads.folder / name).as_uri() for name in claim.job.files]
    by_hand = [*addresses, *(files if is_pasted else ())]
    report = graph.ingest([*uploads.put(staged), *addresses], **how, introduce=by_hand, progress=progress)
    home = f"{uploads.folder}/"  # the client knows its files by the names that it gave them
    skipped = [replace(file, path=given_name(file.path.removeprefix(home))) for file in report.skipped]
    return _told(report, skipped=skipped, documents=_with_more(graph, report, {*files, *addresses}))


def _with_more(graph: KnowledgeGraph, report: IngestReport, sources: Collection[str]) -> list[str]:
    """The ids of the documents of ``sources`` where the schema left something out, which reading again could keep."""
    is_lacking = any(kind in report.left_out for kind in KINDS)
    ids = [each.id for each in graph.documents() if each.source in sources] if is_lacking else []
    return ids if len(ids) <= _MOST_IDS else []


def _finish_ingest(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, report: dict[str, Any] | None) -> None:
    skipped = {file["path"] for file in report["skipped"] if not file["in_part"]} if report else set[str]()
    read = {name for name in claim.job.files if given_name(name) not in skipped} if report else set[str]()
    finish_uploads(graph, uploads, uploads.staged(claim.folder, claim.job.files), read=read)


def _build_tree(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    report = graph.build_tree(**claim.parameters, progress=progress)
    return _told(report, usage=graph.ledger.by_stage())


def _load_sample(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    folder = data_folder("examples")
    report = graph.ingest(folder / "corpus", recorded=folder / "extraction.jsonl", progress=progress)
    graph.build_tree(progress=progress)
    return _told(report, notes=[_SAMPLE_NOTE, *report.notes])


def _reread(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    there: dict[Path, None] = {}
    gone = []
    for document in chosen(graph, claim.parameters["documents"]):
        if document.source.startswith("file:") and (file := path_of(document.source)).is_file():
            there[file] = None
        else:
            gone.append(SkippedFile(document.title, "its file is no longer there"))
    if not there:
        raise InputError("The files of these documents are no longer where they were. Add them again.")
    if graph.language_model is not None:
        graph.try_model()  # one that does not answer is met before thousands of passages wait for it
    report = graph.ingest(list(there), mode=claim.parameters.get("mode") or "flexible", reread=True, progress=progress)
    skipped = [*(replace(file, path=given_name(Path(file.path).name)) for file in report.skipped), *gone]
    return _told(report, skipped=skipped, documents=_with_more(graph, report, {path.as_uri() for path in there}))


def _gist(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
    ids = [each.id for each in chosen(graph, claim.parameters["documents"])]
    return dict(plain(as_fields(graph.gist(ids, progress=progress))))


def _remove_documents(graph: KnowledgeGraph, uploads: Uploads, claim: Claim, progress: Progress) -> dict[str, Any]:
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


WORKS = {
    "ingest": Work(_ingest, _finish_ingest),
    "tree": Work(_build_tree, alone=True),
    "sample": Work(_load_sample, alone=True),
    "reread": Work(_reread),
    "gist": Work(_gist),
    "remove": Work(_remove_documents, alone=True),
}
"""What jobs do, by kind. Ingests may run beside each other. The tree is built of what all of them have finished, the
sample is ingested with its tree, and a removal runs beside no other job.
"""
