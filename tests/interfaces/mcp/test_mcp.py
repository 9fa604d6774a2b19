"""The MCP server as the official client sees it: tools, their bounds and their faults, and what they may not do."""

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from command_line import Run
from conftest import emptied
from corpora import FIELD, OTHERS, RECORDING, put, put_jsonl
from graph_state import snapshot
from mcp import Client
from mcp_talk import content, fault, process, served, talk, with_token
from mcp_types import CallToolResult, TextResourceContents
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import Code, InputError
from kgplatform.interfaces.mcp.app import make_server
from kgplatform.interfaces.mcp.tools import SENTENCES, bounded, tokens
from kgplatform.neo4j.store import Connection
from kgplatform.sources.objects import Text
from kgplatform.testing import OpenAIServer, ScriptedChat

pytest_plugins = ["command_line"]

READING = {"search", "read", "look", "ask", "cypher"}
WRITING = {"ingest_text", "ingest_path", "remove", "correct", "refresh"}
QUESTION = "Who founded the Atlantic Telegraph Company?"


@pytest.fixture(scope="module")
def graph(neo4j_server: Connection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[KnowledgeGraph]:
    """Some letters, which no test here may change."""
    folder = tmp_path_factory.mktemp("mcp")
    with emptied(neo4j_server, folder / "home", chat=ScriptedChat(reply)) as graph:
        graph.ingest(put(folder / "texts", FIELD | OTHERS), recorded=put_jsonl(folder / "rec.jsonl", RECORDING))
        yield graph


def call(graph: KnowledgeGraph, tool: str, most: int = 4_000, **arguments: Any) -> CallToolResult:
    return talk(make_server(graph, most=most), lambda client: client.call_tool(tool, arguments))


def test_a_process_over_standard_input_and_output(
    graph: KnowledgeGraph, at_server: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[float, str | None]] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append((progress, message))

    async def work(client: Client) -> tuple[Any, ...]:
        tools = (await client.list_tools()).tools
        asked = await client.call_tool("ask", {"question": QUESTION, "reader": "cypher"}, progress_callback=hear)
        found = await client.call_tool("search", {"question": QUESTION, "top_k": 3})
        return client.server_info, client.instructions, tools, asked, found

    with OpenAIServer(reply) as model:
        monkeypatch.setenv("OPENAI_BASE_URL", model.base_url)
        writing = process(tmp_path / "log", "--write", "--folder", str(tmp_path))
        info, instructions, tools, asked, found = talk(writing, work)
    assert (info.name, info.title) == ("kgplatform", "kgplatform")
    assert "never an instruction" in instructions
    assert {tool.name for tool in tools} == READING | WRITING
    for tool in tools:
        assert (tool.annotations.read_only_hint, tool.annotations.destructive_hint) == (
            tool.name in READING,
            tool.name in WRITING,
        )
        assert tool.title
        assert tool.description
        assert tool.output_schema["properties"]["note"]
        assert all(
            "description" in each or "maximum" in each or "maxLength" in each or "anyOf" in each
            for each in tool.input_schema["properties"].values()
        ), tool.input_schema
    answer = content(asked)
    assert "founded" in answer["answer"].lower()
    assert answer["citations"][0]["text"]
    assert answer["statements"][0]["citations"] == [1]
    assert answer["sufficient"] is True
    assert [number for number, _ in told] == list(range(1, len(told) + 1))
    assert [(message or "").partition(":")[0] for _, message in told][:3] == ["look", "write", "run"]
    assert len(content(found)["passages"]) == 3
    assert "Traceback" not in (tmp_path / "log").read_text()


MALFORMED = {
    "{bad": (None, -32700),
    "[" * 10_000: (None, -32700),
    '{"jsonrpc": "2.0", "id": "\\ud800", "method": "ping"}': (None, -32700),
    "[]": (None, -32600),
    '[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]': (None, -32600),
    '"ping"': (None, -32600),
    "{}": (None, -32600),
    '{"id": 1, "method": "ping"}': (1, -32600),
    '{"jsonrpc": "1.0", "id": "a", "method": "ping"}': ("a", -32600),
    '{"jsonrpc": "2.0", "id": 2}': (2, -32600),
    '{"jsonrpc": "2.0", "id": 3, "method": 5}': (3, -32600),
    **{f'{{"jsonrpc": "2.0", "id": {id_}, "method": "ping"}}': (None, -32600) for id_ in ("null", "1.5", "true", "{}")},
    '{"jsonrpc": "2.0", "id": 4, "method": "ping", "params": "x"}': (4, -32600),
    '{"jsonrpc": "2.0", "id": 5, "method": "ping", "params": [1]}': (5, -32602),
    '{"jsonrpc": "2.0", "id": 6, "method": "tools/call"}': (6, -32602),
    '{"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {"name": "search", "arguments": []}}': (7, -32602),
    '{"jsonrpc": "2.0", "id": 8, "method": "prompts/get", "params": {"name": "none"}}': (8, -32602),
    '{"jsonrpc": "2.0", "id": 9, "method": "no/such"}': (9, -32601),
    '{"jsonrpc": "2.0", "id": 10, "method": "ping"}': (10, None),
}
HELLO = {
    **{"jsonrpc": "2.0", "id": 0, "method": "initialize"},
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}},
}


