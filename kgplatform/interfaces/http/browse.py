"""The endpoints that read: the server, its models, documents with their facts, the graph, the tree, saved runs."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Annotated, Any
from urllib.parse import urlsplit, urlunsplit

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from kgplatform.client import SEARCHES, KnowledgeGraph
from kgplatform.errors import InputError, ModelError, SettingError
from kgplatform.evaluate.costs import load_prices, worth
from kgplatform.explore.info import DocumentOrder, MapFilter
from kgplatform.explore.recheck import summary
from kgplatform.interfaces.http.failures import error_of, errors
from kgplatform.interfaces.http.parts import Id, Looked, Sent, Served, condition, look_at
from kgplatform.neo4j.browser import browser_url_of
from kgplatform.query import saved_queries as saved
from kgplatform.readers.readers import READERS
from kgplatform.records import Usage
from kgplatform.shown import as_fields

router = APIRouter(prefix="/api")

_LONGEST_NAME = 1000
_OPENAI = "https://api.openai.com/v1"
_MOST_IDS = 500
_ABOUT_READERS = ("name", "title", "about", "takes", "needs_model", "whole_graph", "options")
_LARGEST_OFFSET = 1_000_000_000
_METADATA = "Only entities that documents with this metadata mention, with the facts of the whole graph."


class SubgraphBody(Sent):
    """Ids of facts, passages, key elements, entities, communities and pages, as a step or an answer has them."""

    ids: list[str] = Field(max_length=_MOST_IDS)


@router.get("/health", tags=["about"], summary="Whether the server and its database are up")
async def health(request: Request, parts: Served) -> Response:
    """Answers 503 if the database is down."""
    return await parts.workers.answer(
        request, lambda graph: {"status": "ok", "version": version("kgplatform"), "neo4j": graph.check()}
    )


@router.get("/about", tags=["about"], summary="Readers with their options, routes, schemas, models")
async def about(request: Request, parts: Looked) -> Response:
    """What this server can do and what its graph holds: enough to build a form for every reader.

    `seconds_per_call`: how long a call of this model took in the saved runs (median); null without any.
    """

    def told(graph: KnowledgeGraph) -> dict[str, Any]:
        nodes, model = graph.look.counts(), graph.model_name
        readers = []
        for reader in READERS:  # ``needs``: beside the texts, by its default options
            own = {name: getattr(reader, name) for name in _ABOUT_READERS}
            readers.append(own | {"title": reader.title or reader.name, "needs": reader.needs(reader.Options())})
        return {
            "version": version("kgplatform"),
            "graph": graph.database_id(),
            "readers": readers,
            "routes": SEARCHES,
            "schemas": list(graph.schemas()),
            "model": model,
            "seconds_per_call": graph.look.seconds_per_call(model) if model and nodes.get("Run") else None,
            "embedder": graph.embedder.name,
            "browser_url": browser_url_of(graph.settings, graph.connection),
            "documents": nodes.get("Document", 0),
            "entities": nodes.get("Entity", 0),
            "has_tree": nodes.get("Community", 0) > 0,
            "outside_tree": graph.look.outside_tree() if nodes.get("Community") else 0,
            "has_gists": nodes.get("Page", 0) > 0,
            "types": graph.look.types(),
            "token_needed": parts.token_needed,
            "read_only": parts.read_only,
        }

    return await parts.workers.answer(request, told)


@router.get("/stats", tags=["about"], summary="Counts of the graph")
async def stats(request: Request, parts: Looked) -> Response:
    """Nodes by label, relationships by type, and key elements with their neighbours and facts."""
    return await parts.workers.answer(request, lambda graph: graph.stats())


@router.get("/schema", tags=["about"], summary="The schema")
async def schema(request: Request, parts: Looked) -> Response:
    """The schema of the last ingest, and the types that were added to it (`expansions`); null before the first."""

    def look(graph: KnowledgeGraph) -> dict[str, Any]:
        found = graph.schema()
        return found.to_dict() if found else {"schema": None, "expansions": []}

    return await parts.workers.answer(request, look)


@router.get("/questions", tags=["about"], summary="Questions to begin with")
async def questions(request: Request, parts: Looked, limit: Annotated[int, Query(ge=1, le=20)] = 4) -> Response:
    """Made of the graph's own entities and relations, for people who do not know yet what is in it. In English."""
    return await parts.workers.answer(request, lambda graph: {"questions": graph.look.questions(limit)})


