"""Every endpoint that reads, and threads, over the sample corpus."""

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from conftest import opened
from graph_state import snapshot
from web_answers import QUESTION, error, events
from web_server import client_of

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import SettingError
from kgplatform.readers.readers import find, names
from kgplatform.settings import load_settings, values_in_force
from kgplatform.shown import encode
from kgplatform.testing import Fault, OpenAIServer
from kgplatform.testing.openai_server import RecordedRequest

pytest_plugins = ["sample_server"]


def got(client: httpx.Client, path: str, **parameters: Any) -> Any:
    response = client.get(path, params=parameters)
    assert response.status_code == 200, response.text
    return response.json()


def posted(client: httpx.Client, path: str, body: object) -> Any:
    response = client.post(path, json=body)
    assert response.status_code == 200, response.text
    return response.json()


def test_about_has_what_a_form_needs(client: httpx.Client, sample: KnowledgeGraph) -> None:
    told = got(client, "/api/health")
    assert (told["status"], told["neo4j"][:2]) == ("ok", "5.")
    told = got(client, "/api/about")
    assert [each["name"] for each in told["readers"]] == list(names())
    assert all(each["about"] and each["takes"] for each in told["readers"])
    assert (told["readers"][0]["title"], told["readers"][0]["needs"]) == ("Quick answer", ["entities", "tree"])
    assert told["graph"] == sample.database_id()
    (youtu,) = [each for each in told["readers"] if each["name"] == "youtu"]
    options = {each["name"]: each for each in youtu["options"]}
    assert set(options) == {each.name for each in find("youtu").options}
    assert options["mode"].items() >= {"type": "string", "default": "reject", "choices": ["reject", "open"]}.items()
    assert all(each["help"] for each in options.values())
    assert (options["steps"]["least"], options["steps"]["most"]) == (0, None)
    kinds = {name: (each["type"], each["default"]) for name, each in options.items()}
    assert kinds.items() >= {"agent": ("boolean", True), "top_k": ("integer", 20)}.items()
    assert "community" in options["without"]["choices"]
    assert ("path" in told["routes"], "general" in told["schemas"]) == (True, True)
    assert told["model"] == sample.settings.chat_model
    assert (told["embedder"], told["documents"], told["has_tree"]) == ("hash:64", 20, True)
    assert told["types"]["Person"] > 5
    assert (told["token_needed"], told["read_only"]) == (False, False)


def test_questions_to_begin_with_are_made_of_the_graph(client: httpx.Client, sample: KnowledgeGraph) -> None:
    told = got(client, "/api/questions", limit=9)["questions"]
    assert len(told) == len(set(told)) == 9
    names = {each.name for each in sample.look.members(sample.look.communities(1)[0].id)}
    assert any(name in question for question in told for name in names)
    who = [each for each in told if each.startswith(("Who ", "Which "))]
    assert who
    for question in who:
        words = question.rstrip("?").split(" ", 1 if question.startswith("Who ") else 2)[-1]
        found = sample.cypher("MATCH (f:Fact) WHERE f.text ENDS WITH $words RETURN f.text", {"words": f" {words}"})
        assert len(found.rows) == 1, "one thing answers it"


def test_models_and_a_call_that_shows_whether_one_answers(sample: KnowledgeGraph, model: OpenAIServer) -> None:
    home = sample.settings.home_folder / "models"
    address = model.base_url.replace("://", "://me:secret@")
    with client_of(opened(sample.store, home, openai_base_url=address, openai_api_key="sk-secret")) as client:
        assert got(client, "/api/models")["spent"] == []
        for _ in range(2):  # no cache answers the second
            tried = client.post("/api/models/test").json()
            assert (tried["ok"], tried["reply"], tried["usage"]["calls"]) == (True, "ready", 1)
        told = client.get("/api/models")
        assert "secret" not in told.text
        assert told.json()["chat"] == {"model": sample.settings.chat_model, "address": model.base_url}
        assert (told.json()["has_key"], told.json()["money"]) == (True, None)
        (spent,) = told.json()["spent"]
        assert (spent["stage"], spent["calls"], spent["cached_calls"]) == ("trial", 2, 0)
    refusals: list[str] = []

    def refuse(request: RecordedRequest) -> Fault:
        refusals.append(request.path)
        return Fault.refuse(500, "Down.")

    with (
        OpenAIServer(lambda messages: "", faults=refuse) as down,
        client_of(opened(sample.store, home, openai_base_url=down.base_url)) as client,
    ):
        tried = client.post("/api/models/test").json()
        assert not tried["ok"] and "Down." in tried["error"]
        assert len(refusals) == 1, "it is not tried again"
    with client_of(opened(sample.store, home)) as client:
        assert got(client, "/api/models")["chat"] is None
        assert "OPENAI_API_KEY" in client.post("/api/models/test").json()["error"]


