"""What else happens to a document while it is gisted: an ingest, a second run, a kill between two transactions."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from gists import assert_memory, by_rules, ingested, labels, opened, pages_of, paragraph, paused, story
from model_by_prompt import Prompt

from kgplatform import trace
from kgplatform.client import KnowledgeGraph
from kgplatform.gist.memory import add_pages, open_memory, survey
from kgplatform.gist.options import GistOptions, GistReport
from kgplatform.ingest import compare
from kgplatform.ingest.write import document_statements, remove
from kgplatform.neo4j.store import Store
from kgplatform.prompt import Messages
from kgplatform.records import QueryRun

TEN = story([100] * 10)
MEANWHILE = "The document ten was changed or removed while it was read. It was read again."


def once_at(task: str, number: int, happens: Callable[[], object]) -> Callable[[Messages], str]:
    """Answers by rules; before the ``number``-th answer of ``task``, something ``happens``."""
    lock, seen = threading.Lock(), [0]

    def answer(messages: Messages) -> str:
        with lock:
            seen[0] += Prompt(messages).kind == task
            if Prompt(messages).kind == task and seen[0] == number:
                happens()
        return by_rules(messages)

    return answer


def last_label(messages: Messages) -> str:
    """As ``by_rules``, with longer pages."""
    return paused(labels(messages)[-1]) if Prompt(messages).kind == "pause" else by_rules(messages)


def test_a_gist_of_a_text_that_changes_meanwhile_is_made_of_the_new_text(store: Store, tmp_path: Path) -> None:
    home = tmp_path / "home"
    files = ingested(opened(store, home), tmp_path, {"ten.txt": paragraph("one", 30)})

    def change() -> None:
        files[0].write_text(paragraph("other", 30))
        opened(store, home, None).ingest(files, extractor="local")

    kg = opened(store, home, once_at("gist", 1, change))
    report = kg.gist()
    assert (report.complete, report.notes) == (True, [MEANWHILE])
    assert "Othera" in assert_memory(kg, "ten")[0]["gist"]


def test_a_page_that_comes_in_while_an_ingest_is_half_done_goes_with_the_old_text(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ingest took pages and passages away and has not written the new text yet; a page of the old one comes."""
    kg = opened(store, tmp_path / "home")
    files = ingested(kg, tmp_path, {"ten.txt": TEN})
    (row,) = survey(store, [each.id for each in kg.documents()], "")
    memory = open_memory(store, row, "", GistOptions.of().made)

    def late(*given: Any) -> Any:
        add_pages(store, memory, [memory.page(0, 0, 1000)])
        return document_statements(*given)

    monkeypatch.setattr(compare, "document_statements", late)
    files[0].write_text(story([90] * 12, "changed"))
    kg.ingest(files, extractor="local")
    assert (len(memory.pages), pages_of(kg)) == (1, [])


def test_a_second_run_waits_for_the_first(store: Store, tmp_path: Path) -> None:
    """And finds nothing to do, or makes all of it again where it has other options."""
    home = tmp_path / "home"
    ingested(opened(store, home), tmp_path, {"ten.txt": TEN, "one.txt": paragraph("one", 30)})
    other, told, reports = opened(store, home, last_label), list[str](), list[GistReport]()

    def second() -> None:
        reports.append(other.gist(progress=lambda stage, done, total: told.append(stage)))
        reports.append(other.gist(uniform=True))

    thread = threading.Thread(target=second)

    def begin() -> None:
        thread.start()
        while not told:
            time.sleep(0.02)

    kg = opened(store, home, once_at("pause", 3, begin))
    assert kg.gist().complete
    thread.join()
    assert told[0].startswith("waiting for writing gists (process ")
    assert [(report.written, report.replaced) for report in reports] == [(0, 0), (3, 2)]
    assert [page["words"] for page in assert_memory(other, "ten")] == [500, 500]
    assert_memory(kg, "one")


def test_what_gists_save_is_said_after_a_kill_before_it_was(store: Store, tmp_path: Path) -> None:
    home = tmp_path / "home"
    ingested(opened(store, home), tmp_path, {"ten.txt": TEN})

    def at_what_is_saved(executed: QueryRun) -> None:
        rows = executed.parameters["rows"] if executed.name == "gist/compression" else []
        if any(row["compression"] is not None for row in rows):
            raise KeyboardInterrupt

    with trace(at_what_is_saved), pytest.raises(KeyboardInterrupt):
        opened(store, home).gist()
    later: KnowledgeGraph = opened(store, home)
    assert later.documents()[0].compression is None
    report = later.gist()
    assert (report.written, report.complete, report.usage) == (0, True, {})
    assert_memory(later, "ten")


def test_the_pages_of_many_documents_go_in_slices(store: Store) -> None:
    """Those of thousands of documents do not fit into the memory that a transaction may have."""
    made = "UNWIND range(1, 120) AS i CREATE (:Document {id: 'd' + i})<-[:PAGE_OF]-(:Page {id: 'p' + i})"
    store.run_statement(made, {}, write=True, timeout=30, limit=1)
    sizes: list[int] = []
    with trace(lambda executed: sizes.append(len(executed.parameters["documents"]))):
        remove(store, (), (), [f"d{number}" for number in range(1, 121)])
    assert sizes == [50, 50, 20]
    left = store.run_statement("MATCH (p:Page) RETURN count(p)", {}, write=False, timeout=30, limit=1)
    assert left.rows == [[0]]
