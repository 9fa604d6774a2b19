"""What commands print: the reports of an ingest, an estimate, a tree and gists; rows, documents, counts, the schema."""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from kgplatform.client import KINDS
from kgplatform.correct import Correction, Duplicate, Namesake
from kgplatform.errors import BudgetError, KgError
from kgplatform.interfaces.cli.shared import spelled
from kgplatform.interfaces.cli.show.answers import show_stages
from kgplatform.interfaces.cli.show.terminal import console, safe, short, table
from kgplatform.readers.readers import stages_by_reader
from kgplatform.shown import plain
from kgplatform.text import clipped, counted, duration, listed

if TYPE_CHECKING:
    from kgplatform import Estimate, IngestReport
    from kgplatform.explore.info import DocumentInfo, Stats
    from kgplatform.explore.runs import CallStatistics
    from kgplatform.extract.schema import GraphSchema
    from kgplatform.gist.options import GistReport
    from kgplatform.records import GoneFile, SkippedFile, Table, Usage
    from kgplatform.tree.build_tree import TreeReport

_SHOWN = 20
"""Files, passages or pages that are listed; ``--json`` has all."""
_FAILURES = 3
_COMMONEST = 5
IN_PART = 3
"""Exit status where some files, passages or pages failed, and the rest was done."""
_STAGES = {
    "lay": "store",
    "gone": "gone files",
    "names": "alias matching",
    "likenesses": "similar names",
    "forms": "merging",
}
"""What people call the stages that the reports have under shorter names."""
_UNEMBEDDED = {"passages": "passage", "facts": "fact", "entities": "name", "elements": "name"}
_FLAGS = {
    "beginning": "the first words of the page instead, because the model wrote none",
    "own text": "the page itself instead, because the model's was longer",
}


def _numbers(of: Mapping[str, int]) -> str:
    """Those that are not 0, with what they count: "3 new, 20 unchanged"."""
    return ", ".join(f"{number:,} {what}" for what, number in of.items() if number)


def _show_some(out: Console, lines: Sequence[str]) -> None:
    """The first ``lines``, as plain text."""
    for line in lines[:_SHOWN]:
        out.print(safe(line), soft_wrap=True)
    if len(lines) > _SHOWN:
        out.print(f"… and {len(lines) - _SHOWN:,} more (--json lists all)")


def _show_costs(out: Console, usage: Mapping[str, Usage], seconds: Mapping[str, float], *, staged: bool = True) -> None:
    """Calls and tokens, by stage if ``staged``, and the time."""
    for stage, spent in sorted(usage.items()):
        cached = f"; {counted(spent.cached_calls, 'answer')} from the cache" if spent.cached_calls else ""
        out.print(
            f"Model{f', {safe(stage)}' if staged else ''}: {counted(spent.calls, 'call')}, "
            f"{counted(spent.input_tokens, 'token')} in, {spent.output_tokens:,} out{cached}."
        )
    slow = [(_STAGES.get(stage, stage), took) for stage, took in seconds.items() if stage != "total" and took >= 0.05]
    stages = ", ".join(f"{stage} {duration(took)}" for stage, took in slow)
    out.print(f"Time: {duration(seconds.get('total', 0.0))}{f' ({stages})' if stages else ''}.")


