"""Models that err: right answers of all readers over the chance of an error in a call, and of most before a review.

Corpora, models and errors are invented (``hop_questions`` and ``erring_readers``; of ``global`` ``group_questions`` and
``erring_groups``): the same questions, the same kinds of error, a server on loopback. What is drawn is what a reader
makes of a model's errors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import cycle
from math import ceil
from pathlib import Path

from conftest import RESULTS
from data_sets import Place
from erring_groups import GLOBAL, TOWNS
from erring_model import ErringModel, Tally, Trial, ask_all
from erring_readers import FLEET, READAGENT, READERS
from graphs import new_graph
from tables import Section, Table

from kgplatform import KnowledgeGraph
from kgplatform.evaluate.plots import COLOURS, new_figure, style
from kgplatform.testing import ScriptedChat

CHANCES = (0.0, 0.1, 0.2, 0.3, 0.5)
ASKED = 150
"""Questions a point, at least: those of a reader, by models of as many seeds as that takes."""
BEFORE_COMMIT = "6b580b9"
BEFORE: Mapping[str, tuple[float, ...]] = {
    "youtu": (100, 94, 82, 77.3, 61.3),
    "graphreader": (100, 92.7, 85.3, 78, 56),
    "readagent": (100, 94, 83.3, 78, 64.7),
    "longagent": (100, 92.7, 83.3, 78.7, 56.7),
    "retrieve": (100, 90.7, 84.7, 81.3, 66.7),
    "cypher": (100, 93.3, 85.3, 76, 62.7),
    "fulltext": (100, 94.7, 89.3, 86, 74.7),
    "chunkread": (100, 25.3, 6.7, 4, 0),
}
"""Percent right of the same questions by the same models over the code at ``BEFORE_COMMIT``, which was asked by a
program of its own: its prompts ask for other forms, in which the models then replied. ``fulltext`` had the window that
it has now; ``chunkread`` read each passage in a call of its own. There was no ``global``."""
PICTURE = "model-errors.png"


def test_models_that_err(section: Callable[[str, str], Section], place: Place) -> None:
    found = section("errors", "Models that err: right and cited answers, by the chance of an error in a call")
    with new_graph(place, "errors", embedder="hash:256") as graph:
        FLEET.ingest(graph, place.folder / "errors")
        chat = ScriptedChat(ErringModel(READAGENT))  # which makes no error in the gists
        KnowledgeGraph(graph.store, graph.settings, embedder=graph.embedder, chat=chat).gist()
        tallies = {reader: _asked(graph, reader, trial, place) for reader, trial in READERS.items()}
    with new_graph(place, "errors about groups", embedder="hash:256") as graph:
        TOWNS.ingest(graph, place.folder / "towns")
        tallies["global"] = _asked(graph, "global", GLOBAL, place)
    for reader, of in tallies.items():
        found.add(f"{reader}: right where no call errs", of[0].share, "%", exactly=100)
    everything = [tally for of in tallies.values() for tally in of]
    found.add("whole replies that were paid twice", sum(tally.again for tally in everything), exactly=0)
    found.add("answers that cite something for an invented name", sum(t.invented for t in everything), exactly=0)
    found.add("questions that ended with an error of the model", sum(tally.failed for tally in everything))
    found.tables += [_shares(tallies), _misled(tallies), _costs(tallies)]
    file = _draw({reader: [tally.share for tally in of] for reader, of in tallies.items()}, RESULTS)
    found.notes += [
        f"{len(FLEET.questions)} questions, half of them of two hops, over {len(FLEET.texts)} invented documents; of "
        f"global {len(GLOBAL.questions)} about groups, over {len(TOWNS.texts)}; at least {ASKED} a point, by models of "
        "several seeds. Half of the errors are in the form of a reply, half in what it says.",
        f"Before: the code at {BEFORE_COMMIT}, asked by the same models, which then replied as its prompts want it.",
        f"Drawn as {file}; docs/images/{PICTURE} is a copy.",
    ]


def _asked(graph: KnowledgeGraph, reader: str, trial: Trial, place: Place) -> list[Tally]:
    """For each of the chances what came of it."""
    seeds, folder = range(1, 1 + ceil(ASKED / len(trial.questions))), place.folder / f"errors of {reader}"
    return [ask_all(graph, reader, trial, errs=errs, seeds=seeds, folder=folder) for errs in CHANCES]


def _shares(tallies: Mapping[str, list[Tally]]) -> Table:
    rows = []
    for reader, of in tallies.items():
        rows.append((reader, *(f"{tally.share:.0f}" for tally in of)))
        rows += [(f"{reader}, before", *(f"{share:.0f}" for share in BEFORE[reader]))] if reader in BEFORE else []
    return Table("Right and cited, %", ("", *(f"p = {errs:g}" for errs in CHANCES)), rows)


def _misled(tallies: Mapping[str, list[Tally]]) -> Table:
    rows = [(reader, *(f"{100 * tally.misled / tally.asked:.1f}" for tally in of)) for reader, of in tallies.items()]
    return Table("Wrong and cited, %", ("", *(f"p = {errs:g}" for errs in CHANCES)), rows)


def _costs(tallies: Mapping[str, list[Tally]]) -> Table:
    rows = [
        (
            reader,
            *(f"{tally.calls / tally.asked:.1f}" for tally in of),
            str(max(tally.most for tally in of)),
            str(sum(tally.failed for tally in of)),
        )
        for reader, of in tallies.items()
    ]
    return Table("Calls of a question", ("", *(f"p = {errs:g}" for errs in CHANCES), "most", "failed"), rows)


def _draw(shares: Mapping[str, list[float]], folder: Path) -> Path:
    """A panel a reader, five in a row: now as a line with points, before as a dashed one."""
    along = [100 * errs for errs in CHANCES]
    with style():
        figure = new_figure(
            11.0, 6.2, f"Right answers of simulated models that err, {ASKED} questions or more per point"
        )
        panels = figure.subplots(ceil(len(shares) / 5), 5, sharey=True)
        for panel, (reader, now), colour in zip(panels.flat, shares.items(), cycle(COLOURS), strict=False):
            if reader in BEFORE:
                panel.plot(along, BEFORE[reader], "--", color="#777777", marker="o", markersize=4, label="before")
            panel.plot(along, now, "-", color=colour, marker="o", markersize=6, label="now")
            panel.set_title(reader)
            panel.set_xlim(-2, 52)
            panel.set_ylim(0, 104)
            panel.set_xticks(along, [f"{each:g}" for each in along])
            panel.grid(visible=True)
            panel.legend(loc="best")
        for row in panels:
            row[0].set_ylabel("right and cited, %")
        figure.supxlabel("calls with an error, %", fontsize=10)
        folder.mkdir(parents=True, exist_ok=True)
        figure.savefig(folder / PICTURE, metadata={"Software": None})
    return folder / PICTURE
