"""Who is let in, and what a browser is told that it may not do."""

import socket
from collections.abc import Iterator

import httpx
import pytest
from conftest import emptied
from web_answers import QUESTION, error
from web_server import client_of, served

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.http.parts import Limits
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import Settings

TOKEN = "0123456789abcdef-secret"
ASKED = {"question": QUESTION}
SITES = ("cross-site", "same-site")


@pytest.fixture(scope="module")
def kg(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """The empty graph: no test here changes it."""
    with emptied(neo4j_server, tmp_path_factory.mktemp("guard")) as graph:
        yield graph


@pytest.fixture(scope="module")
def client(kg: KnowledgeGraph) -> Iterator[httpx.Client]:
    with client_of(kg) as client:
        yield client


def test_a_token(kg: KnowledgeGraph) -> None:
    with client_of(kg, token=TOKEN) as client:
        for given in (None, "", "Bearer", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", f"Basic {TOKEN}", "Bearer ü"):
            headers = {} if given is None else {"authorization": given.encode()}
            for path in ("/api/about", "/api/health", "/api/nothing", "/api/openapi.json"):
                refused = client.get(path, headers=headers)
                error(refused, 401, "TokenError")
                assert refused.headers["www-authenticate"] == "Bearer"
                assert TOKEN not in refused.text
        assert client.get("/").status_code == 200, "the page asks for the token"
        told = client.get("/api/about", headers={"Authorization": f"Bearer {TOKEN}"}).json()
        assert told["token_needed"] is True
        assert client.get(f"/api/about?token={TOKEN}").status_code == 401
    with client_of(kg, token=TOKEN, hosts=None) as client:
        headers = {"host": "graph.example", "Authorization": f"Bearer {TOKEN}"}
        assert client.get("/api/about", headers=headers).status_code == 200, "any host name where a token guards"


ODD_HOSTS = (
    *("[::1]evil", "[::1].evil.example", "localhost:8600@evil.example", "evil.example#localhost", "localhost:x"),
    "[::1",
)


def test_names_of_this_machine_alone_are_taken(client: httpx.Client) -> None:
    """Another is one of the attacker's that was made to mean 127.0.0.1 (DNS rebinding)."""
    for host in ("evil.example", "evil.example:8600", "127.0.0.1.evil.example", "", "[::2]", "0.0.0.0", *ODD_HOSTS):
        for path in ("/", "/api/about", "/static/app.js"):
            error(client.get(path, headers={"host": host}), 403, "HostError")
    for host in ("localhost", "LOCALHOST:1", "127.0.0.1:8600", "[::1]", "[::1]:8600"):
        assert client.get("/api/about", headers={"host": host}).status_code == 200


def test_pages_of_others_change_nothing_and_do_not_read_either(client: httpx.Client) -> None:
    """Multipart and text/plain are sent by any page without asking the server first."""
    own = str(client.base_url).rstrip("/")
    origins = (
        *("https://evil.example", "null", "http://localhost:1", "http://[", f"{own}#@evil", f"{own}/"),
        f"{own}@evil.example",
    )
    for headers in (*({"origin": each} for each in origins), *({"sec-fetch-site": each} for each in SITES)):
        error(client.post("/api/documents", files={"files": ("a.txt", b"x")}, headers=headers), 403, "OriginError")
        plain = headers | {"content-type": "text/plain"}
        error(client.post("/api/tree", content=b"{}", headers=plain), 403, "OriginError")
        error(client.delete("/api/documents/x", headers=headers), 403, "OriginError")
    assert client.get("/api/jobs").json() == {"jobs": []}
    from_elsewhere = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
    error(client.get("/api/graph/map", headers=from_elsewhere), 403, "OriginError")
    visit = from_elsewhere | {"sec-fetch-mode": "navigate"}
    assert client.get("/", headers=visit).status_code == client.get("/api/stats", headers=visit).status_code == 200
    error(client.get("/api/stats", params={"where": "title < b"}, headers=visit), 403, "OriginError")
    foreign = client.get("/api/about", headers={"origin": "https://x.example"})
    assert "access-control-allow-origin" not in foreign.headers
    own = {"origin": str(client.base_url), "sec-fetch-site": "same-origin"}
    assert "is empty" in error(client.post("/api/search", json=ASKED, headers=own), 400, "InputError")


def test_an_origin_that_was_allowed(kg: KnowledgeGraph) -> None:
    site = "https://notes.example"
    with client_of(kg, origins=[site]) as client:
        asked = {
            "origin": site,
            "access-control-request-method": "POST",
            "access-control-request-headers": "authorization",
        }
        allowed = client.options("/api/search", headers=asked)
        assert allowed.headers["access-control-allow-origin"] == site
        assert "access-control-allow-credentials" not in allowed.headers
        from_there = {"origin": site, "sec-fetch-site": "cross-site"}
        answer = client.post("/api/search", json=ASKED, headers=from_there)
        assert answer.status_code == 400
        assert answer.headers["access-control-allow-origin"] == site
        error(client.post("/api/search", json=ASKED, headers={"origin": "https://evil.example"}), 403, "OriginError")


def test_what_every_response_says(client: httpx.Client) -> None:
    for path in ("/", "/api/about", "/api/nothing", "/static/nothing"):
        headers = client.get(path).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"
        assert headers["cross-origin-resource-policy"] == "same-origin"
        assert "frame-ancestors 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert "server" not in headers
    assert client.get("/api/about").headers["cache-control"] == "no-store"
    page = client.get("/")
    assert page.headers["cache-control"] == "no-cache"
    again = client.get("/", headers={"if-none-match": page.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")


def test_a_body_that_is_too_large(kg: KnowledgeGraph) -> None:
    with client_of(kg, limits=Limits(body=1000, upload=5000, files=3)) as client:
        told = error(client.post("/api/search", json={"question": "x" * 1000}), 413, "TooLargeError")
        assert "1,000 bytes" in told
        error(client.post("/api/documents", files={"files": ("a.txt", b"x" * 6000)}), 413, "TooLargeError")
        assert not (kg.settings.home_folder / "uploads").exists()
        files = [("files", (f"{number}.txt", b"x")) for number in range(4)]
        assert "files is 3" in error(client.post("/api/documents", files=files), 400, "InputError")
        assert client.get("/api/jobs").json() == {"jobs": []}


def sent(address: str, *parts: bytes) -> bytes:
    """The answer to raw bytes, to its end."""
    host, port = address.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=15) as connection:
        for part in parts:
            connection.sendall(part)
        return b"".join(iter(lambda: connection.recv(65_536), b""))


POST = b"POST /api/search HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
GET = b"GET /api/health HTTP/1.1\r\nhost: localhost\r\n"
CHUNKED = POST + b"transfer-encoding: chunked\r\n\r\n"
UPLOAD = CHUNKED.replace(b"search", b"documents").replace(b"application/json", b"multipart/form-data; boundary=x")
FILE = b'--x\r\ncontent-disposition: form-data; name="files"; filename="a.txt"\r\n\r\n' + b"y" * 20_000


@pytest.mark.parametrize(
    ("status", "parts"),
    [
        (413, (POST + b"content-length: 50000000\r\n\r\n", b"x" * 50_000_000)),
        (413, (CHUNKED, *([b"186a0\r\n" + b"x" * 100_000 + b"\r\n"] * 300))),
        (413, (UPLOAD, b"4e67\r\n" + FILE + b"\r\n", *([b"4e20\r\n" + b"y" * 20_000 + b"\r\n"] * 2))),
        (431, (GET + b"connection: close\r\nx: " + b"y" * 40_000 + b"\r\n\r\n",)),
        (400, (GET + b"x: " + b"y" * 5_000_000,)),
        (400, (CHUNKED + b"FFFFFFFFFFFFFFFFF\r\nhello",)),
        (400, (CHUNKED + b"5\rhello\r0\r\r",)),
        (400, (b"GET / HTTP/1.1\rhost: localhost\r\r",)),
        (400, (b"GET / HTTP/1.1\r\nhost: localhost\r", b"x: 1\r\n")),
    ],
    ids=str,
)
def test_what_cannot_be_a_request_has_an_answer_at_once(kg: KnowledgeGraph, status: int, parts: tuple[bytes]) -> None:
    """A body whose length is not told is counted as it comes, and refused before it has ended."""
    with served(kg, limits=Limits(upload=50_000)) as address:
        assert sent(address, *parts).startswith(b"HTTP/1.1 %d " % status)


def test_what_is_sent_is_json_whose_texts_can_be_written(client: httpx.Client) -> None:
    for headers in ({}, {"content-type": "text/plain"}, {"content-type": "application/x-www-form-urlencoded"}):
        said = error(client.post("/api/search", content=b'{"question": "x"}', headers=headers), 422, "InputError")
        assert "Content-Type: application/json" in said
    for path, fields in (
        ("/api/search", '"question": "\\ud800"'),
        ("/api/search", '"question": "x", "where": {"\\udfff": 1}'),
        ("/api/ask", '"question": "x", "options": {"a": ["\\ud83d x"]}'),
        ("/api/cypher", '"statement": "RETURN 1", "parameters": {"\\ud800": 1}'),
        ("/api/tree", '"\\ud800": 1'),
    ):
        json = {"content-type": "application/json"}
        said = error(client.post(path, content=f"{{{fields}}}".encode(), headers=json), 400, "InputError")
        assert "half of a surrogate pair" in said
    error(client.get("/api/graph/map", params={"where": '{"\\ud800": 1}'}), 400, "InputError")
    assert client.get("/api/graph/map", params={"where": "null"}).status_code == 200
    form = b'--x\r\ncontent-disposition: form-data; name="%s"%s\r\n\r\nx\r\n--x--\r\n'
    for name, file in ((b"\xed\xa0\x80", b""), (b"files\xed\xa0\x80", b'; filename="\xed\xa0\x80.txt"')):
        multipart = {"content-type": "multipart/form-data; boundary=x"}
        error(client.post("/api/documents", content=form % (name, file), headers=multipart), 400, "InputError")


def test_null_is_as_if_it_were_not_there(client: httpx.Client) -> None:
    for path, names in (("/api/search", ("where", "route", "top_k")), ("/api/ask", ("where", "options", "reader"))):
        asked = ASKED | dict.fromkeys(names)
        assert "is empty" in error(client.post(path, json=asked), 400, "InputError")
    assert client.post("/api/cypher", json={"statement": "RETURN 1", "parameters": None}).json()["rows"] == [[1]]
    assert "question" in error(client.post("/api/search", json={"question": None}), 422, "InputError")


def test_a_tree_by_a_method_that_does_not_exist_is_no_job(client: httpx.Client) -> None:
    assert "multiplex" in error(client.post("/api/tree", json={"method": "multiplexx"}), 400, "InputError")
    error(client.post("/api/tree", json={"method": ""}), 400, "InputError")
    assert client.get("/api/jobs").json() == {"jobs": []}


def test_a_server_that_only_reads_an_empty_graph(kg: KnowledgeGraph) -> None:
    with client_of(kg, read_only=True) as client:
        told = client.get("/api/about").json()
        assert (told["read_only"], told["documents"]) == (True, 0)
        for path in ("/api/ask", "/api/search"):
            assert "is empty" in error(client.post(path, json=ASKED), 400, "InputError")
        assert client.get("/api/schema").json() == {"schema": None, "expansions": []}
        assert (client.get("/api/tree").json(), client.get("/api/graph/map").json()["ids"]) == ({"nodes": []}, [])
        error(client.post("/api/documents", files={"files": ("a.txt", b"x")}), 403, "ReadOnlyError")
        error(client.post("/api/tree", json={}), 403, "ReadOnlyError")
        error(client.delete("/api/documents/x"), 403, "ReadOnlyError")
        error(client.delete("/api/jobs/x"), 403, "ReadOnlyError")
        error(client.post("/api/ask", json=ASKED | {"keep": True}), 403, "ReadOnlyError")


def test_a_database_that_is_gone(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kgplatform.neo4j.store._RETRY_SECONDS", 0)
    nobody = Store(Connection("bolt://127.0.0.1:1", "neo4j", "password"))
    with KnowledgeGraph(nobody, settings, embedder=HashEmbedder(64)) as graph, client_of(graph) as client:
        error(client.get("/api/stats"), 503, "ServerError")
        assert client.get("/").status_code == 200


def test_a_request_of_endless_headers_or_address_is_refused(client: httpx.Client) -> None:
    error(client.get("/api/about", headers={f"x-{number}": "1" for number in range(101)}), 431, "TooLargeError")
    error(client.get("/api/about", params={"x": "y" * 16_000}), 414, "TooLargeError")
