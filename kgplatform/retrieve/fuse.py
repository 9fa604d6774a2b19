"""Tempered personalised PageRank over the neighbourhood of a question's seeds: arrays in, scores out.

A question's seeds are the facts and passages nearest to it. Their neighbourhood is a small graph of passages and
entities; restart mass is put on the seeds with a sharp softmax, walks the edges, and what arrives ranks passages,
facts and entities. No database here: a statement in ``cypher/retrieve/`` fetches the neighbourhood.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Neighbourhood:
    """The graph around a question's seeds. Entities, passages and facts are known by their position in ``*_ids``.

    Passages (P): ``passage_cosine`` with the question, NaN where unknown; ``passage_bm25`` is Lucene's score, 0 where
    the full-text index did not return it; ``passage_named`` is True where the question names its document.
    Entities (E): ``entity_passages`` counts the passages of the *whole* graph that mention it; ``entity_named`` is
    True where the question names it.
    Facts (F), seeds only: ``fact_cosine`` with the question; ``fact_subject`` and ``fact_object`` are positions of
    entities, -1 where there is none (an attribute has no object).
    Edges, one row each and in any order: ``mentions`` (M, 2) passage, entity; ``relations`` (R, 2) and ``same_as``
    (S, 2) entity, entity, undirected. ``passage_total`` is the number of passages in the whole graph.
    """

    passage_ids: tuple[str, ...]
    passage_cosine: Floats
    passage_bm25: Floats
    passage_named: Flags
    entity_ids: tuple[str, ...]
    entity_passages: Indices
    entity_named: Flags
    fact_ids: tuple[str, ...]
    fact_cosine: Floats
    fact_subject: Indices
    fact_object: Indices
    mentions: Indices
    relations: Indices
    same_as: Indices
    passage_total: int


@dataclass(frozen=True, slots=True, eq=False)
class Scores:
    """One score a passage, fact and entity, in the order of the neighbourhood; higher is better, all at least 0."""

    passages: Floats
    facts: Floats
    entities: Floats