def show_ingest(report: IngestReport) -> None:
    """The report of an ingest: what came in, what the schema did, what it cost, and what is left to do."""
    out = console()
    _show_skipped(out, report.skipped)
    _show_gone(out, report.gone)
    documents = _read(report) + report.unchanged
    touched = _read(report) + report.removed + report.extracted + len(report.failed)
    if documents and not touched and not report.stopped:
        verb = "is" if documents == 1 else "are"
        nothing = "Nothing left to read" if report.settled else "Nothing changed"
        out.print(f"{nothing}: {counted(documents, 'document')} {verb} up to date.")
        if report.settled:
            out.print(f"Finished {report.settled:,} names, facts and passages that an earlier run had left.")
    elif documents or touched or report.skipped:
        kinds = {
            "new": report.added,
            "changed": report.changed,
            "unchanged": report.unchanged,
            "read again": report.reread,
            "removed": report.removed,
            "not ingested": sum(1 for each in report.skipped if not each.in_part),
            "ingested in part": len({each.path for each in report.skipped if each.in_part}),
        }
        read_now = (
            "all" if report.extracted == report.passages else f"{report.extracted:,}" if report.extracted else "none"
        )
        passages = f"Passages: {report.passages:,}, {read_now} read now by the extractor {safe(report.extractor)}."
        out.print(f"Documents: {_numbers(kinds) or 'none'}. {passages if report.passages else ''}")
    if documents:
        _show_contents(out, report)
    if report.facts_read:
        read, found = counted(report.facts_read, "passage"), counted(report.facts_found, "atomic fact")
        shown = report.unnamed and not documents
        unnamed = f"; {counted(report.unnamed, 'key element')} not named by the text" if shown else ""
        out.print(f"Facts: {found} in {read} that the model read now{unnamed}.")
        if shown:
            _show_left_out(out, report)
    _show_costs(out, report.usage, report.seconds)
    _show_some(out, [spelled(KgError(line, "reread")) for line in report.notes])
    _show_unfinished(out, report)


def _read(report: IngestReport) -> int:
    """Documents of which something was read now."""
    return report.added + report.changed + report.reread


def exit_code(report: IngestReport, *, of_files: bool) -> int:
    """0: all was done; 1: it was stopped; 2: of files, none could be ingested; 3: some of it failed."""
    if report.stopped:
        return 1
    if of_files and not _read(report) + report.unchanged + report.removed:
        return 2
    return IN_PART if report.skipped or report.failed or report.facts_failed or report.unembedded else 0


def _show_contents(out: Console, report: IngestReport) -> None:
    """What the graph says about these documents, read now or before."""
    schema = f"Schema {safe(report.schema)} ({report.mode})"
    rest = {"renamed to its types": report.mapped, "outside it": report.off_schema, "dropped": report.dropped}
    rest |= {"corrected": report.turned, "not named by the text": report.unnamed}
    bounded = _numbers(rest)
    kept = "1 name or fact" if report.kept == 1 else f"{report.kept:,} names and facts"
    out.print(f"{schema}: {kept} kept{', ' if bounded else ''}{bounded}.")
    _show_left_out(out, report)
    if report.names:
        untyped = f"{report.untyped:,} of them without a type" if report.untyped else "all with a type"
        out.print(f"Names: {report.names:,}, {untyped} in the schema.")
    stated = report.statements_found + report.statements_not_found
    unsure = report.statements_not_found
    place = f"{unsure:,} not found in the text and left out of searches" if unsure else "all located in the text"
    twice = f"; {report.duplicates:,} repeated within a passage" if report.duplicates else ""
    out.print(f"Statements: {stated:,}, {place}{twice}." if stated else "Statements: none.")
    for kind, number in sorted(report.malformed.items()):
        out.print(f"Malformed and dropped: {number:,} × {safe(kind)}")
    if report.expansions_added:
        grown = ", ".join(f"{expansion.kind} {safe(expansion.name)}" for expansion in report.expansions_added)
        out.print(f"New types in the schema of this graph: {grown} (details: `kgplatform schema`).")


def _show_left_out(out: Console, report: IngestReport) -> None:
    """What the schema left out most, with what keeps it; and the names that were left out, by the reason."""
    lacking = sorted((-n, kind, name) for kind in KINDS for name, n in report.left_out.get(kind, {}).items())
    if lacking:
        most = "; ".join(f"{kind} {name} ({-n:,})" for n, kind, name in lacking[:_COMMONEST])
        replies = " The model's replies come from the cache." if report.extractor == "llm" else ""
        out.print(f"Most often not in the schema: {safe(most)}.", soft_wrap=True)
        out.print(f"To keep all of this, run the same command with --reread, and without --mode strict.{replies}")
    for reason, names in report.left_out.items():
        if reason not in KINDS:
            out.print(f"Names left out ({reason}): {safe(listed([*names], _SHOWN))}.", soft_wrap=True)


