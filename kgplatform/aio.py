"""The client for programs with an event loop: the same methods, awaited. For asyncio and for trio.

    async with connect_async() as kg:
        await kg.ingest("docs/")
        found = await kg.search("Who designed the ship that …?")
        async for event in kg.stream("Who …?"):        # steps, texts, and at last the answer
            …

Each call runs in a thread, on the same connections and caches, so the loop is never blocked. Cancelling the task, or a
time-out round it, stops the call within a second and waits for its end.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Iterator
from concurrent.futures import Future, wait
from contextlib import AbstractContextManager, ExitStack, asynccontextmanager, nullcontext
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar

import anyio
from anyio import to_thread

from kgplatform.adopt.adopt import Adopt
from kgplatform.client import ChatThread, KnowledgeGraph, connect
from kgplatform.concurrency.threads import Stop
from kgplatform.correct import Correct
from kgplatform.explore.look import Look
from kgplatform.explore.runs import Turn
from kgplatform.models.chat import Ledger
from kgplatform.neo4j.filters import Where
from kgplatform.records import SILENT, Progress
from kgplatform.settings import Settings

P = ParamSpec("P")
T = TypeVar("T")
G = TypeVar("G", covariant=True)

_THREADS = 100
"""Calls of one graph at a time; more wait for their turn."""
_END = object()


class _View(Generic[G]):
    """Something whose methods are those of a ``G``, which ``of`` makes of the graph for each call."""

    def __init__(
        self, graph: KnowledgeGraph, limiter: anyio.CapacityLimiter, of: Callable[[KnowledgeGraph], G]
    ) -> None:
        self._graph = graph
        self._limiter = limiter
        self._of = of


async def _in_thread(work: Callable[[], T], stop: Stop, limiter: anyio.CapacityLimiter | None = None) -> T:
    """What ``work`` returns or raises, in a thread. Where this task is cancelled, ``stop`` is set, and ``work`` ends
    before the task does."""
    done: Future[T] = Future()

    def run() -> None:
        if done.set_running_or_notify_cancel():
            try:
                done.set_result(work())
            except BaseException as error:  # noqa: BLE001 -- whatever it is, it is raised in the task
                done.set_exception(error)

    try:
        await to_thread.run_sync(run, abandon_on_cancel=True, limiter=limiter)
    except anyio.get_cancelled_exc_class():
        stop.set()
        if not done.cancel():
            with anyio.CancelScope(shield=True):  # in a thread beside the limit, for which others may wait
                await to_thread.run_sync(wait, [done], limiter=anyio.CapacityLimiter(1))
        raise
    return done.result()


def _linked(given: object, stop: Stop) -> AbstractContextManager[None]:
    """Inside of it, ``stop`` is set as soon as the caller's own is, if there is one."""
    return given.calling(stop.set) if isinstance(given, Stop) else nullcontext()


def _awaited(method: Callable[Concatenate[G, P], T]) -> Callable[Concatenate[_View[G], P], Coroutine[Any, Any, T]]:
    """``method``, to be awaited: its parameters, types and documentation are the same."""

    async def call(view: _View[G], /, *args: P.args, **named: P.kwargs) -> T:
        stop = Stop()
        given = named.pop("stop", None)

        def work() -> T:
            part = view._of(view._graph.within(stop))
            with _linked(given, stop):
                return method(part, *args, **named)

        return await _in_thread(work, stop, view._limiter)

    functools.update_wrapper(call, method)
    return call


def _streamed(
    method: Callable[Concatenate[G, P], Iterator[T]],
) -> Callable[Concatenate[_View[G], P], AsyncGenerator[T, None]]:
    """``method``, which gives one after the other, for ``async for``."""

    async def each(view: _View[G], /, *args: P.args, **named: P.kwargs) -> AsyncGenerator[T, None]:
        stop = Stop()
        part = view._of(view._graph.within(stop))
        with _linked(named.pop("stop", None), stop):
            rows = method(part, *args, **named)
            try:
                while (row := await _in_thread(lambda: next(rows, _END), stop, view._limiter)) is not _END:
                    yield row  # type: ignore[misc]  # it is not the end
            finally:
                stop.set()
                if close := getattr(rows, "close", None):
                    with anyio.CancelScope(shield=True):
                        await to_thread.run_sync(close)

    functools.update_wrapper(each, method)
    return each


