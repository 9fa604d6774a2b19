"""What building graphs and rating answers cost, over all runs into one folder: a line as soon as it is known.

A run that finds everything built and rated spends nothing on it, and still says what it once cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple
from pathlib import Path
from typing import Any

from kgplatform.evaluate.asking import added
from kgplatform.evaluate.journal import Journal
from kgplatform.evaluate.results import Spent


class Costs:
    """The lines of ``file`` about ``model``, whose prices are no other's, and those that are added. Close it after use.

    ``construction``: by graph and stage; ``faults``: a sentence for each line that cannot be read.
    Raises ``InputError`` where the file cannot be opened.
    """

    def __init__(self, file: Path, model: str) -> None:
        self.construction: dict[str, dict[str, Spent]] = {}
        self._model = model
        self._rating: dict[tuple[str, str], Spent] = {}
        self._journal = Journal(file, "cost")
        self.faults = self._journal.faults
        for record in self._journal.records:
            try:
                self._count(record)
            except (KeyError, TypeError, AttributeError):
                self.faults += (f"{file}: a line is no cost; it is left out.",)

    def __enter__(self) -> Costs:
        return self

    def __exit__(self, *_: object) -> None:
        self._journal.close()

    def built(self, graph: str, spent: Mapping[str, Spent]) -> None:
        """Add what was spent on building ``graph``, by stage. Raises ``KgError`` where it cannot be written."""
        if spent:
            self._journal.add({"graph": graph, "model": self._model, "spent": _plain(spent)})
            self._count_built(graph, self._model, spent)

    def rated(self, rater: str, model: str, spent: Mapping[str, Spent]) -> None:
        """Add what ``model`` spent as ``rater``. Raises ``KgError`` where it cannot be written."""
        if spent:
            self._journal.add({"rater": rater, "model": model, "spent": _plain(spent)})
            self._count_rated(rater, model, spent)

    def of_rater(self, rater: str, model: str) -> Spent:
        """What ``model`` has spent as ``rater``."""
        return self._rating.get((rater, model), Spent())

    def _count(self, record: Mapping[str, Any]) -> None:
        spent = {stage: Spent(*each) for stage, each in record["spent"].items()}
        if "graph" in record:
            self._count_built(record["graph"], record["model"], spent)
        else:
            self._count_rated(record["rater"], record["model"], spent)

    def _count_built(self, graph: str, model: str, spent: Mapping[str, Spent]) -> None:
        if model == self._model:
            self.construction[graph] = added(self.construction.get(graph, {}), spent)

    def _count_rated(self, rater: str, model: str, spent: Mapping[str, Spent]) -> None:
        self._rating[rater, model] = sum(spent.values(), self.of_rater(rater, model))


def _plain(spent: Mapping[str, Spent]) -> dict[str, list[int]]:
    return {stage: list(astuple(each)) for stage, each in spent.items()}