def _show_skipped(out: Console, skipped: Sequence[SkippedFile]) -> None:
    how = {True: "Ingested in part", False: "Not ingested"}
    _show_some(out, [f"{how[file.in_part]}: {file.path}: {file.reason}" for file in skipped])


def _show_gone(out: Console, gone: Sequence[GoneFile]) -> None:
    """Files that are gone, and what became of their documents."""
    lines = []
    for file in gone:
        same = f" (the same text is in {file.same_text})" if file.same_text else ""
        many = f", {file.documents:,} documents" if file.documents > 1 else ""
        lines.append(f"File gone: {file.path}{many}{same}")
    _show_some(out, lines)
    stay = sum(file.documents for file in gone if not file.removed)
    if stay:
        verb = "is" if stay == 1 else "are"
        out.print(
            f"{counted(stay, 'document')} {verb} still in the graph although the files are gone; --prune removes them."
        )


def show_removed(documents: Sequence[DocumentInfo]) -> None:
    """What was removed."""
    titles = listed([safe(title) for title in sorted(document.title for document in documents)], _SHOWN)
    console().print(f"Removed {counted(len(documents), 'document')}: {titles}", soft_wrap=True)


def show_correction(made: Correction, done: str) -> None:
    """One correction, which was ``done``."""
    where = f"{counted(made.passages, 'passage')}" if made.passages else "no passage yet: it waits for one"
    more = "" if done == "Undone" else f" ({where}; undo it with `kgplatform correct undo {safe(made.id)}`)"
    console().print(f"{done}: {safe(made.text)}{more}", soft_wrap=True)


def show_corrections(found: Sequence[Correction | Duplicate | Namesake]) -> None:
    """Corrections, pairs of entities that are likely one, or entities that are likely two."""
    out = console()
    if not found:
        out.print("There are none.")
    for each in found:
        if isinstance(each, Duplicate):
            told = (f"{name}{f' ({kind})' if kind else ''}" for name, kind in zip(each.names, each.types, strict=True))
            out.print(
                f"{each.score:.2f}  {'  =  '.join(map(safe, told))}\n      {each.one} {each.other}", soft_wrap=True
            )
        elif isinstance(each, Namesake):
            out.print(f"{safe(each.name)}{f' ({each.type})' if each.type else ''}")
            for side in each.sides:
                says = "; ".join([*dict.fromkeys(side.titles), *(fact.text for fact in side.facts)])
                out.print(f"      {safe(says)} · {counted(len(side.passages), 'passage')}", soft_wrap=True)
            documents = " ".join(f"--document {document}" for document in each.sides[1].documents)
            split = f"kgplatform correct split {each.id} {shlex.quote(each.called)} {documents}"
            out.print(f"      {safe(split)}", soft_wrap=True)
        else:
            where = counted(each.passages, "passage") if each.passages else "waits"
            why = f" · {each.why}" if each.why else ""
            out.print(
                f"{safe(each.text)}\n      {each.who}, {each.at[:10]}{safe(why)} · {where} · {each.id}", soft_wrap=True
            )


def show_exported(carried: tuple[int, Path]) -> None:
    """How many corrections were written to a file."""
    console().print(f"Exported {counted(carried[0], 'correction')}: {safe(str(carried[1]))}", soft_wrap=True)


def show_imported(carried: tuple[int, Path]) -> None:
    """How many corrections of a file were new."""
    console().print(f"Imported {counted(carried[0], 'new correction')}: {safe(str(carried[1]))}", soft_wrap=True)


