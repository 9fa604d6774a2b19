"""What the command line prints: for people on the terminal, or one JSON document for programs."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from kgplatform.build.report import Estimate, IngestReport
from kgplatform.client import DocumentInfo, GraphSchema, Stats
from kgplatform.records import Answer, Citation, SearchResult, SkippedFile
from kgplatform.settings import settings_table
from kgplatform.store import Table as Rows

_QUOTE = 400
_SHOWN = 20


def console() -> Console:
    """Where people read. Long lines wrap at the terminal's width, or at 100 where there is none."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else 100)


def note(line: str) -> None:
    """One line on the error stream, which carries progress and remarks."""
    print(line, file=sys.stderr, flush=True)


def print_json(value: object) -> None:
    """The one JSON document of ``--json``."""
    print(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return _plain(asdict(value))
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    return value


# ------------------------------------------------------------------------------------------------------------ progress


class ProgressLines:
    """Progress of long work on the error stream: a bar on a terminal, else a line every few seconds."""

    _EVERY = 5.0

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar: Progress | None = None
        self._tasks: dict[str, Any] = {}
        self._started: dict[str, float] = {}
        self._said: dict[str, float] = {}

    def __enter__(self) -> ProgressLines:
        if self._console.is_terminal:
            self._bar = Progress(
                SpinnerColumn(),
                TextColumn("{task.description}"),
                BarColumn(),
                MofNCompleteColumn(),
                TextColumn("{task.fields[rate]}"),
                TimeRemainingColumn(),
                console=self._console,
                transient=True,
            )
            self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()

    def __call__(self, stage: str, done: int, total: int) -> None:
        """``done`` of ``total`` of ``stage``."""
        now = time.monotonic()
        started = self._started.setdefault(stage, now)
        rate = f"{done / (now - started):,.0f}/s" if now > started and done else ""
        if self._bar is not None:
            if stage not in self._tasks:
                self._tasks[stage] = self._bar.add_task(stage, total=total, rate=rate)
            self._bar.update(self._tasks[stage], completed=done, total=total, rate=rate)
        elif total and (now - self._said.get(stage, started) >= self._EVERY or (done == total and stage in self._said)):
            self._said[stage] = now
            left = (now - started) * (total - done) / done if done else 0.0
            note(f"{stage}: {done:,} of {total:,}  {rate}  {left:,.0f} s left")


# ------------------------------------------------------------------------------------------------------------- ingest


def show_ingest(report: IngestReport) -> None:
    """The end of an ingest: what came in, what the schema did, what it cost, and what is left to do."""
    out = console()
    _show_skipped(out, report.skipped)
    out.print(
        f"Documents: {report.added:,} new, {report.changed:,} changed, {report.unchanged:,} unchanged, "
        f"{report.removed:,} gone, {len(report.skipped):,} reported.  "
        f"Chunks: {report.extracted:,} read now, {report.chunks:,} in all."
    )
    out.print(
        f"Schema {escape(report.schema)} ({report.mode}): {report.kept:,} kept, of which {report.mapped:,} mapped and "
        f"{report.off_schema:,} off schema and marked; {report.dropped:,} dropped."
    )
    stated = report.statements_found + report.statements_not_found
    out.print(
        f"Statements: {stated:,}, of which {report.statements_not_found:,} are not in the text word for word and are "
        f"marked; {report.duplicates:,} said twice in one chunk."
    )
    for kind, count in sorted(report.malformed.items()):
        out.print(f"Malformed and left out: {count:,} × {escape(kind)}")
    for each in report.expansions:
        out.print(
            f"Schema grew: {each.kind} {escape(each.name)} (confidence {each.confidence:.2f}, {each.count} documents)"
        )
    _show_costs(out, report)
    for line in report.notes[:_SHOWN]:
        out.print(escape(line))
    if len(report.notes) > _SHOWN:
        out.print(f"… and {len(report.notes) - _SHOWN:,} more notes (--json lists all)")
    _show_unfinished(out, report)


def _show_skipped(out: Console, skipped: Sequence[SkippedFile]) -> None:
    for each in skipped[:_SHOWN]:
        out.print(f"Not ingested: {escape(each.path)}: {escape(each.reason)}", soft_wrap=True)
    if len(skipped) > _SHOWN:
        out.print(f"… and {len(skipped) - _SHOWN:,} more (--json lists all)")


def _show_costs(out: Console, report: IngestReport) -> None:
    for stage, usage in sorted(report.usage.items()):
        out.print(
            f"Model, {stage}: {usage.calls:,} calls, {usage.input_tokens:,} tokens in, {usage.output_tokens:,} out; "
            f"{usage.cached_calls:,} answers from the cache."
        )
    total = report.seconds.get("total", 0.0)
    stages = ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in report.seconds.items() if stage != "total")
    rate = report.characters / total / 1e6 if total else 0.0
    out.print(f"Time: {total:.1f} s ({stages}); {rate:.2f} MB of text a second.")


