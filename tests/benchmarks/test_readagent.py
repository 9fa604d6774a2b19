"""ReadAgent's gist memory of a text of 1 MB: pages, compression, calls; killed on the way, and gone on there.

The language model is a server on loopback that shortens by rules, a sentence of three: what is measured is the pass.
"""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from data_sets import Place
from measure import MEMORY_LIMIT, PeakMemory
from tables import Section, Table

from kgplatform import KnowledgeGraph, connect
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.prompt import Messages
from kgplatform.settings import load_settings
from kgplatform.testing import OpenAIServer
from kgplatform.text.sentences import sentences

COMMAND = Path(sys.executable).parent / "kgplatform"
PRESETS = ("article", "book")
KILLS = (40, 200, 300)
"""After so many requests to the model the command is killed, each time that it is run."""
AT_ONCE = 8
KEPT_SENTENCES = 3
PAGES = """
MATCH (d:Document)<-[:PAGE_OF]-(p:Page {question: ''})
WITH d, p ORDER BY p.index
RETURN d.characters, collect(p.start), collect(p.end), collect(p.words), d.compression
"""


class Shortener:
    """A model that answers every prompt of ReadAgent by rules, and may end a process as it does.

    ``asked`` counts its prompts by kind. ``kill`` ends ``process`` at the n-th prompt from then on.
    """

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._left = 0

    def kill(self, process: subprocess.Popen[bytes], after: int) -> None:
        """End ``process`` at once when it has sent ``after`` prompts."""
        with self._lock:
            self._process, self._left = process, after

    def __call__(self, messages: Messages) -> str:
        task = _task(messages[0]["content"])
        with self._lock:
            self.asked[task] += 1
            self._left -= 1
            if self._process is not None and self._left == 0:
                self._process.send_signal(signal.SIGKILL)
                self._process = None
        return _reply(task, messages[-1]["content"])


def _task(system: str) -> str:
    marks = {"where to pause": "paginate", "You shorten": "gist", "read again in full": "look up"}
    return next((task for mark, task in marks.items() if mark in system), "answer")


def _reply(task: str, prompt: str) -> str:
    if task == "paginate":
        labels = re.findall(r"^<(\d+)>$", prompt, re.M)
        return f"Break point: <{labels[len(labels) // 2]}>"
    if task == "look up":
        pages = re.findall(r"<Page (\d+)>", prompt)
        return f"I want to look up Page [{', '.join(pages[:2])}] to see."
    if task == "gist":
        text = prompt.partition("\n")[2].rpartition("\n")[0]
        said = [text[each.start : each.end] for each in sentences(text)]
        return " ".join(said[::KEPT_SENTENCES])
    return "[unanswerable]"


