"""Files that are made to take a parser's time or memory end within the bounds, and lose nothing that is beside them."""

import json
import os
import signal
from pathlib import Path

import hostile_files
import psutil
import pytest
from bounded_children import children
from conftest import opened

from kgplatform.concurrency.threads import NEVER
from kgplatform.concurrency.workers import BoundedCalls, LocalWorkers
from kgplatform.errors import SettingError
from kgplatform.ingest import compare as of_compare
from kgplatform.ingest.compare import compare
from kgplatform.neo4j.store import Store
from kgplatform.records import Document, SkippedFile
from kgplatform.settings import load_settings
from kgplatform.sources import load as of_load
from kgplatform.sources.corpus_file import HARMLESS_BYTES, USUAL
from kgplatform.sources.load import CutShort, described, load, load_by

GOOD = {
    "a good.md": "# A good page\n\nIt says *something*.",
    "m good.html": "<html><title>Good</title><p>The river runs.</p></html>",
    "z.txt": "Good.",
}
SECONDS = "takes more than 1 s to parse: raise KGPLATFORM_FILE_SECONDS to read it"
CRASH = (
    "crashed its parser (SIGABRT): save it again from its program, or as plain text, or raise KGPLATFORM_FILE_MEMORY"
)
"""What a parser does, too, that is refused memory."""
MEMORY = "takes more than 200 MB of memory to parse: raise KGPLATFORM_FILE_MEMORY to read it"


REFUSALS = (
    *("damaged", "has no readable text", "reStructuredText that cannot be parsed", "unpacks to 92 MB, "),
    "repeats its cells",
)
REFUSED = {
    *("laughs.docx", "laughs.pptx", "laughs.xlsx", "paths.pptx", "nested.pptx", "cells.ods", "slide of 100 MB.pptx"),
    *("lists.rst", "parts.eml", "mails.eml"),
}
LARGE = {
    *("xml of 200 MB.docx", "operators of 60 MB.pdf", "a page 100,000 times.pdf", "a million forms.pdf"),
    "stream of 500 MB.pdf",
}


def add_good(folder: Path) -> None:
    for name, text in GOOD.items():
        (folder / name).write_text(text)


