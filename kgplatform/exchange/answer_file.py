"""An answer with its evidence as one file, for people who have neither the graph nor this program.

    export_answer(store, run, Path("answer.zip"))
    verify_answer(Path("answer.zip"), Path("documents/"), settings).citations[0].state    # "stands"

A ZIP of ``answer.json`` (docs/reference/answer-file.md), its JSON schema, and ``index.html``, which a browser shows
without scripts or a network. The same graph gives the same bytes. Nothing in the file is compressed, so that it holds
no more than it weighs, and nothing of it is ever unpacked onto a disk.
"""

from __future__ import annotations

import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from importlib.metadata import version
from io import BytesIO
from pathlib import Path
from typing import Any, Literal
from urllib.parse import unquote

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from kgplatform.concurrency.files import write_atomically
from kgplatform.concurrency.threads import NEVER, Stop
from kgplatform.errors import Code, InputError, coded
from kgplatform.explore.runs import kept_statements
from kgplatform.neo4j.store import Store
from kgplatform.prompt import prompt_names, source_of
from kgplatform.records import Document, SkippedFile
from kgplatform.search.found import passages_by_id
from kgplatform.settings import Settings
from kgplatform.shown import Shown, plain
from kgplatform.sources.load import load_within
from kgplatform.text import without_controls

_ANSWER, _PAGE, _SCHEMA = "answer.json", "index.html", "answer.schema.json"
_LARGEST = 16_000_000
"""Bytes of a file that is read."""
_AT = (1980, 1, 1, 0, 0, 0)
"""The first time that a ZIP can hold."""
_UNIX = 3
_IS_ENCRYPTED = 1
_REGULAR = 0o100644 << 16
_LOOK = (
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}"
    "mark{background:#ffe08a}pre{white-space:pre-wrap;overflow-wrap:anywhere}.small{color:#555;font-size:.85rem}"
    "blockquote{margin:0;padding-left:1rem;border-left:3px solid #ccc;white-space:pre-line}"
)


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


class Cited(_Part):
    """A cited span: the characters `start` to `end` (code points, from 0, half open) of a document's text."""

    number: int = Field(ge=1, description="as in the answer: [1]")
    document: str = Field(description="URI of the document")
    title: str
    sha256: str = Field(
        pattern="^([0-9a-f]{64})?$",
        description="of the document's text in UTF-8, when that was asked; empty if unknown",
    )
    start: int = Field(ge=0)
    end: int = Field(ge=0)
    location: str | None = Field(description='such as "page 3"')
    text: str = Field(min_length=1, description="the words of the span")
    before: str = Field(description="what stands before them in the passage; empty where that is gone")
    after: str = Field(description="what stands after them")

    @model_validator(mode="after")
    def _has_its_length(self) -> Cited:
        if len(self.text) != self.end - self.start:
            raise ValueError("a cited text has not the length of its span")
        return self


class Said(_Part):
    """A statement of the answer, and the numbers of the citations behind it."""

    text: str
    citations: list[int]


class Done(_Part):
    """A step of the reader: the prompt that it sent, the model's reply, and the Cypher statements that ran."""

    name: str
    detail: str
    prompt: str | None
    reply: str
    statements: list[str]


class AnswerFile(_Part):
    """An answer with its evidence."""

    format: Literal["kgplatform-answer"]
    version: Literal[1]
    written_by: str = Field(description="version of kgplatform")
    run: str = Field(description="id of the run")
    question: str
    answer: str | None = Field(description="null where no model wrote one: the citations are what was found")
    note: str
    reader: str
    model: str | None
    at: str = Field(description="when that was asked, ISO 8601")
    statements: list[Said]
    citations: list[Cited]
    steps: list[Done]
    prompts: dict[str, str] = Field(description="the prompts of the steps, as the version of kgplatform has them")


Verdict = Literal["stands", "elsewhere", "lost", "no document"]
VERDICTS: tuple[Verdict, ...] = ("no document", "lost", "elsewhere", "stands")
"""What can be said of a cited span, the best last. ``elsewhere``: the document changed, and still has the words."""
HOLD = VERDICTS[2:]


