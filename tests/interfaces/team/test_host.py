"""A server of workspaces: who is let in, what they see, and what is closed to them."""

import json
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from teams import TOKEN, Team, fill, quick_servers_of, team

from kgplatform.errors import InputError
from kgplatform.interfaces.cli import people
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings
from kgplatform.sources.objects import Text
from kgplatform.workspaces import Workspaces

pytestmark = pytest.mark.killed

OPEN = [
    Text(
        "Ada Lovelace founded the Acme Works in Paris in 1840. She was born in 1815.",
        "Charter",
        id="charter",
        metadata={"level": 1},
    ),
    Text(
        "Jean Valjean worked for the Acme Works. He was born in Faverolles.", "Staff", id="staff", metadata={"level": 2}
    ),
]
CLOSED = Text(
    "Zenobia Quillfeather founded the Xanadu Vault in 1977. Ada Lovelace met Zenobia Quillfeather in Xanadu. "
    "The Acme Works paid 4711983 dollars for it. Jean Valjean was born in Xanadu.",
    "Operation Nightjar",
    id="nightjar-id",
    metadata={"level": 9, "codeword": "Nightjar"},
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory, quick_java: Path) -> Iterator[Team]:
    """Two workspaces, one of them with a document that not everybody may see."""
    with quick_servers_of(quick_java):
        folder = tmp_path_factory.mktemp("team")
        fill(Workspaces(folder), "works", [*OPEN, CLOSED])
        fill(Workspaces(folder), "other", [Text("Cosette sang in Montfermeil.", id="cosette")])
        with team(folder) as made:
            yield made
        for workspace in Workspaces(folder).all():
            assert not LocalNeo4j(load_settings(home=workspace.home)).status().running


def test_people_see_the_workspaces_that_they_are_in(served: Team) -> None:
    ann = served.token("ann", ("works", "reader", "level < 9"))
    with served.client(TOKEN) as admin, served.client(ann) as reader, served.client() as nobody:
        assert {each["name"] for each in admin.get("/api/me").json()["workspaces"]} >= {"works", "other"}
        assert reader.get("/api/me").json() == {
            "name": "ann",
            "is_admin": False,
            "is_session": False,
            "workspaces": [{"name": "works", "role": "reader", "is_part": True, "archived": False}],
        }
        for path in ("/api/me", "/api/people", "/w/works/api/about", "/w/nowhere/api/about"):
            assert nobody.get(path).status_code == 401, path
        assert reader.get("/w/other/api/about").json() == reader.get("/w/nowhere/api/about").json() | {
            "error": {"kind": "NotFoundError", "message": 'There is no workspace "other" that you may open.'}
        }
        for path in ("/", "/w/works/", "/w/works/static/app.js", "/static/team/team.js"):
            assert nobody.get(path).status_code == 200, path


def test_a_reader_of_a_part_has_a_graph_of_it(served: Team) -> None:
    """And nothing of the rest: test_leaks."""
    part, whole = served.token("pat", ("works", "reader", "level < 9")), served.token("will", ("works", "reader"))
    with served.client(part, "works") as pat, served.client(whole, "works") as will:
        assert [each["title"] for each in pat.get("/api/documents").json()["documents"]] == ["Charter", "Staff"]
        node = next(each for each in pat.get("/api/graph/find?text=Ada Lovelace").json()["nodes"])
        facts = pat.get(f"/api/graph/nodes/{node['id']}").json()
        assert "Acme" in json.dumps(facts)
        for where in ('level < 99 or title = "Operation Nightjar"', 'not title = "Charter"'):
            told = pat.get("/api/documents", params={"where": where})
            titles = [each["title"] for each in told.json()["documents"]]
            assert set(titles) <= {"Charter", "Staff"} and "Zenobia" not in told.text, where
        assert titles == ["Staff"]
        for statement in ("RETURN 1", "MATCH (n) RETURN n"):
            refused = pat.post("/api/cypher", json={"statement": statement})
            assert refused.status_code == 403, refused.text
        assert will.post("/api/cypher", json={"statement": "RETURN 1 AS one"}).json()["rows"] == [[1]]


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("POST", "/api/documents", None),
        ("DELETE", "/api/documents/charter", None),
        ("POST", "/api/schema", {"schema": "general"}),
        ("POST", "/api/models/connect", {"model": "x"}),
        ("POST", "/api/models/list", {}),
        ("POST", "/api/models/test", {}),
        ("POST", "/api/threads", {"question": "Who?"}),
        ("POST", "/api/ask", {"question": "Who?", "keep": True}),
        ("POST", "/api/tree", {}),
        ("DELETE", "/api/jobs/x", None),
        ("PUT", "/api/documents/x", None),
        ("PATCH", "/api/about", None),
    ],
)
def test_a_reader_changes_nothing(served: Team, method: str, path: str, body: dict[str, object] | None) -> None:
    for name, grant in (("rita", ("works", "reader")), ("ralf", ("works", "reader", "level < 9"))):
        with served.client(served.token(name, grant), "works") as client:
            refused = client.request(method, path, json=body)
            assert refused.status_code in (403, 404, 405), refused.text


