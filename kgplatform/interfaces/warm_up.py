"""A few searches that a server makes by itself before anybody asks.

The first search of a Neo4j that has just started takes four seconds, the thirtieth a tenth of one: statements must be
planned, Java's code compiled, and the embedding model loaded. So a server that runs for long searches for some titles.
"""

from __future__ import annotations

import gc
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle, islice

from kgplatform.client import KnowledgeGraph
from kgplatform.concurrency.stopping import Stop
from kgplatform.errors import KgError, StoppedError

_SEARCHES = 40
"""After which the next ones take about 1.3 times as long as after hundreds (docs/explanation/decisions.md)."""

_log = logging.getLogger(__name__)


@contextmanager
def warming_up(graph: KnowledgeGraph) -> Iterator[None]:
    """While this is open, search in a thread, unless that costs money; the end does not wait for it."""
    # What was imported stays: Python's collector of cycles need not look through it again, 50 ms each time.
    gc.collect()
    gc.freeze()
    stop = Stop()
    thread = threading.Thread(target=_search, args=(graph.within(stop),), name="warm-up")
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()
        gc.unfreeze()


def _search(graph: KnowledgeGraph) -> None:
    try:
        titles = [row["name"] for row in graph.look.highlights(_SEARCHES)["documents"]]
        if titles and graph.embedder.name.startswith(("local:", "hash:")):
            for title in islice(cycle(titles), _SEARCHES):
                graph.search(title)
    except StoppedError:
        return
    except KgError as error:  # whoever asks is told the same
        _log.warning("The graph could not be searched yet: %s", error)
