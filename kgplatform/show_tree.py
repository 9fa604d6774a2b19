"""What the command line says of a tree: its largest communities, what was done, and what it cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Console

from kgplatform.show import console, duration, safe, short
from kgplatform.text import counted

if TYPE_CHECKING:
    from kgplatform.build.tree.report import LargeCommunity, TreeReport

_FAILURES = 3


def show_tree(report: TreeReport) -> None:
    """The end of a run of ``kgplatform tree``."""
    out = console()
    for line in report.notes:
        out.print(safe(line), soft_wrap=True)
    if report.largest:
        out.print("[bold]The largest communities[/bold]")
    for each in report.largest:
        _show_community(out, each)
    out.print(_what(report))
    if report.action == "updated":
        out.print(_moved(report))
    _show_names(out, report)
    _show_costs(out, report)
    if report.stopped:
        out.print(safe(report.stopped), soft_wrap=True)


def _show_community(out: Console, community: LargeCommunity) -> None:
    out.print(f"[bold]{safe(community.name)}[/bold]  {_people(community.size)}", soft_wrap=True)
    out.print(f"    {safe(short(community.summary))}", soft_wrap=True)
    if community.keywords:
        out.print(f"    Keywords: {safe(', '.join(community.keywords))}", soft_wrap=True)


def _people(size: int) -> str:
    return f"{size:,} {'entity' if size == 1 else 'entities'}"


def _communities(number: int) -> str:
    return f"{number:,} {'community' if number == 1 else 'communities'}"


def _what(report: TreeReport) -> str:
    deep = ", ".join(f"{number:,} at depth {depth}" for depth, number in enumerate(report.depths))
    communities = _communities(report.communities)
    inner = f" ({deep})" if len(report.depths) > 1 else ""
    what = f"{_people(report.entities)} in {communities}{inner}, {counted(report.keywords, 'keyword')}"
    return f"Tree {report.action} by the method {safe(report.method)}: {what}."


def _moved(report: TreeReport) -> str:
    entities = {
        "new": report.entities_new,
        "gone": report.entities_gone,
        "with other facts": report.entities_changed,
        "moved": report.entities_moved,
    }
    changed = ", ".join(f"{number:,} {what}" for what, number in entities.items() if number)
    if not changed and not report.communities_new and not report.communities_gone:
        renamed = report.named_by_model or report.named_by_members
        return "No entity moved." if renamed else "Nothing changed: the tree is as the graph is."
    communities = f"{report.communities_kept:,} kept, {report.communities_new:,} new, {report.communities_gone:,} gone"
    return f"Entities: {changed or 'none changed'}. Communities: {communities}."


def _show_names(out: Console, report: TreeReport) -> None:
    failed = f" ({report.failed_names:,} of them since the model gave none)" if report.failed_names else ""
    new = {
        "by the model": report.named_by_model,
        f"put together from members and facts{failed}": report.named_by_members,
        "after the only member": report.named_after_member,
    }
    if any(new.values()):
        ways = {**new, "kept": report.names_kept}
        out.print("Names: " + ", ".join(f"{number:,} {way}" for way, number in ways.items() if number) + ".")
    for reason in report.failures[:_FAILURES]:
        out.print(f"Not named by the model: {safe(reason)}", soft_wrap=True)
    if report.failed_names:
        out.print(f"`kgplatform tree --update` asks the model again for {counted(report.failed_names, 'name')}.")
    if report.names_without_model:
        verb = "has a name" if report.names_without_model == 1 else "have names"
        out.print(
            f"{_communities(report.names_without_model)} {verb} from before, when no model was asked. "
            "`kgplatform tree --rebuild` asks it."
        )


def _show_costs(out: Console, report: TreeReport) -> None:
    for usage in report.usage.values():
        cached = f"; {counted(usage.cached_calls, 'answer')} from the cache" if usage.cached_calls else ""
        out.print(
            f"Model: {counted(usage.calls, 'call')}, {counted(usage.input_tokens, 'token')} in, "
            f"{usage.output_tokens:,} out{cached}."
        )
    slow = [(stage, spent) for stage, spent in report.seconds.items() if stage != "total" and spent >= 0.05]
    stages = ", ".join(f"{stage} {duration(spent)}" for stage, spent in slow)
    out.print(f"Time: {duration(report.seconds.get('total', 0.0))}{f' ({stages})' if stages else ''}.")
