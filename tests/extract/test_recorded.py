"""The extractor ``recorded``: two forms of file, whose document a recording is, and which passage gets what."""

import hashlib
import json
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from kgplatform.errors import InputError
from kgplatform.extract.bound import bound
from kgplatform.extract.recorded import RecordedExtractor
from kgplatform.extract.schema import EntityType, RelationType, Schema
from kgplatform.records import Document, Passage

SCHEMA = Schema("s", (EntityType("Person"), EntityType("Place")), (RelationType("born_in"), RelationType("knew")))
PARTS = [
    "Ada Lovelace was born in London.",
    "Her teacher was Mary Somerville, who came from Jedburgh.",
    "Ada knew Charles Babbage. Babbage lived in London too.",
]


def document_of(text: str, name: str = "ada", uri: str = "file:///home/x/texts/ada.txt", source: str = "") -> Document:
    digest = hashlib.sha256(text.encode()).hexdigest()
    return Document(uri, name, uri, source or uri, text, digest)


def passages_of(document: Document, parts: list[str]) -> list[Passage]:
    passages = []
    for index, part in enumerate(parts):
        start = document.text.index(part)
        end = start + len(part)
        passages.append(Passage(f"c{index}", document.id, f"c{index}", index, start, end, None, part, len(part) // 4))
    return passages


def whole(document: Document) -> Passage:
    return passages_of(document, [document.text])[0]


def saved(folder: Path, content: object, name: str = "recorded.json") -> Path:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content, ensure_ascii=False), "utf-8")
    return path


def lines(*entries: dict[str, Any]) -> str:
    return "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in entries)


def passage(title: str, text: str, *triples: list[str], entities: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"title": title, "text": text, "extracted_entities": list(entities), "extracted_triples": list(triples)}


@pytest.mark.parametrize("name", ["r.json", "r.jsonl"])
def test_open_ie_belongs_to_its_text(tmp_path: Path, name: str) -> None:
    """As a list, or one passage a line; equal texts are told apart by their titles."""
    entries = [
        passage("Ada", "Ada was  born\nin London.", ["Ada", "born in", "London"], ["Ada", "born"], entities=("Ada",)),
        passage("Bob", "Bob slept.", ["Bob", "did", "sleep"]),
        passage("One", "The same.", ["One", "is", "first"]),
        passage("Two", "The same.", ["Two", "is", "second"]),
        passage("Eve", "Never ingested.", ["Eve", "did", "wait"]),
    ]
    content = entries if name == "r.json" else "\ufeff" + lines(*entries).replace("\n", "\r\n")
    extractor = RecordedExtractor(saved(tmp_path, content, name))
    ada = document_of("Ada was born in London.", "t")
    extraction = extractor.extract(whole(ada), ada, SCHEMA)
    assert [(each.subject, each.predicate, each.object) for each in extraction.triples] == [
        ("Ada", "born in", "London")
    ]
    assert [each.type for each in extraction.entities] == [None]
    assert [each.kind for each in extraction.malformed] == ["triple with 2 members"]
    for title, text, subject in (("anything", "Bob\n\nBob slept.", "Bob"), ("Two", "The same.", "Two")):
        document = document_of(text, title)
        (triple,) = extractor.extract(whole(document), document, SCHEMA).triples
        assert triple.subject == subject
    other = document_of("Something else.", "Eve")
    with pytest.raises(InputError, match=rf"{name} has no line about Eve\. Add one"):
        extractor.extract(whole(other), other, SCHEMA)
    assert extractor.unused() == ["One", "Eve"]


@pytest.mark.parametrize("entry", ["[1]", '{"document": "a"}', '{"title": "b", "text": "c"}'])
def test_a_line_that_is_no_open_ie(tmp_path: Path, entry: str) -> None:
    with pytest.raises(InputError, match="line 2: .*extracted_entities|line 2: the passage has no text"):
        RecordedExtractor(saved(tmp_path, lines(passage("a", "b")) + entry + "\n", "r.jsonl"))


