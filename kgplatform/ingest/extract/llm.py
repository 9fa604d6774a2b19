"""What a language model is asked about a passage: everything at once, or its atomic facts alone.

``LlmExtractor`` asks for an extraction in JSON, in one call per passage. ``read_facts`` is GraphReader's own extraction
(section 3.2, figure 6), also in one call. There the model is asked for one fact a line: a serial number, the fact, its
key elements between bars.

    1. Danko Jones is a trio from Toronto. | Danko Jones | trio | Toronto

Read as well are the forms that models fall into: a comma before the elements (as the paper's own prompt has it),
brackets round them, bullets, bold, code fences, tables, elements on a line of their own, and JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import RootModel, model_validator

from kgplatform.errors import ReplyError
from kgplatform.ingest.bound import Mode
from kgplatform.ingest.extract.shape import KEYS, blank_controls, read_extraction
from kgplatform.ingest.schema import Schema
from kgplatform.models.chat import Chat
from kgplatform.models.json_text import without_thoughts
from kgplatform.models.reply import ask, parse_reply
from kgplatform.prompt import Messages, render
from kgplatform.records import AtomicFact, Document, Extraction, Malformed, Passage
from kgplatform.text import node_id, tidy

STAGE = "extract"
FULL_PASSAGE_TOKENS = 20
"""From this many tokens on, a passage with letters in it says something."""

_LONGEST_TITLE = 200
_OTHER_KEYS = {
    "nodes": "entities",
    "named_entities": "entities",
    "extracted_entities": "entities",
    "relations": "triples",
    "relationships": "triples",
    "extracted_triples": "triples",
    "atomic_facts": "facts",
    "atomicfacts": "facts",
    "properties": "attributes",
}


def is_full(passage: Passage) -> bool:
    """Whether an extraction of nothing from ``passage`` is a failure."""
    return passage.tokens >= FULL_PASSAGE_TOKENS and any(letter.isalpha() for letter in passage.text)


def passage_inputs(passage: Passage, document: Document) -> dict[str, str]:
    """The inputs of a prompt that shows ``passage``: ``fence``, ``title`` and ``text``.

    The fence round the text is derived from the text: no document can contain its own.
    """
    title = tidy(document.title)[:_LONGEST_TITLE]
    return {"fence": f"text-{node_id(passage.text)[:12]}", "title": title, "text": passage.text}


class ExtractionReply(RootModel[dict[str, Any]]):
    """A model's reply: any JSON that has at least one of the keys that the prompt asks for, or is empty."""

    @model_validator(mode="before")
    @classmethod
    def _find_content(cls, raw: object) -> dict[str, Any]:
        return _content_of(raw)

    @cached_property
    def extraction(self) -> Extraction:
        """What the reply means."""
        return read_extraction(self.root)


class FullExtractionReply(ExtractionReply):
    """A reply that says something, as it must of a full passage."""

    @model_validator(mode="after")
    def _check(self) -> FullExtractionReply:
        if self.extraction.is_empty:
            raise ValueError("nothing usable was extracted, although the text says something")
        return self


class LlmExtractor:
    """Asks a language model for everything that a passage says, in one call."""

    name = "llm"
    default_mode: Mode = "strict"

    def __init__(self, chat: Chat) -> None:
        self.chat = chat

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What the model says that ``passage`` says.

        Raises ``ReplyError`` if the answer is unusable, or empty for a full passage, twice in a row, and another
        ``ModelError`` if no answer came.
        """
        shape = FullExtractionReply if is_full(passage) else ExtractionReply
        reply, _ = ask(self.chat, extraction_messages(passage, document, schema), shape, stage=STAGE)
        return reply.extraction


def extraction_messages(passage: Passage, document: Document, schema: Schema) -> Messages:
    """The prompt for ``passage``. All that differs between passages is in the user message, so that servers that
    remember a prompt's beginning charge less for the rest."""
    return render(
        "ingest/extract",
        schema=schema.prompt_text() or "(none: choose short general types)",
        **passage_inputs(passage, document),
    )


def _content_of(raw: object) -> dict[str, Any]:
    """The mapping that has the wanted keys: the reply, or what it is wrapped in."""
    if isinstance(raw, list):
        if raw and all(isinstance(each, list) for each in raw):
            return {"triples": raw}
        raw = raw[0] if len(raw) == 1 else raw
    if not isinstance(raw, dict):
        raise ValueError(f"the reply must be one JSON object with the keys {', '.join(KEYS[:5])}")
    content: dict[str, Any] = {}
    for key, value in raw.items():
        plain = str(key).strip().lower().replace(" ", "_")
        content.setdefault(_OTHER_KEYS.get(plain, plain), value)
    if content and not content.keys() & set(KEYS):
        inner = list(raw.values())
        if len(inner) == 1 and isinstance(inner[0], dict | list):
            return _content_of(inner[0])
        raise ValueError(f"the reply has none of the keys {', '.join(KEYS[:5])}")
    return content


