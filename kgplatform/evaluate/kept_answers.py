"""The answers that an evaluation has: asked for, read from its journal, and written there as they come.

A line of the journal says that the answer's trace is there too, so an answer that was paid for can be scored again
when its right answer was put right, without asking anybody.

An answer has a key: a hash of all that it depends on. Where any of that changed, it is asked again. The trace of every
answer is in files to look at: ``folder/SETUP/QUESTION.txt`` in words, as the caller renders an answer (the command line
does as ``ask --trace``), and all of it as data in ``folder/SETUP/QUESTION.json``.
"""

from __future__ import annotations

import hashlib
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, is_dataclass, replace
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import BudgetError, InputError, ModelError, SettingError, StatementError
from kgplatform.evaluate.comparators import CLOSED, ClosedOptions, answer_closed
from kgplatform.evaluate.costs import as_lists, from_lists, worth
from kgplatform.evaluate.journal import Journal, read_bytes, write_whole
from kgplatform.evaluate.metrics import has_refused, in_order, without_model
from kgplatform.evaluate.needles import reader_options
from kgplatform.evaluate.setups import as_asked, option_names, resolved
from kgplatform.evaluate.terms import DataSet, Question, Scored, Setup
from kgplatform.prompt import prompt_names, source_of
from kgplatform.readers.choices import shown_choices
from kgplatform.readers.run import Calls
from kgplatform.records import Answer, SearchResult, Usage
from kgplatform.text import without_controls

_CHOICES = "\nChoose one of these answers, and begin with its letter:\n"


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A question for a setup. ``text``: as it is put; ``options``: all that the reader is given."""

    setup: Setup
    question: Question
    text: str
    options: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of asking once: an answer, or the ``error`` for which there is none.

    ``spent``: as if nothing was cached, by stage. ``cached``: how many replies came from the cache, so that
    ``seconds`` are fewer than the model's.
    """

    answer: Answer | None
    error: str | None
    spent: dict[str, Usage]
    seconds: float
    cached: int


def inquiry_for(setup: Setup, question: Question, dataset: DataSet) -> Inquiry:
    """The question as ``setup`` is to be asked: for a phrase, with the texts that it is about, and its choices. A
    reader without an option for choices finds them below the question."""
    names = option_names(setup.reader)
    added: dict[str, Any] = {**reader_options(setup, question, names)}
    if question.within and not dataset.apart and "documents" in names:
        added["documents"] = question.within
    text = question.text
    if question.choices and "choices" in names:
        added["choices"] = question.choices
    elif question.choices:
        text += _CHOICES + shown_choices(question.choices)
    given = setup.options if question.placeholders else as_asked(setup)  # names of several are no phrase
    return Inquiry(setup, question, text, {**added, **given})


def ask(kg: KnowledgeGraph, inquiry: Inquiry) -> Attempt:
    """Ask once. What concerns this question alone is in the attempt; what would meet the next one too is raised. Raises
    ``StoreError`` where the database does not work, ``BudgetError``, and ``SettingError``."""
    started = time.perf_counter()
    answer, error = None, None
    asked = kg.within()  # with a ledger of its own: others ask at the same time
    try:
        if inquiry.setup.reader == CLOSED and asked.language_model is not None:
            options = ClosedOptions(**inquiry.options)
            answer = answer_closed(inquiry.text, Calls(asked.language_model, asked.ledger), options)
        else:
            answer = asked.ask(inquiry.text, inquiry.setup.reader, **inquiry.options)
    except (BudgetError, SettingError):
        raise
    except (ModelError, InputError, StatementError) as fault:
        error = str(fault)
    seconds = round(time.perf_counter() - started, 4)
    return Attempt(answer, error, worth(asked.ledger), seconds, asked.ledger.total.cached_calls)


_OF_RUNS = {"Run", "Step"}
_RELATIONSHIPS_OF_RUNS = {"HAS_STEP", "NEXT_STEP", "FOUND", "CITES", "AT"}
_RATERS = "evaluate/rater_"


