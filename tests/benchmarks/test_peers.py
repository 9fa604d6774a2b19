"""What kgplatform and its peers take for the same passages with the same recorded extraction, models left out.

``KGPLATFORM_BENCH_PEERS`` names the sizes in passages, such as "300 1000". ``make bench ONLY=peers`` makes environments
of the peers below ``.kgplatform/bench`` the first time: 7 GB, for HippoRAG's sake. A peer that cannot be installed is
left out, and so are all in a run of every benchmark where their environments are not there.
"""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from conftest import RESULTS, ROOT
from data_sets import Place
from invented import Invented
from measure import exponent, growth
from peer_environments import PEERS, NotInstalled, Peer, python_of
from tables import Section, Table

from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings

SIZES = [int(size) for size in os.environ.get("KGPLATFORM_BENCH_PEERS", "300 1000 3000").split()]
"""Read on import: the benchmarks' own runs see no setting of the person who measures."""
_MAKE = "peers" in os.environ.get("ONLY", "").split()
"""Whether it was this benchmark that was asked for: make passes its variables on."""
ADDED_PASSAGES = 20
_WHOLE = 30_000
"""Passages of the corpus of which all sizes are beginnings: alike in its statistics, with few planted passages."""
_LONGEST, _PATIENCE = 1_200, 2_400
"""Seconds: a size is left out that would take longer than the first, and a peer is ended after the second."""
_DRIVERS = Path(__file__).with_name("peers") / "drivers.py"


def test_peers(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("peers", f"Peers: {', '.join(f'{size:,}' for size in SIZES)} passages, models left out")
    for size in SIZES:
        write_corpus(place.folder / f"peers-{size}", size)
    pythons = _pythons(found)
    if not any(peer.packages for peer in pythons):
        pytest.skip(" ".join(found.notes))
    _add(found, {peer: list(_figures(found, place, peer, python)) for peer, python in pythons.items()})


def _pythons(found: Section) -> Mapping[Peer, Path]:
    """The interpreters of the peers that there are; of each other one a note why not."""
    pythons = {}
    for peer in PEERS:
        try:
            pythons[peer] = python_of(peer, RESULTS, make=_MAKE)
        except NotInstalled as error:
            found.notes.append(f"{peer.name} was left out: {error}.")
    return pythons


def write_corpus(folder: Path, size: int) -> None:
    """``recorded.jsonl`` with ``size`` passages, and ``addition.jsonl`` with those that follow them."""
    folder.mkdir()
    entries = Invented(_WHOLE).entries()
    for name, count in (("recorded", size), ("addition", ADDED_PASSAGES)):
        lines = [json.dumps(each) + "\n" for each in islice(entries, count)]
        (folder / f"{name}.jsonl").write_text("".join(lines), "utf-8")


def _figures(found: Section, place: Place, peer: Peer, python: Path) -> Iterator[Mapping[str, Any]]:
    """Of one size after the other; after one that did not end well there is none."""
    done: list[Mapping[str, Any]] = []
    for size in SIZES:
        if len(done) > 1 and (expected := _expected(done, size)) > _LONGEST:
            found.notes.append(f"{peer.name}, {size:,} passages: left out, it would take about {expected:,.0f} s.")
            return
        load = os.getloadavg()[0]
        try:
            figures = drive(place, peer, python, size)
        except (subprocess.CalledProcessError, subprocess.TimeoutExpired) as error:
            said = str(error.stderr or b"")[-600:]
            found.notes.append(f"{peer.name}, {size:,} passages: {type(error).__name__}. {said}")
            return
        print(f"{peer.name}: {json.dumps({**figures, 'load': load})}", flush=True)
        done.append({**figures, "load": load})
        yield done[-1]


def _expected(done: Sequence[Mapping[str, Any]], size: int) -> float:
    """Seconds that this size would take, if it goes on as from the last size but one to the last."""
    passages, seconds = ([each[what] for each in done[-2:]] for what in ("passages", "seconds"))
    expected: float = seconds[-1] * (size / passages[-1]) ** growth(passages, seconds)
    return expected


def drive(place: Place, peer: Peer, python: Path, size: int) -> Mapping[str, Any]:
    """One peer at one size, in a process and, where it wants one, with a server of its own."""
    corpus, folder = place.folder / f"peers-{size}", place.folder / f"peers-{size}-{peer.name}"
    folder.mkdir()
    files = {name: str(corpus / f"{name}.jsonl") for name in ("recorded", "addition")}
    asked: dict[str, Any] = {"folder": str(folder), "whole": peer.whole, **files}
    with _server(peer, folder, place.jars) as address:
        asked["neo4j"] = address
        command = [str(python), str(_DRIVERS), peer.module, json.dumps(asked)]
        printed = _run(command, folder)
    figures: Mapping[str, Any] = json.loads(printed)
    assert figures["asked"] == figures["wanted_asked"], f"{peer.name} did not ask for each passage"
    return figures


def _run(command: Sequence[str], folder: Path) -> bytes:
    """What the command prints. Nothing of it is left, whatever becomes of it: HippoRAG starts a process of its own."""
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        cwd=folder,
        start_new_session=True,
    )
    try:
        printed, said = process.communicate(timeout=_PATIENCE)
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, command, printed, said)
    return printed


