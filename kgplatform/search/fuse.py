"""Tempered personalised PageRank over the neighbourhood of a question's seeds: arrays in, scores out.

A question's seeds are the facts and passages nearest to it, the passages of documents that it names, and the rare
entities that it names. Their neighbourhood is a small graph of passages and entities. Restart mass is put on the seeds
with a sharp softmax and walks the edges; what arrives ranks passages, facts and entities. There is no database here: a
statement in ``cypher/search/`` fetches the neighbourhood.

    scores = fuse(neighbourhood)
    order = best_first(scores.passages, neighbourhood.passage_ids)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array  # type: ignore[import-untyped]  # scipy carries no types

# Restart and walk: docs/explanation/retrieval.md has the recipe. "Study": measured; each value lies on a plateau of
# HotpotQA without triples, MuSiQue with them and MuSiQue without.
SPREAD = 0.068  # what the spread of the nearest passages' cosines is made: the temperatures are for this (all-MiniLM's)
LEAST_SPREAD = 0.02  # less than this tells nothing
COSINE_SHARE = 0.8  # of a passage's similarity; BM25 has the rest
COSINE_SHARE_BY_WORDS = 0.2  # the same where the embedding model does not know the question's language
PASSAGE_SEEDS = 50  # passages that get restart mass
PASSAGE_TEMPERATURE = 0.02  # of the softmax over passages
FACT_TEMPERATURE = 0.03  # of the softmax over facts (study: 0.02 to 0.03)
FACT_SHARE = 0.25  # of the restart at most, on the entities of seed facts (study: 0.15 to 0.35)
NAMED_SHARE = 0.25  # of the restart, on passages of documents that the question names (study: 0.1 to 0.3)
RARE_NAME_SHARE = 0.4  # of the whole restart, on rare entities that the question names (study: 0.3 to 0.5)
HUB_EXPONENT = 0.5  # a fact's entity gets 1 / (passages that mention it) ** this
DAMPING = 0.7  # share of the mass that walks on at each step (study: 0.6 to 0.8)
ITERATIONS = 15  # power iterations; the order is settled after 8
LOWEST_SHARE = 1e-7  # of the highest PageRank: what is below scores as this (study: 1e-4 to 1e-7 are alike)
TITLE_SHARE = 0.2  # of a passage's mass that walks on to documents whose titles it names (study: 0.1 to 0.3)
SIMILARITY_WEIGHT = 0.3  # of the scaled similarity beside the scaled log PageRank (study: 0.2 to 0.4)
ALONE_WEIGHT = 0.3  # of the walks from one kind of seed alone (study: 0.2 to 0.6)
AGAIN = 0.06  # taken from a passage's score if a better one has the same title (study: 0.03 to 0.1)

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """The graph around a question's seeds. Passages, entities and facts are known by their position in ``*_ids``.

    Passages (P): ``passage_cosine`` with the question, NaN where it is unknown; ``passage_bm25`` is the full-text
    index's score, 0 where it did not return the passage; ``passage_title`` numbers the title of its document (any
    numbers, equal ones for equal titles), -1 where it is unknown; ``passage_named`` if the question names that title.
    Entities (E): ``entity_passages`` counts the passages of the *whole* graph that mention it; ``entity_title`` is the
    number of the title that is its name, else -1; ``entity_named`` if the question names it, few passages mention it,
    and no document is called as it is.
    Facts (F): ``fact_cosine`` with the question; those that are not ``fact_seed`` get no restart mass, only a score.
    Edges, one row each, in any order: ``fact_entities`` (fact, entity) for every subject, object and key element;
    ``mentions`` (passage, entity); ``relations`` and ``same_as`` (entity, entity), undirected. Each has the shape
    (n, 2); repeated rows count once. ``passage_total`` is the number of passages in the whole graph, ``cosine_share``
    what the cosine has of a passage's similarity.
    """

    passage_ids: Sequence[str]
    passage_cosine: Floats
    passage_bm25: Floats
    passage_title: Indices
    passage_named: Flags
    entity_ids: Sequence[str]
    entity_passages: Indices
    entity_title: Indices
    entity_named: Flags
    fact_ids: Sequence[str]
    fact_cosine: Floats
    fact_seed: Flags
    fact_entities: Indices
    mentions: Indices
    relations: Indices
    same_as: Indices
    passage_total: int
    cosine_share: float = COSINE_SHARE


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """One score a passage (0 to 1), fact and entity, in the order of the neighbourhood; higher is better."""

    passages: Floats
    facts: Floats
    entities: Floats


def fuse(graph: Neighbourhood) -> Scores:
    """Score everything in ``graph``; an entity's score is its PageRank."""
    graph = _spread_evenly(graph)
    passages = len(graph.passage_ids)
    # Cosine and BM25 (as a share of the best BM25) in one number; NaN where the cosine is unknown.
    best = graph.passage_bm25.max(initial=0.0)
    bm25 = graph.passage_bm25 / best if best > 0 else graph.passage_bm25
    similarity: Floats = graph.cosine_share * graph.passage_cosine + (1 - graph.cosine_share) * bm25
    fact_weight = np.zeros(len(graph.fact_ids))
    fact_weight[graph.fact_seed] = softmax(graph.fact_cosine[graph.fact_seed], FACT_TEMPERATURE)
    starts = seeds(graph, similarity, fact_weight)
    alone = [part for part in (starts.named, starts.facts, starts.rare) if part.any()]
    mass = page_rank(transition(graph), np.stack([restart_vector(graph, starts), *alone], axis=1))
    return Scores(
        passages=_passage_scores(graph, mass[:passages], similarity),
        facts=_fact_scores(graph, mass[passages:, 0]),
        entities=mass[passages:, 0],
    )


