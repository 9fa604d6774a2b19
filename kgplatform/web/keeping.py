"""Which uploads stay: those that documents come from. Also after a process that had some under way was killed."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from kgplatform.build.plan import holds
from kgplatform.client import KnowledgeGraph
from kgplatform.errors import StoreError
from kgplatform.web.uploads import Staged, Uploads

log = logging.getLogger("kgplatform.web")


def keep_used(graph: KnowledgeGraph, uploads: Uploads, staged: Staged, is_sure: Callable[[Path], bool]) -> None:
    """Put an earlier upload back where nothing came of the later one: it could not be read, or not all was done.

    Those that ``is_sure`` of are not looked up in the graph.
    """
    try:
        uploads.keep(staged, lambda file: is_sure(file) or holds(graph.store, file))
    except StoreError as error:  # the later ones stay, and the next upload of their names takes their place
        log.warning("earlier uploads were not put back: %s", type(error).__name__)


def forget_unused(graph: KnowledgeGraph, uploads: Uploads, sources: Sequence[str]) -> None:
    """Delete those of the uploads at ``sources`` that no document comes from."""
    try:
        uploads.forget(sources, {info.source for info in graph.documents()})
    except StoreError as error:  # they stay, and the next upload of their names takes their place
        log.warning("uploads were not looked through: %s", type(error).__name__)


def end_abandoned(graph: KnowledgeGraph, uploads: Uploads) -> None:
    """End the uploads of processes that were killed, as these would have: nothing of what was not ingested is left."""
    try:
        for staged in uploads.abandoned():
            keep_used(graph, uploads, staged, lambda file: False)
            forget_unused(graph, uploads, [(uploads.folder / name).as_uri() for name in staged.names])
    except OSError as error:  # nothing that is served now needs it
        log.warning("uploads of an earlier server are left in %s: %s", uploads.folder, error.strerror or error)