FACTS_STAGE = "facts"
REMINDER = (
    "That cannot be read. Write one line a fact: its number, the fact, then its key elements, parted by vertical bars."
)


def read_facts(chat: Chat, passage: Passage, document: Document, most_tokens: int) -> FactLines:
    """The atomic facts that the model finds in ``passage``, at most about ``most_tokens`` of them.

    A full passage that yields none is asked for once more with a reminder of the form. Raises ``ReplyError`` if that
    yields none either, and then has the chat forget both answers; and another ``ModelError`` if no answer came.
    """
    messages = fact_messages(passage, document, most_tokens)
    reply = chat.send(messages, stage=FACTS_STAGE)
    found = read_fact_lines(reply.text, cut_off=reply.cut_off)
    if found.facts or not is_full(passage):
        return found
    asked_again = [
        *messages,
        {"role": "assistant", "content": reply.text if reply.text.strip() else "(nothing)"},
        {"role": "user", "content": REMINDER},
    ]
    again = chat.send(asked_again, stage=FACTS_STAGE)
    found = read_fact_lines(again.text, cut_off=again.cut_off)
    if found.facts:
        return found
    for each in (messages, asked_again):
        chat.forget(each)
    start = " ".join(again.text.split())[:80]
    raise ReplyError(
        f"The language model's answer in stage {FACTS_STAGE} has no line with a fact and its key elements, "
        f"nor had the one before; it begins {start!r}. A larger model (KGPLATFORM_CHAT_MODEL) may do better."
    )


def fact_messages(passage: Passage, document: Document, most_tokens: int) -> Messages:
    """The prompt for ``passage``."""
    return render("ingest/atomic_facts", tokens=str(most_tokens), **passage_inputs(passage, document))


WITHOUT_ELEMENTS = "fact line without key elements"
WITHOUT_FACT = "fact line without a fact"
BROKEN_OFF = "fact line that broke off at the length limit"

_DETAIL = 160
_MARKUP = re.compile(r"\*\*|__|`+")
_FENCE = re.compile(r"\s*(?:`{3}|~{3})")
_BULLET = re.compile(r"\s*(?:[-*•+–]\s+|>\s*)?")
_SERIAL = re.compile(r"\s*(?:fact\s*)?[(\[（]?\s*\d{1,3}\s*(?:[.,:)\]、．）](?!\d)\s*[.,:]?|\|)", re.IGNORECASE)
_RULE = re.compile(r"[\s|:=+-]+")
_HEADER = re.compile(r"atomic facts?|key elements?|serial|\bfacts?\b", re.IGNORECASE)
_LABEL = re.compile(r"\s*(?:atomic\s+fact|fact|key\s+elements?|elements|keywords)\s*[:：]\s*", re.IGNORECASE)
_BRACKETED = re.compile(r"(?P<fact>.*?)[\s,;:|–-]*[\[【](?P<elements>[^\[\]【】]*)[\]】]\s*[.。]?\s*")
_IN_PARENTHESES = re.compile(r"(?P<fact>.*?)[\s,;:|]*[(（](?P<elements>[^()（）]*\|[^()（）]*)[)）]\s*[.。]?\s*")
_SENTENCE_END = re.compile(r"[.!?。！？…][\"'”’)\]]*\s*\Z")
_ELEMENT_AFTER_SENTENCE = re.compile(r"(?P<fact>.*[.!?。！？][\"'”’)]*)\s*[,;，；]\s*(?P<element>[^.!?。！？]+)")
_ELEMENT_AFTER_COMMA = re.compile(r"(?P<fact>.+)[,;，；]\s*(?P<element>[^,;，；]+)")
_QUOTES = "\"'“”‘’«»「」"


@dataclass(frozen=True, slots=True)
class FactLines:
    """The facts of one reply, and what in it cannot be used."""

    facts: tuple[AtomicFact, ...] = ()
    malformed: tuple[Malformed, ...] = ()


class _FactsReply(ExtractionReply):
    """The same in JSON: ``{"facts": [{"text", "key_elements"}]}``, or the list alone."""

    @model_validator(mode="before")
    @classmethod
    def _find_facts(cls, raw: object) -> Any:
        return {"facts": raw} if isinstance(raw, list) else raw


