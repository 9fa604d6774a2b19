"""What a person sees of the graph: names to look for, neighbours, the tree, the map, documents with their facts, runs.

    look = Look(store)
    (node, *_) = look.find("cyrus f")
    look.neighbours(node.id)

Nothing is written. Vectors never leave the database. Whatever is looked at, hubs included, is bounded on the server.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any
from urllib.parse import quote

from kgplatform.concurrency.arguments import checked
from kgplatform.errors import Code, InputError, coded
from kgplatform.explore.info import (
    ORDERS,
    DocumentPage,
    DocumentRow,
    DocumentText,
    GraphEdge,
    GraphMap,
    GraphNode,
    MapFilter,
    MetadataName,
    NodeDetails,
    RelationFigure,
    RunInfo,
    Subgraph,
    TreeNode,
    facts_once,
)
from kgplatform.explore.map import map_of
from kgplatform.explore.profile import Profile, profile_of, questions
from kgplatform.explore.runs import ThreadInfo, Turn, check_thread, cited_in_order, kept_statements
from kgplatform.neo4j.filters import documents_where
from kgplatform.neo4j.store import Row, Store
from kgplatform.records import Citation, metadata_of
from kgplatform.text import WORD_RUN, node_id, normalise_name, rejoin, tidy, unknown
from kgplatform.text.languages import spellings_of

KINDS = (
    *("Entity", "KeyElement", "Fact", "Chunk", "Document", "Attribute", "Keyword", "Community", "Page", "Run", "Step"),
)
"""The kinds of nodes that a person sees. An Entity is a KeyElement too, and is called an Entity."""

MOST_NODES = 1000
"""Of one subgraph."""
MOST_CHARACTERS = 200_000
"""Of one look at a document."""
HIGHLIGHTS = ("documents", "entities", "relations", "facts", "communities", "runs")
_PAGE = 200
"""Passages that are read at once."""

_HUB = 2_000
"""Relationships of one node and sort that are looked at."""
_MOST_EDGES = 50_000
"""Relationships of one node that are looked at for those to others that are drawn, too."""
_PLACES = 20
_SHARES = {"Entity": 8, "Attribute": 2, "Chunk": 2, "Fact": 2}
"""Which part of the neighbours is of a kind, where there are more of several kinds than are shown; 1 of another."""
_LONGEST_SEARCH, _MOST_WORDS, _CANDIDATES = 200, 16, 1000
_DEEPEST = 1000
_ALL = 1_000_000


@checked
class Look:
    """Looks at one graph. Thread-safe, as its store is. An ``id`` that is not in the graph raises ``InputError``."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def find(self, text: str, limit: int = 20) -> tuple[GraphNode, ...]:
        """Entities, key elements, documents and communities called like ``text``, best first.

        The whole name comes before its beginning, and that before single words of it, which may be cut short ("cyr
        fie"). Upper and lower case are one; all else is taken as it is written, without any syntax.
        """
        name = tidy(text)[:_LONGEST_SEARCH]
        key = normalise_name(name)
        if not key:
            return ()
        words = [word.lower() for word in WORD_RUN.findall(name)[:_MOST_WORDS]]  # in which Lucene finds no syntax

        def nearness(row: Row) -> tuple[Any, ...]:
            known = normalise_name(row["key"])
            return known != key, not known.startswith(key), -row["score"], -row["degree"], len(known), row["id"]

        rows = self._store.read(
            "explore/find",
            key=key,
            typed=self._named_as_typed(name),
            starts=sorted({name, name.lower(), name[:1].upper() + name[1:]}),
            words=" ".join(f'"{word}"^2 {word}*' for word in dict.fromkeys(words)),
            most=_CANDIDATES,
            limit=_at_least(limit, 1),
        )
        rows.sort(key=nearness)
        return tuple(map(_node, rows[:limit]))

    def _named_as_typed(self, name: str) -> list[str]:
        """Ids of what is called like ``name`` but for accents, apostrophes and the like."""
        asked = spellings_of(name)[:_MOST_WORDS]
        if not asked or not all(map(str.isalnum, asked)):
            return []
        query = " ".join(f"+{word}*" for word in asked)
        found = self._store.read("explore/named_as_typed", typed=query, most=_PAGE)
        names = ((row["id"], spellings_of(row["name"])) for row in found)
        return [id_ for id_, words in names if all(any(word.startswith(each) for word in words) for each in asked)]

    def neighbours(self, id: str, limit: int = 50, kinds: Sequence[str] = ()) -> Subgraph:
        """The node and at most ``limit`` neighbours of these ``kinds``, the strongest first, and the edges among all.

        Entities see the entities that relations join them with, by how many passages say so, and beside them some of
        their attributes, passages and atomic facts. Of a kind that has more than 2,000, only that many are looked at.
        """
        if strange := sorted(set(kinds) - set(KINDS)):
            raise InputError(unknown("kind of node", strange[0], KINDS))
        rows = self._store.read(
            "explore/neighbours", id=id, kinds=list(kinds or KINDS), hub=_HUB, limit=_at_least(limit, 0)
        )
        if not rows:
            raise _unknown(id)
        center, *others = rows
        # They come by place within their kind: each gets its share of the places, the others what it leaves.
        places: Counter[str] = Counter()
        ranked = []
        for row in others:
            kind = _kind(row["labels"])
            places[kind] += 1
            ranked.append((places[kind] / _SHARES.get(kind, 1), KINDS.index(kind), row))
        shown = [row for *_, row in sorted(ranked, key=lambda each: each[:2])[:limit]]
        nodes = tuple(map(_node, [center, *shown]))
        found = sum({_kind(row["labels"]): row["total"] for row in others}.values())
        return Subgraph(nodes, self._edges_among(nodes), found - len(shown))

    def subgraph(self, ids: Sequence[str]) -> Subgraph:
        """Facts, passages, key elements, communities and pages (ids) as they are drawn, and the edges among them.

        A triple is drawn as an edge between its entities, an attribute as one to its value: their ``fact`` is the id
        that was given. An atomic fact is a node, with its key elements. Ids that the graph has no more are left out.
        """
        wanted = list(dict.fromkeys(ids))
        rows = self._store.read("explore/subgraph", ids=wanted) if wanted else []
        nodes = tuple(map(_node, rows[:MOST_NODES]))
        return Subgraph(nodes, self._edges_among(nodes), len(rows) - len(nodes))

    def node(self, id: str, facts: int = 200) -> NodeDetails:
        """All that is known of a node. At most ``facts`` facts, those that most passages state first, and then by
        the name of the first document and the place in it; of a passage in the order of the text. What a sentence says
        is listed once, as the sentence."""
        # Twice as many, since some say what others say.
        rows = self._store.read("explore/node", id=id, hub=_HUB, facts=2 * _at_least(facts, 0), places=_PLACES)
        if not rows:
            raise _unknown(id)
        (row,) = rows
        found = facts_once(row["facts"])
        shown = set(list(dict.fromkeys(fact.id for fact in found))[:facts])
        found = [fact for fact in found if fact.id in shown]
        if "Chunk" in row["labels"]:
            found.sort(key=lambda fact: (fact.start, fact.end, fact.text, fact.id))
        return NodeDetails(
            _node(row),
            tuple(sorted(row["labels"])),
            {name: _plain(value) for name, value in sorted(row["properties"].items()) if value is not None},
            tuple(found),
            tuple(map(_node, row["communities"])),
        )

    def profile(self, id: str) -> Profile:
        """An entity or key element as a page: its relations by type, its attributes, sentences about it, what is likely
        the same, and the documents that name it. At most 2,000 of each are looked at."""
        rows = self._store.read("explore/profile", id=id, hub=_HUB, places=_PLACES)
        if not rows:
            raise InputError(f"There is no entity {_shown(id)} in the graph.")
        return profile_of(rows[0], _node)

    def ways(self, source: str, target: str, limit: int = 3) -> Subgraph:
        """The shortest ways from one entity or key element to another, at most ``limit``, over facts that join them,
        else over passages that name them.

        Empty where nothing joins the two. Raises ``InputError`` for an id that is not there, and for one given twice.
        """
        if source == target:
            raise InputError("A path needs two different entities: choose two.")
        for id_ in (source, target):
            if not self._store.read("explore/subgraph", ids=[id_]):
                raise _unknown(id_)
        ends = {"source": source, "target": target, "most": _at_least(limit, 1)}
        found = self._store.read("explore/ways", **ends) or self._store.read("explore/ways_together", **ends)
        return self.subgraph(list(dict.fromkeys(id_ for row in found for id_ in row["ids"])))

    def document_page(
        self, text: str = "", sort: str = "title", *, descending: bool = False, skip: int = 0, limit: int = 100
    ) -> DocumentPage:
        """Documents whose title or file has ``text`` in it, with their facts and failures, ``limit`` after ``skip``.

        ``sort``: "title", "file", "added", "characters", "passages", "facts" or "failed".
        """
        if sort not in ORDERS:
            raise InputError(unknown("order", sort, ORDERS))
        if skip < 0 or limit < 0:
            raise InputError("The page's start and length must be 0 or more.")
        part = tidy(text).lower()
        parts = {"text": part, "address": quote(part, safe="/:").lower()}
        (row,) = self._store.read(
            "explore/document_page", **parts, sort=sort, descending=descending, skip=skip, limit=limit
        )
        rows = (
            DocumentRow(**{**each, "metadata": metadata_of(each["metadata"]), "failures": tuple(each["failures"])})
            for each in row["documents"]
        )
        return DocumentPage(tuple(rows), row["total"])

    def metadata(self, limit: int = 100) -> tuple[MetadataName, ...]:
        """The names of the documents' metadata, each with at most ``limit`` of its values: what ``where`` can ask."""
        return tuple(map(MetadataName.of, self._store.read("explore/metadata", limit=_at_least(limit, 0))))

    def document(self, id: str, start: int | None = None, end: int | None = None) -> DocumentText:
        """A document, named by its id or URI, and the facts stated between ``start`` and ``end``.

        At most 200,000 characters: those from ``start`` on, or from the beginning.
        """
        first = start or 0
        last = first + MOST_CHARACTERS if end is None else min(end, first + MOST_CHARACTERS)
        if first < 0 or last < first:
            raise InputError(f"Characters {start} to {end} are not a range: give 0 ≤ start ≤ end.")
        rows = self._store.read("explore/document", ids=[id, node_id("document", id)], start=first, end=last)
        if not rows:
            raise coded(Code.UNKNOWN_DOCUMENT, document=_shown(id))
        (row,) = rows
        first, last = min(first, row["characters"]), min(last, row["characters"])
        return DocumentText(
            id=row["id"],
            title=row["title"],
            uri=row["uri"],
            source=row["source"],
            characters=row["characters"],
            start=first,
            end=last,
            text=rejoin(map(tuple, row["pieces"]), first, last),
            facts=tuple(facts_once(row["facts"])),
            summary=row["summary"],
            questions=tuple(row["questions"]),
        )

    def types(self) -> dict[str, int]:
        """The types of entities and how many entities each has, the commonest first."""
        return {row["type"]: row["entities"] for row in self._store.read("explore/types")}

    def relation_figures(self) -> tuple[RelationFigure, ...]:
        """How many relations of each type join entities of which types, the most frequent first."""
        return tuple(RelationFigure(**row) for row in self._store.read("explore/relation_figures"))

    def counts(self) -> dict[str, int]:
        """How many nodes each label has."""
        return {row["label"]: row["count"] for row in self._store.read("explore/node_counts")}

    def outside_tree(self) -> int:
        """How many entities are in no community of the tree: those that came since it was built."""
        return int(self._store.read("explore/outside_tree")[0]["entities"])

    def highlights(self, limit: int = 5) -> dict[str, list[Row]]:
        """What there is most of, at most ``limit`` of each of ``HIGHLIGHTS``: documents, entities and facts by how much
        is said of them, relations by how often they are stated, communities by size, and the latest saved runs."""
        return {kind: self._store.read(f"explore/highlights/{kind}", limit=_at_least(limit, 0)) for kind in HIGHLIGHTS}

    def questions(self, limit: int = 4) -> tuple[str, ...]:
        """Questions that the graph can answer, made of its own entities and relations: something to begin with."""
        return questions(self._store, _at_least(limit, 0))

    def extractions(self, documents: Sequence[str] = ()) -> Iterator[Row]:
        """Passages in the order of their ids, each with the entities, triples, attributes and atomic facts that were
        read from it. ``documents``: ids; all without any."""
        after = ""
        while rows := self._store.read("explore/extractions", after=after, documents=list(documents), limit=_PAGE):
            yield from rows
            after = rows[-1]["id"]

    def tree(self, parent: str | None = None, *, skip: int = 0, limit: int = _ALL) -> tuple[TreeNode, ...]:
        """What stands below a node of the knowledge tree, or at its top; empty where there is no tree.

        Below a community the communities inside it, then its keywords, then its own members; below a keyword its
        entity; below an entity its attributes. At most ``limit`` after the first ``skip``.
        """
        page = {"skip": _at_least(skip, 0), "limit": _at_least(limit, 0)}
        if parent is None:
            return tuple(TreeNode(**row) for row in self._store.read("explore/communities", depth=0, **page))
        rows = self._store.read("explore/below", id=parent, **page)
        if not rows:
            raise _unknown(parent)
        return tuple(TreeNode(**node) for node in rows[0]["below"])

    def communities(self, limit: int = 100) -> tuple[TreeNode, ...]:
        """Communities of all depths, the outermost first, of one depth the largest first."""
        rows = self._store.read("explore/communities", depth=_DEEPEST, skip=0, limit=_at_least(limit, 0))
        return tuple(TreeNode(**row) for row in rows)

    def community(self, id: str) -> NodeDetails:
        """A community; ``members`` are asked for on their own."""
        details = self.node(id, facts=0)
        if details.node.kind != "Community":
            raise InputError(f"{_shown(id)} is not a community but a node of kind {details.node.kind}.")
        return details

    def members(self, id: str, limit: int = 100) -> tuple[GraphNode, ...]:
        """The entities of a community and of those inside it, those that belong to it most first."""
        rows = self._store.read("explore/members", id=id, limit=_at_least(limit, 0))
        if not rows:
            raise InputError(f"There is no community {_shown(id)} in the graph.")
        return tuple(map(_node, rows[0]["members"]))

    def map(self, limit: int = 10_000, only: MapFilter | None = None) -> GraphMap:
        """The ``limit`` most connected entities, the lines between them, and the communities that hold them, as discs.

        The same graph has the same map. Without a tree, groups of entities that relations join are discs. ``only``:
        conditions that the entities meet.
        """
        asked = only or MapFilter()
        given = {name: list(value) if isinstance(value, tuple) else value for name, value in asdict(asked).items()}
        del given["where"]
        # A scene that was saved may ask for what no document has any more: nothing is in it.
        fitting = documents_where(self._store, asked.where, any_name=True)
        if fitting is not None:
            given["documents"] = [id for id in fitting if not asked.documents or id in asked.documents]
        elif not asked.documents:
            given["documents"] = None
        (row,) = self._store.read("explore/map", limit=_at_least(limit, 1), **given)
        return map_of(row["entities"], row["communities"], row["nodes"], row["relations"])

    def runs(self, limit: int = 50) -> tuple[RunInfo, ...]:
        """Saved runs, the last first."""
        rows = self._store.read("explore/runs", limit=_at_least(limit, 0))
        return tuple(RunInfo(**kept_statements(row)) for row in rows)

    def run(self, id: str) -> tuple[RunInfo, tuple[dict[str, Any], ...]]:
        """A saved run, and its steps: number, path, name, detail, prompt, reply, seconds, statements (each as it can be
        pasted into Neo4j Browser), and the ids of facts, passages, elements and pages that the step found or was at."""
        rows = self._store.read("explore/run", id=id)
        if not rows:
            raise coded(Code.UNKNOWN_RUN, "keep", run=_shown(id))
        return RunInfo(**kept_statements(rows[0]["run"])), tuple(rows[0]["steps"])

    def seconds_per_call(self, model: str) -> float | None:
        """How long a call of ``model`` took: the median of the saved steps that made one; None without any."""
        (row,) = self._store.read("explore/seconds_per_call", model=model)
        seconds: float | None = row["seconds"]
        return seconds

    def citations(self, id: str) -> tuple[Citation | None, ...]:
        """What the answer of a saved run cites, number 1 first; None where the document is no longer in the graph.

        Of what is None behind the last one that is there, nothing is known.
        """
        rows = self._store.read("explore/citations", id=id)
        if not rows:
            raise coded(Code.UNKNOWN_RUN, "keep", run=_shown(id))
        return cited_in_order(rows[0]["citations"])

    def threads(self, limit: int = 50) -> tuple[ThreadInfo, ...]:
        """Threads of questions, that which was asked in last first."""
        rows = self._store.read("explore/threads", limit=_at_least(limit, 0))
        return tuple(ThreadInfo(**row) for row in rows)

    def thread(self, id: str) -> tuple[Turn, ...]:
        """The turns of a thread in order, each with what its answer cites."""
        return check_thread(self._store, id)

    def _edges_among(self, nodes: Sequence[GraphNode]) -> tuple[GraphEdge, ...]:
        if len(nodes) < 2:
            return ()
        edges = []
        for row in self._store.read("explore/edges", ids=[node.id for node in nodes], most=_MOST_EDGES):
            ends = row["source"], row["target"], row["type"]
            label = row["predicate"] or row["type"].replace("_", " ").lower()
            id_ = node_id("edge", *ends, row["fact"], row["number"])
            edges.append(GraphEdge(id_, *ends, label, row["fact"], tuple(map(tuple, row["times"]))))
        return tuple(edges)


def _node(row: Row) -> GraphNode:
    return GraphNode(row["id"], row["name"], _kind(row["labels"]), row["type"], row["text"], row["degree"])


def _kind(labels: Sequence[str]) -> str:
    return next(kind for kind in KINDS if kind in labels)


def _plain(value: Any) -> Any:
    """``value`` as JSON can hold it; a date as ISO 8601."""
    if isinstance(value, list):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool) else str(value)


def _at_least(limit: int, least: int) -> int:
    if limit < least:
        raise InputError(f"A limit of {limit} leaves nothing to look at. Give {least} or more.")
    return limit


def _unknown(id: str) -> InputError:
    return InputError(f"There is no node {_shown(id)} in the graph.")


def _shown(id: str) -> str:
    return repr(id if len(id) <= 80 else f"{id[:79]}…")
