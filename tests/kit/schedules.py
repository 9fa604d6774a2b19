"""Random schedules: several processes write one graph at once, some are killed and begun again, and the graph must be
one that the same commands make one after the other.

    with Campaign(connection, store, folder, seed=20) as campaign:
        assert campaign.run(3).faults == []         # the third schedule

The documents are invented, and the model is a simulation that never errs: what is tested is what processes do to each
other. A document's text changes before the ingests that may read it begin, so that the last one reads the last text.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import threading
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import psutil
from conftest import variables
from corpora import difference, extracted, note
from gists import by_rules
from graph_state import Snapshot, snapshot
from killed_passes import answer, driver, say
from model_by_prompt import Prompt
from trees import names

from kgplatform.client import KnowledgeGraph, open_graph
from kgplatform.ingest.graph_state import drop_vector_indexes
from kgplatform.neo4j.store import Connection, Store
from kgplatform.prompt import Messages
from kgplatform.settings import Settings, load_settings
from kgplatform.testing import OpenAIServer

_DERIVED = ("Community", "Keyword", "Page", "Graph", "WritePass", "ProposedType", "ServerJob")
_EDGES_OF_DERIVED = ("MEMBER_OF", "PARENT", "KEYWORD_OF", "REPRESENTED_BY", "PAGE_OF", "NEXT_PAGE", "PROPOSED")
_IMPORTED = ("more_1.txt", "more_2.txt")
"""What an import brings."""
_TREE = """
RETURN COUNT { MATCH (e:Entity) WHERE COUNT { (e)-[:MEMBER_OF]->(:Community) } <> 1 },
       COUNT { MATCH (c:Community) WHERE NOT EXISTS { (c)<-[:MEMBER_OF|PARENT]-() } },
       COUNT { MATCH (c:Community) WHERE c.treeDue IS NOT NULL OR c:Pending }
"""
_OF_A_TREE = ("entities are not in one community", "communities are empty", "communities are not done")
_PAGES = """
MATCH (d:Document)
RETURN d.uri, d.characters, COLLECT { MATCH (d)<-[:PAGE_OF]-(p:Page) RETURN [p.start, p.end] ORDER BY p.index },
       COUNT { MATCH (d)<-[:PAGE_OF]-(p:Page) WHERE p.gist IS NOT NULL }
"""
_NONE_LEFT = "InputError: There is no document "
_LONGEST = 300.0
_DIMENSION = 64
_SENDING = 0.5
"""Seconds before a kill in which an answer may have been on its way."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One call of the graph's method, by a process of its own, ``delay`` seconds after the first.

    ``kills``: after how many seconds it is killed and begun again; ``edits``: files that get another text before it.
    """

    method: str
    arguments: tuple[Any, ...] = ()
    options: dict[str, Any] = field(default_factory=dict)
    delay: float = 0.0
    kills: tuple[float, ...] = ()
    edits: tuple[tuple[str, int], ...] = ()

    @property
    def names(self) -> list[str]:
        """The names of the files that it is given."""
        return [Path(each).name for group in self.arguments if isinstance(group, list) for each in group]

    def __str__(self) -> str:
        return f"{self.method}({', '.join([*self.names, *map(str, self.options.values())])})"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of a schedule: what is wrong, in words; and how many kills hit."""

    operations: list[Operation]
    faults: list[str]
    kills: int


_PROCESSES = """
import importlib, json, os, signal, sys
from pathlib import Path
from kgplatform.client import connect, open_graph
from kgplatform.errors import KgError
from kgplatform.settings import load_settings
for module in ("tree.build_tree", "gist.gist_documents", "exchange", "models.openai_chat", "models.wire"):
    importlib.import_module(f"kgplatform.{module}")

def run(method, arguments, options, environment, told):
    os.environ.update(environment)
    error = ""
    try:
        whole = method in ("reembed", "import_graph")  # as the command line opens it
        with open_graph(load_settings()) if whole else connect() as graph:
            getattr(graph, method)(*arguments, **options)
    except KgError as raised:
        error = f"{type(raised).__name__}: {raised}"
    except BaseException as raised:
        error = f"a fault of the platform: {raised!r}"
    Path(told).write_text(error)

signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for line in sys.stdin:
    child = os.fork()
    if not child:
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        run(**json.loads(line))
        os._exit(0)
    print(child, flush=True)
"""
"""Forks a process for every line that it reads, prints its id, and reaps it when it ends."""


