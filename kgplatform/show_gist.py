"""What the command line says of a run of ``kgplatform gist``."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from rich.console import Console

from kgplatform.show import console, duration, safe
from kgplatform.text import counted

if TYPE_CHECKING:
    from kgplatform.build.gist.report import GistReport

_SHOWN = 20
_FLAGS = {
    "beginning": "the first words of the page, since the model wrote none",
    "own text": "the page itself, since the model's was longer",
}


def as_document(report: GistReport) -> dict[str, Any]:
    """The report with what follows from it, for ``--json``."""
    return {**asdict(report), "compression": report.compression, "complete": report.complete}


def show_gist(report: GistReport) -> None:
    """The end of a run: pages and gists, what they save, what was put right, what it cost, what is left to do."""
    out = console()
    for line in report.notes:
        out.print(safe(line), soft_wrap=True)
    out.print(_pages(report), soft_wrap=True)
    if report.compression is not None:
        words = f"{report.gisted_words:,} words in {report.gist_words:,} of gists ({report.gist_tokens:,} tokens)"
        out.print(f"Compression: {report.compression:.2f}%, {words}.", soft_wrap=True)
    _show_quality(out, report)
    _show_costs(out, report)
    _show_unfinished(out, report)


def _pages(report: GistReport) -> str:
    documents = counted(report.documents, "document")
    if report.complete_documents < report.documents:
        documents += f", {report.complete_documents:,} of them complete"
    how = "of equal length" if report.uniform else "by the model"
    sizes = f"{report.preset}, {report.min_words:,} to {report.max_words:,} words, {how}"
    gists = {"written now": report.written, "shortened again": report.shortened, "kept": report.kept}
    what = ", ".join(f"{number:,} {done}" for done, number in gists.items() if number) or "none"
    question = f" For the question: {safe(report.question)}" if report.question else ""
    return f"{documents} on {counted(report.pages, 'page')} ({sizes}). Gists: {what}.{question}"


def _show_quality(out: Console, report: GistReport) -> None:
    for flag, number in sorted(report.flags.items()):
        out.print(f"Not the model's: {counted(number, 'gist')}, {_FLAGS[flag]}.", soft_wrap=True)
    for kind, number in sorted(report.malformed.items()):
        out.print(f"Malformed, and put right: {number:,} × {safe(kind)}", soft_wrap=True)
    if report.merged:
        pairs = ", ".join(f"{number:,} {what}" for what, number in sorted(report.merged.items()))
        out.print(f"Pages that follow each other: {pairs}.", soft_wrap=True)


def _show_costs(out: Console, report: GistReport) -> None:
    for stage, usage in report.usage.items():
        cached = f"; {counted(usage.cached_calls, 'answer')} from the cache" if usage.cached_calls else ""
        out.print(
            f"Model, {stage}: {counted(usage.calls, 'call')}, {counted(usage.input_tokens, 'token')} in, "
            f"{usage.output_tokens:,} out{cached}."
        )
    slow = [(stage, spent) for stage, spent in report.seconds.items() if stage != "total" and spent >= 0.05]
    stages = ", ".join(f"{stage} {duration(spent)}" for stage, spent in slow)
    out.print(f"Time: {duration(report.seconds.get('total', 0.0))}{f' ({stages})' if stages else ''}.")


def _show_unfinished(out: Console, report: GistReport) -> None:
    for failed in report.failed[:_SHOWN]:
        out.print(f"Failed: {safe(failed.document)}, page {failed.page}: {safe(failed.reason)}", soft_wrap=True)
    if report.failed:
        out.print(f"{counted(len(report.failed), 'page')} failed. Run the same command again to try once more.")
    for each in report.too_long[:_SHOWN]:
        out.print(
            f"Too long: {safe(each.document)}: its gists have {each.gist_tokens:,} tokens, and cannot be made to have "
            "fewer in this way. Use a larger --fit or --max-words, or the other --shrink.",
            soft_wrap=True,
        )
    if report.stopped:
        out.print(safe(report.stopped), soft_wrap=True)
