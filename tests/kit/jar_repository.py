"""A Maven repository on loopback that serves the server's real jars, whole or spoilt, and folders of such jars."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from conftest import JARS

from kgplatform.concurrency.maven import Jar
from kgplatform.neo4j.config import locked_jars


@dataclass
class Repository:
    """What was asked for, and how answers are spoilt: not, ``flip``, ``cut``, ``missing`` or, at first, ``busy``."""

    url: str = ""
    fault: str = ""
    asked: list[str] = field(default_factory=list)


class _Handler(BaseHTTPRequestHandler):
    def __init__(self, *args: object, repository: Repository) -> None:
        self.repository = repository
        super().__init__(*args)  # type: ignore[arg-type]  # what socketserver passes through

    def do_GET(self) -> None:
        path = self.path.lstrip("/")
        if not path.endswith(".jar") or self.repository.fault == "missing":
            self.send_error(404)
            return
        is_first = path not in self.repository.asked
        self.repository.asked.append(path)
        if self.repository.fault == "busy" and is_first:
            self.send_response(429)
            self.send_header("Retry-After", "0")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        body = (JARS / path).read_bytes()
        if self.repository.fault == "flip":
            body = body[:100] + bytes([body[100] ^ 1]) + body[101:]
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[: len(body) // 2] if self.repository.fault == "cut" else body)

    def log_message(self, *args: object) -> None:
        pass


@contextmanager
def serve(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Repository]:
    """jgo's configuration, written into ``folder``, names this repository while it is served."""
    found = Repository()
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Handler, repository=found)) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        use_repository(folder, monkeypatch, found.url)
        thread = Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield found
        server.shutdown()
        thread.join()


def use_repository(folder: Path, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    (folder / "jgo.conf").write_text(f"[repositories]\ncentral = {url}\n")
    monkeypatch.setenv("JGO_CONFIG_FILE", str(folder / "jgo.conf"))


def linked_jars(target: Path) -> Path:
    """A complete folder: links have the sizes of the jars."""
    for jar in locked_jars():
        (target / jar.path).parent.mkdir(parents=True, exist_ok=True)
        os.link(JARS / jar.path, target / jar.path)
    return target


def spoil(path: Path, content: bytes) -> None:
    path.unlink()
    path.write_bytes(content)


def flipped(path: Path) -> bytes:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    return bytes(content)


def one_jar(artifact: str = "jctools-core") -> Jar:
    return next(jar for jar in locked_jars() if jar.artifact == artifact)