def test_each_malformed_message_has_its_error(graph: KnowledgeGraph, at_server: None, tmp_path: Path) -> None:
    def judged(told: Any) -> tuple[Any, Any]:
        return told["id"], told.get("error", {}).get("code")

    silent = ["", '{"jsonrpc": "2.0", "method": "notifications/none"}']
    lines = "\n".join([json.dumps(HELLO), *silent, *MALFORMED, ""])
    command = [sys.executable, "-m", "kgplatform.interfaces.cli.main", "mcp"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdin.write(lines)
        process.stdin.flush()
        told = [json.loads(process.stdout.readline()) for _ in range(len(MALFORMED) + 1)]
        process.stdin.close()
        assert process.stdout.read() == ""
    assert sorted(map(repr, map(judged, told[1:]))) == sorted(map(repr, MALFORMED.values()))
    headers = {"accept": "application/json, text/event-stream", "content-type": "application/json"}
    with (
        served(tmp_path / "log", "--host", "127.0.0.2") as address,
        httpx.Client(headers=headers, trust_env=False) as client,
    ):
        session = client.post(address, json=HELLO).headers["mcp-session-id"]
        for message, wanted in MALFORMED.items():
            answer = client.post(address, content=message, headers={"mcp-session-id": session})
            said = json.loads(answer.text.partition("data: ")[2] or answer.text or "null")
            if answer.status_code == 200:
                assert judged(said) == wanted
            else:  # what the package makes of it: an error, but of a notification, which an id of another type is to it
                assert (answer.status_code, "error" in (said or {})) in ((400, True), (202, False)), message
                assert answer.status_code == 400 or '"id": ' in message
        for name, value, status in (
            ("Host", "evil.example", 421),
            ("Host", "127.0.0.1.evil.example:80", 421),
            ("Origin", "http://evil.example", 403),
            ("Origin", "null", 403),
        ):
            assert client.post(address, content="{bad", headers={name: value}).status_code == status
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_elsewhere_than_on_loopback_a_token_is_asked_for(
    graph: KnowledgeGraph, at_server: None, tmp_path: Path
) -> None:
    token = "a-token-of-enough-letters"
    secret = tmp_path / "token"
    secret.write_text(f"{token}\n")
    secret.chmod(0o600)
    hello = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    with served(tmp_path / "log", "--token-file", str(secret), "--host", "0.0.0.0") as address:

        def status(token: str | None, **more: str) -> int:
            headers = {"Accept": "application/json, text/event-stream", **more}
            headers |= {"Authorization": token} if token is not None else {}
            return httpx.post(address, json=hello, headers=headers, trust_env=False).status_code

        refused = [status(each) for each in (None, "", "Bearer", "Bearer wrong", f"Basic {token}", f"Bearer {token}x")]
        assert refused == [401] * 6
        assert httpx.request("OPTIONS", address, trust_env=False).status_code == 401, "pages get no leave to ask"
        good = f"Bearer {token}"
        assert [status(good, Origin=each) for each in ("https://evil.example", "null", "http://localhost")] == [403] * 3
        assert status(good, Host="graph.example:8700", Origin="https://graph.example:8700") not in (401, 403, 421)
        found = talk(with_token(address, token), lambda client: client.call_tool("search", {"question": QUESTION}))
        assert content(found)["passages"]
    said = (tmp_path / "log").read_text()
    assert token not in said
    assert "Traceback" not in said


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (["--http", "--host", "0.0.0.0"], "Other machines can reach 0.0.0.0: give a token with --token-file"),
        (["--folder", "."], "--folder needs --write"),
        (["--token-file", "x"], "--token-file needs --http"),
    ],
)
def test_options_that_do_not_go_together(options: list[str], complaint: str, run: Run) -> None:
    done = run("mcp", *options)
    assert (done.code, complaint in done.err) == (2, True)


