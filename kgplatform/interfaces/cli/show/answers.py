"""What the commands that search and answer print.

Of a search, what it found; of ``ask``, the answer with its citations and, with ``--trace``, each step and statement,
ready to paste.
"""

from __future__ import annotations

import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.console import Console

from kgplatform.explore.recheck import SHAKEN, CheckedAnswer, summary
from kgplatform.explore.runs import StageCalls, stages_of
from kgplatform.interfaces.cli.shared import spelled
from kgplatform.interfaces.cli.show.terminal import console, print_json, safe, short, table
from kgplatform.query import literal, load_query, pasteable
from kgplatform.readers.answer import OWN_KNOWLEDGE
from kgplatform.readers.readers import READERS, stages_by_reader
from kgplatform.records import Step, Usage
from kgplatform.shown import in_file
from kgplatform.text import counted, duration, listed, without_controls

if TYPE_CHECKING:
    from kgplatform.errors import ModelError
    from kgplatform.explore.runs import ThreadInfo, Turn
    from kgplatform.explore.watch import EvidenceChange
    from kgplatform.records import Answer, Citation, Conflict, FoundFact, FoundPassage, SearchResult

_INDENT = "     "
_WIDTH = 100_000
_STANDS_AT = re.compile(r"at (.+?)(?:: |; |$)")
"""How the detail of a step begins that stands at a node."""

_FIRST = 3
"""Passages that are shown with an answer that cites nothing, and where a reader failed."""

_REPLY = 240
"""Characters of a reply: its beginning, and its end, where a decision stands."""

_HOW = """\
// To run one again in Neo4j Browser, paste its :param lines, then the statement by itself: only a statement that is
// pasted alone shows its rows. cypher-shell takes all of it at once. A vector stays set until another replaces it."""


def show_search(result: SearchResult, out: Console | None = None, *, all_facts: bool = False) -> None:
    """Communities and paths that led there, then passages, then facts, best first, each with its place. Of the facts
    those that speak to the question; ``all_facts``: the others too."""
    out = out or console()
    if not (result.passages or result.facts or result.communities or result.paths):
        out.print("Nothing was found.")
        return
    facts = [fact for fact in result.facts if fact.relevant or all_facts]
    if result.fits is False:
        none_has = f", and none mentions {safe(listed(result.missing, 3))}" if result.missing else ""
        out.print(f"No passage is likely to answer this{none_has}: these are only the closest.")
    if result.communities:
        out.print("[bold]Communities[/bold]")
    for number, community in enumerate(result.communities, 1):
        out.print(f"{number:3}. [bold]{safe(community.name)}[/bold]  {counted(community.size, 'entity')}")
        out.print(f"{_INDENT}{safe(short(community.summary))}")
    if result.paths:
        out.print("[bold]Paths[/bold]")
    for number, path in enumerate(result.paths, 1):
        words = path.names[0]
        for predicate, forward, name in zip(path.predicates, path.forward, path.names[1:], strict=True):
            words += f" —[{predicate}]→ {name}" if forward else f" ←[{predicate}]— {name}"
        out.print(f"{number:3}. {safe(words)}")
    if result.passages:
        out.print("[bold]Passages[/bold]")
        _show_passages(out, result.passages)
    if facts:
        out.print("[bold]Facts[/bold]")
    for number, fact in enumerate(facts, 1):
        place = f"  ({_place(fact.citations[0])})" if fact.citations else ""
        untimed = "" if result.as_of is None or any(each.time for each in fact.citations) else "  no time given"
        out.print(f"{number:3}. {safe(fact.timed)}{safe(place)}{untimed}")
    found = f"{counted(len(result.passages), 'passage')} and {counted(len(facts), 'fact')}"
    time = f" in {duration(result.seconds)}" if result.seconds else ""
    hidden = ""
    if number := len(result.facts) - len(facts):
        why = "less relevant or repeated" if facts else "less relevant"
        verb = "fact is" if number == 1 else "facts are"
        hidden = f". {number:,} {why} {verb} hidden; kgplatform search --facts shows all."
    out.print(f"{found}{time}{hidden}", soft_wrap=True)


