"""Files that workers parse and cut give what this process makes of them, in the same order."""

from __future__ import annotations

import json
from pathlib import Path

import docx
import pytest
from made_pdf import pdf

from kgplatform.concurrency.bounded import BoundedCalls
from kgplatform.concurrency.stopping import NEVER, Stop
from kgplatform.concurrency.workers import LocalWorkers
from kgplatform.errors import DocumentError, StoppedError
from kgplatform.records import Document
from kgplatform.sources import load as module
from kgplatform.sources.corpus_file import USUAL
from kgplatform.sources.cut import cut_document
from kgplatform.sources.load import cut_by, load, load_by


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Files of all kinds, good and bad, whose names are in no order of kinds."""
    place = tmp_path / "files"
    place.mkdir()
    for number in range(12):
        pages = [f"Report {number}.", *([None] if number == 4 else []), "The end."]  # one picture: slow to read
        (place / f"{number:02}.pdf").write_bytes(pdf(pages, f"Report {number}"))
        (place / f"{number:02}.html").write_text(f"<html><title>Page {number}</title><p>A river runs here.</p></html>")
        (place / f"{number:02}.txt").write_text(f"Note {number}.")
    word = docx.Document()
    word.add_paragraph("A letter.")
    word.save(str(place / "03-letter.docx"))
    lines = (json.dumps({"title": str(number), "text": f"Item {number}."}) for number in range(5))
    (place / "05-items.jsonl").write_text("\n".join(lines))
    (place / "07-damaged.pdf").write_bytes(b"%PDF-1.4\nrubbish")
    (place / "08-empty.html").write_text("")
    (place / "09-dead.pdf").symlink_to(place / "nothing.pdf")
    (place / "10-folder.pdf").mkdir()
    return place


def test_workers_give_what_this_process_gives_and_cut_as_it_does(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wanted = list(load([folder]))
    assert len([each for each in wanted if isinstance(each, Document)]) == 12 * 3 + 1 + 5
    with LocalWorkers(2) as workers, BoundedCalls(60, 2000) as calls:
        for bytes_ahead in (100_000_000, 1_000):  # all are sent, or large ones are read here
            monkeypatch.setattr(module, "_BYTES_AHEAD", bytes_ahead)
            assert list(load_by(workers, [folder], USUAL, calls, NEVER)) == wanted
        with pytest.raises(DocumentError, match="no such file"):
            next(load_by(workers, [folder / "nothing"], USUAL, calls, NEVER))
        monkeypatch.setattr(module, "_CUT_AT_ONCE", 60)
        parts = [(item, cut_document(item, 20)) if isinstance(item, Document) else item for item in wanted]
        assert list(cut_by(workers, wanted, 20, NEVER)) == parts


def test_it_can_be_stopped(folder: Path) -> None:
    stop = Stop()
    with LocalWorkers(2) as workers, BoundedCalls(60, 2000, stop) as calls:
        items = load_by(workers, [folder], USUAL, calls, stop)
        next(items)
        stop.set()
        with pytest.raises(StoppedError):
            list(items)
