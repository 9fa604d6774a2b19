"""The chat client against a real server on loopback that fails in every way it can."""

import json
import logging
import stat
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from kgplatform.errors import BudgetError, ModelError, SettingError
from kgplatform.models.chat import ANY_OBJECT, Ledger, Reply
from kgplatform.models.openai_chat import OpenAIChat, make_chat
from kgplatform.prompt import Messages
from kgplatform.records import Usage
from kgplatform.settings import Settings
from kgplatform.testing import Fault, OpenAIServer
from kgplatform.text import count_tokens

KEY = "sk-very-secret-1234567890"
HELLO = [{"role": "user", "content": "Hello"}]


def question(text: str) -> Messages:
    return [{"role": "user", "content": text}]


class Time:
    """A clock that only moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []
        self._lock = threading.Lock()

    def clock(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        with self._lock:
            self.slept.append(seconds)
            self.now += seconds


def options(address: str, **more: Any) -> Settings:
    values = {"openai_api_key": KEY, "openai_base_url": address, "chat_model": "tiny", "model_retries": 3, **more}
    return Settings(_env_file=None, **values)  # type: ignore[call-arg]  # pydantic-settings adds it


@contextmanager
def chatting(
    server: OpenAIServer, cache: Path | None = None, ledger: Ledger | None = None, **more: Any
) -> Iterator[Any]:
    """A client of ``server`` that waits in no real time; ``.time`` and ``.ledger`` show what it did."""
    time, ledger = Time(), ledger or Ledger()
    client = OpenAIChat(options(server.base_url, **more), ledger, cache, clock=time.clock, sleep=time.sleep)
    try:
        yield type("Client", (), {"chat": client, "time": time, "ledger": ledger, "send": staticmethod(client.send)})
    finally:
        client.close()


def refusal(fault: Fault, **more: Any) -> tuple[str, OpenAIServer]:
    """What the client says about ``fault``, which comes for every request."""
    with OpenAIServer(["never"], faults=lambda request: fault) as server, chatting(server, **more) as client:
        with pytest.raises(ModelError) as caught:
            client.send(HELLO, stage="extract")
        assert not isinstance(caught.value, BudgetError)
        chain: BaseException | None = caught.value
        while chain is not None:
            assert KEY not in str(chain) + repr(chain)
            chain = chain.__cause__
        return str(caught.value), server


class TestAnswer:
    def test_text_usage_and_request(self) -> None:
        with OpenAIServer(["Hi there."]) as server, chatting(server) as client:
            reply = client.send(HELLO, stage="answer")
        assert reply == Reply("Hi there.", Usage(calls=1, input_tokens=1, output_tokens=3), cut_off=False)
        assert client.ledger.by_stage() == {"answer": reply.usage}
        sent = {"model": "tiny", "messages": HELLO, "temperature": 0, "max_tokens": 4096}
        assert server.requests[0].body == {**sent, "stream": True, "stream_options": {"include_usage": True}}

    def test_without_usage_figures_or_with_those_of_0_tokens_are_counted_here(self) -> None:
        said = {"choices": [{"message": {"content": "Hi there."}}]}
        zero = {**said, "usage": {"prompt_tokens": 0, "completion_tokens": 0}}
        script = [Fault.no_usage("Hi there."), Fault.malformed(json.dumps(zero))]
        with OpenAIServer(script) as server, chatting(server) as client:
            for _ in script:
                usage = client.send(question("How are you today?"), stage="answer").usage
                assert usage == Usage(1, count_tokens("How are you today?"), count_tokens("Hi there."))

    def test_an_answer_in_parts_and_of_another_content_type(self) -> None:
        body = json.dumps({"choices": [{"message": {"content": [{"type": "text", "text": "a"}, {"text": "b"}]}}]})
        script = [Fault.malformed(body), Fault.wrong_type("text/plain", text="fine")]
        with OpenAIServer(script) as server, chatting(server) as client:
            assert client.send(HELLO, stage="s").text == "ab"
            assert client.send(HELLO, stage="s").text == "fine"

    def test_any_text_can_be_sent(self) -> None:
        with OpenAIServer(lambda messages: messages[0]["content"]) as server, chatting(server) as client:
            assert client.send(question("東京 \ud800 \x00 é"), stage="s").text == "東京 \ufffd \x00 é"


class TestRetries:
    @pytest.mark.parametrize(
        "fault",
        [
            Fault.refuse(500, "oops " * 1000),
            Fault.refuse(408, "slow"),
            Fault.rate_limit(),
            Fault.break_off("half"),
            Fault.malformed("null"),
            Fault.malformed('{"choices": [null]}'),
            Fault.malformed('{"error": {"message": "engine overloaded"}}'),
            Fault(body="<html>Bad gateway</html>", content_type="text/html"),
        ],
        ids=str,
    )
    def test_a_passing_fault_is_tried_again_a_lasting_one_is_an_error(self, fault: Fault) -> None:
        with OpenAIServer(lambda messages: "Hi.", faults=[fault]) as server, chatting(server) as client:
            assert client.send(HELLO, stage="answer").text == "Hi."
        assert len(server.requests) == 2
        assert len(client.time.slept) == 1
        with (
            OpenAIServer(lambda messages: "lost", faults=lambda request: fault) as server,
            chatting(server) as client,
            pytest.raises(ModelError, match="stage extract") as caught,
        ):
            client.send(HELLO, stage="extract")
        assert len(str(caught.value)) < 700
        assert len(server.requests) == 4
        if fault.status == 500:
            waits = zip(client.time.slept, (1, 2, 4), strict=True)
            assert all(least <= slept <= least + 1 for slept, least in waits), "doubled, with jitter"

    def test_retry_after_in_seconds_and_as_a_date(self) -> None:
        faults = [Fault.rate_limit(7), Fault.rate_limit(40, as_date=True), Fault.rate_limit(0)]
        with OpenAIServer(["Hi."], faults=faults) as server, chatting(server) as client:
            client.send(HELLO, stage="answer")
        first, second, *_ = client.time.slept
        assert first == 7
        assert 38 <= second <= 42
        for value in ("Wed, 21 Oct 2015 07:28:00 GMT", "-5", "nan"):
            fault = Fault(status=429, headers={"Retry-After": value}, body="{}")
            with OpenAIServer(["Hi."], faults=[fault]) as server, chatting(server) as client:
                assert client.send(HELLO, stage="answer").text == "Hi."
            assert sum(client.time.slept) <= 2, "a date in the past and nonsense do no harm"

    def test_one_429_pauses_every_thread(self) -> None:
        asleep = threading.Semaphore(0)

        def fault(request: Any) -> Fault | None:
            if len(server.requests) == 1:
                return Fault.rate_limit(30)
            return None

        with OpenAIServer(lambda messages: "Hi.", faults=fault) as server, chatting(server) as client:
            wire = client.chat._wire
            resumed = threading.Event()

            def sleep(seconds: float) -> None:
                asleep.release()
                resumed.wait()
                client.time.sleep(seconds)

            wire._sleep = sleep
            with ThreadPoolExecutor(4) as pool:
                try:
                    first = pool.submit(client.send, question("first"), stage="s")
                    assert asleep.acquire(timeout=60)
                    others = [pool.submit(client.send, question(f"other {i}"), stage="s") for i in range(3)]
                    assert asleep.acquire(timeout=60), "another waits too"
                    assert wire._paused_until - wire._clock() == 30
                    # Its slots may be asked for meanwhile.
                    assert len(server.requests_to("/chat/completions")) == 1
                finally:
                    resumed.set()
                assert {future.result().text for future in [first, *others]} == {"Hi."}
        assert len(server.requests_to("/chat/completions")) == 5

    def test_no_more_calls_at_once_than_allowed(self) -> None:
        under_way, most, lock = 0, 0, threading.Lock()
        full = threading.Barrier(3)

        def answer(messages: Messages) -> str:
            nonlocal under_way, most
            with lock:
                under_way += 1
                most = max(most, under_way)
            full.wait()
            with lock:
                under_way -= 1
            return "Hi."

        with OpenAIServer(answer) as server, chatting(server, concurrency=3) as client, ThreadPoolExecutor(9) as pool:
            replies = list(pool.map(lambda i: client.send(question(str(i)), stage="s").text, range(9)))
        assert replies == ["Hi."] * 9
        assert most == 3


class TestSentences:
    @pytest.mark.parametrize(
        ("fault", "words"),
        [
            (Fault.refuse(401, f"Incorrect API key provided: {KEY}"), "check OPENAI_API_KEY. It says: Incorrect API"),
            (Fault.refuse(404, "No such model"), "has no model 'tiny'"),
            (Fault.refuse(400, "Too long", code="context_length_exceeded"), "smaller KGPLATFORM_PASSAGE_TOKENS"),
            (Fault.refuse(400, "This model's maximum context length is 4096 tokens"), "KGPLATFORM_PASSAGE_TOKENS"),
            (Fault.refuse(429, "Quota", code="insufficient_quota"), "no credit left"),
            (Fault(status=400, body="plain words"), "refused the request"),
            (Fault.rate_limit(7200), "asks to wait 7200 s"),
        ],
        ids=str,
    )
    def test_what_trying_again_cannot_mend_is_said_at_once(self, fault: Fault, words: str) -> None:
        said, server = refusal(fault)
        assert words in said
        assert "stage extract" in said
        assert len(server.requests) == 1

    def test_no_server(self) -> None:
        with OpenAIServer() as server:
            address = server.base_url
        time = Time()
        chat = OpenAIChat(options(address), Ledger(), None, clock=time.clock, sleep=time.sleep)
        with pytest.raises(ModelError, match=r"cannot be reached.*Is it running, and is OPENAI_BASE_URL right\?"):
            chat.send(HELLO, stage="answer")
        chat.close()

    def test_a_content_filter_is_named_and_not_asked_twice(self) -> None:
        said, server = refusal(Fault(finish_reason="content_filter", text=""))
        assert ("content filter" in said, len(server.requests)) == (True, 1)

    def test_the_key_and_a_password_in_the_address_stay_hidden(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        with OpenAIServer(["Hi."], faults=[Fault.refuse(401, f"bad key {KEY}")]) as server:
            address = server.base_url.replace("http://", "http://user:hushhush@")
            chat = OpenAIChat(options(address), Ledger(), None)
            with pytest.raises(ModelError) as caught:
                chat.send(HELLO, stage="s")
            chat.close()
        assert "hushhush" not in str(caught.value)
        seen = caplog.text + repr(chat) + repr(vars(chat)) + repr(vars(chat._wire)) + repr(caught.value.__cause__)
        assert KEY not in seen

    @pytest.mark.parametrize("address", ["localhost:8000/v1", "ftp://x/v1", "http://", "http://[::1"])
    def test_a_wrong_address_is_a_setting_error(self, address: str) -> None:
        with pytest.raises(SettingError, match="OPENAI_BASE_URL"):
            OpenAIChat(options(address), Ledger(), None)

    @pytest.mark.parametrize("key", ["sk-\u00e9", "sk-\n-x"])
    def test_a_key_that_no_header_can_carry_is_a_setting_error_that_hides_it(self, key: str) -> None:
        with pytest.raises(SettingError, match="OPENAI_API_KEY") as caught:
            OpenAIChat(options("http://x/v1", openai_api_key=key), Ledger(), None)
        assert key not in str(caught.value)


class TestFallback:
    def test_several_parameters_may_be_refused(self) -> None:
        def fault(request: Any) -> Fault | None:
            for name in ("temperature", "response_format"):
                if name in request.body:
                    return Fault.refuse(422 if name == "temperature" else 400, "Unsupported value", param=name)
            return None

        with OpenAIServer(lambda messages: "{}", faults=fault) as server, chatting(server) as client:
            client.send(HELLO, stage="s", wanted=ANY_OBJECT)
        assert sorted(server.requests[-1].body) == ["max_tokens", "messages", "model", "stream", "stream_options"]
        assert len(server.requests) == 3


class TestBudget:
    def test_stops_before_the_next_call_and_says_how_to_go_on(self) -> None:
        with OpenAIServer(["one two three"]) as server, chatting(server, ledger=Ledger(4)) as client:
            client.send(HELLO, stage="extract")
            with pytest.raises(BudgetError, match=r"budget of 4 tokens.*4 spent.*larger token_budget"):
                client.send(question("more"), stage="extract")
        assert len(server.requests) == 1
        assert client.ledger.total == Usage(1, 1, 3)

    def test_what_came_from_the_cache_is_known_by_what_it_once_cost(self, tmp_path: Path) -> None:
        with OpenAIServer(["one two three"]) as server:
            with chatting(server, tmp_path) as client:
                client.send(HELLO, stage="s")
                assert client.ledger.worth_by_stage() == client.ledger.by_stage() == {"s": Usage(1, 1, 3)}
            with chatting(server, tmp_path) as client:
                client.send(HELLO, stage="s")
                client.send(HELLO, stage="t")
                assert client.ledger.by_stage() == {"s": Usage(cached_calls=1), "t": Usage(cached_calls=1)}
                assert client.ledger.worth_by_stage() == {"s": Usage(1, 1, 3), "t": Usage(1, 1, 3)}

    def test_a_used_up_budget_stops_the_next_try_too(self) -> None:
        ledger = Ledger(1)

        def fault(request: Any) -> Fault:
            ledger.add("elsewhere", Usage(1, 5, 5))
            return Fault.refuse(500, "oops")

        with (
            OpenAIServer(["x"], faults=fault) as server,
            chatting(server, ledger=ledger) as client,
            pytest.raises(BudgetError),
        ):
            client.send(HELLO, stage="s")
        assert len(server.requests) == 1


class TestCache:
    def files(self, folder: Path) -> list[Path]:
        """The kept replies, without what is known of the servers."""
        return sorted(path for path in folder.rglob("*") if path.is_file() and path.parent.name != "servers")

    def test_only_the_owner_can_read_it(self, tmp_path: Path) -> None:
        folder = tmp_path / "home" / "cache"
        with OpenAIServer(["Hi."]) as server, chatting(server, folder) as client:
            client.send(HELLO, stage="s")
        [file] = self.files(folder)
        assert file.parent.name == file.name[:2]
        assert file.suffix == ".json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IMODE(file.parent.stat().st_mode) == 0o700

    def test_other_questions_models_modes_parameters_and_servers_are_other_entries(self, tmp_path: Path) -> None:
        def answer(messages: Messages) -> str:
            return messages[0]["content"]

        with OpenAIServer(answer) as server, OpenAIServer(answer) as other:
            with chatting(server, tmp_path) as client:
                client.send(HELLO, stage="s")
                client.send(question("Other"), stage="s")
                client.send(HELLO, stage="s", wanted=ANY_OBJECT)
                client.send(HELLO, stage="another stage")
            with chatting(server, tmp_path, chat_model="large") as client:
                client.send(HELLO, stage="s")
            with chatting(server, tmp_path, chat_parameters={"reasoning_effort": "low"}) as client:
                client.send(HELLO, stage="s")
            with chatting(other, tmp_path) as client:
                client.send(HELLO, stage="s")
        assert len(self.files(tmp_path)) == 6

    @pytest.mark.parametrize("content", ['{"key": "', "null", '{"key": "x", "text": "wrong"}', "[" * 99999])
    def test_a_broken_file_is_replaced(self, tmp_path: Path, content: str) -> None:
        with OpenAIServer(["first", "second"]) as server, chatting(server, tmp_path) as client:
            client.send(HELLO, stage="s")
            [file] = self.files(tmp_path)
            file.write_text(content)
            assert client.send(HELLO, stage="s").text == "second"
            assert client.send(HELLO, stage="s").usage == Usage(cached_calls=1)

    def test_answers_that_are_cut_off_or_empty_are_not_kept(self, tmp_path: Path) -> None:
        with OpenAIServer([Fault.length_limit("half"), "  ", "whole"]) as server, chatting(server, tmp_path) as client:
            assert [client.send(HELLO, stage="s").text for _ in range(4)] == ["half", "  ", "whole", "whole"]
        assert len(server.requests) == 3

    def test_a_folder_that_cannot_be_written_is_one_warning(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        (tmp_path / "file").write_text("in the way")
        with OpenAIServer(["a", "b"]) as server, chatting(server, tmp_path / "file" / "cache") as client:
            assert [client.send(question(text), stage="s").text for text in "xy"] == ["a", "b"]
        assert [record.levelname for record in caplog.records if record.name == "kgplatform.models.request"] == [
            "WARNING"
        ]

    def test_threads_that_ask_the_same_pay_once(self, tmp_path: Path) -> None:
        asked, waiting = threading.Event(), threading.Event()

        def answer(messages: Messages) -> str:
            asked.set()
            waiting.wait()
            return "Hi."

        with OpenAIServer(answer) as server, chatting(server, tmp_path) as client, ThreadPoolExecutor(5) as pool:
            futures = [pool.submit(client.send, HELLO, stage="s")]
            asked.wait()
            futures += [pool.submit(client.send, HELLO, stage="s") for _ in range(4)]
            waiting.set()
            usages = [future.result().usage for future in futures]
        assert len(server.requests) == 1
        assert sorted(usage.cached_calls for usage in usages) == [0, 1, 1, 1, 1]
        assert client.ledger.total == Usage(1, 1, 2, 4)

    def test_those_that_wait_for_a_call_that_fails_get_its_error(self) -> None:
        asked, waiting = threading.Event(), threading.Event()

        def answer(messages: Messages) -> str:
            asked.set()
            waiting.wait()
            raise ValueError("no")

        with OpenAIServer(answer) as server, chatting(server) as client, ThreadPoolExecutor(2) as pool:
            first = pool.submit(client.send, HELLO, stage="s")
            asked.wait()
            second = pool.submit(client.send, HELLO, stage="s")
            waiting.set()
            for future in (first, second):
                with pytest.raises(ModelError, match="ValueError: no"):
                    future.result()
            assert client.chat._under_way == {}


class TestMakeChat:
    def bare(self, tmp_path: Path, **more: Any) -> Settings:
        return Settings(_env_file=None, home=tmp_path, **more)  # type: ignore[call-arg]  # as above

    def test_an_address_alone_is_enough_and_the_cache_lies_in_the_home(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
            monkeypatch.delenv(name, raising=False)
        assert make_chat(self.bare(tmp_path), Ledger()) is None
        with OpenAIServer(["Hi."]) as server:
            chat = make_chat(self.bare(tmp_path, openai_base_url=server.base_url, chat_model="m"), Ledger())
            assert isinstance(chat, OpenAIChat)
            assert chat.model == "m"
            assert chat.send(HELLO, stage="s").text == "Hi."
            chat.close()
        assert len(list((tmp_path / "llm-cache").rglob("*.json"))) == 1
