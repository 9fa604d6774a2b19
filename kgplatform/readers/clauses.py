"""The clauses of a sentence, from the forms of its words alone: what shares a verb, and whose subject a verb has.

    words, parts = in_parts(telling("Norvium melts at 312 °C and boils at 1,840 °C."))
    in_clauses(words, parts)                       # 0 up to "°C", 1 from "and" on

A *part* ends at a comma, a bracket, "and" and the like; a *clause* is made of the parts round one verb.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from kgplatform.readers.families import Word, is_action, is_generic, listed

_JOINS = listed("joins")
"""What a part begins with."""

_OPENS = listed("opens")
"""What a clause inside another one begins with, if it has a verb."""

AND = listed("and")
_FINITE = listed("finite")
_BEFORE_NOUNS = listed("before nouns")
PRONOUNS = listed("pronouns")


def is_verb(words: Sequence[Word], at: int) -> bool:
    """Whether a word is used as a verb, as far as its form and the word before it tell."""
    word = words[at]
    if word.plain in _FINITE:
        return True
    if word.kind != "word" or not is_action(word):
        return False
    before = words[at - 1] if at else None
    counted = before is not None and before.kind == "number" and word.plain.endswith("s")
    return not counted and (before is None or before.plain not in _BEFORE_NOUNS)


def in_parts(found: Sequence[Word]) -> tuple[tuple[Word, ...], tuple[int, ...]]:
    """The words without breaks, and the number of the part of the sentence that each is in.

    What stands in brackets belongs to the part before it, if it has no verb. Numbers leave one out after a semicolon.
    """
    words, parts, part, breaks = list[Word](), list[int](), 0, False
    for at, word in enumerate(found):
        if word.kind == "break" and word.plain in "()[]":
            breaks = breaks if word.plain in ")]" else _has_verb_inside(found, at)
            part += breaks
        elif word.kind == "break":
            part += 1 + (word.plain == ";")
        elif word.plain in _JOINS and not _is_between_names(found, at):
            part += 1
        if word.kind != "break":
            words.append(word)
            parts.append(part)
    return tuple(words), tuple(parts)


def _has_verb_inside(found: Sequence[Word], opened: int) -> bool:
    """Whether there is a verb in the brackets that open at ``opened``; "working" is none there."""
    closed = next((n for n in range(opened + 1, len(found)) if found[n].plain in ")]"), opened)
    inside = found[opened + 1 : closed]
    return any(is_verb(inside, n) and not word.plain.endswith("ing") for n, word in enumerate(inside))


def _is_between_names(found: Sequence[Word], at: int) -> bool:
    return 0 < at < len(found) - 1 and found[at - 1].kind == found[at + 1].kind == "name"


def in_clauses(words: Sequence[Word], parts: Sequence[int]) -> tuple[int, ...]:
    """The number of the clause of each word. After a relative clause that has its verb, the main one goes on."""
    spans = [list(span) for _, span in groupby(range(len(words)), key=parts.__getitem__)]
    verbs = [any(is_verb(words, at) for at in span) for span in spans] + [False]
    clauses: list[int] = []
    has_verb = [False]
    current, main = 0, -1
    for number, span in enumerate(spans):
        goes_on = number + 1 < len(spans) and words[spans[number + 1][0]].plain == "and" and verbs[number + 1]
        opens = bool(clauses) and words[span[0]].plain in _OPENS and (verbs[number] or goes_on)
        apart = bool(clauses) and parts[span[0]] > parts[span[0] - 1] + 1
        if not opens and not apart and verbs[number] and has_verb[current] and main >= 0 and not has_verb[main]:
            current, main = main, -1
        elif opens or apart or (verbs[number] and has_verb[current]):
            main = -1 if not opens else current if main < 0 else main
            current = len(has_verb)
            has_verb.append(False)
        has_verb[current] |= verbs[number]
        clauses.extend([current] * len(span))
    return tuple(clauses)


def shared_subjects(words: Sequence[Word], clauses: Sequence[int]) -> dict[int, int]:
    """For a clause that begins with its verb or with "which", the one before it, whose subject is its own too."""
    found: dict[int, int] = {}
    for clause, span in groupby(range(len(words)), key=clauses.__getitem__):
        all_ = list(span)
        first = all_[0]
        told = [at for at in all_ if is_verb(words, at) or not _is_passing(words[at])]
        if not first or clause in found or clauses[first - 1] == clause:
            continue
        if words[first].plain in _OPENS:
            found[clause] = clauses[first - 1]
        elif told and is_verb(words, told[0]):
            found[clause] = found.get(clauses[first - 1], clauses[first - 1])
    return found


def _is_passing(word: Word) -> bool:
    """Whether a word may stand before a verb and be no subject: "and later first lit"."""
    return word.kind in ("little", "not") or is_generic(word) or word.plain.endswith("ly")


def negated(words: Sequence[Word], parts: Sequence[int]) -> set[int]:
    """The words that come after a "not" in its part of a sentence."""
    found: set[int] = set()
    for at, word in enumerate(words):
        away = word.plain == "out" and [w.plain for w in words[at + 1 : at + 2]] == ["of"]
        if word.kind == "not" or (away and (at == 0 or words[at - 1].kind != "number")):
            found.update(n for n in range(at + 1, min(len(words), at + 9)) if parts[n] == parts[at])
    return found
