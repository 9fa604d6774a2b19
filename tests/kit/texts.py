"""What the tests of the readers of whole texts share: a graph of texts without facts, and what a prompt shows of it."""

from pathlib import Path

from conftest import opened, wipe
from corpora import put

from kgplatform.neo4j.store import Store
from kgplatform.readers.window import cost
from kgplatform.search.evidence import Evidence
from kgplatform.testing import SentMessages


def ingest(store: Store, folder: Path, texts: dict[str, str], passage_tokens: int = 1200) -> Evidence:
    """An empty graph, filled with ``texts`` by file name."""
    wipe(store)
    kg = opened(store, folder / "home", passage_tokens=passage_tokens)
    kg.ingest(put(folder / "texts", texts), extractor="local")
    return Evidence(store, kg.embedder)


def sizes(calls: list[SentMessages]) -> list[int]:
    """The tokens of each prompt, by our count."""
    return [cost(each.messages) for each in calls]


def lines(count: int, about: str) -> str:
    """``count`` paragraphs of some thirty tokens."""
    return "\n\n".join(
        f"Note {n} on the {about}: on that day nothing was seen from the tower but rain, gulls, and the grey sea below."
        for n in range(count)
    )
