"""A model's server with slots, on loopback: it answers so many requests at once, each in the same time; others wait.

    with SlotServer(slots=1, seconds=0.2) as server:
        …
    server.most, server.abandoned         # requests at once, waiting ones among them; closed by the client

Like llama.cpp's, it streams, gives the slot to who came first, and stops work on a connection that is closed.
"""

from __future__ import annotations

import asyncio
import json
import threading
from collections import Counter
from collections.abc import Awaitable
from contextlib import suppress
from typing import Any


class SlotServer:
    """``seconds``: of a reply, in ``pieces`` tokens; ``tells``: of its slots. A prompt with the word "lost" gets no
    answer the first time, one with "stalls" one token of it."""

    def __init__(self, slots: int, seconds: float, *, pieces: int = 10, tells: bool = False) -> None:
        self.slots, self.seconds, self.pieces, self.tells = slots, seconds, pieces, tells
        self.came: Counter[str] = Counter()
        self.abandoned = self.most = 0
        self._here: Counter[str] = Counter()

    @property
    def base_url(self) -> str:
        """The address for ``OPENAI_BASE_URL``."""
        return f"http://127.0.0.1:{self._port}/v1"

    def __enter__(self) -> SlotServer:
        started = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(started)), daemon=True)
        self._thread.start()
        started.wait()
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    async def _serve(self, started: threading.Event) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        self._free = asyncio.Semaphore(self.slots)
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0, backlog=256)
        self._port = server.sockets[0].getsockname()[1]
        started.set()
        await self._over.wait()
        server.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
                lengths = [line for line in head.splitlines() if line.lower().startswith("content-length:")]
                body = json.loads(await reader.readexactly(int(lengths[0].split(":")[1]))) if lengths else {}
                if head.startswith("POST"):
                    await self._counted(body, reader, writer)
                else:
                    is_props = self.tells and head.split(" ")[1].endswith("/props")
                    _send(writer, 200 if is_props else 404, {"total_slots": self.slots} if is_props else {})
                await writer.drain()
        writer.close()

    async def _counted(self, body: dict[str, Any], reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        prompt = body["messages"][-1]["content"]
        self.came[prompt] += 1

        self._here[prompt] += 1
        self.most = max(self.most, self._here.total())
        try:
            is_whole = await _unless_closed(self._answer(prompt, writer), reader)
        finally:
            self._here[prompt] -= 1

        self.abandoned += not is_whole
        if not is_whole:
            raise ConnectionResetError

    async def _answer(self, prompt: str, writer: asyncio.StreamWriter) -> None:
        is_first = self.came[prompt] == 1
        if "lost" in prompt and is_first:
            await self._over.wait()
        async with self._free:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
            for _ in range(self.pieces):
                await asyncio.sleep(self.seconds / self.pieces)
                _event(writer, json.dumps({"choices": [_choice("word ", None)]}))
                if "stalls" in prompt and is_first:
                    await self._over.wait()
            usage = {"prompt_tokens": self.pieces, "completion_tokens": self.pieces}
            _event(writer, json.dumps({"choices": [_choice("", "stop")], "usage": usage}))
            _event(writer, "[DONE]")
            writer.write(b"0\r\n\r\n")


async def _unless_closed(work: Awaitable[None], reader: asyncio.StreamReader) -> bool:
    """Whether ``work`` was done before the client closed the connection."""
    working = asyncio.ensure_future(work)
    closed = asyncio.ensure_future(reader.read(1))
    try:
        await asyncio.wait([working, closed], return_when=asyncio.FIRST_COMPLETED)
        return working.done()
    finally:
        working.cancel()
        closed.cancel()
        await asyncio.gather(working, closed, return_exceptions=True)


def _choice(text: str, reason: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": {"role": "assistant", "content": text}, "finish_reason": reason}


def _event(writer: asyncio.StreamWriter, data: str) -> None:
    line = f"data: {data}\n\n".encode()
    writer.write(b"%x\r\n%s\r\n" % (len(line), line))


def _send(writer: asyncio.StreamWriter, status: int, content: dict[str, Any]) -> None:
    body = json.dumps(content).encode()
    head = f"HTTP/1.1 {status} Said\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    writer.write(head.encode() + body)
