"""Threads of questions: asked and asked on, listed, read and removed. What is asked there is kept in the graph."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from kgplatform.client import KnowledgeGraph, check_options
from kgplatform.interfaces.http.ask import LONGEST_QUESTION, VERIFY, WHERE, answered
from kgplatform.interfaces.http.browse import Id, look_at
from kgplatform.interfaces.http.failures import errors
from kgplatform.interfaces.http.parts import Parts, Served
from kgplatform.interfaces.http.streams import STREAMED, answer_json
from kgplatform.readers.run import Hear, Tell
from kgplatform.records import Answer

router = APIRouter(prefix="/api/threads", tags=["threads"])


class TurnBody(BaseModel):
    """A question of a thread, and the reader that answers it."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(max_length=LONGEST_QUESTION)
    reader: str | None = Field(None, description="One of the readers of /api/about; default: the first.")
    options: dict[str, Any] = Field({}, description="Options of the reader (see /api/about); null: the default.")
    where: dict[str, Any] = Field({}, description=WHERE)
    verify: bool = Field(False, description=VERIFY)


@router.post("", summary="The first question of a new thread", responses=STREAMED | errors(400, 403, 429, 502))
async def begin(body: TurnBody, request: Request, parts: Served) -> Response:
    """Answers as `/api/ask` does, steps and text included; `thread` in the answer is the id to ask on with."""
    parts.refuse_change()
    return await _ask(body, request, parts, None)


@router.post("/{id}", summary="A follow-up question", responses=STREAMED | errors(400, 403, 404, 429, 502))
async def ask_on(id: Id, body: TurnBody, request: Request, parts: Served) -> Response:
    """It may refer to what was asked before. In the answer, `asked` is what was sent and `question` what the reader
    was asked; `note` says so where they differ."""
    parts.refuse_change()
    await look_at(request, parts, lambda graph: graph.look.thread(id))
    return await _ask(body, request, parts, id)


async def _ask(body: TurnBody, request: Request, parts: Parts, id: str | None) -> Response:
    check_options(body.reader, body.options)  # before a stream begins, which could not answer 400
    thread = ""

    def ask(graph: KnowledgeGraph, on_step: Tell | None = None, on_text: Hear | None = None) -> Answer:
        nonlocal thread
        opened = graph.chat(id)
        thread = opened.id
        return opened.ask(
            body.question,
            body.reader,
            options=body.options,
            where=body.where,
            verify=body.verify,
            on_step=on_step,
            on_text=on_text,
            keep_failed=id is not None,  # else nobody is told its id
        )

    def shown(answer: Answer) -> dict[str, Any]:
        return answer_json(answer) | {"thread": thread, "asked": body.question}

    return await answered(request, parts, ask, shown)


@router.get("", summary="Threads of questions")
async def threads(request: Request, parts: Served, limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> Response:
    """That which was asked in last first, each with its first question."""
    return await parts.workers.answer(request, lambda graph: {"threads": graph.look.threads(limit)})


@router.get("/{id}", summary="A thread with its questions and answers", responses=errors(404))
async def thread(id: Id, request: Request, parts: Served) -> Response:
    """In order, each with what its answer cites; null stands for what is no longer in the graph."""
    return await look_at(request, parts, lambda graph: {"id": id, "turns": graph.look.thread(id)})


@router.delete("/{id}", summary="Remove a thread", responses=errors(403, 404))
async def remove(id: Id, request: Request, parts: Served) -> Response:
    """Its saved runs go with it."""
    parts.refuse_change()

    def remove(graph: KnowledgeGraph) -> dict[str, str]:
        graph.remove_thread(id)
        return {"removed": id}

    return await look_at(request, parts, remove)
