"""The test doubles: a scripted chat, hashed vectors, and a server that fails on purpose."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from typing import Any

import numpy as np
import openai
import pytest

from kgplatform.models.chat import ANY_OBJECT, FREE_TEXT, Reply
from kgplatform.records import Usage
from kgplatform.testing import Fault, HashEmbedder, OpenAIServer, ScriptedChat

HELLO = [{"role": "user", "content": "Hello"}]


def client(server: OpenAIServer, timeout: float = 20.0) -> openai.OpenAI:
    return openai.OpenAI(api_key="sk-secret", base_url=server.base_url, max_retries=0, timeout=timeout)


def complete(server: OpenAIServer, **more: Any) -> Any:
    with client(server) as api:
        return api.chat.completions.create(model="m", messages=HELLO, **more)  # type: ignore[call-overload]


class TestScriptedChat:
    def test_plays_a_list_and_records_what_was_sent(self) -> None:
        chat = ScriptedChat(["one", Reply("two", Usage(1, 5, 6), cut_off=True)])
        assert chat.send(HELLO, stage="extract").text == "one"
        assert chat.send(HELLO, stage="answer", wanted=ANY_OBJECT) == Reply("two", Usage(1, 5, 6), cut_off=True)
        assert [(call.stage, call.wanted) for call in chat.calls] == [("extract", FREE_TEXT), ("answer", ANY_OBJECT)]

    def test_plays_a_function_of_the_messages(self) -> None:
        chat = ScriptedChat(lambda messages: messages[-1]["content"].upper())
        reply = chat.send(HELLO, stage="answer")
        assert reply.text == "HELLO"
        assert reply.usage == Usage(calls=1, input_tokens=1, output_tokens=1)

    def test_the_end_of_the_script_is_an_assertion_that_shows_the_call(self) -> None:
        chat = ScriptedChat(["only"])
        chat.send(HELLO, stage="extract")
        with pytest.raises(AssertionError, match=r"1 answers, and call 2 came, stage answer: 'Hello'"):
            chat.send(HELLO, stage="answer")

    def test_later_changes_of_the_messages_do_not_change_the_record(self) -> None:
        chat = ScriptedChat(["a"])
        messages = [{"role": "user", "content": "before"}]
        chat.send(messages, stage="s")
        messages[0]["content"] = "after"
        assert chat.calls[0].messages[0]["content"] == "before"


class TestHashEmbedder:
    def test_rows_have_length_one_also_for_texts_without_words(self) -> None:
        vectors = HashEmbedder(16).embed(["", "  ", "!!!", "東京", "a b"])
        assert vectors.shape == (5, 16)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)

    def test_no_texts_make_no_rows(self) -> None:
        assert HashEmbedder().embed([]).shape == (0, 64)

    def test_shared_words_are_near(self) -> None:
        a, b, c = HashEmbedder(256).embed(["Ada wrote programs", "programs that ADA wrote", "rivers of Peru"])
        assert a @ b > 0.7
        assert a @ c < 0.3

    def test_scripts_without_spaces_share_their_letters(self) -> None:
        a, b, c = HashEmbedder(512).embed(["東京大学", "東京駅", "北海"])
        assert a @ b > a @ c

    def test_vectors_never_change(self) -> None:
        assert np.flatnonzero(HashEmbedder(64).embed(["knowledge"])[0]).tolist() == [8]


class TestServer:
    def test_chat(self) -> None:
        with OpenAIServer(["Hi."]) as server:
            done = complete(server)
        assert done.choices[0].message.content == "Hi."
        assert (done.usage.prompt_tokens, done.usage.completion_tokens) == (1, 2)

    def test_chat_in_a_stream(self) -> None:
        text = "A sentence that takes several pieces, with ünïcode 東京."
        with OpenAIServer([text]) as server, client(server) as api:
            events = list(api.chat.completions.create(model="m", messages=HELLO, stream=True))  # type: ignore[arg-type]
        assert "".join(e.choices[0].delta.content or "" for e in events if e.choices) == text
        assert [e.choices[0].finish_reason for e in events if e.choices][-1] == "stop"
        assert events[-1].usage is not None
        assert events[-1].usage.completion_tokens > 10

    def test_a_cut_stream_is_an_error_for_the_client(self) -> None:
        with (
            OpenAIServer([Fault.break_off("many words in this answer that never ends")]) as server,
            client(server) as api,
        ):
            stream = api.chat.completions.create(model="m", messages=HELLO, stream=True)  # type: ignore[arg-type]
            events = iter(stream)
            assert next(events).choices[0].delta.content == "many words in th"
            with pytest.raises(openai.APIConnectionError):
                list(events)

    @pytest.mark.parametrize("encoding", ["float", "base64"])
    def test_embeddings(self, encoding: Any) -> None:
        with OpenAIServer() as server, client(server) as api:
            done = api.embeddings.create(model="m", input=["a b", "c"], encoding_format=encoding)
        vectors = [item.embedding for item in done.data]
        if encoding == "base64":
            vectors = [np.frombuffer(__import__("base64").b64decode(v), "<f4") for v in vectors]  # type: ignore[arg-type]
        np.testing.assert_allclose(np.array(vectors), HashEmbedder().embed(["a b", "c"]), atol=1e-6)

    def test_models(self) -> None:
        with OpenAIServer(models=["m1", "m2"]) as server, client(server) as api:
            assert [model.id for model in api.models.list()] == ["m1", "m2"]

    def test_requests_are_recorded_without_the_key(self) -> None:
        with OpenAIServer(["Hi."]) as server:
            complete(server, temperature=0)
        [request] = server.requests_to("/chat/completions")
        assert request.body["messages"] == HELLO
        assert request.body["temperature"] == 0
        assert request.method == "POST"
        assert "sk-secret" not in repr(request)

    def test_statuses_and_retry_after(self) -> None:
        faults = [Fault.rate_limit(3), Fault.rate_limit(60, as_date=True), Fault.refuse(503, "busy")]
        with OpenAIServer(["never"], faults=faults) as server:
            with pytest.raises(openai.RateLimitError) as first:
                complete(server)
            with pytest.raises(openai.RateLimitError) as second:
                complete(server)
            with pytest.raises(openai.InternalServerError, match="busy"):
                complete(server)
        assert first.value.response.headers["retry-after"] == "3"
        assert second.value.response.headers["retry-after"].endswith("GMT")

    def test_a_body_that_breaks_off(self) -> None:
        with OpenAIServer([Fault.break_off("text")]) as server, pytest.raises(openai.APIConnectionError):
            complete(server)

    def test_bodies_that_are_no_answer(self) -> None:
        with OpenAIServer([Fault.malformed(), Fault.no_choices(), Fault.wrong_type(text="x")]) as server:
            with pytest.raises(json.JSONDecodeError):
                complete(server)
            assert complete(server).choices == []
            complete(server)

    def test_finish_reason_and_missing_usage(self) -> None:
        with OpenAIServer([Fault.length_limit("half"), Fault.no_usage("x")]) as server:
            assert complete(server).choices[0].finish_reason == "length"
            assert complete(server).usage is None

    def test_faults_may_depend_on_the_request(self) -> None:
        def only_embeddings(request: Any) -> Fault | None:
            return Fault.refuse(500, "no") if request.path.endswith("/embeddings") else None

        with OpenAIServer(["Hi."], faults=only_embeddings) as server, client(server) as api:
            assert complete(server).choices[0].message.content == "Hi."
            with pytest.raises(openai.InternalServerError):
                api.embeddings.create(model="m", input="a")

    def test_a_script_at_its_end_and_a_function_that_raises_say_so(self) -> None:
        with (
            OpenAIServer([]) as server,
            pytest.raises(openai.BadRequestError, match="0 answers, and request 1 came"),
        ):
            complete(server)

        def broken(messages: Any) -> str:
            raise KeyError("oops")

        with OpenAIServer(broken) as server, pytest.raises(openai.BadRequestError, match="oops"):
            complete(server)

    def test_an_unknown_path_and_a_body_that_is_no_json(self) -> None:
        with OpenAIServer() as server, client(server) as api:
            with pytest.raises(openai.NotFoundError):
                api.files.list()
            link = http.client.HTTPConnection(server.base_url.split("/")[2])
            link.request("POST", "/v1/chat/completions", body=b"{broken")
            assert link.getresponse().status == 400
            link.close()

    def test_closing_ends_hanging_and_slow_requests_threads_and_the_port(self) -> None:
        before = set(threading.enumerate())
        arrived = threading.Semaphore(0)

        def fault(request: Any) -> Fault:
            arrived.release()
            return Fault.hang() if len(server.requests) % 2 else Fault.slow(3600)

        failures: list[Exception] = []

        def call() -> None:
            try:
                complete(server)
            except openai.APIConnectionError as error:
                failures.append(error)

        with OpenAIServer(lambda messages: "late", faults=fault) as server:
            address = ("127.0.0.1", int(server.base_url.split(":")[2].split("/")[0]))
            callers = [threading.Thread(target=call) for _ in range(2)]
            for caller in callers:
                caller.start()
            for _ in callers:
                arrived.acquire()
        for caller in callers:
            caller.join()
        assert len(failures) == 2
        assert set(threading.enumerate()) <= before
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)

    def test_the_address_is_only_there_inside(self) -> None:
        server = OpenAIServer()
        with pytest.raises(RuntimeError, match="inside"):
            _ = server.base_url