def _show_unfinished(out: Console, report: IngestReport) -> None:
    for each in report.failed[:_SHOWN]:
        out.print(f"Failed: {escape(each.name)}: {escape(each.reason)}", soft_wrap=True)
    if report.failed:
        out.print(f"{len(report.failed):,} chunks failed. Run the same command again to try them once more.")
    if report.stopped:
        out.print(escape(report.stopped))


def show_estimate(estimate: Estimate) -> None:
    """What an ingest would cost."""
    out = console()
    _show_skipped(out, estimate.skipped)
    out.print(
        f"{estimate.documents:,} documents in {estimate.chunks:,} chunks, {estimate.pending_chunks:,} of them to read."
    )
    out.print(
        f"That is {estimate.calls:,} language-model calls, about {estimate.input_tokens:,} tokens in and "
        f"{estimate.output_tokens:,} out. Nothing was spent."
    )


# ------------------------------------------------------------------------------------------------------------- search


def show_search(result: SearchResult) -> None:
    """Facts and passages, best first, each with where it stands."""
    out = console()
    if not result.passages and not result.facts:
        out.print("Nothing was found.")
        return
    if result.facts:
        out.print("[bold]Facts[/bold]")
    for number, fact in enumerate(result.facts, 1):
        place = f"  ({_place(fact.citations[0])})" if fact.citations else ""
        out.print(f"{number:3}. {escape(fact.text)}{escape(place)}")
    if result.passages:
        out.print("[bold]Passages[/bold]")
    for number, each in enumerate(result.passages, 1):
        page = f", page {each.page}" if each.page is not None else ""
        where = f"{each.title}{page}, characters {each.start}–{each.end}"
        out.print(f"{number:3}. [bold]{escape(where)}[/bold]  score {each.score:.3f}  by {', '.join(each.routes)}")
        out.print(f"     {escape(_short(each.text))}")
    out.print(f"{result.seconds * 1000:.0f} ms")


def show_answer(answer: Answer) -> None:
    """The answer with its citations, or the evidence where no model wrote one."""
    out = console()
    if answer.text is None:
        show_search(answer.evidence)
        out.print(answer.note)
        return
    out.print(escape(answer.text))
    for number, citation in enumerate(answer.citations, 1):
        out.print(f"[{number}] {escape(_place(citation))}", markup=False)
    if answer.note:
        out.print(escape(answer.note))


def _place(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page is not None else ""
    unsure = "" if citation.found else ", somewhere in this passage"
    return f"{citation.title}{page}, characters {citation.start}–{citation.end}{unsure}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _QUOTE else flat[:_QUOTE].rsplit(" ", 1)[0] + " …"


# ------------------------------------------------------------------------------------------------------------- tables


def show_rows(rows: Rows) -> None:
    """Rows of a user's statement."""
    out = console()
    if rows.columns:
        _table(out, rows.columns, ([_cell(value) for value in row] for row in rows.rows))
    changes = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in rows.counters.items())
    more = "; there are more (--limit)" if rows.truncated else ""
    out.print(f"{len(rows.rows):,} rows{more}{'; ' + changes if changes else ''}")


def show_documents(documents: Sequence[DocumentInfo]) -> None:
    """The documents of the graph."""
    out = console()
    _table(
        out,
        ("Document", "Chunks", "Read", "Failed", "Tokens", "Address"),
        ((d.name, f"{d.chunks:,}", f"{d.extracted:,}", f"{d.failed:,}", f"{d.tokens:,}", d.uri) for d in documents),
    )
    out.print(f"{len(documents):,} documents")


def show_stats(stats: Stats) -> None:
    """Counts by label and by type."""
    out = console()
    _table(out, ("Nodes", "Count"), ((label, f"{count:,}") for label, count in stats.nodes.items()))
    _table(out, ("Relationships", "Count"), ((kind, f"{count:,}") for kind, count in stats.relationships.items()))


def show_schema(found: GraphSchema) -> None:
    """The schema with what was added to it."""
    out = console()
    schema = found.schema
    grown = {(each.kind, each.name) for each in found.expansions}
    for kind, types in (("entity", schema.entities), ("relation", schema.relations), ("attribute", schema.attributes)):
        _table(out, (f"{kind.capitalize()} types", "Meaning"), ((each.name, each.description) for each in types))
    for each in found.expansions:
        out.print(
            f"Added: {each.kind} [bold]{escape(each.name)}[/bold] (confidence {each.confidence:.2f}, "
            f"{each.count} documents), as in: {escape(each.example)}"
        )
    out.print(f"Schema {escape(schema.name)}; {len(grown)} types were added to it in this graph.")


def show_settings() -> None:
    """The table of settings."""
    _table(console(), ("Setting", "Default", "Unit", "Meaning"), settings_table())


def _table(out: Console, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(*columns, show_edge=False, pad_edge=False)
    for row in rows:
        table.add_row(*(escape(cell) for cell in row))
    out.print(table)


def _cell(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(_plain(value), ensure_ascii=False)
