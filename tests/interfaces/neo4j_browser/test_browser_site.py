"""``kgplatform browser``: who gets the password, what is served, what a page may do, its links, colours and process."""

import html
import json
import os
import re
import signal
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import httpx
import pytest
from browser_server import Site, browser_site
from conftest import emptied, variables
from hypothesis import given
from hypothesis import strategies as st
from web_server import serving

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError, ServerError
from kgplatform.extract.schema import label_for, load_schema
from kgplatform.interfaces.neo4j_browser.site import (
    BrowserProgram,
    browser_link,
    for_browsers,
    reachable_from,
    with_values,
)
from kgplatform.interfaces.neo4j_browser.style import (
    KINDS,
    PALETTE,
    TYPES,
    color_of,
    contrast,
    sheet_for,
    text_color_on,
)
from kgplatform.interfaces.web_server import listen_as_localhost
from kgplatform.neo4j.browser import announced_browser, browser_url_of
from kgplatform.neo4j.store import Connection, Store
from kgplatform.query import query_names
from kgplatform.settings import Settings

HOSTILE = [
    *("'); MATCH (n) DETACH DELETE n //", "<script>alert(1)</script>", "<img src=x onerror=alert(1)>"),
    *("`) RETURN 1 //", 'Ann on="x" one = 2', "\\u0027 OR 1=1"),
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


def test_an_encrypted_graph_is_never_reached_in_clear() -> None:
    """Certificates are the web browser's affair."""
    for uri, reached in (
        ("bolt+s://db.example:9", ["https://db.example:9", "wss://db.example:9"]),
        ("neo4j+s://x.databases.neo4j.io", ["https:", "wss:"]),
        ("neo4j://db.example", ["http:", "ws:"]),
        ("bolt://[::1]:7687", ["http:", "ws:"]),
    ):
        assert reachable_from(uri) == reached
    assert for_browsers("neo4j+ssc://db.example:7687") == "neo4j+s://db.example:7687"
    assert for_browsers("bolt+s://db.example:7687") == "bolt+s://db.example:7687"


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


def test_a_jar_that_is_none_is_said_in_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "x.jar").write_text("no jar")
    with pytest.raises(ServerError, match="Neo4j Browser cannot be read from"):
        BrowserProgram(tmp_path / "x.jar")


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


AWKWARD = [
    "it's",
    '"',
    "`",
    "$id",
    "\\",
    "\\u0027",
    "');MATCH (n) DETACH DELETE n//",
    "*/",
    "人物 & #1",
    "a\nb",
    "\u2028",
]


def as_browser_reads(link: str) -> str:
    """What Browser 5.24 takes for the argument: it decodes the whole address first, and then looks for the end."""
    found = re.search(r"[?&]arg=([^&#]*)", unquote(link.replace("+", " ")))
    assert found
    return found[1]


@given(st.text(st.characters(codec="utf-8")))
def test_browser_reads_the_whole_statement_from_a_link(statement: str) -> None:
    read = as_browser_reads(browser_link("http://localhost:7474/", statement))
    assert read.replace("\\u0026", "&").replace("\\u0023", "#") == (
        statement.replace("\\u0026", "&").replace("\\u0023", "#")
    )


def test_the_statement_is_no_part_of_what_a_server_gets() -> None:
    link = browser_link("http://localhost:7474/browser/", "MATCH (n) RETURN n")
    assert link.partition("#")[0] == "http://localhost:7474/browser/"


def test_parameters_are_written_out_where_they_are_parameters() -> None:
    statement = "// $a\nMATCH (n {name: $a}) /* $a */ WHERE n.`$a` = '$a' AND n.x = \"it's $a\" RETURN $ab, $a"
    assert with_values(statement, {"a": 1, "ab": [2]}) == (
        "// $a\nMATCH (n {name: 1}) /* $a */ WHERE n.`$a` = '$a' AND n.x = \"it's $a\" RETURN [2], 1"
    )


