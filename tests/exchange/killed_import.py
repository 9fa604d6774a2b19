"""The death of a process in the middle of an import."""

from pathlib import Path
from typing import Any

import pytest

from kgplatform.client import KnowledgeGraph
from kgplatform.exchange import importer


class KilledError(Exception):
    """Stands for the death of the process: nothing of ours catches it."""


def kill_import(graph: KnowledgeGraph, path: Path, *, parts: int, batch: int, **options: Any) -> None:
    """Import ``path`` until so many ``parts``, of at most ``batch`` elements, are written."""
    left = iter(range(parts))
    write_part = importer._write_part

    def killed(*given: Any) -> None:
        if next(left, None) is None:
            raise KilledError
        write_part(*given)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importer, "_BATCH", batch)
        patch.setattr(importer, "_write_part", killed)
        with pytest.raises(KilledError):
            graph.import_graph(path, **options)