def test_a_model_is_connected_for_the_home(
    sample: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph, file = opened(sample.store, tmp_path), tmp_path / "model.json"
    with (
        OpenAIServer(lambda messages: "ready", models=("small", "large")) as model,
        OpenAIServer(lambda messages: "ready") as elsewhere,
        OpenAIServer(lambda messages: "", faults=lambda request: Fault.refuse(401, "Wrong key.")) as other,
        client_of(graph) as client,
    ):
        assert got(client, "/api/models")["is_open"] is True
        named = {"address": model.base_url, "key": "sk-secret"}
        assert posted(client, "/api/models/list", named) == {"models": ["large", "small"]}
        assert posted(client, "/api/models/list", {"address": "http://127.0.0.1:9/v1"}) == {"models": []}
        refused = posted(client, "/api/models/connect", {"address": other.base_url, "model": "small"})
        assert not refused["ok"] and "Wrong key." in refused["error"]
        assert not file.exists() and got(client, "/api/about")["model"] is None, "nothing has changed"
        connected = client.post("/api/models/connect", json={**named, "model": "small"})
        assert connected.json()["ok"] and "secret" not in connected.text
        assert file.stat().st_mode & 0o777 == 0o600
        assert got(client, "/api/about")["model"] == got(client, "/api/models")["chat"]["model"] == "small"
        assert client.post("/api/models/test").json()["reply"] == "ready"
        again = load_settings(home=tmp_path)
        assert (again.chat_model, again.openai_base_url) == ("small", model.base_url)
        assert ("small", "home") in values_in_force(home=tmp_path)
        assert posted(client, "/api/models/connect", {"address": model.base_url, "model": "large"})["ok"]
        assert json.loads(file.read_text())["openai_api_key"] == "sk-secret", "the key of the same address"
        assert posted(client, "/api/models/connect", {"address": elsewhere.base_url, "model": "large"})["ok"]
        assert json.loads(file.read_text())["openai_api_key"] is None, "no key reaches another server"
        for bad in ({"address": "file:///etc/passwd"}, {"address": "127.0.0.1"}, {"model": ""}, {"more": 1}):
            assert client.post("/api/models/connect", json={"model": "x", **bad}).status_code == 422
        with client_of(graph, read_only=True) as closed:
            assert closed.post("/api/models/connect", json={"model": "x"}).status_code == 403
        monkeypatch.setenv("OPENAI_API_KEY", "sk-other")
        assert load_settings(home=tmp_path).openai_base_url is None, "a key is for the server it was given for"
        with client_of(opened(sample.store, tmp_path)) as client:
            assert got(client, "/api/models")["is_open"] is False
            told = posted(client, "/api/models/connect", {"model": "x"})
            assert "chosen where the program was started" in told["error"]
    monkeypatch.delenv("OPENAI_API_KEY")
    file.write_text("{")
    with pytest.raises(SettingError, match=r"model\.json cannot be read\. Delete it, and connect"):
        load_settings(home=tmp_path)


def test_search_and_stats_are_those_of_the_client(client: httpx.Client, sample: KnowledgeGraph) -> None:
    assert got(client, "/api/stats") == json.loads(encode(sample.stats()))
    for route in ("all", "community"):
        found = posted(client, "/api/search", {"question": QUESTION, "route": route, "top_k": 5})
        expected = json.loads(encode(sample.search(QUESTION, route, 5)))
        assert {**found, "seconds": 0} == {**expected, "seconds": 0}


def test_documents_and_the_words_of_one(client: httpx.Client) -> None:
    listed = got(client, "/api/documents")["documents"]
    assert len(listed) == 20
    (field,) = [each for each in listed if each["title"] == "Cyrus Field"]
    whole = got(client, f"/api/documents/{field['id']}")
    assert whole["characters"] == len(whole["text"]) == field["characters"]
    fact = next(each for each in whole["facts"] if each["found"])
    part = got(client, f"/api/documents/{field['id']}", start=fact["start"], end=fact["end"])
    assert part["text"] == whole["text"][fact["start"] : fact["end"]]
    quoted = field["uri"].replace("/", "%2F").replace(":", "%3A")
    assert client.get(f"/api/documents/{quoted}").json()["id"] == field["id"]


def test_an_answer_with_its_trace(client: httpx.Client) -> None:
    told = posted(client, "/api/ask", {"question": QUESTION, "options": {"top_k": 3, "route": None}})
    assert "Maury" in told["text"]
    citation = told["citations"][0]
    document = got(client, f"/api/documents/{citation['document']}", start=citation["start"], end=citation["end"])
    assert "Maury" in document["text"]
    search = told["trace"][0]
    assert any(each["prompt"] and each["reply"] for each in told["trace"])
    assert len(search["statements"]) == len({json.dumps(each["text"]) for each in search["statements"]})
    assert all(each["text"].rstrip().endswith(";") for each in search["statements"])
    vectors = [value for each in search["queries"] for value in each["parameters"].values() if isinstance(value, list)]
    assert all(len(value) <= 32 for value in vectors), "no vectors"
    assert any(":param vector =>" in each["text"] for each in search["statements"])


def test_options_that_cannot_be_used(client: httpx.Client) -> None:
    for path in ("search", "ask", "threads"):
        sent = {"question": QUESTION, "where": {"author": "x"}}
        told = error(client.post(f"/api/{path}", json=sent), 400, "InputError")
        assert 'No document has metadata "author"' in told
    for options in ({"top_k": "many"}, {"top_k": 10**30}, {"mode": "shout"}, {"route": "no"}, {"top_k": 0}):
        told = error(client.post("/api/ask", json={"question": QUESTION, "options": options}), 400, "InputError")
        assert next(iter(options)) in told
    for options in ({"nodes": 3}, {"stop": True}, {"keep": True}, {"on_step": 1}, {"question": "?"}, {"": 1}):
        error(client.post("/api/ask", json={"question": QUESTION, "options": options}), 400, "InputError")
    body = {"question": QUESTION, "reader": "nobody"}
    assert "nobody" in error(client.post("/api/ask", json=body), 400, "InputError")


def test_the_graph_round_a_node(client: httpx.Client) -> None:
    nodes = got(client, "/api/graph/find", text="cyrus fie")["nodes"]
    field = next(each for each in nodes if each["name"] == "Cyrus Field" and each["kind"] == "Entity")
    details = got(client, f"/api/graph/nodes/{field['id']}")
    assert (details["node"], "embedding" in details["properties"]) == (field, False)
    around = got(client, f"/api/graph/neighbours/{field['id']}", limit=5)
    assert field["id"] in [each["id"] for each in around["nodes"]]
    assert len(around["nodes"]) <= 6
    found = posted(client, "/api/search", {"question": QUESTION})
    joined = posted(client, "/api/graph/subgraph", {"ids": [found["facts"][0]["id"]]})
    assert any(each["fact"] == found["facts"][0]["id"] for each in joined["edges"])
    top = got(client, "/api/tree")["nodes"][0]
    below = got(client, "/api/tree", parent=top["id"])["nodes"]
    assert len(below) == top["children"]
    assert got(client, "/api/tree", parent=top["id"], skip=1, limit=2)["nodes"] == below[1:3]


def test_a_part_of_the_map(client: httpx.Client, sample: KnowledgeGraph) -> None:
    founded = got(client, "/api/graph/map", relation="FOUNDED")
    statement = "MATCH (e:Entity)-[:FOUNDED]-() RETURN DISTINCT e.id"
    assert sorted(founded["ids"]) == sorted(row[0] for row in sample.cypher(statement).rows)
    assert 0 < len(founded["sources"]) < len(got(client, "/api/graph/map")["sources"])
    people = got(client, "/api/graph/map", type="Person", least=5)
    assert set(people["types"]) == {"Person"} and min(people["sizes"]) >= 5
    top = got(client, "/api/tree")["nodes"][0]
    assert len(got(client, "/api/graph/map", community=top["id"])["ids"]) == top["size"]
    document = got(client, "/api/documents")["documents"][0]["id"]
    named = sample.cypher(
        "MATCH (e:Entity)-[:FROM_CHUNK]->()-[:FROM_DOCUMENT]->({id: $id}) RETURN DISTINCT e.id", {"id": document}
    )
    assert sorted(got(client, "/api/graph/map", document=document)["ids"]) == sorted(row[0] for row in named.rows)
    assert got(client, "/api/graph/map", type="Nothing")["ids"] == []
    with sample.store.lend_driver("the tests") as driver:
        driver.execute_query("MATCH (d:Document {id: $id}) SET d.meta_year = [1866, 1870]", id=document)
        year = {"name": "year", "values": [[1866, 1]], "distinct": 2}
        assert got(client, "/api/metadata", limit=1)["names"][-1] == year
        for where, ids in (({"year": 1870}, {row[0] for row in named.rows}), ({"year": "1871"}, set())):
            assert set(got(client, "/api/graph/map", metadata=json.dumps(where))["ids"]) == ids
        assert set(got(client, "/api/graph/map", metadata="year > 1866")["ids"]) == {row[0] for row in named.rows}
        assert "JSON object" in error(client.get("/api/graph/map", params={"where": "5"}), 400, "InputError")
        driver.execute_query("MATCH (d:Document) REMOVE d.meta_year")


def test_documents_by_the_page(client: httpx.Client, sample: KnowledgeGraph) -> None:
    told = got(client, "/api/document-page", sort="facts", descending=True, limit=3)
    facts = [each["facts"] for each in told["documents"]]
    assert told["total"] == len(sample.documents()) and facts == sorted(facts, reverse=True) and facts[0] > 0
    titles = [each["title"] for each in got(client, "/api/document-page", skip=2, limit=2)["documents"]]
    assert titles == sorted((each.title for each in sample.documents()), key=str.lower)[2:4]
    found = got(client, "/api/document-page", text="EXPEDITION of")["documents"]
    assert "Expedition of 1865" in [each["title"] for each in found]


def test_the_schema_with_figures_and_another_one(client: httpx.Client, sample: KnowledgeGraph) -> None:
    told = got(client, "/api/schema/figures")
    assert {each["name"]: each["count"] for each in told["types"]} == sample.look.types()
    again = posted(client, "/api/schema", {"text": told["text"]})
    assert again["schema"]["name"] == "general", "it reads what it wrote"
    bad = client.post("/api/schema", json={"text": "entities: [Ship]\nrelations: {sank: {heads: [Boat]}}", "use": True})
    assert "Boat" in error(bad, 400, "SchemaError")
    assert got(client, "/api/schema/figures")["chosen"] is None
    posted(client, "/api/schema", {"text": "name: ships\nentities: [Ship]", "use": True})
    assert got(client, "/api/schema/figures")["chosen"] == "ships"
    assert sample.schema().schema.name == "general", "what was read stays as it was"
    sample.use_schema("general")


NESTED: list[Any] = []
for _ in range(600):
    NESTED = [NESTED]


def test_a_statement_and_those_that_are_refused(client: httpx.Client) -> None:
    body = {
        "statement": "MATCH (p:Person {name: $name}) RETURN p, p.name AS name",
        "parameters": {"name": "Cyrus Field"},
    }
    told = posted(client, "/api/cypher", body)
    assert (told["columns"], told["rows"][0][1]) == (["p", "name"], "Cyrus Field")
    assert "embedding" not in told["rows"][0][0]["properties"]
    cut = posted(client, "/api/cypher", {"statement": "UNWIND [1, 2, 3, 4] AS n RETURN n", "limit": 3})
    assert (len(cut["rows"]), cut["truncated"]) == (3, True)
    for refused in (
        {"statement": ""},
        {"statement": "MATCH (n RETURN n"},
        {"statement": "MATCH (n) DETACH DELETE n"},
        {"statement": "RETURN $n"},
        *({"statement": "RETURN $n", "parameters": {"n": each}} for each in (10**30, "\ud800", NESTED)),
        {"statement": "RETURN size([x IN range(1, 1000000000) WHERE x < 0])"},
    ):
        response = client.post("/api/cypher", content=json.dumps(refused), headers={"content-type": "application/json"})
        error(response, 400, "InputError")


def test_what_is_not_there(client: httpx.Client) -> None:
    kinds = ("documents", "graph/nodes", "graph/neighbours", "communities", "runs", "jobs")
    paths = [f"/api/{each}/nothing" for each in kinds]
    for path in (*paths, "/api/tree?parent=nothing", "/api/jobs/nothing/events", "/api/nothing", "/nothing"):
        error(client.get(path), 404, "NotFoundError")
    assert client.get("/redoc").status_code == 404, "it loads from elsewhere"
    assert client.get("/docs").headers["location"] == "./#/http", "a page of ours"


def test_what_has_the_wrong_form(client: httpx.Client) -> None:
    for path, body in (
        ("/api/ask", {"question": 3}),
        ("/api/ask", {"question": "?", "more": 1}),
        ("/api/ask", {"question": "x" * 20_001}),
        ("/api/graph/subgraph", {"ids": ["x"] * 501}),
        ("/api/cypher", {"statement": "RETURN 1", "timeout": 0}),
    ):
        assert error(client.post(path, json=body), 422, "InputError")
        told = error(client.post(path, content=b"{", headers={"content-type": "application/json"}), 422, "InputError")
        assert "JSON" in told
    error(client.post("/api/ask", json={"question": "  "}), 400, "InputError")
    error(client.put("/api/ask"), 405, "MethodError")
    error(client.get("/api/documents/x", params={"start": 5, "end": 2}), 400, "InputError")


def test_the_page_and_the_map_that_is_packed(client: httpx.Client) -> None:
    page = client.get("/")
    assert (page.status_code, page.headers["content-type"][:9], "kgplatform" in page.text) == (200, "text/html", True)
    assert client.get("/favicon.ico").status_code == 204
    for trick in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fclient.py", "/static//etc/passwd"):
        assert client.get(trick).status_code == 404
    assert len(got(client, "/api/graph/map", limit=50)["inside"]) == 50
    with client.stream("GET", "/api/graph/map", headers={"Accept-Encoding": "gzip"}) as response:
        assert response.headers["content-encoding"] == "gzip"
        assert len(json.loads(gzip.decompress(b"".join(response.iter_raw())))["ids"]) > 50


CAPTAIN = "Who was the captain of the Great Eastern?"
FOLLOW_UP = "Which cable did he lay?"


@pytest.fixture
def thread(client: httpx.Client) -> Iterator[dict[str, Any]]:
    """The answer to the first question of a thread, which is removed in the end."""
    first = client.post("/api/threads", json={"question": CAPTAIN}).json()
    yield first
    client.delete(f"/api/threads/{first['thread']}")


def test_a_follow_up(client: httpx.Client, thread: dict[str, Any]) -> None:
    assert (thread["asked"], thread["question"], thread["note"]) == (CAPTAIN, CAPTAIN, "")
    body = {"question": FOLLOW_UP, "reader": "retrieve", "options": {"top_k": 5}}
    with client.stream(
        "POST", f"/api/threads/{thread['thread']}", json=body, headers={"Accept": "text/event-stream"}
    ) as response:
        told = list(events(response))
    answer = told[-1][1]
    assert {name for name, _ in told} == {"step", "text", "answer"}
    assert (answer["asked"], answer["question"]) == (FOLLOW_UP, "Which cable did James Anderson lay?")
    assert answer["note"].startswith("Asked as: Which cable did James Anderson lay?")
    steps = [data["step"]["name"] for name, data in told if name == "step"]
    assert steps == [step["name"] for step in answer["trace"]]
    assert steps[0] == "stand alone"
    assert answer["usage"]["calls"] + answer["usage"]["cached_calls"] == 2
    turns = client.get(f"/api/threads/{thread['thread']}").json()["turns"]
    assert [(turn["number"], turn["asked"], turn["text"]) for turn in turns] == [
        (1, CAPTAIN, thread["text"]),
        (2, FOLLOW_UP, answer["text"]),
    ]
    assert turns[0]["citations"] == thread["citations"] != []
    listed = client.get("/api/threads").json()["threads"]
    assert [(each["id"], each["question"], each["turns"]) for each in listed] == [(thread["thread"], CAPTAIN, 2)]


def test_a_follow_up_that_is_kept_nowhere(client: httpx.Client, sample: KnowledgeGraph) -> None:
    before = snapshot(sample.store)
    first = client.post("/api/ask", json={"question": CAPTAIN}).json()
    earlier = [{"question": first["question"], "answer": first["text"]}]
    answer = client.post("/api/ask", json={"question": FOLLOW_UP, "earlier": earlier}).json()
    assert answer["question"] == "Which cable did James Anderson lay?"
    assert snapshot(sample.store) == before
    error(client.post("/api/ask", json={"question": "Why?", "earlier": earlier * 51}), 422, "InputError")


def test_what_is_refused(client: httpx.Client, sample: KnowledgeGraph, thread: dict[str, Any]) -> None:
    """A server that only reads keeps no thread."""
    at = f"/api/threads/{thread['thread']}"
    error(client.delete("/api/threads/nowhere"), 404, "NotFoundError")
    for headers in ({}, {"Accept": "text/event-stream"}):
        error(client.post("/api/threads/nowhere", json={"question": "Why?"}, headers=headers), 404, "NotFoundError")
        wrong = {"question": "Why?", "reader": "sage"}
        error(client.post(at, json=wrong, headers=headers), 400, "InputError")
    before = snapshot(sample.store)
    with client_of(sample, read_only=True) as reading:
        assert reading.get(at).status_code == 200
        error(reading.post("/api/threads", json={"question": CAPTAIN}), 403, "ReadOnlyError")
        error(reading.post(at, json={"question": FOLLOW_UP}), 403, "ReadOnlyError")
        error(reading.delete(at), 403, "ReadOnlyError")
    assert snapshot(sample.store) == before
