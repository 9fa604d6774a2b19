"""Stories of known length, a model that shortens by rules, and what is true of every gist memory."""

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import conftest
from corpora import put
from model_by_prompt import Prompt

from kgplatform.client import KnowledgeGraph
from kgplatform.gist.options import GistOptions
from kgplatform.models.chat import Reply
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.testing import ScriptedChat
from kgplatform.text import count_tokens, count_words, node_id, rejoin

Answers = Callable[[Messages], str | Reply]

PAGES = """
MATCH (d:Document)<-[:PAGE_OF]-(p:Page)
WHERE p.question = $question
RETURN d.name AS document, p {.*} AS page
ORDER BY document, p.index
"""


def paragraph(name: str, words: int) -> str:
    """A paragraph of ``words`` words in sentences of ten; each word begins with ``name`` and stands there once."""
    said = [name + _letters(number) for number in range(words)]
    sentences = [" ".join(said[start : start + 10]) for start in range(0, words, 10)]
    return " ".join(f"{each[0].upper()}{each[1:]}." for each in sentences)


def story(lengths: Sequence[int], name: str = "p") -> str:
    return "\n\n".join(paragraph(f"{name}{_letters(number)}q", words) for number, words in enumerate(lengths))


def _letters(number: int) -> str:
    """``number`` in letters, which are one token where digits were several."""
    return "".join(chr(ord("a") + int(digit)) for digit in str(number))


def labels(messages: Messages) -> list[int]:
    return [int(each) for each in re.findall(r"^<(\d+)>$", Prompt(messages).data, re.M)]


def paused(label: int) -> str:
    return json.dumps({"reasoning": "So much was said.", "break_point": label})


def shortened(text: str) -> str:
    return json.dumps({"gist": text}, ensure_ascii=False)


def by_rules(messages: Messages) -> str:
    """The first label; "no"; or the first sentence of each paragraph."""
    task = Prompt(messages).kind
    if task == "pause":
        return paused(labels(messages)[0])
    if task == "merge":
        return '{"reasoning": "It goes on.", "new_part": "no"}'
    parts = Prompt(messages).data.split("\n\n")
    return shortened("\n\n".join(each.split(". ")[0].rstrip(".") + "." for each in parts))


def opened(store: Store, home: Path, answers: Answers | None = by_rules, **more: Any) -> KnowledgeGraph:
    """A graph with a scripted model, or none."""
    return conftest.opened(store, home, ScriptedChat(answers) if answers else None, **more)


def ingested(kg: KnowledgeGraph, folder: Path, texts: dict[str, str]) -> list[Path]:
    """Files of these ``texts``, in the graph."""
    files = put(folder, texts)
    kg.ingest(files, extractor="local")
    return files


def tasks(kg: KnowledgeGraph) -> list[str]:
    """The stages of the calls so far."""
    assert isinstance(kg.language_model, ScriptedChat)
    return [call.stage for call in kg.language_model.calls]


def pages_of(kg: KnowledgeGraph, name: str | None = None, question: str = "") -> list[dict[str, Any]]:
    """The pages of document ``name``, or of all, in order."""
    rows = kg.cypher(PAGES, {"question": question}, limit=100_000).rows
    return [page for document, page in rows if name in (None, document)]


def text_of(kg: KnowledgeGraph, name: str) -> str:
    """The text of a document as the graph has it."""
    rows = kg.cypher(
        "MATCH (c:Chunk)-[:FROM_DOCUMENT]->(d:Document {name: $name}) "
        "RETURN c.start, c.text, d.characters ORDER BY c.start",
        {"name": name},
        limit=100_000,
    ).rows
    return rejoin([(start, text) for start, text, _ in rows], 0, rows[0][2]) if rows else ""


def assert_memory(
    kg: KnowledgeGraph, name: str, question: str = "", *, made: GistOptions | None = None
) -> list[dict[str, Any]]:
    """The pages of a complete memory, of which all is true that the reader relies on."""
    pages, text = pages_of(kg, name, question), text_of(kg, name)
    (document,) = (each for each in kg.documents() if each.title == name)
    assert [page["start"] for page in pages] == [0, *(page["end"] for page in pages)][:-1]
    assert pages[-1]["end"] == document.characters
    for index, page in enumerate(pages):
        own = text[page["start"] : page["end"]]
        assert page["index"] == index
        assert page["name"] == f"{name} · page {index}"
        assert page["memory"] == node_id("memory", document.id, question)
        assert page["id"] == node_id("page", document.id, question, page["start"])
        assert (page["words"], page["tokens"]) == (count_words(own), count_tokens(own))
        assert (page["gistWords"], page["gistTokens"]) == (count_words(page["gist"]), count_tokens(page["gist"]))
        assert page["flag"] in ("", "beginning", "own text")
        assert not own[:1].isspace() or index == 0
        assert "failure" not in page
        assert json.loads(page["made"])
        assert made is None or page["made"] == made.made
    follows = kg.cypher(
        "MATCH (p:Page {question: $question})-[:PAGE_OF]->(d:Document {name: $name}) "
        "MATCH (p)-[:NEXT_PAGE]->(next) RETURN p.index, next.index, next.memory = p.memory ORDER BY p.index",
        {"name": name, "question": question},
    ).rows
    assert follows == [[index, index + 1, True] for index in range(len(pages) - 1)]
    vectors = kg.cypher(
        "MATCH (p:Page {question: $question}) RETURN count(*), count(p.embedding), sum(toInteger(p:Pending))",
        {"question": question},
    ).rows
    assert vectors[0][0] == vectors[0][1]
    assert vectors[0][2] == 0
    if not question:
        words, gists = sum(page["words"] for page in pages), sum(page["gistWords"] for page in pages)
        assert document.compression is not None
        assert abs(document.compression - 100 * (1 - gists / words)) < 1e-9
        assert document.pages == len(pages)
    return pages