def test_an_editor_adds_documents_and_readers_see_their_part_of_them(served: Team) -> None:
    editor, reader = (
        served.token("edit", ("other", "editor")),
        served.token("ronja", ("other", "reader", "kind = open")),
    )
    with served.client(editor, "other") as client, served.client(reader, "other") as part:
        assert part.get("/api/documents").status_code == 404, "there is nothing yet that she may see"
        files = [
            ("files", ("open.md", b"---\nkind: open\n---\nMarius loved Cosette.")),
            ("files", ("closed.md", b"---\nkind: closed\n---\nJavert hid.")),
        ]
        added = client.post("/api/documents", files=files, data={"extractor": "local"})
        assert added.status_code in (200, 202), added.text
        while (job := client.get(f"/api/jobs/{added.json()['job']['id']}").json())["state"] in ("waiting", "running"):
            time.sleep(0.2)
        assert job["state"] == "done", job
        assert [each["title"] for each in part.get("/api/documents").json()["documents"]] == ["open"]
        found = part.post("/api/search", json={"question": "Where is Javert?"}).json()
        assert [each["title"] for each in found["passages"]] == ["open"]
        assert found["missing"] == ["Javert"]
        renamed = {"action": "rename", "entity": "Cosette", "name": "Euphrasie"}
        assert part.post("/api/corrections", json=renamed).status_code == 403, "readers correct nothing"
        assert client.post("/api/corrections", json=renamed).json()["who"] == "edit"
        client.post("/api/corrections", json={"action": "rename", "entity": "Javert", "name": "The inspector"})
        (told,) = part.get("/api/corrections").json()["corrections"]
        assert told["text"].startswith("Cosette"), "what is corrected in documents that she may not see stays there"
        assert part.get("/api/graph/find", params={"text": "Euphrasie"}).json()["nodes"]
        assert client.post("/api/models/test").status_code == 403, "that is for admins"
        removed = [each["id"] for each in client.get("/api/documents").json()["documents"] if each["title"] == "open"]
        client.delete(f"/api/documents/{removed[0]}")
        assert part.get("/api/documents").status_code == 404


def test_a_token_that_is_revoked_is_refused_at_once(served: Team) -> None:
    token = served.token("tom", ("works", "reader"))
    with served.client(token, "works") as client:
        assert client.get("/api/stats").status_code == 200
        (kept,) = [each for each in served.host.people.tokens if each.user == "tom"]
        served.host.people.revoke(kept.id)
        assert client.get("/api/stats").status_code == 401
        served.host.people.remove("tom")
        for _ in range(30):
            last = client.get("/api/stats")
        assert last.status_code == 429, "too many wrong tokens"
    with served.client(TOKEN, "works") as admin:
        assert admin.get("/api/stats").status_code == 200, "from the same address, as behind a proxy"
    served.host._failures.clear()


def test_rights_follow_a_workspace_to_another_name_and_to_no_other_workspace(served: Team) -> None:
    workspaces = served.host.workspaces
    eve = served.token("eve", ("other", "reader"))
    with served.client(eve, "other") as other, served.client(eve, "moved") as moved:
        assert "Cosette" in other.post("/api/search", json={"question": "Who sang?"}).text
        workspaces.rename("other", "moved")  # as by another process
        assert "Cosette" in moved.post("/api/search", json={"question": "Who sang?"}).text
        workspaces.create("other")
        assert other.get("/api/documents").status_code == 404, "another one"
        workspaces.archive("moved")
        assert "archived" in moved.get("/api/documents").text
        workspaces.archive("moved", archived=False)
        assert moved.get("/api/documents").json()["documents"], "its server has been stopped"
    for name in ("other", "moved"):
        with served.client(TOKEN) as admin:
            assert admin.delete(f"/api/workspaces/{name}").status_code == 200


def test_several_parts_are_seen_together(served: Team) -> None:
    host, works = served.host, served.host.workspaces.id_of("works")
    token = served.token("sam", groups=tuple(f"g{number}" for number in range(8)))
    for number in range(8):
        condition = f'level = {number % 2 + 1} and not codeword and (level < 9 or title = "x" or level < 8)'
        host.people.grant(works, f"group:g{number}", "reader", condition)
    with served.client(token, "works") as client:
        assert [each["title"] for each in client.get("/api/documents").json()["documents"]] == ["Charter", "Staff"]


def test_a_grant_with_a_mistyped_name_is_refused(served: Team) -> None:
    before = served.host.people.grants
    wrong = {"workspace": "works", "who": "group:new", "role": "reader", "where": "levle = 1"}
    with served.client(TOKEN) as admin:
        answer = admin.post("/api/people/grants", json=wrong)
        assert (answer.status_code, "Did you mean level" in answer.text) == (400, True)
    with pytest.raises(InputError, match="Did you mean level"):
        people.grant("works", "group:new", "reader", where="levle = 1", folder=served.host.workspaces.folder)
    assert served.host.people.grants == before