def _show_passages(out: Console, passages: Sequence[FoundPassage]) -> None:
    """Each with its best sentence and where that stands; with its beginning where none shares a word."""
    for number, passage in enumerate(passages, 1):
        shown = passage.sentence or passage
        location = f", {shown.location}" if shown.location else ""
        where = f"{passage.title}{location}, characters {shown.start}–{shown.end}"
        where += in_file(passage.title, passage.document)
        how = f"  score {passage.score:.3f}  by {', '.join(passage.routes)}" if passage.routes else ""
        out.print(f"{number:3}. [bold]{safe(where)}[/bold]{how}", soft_wrap=True)
        out.print(f"     {safe(short(shown.text))}")
        if passage.copies:
            names = listed([f"{each.title}{in_file(each.title, each.document)}" for each in passage.copies], 3)
            out.print(f"     [dim]The same text: {safe(names)}[/dim]")


def _stated(fact: FoundFact) -> str:
    """A fact, and the first place that states it."""
    return f"{fact.timed}  ({_place(fact.citations[0])})" if fact.citations else fact.timed


def show_conflicts(found: Sequence[Conflict]) -> None:
    """Each with its two facts and their places."""
    out = console()
    for number, each in enumerate(found, 1):
        out.print(f"{number:3}. [bold]{safe(each.subject)}[/bold]: {safe(each.name)}")
        for fact in each.facts:
            out.print(f"{_INDENT}{safe(_stated(fact))}")
    out.print(counted(len(found), "conflict"))


def show_checked(checked: Sequence[CheckedAnswer]) -> None:
    """The kept answers that do not stand, each with what became of its sentences, old and new side by side."""
    out = console()
    for each in checked:
        if each.state in SHAKEN:
            out.print(
                f"[bold]{safe(each.question)}[/bold]  {each.state}  (run {each.run}, {each.at[:10]})", soft_wrap=True
            )
            _show_became(out, each)
    out.print(summary(checked))


def _show_became(out: Console, checked: CheckedAnswer) -> None:
    for each in checked.sentences:
        if each.state in SHAKEN:
            out.print(f"{safe(f'[{each.number}]')} {safe(_place(each.then))}: {each.state}", soft_wrap=True)
            told = {"then": each.then.text, "now": each.now.text if each.now and each.state == "changed" else ""}
            if each.against:
                told["but"] = _stated(each.against)
            for name, text in told.items():
                if text:
                    out.print(f"{_INDENT}[dim]{name + ':':6}[/dim]{safe(short(text))}")
    if checked.better:
        _show_passages(out, [checked.better])
    if checked.again:
        out.print(f"{_INDENT}[dim]answered then:[/dim] {safe(short(checked.answer or ''))}")
        out.print(f"{_INDENT}[dim]answered now:[/dim]  {safe(short(str(checked.again)))}")


def show_change(change: EvidenceChange) -> None:
    """The sentences that came and went."""
    for sign, cited in (("+", change.came), ("-", change.gone)):
        for each in cited:
            print(f"{sign} {without_controls(f'{_place(each)}: {short(each.text)}')}", flush=True)


def show_answer(answer: Answer, out: Console | None = None) -> None:
    """The answer with its citations, or the evidence where no model wrote one; the first of it where none is cited."""
    out = out or console()
    if answer.text is None:
        show_search(answer.evidence, out)
        out.print(safe(answer.note))
        return
    _show_cited(out, answer.text, answer)
    for side in answer.other_sides:
        out.print(safe(side))
    if not answer.citations and OWN_KNOWLEDGE not in answer.note:
        show_first(out, "What was read", answer.evidence.passages)


def _show_cited(out: Console, text: str, answer: Answer | Turn) -> None:
    """The ``text`` of an answer, what is marked in it, what it cites, and the note."""
    out.print(safe(text))
    for statement in answer.statements:
        for mark in statement.marks:
            out.print(f"{_INDENT}[dim]“{safe(short(statement.text))}”:[/dim] {safe(mark)}")
    for number, citation in enumerate(answer.citations, 1):
        place = _place(citation) if citation else "no longer in the graph"
        out.print(f"{safe(f'[{number}]')} {safe(place)}", soft_wrap=True)
        if citation and citation.text:
            out.print(f"{_INDENT}{safe(short(citation.text))}")
    if answer.note:
        out.print(safe(answer.note))


def show_first(out: Console, what: str, passages: Sequence[FoundPassage]) -> None:
    """The first few passages, where there are any; ``--json`` has all."""
    if passages:
        of = f"{_FIRST} of " if len(passages) > _FIRST else ""
        out.print(f"[bold]{what}: {of}{counted(len(passages), 'passage')}[/bold]")
        _show_passages(out, passages[:_FIRST])


