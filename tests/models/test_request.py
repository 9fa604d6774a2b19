"""What is asked of a server, and what becomes of a request that it does not take: against a real one on loopback."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, Field

from kgplatform.errors import ModelError, SettingError
from kgplatform.models.chat import ANY_OBJECT, Ledger, Wanted
from kgplatform.models.openai_chat import OpenAIChat, Pieces, read_answer
from kgplatform.models.request import Abilities, json_schema, shaped
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import Fault, OpenAIServer

HELLO = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}]


class Cited(BaseModel):
    passage: int = 0


class Answer(BaseModel):
    reasoning: str = Field("", json_schema_extra={"maxLength": 300})
    answer: str
    citations: list[Cited] = Field(default_factory=list)


class Query(BaseModel):
    statement: str
    parameters: dict[str, Any] = Field(default_factory=dict)


ANSWER = Wanted(Answer, 600)


@contextmanager
def chatting(server: OpenAIServer, cache: Path | None = None, **more: Any) -> Iterator[OpenAIChat]:
    values = {"openai_base_url": server.base_url, "chat_model": "tiny", "model_retries": 2, **more}
    chat = OpenAIChat(Settings(_env_file=None, **values), Ledger(), cache, sleep=lambda seconds: None)  # type: ignore[call-arg]  # pydantic-settings adds it
    try:
        yield chat
    finally:
        chat.close()


def refuses(name: str, words: str, **error: Any) -> Any:
    """A fault for every request that has a parameter ``name``."""
    return lambda request: Fault.refuse(400, words, **error) if name in request.body else None


def forms(server: OpenAIServer) -> list[str]:
    """Which forms the requests asked for."""
    said = []
    for request in server.requests:
        form = request.body.get("response_format") or {"type": "none"}
        schema = form.get("json_schema", {})
        said.append(
            form["type"]
            + (" strict" if schema.get("strict") else "")
            + (" bounded" if "maxLength" in json.dumps(schema) else "")
        )
    return said


class TestForm:
    def test_a_schema_has_all_fields_in_order_and_nothing_else(self) -> None:
        schema = json_schema(Answer)
        assert list(schema["properties"]) == schema["required"] == ["reasoning", "answer", "citations"]
        assert schema["additionalProperties"] is False
        assert schema["properties"]["reasoning"] == {"type": "string", "maxLength": 300}
        assert schema["properties"]["citations"]["items"] == {
            "type": "object",
            "properties": {"passage": {"type": "integer"}},
            "required": ["passage"],
            "additionalProperties": False,
        }

    def test_an_open_form_is_no_strict_one(self) -> None:
        with OpenAIServer(["{}", "{}", ""]) as server, chatting(server) as chat:
            chat.send(HELLO, stage="s", wanted=Wanted(Query))
            chat.send(HELLO, stage="s", wanted=ANY_OBJECT)
            chat.send(HELLO, stage="s")
        assert forms(server) == ["json_schema", "json_object", "none"]

    @pytest.mark.parametrize(
        ("knows", "asked"), [("maxLength", 2), ("strict", 3), ("json_schema", 4), ("response_format", 5)]
    )
    def test_what_a_server_refuses_is_asked_for_once(self, knows: str, asked: int, tmp_path: Path) -> None:
        """The strictest form first, and then one after the other that asks for less."""
        ladder = ["json_schema strict bounded", "json_schema strict", "json_schema bounded", "json_object", "none"]

        def fault(request: Any) -> Fault | None:
            if f'"{knows}"' not in json.dumps(request.body):
                return None
            return Fault.refuse(
                400, f"Invalid schema for response_format: '{knows}' is not permitted.", param="response_format"
            )

        with OpenAIServer(lambda messages: "{}", faults=fault) as server:
            with chatting(server, tmp_path) as chat:
                chat.send(HELLO, stage="s", wanted=ANSWER)
                chat.send([HELLO[1]], stage="s", wanted=ANSWER)
            with chatting(server, tmp_path) as another:
                another.send([HELLO[0]], stage="s", wanted=ANSWER)
        assert forms(server) == [*ladder[:asked], ladder[asked - 1], ladder[asked - 1]]

    @pytest.mark.parametrize("words", ["oops", "Failed to parse grammar"])
    def test_a_server_that_answers_500_to_forms_is_asked_without(self, words: str) -> None:
        def fault(request: Any) -> Fault | None:
            return Fault.refuse(500, words) if "response_format" in request.body else None

        with OpenAIServer(lambda messages: "{}", faults=fault) as server, chatting(server) as chat:
            chat.send(HELLO, stage="s", wanted=ANSWER)
            chat.send([HELLO[1]], stage="s", wanted=ANSWER)
        assert forms(server)[-2:] == ["none", "none"]
        # "oops" passes perhaps: three tries in all, and one for each of the two. The other is a refusal.
        assert len(server.requests) <= 6


class TestParameters:
    def test_max_completion_tokens_where_max_tokens_is_refused(self) -> None:
        words = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
        with (
            OpenAIServer(lambda messages: "Hi", faults=refuses("max_tokens", words, param="max_tokens")) as server,
            chatting(server) as chat,
        ):
            chat.send(HELLO, stage="s", wanted=Wanted(tokens=70))
            chat.send([HELLO[1]], stage="s", wanted=Wanted(tokens=80))
        bodies = [request.body for request in server.requests]
        assert [body.get("max_tokens") for body in bodies] == [70, None, None]
        assert [body.get("max_completion_tokens") for body in bodies] == [None, 70, 80]

    def test_a_bound_that_is_too_large_is_lowered(self) -> None:
        def fault(request: Any) -> Fault | None:
            words = "max_tokens is too large: 9000. This model supports at most 4,096 completion tokens."
            return Fault.refuse(400, words, param="max_tokens") if request.body["max_tokens"] > 4096 else None

        with OpenAIServer(lambda messages: "Hi", faults=fault) as server, chatting(server) as chat:
            chat.send(HELLO, stage="s", wanted=Wanted(tokens=9000))
            chat.send([HELLO[1]], stage="s", wanted=Wanted(tokens=8000))
        assert [request.body["max_tokens"] for request in server.requests] == [9000, 4096, 4096]

    def test_parameters_that_are_refused_without_a_name(self) -> None:
        def fault(request: Any) -> Fault | None:
            return Fault.refuse(400, "Unsupported parameter(s)") if "max_tokens" in request.body else None

        with OpenAIServer(lambda messages: "Hi", faults=fault) as server, chatting(server) as chat:
            assert chat.send(HELLO, stage="s", wanted=ANSWER).text == "Hi"
        assert "max_completion_tokens" in server.requests[-1].body

    @pytest.mark.parametrize("status", [400, 500])
    def test_a_server_without_a_system_role_gets_its_words_from_the_user(self, status: int) -> None:
        def fault(request: Any) -> Fault | None:
            roles = [message["role"] for message in request.body["messages"]]
            return Fault.refuse(status, "System role not supported") if "system" in roles else None

        with OpenAIServer(lambda messages: messages[0]["content"], faults=fault) as server, chatting(server) as chat:
            assert chat.send(HELLO, stage="s").text == "Be brief.\n\nHello"
            chat.send([HELLO[0]], stage="s")
        assert [len(request.body["messages"]) for request in server.requests] == [2, 1, 1]

    def test_what_the_user_sets_is_sent_and_null_leaves_out(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(
            "KGPLATFORM_CHAT_PARAMETERS", '{"reasoning_effort": "low", "temperature": null, "top_k": 20}'
        )
        parameters = load_settings().chat_parameters
        with OpenAIServer(["Hi"]) as server, chatting(server, chat_parameters=parameters) as chat:
            chat.send(HELLO, stage="s")
        body = server.requests[0].body
        assert (body["reasoning_effort"], body["top_k"]) == ("low", 20)
        assert "temperature" not in body

    @pytest.mark.parametrize("value", ["{reasoning", "[1]"])
    def test_parameters_that_are_no_json_object_are_a_setting_error(
        self, value: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("KGPLATFORM_CHAT_PARAMETERS", value)
        with pytest.raises(SettingError, match="KGPLATFORM_CHAT_PARAMETERS"):
            load_settings()

    def test_a_parameter_of_the_users_that_is_refused_is_an_error(self) -> None:
        words = "Unknown parameter: 'reasoning_effort'."
        with (
            OpenAIServer(["Hi"], faults=refuses("reasoning_effort", words, param="reasoning_effort")) as server,
            chatting(server, chat_parameters={"reasoning_effort": "low"}) as chat,
            pytest.raises(ModelError, match="reasoning_effort"),
        ):
            chat.send(HELLO, stage="s")
        assert len(server.requests) == 1

    def test_asking_again_is_not_at_temperature_0(self) -> None:
        with OpenAIServer(["a", "b"]) as server, chatting(server) as chat:
            chat.send(HELLO, stage="s")
            chat.send(HELLO, stage="s", wanted=Wanted(again=True))
        assert [request.body["temperature"] for request in server.requests] == [0, 0.5]


class TestRoom:
    def test_prompt_and_reply_fit_into_a_window_that_is_known(self) -> None:
        long = [{"role": "user", "content": "word " * 3000}]
        body = shaped("m", long, Wanted(tokens=4000), {}, Abilities(), 4096)
        assert 256 <= body["max_tokens"] < 1000
        assert shaped("m", long, Wanted(tokens=4000), {}, Abilities(), None)["max_tokens"] == 4000

    def test_a_model_that_thinks_gets_room_for_it_from_then_on(self) -> None:
        thinking = json.dumps(
            {"choices": [{"message": {"content": "Hi", "reasoning_content": "Hm."}, "finish_reason": "stop"}]}
        )
        with OpenAIServer([Fault.malformed(thinking), "Hi"]) as server, chatting(server) as chat:
            chat.send(HELLO, stage="s", wanted=Wanted(tokens=100))
            chat.send([HELLO[1]], stage="s", wanted=Wanted(tokens=100))
        assert [request.body["max_tokens"] for request in server.requests] == [100, 8292]

    @pytest.mark.parametrize(
        ("more", "tokens", "is_full"),
        [
            ({"chat_parameters": {"max_completion_tokens": 50, "max_tokens": None}}, 100, True),
            ({"context_tokens": 1024}, 100, False),
            ({"context_tokens": 1024}, 4000, True),
        ],
        ids=str,
    )
    def test_whether_there_is_more_room_is_told(self, more: dict[str, Any], tokens: int, is_full: bool) -> None:
        with OpenAIServer([Fault.length_limit("Half a")]) as server, chatting(server, **more) as chat:
            reply = chat.send(HELLO, stage="s", wanted=Wanted(tokens=tokens))
        assert (reply.cut_off, reply.full) == (True, is_full)


def raw(message: dict[str, Any], reason: str = "stop") -> Fault:
    return Fault.malformed(json.dumps({"choices": [{"message": message, "finish_reason": reason}]}))


CHANNELS = "<|channel|>analysis<|message|>No?<|end|><|start|>assistant<|channel|>final<|message|>Hi"


class TestThoughts:
    @pytest.mark.parametrize(
        ("message", "text", "cut_off"),
        [
            ({"content": "Hi", "reasoning_content": "Perhaps No."}, "Hi", False),
            ({"content": "<think>Perhaps No.</think>\nHi"}, "Hi", False),
            ({"content": "Perhaps No.</think>Hi"}, "Hi", False),
            ({"content": '<think>Perhaps {"answer": "No"}'}, "", True),
            ({"content": CHANNELS}, "Hi", False),
            ({"content": "<|channel|>analysis<|message|>Perhaps No."}, "", True),
            ({"content": "The tag <think> begins a thought."}, "The tag <think> begins a thought.", False),
        ],
    )
    def test_a_thought_is_no_reply(self, message: dict[str, Any], text: str, cut_off: bool) -> None:
        with OpenAIServer([raw(message)]) as server, chatting(server) as chat:
            reply = chat.send(HELLO, stage="s")
        assert (reply.text.strip(), reply.cut_off) == (text, cut_off)

    @pytest.mark.parametrize(
        ("message", "reason", "lack"),
        [
            ({"content": None, "reasoning_content": "Hm."}, "length", "the model thought, and wrote no reply"),
            ({"content": None, "refusal": "I cannot."}, "stop", "the model refused: I cannot."),
            ({"content": None, "tool_calls": [{"id": "1"}]}, "tool_calls", "called a tool"),
            ({"content": None}, "length", ""),
        ],
    )
    def test_no_content_is_paid_once_and_said(self, message: dict[str, Any], reason: str, lack: str) -> None:
        with OpenAIServer([raw(message, reason)]) as server, chatting(server) as chat:
            reply = chat.send(HELLO, stage="s")
        assert reply.text == ""
        assert reply.cut_off == (reason == "length")
        assert lack in reply.lack
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        "message",
        [
            {"content": "", "tool_calls": [{"function": {"name": "reply", "arguments": {"answer": "Hi"}}}]},
            {"content": None, "function_call": {"name": "reply", "arguments": '{"answer": "Hi"}'}},
        ],
    )
    def test_the_arguments_of_a_call_stand_for_a_reply(self, message: dict[str, Any]) -> None:
        with OpenAIServer([raw(message, "tool_calls")]) as server, chatting(server) as chat:
            assert chat.send(HELLO, stage="s").text == '{"answer": "Hi"}'

    def test_the_arguments_of_a_call_come_in_pieces(self) -> None:
        parts = [{"name": "reply"}, {"arguments": '{"answer": '}, {"arguments": '"Hi"}'}]
        pieces = Pieces(lambda text: None)
        for part in parts:
            pieces.add({"choices": [{"delta": {"tool_calls": [{"index": 0, "function": part}]}}]})
        pieces.add({"choices": [{"delta": {}, "finish_reason": "tool_calls"}]})
        assert read_answer(pieces.answer(), HELLO)[0].text == '{"answer": "Hi"}'


class TestStream:
    def test_the_text_is_told_as_it_comes_and_the_reply_is_the_same(self) -> None:
        told: list[str] = []
        text = "In Kingston, where the cable was landed in 1867."
        with OpenAIServer([text, text]) as server, chatting(server) as chat:
            streamed = chat.send(HELLO, stage="s", wanted=Wanted(on_text=told.append))
            whole = chat.send(HELLO, stage="s")
        assert streamed == whole
        assert told[0] == ""
        assert told[-1] == text
        assert len(told) > 3
        assert all(text.startswith(part) for part in told)

    def test_a_stream_that_breaks_off_is_tried_again(self) -> None:
        told: list[str] = []
        with OpenAIServer([Fault.break_off("half of it is here"), "Whole."]) as server, chatting(server) as chat:
            assert chat.send(HELLO, stage="s", wanted=Wanted(on_text=told.append)).text == "Whole."
        assert told.count("") == 2
        assert told[-1] == "Whole."

    def test_a_server_that_does_not_stream_is_read_all_the_same(self) -> None:
        told: list[str] = []
        with OpenAIServer([raw({"content": "Whole."})]) as server, chatting(server) as chat:
            assert chat.send(HELLO, stage="s", wanted=Wanted(on_text=told.append)).text == "Whole."
        assert told[-1] == "Whole."

    @pytest.mark.parametrize("words", ["stream_options is not supported", "stream is not supported"])
    def test_a_server_that_refuses_it_is_asked_without(self, words: str) -> None:
        name = words.split(" ")[0]
        with OpenAIServer(lambda messages: "Hi", faults=refuses(name, words)) as server, chatting(server) as chat:
            assert chat.send(HELLO, stage="s", wanted=Wanted(on_text=lambda text: None)).text == "Hi"
        assert [name in request.body for request in server.requests] == [True, False]


class TestWindow:
    @pytest.mark.parametrize(
        ("entry", "window"),
        [
            ({"context_length": 131072}, 131072),
            ({"meta": {"n_ctx_train": 2048}}, 2048),
            ({"max_model_len": "large"}, None),
        ],
    )
    def test_the_server_is_asked_once(self, entry: dict[str, Any], window: int | None, tmp_path: Path) -> None:
        listed = Fault(body=json.dumps({"data": [{"id": "other", "max_model_len": 999}, {"id": "tiny", **entry}]}))
        with OpenAIServer(faults=lambda request: listed) as server:
            for _ in range(2):
                with chatting(server, tmp_path) as chat:
                    assert chat.context() == window
                    assert chat.context() == window
        assert len(server.requests) == 1

    def test_the_setting_wins_and_nobody_is_asked(self) -> None:
        with OpenAIServer() as server, chatting(server, context_tokens=5000) as chat:
            assert chat.context() == 5000
        assert server.requests == []

    @pytest.mark.parametrize("fault", [Fault.refuse(404, "no"), Fault(body="<html>")])
    def test_a_server_that_does_not_tell(self, fault: Fault) -> None:
        with OpenAIServer(faults=lambda request: fault) as server, chatting(server) as chat:
            assert chat.context() is None

    def test_a_server_that_was_away_is_asked_again(self, tmp_path: Path) -> None:
        listed = Fault(body=json.dumps({"data": [{"id": "tiny", "max_model_len": 8192}]}))
        with OpenAIServer(faults=[Fault.break_off(), listed]) as server:
            for window in (None, 8192):
                with chatting(server, tmp_path) as chat:
                    assert chat.context() == window


class TestWords:
    def test_a_short_key_spoils_no_words(self) -> None:
        fault = Fault.refuse(400, "the request exceeds the available context size")
        with (
            OpenAIServer(faults=lambda request: fault) as server,
            chatting(server, openai_api_key="x") as chat,
            pytest.raises(ModelError, match="exceeds the available context size") as caught,
        ):
            chat.send(HELLO, stage="s")
        assert "KGPLATFORM_CONTEXT_TOKENS" in str(caught.value)
        assert len(server.requests) == 1

    def test_a_time_out_is_tried_once_more_and_not_six_times(self, caplog: pytest.LogCaptureFixture) -> None:
        with (
            OpenAIServer(faults=lambda request: Fault.hang()) as server,
            chatting(server, model_timeout=0.2, model_retries=5) as chat,
            pytest.raises(ModelError, match="2 tries in all: no answer in time; a larger KGPLATFORM_MODEL_TIMEOUT"),
        ):
            chat.send(HELLO, stage="s")
        assert len(server.requests) == 2
        assert "did not answer in time" in caplog.text


def test_calls_are_logged_with_their_messages(tmp_path: Path) -> None:
    log = tmp_path / "calls.jsonl"
    with (
        OpenAIServer(["Hi.", Fault.refuse(401, "no")]) as server,
        chatting(server, tmp_path / "cache", call_log=log, openai_api_key="sk-very-secret-1") as chat,
    ):
        chat.send(HELLO, stage="answer", wanted=ANSWER)
        chat.send(HELLO, stage="answer", wanted=ANSWER)
        with pytest.raises(ModelError):
            chat.send([HELLO[1]], stage="plan")
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    assert [(line["stage"], line.get("reply"), line.get("usage", {}).get("cached_calls")) for line in lines] == [
        ("answer", "Hi.", 0),
        ("answer", "Hi.", 1),
        ("plan", None, None),
    ]
    assert lines[0]["messages"] == HELLO
    assert lines[0]["request"]["response_format"]["json_schema"]["name"] == "Answer"
    assert "check OPENAI_API_KEY" in lines[2]["error"]
    assert log.stat().st_mode & 0o777 == 0o600
    assert "very-secret" not in log.read_text(encoding="utf-8")


def test_a_log_that_cannot_be_written_is_one_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with OpenAIServer(["a", "b"]) as server, chatting(server, call_log=tmp_path / "no" / "calls.jsonl") as chat:
        assert [chat.send([message], stage="s").text for message in HELLO] == ["a", "b"]
    assert len([record for record in caplog.records if "cannot be logged" in record.getMessage()]) == 1
