"""``ingest --facts``: atomic facts by GraphReader's own prompt for passages that have none from a model."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from command_line import Run
from corpora import difference, invented, put, put_jsonl
from graph_state import snapshot
from model_by_prompt import Prompt, budgeted

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.ingest.facts_pass import BY_PASS
from kgplatform.models.chat import Reply
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer, ScriptedChat

pytest_plugins = ["command_line"]

BY = "MATCH (c:Chunk) RETURN c.factsBy, count(*) ORDER BY c.factsBy"


def passage(messages: Messages) -> str:
    """The text of a passage, out of its prompt."""
    return " ".join(Prompt(messages).sentences.values())


def by_rules(messages: Messages) -> str:
    """One fact a sentence; its key elements are its long words."""
    told = Prompt(messages).sentences.items()
    facts = [[str(number), "", *(word.strip(".,") for word in said.split() if len(word) > 4)] for number, said in told]
    return json.dumps({"facts": facts})


def opened(
    store: Store, home: Path, answers: Callable[[Messages], str | Reply] | None = by_rules, **more: Any
) -> KnowledgeGraph:
    chat = ScriptedChat(answers) if answers else None
    settings = load_settings(home=home, passage_tokens=40, embedder="hash:64", **more)
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)


def calls(kg: KnowledgeGraph) -> list[str]:
    assert isinstance(kg.language_model, ScriptedChat)
    return [passage(call.messages) for call in kg.language_model.calls if call.stage == "facts"]


def test_the_facts_of_the_rules_are_replaced(store: Store, tmp_path: Path) -> None:
    files = invented(tmp_path / "notes", 3)
    kg = opened(store, tmp_path / "home")
    kg.ingest(files, extractor="local")
    assert kg.cypher(BY).rows == [["local", 9]]
    old = {row[0] for row in kg.cypher("MATCH (f:Fact {kind: 'atomic'}) RETURN f.id").rows}
    triples = kg.cypher("MATCH (f:Fact) WHERE f.kind <> 'atomic' RETURN f.id ORDER BY f.id").rows
    report = kg.ingest(facts=True)
    assert (report.facts_read, report.facts_failed, report.complete) == (9, [], True)
    assert kg.cypher(BY).rows == [[BY_PASS, 9]]
    facts = kg.cypher("MATCH (f:Fact {kind: 'atomic'})-[e:FROM_CHUNK]->(c) RETURN f.id, f.text, c.text, e.found").rows
    assert report.facts_found == len(facts) > 9
    assert all(place for _, _, _, place in facts), "each in the words of its passage"
    assert not old & {row[0] for row in facts if row[1].rstrip(".") not in row[2]}
    assert kg.cypher("MATCH (f:Fact) WHERE f.kind <> 'atomic' RETURN f.id ORDER BY f.id").rows == triples
    counted = "MATCH (c:Chunk) RETURN sum(c.found + c.notFound), COUNT { (:Fact)-[:FROM_CHUNK]->(:Chunk) }"
    assert len(set(kg.cypher(counted).rows[0])) == 1
    assert kg.cypher("MATCH (n:Pending) RETURN count(n)").rows == [[0]]
    named = "MATCH (k:KeyElement {key: 'founded'})<-[:MENTIONS]-(f) RETURN count(f) > 0, k.elementEmbedding IS NOT NULL"
    assert kg.cypher(named).rows == [[True, True]]
    entity = "MATCH (e:Entity {key: 'kestrel lines'})<-[:MENTIONS]-(f:Fact) RETURN count(f)"
    assert kg.cypher("MATCH (k:KeyElement {key: 'kestrel'}) RETURN count(k)").rows == [[1]]
    assert kg.cypher(entity).rows == [[0]], "these key elements are single words"


def test_a_key_element_that_the_passage_names_as_an_entity_is_that_entity(store: Store, tmp_path: Path) -> None:
    text = "Kestrel Lines was founded by Ben Okafor in the winter of 1899, when the harbour froze for nine weeks."
    said = json.dumps({"facts": [["1", "KESTREL LINES was founded.", "KESTREL LINES", "founded"]]})
    kg = opened(store, tmp_path / "home", lambda _: said)
    files = put(tmp_path, {"note.txt": text})
    kg.ingest(files, extractor="local", facts=True)
    shown = "MATCH (f:Fact {kind: 'atomic'})-[:MENTIONS]->(k) RETURN k:Entity, k.name, k.aliases ORDER BY k.name"
    assert kg.cypher(shown).rows == [[True, "KESTREL LINES", ["Kestrel Lines"]], [False, "founded", None]]
    wanted = snapshot(store)
    kg.remove(files[0].as_uri())
    kg.ingest(files, extractor="local")
    kg.ingest(files, facts=True, extractor="local")
    assert difference(snapshot(store), wanted) == [], "in one go, or later: the same graph"


def test_a_second_pass_has_nothing_to_do_and_says_so(store: Store, tmp_path: Path) -> None:
    files = invented(tmp_path / "notes", 2)
    kg = opened(store, tmp_path / "home")
    kg.ingest(files, extractor="local")
    report = kg.ingest(files[0], extractor="local", facts=True)
    assert (report.extracted, report.facts_read, report.unchanged) == (0, 3, 1), "with paths only their passages"
    assert kg.cypher(BY).rows == [[BY_PASS, 3], ["local", 3]]
    assert kg.ingest(facts=True).facts_read == 3
    before = snapshot(store), len(calls(kg))
    of_files = kg.ingest(files, extractor="local", facts=True)
    for again, where in ((kg.ingest(facts=True), "the graph"), (of_files, "these files")):
        assert again.notes == [f"All passages of {where} already have atomic facts; none was read."]
        assert (again.facts_read, again.complete) == (0, True)
    assert (snapshot(store), len(calls(kg))) == before


def test_only_passages_without_facts_from_a_model_or_a_recording_are_read(store: Store, tmp_path: Path) -> None:
    texts = {"a.txt": "Ada Norrby lives in Brest.", "b.txt": "Ben Okafor lives in Danzig.", "c.txt": "It is a cat."}
    files = put(tmp_path, texts)
    told = put_jsonl(
        tmp_path / "r.jsonl",
        [
            {"document": "a.txt", "facts": [{"text": "Ada Norrby lives in Brest.", "key_elements": ["Ada Norrby"]}]},
            {"document": "b.txt", "entities": [{"name": "Ben Okafor", "type": "Person"}]},
        ],
    )
    kg = opened(store, tmp_path / "home")
    kg.ingest(files[:2], recorded=told)
    joint = json.dumps({"entities": [{"name": "cat", "type": "Person"}]})
    by_model = opened(store, tmp_path / "home", lambda _: joint)
    by_model.ingest(files[2], extractor="llm")
    assert kg.cypher(BY).rows == [["llm", 1], ["recorded", 1], [None, 1]]
    assert kg.ingest(facts=True).facts_read == 1
    assert calls(kg) == [texts["b.txt"]]
    assert kg.cypher(BY).rows == [[BY_PASS, 1], ["llm", 1], ["recorded", 1]]


def test_a_failed_passage_keeps_its_facts_and_is_tried_again(store: Store, tmp_path: Path) -> None:
    def moody(messages: Messages) -> str:
        return "No." if "was founded by" in messages[1]["content"] else by_rules(messages)

    files = invented(tmp_path / "notes", 1)
    kg = opened(store, tmp_path / "home", moody)
    kg.ingest(files, extractor="local")
    facts = "MATCH (f:Fact {kind: 'atomic'})-[:FROM_CHUNK]->(c {index: 1}) RETURN f.text"
    old = kg.cypher(facts).rows
    report = kg.ingest(facts=True)
    assert (report.facts_read, report.complete) == (2, False)
    assert [each.name for each in report.facts_failed] == [kg.cypher("MATCH (c {index: 1}) RETURN c.name").rows[0][0]]
    assert "in stage facts cannot be used" in report.facts_failed[0].reason
    assert len(calls(kg)) == 4
    why = "MATCH (c:Chunk {index: 1}) RETURN c.factsBy, c.factsFailure, c.state"
    assert kg.cypher(why).rows == [["local", report.facts_failed[0].reason, "extracted"]]
    assert kg.cypher(facts).rows == old != []
    well = opened(store, tmp_path / "home")
    left = well.ingest(facts=True)
    assert (left.facts_read, left.facts_unread, len(calls(well))) == (0, 1, 0), "its reply was of no use"
    assert (well.ingest(facts=True, retry_failed=True).facts_read, len(calls(well))) == (1, 1)
    assert kg.cypher(why).rows == [[BY_PASS, None, "extracted"]]


def test_malformed_lines_are_counted(store: Store, tmp_path: Path) -> None:
    kg = opened(store, tmp_path / "home", lambda messages: by_rules(messages).replace("]]", '], ["0", "Nothing"]]'))
    files = invented(tmp_path / "notes", 1)
    kg.ingest(files, extractor="local")
    assert kg.ingest(facts=True).malformed == {"atomic fact without text": 3}
    assert kg.ingest(files, extractor="local").malformed == {"atomic fact without text": 3}, "the passages know"


def test_key_elements_that_the_passage_does_not_name_stay_out_and_are_counted(store: Store, tmp_path: Path) -> None:
    facts = [
        {"text": "Ada Norrby lives in Brest.", "key_elements": ["Ada Norrby", "lives", "Brest", "she", "Danzig"]},
        {"text": "Bo Falk was a pilot.", "key_elements": ["Bo Falk", "pilot"]},
    ]
    kg = opened(store, tmp_path / "home", lambda _: json.dumps({"facts": facts}))
    files = put(tmp_path, {"a.txt": "Ada Norrby lives in Brest, by the harbour, since the winter of 1899."})
    kg.ingest(files, recorded=put_jsonl(tmp_path / "r.jsonl", [{"document": "a.txt"}]))
    report = kg.ingest(facts=True)
    assert (report.facts_found, report.unnamed) == (1, 4)
    assert kg.cypher("MATCH (k:KeyElement) RETURN k.name ORDER BY k.name").rows == [
        ["Ada Norrby"],
        ["Brest"],
        ["lives"],
    ]
    assert kg.cypher("MATCH (f:Fact) RETURN f.text").rows == [["Ada Norrby lives in Brest."]]
    assert kg.ingest(files, extractor="local").unnamed == 4, "the passages know"


def test_a_pass_that_ran_out_of_budget_goes_on_where_it_was(store: Store, tmp_path: Path) -> None:
    files = invented(tmp_path / "notes", 4)
    kg = opened(store, tmp_path / "home")
    kg.ingest(files, extractor="local", facts=True)
    wanted = snapshot(store)
    kg.remove([each.as_uri() for each in files])
    kg.ingest(files, extractor="local")
    report = opened(store, tmp_path / "home", budgeted(by_rules, [5]), concurrency=1).ingest(facts=True)
    assert (report.stopped, report.facts_read, report.complete) == ("The budget is used up.", 5, False)
    again = opened(store, tmp_path / "home")
    report = again.ingest(facts=True)
    assert (report.facts_read, len(calls(again)), report.complete) == (7, 7, True)
    assert difference(snapshot(store), wanted) == []


def test_without_a_model_nothing_is_read_and_it_says_what_to_set(store: Store, tmp_path: Path) -> None:
    files = invented(tmp_path / "notes", 1)
    kg = opened(store, tmp_path / "home", None)
    for paths in (files, []):
        with pytest.raises(InputError, match="OPENAI_API_KEY, or OPENAI_BASE_URL"):
            kg.ingest(paths, extractor="local", facts=True)
    assert kg.documents() == []
    with pytest.raises(InputError, match="The graph is empty"):
        opened(store, tmp_path / "home").ingest(facts=True)


def test_the_estimate_counts_the_pass(store: Store, tmp_path: Path) -> None:
    files = invented(tmp_path / "notes", 3)
    kg = opened(store, tmp_path / "home")
    assert kg.estimate(files, extractor="local", facts=True).calls == 9
    assert kg.estimate(files, extractor="llm", facts=True) == kg.estimate(files, extractor="llm")
    kg.ingest(files[:2], extractor="local")
    assert kg.estimate(facts=True).calls == 6
    told = kg.estimate(files, extractor="local", facts=True)
    assert (told.calls, told.pending_passages) == (9, 3)
    kg.ingest(files, extractor="local")
    assert kg.estimate(files, extractor="local", facts=True).input_tokens == told.input_tokens
    kg.ingest(facts=True)
    assert (kg.estimate(facts=True).calls, kg.estimate(facts=True).input_tokens) == (0, 0)


def test_the_command_reads_reports_and_counts(
    store: Store, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    invented(tmp_path / "notes", 1)
    monkeypatch.setenv("KGPLATFORM_PASSAGE_TOKENS", "40")
    assert run("ingest", tmp_path / "notes", "--extractor", "local").code == 0
    without = run("ingest", "--facts")
    assert (without.code, "OPENAI_BASE_URL" in without.err) == (2, True)
    with OpenAIServer(by_rules) as server:
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert "3 language-model calls" in run("ingest", "--facts", "--estimate").out
        done = run("ingest", "--facts")
        assert (done.code, "atomic facts in 3 passages that the model read now" in done.out) == (0, True)
        assert "Documents:" not in done.out
        told = run("ingest", "--facts", "--json").document
        assert (told["facts_read"], told["facts_failed"], len(server.requests_to("/completions"))) == (0, [], 3)
        assert "All passages of the graph already have atomic facts" in run("ingest", "--facts").out
    assert "For GraphReader: " in run("stats").out
