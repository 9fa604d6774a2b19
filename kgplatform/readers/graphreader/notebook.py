"""A path's notebook: what a reply makes of it, so that no note is lost and the newest are kept where it is too long."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial

from kgplatform.readers.grounding import marks_in, renumbered, settled
from kgplatform.readers.numbering import Numbering
from kgplatform.readers.window import head, tokens
from kgplatform.text import counted, normalise_name
from kgplatform.text.sentences import sentences


@dataclass(frozen=True, slots=True)
class Noted:
    """A notebook, and what there is to say of it: empty where it is as the model wrote it."""

    text: str
    said: str = ""


def gathered(notebooks: Iterable[tuple[str, Numbering]]) -> tuple[list[str], Numbering]:
    """``notebooks``, each with the numbers of its own walk, by the numbers of one numbering for all.

    What several walks read has one number then; what a walk was not shown has none.
    """
    shown = Numbering()

    def common(own: Numbering, numbers: Iterable[str]) -> Iterable[str]:
        return filter(None, (shown.taken(number, own) for number in numbers))

    return [renumbered(text, partial(common, own)) for text, own in notebooks], shown


def renewed(old: str, new: str, room: int) -> Noted:
    """``new`` in place of ``old``, in ``room`` tokens.

    The model is asked to repeat what shall stay, and may forget it: notes whose numbers, such as [2.3], stand nowhere
    in ``new`` are kept before it. Where that is too long, the oldest are left out: first what ``old`` has too, from its
    beginning.
    """
    new = settled(new)
    marked = set(marks_in(new))
    before = _notes(settled(old))
    forgotten = [note for note in before if (own := set(marks_in(note))) and not own & marked]
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
    text = ("\n".join([*forgotten, new])) if not dropped else kept
    start = 0 if (over := tokens(text) - room) <= 0 else head(text, over + 1)
    return Noted(text[start:].strip(), _said(len(forgotten), len(dropped), start))


def _notes(notebook: str) -> list[str]:
    return [notebook[each.start : each.end].strip() for each in sentences(notebook)]


def _said(forgotten: int, dropped: int, cut: int) -> str:
    told = [f"{counted(forgotten, 'earlier note')} kept that it forgot"] if forgotten else []
    told += [f"notebook too long: its {counted(dropped, 'oldest note')} left out"] if dropped else []
    return "; ".join([*told, *([f"notebook cut by {cut:,} characters"] if cut else [])])
