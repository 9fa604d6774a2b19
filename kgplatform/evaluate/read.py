"""What a reader had read: the text in which supporting facts are looked for (GraphReader, appendix F).

    what_was_read(answer)      # all that came before the model's eyes
    what_was_kept(answer)      # what it had before it when it wrote the answer: appendix F judges this

Both come from the answer and its trace alone, so they can be had again from a trace that was kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from kgplatform.json_text import without_thoughts
from kgplatform.readers.actions import Stage, read_step
from kgplatform.readers.briefing import PROMPTS
from kgplatform.readers.marked import read_reply
from kgplatform.records import Answer, FoundFact, Passage

_GRAPHREADER, _READAGENT, _CHUNKNOTES = "graphreader", "readagent", "chunknotes"
_NOTES_PROMPT = "chunk_notes"
_STAGES: dict[str, Stage] = {prompt: stage for stage, prompt in PROMPTS.items()}
_CUT = re.compile(r"; notebook cut to ([\d,]+) of [\d,]+ characters")


def what_was_read(answer: Answer) -> str:
    """Passages under their titles, then facts, then notes that the reader made; empty if it read nothing.

    >>> what_was_read(answer)  # doctest: +SKIP
    'The cable\\nIt was laid in 1858.\\n\\n- Field paid for it.'
    """
    return _text(answer.evidence.passages, answer.evidence.facts, _notes(answer))


def what_was_kept(answer: Answer) -> str:
    """The part of it that the answer was written from, as appendix F has it.

    Of ``graphreader`` the final notebook of each path; of ``readagent`` the pages that were read again; of
    ``chunknotes`` the last notes and the passage that was read last; of the others all passages and facts.
    A notebook in a reply that was asked for again, and came without one, is in no trace: the one before it counts.
    """
    if not any(step.prompt for step in answer.trace):
        return what_was_read(answer)
    if answer.reader == _GRAPHREADER:
        return _text((), (), _notes(answer))
    if answer.reader == _READAGENT:
        again = {id_ for step in answer.trace if step.pages for id_ in step.passages}
        return _text((each for each in answer.evidence.passages if each.id in again), (), ())
    if answer.reader == _CHUNKNOTES:
        return _text(_last_read(answer), (), _notes(answer))
    return what_was_read(answer)


def _text(passages: Iterable[Passage], facts: Iterable[FoundFact], notes: Iterable[str]) -> str:
    parts = [
        *(f"{each.title}\n{each.text}" for each in passages),
        "\n".join(f"- {each.text}" for each in facts),
        *notes,
    ]
    return "\n\n".join(filter(None, parts))


def _notes(answer: Answer) -> list[str]:
    """The notes as they were at the end; GraphReader has a notebook a path."""
    if answer.reader == _GRAPHREADER:
        return _notebooks(answer)
    if answer.reader == _CHUNKNOTES:
        replies = (step.reply for step in answer.trace if step.prompt == _NOTES_PROMPT)
        notes = [read_reply(without_thoughts(reply, cut_off=False)).notes for reply in replies]
        return [note for note in notes if note][-1:]
    return []


def _notebooks(answer: Answer) -> list[str]:
    """The last notebook of each path, in the order of their numbers, as short as the reader cut it."""
    last: dict[int, str] = {}
    for step in answer.trace:
        stage = _STAGES.get(step.prompt or "")
        notebook = read_step(step.reply, stage).notebook if stage and step.reply else None
        if notebook:
            cuts = _CUT.findall(step.detail)
            end = int(cuts[-1].replace(",", "")) if cuts else len(notebook)
            last[step.path] = notebook[:end].strip()
    return [last[path] for path in sorted(last)]


def _last_read(answer: Answer) -> list[Passage]:
    """The passage, or the part of one, that was before the model at the end; of several parts the latest."""
    read = [step.passages for step in answer.trace if step.prompt == _NOTES_PROMPT]
    last = set(read[-1]) if read else set()
    return [each for each in answer.evidence.passages if each.id in last][:1]
