"""Answers of model servers that do not end: cut off at a bound, in time, and not asked for again and again."""

import json
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import openai as openai  # not while memory is measured: it takes long to import
import pytest

from kgplatform.concurrency.threads import Stop
from kgplatform.errors import ModelError, ReplyError
from kgplatform.models.chat import Ledger, Wanted
from kgplatform.models.embed import OpenAIEmbedder
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import Fault, OpenAIServer

HELLO = [{"role": "user", "content": "Hello"}]
MOST = 2**20 + 2000 * 100
"""Bytes of an answer of a hundred tokens."""
PEAK = 60_000_000


def settings_of(server: OpenAIServer, **more: Any) -> Settings:
    return load_settings(openai_base_url=server.base_url, model_retries=3, **more)


@contextmanager
def asking(
    fault: Fault, *, stop: Stop | None = None, **more: Any
) -> Iterator[tuple[OpenAIServer, Callable[..., object]]]:
    """A server with ``fault`` for every request, and what asks it for a hundred tokens."""
    with OpenAIServer(["never"], faults=lambda request: fault) as server:
        chat = OpenAIChat(settings_of(server, **more), Ledger(), None, backoff=0.01)
        asked = chat.within(stop=stop) if stop else chat
        try:
            yield server, lambda **wanted: asked.send(HELLO, stage="ask", wanted=Wanted(tokens=100, **wanted))
        finally:
            chat.close()


def listening(text: str) -> None:
    """Nobody."""


@pytest.mark.parametrize(
    ("fault", "wanted", "stop"),
    [
        (Fault.never_ends("body"), {}, None),
        (Fault.never_ends("body"), {}, Stop()),
        (Fault.never_ends("stream"), {"on_text": listening}, None),
        (Fault(body=json.dumps({"choices": [{"message": {"content": "x" * 5_000_000}}]})), {}, None),
        (Fault(body="{}", headers={"Content-Encoding": "gzip"}), {}, None),
    ],
    ids=["body", "body, in work that can be stopped", "stream", "known length", "packed"],
)
def test_an_answer_without_an_end_is_cut_off_and_not_asked_for_again(
    fault: Fault, wanted: dict[str, Any], stop: Stop | None
) -> None:
    with asking(fault, stop=stop) as (server, ask):
        tracemalloc.start()
        with pytest.raises(ReplyError) as caught:
            ask(**wanted)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert len(server.requests) == 1
    assert f"more than {MOST:,} bytes" in str(caught.value) or "Content-Encoding" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert peak < PEAK


def test_a_reply_that_goes_round_is_broken_off_and_one_that_repeats_a_little_is_not() -> None:
    row = '["Jennifer Parilla","American trampolinist"],'
    listed = ", ".join(f"{number} of 40" for number in range(40))
    for said, is_cut in ((row * 60, True), (row * 12, False), (listed + row * 12 + listed, False), (" " * 900, True)):
        with OpenAIServer([f"x{said}y"]) as server:
            chat = OpenAIChat(settings_of(server), Ledger(), None)
            reply = chat.send(HELLO, stage="ask", wanted=Wanted(tokens=2000))
            chat.close()
            assert len(server.requests) == 1
        assert (reply.cut_off, reply.text.endswith("y")) == (is_cut, not is_cut), said


def test_a_reply_that_went_round_is_paid_for_once_and_one_without_room_may_have_more(tmp_path: Path) -> None:
    row = '["Jennifer Parilla","American trampolinist"],'
    for said, requests in ((row * 60, 1), (Fault.length_limit(row), 2)):
        with OpenAIServer([said, said]) as server:
            replies = []
            for _ in range(2):
                chat = OpenAIChat(settings_of(server), Ledger(), tmp_path)
                replies.append(chat.send(HELLO, stage="ask", wanted=Wanted(tokens=2000)))
                chat.close()
            assert (len(server.requests), replies[0].cut_off) == (requests, True)
        assert (replies[1].text, replies[1].cut_off) == (replies[0].text, True)


def test_of_an_error_the_beginning_is_read() -> None:
    with asking(Fault.never_ends("body", status=400)) as (server, ask):
        with pytest.raises(ModelError) as caught:
            ask()
        assert len(server.requests) == 1
    assert len(str(caught.value)) < 1000


def test_a_head_without_an_end() -> None:
    with asking(Fault.never_ends("head")) as (server, ask):
        with pytest.raises(ModelError, match="cannot be reached, or broke the connection"):
            ask()
        assert len(server.requests) == 4


@pytest.mark.parametrize("what", ["head", "body"])
def test_what_comes_in_drops_ends_at_the_time_limit(what: str) -> None:
    """Each drop comes long before the limit, and none is a token."""
    with asking(Fault.never_ends(what, pace=0.05), model_timeout=0.5) as (server, ask):
        with pytest.raises(ModelError, match="no answer in time; a larger KGPLATFORM_MODEL_TIMEOUT may help"):
            ask()
        assert len(server.requests) == 2


def test_long_answers_within_the_bound_are_read() -> None:
    text = " ".join(map(str, range(10_000)))
    with OpenAIServer([text]) as server:
        chat = OpenAIChat(settings_of(server), Ledger(), None)
        assert chat.send(HELLO, stage="ask", wanted=Wanted(tokens=100)).text == text
        chat.close()


def test_vectors_without_an_end() -> None:
    with OpenAIServer(faults=lambda request: Fault.never_ends("body")) as server:
        embedder = OpenAIEmbedder("any", settings_of(server), Ledger())
        with pytest.raises(ReplyError, match="more than"):
            embedder.embed(["one text"])
        embedder.close()