def show_turns(turns: Sequence[Turn]) -> None:
    """What was asked and answered in a thread, with the citations."""
    out = console()
    for turn in turns:
        out.print(f"[bold]> {safe(turn.asked)}[/bold]")
        _show_cited(out, turn.text if turn.text is not None else "(no answer)", turn)
        out.print()


def show_threads(threads: Sequence[ThreadInfo]) -> None:
    """A line for each thread, the last first."""
    out = console()
    if threads:
        rows = ((each.id, f"{each.turns:,}", each.at[:16].replace("T", " "), short(each.question)) for each in threads)
        table(out, ("Thread", "Turns", "Last", "First question"), rows)
    out.print(counted(len(threads), "thread"))


def failed_json(question: str, error: ModelError, usage: Usage, *, trace: bool) -> dict[str, Any]:
    """What JSON shows where the reader failed: the error, what was found and done until then, and the cost."""
    told = {"kind": type(error).__name__, "message": spelled(error)}
    found = {"evidence": error.evidence, "trace": _steps(error.steps, trace)}
    return {"question": question, "error": told, **found, "usage": usage}


def _steps(steps: Sequence[Step], trace: bool) -> tuple[Step, ...]:
    """``steps``, with their statements only for ``--trace``."""
    return tuple(step if trace else replace(step, queries=()) for step in steps)


def spent_on(usage: Usage, seconds: float, nothing: str = "no model call") -> str:
    """One line: what an answer cost; ``nothing`` where no reply of a model came.

    >>> spent_on(Usage(calls=1, input_tokens=900, output_tokens=20), 2.4)
    '1 model call, 900 tokens in, 20 out, 2.4 s'
    """
    return f"{_spent(usage).removeprefix(', ') or nothing}, {duration(seconds)}"


def _place(citation: Citation) -> str:
    location = f", {citation.location}" if citation.location else ""
    unsure = "" if citation.found else ", somewhere in this passage"
    file = in_file(citation.title, citation.document)
    return f"{citation.title}{location}, characters {citation.start}–{citation.end}{unsure}{file}"


def show_run(answer: Answer, *, as_json: bool, trace: bool) -> None:
    """What ``ask`` prints: the answer, with ``trace`` the steps and statements too, and where the run is saved."""
    if as_json:
        print_json(replace(answer, trace=_steps(answer.trace, trace)))
        return
    show_answer(answer)
    if trace:
        show_trace(answer)
    if answer.run is not None:  # the statement that shows it, and the saved query that draws its walks
        statement = load_query("explore/kept_run").text.replace("$run", literal(answer.run))
        print(f"\nThe run is saved. To see it in Neo4j Browser, paste:\n{statement};")
        if any(step.elements for step in answer.trace):
            print("cypher/saved/walk.cypher draws the last saved walk with its nodes and passages.")


def show_trace(answer: Answer, out: Console | None = None) -> None:
    """The steps with what each did, found and cost, each walk under its own heading; then counts and statements."""
    out = out or console()
    statements = pasteable(run for step in answer.trace for run in step.queries)
    out.print("\n[bold]Steps[/bold]")
    path, is_walked = 0, any(step.elements for step in answer.trace)  # else its paths are those of members of a team
    for number, step in enumerate(answer.trace, start=1):
        if step.path != path and is_walked:
            path, start = step.path, _STANDS_AT.match(step.detail)
            begins = f": from {safe(start[1])}" if start else ""
            out.print(f"\n[bold]Path {path}[/bold]{begins}" if path else "\n[bold]All paths[/bold]")
        ran = [(run.statement, run.parameters) for run in step.queries]
        numbers = [each.number for each in statements if (each.run.statement, each.run.parameters) in ran]
        _show_step(out, number, step, numbers)
    out.print(f"{counted(len(answer.trace), 'step')}{_spent(answer.usage)}")
    _show_counts(out, answer.counts)
    if statements:  # plain and with no line broken: rich's markup and wrapping would change what is pasted
        out.print("\n[bold]Statements[/bold]")
        print(_HOW, file=out.file)
    for statement in statements:
        held = f", with the vector set for {statement.before}" if statement.before is not None else ""
        rows = f"{counted(statement.run.rows, 'row')} in {duration(statement.run.seconds)}"
        print(f"\n// {statement.number}. {statement.run.name}: {rows}{held}\n{statement.text}", file=out.file)


