"""`kgplatform tree`: what it prints, for people and as JSON, and its exit status."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from trees import assert_whole, group, ingest, names
from typer.testing import CliRunner

from kgplatform.client import KnowledgeGraph
from kgplatform.interfaces.cli.main import app
from kgplatform.interfaces.cli.show import reports
from kgplatform.neo4j.store import Connection, Store
from kgplatform.testing import OpenAIServer
from kgplatform.tree.build_tree import LargeCommunity, TreeReport


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
def test_the_command_for_people(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [group("Sailor", 4), group("Miner", 5)])
    built = CliRunner().invoke(app, ["tree"])
    assert built.exit_code == 0, built.output
    assert "The largest communities" in built.stdout
    assert " and others (Person)  5 entities" in built.stdout
    assert "Keywords: " in built.stdout
    assert "Tree built by the method multiplex: 9 entities in 2 communities, 9 keywords." in built.stdout
    assert "Names: 2 from members and facts." in built.stdout
    assert_whole(store)
    again = CliRunner().invoke(app, ["tree", "--update"])
    assert "Nothing changed: the tree is up to date." in again.stdout
    assert "no tree to update" not in again.stdout
    assert "Names: " not in again.stdout


@pytest.mark.usefixtures("settled")
def test_an_update_without_a_tree_says_that_it_built_one(kg: KnowledgeGraph, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [group("Sailor", 4)])
    built = CliRunner().invoke(app, ["tree", "--update"])
    assert built.exit_code == 0
    assert built.stdout.split("\n")[0] == "There was no tree to update, so it was built."
    assert "Tree built by the method multiplex" in built.stdout


@pytest.mark.usefixtures("settled")
def test_names_without_a_model_are_asked_for_by_a_rebuild_only(
    kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(kg, tmp_path, [group("Sailor", 4), group("Miner", 5)])
    kg.build_tree()
    with OpenAIServer(names) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        said = CliRunner().invoke(app, ["tree"]).stdout
        hint = "2 communities have names from a run without a model. `kgplatform tree --rebuild` asks the model."
        assert hint in said
        assert server.requests == []
        rebuilt = CliRunner().invoke(app, ["tree", "--rebuild"]).stdout
        assert "Names: 2 by the model." in rebuilt
        assert "when no model was asked" not in rebuilt


@pytest.mark.usefixtures("settled")
def test_names_that_fail_again_do_not_contradict_that_nothing_moved(
    kg: KnowledgeGraph, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ingest(kg, tmp_path, [group("Sailor", 4), group("Miner", 5)])
    with OpenAIServer(lambda messages: '{"communities": []}') as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        for _ in range(2):
            said = CliRunner().invoke(app, ["tree"]).stdout
            assert (
                "Names: 2 from members and facts (2 because the model gave none).\n"
                "Not named by the model: The language model left communities out, named one twice, or by a "
                "number that its facts do not have.\n"
                "`kgplatform tree --update` asks the model again for 2 names.\n"
            ) in said
            assert "Nothing changed" not in said
    assert "No entity moved." in said


@pytest.mark.usefixtures("settled")
def test_the_command_as_json(kg: KnowledgeGraph, tmp_path: Path) -> None:
    ingest(kg, tmp_path, [group("Sailor", 4)])
    report = json.loads(CliRunner().invoke(app, ["tree", "--json", "--method", "leidenalg"]).stdout)
    assert (report["method"], report["action"], report["entities"], report["depths"]) == ("leidenalg", "built", 4, [1])
    assert report["largest"][0]["name_by"] == "members"
    assert {"read", "communities", "write", "total"} <= set(report["seconds"])


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


def test_the_report_says_what_moved_and_what_failed(capsys: pytest.CaptureFixture[str]) -> None:
    one = LargeCommunity("x", "[bold]Ships\x1b[2J", "model", "Of [red]ships[/red].", 0, 1234, ("Great Eastern",))
    report = TreeReport(
        "multiplex",
        action="updated",
        entities=1300,
        communities=12,
        depths=[10, 2],
        keywords=50,
        entities_new=2,
        entities_moved=1,
        communities_kept=9,
        communities_new=3,
        communities_gone=2,
        named_by_model=1,
        named_by_members=2,
        names_kept=9,
        failed_names=2,
        failures=["no answer"],
        largest=[one],
        seconds={"read": 1.5, "total": 2.0},
    )
    reports.show_tree(report)
    out = capsys.readouterr().out
    assert "[bold]Ships\ufffd[2J  1,234 entities" in out
    assert "1,300 entities in 12 communities (10 at depth 0, 2 at depth 1), 50 keywords." in out
    assert "Entities: 2 new, 1 moved. Communities: 9 kept, 3 new, 2 gone." in out
    assert "Not named by the model: no answer" in out
    assert "Names: 1 by the model, 2 from members and facts (2 because the model gave none), 9 kept." in out
    assert "`kgplatform tree --update` asks the model again for 2 names." in out
    assert "Time: 2.0 s (read 1.5 s)." in out
