"""What answers are like in an evaluation: phrases, of every reader, which the prompts on the wire ask for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from corpora import put
from model_by_prompt import Prompt
from pydantic import SecretStr
from simulated_readers import reply

from kgplatform.client import KnowledgeGraph
from kgplatform.evaluate.comparators import OFFICIAL, is_installed
from kgplatform.evaluate.evaluation import EvaluationPlan, evaluate
from kgplatform.evaluate.graphs import Graphs
from kgplatform.evaluate.kept_answers import inquiry_for
from kgplatform.evaluate.setups import names, parse_setups, resolved
from kgplatform.evaluate.terms import DataSet, Question, Results
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Connection
from kgplatform.prompt import Messages, source_of
from kgplatform.readers.answer import STYLES
from kgplatform.settings import Settings
from kgplatform.testing import OpenAIServer

TEXTS = {
    "lamp.txt": "Ann Ottley kept the Red Lamp. She lit it every evening for thirty years.",
    "ship.txt": "The ship Heron sailed to Bergen in May. Its master was Tom Pell.",
}
LAMP = Question("q1", "Who kept the Red Lamp?", ("Ann Ottley",))
ASKED = DataSet("own", (LAMP,))


@pytest.fixture
def asked(
    kg: KnowledgeGraph, settings: Settings, neo4j_server: Connection, tmp_path: Path
) -> Callable[..., tuple[Results, list[Prompt]]]:
    """Runs readers over two documents through a server on loopback; what it was asked is returned with the results."""
    kg.ingest(put(tmp_path / "corpus", TEXTS), extractor="local")

    def run(readers: str, model: Callable[[Messages], str] = reply) -> tuple[Results, list[Prompt]]:
        with OpenAIServer(model) as server:
            changes = {
                "neo4j_uri": neo4j_server.uri,
                "neo4j_username": neo4j_server.username,
                "neo4j_password": SecretStr(neo4j_server.password),
                "openai_base_url": server.base_url,
            }
            plan = EvaluationPlan(ASKED, parse_setups(readers), tmp_path / "out", prepare=True, raters=())
            with Graphs(settings.model_copy(update=changes), embedder=HashEmbedder(64)) as graphs:
                results, _ = evaluate(graphs, plan)
            sent = [each.body["messages"] for each in server.requests_to("/chat/completions")]
        return results, [Prompt(messages) for messages in sent]

    return run


def test_every_reader_is_asked_for_a_phrase(asked: Callable[..., tuple[Results, list[Prompt]]]) -> None:
    there = [name for name in names() if name not in OFFICIAL or is_installed()]
    results, sent = asked(",".join(there))
    assert [setup.failed for setup in results.setups] == [0] * len(there)
    answers = [prompt for prompt in sent if not prompt.name.startswith("gist/")]  # whose style is that of gists
    styled = [prompt for prompt in answers if "$style" in source_of(prompt.name)]
    wanted = {
        *("readers/answer", "graphreader/answer", "readagent/answer", "longagent/decide"),
        *("baselines/chunk_notes", "evaluate/zero_shot"),
    }
    assert wanted - {prompt.name for prompt in styled} == set()
    assert [prompt.name for prompt in styled if STYLES["phrase"] not in prompt.system + prompt.user] == []
    assert not any(STYLES[other] in prompt.system + prompt.user for prompt in sent for other in ("sentences", "report"))


def test_only_what_is_a_phrase_is_asked_for_in_one() -> None:
    (setup,) = parse_setups("retrieve")
    assert inquiry_for(setup, LAMP, ASKED).options["answer_style"] == "phrase"
    hidden = replace(LAMP, placeholders={"[PERSON#1]": ("Ann Ottley",)})
    assert "answer_style" not in inquiry_for(setup, hidden, ASKED).options
    assert resolved(setup)["answer_style"] == "phrase"
