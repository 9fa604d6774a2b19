"""The examples in the description of the interface are what the endpoints answer over the sample corpus.

``make examples`` records them: the same requests, with the answers shortened. Else they are compared, name by name.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
from conftest import opened
from web_answers import QUESTION, events, upload, wait_for
from web_server import client_of

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.http.app import EXAMPLES
from kgplatform.testing import OpenAIServer

pytest_plugins = ["sample_server"]

FREE = (
    *("types", "nodes", "relationships", "properties", "counts", "schema"),
    *("usage", "seconds", "malformed", "metadata"),
)
"""Objects whose names differ from graph to graph."""
TEXT = 160
MOST = {dict: 1, list: 2}
"""Items that are kept of a list of objects, and of one of lists; of one of plain values four."""
HOME = re.compile(r"(file://|^)/[^\"]*/(?=corpus/|uploads/|examples/)")


def test_the_examples_are_what_is_answered(
    client: httpx.Client, sample: KnowledgeGraph, model: OpenAIServer, tmp_path: Path
) -> None:
    with client_of(opened(sample.store, tmp_path)) as open_client:
        found = {**dict(exchanges(client)), **dict(connecting(open_client, model.base_url))}
    if os.environ.get("RECORD_EXAMPLES"):
        EXAMPLES.write_text(json.dumps(found, ensure_ascii=False, indent=2) + "\n", "utf-8")
    known = json.loads(EXAMPLES.read_text("utf-8"))
    assert list(known) == list(found)
    for endpoint, example in known.items():
        assert disagreements(example, found[endpoint], endpoint) == []


def test_every_endpoint_has_its_example(client: httpx.Client) -> None:
    paths = client.get("/api/openapi.json").json()["paths"]
    known = json.loads(EXAMPLES.read_text("utf-8"))
    assert set(known) == {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    for path, methods in paths.items():
        for method, operation in methods.items():
            assert operation["summary"], (method, path)
            answer = next(each for code, each in operation["responses"].items() if code.startswith("2"))
            assert all("example" in content for content in answer["content"].values()), (method, path)
            for content in operation.get("requestBody", {"content": {}})["content"].values():
                assert content["example"], (method, path)


def exchanges(client: httpx.Client) -> Iterator[tuple[str, dict[str, Any]]]:
    """Every endpoint with what was sent to it and what it answered, both shortened; the graph is left as it was."""

    def got(path: str, shown: str = "", **parameters: Any) -> tuple[str, dict[str, Any]]:
        return f"GET {shown or path}", exchanged(client.get(path, params=parameters))

    def sent(path: str, body: Any) -> tuple[str, dict[str, Any]]:
        return f"POST {path}", exchanged(client.post(path, json=body), body)

    yield from (got(f"/api/{name}") for name in ("health", "about", "stats", "schema", "questions", "models"))
    yield "POST /api/models/test", exchanged(client.post("/api/models/test"))
    asked = {"question": QUESTION, "reader": "retrieve", "options": {"top_k": 5}, "keep": True}
    statement = "MATCH (p:Person) RETURN p.name AS name ORDER BY name"
    yield sent("/api/search", {"question": QUESTION, "route": "all", "top_k": 5})
    endpoint, example = sent("/api/ask", asked)
    with client.stream("POST", "/api/ask", json=asked, headers={"Accept": "text/event-stream"}) as response:
        example["answered"]["text/event-stream"] = streamed(list(events(response)))
    yield endpoint, example
    yield from conversation(client)
    yield sent("/api/cypher", {"statement": statement, "parameters": {}, "limit": 2, "timeout": 10})
    field = client.get("/api/graph/find", params={"text": "Cyrus Field"}).json()["nodes"][0]["id"]
    document = client.get("/api/documents").json()["documents"][0]["id"]
    fact = client.get(f"/api/documents/{document}").json()["facts"][0]
    top = client.get("/api/tree").json()["nodes"][0]["id"]
    run = client.get("/api/runs").json()["runs"][0]["id"]
    yield from (got("/api/documents"), got("/api/metadata", limit=2))
    yield got(f"/api/documents/{document}", "/api/documents/{id}", start=fact["start"], end=fact["end"])
    yield got("/api/graph/map", limit=10)
    yield got("/api/graph/find", text="Cyrus Field", limit=1)
    yield got(f"/api/graph/nodes/{field}", "/api/graph/nodes/{id}")
    yield got(f"/api/graph/neighbours/{field}", "/api/graph/neighbours/{id}", limit=2)
    yield from exploring(client, field)
    yield sent("/api/graph/subgraph", {"ids": [fact["id"]]})
    yield from (got("/api/tree"), got("/api/communities"))
    yield got(f"/api/communities/{top}", "/api/communities/{id}")
    yield from (got("/api/runs"), got("/api/runs/recheck", run=run), got(f"/api/runs/{run}", "/api/runs/{id}"))
    yield from correcting(client, field)
    yield from jobs(client)
    yield got("/v1/models")
    yield sent("/v1/chat/completions", {"model": "retrieve", "messages": [{"role": "user", "content": QUESTION}]})


def connecting(client: httpx.Client, address: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Of a server that may choose its model."""
    for name, more in (("list", {}), ("connect", {"model": "scripted"})):
        shown = {"address": "http://127.0.0.1:11434/v1", "key": None, **more}
        answer = client.post(f"/api/models/{name}", json={**shown, "address": address})
        yield f"POST /api/models/{name}", exchanged(answer, shown)


