"""The trace of every answer, in files to look at: ``folder/SETUP/QUESTION.txt`` in words, as the caller renders an
answer (the command line does as ``ask --trace``), and all of it as data in ``folder/SETUP/QUESTION.json``.

    file = write_trace(out / FOLDER, setup, question, answer)
    assert read_trace(file).text == answer.text
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

from pydantic import TypeAdapter, ValidationError

from kgplatform.errors import InputError, KgError
from kgplatform.evaluate.journal import write_whole
from kgplatform.evaluate.results import Question, Setup
from kgplatform.records import Answer
from kgplatform.text import without_controls

FOLDER = "traces"
"""Where the traces of an evaluation lie, in its own folder."""

_ANSWER = TypeAdapter(Answer)
_UNSAFE = re.compile(r"[^A-Za-z0-9._=+-]+")
_PLAIN = re.compile(r"[a-z0-9][a-z0-9._=+-]{0,59}")
_HASHED = re.compile(r".*-[0-9a-f]{12}")
_LONGEST = 60

InWords = Callable[[Answer], str]
"""An answer with its trace, in lines for people."""


def text_alone(answer: Answer) -> str:
    """The answer without its trace, for those who bring no rendering."""
    return f"{answer.text}\n"


def write_trace(folder: Path, setup: Setup, question: Question, answer: Answer, in_words: InWords = text_alone) -> Path:
    """Write both files, each whole or not at all; returns the one with the data, which is there only if both are.

    Raises ``KgError`` where they cannot be written.
    """
    file = trace_file(folder, setup.name, question.id)
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise KgError(
            f"The folder {file.parent} cannot be made: {error.strerror or error}. All answers are kept; mend that and "
            "run the same command again."
        ) from error
    write_whole(file.with_suffix(".txt"), _encoded(_heading(setup, question) + in_words(answer)))
    write_whole(file, _encoded(json.dumps(asdict(answer), ensure_ascii=False)))
    return file


def read_trace(file: Path) -> Answer:
    """The answer that ``write_trace`` wrote to ``file``, equal to it. Raises ``InputError`` if it holds none."""
    try:
        return _ANSWER.validate_python(json.loads(file.read_bytes()))
    except OSError as error:
        raise InputError(f"The trace {file} cannot be read: {error.strerror or error}.") from error
    except (ValidationError, ValueError, RecursionError) as error:
        raise InputError(f"{file} holds no trace of an answer. Remove it and run the same command again.") from error


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


def _encoded(text: str) -> bytes:
    r"""UTF-8; half a surrogate pair, which has none, becomes ``\ud800``, in JSON its very escape."""
    return text.encode("utf-8", "backslashreplace")


def _heading(setup: Setup, question: Question) -> str:
    options = "".join(f", {name} {value}" for name, value in sorted(setup.options.items()))
    kind = f" ({question.kind})" if question.kind else ""
    lines = [
        f"Question {question.id}{kind}: {question.text}",
        *(f"Choice: {choice}" for choice in question.choices),
        _right_answers(question),
        *([f"Needed passages: {'; '.join(text.title for text in question.supports)}"] if question.supports else []),
        f"Setup: {setup.name} (reader {setup.reader}{options})",
    ]
    return "".join(f"{without_controls(line)}\n" for line in lines) + "\n"


def _right_answers(question: Question) -> str:
    if not question.answerable:
        return "Right answer: the texts hold none"
    if not question.answers:
        return "Right answer: not given"
    return f"Right answer{'s' if len(question.answers) > 1 else ''}: {'; '.join(question.answers)}"
