"""The answer from all notebooks of GraphReader (section 3.4), cited by the numbers that they note.

answered = conclude(paths, brief, calls)
"""

from __future__ import annotations

from collections.abc import Sequence

from kgplatform.errors import ModelError
from kgplatform.models.reply import ask
from kgplatform.readers.answer import NOTHING_NEAR, REFUSAL, Answered, AnswerReply, answer_of, outcome
from kgplatform.readers.graphreader.brief import Brief
from kgplatform.readers.graphreader.explore import Walk
from kgplatform.readers.graphreader.notebook import gathered
from kgplatform.readers.run import Calls
from kgplatform.text import counted

_ANSWER = "answer"


def conclude(paths: Sequence[Walk], brief: Brief, calls: Calls) -> Answered:
    """The model's answer from all notebooks; the step is added to ``calls``. Raises ``ModelError``, with it too."""
    if brief.options.mode == "reject" and not paths:
        calls.note(_ANSWER, "the graph has no node to begin at, so the model was not asked")
        return Answered(REFUSAL, note=NOTHING_NEAR)
    mark = calls.mark()
    notebooks, shown = gathered((path.notebook, path.shown) for path in paths)
    messages, show = brief.answer_messages(notebooks), calls.shown("answer")
    try:
        reply, repairs = ask(calls, messages, AnswerReply, stage=_ANSWER, tokens=brief.answer_tokens, show=show)
    except ModelError as error:
        calls.add(_ANSWER, f"failed: {error}", mark, prompt="graphreader/answer")
        raise
    answered = answer_of(reply, shown, brief.options.mode)
    empty = sum(not each for each in notebooks)
    detail = f"from {counted(len(paths), 'notebook')}, {empty} of them empty: {outcome(answered, repairs)}"
    calls.add(_ANSWER, detail, mark, prompt="graphreader/answer")
    return answered
