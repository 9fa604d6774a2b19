"""Reader ``cypher``: a statement is written from the question and the live schema, run, and answered from its rows.

The model writes the statement; the platform checks that it only reads, bounds its time and its rows, and hands it back
with the database's complaint where it does not work or finds nothing. The rows are traced back to the facts and
passages behind them, so that the answer cites characters. Without a language model the evidence is the answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pydantic import BaseModel, Field

from kgplatform.errors import ModelError
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, render
from kgplatform.readers.answer import (
    OWN_KNOWLEDGE,
    REFUSAL,
    Answered,
    fence_for,
    without_model,
    write_answer,
)
from kgplatform.readers.calls import Calls, StepFound
from kgplatform.readers.cypher.rows import cite_rows, shown_rows
from kgplatform.readers.cypher.schema import example_relation, shown_schema
from kgplatform.readers.reader import AnswerMode, Reader, check, mode_option, option
from kgplatform.readers.run import Run
from kgplatform.records import Answer, SearchResult
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.statement import Meant, Sources, Statements, Tried
from kgplatform.retrieve.statement_schema import LiveSchema
from kgplatform.text import counted, tidy

_SCHEMA_TOKENS = 3000
_ROWS_TOKENS = 3000
_STAGE = "statement"
_ANSWER_STAGE = "answer"
_SHOWN = 600
"""Characters of a statement in a note, and of its parameters."""
_NOTHING = "Your statement ran and found nothing."
_NO_ROWS = "The graph does not say: no row was found. "
_UNSUPPORTED = "The model's answer says nothing that the rows say. "

_INSUFFICIENT: dict[AnswerMode, str] = {
    "reject": 'If the rows do not say it, set "sufficient" to false and leave "answer" empty.',
    "open": 'If the rows do not say it, set "sufficient" to false and answer from your own knowledge, without [ ].',
}


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works. ``timeout`` in seconds."""

    mode: AnswerMode = mode_option()
    rows: int = option(50, "the most rows that are read", least=1, most=1000)
    timeout: float = option(10.0, "the most seconds of the statement", least=0.001, most=600)
    repairs: int = option(
        1, "how often the statement is written again where it does not work or finds nothing", least=0, most=3
    )

    def __post_init__(self) -> None:
        check(self)


class _Written(BaseModel):
    statement: str
    parameters: dict[str, Any] = Field(default_factory=dict)


class _Reply(BaseModel):
    answer: str = ""
    sufficient: bool = True


@dataclass(frozen=True, slots=True)
class _Found:
    """The statement that counts, and what came of it."""

    written: _Written = field(default_factory=lambda: _Written(statement=""))
    tried: Tried = Tried()


def answer(question: str, run: Run, options: Options) -> Answer:
    """Write a statement, run it, repair it if need be, and answer from its rows. Raises ``ModelError``."""
    if run.chat is None:
        found = run.evidence.search(question)
        return without_model(found.result.question, READER.name, found, run.tell)
    question = tidy(question)
    statements = run.evidence.statements(question)
    calls = Calls(run.chat, run.ledger, run.tell)
    messages = _look(question, statements, calls, options)
    found_rows = _find(messages, statements, calls, options)
    sources = _trace_back(found_rows, statements, calls)
    result = _evidence(question, found_rows, sources)
    answered = _answer(question, result, found_rows, sources, run.evidence, calls, options.mode)
    return Answer(
        question,
        READER.name,
        answered.text,
        answered.citations,
        result,
        tuple(calls.steps),
        calls.usage,
        answered.note,
    )


# ------------------------------------------------------------------------------------------------------- the statement


def _look(question: str, statements: Statements, calls: Calls, options: Options) -> Messages:
    """The prompt, from what there is to ask for and whom the question may mean."""
    schema, ran = statements.schema()
    meant, looked = statements.names_meant()
    there = f"{counted(len(schema.types), 'type')} of entities, {counted(len(schema.relations), 'kind')} of relations"
    named = ", ".join(each.name for each in meant if each.named)
    calls.note("look", f"{there}; named in the question: {named or 'nothing that is there'}", (*ran, *looked))
    return _messages(question, schema, meant, options)


def _messages(question: str, schema: LiveSchema, meant: tuple[Meant, ...], options: Options) -> Messages:
    shown = shown_schema(schema, _SCHEMA_TOKENS)
    names = "\n".join(f"{each.name} ({each.label})" for each in meant) or "(none)"
    return render(
        "cypher/write",
        question=question,
        schema=shown,
        names=names,
        rows=str(options.rows),
        fence=fence_for(shown, names, question),
        **example_relation(schema),
    )


def _find(messages: Messages, statements: Statements, calls: Calls, options: Options) -> _Found:
    """The statement that found something, else the last one, after at most ``options.repairs`` repairs."""
    kept = _Found()
    for attempt in range(1 + options.repairs):
        written = _write(messages, calls, "cypher/again" if attempt else "cypher/write")
        tried = _run(written, statements, calls, options)
        if tried.tells or not kept.tried.tells:
            kept = _Found(written, tried)
        if tried.tells and not tried.unknown:
            break
        said = {"role": "assistant", "content": written.model_dump_json()}
        messages = [*messages, said, render("cypher/again", fault=_complaint(tried))[1]]
    return kept


