"""How near to a server's own speed requests come where nobody sets how many are sent at once."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing

import pytest
from slot_server import SlotServer
from tables import Section, Table

from kgplatform.models.chat import Ledger
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.settings import load_settings

THREADS = 64
"""As many passages as an ingest reads at once."""
ONE = (1, 20.0, 9)
"""Slots, seconds a reply, replies."""
OTHERS = ((4, 2.0, 80), (64, 4.0, 640))


@pytest.mark.timeout(1800)
def test_pace(section: Callable[[str, str], Section]) -> None:
    found = section("pace", "Requests at once: a server's own speed without a setting")
    rows: list[list[str]] = []
    slots, seconds, number = ONE
    speed = _speed(rows, slots, seconds, number)
    found.add(
        "one slot, 20 s a reply: whole run by the sum of its replies", 1 / (speed * seconds), "times", at_most=1.1
    )
    for slots, seconds, number in OTHERS:
        speed = _speed(rows, slots, seconds, number)
        for fixed in (8, 64):
            replies = number if fixed >= slots else number // 4
            part = speed / _speed(rows, slots, seconds, replies, fixed)
            found.add(f"{slots} slots: speed by that of a fixed {fixed}", part, "times", at_least=0.9)
    columns = ("slots", "s a reply", "at once", "replies", "seconds", "replies a second", "most at the server", "lost")
    found.tables.append(Table("Each run", columns, rows))


def _speed(rows: list[list[str]], slots: int, seconds: float, number: int, fixed: int | None = None) -> float:
    """Replies a second; none may be given up, or sent a second time."""
    with SlotServer(slots, seconds) as server:
        chat = OpenAIChat(load_settings(openai_base_url=server.base_url, concurrency=fixed), Ledger(), None)
        with closing(chat), ThreadPoolExecutor(THREADS) as pool:
            asked = [[{"role": "user", "content": f"Prompt {n}"}] for n in range(number)]
            began = time.perf_counter()
            list(pool.map(lambda messages: chat.send(messages, stage="pace"), asked))
            took = time.perf_counter() - began
    lost = server.abandoned + sum(times - 1 for times in server.came.values())
    speed = number / took
    shown = (slots, f"{seconds:g}", fixed or "found out", number, f"{took:.1f}", f"{speed:.2f}", server.most, lost)
    rows.append([str(cell) for cell in shown])
    print(rows[-1], flush=True)
    assert not lost
    return speed