def _spread_evenly(graph: Neighbourhood) -> Neighbourhood:
    """``graph`` with cosines in a scale of which the temperatures are: embedding models differ in how far theirs lie
    apart, and so do questions."""
    known = graph.passage_cosine[~np.isnan(graph.passage_cosine)]
    if known.size < 2:
        return graph
    scale = SPREAD / max(float(np.sort(known)[-PASSAGE_SEEDS:].std()), LEAST_SPREAD)
    return replace(graph, passage_cosine=graph.passage_cosine * scale, fact_cosine=graph.fact_cosine * scale)


def best_first(scores: Floats, ids: Sequence[str]) -> list[int]:
    """Positions by descending score; equal scores stand in the order of their ids."""
    falling = (-scores).tolist()
    return sorted(range(len(ids)), key=lambda position: (falling[position], ids[position]))


def softmax(scores: Floats, temperature: float) -> Floats:
    """``exp(score / temperature)``, scaled to sum 1; nothing for nothing."""
    if scores.size == 0:
        return np.zeros(0)
    powers = np.exp((scores - scores.max()) / temperature)
    weights: Floats = powers / powers.sum()
    return weights


@dataclass(frozen=True, slots=True, eq=False)
class Seeds:
    """Where the walk may start, by kind of seed: over passages then entities; each sums to 1, or to 0 without seeds."""

    passages: Floats
    named: Floats
    facts: Floats
    rare: Floats


def seeds(graph: Neighbourhood, similarity: Floats, fact_weight: Floats) -> Seeds:
    """The seeds of ``graph``: passages by ``similarity`` (P,), facts by ``fact_weight`` (F,)."""
    size, offset = len(graph.passage_ids) + len(graph.entity_ids), len(graph.passage_ids)
    # A softmax over the passages that are most like the question.
    known = np.flatnonzero(~np.isnan(similarity))
    order = best_first(similarity[known], [graph.passage_ids[position] for position in known.tolist()])
    best, passages = known[order[:PASSAGE_SEEDS]], np.zeros(size)
    passages[best] = softmax(similarity[best], PASSAGE_TEMPERATURE)
    # Equal mass for each title that the question names; within it, a softmax over its passages.
    titles, named = np.unique(graph.passage_title[graph.passage_named]), np.zeros(size)
    worst = np.nanmin(similarity, initial=0.0)
    for title in titles:
        members = np.flatnonzero(graph.passage_named & (graph.passage_title == title))
        weights = softmax(np.nan_to_num(similarity[members], nan=worst), PASSAGE_TEMPERATURE)
        named[members] = weights / len(titles)
    # The rare entities that the question names; the rarest get most.
    rarity, rare = graph.entity_named / np.maximum(graph.entity_passages, 1), np.zeros(size)
    rare[offset:] = rarity / rarity.sum() if rarity.any() else 0
    return Seeds(passages, named, _on_entities(graph, fact_weight), rare)


