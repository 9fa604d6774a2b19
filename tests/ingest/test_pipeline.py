"""The main job against a real Neo4j: repeating it, changing its files, failing, spending, and what it may not break."""

import itertools
import json
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import EXAMPLES, wipe
from corpora import FIELD, OTHERS, RECORDING, difference, extracted, invented, put, put_jsonl
from graph_state import Snapshot, snapshot
from other_embedder import OtherEmbedder

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import EmbeddingMismatchError, InputError, ModelError, ReplyError, StoreError
from kgplatform.ingest.graph_state import define_graph
from kgplatform.models.chat import Ledger
from kgplatform.models.embed import HashEmbedder
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.neo4j.store import Connection, Store, trace
from kgplatform.prompt import Messages
from kgplatform.query import load_query
from kgplatform.records import Document, QueryRun
from kgplatform.settings import Settings, load_settings
from kgplatform.sources.load import load
from kgplatform.testing import Fault, OpenAIServer, ScriptedChat

OPTIONS: dict[str, Any] = {"extractor": "local"}


def rows(kg: KnowledgeGraph, statement: str, **parameters: object) -> list[list[Any]]:
    return kg.cypher(statement, parameters, limit=100_000).rows


def graph_of(kg: KnowledgeGraph, files: list[Path], **options: Any) -> Snapshot:
    """The graph of ``files`` in an empty database."""
    wipe(kg.store)
    kg.ingest(files, **(options or OPTIONS))
    return snapshot(kg.store)


def test_a_second_ingest_changes_nothing(kg: KnowledgeGraph) -> None:
    corpus = EXAMPLES / "corpus"
    first = kg.ingest(corpus, recorded=EXAMPLES / "extraction.jsonl")
    check_complete(kg)
    check_offsets(kg, [corpus])
    before = snapshot(kg.store)
    told: list[QueryRun] = []
    with trace(told.append):
        second = kg.ingest(corpus, recorded=EXAMPLES / "extraction.jsonl")
    assert difference(before, snapshot(kg.store)) == []
    written = {each.name for each in told if load_query(each.name).mode == "write"}
    assert {name for name in written if not name.startswith("neo4j/passes/")} == {"ingest/set_graph_state"}
    assert (first.added, first.unchanged) == (len(first.skipped) + first.added, 0)
    assert (second.added, second.changed, second.unchanged, second.removed) == (0, 0, first.added, 0)
    assert (second.extracted, second.passages) == (0, first.passages)
    for count in ("kept", "mapped", "dropped", "off_schema", "statements_found", "statements_not_found", "duplicates"):
        assert getattr(second, count) == getattr(first, count), count
    assert second.malformed == first.malformed
    assert second.expansions == first.expansions
    assert second.complete


def check_complete(kg: KnowledgeGraph) -> None:
    """Nothing is pending, nameless, without its vector, or without something that supports it."""
    assert rows(kg, "MATCH (n:Pending) RETURN labels(n)") == []
    bare = "MATCH (n:Chunk|Fact|Entity) WHERE n.embedding IS NULL AND coalesce(n.kind, '') <> 'atomic' RETURN labels(n)"
    assert rows(kg, bare) == []
    assert rows(kg, "MATCH (n) WHERE coalesce(n.name, '') = '' AND NOT n:Graph RETURN labels(n)") == []
    assert rows(kg, "MATCH (e:Entity) WHERE NOT e:KeyElement RETURN e.name") == []
    assert rows(kg, "MATCH (f:Fact) WHERE NOT EXISTS { (f)-[:FROM_CHUNK]->(:Chunk) } RETURN f.text") == []
    assert rows(kg, "MATCH (k:KeyElement) WHERE NOT EXISTS { (k)-[:FROM_CHUNK]->(:Chunk) } RETURN k.name") == []
    ordered = "MATCH (a:Chunk)-[:NEXT_CHUNK]->(b:Chunk) WHERE b.index <> a.index + 1 OR b.start < a.end RETURN a.name"
    assert rows(kg, ordered) == []


