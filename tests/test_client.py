"""``connect`` and the object that it gives: which graph it opens, and what it refuses in one sentence.

That it starts the managed server where no address is given is told in ``exchange/test_neo4j_admin.py``.
"""

import dataclasses
import inspect
import re
import shlex
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from conftest import DIMENSION, EXAMPLES, opened, wipe
from corpora import FIELD, OTHERS, RECORDING, extracted, put, put_jsonl

from kgplatform import connect
from kgplatform.client import KnowledgeGraph, open_graph
from kgplatform.errors import (
    EmbeddingMismatchError,
    InputError,
    KgError,
    ModelError,
    ServerError,
    SettingError,
    to_install,
)
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.openai_chat import OpenAIChat, make_chat
from kgplatform.models.own import as_embedder
from kgplatform.neo4j.store import Connection, Store
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer, ScriptedChat

pytestmark = pytest.mark.indexes


@pytest.fixture
def given(neo4j_server: Connection, store: Store, at_server: None) -> Connection:
    """The run's server, named by the environment, with an empty graph."""
    return neo4j_server


def test_a_given_server(given: Connection, tmp_path: Path) -> None:
    with connect() as graph:
        assert graph.store.connection.uri == given.uri
        graph.ingest(put(tmp_path, FIELD), extractor="local")
        assert [info.title for info in graph.documents()] == ["field"]
    assert not (tmp_path / "home" / "neo4j").exists(), "no server was managed"
    with connect(neo4j_uri=given.uri.replace("bolt://", "neo4j://"), neo4j_database="neo4j") as graph:
        assert [info.title for info in graph.documents()] == ["field"]


def test_what_another_program_embeds_again_is_followed(given: Connection, tmp_path: Path) -> None:
    """By passes at once, by searches within seconds, in a graph that was opened before, and by parts of it."""
    with connect(embedder="auto") as graph, connect(embedder="hash:64") as fixed:
        for each in (graph, fixed):
            each.embedder.embed(["x"])
        fixed.ingest(put(tmp_path, FIELD), extractor="local")
        for each in (graph, fixed):
            assert each.search("Cyrus Field").passages
        with open_graph(load_settings(embedder="hash:32")) as other:
            other.reembed()
        graph._followed[0] -= 10
        assert graph.within().search("Cyrus Field").passages
        assert graph.embedder.name == "hash:32"
        assert graph.ingest(put(tmp_path, OTHERS), extractor="local").complete
        with pytest.raises(EmbeddingMismatchError, match="Set KGPLATFORM_EMBEDDER=hash:32"):
            fixed.ingest(put(tmp_path, OTHERS), extractor="local")


@pytest.mark.usefixtures("given")
def test_a_server_that_cannot_be_used(monkeypatch: pytest.MonkeyPatch) -> None:
    cases: list[tuple[dict[str, Any], type[KgError], str]] = [
        ({"neo4j_password": "wrong"}, ServerError, "Check NEO4J_USERNAME and NEO4J_PASSWORD"),
        ({"neo4j_uri": "bolt://127.0.0.1:9"}, ServerError, "bolt://127.0.0.1:9"),
        ({"neo4j_uri": "neo4j://127.0.0.1:9"}, ServerError, "127.0.0.1:9"),
        ({"neo4j_uri": "http://127.0.0.1:7474"}, KgError, "NEO4J_URI.*bolt://"),
        ({"neo4j_uri": "bolt://"}, KgError, "NEO4J_URI"),
        ({"neo4j_database": "nowhere"}, KgError, "nowhere"),
    ]
    for wrong, kind, said in cases:
        with pytest.raises(kind, match=rf"^[^\n]*{said}[^\n]*\.$"):
            connect(**wrong)
    monkeypatch.delenv("NEO4J_PASSWORD")
    with pytest.raises(SettingError, match="NEO4J_PASSWORD"):
        connect()


def test_a_graph_of_another_model_is_refused_at_once(given: Connection, tmp_path: Path) -> None:
    with connect() as graph:
        graph.ingest(put(tmp_path, FIELD), extractor="local")
    with pytest.raises(EmbeddingMismatchError, match=r"hash:64.*hash:32|hash:32.*hash:64"):
        connect(embedder="hash:32")
    with open_graph(load_settings(embedder="hash:32")) as graph:
        assert len(graph.documents()) == 1
    with connect(embedder="auto") as graph:
        assert graph.embedder.name == "hash:64"


