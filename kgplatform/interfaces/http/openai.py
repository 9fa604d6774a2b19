"""OpenAI's chat protocol over the graph: ``/v1/models`` and ``/v1/chat/completions``, so that any chat client asks it.

Each reader is a model. The last message of the user is the question, those before it are what it may refer to; other
roles are instructions for a model, and are left out; ``where`` and ``as_of`` are kgplatform's own. Citations are
annotations of their numbers in the answer, and numbered lines below it. Nothing is kept in the graph.
"""

from __future__ import annotations

import json
import re
import time
import uuid
from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from sse_starlette import ServerSentEvent

from kgplatform.client import KnowledgeGraph, follow_up
from kgplatform.errors import InputError
from kgplatform.interfaces.http.ask import AsOf, Where, answer_events, stream
from kgplatform.interfaces.http.failures import errors
from kgplatform.interfaces.http.parts import Served, refuse_half_pairs
from kgplatform.readers.readers import READERS, find
from kgplatform.readers.run import Hear, Tell
from kgplatform.readers.thread import Exchange
from kgplatform.records import Answer
from kgplatform.shown import encode, file_of

router = APIRouter(prefix="/v1", tags=["chat"])

_LONGEST = 20_000
_MOST_MESSAGES = 200
_EVIDENCE = 5
"""Passages that are shown where no language model writes an answer."""
_SOURCES = "\n\nSources:\n"
"""What the lines of the sources follow; an answer of before is read without them."""
_NUMBER = re.compile(r"\[(\d+)\]")


class Part(BaseModel):
    """A part of a message: text; what is none is left out."""

    model_config = ConfigDict(extra="ignore")
    type: str = "text"
    text: str = Field("", max_length=_LONGEST)


class Message(BaseModel):
    """A message of the conversation."""

    model_config = ConfigDict(extra="ignore")
    role: str
    content: str | list[Part] | None = None

    @property
    def text(self) -> str:
        """Its words."""
        if isinstance(self.content, list):
            return "\n".join(part.text for part in self.content if part.text)
        return self.content or ""


class StreamOptions(BaseModel):
    """What a stream has besides the answer."""

    model_config = ConfigDict(extra="ignore")
    include_usage: bool = False


class Completion(BaseModel):
    """A request for an answer. Settings of a language model, such as `temperature`, are accepted and change nothing."""

    model_config = ConfigDict(extra="ignore")
    model: str = Field(description="A reader; `kgplatform` is the first.")
    messages: list[Message] = Field(min_length=1, max_length=_MOST_MESSAGES)
    stream: bool = False
    stream_options: StreamOptions | None = None
    where: Where = {}
    as_of: AsOf = None


@router.get("/models", summary="The readers, as models")
async def models() -> dict[str, Any]:
    """`kgplatform` is the first reader."""
    names = ["kgplatform", *(reader.name for reader in READERS)]
    return {"object": "list", "data": [{"id": name, "object": "model", "owned_by": "kgplatform"} for name in names]}


@router.post("/chat/completions", summary="An answer in OpenAI's form", responses=errors(400, 429, 502))
async def complete(body: Completion, request: Request, parts: Served) -> Response:
    """The answer has its citations as `annotations` and as numbered lines. With `stream`, it comes in chunks once it is
    complete, because its citations are known only then."""
    refuse_half_pairs(body.model_dump())
    reader = READERS[0].name if body.model == "kgplatform" else find(body.model).name
    said = [(each.role, each.text.strip()) for each in body.messages if each.role in ("user", "assistant")]
    if not said or said[-1][0] != "user":
        raise InputError("The last message must be the user's question.", "messages")
    question = said[-1][1]
    earlier = [
        Exchange(text, reply.partition(_SOURCES)[0] if by == "assistant" else None)
        for (role, text), (by, reply) in pairwise(said)
        if role == "user"
    ]
    id_, created = f"chatcmpl-{uuid.uuid4().hex}", int(time.time())

    def answer(graph: KnowledgeGraph, on_step: Tell | None = None, on_text: Hear | None = None) -> dict[str, Any]:
        alone, whole = follow_up(graph, question, earlier, on_step)
        made = whole(graph.ask(alone, reader, where=body.where, as_of=body.as_of, on_step=on_step, on_text=on_text))
        content, annotations = _content(made)
        usage = {"prompt_tokens": made.usage.input_tokens, "completion_tokens": made.usage.output_tokens}
        message = {"role": "assistant", "content": content, "refusal": None, "annotations": annotations}
        return {
            **{"id": id_, "object": "chat.completion", "created": created, "model": body.model},
            "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}],
            "usage": usage | {"total_tokens": sum(usage.values())},
        }

    if not body.stream:
        return await parts.workers.answer(request, answer, kind="asks")
    parts.workers.check_asks()
    head = {"id": id_, "object": "chat.completion.chunk", "created": created, "model": body.model}
    with_usage = body.stream_options is not None and body.stream_options.include_usage
    return stream(_chunks(answer_events(parts.workers, answer), head, with_usage=with_usage), parts.limits)


async def _chunks(
    events: AsyncIterator[ServerSentEvent], head: dict[str, Any], *, with_usage: bool
) -> AsyncIterator[ServerSentEvent]:
    def chunk(delta: dict[str, Any], finish: str | None = None) -> ServerSentEvent:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _event(head | {"choices": [choice]})

    yield chunk({"role": "assistant", "content": ""})
    async for event in events:
        if event.event == "error":
            yield _event({"error": json.loads(event.data or "{}")})
        elif event.event == "answer":
            made = json.loads(event.data or "{}")
            message = made["choices"][0]["message"]
            for line in message["content"].splitlines(keepends=True):
                yield chunk({"content": line})
            yield chunk({"annotations": message["annotations"]}, "stop")
            if with_usage:
                yield _event(head | {"choices": [], "usage": made["usage"]})
    yield ServerSentEvent("[DONE]", sep="\n")


def _event(data: dict[str, Any]) -> ServerSentEvent:
    return ServerSentEvent(encode(data).decode(), sep="\n")


def _content(answer: Answer) -> tuple[str, list[dict[str, Any]]]:
    """The text of ``answer`` with a line for each citation, and its annotations: where each number stands, and the
    document with the place that it is for. Without a language model the best passages, each with its place."""
    if answer.text is None:
        found = answer.evidence.passages[:_EVIDENCE]
        shown = [each.sentence.text if each.sentence else each.text for each in found]
        lines = [
            f"{each.title}, characters {each.start}–{each.end}: {text}" for each, text in zip(found, shown, strict=True)
        ]
        return "\n".join([answer.note, *lines]), []
    lines = []
    for number, each in enumerate(answer.citations, 1):
        place = each.location or f"characters {each.start}–{each.end}"
        quote = f": “{each.text}”" if each.text else ""
        lines.append(f"[{number}] {each.title} ({file_of(each.document)}), {place}{quote}")
    annotations = [
        {
            "type": "url_citation",
            "url_citation": {
                **{"start_index": mark.start(), "end_index": mark.end(), "title": cited.title},
                "url": f"{cited.document}#char={cited.start},{cited.end}",
            },
        }
        for mark in _NUMBER.finditer(answer.text)
        if 0 < (number := int(mark[1])) <= len(answer.citations)
        for cited in [answer.citations[number - 1]]
    ]
    told = "\n\n".join(filter(None, [answer.text, answer.note, *answer.other_sides]))
    return told + (_SOURCES + "\n".join(lines) if lines else ""), annotations
