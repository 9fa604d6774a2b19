"""Spans as an application gets them that has set up OpenTelemetry's own SDK."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from corpora import put
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import ModelError
from kgplatform.models.chat import Ledger, Wanted
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.store import Store
from kgplatform.settings import Settings
from kgplatform.testing import Fault, OpenAIServer

HELLO = [{"role": "user", "content": "Hello"}]
_SPANS = InMemorySpanExporter()


@pytest.fixture(scope="module", autouse=True)
def provider() -> None:
    """Once a process: a second provider is refused."""
    own = TracerProvider()
    own.add_span_processor(SimpleSpanProcessor(_SPANS))
    trace.set_tracer_provider(own)


@pytest.fixture
def spans() -> Iterator[InMemorySpanExporter]:
    _SPANS.clear()
    yield _SPANS
    _SPANS.clear()


def chat_at(server: OpenAIServer) -> OpenAIChat:
    values = {"openai_base_url": server.base_url, "chat_model": "tiny", "model_retries": 0}
    return OpenAIChat(Settings(_env_file=None, **values), Ledger(), None)  # type: ignore[call-arg,arg-type]  # pydantic-settings adds it


def test_a_call_has_the_attributes_of_the_conventions(spans: InMemorySpanExporter) -> None:
    with OpenAIServer(["Hi there."]) as server:
        chat = chat_at(server)
        chat.send(HELLO, stage="answer", wanted=Wanted(tokens=70))
        chat.close()
    [call] = spans.get_finished_spans()
    assert call.name == "chat tiny"
    assert call.kind == trace.SpanKind.CLIENT
    assert dict(call.attributes or {}) == {
        **{"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "tiny"},
        **{"gen_ai.request.max_tokens": 70, "gen_ai.usage.input_tokens": 1, "gen_ai.usage.output_tokens": 3},
        **{"gen_ai.response.finish_reasons": ("stop",), "server.address": "127.0.0.1"},
    }


def test_a_call_that_fails_is_an_error(spans: InMemorySpanExporter) -> None:
    with OpenAIServer(faults=lambda request: Fault.refuse(401, "no")) as server:
        chat = chat_at(server)
        with pytest.raises(ModelError):
            chat.send(HELLO, stage="answer")
        chat.close()
    [call] = spans.get_finished_spans()
    assert call.status.status_code == trace.StatusCode.ERROR


def test_statements_have_their_names_and_no_values(store: Store, spans: InMemorySpanExporter) -> None:
    store.read("explore/document_passages", documents=["a secret"])
    [statement] = spans.get_finished_spans()
    assert statement.name == "explore/document_passages"
    attributes = dict(statement.attributes or {})
    assert attributes["db.system.name"] == "neo4j"
    assert attributes["db.response.returned_rows"] == 0
    assert "a secret" not in str(attributes)


def test_a_question_has_its_steps_statements_and_calls_inside(
    kg: KnowledgeGraph, tmp_path: Path, spans: InMemorySpanExporter
) -> None:
    text = "Cyrus Field laid a cable from Valentia in 1866."
    kg.ingest(put(tmp_path, {"cable.txt": text}), extractor="local")
    cited = {"passage": 1, "quote": "laid a cable from Valentia"}
    said = json.dumps({"sufficient": True, "answer": "From Valentia [1].", "citations": [cited]})
    with OpenAIServer([said]) as server:
        settings = kg.settings.model_copy(update={"openai_base_url": server.base_url, "chat_model": "tiny"})
        spans.clear()
        answer = KnowledgeGraph(kg.store, settings, embedder=kg.embedder).ask("Where did the cable begin?", "retrieve")
    *before, question = spans.get_finished_spans()
    assert (question.name, question.kind, question.parent) == ("invoke_agent retrieve", trace.SpanKind.INTERNAL, None)
    assert dict(question.attributes or {}) == {"gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "retrieve"}
    assert question.context
    inside = [each for each in before if each.context and each.context.trace_id == question.context.trace_id]
    assert all(each.parent for each in inside)
    of_question = [each for each in inside if each.parent and each.parent.span_id == question.context.span_id]
    steps = {each.name: dict(each.attributes or {}) for each in of_question if each.name.startswith("step ")}
    assert steps == {f"step {step.name}": {"kgplatform.step.detail": step.detail} for step in answer.trace}
    [call] = [dict(each.attributes or {}) for each in of_question if each.name == "chat tiny"]
    asked = {"gen_ai.operation.name": "chat", "gen_ai.provider.name": "openai", "gen_ai.request.model": "tiny"}
    spent = {"input_tokens": answer.usage.input_tokens, "output_tokens": answer.usage.output_tokens}
    assert call.items() >= (asked | {f"gen_ai.usage.{name}": number for name, number in spent.items()}).items()
    statements = {each.name for each in inside if (each.attributes or {}).get("db.system.name") == "neo4j"}
    assert statements >= {run.name for step in answer.trace for run in step.queries} != set()