@pytest.mark.usefixtures("given")
def test_who_gives_a_model_closes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[object] = []
    monkeypatch.setattr(OpenAIChat, "close", lambda chat: closed.append(chat))
    settings = load_settings(openai_base_url="http://127.0.0.1:1/v1")
    with open_graph(settings, chat=make_chat(settings, Ledger())) as graph:
        assert graph.language_model is not None
    with open_graph(settings) as graph:
        own = graph.language_model
    assert closed == [own]


@pytest.mark.usefixtures("given")
def test_models_that_are_functions(tmp_path: Path) -> None:
    own = HashEmbedder(DIMENSION)

    def reply(messages: list[dict[str, str]]) -> str:
        is_answer = "Who" in messages[-1]["content"]
        return '{"evidence": [], "answer": "Cyrus Field.", "sufficient": true}' if is_answer else '{"entities": []}'

    def embed(texts: list[str]) -> list[list[float]]:
        return (3 * own.embed(texts)).tolist()

    with connect(chat=reply, embedder=embed) as graph:
        assert graph.ingest(put(tmp_path, FIELD)).extractor == "llm"
        assert "Cyrus Field" in str(graph.ask("Who founded the Atlantic Telegraph Company?"))
        assert graph.ledger.by_stage().keys() >= {"extract", "answer"}
        assert graph.embedder.name.startswith("own:test_models_that_are_functions.")
        assert graph.embedder.dimension == DIMENSION
    with pytest.raises(SettingError, match="was embedded by a function of a program"):
        connect(embedder="auto")
    with connect(embedder=embed) as graph:
        assert graph.search("Cyrus Field").passages
    for wrong, said in [
        ({"chat": "gpt"}, "chat='gpt' cannot be used"),
        ({"embedder": 3}, "embedder=3 cannot be used"),
        ({"nonsense": 3}, 'There is no setting "nonsense"'),
    ]:
        with pytest.raises(InputError, match=said):
            connect(**wrong)  # type: ignore[arg-type]  # on purpose
    with pytest.raises(ModelError, match="must return 1 vectors"):
        as_embedder(lambda texts: [[1.0]] * (len(texts) + 1)).embed(["x"])
    with pytest.raises(ModelError, match=r"failed \(KeyError: 'x'\)"):
        as_embedder(lambda texts: {}[texts[0]]).embed(["x"])