class AsyncLook(_View[Look]):
    """``KnowledgeGraph.look``, awaited."""

    citations = _awaited(Look.citations)
    communities = _awaited(Look.communities)
    community = _awaited(Look.community)
    counts = _awaited(Look.counts)
    document = _awaited(Look.document)
    document_page = _awaited(Look.document_page)
    extractions = _streamed(Look.extractions)
    find = _awaited(Look.find)
    highlights = _awaited(Look.highlights)
    map = _awaited(Look.map)
    members = _awaited(Look.members)
    metadata = _awaited(Look.metadata)
    neighbours = _awaited(Look.neighbours)
    node = _awaited(Look.node)
    outside_tree = _awaited(Look.outside_tree)
    profile = _awaited(Look.profile)
    questions = _awaited(Look.questions)
    relation_figures = _awaited(Look.relation_figures)
    run = _awaited(Look.run)
    runs = _awaited(Look.runs)
    seconds_per_call = _awaited(Look.seconds_per_call)
    subgraph = _awaited(Look.subgraph)
    thread = _awaited(Look.thread)
    threads = _awaited(Look.threads)
    tree = _awaited(Look.tree)
    types = _awaited(Look.types)
    ways = _awaited(Look.ways)


class AsyncCorrect(_View[Correct]):
    """``KnowledgeGraph.correct``, awaited."""

    accept = _awaited(Correct.accept)
    add = _awaited(Correct.add)
    alias = _awaited(Correct.alias)
    all = _awaited(Correct.all)
    do = _awaited(Correct.do)
    drop = _awaited(Correct.drop)
    duplicates = _awaited(Correct.duplicates)
    load = _awaited(Correct.load)
    merge = _awaited(Correct.merge)
    namesakes = _awaited(Correct.namesakes)
    refuse = _awaited(Correct.refuse)
    remove_alias = _awaited(Correct.remove_alias)
    rename = _awaited(Correct.rename)
    retype = _awaited(Correct.retype)
    save = _awaited(Correct.save)
    split = _awaited(Correct.split)
    take = _awaited(Correct.take)
    undo = _awaited(Correct.undo)


class AsyncAdopt(_View[Adopt]):
    """``KnowledgeGraph.adopt``, awaited."""

    forget = _awaited(Adopt.forget)
    ingest = _awaited(Adopt.ingest)
    propose = _awaited(Adopt.propose)
    refresh = _awaited(Adopt.refresh)


class AsyncChatThread(_View[ChatThread]):
    """A thread of questions (``ChatThread``), awaited. ``id`` names it."""

    def __init__(self, graph: KnowledgeGraph, limiter: anyio.CapacityLimiter, id: str) -> None:
        super().__init__(graph, limiter, lambda graph: ChatThread(graph, id))
        self.id = id

    ask = _awaited(ChatThread.ask)

    async def turns(self) -> tuple[Turn, ...]:
        """All questions and answers so far, as the graph has them now."""
        return await _in_thread(lambda: self._of(self._graph).turns, Stop(), self._limiter)


