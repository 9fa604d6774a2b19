"""The platform as a LangChain retriever; its graph to and from LangChain's ``GraphDocument``s.

KgRetriever(kg, route="entity").invoke("Who designed the ship?")[0].metadata["title"]
documents = to_graph_documents(kg)
from_graph_documents(other, documents)
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, count
from pathlib import Path
from typing import Any

from kgplatform import IngestReport, Schema
from kgplatform.client import MODES, KnowledgeGraph, Where
from kgplatform.concurrency.files import write_atomically
from kgplatform.errors import InputError, SettingError, to_install
from kgplatform.explore.info import named_documents
from kgplatform.extract.schema import RELATED_TO, relationship_for, words_of
from kgplatform.interfaces.integrations import fact_metadata, passage_metadata, where_of
from kgplatform.text import tidy, unknown

try:
    from langchain_core.callbacks import CallbackManagerForRetrieverRun
    from langchain_core.documents import Document
    from langchain_core.retrievers import BaseRetriever
    from langchain_neo4j.graphs.graph_document import GraphDocument, Node, Relationship
    from pydantic import SkipValidation
except ImportError as missing:
    raise SettingError(f"LangChain is not installed. Run `{to_install('langchain')}`.") from missing

Row = dict[str, Any]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,60}")
_UNTYPED = ("Node", "Entity", "")
_OWN = ("id", "name", "kgId", "aliases")
"""Properties of nodes that are not attributes: the entity's name, and the platform's id of it."""
_SAID = {"facts": ("text", "key_elements"), "attributes": ("entity", "key", "value")}
"""Lists in the metadata, and the fields of their items; each item may have a ``quote`` too."""


class KgRetriever(BaseRetriever):
    """A search by one of the platform's routes. Each document is a passage, with its place in the metadata.

    With ``facts``, the facts that were found follow, as documents with ``citations``. ``k`` is ``top_k`` as LangChain's
    retrievers call it. ``invoke`` and ``ainvoke`` also take ``top_k``, ``k``, ``route`` and ``where`` (metadata of
    documents, as in ``KnowledgeGraph.search``), for one question. ``filter`` is ``where`` as LangChain's stores of
    vectors write it: ``{"year": {"$in": [1869, 1870]}}``.
    """

    graph: SkipValidation[KnowledgeGraph]
    route: str = "all"
    top_k: int = 10
    facts: bool = False
    where: Where | None = None
    filter: dict[str, Any] | None = None

    def __init__(self, graph: KnowledgeGraph, *, k: int | None = None, **more: Any) -> None:
        for name in more.keys() - type(self).model_fields.keys():  # pydantic leaves them out without a word
            raise InputError(unknown("option of KgRetriever", name, type(self).model_fields))
        if k is not None:
            more["top_k"] = k
        # Theirs takes names only; the other adapters take the graph without one too.
        super().__init__(graph=graph, **more)  # type: ignore[call-arg]  # what pydantic makes of the fields

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun | None = None,
        top_k: int | None = None,
        k: int | None = None,
        route: str | None = None,
        where: Where | None = None,
        filter: dict[str, Any] | None = None,
    ) -> list[Document]:
        count = next(each for each in (top_k, k, self.top_k) if each is not None)
        only = where_of(filter or self.filter, where or self.where)
        result = self.graph.search(query, route or self.route, count, where=only)
        documents = [
            Document(passage.text, id=passage.id, metadata=passage_metadata(passage)) for passage in result.passages
        ]
        if self.facts:
            documents += [Document(fact.text, id=fact.id, metadata=fact_metadata(fact)) for fact in result.facts]
        return documents


def to_graph_documents(graph: KnowledgeGraph, documents: str | Sequence[str] = ()) -> Iterator[GraphDocument]:
    """What each passage says, in LangChain's form: entities as nodes, triples as relationships.

    ``documents``: by id, URI, path or title; default: all. A node's ``id`` is the entity's name, its properties are
    the attributes in the passage. A relationship's properties are ``predicate``, ``fact`` (its id), ``start`` and
    ``end`` (characters of the document) and the ``quote`` that states it. ``source`` is the passage; its metadata have
    its place, its atomic ``facts``, for which LangChain has no form, and the quotes of its ``attributes``. Passages are
    in the order of their ids.
    """
    chosen = named_documents(documents, graph.documents()) if documents else []
    yield from map(_graph_document, graph.look.extractions([info.id for info in chosen]))


def _graph_document(row: Row) -> GraphDocument:
    attributes: dict[str, dict[str, list[str]]] = {}
    for attribute in sorted(row["attributes"], key=lambda attribute: (attribute["key"], attribute["value"])):
        attributes.setdefault(attribute["subject"], {}).setdefault(attribute["key"], []).append(attribute["value"])
    nodes = {}
    for entity in sorted(row["entities"], key=lambda entity: str(entity["id"])):
        said = attributes.get(entity["id"], {}).items()
        properties = {"kgId": entity["id"]} | {key: values if len(values) > 1 else values[0] for key, values in said}
        nodes[entity["id"]] = Node(id=entity["name"], type=entity["type"] or "Entity", properties=properties)
    triples = sorted(row["triples"], key=lambda triple: (triple["start"], triple["id"]))
    relationships = [
        Relationship(
            source=nodes[triple["subject"]],
            target=nodes[triple["object"]],
            type=relationship_for(triple["predicate"]) if triple["inSchema"] else RELATED_TO,
            properties={"predicate": triple["predicate"], "fact": triple["id"]}
            | {"start": triple["start"], "end": triple["end"], **_quoted(triple, row)},
        )
        for triple in triples
        if triple["subject"] in nodes and triple["object"] in nodes
    ]
    return GraphDocument(nodes=list(nodes.values()), relationships=relationships, source=_source(row))


def _quoted(fact: Row, row: Row) -> dict[str, str]:
    """The words of the passage that state a fact, if they are known."""
    quote = row["text"][fact["start"] - row["start"] : fact["end"] - row["start"]]
    return {"quote": quote} if fact["found"] else {}


def _source(row: Row) -> Document:
    metadata = {name: row[name] for name in ("id", "document", "title", "index", "start", "end", "page", "location")}
    names = {entity["id"]: entity["name"] for entity in row["entities"]}
    said = {
        "facts": [
            {"text": fact["text"], "key_elements": sorted(fact["elements"]), **_quoted(fact, row)}
            for fact in sorted(row["facts"], key=lambda fact: str(fact["id"]))
        ],
        "attributes": [
            {"entity": names[each["subject"]], "key": each["key"], "value": each["value"], **_quoted(each, row)}
            for each in sorted(row["attributes"], key=lambda attribute: str(attribute["id"]))
            if each["subject"] in names
        ],
    }
    return Document(row["text"], id=row["id"], metadata={**metadata, "source": row["uri"], **said})


def from_graph_documents(
    graph: KnowledgeGraph,
    documents: Iterable[GraphDocument],
    *,
    name: str = "langchain",
    schema: str | Path | Schema | None = None,
    mode: str = "flexible",
) -> IngestReport:
    """Ingest graph documents: their sources become documents, their nodes entities, their relationships facts.

    Each fact is tied to the words of its source that state it: by a ``quote`` among the relationship's properties,
    otherwise by the names in it. A node's other properties become attributes. The texts are kept in the home folder
    under ``name``, where citations point; an earlier import of that name is replaced. Raises ``InputError`` for a
    document without a source.
    """
    if not _NAME.fullmatch(name):
        raise InputError(f"{name!r} cannot be a name of imported documents. Use letters, digits, - and _.")
    if mode not in MODES:
        raise InputError(unknown("mode", mode, MODES))
    texts, recordings = _files_of(documents)
    folder = graph.settings.home_folder / "graph-documents"
    corpus, recording = folder / f"{name}.jsonl", folder / f"{name}.recorded.jsonl"
    _remove_retold(graph, corpus, recording, recordings)
    folder.mkdir(parents=True, exist_ok=True)
    for path, rows in ((corpus, texts), (recording, recordings)):
        lines = (json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
        write_atomically(path, "".join(lines).encode())
    return graph.ingest(corpus, recorded=recording, schema=schema, mode="strict" if mode == "strict" else "flexible")


def _files_of(documents: Iterable[GraphDocument]) -> tuple[list[Row], list[Row]]:
    """A corpus and a recorded extraction: ``kgplatform.extract.recorded`` describes both."""
    texts: dict[str, Row] = {}
    recordings = []
    for number, document in enumerate(documents, start=1):
        if document.source is None or not document.source.page_content.strip():
            raise InputError(
                f"Graph document {number} has no source text for its facts. Make graph documents with their sources "
                "(in LangChain: include_source=True)."
            )
        metadata = document.source.metadata
        named = tidy(str(metadata.get("title") or metadata.get("source") or "")) or f"Document {number}"
        others = (f"{named} ({again})" for again in count(2))
        title = next(name for name in chain([named], others) if name not in texts)
        texts[title] = {"title": title, "text": document.source.page_content}
        recordings.append({"document": title, **_recorded(document)})
    if not texts:
        raise InputError("There are no graph documents to import.")
    return list(texts.values()), recordings


def _recorded(document: GraphDocument) -> Row:
    ends = [end for relationship in document.relationships for end in (relationship.source, relationship.target)]
    nodes = {(str(node.id), node.type): node for node in (*ends, *document.nodes)}
    told = document.source.metadata if document.source else {}
    # Our own export says there which words state an attribute; the nodes alone do not.
    placed = {(each["entity"], each["key"], each["value"]): each for each in _listed(told, "attributes")}
    attributes = [
        {"entity": str(node.id), "key": key, "value": str(value)}
        for node in nodes.values()
        for key, given in node.properties.items()
        for value in (given if isinstance(given, list) else [given])
        if key not in _OWN and isinstance(value, str | int | float) and str(value).strip()
    ]
    return {
        "entities": [{"name": name, "type": None if type_ in _UNTYPED else type_} for name, type_ in nodes],
        "triples": [_triple(relationship) for relationship in document.relationships],
        "attributes": [
            placed.get((attribute["entity"], attribute["key"], attribute["value"]), attribute)
            for attribute in attributes
        ],
        "facts": _listed(told, "facts"),
    }


def _listed(metadata: dict[str, Any], name: str) -> list[Row]:
    """The items of ``name`` that have our own form: metadata may hold anything."""
    given, keys = metadata.get(name), {*_SAID[name]}
    found = []
    for entry in given if isinstance(given, list) else ():
        if isinstance(entry, dict) and keys <= entry.keys() <= {*keys, "quote"}:
            kinds = ((each, list if key == "key_elements" else str) for key, each in entry.items())
            found += [entry] if all(isinstance(each, kind) for each, kind in kinds) else []
    return found


def _triple(relationship: Relationship) -> Row:
    given, quote = (relationship.properties.get(key) for key in ("predicate", "quote"))
    return {
        "subject": str(relationship.source.id),
        "predicate": given if isinstance(given, str) and given else " ".join(words_of(relationship.type)).lower(),
        "object": str(relationship.target.id),
        "quote": quote if isinstance(quote, str) else None,
    }


def _remove_retold(graph: KnowledgeGraph, corpus: Path, recording: Path, recordings: list[Row]) -> None:
    """Remove documents with the same text but another extraction: an ingest would keep them as they are."""
    lines = recording.read_text("utf-8").splitlines() if recording.exists() else []
    before = {row["document"]: row for row in map(json.loads, lines)}
    now = {line["document"]: line for line in recordings}
    retold = {title for title, each in now.items() if before.get(title, each) != each}
    there = [
        document.id
        for document in graph.documents()
        if document.source == corpus.absolute().as_uri() and document.title in retold
    ]
    if there:
        graph.remove(there)
