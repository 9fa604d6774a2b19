"""What the command line prints: for people on the terminal, or one JSON document for programs."""

from __future__ import annotations

import json
import math
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn
from rich.table import Table

from kgplatform.text import counted

if TYPE_CHECKING:
    from kgplatform.build.report import Estimate, IngestReport
    from kgplatform.info import DocumentInfo, GraphSchema, Stats
    from kgplatform.records import Answer, Citation, FoundCommunity, FoundPath, SearchResult, SkippedFile
    from kgplatform.store import Table as Rows

T = TypeVar("T")

_QUOTE = 400
_SHOWN = 20
_UNWRAPPED = 100_000
_CONTROL = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "\ufffd")
_NUMBERS = {"Count", "Chunks", "Read", "Failed", "Tokens", "Pages", "Saved"}


def console() -> Console:
    """Where people read. Lines wrap at a terminal's width; what goes into a file or a pipe keeps its lines whole."""
    return Console(highlight=False, width=None if sys.stdout.isatty() else _UNWRAPPED)


def note(line: str) -> None:
    """One line on the error stream, which carries progress and remarks."""
    print(line, file=sys.stderr, flush=True)


def show(as_json: bool, value: T, for_people: Callable[[T], None]) -> None:
    """``value`` as one JSON document, or as people read it."""
    if as_json:
        print_json(value)
    else:
        for_people(value)


def print_json(value: object) -> None:
    """The one JSON document of ``--json``."""
    print(json.dumps(_plain(value), ensure_ascii=False, indent=2))


def _plain(value: object) -> Any:
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # JSON has no word for it
    return value


def duration(seconds: float) -> str:
    """``85 ms``, ``2.4 s``, ``3 min 05 s``, ``2 h 10 min``."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def safe(text: str) -> str:
    """``text`` from a document or a model as plain text: no markup of rich's, no codes that steer a terminal."""
    return escape(text.translate(_CONTROL))


def _joined(parts: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(parts[:-1]), parts[-1]))) if parts else ""


# ------------------------------------------------------------------------------------------------------------ progress


class ProgressLines:
    """Progress of long work on the error stream: a bar on a terminal, else a line every few seconds."""

    _EVERY = 5.0

    def __init__(self) -> None:
        self._console = Console(stderr=True, highlight=False)
        self._bar: Progress | None = None
        self._tasks: dict[str, Any] = {}
        self._started: dict[str, float] = {}
        self._told: set[str] = set()
        self._last_call = self._last_line = time.monotonic()

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
        # A stage calls when its first part is done: it began when the one before it had its last word.
        started = self._started.setdefault(stage, self._last_call)
        self._last_call = now
        rate = f"{done / (now - started):,.0f}/s" if now > started and done else ""
        if self._bar is not None:
            if stage not in self._tasks:
                self._tasks[stage] = self._bar.add_task(stage, total=total, rate=rate)
            self._bar.update(self._tasks[stage], completed=done, total=total, rate=rate)
        elif total and (now - self._last_line >= self._EVERY or (done == total and stage in self._told)):
            self._told.add(stage)
            self._last_line = now
            left = (now - started) * (total - done) / done if done else 0.0
            more = f", {duration(left)} left" if done < total else ""
            note(f"{stage}: {done:,} of {total:,}{', ' + rate if rate else ''}{more}")


# ------------------------------------------------------------------------------------------------------------- ingest


def show_ingest(report: IngestReport) -> None:
    """The end of an ingest: what came in, what the schema did, what it cost, and what is left to do."""
    out = console()
    _show_skipped(out, report.skipped)
    documents = report.added + report.changed + report.unchanged
    touched = report.added + report.changed + report.removed + report.extracted + len(report.failed)
    if documents and not touched and not report.stopped:
        have = "is in the graph as it is" if documents == 1 else "are in the graph as they are"
        out.print(f"Nothing changed: {counted(documents, 'document')} {have}.")
    elif documents or touched or report.skipped:
        out.print(f"Documents: {_documents(report)}. {_chunks(report)}")
    if documents:
        _show_contents(out, report)
    if report.facts_read:
        read, found = counted(report.facts_read, "chunk"), counted(report.facts_found, "atomic fact")
        out.print(f"Facts: {found} in {read} that the model read now.")
    _show_costs(out, report)
    for line in report.notes[:_SHOWN]:
        out.print(safe(line))
    if len(report.notes) > _SHOWN:
        out.print(f"… and {counted(len(report.notes) - _SHOWN, 'more note')} (--json lists all)")
    _show_unfinished(out, report)


