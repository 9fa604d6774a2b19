"""What the command line says at the end of ``kgplatform evaluate``: the report in short."""

from __future__ import annotations

from pathlib import Path

from kgplatform.evaluate.costs import Prices, per_question
from kgplatform.evaluate.report import NONE, better_of, in_seconds, interval, money, percent, title_of
from kgplatform.evaluate.retrieval import RetrievalReport, by_route, in_words
from kgplatform.evaluate.terms import Results, Timing
from kgplatform.interfaces.cli.show.terminal import console, print_json, safe, table
from kgplatform.text import counted, duration

_SHOWN = 10
"""Lines of one sort; the report has the others."""
_METRICS = 6
"""Metrics, the chief one first; so many have room in 80 columns."""
_FILES = ("report.md", "results.json", "timing.json")


def show_results(results: Results, timing: Timing, prices: Prices | None, out: Path) -> None:
    """Scores and costs, who is better, what must be known, and where all of it lies."""
    to = console()

    def say(line: str) -> None:
        to.print(safe(line), soft_wrap=True)

    asked = f"{counted(results.questions, 'question')} of {results.dataset}, {counted(len(results.setups), 'setup')}"
    skipped = f"; {counted(results.skipped, 'question')} skipped" if results.skipped else ""
    say(f"{asked}{skipped}.")
    table(to, *_costs(results, timing, prices))
    say(
        "Scores in percent with 95 % intervals; the rest is per question"
        f"{f'; amounts by prices of {prices.as_of}' if prices else ''}."
    )
    if prices and (lacking := prices.lacking(results.model)):
        say(lacking)
    if cached := [name for name, number in sorted(timing.cached.items()) if number]:
        say(f"Seconds are too short where replies came from the cache: {', '.join(cached)}.")
    if others := results.metrics[1:_METRICS]:
        rows = [[each.setup.name, *(percent(each.scores.get(metric)) for metric in others)] for each in results.setups]
        to.print()
        table(to, ["Setup", *others], rows)
        if len(results.metrics) > _METRICS:
            say(f"{counted(len(results.metrics) - _METRICS, 'more metric')} in the report.")
    for line in _pairs(results):
        say(line)
    to.print()
    for note in results.notes[:_SHOWN]:
        say(note)
    if len(results.notes) > _SHOWN:
        say(f"… and {counted(len(results.notes) - _SHOWN, 'more note')} in the report")
    files = [name for name in _FILES if (out / name).is_file()] + sorted(path.name for path in out.glob("*.png"))
    folders = sorted(f"{path.name}/" for path in out.glob("*") if path.is_dir())
    say(f"In {out}: {', '.join([*files, *folders])}")


def _costs(results: Results, timing: Timing, prices: Prices | None) -> tuple[list[str], list[list[str]]]:
    """The chief metric, and what a question costs."""
    chief = results.metrics[:1]
    costs = per_question(results, timing, prices)
    rows = []
    for setup in results.setups:
        cost = costs[setup.setup.name]
        spent = [f"{cost.calls:.1f}", f"{cost.tokens:,.0f}", in_seconds(cost)[0]] if cost else [NONE] * 3
        priced = [money(cost.money if cost else None)] if prices else []
        rows.append([setup.setup.name, *(interval(setup.scores.get(metric)) for metric in chief), *spent, *priced])
    heads = ["Setup", *map(title_of, chief), "Calls", "Tokens", "p50", *([prices.currency] if prices else [])]
    return heads, rows


def _pairs(results: Results) -> list[str]:
    """Who is better by the chief metric, the surest first."""
    chief = [pair for pair in results.pairs if pair.metric == results.metrics[0]]
    told = sorted(filter(better_of, chief), key=lambda pair: (pair.adjusted, pair.p, pair.first, pair.second))
    lines = [f"\nWho is better by {title_of(chief[0].metric)}"] if chief else []
    for pair in told[:_SHOWN]:
        better, sign = better_of(pair), 100 if pair.difference > 0 else -100
        worse = pair.second if better == pair.first else pair.first
        low, high = sorted((sign * pair.low, sign * pair.high))
        by = f"{sign * pair.difference:.1f} points ({low:.1f} to {high:.1f}; p {pair.adjusted:.2g}, adjusted)"
        lines.append(f"{better} is better than {worse} by {by}")
    if len(told) > _SHOWN:
        lines.append(f"… and {counted(len(told) - _SHOWN, 'more pair')} in the report")
    if alike := len(chief) - len(told):
        lines.append(f"No difference is shown for {counted(alike, 'other pair' if told else 'pair')}.")
    return lines


def show_retrieval(report: RetrievalReport, as_json: bool = False) -> None:
    """The tables for people, narrow enough for 80 columns; or the whole report as one JSON document."""
    if as_json:
        print_json(report)
        return
    out = console()
    for measured in report.measured:
        out.print(f"[bold]{safe(measured.dataset)}[/bold]: {safe(in_words(measured))}", soft_wrap=True)
        table(out, *by_route(report.cuts, measured.rows))
        for note in measured.notes:
            out.print(safe(note), soft_wrap=True)
        out.print()
    out.print(
        "In percent. R@k: of a question's supporting passages among the first k; all@k: questions with all of them "
        f"there. p50, p95: ms of a search, the question's embedding included. It took {duration(report.seconds)}.",
        soft_wrap=True,
    )