def answer_key(inquiry: Inquiry, model: str, graph: str) -> str:
    """``graph``: the fingerprint of the graph that is asked, or of what it is made of."""
    setup, question = inquiry.setup, inquiry.question
    return fingerprint(
        {
            "setup": setup.name,
            "reader": setup.reader,
            "options": resolved(setup),
            "build": setup.build,
            "asked": [inquiry.text, dict(inquiry.options)],
            "question": [question.id, question.text, question.within, question.choices],
            "model": model,
            "graph": graph,
            "prompts": prompts_fingerprint(),
        }
    )


def question_fingerprint(question: Question) -> str:
    """All that scores depend on, beside the answer."""
    return fingerprint({"question": question, "version": _version()})


def graph_fingerprint(kg: KnowledgeGraph) -> str:
    """The state of a graph: its documents, how far they were read, what was built on them. Saved runs do not count."""
    stats = kg.stats()
    nodes = {label: count for label, count in stats.nodes.items() if label not in _OF_RUNS}
    joined = {kind: count for kind, count in stats.relationships.items() if kind not in _RELATIONSHIPS_OF_RUNS}
    documents = [replace(each, modified_at=None) for each in kg.documents()]  # a file's new time changes no answer
    return fingerprint({"documents": documents, "state": kg.state(), "nodes": nodes, "relationships": joined})


@cache
def prompts_fingerprint() -> str:
    """The prompts of this version of the package, but for those of raters, which no answer depends on."""
    texts = {name: source_of(name) for name in prompt_names()}
    return fingerprint({name: text for name, text in texts.items() if not name.startswith(_RATERS)})


def fingerprint(value: Any) -> str:
    """SHA-256, in hexadecimal, of something that JSON or ``asdict`` can write; the order of keys does not matter."""
    return hashlib.sha256(json.dumps(value, sort_keys=True, default=_plain).encode()).hexdigest()


def _plain(value: Any) -> Any:
    return asdict(value) if is_dataclass(value) and not isinstance(value, type) else str(value)


@cache
def _version() -> str:
    return metadata.version("kgplatform")


FOLDER = "traces"
"""Where the traces of an evaluation lie, in its own folder."""

_ANSWER = TypeAdapter(Answer)
_UNSAFE = re.compile(r"[^A-Za-z0-9._=+-]+")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._=+-]{0,59}")
_HASHED = re.compile(r".*-[0-9a-f]{12}")
_LONGEST = 60

InWords = Callable[[Answer], str]
"""An answer with its trace, in lines for people."""


def write_trace(folder: Path, setup: Setup, question: Question, answer: Answer, in_words: InWords) -> Path:
    """Write both files, each whole or not at all; returns the one with the data, which is there only if both are.
    Raises ``KgError`` where they cannot be written."""
    file = trace_file(folder, setup.name, question.id)
    options = "".join(f", {name} {value}" for name, value in sorted(setup.options.items()))
    kind = f" ({question.kind})" if question.kind else ""
    right = "not given" if question.answerable else "the texts hold none"
    if question.answerable and question.answers:
        right = "; ".join(question.answers)
    lines = [
        f"Question {question.id}{kind}: {question.text}",
        *(f"Choice: {choice}" for choice in question.choices),
        f"Right answer{'s' if question.answerable and len(question.answers) > 1 else ''}: {right}",
        *([f"Needed passages: {'; '.join(text.title for text in question.supports)}"] if question.supports else []),
        f"Setup: {setup.name} (reader {setup.reader}{options})",
    ]
    heading = "".join(f"{without_controls(line)}\n" for line in lines)
    written = {
        file.with_suffix(".txt"): f"{heading}\n{in_words(answer)}",
        file: json.dumps(asdict(answer), ensure_ascii=False),
    }
    for path, text in written.items():
        # Half a surrogate pair, which has no UTF-8, becomes ``\ud800``, in JSON its very escape.
        write_whole(path, text.encode("utf-8", "backslashreplace"))
    return file


