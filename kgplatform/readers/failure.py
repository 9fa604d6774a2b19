"""What a reader that fails had found: the error that ends its run carries it, so that whoever asked sees it.

with evidence_of_failure(question, run) as run:
    answer(question, run, options)              # a ModelError that leaves here has ``evidence``
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

from kgplatform.errors import KgError, ModelError
from kgplatform.readers.run import Run
from kgplatform.records import SearchResult, Step
from kgplatform.retrieve.evidence import Evidence

_MOST = 10
"""Passages; those of the last steps, which knew most."""


@contextmanager
def evidence_of_failure(question: str, run: Run) -> Iterator[Run]:
    """``run``, to be read with. A ``ModelError`` gets the passages that were found until then, else the nearest."""
    steps: list[Step] = []

    def tell(step: Step) -> None:
        steps.append(step)
        run.tell(step)

    try:
        yield replace(run, tell=tell)
    except ModelError as error:
        with suppress(KgError):  # the model that fails may be the one that searches
            error.evidence = _found(question, run.evidence, steps)
        raise


def _found(question: str, evidence: Evidence, steps: Sequence[Step]) -> SearchResult:
    ids = dict.fromkeys(passage for step in reversed(steps) for passage in step.passages)
    if not ids:
        return evidence.search(question, top_k=_MOST).result
    stored = evidence.stored(list(ids)[:_MOST]).passages
    return SearchResult(question, tuple(stored[id] for id in ids if id in stored), (), 0.0)
