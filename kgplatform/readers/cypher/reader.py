"""Reader ``cypher``: a statement is written from the question and the live schema, run, and answered from its rows.

The model writes the statement; the platform checks that it only reads, bounds its time and its rows, and hands it back
with the database's complaint where it does not work or finds nothing. The rows are traced back to the facts and
passages behind them, so that the answer cites characters; what rests on facts whose words no passage has is left out
before the model sees it, and counted, as far as that can be told (``Statements.sources``). Without a language model the
evidence is the answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Annotated, Any

from pydantic import AfterValidator

from kgplatform.errors import ModelError
from kgplatform.models.forms import Form, text
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, render, with_reminder
from kgplatform.readers.answer import (
    NOT_CITED,
    PROMPT,
    REFUSAL,
    REPLY_TOKENS,
    Answered,
    answer_messages,
    ask_answer,
    record,
    without_model,
    write_answer,
)
from kgplatform.readers.reader import AnswerOptions, Reader, option
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import Numbering, Source, tokens
from kgplatform.records import Answer, Citation, FoundPassage, SearchResult
from kgplatform.search.live_schema import example_relation, shown_schema
from kgplatform.search.statement import Sources, Statements, Tried, is_id
from kgplatform.text import clipped, counted, tidy

_CELL = 400  # characters of a value that are shown
_ITEMS = 20  # of a list
_HIDDEN = ("id", "embedding", "elementEmbedding", "fact")


class Rows(Numbering):
    """The first rows of ``tried`` that fit into ``room`` tokens, less the ids in them and the columns that tell
    nothing; ``behind`` is what they rest on.

    A row is cited where its facts are stated, or by its passages where it has no facts.
    """

    def __init__(self, tried: Tried, behind: Sources, statement: str, room: int) -> None:
        super().__init__()
        self._behind = behind
        self._statement = statement
        self._total = len(tried.rows)
        rows = [[_without_ids(cell) for cell in row] for row in tried.rows]
        telling = [column for column in range(len(tried.columns)) if any(row[column] is not None for row in rows)]
        self._lines: list[str] = []
        for row in rows:  # one at least is shown
            cells = ("" if row[column] is None else row[column] for column in telling)
            said = (cell if isinstance(cell, str) else json.dumps(cell, ensure_ascii=False) for cell in cells)
            line = " | ".join(clipped(cell, _CELL) for cell in said)
            room -= tokens(line) + 6
            if room < 0 and self._lines:
                break
            self._lines.append(line)
        columns = " | ".join(tried.columns[column] for column in telling)
        is_part = tried.more or len(self._lines) < self._total
        more = f" (the first {len(self._lines)}; there are more)" if is_part else ""
        shown = "\n".join(f"[1.{number}] {line}" for number, line in enumerate(self._lines, 1))
        self.text = f"Rows of the statement {statement}{more}:\n{columns}\n{shown}"

    def sources(self, number: str) -> tuple[Source, ...] | None:
        """What stands behind a row, "1.2" or "2"; empty where no passage does, None for a row that was not shown. An
        answer from one row rests on that one, whatever number a model gives it."""
        row = int(number.rpartition(".")[2]) - 1 if len(self._lines) > 1 else 0
        if not 0 <= row < len(self._lines):
            return None
        near = (self._lines[row], self._statement, str(self._total))
        return tuple(Source(place, (*near, place.text, place.title)) for place in self._places(row))

    def _places(self, row: int) -> Iterator[Citation]:
        behind = self._behind
        facts = [behind.known_facts[each] for each in behind.facts[row] if each in behind.known_facts]
        stated = [place for fact in facts for place in [next((each for each in fact.citations if each.found), None)]]
        for place in filter(None, stated):
            passage = behind.known_passages.get(place.passage)
            yield replace(place, text=_words(passage, place.start, place.end)) if passage else place
        if not any(stated):
            known = (behind.known_passages.get(each) for each in behind.passages[row])
            for passage in filter(None, known):
                whole = passage.cited(passage.start, passage.end, found=False)
                yield replace(whole, text=_words(passage, passage.start, passage.end))


def _words(passage: FoundPassage, start: int, end: int) -> str:
    return " ".join(passage.text[start - passage.start : end - passage.start].split())


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


_SCHEMA_TOKENS, _SCHEMA_SHARE = 900, 8
_ROWS_TOKENS, _ROWS_SHARE = 1100, 4
"""At most so many, and in a small window its nth part."""
_STATEMENT_TOKENS = 500
_SHOWN = 600  # characters of a statement in a note, and of its parameters
_UNCHANGED = "The statement and its parameters are the same as before."
_NOTHING = "Your statement ran and found nothing."
NOT_RUN = "No answer: the model wrote no Cypher statement that could be run."
_NO_ROWS = "The graph does not say: no row was found. "
_NOT_STATED = "No passage has the words of what was found. "
_ROWS_ALONE = "The answer cites no sentence: it was made from the rows of the statement alone."
_DRESSING = re.compile(r"\A\s*(?:```\w*)?|(?:\s|;|```)+\Z")


@dataclass(frozen=True, slots=True)
class Options(AnswerOptions):
    """How the reader works. ``timeout`` in seconds."""

    rows: int = option(50, "maximum number of rows to read", least=1, most=1000)
    timeout: float = option(10.0, "time limit of the statement in seconds", least=0.001, most=600)
    repairs: int = option(1, "how often to rewrite a statement that fails or finds nothing", least=0, most=3)


class WrittenStatement(Form):
    """A Cypher statement, less what models put round it (a fence, a semicolon), and its parameters."""

    statement: Annotated[str, AfterValidator(lambda said: _DRESSING.sub("", said))] = text(2000)
    parameters: Annotated[
        dict[str, Any], AfterValidator(lambda given: {n.strip().removeprefix("$"): given[n] for n in given})
    ] = {}

    def __str__(self) -> str:
        given = ", ".join(f"${name} = {value!r}" for name, value in self.parameters.items())
        return f"{clipped(self.statement, _SHOWN)}{f' with {clipped(given, _SHOWN)}' if given else ''}"


def answer(question: str, run: Run, options: Options) -> Answer:
    """Write a statement, run it, repair it if need be, and answer from its rows. Raises ``ModelError``."""
    if run.chat is None:
        found = run.evidence.search(question)
        return without_model(found.result.question, READER.name, found, run.tell)
    question = tidy(question)
    statements = run.evidence.statements(question)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    asking = _look(question, statements, calls, options, run.context)
    written, tried = _find(asking, statements, calls, options)
    sources = _trace_back(tried, statements, calls)
    seconds = round(tried.query.seconds, 4) if tried.query else 0.0
    passages, facts = tuple(sources.known_passages.values()), tuple(sources.known_facts.values())
    result = SearchResult(question, passages, facts, seconds)
    shown = replace(tried, rows=sources.rows)
    if shown.tells:
        rows = Rows(shown, sources, str(written), min(_ROWS_TOKENS, run.context // _ROWS_SHARE))
        mode, style = options.mode, options.answer_style
        messages = answer_messages(question, rows.text, mode, style=style)
        answered = ask_answer(calls, messages, rows, mode, prompt=PROMPT, tokens=REPLY_TOKENS[style])
        answered = replace(answered, note=answered.note.replace(NOT_CITED, _ROWS_ALONE))
    elif options.mode == "open":  # what the model knows by itself
        answered = write_answer(question, Selection.of(question), calls, options.mode, style=options.answer_style)
    else:
        calls.note("answer", "nothing was found, so the model was not asked")
        answered = Answered(NOT_RUN if tried.fault else REFUSAL)
    # What was asked of the graph, so that it can be asked again, and what is to be known of the rows.
    if tried.fault:
        fault = tried.fault.partition("\n")[0]  # then comes a picture of where it is
        told = f"{fault} The last statement was: {written}"
    else:
        count = counted(len(sources.rows), "row") + (" and more" if tried.more else "")
        count += f", less {sources.unfound_rows:,} whose words no passage has," if sources.unfound_rows else ""
        nothing = "" if shown.tells else _NOT_STATED if sources.unfound_rows else _NO_ROWS
        told = f"{nothing}{count} of the statement: {written}"
    return record(READER.name, answered, result, calls, told, is_shown=False)


def _look(question: str, statements: Statements, calls: Calls, options: Options, context: int) -> Messages:
    """The prompt, from what there is to ask for and whom the question may mean."""
    schema, ran = statements.schema()
    meant, looked = statements.names_meant()
    there = f"{counted(len(schema.types), 'type')} of entities, {counted(len(schema.relations), 'kind')} of relations"
    named = ", ".join(entity.name for entity in meant if entity.named)
    calls.note("look", f"{there}; named in the question: {named or 'nothing that is there'}", (*ran, *looked))
    shown = shown_schema(schema.brief(), min(_SCHEMA_TOKENS, context // _SCHEMA_SHARE))
    lines = (line for entity in meant for line in (f"{entity.name} ({entity.label})", *entity.patterns))
    names = "\n".join(lines) or "(none)"
    fences = {"fence": fence_for(shown), "asked": fence_for(shown, names, question)}
    inputs = {"question": question, "schema": shown, "names": names, "rows": str(options.rows)}
    return render("cypher/write", **fences, **inputs, **example_relation(schema))


def _find(messages: Messages, statements: Statements, calls: Calls, options: Options) -> tuple[WrittenStatement, Tried]:
    """The statement that found something, else one that ran, else the last; ``options.repairs`` repairs at most."""
    tries: list[tuple[WrittenStatement, Tried]] = []
    sent = messages
    for attempt in range(options.repairs + 1):
        written = _write(sent, calls, "cypher/again" if attempt else "cypher/write")
        if any(written == earlier for earlier, _ in tries):
            tried = Tried(fault=_UNCHANGED)
            calls.counts["malformed.statement"] += 1
            calls.note("run", _UNCHANGED)
        else:
            text, given = written.statement, written.parameters
            tried = statements.run(text, given, rows=options.rows, timeout=options.timeout)
            told = tried.fault or f"{counted(len(tried.rows), 'row')}{', and there are more' if tried.more else ''}"
            calls.note("run", " ".join((told, *tried.unknown)), (tried.query,) if tried.query else ())
            tries.append((written, tried))
        if tried.tells and not tried.unknown:
            break
        # As part of the question: a model repeats what stands as a reply of its own.
        said = f"Your statement cannot be run: {tried.fault}" if tried.fault else "" if tried.tells else _NOTHING
        fault, statement = " ".join(filter(None, (said, *tried.unknown))), str(written)
        fence = fence_for(fault, statement)
        sent = with_reminder(messages, "cypher/again", fault=fault, statement=statement, fence=fence)
    return max(reversed(tries), key=lambda each: (each[1].tells, not each[1].fault))


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


READER = Reader(
    "cypher",
    "Writes a Cypher statement, and answers from its rows.",
    Options,
    answer,
    title="Count and list (Cypher)",
    takes="2 or 3 calls",
    whole_graph=True,
)