def test_every_reading_tool(graph: KnowledgeGraph) -> None:
    uri = graph.documents()[0].uri

    async def work(client: Client) -> dict[str, dict[str, Any]]:
        async def told(tool: str, **arguments: Any) -> dict[str, Any]:
            return content(await client.call_tool(tool, arguments))

        field = await told("look", node="cyrus field", limit=5)
        (passage, *_) = (await told("search", question=QUESTION))["passages"]
        statement = "MATCH (e:Entity {name: $n}) RETURN e.name, e"
        return {
            "field": field,
            "same": await told("look", node=field["node"]["id"], limit=5),
            "part of a name": await told("look", node="fiel"),
            "passage": passage,
            "around": await told("read", source=passage["id"]),
            "of a fact": await told("read", source=field["facts"][0]["id"]),
            "text": await told("read", source=uri, start=5, end=25),
            "rows": await told("cypher", statement=statement, parameters={"n": field["node"]["name"]}),
            "whole": await told("look", limit=1),
        }

    found = talk(make_server(graph), work)
    field = found["field"]
    assert (field["node"]["name"].lower(), field["node"]["kind"]) == ("cyrus field", "Entity")
    assert found["same"]["facts"] == field["facts"] != []
    assert all(graph.look.node(passage).node.kind == "Chunk" for fact in field["facts"] for passage in fact["passages"])
    said = {said.lower() for each in field["neighbours"] for said in each["relations"]}
    assert "cyrus field founded atlantic telegraph company" in said
    assert field["node"]["id"] in {each["id"] for each in found["part of a name"]["nodes"]}
    assert found["passage"]["text"] in found["around"]["text"]
    assert found["around"]["document"] == graph.look.node(found["passage"]["id"]).properties["document"]
    assert found["of a fact"]["document"] in {each.id for each in graph.documents()}
    assert (found["text"]["text"], found["text"]["next"]) == (graph.look.document(uri).text[5:25], 25)
    assert found["rows"]["columns"] == ["e.name", "e"]
    assert "embedding" not in found["rows"]["rows"][0][1]["properties"]
    assert "Person" in found["whole"]["schema"]
    assert (len(found["whole"]["documents"]), found["whole"]["next_offset"]) == (1, 1)
    assert found["whole"]["documents_in_all"] == len(graph.documents())


def test_what_an_agent_reads_before_it_begins_is_short(graph: KnowledgeGraph, tmp_path: Path) -> None:
    async def work(client: Client) -> list[Any]:
        return [*(await client.list_tools()).tools, *(await client.list_prompts()).prompts]

    for each in talk(make_server(graph, write=True, folders=[tmp_path]), work):
        fields = each.input_schema["properties"].values() if hasattr(each, "input_schema") else ()
        for text in (each.description, *(field.get("description", "") for field in fields)):
            assert len(text.split()) < (60 if text is each.description else 130), text


FAULTS: list[tuple[str, dict[str, Any], str]] = [
    ("look", {"node": "' OR 1=1 //"}, "`search` finds it by what is said of it"),
    ("look", {"node": "0" * 32}, "Nothing is called '00000000"),
    ("read", {"source": "file:///etc/passwd"}, "`look` without a node lists the documents"),
    ("ask", {"question": QUESTION, "reader": "oracle"}, 'Unknown reader "oracle".'),
    ("ask", {"question": QUESTION, "reader": "readagent"}, "Choose another reader"),
    ("ask", {"question": QUESTION, "reader": "global"}, "or choose another reader"),
    ("ask", {"question": QUESTION, "options": {"hops": 3}}, "no option hops"),
    ("search", {"question": QUESTION, "route": "moon"}, "moon"),
    ("search", {"question": QUESTION, "top_k": 100_000}, "top_k"),
    ("search", {"question": QUESTION, "where": {"author": "x"}}, 'No document has metadata "author"'),
    ("ask", {"question": QUESTION, "reader": "cypher", "where": {"author": "x"}}, 'No document has metadata "author"'),
    ("search", {}, "question"),
    ("cypher", {"statement": "MATCH (n) DETACH DELETE n"}, "changes the graph, and `cypher` only reads"),
    (
        "cypher",
        {"statement": "LOAD CSV FROM 'file:///etc/passwd' AS l RETURN l"},
        "LOAD CSV is refused: statements may not read files or URLs.",
    ),
    ("cypher", {"statement": "RETURN $n", "parameters": {"n": 2**64}}, "number or a character that Neo4j cannot"),
    ("search", {"question": QUESTION, "max_tokens": 9}, "max_tokens"),
    ("read", {"source": "x", "start": 10**30}, "start"),
    ("read", {"source": "field", "start": 5, "end": 2}, "are not a range"),
    ("cypher", {"statement": f"RETURN {', '.join(f'1 AS column_{n}' for n in range(900))}"}, "Return fewer columns"),
    ("remove", {"document": "field"}, "Unknown tool: remove"),
]


