"""One run of a reader: what it is given beside the question and its options.

    with listened(print, stop) as (tell, stop):
        run = Run(Evidence(store.within(stop), embedder), within(chat, meter=ledger, stop=stop), ledger, tell=tell)
        answer(question, run, options)

Every reader takes the same run, so that each can be asked in the same way. Whatever belongs to a run is in it and is
handed on with it: nothing is left to be found in the thread that it runs in.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from kgplatform.errors import StoppedError
from kgplatform.models.chat import Chat, Ledger
from kgplatform.readers.calls import Tell
from kgplatform.records import Step
from kgplatform.retrieve.evidence import Evidence
from kgplatform.work.stopping import Stop


@dataclass(frozen=True, slots=True)
class SchemaTypes:
    """The schema of the graph with its expansions: ``text`` as a prompt shows it, and the names of its types."""

    text: str
    nodes: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()


def _no_schema() -> SchemaTypes | None:
    return None


def _nobody(step: Step) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Run:
    """``evidence``: what the graph has to say. ``chat``: the language model, None where none is configured.

    ``ledger`` counts the calls and tokens of this run. ``schema`` reads the types of the graph's schema when they are
    needed, None where it has none. ``tell`` is told each step as it is made, and ends the run where it is to end.
    Evidence and model end their waits by the stop that they were given.
    """

    evidence: Evidence
    chat: Chat | None
    ledger: Ledger
    schema: Callable[[], SchemaTypes | None] = _no_schema
    tell: Tell = _nobody


@contextlib.contextmanager
def listened(on_step: Tell | None, stop: Stop) -> Iterator[tuple[Tell, Stop]]:
    """What tells ``on_step``, if there is one, the steps of a run; and the stop of that run.

    Each step is told once, as soon as what it did is known, and is a step of the answer's trace by its name and its
    path; those of one path come in their order. The detail in the trace may say more: how a walk ended, what came of
    all batches. ``on_step`` is called in the thread in which the step is made, one call at a time. What it raises ends
    the run.
    """
    if on_step is None:
        yield (lambda step: stop.check()), stop
        return
    lock = threading.Lock()
    errors: list[BaseException] = []
    with stop.part() as failed:

        def tell(step: Step) -> None:
            failed.check()
            with lock:
                failed.check()
                try:
                    on_step(step)
                except BaseException as error:  # whatever it is, the walks in other threads end too, and it goes on
                    errors.append(error)
                    failed.set()
                    raise

        try:
            yield tell, failed
        except StoppedError:
            if errors:
                raise errors[0] from None
            raise