def _show_unfinished(out: Console, report: IngestReport) -> None:
    for failed, unread, what in (
        (report.failed, report.unread, ""),
        (report.facts_failed, report.facts_unread, " in the facts pass"),
    ):
        _show_some(out, [f"Failed{what}: {item.name}: {item.reason}" for item in failed])
        final = sum(item.is_final for item in failed)
        if len(failed) > final:
            out.print(f"{counted(len(failed) - final, 'passage')} failed{what}. Run the same command again to retry.")
        if final + unread:
            out.print(
                f"{counted(final + unread, 'passage')} left unread{what}: the model's reply was unusable. Use "
                "--retry-failed to ask again."
            )
    _show_some(out, [f"Without a vector: {each.name}: {each.reason}" for each in report.unembedded])
    if report.unembedded:
        kinds = Counter(_UNEMBEDDED[each.kind] for each in report.unembedded)
        parts = ", ".join(counted(number, kind) for kind, number in kinds.items())
        out.print(f"Without a vector, and not found by meaning: {parts}. Run the same command again to retry.")
    if report.stopped:
        out.print(_in_flags(report.stopped))


def _in_flags(stopped: str) -> str:
    """Why the budget ended a run, as a report keeps it, with the option that it names as a flag."""
    return safe(spelled(BudgetError(stopped)))


def show_estimate(estimate: Estimate) -> None:
    """What an ingest would cost."""
    out = console()
    _show_skipped(out, estimate.skipped)
    documents, passages = counted(estimate.documents, "document"), counted(estimate.passages, "passage")
    pending = f"{estimate.pending_passages:,}" if estimate.pending_passages else "none"
    out.print(f"{documents} in {passages}, {pending} of them yet to be read.")
    if not estimate.calls:
        out.print("This needs no language model. Nothing was written.")
        return
    calls, tokens = counted(estimate.calls, "language-model call"), counted(estimate.input_tokens, "token")
    out.print(
        f"This takes {calls}, about {tokens} in and {estimate.output_tokens:,} out. Nothing was spent or written."
    )


def show_tree(report: TreeReport) -> None:
    """The report of ``kgplatform tree``: the largest communities, what moved, names, costs."""
    out = console()
    _show_some(out, report.notes)
    if report.largest:
        out.print("[bold]The largest communities[/bold]")
    for community in report.largest:
        out.print(f"[bold]{safe(community.name)}[/bold]  {counted(community.size, 'entity')}", soft_wrap=True)
        out.print(f"    {safe(short(community.summary))}", soft_wrap=True)
        if community.keywords:
            out.print(f"    Keywords: {safe(', '.join(community.keywords))}", soft_wrap=True)
    deep = ", ".join(f"{number:,} at depth {depth}" for depth, number in enumerate(report.depths))
    communities = counted(report.communities, "community") + (f" ({deep})" if len(report.depths) > 1 else "")
    what = f"{counted(report.entities, 'entity')} in {communities}, {counted(report.keywords, 'keyword')}"
    out.print(f"Tree {report.action} by the method {safe(report.method)}: {what}.")
    if report.action == "updated":
        entities = {
            "new": report.entities_new,
            "gone": report.entities_gone,
            "with other facts": report.entities_changed,
            "moved": report.entities_moved,
        }
        changed, new, gone = _numbers(entities), report.communities_new, report.communities_gone
        if changed or new or gone:
            moved = f"Communities: {report.communities_kept:,} kept, {new:,} new, {gone:,} gone."
            out.print(f"Entities: {changed or 'none changed'}. {moved}")
        else:
            is_renamed = report.named_by_model or report.named_by_members
            out.print("No entity moved." if is_renamed else "Nothing changed: the tree is up to date.")
    _show_names(out, report)
    _show_costs(out, report.usage, report.seconds, staged=False)
    if report.stopped:
        out.print(_in_flags(report.stopped), soft_wrap=True)


