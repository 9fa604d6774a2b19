"""How much of a model server's answer is read: what never ends is given up, and not held in memory.

The bound of a reply follows from the tokens that were asked for, generously. That of a head is the HTTP library's, 100
kB. What is packed could become a thousand times as long as it is unpacked, so packed answers are neither asked for nor
read.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Hashable
from functools import cache
from typing import Any, cast

from kgplatform.errors import ReplyError

_BESIDE = 2**20
"""Bytes of an answer beside what is counted."""
_OF_TOKEN = 2000
"""Bytes: each token may come as an event of its own."""
_OF_TEXT = 400_000
"""Bytes of a text's vector."""
_USUAL_TOKENS = 16_384
_MOST_OF_REPLY, _MOST_OF_VECTORS = 64 * _BESIDE, 256 * _BESIDE
_MOST_OF_ERROR = 2**16


async def bounded(response: Any) -> None:
    """A hook of the HTTP client: whoever reads ``response`` meets an end.

    Of an error's text the beginning is enough. Raises ``ReplyError`` for an answer that is packed, and whoever reads a
    longer one than there may be gets that too.
    """
    if response.headers.get("content-encoding", "identity") != "identity":
        raise ReplyError("The model server compressed its answer (Content-Encoding) without being asked to.")
    most = _MOST_OF_ERROR if response.is_error else _most_bytes(response.request.content)
    kind = _bounded_type(cast(Hashable, type(response.stream)))
    response.stream = kind(response.stream, most, cuts=response.is_error)


def _most_bytes(request: bytes) -> int:
    """The most bytes of an answer to a ``request``."""
    body = json.loads(request) if request else {}
    if "input" in body:
        return min(_MOST_OF_VECTORS, _BESIDE + _OF_TEXT * len(body["input"]))
    tokens = body.get("max_tokens") or body.get("max_completion_tokens") or _USUAL_TOKENS
    return min(_MOST_OF_REPLY, _BESIDE + _OF_TOKEN * int(tokens))


@cache
def _bounded_type(kind: Any) -> Any:
    """A class of streams that is of the HTTP library's ``kind``, whichever library that is."""

    class Bounded(kind):  # type: ignore[misc]  # the library is imported late
        def __init__(self, stream: Any, most: int, *, cuts: bool) -> None:
            self._inner, self._most, self._cuts = stream, most, cuts

        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = self._most
            async for part in self._inner:
                yield part[:left] if self._cuts else part
                left -= len(part)
                if left < 0 and not self._cuts:
                    raise ReplyError(
                        f"The model server sent more than {self._most:,} bytes for one answer; it was not read to its "
                        "end."
                    )
                if left <= 0 and self._cuts:
                    return

        async def aclose(self) -> None:
            await self._inner.aclose()

    return Bounded