def read_fact_lines(reply: str, *, cut_off: bool = False) -> FactLines:
    """The facts that ``reply`` states, in order, each once.

    ``cut_off``: the model stopped at its length limit; then the last line counts as broken.
    """
    answer = blank_controls(without_thoughts(reply, cut_off=cut_off)).replace("｜", "|")
    found = _from_json(answer)
    if found is not None:
        return found
    lines = [line for line in answer.splitlines() if not _FENCE.match(line)]
    malformed: list[Malformed] = []
    if cut_off and lines and not answer.endswith("\n"):
        malformed.append(_malformed(BROKEN_OFF, lines.pop()))
    facts: dict[str, AtomicFact] = {}
    for line in _joined(lines):
        fact = _read(line)
        if isinstance(fact, AtomicFact):
            known = facts.get(fact.text)
            elements = (*known.key_elements, *fact.key_elements) if known else fact.key_elements
            facts[fact.text] = AtomicFact(fact.text, tuple(dict.fromkeys(elements)))
        elif fact is not None:
            malformed.append(fact)
    return FactLines(tuple(facts.values()), tuple(malformed))


def _from_json(answer: str) -> FactLines | None:
    """The facts of a reply in JSON; None if it is none."""
    start = answer.lstrip("` \t\r\n")
    if not start.removeprefix("json").lstrip().startswith(("{", "[{")):
        return None
    try:
        extraction = parse_reply(answer, _FactsReply).extraction
    except ReplyError:
        return None
    return FactLines(extraction.facts, extraction.malformed) if extraction.facts else None


def _joined(lines: list[str]) -> Iterator[str]:
    """Lines that say something, without markup; elements on a line of their own go to the fact above them."""
    waiting: str | None = None
    for raw in lines:
        line = _MARKUP.sub("", raw).strip()
        if not line or _RULE.fullmatch(line):
            continue
        if waiting is not None and not _is_numbered(line) and ("|" in line or _LABEL.match(line)):
            yield f"{waiting} | {_LABEL.sub('', _BULLET.sub('', line, count=1), count=1)}"
            waiting = None
            continue
        if waiting is not None:
            yield waiting
        waiting = line if _is_numbered(line) and "|" not in line and not _BRACKETED.fullmatch(line) else None
        if waiting is None:
            yield line
    if waiting is not None:
        yield waiting


def _is_numbered(line: str) -> bool:
    return _SERIAL.match(_bare(line)) is not None


def _bare(line: str) -> str:
    return _BULLET.sub("", line, count=1).removeprefix("|").lstrip()


def _read(line: str) -> AtomicFact | Malformed | None:
    """The fact of a line, what is wrong with it, or None for a line that is about no fact."""
    is_row = line.startswith("|")
    bare = _bare(line)
    serial = _SERIAL.match(bare)
    body = _LABEL.sub("", (bare[serial.end() :] if serial else bare).rstrip("| "), count=1)
    text, elements = _parts(body.strip(), is_row=is_row)
    if not elements and serial is None:
        return None  # what stands before, between and behind the facts
    if serial is None and all(_HEADER.search(element) for element in elements):
        return None
    if not text:
        return _malformed(WITHOUT_FACT, line)
    return AtomicFact(text, elements) if elements else _malformed(WITHOUT_ELEMENTS, line)


def _parts(body: str, *, is_row: bool) -> tuple[str, tuple[str, ...]]:
    """The fact and its key elements."""
    for pattern in (_BRACKETED, _IN_PARENTHESES):
        if found := pattern.fullmatch(body):
            inner = found["elements"]
            return _sentence(found["fact"]), _elements(inner.split("|" if "|" in inner else ","), found["fact"])
    first, *rest = body.split("|")
    if not rest:
        return _sentence(first), ()
    rest[0] = _LABEL.sub("", rest[0], count=1)
    if is_row and len(rest) == 1:
        rest = re.split(r"[,;]", rest[0])
    text, element = _without_element(first.strip())
    return _sentence(text), _elements([*element, *rest], text)


def _without_element(first: str) -> tuple[str, list[str]]:
    """The fact, and the first key element if only a comma stands between the two."""
    if _SENTENCE_END.search(first):
        return first, []
    if found := _ELEMENT_AFTER_SENTENCE.fullmatch(first):
        return found["fact"], [found["element"]]
    found = _ELEMENT_AFTER_COMMA.fullmatch(first)
    if found and found["element"].strip().casefold() in found["fact"].casefold():
        return found["fact"], [found["element"]]
    return first, []


def _sentence(text: str) -> str:
    plain = tidy(text)
    inner = plain[1:-1]
    return inner if plain[:1] in ("[", '"', "“") and plain[-1:] in ("]", '"', "”") and plain[0] not in inner else plain


def _elements(parts: list[str], text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(filter(None, (_element(part, text) for part in parts))))


def _element(part: str, text: str) -> str:
    """One key element; a full stop behind it is its own only where the fact has it too."""
    plain = tidy(part).strip("[]【】" + _QUOTES).strip()
    if plain.endswith((".", "。")) and plain.casefold() not in text[:-1].casefold():
        plain = plain[:-1].rstrip()
    return plain.strip(",; ")


def _malformed(kind: str, line: str) -> Malformed:
    return Malformed(kind, line[:_DETAIL])
