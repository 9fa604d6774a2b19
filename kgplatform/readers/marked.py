"""Replies that begin with a mark, and what becomes of them: what the readers of whole texts share.

    read_reply("[Summary] It is in Toronto.\\n**Answerable:** Casa Loma")    # Said('Casa Loma', 'It is in Toronto.')

GraphReader's comparators (appendix D) have free text for replies: marks are read whatever their case, brackets and
stars. A reply without any is asked for once more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from kgplatform.errors import InputError
from kgplatform.models.json_text import without_thoughts
from kgplatform.prompt import Messages, with_reminder
from kgplatform.readers.answer import REFUSAL, write_answer
from kgplatform.readers.calls import Calls
from kgplatform.readers.citations import cite_words
from kgplatform.readers.reader import AnswerMode
from kgplatform.readers.window import Window, tokens
from kgplatform.records import Answer, Citation, FoundPassage, SearchResult
from kgplatform.retrieve.evidence import Evidence
from kgplatform.text import tidy

NO_WORDS = "No words of this answer were found in the text that was read, so it cites nothing."
LARGEST_FENCE = "data-a1a1a1a1a1a1"
"""As many tokens as tags can have, to measure a prompt with."""

_LEAST_ROOM = 100
"""Tokens of text that a prompt must have room for."""

_REMINDER = "\n\nReply in the form that was asked for: begin with $marks."
_WORDS = r"un[\s-]?answerable|not\s+answerable|answerable|summary"
_MARK = re.compile(
    rf"\[\s*(?P<opened>{_WORDS})\b\s*\]?|(?<!\w)(?P<closed>{_WORDS})\s*\]"
    rf"|^(?:[^\w\n]|_)*(?P<bare>{_WORDS})\b[*_`)\s]*?(?:[:–—-]|\.?[^\S\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_ANSWER = re.compile(r"(?:the\s+)?answer\s*(?::|is\s*:)\s*", re.IGNORECASE)
_NUMBER = re.compile(r"\s?\[\d+\]")
# Between a mark and what follows it in its line, and before the next one: a list's bullet in a line of its own stays.
_BEFORE = re.compile(r"(?:[^\S\n]|[*_`:]|[–—-](?=\s))*\s*")
_AFTER = re.compile(r"[\s*_`#>–—-]*\Z")


@dataclass(frozen=True, slots=True)
class Said:
    """What a reply says. ``answer``: None for unanswerable; ``notes``: empty where it has none.

    ``marked``: it says one of the two outright.
    """

    answer: str | None
    notes: str = ""
    marked: bool = True


def read_reply(text: str) -> Said:
    """A reply that has marks to begin with."""
    parts = _parts(text)
    notes = " ".join(content for mark, content in parts if mark == "summary" and content)
    for mark, content in parts:
        if mark == "unanswerable":
            return Said(None, notes)
        if mark == "answerable" and content:
            return Said(content, notes)
    before = parts[0][1]  # the answer first, and then its mark
    if before and any(mark == "answerable" for mark, _ in parts):
        return Said(before, notes)
    return Said(None, notes, marked=False)


def read_answer(text: str) -> Said:
    """A reply that is an answer in full, or marked as none."""
    said = read_reply(text)
    if said.marked:
        return said
    text = text.strip()
    return Said(text or None, marked=bool(text))


def ask_marked(
    calls: Calls, messages: Messages, read: Callable[[str], Said], *, stage: str, marks: str, again: bool = True
) -> tuple[Said, int]:
    """What the model says, and how many replies could not be read (0 to 2).

    After the first of them the same is asked ``again`` with a reminder of the ``marks``; after the second it counts as
    unanswerable, and the chat forgets both. Raises ``ModelError``.
    """
    said = _asked(calls, messages, read, stage)
    if said.marked or not again:
        return said, int(not said.marked)
    reminded = with_reminder(messages, reminder(marks))
    second = _asked(calls, reminded, read, stage)
    if second.marked:
        return second, 1
    for each in (messages, reminded):
        calls.forget(each)
    return Said(None, second.notes or said.notes, marked=False), 2


def reminder(marks: str) -> str:
    """The line that is added where a prompt is sent again."""
    return _REMINDER.replace("$marks", marks)


def room_for(window_tokens: int, messages: Messages, marks: str, reserved: int = 0) -> int:
    """Tokens of text that fit into ``messages``, next to the reminder and to what is ``reserved``.

    Raises ``InputError`` where they leave no room.
    """
    room = Window(window_tokens).room(messages) - tokens(reminder(marks)) - reserved
    if room < _LEAST_ROOM:
        raise InputError(
            f"The question leaves no room for a text in a window of {window_tokens:,} tokens. "
            "Shorten it, or raise window_tokens.",
            "window_tokens",
        )
    return room


def asked(question: str) -> str:
    """The question as it is shown. Raises ``InputError`` for one without any word."""
    question = tidy(question)
    if not any(letter.isalnum() for letter in question):
        raise InputError("The question is empty. Ask it in words.")
    return question


def finish(
    reader: str,
    question: str,
    answer: str | None,
    read: Sequence[FoundPassage],
    evidence: Evidence,
    calls: Calls,
    mode: AnswerMode,
    counts: Mapping[str, int],
    note: str = "",
) -> Answer:
    """The end of a run: ``answer`` with the places in ``read`` that have its words, the best first; else a refusal,
    or in open mode what the model knows by itself."""
    passages = SearchResult(question, tuple(read), (), 0.0)
    text = REFUSAL
    citations: tuple[Citation, ...] = ()
    if answer is not None:
        text = _NUMBER.sub("", answer).strip()
        citations = cite_words(text, read)
        calls.note("find citations", f"the answer's words stand in {len(citations)} of the passages that were read")
        numbers = "".join(f"[{number}]" for number in range(1, len(citations) + 1))
        text = f"{text} {numbers}".rstrip()
        note = " ".join(filter(None, (note, "" if citations else NO_WORDS)))
    elif mode == "open":
        nothing = SearchResult(question, (), (), 0.0)
        known = write_answer(question, nothing, evidence, calls, mode, name="own knowledge")
        text, note = known.text, " ".join(filter(None, (note, known.note)))
    counted = {name: number for name, number in counts.items() if number}
    return Answer(question, reader, text, citations, passages, tuple(calls.steps), calls.usage, note, counts=counted)


def _asked(calls: Calls, messages: Messages, read: Callable[[str], Said], stage: str) -> Said:
    reply = calls.send(messages, stage=stage)
    return read(without_thoughts(reply.text, cut_off=reply.cut_off))


def _parts(text: str) -> list[tuple[str, str]]:
    """The marks in order, each with what follows it; first, under no mark, what comes before them."""
    found = list(_MARK.finditer(text))
    starts = [0, *(each.end() for each in found)]
    ends = [*(each.start() for each in found), len(text)]
    names = ["", *(_name(each[each.lastgroup or 0]) for each in found)]
    return [(name, _content(text[start:end])) for name, start, end in zip(names, starts, ends, strict=True)]


def _name(mark: str) -> str:
    mark = mark.lower()
    return mark if mark in ("answerable", "summary") else "unanswerable"


def _content(text: str) -> str:
    text = _AFTER.sub("", _BEFORE.sub("", text, count=1))
    return text[found.end() :] if (found := _ANSWER.match(text)) else text
