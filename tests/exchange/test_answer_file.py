"""An answer with its evidence as a file: the same bytes each time, true of the documents that it was written from, and
of no others; what is no such file is refused with a sentence."""

import io
import json
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from conftest import EXAMPLES, ROOT

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.exchange import answer_file
from kgplatform.exchange.answer_file import AnswerFile, Cited, answer_schema, read_answer, verify_answer
from kgplatform.settings import Settings

QUESTION = "Who founded the Atlantic Telegraph Company?"


def test_the_examples_bear_out_an_answer_and_changed_ones_do_not(
    kg: KnowledgeGraph, settings: Settings, tmp_path: Path
) -> None:
    names = ("Cyrus_Field.md", "Success_of_1866.md", "Great_Eastern.docx", "Voyages.jsonl")
    shutil.copytree(EXAMPLES / "corpus", tmp_path / "corpus", ignore=lambda _, found: set(found) - set(names))
    kg.ingest([tmp_path / "corpus"], extractor="local")
    run = kg.ask(QUESTION, keep=True, top_k=3).run or ""
    file = kg.export_answer(run, tmp_path / "answer.zip")
    assert file.read_bytes() == kg.export_answer(run, tmp_path / "again.zip").read_bytes()
    verified = verify_answer(file, EXAMPLES / "corpus", settings)
    assert [each.state for each in verified.citations] == ["stands"] * 3
    assert verified.notes == ()
    answer, is_own_page = read_answer(file)
    with zipfile.ZipFile(file) as archive:
        document, page = json.loads(archive.read("answer.json")), archive.read("index.html").decode()
    jsonschema.validate(document, answer_schema())
    assert is_own_page
    assert all(f"<mark>{each.text}</mark>" in page for each in answer.citations)
    cited = next(each for each in answer.citations if each.document.endswith(".md"))
    changed = tmp_path / "corpus" / cited.document.rpartition("/")[2]
    text = changed.read_text("utf-8")
    for content, state in (
        (f"A line before.\n\n{text}", "elsewhere"),
        (text.replace(cited.text, cited.text.upper()), "lost"),
        (None, "no document"),
    ):
        changed.unlink() if content is None else changed.write_text(content, "utf-8")
        verified = verify_answer(file, tmp_path / "corpus", settings)
        assert [each.state for each in verified.citations if each.text == cited.text] == [state]
        assert verified.holds is (state == "elsewhere")


def test_the_documentation_has_the_schema() -> None:
    page = ROOT / "docs" / "reference" / "answer-file.schema.json"
    assert json.loads(page.read_text("utf-8")) == answer_schema()


WORDS = '<script>alert("x")</script>'
ANSWER = AnswerFile(
    format="kgplatform-answer",
    version=1,
    written_by="1",
    run="r",
    question=WORDS,
    answer=f"{WORDS} [1]",
    note="",
    reader="retrieve",
    model=None,
    at="2026-01-01T00:00:00Z",
    statements=[],
    citations=[
        Cited(
            number=1,
            document=f"file:///{WORDS}",
            title=WORDS,
            sha256="0" * 64,
            start=0,
            end=len(WORDS),
            location=None,
            text=WORDS,
            before="",
            after="</blockquote>\x1b[2J",
        )
    ],
    steps=[],
    prompts={},
)


def test_texts_are_no_markup_of_the_page() -> None:
    page = answer_file._page(ANSWER)
    assert "<script" not in page
    assert page.count("</blockquote>") == 1
    assert "\x1b" not in page


def repacked(change: Callable[[dict[str, Any]], object], compression: int = zipfile.ZIP_STORED) -> bytes:
    """The file with what ``change`` makes of its parts, by name; those of ``answer.json`` as an object."""
    with zipfile.ZipFile(io.BytesIO(answer_file._packed(ANSWER))) as archive:
        parts: dict[str, Any] = {name: archive.read(name) for name in archive.namelist()}
    parts["answer.json"] = json.loads(parts["answer.json"])
    change(parts)
    if not isinstance(parts["answer.json"], bytes):
        parts["answer.json"] = json.dumps(parts["answer.json"]).encode()
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", compression) as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    return written.getvalue()


def cites(**values: Any) -> Callable[[dict[str, Any]], object]:
    """Another value in the citation."""
    return lambda parts: parts["answer.json"]["citations"][0].update(values)


def has(name: str, content: bytes) -> Callable[[dict[str, Any]], object]:
    """Another part, or another content of one."""
    return lambda parts: parts.update({name: content})


WHOLE = answer_file._packed(ANSWER)
HOSTILE = {
    "a way out of the folder": (repacked(has("../../etc/passwd", b"x")), "nothing else"),
    "a bomb": (
        repacked(has("index.html", bytes(50_000_000)), zipfile.ZIP_DEFLATED),
        "compressed",
    ),
    "too large": (WHOLE + bytes(answer_file._LARGEST), "more than 16 MB"),
    "cut short": (WHOLE[: len(WHOLE) // 2], "damaged, or no ZIP file"),
    "other bytes": (WHOLE.replace(b'"reader": "retrieve"', b'"reader": "retriewe"'), "damaged, or no ZIP file"),
    "no ZIP file": (b"PK\x03\x04 but not quite", "damaged, or no ZIP file"),
    "another schema": (repacked(lambda parts: parts["answer.json"].update(version=2)), "version: "),
    "a span of another length": (repacked(cites(end=3)), "length of its span"),
    "a hash that is none": (repacked(cites(sha256="../x")), "citations.0.sha256: "),
    "endless brackets": (
        repacked(has("answer.json", b"[" * 100_000)),
        "not as its schema says",
    ),
    "no UTF-8": (
        repacked(has("answer.json", b'{"format": "\xff"}')),
        "not as its schema says",
    ),
    "a second answer": (
        WHOLE.replace(b"answer.schema.json", b"answer.json" + bytes(7)),
        "no answer file",
    ),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_answer_file_is_refused(name: str, tmp_path: Path, settings: Settings) -> None:
    content, why = HOSTILE[name]
    file = tmp_path / "hostile.zip"
    file.write_bytes(content)
    with pytest.raises(InputError) as refused:
        verify_answer(file, tmp_path, settings)
    message = str(refused.value)
    assert why in message
    assert message.count("\n") == 0
    assert len(message) < 400


def test_a_page_that_says_something_else_is_told(tmp_path: Path) -> None:
    file = tmp_path / "answer.zip"
    file.write_bytes(repacked(has("index.html", b"<script>")))
    assert read_answer(file)[1] is False