def test_a_changed_file_replaces_what_it_was(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Also where passages of it stay: what they say may depend on the rest of the document."""
    opening = "Field met Morse and Maury in New York, and Field wrote to Maury about the cable at once."
    before, after = (
        f"{opening}\n\n{'The plain was quiet then. ' * 90}",
        f"{opening}\n\n{'In a field a morse key lay. ' * 90}",
    )
    other = put(tmp_path, {"other.txt": "Samuel Morse met Cyrus Field in New York in 1854."})
    changing = tmp_path / "changing.txt"
    changing.write_text(after)
    wanted = graph_of(kg, [changing, *other])
    changing.write_text(before)
    assert difference(graph_of(kg, [changing, *other]), wanted) != []
    changing.write_text(after)
    report = kg.ingest([changing, *other], **OPTIONS)
    assert (report.changed, report.unchanged) == (1, 1)
    assert difference(snapshot(kg.store), wanted) == []


def test_another_title_of_the_same_text_is_a_change(kg: KnowledgeGraph, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    body = "<html><head><title>{}</title></head><body><p>Cyrus Field met Samuel Morse in New York.</p></body></html>"
    page.write_text(body.format("A meeting"))
    kg.ingest(page, **OPTIONS)
    page.write_text(body.format("The Meeting of 1854"))
    report = kg.ingest(page, **OPTIONS)
    assert (report.changed, report.unchanged) == (1, 0)
    assert rows(kg, "MATCH (d:Document) RETURN d.name, d.key") == [["The Meeting of 1854", "the meeting of 1854"]]
    assert difference(snapshot(kg.store), graph_of(kg, [page])) == []


def test_a_corpus_that_lost_gained_changed_and_moved_items(kg: KnowledgeGraph, tmp_path: Path) -> None:
    def item(title: str, text: str) -> dict[str, str]:
        return {"title": title, "text": text}

    ada = item("Ada", "Ada Byron met Charles Babbage in London.")
    twin = [item("Twin", "Mary Somerville taught Ada Byron."), item("Twin", "Twin Peaks is near San Francisco.")]
    bare = [{"text": "Charles Babbage lived in London."}, {"text": "Luigi Menabrea lived in Turin."}]
    gone = item("Gone", "Augusta Leigh lived in London.")
    corpus = tmp_path / "corpus.json"
    corpus.write_text(json.dumps([gone, ada, *twin, *bare]))
    kg.ingest(corpus, **OPTIONS)
    changed = item("Ada", "Ada Byron met Charles Babbage in Ockham Park.")
    corpus.write_text(json.dumps([bare[1], *twin, item("New", "George Boole lived in Cork."), changed, bare[0]]))
    report = kg.ingest(corpus, **OPTIONS)
    assert report.removed >= 1
    assert difference(snapshot(kg.store), graph_of(kg, [corpus])) == []
    assert len(kg.documents()) == 6


def test_a_file_that_cannot_be_read_any_more_keeps_its_graph(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Half a download is no reason to forget; ``remove`` is how to say that a document is gone."""
    (file,) = put(tmp_path, FIELD)
    kg.ingest(file, **OPTIONS)
    before = snapshot(kg.store)
    file.write_bytes(b"")
    report = kg.ingest(file, **OPTIONS)
    assert [each.reason for each in report.skipped] == ["empty file"]
    assert difference(snapshot(kg.store), before) == []


def test_smaller_passages_are_a_change(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = invented(tmp_path, 3)
    small = KnowledgeGraph(kg.store, load_settings(passage_tokens=40), embedder=HashEmbedder(64))
    wanted = graph_of(small, files)
    assert difference(graph_of(kg, files), wanted) != []
    assert small.ingest(files, **OPTIONS).changed == 3
    assert difference(snapshot(kg.store), wanted) == []


def test_names_in_their_scripts_and_words_at_their_places(kg: KnowledgeGraph, tmp_path: Path) -> None:
    texts = {
        "鲁迅.txt": "鲁迅生于绍兴。🎉鲁迅写了《呐喊》。",
        "arabic.txt": "وُلد نجيب محفوظ في القاهرة. كتب نجيب محفوظ الثلاثية.",
        "accents.txt": "E\u0301mile Zola naquit à Paris 🇫🇷. Il écrivit Germinal; ÉMILE ZOLA mourut à Paris.",
    }

    def named(*people: str) -> list[dict[str, str]]:
        return [{"name": name, "type": "Person"} for name in people]

    def triple(subject: str, predicate: str, object_: str, quote: str) -> dict[str, str]:
        return {"subject": subject, "predicate": predicate, "object": object_, "quote": quote}

    recording = [
        {
            "document": "鲁迅.txt",
            "entities": [*named("鲁迅"), {"name": "绍兴", "type": "Place"}],
            "triples": [["鲁迅", "born in", "绍兴"]],
        },
        {
            "document": "arabic.txt",
            "entities": [*named("نجيب محفوظ"), {"name": "القاهرة", "type": "Place"}],
            "triples": [triple("نجيب محفوظ", "born in", "القاهرة", "ولد نجيب محفوظ في القاهرة")],
        },
        {
            "document": "accents.txt",
            "entities": [*named("Émile Zola", "ÉMILE ZOLA"), {"name": "Paris", "type": "Place"}],
            "triples": [triple("Émile Zola", "died in", "Paris", "ÉMILE ZOLA mourut à Paris")],
            "attributes": [{"entity": "Émile Zola", "key": "occupation", "value": "Germinal"}],
        },
    ]
    files = put(tmp_path, texts)
    kg.ingest(files, recorded=put_jsonl(tmp_path / "r.jsonl", recording))
    people = rows(kg, "MATCH (e:Person) RETURN e.key, e.name, e.aliases")
    assert sorted(people) == [
        ["émile zola", "Émile Zola", None],
        ["نجيب محفوظ", "نجيب محفوظ", None],
        ["鲁迅", "鲁迅", None],
    ]
    check_offsets(kg, files)
    assert rows(kg, "MATCH (:Fact)-[e:FROM_CHUNK]->(:Chunk) WHERE NOT e.found RETURN e") == []


def check_offsets(kg: KnowledgeGraph, files: list[Path]) -> None:
    """Passages and evidence stand in the text at the places that the graph gives."""
    texts = {each.uri: each.text for each in load(files) if isinstance(each, Document)}
    for uri, start, end, text in rows(kg, "MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d) RETURN d.uri, c.start, c.end, c.text"):
        assert texts[uri][start:end] == text
    evidence = rows(
        kg,
        "MATCH (f:Fact)-[e:FROM_CHUNK]->(c:Chunk)-[:FROM_DOCUMENT]->(d) WHERE e.found "
        "RETURN d.uri, e.start, e.end, c.start, c.end, f.text",
    )
    assert evidence
    for uri, start, end, first, last, text in evidence:
        assert first <= start < end <= last
        words = texts[uri][start:end]
        assert words.strip() == words
        assert any(letter.isalnum() for letter in words), text


NASTY = [
    *("`) DETACH DELETE n //", "'}) MATCH (n) SET n:Owned //", '"; DROP INDEX entity_key; //'),
    *("$(row.labels) ${name} {braces} $rows", "a\\u0027b \\", "two\nlines\tand tabs"),
    *("zero\u200bwidth\u2060joiner\ufeff", "\u202eright to left\u202c mark\u200f", "NULL", "MATCH (n) RETURN n"),
    *("🧬 \U0001f468\u200d\U0001f469\u200d\U0001f467", "x" * 500),
]


def test_names_are_stored_as_data(kg: KnowledgeGraph, tmp_path: Path) -> None:
    """Also as types and predicates: those that no schema has are text, and never a label or a relationship type."""
    lines = [
        {
            "document": "nasty.txt",
            "entities": [{"name": name, "type": name[:80]}, {"name": f"other {name}"[:500], "type": "Person"}],
            "triples": [[name, name, f"other {name}"[:500]]],
            "attributes": [{"entity": name, "key": name, "value": name}],
            "facts": [{"text": f"It says {name}", "key_elements": [name, f"element {name}"[:500]]}],
        }
        for name in NASTY
    ]
    files = put(tmp_path / 'na`me\'s "$x" {y}\n', {"nasty.txt": "Some text. " + " ".join(NASTY)})
    labels = set(kg.stats().nodes)
    kg.ingest(files, recorded=put_jsonl(tmp_path / "r.jsonl", lines), mode="flexible")
    shown = {" ".join(name.split()) for name in NASTY}
    named = {row[0] for row in rows(kg, "MATCH (e:Entity) RETURN e.name")}
    assert shown <= named
    facts = rows(kg, "MATCH (f:Fact {kind: 'triple'}) RETURN f.subject, f.predicate, f.object")
    assert {row[1] for row in facts} == shown
    assert {row[0] for row in rows(kg, "MATCH (a:Attribute) RETURN a.value")} == shown
    assert set(kg.stats().nodes) - labels == {
        *("Document", "Chunk", "Fact", "Entity", "KeyElement", "Attribute", "Graph", "Person")
    }
    assert set(kg.stats().relationships) <= {
        *("FROM_DOCUMENT", "FROM_CHUNK", "SUBJECT", "OBJECT", "MENTIONS", "VALUE", "HAS_ATTRIBUTE", "RELATED_TO"),
        *("SAME_AS", "FORM_OF", "NEXT_CHUNK"),
    }
    assert rows(kg, "MATCH (d:Document) RETURN d.source") == [[files[0].as_uri()]]
    before = snapshot(kg.store)
    kg.ingest(files, recorded=tmp_path / "r.jsonl", mode="flexible")
    assert difference(before, snapshot(kg.store)) == []
    kg.remove(str(files[0]))
    assert kg.stats().nodes == {"Graph": 1}


def test_a_name_of_600_letters_is_no_name_and_is_counted(kg: KnowledgeGraph, tmp_path: Path) -> None:
    long = "y" * 600
    line = {
        "document": "a.txt",
        "entities": [{"name": long, "type": "Person"}, {"name": "Ada", "type": "Person"}],
        "triples": [["Ada", "knows", long]],
    }
    report = kg.ingest(put(tmp_path, {"a.txt": "Ada knew her."}), recorded=put_jsonl(tmp_path / "r.jsonl", [line]))
    assert report.malformed == Counter({"name that is empty or too long": 2})
    assert [row[0] for row in rows(kg, "MATCH (e:Entity) RETURN e.name")] == ["Ada"]


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return invented(tmp_path_factory.mktemp("notes"), 6)


@pytest.fixture(scope="module")
def undisturbed(neo4j_server: Connection, notes: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Snapshot:
    """The graph of the notes as a model reads them."""
    with Store(neo4j_server) as store, OpenAIServer(extracted) as server:
        return graph_of(paying(store, server, tmp_path_factory.mktemp("home")), notes, extractor="llm")


def paying(store: Store, server: OpenAIServer, home: Path, **more: Any) -> KnowledgeGraph:
    """A graph with a language model: a new process, as far as budget and counts go, with the cache in ``home``."""
    given = {"passage_tokens": 40, "concurrency": 4, "model_retries": 1, "token_budget": None, **more}
    settings = load_settings(home=home, openai_base_url=server.base_url, chat_model="rules", **given)
    ledger = Ledger(settings.token_budget)
    chat = OpenAIChat(settings, ledger, settings.home_folder / "llm-cache", backoff=0.001)
    graph = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)
    graph.ledger = ledger
    return graph


def passage_of(messages: Messages) -> str:
    return messages[1]["content"]


def test_an_ingest_whose_model_fails_throughout_stops_and_goes_on_later(
    undisturbed: Snapshot, store: Store, notes: list[Path], tmp_path: Path
) -> None:
    """After ten failures in a row; what was read before is kept, and paid for once."""
    asked: list[Messages] = []

    def dying(messages: Messages) -> str | Fault:
        asked.append(messages)
        return extracted(messages) if len(asked) <= 4 else Fault.refuse(500, "out of memory")

    with OpenAIServer(dying) as server:
        kg = paying(store, server, tmp_path / "home", concurrency=1)
        report = kg.ingest(notes)
        assert (report.extracted, len(report.failed), report.complete) == (4, 10, False)
        assert report.stopped.startswith("10 passages in a row failed, the last: ")
        assert "out of memory" in report.stopped
        assert report.stopped.endswith("What was read is kept; fix that and run the same command again.")
    with OpenAIServer(extracted) as server:
        healed = paying(store, server, tmp_path / "home").ingest(notes)
        assert (healed.complete, healed.extracted, len(server.requests_to("/completions"))) == (True, 14, 14)
        assert difference(snapshot(store), undisturbed) == []


def test_a_passage_that_fails_is_reported_and_read_next_time(
    undisturbed: Snapshot, store: Store, notes: list[Path], tmp_path: Path
) -> None:
    broken = threading.Event()
    broken.set()

    def answer(messages: Messages) -> str | Fault:
        if broken.is_set() and "for number 2" in passage_of(messages):
            return Fault.refuse(500, "out of order")
        return extracted(messages)

    with OpenAIServer(answer) as server:
        report = paying(store, server, tmp_path / "home").ingest(notes)
        assert (report.extractor, report.complete, report.extracted, report.passages) == ("llm", False, 17, 18)
        assert [each.name for each in report.failed] == ["note 002 · 3"]
        assert "out of order" in report.failed[0].reason
        kg = paying(store, server, tmp_path / "home")
        assert [(info.title, info.failed) for info in kg.documents() if info.failed] == [("note 002", 1)]
        assert rows(kg, "MATCH (c:Chunk {state: 'failed'}) RETURN c.failure") == [[report.failed[0].reason]]
        broken.clear()
        before = len(server.requests_to("/completions"))
        healed = kg.ingest(notes)
        assert (healed.complete, healed.extracted, healed.failed) == (True, 1, [])
        assert len(server.requests_to("/completions")) == before + 1
        assert difference(snapshot(store), undisturbed) == []


def is_again(messages: Messages) -> bool:
    return "could not be used" in messages[-1]["content"]


def test_bad_answers_are_asked_for_once_more_and_then_only_where_it_is_wished(
    store: Store, notes: list[Path], tmp_path: Path
) -> None:
    """An answer that is of no use twice is a failure. Another schema, or ``retry_failed``, has the model asked anew."""
    asked: list[Messages] = []
    worse = threading.Event()
    worse.set()

    def answer(messages: Messages) -> str:
        if "for number 1." not in passage_of(messages):
            return extracted(messages)
        asked.append(messages)
        is_bad = worse.is_set() or not is_again(messages)
        return '{"entities": [], "triples": [["a", "b"]]}' if is_bad else extracted(messages)

    with OpenAIServer(answer) as server:
        report = paying(store, server, tmp_path / "home").ingest(notes[:2])
        assert [each.name for each in report.failed] == ["note 001 · 3"]
        assert [is_again(messages) for messages in asked] == [False, True]
        worse.clear()
        kg = paying(store, server, tmp_path / "home")
        left = kg.ingest(notes[:2])
        assert (left.failed, left.unread, left.extracted, left.complete) == ([], 1, 0, False)
        assert (len(asked), kg.estimate(notes[:2]).calls, kg.estimate(notes[:2], retry_failed=True).calls) == (2, 0, 1)
        other = paying(store, server, tmp_path / "home", chat_parameters={"top_p": 0.5})
        assert other.estimate(notes[:2]).calls == kg.estimate(notes[:2], schema="company").calls == 1
        report = kg.ingest(notes[:2], retry_failed=True)
        assert (report.complete, report.unread, report.extracted) == (True, 0, 1)
        assert [is_again(messages) for messages in asked] == [False, True, False, True]
        assert len(server.requests_to("/completions")) == 5 + 4
        assert rows(kg, "MATCH (c:Chunk) WHERE c.unreadBy IS NOT NULL RETURN c.id") == []


def test_the_schema_grows_for_later_windows(store: Store, tmp_path: Path) -> None:
    """The first 64 passages see the seed; what two documents of them propose counts from then on."""
    files = invented(tmp_path / "notes", 24)
    seed = tmp_path / "seed.yaml"
    seed.write_text(
        "entities: [Person, Organization, Place, Product]\nrelations: [founded, works_for]\nattributes: [size]\n"
    )
    content = seed.read_bytes()
    with OpenAIServer(extracted) as server:
        kg = paying(store, server, tmp_path / "home")
        report = kg.ingest(files, schema=seed)
        grown = ["- Vessel" in each.body["messages"][0]["content"] for each in server.requests_to("/completions")]
    assert (len(grown), sum(grown)) == (72, 8)
    assert seed.read_bytes() == content
    (expansion,) = report.expansions
    assert (expansion.kind, expansion.name, expansion.confidence, expansion.count) == ("entity", "Vessel", 0.97, 21)
    assert rows(
        kg, "MATCH (c:Chunk {id: $id}) RETURN c.text CONTAINS $it", id=expansion.passage, it=expansion.example
    ) == [[True]]
    shown = kg.schema()
    assert shown is not None
    assert shown.expansions == (expansion,)
    assert report.expansions_added == [expansion]
    again = kg.ingest(files, schema=seed)
    assert (again.expansions, again.expansions_added) == ([expansion], []), "it is no news"
    assert shown.schema.entity("Vessel") is None
    assert rows(kg, "MATCH (v:Vessel) RETURN count(v) > 0, all(v IN collect(v) WHERE v.inSchema)") == [[True, True]]


def opened(store: Store, embedder: HashEmbedder) -> KnowledgeGraph:
    return KnowledgeGraph(store, load_settings(embedder=embedder.name), embedder=embedder)


def test_another_embedding_model_is_refused_and_repaired(store: Store, tmp_path: Path) -> None:
    files = put(tmp_path, FIELD)
    graph_of(opened(store, OtherEmbedder()), files)
    kg = opened(store, HashEmbedder(64))
    for attempt in (kg.check_model, lambda: kg.ingest(files)):
        with pytest.raises(EmbeddingMismatchError) as caught:
            attempt()
        for part in ("another:64 (64 dimensions)", "hash:64 (64 dimensions)", "kgplatform reembed"):
            assert part in str(caught.value)
    kg.reembed()
    kg.check_model()
    assert kg.search("Who founded the company?").passages
    with pytest.raises(EmbeddingMismatchError):
        opened(store, OtherEmbedder()).check_model()
    repaired = snapshot(store)
    assert difference(repaired, graph_of(kg, files)) == []


def test_an_emptied_graph_takes_another_embedding_model(store: Store, tmp_path: Path) -> None:
    """Whoever deletes all nodes by Cypher leaves the indexes of the model before; those of others are left alone.

    Here the model before made vectors of as many numbers as can be indexed.
    """
    files = put(tmp_path, FIELD)
    assert opened(store, HashEmbedder(4096)).ingest(files, **OPTIONS).complete
    theirs = "CREATE VECTOR INDEX theirs FOR (n:Theirs) ON n.vector OPTIONS {indexConfig: {`vector.dimensions`: 7}}"
    store.run_statement(theirs, {}, write=True, timeout=60, limit=1)
    try:
        store.run_statement("MATCH (n) DETACH DELETE n", {}, write=True, timeout=60, limit=1)
        kg = opened(store, HashEmbedder(64))
        kg.ingest(files, **OPTIONS)
        assert kg.search("Who founded the company?").passages
        assert {row["name"] for row in store.read("ingest/vector_dimensions") if row["dimension"] != 64} == {"theirs"}
    finally:
        store.run_statement("DROP INDEX theirs", {}, write=True, timeout=60, limit=1)


@pytest.mark.long
def test_an_interrupted_reembedding_is_said_and_finished(store: Store, tmp_path: Path) -> None:
    """Wherever it stops after its first write, nothing but ``reembed`` works: at every 25th statement here, and
    anywhere in ``make bench ONLY=faults``.
    """
    files = put(tmp_path, FIELD | OTHERS)
    kg = opened(store, HashEmbedder(64))
    wanted = graph_of(kg, files)

    class KilledError(Exception):
        pass

    for number in itertools.count(1, 25):
        graph_of(opened(store, OtherEmbedder()), files[:1]) if number == 1 else None
        told: list[str] = []

        def kill(executed: QueryRun, told: list[str] = told, number: int = number) -> None:
            if executed.name.startswith("neo4j/passes/"):  # its turn is given back in any case
                return
            told.append(executed.name)
            if len(told) == number:
                raise KilledError

        try:
            with trace(kill):
                kg.reembed()
        except KilledError:
            if number > 1:
                assert "ingest/set_graph_state" in told[:-1], "the last one was taken back"
                with pytest.raises(StoreError, match="kgplatform reembed"):
                    kg.check_model()
                with pytest.raises(StoreError, match="kgplatform reembed"):
                    kg.ingest(files)
            continue
        break
    assert number > 26, "it was killed after its first write"
    kg.check_model()
    kg.ingest(files, **OPTIONS)
    assert difference(snapshot(store), wanted) == []


def test_a_later_format_is_refused(kg: KnowledgeGraph, tmp_path: Path) -> None:
    kg.ingest(put(tmp_path, FIELD), **OPTIONS)
    kg.cypher("MATCH (g:Graph) SET g.format = 99", write=True)
    for attempt in (kg.check_model, lambda: kg.ingest(tmp_path), kg.schema, lambda: kg.search("Field")):
        with pytest.raises(StoreError, match=r"format 99.*reads 6.*Upgrade kgplatform"):
            attempt()


def test_a_search_before_the_first_ingest_is_done_says_what_to_do(kg: KnowledgeGraph) -> None:
    define_graph(kg.store, kg.embedder)
    with pytest.raises(InputError, match="first ingest is unfinished"):
        kg.search("Who wrote it?")


# They are kept and counted, and stay out of searches and prompts.


PEOPLE = [{"name": "Ada Lovelace", "type": "Person"}, {"name": "London", "type": "Place"}]
ROUTES = ("all", "triple", "entity", "path")
BORN = {"subject": "Ada Lovelace", "predicate": "born_in", "object": "London"}


def line(document: str, *triples: dict[str, str]) -> dict[str, Any]:
    return {"document": document, "entities": PEOPLE, "triples": list(triples)}


@pytest.fixture
def told(kg: KnowledgeGraph, tmp_path: Path) -> KnowledgeGraph:
    """A triple that the title alone names both ends of."""
    files = put(tmp_path, {"Ada Lovelace in London.txt": "The programs that she wrote were the first of their kind."})
    recorded = put_jsonl(tmp_path / "r.jsonl", [line("Ada Lovelace in London.txt", BORN)])
    report = kg.ingest(files, recorded=recorded)
    assert (report.statements_found, report.statements_not_found) == (0, 1)
    return kg


def test_no_search_shows_them_until_a_passage_says_so(told: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    assert told.cypher("MATCH (f:Fact) RETURN f.text").rows == [["Ada Lovelace born in London"]]
    for route in ROUTES:
        found = told.search("Where was Ada Lovelace born?", route=route)
        assert (found.facts, found.paths) == ((), ()), route
    assert store.read("search/node_facts", node="London", vector=[0.0] * 64, count=5, documents=None) == []
    files = put(tmp_path / "more", {"life.txt": "Ada Lovelace was born in London, in December 1815."})
    told.ingest(files, recorded=put_jsonl(tmp_path / "s.jsonl", [line("life.txt", BORN)]))
    for route in ROUTES:
        found = told.search("Where was Ada Lovelace born?", route=route)
        assert [fact.text for fact in found.facts] == ["Ada Lovelace born in London"], route


def test_what_a_model_invents_stays_out_and_is_counted(store: Store, tmp_path: Path) -> None:
    """The prompt's own example among it, copied back."""
    text = "Ada Lovelace was born in London in 1815, and he who knew her wrote that it was true of all her friends."
    names = ["Ada Lovelace", "London", "John Smith", "he", "true", "...", text + text, "Odo Brandt", "Lindau"]
    said = {
        "entities": [{"name": name, "type": "Person" if name != "London" else "Place"} for name in names],
        "triples": [["Ada Lovelace", "born_in", "London"], ["Odo Brandt", "born_in", "Lindau"]],
        "attributes": [{"entity": "John Smith", "key": "birth date", "value": "1815"}],
    }
    settings = load_settings(home=tmp_path / "home", embedder="hash:64")
    chat = ScriptedChat([json.dumps(said)])
    kg = KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=chat)
    report = kg.ingest(put(tmp_path, {"life.txt": text}))
    assert (report.extractor, report.unnamed) == ("llm", 7)
    assert [row[0] for row in kg.cypher("MATCH (e:Entity) RETURN e.name ORDER BY e.name").rows] == names[:2]
    assert kg.cypher("MATCH (f:Fact) RETURN f.text").rows == [["Ada Lovelace born in London"]]


SCHEMA = """\
name: ships
entities:
  - name: Ship
    description: A ship.
"""


def test_another_schema_reads_nothing_until_it_is_told_to(kg: KnowledgeGraph, tmp_path: Path) -> None:
    files = put(tmp_path, FIELD | OTHERS)
    options = {"recorded": put_jsonl(tmp_path / "recording.jsonl", RECORDING), "mode": "strict"}
    kg.ingest(files, schema="company", **options)  # type: ignore[arg-type]  # of values of two types
    wanted = snapshot(kg.store)
    wipe(kg.store)
    kg.ingest(files, schema="biomedical", **options)  # type: ignore[arg-type]  # the same
    assert difference(snapshot(kg.store), wanted) != []
    report = kg.ingest(files, schema="company", **options)  # type: ignore[arg-type]  # the same
    assert (report.extracted, report.unchanged, report.reread) == (0, 3, 0)
    assert report.notes == [
        "3 passages were not read again. The last ingest used extractor recorded, mode strict and schema "
        "biomedical. The graph's schema is company from now on. To read them again, ingest with reread."
    ]
    assert difference(snapshot(kg.store), wanted) != []
    report = kg.ingest(files, schema="company", reread=True, **options)  # type: ignore[arg-type]  # the same
    assert (report.extracted, report.unchanged, report.changed, report.reread) == (3, 0, 0, 3)
    assert report.notes == []
    assert difference(snapshot(kg.store), wanted) == []


def test_the_graph_keeps_its_schema_until_another_is_named(kg: KnowledgeGraph, tmp_path: Path) -> None:
    one, two = put(tmp_path / "docs", {"a.txt": "The Great Eastern was built by Brunel.", "b.txt": "Rain fell."})
    (schema,) = put(tmp_path, {"ships.yaml": SCHEMA})

    def own() -> str:
        found = kg.schema()
        assert found is not None
        return found.schema.name

    kg.ingest(one, schema=schema, extractor="local")
    schema.unlink()
    report = kg.ingest([one, two], extractor="local")
    assert (report.schema, report.notes, own()) == ("ships", [], "ships")
    kg.remove(two)
    assert own() == "ships"
    assert kg.ingest([one, two], schema="general", extractor="local").schema == own() == "general"


def test_a_schema_file_that_was_edited_is_another(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (file,) = put(tmp_path / "docs", {"a.txt": "The Great Eastern was built by Brunel."})
    (schema,) = put(tmp_path, {"ships.yaml": SCHEMA})
    kg.ingest(file, schema=schema, extractor="local")
    assert kg.ingest(file, schema=schema, extractor="local").notes == []
    schema.write_text(SCHEMA.replace("A ship.", "A vessel of the sea."), encoding="utf-8")
    (said,) = kg.ingest(file, schema=schema, extractor="local").notes
    assert said.endswith("schema ships, which has changed since. To read them again, ingest with reread.")
    assert said.startswith("1 passage was not read again.")


def test_replies_that_were_paid_for_are_not_asked_for_again(store: Store, settings: Settings, tmp_path: Path) -> None:
    (file,) = put(tmp_path / "docs", {"a.txt": "The Great Eastern was built by Brunel."})
    with OpenAIServer(lambda messages: '{"entities": [{"name": "Brunel", "type": "Person"}]}') as server:
        given = settings.model_copy(update={"openai_base_url": server.base_url})
        graph = KnowledgeGraph(store, given, embedder=HashEmbedder(64))
        graph.ingest(file)
        asked = len(server.requests_to("/completions"))
        assert graph.ingest(file, reread=True).reread == 1
        assert len(server.requests_to("/completions")) == asked == 1
        assert graph.estimate(file).calls == 0
        assert graph.estimate(file, reread=True).calls == 1
        graph.ingest(file, reread=True, schema="company")
        assert len(server.requests_to("/completions")) == 2


_SAYS = "MATCH (f:Fact)-[:FROM_CHUNK]->(:Chunk)-[:FROM_DOCUMENT]->(d:Document) RETURN d.name, f.text ORDER BY d.name"
_BUILT = {
    "entities": [{"name": "Brunel", "type": "Person"}, {"name": "Great Eastern", "type": "Ship"}],
    "triples": [["Brunel", "built", "Great Eastern"]],
}
_SAILED = {
    "entities": [{"name": "Great Eastern", "type": "Vessel"}, {"name": "New York", "type": "Place"}],
    "triples": [["Great Eastern", "sailed to", "New York"]],
}


def _reading(store: Store, settings: Settings, read: Callable[[Messages], str]) -> KnowledgeGraph:
    """A graph whose model, which is simulated, reads a passage by ``read``."""
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(64), chat=ScriptedChat(read))


@pytest.mark.parametrize(
    "failure", [ModelError("the model's server is gone"), ReplyError("the reply is no JSON")], ids=["gone", "of no use"]
)
def test_a_passage_says_what_it_said_until_it_is_read_again(
    store: Store, settings: Settings, tmp_path: Path, failure: ModelError
) -> None:
    """Whether the model dies midway, or has no use for the passage: that of the other document is replaced alone."""
    texts = {"a.txt": "Brunel built the Great Eastern.", "b.txt": "The Great Eastern sailed to New York."}
    files = put(tmp_path, texts)

    def read_before(messages: Messages) -> str:
        return json.dumps(_BUILT if "Brunel" in messages[-1]["content"] else _SAILED)

    def read_now(messages: Messages) -> str:
        if "Brunel" in messages[-1]["content"]:
            raise failure
        return json.dumps(_SAILED | {"triples": [["Great Eastern", "reached", "New York"]]})

    first = _reading(store, settings, read_before)
    first.ingest(files, mode="flexible")
    assert first.cypher(_SAYS).rows == [
        ["a", "Brunel built Great Eastern"], ["b", "Great Eastern sailed to New York"]
    ]  # fmt: skip
    again = _reading(store, settings, read_now)
    report = again.ingest(files, mode="flexible", reread=True)
    assert (report.reread, report.extracted, [each.reason for each in report.failed]) == (2, 1, [str(failure)])
    assert again.cypher(_SAYS).rows == [
        ["a", "Brunel built Great Eastern"], ["b", "Great Eastern reached New York"]
    ]  # fmt: skip
    a, b = again.documents()
    assert (a.failed, b.failed, b.extracted) == (1, 0, 1)


def test_what_is_left_of_a_reading_again_is_read_by_the_next_ingest(
    store: Store, settings: Settings, tmp_path: Path
) -> None:
    """The graph is then as if it had been read so at once: no type, and no node, is left of what was said before."""
    texts = {f"{number}.txt": f"Brunel built the Great Eastern. {'It rained. ' * number}" for number in range(3)}
    files = put(tmp_path, texts)
    read = 0

    def read_now(messages: Messages) -> str:
        nonlocal read
        read += 1
        if read == 2:
            raise ModelError("the model's server is gone")
        return json.dumps(_SAILED | {"triples": []})

    _reading(store, settings, lambda messages: json.dumps(_BUILT)).ingest(files, schema="company", mode="flexible")
    again = _reading(store, settings.model_copy(update={"concurrency": 1}), read_now)
    again.ingest(files, schema="general", mode="flexible", reread=True)
    report = again.ingest(files, schema="general", mode="flexible")
    assert (report.unchanged, report.extracted, report.failed, read) == (3, 1, [], 4)
    mended = snapshot(store)
    wipe(store)
    _reading(store, settings, lambda messages: json.dumps(_SAILED | {"triples": []})).ingest(
        files, schema="general", mode="flexible"
    )
    assert difference(mended, snapshot(store)) == []


def test_pages_that_were_written_stay(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (file,) = put(tmp_path, {"a.txt": "The Great Eastern was built by Brunel. " * 4})
    kg.ingest(file, extractor="local")
    kg.cypher("MATCH (d:Document) CREATE (:Page {id: 'p', question: '', index: 0})-[:PAGE_OF]->(d)", write=True)
    kg.ingest(file, extractor="local", reread=True)
    assert kg.documents()[0].pages == 1


def test_a_budget_stops_cleanly_and_goes_on(
    undisturbed: Snapshot, store: Store, notes: list[Path], tmp_path: Path
) -> None:
    with OpenAIServer(extracted) as server:
        home = tmp_path / "home"
        report = paying(store, server, home, token_budget=4000).ingest(notes)
        assert not report.complete
        assert "budget of 4,000 tokens" in report.stopped
        assert "a larger token_budget" in report.stopped
        assert 0 < report.extracted < 18
        assert report.failed == []
        spent = sum(usage.input_tokens + usage.output_tokens for usage in report.usage.values())
        assert 4000 <= spent < 4000 + 4 * 2000
        done = rows(paying(store, server, home), "MATCH (c:Chunk {state: 'extracted'}) RETURN count(c)")
        assert done == [[report.extracted]]
        runs = 1
        while not (report := paying(store, server, home, token_budget=4000).ingest(notes)).complete:
            runs += 1
            assert runs < 18
        assert runs > 1
        prompts = Counter(json.dumps(each.body["messages"]) for each in server.requests_to("/completions"))
        assert (len(prompts), max(prompts.values())) == (18, 1)
    assert difference(snapshot(store), undisturbed) == []
