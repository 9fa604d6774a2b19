"""What the benchmarks share: one folder for their graphs, one embedder that remembers, one place for the results.

``KGPLATFORM_BENCH_DATA`` names the folder of the data sets.
"""

import os
import tempfile
from collections.abc import Callable, Generator, Iterator
from pathlib import Path

import pytest
from data_sets import Data, Place
from graphs import MODEL, Graphs
from measure import RememberingEmbedder, conditions
from tables import Section, keep

from kgplatform.models.chat import Ledger
from kgplatform.models.embed import make_embedder
from kgplatform.models.onnx_encoder import DEFAULT, fetch_weights
from kgplatform.neo4j.config import install
from kgplatform.settings import load_settings

ROOT = Path(__file__).parent.parent.parent
RESULTS = ROOT / ".kgplatform" / "bench"
_OURS = ("NEO4J_", "OPENAI_", "KGPLATFORM_")
_FINISHED = pytest.StashKey[bool]()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Note which benchmarks came to their end: only their results replace those of earlier runs."""
    report = yield
    if report.when == "call":
        item.stash[_FINISHED] = report.passed
    return report


@pytest.fixture(scope="session")
def place() -> Iterator[Place]:
    """A folder that is gone afterwards, and no setting of the person who measures."""
    data = Path(os.environ.get("KGPLATFORM_BENCH_DATA", ROOT.parent / "shared" / "data")).absolute()
    jars = Path(os.environ.get("KGPLATFORM_NEO4J_JARS", ROOT / ".kgplatform" / "jars")).absolute()
    with tempfile.TemporaryDirectory(prefix="kgplatform-bench-") as folder, pytest.MonkeyPatch.context() as patch:
        for name in list(os.environ):
            if name.startswith(_OURS):
                patch.delenv(name)
        patch.chdir(folder)
        fetch_weights(DEFAULT, jars, print)
        install(jars, print)  # in a new clone: within a test, the network is out of reach
        yield Place(Path(folder), Data(data), jars)


@pytest.fixture(scope="session")
def data(place: Place) -> Data:
    """The data sets."""
    return place.data


@pytest.fixture(scope="session")
def graphs(place: Place) -> Iterator[Graphs]:
    """The graphs, their servers stopped at the end."""
    embedder = RememberingEmbedder(make_embedder(load_settings(embedder=MODEL, neo4j_jars=place.jars), Ledger(None)))
    graphs = Graphs(place.folder, place.data, embedder, place.jars)
    try:
        yield graphs
    finally:
        graphs.close()


@pytest.fixture
def section(place: Place, request: pytest.FixtureRequest) -> Iterator[Callable[[str, str], Section]]:
    """Begins a section; what it holds is printed, and kept if the benchmark came to its end."""
    begun: list[Section] = []

    def begin(name: str, title: str) -> Section:
        begun.append(Section(name, title, conditions()))
        return begun[0]

    yield begin
    for each in begun:
        if each.figures:
            print("\n" + each.markdown(), flush=True)
            if request.node.stash.get(_FINISHED, False):
                keep(RESULTS, each)