def markdown(size: int) -> str:
    """Takes markdown-it a second for each MB, and some 50 MB of memory."""
    return "It *says* so.\n\n" * (size // 15)


@pytest.mark.long
def test_hostile_files_end_within_the_bounds_and_the_good_ones_are_ingested(store: Store, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    names = hostile_files.write(folder, 50_000)
    add_good(folder)
    graph = opened(store, tmp_path, file_seconds=1, file_memory=200)
    report = graph.ingest(folder)
    skipped = {Path(each.path).name: each.reason for each in report.skipped}
    for name in LARGE.intersection(names):
        assert skipped[name] in (SECONDS, MEMORY, CRASH)
    assert skipped["line of 110 MB.jsonl"] == "line 2: longer than 100 MB: split it into several"
    assert skipped["deep.json"] == "not valid JSON (it is nested too deeply)"
    bounded = {name for name, reason in skipped.items() if reason in (SECONDS, MEMORY, CRASH)}
    refused = {name for name in skipped.keys() - bounded if skipped[name].startswith(REFUSALS)}
    assert refused <= REFUSED, "whether some come to that within a second depends on the machine"
    assert skipped.keys() - bounded - refused == {"line of 110 MB.jsonl", "deep.json"}
    read = {Path(each.source).name.replace("%20", " ") for each in graph.documents()}
    assert read == ({*names, *GOOD} - skipped.keys()) | {"line of 110 MB.jsonl"}
    assert {"cells.html", "nested.html", "no break.txt", "marks.txt"} <= read
    assert children() == []


def test_a_child_that_crashes_costs_its_file_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A parser that a file crashes is one that a module on the path stands in for."""
    (tmp_path / "modules").mkdir()
    crashes = "import os, signal\ndef convert_to_html(*_, **__): os.kill(os.getpid(), signal.SIGSEGV)\n"
    (tmp_path / "modules" / "mammoth.py").write_text(crashes)
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))
    files = tmp_path / "files"
    files.mkdir()
    add_good(files)
    (files / "b.docx").write_bytes(hostile_files.docx(iter([b"<w:p/>"])))
    with BoundedCalls(60, 500) as calls:
        items = list(load([files], calls))
    assert items[1] == SkippedFile(str(files / "b.docx"), CRASH.replace("ABRT", "SEGV"))
    assert [each.title for each in items if isinstance(each, Document)] == ["A good page", "Good", "z"]


def test_small_text_and_json_need_no_child_and_all_else_has_one(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("Text.")
    (tmp_path / "b.json").write_text('{"title": "T", "text": "One."}')
    line = '{"title": "T", "text": "' + "One. " * 100 + '"}\n'
    (tmp_path / "c.jsonl").write_text(line * (2 * HARMLESS_BYTES // len(line)))
    (tmp_path / "d.txt").write_text("Text. " * (HARMLESS_BYTES // 6 + 1))
    with BoundedCalls(60, 500) as calls:
        texts = [each.text for name in "abc" for each in load([next(tmp_path.glob(f"{name}.*"))], calls)]  # type: ignore[union-attr]  # documents all
        assert len(texts) > 10_000 and children() == []
        (found,) = load([tmp_path / "d.txt"], calls)
        assert isinstance(found, Document) and len(found.text) > HARMLESS_BYTES and len(children()) == 1
    assert children() == []


def test_a_long_line_of_a_corpus_is_parsed_within_bounds_and_the_lines_after_it_are_read(tmp_path: Path) -> None:
    good = {"title": "Good", "text": "One."}
    long = {"title": "Long", "text": "It says so. " * 500_000}
    # Six bytes of JSON are 72 of Python's memory.
    huge = f'{{"title": "Huge", "text": "x", "more": [{"[1],[]," * 1_500_000}1]}}'
    lines = [json.dumps(good), json.dumps(long), huge, "null", json.dumps(good)]
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    with BoundedCalls(60, 200) as calls:
        found = list(load([tmp_path / "a.jsonl"], calls))
    assert [each.uri.split("#")[1] for each in found if isinstance(each, Document)] == ["Good", "Long", "Good;2"]
    assert found[1].text == long["text"]  # type: ignore[union-attr]  # a document
    reasons = [each.reason for each in found if isinstance(each, SkippedFile)]
    assert reasons == [f"line 3: {MEMORY}", "line 4: expected {title, text}, found null"]


def test_what_a_crash_cuts_off_is_said_and_not_taken_as_gone(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(of_load, "HARMLESS_BYTES", 1000)
    monkeypatch.setattr(of_compare, "_GROUP_ITEMS", 5)
    path = tmp_path / "large.json"  # more than a pipe holds: the child waits until it is read
    path.write_text(json.dumps([{"title": f"Item {number}", "text": "It says this. " * 400} for number in range(40)]))
    graph = opened(store, tmp_path)
    graph.ingest(path)
    groups = []
    with BoundedCalls(60, 500) as calls:
        for group in compare(store, [path], graph.settings, calls):
            if not groups:
                os.kill(children()[0].pid, signal.SIGKILL)
            groups.append(group)
    assert 5 <= sum(len(group.documents) for group in groups) < 40
    assert [group.gone for group in groups] == [{}] * len(groups)
    (skipped,) = (each for group in groups for each in group.skipped)
    assert isinstance(skipped, CutShort)
    assert skipped.reason.startswith("the rest of it crashed its parser (SIGKILL): ")


def test_what_is_beyond_a_bound_is_skipped_with_the_bound_and_its_setting_and_workers_have_the_same(
    tmp_path: Path,
) -> None:
    add_good(tmp_path)
    (tmp_path / "b slow.md").write_text(markdown(4_000_000))
    with BoundedCalls(1, 2000) as calls, LocalWorkers(2) as workers:
        here = list(load([tmp_path], calls))
        assert list(described(load_by(workers, [tmp_path], USUAL, calls, NEVER))) == here
        (skipped,) = (each for each in here if isinstance(each, SkippedFile))
        assert skipped == SkippedFile(str(tmp_path / "b slow.md"), SECONDS)
        assert [each.title for each in here if isinstance(each, Document)] == ["A good page", "Good", "z"]
        below = children(recursive=True)
    assert len(below) >= 2
    assert psutil.wait_procs(below, timeout=30)[1] == []


@pytest.mark.parametrize(("name", "value"), [("file_seconds", 0.5), ("file_memory", 100), ("file_memory", 10**9)])
def test_bounds_have_bounds(name: str, value: float) -> None:
    with pytest.raises(SettingError, match=f"KGPLATFORM_{name.upper()}"):
        load_settings(**{name: value})
