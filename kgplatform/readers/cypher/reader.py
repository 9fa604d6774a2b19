"""Reader ``cypher``: a statement is written from the question and the live schema, run, and answered from its rows.

The model writes the statement; the platform checks that it only reads, bounds its time and its rows, and hands it back
with the database's complaint where it does not work or finds nothing. The rows are traced back to the facts and
passages behind them, so that the answer cites characters; what rests on facts whose words no passage has is left out
before the model sees it, and counted, as far as that can be told (``sources_of``). Without a language model the
evidence is the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kgplatform.errors import ModelError
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, render, with_reminder
from kgplatform.readers.answer_old import (
    OWN_KNOWLEDGE,
    REFUSAL,
    STYLES,
    Answered,
    cite_words,
    fence_for,
    joined,
    outcome,
    record,
    without_model,
    write_answer,
)
from kgplatform.readers.cypher.written import NOT_WRITTEN, UNCHANGED, WrittenStatement, copied
from kgplatform.readers.marks import labels, marked, replaced, without_marks
from kgplatform.readers.reader import AnswerMode, AnswerStyle, Reader, check, mode_option, option, style_option
from kgplatform.readers.replies import AnswerReply, read_answer, reply_tokens
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.statements import Source
from kgplatform.readers.support import known_only
from kgplatform.records import Answer, Citation, SearchResult
from kgplatform.retrieve.live_schema import example_relation, shown_schema
from kgplatform.retrieve.statement import Sources, Statements, Tried, is_id
from kgplatform.text import clipped, count_tokens, counted, normalise_name, tidy

_SCHEMA_TOKENS, _SCHEMA_SHARE = 3000, 8
_ROWS_TOKENS, _ROWS_SHARE = 3000, 4
"""At most so many, and in a small window its nth part."""
_STATEMENT_TOKENS = 1000
_SHOWN = 600
"""Characters of a statement in a note, and of its parameters."""
_NOTHING = "Your statement ran and found nothing."
_NO_ROWS = "The graph does not say: no row was found. "
_NOT_STATED = "No passage has the words of what was found. "
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
    answer_style: AnswerStyle = style_option()
    repairs: int = option(
        1, "how often the statement is written again where it does not work or finds nothing", least=0, most=3
    )

    def __post_init__(self) -> None:
        check(self)


@dataclass(frozen=True, slots=True)
class _Found:
    """The statement that counts, and what came of it. ``unfound``: rows that were left out of it, since no passage has
    their words."""

    written: WrittenStatement = field(default_factory=lambda: NOT_WRITTEN)
    tried: Tried = Tried()
    unfound: int = 0


def answer(question: str, run: Run, options: Options) -> Answer:
    """Write a statement, run it, repair it if need be, and answer from its rows. Raises ``ModelError``."""
    if run.chat is None:
        found = run.evidence.search(question)
        return without_model(found.result.question, READER.name, found, run.tell)
    question = tidy(question)
    statements = run.evidence.statements(question)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    messages = _look(question, statements, calls, options, run.context)
    found_rows, sources = _trace_back(_find(messages, statements, calls, options), statements, calls)
    seconds = round(found_rows.tried.query.seconds, 4) if found_rows.tried.query else 0.0
    passages, facts = tuple(sources.known_passages.values()), tuple(sources.known_facts.values())
    result = SearchResult(question, passages, facts, seconds)
    answered = _answer(question, result, found_rows, sources, run, calls, options)
    return record(READER.name, answered, result, calls)


def _look(question: str, statements: Statements, calls: Calls, options: Options, context: int) -> Messages:
    """The prompt, from what there is to ask for and whom the question may mean."""
    schema, ran = statements.schema()
    meant, looked = statements.names_meant()
    there = f"{counted(len(schema.types), 'type')} of entities, {counted(len(schema.relations), 'kind')} of relations"
    named = ", ".join(entity.name for entity in meant if entity.named)
    calls.note("look", f"{there}; named in the question: {named or 'nothing that is there'}", (*ran, *looked))
    shown = shown_schema(schema, min(_SCHEMA_TOKENS, context // _SCHEMA_SHARE))
    names = "\n".join(f"{entity.name} ({entity.label})" for entity in meant) or "(none)"
    fences = {"fence": fence_for(shown), "asked": fence_for(shown, names, question)}
    inputs = {"question": question, "schema": shown, "names": names, "rows": str(options.rows)}
    return render("cypher/write", **fences, **inputs, **example_relation(schema))


def _find(messages: Messages, statements: Statements, calls: Calls, options: Options) -> _Found:
    """The statement that found something, else the last one, after at most ``options.repairs`` repairs."""
    kept, sent = _Found(), messages
    earlier: list[dict[str, Any]] = []
    for attempt in range(1 + options.repairs):
        written = _write(sent, calls, "cypher/again" if attempt else "cypher/write")
        fault = UNCHANGED if written.asks in earlier else copied(written, messages[-1]["content"])
        tried = _refused(fault, calls) if fault else _run(written, statements, calls, options)
        if tried.tells or not kept.tried.tells:
            kept = _Found(written, tried)
        if tried.tells and not tried.unknown:
            break
        earlier.append(written.asks)
        # As part of the question: a model repeats what stands as a reply of its own.
        fault = _complaint(tried)
        again = render("cypher/again", fault=fault, statement=_flat(written), fence=fence_for(fault, _flat(written)))
        sent = with_reminder(messages, f"\n\n{again[1]['content']}")
    return kept


def _refused(fault: str, calls: Calls) -> Tried:
    calls.counts["malformed.statement"] += 1
    calls.note("run", fault)
    return Tried(fault=fault)


def _write(messages: Messages, calls: Calls, prompt: str) -> WrittenStatement:
    name = "write" if prompt == "cypher/write" else "repair"
    mark = calls.mark()
    try:
        written, repairs = ask(calls, messages, WrittenStatement, stage="statement", tokens=_STATEMENT_TOKENS)
    except ModelError as error:
        calls.add(name, f"failed: {error}", mark, prompt=prompt)
        raise
    after = f" (after {counted(repairs, 'repair')})" if repairs else ""
    calls.add(name, f"{_flat(written)}{after}", mark, prompt=prompt)
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


def _flat(written: WrittenStatement) -> str:
    """The statement on one line, with its parameters."""
    given = ", ".join(f"${name} = {value!r}" for name, value in written.parameters.items())
    return f"{clipped(written.statement, _SHOWN)}{f' with {clipped(given, _SHOWN)}' if given else ''}"


def _trace_back(found: _Found, statements: Statements, calls: Calls) -> tuple[_Found, Sources]:
    """The rows that may be shown, and the facts and passages behind them."""
    sources = statements.sources(found.tried)
    facts, passages = tuple(sources.known_facts), tuple(sources.known_passages)
    if found.tried.rows:
        counts = f"{counted(len(facts), 'fact')} and {counted(len(passages), 'passage')} stand behind the rows"
        found_ids = StepFound(sources.queries, facts=facts, passages=passages)
        calls.note("trace back", f"{counts}{_left_out(sources)}", found=found_ids)
    calls.counts["unfound.row"] += sources.unfound_rows
    calls.counts["unfound.value"] += sources.unfound_values
    return _Found(found.written, replace(found.tried, rows=sources.rows), sources.unfound_rows), sources


def _left_out(sources: Sources) -> str:
    gone = {"row": sources.unfound_rows, "value": sources.unfound_values}
    told = " and ".join(counted(number, what) for what, number in gone.items() if number)
    return f"; {told} left out, whose words no passage has" if told else ""


def _answer(
    question: str,
    result: SearchResult,
    found: _Found,
    sources: Sources,
    run: Run,
    calls: Calls,
    options: Options,
) -> Answered:
    """What the model says from the rows. Without rows a refusal, or in open mode what it knows by itself."""
    if not found.tried.tells:
        nothing = "" if found.tried.fault else _NOT_STATED if found.unfound else _NO_ROWS
        why = f"{nothing}{_note(found)}"
        if options.mode == "open":
            return write_answer(question, SearchResult(question, (), (), 0.0), run.evidence, calls, options.mode)
        calls.note("answer", "nothing was found, so the model was not asked")
        return Answered(REFUSAL, note=why)
    reply, shown = _from_rows(question, found, calls, options, run.context)
    text, unknown = _known(question, reply.said.answer or "", found, sources)
    cited = cite_rows(text, found.tried.rows[:shown], sources) if text else None
    number = len(cited[1]) if cited else 0
    behind = f"{counted(number, 'place')} in the text {'is' if number == 1 else 'are'} behind the answer"
    calls.note("check citations", behind)
    if cited is not None:
        return Answered(*cited, joined(unknown, _note(found)), holds=True)
    if options.mode == "open" and (known := read_answer(reply.answer).answer):
        return Answered(known, note=OWN_KNOWLEDGE, holds=True)
    return Answered(REFUSAL, note=f"{_UNSUPPORTED if reply.said.answer else ''}{joined(unknown, _note(found))}")


def _known(question: str, answer: str, found: _Found, sources: Sources) -> tuple[str, str]:
    """``answer`` less what has a name, number or date that neither the rows and their number nor the texts behind them
    have, and a note on that."""
    rows = [Source(f"{len(found.tried.rows)} {_flat(found.written)}"), *(Source(str(row)) for row in found.tried.rows)]
    texts = [Source(each.text, each.title) for each in sources.known_passages.values()]
    return known_only(question, answer, [*rows, *texts])


def _from_rows(question: str, found: _Found, calls: Calls, options: Options, context: int) -> tuple[AnswerReply, int]:
    """The model's reply, and how many rows it was shown."""
    room = min(_ROWS_TOKENS, context // _ROWS_SHARE)
    rows, shown = shown_rows(found.tried.columns, found.tried.rows, room)
    more = f" (the first {shown}; there are more)" if found.tried.more or shown < len(found.tried.rows) else ""
    statement = _flat(found.written)
    rules = {"style": STYLES[options.answer_style], "insufficient": _INSUFFICIENT[options.mode]}
    inputs = {"question": question, "statement": statement, "rows": rows, "more": more, **rules}
    messages = render("cypher/answer", fence=fence_for(statement, rows), **inputs)
    mark, most = calls.mark(), reply_tokens(options.answer_style, min(_ROWS_TOKENS * 8, context))
    try:
        show = calls.shown("answer")
        reply, repairs = ask(calls, messages, AnswerReply, stage="answer", tokens=most, show=show)
    except ModelError as error:
        calls.add("answer", f"failed: {error}", mark, prompt="cypher/answer")
        raise
    calls.add("answer", outcome(reply.said.answer is None, repairs), mark, prompt="cypher/answer")
    return reply, shown


def _note(found: _Found) -> str:
    """What was asked of the graph, so that it can be asked again."""
    if found.tried.fault:
        fault = found.tried.fault.partition("\n")[0]  # then comes a picture of where it is
        return f"No statement could be run: {fault} The last was: {_flat(found.written)}"
    rows = counted(len(found.tried.rows), "row") + (" and more" if found.tried.more else "")
    rows += f", less {found.unfound:,} whose words no passage has," if found.unfound else ""
    return f"{rows} of the statement: {_flat(found.written)}"


ResultRows = Sequence[Sequence[Any]]

MOST_CITATIONS = 10
_CELL = 400
"""Characters of a value that are shown."""
_ITEMS = 20
"""Of a list."""
_SHORTEST = 3
"""Letters of a value by which a row is known in an answer that names no row."""

_HIDDEN = ("id", "embedding", "elementEmbedding", "fact")


def shown_rows(columns: Sequence[str], rows: ResultRows, tokens: int) -> tuple[str, int]:
    """The first rows that fit into ``tokens``, numbered from 1, less the ids in them; and how many there are."""
    lines: list[str] = []
    for number, row in enumerate(rows, 1):
        cells = {name: _without_ids(cell) for name, cell in zip(columns, row, strict=True)}
        told = (f"{name}: {_short(cell)}" for name, cell in cells.items() if cell is not None)
        line = f"[{number}] {'; '.join(told) or '(nothing)'}"
        tokens -= count_tokens(line) + 1
        if tokens < 0 and lines:
            break
        lines.append(line)
    return "\n".join(lines), len(lines)


def cite_rows(answer: str, rows: ResultRows, sources: Sources) -> tuple[str, tuple[Citation, ...]] | None:
    """``answer`` with the citations of the rows that it marks, or, where it marks none, of those that it names.

    Marks of rows that are not there, or that no text stands behind, are taken out. None where neither a citation can
    be had nor anything in the rows stands in the answer: it says something else.
    """
    shown, bare = labels(len(rows)), without_marks(answer, len(rows))
    numbers = list(map(int, marked(answer, shown)))
    numbers = numbers or [n for n, row in enumerate(rows, 1) if _is_named(row, bare)]
    places = {n: _citations(n - 1, sources, bare) for n in numbers}
    cited = tuple(dict.fromkeys(place for row in places.values() for place in row))[:MOST_CITATIONS]
    if cited:
        number = {citation: n for n, citation in enumerate(cited, 1)}

        def marks(inside: list[str]) -> str:
            behind = (each for label in inside for each in places.get(int(label), ()) if each in number)
            return "".join(f"[{number[each]}]" for each in dict.fromkeys(behind))

        return replaced(answer, shown, marks), cited
    if found := cite_words(bare, list(sources.known_passages.values())):
        return bare, found
    return (bare, ()) if any(_stands_in(row, bare) for row in rows) else None


def _citations(row: int, sources: Sources, answer: str) -> tuple[Citation, ...]:
    """Of each fact behind a row the first place that states it; without any, words of the answer in its passages."""
    known = (sources.known_facts[fact] for fact in sources.facts[row] if fact in sources.known_facts)
    stated = [place for fact in known for place in [next((p for p in fact.citations if p.found), None)] if place]
    if stated:
        return tuple(stated)
    passages = [
        sources.known_passages[passage] for passage in sources.passages[row] if passage in sources.known_passages
    ]
    return cite_words(answer, passages)


def _without_ids(value: Any) -> Any:
    """``value`` as words tell it: None for ids and for lists of nothing else."""
    if is_id(value):
        return None
    if isinstance(value, dict):
        inner = value.get("properties", value)
        kept = {name: _without_ids(each) for name, each in inner.items() if name not in _HIDDEN}
        return {name: each for name, each in kept.items() if each is not None} or None
    if isinstance(value, (list, tuple)):
        items = [_without_ids(item) for item in value]
        return [item for item in items if item is not None][:_ITEMS] or None
    return value


def _short(value: Any) -> str:
    return clipped(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), _CELL)


def _is_named(row: Sequence[Any], answer: str) -> bool:
    """Whether a name of ``row`` stands in ``answer``."""
    return any(len(value) >= _SHORTEST and _is_word(value, answer) for value in _values(row) if not value.isdigit())


def _stands_in(row: Sequence[Any], answer: str) -> bool:
    """Whether any value of ``row`` does; a truth value is one that no words need to repeat."""
    return any(isinstance(cell, bool) for cell in row) or any(_is_word(value, answer) for value in _values(row))


def _is_word(value: str, answer: str) -> bool:
    plain, said = normalise_name(value), normalise_name(answer)
    return bool(plain) and re.search(rf"(?<!\w){re.escape(plain)}(?!\w)", said) is not None


def _values(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        value = list(value.get("properties", value).values())
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from _values(item)
    elif value is not None and not isinstance(value, bool) and not is_id(value):
        yield str(value)


READER = Reader(
    "cypher",
    "Writes a Cypher statement, and answers from its rows.",
    Options,
    answer,
    title="Count and list (Cypher)",
    takes="2 or 3 calls",
    whole_graph=True,
)
