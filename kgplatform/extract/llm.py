"""What a language model is asked about a passage: everything at once, or its atomic facts alone.

``LlmExtractor`` asks for an extraction, in one call per passage. ``read_facts`` is GraphReader's own extraction
(section 3.2, figure 6), also in one call. The sentences of the passage are numbered in the prompt, and the reply names
the number of the one that states a thing.

Each item of a reply is a short list of texts, the last of a statement the number of the sentence that states it: the
fewest tokens that a strict schema of any server allows (docs/explanation/benchmarks/extraction.md). The form that the
server is asked for is bounded, so that a small model cannot run on; reading is not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

from pydantic import BaseModel, Field, GetJsonSchemaHandler, RootModel, model_validator
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from kgplatform.extract.grounded_names import LONGEST, without_inventions
from kgplatform.extract.schema import Schema
from kgplatform.extract.shape import contents, read_extraction
from kgplatform.models.chat import Chat
from kgplatform.models.forms import Form
from kgplatform.models.openai_chat import OpenAIChat
from kgplatform.models.reply import ask
from kgplatform.models.request import cache_key, json_schema
from kgplatform.prompt import Messages, render
from kgplatform.records import Document, Extraction, Passage
from kgplatform.text import node_id, tidy
from kgplatform.text.sentences import lines

STAGE = "extract"
FACTS_STAGE = "facts"
FACTS_TOKENS = 1024
"""The most tokens of a reply with the atomic facts of a passage (GraphReader's paper)."""
FULL_PASSAGE_TOKENS = 20
"""From this many tokens on, a passage with letters in it says something."""

_LONGEST_TITLE = 200
_LEAST_OUTPUT, _OUTPUT_SHARE = 600, 6
"""The most tokens of an extraction, and for each of its passage more: of the sample corpus's, the longest has 4.9 times
as many as its passage (docs/explanation/decisions.md)."""


def is_full(passage: Passage) -> bool:
    """Whether an extraction of nothing from ``passage`` is a failure."""
    return passage.tokens >= FULL_PASSAGE_TOKENS and any(letter.isalpha() for letter in passage.text)


def passage_inputs(passage: Passage, document: Document) -> dict[str, str]:
    """The inputs of a prompt that shows ``passage``: ``fence``, ``title`` and ``text``, its sentences by number. The
    fence round the text is derived from the text: no document can contain its own."""
    title = tidy(document.title)[:_LONGEST_TITLE]
    return {"fence": f"text-{node_id(passage.text)[:12]}", "title": title, "text": lines(passage.text)}


@dataclass(eq=False)
class LlmExtractor:
    """Asks a language model for everything that a passage says, in one call."""

    chat: Chat
    name = "llm"

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What the model says that ``passage`` says. Raises ``ReplyError`` if the answer is unusable, or has nothing of
        a full passage, twice in a row, and another ``ModelError`` if no answer came."""
        messages = extraction_messages(passage, document, schema)
        most = _LEAST_OUTPUT + _OUTPUT_SHARE * passage.tokens
        return _asked(self.chat, messages, ExtractionReply, STAGE, most, passage, document)

    def request(self, schema: Schema) -> str:
        """What stands for the request but for the passage: another for another model, prompt, parameter or schema."""
        return _request(self.chat, ExtractionReply, extraction_messages(*_NOTHING, schema))


def extraction_messages(passage: Passage, document: Document, schema: Schema) -> Messages:
    """The prompt for ``passage``. All that differs between passages is in the user message, so that servers that
    remember a prompt's beginning charge less for the rest."""
    return render(
        "ingest/extract",
        schema=schema.prompt_text() or "(none: choose short general types)",
        **passage_inputs(passage, document),
    )


def read_facts(chat: Chat, passage: Passage, document: Document, most_tokens: int) -> Extraction:
    """The atomic facts that the model finds in ``passage``, in at most about ``most_tokens``, and what is malformed.
    Raises as ``LlmExtractor.extract`` does; the chat has then forgotten both answers."""
    messages = fact_messages(passage, document, most_tokens)
    return _asked(chat, messages, FactsReply, FACTS_STAGE, most_tokens, passage, document)


def facts_request(chat: Chat) -> str:
    """As ``LlmExtractor.request``, of ``read_facts``."""
    return _request(chat, FactsReply, fact_messages(*_NOTHING, FACTS_TOKENS))


def fact_messages(passage: Passage, document: Document, most_tokens: int) -> Messages:
    """The prompt for ``passage``."""
    return render("ingest/atomic_facts", tokens=str(most_tokens), **passage_inputs(passage, document))


_NOTHING = Passage("", "", "", 0, 0, 0, None, "", 0), Document("", "", "", "", "", "")


def _request(chat: Chat, form: type[BaseModel], messages: Messages) -> str:
    model = chat.identity() if isinstance(chat, OpenAIChat) else {"model": chat.model}
    return cache_key({**model, "messages": messages, "form": json_schema(form)})


def _asked(
    chat: Chat,
    messages: Messages,
    shape: type[ExtractionReply],
    stage: str,
    tokens: int,
    passage: Passage,
    document: Document,
) -> Extraction:
    """What a reply means. One of which nothing of a full passage could be kept is of no use, and is asked for again."""

    def unusable(reply: ExtractionReply) -> str:
        kept, _ = without_inventions(read_extraction(reply.root, passage.text), passage, document.title)
        is_lost = kept.is_empty and is_full(passage)
        return "nothing in it is of this text, although the text says something." if is_lost else ""

    reply, _ = ask(chat, messages, shape, stage=stage, tokens=tokens, unusable=unusable)
    return read_extraction(reply.root, passage.text)


def _bounded(**bounds: int) -> Any:
    return Field(json_schema_extra=dict[str, Any](bounds))


Name = Annotated[str, _bounded(maxLength=LONGEST)]
Value = Annotated[str, _bounded(maxLength=LONGEST)]
Words = Annotated[str, _bounded(maxLength=300)]
Entity = Annotated[list[Name], _bounded(minItems=2, maxItems=2)]
"""Name, type."""
Statement = Annotated[list[Value], _bounded(minItems=4, maxItems=4)]
"""Subject, relation, object, sentence; or entity, key, value, sentence."""
Proposed = Annotated[list[Name], _bounded(minItems=4, maxItems=4)]
"""Kind, name, confidence, sentence."""
Fact = Annotated[list[Words], _bounded(minItems=2, maxItems=8)]
"""Sentence; the fact, or nothing where the sentence is it; key elements."""


class FactsForm(BaseModel):
    """What a server is asked for where only atomic facts are wanted."""

    facts: Annotated[list[Fact], _bounded(maxItems=60)]


class ExtractionForm(Form):
    """What a server is asked for. Atomic facts are the sentences that statements name: asked for too, facts are half of
    all tokens. The number stands last: before the rest, a small model counts on and says one thing of each sentence.

    A small model repeats one name to the end of the list, and then goes on to the statements: so the list ends where a
    page of our recordings has no more names.
    """

    ASIDE: ClassVar[frozenset[str]] = frozenset({"proposals"})

    entities: Annotated[list[Entity], _bounded(maxItems=24)]
    statements: Annotated[list[Statement], _bounded(maxItems=40)]
    proposals: Annotated[list[Proposed], _bounded(maxItems=6)]


class ExtractionReply(RootModel[dict[str, Any]]):
    """Any JSON that has something of what the prompt asks for, or is empty; ``shape.read_extraction`` reads it."""

    form: ClassVar[type[BaseModel]] = ExtractionForm

    @model_validator(mode="before")
    @classmethod
    def _find_content(cls, raw: object) -> dict[str, Any]:
        content = cls.found_in(raw) or ({"facts": []} if raw in ({}, []) else {})
        if not content:
            raise ValueError(f"the reply has none of the keys {', '.join(cls.form.model_fields)}")
        return content

    @classmethod
    def found_in(cls, raw: object) -> dict[str, Any]:
        """The content of a reply."""
        return contents(raw)

    @classmethod
    def __get_pydantic_json_schema__(cls, _: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        return handler(cls.form.__pydantic_core_schema__)


class FactsReply(ExtractionReply):
    """A reply to the prompt for atomic facts: those, or the list of them alone."""

    form: ClassVar[type[BaseModel]] = FactsForm

    @classmethod
    def found_in(cls, raw: object) -> dict[str, Any]:
        content = contents(raw)
        return content if "facts" in content else {"facts": raw} if isinstance(raw, list) else {}
