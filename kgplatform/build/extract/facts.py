"""GraphReader's own extraction (section 3.2, figure 6): the atomic facts of a chunk, in one language-model call."""

from __future__ import annotations

from kgplatform.build.extract import is_full
from kgplatform.build.extract.fact_lines import FactLines, read_fact_lines
from kgplatform.errors import ReplyError
from kgplatform.llm import Chat
from kgplatform.prompt import Messages, render
from kgplatform.records import Chunk, Document
from kgplatform.text import node_id, tidy

STAGE = "facts"
REMINDER = (
    "That cannot be read. Write one line a fact: its number, the fact, then its key elements, parted by vertical bars."
)
_LONGEST_TITLE = 200


def read_facts(chat: Chat, chunk: Chunk, document: Document, most_tokens: int) -> FactLines:
    """The atomic facts that the model finds in ``chunk``, at most about ``most_tokens`` of them.

    A full chunk that yields none is asked for once more with a reminder of the form. Raises ``ReplyError`` if that
    yields none either, and then has the chat forget both answers; and another ``ModelError`` if no answer came.
    """
    messages = fact_messages(chunk, document, most_tokens)
    reply = chat.send(messages, stage=STAGE)
    found = read_fact_lines(reply.text, cut_off=reply.cut_off)
    if found.facts or not is_full(chunk):
        return found
    asked_again = [
        *messages,
        {"role": "assistant", "content": reply.text if reply.text.strip() else "(nothing)"},
        {"role": "user", "content": REMINDER},
    ]
    again = chat.send(asked_again, stage=STAGE)
    found = read_fact_lines(again.text, cut_off=again.cut_off)
    if found.facts:
        return found
    for each in (messages, asked_again):
        chat.forget(each)
    start = " ".join(again.text.split())[:80]
    raise ReplyError(
        f"The language model's answer in stage {STAGE} has no line with a fact and its key elements, nor had the one "
        f"before; it begins {start!r}. A larger model (KGPLATFORM_CHAT_MODEL) may do better."
    )


def fact_messages(chunk: Chunk, document: Document, most_tokens: int) -> Messages:
    """The prompt for ``chunk``. The fence round the text is derived from the text: no document can contain its own."""
    return render(
        "graphreader_extract",
        tokens=str(most_tokens),
        fence=f"text-{node_id(chunk.text)[:12]}",
        title=tidy(document.name)[:_LONGEST_TITLE],
        text=chunk.text,
    )
