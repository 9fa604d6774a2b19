"""Setup ``closed``: the model alone, without any document (the zero-shot row of Youtu-GraphRAG's tables)."""

from __future__ import annotations

from kgplatform.llm import Chat
from kgplatform.prompt import render
from kgplatform.readers.answering import OWN_KNOWLEDGE, fence_for
from kgplatform.records import Answer, SearchResult, Step

READER = "closed"
_PROMPT = "zero_shot"


def answer_closed(question: str, chat: Chat) -> Answer:
    """What the model knows by itself; it cites nothing. Raises ``ModelError``."""
    messages = render(_PROMPT, question=question, fence=fence_for(question))
    reply = chat.send(messages, stage="answer")
    text = reply.text.strip()
    step = Step("answer", "from the model's own knowledge", 0.0, prompt=_PROMPT, reply=reply.text, usage=reply.usage)
    nothing = SearchResult(question, (), (), 0.0)
    return Answer(question, READER, text, (), nothing, (step,), reply.usage, OWN_KNOWLEDGE)