def _show_names(out: Console, report: TreeReport) -> None:
    failed = f" ({report.failed_names:,} because the model gave none)" if report.failed_names else ""
    new = {
        "by the model": report.named_by_model,
        f"from members and facts{failed}": report.named_by_members,
        "after the only member": report.named_after_member,
    }
    if any(new.values()):
        out.print(f"Names: {_numbers({**new, 'kept': report.names_kept})}.")
    _show_some(out, [f"Not named by the model: {reason}" for reason in report.failures[:_FAILURES]])
    if report.failed_names:
        out.print(f"`kgplatform tree --update` asks the model again for {counted(report.failed_names, 'name')}.")
    if report.names_without_model:
        verb = "has a name" if report.names_without_model == 1 else "have names"
        out.print(
            f"{counted(report.names_without_model, 'community')} {verb} from a run without a model. "
            "`kgplatform tree --rebuild` asks the model."
        )


def show_gist(report: GistReport) -> None:
    """The report of ``kgplatform gist``: pages, gists and what they save, repairs, costs, and what is left to do."""
    out = console()
    _show_some(out, report.notes)
    documents = counted(report.documents, "document")
    if report.complete_documents < report.documents:
        documents += f", {report.complete_documents:,} of them complete"
    how = "of equal length" if report.uniform else "by the model"
    sizes = f"{report.preset}, {report.min_words:,} to {report.max_words:,} words, {how}"
    gists = _numbers({"written now": report.written, "shortened again": report.shortened, "kept": report.kept})
    asked = f" For the question: {safe(report.question)}" if report.question else ""
    pages = f"{documents} in {counted(report.pages, 'page')} ({sizes})"
    out.print(f"{pages}. Gists: {gists or 'none'}.{asked}", soft_wrap=True)
    if report.compression is not None:
        words = f"{report.gisted_words:,} words in {report.gist_words:,} of gists ({report.gist_tokens:,} tokens)"
        out.print(f"Compression: {report.compression:.2f}%, {words}.", soft_wrap=True)
    for flag, number in sorted(report.flags.items()):
        out.print(f"Not from the model: {counted(number, 'gist')}, {_FLAGS[flag]}.", soft_wrap=True)
    for kind, number in sorted(report.malformed.items()):
        out.print(f"Malformed and repaired: {number:,} × {safe(kind)}", soft_wrap=True)
    if report.merged:
        out.print(f"Adjacent pages: {_numbers(dict(sorted(report.merged.items())))}.", soft_wrap=True)
    _show_costs(out, report.usage, report.seconds)
    _show_some(out, [f"Failed: {each.document}, page {each.page}: {each.reason}" for each in report.failed])
    if report.failed:
        out.print(f"{counted(len(report.failed), 'page')} failed. Run the same command again to retry.")
    too_long = (
        f"Too long: {each.document}: its gists have {each.gist_tokens:,} tokens and cannot be shortened further in "
        "this way. Use a larger --fit or --max-words, or the other --shrink."
        for each in report.too_long
    )
    _show_some(out, [*too_long])
    if report.stopped:
        out.print(_in_flags(report.stopped), soft_wrap=True)


def show_rows(rows: Table) -> None:
    """Rows of a user's statement."""
    out = console()
    if rows.columns:
        table(out, rows.columns, ([_cell(value) for value in row] for row in rows.rows))
    changes = _numbers({name.replace("_", " "): count for name, count in rows.counters.items()})
    more = "; there are more (--limit)" if rows.truncated else ""
    out.print(f"{counted(len(rows.rows), 'row')}{more}{'; ' + changes if changes else ''}")
    for note in rows.notes:
        out.print(safe(note))


