"""Four walks through the package: an ingest, a search, a GraphReader question, the same over HTTP; the files of each.

    make measure
    python tests/benchmarks/walks.py [CHECKOUT]      # of another checkout too, by the Python that has its dependencies

Counted are files of ``kgplatform`` whose functions run, at their first call; importing a module alone is no crossing,
so what only the import system calls (``moved``) is not counted, nor is the simulated model, the other end of a wire:
``simulated_readers`` of the tests. The graph is one of its own and is stopped at the end.
"""

import contextlib
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

QUESTION = "Who designed the ship that laid the cable of 1866?"


@contextlib.contextmanager
def crossing(package: Path) -> Iterator[list[str]]:
    """The files of ``package`` whose functions are called inside of it, in the order of their first calls."""
    files: list[str] = []
    known: set[str] = set()

    def called(frame: FrameType, event: str, _: object) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file not in known and frame.f_code.co_name != "<module>":
            known.add(file)
            path = Path(file)
            if package in path.parents and path.name not in ("moved.py", "openai_server.py"):
                files.append(path.relative_to(package).as_posix())

    threading.setprofile(called)
    sys.setprofile(called)
    try:
        yield files
    finally:
        sys.setprofile(None)
        threading.setprofile(None)  # type: ignore[arg-type]  # None ends it


def main(checkout: Path) -> None:
    """Print the walks of the package in ``checkout``."""
    sys.path[:0] = [str(checkout), str(checkout / "tests" / "kit"), str(checkout / "tests")]
    from simulated_readers import reply
    from starlette.testclient import TestClient

    from kgplatform import connect
    from kgplatform.interfaces.http.app import make_app
    from kgplatform.testing import OpenAIServer

    package, examples = checkout / "kgplatform", checkout / "examples"
    walks: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="walks-") as home, OpenAIServer(reply) as server:
        settings = {"home": home, "embedder": "hash:64", "openai_base_url": server.base_url}
        try:
            with connect(**settings) as kg:
                with crossing(package) as walks["an ingest"]:
                    kg.ingest(examples / "corpus", recorded=examples / "extraction.jsonl")
                with crossing(package) as walks["a search"]:
                    kg.search(QUESTION)
                kg.ingest(facts=True)
                with crossing(package) as walks["a GraphReader question"]:
                    kg.ask(QUESTION, "graphreader")
                client = TestClient(make_app(kg), base_url="http://localhost")
                asked = {"question": QUESTION, "reader": "graphreader"}
                with crossing(package) as walks["the same over HTTP"]:
                    client.post("/api/ask", json=asked, headers={"Accept": "text/event-stream"})
        finally:
            _stop(home)
    for name, files in walks.items():
        print(f"{name}: {len(files)} files\n  " + " → ".join(file.removesuffix(".py") for file in files))


def _stop(home: str) -> None:
    """Stop the graph's server by the command of the package itself, wherever that lies in this checkout."""
    import subprocess

    subprocess.run([Path(sys.executable).with_name("kgplatform"), "down", "--home", home], check=True)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parents[2]).resolve())
