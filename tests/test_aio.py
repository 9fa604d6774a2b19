"""The methods of the client, awaited: the same as its own, in threads, and stopped where a task is cancelled."""

import inspect
from typing import Any

import anyio
import pytest
from conftest import DIMENSION
from event_loops import in_own_thread

from kgplatform import AsyncKnowledgeGraph, InputError, KnowledgeGraph, Stop, StoppedError, Text, connect_async
from kgplatform.adopt.adopt import Adopt
from kgplatform.aio import AsyncAdopt, AsyncChatThread, AsyncLook
from kgplatform.client import ChatThread
from kgplatform.correct import Correct
from kgplatform.explore.look import Look
from kgplatform.models.embed import HashEmbedder
from kgplatform.records import Answer, Step
from kgplatform.testing import ScriptedChat

CABLE = "Cyrus Field founded the Atlantic Telegraph Company in 1856."
QUESTION = "Who founded the Atlantic Telegraph Company?"
ENDLESS = "UNWIND range(1, 2000000000) AS x WITH x WHERE x % 7 = 8 RETURN count(x)"

NOT_AWAITED = {
    KnowledgeGraph: {
        # For those who work on one graph in several threads, and for other libraries: ``graph`` has them.
        *("connection", "embedder", "evidence", "jobs", "language_model", "lend_driver", "py2neo", "run", "stop"),
        *("is_model_open", "model_name", "within"),
    },
    Look: set[str](),
    ChatThread: set[str](),
    Correct: set[str](),
    Adopt: {"mapping"},
}


@pytest.mark.parametrize(
    ("plain", "awaited"),
    [
        *((KnowledgeGraph, AsyncKnowledgeGraph), (Look, AsyncLook), (ChatThread, AsyncChatThread)),
        (Adopt, AsyncAdopt),
    ],
)
def test_every_method_is_there_with_the_same_parameters(plain: type[Any], awaited: type[Any]) -> None:
    public = {name for name in dir(plain) if not name.startswith("_")}
    assert public - set(dir(awaited)) == NOT_AWAITED[plain]
    for name in sorted(public & set(dir(awaited))):
        method = getattr(awaited, name)
        if inspect.isfunction(method) and name not in ("close", "turns"):
            theirs = inspect.signature(getattr(plain, name))
            assert list(inspect.signature(method).parameters) == list(theirs.parameters), name
            inner = inspect.unwrap(method) if name == "part" else method  # a context manager
            assert inspect.iscoroutinefunction(inner) or inspect.isasyncgenfunction(inner), name
            assert method.__doc__


async def _used(kg: KnowledgeGraph, address: dict[str, Any]) -> None:
    async with connect_async(**address, embedder=HashEmbedder(DIMENSION)) as graph:
        report = await graph.ingest([Text(CABLE, "Note", id="field", metadata={"year": 1856})], extractor="local")
        assert report.added + report.unchanged == 1
        found: list[int] = []

        async def search() -> None:
            found.append(len(await graph.search(QUESTION, where={"year": 1856})))

        async with anyio.create_task_group() as tasks:
            for _ in range(5):
                tasks.start_soon(search)
        assert found == [1] * 5
        with pytest.raises(InputError, match="Did you mean entity"):
            await graph.search(QUESTION, "entiti")
        assert "Cyrus Field" in [node.name for node in await graph.look.find("cyrus f")]
        assert [row["title"] async for row in graph.look.extractions()] == ["Note"]
        thread = await graph.chat()
        assert (await thread.ask(QUESTION)).evidence.passages
        assert [turn.asked for turn in await thread.turns()] == [QUESTION]
        await graph.remove_thread(thread.id)
    opened = await connect_async(**address, embedder=HashEmbedder(DIMENSION))
    assert [info.title for info in await opened.documents()] == ["Note"]
    await opened.close()


async def _streamed(kg: KnowledgeGraph) -> None:
    chat = ScriptedChat(lambda messages: '{"evidence": ["1.1"], "answer": "Cyrus Field [1.1].", "sufficient": true}')
    graph = AsyncKnowledgeGraph(KnowledgeGraph(kg.store, kg.settings, embedder=HashEmbedder(DIMENSION), chat=chat))
    events = [event async for event in graph.stream(QUESTION)]
    assert isinstance(events[0], Step)
    assert isinstance(events[-1], Answer)
    assert any(isinstance(event, str) for event in events)
    with pytest.raises(InputError, match="has no option nonsense"):
        async for _ in graph.stream(QUESTION, nonsense=3):
            pass
    stream = graph.stream(QUESTION)
    assert isinstance(await stream.__anext__(), Step)
    await stream.aclose()  # the reader is stopped, and its thread is over


async def _cancelled(kg: KnowledgeGraph) -> None:
    """The statement is ended in the server, and meanwhile the loop goes on."""
    graph = AsyncKnowledgeGraph(kg)
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await anyio.sleep(0.01)
            ticks += 1

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(tick)
        with anyio.move_on_after(0.3) as scope:
            await graph.cypher(ENDLESS, timeout=60)
        assert scope.cancelled_caught
        stop = Stop()

        async def stopped() -> None:
            with pytest.raises(StoppedError):
                await graph.ask(QUESTION, stop=stop)
            tasks.cancel_scope.cancel()

        stop.set()
        tasks.start_soon(stopped)
    assert ticks > 1
    with kg.store.lend_driver("the tests") as driver:
        running = driver.execute_query("SHOW TRANSACTIONS YIELD currentQuery RETURN currentQuery").records
    assert not [row for row in running if row["currentQuery"].startswith("UNWIND range(1, 20")]


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_it_works_under_both_loops(kg: KnowledgeGraph, backend: str) -> None:
    at = kg.store.connection
    address = {"neo4j_uri": at.uri, "neo4j_username": at.username, "neo4j_password": at.password}
    in_own_thread(lambda: anyio.run(_used, kg, address, backend=backend))
    in_own_thread(lambda: anyio.run(_streamed, kg, backend=backend))
    in_own_thread(lambda: anyio.run(_cancelled, kg, backend=backend))


def test_the_plain_stream_is_stopped_where_it_is_left(kg: KnowledgeGraph) -> None:
    kg.ingest(Text(CABLE), extractor="local")
    events = list(kg.stream(QUESTION))
    assert isinstance(events[0], Step)
    assert isinstance(events[-1], Answer)
    assert events[-1].evidence.passages
    left = kg.stream(QUESTION)
    next(left)
    left.close()  # type: ignore[attr-defined]  # an iterator that is a generator
    with pytest.raises(InputError, match="The question is empty"):
        list(kg.stream(" "))
