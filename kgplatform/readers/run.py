"""One run of a reader: what it is given beside the question and its options, its calls of the model, and its steps.

    with listened(print, stop) as (tell, stop):
        run = Run(Evidence(store.within(stop), embedder), within(chat, meter=ledger, stop=stop), ledger, tell=tell)
        answer(question, run, options)

A reader that fails gives what it had found: the ``ModelError`` that leaves ``evidence_of_failure`` carries it. Every
reader takes the same run, so that each can be asked in the same way. Whatever belongs to a run is in it and is
handed on with it: nothing is left to be found in the thread that it runs in.
"""

from __future__ import annotations

import contextlib
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace

from kgplatform.concurrency.spans import past_span
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import KgError, ModelError, ReplyError, StoppedError
from kgplatform.models.chat import FREE_TEXT, Chat, Ledger, Reply, Wanted
from kgplatform.models.reply import Show
from kgplatform.prompt import Messages
from kgplatform.readers.relevance import judged
from kgplatform.records import QueryRun, SearchResult, Step, Usage
from kgplatform.search.evidence import Evidence, Retrieved
from kgplatform.text import counted

Tell = Callable[[Step], None]
"""Called with each step of a run as it is made."""
Hear = Callable[[str], None]
"""Called with the answer so far, while it is written; what is written anew begins with an empty text."""
CONTEXT = 32_768
"""Tokens of a model's window, where neither the setting nor the server tells."""


@dataclass(frozen=True, slots=True)
class SchemaTypes:
    """The schema of the graph with its expansions: ``text`` as a prompt shows it, and the names of its types."""

    text: str
    nodes: tuple[str, ...] = ()
    relations: tuple[str, ...] = ()
    attributes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Run:
    """``evidence``: what the graph has to say. ``chat``: the language model, None where none is configured.

    ``ledger`` counts the calls and tokens of this run. ``schema`` reads the types of the graph's schema when they are
    needed, None where it has none. ``tell`` is called with each step as it is made, and ends the run where it must end.
    ``context``: the tokens of the window of the language model, prompt and reply together. ``hear`` is called with the
    answer while it is written, where somebody listens; the answer that is returned may be another, after its check.
    Evidence and model end their waits by the stop that they were given.
    """

    evidence: Evidence
    chat: Chat | None
    ledger: Ledger
    schema: Callable[[], SchemaTypes | None] = lambda: None
    tell: Tell = lambda step: None
    context: int = CONTEXT
    hear: Hear | None = None


@contextlib.contextmanager
def listened(on_step: Tell | None, stop: Stop) -> Iterator[tuple[Tell, Stop]]:
    """What tells ``on_step``, if there is one, the steps of a run; and the stop of that run.

    Each step is reported once, as soon as what it did is known, and is a step of the answer's trace by its name and its
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
                except BaseException as error:  # whatever it is, it is raised again, and walks in other threads end
                    errors.append(error)
                    failed.set()
                    raise

        try:
            yield tell, failed
        except StoppedError:
            if errors:
                raise errors[0] from None
            raise


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment in a run: a step of the trace covers what came since."""

    at: float
    spent: Usage
    calls: int


@dataclass(frozen=True, slots=True)
class StepFound:
    """What a step found: the statements that ran, and ids, as a ``Step`` has them."""

    queries: tuple[QueryRun, ...] = ()
    facts: tuple[str, ...] = ()
    passages: tuple[str, ...] = ()
    elements: tuple[str, ...] = ()
    pages: tuple[str, ...] = ()

    def of(self, step: Step) -> Step:
        """``step``, with what it found."""
        return replace(step, **{field.name: getattr(self, field.name) for field in fields(self)})


NOTHING = StepFound()


