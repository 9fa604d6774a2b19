"""What the command line says at the end of ``kgplatform evaluate``: the report in short."""

from __future__ import annotations

from pathlib import Path

from kgplatform.evaluate.costs import Prices
from kgplatform.evaluate.report import costs_table, pairs_table, remarks, scores_table, title_of
from kgplatform.evaluate.retrieval import RetrievalReport, by_route, explained, in_words
from kgplatform.evaluate.terms import Results, Timing, first_of
from kgplatform.interfaces.cli.show.terminal import console, print_json, safe, table
from kgplatform.text import counted

_SHOWN = 10
"""Lines of one sort; the report has the others."""
_FILES = ("report.md", "results.json", "timing.json")


def show_results(results: Results, timing: Timing, prices: Prices | None, out: Path) -> None:
    """Scores and costs, who is better, what must be known, and where all of it lies."""
    to = console()

    def say(line: str) -> None:
        to.print(safe(line), soft_wrap=True)

    asked = f"{counted(results.questions, 'question')} of {results.dataset}, {counted(len(results.setups), 'setup')}"
    skipped = f"; {counted(results.skipped, 'question')} skipped" if results.skipped else ""
    say(f"{asked}{skipped}.")
    table(to, *scores_table(results))
    to.print()
    table(to, *costs_table(results, timing, prices))
    for line in remarks(results, timing, prices):
        say(line)
    heads, rows = pairs_table(results, _SHOWN)
    if rows:
        say(f"\nWho is better by {title_of(results.metrics[0])}, the surest {_SHOWN} at most")
        table(to, heads, rows)
    to.print()
    for note in first_of(results.notes, _SHOWN):
        say(note)
    files = [name for name in _FILES if (out / name).is_file()] + sorted(path.name for path in out.glob("*.png"))
    folders = sorted(f"{path.name}/" for path in out.glob("*") if path.is_dir())
    say(f"In {out}: {', '.join([*files, *folders])}")


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
    out.print(safe(explained(report)), soft_wrap=True)