def restart_vector(graph: Neighbourhood, starts: Seeds) -> Floats:
    """Where the walk from all seeds starts, over passages then entities; sums to 1, or to 0 if there is no seed."""
    fact_share = fact_share_of(graph)
    parts = ((1 - fact_share - NAMED_SHARE, starts.passages), (NAMED_SHARE, starts.named), (fact_share, starts.facts))
    # A kind of seed that is missing leaves its share to the passage seeds.
    missing = sum(share for share, part in parts if not part.any())
    restart: Floats = sum((share * part for share, part in parts), np.zeros(len(starts.passages)))
    if missing and starts.passages.any():
        restart = restart + missing * starts.passages
    total = restart.sum()
    restart = restart / total if total > 0 else restart
    if starts.rare.any():
        restart = (1 - RARE_NAME_SHARE) * restart + RARE_NAME_SHARE * starts.rare
    return restart / restart.sum() if restart.any() else restart


def fact_share_of(graph: Neighbourhood) -> float:
    """The restart's share for facts: all of ``FACT_SHARE`` if the best fact is as near as the best passage, else less.

    Where few facts were extracted the nearest one is often about something else; then its cosine is below the best
    passage's, and the share falls as that passage's weight would (study: without this, 2 to 6 points are lost).
    """
    known = graph.passage_cosine[~np.isnan(graph.passage_cosine)]
    seeds = graph.fact_cosine[graph.fact_seed]
    if seeds.size == 0 or known.size == 0:
        return FACT_SHARE
    behind = min(0.0, float(seeds.max() - known.max()))
    return FACT_SHARE * float(np.exp(behind / PASSAGE_TEMPERATURE))


def _on_entities(graph: Neighbourhood, fact_weight: Floats) -> Floats:
    """Each seed fact's weight, shared by its entities, less for entities that many passages mention."""
    part = np.zeros(len(graph.passage_ids) + len(graph.entity_ids))
    facts, entities = _unique_rows(graph.fact_entities).T
    if facts.size == 0:
        return part
    share = fact_weight[facts] / np.bincount(facts, minlength=len(fact_weight))[facts]
    mass = _sums(entities, share, len(graph.entity_ids)) / np.maximum(graph.entity_passages, 1) ** HUB_EXPONENT
    if mass.any():
        part[len(graph.passage_ids) :] = mass / mass.sum()
    return part


def transition(graph: Neighbourhood) -> csr_array:
    """The walk's matrix, transposed: column j says where the mass of node j goes. An isolated node's column is 0.

    A mention weighs its entity's inverse document frequency, so that what few passages share leads to few passages. A
    passage that names the titles of other documents gives them ``TITLE_SHARE`` of its mass directly.
    """
    from scipy.sparse import csr_array  # a fifth of the start of every command: most do not search

    offset = len(graph.passage_ids)
    size = offset + len(graph.entity_ids)
    passages, entities = _unique_rows(graph.mentions).T
    rarity = np.log1p(graph.passage_total / np.maximum(graph.entity_passages, 1))
    between: list[Indices] = []
    for edges in (graph.relations, graph.same_as):  # each pair once, the smaller position first; no loops
        ordered = np.sort(edges.reshape(-1, 2), axis=1)
        between.append(_unique_rows(ordered[ordered[:, 0] < ordered[:, 1]]) + offset)
    heads = np.concatenate([passages, *(edges[:, 0] for edges in between)])
    tails = np.concatenate([entities + offset, *(edges[:, 1] for edges in between)])
    weights = np.concatenate([rarity[entities], *(np.ones(len(edges)) for edges in between)])
    rows, columns = np.concatenate([heads, tails]), np.concatenate([tails, heads])
    both_ways = np.concatenate([weights, weights])
    shares = both_ways / _sums(columns, both_ways, size)[columns]
    sources, targets, strengths = _title_links(graph, rarity)
    out = _sums(sources, strengths, size)
    given = TITLE_SHARE * (out > 0)
    shares = np.concatenate([shares * (1 - given[columns]), strengths * given[sources] / out[sources]])
    places = np.concatenate([rows, targets]), np.concatenate([columns, sources])
    return csr_array((shares, places), shape=(size, size))


