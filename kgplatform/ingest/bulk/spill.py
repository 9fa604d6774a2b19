"""The writes of an ingest, on disk in place of the database.

spill.put([("ingest/entities", {"rows": […]}), ("ingest/mentions", {"rows": […]})])      # as ``Writer.put``
"""

from __future__ import annotations

from collections.abc import Sequence

from kgplatform.ingest.write import Statement
from kgplatform.work.shards import Shards

_KEYS = {
    "ingest/documents": "id",
    "ingest/metadata": "id",
    "ingest/passages": "id",
    "ingest/next_passages": "id",
    "ingest/entities": "id",
    "ingest/key_elements": "id",
    "ingest/mentions": "element",
    "ingest/triples": "id",
    "ingest/attributes": "id",
    "ingest/atomic_facts": "id",
    "ingest/proposed": "id",
    "ingest/passage_states": "id",
}
"""The statements that write into an empty graph, and the id by which their rows are parted."""
VALUES = "values"
"""The rows of attributes once more, by the node of the value: several facts may give the same one."""


class Spill:
    """Takes statements as a ``Writer`` does. ``shards`` has their rows, by the names of the statements."""

    def __init__(self, shards: Shards) -> None:
        self.shards = shards

    def put(self, statements: Sequence[Statement]) -> None:
        """Keep the rows of ``statements``."""
        for name, parameters in statements:
            self.shards.add(name, parameters["rows"], _KEYS[name])
            if name == "ingest/attributes":
                self.shards.add(VALUES, parameters["rows"], "attributeId")
