"""Pages and files of the web: fetched within bounds, and from public addresses alone.

    page = fetch("https://www.gutenberg.org/files/2701/2701-h/2701-h.htm")
    page.name, page.content                          # "2701-h.htm", and its bytes

Where a name leads is checked when it is connected to, at each redirect too. So no address, and no name that changes its
address in between, leads into this machine or its network.
"""

from __future__ import annotations

import codecs
import mimetypes
import re
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

import httpcore
import webencodings  # type: ignore[import-untyped]  # publishes no types

from kgplatform.errors import InputError

MOST_BYTES = 50_000_000
_SECONDS = 30.0  # without a byte; of the whole ten times as many
_REDIRECTS = 5
_SENT = "/%:=&?~+!$,;'@()*[]"  # characters that stay as they are
_CHARSET = re.compile(r"charset=[\"']?([\w.:-]+)", re.IGNORECASE)

Address = IPv4Address | IPv6Address


@dataclass(frozen=True, slots=True)
class Page:
    """What stands at an address: ``name`` is that of a file with the suffix of its type."""

    name: str
    content: bytes


def is_public(address: Address) -> bool:
    """Whether ``address`` is one of the internet's, and not of this machine, its network or a group."""
    address = getattr(address, "ipv4_mapped", None) or address
    return address.is_global and not address.is_multicast


def fetch(address: str, allowed: Callable[[Address], bool] = is_public) -> Page:
    """What stands at ``address``. Raises ``InputError``, which names it, if it cannot be had or is too large."""
    end, url = time.monotonic() + 10 * _SECONDS, address
    try:
        with httpcore.ConnectionPool(network_backend=_Checked(allowed)) as pool:
            for _ in range(_REDIRECTS + 1):
                found = _get(pool, url, end)
                if isinstance(found, Page):
                    return found
                url = urljoin(url, found)
                if urlsplit(url).scheme not in ("http", "https"):
                    raise _RefusedError(f"it leads to {url:.200}")
    except _RefusedError as error:
        raise InputError(f"{address} cannot be read: {error}.") from error
    except (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError, ValueError) as error:
        raise InputError(f"{address} cannot be read: {error or type(error).__name__}.") from error
    raise InputError(f"{address} cannot be read: it leads from page to page.")


class _RefusedError(Exception):
    """Why a page is not read."""


class _Checked(httpcore.SyncBackend):
    def __init__(self, allowed: Callable[[Address], bool]) -> None:
        super().__init__()
        self._allowed = allowed

    def connect_tcp(self, host: str, port: int, *args: Any, **kwargs: Any) -> httpcore.NetworkStream:
        places = [info[4][0] for info in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
        if not all(self._allowed(ip_address(place)) for place in places):
            raise _RefusedError(f"{host} is not a public address")
        return super().connect_tcp(str(places[0]), port, *args, **kwargs)


def _get(pool: httpcore.ConnectionPool, url: str, end: float) -> Page | str:
    """The page at ``url``, or where it leads."""
    bounds = {"timeout": dict.fromkeys(("connect", "read", "write", "pool"), _SECONDS)}
    asked = [("User-Agent", "kgplatform"), ("Accept", "text/html, */*;q=0.8")]
    # In ASCII, as browsers send it, without the place in the page.
    parts = urlsplit(url)
    host = parts.hostname or ""
    host = f"[{host}]" if ":" in host else host.encode("idna").decode()
    path, query = quote(parts.path or "/", _SENT), quote(parts.query, _SENT)
    sent = urlunsplit((parts.scheme, f"{host}:{parts.port}" if parts.port else host, path, query, ""))
    with pool.stream("GET", sent, headers=asked, extensions=bounds) as reply:
        headers = {name.lower(): value.decode("latin-1") for name, value in reply.headers}
        if 300 <= reply.status < 400 and (leads := headers.get(b"location")):
            return leads
        if reply.status != 200:
            raise _RefusedError(f"the server answered with status {reply.status}")
        content = bytearray()
        for part in reply.iter_stream():
            content += part
            if len(content) > MOST_BYTES:
                raise _RefusedError(f"it has more than {MOST_BYTES // 1_000_000} MB")
            if time.monotonic() > end:
                raise _RefusedError("it takes too long")
    kind = headers.get(b"content-type", "")
    name = unquote(PurePosixPath(parts.path).name).replace("/", "_").replace("\0", "") or parts.hostname or "page"
    type_ = kind.partition(";")[0].strip()
    is_told = type_ in ("application/octet-stream", mimetypes.guess_type(name)[0])
    suffix = None if is_told else mimetypes.guess_extension(type_)
    return Page(f"{name[:200]}{suffix or ''}", _in_utf8(bytes(content), kind))


def _in_utf8(content: bytes, kind: str) -> bytes:
    """A text with the encoding that the server names in UTF-8 with a mark, which says more than a page about itself."""
    declared = _CHARSET.search(kind) if kind.startswith("text/") else None
    encoding = webencodings.lookup(declared[1]) if declared else None
    if encoding is None:
        return content
    text: str = webencodings.decode(content, encoding, "replace")[0]
    return codecs.BOM_UTF8 + text.encode()
