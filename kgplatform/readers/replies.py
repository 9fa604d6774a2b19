"""Replies in free text: an answer behind a mark, or the choice of an option, and what becomes of them.

    read_reply("[Summary] It is in Toronto.\\n**Answerable:** Casa Loma")    # Said('Casa Loma', 'It is in Toronto.')
    read_choice("Answer: (B) a dog", ("a horse", "a dog"))                   # 1

GraphReader's comparators (appendix D) reply so: marks are read whatever their case, brackets and stars. A reply without
any is asked for once more.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from kgplatform.errors import InputError
from kgplatform.models.json_text import without_thoughts
from kgplatform.prompt import Messages, with_reminder
from kgplatform.readers.answer import REFUSAL, Answered, joined, record, with_places, write_answer
from kgplatform.readers.marks import without_marks
from kgplatform.readers.reader import AnswerMode
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window, tokens
from kgplatform.records import Answer, Citation, FoundPassage, SearchResult
from kgplatform.retrieve.evidence import Evidence
from kgplatform.text import normalise_name, tidy

NO_WORDS = "No words of this answer were found in the text that was read, so it cites nothing."
_LEAST_ROOM = 100
"""Tokens of text that a prompt must have room for."""

_WORDS = r"un[\s-]?answerable|not\s+answerable|answerable|summary"
_MARK = re.compile(
    rf"\[\s*(?P<opened>{_WORDS})\b\s*\]?|(?<!\w)(?P<closed>{_WORDS})\s*\]"
    rf"|^(?:[^\w\n]|_)*(?P<bare>{_WORDS})\b[*_`)\s]*?(?:[:–—-]|\.?[^\S\n]*$)",
    re.IGNORECASE | re.MULTILINE,
)
_ANNOUNCED = re.compile(r"(?:the\s+)?answer\s*(?::|is\s*:)\s*", re.IGNORECASE)
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
    for sent in (messages, reminded):
        calls.forget(sent)
    return Said(None, second.notes or said.notes, marked=False), 2


def reminder(marks: str) -> str:
    """The line that is added where a prompt is sent again."""
    return f"\n\nReply in the form that was asked for: begin with {marks}."


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
    note: str = "",
) -> Answer:
    """The end of a run: ``answer`` with the places in ``read`` that have its words, the best first; else a refusal,
    or in open mode what the model knows by itself."""
    text, more = REFUSAL, ""
    citations: tuple[Citation, ...] = ()
    if answer is not None:
        text, citations = with_places(without_marks(answer, len(read)), read, calls, question)
        more = "" if citations else NO_WORDS
    elif mode == "open":
        nothing = SearchResult(question, (), (), 0.0)
        known = write_answer(question, nothing, evidence, calls, mode, name="own knowledge")
        text, more = known.text, known.note
    answered = Answered(text, citations, joined(note, more))
    return record(reader, answered, SearchResult(question, tuple(read), (), 0.0), calls)


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
    return text[found.end() :] if (found := _ANNOUNCED.match(text)) else text


MOST_CHOICES = 26
_OPTION = r"(?:option|choice)\b[\s*_`:]*(?:is\b)?[\s*_`:]*"
_ANSWER = rf"\banswer\b[\s*_`:]*(?:is\b)?[\s*_`:]*(?:{_OPTION})?"
# "Answer: (C) …", "answer is [c]"; "Answer: C." or "Answer: C he slept", but "A" and "I" are words of their own.
_PATTERNS = (
    re.compile(rf"{_ANSWER}[(\[]\s*([a-z])\s*[)\]]", re.IGNORECASE),
    re.compile(rf"(?i:{_ANSWER})([A-Z])(?![\w'’])(?=\W*$|[*_`]*[^\w\s*_`]|[*_`]*\n)", re.MULTILINE),
    re.compile(rf"(?i:{_ANSWER})([B-HJ-Z])(?![\w'’])"),
    re.compile(r"(?<!\w)\(\s*([A-Za-z])\s*\)"),
    re.compile(r"^\W*([A-Za-z])\W*$", re.MULTILINE),
    re.compile(r"^[\s*_`]*([A-Z])[*_`]*[.):,]", re.MULTILINE),
    re.compile(rf"^\W*(?:the )?(?:(?:correct|right|best) )?{_OPTION}([A-Z])\W*$", re.IGNORECASE | re.MULTILINE),
)
_PREFIX = re.compile(rf"\A\W*(?:(?:the )?(?:(?:correct|right|best) )?{_ANSWER})?", re.IGNORECASE)


def check_choices(choices: Sequence[str]) -> None:
    """Raise ``InputError`` for choices that cannot be chosen from. Without any the question is open."""
    if not choices:
        return
    if len(choices) == 1 or len(choices) > MOST_CHOICES:
        raise InputError(
            f"Give 2 to {MOST_CHOICES} choices, or none; there {'is one' if len(choices) == 1 else 'are more'}."
        )
    if not all(choice.strip() for choice in choices):
        raise InputError("A choice is empty. Write each as a short text.")
    if len({normalise_name(choice) for choice in choices}) < len(choices):
        raise InputError("Two choices are the same. Give each once.")


def letter(number: int) -> str:
    """A for 0, B for 1, …"""
    return chr(ord("A") + number)


def shown_choices(choices: Sequence[str]) -> str:
    """The options as a prompt shows them, a line each."""
    return "\n".join(f"({letter(n)}) {' '.join(each.split())}" for n, each in enumerate(choices))


def read_choice(text: str, choices: Sequence[str]) -> int | None:
    """The number of the option that ``text`` chooses, None if it chooses none.

    The letter that is called the answer counts first, then the first in round brackets, then one that stands alone;
    without any, the words of exactly one option.
    """
    for pattern in _PATTERNS:
        for found in pattern.finditer(text):
            number = ord(found[1].upper()) - ord("A")
            if number < len(choices):
                return number
    said = _bare(text)
    named = [n for n, each in enumerate(choices) if said and _bare(each) == said]
    return named[0] if len(named) == 1 else None


def _bare(text: str) -> str:
    """An option, or a reply that is one, less what announces it and the signs around it ("[PERSON#12]")."""
    return normalise_name(_PREFIX.sub("", text)).lstrip("([").rstrip(".!)]")
