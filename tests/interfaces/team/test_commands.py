"""The commands for workspaces and people, as the page on teams has them."""

import json
import shlex
from pathlib import Path

import pytest
from command_line import Run
from doc_pages import commands_of, page

from kgplatform.interfaces.http.team.people import PEOPLE_FILE, Grant, People
from kgplatform.workspaces import EVERYWHERE, Workspaces

pytest_plugins = ["command_line"]


def test_the_commands_of_the_page(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGPLATFORM_HOME", str(tmp_path))
    monkeypatch.delenv("NEO4J_URI")
    monkeypatch.setenv("KGPLATFORM_WORKSPACE", "")
    lines = [line.removeprefix("kgplatform ") for line in commands_of(page("team.md"))]
    assert len(lines) == 12, lines
    for line in lines:
        if " ingest " not in line and not line.startswith("serve"):
            words = shlex.split(line)
            done = run(*words)
            assert done.code == 0, (line, done)
    workspaces = Workspaces(tmp_path / "workspaces")
    people = People(workspaces.folder / PEOPLE_FILE)
    assert [each.name for each in workspaces.all()] == ["contracts", "research"]
    assert people.grants == (
        Grant(EVERYWHERE, "user:ann", "admin"),
        Grant(workspaces.id_of("contracts"), "group:legal", "reader", 'department = "legal" and not draft'),
        Grant(EVERYWHERE, "user:bob", "editor"),
    )
    listed = json.loads(run("people", "list", "--json").out)
    assert [each["user"] for each in listed["users"]] == ["ann", "eve", "bob"]
    assert listed["grants"][1]["workspace"] == "contracts"
    assert "contracts" in run("workspaces", "list").out


def test_what_people_type_wrong(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KGPLATFORM_HOME", str(tmp_path))
    monkeypatch.delenv("NEO4J_URI")
    monkeypatch.setenv("KGPLATFORM_WORKSPACE", "")
    run("workspaces", "create", "contracts")
    for words, wrong in (
        (("workspaces", "create", "contracts"), "already"),
        (("workspaces", "create", "Contracts"), "cannot name a workspace"),
        (("workspaces", "create", "../x"), "cannot name a workspace"),
        (("workspaces", "rename", "contract", "x"), "Did you mean contracts"),
        (("--workspace", "contract", "status"), "Did you mean contracts"),
        (("people", "grant", "contract", "user:ann", "reader"), "Did you mean contracts"),
        (("people", "grant", "contracts", "user:ann", "reader"), "There is no user"),
        (("people", "token", "ann"), "There is no user"),
        (("people", "revoke", "x"), "There is no token"),
        (("serve", "--oidc", "x"), "needs --workspaces"),
        (("serve", "--workspaces", str(tmp_path), "--host", "0.0.0.0"), "nobody has been added"),
    ):
        monkeypatch.setenv("KGPLATFORM_WORKSPACE", "")
        done = run(*words)
        assert done.code == 2 and wrong in done.err, (words, done)
    run("workspaces", "archive", "contracts")
    assert "archived" in run("--workspace", "contracts", "status").err
    monkeypatch.setenv("KGPLATFORM_WORKSPACE", "")
    run("workspaces", "archive", "contracts", "--restore")
    run("workspaces", "rename", "contracts", "deals")
    assert run("workspaces", "delete", "deals", "--yes").code == 0
    assert Workspaces(tmp_path / "workspaces").all() == []
