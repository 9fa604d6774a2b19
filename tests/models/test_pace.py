"""How many requests a server is sent at once, and when one is given up."""

import heapq
import random
import time
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest
from slot_server import SlotServer

from kgplatform.errors import ModelError
from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.models.pace import Pace, Turn
from kgplatform.settings import Settings


@dataclass
class Simulated:
    """A run of ``number`` requests against a server of ``slots``, 20 s a reply, in no real time.

    ``streams``: the first token comes after half a second in the slot. ``noise``: of the lengths, as a share.
    """

    slots: int
    number: int
    streams: bool = True
    noise: float = 0.0
    fixed: int | None = None
    now: float = 0.0
    events: list[tuple[float, int, str, Turn]] = field(default_factory=list)
    at_server: list[Turn] = field(default_factory=list)
    limits: list[int] = field(default_factory=list)

    def seconds(self) -> float:
        """How long the run takes."""
        chance = random.Random(7)
        pace = Pace(self.fixed, clock=lambda: self.now)
        places: list[Future[None]] = []
        left, inside, busy, count = self.number, 0, 0, 0
        while True:
            while left and inside + len(places) < 64:
                places.append(pace.queue())
                left -= 1
            for place in [place for place in places if place.done()]:
                places.remove(place)
                turn = Turn()
                pace.sent(turn)
                self.at_server.append(turn)
                inside += 1
            while self.at_server and busy < self.slots:
                turn, busy = self.at_server.pop(0), busy + 1
                length = max(0.1, chance.gauss(1, self.noise))
                turn.work = 600 * length
                if self.streams:
                    heapq.heappush(self.events, (self.now + 0.5, count := count + 1, "first", turn))
                heapq.heappush(self.events, (self.now + 20 * length, count := count + 1, "end", turn))
            if not self.events:
                return self.now
            self.now, _, kind, turn = heapq.heappop(self.events)
            if kind == "first":
                pace.heard(turn)
            else:
                pace.over(turn)
                inside, busy = inside - 1, busy - 1
            self.limits.append(pace.limit)


class TestSpeed:
    @pytest.mark.parametrize(
        ("slots", "number", "streams", "noise"), [(1, 21, False, 0.4), (4, 100, True, 0.4), (64, 2560, False, 0.0)]
    )
    def test_nearly_as_fast_as_the_best_fixed_number(
        self, slots: int, number: int, streams: bool, noise: float
    ) -> None:
        took = Simulated(slots, number, streams, noise).seconds()
        for fixed in (8, 64):
            run = Simulated(slots, number, streams, noise, fixed)
            assert took <= run.seconds() / 0.9
            assert set(run.limits) == {fixed}, "a number that is set stays"

    @pytest.mark.parametrize("streams", [True, False])
    def test_it_begins_at_two_and_a_server_of_one_slot_gets_one_at_a_time(self, streams: bool) -> None:
        run = Simulated(1, 40, streams)
        run.seconds()
        assert run.limits[0] == 2
        assert max(run.limits) == 4
        assert run.limits[len(run.limits) // 3] == 1
        later = run.limits[len(run.limits) // 3 :]
        assert sum(later) / len(later) < 1.5

    def test_what_fails_halves_it_once_for_all_that_were_sent(self) -> None:
        pace = Pace(clock=lambda: 1.0)
        places = [pace.queue() for _ in range(64)]
        turns: list[Turn] = []
        while len(turns) < 16:
            turns.append(Turn())
            assert places[len(turns) - 1].done()
            pace.sent(turns[-1])
            pace.heard(turns[-1])
        assert pace.limit == 32
        for turn in turns:
            pace.failed(turn)
        assert pace.limit == 16


class TestPatience:
    def test_what_waits_behind_others_waits_as_long_as_they_are_answered(self) -> None:
        now = [0.0]
        pace = Pace(patience=10, clock=lambda: now[0])
        first, second = Turn(), Turn()
        pace.sent(first)
        pace.sent(second)
        for now[0] in (8, 16, 24):
            pace.heard(first)
            assert pace.left(second) == 10
        now[0] = 30
        assert pace.left(first) == pace.left(second) == 4

    def test_what_many_overtook_does_not_wait(self) -> None:
        now = [0.0]
        pace = Pace(1, patience=10, clock=lambda: now[0])
        lost = Turn()
        pace.sent(lost)
        for now[0] in range(1, 70):
            pace.queue()
            other = Turn(work=1)
            pace.sent(other)
            pace.over(other)
        assert pace.left(lost) < 0

    def test_a_long_prompt_is_given_time_to_be_read(self) -> None:
        pace = Pace(patience=10, clock=lambda: 0.0)
        turn = Turn()
        pace.sent(turn, 4000)
        assert pace.left(turn) == 30
        pace.heard(turn)
        assert pace.left(turn) == 10


def ask(server: SlotServer, prompts: list[str], threads: int = 64, **more: Any) -> Any:
    """Each of ``prompts`` is asked, by so many threads: how many may be in progress at the end, and the replies."""
    settings = Settings(_env_file=None, openai_base_url=server.base_url, chat_model="any", **more)  # type: ignore[call-arg]  # pydantic-settings adds it
    chat = OpenAIChat(settings, Ledger(), None, backoff=0.01)

    def one(prompt: str) -> str:
        try:
            return chat.send([{"role": "user", "content": prompt}], stage="s").text
        except ModelError as error:
            return str(error)

    with closing(chat), ThreadPoolExecutor(threads) as pool:
        replies = list(pool.map(one, prompts))
        return chat._wire._pace.limit, replies


def prompts(number: int) -> list[str]:
    return [f"Prompt {n}" for n in range(number)]


class TestOverTheWire:
    @pytest.mark.parametrize("more", [{}, {"concurrency": 6}], ids=["nobody sets anything", "set"])
    def test_who_waits_at_a_server_of_one_slot_is_not_given_up(self, more: dict[str, int]) -> None:
        """The last waits for longer than the time-out."""
        with SlotServer(1, 0.1) as server:
            _, replies = ask(server, prompts(8), model_timeout=0.6, **more)
        assert len(set(replies)) == 1
        assert server.abandoned == 0
        assert set(server.came.values()) == {1}
        assert more or server.most <= 4

    def test_the_slots_that_a_server_tells_are_used(self) -> None:
        with SlotServer(5, 0.1, tells=True) as server:
            limit, _ = ask(server, prompts(20))
        assert (limit, server.most) == (5, 5)

    @pytest.mark.parametrize("word", ["lost", "stalls"])
    def test_what_is_given_up_is_closed_before_it_is_sent_again(self, word: str) -> None:
        with SlotServer(2, 0.1) as server:
            _, replies = ask(server, [f"It {word}", "Not"], model_timeout=0.5)
            deadline = time.monotonic() + 10
            while not server.abandoned and time.monotonic() < deadline:
                time.sleep(0.01)
        assert len(set(replies)) == 1
        assert server.came == {f"It {word}": 2, "Not": 1}
        assert server.abandoned == 1

    def test_a_reply_may_take_longer_than_the_time_limit_as_long_as_it_comes(self) -> None:
        with SlotServer(1, 1.5, pieces=15) as server:
            _, replies = ask(server, ["One"], model_timeout=0.7)
        assert replies == ["word " * 15]
        assert server.abandoned == 0