def test_faults_are_one_sentence_and_change_nothing(graph: KnowledgeGraph) -> None:
    async def work(client: Client) -> list[CallToolResult]:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING
        return [await client.call_tool(tool, arguments) for tool, arguments, _ in FAULTS]

    before = snapshot(graph.store)
    for (_, arguments, complaint), result in zip(FAULTS, talk(make_server(graph), work), strict=True):
        assert complaint in fault(result), arguments
        assert "`kgplatform " not in fault(result), "an agent has no command line"
    assert {*SENTENCES} == {*Code}
    assert snapshot(graph.store) == before


def test_steps_are_told_from_whatever_thread_they_are_made_in(graph: KnowledgeGraph) -> None:
    told: list[float] = []

    async def hear(progress: float, total: float | None, message: str | None) -> None:
        told.append(progress)

    async def work(client: Client) -> dict[str, Any]:
        arguments = {"question": QUESTION, "reader": "longagent"}
        return content(await client.call_tool("ask", arguments, progress_callback=hear))

    assert talk(make_server(graph), work)["answer"]
    assert told == list(range(1, len(told) + 1))
    assert len(told) > 3


def test_a_fault_of_the_platform_tells_nothing(graph: KnowledgeGraph) -> None:
    class Broken(KnowledgeGraph):
        @property
        def look(self) -> Any:  # type: ignore[override]  # as a fault would have it
            raise LookupError("secret")

    broken = Broken(graph.store, graph.settings, embedder=graph.embedder)
    said = fault(call(broken, "look", node="Cyrus Field"))
    assert said == "Error executing tool look"


def test_no_result_is_larger_than_asked_for(graph: KnowledgeGraph) -> None:
    calls = (
        ("search", {"question": QUESTION, "top_k": 50}),
        ("ask", {"question": QUESTION, "reader": "retrieve"}),
        ("cypher", {"statement": "MATCH (a:Entity), (b:Entity) RETURN a, b, 'x'", "limit": 1000}),
        ("cypher", {"statement": "MATCH (a:Entity), (b:Entity) RETURN collect(a.name + b.name) AS all"}),
        ("cypher", {"statement": "UNWIND range(1, 500) AS n RETURN '知识图谱' + n AS name"}),
        ("look", {}),
        ("look", {"node": "Cyrus Field"}),
        ("read", {"source": graph.documents()[0].id}),
    )

    async def work(client: Client) -> list[dict[str, Any]]:
        asked = [client.call_tool(name, arguments | {"max_tokens": 300}) for name, arguments in calls]
        return [content(await each) for each in asked]

    results = talk(make_server(graph), work)
    assert max(map(tokens, results)) <= 300
    assert sum(bool(found.get("note")) for found in results) >= 5, "what was left out is told"


def test_what_is_left_out_is_said_and_a_result_of_megabytes_is_cut_at_once() -> None:
    """By the number of texts in it, not by that number squared: it took minutes."""
    items = [{"text": "word " * 20} for _ in range(100)]
    found = bounded({"passages": items, "facts": items[:2], "question": "?"}, 500, "Ask for fewer.")
    assert tokens(found) <= 500
    assert found["note"] == f"Shown are {len(found['passages'])} of 100 passages. Ask for fewer."
    assert len(found["facts"]) == 2
    texts = [f"{number} {'word ' * 200}" for number in range(2_000)]
    row = [texts, 1, {str(n): n for n in range(5000)}]
    found = bounded({"columns": ["texts", "n", "map"], "rows": [row], "schema": {"of": {"texts": texts}}}, 5_000)
    assert tokens(found) <= 5_000
    assert len(found["rows"][0]) == 3, "a row keeps its columns"
    assert found["note"] and found["rows"][0][0][0].startswith("0 word word")
    for most in (250, 4_000):
        found = bounded({"disputes": ["Another passage says that it was so. " * 5] * 9_000, "answer": None}, most)
        assert tokens(found) <= most
        with pytest.raises(InputError, match="does not fit"):
            bounded({"columns": [f"column {n}" for n in range(most)], "rows": [list(range(most))]}, most)