class Calls:
    """A ``Chat`` that counts, keeps what the model wrote, and sends no more than ``limit`` times (None: no limit).

    Used by one thread. ``steps`` are gathered in the order in which they were made, and given to ``tell``
    (``Run.tell``), unless somebody else reports them; ``path`` is theirs. ``counts``: what the answer will count.
    """

    def __init__(
        self,
        chat: Chat,
        ledger: Ledger,
        tell: Tell = lambda step: None,
        *,
        limit: int | None = None,
        path: int = 0,
        hear: Hear | None = None,
    ) -> None:
        self.model = chat.model
        self.limit = limit
        self.made = 0
        self.steps: list[Step] = []
        self.counts: Counter[str] = Counter()
        self._path = path
        self.tell = tell
        self._hear = hear
        self._chat = chat
        self._ledger = ledger
        self._start = ledger.total
        self._last = ""

    @property
    def left(self) -> int:
        """How many calls may still be made."""
        return 1_000_000 if self.limit is None else self.limit - self.made

    @property
    def usage(self) -> Usage:
        """What was spent since this object was made."""
        return self._ledger.total - self._start

    def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Reply:
        """See ``Chat.send``. Raises ``ReplyError`` where no call is left."""
        if self.left < 1:
            raise ReplyError(
                f"This question has used up its {self.limit} language-model calls, some of them to retry broken "
                "replies. A larger model (KGPLATFORM_CHAT_MODEL) may do better."
            )
        self.made += 1
        self._last = ""
        reply = self._chat.send(messages, stage=stage, wanted=wanted)
        self._last = reply.text
        return reply

    def shown(self, field: str, only: tuple[str, str] | None = None) -> Show | None:
        """For a call that writes what people read: they are shown ``field`` of its reply while it is written, and
        where ``only`` is given, if that field has that value."""
        return Show(field, self._hear, only) if self._hear else None

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        """See ``Chat.forget``."""
        self._chat.forget(messages, wanted=wanted)

    def mark(self, after: tuple[QueryRun, ...] = ()) -> Mark:
        """Now: what is spent from here on belongs to the next step, and the time of ``after``, which ran before."""
        return Mark(time.perf_counter() - _seconds(after), self._ledger.total, self.made)

    def add(
        self,
        name: str,
        detail: str,
        since: Mark,
        *,
        prompt: str | None = None,
        found: StepFound = NOTHING,
        notebook: str | None = None,
    ) -> None:
        """A step that asked the model with ``prompt``, or that only thought; ``notebook`` as it is after it."""
        seconds = round(time.perf_counter() - since.at, 4) if prompt else 0.0
        reply = self._last if self.made > since.calls else ""
        usage = self._ledger.total - since.spent
        self.take(found.of(Step(name, detail, seconds, prompt=prompt, reply=reply, usage=usage, notebook=notebook)))

    def note(self, name: str, detail: str, queries: tuple[QueryRun, ...] = (), *, found: StepFound = NOTHING) -> None:
        """A step without the model; its time is that of its statements."""
        found = replace(found, queries=queries + found.queries)
        self.take(found.of(Step(name, detail, round(_seconds(found.queries), 4))))

    def take(self, step: Step) -> None:
        """A step that somebody else made; it gets this run's path, where this is the run of one."""
        step = replace(step, path=self._path) if self._path else step
        past_span(f"step {step.name}", step.seconds, {"kgplatform.step.detail": step.detail})
        self.steps.append(step)
        self.tell(step)

    def amend(self, words: str) -> None:
        """Add ``words`` to the detail of the last step, if there is one, in the trace alone: it was reported before."""
        if self.steps:
            self.steps[-1] = replace(self.steps[-1], detail=f"{self.steps[-1].detail}; {words}")


def _seconds(queries: tuple[QueryRun, ...]) -> float:
    return sum(run.seconds for run in queries)


def search_step(found: Retrieved, detail: str = "") -> Step:
    """The step of a search: what ran, and the ids of what came back, best first."""
    result = found.result
    told = f"{counted(len(result.passages), 'passage')}, {counted(len(result.facts), 'fact')}"
    facts, passages = tuple(fact.id for fact in result.facts), tuple(passage.id for passage in result.passages)
    detail = f"{detail}: {told}" if detail else told
    return Step("search", detail, result.seconds, queries=found.queries, facts=facts, passages=passages)


_MOST = 10  # passages; those of the last steps, which knew most


@contextlib.contextmanager
def evidence_of_failure(question: str, run: Run) -> Iterator[Run]:
    """``run``, to be read with. A ``ModelError`` gets the steps until then, and the passages that they found, else the
    nearest."""
    steps: list[Step] = []

    def tell(step: Step) -> None:
        steps.append(step)
        run.tell(step)

    try:
        yield replace(run, tell=tell)
    except ModelError as error:
        error.steps = tuple(steps)
        with contextlib.suppress(KgError):  # the model that fails may be the one that searches
            ids = list(dict.fromkeys(passage for step in reversed(steps) for passage in step.passages))[:_MOST]
            if ids:
                stored = run.evidence.stored(ids).passages
                found = SearchResult(question, tuple(stored[id] for id in ids if id in stored), (), 0.0)
            else:
                found = run.evidence.search(question, top_k=_MOST).result
            error.evidence = judged(found, question)
        raise
