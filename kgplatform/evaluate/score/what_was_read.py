"""What a reader had read: the text in which supporting facts are looked for (GraphReader, appendix F).

    what_was_read(answer)      # all that came before the model's eyes
    what_was_kept(answer)      # what it had before it when it wrote the answer: appendix F judges this

Both come from the answer and its trace alone, so they can be had again from a trace that was kept.
"""

from __future__ import annotations

from collections.abc import Iterable

from kgplatform.readers.readers import READERS
from kgplatform.records import Answer, FoundFact, FoundPassage


def what_was_read(answer: Answer) -> str:
    """Passages under their titles, then facts, then notes that the reader made; empty if it read nothing.

    >>> what_was_read(answer)  # doctest: +SKIP
    'The cable\\nIt was laid in 1858.\\n\\n- Field paid for it.'
    """
    return _text(answer.evidence.passages, answer.evidence.facts, _notes(answer))


def what_was_kept(answer: Answer) -> str:
    """The part of it that the answer was written from, as appendix F has it.

    The last notes, and the passages that were before the model at the end, where the reader says which they are
    (``Reader.kept``): of ``graphreader`` none, of ``readagent`` the pages that were read again, of ``chunknotes`` the
    passage that was read last. Of the other readers all passages and facts.
    """
    reader = next((each for each in READERS if each.name == answer.reader), None)
    if reader is None or reader.kept is None or not any(step.prompt for step in answer.trace):
        return what_was_read(answer)
    return _text(reader.kept(answer), (), _notes(answer))


def _text(passages: Iterable[FoundPassage], facts: Iterable[FoundFact], notes: Iterable[str]) -> str:
    parts = [
        *(f"{each.title}\n{each.text}" for each in passages),
        "\n".join(f"- {each.text}" for each in facts),
        *notes,
    ]
    return "\n\n".join(filter(None, parts))


def _notes(answer: Answer) -> list[str]:
    """The last notebook of each path, in the order of their numbers."""
    last = {step.path: step.notebook for step in answer.trace if step.notebook}
    return [last[path] for path in sorted(last)]