def _show_counts(out: Console, counts: Mapping[str, int]) -> None:
    """Function calls by stage; other counts by the first part of their names."""
    stages = stages_of(counts, stages_by_reader())
    if stages:
        out.print(f"function calls: {sum(stage.calls for stage in stages):,}")
        show_stages(out, stages)
    others: dict[str, list[str]] = {}
    called = {f"{stage.stage}.{function.name}" for stage in stages for function in stage.functions}
    for name, number in counts.items():
        kind, _, what = name.partition(".")
        if name not in called and number:
            others.setdefault(kind, []).append(f"{what} {number:,}".strip())
    for kind, parts in others.items():
        out.print(f"{safe(kind)}: {safe(', '.join(parts))}")


def show_stages(out: Console, stages: Sequence[StageCalls]) -> None:
    """A line per stage: its calls and their share of all, its functions and their share of its calls."""
    for stage in stages:
        functions = ", ".join(f"{one.name} {one.calls:,} ({one.share:.0%})" for one in stage.functions)
        out.print(f"{_INDENT}{stage.stage} {stage.calls:,} ({stage.share:.0%}): {safe(functions)}")


def trace_in_words(answer: Answer) -> str:
    """The answer and its trace as ``ask --trace`` prints them, with no line broken."""
    written = io.StringIO()
    out = Console(file=written, width=_WIDTH, highlight=False, emoji=False, force_terminal=False, color_system=None)
    show_answer(answer, out)
    show_trace(answer, out)
    return written.getvalue()


def _show_step(out: Console, number: int, step: Step, statements: Sequence[int]) -> None:
    stage = (step.prompt or "").rpartition("/")[2]  # in which a function was chosen, after which the step is named
    stage = stage if any(stage in stages for stages in stages_by_reader().values()) else ""
    name = step.name if step.name.startswith(stage) else f"{stage} → {step.name}"
    out.print(f"{number:3}. [bold]{safe(name)}[/bold]  {duration(step.seconds)}{_spent(step.usage)}")
    if step.detail:
        out.print(f"{_INDENT}{safe(short(step.detail))}")
    if step.prompt:
        out.print(f"{_INDENT}prompt: {safe(step.prompt)}")
    if flat := " ".join(step.reply.split()):
        if len(flat) > _REPLY:
            flat = f"{flat[: _REPLY // 2].rsplit(' ', 1)[0]} … {flat[-_REPLY // 2 :].split(' ', 1)[-1]}"
        out.print(f"{_INDENT}reply: {safe(flat)}")
    if found := _found(step, stage):
        out.print(f"{_INDENT}{found}")
    if statements:  # "1–3, 7": those that run on have the same distance from their places
        apart = groupby(enumerate(statements), key=lambda placed: placed[1] - placed[0])
        runs = [[number for _, number in run] for _, run in apart]
        ran = ", ".join(str(run[0]) if len(run) == 1 else f"{run[0]}–{run[-1]}" for run in runs)
        out.print(f"{_INDENT}ran statement{'s' if len(statements) > 1 else ''} {ran}")


def _found(step: Step, stage: str) -> str:
    """What a step found or read; where a function was chosen in view of facts, what was shown and what was chosen."""
    facts, passages = counted(len(step.facts), "fact"), counted(len(step.passages), "passage")
    if stage and step.facts:
        return f"shown: {facts}; chosen to read: {passages}"
    if step.pages:
        return f"read: {counted(len(step.pages), 'page')}, from {passages}"
    found = [words for ids, words in ((step.facts, facts), (step.passages, passages)) if ids]
    is_read = any(step.prompt in reader.reads for reader in READERS)
    return f"{'read' if is_read else 'found'}: {' and '.join(found)}" if found else ""


def _spent(usage: Usage) -> str:
    if not usage.calls and not usage.cached_calls:
        return ""
    cached = f", {counted(usage.cached_calls, 'answer')} from the cache" if usage.cached_calls else ""
    tokens = f"{counted(usage.input_tokens, 'token')} in, {usage.output_tokens:,} out"
    return f", {counted(usage.calls, 'model call')}, {tokens}{cached}"