def test_a_value_stays_a_value(store: Store) -> None:
    for value in AWKWARD:
        written = with_values(
            "CREATE (:Probe) RETURN $value AS value, $list AS list", {"value": value, "list": [value]}
        )
        table = store.run_statement(written, {}, write=True, timeout=30, limit=5)
        assert table.rows == [[value, [value]]]
        assert table.counters == {"nodes_created": 1, "labels_added": 1}


ODD = ["人物", "Risk Factor", "risk factor", "", "toString", "constructor", "__proto__", "É", "🙂", "x" * 500]


def test_a_colour_stands_out_and_its_text_can_be_read() -> None:
    for color in (*PALETTE, *KINDS.values()):
        assert re.fullmatch("#[0-9a-f]{6}", color)
        assert min(contrast(color, "#ffffff"), contrast(color, "#0f141c")) >= 3, color
        assert contrast(color, text_color_on(color)) >= 4.3, color


def test_no_two_types_of_a_shipped_schema_and_no_two_kinds_share_a_colour() -> None:
    for name in ("general", "company", "biomedical", "literature"):
        types = [each.name for each in load_schema(name).entities]
        assert set(types) <= set(TYPES)
        assert len({color_of(each) for each in types}) == len(types), name
    assert len(set(KINDS.values())) == len(KINDS)
    assert {color_of(name) for name in ODD} <= set(PALETTE)


def properties(sheet: dict[str, dict[str, str]], *labels: str) -> dict[str, str]:
    """What Browser 5.24 gives a node: the properties of all rules that fit, the last one deciding."""
    shown: dict[str, str] = {}
    for selector, rule in sheet.items():
        kind, *wanted = selector.split(".")
        if kind == "node" and set(wanted) <= set(labels):
            shown |= rule
    return shown


def test_the_type_decides_over_entity_and_key_element() -> None:
    sheet = sheet_for({"Person", "Risk Factor", "人物"})
    for name in ("Person", "Risk Factor", "人物"):
        shown = properties(sheet, "KeyElement", "Entity", label_for(name))
        assert (shown["color"], shown["diameter"], shown["caption"]) == (color_of(name), "65px", "{name}")
    assert properties(sheet, "Entity", "KeyElement")["color"] == KINDS["Entity"]
    assert properties(sheet, "KeyElement")["color"] == KINDS["KeyElement"]
    assert properties(sheet, "Stranger")["caption"] == "{name}"


@pytest.fixture
def environment(neo4j_server: Connection, store: Store) -> dict[str, str]:
    """The test run's server as a given one, for the password is nowhere but there."""
    return {**os.environ, **variables(neo4j_server)}


def test_it_opens_the_address_serves_until_it_is_told_to_end_and_leaves_nothing(
    environment: dict[str, str], neo4j_server: Connection, tmp_path: Path
) -> None:
    home, pipe, opener = Path(environment["KGPLATFORM_HOME"]), tmp_path / "opened", tmp_path / "open-it"
    os.mkfifo(pipe)
    opener.write_text(f'#!/bin/sh\nprintf %s "$1" > {pipe}\n')
    opener.chmod(0o700)
    with serving({**environment, "BROWSER": f"{opener} %s &"}, "browser", "--port", "0") as (process, address):
        assert pipe.read_text() == address
        assert neo4j_server.password in httpx.get(address, timeout=60).text
        base = address.partition("/start/")[0]
        assert httpx.get(f"{base}/", timeout=60).status_code == 200
        assert (home / "browser.json").exists()
        command = Path(f"/proc/{process.pid}/cmdline")
        assert not command.exists() or neo4j_server.password.encode() not in command.read_bytes()
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate()
    assert (process.returncode, out) == (0, "")
    assert "Opened. For another window: http://localhost:" in err
    assert neo4j_server.password not in err
    assert not (home / "browser.json").exists()
    with socket.socket() as probe:
        assert probe.connect_ex(("127.0.0.1", int(base.rpartition(":")[2]))) != 0