@contextmanager
def _server(peer: Peer, folder: Path, jars: Path) -> Iterator[dict[str, Any] | None]:
    """The address of a new managed server in ``folder``, with password and process; kgplatform starts its own."""
    if not peer.server:
        yield None
        return
    server = LocalNeo4j(load_settings(home=folder, neo4j_jars=jars))
    try:
        if not peer.packages:
            yield {"jars": str(jars)}
            return
        made = server.up()
        named = {"uri": made.uri, "username": made.username, "password": made.password}
        yield {**named, "pid": server.status().pid}
    finally:
        server.down()


def _add(found: Section, measured: Mapping[Peer, Sequence[Mapping[str, Any]]]) -> None:
    for peer, sizes in measured.items():
        for each in sizes:
            kept, wanted = (each[f"{of}entities"] + each[f"{of}relations"] for of in ("", "wanted_"))
            at = f"{peer.name}, {each['passages']:,} passages"
            found.add(f"{at}: entities and relations that are in its store", 100 * kept / wanted, "%")
    found.tables += [
        Table("Adding the passages", _ADDED, [_row(peer, each) for peer, sizes in measured.items() for each in sizes]),
        Table(
            "Growth: whole (the last two)", _GROWN, [_grown(peer, sizes) for peer, sizes in measured.items() if sizes]
        ),
    ]
    found.notes += [
        "Models are left out: extraction is recorded, summaries are one short sentence, vectors are hashed words. "
        "kgplatform reads the recording itself: it asks no model.",
        "Processors: of the process, and of the database server where there is one, its compilers included.",
    ]


_ADDED = (
    *("", "passages", "load", "seconds", "of processors, of them the server", "peak memory, of it before"),
    *("entities; relations", f"{ADDED_PASSAGES} passages more, of processors", "calls; of the passages more"),
)
_GROWN = ("", "processors", "peak memory", f"{ADDED_PASSAGES} passages more, processors")


def _row(peer: Peer, each: Mapping[str, Any]) -> tuple[str, ...]:
    return (
        peer.name,
        f"{each['passages']:,}",
        f"{each['load']:.1f}",
        f"{each['seconds']:.1f} s",
        f"{each['python'] + each['server']:.1f}, {each['server']:.1f} s",
        f"{each['peak_megabytes']:,.0f}, {each['before_megabytes']:,.0f} MB",
        f"{each['entities']:,}; {each['relations']:,}",
        f"{each['more_seconds']:.1f}, {each['more_processor']:.1f} s",
        f"{each['calls']:,}; {each['more_calls']:,}",
    )


def _grown(peer: Peer, sizes: Sequence[Mapping[str, Any]]) -> tuple[str, ...]:
    passages = [each["passages"] for each in sizes]
    series = (
        [each["python"] + each["server"] for each in sizes],
        [each["peak_megabytes"] - each["before_megabytes"] for each in sizes],
        [each["more_processor"] for each in sizes],
    )
    return (peer.name, *(f"{exponent(passages, values)} ({exponent(passages[-2:], values[-2:])})" for values in series))
