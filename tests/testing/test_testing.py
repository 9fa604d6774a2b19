"""The test doubles that users get: a scripted chat, hashed vectors, and a server, whose faults tests/models shows."""

import base64
import http.client
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
        messages = [{"role": "user", "content": "before"}]
        assert chat.send(messages, stage="extract").text == "one"
        messages[0]["content"] = "after"
        assert chat.send(HELLO, stage="answer", wanted=ANY_OBJECT) == Reply("two", Usage(1, 5, 6), cut_off=True)
        assert [(call.stage, call.wanted) for call in chat.calls] == [("extract", FREE_TEXT), ("answer", ANY_OBJECT)]
        assert chat.calls[0].messages[0]["content"] == "before", "later changes of the messages are not its own"
        with pytest.raises(AssertionError, match=r"2 answers, and call 3 came, stage answer: 'Hello'"):
            chat.send(HELLO, stage="answer")


class TestHashEmbedder:
    def test_rows_have_length_one_also_for_texts_without_words(self) -> None:
        vectors = HashEmbedder(16).embed(["", "  ", "!!!", "東京", "a b"])
        assert vectors.shape == (5, 16)
        assert vectors.dtype == np.float32
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)
        assert HashEmbedder().embed([]).shape == (0, 64)

    def test_shared_words_are_near_and_so_are_shared_letters_of_scripts_without_spaces(self) -> None:
        a, b, c = HashEmbedder(256).embed(["Ada wrote programs", "programs that ADA wrote", "rivers of Peru"])
        assert a @ b > 0.7
        assert a @ c < 0.3
        a, b, c = HashEmbedder(512).embed(["東京大学", "東京駅", "北海"])
        assert a @ b > a @ c

    def test_vectors_never_change(self) -> None:
        assert np.flatnonzero(HashEmbedder(64).embed(["knowledge"])[0]).tolist() == [8]


class TestServer:
    def test_chat_whole_and_in_a_stream(self) -> None:
        text = "A sentence that takes several pieces, with ünïcode 東京."
        with OpenAIServer(["Hi.", text]) as server, client(server) as api:
            done = complete(server, temperature=0)
            events = list(api.chat.completions.create(model="m", messages=HELLO, stream=True))  # type: ignore[arg-type]
        assert done.choices[0].message.content == "Hi."
        assert (done.usage.prompt_tokens, done.usage.completion_tokens) == (1, 2)
        assert "".join(e.choices[0].delta.content or "" for e in events if e.choices) == text
        assert [e.choices[0].finish_reason for e in events if e.choices][-1] == "stop"
        assert events[-1].usage is not None
        assert events[-1].usage.completion_tokens > 10
        request, _ = server.requests_to("/chat/completions")
        assert (request.method, request.body["messages"], request.body["temperature"]) == ("POST", HELLO, 0)
        assert "sk-secret" not in repr(request)

    def test_embeddings_and_models(self) -> None:
        with OpenAIServer(models=["m1", "m2"]) as server, client(server) as api:
            floats, packed = (
                api.embeddings.create(model="m", input=["a b", "c"], encoding_format=kind).data
                for kind in ("float", "base64")
            )
            assert [model.id for model in api.models.list()] == ["m1", "m2"]
        unpacked = [np.frombuffer(base64.b64decode(each.embedding), "<f4") for each in packed]  # type: ignore[arg-type]
        for vectors in ([each.embedding for each in floats], unpacked):
            np.testing.assert_allclose(np.array(vectors), HashEmbedder().embed(["a b", "c"]), atol=1e-6)

    def test_what_it_cannot_answer_is_said(self) -> None:
        """The end of its script, a function that raises, another path, and what is no JSON."""

        def broken(messages: Any) -> str:
            raise KeyError("oops")

        for answers, said in (([], "0 answers, and request 1 came"), (broken, "oops")):
            with OpenAIServer(answers) as server, pytest.raises(openai.BadRequestError, match=said):
                complete(server)
        with OpenAIServer() as server, client(server) as api:
            with pytest.raises(openai.NotFoundError):
                api.files.list()
            link = http.client.HTTPConnection(server.base_url.split("/")[2])
            link.request("POST", "/v1/chat/completions", body=b"{broken")
            assert link.getresponse().status == 400
            link.close()
        with pytest.raises(RuntimeError, match="inside"):
            _ = OpenAIServer().base_url

    def test_closing_ends_hanging_and_slow_requests_and_their_threads(self) -> None:
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
            callers = [threading.Thread(target=call) for _ in range(2)]
            for caller in callers:
                caller.start()
            for _ in callers:
                arrived.acquire()
        for caller in callers:
            caller.join()
        assert len(failures) == 2
        assert set(threading.enumerate()) <= before
