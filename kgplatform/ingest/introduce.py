"""A short summary of single documents and three questions that they answer, by one call of a model for each.

For what people bring by hand: pasted texts and pages of the web.
"""

from __future__ import annotations

from collections.abc import Collection

from kgplatform.errors import ModelError
from kgplatform.models.chat import Chat
from kgplatform.models.forms import Form, items
from kgplatform.models.reply import ask
from kgplatform.neo4j.store import Store
from kgplatform.prompt import fence_for, render
from kgplatform.text import clipped

_PASSAGES = 6
_TOKENS = 500
_QUESTIONS = 3
_LONGEST_SUMMARY, _LONGEST_QUESTION = 900, 300
"""Characters."""


class _Introduced(Form):
    summary: str
    questions: list[str] = items(_QUESTIONS)


def introduced(store: Store, chat: Chat, sources: Collection[str]) -> list[str]:
    """Write a summary and questions to the documents of ``sources`` that have none for their text. A line for people of
    each of these; where the model gave none, it says why, and the next time asks again."""
    lines = []
    for row in store.read("ingest/not_introduced", sources=list(sources), passages=_PASSAGES):
        messages = render("ingest/introduce", fence=fence_for(row["text"]), text=row["text"])
        try:
            made, _ = ask(chat, messages, _Introduced, stage="introduce", tokens=_TOKENS)
        except ModelError as error:
            lines.append(f"{row['title']}: no summary was written. {error}")
            continue
        summary = clipped(made.summary, _LONGEST_SUMMARY)
        questions = [clipped(each, _LONGEST_QUESTION) for each in made.questions[:_QUESTIONS]]
        said = {"id": row["id"], "sha256": row["sha256"], "summary": summary, "questions": questions}
        store.write(("ingest/introduce", {"rows": [said]}))
        lines.append(f"{row['title']}: {summary} You could ask: {' '.join(questions)}")
    return lines