class AsyncKnowledgeGraph(_View[KnowledgeGraph]):
    """An open graph, for a program with an event loop: the methods of ``KnowledgeGraph``, awaited.

    Functions that are handed over (``progress``, ``on_step``, ``on_text``, models) are called in other threads;
    ``stream`` gives steps and texts in the loop. ``graph`` is the ``KnowledgeGraph`` itself.
    """

    def __init__(self, graph: KnowledgeGraph) -> None:
        super().__init__(graph, anyio.CapacityLimiter(_THREADS), lambda graph: graph)

    ask = _awaited(KnowledgeGraph.ask)
    build_tree = _awaited(KnowledgeGraph.build_tree)
    check = _awaited(KnowledgeGraph.check)
    check_model = _awaited(KnowledgeGraph.check_model)
    conflicts = _awaited(KnowledgeGraph.conflicts)
    connect_model = _awaited(KnowledgeGraph.connect_model)
    cypher = _awaited(KnowledgeGraph.cypher)
    describe = _awaited(KnowledgeGraph.describe)
    database_id = _awaited(KnowledgeGraph.database_id)
    documents = _awaited(KnowledgeGraph.documents)
    estimate = _awaited(KnowledgeGraph.estimate)
    export = _awaited(KnowledgeGraph.export)
    export_answer = _awaited(KnowledgeGraph.export_answer)
    gist = _awaited(KnowledgeGraph.gist)
    holds = _awaited(KnowledgeGraph.holds)
    import_graph = _awaited(KnowledgeGraph.import_graph)
    ingest = _awaited(KnowledgeGraph.ingest)
    lacks_facts = _awaited(KnowledgeGraph.lacks_facts)
    list_models = _awaited(KnowledgeGraph.list_models)
    recheck = _awaited(KnowledgeGraph.recheck)
    reembed = _awaited(KnowledgeGraph.reembed)
    remove = _awaited(KnowledgeGraph.remove)
    remove_thread = _awaited(KnowledgeGraph.remove_thread)
    schema = _awaited(KnowledgeGraph.schema)
    schema_text = _awaited(KnowledgeGraph.schema_text)
    schemas = _awaited(KnowledgeGraph.schemas)
    search = _awaited(KnowledgeGraph.search)
    server_advice = _awaited(KnowledgeGraph.server_advice)
    state = _awaited(KnowledgeGraph.state)
    stats = _awaited(KnowledgeGraph.stats)
    stream = _streamed(KnowledgeGraph.stream)
    try_model = _awaited(KnowledgeGraph.try_model)
    use_schema = _awaited(KnowledgeGraph.use_schema)
    watch = _streamed(KnowledgeGraph.watch)

    async def chat(self, id: str | None = None) -> AsyncChatThread:
        """A thread, whose ``ask`` understands follow-up questions: a new one, or that with ``id``."""
        thread = await _in_thread(lambda: self._graph.chat(id), Stop(), self._limiter)
        return AsyncChatThread(self._graph, self._limiter, thread.id)

    @asynccontextmanager
    async def part(self, where: Where, *, progress: Progress = SILENT) -> AsyncIterator[AsyncKnowledgeGraph]:
        """The graph of the documents that fit ``where`` alone, for ``async with``; see ``KnowledgeGraph.part``."""
        stop, closing = Stop(), ExitStack()
        opening = self._graph.within(stop).part(where, progress=progress)
        try:
            graph = await _in_thread(lambda: closing.enter_context(opening), stop, self._limiter)
            yield AsyncKnowledgeGraph(graph)
        finally:
            with anyio.CancelScope(shield=True):
                await to_thread.run_sync(closing.close)

    async def close(self) -> None:
        """Close the connections; a managed server keeps running."""
        with anyio.CancelScope(shield=True):
            await to_thread.run_sync(self._graph.close)

    async def __aenter__(self) -> AsyncKnowledgeGraph:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"Async{self._graph!r}"

    @property
    def graph(self) -> KnowledgeGraph:
        """The graph itself, whose methods block."""
        return self._graph

    @property
    def look(self) -> AsyncLook:
        """What people look at: names, neighbours, the tree, documents with their facts, saved runs."""
        return AsyncLook(self._graph, self._limiter, lambda graph: graph.look)

    @property
    def correct(self) -> AsyncCorrect:
        """What people correct: merge, split, rename, and facts that are not so."""
        return AsyncCorrect(self._graph, self._limiter, lambda graph: graph.correct)

    @property
    def adopt(self) -> AsyncAdopt:
        """A graph of yours in another database, read beside the documents."""
        return AsyncAdopt(self._graph, self._limiter, lambda graph: graph.adopt)

    @property
    def settings(self) -> Settings:
        """The settings that the graph was opened with."""
        return self._graph.settings

    @property
    def ledger(self) -> Ledger:
        """What all calls have spent."""
        return self._graph.ledger


class Connecting:
    """A graph that is being opened: await it, or use it in ``async with``, which closes it."""

    def __init__(self, opening: Callable[[], KnowledgeGraph]) -> None:
        self._opening = opening
        self._graph: AsyncKnowledgeGraph | None = None

    def __await__(self) -> Generator[Any, Any, AsyncKnowledgeGraph]:
        return self._opened().__await__()

    async def __aenter__(self) -> AsyncKnowledgeGraph:
        self._graph = await self._opened()
        return self._graph

    async def __aexit__(self, *_: object) -> None:
        if self._graph is not None:
            await self._graph.close()

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"connect_async() has no {name} before it is awaited: `async with connect_async(…) as kg`, or "
            "`kg = await connect_async(…)` and `await kg.close()` at the end."
        )

    async def _opened(self) -> AsyncKnowledgeGraph:
        stop = Stop()

        def opened() -> KnowledgeGraph:
            graph = self._opening()
            if stop.is_set:  # nobody is there to close it
                graph.close()
            return graph

        return AsyncKnowledgeGraph(await _in_thread(opened, stop))


def _connecting(connect: Callable[P, KnowledgeGraph]) -> Callable[P, Connecting]:
    @functools.wraps(connect)
    def connect_async(*args: P.args, **named: P.kwargs) -> Connecting:
        return Connecting(functools.partial(connect, *args, **named))

    connect_async.__name__ = connect_async.__qualname__ = "connect_async"
    connect_async.__module__ = __name__
    return connect_async


connect_async = _connecting(connect)
"""``connect``, awaited: ``async with connect_async(…) as kg``, or ``kg = await connect_async(…)``."""
