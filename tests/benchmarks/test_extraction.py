"""Extraction by a real, small language model: tokens out, replies that can be used at once, and what there is then.

Hours on two cores: every reply is kept at once, as it was written, in ``.kgplatform/bench/extraction/NAME.jsonl``
(``KGPLATFORM_BENCH_EXTRACTION_REPLIES`` names another folder), and a further run asks only for passages without one.
NAME is of the prompt and its form: what earlier prompts got stays, is read by the reader of today, and has a row.

``KGPLATFORM_BENCH_ANSWERS_SERVER`` names a llama.cpp server that runs; without it nothing is asked. Whether a statement
is right a person judges: a sample of each prompt's, drawn by seed, is written beside the replies.
"""

import json
import os
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from conftest import RESULTS
from data_sets import Data
from tables import Section, Table

from kgplatform.errors import ModelError
from kgplatform.evaluate.journal import Journal
from kgplatform.extract.grounded_names import without_inventions
from kgplatform.extract.llm import ExtractionReply, LlmExtractor
from kgplatform.extract.schema import load_schema
from kgplatform.extract.shape import read_extraction
from kgplatform.models.chat import FREE_TEXT, Chat, Ledger, Reply, Wanted
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.models.reply import parse_reply
from kgplatform.prompt import Messages
from kgplatform.records import Document, Extraction, Passage
from kgplatform.settings import load_settings
from kgplatform.text import count_tokens

MODEL = "qwen15"
_LONGEST, _ENOUGH = 330, 340
"""Tokens of a paragraph that is left out, and from which on the next passage begins."""
SAMPLE = 100
_SEED = 45
_MOST = int(os.environ.get("KGPLATFORM_BENCH_EXTRACTION_PASSAGES", "40"))
_SERVER = os.environ.get("KGPLATFORM_BENCH_ANSWERS_SERVER", "")
_REPLIES = Path(os.environ.get("KGPLATFORM_BENCH_EXTRACTION_REPLIES", RESULTS / "extraction")).absolute()


@dataclass(frozen=True, slots=True)
class Said:
    """A reply to the prompt about a passage, and what it means. ``usable``: at once, without being asked again."""

    passage: Passage
    record: dict[str, Any]
    extraction: Extraction
    usable: bool


class _Kept(Chat):
    """A chat whose replies are all put into a journal."""

    def __init__(self, chat: Chat, journal: Journal) -> None:
        self.model, self.number = chat.model, ""
        self._chat, self._journal = chat, journal

    def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Reply:
        reply = self._chat.send(messages, stage=stage, wanted=wanted)
        told: dict[str, Any] = {"input_tokens": reply.usage.input_tokens, "output_tokens": reply.usage.output_tokens}
        self._journal.add(
            {"key": self.number, "text": reply.text, "cut_off": reply.cut_off, "again": wanted.again, **told}
        )
        return reply

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        self._chat.forget(messages, wanted=wanted)


@pytest.mark.timeout(7 * 24 * 3600)
def test_extraction(section: Callable[[str, str], Section], data: Data) -> None:
    """Ask for what has no reply yet, and put all replies into a table."""
    found = section("extraction", "Extraction by a real, small language model")
    passages = list(_passages(data))[:_MOST]
    if _SERVER:
        _ask(passages)
    files = sorted(_REPLIES.glob("*.jsonl"))
    if not files:
        pytest.skip("Nothing was asked: KGPLATFORM_BENCH_ANSWERS_SERVER names a server that answers.")
    rows = []
    for file in files:
        said = list(_read(file, passages))
        rows.append([file.stem, *_cells(said)])
        _write_sample(file.with_suffix(".sample.txt"), said)
    columns = ("prompt", "passages", "tokens in", "tokens out", "usable at once, %", *_KINDS)
    found.tables.append(Table("A passage, on average; of entities and statements, those that are kept", columns, rows))


