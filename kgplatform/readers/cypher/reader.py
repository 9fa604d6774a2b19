"""Reader ``cypher``: a statement is written from the question and the live schema, run, and answered from its rows.

The model writes the statement; the platform checks that it only reads, bounds its time and its rows, and hands it back
with the database's complaint where it does not work or finds nothing. The rows are traced back to the facts and
passages behind them, so that the answer cites characters; what rests on facts whose words no passage has is left out
before the model sees it, and counted, as far as that can be told (``sources_of``). Without a language model the
evidence is the answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AfterValidator

from kgplatform.errors import ModelError
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, render, with_reminder
from kgplatform.readers.answer import NOT_CITED, REFUSAL, Answered, record, without_model, write_answer
from kgplatform.readers.cypher.rows import Rows, RowSelection
from kgplatform.readers.reader import AnswerMode, AnswerStyle, Reader, check, mode_option, option, style_option
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.selection import Selection
from kgplatform.records import Answer, SearchResult
from kgplatform.search.live_schema import example_relation, shown_schema
from kgplatform.search.statement import Sources, Statements, Tried
from kgplatform.text import clipped, counted, tidy

_SCHEMA_TOKENS, _SCHEMA_SHARE = 900, 8
_ROWS_TOKENS, _ROWS_SHARE = 1100, 4
"""At most so many, and in a small window its nth part."""
_STATEMENT_TOKENS = 500
_SHOWN = 600
"""Characters of a statement in a note, and of its parameters."""
_UNCHANGED = "The statement and its parameters are the same as before."
_NOTHING = "Your statement ran and found nothing."
_NO_ROWS = "The graph does not say: no row was found. "
_NOT_STATED = "No passage has the words of what was found. "
_ROWS_ALONE = "The answer cites no sentence: it was made from the rows of the statement alone."
_DRESSING = re.compile(r"\A\s*(?:```\w*)?|(?:\s|;|```)+\Z")


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works. ``timeout`` in seconds."""

    mode: AnswerMode = mode_option()
    rows: int = option(50, "maximum number of rows to read", least=1, most=1000)
    timeout: float = option(10.0, "time limit of the statement in seconds", least=0.001, most=600)
    answer_style: AnswerStyle = style_option()
    repairs: int = option(1, "how often to rewrite a statement that fails or finds nothing", least=0, most=3)

    def __post_init__(self) -> None:
        check(self)


def _without_dollars(given: dict[str, Any]) -> dict[str, Any]:
    return {name.strip().removeprefix("$"): value for name, value in given.items()}


class WrittenStatement(Form):
    """A Cypher statement, less what models put round it (a fence, a semicolon), and its parameters."""

    statement: Annotated[str, AfterValidator(lambda said: _DRESSING.sub("", said))] = text(2000)
    parameters: Annotated[dict[str, Any], AfterValidator(_without_dollars)] = {}

    def __str__(self) -> str:
        given = ", ".join(f"${name} = {value!r}" for name, value in self.parameters.items())
        return f"{clipped(self.statement, _SHOWN)}{f' with {clipped(given, _SHOWN)}' if given else ''}"


@dataclass(frozen=True, slots=True)
class _Found:
    """The statement that counts, and what came of it."""

    written: WrittenStatement
    tried: Tried


def answer(question: str, run: Run, options: Options) -> Answer:
    """Write a statement, run it, repair it if need be, and answer from its rows. Raises ``ModelError``."""
    if run.chat is None:
        found = run.evidence.search(question)
        return without_model(found.result.question, READER.name, found, run.tell)
    question = tidy(question)
    statements = run.evidence.statements(question)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    messages = _look(question, statements, calls, options, run.context)
    best = _find(messages, statements, calls, options)
    sources = _trace_back(best.tried, statements, calls)
    seconds = round(best.tried.query.seconds, 4) if best.tried.query else 0.0
    passages, facts = tuple(sources.known_passages.values()), tuple(sources.known_facts.values())
    result = SearchResult(question, passages, facts, seconds)
    answered = _answer(result, best, sources, calls, options, run.context)
    return record(READER.name, answered, result, calls, _told(best, sources), is_shown=False)


