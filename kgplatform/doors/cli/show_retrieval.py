"""What the command line says of ``kgplatform evaluate --retrieval-only``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.table import Table

from kgplatform.doors.cli.show.terminal import console, print_json, safe
from kgplatform.evaluate.report import percent
from kgplatform.evaluate.retrieval import in_words
from kgplatform.text import duration

if TYPE_CHECKING:
    from kgplatform.evaluate.retrieval import Measured, RetrievalReport


def show_retrieval(report: RetrievalReport, as_json: bool = False) -> None:
    """The tables for people, narrow enough for 80 columns; or the whole report as one JSON document."""
    if as_json:
        print_json(report)
        return
    out = console()
    for measured in report.measured:
        out.print(f"[bold]{safe(measured.dataset)}[/bold]: {safe(in_words(measured))}", soft_wrap=True)
        out.print(_table(report.cuts, measured))
        for note in measured.notes:
            out.print(safe(note), soft_wrap=True)
        out.print()
    out.print(
        "In percent. R@k: of a question's supporting passages among the first k; all@k: questions with all of them "
        f"there. p50, p95: ms of a search, the question's embedding included. It took {duration(report.seconds)}.",
        soft_wrap=True,
    )


def _table(cuts: tuple[int, ...], measured: Measured) -> Table:
    table = Table(box=None, padding=(0, 1, 0, 0))
    table.add_column("route", no_wrap=True)
    for name in (*(f"R@{k}" for k in cuts), *(f"all@{k}" for k in cuts), "p50", "p95"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in measured.rows:
        shares = [percent(each) for each in (*row.recall, *row.all_found)]
        table.add_row(safe(row.route), *shares, f"{row.p50:.0f}", f"{row.p95:.0f}")
    return table