def test_the_log_stays_whole(served: Team) -> None:
    token = served.token("liv", ("works", "reader"))
    with served.client() as nobody, served.client(TOKEN) as admin, served.client(token, "works") as client:
        for path in ("/api/\u2028x", "/api/\x85x", "/api/%0d%0aFORGED", "/api/" + "a" * 5000):
            nobody.get(path)
        client.get("/api/graph/find", params={"text": "\u2028\n{}"})
        client.post(
            "/v1/chat/completions", json={"model": "retrieve", "messages": [{"role": "user", "content": "Who is it?"}]}
        )
        admin.post(
            "/api/people/grants", json={"workspace": "works", "who": "user:liv", "role": "reader", "where": "level = 1"}
        )
        lines = admin.get("/api/audit", params={"limit": 50}).json()["lines"]
        assert all(len(json.dumps(each)) < 2000 for each in lines)
        assert "level = 1" in lines[0]["asked"], "what was granted"
        assert lines[1]["asked"] == "Who is it?"
        size = served.host.audit.file.stat().st_size
        for _ in range(300):
            nobody.get("/api/me")
        assert served.host.audit.file.stat().st_size - size < 130 * 120, "nobody washes it away"


def test_a_server_whose_rights_are_gone_opens_to_nobody(tmp_path: Path) -> None:
    with team(tmp_path, token=None) as made, made.client() as nobody:
        assert nobody.get("/api/me").status_code == 401
        made.host.people.file.rename(tmp_path / "elsewhere")
        assert nobody.get("/api/me").status_code == 401
        made.host.people.file.write_text("{}", "utf-8")
        made.host.people.file.chmod(0o600)
        with made.client("kg_x") as wrong:
            refused = wrong.get("/api/me")
        assert (refused.status_code, str(tmp_path) in refused.text) == (503, False)


def test_a_server_that_only_reads_has_no_desk_that_changes(tmp_path: Path) -> None:
    with team(tmp_path, read_only=True) as made, made.client(TOKEN) as admin:
        assert admin.get("/api/people").status_code == 200
        assert admin.post("/api/workspaces", json={"name": "new"}).status_code == 403


def test_only_admins_of_the_server_reach_its_desk(served: Team) -> None:
    token = served.token("ida", ("works", "admin"))
    with served.client(token) as client, served.client(TOKEN) as admin:
        for method, path in (
            *(("GET", each) for each in ("/api/people", "/api/audit")),
            *(
                ("POST", f"/api/{each}")
                for each in (
                    "workspaces",
                    "workspaces/works",
                    "people/users",
                    "people/tokens",
                    "people/grants",
                    "people/grants/remove",
                )
            ),
            *(("DELETE", f"/api/{each}") for each in ("workspaces/works", "people/users/ida", "people/tokens/x")),
        ):
            refused = client.request(method, path, json={} if method == "POST" else None)
            assert refused.status_code in (403, 422), (path, refused.text)
            assert refused.status_code == 403, (path, refused.text)
        assert admin.post("/api/workspaces", json={"name": "new"}).status_code == 201
        granted = admin.post("/api/people/grants", json={"workspace": "new", "who": "user:ida", "role": "editor"})
        assert granted.json()["workspace"] == "new"
        assert admin.post("/api/workspaces/new", json={"name": "newer"}).json()["name"] == "newer"
        assert "newer" in [each["name"] for each in client.get("/api/me").json()["workspaces"]], "the right follows it"
        assert admin.post("/api/workspaces/newer", json={"archived": True}).json()["archived"]
        assert client.get("/w/newer/api/about").status_code == 404
        assert admin.delete("/api/workspaces/newer").status_code == 200
        admin.post("/api/workspaces", json={"name": "newer"})
        assert "newer" not in [each["name"] for each in client.get("/api/me").json()["workspaces"]], "another one"
        admin.delete("/api/workspaces/newer")
        assert [each["name"] for each in admin.get("/api/people").json()["users"]].count("ida") == 1
        assert "digest" not in admin.get("/api/people").text


def test_the_log_has_who_asked_what_and_what_was_refused(served: Team) -> None:
    token = served.token("lou", ("works", "reader", "level < 9"))
    with served.client(token, "works") as client, served.client(TOKEN) as admin:
        client.post("/api/search", json={"question": "Who founded the Acme Works?"})
        client.post("/api/cypher", json={"statement": "RETURN 1"})
        lines = [each for each in admin.get("/api/audit").json()["lines"] if each.get("who") == "lou"]
        assert [(each["does"], each["asked"], each["status"]) for each in reversed(lines)] == [
            ("POST /api/search", "Who founded the Acme Works?", 200),
            ("POST /api/cypher", "RETURN 1", 403),
        ]
        assert all(each["workspace"] == "works" and each["by"].startswith("token ") for each in lines)
    assert served.host.audit.file.stat().st_mode & 0o077 == 0
    assert token not in served.host.audit.file.read_text("utf-8")