def show_documents(documents: Sequence[DocumentInfo]) -> None:
    """The documents of the graph."""
    out = console()
    rows = []
    for each in documents:
        numbers = [f"{n:,}" for n in (each.passages, each.extracted, each.failed, each.tokens, each.pages)]
        saved = "" if each.compression is None else f"{each.compression:.1f}%"  # unless every page has a gist
        known = "; ".join(f"{name}={_cell(value)}" for name, value in each.metadata.items())
        rows.append((each.title, *numbers, saved, each.uri, clipped(known, 100)))
    if rows:
        heads = ("Document", "Passages", "Read", "Failed", "Tokens", "Pages", "Saved", "Address", "Metadata")
        table(out, heads, rows)
    out.print(counted(len(documents), "document"))


def show_stats(stats: Stats) -> None:
    """Counts by label and by type, and the graph of key elements."""
    out = console()
    table(out, ("Nodes", "Count"), ((label, f"{count:,}") for label, count in stats.nodes.items()))
    table(out, ("Relationships", "Count"), ((kind, f"{count:,}") for kind, count in stats.relationships.items()))
    if stats.untyped:
        entities = counted(stats.nodes.get("Entity", 0), "entity")
        out.print(f"{stats.untyped:,} of {entities} have no type in the schema.")
    graph = stats.elements
    if graph is None:
        out.print("The graph that GraphReader walks is counted only up to 50,000 key elements.")
    elif graph.nodes:
        out.print(
            f"For GraphReader: {counted(graph.nodes, 'node')} (key elements with all their forms) and "
            f"{counted(graph.facts, 'fact')}; per node {graph.mean_neighbours:.1f} neighbours (at most "
            f"{graph.most_neighbours:,}) and {graph.mean_facts:.1f} facts (at most {graph.most_facts:,})."
        )
    if stats.calls:
        show_calls(stats.calls)


def show_calls(calls: CallStatistics) -> None:
    """Statistics of the saved walks."""
    out = console()
    walkers = " or ".join(stages_by_reader())
    of = f"{counted(calls.runs, 'saved run')} of {walkers} with {counted(calls.paths, 'path')}"
    means = f"{calls.per_run:g} per run, {calls.per_path:g} per path"
    out.print(f"Function calls of {of}: {calls.calls:,}, {means}")
    show_stages(out, calls.stages)


def show_schema(found: GraphSchema) -> None:
    """The schema with what was added to it."""
    out = console()
    schema = found.schema
    for kind, types in (("entity", schema.entities), ("relation", schema.relations), ("attribute", schema.attributes)):
        table(out, (f"{kind.capitalize()} types", "Meaning"), ((each.name, each.description) for each in types))
        out.print()
    for expansion in found.expansions:
        out.print(
            f"Added: {expansion.kind} [bold]{safe(expansion.name)}[/bold] (confidence {expansion.confidence:.2f}, "
            f"{counted(expansion.count, 'document')}), as in: {safe(expansion.example)}"
        )
    grown = counted(len(found.expansions), "type")
    out.print(f"Schema {safe(schema.name)}; {grown} added to it in this graph.")


def _cell(value: object) -> str:
    """A value as people read it: a node by its labels and name, a relationship by its type, all else as JSON."""
    match value:
        case str():
            return value
        case {"labels": list(labels), "properties": dict(properties), **rest} if not rest:
            name = properties.get("name", properties.get("id", ""))
            # An entity is shown by its type; every entity is a key element too.
            shown = [label for label in labels if label not in ("Entity", "KeyElement")] or labels
            return f"(:{':'.join(shown)} {json.dumps(name, ensure_ascii=False)})"
        case {"type": str(kind), "properties": dict(), **rest} if not rest:
            return f"[:{kind}]"
        case {"nodes": list(nodes), "relationships": list(between), "forward": list(forward), **rest} if not rest:
            steps = zip(map(_cell, between), forward, map(_cell, nodes[1:]), strict=True)
            arrows = (f"-{each}->{node}" if ahead else f"<-{each}-{node}" for each, ahead, node in steps)
            return _cell(nodes[0]) + "".join(arrows)
        case [*items]:
            return f"[{', '.join(_cell(item) for item in items)}]"
    return json.dumps(plain(value), ensure_ascii=False)
