"""Needles in invented texts, found by ReadAgent with a model that matches strings, behind a real server (section 8)."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from haystack import Haystack, joined_needles, single_needles
from readagent_runs import Asked, fill, in_lines
from rule_reader import RuleReader
from written_pages import Written

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.records import Answer
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer

_NAME = re.compile(r"\b[A-Z][a-z]+(?: [A-Z][a-z]+)*")
_VALUE = re.compile(r" is ([\w ]+)\.")


class PageReader(RuleReader):
    """Looks up the pages whose gists share most names with the question, or with what it has read again since."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []

    def __call__(self, messages: Messages) -> str:
        asked = Asked(messages)
        self.asked.append(asked)
        if asked.kind == "lookup":
            return json.dumps({"pages": self._shared(asked, asked.question, [])[:2]})
        if asked.kind == "next":
            read = [int(number) for number in re.findall(r"\d+", asked.read)]
            found = self._shared(asked, asked.question + self._last(asked, read), read)
            return json.dumps({"page": found[0] if found and len(read) < 3 else "STOP"})
        return super().__call__(messages)

    @staticmethod
    def _shared(asked: Asked, text: str, read: Sequence[int]) -> list[int]:
        names = {name.partition(" ")[2] or name for name in _NAME.findall(text)} | set(_NAME.findall(text))
        shares = {n: sum(name in gist for name in names) for n, gist in asked.memory.items() if n not in read}
        return sorted((n for n in shares if shares[n]), key=lambda n: (-shares[n], n))

    @staticmethod
    def _last(asked: Asked, read: Sequence[int]) -> str:
        """What the pages read so far say about what is named in the question."""
        names = [name for name in _NAME.findall(asked.question) if " " in name]
        said = [line for n in read for line in asked.plain(n).split("\n")]
        return " ".join(line for line in said if any(name in line for name in names))


def paged(hay: Haystack) -> list[Written]:
    """Pages of four paragraphs. A gist is the first sentence of each, and what a needle is about without its value."""
    paragraphs = hay.text.split("\n\n")
    pages: list[Written] = []
    for at in range(0, len(paragraphs), 4):
        four = paragraphs[at : at + 4]
        needles = re.findall(r"The [a-z]+ of (?:the )?[A-Z][\w ]*? is [\w ]+\.", " ".join(four))
        hidden = {needle: _VALUE.sub(" is told.", needle) for needle in needles}
        gists = [next(line for line in re.split(r"(?<=\.) ", part) if line not in hidden) for part in four]
        pages.append(("\n\n".join(four), " ".join([*gists, *hidden.values()])))
    return pages


@pytest.fixture
def reader() -> Iterator[tuple[PageReader, OpenAIServer]]:
    model = PageReader()
    with OpenAIServer(model) as server:
        yield model, server


def remembered(store: Store, folder: Path, hay: Haystack, server: OpenAIServer) -> KnowledgeGraph:
    fill(store, folder, {"hay.txt": paged(hay)})
    settings = load_settings(home=folder / "home", embedder="hash:64", openai_base_url=server.base_url)
    return KnowledgeGraph(store, settings, embedder=HashEmbedder(64))


def is_right(answer: Answer, hay: Haystack, told: str) -> bool:
    """The answer says it, and cites words of the text that say it too."""
    return told in (answer.text or "") and any(told in hay.text[each.start : each.end] for each in answer.citations)


def test_a_value_that_no_gist_has_is_found_by_looking_up_and_not_without(
    store: Store, reader: tuple[PageReader, OpenAIServer], tmp_path: Path
) -> None:
    hay = single_needles(6_000, depths=5)
    graph = remembered(store, tmp_path, hay, reader[1])
    for lookup, right in (("none", False), ("parallel", True), ("sequential", True)):
        answers = [graph.ask(each.question, "readagent", lookup=lookup) for each in hay.needles]
        found = [is_right(answer, hay, each.answer) for answer, each in zip(answers, hay.needles, strict=True)]
        assert found == [right] * 5, lookup


def test_a_page_that_only_another_page_names_is_found_in_sequence_and_not_at_once(
    store: Store, reader: tuple[PageReader, OpenAIServer], tmp_path: Path
) -> None:
    hay = joined_needles(6_000)
    (needle,) = hay.needles
    graph = remembered(store, tmp_path, hay, reader[1])
    model = reader[0]
    at_once = graph.ask(needle.question, "readagent", lookup="parallel")
    assert not is_right(at_once, hay, needle.answer)
    model.asked.clear()
    in_sequence = graph.ask(needle.question, "readagent", lookup="sequential")
    assert is_right(in_sequence, hay, needle.answer)
    asked = [each for each in model.asked if each.kind == "next"]
    first = int(asked[1].read.removeprefix("Page "))
    pages = paged(hay)
    assert asked[0].memory[first] == pages[first][1]
    assert asked[1].plain(first) == in_lines(pages[first][0]), "the page in full, in the next prompt"
    assert in_sequence.counts["pages.looked_up"] >= 2
