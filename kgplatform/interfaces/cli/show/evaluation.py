"""What the command line says at the end of ``kgplatform evaluate``: the report in short, as wide as the terminal is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from kgplatform.evaluate.costs import PerQuestion, Prices, per_question
from kgplatform.evaluate.report import (
    NONE,
    RIGHT_FROM,
    better_of,
    in_seconds,
    interval,
    money,
    percent,
    right_where,
    title_of,
)
from kgplatform.evaluate.retrieval import Measured, RetrievalReport, in_words
from kgplatform.evaluate.terms import Pair, Results, Timing
from kgplatform.interfaces.cli.show.terminal import console, print_json, safe
from kgplatform.text import counted, duration

_SHOWN = 10
"""Lines of one sort; the report has the others."""
_NAMED = 5
_WIDE, _NARROW = 100, 72
"""Columns of a terminal from which the rarer figures have room, and below which only the first ones have."""
_GAP = 2
_LEAST_NAME = 14
"""Columns that are left for the names of setups."""
_FIGURE = 6
"""Columns of the longest figure, 100.0, and one more."""
_FILES = ("report.md", "results.json", "timing.json")


def show_results(results: Results, timing: Timing, prices: Prices | None, out: Path) -> None:
    """Scores and costs, who is better, who is right where, what must be known, and where all of it lies."""
    to = console()
    asked = f"{counted(results.questions, 'question')} of {safe(results.dataset)}"
    skipped = f"; {counted(results.skipped, 'question')} skipped" if results.skipped else ""
    to.print(f"{asked}, {counted(len(results.setups), 'setup')}{skipped}.", soft_wrap=True)
    _show_costs(to, results, timing, prices)
    _show_metrics(to, results)
    _show_pairs(to, results)
    _show_right_where(to, results)
    to.print()
    for note in results.notes[:_SHOWN]:
        to.print(safe(note), soft_wrap=True)
    if len(results.notes) > _SHOWN:
        to.print(f"… and {counted(len(results.notes) - _SHOWN, 'more note')} in the report")
    _show_files(to, out)


def _table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    """Names at the left, which fold where they are long, and figures, which do not."""
    table = Table(show_edge=False, pad_edge=False)
    for number, head in enumerate(heads):
        if number:
            table.add_column(safe(head), justify="right", no_wrap=True)
        else:
            table.add_column(safe(head), overflow="fold", min_width=_LEAST_NAME)
    for row in rows:
        table.add_row(*(safe(cell) for cell in row))
    return table


def _show_costs(to: Console, results: Results, timing: Timing, prices: Prices | None) -> None:
    """The chief metric, and what a question costs; on a narrow terminal what says most."""
    chief = results.metrics[0] if results.metrics else None
    costs = per_question(results, timing, prices)
    seconds = () if to.width < _NARROW else ("p50", "p95") if to.width >= _WIDE else ("p50",)
    priced = prices if to.width >= _NARROW else None
    heads = ["Setup", *([title_of(chief)] if chief else []), "Calls", "Tokens", *seconds]
    heads += [priced.currency] if priced else []
    rows = []
    for setup in results.setups:
        cost = costs[setup.setup.name]
        row = [setup.setup.name, *([interval(setup.scores.get(chief))] if chief else []), *_costs(cost, len(seconds))]
        rows.append([*row, money(cost.money if cost else None)] if priced else row)
    to.print(_table(heads, rows))
    money_told = f"; amounts by prices of {priced.as_of}" if priced else ""
    to.print(f"Scores in percent with 95 % intervals; the rest is per question{money_told}.", soft_wrap=True)
    if priced and (lacking := priced.lacking(results.model)):
        to.print(safe(lacking), soft_wrap=True)
    cached = [name for name, number in sorted(timing.cached.items()) if number]
    if cached:
        to.print(safe(f"Seconds are too short where replies came from the cache: {', '.join(cached)}."), soft_wrap=True)


def _costs(cost: PerQuestion | None, seconds: int) -> list[str]:
    """Calls, tokens, and as many of the ``seconds``."""
    if cost is None:
        return [NONE] * (2 + seconds)
    return [f"{cost.calls:.1f}", f"{cost.tokens:,.0f}", *in_seconds(cost)[:seconds]]


def _show_metrics(to: Console, results: Results) -> None:
    """The other metrics, by their names in the files, as many as fit."""
    others = [metric for metric in results.metrics[1:] if any(metric in setup.scores for setup in results.setups)]
    room = to.width - min(max(len(setup.setup.name) for setup in results.setups), 24)
    shown: list[str] = []
    for metric in others:
        room -= max(len(metric), _FIGURE) + _GAP + 1
        if room < 0:
            break
        shown.append(metric)
    if not shown:
        return
    rows = [[setup.setup.name, *(percent(setup.scores.get(metric)) for metric in shown)] for setup in results.setups]
    to.print()
    to.print(_table(["Setup", *shown], rows))
    if len(shown) < len(others):
        to.print(f"{counted(len(others) - len(shown), 'more metric')} in the report.")


def _show_pairs(to: Console, results: Results) -> None:
    chief = [pair for pair in results.pairs if pair.metric == results.metrics[0]]
    if not chief:
        return
    to.print(f"\n[bold]Who is better[/bold] by {safe(title_of(chief[0].metric))}")
    told = [pair for pair in chief if better_of(pair) is not None]
    for pair in sorted(told, key=lambda pair: (pair.adjusted, pair.p, pair.first, pair.second))[:_SHOWN]:
        to.print(f"{safe(_in_words(pair))}", soft_wrap=True)
    if len(told) > _SHOWN:
        to.print(f"… and {counted(len(told) - _SHOWN, 'more pair')} in the report")
    if len(told) < len(chief):
        to.print(f"No difference is shown for {counted(len(chief) - len(told), 'other pair' if told else 'pair')}.")


def _in_words(pair: Pair) -> str:
    better = better_of(pair)
    worse = pair.second if better == pair.first else pair.first
    sign = 100 if pair.difference > 0 else -100
    low, high = sorted((sign * pair.low, sign * pair.high))
    return (
        f"{better} is better than {worse} by {sign * pair.difference:.1f} points "
        f"({low:.1f} to {high:.1f}; p {pair.adjusted:.2g}, adjusted)"
    )


def _show_right_where(to: Console, results: Results) -> None:
    where = right_where(results)
    if where is None or len(where.setups) < 2 or not where.compared:
        return
    graded = f" (from {RIGHT_FROM:g} on)" if where.graded else ""
    to.print(f"\n[bold]Right where[/bold]{graded}")
    number = len(where.compared)
    to.print(
        f"All setups: {len(where.right_are(where.setups)):,} of {number:,}; none: {len(where.right_are(())):,}.",
        soft_wrap=True,
    )
    alone = [(setup, where.right_are([setup])) for setup in where.setups]
    for setup, questions in [each for each in alone if each[1]][:_SHOWN]:
        more = ", …" if len(questions) > _NAMED else ""
        named = f"{', '.join(questions[:_NAMED])}{more}"
        to.print(f"Only {safe(setup)}: {len(questions):,} ({safe(named)})", soft_wrap=True)


def _show_files(to: Console, out: Path) -> None:
    """What there is of it."""
    files = [name for name in _FILES if (out / name).is_file()]
    pictures = sorted(path.name for path in out.glob("*.png"))
    folders = sorted(f"{path.name}/" for path in out.glob("*") if path.is_dir())
    to.print(f"In {safe(str(out))}: {safe(', '.join([*files, *pictures, *folders]))}", soft_wrap=True)


def show_retrieval(report: RetrievalReport, as_json: bool = False) -> None:
    """The tables for people, narrow enough for 80 columns; or the whole report as one JSON document."""
    if as_json:
        print_json(report)
        return
    out = console()
    for measured in report.measured:
        out.print(f"[bold]{safe(measured.dataset)}[/bold]: {safe(in_words(measured))}", soft_wrap=True)
        out.print(_routes(report.cuts, measured))
        for note in measured.notes:
            out.print(safe(note), soft_wrap=True)
        out.print()
    out.print(
        "In percent. R@k: of a question's supporting passages among the first k; all@k: questions with all of them "
        f"there. p50, p95: ms of a search, the question's embedding included. It took {duration(report.seconds)}.",
        soft_wrap=True,
    )


def _routes(cuts: tuple[int, ...], measured: Measured) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("route", no_wrap=True)
    for name in (*(f"R@{k}" for k in cuts), *(f"all@{k}" for k in cuts), "p50", "p95"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in measured.rows:
        shares = [percent(each) for each in (*row.recall, *row.all_found)]
        table.add_row(safe(row.route), *shares, f"{row.p50:.0f}", f"{row.p95:.0f}")
    return table