def _documents(report: IngestReport) -> str:
    kinds = {
        "new": report.added,
        "changed": report.changed,
        "unchanged": report.unchanged,
        "gone": report.removed,
        "not ingested": len(report.skipped),
    }
    return ", ".join(f"{number:,} {kind}" for kind, number in kinds.items() if number) or "none"


def _chunks(report: IngestReport) -> str:
    if not report.chunks:
        return ""
    now = "all" if report.extracted == report.chunks else f"{report.extracted:,}"
    return f"Chunks: {report.chunks:,}, {now} read now by the extractor {safe(report.extractor)}."


def _show_contents(out: Console, report: IngestReport) -> None:
    """What stands in the graph about these documents, read now or before."""
    schema = f"Schema {safe(report.schema)} ({report.mode})"
    rest = {
        "renamed to its types": report.mapped,
        "marked as outside it": report.off_schema,
        "dropped": report.dropped,
    }
    bounded = "".join(f", {number:,} {what}" for what, number in rest.items() if number)
    out.print(f"{schema}: {counted(report.kept, 'item')} kept{bounded}.")
    stated = report.statements_found + report.statements_not_found
    unsure = report.statements_not_found
    place = (
        f"{unsure:,} of them not word for word in the text, and marked" if unsure else "each with its place in the text"
    )
    twice = f"; {report.duplicates:,} said twice in one chunk" if report.duplicates else ""
    out.print(f"Statements: {stated:,}, {place}{twice}." if stated else "Statements: none.")
    for kind, number in sorted(report.malformed.items()):
        out.print(f"Malformed and left out: {number:,} × {safe(kind)}")
    if report.expansions_added:
        grown = _joined([f"{each.kind} {safe(each.name)}" for each in report.expansions_added])
        out.print(f"The schema of this graph has grown by: {grown} (`kgplatform schema` says why).")


def _show_skipped(out: Console, skipped: Sequence[SkippedFile]) -> None:
    for each in skipped[:_SHOWN]:
        out.print(f"Not ingested: {safe(each.path)}: {safe(each.reason)}", soft_wrap=True)
    if len(skipped) > _SHOWN:
        out.print(f"… and {len(skipped) - _SHOWN:,} more (--json lists all)")


def _show_costs(out: Console, report: IngestReport) -> None:
    for stage, usage in sorted(report.usage.items()):
        cached = f"; {counted(usage.cached_calls, 'answer')} from the cache" if usage.cached_calls else ""
        out.print(
            f"Model, {safe(stage)}: {counted(usage.calls, 'call')}, {counted(usage.input_tokens, 'token')} in, "
            f"{usage.output_tokens:,} out{cached}."
        )
    total = report.seconds.get("total", 0.0)
    slow = [(stage, spent) for stage, spent in report.seconds.items() if stage != "total" and spent >= 0.05]
    stages = ", ".join(f"{stage} {duration(spent)}" for stage, spent in slow)
    out.print(f"Time: {duration(total)}{f' ({stages})' if stages else ''}{_throughput(report, total)}.")


def _throughput(report: IngestReport, seconds: float) -> str:
    """Text a second; nothing where part of the text was in the graph before."""
    if not seconds or not report.extracted or report.extracted < report.chunks:
        return ""
    rate = report.characters / seconds
    amount = f"{rate / 1e6:.1f} million" if rate >= 1e6 else f"{float(f'{rate:.2g}'):,.0f}"
    return f", {amount} characters of text a second"


