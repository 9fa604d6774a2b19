"""A path's notebook: what a reply makes of it, so that no note is lost and the newest are kept where it is too long."""

from __future__ import annotations

import re
from dataclasses import dataclass

from kgplatform.readers.window import head, tokens
from kgplatform.text import counted, normalise_name
from kgplatform.text.sentences import sentences

_ID = re.compile(r"\bID\s*[-_–]?\s*(\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Noted:
    """A notebook, and what there is to say of it: empty where it is as the model wrote it."""

    text: str
    said: str = ""


def renewed(old: str, new: str, room: int) -> Noted:
    """``new`` in place of ``old``, in ``room`` tokens.

    The model is asked to repeat what shall stay, and may forget it: notes whose marks, such as ``[ID-1003]``, stand
    nowhere in ``new`` are kept before it. Where that is too long, the oldest are left out: first what ``old`` has too,
    from its beginning.
    """
    marked = set(_ID.findall(new))
    before = _notes(old)
    forgotten = [note for note in before if (ids := set(_ID.findall(note))) and not ids & marked]
    notes = [*forgotten, *_notes(new)]
    known = {normalise_name(note) for note in before}
    oldest = sorted(range(len(notes)), key=lambda place: (normalise_name(notes[place]) not in known, place))
    size = sum(tokens(note) + 1 for note in notes)
    dropped: set[int] = set()
    for place in oldest[:-1]:
        if size <= room:
            break
        dropped.add(place)
        size -= tokens(notes[place]) + 1
    kept = "\n".join(note for place, note in enumerate(notes) if place not in dropped)
    text = (f"{chr(10).join(forgotten)}\n{new}" if forgotten else new) if not dropped else kept
    start = 0 if (over := tokens(text) - room) <= 0 else head(text, over + 1)
    return Noted(text[start:].strip(), _said(len(forgotten), len(dropped), start))


def _notes(notebook: str) -> list[str]:
    """The sentences, a mark with several sentences in its brackets in one piece."""
    notes: list[str] = []
    is_open = False
    for each in sentences(notebook):
        words = notebook[each.start : each.end].strip()
        notes[-1:] = [f"{notes[-1]} {words}"] if is_open else [*notes[-1:], words]
        is_open = notes[-1].count("[") > notes[-1].count("]")
    return notes


def _said(forgotten: int, dropped: int, cut: int) -> str:
    told = [f"{counted(forgotten, 'earlier note')} kept that it forgot"] if forgotten else []
    told += [f"notebook too long: its {counted(dropped, 'oldest note')} left out"] if dropped else []
    return "; ".join([*told, *([f"notebook cut by {cut:,} characters"] if cut else [])])