@dataclass(frozen=True, slots=True, repr=False)
class VerifiedCitation(Shown):
    """A cited span, what was found of it, and in which document."""

    number: int
    title: str
    text: str
    state: Verdict
    found_in: str | None


@dataclass(frozen=True, slots=True, repr=False)
class Verified(Shown):
    """What some documents have of an answer's evidence. ``notes``: files that could not be read, and whether the page
    of the file is another than its answer makes."""

    question: str
    citations: tuple[VerifiedCitation, ...]
    notes: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether every span stands, be it in a document that changed."""
        return all(each.state in HOLD for each in self.citations)


def answer_schema() -> dict[str, Any]:
    """The JSON schema of ``answer.json``."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **AnswerFile.model_json_schema()}


def export_answer(store: Store, run: str, path: Path) -> Path:
    """Write the kept answer of ``run`` with its evidence to ``path``. Raises ``InputError`` where it is not there."""
    content = _packed(_answer_of(store, run))
    try:
        write_atomically(path, content, mode=0o644)
    except OSError as error:
        raise InputError(f"{path} cannot be written: {error.strerror}.") from error
    return path


def _answer_of(store: Store, run: str) -> AnswerFile:
    kept, rows = store.read("explore/kept_answers", runs=[run]), store.read("explore/run", id=run)
    if not kept:
        raise coded(Code.UNKNOWN_RUN, "keep", run=repr(run))
    (row,), info, steps = kept, kept_statements(rows[0]["run"]), rows[0]["steps"]
    cited = json.loads(row["restsOn"])
    passages = passages_by_id(store, [each["passage"] for each in cited])
    citations = []
    for each in cited:
        values = {name: each.get(name) for name in Cited.model_fields} | {"title": each.get("title") or ""}
        passage = passages.get(each["passage"])
        around = {"before": "", "after": ""}
        if passage is not None:
            first, last = each["start"] - passage.start, each["end"] - passage.start
            around = {"before": passage.text[:first], "after": passage.text[last:]}
        citations.append(Cited(**values | around))
    sent = {step["prompt"] for step in steps} & set(prompt_names())
    return AnswerFile(
        format="kgplatform-answer",
        version=1,
        written_by=version("kgplatform"),
        run=run,
        statements=[Said(text=each.text, citations=list(each.citations)) for each in info["statements"]],
        citations=citations,
        steps=[Done(**{name: step[name] for name in Done.model_fields}) for step in steps],
        prompts={name: source_of(name) for name in sorted(sent)},
        **{name: row[name] for name in ("question", "answer", "reader", "model", "at")},
        note=info["note"] or "",
    )


def _packed(answer: AnswerFile) -> bytes:
    written = BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_STORED) as archive:
        for name, text in (
            (_ANSWER, _json(answer.model_dump())),
            (_PAGE, _page(answer)),
            (_SCHEMA, _json(answer_schema())),
        ):
            about = zipfile.ZipInfo(name, _AT)
            about.create_system, about.external_attr = _UNIX, _REGULAR
            archive.writestr(about, text.encode("utf-8", "replace"))
    return written.getvalue()


def _json(value: object) -> str:
    return json.dumps(plain(value), ensure_ascii=False, indent=2) + "\n"