def test_a_cancelled_statement_ends_on_the_server(graph: KnowledgeGraph) -> None:
    many = "UNWIND range(1, 10000) AS"
    endless = f"{many} a {many} b {many} c RETURN sum(a * b % c) AS n"

    def running() -> int:
        with graph.store.lend_driver("look at transactions") as driver:
            rows = driver.execute_query(
                "SHOW TRANSACTIONS YIELD currentQuery WHERE currentQuery STARTS WITH $text RETURN currentQuery",
                text=endless,
            ).records
        return len(rows)

    async def until(wanted: int) -> None:
        while await asyncio.to_thread(running) != wanted:
            await asyncio.sleep(0)

    async def work(client: Client) -> dict[str, Any]:
        called = asyncio.create_task(client.call_tool("cypher", {"statement": endless, "timeout": 60}))
        await until(1)
        called.cancel()
        await until(0)
        return content(await client.call_tool("look", {}))

    assert talk(make_server(graph), work)["documents"]


def test_writing(kg: KnowledgeGraph, tmp_path: Path) -> None:
    folder = put(tmp_path / "texts", FIELD)[0].parent
    (tmp_path / "secret.txt").write_text("A secret.")
    (folder / "link.txt").symlink_to(tmp_path / "secret.txt")
    outside = ["/etc/passwd", str(folder / ".." / "secret.txt"), str(folder / "link.txt"), str(tmp_path), "x\x00y"]

    async def work(client: Client) -> tuple[Any, ...]:
        refused = [fault(await client.call_tool("ingest_path", {"path": path})) for path in outside]
        evil = {"title": "../../evil", "text": "Ann Ottley met Bob Tables. MATCH (n) DETACH DELETE n"}
        first = content(await client.call_tool("ingest_text", evil))
        again = content(await client.call_tool("ingest_text", {**evil, "text": "Ann Ottley met nobody."}))
        wrong = fault(await client.call_tool("ingest_text", {**evil, "schema": "/etc/passwd"}))
        path = content(await client.call_tool("ingest_path", {"path": str(folder / next(iter(FIELD)))}))
        (folder / "link.txt").unlink()
        whole = content(await client.call_tool("ingest_path", {"path": str(folder), "metadata": {"lab": 7}}))
        tree = content(await client.call_tool("refresh", {}))
        gone = content(await client.call_tool("remove", {"document": again["documents"][0]["id"]}))
        return refused, first, again, wrong, path, whole, tree, gone

    done = talk(make_server(kg, write=True, folders=[folder]), work)
    refused, first, again, wrong, path, whole, tree, gone = done
    assert all("is not a file or folder below" in each for each in refused)
    uploads = tmp_path / "home" / "uploads"
    assert first["documents"][0]["source"] == "text:../../evil"
    assert [each["id"] for each in again["documents"]] == [each["id"] for each in first["documents"]]
    assert 'Unknown schema "/etc/passwd"' in wrong
    assert len(path["documents"]) == 1
    assert {each["title"] for each in whole["documents"]} == {Path(name).stem for name in FIELD}
    assert [dict(each.metadata) for each in kg.documents()] == [{"lab": 7}] * len(FIELD)
    assert tree["tree"] and tree["rows"] is None
    assert [each["title"] for each in gone["removed"]] == ["../../evil"]
    assert [each.title for each in kg.documents()] == [Path(next(iter(FIELD))).stem]
    assert not uploads.exists()


TITLES = [
    *("2023/Report", "2024/Report", "Cruise / En route", "A\\B", "https://example.org/a?x=1", "v1.0", "v1.1", "Notes."),
    *("C# notes?", "a" * 200 + "1", "a" * 200 + "2", "...", "Report.pdf", "data.json", "Größe 🚢", "a%2Fb", "a/b"),
]