def _passages(data: Data) -> Iterator[tuple[Passage, Document]]:
    """Of MuSiQue and HotpotQA in turn: paragraphs, each under its title, joined until they have about 400 tokens."""
    musique = [(each["title"], each["text"]) for each in data.read("musique/corpus.json")]
    hotpotqa: dict[str, str] = {}
    for question in data.read("hotpotqa/questions.json"):
        for title, said in question["context"]:
            hotpotqa.setdefault(title, " ".join(map(str.strip, said)))
    chance, texts = random.Random(_SEED), []
    for paragraphs in (musique, list(hotpotqa.items())):
        chance.shuffle(paragraphs)
        texts.append(_joined(paragraphs))
    for number, text in enumerate(text for pair in zip(*texts, strict=False) for text in pair):
        title = f"Encyclopedia, part {number + 1}"
        document = Document(str(number), title, "", "", text, "")
        yield Passage(str(number), str(number), title, 0, 0, len(text), None, text, count_tokens(text)), document


def _joined(paragraphs: Sequence[tuple[str, str]]) -> Iterator[str]:
    parts: list[str] = []
    tokens = 0
    for title, text in paragraphs:
        size = count_tokens(text)
        if size > _LONGEST:
            continue
        parts.append(f"{title}\n{text}")
        tokens += size
        if tokens >= _ENOUGH:
            yield "\n\n".join(parts)
            parts, tokens = [], 0


def _ask(passages: Sequence[tuple[Passage, Document]]) -> None:
    """Have today's prompt read what it has not read yet."""
    settings = load_settings(openai_base_url=_SERVER, chat_model=MODEL, concurrency=1, model_timeout=1800)
    chat, schema = OpenAIChat(settings, Ledger(None), None), load_schema("general")
    with Journal(_REPLIES / f"{LlmExtractor(chat).request(schema)[:12]}.jsonl", "reply") as journal:
        kept = _Kept(chat, journal)
        known = {record["key"] for record in journal.records}
        for passage, document in passages:
            if passage.id in known:
                continue
            kept.number = passage.id
            try:
                LlmExtractor(kept).extract(passage, document, schema)
            except ModelError as error:
                print(f"{passage.id}: {error}", flush=True)


def _read(file: Path, passages: Sequence[tuple[Passage, Document]]) -> Iterator[Said]:
    """The first reply about each passage."""
    first: dict[str, dict[str, Any]] = {}
    for line in file.read_text("utf-8").splitlines():
        record = json.loads(line)
        first.setdefault(record["key"], record)
    for passage, document in passages:
        if (record := first.get(passage.id)) is None:
            continue
        try:
            content = parse_reply(record["text"], ExtractionReply)[0].root
        except ModelError:
            content = {}
        extraction, _ = without_inventions(read_extraction(content, passage.text), passage, document.title)
        yield Said(passage, record, extraction, not record["cut_off"] and not extraction.is_empty)


def _cells(said: Sequence[Said]) -> list[str]:
    """One row of the table, behind the prompt's name."""

    def mean(of: Callable[[Said], float]) -> str:
        return f"{sum(map(of, said)) / max(1, len(said)):,.1f}"

    return [
        str(len(said)),
        *(mean(lambda each, key=key: each.record[key]) for key in ("input_tokens", "output_tokens")),  # type: ignore[misc]
        mean(lambda each: 100 * each.usable),
        *(mean(lambda each, kind=kind: len(getattr(each.extraction, kind))) for kind in _KINDS),  # type: ignore[misc]
    ]


_KINDS = ("entities", "triples", "attributes")


def _write_sample(file: Path, said: Sequence[Said]) -> None:
    """Statements drawn by seed, each under its passage, for a person to judge."""
    drawn = [(each.passage, line) for each in said for line in _lines(each.extraction)]
    drawn = random.Random(_SEED).sample(drawn, min(SAMPLE, len(drawn)))
    drawn.sort(key=lambda pair: int(pair[0].id))
    shown = ""
    for at, (passage, line) in enumerate(drawn):
        if not at or drawn[at - 1][0] != passage:
            shown += f"\n# {passage.id}\n{passage.text}\n\n"
        shown += f"{line}\n"
    file.write_text(shown, "utf-8")


def _lines(extraction: Extraction) -> Iterator[str]:
    for triple in extraction.triples:
        yield f"triple {triple.sentence}: {triple.subject} | {triple.predicate} | {triple.object}"
    for attribute in extraction.attributes:
        yield f"attribute {attribute.sentence}: {attribute.entity} | {attribute.key} | {attribute.value}"
    for fact in extraction.facts:
        yield f"fact {fact.sentence}: {fact.text} | {', '.join(fact.key_elements)}"