def _page(answer: AnswerFile) -> str:
    """The answer with its cited spans in their passages: texts alone, without a script, and nothing from elsewhere."""
    cited = "".join(
        f'<section id="c{each.number}"><h2>[{each.number}] {_text(each.title)}</h2>'
        f'<blockquote dir="auto">{_text(each.before)}<mark>{_text(each.text)}</mark>{_text(each.after)}</blockquote>'
        f'<p class="small">{_text(each.document)}{_text(f", {each.location}" if each.location else "")}, characters '
        f"{each.start}–{each.end}, SHA-256 {each.sha256}</p></section>"
        for each in answer.citations
    )
    steps = "".join(
        f"<details><summary>{_text(each.name)}</summary><p>{_text(each.detail)}</p><pre>{_text(each.reply)}</pre>"
        + "".join(f"<pre>{_text(statement)}</pre>" for statement in each.statements)
        + "</details>"
        for each in answer.steps
    )
    said = re.sub(r"\[(\d+)\]", r'<a href="#c\1">[\1]</a>', _text(answer.answer or answer.note))
    by = f"{answer.reader}, {answer.model or 'without a model'}, {answer.at}"
    return (
        '<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{_text(answer.question)}</title><style>{_LOOK}</style></head><body>"
        f'<h1 dir="auto">{_text(answer.question)}</h1><p dir="auto">{said}</p>'
        f'<p class="small">{_text(by)}</p>{cited}<h2>How it was found</h2>{steps}</body></html>\n'
    )


def _text(text: str) -> str:
    return escape(without_controls(text))


def read_answer(path: Path) -> tuple[AnswerFile, bool]:
    """What ``path`` says, and whether its page is the one that this version makes of it. Raises ``InputError``."""
    try:
        if path.stat().st_size > _LARGEST:
            raise _unusable(path, f"it has more than {_LARGEST // 1_000_000} MB")
        with zipfile.ZipFile(path) as archive:
            parts = archive.infolist()
            if sorted(each.filename for each in parts) != sorted((_ANSWER, _PAGE, _SCHEMA)):
                raise _unusable(path, f"it must hold {_ANSWER}, {_PAGE} and {_SCHEMA}, and nothing else")
            if any(each.compress_type or each.flag_bits & _IS_ENCRYPTED for each in parts):
                raise _unusable(path, "what it holds is compressed or encrypted")
            answer = AnswerFile.model_validate_json(archive.read(_ANSWER))
            return answer, archive.read(_PAGE) == _page(answer).encode("utf-8", "replace")
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror or error}.") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise _unusable(path, f"{_ANSWER} is not as its schema says: {where}: {first['msg']}") from error
    except (zipfile.BadZipFile, EOFError, NotImplementedError, ValueError, RuntimeError) as error:
        raise _unusable(path, f"it is damaged, or no ZIP file ({error})") from error


def _unusable(path: Path, why: str) -> InputError:
    return InputError(f"{path} is no answer file: {why}.")


def verify_answer(file: Path, folder: Path, settings: Settings, stop: Stop = NEVER) -> Verified:
    """What the documents in ``folder``, read as an ingest reads them, have of the evidence in ``file``. No database is
    opened. Raises ``InputError``."""
    answer, is_own_page = read_answer(file)
    best: dict[int, tuple[Verdict, str | None]] = {}
    notes = [] if is_own_page else [f"{_PAGE} is not what this version makes of {_ANSWER}: read that alone."]
    for item in load_within(settings, [folder], stop):
        if isinstance(item, SkippedFile):
            notes.append(f"{item.path}: {item.reason}")
            continue
        for at, verdict in _verdicts(answer, item):
            known = best.get(at, (VERDICTS[0], None))
            if VERDICTS.index(verdict) > VERDICTS.index(known[0]):
                best[at] = verdict, item.uri
    verified = (
        VerifiedCitation(each.number, each.title, each.text, *best.get(at, (VERDICTS[0], None)))
        for at, each in enumerate(answer.citations)
    )
    return Verified(answer.question, tuple(verified), tuple(notes))


def _verdicts(answer: AnswerFile, document: Document) -> Iterator[tuple[int, Verdict]]:
    """Of the citations that may be of ``document``, by its text or its name, what it has of them."""
    for at, each in enumerate(answer.citations):
        if each.sha256 == document.sha256:
            yield at, "stands" if document.text[each.start : each.end] == each.text else "lost"
        elif _name(each.document) == _name(document.uri):
            yield at, "elsewhere" if each.text in document.text else "lost"


def _name(uri: str) -> str:
    """What a document is called whatever folder it is in."""
    return unquote(uri.rpartition("/")[2])
