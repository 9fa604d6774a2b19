"""Pages of the web are ingested under their address, within bounds, and none leads into this machine or its network."""

from collections.abc import Callable
from functools import partial
from ipaddress import ip_address

import pytest
from pytest_httpserver import HTTPServer
from werkzeug import Response

from kgplatform import InputError, KnowledgeGraph
from kgplatform.sources import web

PAGE = "<html><head><title>Кит</title><meta charset='utf-8'></head><body><p>{}</p></body></html>"
fetch_here = partial(web.fetch, allowed=lambda address: str(address) == "127.0.0.1")


def here(server: HTTPServer, path: str) -> str:
    return f"http://127.0.0.1:{server.port}{path}"


@pytest.mark.parametrize(
    "host",
    ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "2130706433", "0x7f.1", "0.0.0.0", "10.1.2.3"]
    + ["172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1", "[fe80::1]", "[fc00::1]"],
)
def test_nothing_but_the_internet_is_read(httpserver: HTTPServer, host: str) -> None:
    with pytest.raises(InputError, match="is not a public address"):
        web.fetch(f"http://{host}:{httpserver.port}/secret")
    assert httpserver.log == []


def test_public_addresses_are() -> None:
    assert all(web.is_public(ip_address(each)) for each in ("93.184.215.14", "2606:2800:21f:cb07:6820:80da:af6b:8b2c"))


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (Response(status=302, headers={"Location": "http://127.0.0.2/"}), "127.0.0.2 is not a public address"),
        (Response(status=302, headers={"Location": "file:///etc/passwd"}), "it leads to file:///etc/passwd"),
        (Response(status=301, headers={"Location": "/page"}), "it leads from page to page"),
        (Response(status=404), "status 404"),
        (Response("x" * 2_001), "more than 0 MB"),
    ],
)
def test_what_cannot_be_had_is_one_sentence(
    httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch, answer: Response, said: str
) -> None:
    monkeypatch.setattr(web, "MOST_BYTES", 2_000)
    httpserver.expect_request("/page").respond_with_response(answer)
    with pytest.raises(InputError) as error:
        fetch_here(here(httpserver, "/page"))
    assert said in str(error.value)
    assert str(error.value).startswith(here(httpserver, "/page"))


def test_a_server_that_is_not_there_is_one_sentence() -> None:
    with pytest.raises(InputError, match=r"^http://127\.0\.0\.1:1/ cannot be read: "):
        fetch_here("http://127.0.0.1:1/")


@pytest.mark.parametrize(
    ("path", "kind", "name"),
    [
        ("/books/moby", "text/html; charset=windows-1251", "moby.html"),
        ("/a%20b.htm?page=ж#top", 'text/html; charset="UTF-8"', "a b.htm"),
        ("/", "text/html", "127.0.0.1.html"),
        ("/report", "application/pdf", "report.pdf"),
        ("/data.json", "application/json", "data.json"),
        ("/notes.md", "application/octet-stream", "notes.md"),
    ],
)
def test_the_type_and_the_encoding_are_what_the_server_says(
    httpserver: HTTPServer, path: str, kind: str, name: str
) -> None:
    encoding = "cp1251" if "1251" in kind else "utf-8"
    httpserver.expect_request("/moved").respond_with_response(Response(status=302, headers={"Location": path}))
    reply = Response(PAGE.format("Капитан").encode(encoding), headers={"Content-Type": kind})
    httpserver.expect_request(path.partition("?")[0].replace("%20", " ")).respond_with_response(reply)
    page = fetch_here(here(httpserver, "/moved"))
    assert page.name == name
    assert "Капитан" in page.content.decode("utf-8-sig")


def test_a_page_is_a_document_of_its_address(
    kg: KnowledgeGraph, httpserver: HTTPServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "fetch", fetch_here)
    said = ["Captain Nemo commands the Nautilus."]
    answer: Callable[..., Response] = lambda request: Response(PAGE.format(said[-1]), content_type="text/html")  # noqa: E731
    httpserver.expect_request("/nemo").respond_with_handler(answer)
    address = here(httpserver, "/nemo")
    report = kg.ingest([address])
    assert (report.added, report.skipped) == (1, [])
    (document,) = kg.documents()
    assert (document.title, document.source) == ("Кит", address)
    assert kg.ingest(address).unchanged == 1
    said.append("Captain Nemo left the Nautilus.")
    assert kg.ingest(address).changed == 1
    assert kg.search("Nemo").passages[0].text == said[-1]
    assert [each.source for each in kg.documents()] == [address]