@router.get("/documents", tags=["documents"], summary="The documents")
async def documents(request: Request, parts: Looked) -> Response:
    """All documents of the graph, by title."""
    return await parts.workers.answer(request, lambda graph: {"documents": graph.documents()})


@router.get("/conflicts", tags=["graph"], summary="Facts that contradict each other")
async def conflicts(request: Request, parts: Looked, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
    """Two values of a relation or attribute that the schema marks as single, at overlapping times."""
    return await parts.workers.answer(request, lambda graph: {"conflicts": graph.conflicts(limit)})


@router.get("/metadata", tags=["documents"], summary="The metadata that documents have")
async def metadata(request: Request, parts: Looked, limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> Response:
    """Each name with at most `limit` of its values and how many documents have each: what `where` can ask for."""
    return await parts.workers.answer(request, lambda graph: {"names": graph.look.metadata(limit)})


@router.get(
    "/documents/{id:path}", tags=["documents"], summary="A document's text with its facts", responses=errors(400, 404)
)
async def document(
    id: Id,
    request: Request,
    parts: Looked,
    start: Annotated[int | None, Query(ge=0, le=_LARGEST_OFFSET, description="First character, from 0.")] = None,
    end: Annotated[int | None, Query(ge=0, le=_LARGEST_OFFSET, description="The character after the last.")] = None,
) -> Response:
    """The characters from `start` to `end`, and the facts stated there. `id` may also be the document's URI."""
    if start is not None and end is not None and start > end:
        raise InputError("`start` must not be after `end`.")
    return await look_at(request, parts, lambda graph: graph.look.document(id, start, end))


@router.get("/graph/map", tags=["graph"], summary="The map of the most connected entities", responses=errors(400))
async def graph_map(
    request: Request,
    parts: Looked,
    limit: Annotated[int, Query(ge=1, le=50_000, description="At most this many entities.")] = 10_000,
    type: Annotated[list[str] | None, Query(description="Only entities of these types.")] = None,
    community: Annotated[list[str] | None, Query(description="Only entities in these communities (ids).")] = None,
    document: Annotated[list[str] | None, Query(description="Only entities that these documents name (ids).")] = None,
    relation: Annotated[list[str] | None, Query(description="Only relations of these types.")] = None,
    least: Annotated[int, Query(ge=0, le=1_000_000, description="Only entities with at least this many facts.")] = 0,
    metadata: Annotated[str, Query(description=_METADATA)] = "",
) -> Response:
    """Parallel lists with one item per entity; `sources` and `targets` are indexes into `ids`."""
    only = MapFilter(
        types=tuple(type or ()),
        communities=tuple(community or ()),
        documents=tuple(document or ()),
        relations=tuple(relation or ()),
        least=least,
        where=condition(metadata) or {},
    )
    return await parts.workers.answer(request, lambda graph: graph.look.map(limit, only))


@router.get("/graph/find", tags=["graph"], summary="Nodes by name")
async def find(
    request: Request,
    parts: Looked,
    text: Annotated[str, Query(max_length=_LONGEST_NAME, description="A name or its beginning.")] = "",
    limit: Annotated[int, Query(ge=1, le=200)] = 20,
) -> Response:
    """Entities, key elements, documents and communities, best first."""
    return await parts.workers.answer(request, lambda graph: {"nodes": graph.look.find(text, limit)})


@router.get("/graph/nodes/{id}", tags=["graph"], summary="A node", responses=errors(404))
async def node(id: Id, request: Request, parts: Looked) -> Response:
    """Its properties, the facts about it with the places that state them, and its communities."""
    return await look_at(request, parts, lambda graph: graph.look.node(id))


@router.get("/graph/neighbours/{id}", tags=["graph"], summary="A node with its neighbours", responses=errors(404))
async def neighbours(
    id: Id, request: Request, parts: Looked, limit: Annotated[int, Query(ge=1, le=1000)] = 50
) -> Response:
    """The strongest first; `more` is how many were left out."""
    return await look_at(request, parts, lambda graph: graph.look.neighbours(id, limit))


@router.post("/graph/subgraph", tags=["graph"], summary="Nodes by id, with their edges")
async def subgraph(body: SubgraphBody, request: Request, parts: Looked) -> Response:
    """The nodes of an answer or a step, and the edges among them. Ids that no longer exist are left out."""
    return await parts.workers.answer(request, lambda graph: graph.look.subgraph(body.ids))


@router.get("/tree", tags=["tree"], summary="A level of the knowledge tree", responses=errors(404))
async def tree(
    request: Request,
    parts: Looked,
    parent: Annotated[str | None, Query(max_length=4000, description="A node of the tree; default: the top.")] = None,
    skip: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=10_000)] = 10_000,
) -> Response:
    """What is below `parent`: a community's inner communities, keywords and entities; an entity's attributes."""
    return await look_at(request, parts, lambda graph: {"nodes": graph.look.tree(parent, skip=skip, limit=limit)})