def exploring(client: httpx.Client, field: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """What the explorer's views ask for; the graph's schema is the next one's, too, afterwards."""
    other = client.get("/api/graph/find", params={"text": "Robert Halpin"}).json()["nodes"][0]["id"]
    asked: list[tuple[str, str, dict[str, Any]]] = [
        (f"/api/graph/profile/{field}", "/api/graph/profile/{id}", {}),
        ("/api/graph/ways", "", {"source": field, "target": other, "limit": 1}),
        ("/api/document-page", "", {"sort": "facts", "descending": True, "limit": 2}),
        ("/api/schema/figures", "", {}),
        ("/api/conflicts", "", {"limit": 2}),
        ("/api/saved-queries", "", {}),
    ]
    for path, shown, parameters in asked:
        yield f"GET {shown or path}", exchanged(client.get(path, params=parameters))
    body = {"text": "name: ships\nentities: [Ship, Person]\nrelations: [commanded]", "name": "ships.yaml", "use": False}
    yield "POST /api/schema", exchanged(client.post("/api/schema", json=body), body)


def conversation(client: httpx.Client) -> Iterator[tuple[str, dict[str, Any]]]:
    """A thread of two questions, which is removed again."""
    first = {"question": "Who was the captain of the Great Eastern?", "reader": "retrieve"}
    follow_up = {"question": "Which cable did he lay?", "reader": "retrieve", "options": {"top_k": 5}}
    id = client.post("/api/threads", json=first).json()["thread"]
    for endpoint, path, body in (("", "", first), ("/{id}", f"/{id}", follow_up)):
        example: dict[str, Any] = {"sent": body, "answered": {}}
        for media_type in ("application/json", "text/event-stream"):
            with client.stream("POST", f"/api/threads{path}", json=body, headers={"Accept": media_type}) as response:
                assert response.status_code == 200
                streams = media_type == "text/event-stream"
                said = streamed(list(events(response))) if streams else short(json.loads(response.read()))
            example["answered"][media_type] = said
        yield f"POST /api/threads{endpoint}", example
    for endpoint, path in (("", ""), ("/{id}", f"/{id}")):
        yield f"GET /api/threads{endpoint}", exchanged(client.get(f"/api/threads{path}"))
    yield "DELETE /api/threads/{id}", exchanged(client.delete(f"/api/threads/{id}"))
    for left in client.get("/api/threads").json()["threads"]:
        client.delete(f"/api/threads/{left['id']}")


def correcting(client: httpx.Client, field: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """An entity is given another name, which is undone."""
    duplicates = client.get("/api/corrections/duplicates", params={"limit": 1})
    body = {"action": "rename", "entity": field, "name": "Cyrus West Field", "why": "his name in full"}
    made = client.post("/api/corrections", json=body)
    yield "GET /api/corrections", exchanged(client.get("/api/corrections"))
    yield "GET /api/corrections/duplicates", exchanged(duplicates)
    yield "GET /api/corrections/namesakes", exchanged(client.get("/api/corrections/namesakes"))
    yield "POST /api/corrections", exchanged(made, body)
    yield "DELETE /api/corrections/{id}", exchanged(client.delete(f"/api/corrections/{made.json()['id']}"))


def jobs(client: httpx.Client) -> Iterator[tuple[str, dict[str, Any]]]:
    """An upload, which is removed again, and the tree."""
    added = upload(client, ("field.txt", b"Cyrus Field founded the Atlantic Telegraph Company."), extractor="local")
    form = {"files": ["field.txt"], "schema": "general", "extractor": "local"}
    yield "POST /api/documents", exchanged(added, form)
    job = added.json()["job"]
    with client.stream("GET", f"/api/jobs/{job['id']}/events") as response:
        told = list(events(response))
    one = short(wait_for(client, job))
    yield "GET /api/jobs", {"answered": {"application/json": {"jobs": [one]}}}
    yield "GET /api/jobs/{id}", {"answered": {"application/json": one}}
    yield "GET /api/jobs/{id}/events", {"answered": {"text/event-stream": streamed(told)}}
    uploaded = next(each for each in client.get("/api/documents").json()["documents"] if each["title"] == "field")
    body = {"work": "reread", "documents": [uploaded["id"]]}
    again = client.post("/api/documents/jobs", json=body)
    yield "POST /api/documents/jobs", exchanged(again, body)
    wait_for(client, again.json()["job"])
    year = {"documents": [uploaded["id"]], "metadata": {"year": 1856}}
    yield "POST /api/documents/metadata", exchanged(client.post("/api/documents/metadata", json=year), year)
    yield "DELETE /api/jobs/{id}", exchanged(client.delete(f"/api/jobs/{job['id']}"))
    yield "DELETE /api/documents/{id}", exchanged(client.delete(f"/api/documents/{uploaded['id']}"))
    how = {"method": None, "rebuild": False}
    built = client.post("/api/tree", json=how)
    yield "POST /api/tree", exchanged(built, how)
    wait_for(client, built.json()["job"])
    assert client.post("/api/sample").status_code == 409  # there are documents: its job looks as that of the tree does
    yield (
        "POST /api/sample",
        {"answered": {"application/json": short({"job": built.json()["job"] | {"kind": "sample"}})}},
    )


def exchanged(response: httpx.Response, sent: Any = None) -> dict[str, Any]:
    """What was sent, where there was anything, and what was answered."""
    assert response.status_code < 300, response.text
    answered = {"answered": {"application/json": short(response.json())}}
    return answered if sent is None else {"sent": sent, **answered}


def short(value: Any, name: str = "") -> Any:
    """``value`` as an example: long texts and lists cut, no path of this machine, no clock."""
    if isinstance(value, dict):
        kept = list(value.items())[: 4 if name in FREE else None]
        return {key: short(item, key) for key, item in kept}
    if isinstance(value, list):
        return [short(item) for item in value[: MOST.get(type(value[0]), 4) if value else 0]]
    if isinstance(value, str):
        value = re.sub(r"^.+, process \d+$", "studio, process 4711", value)
        value = re.sub(r"\d{4}-\d\d-\d\dT[\d:.]+(Z|\+[\d:]+)", "2026-01-31T12:00:00Z", HOME.sub(r"\1/home/me/", value))
        return value if len(value) <= TEXT else value[:TEXT].rsplit(" ", 1)[0] + " …"
    return round(value, 3) if isinstance(value, float) else value


def streamed(told: list[tuple[str, Any]]) -> str:
    """The first of each kind of event, with the plain fields of what it says."""
    first: dict[str, Any] = {}
    for event, data in told:
        first.setdefault(event, data)
    lines = [f"event: {event}\ndata: {json.dumps(fields(data), ensure_ascii=False)}\n" for event, data in first.items()]
    return "\n".join(lines)


def fields(data: dict[str, Any]) -> dict[str, Any]:
    return {
        name: fields(value) if name == "step" else short(value)
        for name, value in data.items()
        if name == "step" or not isinstance(value, dict | list)
    }


def disagreements(example: Any, said: Any, where: str) -> list[str]:
    """Where the two differ in names or in the kinds of values; what is null agrees with everything."""
    if example is None or said is None:
        return []
    if isinstance(example, dict) and isinstance(said, dict):
        if where.rpartition(".")[2] in FREE:
            return []
        found = [f"{where}: {name}" for name in set(example) ^ set(said)]
        for name in set(example) & set(said):
            found += disagreements(example[name], said[name], f"{where}.{name}")
        return found
    if isinstance(example, list) and isinstance(said, list):
        return disagreements(example[0], said[0], where) if example and said else []
    kinds = [float if isinstance(each, int) and not isinstance(each, bool) else type(each) for each in (example, said)]
    return [] if kinds[0] is kinds[1] else [f"{where}: {kinds}"]
