"""What an evaluation costs: the journal of what all runs into one folder spent, the table of prices, and what a setup
spends on a question.

    currency: USD
    as_of: 2026-04-02
    models:
      gpt-4.1-mini: {input: 0.40, output: 1.60}    # per million tokens

A model that is not in the table has no amount: none is guessed from a name that is like its own.
"""

from __future__ import annotations

import datetime
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from kgplatform.errors import InputError
from kgplatform.evaluate.journal import Journal, read_bytes
from kgplatform.evaluate.terms import Results, Scored, Setup, Timing
from kgplatform.models.chat import Ledger
from kgplatform.records import Usage


def worth(ledger: Ledger) -> dict[str, Usage]:
    """What a ledger counted, by stage, cached replies at what they once cost."""
    return {stage: replace(each, cached_calls=0) for stage, each in ledger.worth_by_stage().items()}


def added(first: Mapping[str, Usage], second: Mapping[str, Usage]) -> dict[str, Usage]:
    """Two counts by stage as one."""
    return {stage: first.get(stage, Usage()) + second.get(stage, Usage()) for stage in sorted({*first, *second})}


def less(after: Mapping[str, Usage], before: Mapping[str, Usage]) -> dict[str, Usage]:
    """What a count by stage grew by; stages that did not grow are left out."""
    grown = {stage: spent - before.get(stage, Usage()) for stage, spent in after.items()}
    return {stage: spent for stage, spent in grown.items() if spent != Usage()}


def as_lists(spent: Mapping[str, Usage]) -> dict[str, list[int]]:
    """A count by stage as JSON has it."""
    return {stage: [each.calls, each.input_tokens, each.output_tokens] for stage, each in spent.items()}


def from_lists(record: Mapping[str, Sequence[int]]) -> dict[str, Usage]:
    """The inverse of ``as_lists``."""
    return {stage: Usage(*each) for stage, each in record.items()}


class Costs(Journal):
    """The lines of ``file`` about ``model``, whose prices are no other's, and those that are added. Close it after use.

    ``construction``: by graph and stage. Raises ``InputError`` where the file cannot be opened.
    """

    def __init__(self, file: Path, model: str) -> None:
        super().__init__(file, "cost")
        self.construction: dict[str, dict[str, Usage]] = {}
        self._model = model
        self._rating: dict[tuple[str, str], Usage] = {}
        self.take_in(self._count)

    def built(self, graph: str, spent: Mapping[str, Usage]) -> None:
        """Add what was spent on building ``graph``, by stage. Raises ``KgError`` where it cannot be written."""
        self._spent({"graph": graph, "model": self._model}, spent)

    def rated(self, rater: str, model: str, spent: Mapping[str, Usage]) -> None:
        """Add what ``model`` spent as ``rater``. Raises ``KgError`` where it cannot be written."""
        self._spent({"rater": rater, "model": model}, spent)

    def of_rater(self, rater: str, model: str) -> Usage:
        """What ``model`` has spent as ``rater``."""
        return self._rating.get((rater, model), Usage())

    def _spent(self, what: Mapping[str, str], spent: Mapping[str, Usage]) -> None:
        if spent:
            record = {**what, "spent": as_lists(spent)}
            self.add(record)
            self._count(record)

    def _count(self, record: Mapping[str, Any]) -> None:
        spent, model = from_lists(record["spent"]), record["model"]
        if "graph" not in record:
            self._rating[record["rater"], model] = sum(spent.values(), self.of_rater(record["rater"], model))
        elif model == self._model:
            self.construction[record["graph"]] = added(self.construction.get(record["graph"], {}), spent)


_SHAPE = "Write it as currency: USD, as_of: 2026-04-02, models: {NAME: {input: 0.40, output: 1.60}}."


class _Price(BaseModel):
    model_config = ConfigDict(extra="forbid")

    input: Annotated[float, Field(ge=0, allow_inf_nan=False)]
    output: Annotated[float, Field(ge=0, allow_inf_nan=False)]


class Prices(BaseModel):
    """Prices for a million tokens of input and of output, by model. ``as_of``: the day for which they hold."""

    model_config = ConfigDict(extra="forbid")

    currency: Annotated[str, Field(min_length=1, max_length=8)]
    as_of: datetime.date
    models: dict[str, _Price]

    def cost(self, spent: Usage, model: str) -> float | None:
        """The amount in ``currency``; None for a model that the table does not have."""
        if model not in self.models:
            return None
        price = self.models[model]
        return (spent.input_tokens * price.input + spent.output_tokens * price.output) / 1_000_000


def load_prices(file: Path | None = None) -> Prices:
    """The table in ``file``, else the one that the package ships. Raises ``InputError`` for one that cannot be used."""
    shipped = resources.files("kgplatform") / "evaluate" / "prices.yaml"
    text = shipped.read_bytes() if file is None else read_bytes(file, "The prices in")
    try:
        return Prices.model_validate(yaml.safe_load(text.decode("utf-8-sig")))
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        said = " ".join(str(error).split())
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False)[0]
            said = f"{'.'.join(map(str, first['loc'])) or 'it'}: {first['msg']}"
        raise InputError(f"{file} is not a table of prices: {said}. {_SHAPE}") from error


@dataclass(frozen=True, slots=True)
class PerQuestion:
    """What a setup spends on a question, on average over those that it answered.

    ``median``, ``p95``: seconds; None where nobody measured them. ``money``: None without a price.
    """

    calls: float
    input_tokens: float
    output_tokens: float
    median: float | None
    p95: float | None
    money: float | None

    @property
    def tokens(self) -> float:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


def per_question(results: Results, timing: Timing, prices: Prices | None = None) -> dict[str, PerQuestion | None]:
    """By the name of the setup, in order; None where it answered no question."""
    found: dict[str, PerQuestion | None] = {}
    for setup in (each.setup for each in results.setups):
        found[setup.name] = None
        answers = [answer for answer in results.answers if answer.setup == setup.name and answer.error is None]
        if answers:
            number, total = len(answers), sum((answer.total for answer in answers), Usage())
            measured = timing.seconds.get(setup.name, {})
            seconds = [measured[answer.question] for answer in answers if answer.question in measured]
            median, p95 = map(float, np.percentile(seconds, (50, 95))) if seconds else (None, None)
            cost = _money(setup, answers, results, prices)
            means = (total.calls / number, total.input_tokens / number, total.output_tokens / number)
            found[setup.name] = PerQuestion(*means, median, p95, None if cost is None else cost / number)
    return found


def _money(setup: Setup, answers: Iterable[Scored], results: Results, prices: Prices | None) -> float | None:
    """What all of it costs; None if the price of a model that worked at it is unknown."""
    by_model: dict[str, Usage] = defaultdict(Usage)
    for answer in answers:
        for stage, spent in answer.spent.items():
            by_model[model_of(results, stage, setup)] += spent
    costs = [prices.cost(spent, who) for who, spent in sorted(by_model.items())] if prices else [None]
    return None if None in costs else sum(filter(None, costs))


def model_of(results: Results, stage: str, setup: Setup | None = None) -> str:
    """The model whose price the tokens of ``stage`` have: of all but ``embed`` a language model. Without a ``setup``,
    of building a graph. LongAgent's members and their merging may have a model of their own, ``member_model``."""
    if stage == "embed":
        return results.embedder
    member = setup.options.get("member_model") if setup is not None and stage in ("member", "merge") else None
    return str(member or results.model)
