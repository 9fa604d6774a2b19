"""`kgplatform tree`: what it prints, for people and as JSON, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trees import assert_whole, group, ingest, names
from typer.testing import CliRunner

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.cli.main import app
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.testing import OpenAIServer


@pytest.fixture
def settled(neo4j_server: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    """The environment names the tests' server."""
    for name, value in {
        "NEO4J_URI": neo4j_server.uri,
        "NEO4J_USERNAME": neo4j_server.username,
        "NEO4J_PASSWORD": neo4j_server.password,
        "KGPLATFORM_EMBEDDER": "hash:64",
    }.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("settled")
def test_the_command_for_people_and_programs(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [group("Sailor", 4), group("Miner", 5)])
    built = CliRunner().invoke(app, ["tree", "--update"])
    assert built.exit_code == 0, built.output
    assert built.stdout.split("\n")[0] == "There was no tree to update, so it was built."
    assert "The largest communities" in built.stdout
    assert " and others (Person)  5 entities" in built.stdout
    assert "Tree built by the method multiplex: 9 entities in 2 communities, 9 keywords." in built.stdout
    assert "Names: 2 from members and facts." in built.stdout
    assert_whole(store)
    again = CliRunner().invoke(app, ["tree", "--update"])
    assert "Nothing changed: the tree is up to date." in again.stdout
    assert "no tree to update" not in again.stdout
    assert "Names: " not in again.stdout
    report = json.loads(CliRunner().invoke(app, ["tree", "--json", "--rebuild", "--method", "leidenalg"]).stdout)
    assert (report["method"], report["action"], report["entities"]) == ("leidenalg", "rebuilt", 9)
    assert (report["depths"], report["largest"][0]["name_by"]) == ([2], "members")
    assert {"read", "communities", "write", "total"} <= set(report["seconds"])


@pytest.mark.usefixtures("settled")
def test_names_without_a_model_are_asked_for_by_a_rebuild_and_those_that_fail_by_an_update(
    kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That no entity moved is no contradiction to names that failed again."""
    ingest(kg, tmp_path, [group("Sailor", 4), group("Miner", 5)])
    kg.build_tree()
    asked = 0

    def names_the_third_time(messages: Messages) -> str:
        nonlocal asked
        asked += 1
        return names(messages) if asked > 2 else '{"communities": []}'

    with OpenAIServer(names_the_third_time) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        said = CliRunner().invoke(app, ["tree"]).stdout
        hint = "2 communities have names from a run without a model. `kgplatform tree --rebuild` asks the model."
        assert hint in said
        assert server.requests == []
        for arguments in (["tree", "--rebuild"], ["tree", "--update"]):
            said = CliRunner().invoke(app, arguments).stdout
            assert (
                "Names: 2 from members and facts (2 because the model gave none).\n"
                "Not named by the model: The language model left communities out, named one twice, or by a "
                "number that its facts do not have.\n"
                "`kgplatform tree --update` asks the model again for 2 names.\n"
            ) in said
            assert "Nothing changed" not in said
        assert "No entity moved." in said
        named = CliRunner().invoke(app, ["tree", "--update"]).stdout
        assert "Names: 2 by the model." in named
        assert "when no model was asked" not in named


@pytest.mark.usefixtures("settled")
def test_a_budget_that_runs_out_is_exit_status_1(
    kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(kg, tmp_path, [group(theme, 3) for theme in ("Sailor", "Miner", "Baker", "Weaver", "Farmer", "Doctor")])
    with OpenAIServer(names) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        monkeypatch.setenv("KGPLATFORM_CONCURRENCY", "1")
        stopped = CliRunner().invoke(app, ["tree", "--token-budget", "10"])
        assert stopped.exit_code == 1
        assert "larger --token-budget" in stopped.stdout
        assert len(server.requests) == 1
        rest = CliRunner().invoke(app, ["tree"])
        assert rest.exit_code == 0
        assert "Names: 1 by the model, 5 kept." in rest.stdout