def _look(question: str, statements: Statements, calls: Calls, options: Options, context: int) -> Messages:
    """The prompt, from what there is to ask for and whom the question may mean."""
    schema, ran = statements.schema()
    meant, looked = statements.names_meant()
    there = f"{counted(len(schema.types), 'type')} of entities, {counted(len(schema.relations), 'kind')} of relations"
    named = ", ".join(entity.name for entity in meant if entity.named)
    calls.note("look", f"{there}; named in the question: {named or 'nothing that is there'}", (*ran, *looked))
    shown = shown_schema(schema.brief(), min(_SCHEMA_TOKENS, context // _SCHEMA_SHARE))
    names = "\n".join(f"{entity.name} ({entity.label})" for entity in meant) or "(none)"
    fences = {"fence": fence_for(shown), "asked": fence_for(shown, names, question)}
    inputs = {"question": question, "schema": shown, "names": names, "rows": str(options.rows)}
    return render("cypher/write", **fences, **inputs, **example_relation(schema))


def _find(messages: Messages, statements: Statements, calls: Calls, options: Options) -> _Found:
    """The statement that found something, else the last one, after at most ``options.repairs`` repairs."""
    tries: list[_Found] = []
    sent = messages
    while True:
        written = _write(sent, calls, "cypher/again" if tries else "cypher/write")
        if any(written == each.written for each in tries):
            tried = Tried(fault=_UNCHANGED)
            calls.counts["malformed.statement"] += 1
            calls.note("run", _UNCHANGED)
        else:
            tried = _run(written, statements, calls, options)
        tries.append(_Found(written, tried))
        if len(tries) > options.repairs or (tried.tells and not tried.unknown):
            return next((each for each in reversed(tries) if each.tried.tells), tries[-1])
        # As part of the question: a model repeats what stands as a reply of its own.
        fault, statement = _complaint(tried), str(written)
        again = render("cypher/again", fault=fault, statement=statement, fence=fence_for(fault, statement))
        sent = with_reminder(messages, f"\n\n{again[1]['content']}")


def _write(messages: Messages, calls: Calls, prompt: str) -> WrittenStatement:
    name = "write" if prompt == "cypher/write" else "repair"
    mark = calls.mark()
    try:
        written, repairs = ask(calls, messages, WrittenStatement, stage="statement", tokens=_STATEMENT_TOKENS)
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=prompt)
        raise
    after = f" (after {counted(repairs, 'repair')})" if repairs else ""
    calls.add(name, f"{written}{after}", mark, prompt=prompt)
    return written


def _run(written: WrittenStatement, statements: Statements, calls: Calls, options: Options) -> Tried:
    tried = statements.run(written.statement, written.parameters, rows=options.rows, timeout=options.timeout)
    more = ", and there are more" if tried.more else ""
    told = tried.fault or f"{counted(len(tried.rows), 'row')}{more}"
    calls.note("run", " ".join((told, *tried.unknown)), (tried.query,) if tried.query else ())
    return tried


def _complaint(tried: Tried) -> str:
    """What is wrong with a statement, to whoever wrote it."""
    said = f"Your statement cannot be run: {tried.fault}" if tried.fault else "" if tried.tells else _NOTHING
    return " ".join(filter(None, (said, *tried.unknown)))


def _trace_back(tried: Tried, statements: Statements, calls: Calls) -> Sources:
    """The rows that may be shown, and the facts and passages behind them."""
    sources = statements.sources(tried)
    gone = {"row": sources.unfound_rows, "value": sources.unfound_values}
    if tried.rows:
        facts, passages = tuple(sources.known_facts), tuple(sources.known_passages)
        counts = f"{counted(len(facts), 'fact')} and {counted(len(passages), 'passage')} stand behind the rows"
        less = " and ".join(counted(number, what) for what, number in gone.items() if number)
        left_out = f"; {less} left out, whose words no passage has" if less else ""
        found = StepFound(sources.queries, facts=facts, passages=passages)
        calls.note("trace back", f"{counts}{left_out}", found=found)
    calls.counts.update({f"unfound.{what}": number for what, number in gone.items()})
    return sources


def _answer(
    result: SearchResult, found: _Found, sources: Sources, calls: Calls, options: Options, context: int
) -> Answered:
    """What the model says from the rows. Without rows a refusal, or in open mode what it knows by itself."""
    shown = replace(found.tried, rows=sources.rows)
    mode, style, question = options.mode, options.answer_style, result.question
    if not shown.tells:
        if mode == "open":
            nothing = Selection(SearchResult(question, (), (), 0.0), {})
            return write_answer(question, nothing, calls, mode, style=style)
        calls.note("answer", "nothing was found, so the model was not asked")
        return Answered(REFUSAL)
    rows = Rows(shown, sources, str(found.written), min(_ROWS_TOKENS, context // _ROWS_SHARE))
    answered = write_answer(question, RowSelection(result, {}), calls, mode, shown=rows, style=style)
    return replace(answered, note=answered.note.replace(NOT_CITED, _ROWS_ALONE))


def _told(found: _Found, sources: Sources) -> str:
    """What was asked of the graph, so that it can be asked again, and what is to be known of the rows."""
    tried = found.tried
    if tried.fault:
        fault = tried.fault.partition("\n")[0]  # then comes a picture of where it is
        return f"No statement could be run: {fault} The last was: {found.written}"
    rows = counted(len(sources.rows), "row") + (" and more" if tried.more else "")
    rows += f", less {sources.unfound_rows:,} whose words no passage has," if sources.unfound_rows else ""
    nothing = "" if replace(tried, rows=sources.rows).tells else _NOT_STATED if sources.unfound_rows else _NO_ROWS
    return f"{nothing}{rows} of the statement: {found.written}"


READER = Reader(
    "cypher",
    "Writes a Cypher statement, and answers from its rows.",
    Options,
    answer,
    title="Count and list (Cypher)",
    takes="2 or 3 calls",
    whole_graph=True,
)