def test_a_recording_a_line_is_not_held(tmp_path: Path) -> None:
    entries = (passage(f"Title {n}", f"Text {n}. " * 50, ["a", "b", "c"]) for n in range(3000))
    path = saved(tmp_path, lines(*entries), "r.jsonl")
    tracemalloc.start()
    extractor = RecordedExtractor(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < path.stat().st_size / 2
    document = document_of("Text 2999. " * 50)
    assert len(extractor.extract(whole(document), document, SCHEMA).triples) == 1


def test_a_recording_that_changes_meanwhile(tmp_path: Path) -> None:
    path = saved(tmp_path, lines(passage("a", "b"), passage("c", "d")), "r.jsonl")
    extractor, document = RecordedExtractor(path), document_of("d")
    path.write_text("shorter", "utf-8")
    with pytest.raises(InputError, match="have changed since"):
        extractor.extract(whole(document), document, SCHEMA)


def test_hipporags_form(tmp_path: Path) -> None:
    entry = {"idx": "x", "passage": "Ada\nShe was born in London.", "extracted_entities": ["Ada"]}
    entry |= {"extracted_triples": [["Ada", "born in", "London"]]}  # type: ignore[dict-item]  # JSON
    extractor = RecordedExtractor(saved(tmp_path, {"docs": [entry], "avg_ent_chars": 3}))
    for text, name in (("Ada\nShe was born in London.", "x"), ("She was born in London.", "Ada")):
        document = document_of(text, name)
        assert len(extractor.extract(whole(document), document, SCHEMA).triples) == 1


def test_every_item_goes_to_one_passage(tmp_path: Path) -> None:
    entry = {
        "document": "ada.txt",
        "entities": [
            {"name": "Ada Lovelace", "type": "Person", "quote": "Ada Lovelace"},
            {"name": "London", "type": "Place"},
            {"name": "Babbage", "type": "Person"},
        ],
        "triples": [
            {"subject": "Ada Lovelace", "predicate": "born_in", "object": "London", "quote": "was born in London"},
            {"subject": "Ada Lovelace", "predicate": "knew", "object": "Babbage", "quote": "Ada knew Charles Babbage"},
            {"subject": "Mary Somerville", "predicate": "came from", "object": "Jedburgh"},
        ],
        "attributes": [{"entity": "Babbage", "key": "home", "value": "London"}],
        "facts": [
            {"text": "He lived in London.", "key_elements": ["Babbage", "lived"], "quote": "Babbage lived in London"},
            {"text": "Mary taught Ada.", "key_elements": ["Mary Somerville", "teacher"]},
        ],
        "proposals": [{"kind": "relation", "name": "came from", "confidence": 0.9, "example": "came from Jedburgh"}],
    }
    entry["triples"].append(["only", "two"])  # type: ignore[attr-defined]  # a list
    extractor = RecordedExtractor(saved(tmp_path, lines(entry), "recorded.jsonl"))
    document = document_of("\n\n".join(PARTS))
    parts = [extractor.extract(passage, document, SCHEMA) for passage in passages_of(document, PARTS)]
    assert [[each.predicate for each in part.triples] for part in parts] == [["born_in"], ["came from"], ["knew"]]
    assert [[each.key for each in part.attributes] for part in parts] == [[], [], ["home"]]
    assert [[each.text[:8] for each in part.facts] for part in parts] == [[], ["Mary tau"], ["He lived"]]
    assert [len(part.proposals) for part in parts] == [0, 1, 0]
    assert [len(part.malformed) for part in parts] == [1, 0, 0]
    assert [[each.name for each in part.entities] for part in parts] == [
        ["Ada Lovelace", "London"],
        [],
        ["Ada Lovelace", "London", "Babbage"],
    ]
    assert extractor.extract(whole(document), document, SCHEMA).malformed == parts[0].malformed
    bounded, _ = bound(parts[2], SCHEMA, "strict")
    assert [each.predicate for each in bounded.triples] == ["knew"]


@pytest.mark.parametrize("name", ["ada.txt", "ADA.TXT", "file:///home/x/texts/ada.txt", "Countess of Lovelace"])
def test_names_of_a_document(tmp_path: Path, name: str) -> None:
    """In a line, or in a list of such entries."""
    content = {"document": name, "entities": ["Ada"]}
    extractor = RecordedExtractor(saved(tmp_path, [content] if name.isupper() else lines(content)))
    document = document_of(PARTS[0], "Countess of Lovelace")
    assert [each.name for each in extractor.extract(whole(document), document, SCHEMA).entities] == ["Ada"]
    other = document_of(PARTS[0], "Other", "file:///other/txts/babbage.txt")
    with pytest.raises(InputError, match="no line about Other"):
        extractor.extract(whole(other), other, SCHEMA)


def test_the_most_telling_name_wins_and_lines_add_up(tmp_path: Path) -> None:
    content = lines(
        {"document": "b/Größe 1.txt", "entities": ["right"]},
        {"document": "Größe 1.txt", "entities": ["wrong"]},
        {"document": "b/größe 1.txt", "entities": ["too"]},
    )
    extractor = RecordedExtractor(saved(tmp_path, "\ufeff" + content.replace("\n", "\r\n") + "\n \n"))
    document = document_of("Text.", "t", "file:///a/b/Gr%C3%B6%C3%9Fe%201.txt")
    names = [each.name for each in extractor.extract(whole(document), document, SCHEMA).entities]
    assert names == ["right", "too"]
    assert extractor.unused() == ["Größe 1.txt"]


def test_members_of_a_corpus_go_by_title_only(tmp_path: Path) -> None:
    extractor = RecordedExtractor(saved(tmp_path, lines({"document": "corpus.json", "entities": ["x"]})))
    member = document_of("Text.", "Ada", "file:///corpus.json#Ada", "file:///corpus.json")
    with pytest.raises(InputError, match="no line about Ada"):
        extractor.extract(whole(member), member, SCHEMA)
    assert extractor.unused() == ["corpus.json"]


def test_many_threads_agree(tmp_path: Path) -> None:
    entry = {"document": "ada.txt", "triples": [["Ada Lovelace", "born_in", "London"], ["Ada", "knew", "Babbage"]] * 20}
    extractor = RecordedExtractor(saved(tmp_path, lines(entry)))
    document = document_of("\n\n".join(PARTS))
    passages = passages_of(document, PARTS) * 20
    with ThreadPoolExecutor(8) as pool:
        sizes = list(pool.map(lambda passage: len(extractor.extract(passage, document, SCHEMA).triples), passages))
    assert sizes == [20, 0, 20] * 20


def test_a_changed_text_is_placed_again(tmp_path: Path) -> None:
    extractor = RecordedExtractor(saved(tmp_path, lines({"document": "ada.txt", "triples": [["Ada", "knew", "Bob"]]})))
    for parts, expected in ((["Ada knew Bob.", "The end."], [1, 0]), (["The beginning.", "Ada knew Bob."], [0, 1])):
        document = document_of("\n".join(parts))
        sizes = [len(extractor.extract(passage, document, SCHEMA).triples) for passage in passages_of(document, parts)]
        assert sizes == expected


@pytest.mark.parametrize(
    ("content", "sentences"),
    [
        ("", ["is empty"]),
        ("[]", ["holds no recorded extractions"]),
        ('[\n{"title": "a",\n]', ["line 3", "not valid JSON"]),
        ('{"document": "a"}\n{"document": "b"\n', ["line 2", "not valid JSON"]),
        ('{"document": "a"}\n\n[1]\n', ["line 3", "document's name is missing"]),
        ('{"document": "a", "entites": []}', ["line 1", "'entites' is not a known key. Did you mean entities? Known"]),
        ('[{"title": "a", "text": "b"}]', ["entry 1", "no extracted_entities and no extracted_triples"]),
        ('[{"document": "a"}, {"title": "b"}]', ["entry 1", "no extracted_entities"]),
        ("[" * 50_000, ["recorded.json", "Expected is"]),
    ],
)
def test_broken_files_say_where_and_what(tmp_path: Path, content: str, sentences: list[str]) -> None:
    with pytest.raises(InputError) as caught:
        RecordedExtractor(saved(tmp_path, content))
    assert all(sentence in str(caught.value) for sentence in sentences)
    assert "recorded.json" in str(caught.value)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        RecordedExtractor(tmp_path / "absent.json")
    with pytest.raises(InputError, match="cannot be read"):
        RecordedExtractor(tmp_path)
