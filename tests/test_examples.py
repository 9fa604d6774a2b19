"""The sample corpus: what its recording and its questions say must stand in its documents."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from proposals import accepted

from kgplatform.extract.bound import bound
from kgplatform.extract.schema import load_schema
from kgplatform.extract.shape import read_extraction
from kgplatform.records import Document
from kgplatform.sources.load import load
from kgplatform.text import normalise_name

EXAMPLES = Path(__file__).parent.parent / "examples"


def _lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (EXAMPLES / name).read_text(encoding="utf-8").splitlines()]


def _squash(text: str) -> str:
    return re.sub(r"\s+", " ", text).strip()


def _name_in_recording(document: Document) -> str:
    return document.title if document.uri != document.source else document.source.rsplit("/", 1)[1]


@pytest.fixture(scope="module")
def loaded() -> list[Any]:
    return list(load([EXAMPLES / "corpus"]))


@pytest.fixture(scope="module")
def texts(loaded: list[Any]) -> dict[str, str]:
    return {_name_in_recording(each): _squash(each.text) for each in loaded if isinstance(each, Document)}


RECORDED = _lines("extraction.jsonl")
QUESTIONS = _lines("questions.jsonl")
FACTS = {line["document"]: {fact["text"] for fact in line["facts"]} for line in RECORDED}


def test_every_document_loads_and_is_recorded_once(loaded: list[Any], texts: dict[str, str]) -> None:
    assert [each for each in loaded if not isinstance(each, Document)] == []
    assert sorted(line["document"] for line in RECORDED) == sorted(texts)
    suffixes = {Path(each.source).suffix for each in loaded}
    assert suffixes == {".txt", ".md", ".html", ".pdf", ".docx", ".json", ".jsonl"}
    pages = texts["Gutta-percha.html"] + texts["Valentia_and_Hearts_Content.html"]
    assert not re.search("newsletter|Privacy|All people|Opening hours|dead ends", pages), "what surrounds a page"


def test_a_recording_agrees_with_its_document_and_itself(texts: dict[str, str]) -> None:
    for line in RECORDED:
        text = texts[line["document"]]
        quotes = [item["quote"] for kind in ("entities", "attributes", "triples", "facts") for item in line[kind]]
        quotes += [proposal["example"] for proposal in line["proposals"]]
        assert [quote for quote in quotes if _squash(quote) not in text or not quote.strip()] == []
        names = [normalise_name(entity["name"]) for entity in line["entities"]]
        used = [name for triple in line["triples"] for name in (triple["subject"], triple["object"])]
        used += [attribute["entity"] for attribute in line["attributes"]]
        assert len(set(names)) == len(names)
        assert {normalise_name(name) for name in used} <= set(names)
        assert all(fact["key_elements"] for fact in line["facts"])
    pairs = {(normalise_name(entity["name"]), entity["type"]) for line in RECORDED for entity in line["entities"]}
    assert len(pairs) == len({name for name, _ in pairs})


def test_the_schema_keeps_everything_and_grows_on_the_way(loaded: list[Any]) -> None:
    """In reading order: what a document says is allowed by ``general`` and by what earlier documents proposed."""
    by_name = {line["document"]: line for line in RECORDED}
    schema, proposals, grown = load_schema("general"), [], []
    for document in loaded:
        line = by_name[_name_in_recording(document)]
        extraction = read_extraction({key: value for key, value in line.items() if key != "document"})
        assert extraction.malformed == ()
        assert bound(extraction, schema, "strict")[1].dropped == 0, line["document"]
        proposals += [(document.id, document.id, proposal) for proposal in extraction.proposals]
        expansions = accepted(proposals, schema, threshold=0.9, min_support=2)
        schema = schema.with_expansions(expansions)
        grown += [expansion.name for expansion in expansions]
    predicates = {triple["predicate"] for line in RECORDED for triple in line["triples"]}
    assert grown == ["commanded", "laid_by", "landed_at", "buried_in"]
    assert predicates >= set(grown)


def test_a_question_needs_all_its_documents(texts: dict[str, str]) -> None:
    for question in QUESTIONS:
        documents, facts = question["documents"], set(question["facts"])
        assert len(documents) == len(set(documents)) >= max(2, question["hops"] - 1), question["id"]
        assert set(documents) <= set(texts)
        assert facts <= set.union(*(FACTS[document] for document in documents))
        assert all(facts & FACTS[document] for document in documents)
        assert not any(facts <= stated for stated in FACTS.values())
        assert any(question["answer"] in texts[document] for document in question["documents"])
        assert any(question["answer"] in fact for fact in question["facts"])
        assert question["answer"].casefold() not in question["question"].casefold()