@router.get("/communities", tags=["tree"], summary="The communities")
async def communities(request: Request, parts: Looked, limit: Annotated[int, Query(ge=1, le=10_000)] = 100) -> Response:
    """The largest first; outer communities before those inside them."""
    return await parts.workers.answer(request, lambda graph: {"nodes": graph.look.communities(limit)})


@router.get("/communities/{id}", tags=["tree"], summary="A community with its members", responses=errors(404))
async def community(
    id: Id, request: Request, parts: Looked, limit: Annotated[int, Query(ge=1, le=1000)] = 100
) -> Response:
    """The members with the highest scores first."""
    return await look_at(
        request, parts, lambda graph: {"node": graph.look.community(id), "members": graph.look.members(id, limit)}
    )


@router.get("/runs", tags=["runs"], summary="Saved runs of readers")
async def runs(request: Request, parts: Served, limit: Annotated[int, Query(ge=1, le=1000)] = 50) -> Response:
    """The latest first."""
    return await parts.workers.answer(request, lambda graph: {"runs": graph.look.runs(limit)})


@router.get("/runs/recheck", tags=["runs"], summary="Whether kept answers still stand", responses=errors(404))
async def recheck(
    request: Request, parts: Served, run: Annotated[list[str] | None, Query(description="Ids; default: all.")] = None
) -> Response:
    """What became of the sentences that each rests on, without a model; `summary` says it in words. For named runs
    also whether a passage ranks higher now."""

    def checked(graph: KnowledgeGraph) -> dict[str, Any]:
        found = graph.recheck(run or (), better=bool(run))
        return {"answers": found, "summary": summary(found)}

    return await look_at(request, parts, checked)


@router.get("/runs/{id}", tags=["runs"], summary="A saved run with its steps", responses=errors(404))
async def run(id: Id, request: Request, parts: Served) -> Response:
    """For each step its prompt and reply, what it found, and the statements it ran."""

    def run_of(graph: KnowledgeGraph) -> object:
        info, steps = graph.look.run(id)
        return {"run": info, "steps": steps, "citations": graph.look.citations(id)}

    return await look_at(request, parts, run_of)


@router.get("/graph/profile/{id}", tags=["graph"], summary="An entity as a page", responses=errors(404))
async def profile(id: Id, request: Request, parts: Looked) -> Response:
    """Its relations by type, attributes, sentences, likely duplicates and sources; each thing is said once."""
    return await look_at(request, parts, lambda graph: graph.look.profile(id))


@router.get("/graph/ways", tags=["graph"], summary="The shortest paths between two entities", responses=errors(404))
async def ways(
    request: Request,
    parts: Looked,
    source: Annotated[str, Query(max_length=4000, description="The id of an entity or key element.")],
    target: Annotated[str, Query(max_length=4000, description="The id of another one.")],
    limit: Annotated[int, Query(ge=1, le=20, description="At most this many paths.")] = 3,
) -> Response:
    """The nodes and edges of the ways; none where nothing joins the two."""
    return await look_at(request, parts, lambda graph: graph.look.ways(source, target, limit))


@router.get("/document-page", tags=["documents"], summary="Documents by the page")
async def document_page(
    request: Request,
    parts: Looked,
    text: Annotated[str, Query(max_length=1000, description="Part of a title or of a file's address.")] = "",
    sort: DocumentOrder = "title",
    descending: bool = False,
    skip: Annotated[int, Query(ge=0, le=10_000_000)] = 0,
    limit: Annotated[int, Query(ge=0, le=1000)] = 100,
) -> Response:
    """Each with its facts and failures; `total` is how many there are in all."""
    return await parts.workers.answer(
        request, lambda graph: graph.look.document_page(text, sort, descending=descending, skip=skip, limit=limit)
    )


