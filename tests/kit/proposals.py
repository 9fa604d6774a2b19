"""How a schema grows by proposals that come all at once."""

from collections.abc import Iterable

from kgplatform.extract.schema import Expansion, Schema
from kgplatform.ingest.schema_expansion import Growth
from kgplatform.records import Proposal


def accepted(
    proposals: Iterable[tuple[str, str, Proposal]], schema: Schema, threshold: float, min_support: int
) -> list[Expansion]:
    """The types to add to ``schema``, from ``(passage id, document id, proposal)``."""
    growth = Growth(schema, threshold, min_support)
    for passage, document, proposal in proposals:
        growth.add(passage, document, [proposal])
    return growth.expansions()