def read_trace(file: Path) -> Answer:
    """The answer that ``write_trace`` wrote to ``file``, equal to it. Raises ``InputError`` if it holds none."""
    try:
        return _ANSWER.validate_python(json.loads(read_bytes(file, "The trace")))
    except (ValidationError, ValueError, RecursionError) as error:
        raise InputError(f"{file} is not a trace of an answer. Remove it and run the same command again.") from error


def trace_file(folder: Path, setup: str, question: str) -> Path:
    """Where the trace of ``setup``'s answer to ``question`` (its id) lies, whether or not it is there."""
    return folder / slug(setup) / f"{slug(question)}.json"


def slug(name: str) -> str:
    """``name`` as a file name: no two names share one, nor do they where the file system takes no note of case.

    >>> slug("q01"), slug("a/b")
    ('q01', 'a-b-c14cddc033f6')
    """
    if _PLAIN.fullmatch(name) and not _HASHED.fullmatch(name) and not name.endswith("."):
        return name
    readable = _UNSAFE.sub("-", name)[:_LONGEST].strip("-.") or "unnamed"
    # Half a surrogate pair has no UTF-8.
    return f"{readable}-{hashlib.sha256(name.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"


Record = Mapping[str, Any]


class Answers(Journal):
    """``folder/answers.jsonl`` and the traces beside it. One thread writes."""

    def __init__(self, folder: Path, in_words: InWords) -> None:
        super().__init__(folder / "answers.jsonl")
        self._traces = folder / FOLDER
        self._in_words = in_words
        # Of several with one key the last counts.
        self._by_key: dict[str, Record] = {str(each["key"]): each for each in self.records if "key" in each}

    def known(self, key: str, inquiry: Inquiry) -> Record | None:
        """What is known by ``key``, scored by what the question says now; None where it is to be asked."""
        record = self._by_key.get(key)
        file = trace_file(self._traces, inquiry.setup.name, inquiry.question.id)
        if record is None or not file.is_file():
            return None
        if record["scored"] != question_fingerprint(inquiry.question):
            scores = without_model(inquiry.question, read_trace(file))
            record = {**record, "scores": scores, "scored": question_fingerprint(inquiry.question)}
            self.add(record)
        return record

    def keep(self, inquiry: Inquiry, answer: Answer, record: Record) -> None:
        """Write the trace of ``answer``, then the line of the journal. Raises ``KgError`` where there is no space."""
        write_trace(self._traces, inquiry.setup, inquiry.question, answer, self._in_words)
        self.add(record)

    def add(self, record: Record) -> None:
        """Write ``record``, which is its key's from now on. Raises ``KgError`` where that fails."""
        super().add(record)
        self._by_key[str(record["key"])] = record


def as_record(key: str, inquiry: Inquiry, attempt: Attempt, notes: Sequence[str]) -> Record:
    """All that is said of an attempt, as JSON has it; ``notes``: on the graph that was asked. A failure has an
    ``error``."""
    question = inquiry.question
    nothing = SearchResult(question.text, (), (), 0.0)
    answer = attempt.answer or Answer(question.text, inquiry.setup.reader, None, (), nothing, (), Usage())
    record = {
        "key": key,
        "question": question.id,
        "setup": inquiry.setup.name,
        "text": answer.text,
        "note": answer.note,
        "notes": list(notes),
        "citations": len(answer.citations),
        "refused": has_refused(answer),
        "spent": as_lists(attempt.spent),
        "counts": answer.counts,
        "seconds": attempt.seconds,
        "cached": attempt.cached,
        "scores": without_model(question, answer),
        "scored": question_fingerprint(question),
    }
    return record if answer.text is not None else {**record, "error": attempt.error or "The reader wrote no answer."}


def scored(inquiry: Inquiry, record: Record, ratings: Mapping[str, float]) -> Scored:
    """An answer, or a failure, with all of its scores. ``ratings``: those that a model gave."""
    about = inquiry.question.id, inquiry.question.kind, inquiry.setup.name
    scores = in_order({**record["scores"], **ratings})
    return Scored(*about, record["text"], record.get("error"), record["refused"], scores, from_lists(record["spent"]))
