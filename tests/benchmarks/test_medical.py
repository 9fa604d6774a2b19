"""One long text: time, throughput and memory of an ingest by rules."""

from collections.abc import Callable

from data_sets import Place
from graphs import MODEL
from measure import MEMORY_LIMIT
from scale_graphs import Grown, ingest_alone
from tables import Section


def test_medical(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("medical", "Medical: one text of 1 MB from Python, local extractor")
    corpus, home = place.data.file("medical/corpus.json"), place.folder / "medical-alone"
    spent = ingest_alone(home, place.jars, {"paths": str(corpus), "extractor": "local"}, embedder=MODEL)
    Grown(home, place.jars, spent).stop()
    characters = sum(len(each["context"]) for each in place.data.read("medical/corpus.json"))
    found.add("ingest, the server up", spent.seconds, "s")
    found.add("of which embedding, with loading the model", spent.clock["embedding"], "s")
    found.add("throughput of text, embedding included", characters / 1000 / spent.seconds, "kB/s")
    found.add("peak memory of the Python process", spent.peak_megabytes, "MB", at_most=MEMORY_LIMIT)
