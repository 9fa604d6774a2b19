"""An agent of Pydantic AI over an MCP server; runs in the environment of its own that ``test_agents`` makes.

Standard input: JSON with the ``address`` of the server, ``most`` calls of tools, the ``tasks`` (``name`` and ``task``),
and ``model``, the address of a model's server; without one each task is done by the script of its name below, which
chooses a call by what the last one returned, as a model would. Standard output: a line of JSON for each task.
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

from pydantic_ai import Agent
from pydantic_ai.exceptions import AgentRunError, UsageLimitExceeded
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelMessage, ModelResponse, RetryPromptPart, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models import Model
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.openai import OpenAIChatModel
from pydantic_ai.providers.openai import OpenAIProvider
from pydantic_ai.usage import UsageLimits

_SECONDS = 1800
Call = tuple[str, dict[str, Any]]
Script = Iterator[Call | str]
Result = dict[str, Any]


def _fact() -> Script:
    found = yield "search", {"question": "In which autonomous community does FC Cartagena play?", "top_k": 3}
    yield found["passages"][0]["sentence"]["text"]


def _two_hops() -> Script:
    found = yield "search", {"question": "Danish chemist who introduced the concept of pH", "top_k": 3}
    chemist = found["passages"][0]["title"]
    found = yield "search", {"question": f"Danish plant ecologist who assisted {chemist}", "top_k": 3}
    other = next(each for each in found["passages"] if each["title"] != chemist)
    found = yield "read", {"source": other["id"], "max_tokens": 500}
    yield found["text"]


def _comparison() -> Script:
    born = []
    for name in ("Simone Bolelli", "Caroline Wozniacki"):
        found = yield "search", {"question": f"When was {name} born?", "top_k": 1}
        born.append((found["passages"][0]["text"].split("born ")[1][:16].split(";")[0].split()[-1], name))
    yield min(born)[1]


def _context() -> Script:
    found = yield "search", {"question": "Modern Drummer Hall of Fame youngest person", "top_k": 1}
    (passage,) = found["passages"]
    found = yield "read", {"source": passage["title"], "start": 0, "end": 200}
    yield found["text"]


def _known() -> Script:
    found = yield "look", {"node": "Tom Hiddleston", "max_tokens": 2000}
    yield " ".join(each["text"] for each in found["facts"])


def _count() -> Script:
    found = yield "look", {"limit": 1}
    assert "Document" in found["schema"]
    found = yield "cypher", {"statement": "MATCH (d:Document) RETURN count(d) AS documents"}
    yield str(found["rows"][0][0])


def _filtered() -> Script:
    found = yield "search", {"question": "When did he die?", "where": {"title": "Giotto"}, "top_k": 2}
    yield found["passages"][0]["text"]


def _answered() -> Script:
    found = yield "ask", {"question": "What team did Spyker F1 become at the end of 2007?", "max_tokens": 2000}
    yield found["answer"] or " ".join(each["text"] for each in found["passages"])


def _added() -> Script:
    text = "The Lantern Society of Porto was founded by Ines Valdar in 1911. Its archive is in Braga."
    yield "ingest_text", {"title": "The Lantern Society", "text": text}
    found = yield "search", {"question": "Who founded the Lantern Society of Porto?", "top_k": 1}
    (passage,) = found["passages"]
    yield "remove", {"document": passage["title"]}
    yield passage["text"]


def _corrected() -> Script:
    found = yield "look", {"node": "Neil Peart", "limit": 3}
    done = yield "correct", {"action": "rename", "what": {"entity": found["node"]["id"], "name": "Neil Ellwood Peart"}}
    found = yield "look", {"node": "Neil Ellwood Peart", "limit": 3}
    yield "correct", {"action": "undo", "what": {"id": done["correction"]["id"]}}
    again = yield "look", {"node": "Neil Peart", "limit": 3}
    yield f"{found['node']['name']}, and again {again['node']['name']}"


SCRIPTS: dict[str, Callable[[], Script]] = {
    "one fact": _fact,
    "two hops": _two_hops,
    "a comparison": _comparison,
    "text around a passage": _context,
    "what is known of somebody": _known,
    "a count": _count,
    "one document only": _filtered,
    "an answer of a reader": _answered,
    "a text added, found, removed": _added,
    "a correction, and undone": _corrected,
}


def _scripted(script: Script) -> Model:
    """A model that does what ``script`` says, given the result of its last call."""

    def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        last = messages[-1].parts[-1]
        if isinstance(last, RetryPromptPart):
            raise AgentRunError(f"A tool refused: {last.content}")
        given = last.model_response_object() if isinstance(last, ToolReturnPart) else None
        following = script.send(given)
        part = TextPart(following) if isinstance(following, str) else ToolCallPart(*following)
        return ModelResponse(parts=[part])

    return FunctionModel(reply)


async def _do(task: dict[str, str], tools: MCPToolset, model: str | None, most: int) -> Result:
    if model is None:
        chosen = _scripted(SCRIPTS[task["name"]]())
    else:
        chosen = OpenAIChatModel("local", provider=OpenAIProvider(base_url=model, api_key="none"))
    agent = Agent(chosen, toolsets=[tools], instructions="Use the tools. Then answer in one sentence.", retries=2)
    calls: list[str] = []
    said = fault = ""
    try:
        async with (
            asyncio.timeout(_SECONDS),
            agent.iter(task["task"], usage_limits=UsageLimits(tool_calls_limit=most)) as run,
        ):
            async for node in run:
                response = getattr(node, "model_response", None)
                calls += (
                    [part.tool_name for part in response.parts if isinstance(part, ToolCallPart)] if response else []
                )
            said = run.result.output if run.result else ""
    except (AgentRunError, UsageLimitExceeded, TimeoutError) as error:
        fault = f"{type(error).__name__}: {error}"[:300]
    return {"name": task["name"], "said": said, "calls": calls, "fault": fault}


async def _main() -> None:
    asked = json.loads(sys.stdin.read())
    tools = MCPToolset(asked["address"], include_instructions=True)
    async with tools:
        for task in asked["tasks"]:
            print(json.dumps(await _do(task, tools, asked["model"], asked["most"])), flush=True)


if __name__ == "__main__":
    asyncio.run(_main())
