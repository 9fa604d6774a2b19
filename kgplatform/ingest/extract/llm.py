"""What a language model is asked about a passage: everything at once, or its atomic facts alone.

``LlmExtractor`` asks for an extraction, in one call per passage. ``read_facts`` is GraphReader's own extraction
(section 3.2, figure 6), also in one call. Both are asked for in JSON; what comes in another form is read as far as it
can be (``reply.read_prose``, ``fact_lines``).
"""

from __future__ import annotations

from functools import partial

from kgplatform.ingest.bound import Mode
from kgplatform.ingest.extract.fact_lines import read_fact_lines
from kgplatform.ingest.extract.reply import (
    ExtractionReply,
    FactsReply,
    FullExtractionReply,
    FullFactsReply,
    read_prose,
)
from kgplatform.ingest.schema import Schema
from kgplatform.models.chat import Chat
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, render
from kgplatform.records import Document, Extraction, Passage
from kgplatform.text import node_id, tidy

STAGE = "extract"
FULL_PASSAGE_TOKENS = 20
"""From this many tokens on, a passage with letters in it says something."""

_LONGEST_TITLE = 200
_LEAST_OUTPUT, _OUTPUT_SHARE = 600, 12


def most_output(tokens: int) -> int:
    """The most tokens of an extraction of a passage of ``tokens``: more than any of the sample corpus's, whose longest
    has 12.9 times as many (docs/decisions.md)."""
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
        free = partial(read_prose, shape=shape)
        reply, _ = ask(self.chat, messages, shape, stage=STAGE, tokens=tokens, free=free)
        return reply.extraction


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
    reply, _ = ask(chat, messages, shape, stage=FACTS_STAGE, tokens=most_tokens, free=partial(_from_lines, shape))
    return reply.extraction


def _from_lines(shape: type[FactsReply], text: str) -> FactsReply | None:
    lines = read_fact_lines(text)
    facts = [{"text": fact.text, "key_elements": list(fact.key_elements)} for fact in lines.facts]
    if not facts and shape is FullFactsReply:
        return None
    return shape({"facts": [*facts, *(each.detail for each in lines.malformed)]})


def fact_messages(passage: Passage, document: Document, most_tokens: int) -> Messages:
    """The prompt for ``passage``."""
    return render("ingest/atomic_facts", tokens=str(most_tokens), **passage_inputs(passage, document))