def _write(messages: Messages, calls: Calls, prompt: str) -> _Written:
    name = "write" if prompt == "cypher/write" else "repair"
    mark = calls.mark()
    try:
        written, repairs = ask(calls, messages, _Written, stage=_STAGE)
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=prompt)
        raise
    written = _Written(statement=_bare(written.statement), parameters=written.parameters)
    calls.add(name, f"{_flat(written)}{f' (after {repairs} repairs)' if repairs else ''}", mark, prompt=prompt)
    return written


def _run(written: _Written, statements: Statements, calls: Calls, options: Options) -> Tried:
    tried = statements.run(written.statement, written.parameters, rows=options.rows, timeout=options.timeout)
    more = ", and there are more" if tried.more else ""
    told = tried.fault or f"{counted(len(tried.rows), 'row')}{more}"
    calls.note("run", " ".join((told, *tried.unknown)), (tried.query,) if tried.query else ())
    return tried


def _complaint(tried: Tried) -> str:
    """What is wrong with a statement, to whoever wrote it."""
    said = f"Your statement cannot be run: {tried.fault}" if tried.fault else "" if tried.tells else _NOTHING
    return " ".join(filter(None, (said, *tried.unknown)))


def _bare(statement: str) -> str:
    """``statement`` without what models put round it: a fence, a semicolon at the end."""
    text = statement.strip()
    if text.startswith("```"):
        text = text.partition("\n")[2].rpartition("```")[0] or text.strip("`")
    return text.strip().rstrip(";").rstrip()


def _flat(written: _Written) -> str:
    """The statement on one line, with its parameters."""
    given = ", ".join(f"${name} = {value!r}" for name, value in written.parameters.items())
    return f"{_short(written.statement)}{f' with {_short(given)}' if given else ''}"


def _short(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _SHOWN else flat[: _SHOWN - 1] + "…"


# ---------------------------------------------------------------------------------------------------------- the answer


def _trace_back(found: _Found, statements: Statements, calls: Calls) -> Sources:
    """The facts and passages behind the rows."""
    sources = statements.sources(found.tried)
    facts, passages = tuple(sources.known_facts), tuple(sources.known_passages)
    if found.tried.rows:
        counts = f"{counted(len(facts), 'fact')} and {counted(len(passages), 'passage')} stand behind the rows"
        calls.note("trace back", counts, found=StepFound(sources.queries, facts=facts, passages=passages))
    return sources


def _evidence(question: str, found: _Found, sources: Sources) -> SearchResult:
    seconds = found.tried.query.seconds if found.tried.query else 0.0
    return SearchResult(
        question, tuple(sources.known_passages.values()), tuple(sources.known_facts.values()), round(seconds, 4)
    )


def _answer(
    question: str,
    result: SearchResult,
    found: _Found,
    sources: Sources,
    evidence: Evidence,
    calls: Calls,
    mode: AnswerMode,
) -> Answered:
    """What the model says from the rows. Without rows a refusal, or in open mode what it knows by itself."""
    if not found.tried.tells:
        why = f"{_NO_ROWS if not found.tried.fault else ''}{_note(found)}"
        if mode == "open":
            return write_answer(question, SearchResult(question, (), (), 0.0), evidence, calls, mode)
        calls.note("answer", "nothing was found, so the model was not asked")
        return Answered(REFUSAL, note=why)
    reply, shown = _from_rows(question, found, calls, mode)
    cited = cite_rows(reply.answer, found.tried.rows[:shown], sources) if reply.answer.strip() else None
    number = len(cited.citations) if cited else 0
    calls.note(
        "check citations", f"{counted(number, 'place')} in the text stand{'s' * (number == 1)} behind the answer"
    )
    if reply.sufficient and cited is not None:
        return Answered(cited.text, cited.citations, _note(found), holds=True)
    if mode == "open" and reply.answer.strip():
        return Answered(reply.answer.strip(), note=OWN_KNOWLEDGE, holds=True)
    return Answered(REFUSAL, note=f"{_UNSUPPORTED if reply.sufficient and reply.answer else ''}{_note(found)}")


def _from_rows(question: str, found: _Found, calls: Calls, mode: AnswerMode) -> tuple[_Reply, int]:
    """The model's reply, and how many rows it was shown."""
    rows, shown = shown_rows(found.tried.columns, found.tried.rows, _ROWS_TOKENS)
    more = f" (the first {shown}; there are more)" if found.tried.more or shown < len(found.tried.rows) else ""
    statement = _flat(found.written)
    messages = render(
        "cypher/answer",
        question=question,
        insufficient=_INSUFFICIENT[mode],
        statement=statement,
        more=more,
        rows=rows,
        fence=fence_for(statement, rows),
    )
    mark = calls.mark()
    try:
        reply, repairs = ask(calls, messages, _Reply, stage=_ANSWER_STAGE)
    except ModelError as error:
        calls.add("answer", f"failed: {error}", mark, prompt="cypher/answer")
        raise
    calls.add("answer", f"answered after {repairs} repairs" if repairs else "answered", mark, prompt="cypher/answer")
    return reply, shown


def _note(found: _Found) -> str:
    """What was asked of the graph, so that it can be asked again."""
    if found.tried.fault:
        fault = found.tried.fault.partition("\n")[0]  # then comes a picture of where it is
        return f"No statement could be run: {fault} The last was: {_flat(found.written)}"
    rows = counted(len(found.tried.rows), "row") + (" and more" if found.tried.more else "")
    return f"{rows} of the statement: {_flat(found.written)}"


READER = Reader("cypher", "Writes a Cypher statement, and answers from its rows.", Options, answer)