@router.get("/schema/figures", tags=["about"], summary="How much there is of each type of the schema")
async def schema_figures(request: Request, parts: Looked) -> Response:
    """Entities by type; relations by type with the types of both ends; the schema as a file that can be edited; and the
    name of the schema that the next ingest uses."""

    def look(graph: KnowledgeGraph) -> object:
        known = graph.schema()
        grown = known and known.grown
        following = known and (known.chosen or grown)
        return {
            "types": [{"name": name, "count": count} for name, count in graph.look.types().items()],
            "relations": graph.look.relation_figures(),
            "text": following.file_text() if following else "",
            "chosen": known.chosen.name if known and known.chosen else None,
        }

    return await parts.workers.answer(request, look)


@router.get("/saved-queries", tags=["ask"], summary="Statements to begin with")
async def saved_queries() -> dict[str, list[dict[str, str]]]:
    """Those that are Neo4j Browser's favourites: each with its title, what it shows, and its text."""
    keys = ("title", "about", "statement")
    return {"queries": [{key: getattr(each, key) for key in keys} for each in saved().values()]}


@router.get("/models", tags=["models"], summary="The models and their usage")
async def models(request: Request, parts: Served) -> Response:
    """`spent`: what this server spent since it began, by stage; `cached_calls` cost nothing. `money`: what the language
    model's tokens cost at OpenAI's list prices of the day `as_of`; null for other servers and models."""

    def told(_: KnowledgeGraph) -> dict[str, Any]:
        settings, chat, ledger = parts.graph.settings, parts.graph.language_model, parts.graph.ledger
        # A user, a password and what follows the path are not told.
        address = urlsplit(settings.openai_base_url or _OPENAI)
        shown = urlunsplit((address.scheme, address.netloc.rpartition("@")[2], address.path, "", ""))
        money = None
        if chat and settings.openai_base_url is None:
            prices = load_prices()
            spent = [each for stage, each in worth(ledger).items() if stage != "embed"]
            if (amount := prices.cost(sum(spent, Usage()), settings.chat_model)) is not None:
                money = {"amount": round(amount, 6), "currency": prices.currency, "as_of": prices.as_of.isoformat()}
        return {
            "chat": chat and {"model": chat.model, "address": shown},
            "has_key": settings.openai_api_key is not None,
            "is_open": parts.graph.is_model_open,
            "embedder": parts.graph.embedder.name,
            "budget": settings.token_budget,
            "spent": [{"stage": stage, **as_fields(usage)} for stage, usage in ledger.by_stage().items()],
            "money": money,
        }

    return await parts.workers.answer(request, told)


@router.post("/models/test", tags=["models"], summary="Call the language model once", responses=errors(429))
async def test(request: Request, parts: Served) -> Response:
    """A short call that no cache answers, and that is not tried again. `error` says what to do where it failed."""
    return await parts.workers.answer(request, lambda graph: _tried(graph.try_model), kind="asks")


class ServerBody(Sent):
    """A server of language models."""

    address: str | None = Field(
        None, max_length=2000, pattern=r"^https?://\S+$", description="Its base URL; none for OpenAI."
    )
    key: str | None = Field(None, max_length=10_000, description="Its API key; none to keep that of the same address.")


class ModelBody(ServerBody):
    """One of its models."""

    model: str = Field(min_length=1, max_length=500)


@router.post("/models/list", tags=["models"], summary="The models that a server lists", responses=errors(400, 403))
async def listed(body: ServerBody, request: Request, parts: Served) -> Response:
    """None where it lists none."""
    parts.refuse_change()
    return await parts.workers.answer(
        request, lambda graph: {"models": graph.list_models(body.address, body.key)}, kind="asks"
    )


@router.post("/models/connect", tags=["models"], summary="Choose the language model", responses=errors(400, 403))
async def connect(body: ModelBody, request: Request, parts: Served) -> Response:
    """Calls it once. If it answers, it is kept in a file of the home that only its owner can read, key included, and
    asked from now on. `error` says what to do where it does not; then nothing has changed."""
    parts.refuse_change()
    return await parts.workers.answer(
        request, lambda graph: _tried(partial(graph.connect_model, body.address, body.key, body.model)), kind="asks"
    )


def _tried(trial: Callable[[], Any]) -> dict[str, Any]:
    try:
        return {"ok": True, **as_fields(trial())}
    except (ModelError, SettingError) as error:
        return {"ok": False, "error": error_of(error)["message"]}
