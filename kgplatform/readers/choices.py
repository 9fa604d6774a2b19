"""Questions with options: how these are shown, and which of them a reply chooses.

shown_choices(("a horse", "a dog"))                                      # '(A) a horse\\n(B) a dog'
read_choice("Answer: (B) a dog", ("a horse", "a dog"))                   # 1
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgplatform.errors import InputError
from kgplatform.text import normalise_name

MOST_CHOICES = 26
_OPTION = r"(?:option|choice)\b[\s*_`:]*(?:is\b)?[\s*_`:]*"
_CALLS_IT = r"answer|antwort|réponse|respuesta|(?:correct|right|best) (?:choice|option)"
_ANSWER = rf"\b(?:{_CALLS_IT})\b[\s*_`:]*(?:(?:is|ist|est|es)\b)?[\s*_`:]*(?:{_OPTION})?"
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
_CALLED = _PATTERNS[:3]
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

    The letter that is called the answer last counts first, then the first in round brackets, then one that stands
    alone; without any, the words of exactly one option.
    """
    for pattern in _PATTERNS:
        every = list(pattern.finditer(text))
        for found in reversed(every) if pattern in _CALLED else every:
            number = ord(found[1].upper()) - ord("A")
            if number < len(choices):
                return number
    said = _bare(text)
    named = [n for n, each in enumerate(choices) if said and _bare(each) == said]
    return named[0] if len(named) == 1 else None


def _bare(text: str) -> str:
    """An option, or a reply that is one, less what announces it and the signs around it ("[PERSON#12]")."""
    return normalise_name(_PREFIX.sub("", text)).lstrip("([").rstrip(".!)]")