def _title_links(graph: Neighbourhood, rarity: Floats) -> tuple[Indices, Indices, Floats]:
    """Passages, the passages of documents whose titles they name, and how rare that name is in the graph."""
    by_title: dict[int, list[int]] = {}
    for position, title in enumerate(graph.passage_title.tolist()):
        by_title.setdefault(title, []).append(position)
    mentions = _unique_rows(graph.mentions)
    mentions = mentions[graph.entity_title[mentions[:, 1]] >= 0]
    own = graph.passage_title[mentions[:, 0]].tolist()
    titles = graph.entity_title[mentions[:, 1]].tolist()
    links = [
        (source, target, entity)
        for (source, entity), title, other in zip(mentions.tolist(), titles, own, strict=True)
        for target in by_title.get(title, ())
        if title != other
    ]
    sources, targets, entities = np.array(links, np.int64).reshape(-1, 3).T
    return sources, targets, rarity[entities]


def page_rank(walk: csr_array, restart: Floats) -> Floats:
    """Where the mass of each column of ``restart`` (nodes, n) is after the walk. A column keeps its sum, because an
    isolated node's mass goes back to the start."""
    isolated = np.asarray(walk.sum(axis=0)).ravel() == 0
    mass = restart
    for _ in range(ITERATIONS):
        stranded = mass[isolated].sum(axis=0)
        mass = (1 - DAMPING + DAMPING * stranded) * restart + DAMPING * (walk @ mass)
    return mass


def _passage_scores(graph: Neighbourhood, mass: Floats, similarity: Floats) -> Floats:
    """The log of each walk's PageRank and the similarity, each scaled to 0..1, weighted; the first column of ``mass``
    is the walk from all seeds. An unknown similarity counts as the lowest known one."""
    if not mass[:, 0].any():
        return np.zeros(len(mass))
    known = ~np.isnan(similarity)
    filled = np.where(known, similarity, similarity[known].min()) if known.any() else np.zeros(len(mass))
    together, *alone = (_log_share(column) for column in mass.T if column.any())
    scores = together + SIMILARITY_WEIGHT * _scaled(filled)
    if alone:
        scores = scores + ALONE_WEIGHT * np.mean(alone, axis=0)
    # Less for a passage of a title that a better one has: who asks about several things wants each of them.
    again = np.zeros(len(scores), np.bool_)
    seen: set[int] = {-1}
    titles = graph.passage_title.tolist()
    for position in best_first(scores, graph.passage_ids):
        title = titles[position]
        again[position] = title in seen and title >= 0
        seen.add(title)
    scores = scores - AGAIN * again
    return np.maximum(scores, 0) / (1 + SIMILARITY_WEIGHT + ALONE_WEIGHT * bool(alone))


def _fact_scores(graph: Neighbourhood, entity_mass: Floats) -> Floats:
    """The cosine and the log of the entities' mass, half and half: so that the second hop's facts come up too."""
    facts, entities = _unique_rows(graph.fact_entities).T
    mass = _sums(facts, entity_mass[entities], len(graph.fact_ids))
    if not mass.any():
        return np.zeros(len(mass))
    scores: Floats = (_scaled(graph.fact_cosine) + _log_share(mass)) / 2
    return scores


def _log_share(mass: Floats) -> Floats:
    """The log of each share of the greatest mass, on a scale from 0 (``LOWEST_SHARE`` or less) to 1."""
    logs: Floats = 1 - np.log(np.maximum(mass / mass.max(), LOWEST_SHARE)) / np.log(LOWEST_SHARE)
    return logs


def _sums(positions: Indices, weights: Floats, size: int) -> Floats:
    """The sum of ``weights`` at each position."""
    return np.bincount(positions, weights=weights, minlength=size).astype(np.float64)


def _scaled(values: Floats) -> Floats:
    low, high = values.min(), values.max()
    scaled: Floats = (values - low) / (high - low) if high > low else np.zeros(len(values))
    return scaled


def _unique_rows(edges: Indices) -> Indices:
    """Each row once, in order; no number is negative."""
    first, second = edges.reshape(-1, 2).T
    width = second.max(initial=0) + 1
    numbers = np.sort(first * width + second)  # many times as fast as ``np.unique`` of rows
    return np.stack(np.divmod(numbers[np.diff(numbers, prepend=-1) > 0], width), axis=1)