def test_what_is_asked_wrongly(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = put(tmp_path, FIELD)
    with pytest.raises(InputError, match="The graph is empty"):
        kg.search("Who?")
    assert kg.schema() is None
    for attempt, said in [
        (lambda: kg.ingest(files, extractor="magic"), 'Unknown extractor "magic". Choose one of llm, local, recorded.'),
        (lambda: kg.ingest(files, extractor="recorded"), "Name it with recorded=FILE"),
        (lambda: kg.ingest(files, extractor="llm"), "OPENAI_API_KEY"),
        (lambda: kg.ingest(files, extractor="local", mode="loose"), 'Unknown mode "loose"'),  # type: ignore[arg-type]  # on purpose
        (lambda: kg.ingest(files, schema="genral"), "Did you mean general\\?"),
        (lambda: kg.ingest(tmp_path / "nothing"), "no such file or folder"),
    ]:
        with pytest.raises(InputError, match=said):
            attempt()
    assert kg.documents() == []
    kg.ingest(files, extractor="local")
    for attempt, said in [
        (lambda: kg.search("Who?", route="entiti"), "Did you mean entity"),
        (lambda: kg.search("  "), "question"),
        (lambda: kg.search("Who?", top_k=0), "top_k must be at least 1"),
        (lambda: kg.ask("Who?", reader="sage"), 'Unknown reader "sage"'),
        (lambda: kg.ask("Who?", mode="guess"), 'Unknown mode "guess"'),  # type: ignore[arg-type]  # on purpose
        *wrong_types(kg),
    ]:
        with pytest.raises(InputError, match=said):
            attempt()


def wrong_types(kg: KnowledgeGraph) -> list[tuple[Callable[[], object], str]]:
    """What a type checker refuses, and a program without one gets a sentence for; ``arguments_refused`` has more."""
    given: Any = kg
    return [
        (lambda: given.ask("Who?", top_k="3"), "top_k=3 cannot be used: it must be a whole number."),
        (lambda: given.remove([]), "Name at least one document."),
        (lambda: given.cypher("RETURN 1", limit=0), "limit must be more than 0."),
        (lambda: given.cypher("RETURN 1", timeout=-1), "timeout must be more than 0."),
        (lambda: given.chat("nosuch"), "There is no thread"),
        (lambda: given.ingest(None), "A value of type NoneType cannot be ingested."),
        (lambda: given.ingest("x.txt", extractor=3), "extractor=3 cannot be used"),
        (lambda: given.ingest("A text that is in no file."), "no such file or folder; to ingest a text, use"),
        (lambda: given.export("x.jsonl", format="doc"), "format"),
        *arguments_refused(kg),
    ]


TELL_THEMSELVES = {"Ingestible", "str | Extractor | None", "Mode"}
"""Annotations of arguments that the methods check themselves."""
FOR_OTHERS = {"close", "jobs", "lend_driver", "py2neo"}


def arguments_refused(kg: KnowledgeGraph) -> Iterator[tuple[Callable[[], object], str]]:
    """Each argument of each public method of a graph, of what is looked at and of a thread, given what it cannot be."""
    for part in (kg, kg.look, kg.chat()):
        for name, method in inspect.getmembers(part, inspect.ismethod):
            named = [
                each for each in inspect.signature(method).parameters.values() if each.kind is not each.VAR_KEYWORD
            ]
            needed = {each.name: "x" for each in named if each.default is each.empty}
            for each in named:
                if name in FOR_OTHERS or name.startswith("_") or each.annotation in TELL_THEMSELVES:
                    continue
                wrong: dict[str, object] = {**needed, each.name: object()}
                first = [wrong.pop(one.name) for one in named if one.kind is one.POSITIONAL_ONLY]
                words = f"^{each.name}=<object object at .*> cannot be used: it must be (a|True) [A-Za-z ]+\\.$"
                yield partial(method, *first, **wrong), words


def test_records_are_frozen_and_complete(kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg.ingest(put(tmp_path, FIELD | OTHERS), recorded=put_jsonl(tmp_path / "r.jsonl", RECORDING))
    result = kg.search("Who founded the Atlantic Telegraph Company?", top_k=3)
    info = next(each for each in kg.documents() if each.title == "field")
    assert (info.uri, info.characters) == ((tmp_path / "field.txt").as_uri(), len(FIELD["field.txt"]))
    assert (info.passages, info.extracted, info.failed) == (1, 1, 0)
    assert info.added_at.startswith("20")
    for record in (result, result.passages[0], result.facts[0], result.facts[0].citations[0], info, kg.stats()):
        field = dataclasses.fields(record)[0].name
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, field, None)
    for fact in result.facts:
        for place in fact.citations:
            text = (tmp_path / Path(place.document).name).read_text()
            assert 0 <= place.start < place.end <= len(text)


def test_estimating_spends_nothing(store: Store, tmp_path: Path) -> None:
    with OpenAIServer(extracted) as server:
        graph = opened(store, tmp_path / "home", openai_base_url=server.base_url)
        files = put(tmp_path, FIELD | OTHERS)
        cost = graph.estimate([*files, *put(tmp_path, {"empty.txt": ""})])
        assert (cost.documents, cost.passages, cost.pending_passages, cost.calls, len(cost.skipped)) == (3, 3, 3, 3, 1)
        assert cost.input_tokens > 3 * 200
        assert server.requests == []
        assert graph.stats().nodes == {}
        spent = graph.ingest(files).usage["extract"]
        assert spent.calls == 3
        assert abs(spent.input_tokens - cost.input_tokens) <= 0.1 * spent.input_tokens
        done = graph.estimate(files)
        assert (done.pending_passages, done.calls, done.input_tokens, done.output_tokens) == (0, 0, 0, 0)
        assert graph.estimate(files, extractor="local").calls == 0


def test_the_extractor_that_is_chosen(store: Store, settings: object, tmp_path: Path) -> None:
    def graph(chat: ScriptedChat | None = None) -> KnowledgeGraph:
        wipe(store)
        return KnowledgeGraph(store, load_settings(), embedder=HashEmbedder(64), chat=chat)

    files = put(tmp_path, FIELD)
    recording = put_jsonl(tmp_path / "r.jsonl", RECORDING)
    assert graph().ingest(files).extractor == "local"
    report = graph().ingest(files, recorded=recording)
    assert (report.extractor, report.mode) == ("recorded", "flexible")
    assert report.notes == [f"{name}: recorded, but not among the documents" for name in ("letter.txt", "obituary.txt")]
    chat = ScriptedChat(lambda messages: '{"entities": [{"name": "Cyrus Field", "type": "Person"}]}')
    assert graph(chat).ingest(files).extractor == "llm"
    assert graph(chat).ingest(files, extractor="local").extractor == "local"


def test_a_document_that_the_recording_does_not_name_is_read_once_it_does(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = put(tmp_path / "texts", FIELD | OTHERS)
    report = kg.ingest(files, recorded=put_jsonl(tmp_path / "r.jsonl", RECORDING[:1]))
    assert not report.complete
    assert [each.reason for each in report.failed] == [
        f"r.jsonl has no line about {name}. Add one, with its title or file name." for name in ("letter", "obituary")
    ]
    assert {info.title: (info.extracted, info.failed) for info in kg.documents()}["field"] == (1, 0)
    report = kg.ingest(files, recorded=put_jsonl(tmp_path / "r.jsonl", RECORDING))
    assert (report.complete, report.extracted, report.failed) == (True, 2, [])


def test_a_reader_without_a_model_or_with_one_that_fails_gives_its_evidence(kg: KnowledgeGraph) -> None:
    """What it found before, else what is nearest: youtu fails before its first search."""

    def fails(_: object) -> str:
        raise ModelError("The model is gone.")

    kg.ingest(EXAMPLES / "corpus" / "People.json", extractor="local")
    graph = KnowledgeGraph(kg.store, kg.settings, embedder=HashEmbedder(64), chat=ScriptedChat(fails))
    found = [passage.id for passage in kg.search("Who was Matthew Fontaine Maury?").passages]
    answer = kg.ask("Who was Matthew Fontaine Maury?")
    assert (answer.text, "language model" in answer.note, bool(answer.evidence.passages)) == (None, True, True)
    for reader in ("retrieve", "youtu"):
        with pytest.raises(ModelError, match="gone") as caught:
            graph.ask("Who was Matthew Fontaine Maury?", reader)
        assert caught.value.evidence is not None
        assert [passage.id for passage in caught.value.evidence.passages] == found


def test_a_query_through_py2neo(kg: KnowledgeGraph, tmp_path: Path) -> None:
    pytest.importorskip("py2neo")
    (tmp_path / "a.txt").write_text("Cyrus Field met Samuel Morse in New York.")
    kg.ingest(tmp_path / "a.txt", extractor="local")
    graph = kg.py2neo()
    found = graph.run("MATCH (e:Entity {key: $key}) RETURN e.name AS name", key="cyrus field").data()
    assert found == [{"name": "Cyrus Field"}]
    assert graph.nodes.match("Document").count() == 1


def test_without_py2neo_it_says_what_to_install(kg: KnowledgeGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "py2neo", None)
    with pytest.raises(SettingError, match=re.escape(to_install("py2neo"))):
        kg.py2neo()


@pytest.mark.parametrize("has_pip", [True, False])
def test_the_command_that_installs_an_extra_names_its_packages_and_the_environment_that_runs(
    has_pip: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("kgplatform.errors.find_spec", lambda name: object() if has_pip else None)
    pip, packages = to_install("ocr").split(" install ")
    assert shlex.split(pip) == ([sys.executable, "-m", "pip"] if has_pip else ["pip", "--python", sys.executable])
    assert sorted(re.split("[>=<]", each)[0] for each in shlex.split(packages)) == ["pillow", "rapidocr"]