def test_gist_memory(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("readagent", "ReadAgent: the gist memory of one text of 1 MB, with a model that shortens by rules")
    corpus = place.data.file("medical/corpus.json")
    memory, model = PeakMemory(), Shortener()
    home = place.folder / "readagent"
    rows: list[tuple[str, ...]] = []
    try:
        with (
            OpenAIServer(model) as server,
            connect(home=home, neo4j_jars=place.jars, embedder="hash:64", openai_base_url=server.base_url) as graph,
        ):
            graph.ingest(corpus, extractor="local")
            for preset in PRESETS:
                rows.append(_gisted(found, graph, model, preset))
            _killed(found, graph, model, _Command(place, home, server.base_url))
            _questions(found, graph, model)
    finally:
        LocalNeo4j(load_settings(home=home, neo4j_jars=place.jars)).down()
    found.add("peak memory of the Python process", memory.megabytes(), "MB", at_most=MEMORY_LIMIT)
    columns = ("preset", "pages", "words", "words of gists", "compression", "calls for pauses", "for gists", "time")
    found.tables.append(Table("By preset", columns, rows))
    found.notes.append(
        f"The model keeps one sentence of {KEPT_SENTENCES} and answers at once, so times are the platform's own. The "
        "text has hardly a blank line: nearly all places to pause are ends of sentences."
    )


def _gisted(found: Section, graph: KnowledgeGraph, model: Shortener, preset: str) -> tuple[str, ...]:
    before = Counter(model.asked)
    report = graph.gist(preset=preset)
    calls = model.asked - before
    found.add(f"{preset}: characters on exactly one page", _covered(graph), "%", exactly=100)
    used = report.usage["gist"]
    found.add(f"{preset}: answers for each gist", (used.calls + used.cached_calls) / report.written, "times", exactly=1)
    bound = report.max_words / report.min_words
    read = report.usage["paginate"].input_tokens / sum(each.tokens for each in graph.documents())
    found.add(f"{preset}: tokens of prompts for pauses, in times the text's", read, "times", at_most=bound)
    assert report.compression is not None
    sizes = (f"{number:,}" for number in (report.pages, report.words, report.gist_words))
    counts = (f"{calls[task]:,}" for task in ("paginate", "gist"))
    return preset, *sizes, f"{report.compression:.2f}%", *counts, f"{report.seconds['total']:.1f} s"


def _covered(graph: KnowledgeGraph) -> float:
    """Percent of the characters that are on one page, which is all if pages follow each other without a gap."""
    characters = on_one = 0
    for size, starts, ends, _, _ in graph.cypher(PAGES, limit=10_000).rows:
        characters += size
        follow = starts == [0, *ends[:-1]] and ends[-1] == size
        on_one += size if follow else 0
    return 100 * on_one / characters


def _killed(found: Section, graph: KnowledgeGraph, model: Shortener, command: _Command) -> None:
    """The same memory as of an undisturbed run, from a command that is killed again and again, without a cache."""
    graph.gist(preset="article")
    wanted = graph.cypher(PAGES, limit=10_000).rows
    graph.cypher("MATCH (p:Page) DETACH DELETE p", write=True, timeout=600)
    graph.cypher("MATCH (d:Document) REMOVE d.compression", write=True)
    before = Counter(model.asked)
    for after in KILLS:
        command.forget_answers()
        command.run(model, after)
    command.forget_answers()
    report = command.run(model, None)
    calls = model.asked - before
    pages = report["pages"]
    found.add(
        "killed and gone on: pages as those of an undisturbed run",
        graph.cypher(PAGES, limit=10_000).rows == wanted,
        exactly=1,
    )
    extra = calls["gist"] - pages
    found.add("killed and gone on: gists asked for twice", extra, at_most=AT_ONCE * len(KILLS))
    found.add("killed and gone on: gists that the last run wrote", report["written"], at_most=pages - 1)
    found.notes.append(
        f"Killed with SIGKILL after {', '.join(str(each) for each in KILLS)} requests to the model, in a row, and run "
        f"once more: {pages:,} pages, {calls['gist']:,} calls for gists and {calls['paginate']:,} for pauses in all. "
        "The cache of answers was emptied each time: what is in the graph is not asked for again."
    )


class _Command:
    """``kgplatform gist`` as a process of its own."""

    def __init__(self, place: Place, home: Path, address: str) -> None:
        self._home = home
        self._environment = {
            **os.environ,
            "KGPLATFORM_HOME": str(home),
            "KGPLATFORM_NEO4J_JARS": str(place.jars),
            "KGPLATFORM_EMBEDDER": "hash:64",
            "KGPLATFORM_CONCURRENCY": str(AT_ONCE),
            "OPENAI_BASE_URL": address,
        }

    def run(self, model: Shortener, after: int | None) -> dict[str, Any]:
        """Its report; with ``after`` it is killed after so many requests, and has none."""
        with subprocess.Popen(
            [COMMAND, "gist", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=self._environment
        ) as process:
            if after is not None:
                model.kill(process, after)
            printed, _ = process.communicate()
        if process.returncode != (0 if after is None else -signal.SIGKILL):
            raise AssertionError(f"kgplatform gist ended with {process.returncode}")
        report: dict[str, Any] = json.loads(printed) if printed else {}
        return report

    def forget_answers(self) -> None:
        """Empty the cache of answers."""
        for file in (self._home / "llm-cache").rglob("*"):
            if file.is_file():
                file.unlink()


def _questions(found: Section, graph: KnowledgeGraph, model: Shortener) -> None:
    before = Counter(model.asked)
    questions = ("How is basal cell skin cancer treated?", "What raises the risk of melanoma?", "Who gets lymphoma?")
    for question in questions:
        graph.ask(question, "readagent")
        graph.gist()
    calls = model.asked - before
    found.add("calls for pauses and gists of three questions", calls["paginate"] + calls["gist"], exactly=0)
    found.add("calls of three questions", sum(calls.values()), at_most=2 * len(questions))