def _show_unfinished(out: Console, report: IngestReport) -> None:
    for failed, what in ((report.failed, ""), (report.facts_failed, " to be read for facts")):
        for each in failed[:_SHOWN]:
            out.print(f"Failed{what}: {safe(each.name)}: {safe(each.reason)}", soft_wrap=True)
        if failed:
            out.print(f"{counted(len(failed), 'chunk')} failed{what}. Run the same command again to try once more.")
    if report.stopped:
        out.print(safe(report.stopped))


def show_estimate(estimate: Estimate) -> None:
    """What an ingest would cost."""
    out = console()
    _show_skipped(out, estimate.skipped)
    pending = "none of them" if not estimate.pending_chunks else f"{estimate.pending_chunks:,} of them"
    out.print(
        f"{counted(estimate.documents, 'document')} in {counted(estimate.chunks, 'chunk')}, {pending} to be read."
    )
    if not estimate.calls:
        out.print("That takes no language-model call. Nothing was written.")
        return
    calls, tokens = counted(estimate.calls, "language-model call"), counted(estimate.input_tokens, "token")
    out.print(
        f"That takes {calls}, about {tokens} in and {estimate.output_tokens:,} out. Nothing was spent or written."
    )


# ------------------------------------------------------------------------------------------------------------- search


def show_search(result: SearchResult, out: Console | None = None) -> None:
    """What led there, then facts and passages, best first, each with where it stands."""
    out = out or console()
    if not (result.passages or result.facts or result.communities or result.paths):
        out.print("Nothing was found.")
        return
    _show_communities(out, result.communities)
    _show_paths(out, result.paths)
    if result.facts:
        out.print("[bold]Facts[/bold]")
    for number, fact in enumerate(result.facts, 1):
        place = f"  ({_place(fact.citations[0])})" if fact.citations else ""
        out.print(f"{number:3}. {safe(fact.text)}{safe(place)}")
    if result.passages:
        out.print("[bold]Passages[/bold]")
    for number, each in enumerate(result.passages, 1):
        page = f", page {each.page}" if each.page is not None else ""
        where = f"{each.title}{page}, characters {each.start}–{each.end}"
        out.print(f"{number:3}. [bold]{safe(where)}[/bold]  score {each.score:.3f}  by {', '.join(each.routes)}")
        out.print(f"     {safe(short(each.text))}")
    found = f"{counted(len(result.facts), 'fact')} and {counted(len(result.passages), 'passage')}"
    out.print(f"{found} in {duration(result.seconds)}")


def _show_communities(out: Console, communities: Sequence[FoundCommunity]) -> None:
    if communities:
        out.print("[bold]Communities[/bold]")
    for number, each in enumerate(communities, 1):
        entities = "1 entity" if each.size == 1 else f"{each.size:,} entities"
        out.print(f"{number:3}. [bold]{safe(each.name)}[/bold]  {entities}")
        out.print(f"     {safe(short(each.summary))}")


def _show_paths(out: Console, paths: Sequence[FoundPath]) -> None:
    if paths:
        out.print("[bold]Paths[/bold]")
    for number, path in enumerate(paths, 1):
        words = path.names[0]
        for predicate, forward, name in zip(path.predicates, path.forward, path.names[1:], strict=True):
            words += f" —[{predicate}]→ {name}" if forward else f" ←[{predicate}]— {name}"
        out.print(f"{number:3}. {safe(words)}")


def show_answer(answer: Answer, out: Console | None = None) -> None:
    """The answer with its citations, or the evidence where no model wrote one."""
    out = out or console()
    if answer.text is None:
        show_search(answer.evidence, out)
        out.print(safe(answer.note))
        return
    out.print(safe(answer.text))
    for number, citation in enumerate(answer.citations, 1):
        out.print(f"{safe(f'[{number}]')} {safe(_place(citation))}")
    if answer.note:
        out.print(safe(answer.note))


def _place(citation: Citation) -> str:
    page = f", page {citation.page}" if citation.page is not None else ""
    unsure = "" if citation.found else ", somewhere in this passage"
    return f"{citation.title}{page}, characters {citation.start}–{citation.end}{unsure}"