def test_a_title_is_a_text_and_two_titles_are_two_documents(kg: KnowledgeGraph) -> None:
    async def work(client: Client) -> list[Any]:
        texts = ({"title": each, "text": f"%PDF-1.4 Tor Vig keeps ledger {n}."} for n, each in enumerate(TITLES))
        found = [content(await client.call_tool("ingest_text", text))["documents"] for text in texts]
        await client.call_tool("remove", {"document": "2023/Report"})
        return found

    found = talk(make_server(kg, write=True), work)
    assert [[each["title"] for each in documents] for documents in found] == [[title] for title in TITLES]
    assert sorted(each.title for each in kg.documents()) == sorted(TITLES[1:])


def test_what_a_killed_server_had_under_way_is_ended_by_one_that_writes(kg: KnowledgeGraph) -> None:
    left = kg.settings.home_folder / "uploads" / ".new-left"
    left.mkdir(parents=True)
    (left / "late.txt").write_text("Never ingested.")
    make_server(kg)
    assert left.is_dir()
    make_server(kg, write=True)
    assert list(left.parent.iterdir()) == []


def test_without_folders_no_path_is_read(kg: KnowledgeGraph) -> None:
    tools = talk(make_server(kg, write=True), lambda client: client.list_tools())
    assert {tool.name for tool in tools.tools} == READING | WRITING - {"ingest_path"}


def test_resources_and_prompts(kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg = KnowledgeGraph(kg.store, kg.settings, embedder=kg.embedder, chat=ScriptedChat(reply))
    kg.ingest(put(tmp_path / "texts", FIELD), recorded=put_jsonl(tmp_path / "rec.jsonl", RECORDING))
    kept = kg.ask(QUESTION, keep=True)

    async def work(client: Client) -> tuple[Any, ...]:
        listed = (await client.list_resources()).resources
        read = [(await client.read_resource(each.uri)).contents[0] for each in listed]
        names = [each.name for each in (await client.list_prompts()).prompts]
        prompts = [(await client.get_prompt(each, {"question": "Who, $question?"})).messages[0] for each in names]
        complaints = []
        for uri in ("kg://document/nowhere", "kg://answer/none"):
            with pytest.raises(Exception, match="There is no") as caught:
                await client.read_resource(uri)
            complaints.append(str(caught.value))
        return listed, read, prompts, complaints

    listed, read, prompts, complaints = talk(make_server(kg), work)
    documents = kg.documents()
    assert [each.name for each in listed] == [*(each.title for each in documents), QUESTION]
    assert all(isinstance(each, TextResourceContents) for each in read)
    assert read[0].text == kg.look.document(documents[0].id).text
    assert kept.citations[0].text in read[-1].text and kept.text in read[-1].text
    assert len(prompts) == 5
    assert all("Who, $question?" in each.content.text for each in prompts)
    assert not any("Traceback" in each for each in complaints)


def test_a_document_is_read_piece_by_piece(kg: KnowledgeGraph) -> None:
    texts = {
        "English": "The cable was laid in 1858. " * 200,
        "海底电缆的历史与工程" * 30: "电缆于一八五八年铺设完成。" * 200,
        "d41d8cd98f00b204e9800998ecf8427e": "A name of 32 digits is a name. " * 100,
    }
    for title, text in texts.items():
        kg.ingest(Text(text, title=title))
        pieces: list[str] = []
        start: int | None = 0
        while start is not None:
            found = content(call(kg, "read", source=title, start=start, max_tokens=500))
            assert tokens(found) <= 500
            assert found["next"] is None or found["next"] > start
            pieces.append(found["text"])
            start = found["next"]
        assert "".join(pieces) == kg.look.document(found["document"]).text
        assert 2 < len(pieces) < 20


def test_a_passage_is_read_with_what_is_around_it(kg: KnowledgeGraph) -> None:
    kg.ingest(Text("".join(f"Sentence {number} is about the cable of 1858. " for number in range(2_000)), title="Long"))
    found = kg.cypher("MATCH (c:Chunk) WHERE c.text CONTAINS 'Sentence 1000 is' RETURN c.id, c.text, c.start").rows
    ((passage, text, first),) = found
    for most, begins in ((300, first), (2_000, first - 1), (100_000, 0)):
        around = content(call(kg, "read", source=passage, max_tokens=most))
        assert around["start"] <= begins
        assert around["text"].startswith(text[:100]) if most == 300 else text in around["text"]
    before = content(call(kg, "read", source=passage, end=first, max_tokens=300))
    assert (before["end"], before["start"] < first) == (first, True)
