"""Another embedding model, with as many numbers as that of most tests.

A model with more or fewer has its vector indexes made anew, whereupon Neo4j plans every statement again: ten seconds.
"""

from collections.abc import Sequence

from kgplatform.models.embed import HashEmbedder, Vectors


class OtherEmbedder(HashEmbedder):
    """Says the same by other vectors."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "another:64"

    def embed(self, texts: Sequence[str]) -> Vectors:
        """See ``Embedder.embed``."""
        return super().embed(texts)[:, ::-1].copy()
