"""What a language model is asked about a passage: everything at once, or its atomic facts alone.

``LlmExtractor`` asks for an extraction, in one call per passage. ``read_facts`` is GraphReader's own extraction
(section 3.2, figure 6), also in one call. Both are asked for in JSON; what comes in another form is read as far as it
can be (``reply.read_prose``, ``read_fact_lines``).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from pydantic import BaseModel

from kgplatform.ingest.bound import Mode
from kgplatform.ingest.extract.reply import (
    ExtractionReply,
    FactsReply,
    FullExtractionReply,
    FullFactsReply,
)
from kgplatform.ingest.extract.shape import blank_controls
from kgplatform.ingest.schema import Schema
from kgplatform.models.chat import Chat
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.models.reply import ask
from kgplatform.models.reply_cache import cache_key
from kgplatform.models.request import json_schema
from kgplatform.prompt import Messages, render
from kgplatform.records import AtomicFact, Document, Extraction, Malformed, Passage
from kgplatform.text import node_id, tidy

WITHOUT_ELEMENTS = "fact line without key elements"
WITHOUT_FACT = "fact line without a fact"

_DETAIL = 160
_MARKUP = re.compile(r"\*\*|__|`+|\*(?=\w)|(?<=[\w:])\*")
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
_COMMA = re.compile(r"[;，；、]|,(?!\d{3}\b)")
_QUOTES = "\"'“”‘’«»「」"


@dataclass(frozen=True, slots=True)
class FactLines:
    """The facts of one reply, and what in it cannot be used."""

    facts: tuple[AtomicFact, ...] = ()
    malformed: tuple[Malformed, ...] = ()


def read_fact_lines(reply: str) -> FactLines:
    """The facts that the lines of ``reply``, which has no thoughts and no JSON, state, in order, each once."""
    answer = blank_controls(reply).replace("｜", "|")
    lines = [line for line in answer.splitlines() if not _FENCE.match(line)]
    malformed: list[Malformed] = []
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


def _joined(lines: list[str]) -> Iterator[str]:
    """Lines that say something, without markup; elements on a line of their own go to the fact above them."""
    waiting: str | None = None
    for raw in lines:
        line = _MARKUP.sub("", raw).strip()
        if not line or _RULE.fullmatch(line):
            continue
        listed = _BULLET.sub("", line, count=1)
        if waiting is not None and not _is_numbered(line) and ("|" in line or _LABEL.match(listed)):
            elements = _LABEL.sub("", listed, count=1)
            yield f"{waiting} | {elements if '|' in elements else _COMMA.sub('|', elements)}"
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


STAGE = "extract"
FULL_PASSAGE_TOKENS = 20
"""From this many tokens on, a passage with letters in it says something."""

_LONGEST_TITLE = 200
_LEAST_OUTPUT, _OUTPUT_SHARE = 600, 12


def most_output(tokens: int) -> int:
    """The most tokens of an extraction of a passage of ``tokens``: more than any of the sample corpus's, whose longest
    has 12.9 times as many (docs/explanation/decisions.md)."""
    return _LEAST_OUTPUT + _OUTPUT_SHARE * tokens


def is_full(passage: Passage) -> bool:
    """Whether an extraction of nothing from ``passage`` is a failure."""
    return passage.tokens >= FULL_PASSAGE_TOKENS and any(letter.isalpha() for letter in passage.text)


def passage_inputs(passage: Passage, document: Document) -> dict[str, str]:
    """The inputs of a prompt that shows ``passage``: ``fence``, ``title`` and ``text``.

    The fence round the text is derived from the text: no document can contain its own.
    """
    title = tidy(document.title)[:_LONGEST_TITLE]
    return {"fence": f"text-{node_id(passage.text)[:12]}", "title": title, "text": passage.text}


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
        messages, tokens = extraction_messages(passage, document, schema), most_output(passage.tokens)
        reply, _ = ask(self.chat, messages, shape, stage=STAGE, tokens=tokens)
        return reply.extraction

    def request(self, schema: Schema) -> str:
        """What stands for the request but for the passage: another for another model, prompt, parameter or schema."""
        return _request(self.chat, FullExtractionReply, extraction_messages(*_NOTHING, schema))


_NOTHING = Passage("", "", "", 0, 0, 0, None, "", 0), Document("", "", "", "", "", "")


def _request(chat: Chat, form: type[BaseModel], messages: Messages) -> str:
    model = chat.identity() if isinstance(chat, OpenAIChat) else {"model": chat.model}
    return cache_key({**model, "messages": messages, "form": json_schema(form)})


def extraction_messages(passage: Passage, document: Document, schema: Schema) -> Messages:
    """The prompt for ``passage``. All that differs between passages is in the user message, so that servers that
    remember a prompt's beginning charge less for the rest."""
    return render(
        "ingest/extract",
        schema=schema.prompt_text() or "(none: choose short general types)",
        **passage_inputs(passage, document),
    )


FACTS_STAGE = "facts"


def read_facts(chat: Chat, passage: Passage, document: Document, most_tokens: int) -> Extraction:
    """The atomic facts that the model finds in ``passage``, in at most about ``most_tokens``, and what is malformed.

    A full passage that yields none is asked for once more. Raises ``ReplyError`` if that yields none either, and then
    has the chat forget both answers; and another ``ModelError`` if no answer came.
    """
    shape = FullFactsReply if is_full(passage) else FactsReply
    messages = fact_messages(passage, document, most_tokens)
    reply, _ = ask(chat, messages, shape, stage=FACTS_STAGE, tokens=most_tokens)
    return reply.extraction


def facts_request(chat: Chat, most_tokens: int) -> str:
    """As ``LlmExtractor.request``, of ``read_facts``."""
    return _request(chat, FullFactsReply, fact_messages(*_NOTHING, most_tokens))


def fact_messages(passage: Passage, document: Document, most_tokens: int) -> Messages:
    """The prompt for ``passage``."""
    return render("ingest/atomic_facts", tokens=str(most_tokens), **passage_inputs(passage, document))
