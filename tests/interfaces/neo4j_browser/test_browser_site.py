"""The site of ``kgplatform browser`` over HTTP: who gets the password, what is served, what a page may do."""

from __future__ import annotations

import html
import json
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from browser_server import Site, browser_site
from conftest import emptied

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ServerError
from kgplatform.interfaces.neo4j_browser.guide import favorites
from kgplatform.interfaces.neo4j_browser.site import BrowserProgram, for_browsers, reachable_from
from kgplatform.interfaces.web_server import listen_as_localhost
from kgplatform.neo4j.browser import announced_browser, browser_url_of
from kgplatform.neo4j.store import Connection
from kgplatform.query import query_names
from kgplatform.settings import Settings

HOSTILE = [
    "'); MATCH (n) DETACH DELETE n //",
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "`) RETURN 1 //",
    'Ann on="x" one = 2',
    "\\u0027 OR 1=1",
]


@pytest.fixture(scope="module")
def site(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A site on an empty graph. Tests that fill the graph come last."""
    with emptied(neo4j_server, tmp_path_factory.mktemp("site")) as graph, browser_site(graph) as site:
        yield site


def get(address: str, **more: Any) -> httpx.Response:
    return httpx.get(address, timeout=60, **more)


def seed_of(page: httpx.Response) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="seed">(.*?)</script>', page.text, re.DOTALL)
    assert found
    return dict(json.loads(found[1]))


def test_the_start_page_hands_the_password_out_once(site: Site, neo4j_server: Connection) -> None:
    start = site.start
    assert neo4j_server.password not in start
    first = get(start)
    assert seed_of(first)["connection"] == {
        "host": neo4j_server.uri,
        "username": neo4j_server.username,
        "password": neo4j_server.password,
    }
    assert first.headers["Cache-Control"] == "no-store"
    second = get(start)
    assert (second.status_code, neo4j_server.password in second.text) == (403, False)
    assert site.start != start
    assert get(site.start).status_code == 200


def test_looking_ahead_does_not_use_the_address_up(site: Site, neo4j_server: Connection) -> None:
    """And the password is on no other page."""
    for answer in (httpx.head(site.start), get(site.start, headers={"Sec-Purpose": "prefetch;prerender"})):
        assert (answer.status_code, neo4j_server.password in answer.text) == (503, False)
    assert get(site.start).status_code == 200
    for path in ("", "start/", "start/x", "start/é", "boot.js", "guide.html", "style.grass", "manifest.json"):
        assert neo4j_server.password not in get(f"{site.address}/{path}").text


def test_strangers_names_are_refused_and_this_machines_lead_to_localhost(site: Site, neo4j_server: Connection) -> None:
    for host in ("evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", ""):
        answer = get(site.start, headers={"Host": host})
        assert (answer.status_code, neo4j_server.password in answer.text) == (403, False)
    port = site.address.rpartition(":")[2]
    for host in ("127.0.0.1", "[::1]"):
        for path in ("/", site.start.removeprefix(site.address)):
            answer = get(f"{site.address}{path}", headers={"Host": f"{host}:{port}"})
            assert answer.headers["Location"] == f"{site.address}{path}"
    assert get(site.start).status_code == 200, "it was not used up"


def test_neo4j_browsers_own_files_and_nothing_else_come_out_of_the_jar(site: Site) -> None:
    page = get(f"{site.address}/")
    scripts = re.findall(r'<script src="([^"]+)"', page.text)
    assert len(scripts) >= 4
    for script in scripts:
        answer = get(f"{site.address}/{script}")
        assert answer.headers["Content-Type"].startswith("text/javascript")
        assert "immutable" in answer.headers["Cache-Control"]
    for path in ("../META-INF/MANIFEST.MF", "..%2fMETA-INF/MANIFEST.MF", "assets", "assets/", "%00", "x"):
        with httpx.Client() as client:
            url = httpx.URL(site.address).copy_with(raw_path=f"/{path}".encode())
            assert client.send(httpx.Request("GET", url)).status_code == 404


def test_a_page_may_reach_the_graph_and_nothing_else(site: Site, neo4j_server: Connection) -> None:
    policy = get(f"{site.address}/").headers["Content-Security-Policy"]
    rules = {rule.split()[0]: rule.split()[1:] for rule in policy.split("; ")}
    place = neo4j_server.uri.removeprefix("bolt://")
    assert rules["connect-src"] == ["'self'", f"http://{place}", f"ws://{place}"]
    assert (rules["default-src"], rules["script-src"]) == (["'none'"], ["'self'"])
    answer = get(f"{site.address}/", headers={"Accept": "application/json"})
    assert answer.json() == {"bolt_direct": neo4j_server.uri}, "Browser learns which server there is"


@pytest.mark.parametrize(
    ("uri", "reached"),
    [
        ("bolt+s://db.example:9", ["https://db.example:9", "wss://db.example:9"]),
        ("neo4j+s://x.databases.neo4j.io", ["https:", "wss:"]),
        ("neo4j://db.example", ["http:", "ws:"]),
        ("bolt://[::1]:7687", ["http:", "ws:"]),
    ],
)
def test_an_encrypted_graph_is_never_reached_in_clear(uri: str, reached: list[str]) -> None:
    assert reachable_from(uri) == reached


def test_certificates_are_the_web_browsers_affair() -> None:
    assert for_browsers("neo4j+ssc://db.example:7687") == "neo4j+s://db.example:7687"
    assert for_browsers("bolt+s://db.example:7687") == "bolt+s://db.example:7687"


def test_the_saved_queries_are_the_favourites() -> None:
    ours = favorites()
    assert len({each["id"] for each in ours}) == len(ours) == len(query_names("saved"))
    assert all(each["content"].startswith("// ") and each["folder"] == "kgplatform" for each in ours)


def test_an_empty_graph_has_a_guide_that_says_what_to_do(site: Site) -> None:
    guide = get(f"{site.address}/guide.html").text
    assert "kgplatform ingest" in guide
    assert "runnable" not in guide


def hostile_graph(kg: KnowledgeGraph, folder: Path) -> None:
    """A document whose names are attempts on HTML, on Cypher and on Browser's own cleaning of guides."""
    (folder / "a.txt").write_text("They met. " * 5)
    entities = [{"name": name, "type": "Person"} for name in HOSTILE]
    triples = [
        {"subject": one, "predicate": "met", "object": other, "quote": "They met"}
        for one, other in zip(HOSTILE, HOSTILE[1:] + HOSTILE[:1], strict=True)
    ]
    recorded = {"document": "a.txt", "entities": entities, "triples": triples}
    (folder / "a.jsonl").write_text(json.dumps(recorded))
    kg.ingest([folder / "a.txt"], recorded=folder / "a.jsonl", mode="flexible")


def test_names_of_a_document_are_text_in_the_guide_and_its_statements_only_read(
    kg: KnowledgeGraph, tmp_path: Path
) -> None:
    hostile_graph(kg, tmp_path)
    before = kg.stats().nodes
    with browser_site(kg) as site:
        guide = get(f"{site.address}/guide.html").text
        seed = get(site.start).text
    assert "<script>alert" not in guide + seed
    assert "<img" not in guide
    # What Browser does to a guide before it shows it must change nothing.
    assert not re.search(r"\s+(on[^\s=]+)[^\s=]*\s*=\s*(\"[^\"]*\"|'[^']*'|[\w\-.:]+\s*)", guide)
    told = html.unescape(guide)
    entities = [row["name"] for row in kg.store.read("explore/highlights/entities", limit=5)]
    assert len(entities) == 5
    assert [name for name in entities if name not in told] == []
    statements = [html.unescape(each) for each in re.findall(r"<pre[^>]*>(.*?)</pre>", guide, re.DOTALL)]
    assert len(statements) > len(query_names("saved")) + 5
    for statement in statements:
        kg.cypher(statement)  # read-only: it would be refused if it were more than that
    assert kg.stats().nodes == before


# ------------------------------------------------------------------------------------------------- the parts around it


def test_a_jar_that_is_none_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.jar").write_text("no jar")
    with pytest.raises(ServerError, match="Neo4j Browser cannot be read from"):
        BrowserProgram(tmp_path / "x.jar")
    with zipfile.ZipFile(tmp_path / "y.jar", "w") as jar:
        jar.writestr("browser/index.html", "hello")
    assert BrowserProgram(tmp_path / "y.jar").read("index.html") == b"hello"


def test_a_port_that_is_taken_is_refused_and_the_next_one_found() -> None:
    sockets, address = listen_as_localhost(0)
    port = int(address.rpartition(":")[2])
    with pytest.raises(InputError, match=f"{port}"):
        listen_as_localhost(port)
    for each in sockets:
        each.close()
    default, _ = listen_as_localhost(None)
    other, elsewhere = listen_as_localhost(None)
    assert int(elsewhere.rpartition(":")[2]) > default[0].getsockname()[1]
    for each in default + other:
        each.close()


def test_the_browser_that_runs_is_found_and_only_for_its_graph(settings: Settings) -> None:
    ours = Connection("bolt://127.0.0.1:7687", "neo4j", "secret", None, "http://127.0.0.1:7474")
    other = Connection("bolt://127.0.0.1:7688", "neo4j", "secret", None, None)
    assert browser_url_of(settings, ours) == "http://127.0.0.1:7474"
    with announced_browser(settings, ours, "http://localhost:8601"):
        assert browser_url_of(settings, ours) == "http://localhost:8601"
        assert browser_url_of(settings, other) is None
        said = settings.home_folder / "browser.json"
        assert "secret" not in said.read_text()
        said.write_text(said.read_text().replace('"began": "', '"began": "another process '))
        assert browser_url_of(settings, ours) == "http://127.0.0.1:7474"
    assert browser_url_of(settings, ours) == "http://127.0.0.1:7474"
    assert not said.exists()