def short(text: str) -> str:
    """``text`` on one line, cut after a word where it is long."""
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
    out.print(f"{counted(len(rows.rows), 'row')}{more}{'; ' + changes if changes else ''}")


def show_documents(documents: Sequence[DocumentInfo]) -> None:
    """The documents of the graph."""
    out = console()
    if documents:
        _table(
            out,
            ("Document", "Chunks", "Read", "Failed", "Tokens", "Pages", "Saved", "Address"),
            (
                (d.name, *(f"{n:,}" for n in (d.chunks, d.extracted, d.failed, d.tokens, d.pages)), _saved(d), d.uri)
                for d in documents
            ),
        )
    out.print(counted(len(documents), "document"))


def _saved(document: DocumentInfo) -> str:
    """Of its words, by gists; nothing where not every page has one."""
    return "" if document.compression is None else f"{document.compression:.1f}%"


def show_stats(stats: Stats) -> None:
    """Counts by label and by type, and the graph of key elements."""
    out = console()
    _table(out, ("Nodes", "Count"), ((label, f"{count:,}") for label, count in stats.nodes.items()))
    _table(out, ("Relationships", "Count"), ((kind, f"{count:,}") for kind, count in stats.relationships.items()))
    graph = stats.elements
    if graph.nodes:
        out.print(
            f"For GraphReader: {counted(graph.nodes, 'node')} (key elements with all their forms), "
            f"{counted(graph.facts, 'fact')}; of a node {graph.mean_neighbours:.1f} neighbours (at most "
            f"{graph.most_neighbours:,}) and {graph.mean_facts:.1f} facts (at most {graph.most_facts:,}) on average."
        )


def show_schema(found: GraphSchema) -> None:
    """The schema with what was added to it."""
    out = console()
    schema = found.schema
    for kind, types in (("entity", schema.entities), ("relation", schema.relations), ("attribute", schema.attributes)):
        _table(out, (f"{kind.capitalize()} types", "Meaning"), ((each.name, each.description) for each in types))
        out.print()
    for each in found.expansions:
        out.print(
            f"Added: {each.kind} [bold]{safe(each.name)}[/bold] (confidence {each.confidence:.2f}, "
            f"{counted(each.count, 'document')}), as in: {safe(each.example)}"
        )
    grown = counted(len(found.expansions), "type")
    out.print(f"Schema {safe(schema.name)}; {grown} added to it in this graph.")


def show_settings(rows: Sequence[tuple[str, str, str, str]]) -> None:
    """The table of settings."""
    _table(console(), ("Setting", "Default", "Unit", "Meaning"), rows)


def _table(out: Console, columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    table = Table(show_edge=False, pad_edge=False)
    for column in columns:
        table.add_column(safe(column), overflow="fold", justify="right" if column in _NUMBERS else "left")
    for row in rows:
        table.add_row(*(safe(cell) for cell in row))
    out.print(table)


def _cell(value: object) -> str:
    """A value as people read it: a node by its labels and name, a relationship by its type, all else as JSON."""
    match value:
        case str():
            return value
        case {"labels": list(labels), "properties": dict(properties), **rest} if not rest:
            name = properties.get("name", properties.get("id", ""))
            # An entity is known by its type; every entity is a key element too.
            told = [each for each in labels if each not in ("Entity", "KeyElement")] or labels
            return f"(:{':'.join(told)} {json.dumps(name, ensure_ascii=False)})"
        case {"type": str(kind), "properties": dict(), **rest} if not rest:
            return f"[:{kind}]"
        case {"nodes": list(nodes), "relationships": list(relationships), **rest} if not rest:
            steps = zip([_cell(each) for each in relationships], [_cell(each) for each in nodes[1:]], strict=True)
            return _cell(nodes[0]) + "".join(f"-{relationship}-{node}" for relationship, node in steps)
        case [*items]:
            return f"[{', '.join(_cell(each) for each in items)}]"
    return json.dumps(_plain(value), ensure_ascii=False)
