"""A thread of questions to a graph: follow-ups understand what was asked before, and all of it is kept in the graph.

thread = graph.chat()
thread.ask("Who designed the Great Eastern?")
thread.ask("And who was its captain?").note        # 'Asked as: Who was the captain of the Great Eastern?'
graph.chat(thread.id).turns                        # later, perhaps in another process
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import replace
from typing import Any, Protocol

from kgplatform.concurrency.arguments import checked
from kgplatform.concurrency.stopping import Stop
from kgplatform.errors import BudgetError, KgError, ModelError
from kgplatform.explore.runs import Turn, keep_turn, turns_of
from kgplatform.neo4j.store import Store
from kgplatform.readers.answer import joined
from kgplatform.readers.readers import READERS
from kgplatform.readers.run import Calls, Hear, Run, Tell
from kgplatform.readers.thread import FAILED, Exchange, stand_alone
from kgplatform.records import Answer, SearchResult, Step, Usage
from kgplatform.text import tidy


class Asked(Protocol):
    """The graph, as far as a thread needs it."""

    store: Store

    @property
    def model_name(self) -> str | None:
        """The language model's name, or None if none is configured."""

    @property
    def ask(self) -> Callable[..., Answer]:
        """See ``KnowledgeGraph.ask``."""

    @property
    def run(self) -> Callable[..., AbstractContextManager[Run]]:
        """See ``KnowledgeGraph.run``."""


@checked
class ChatThread:
    """A thread of ``graph``; ``id`` names it. It is kept turn by turn: what is not asked leaves nothing."""

    def __init__(self, graph: Asked, id: str) -> None:
        self._graph = graph
        self.id = id

    @property
    def turns(self) -> tuple[Turn, ...]:
        """All questions and answers so far, as the graph has them now."""
        return turns_of(self._graph.store, self.id)

    def ask(
        self,
        /,
        question: str,
        reader: str | None = None,
        *,
        options: Mapping[str, Any] | None = None,
        where: Mapping[str, Any] | None = None,
        verify: bool = False,
        on_step: Tell | None = None,
        on_text: Hear | None = None,
        stop: Stop | None = None,
        keep_failed: bool = True,
        **more: Any,
    ) -> Answer:
        """An answer, as ``KnowledgeGraph.ask`` gives it, from any reader; it is kept as the next turn. ``where`` is of
        this question alone.

        A follow-up is first made to stand alone, by one call of the model: the answer's ``question`` is what the reader
        was asked, and its ``note`` says so. The first question of a thread is asked as it is. A question for which the
        model fails is kept as a turn without an answer, so that the next may refer to it, unless ``keep_failed`` is
        False or the token budget is used up. Raises what ``ask`` raises.
        """
        started = time.perf_counter()
        # What was asked before, less the same question, which failed.
        turns = (turn for turn in self.turns if turn.text is not None or tidy(turn.asked) != tidy(question))
        earlier = [Exchange(turn.question, turn.text) for turn in turns]
        alone, note, steps, spent = _stand_alone(self._graph, question, earlier, on_step, stop)

        def kept(answer: Answer, *, failed: bool = False) -> Answer:
            told = joined(note, answer.note)
            whole = replace(answer, note=told, trace=(*steps, *answer.trace), usage=spent + answer.usage)
            seconds, graph = time.perf_counter() - started, self._graph
            return keep_turn(graph.store, self.id, question, whole, graph.model_name, seconds, failed=failed)

        options = {**(options or {}), **more}
        try:
            answer = self._graph.ask(
                alone,
                reader,
                options=options,
                where=where,
                verify=verify,
                on_step=on_step,
                on_text=on_text,
                stop=stop,
            )
        except ModelError as error:
            if keep_failed and not isinstance(error, BudgetError):
                nothing, cost = SearchResult(alone, (), (), 0.0), sum((step.usage for step in error.steps), Usage())
                name, why = reader or READERS[0].name, f"It failed: {error}"
                with suppress(KgError):  # the error of the model counts
                    kept(Answer(alone, name, None, (), nothing, error.steps, cost, why), failed=True)
            raise
        return kept(answer)


def ask_on(
    graph: Asked,
    question: str,
    earlier: Sequence[Exchange],
    reader: str | None = None,
    *,
    options: Mapping[str, Any] | None = None,
    where: Mapping[str, Any] | None = None,
    keep: bool = False,
    verify: bool = False,
    on_step: Tell | None = None,
    on_text: Hear | None = None,
    stop: Stop | None = None,
) -> Answer:
    """An answer to a follow-up of the questions ``earlier``, which the caller remembers: no thread is kept.

    As ``ChatThread.ask``, with the arguments of ``KnowledgeGraph.ask``. Raises what that raises.
    """
    alone, note, steps, spent = _stand_alone(graph, question, earlier, on_step, stop)
    answer = graph.ask(
        alone,
        reader,
        options=options,
        where=where,
        keep=keep,
        verify=verify,
        on_step=on_step,
        on_text=on_text,
        stop=stop,
    )
    told = joined(note, answer.note)
    return replace(answer, note=told, trace=(*steps, *answer.trace), usage=spent + answer.usage)


def _stand_alone(
    graph: Asked, question: str, earlier: Sequence[Exchange], on_step: Tell | None, stop: Stop | None
) -> tuple[str, str, tuple[Step, ...], Usage]:
    """What to ask, what to note, and the step with its cost."""
    if not earlier:
        return question, "", (), Usage()
    with graph.run(on_step=on_step, stop=stop) as run:
        if run.chat is None:
            return question, FAILED, (), Usage()
        calls = Calls(run.chat, run.ledger, run.tell)
        alone, note = stand_alone(question, earlier, calls, run.context)
        note = note or ("" if alone == question else f"Asked as: {alone}")
        return alone, note, tuple(calls.steps), calls.usage