class _Model:
    """A simulated model; notes when each prompt was asked and answered, and what was on its way as a process died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.calls: dict[str, list[tuple[float, float]]] = {}
        self.kills: list[float] = []

    def __call__(self, messages: Messages) -> str:
        began = time.monotonic()
        time.sleep(0.05)
        said = _ANSWERS[Prompt(messages).name.partition("/")[0]](messages)
        with self._lock:
            self.calls.setdefault(json.dumps(messages), []).append((began, time.monotonic()))
        return said

    def paid_twice(self) -> int:
        """Answers that were whole when the next one was asked for, but for those under way as a process was killed."""
        return sum(
            not any(began - 0.1 <= kill <= ended + _SENDING for kill in self.kills)
            for times in self.calls.values()
            for began, ended in times[:-1]
        )


def _without_proposals(messages: Messages) -> str:
    """What a passage says depends on no other then."""
    return json.dumps({**json.loads(extracted(messages)), "proposals": []})


_ANSWERS = {"ingest": _without_proposals, "gist": by_rules, "tree": names}


class Campaign:
    """Schedules over the database of ``connection``, which ``store`` wipes. ``folder`` has the files and the home."""

    def __init__(self, connection: Connection, store: Store, folder: Path, seed: int) -> None:
        self._connection = connection
        self._store = store
        self._folder = folder
        self._seed = seed
        self._model = _Model()
        self._lock = threading.Lock()

    def __enter__(self) -> Campaign:
        self._open = driver(self._folder, _PROCESSES)
        self._driver = self._open.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._open.__exit__(None, None, None)

    def run(self, number: int) -> Outcome:
        """Make the ``number``-th schedule, carry it out, and compare."""
        return self._prepared(f"{self._seed}/{number}")

    def run_alone(self, method: str, number: int) -> Outcome:
        """One operation that is killed again and again, and has nothing beside it."""
        return self._prepared(f"{self._seed}/{method}/{number}", method)

    def _prepared(self, seed: str, method: str = "") -> Outcome:
        chance = random.Random(seed)
        self._here = self._folder / seed.replace("/", "-")
        self._files = self._here / "files"
        self._files.mkdir(parents=True)
        self._model = _Model()
        _wipe(self._store)
        with OpenAIServer(self._model) as server:
            self._address = server.base_url
            outcome = self._run(chance, method)
        shutil.rmtree(self._here)
        return outcome

    def _run(self, chance: random.Random, method: str) -> Outcome:
        files = [f"note_{number:02}.txt" for number in range(chance.randint(4, 8))]
        self._readers = {name: chance.choice(("local", "llm")) for name in files}
        for number, name in enumerate([*files, *_IMPORTED]):
            self._put(name, number)
        before = [name for name in files if chance.random() < 0.7] or files[:1]
        planned = self._operations(chance, files, before)
        operations = _timed(chance, planned) if not method else [self._killed(chance, method, files, before)]
        if any(each.method == "import_graph" for each in operations):
            with self._reference(_IMPORTED, "hash:64") as graph:
                graph.export(self._here / "more.jsonl")
            _wipe(self._store)
        first = self._ingests(before) + ([Operation("build_tree")] if chance.random() < 0.5 else [])
        faults = [fault for each in first for fault in self._faults([each], "hash:64")]
        faults += self._faults(operations)
        if twice := self._model.paid_twice():
            faults.append(f"{twice} calls were paid twice")
        faults += self._unlike(operations, before)
        return Outcome(operations, faults, len(self._model.kills))

    def _put(self, name: str, number: int) -> None:
        new = self._files / f".{name}"
        new.write_text(note(number), encoding="utf-8")
        new.replace(self._files / name)

    def _ingests(self, files: Sequence[str]) -> list[Operation]:
        """One ingest of the documents that rules read, one of those that the model reads."""
        paths = [self._files / each for each in files]
        return [
            Operation("ingest", (chosen,), {"extractor": extractor})
            for extractor in ("local", "llm")
            if (chosen := [str(path) for path in paths if self._readers.get(path.name, "local") == extractor])
        ]

    def _operations(self, chance: random.Random, files: list[str], before: list[str]) -> list[Operation]:
        most, found = chance.randint(2, 6), list[Operation]()
        there = list(before)
        while len(found) < most:
            kind = chance.choices(("ingest", "remove", "tree", "gist", "whole"), (16, 8, 6, 4, 2))[0]
            if kind == "ingest":
                found += self._ingests(chance.sample(files, chance.randint(1, 3)))[: most - len(found)]
            elif kind == "remove" and len(there) > 1:
                gone = there.pop(chance.randrange(len(there)))
                found.append(Operation("remove", ([str(self._files / gone)],)))
            elif kind == "tree":
                found.append(Operation("build_tree", options={"rebuild": chance.random() < 0.4}))
            elif kind == "gist":
                found.append(Operation("gist", options={"min_words": 20, "max_words": 40}))
            elif kind == "whole" and not any(each.method in ("reembed", "import_graph") for each in found):
                whole = Operation("import_graph", (str(self._here / "more.jsonl"),), {"merge": True})
                found.append(chance.choice((Operation("reembed"), whole)))
        return found

    def _killed(self, chance: random.Random, method: str, files: list[str], before: list[str]) -> Operation:
        """An operation of ``method`` that is killed up to four times, each time before it can be done."""
        kills = tuple(chance.uniform(0.02, 0.3) for _ in range(chance.randint(1, 4)))
        chosen = [str(self._files / name) for name in (files if method == "ingest" else before[1:] or before)]
        made = {
            "ingest": self._ingests(files)[-1],
            "remove": Operation("remove", (chosen[:2],)),
            "build_tree": Operation("build_tree", options={"rebuild": True}),
            "gist": Operation("gist", options={"min_words": 20, "max_words": 40}),
            "reembed": Operation("reembed"),
            "import_graph": Operation("import_graph", (str(self._here / "more.jsonl"),), {"merge": True}),
        }
        return replace(made[method], kills=kills)

    def _faults(self, operations: Sequence[Operation], embedder: str = "") -> list[str]:
        """Carry them out beside each other; each one that is killed is begun again."""
        with ThreadPoolExecutor(len(operations)) as pool:
            numbered = enumerate(operations)
            errors = list(pool.map(lambda each: self._carry_out(each[1], each[0], embedder), numbered))
        return [f"{each}: {error}" for each, error in zip(operations, errors, strict=True) if error]

    def _carry_out(self, operation: Operation, number: int, embedder: str) -> str:
        """What it ended with, if that is an error."""
        time.sleep(operation.delay)
        for name, text in operation.edits:
            self._put(name, text)
        environment = {
            **variables(self._connection),
            "OPENAI_BASE_URL": self._address,
            "KGPLATFORM_HOME": str(self._here / "home"),
            "KGPLATFORM_PASSAGE_TOKENS": "40",
            "KGPLATFORM_CONCURRENCY": "4",
            "KGPLATFORM_EMBEDDER": "hash:32" if operation.method == "reembed" else embedder,
        }
        file = self._here / f"{number}.txt"
        file.unlink(missing_ok=True)
        given = {"method": operation.method, "arguments": operation.arguments, "options": operation.options}
        was_killed = False
        for seconds in (*operation.kills, _LONGEST):
            with self._lock:
                say(self._driver, {**given, "environment": environment, "told": str(file)})
                process = answer(self._driver)
            end = time.monotonic() + seconds
            while psutil.pid_exists(process) and time.monotonic() < end:
                time.sleep(0.01)
            if not psutil.pid_exists(process):
                break
            self._model.kills.append(time.monotonic())
            os.kill(process, signal.SIGKILL)
            was_killed = True
        error = file.read_text() if file.exists() else "it did not end, or died"
        # All documents go with the last transaction: after a kill behind it there is nothing to do.
        return "" if operation.method == "remove" and was_killed and error.startswith(_NONE_LEFT) else error

    def _unlike(self, operations: Sequence[Operation], before: Sequence[str]) -> list[str]:
        """In what the graph is not one that the operations make in some order."""
        with open_graph(self._settings("auto")) as graph:
            paths = sorted(unquote(urlsplit(each.uri).path) for each in graph.documents())
            faults = _half_gisted(graph, operations)
            faults += self._unlike_tree(graph) if "treeState" in graph.state() else []
        ingested = {name for each in operations if each.method == "ingest" for name in each.names}
        removed = {name for each in operations if each.method == "remove" for name in each.names}
        done = {each.method for each in operations}
        brought = set(_IMPORTED) if "import_graph" in done else set()
        wanted = (set(before) - removed) | (ingested - removed) | brought
        there = {Path(path).name for path in paths}
        if missing := sorted(wanted - there):
            faults.append(f"documents are missing: {', '.join(missing)}")
        if more := sorted(there - wanted - (ingested & removed)):
            faults.append(f"documents are there that were removed: {', '.join(more)}")
        found = _lasting(snapshot(self._store))
        _wipe(self._store)
        self._reference(paths, "hash:32" if "reembed" in done else "hash:64").close()
        return faults + difference(found, _lasting(snapshot(self._store)))[:5]

    def _unlike_tree(self, graph: KnowledgeGraph) -> list[str]:
        graph.build_tree()
        (row,) = graph.cypher(_TREE).rows
        faults = [f"{count} {what}" for count, what in zip(row, _OF_A_TREE, strict=True) if count]
        again = graph.build_tree()
        changed = again.entities_new + again.entities_changed + again.communities_new + again.communities_gone
        return faults + (["a second update of the tree finds more to do"] if changed else [])

    def _reference(self, files: Sequence[str], embedder: str) -> KnowledgeGraph:
        """An empty graph, into which documents are brought by this process alone."""
        graph = open_graph(self._settings(embedder))
        for operation in self._ingests(files):
            graph.ingest(*operation.arguments, **operation.options)
        return graph

    def _settings(self, embedder: str) -> Settings:
        given = self._connection
        server = {"neo4j_uri": given.uri, "neo4j_username": given.username, "neo4j_password": given.password}
        home = self._here / "reference"
        return load_settings(**server, openai_base_url=self._address, home=home, passage_tokens=40, embedder=embedder)


def _wipe(store: Store) -> None:
    with store.lend_driver("the schedules") as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
    if any(row["dimension"] != _DIMENSION for row in store.read("ingest/vector_dimensions")):
        drop_vector_indexes(store)


def _timed(chance: random.Random, operations: Sequence[Operation]) -> list[Operation]:
    """With delays, kills and edits: a file is edited before the last ingest of it begins, if at all."""
    delays = sorted(chance.uniform(0, 1.0) for _ in operations)
    edited, timed = set[str](), list[Operation]()
    for operation, delay in zip(reversed(operations), reversed(delays), strict=True):
        fresh = [] if operation.method != "ingest" else [name for name in operation.names if name not in edited]
        edited.update(fresh)
        edits = tuple((name, chance.randint(20, 90)) for name in fresh if chance.random() < 0.5)
        # Half an import, and a graph half embedded again, are refused by every other command, as they should be.
        most = 0 if operation.method in ("import_graph", "reembed") else chance.choice((0, 0, 1, 2))
        kills = tuple(chance.uniform(0.05, 2.0) for _ in range(most))
        timed.append(replace(operation, delay=delay, kills=kills, edits=edits))
    return timed[::-1]


def _lasting(graph: Snapshot) -> Snapshot:
    """What the documents alone decide: without the tree, gists, and how the graph was last read."""
    nodes = {
        key: {name: value for name, value in properties.items() if name not in ("treeDue", "compression")}
        for key, properties in graph[0].items()
        if not any(f"'{label}'" in key.partition("/")[0] for label in _DERIVED)
    }
    return nodes, [edge for edge in graph[1] if edge[1] not in _EDGES_OF_DERIVED]


def _half_gisted(graph: KnowledgeGraph, operations: Sequence[Operation]) -> list[str]:
    """Documents with some of their pages, or with none though they were gisted and nothing else was done to them."""
    touched = {name for each in operations if each.method in ("ingest", "remove") for name in each.names}
    touched.update(_IMPORTED)
    was_gisted = any(each.method == "gist" for each in operations)
    faults = []
    for name, characters, pages, gists in graph.cypher(_PAGES).rows:
        file = Path(name).name
        joined = [start for start, _ in pages] == [0, *(end for _, end in pages[:-1])]
        if pages and not (joined and gists == len(pages) and pages[-1][1] == characters):
            faults.append(f"{file} has some of its pages: {pages}, {gists} gists of {characters} characters")
        elif not pages and was_gisted and file not in touched:
            faults.append(f"{file} has no pages")
    return faults
