"""The pictures of an evaluation, as PNG and SVG: accuracy against cost, needles.

    files = draw(results, timing, out)

The same figures give the same bytes. Names from users and data sets
are drawn as they are, never read as formulas; letters that the bundled font lacks are drawn as boxes. Colours are those
of Okabe and Ito (2008), which people with any colour vision tell apart, and no two setups have both colour and marker
in common. matplotlib comes with the extra ``evaluate``.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

import numpy as np

from kgplatform.errors import SettingError, to_install
from kgplatform.evaluate.costs import per_question
from kgplatform.evaluate.journal import write_whole
from kgplatform.evaluate.report import title_of
from kgplatform.evaluate.terms import Results, Timing
from kgplatform.text import counted, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from kgplatform.evaluate.needles import HeatMap

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's eight; the yellow last, since it is hard to see on white."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h")
"""Nine, so that the pairs of a colour and a marker begin to repeat after 72."""
_EDGE = "#333333"
_STYLE = {  # what is not as matplotlib has it by default
    "axes.titlesize": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "grid.color": "#E6E6E6",
    "legend.frameon": False,
    "text.parse_math": False,
    "svg.hashsalt": "kgplatform",
    "savefig.dpi": 160,
}
_LETTER = 0.09  # of a name, in inches
_LONGEST = 40  # letters of a line of a name
_CELLS_WIDE = 18  # cells of a heat map side by side, over all panels of a row
_TOGETHER = 0.025  # of an axis: points that are nearer than this are drawn side by side
_APART, _FAR = 11.0, 40.0  # points of 1/72 inch between two of those, at most, and between the first and the last
_WIDE = 30.0  # an axis becomes logarithmic where the largest value is so many times the smallest
_POINT: dict[str, Any] = {"capsize": 3, "markersize": 8, "elinewidth": 1.3}
_COSTS = (
    ("tokens per question", attrgetter("tokens")),
    ("seconds per question (median)", attrgetter("median")),
    ("model calls per question", attrgetter("calls")),
)


def draw(results: Results, timing: Timing, folder: Path) -> list[Path]:
    """All pictures that the results allow, in ``folder``; their files, each PNG before its SVG. Raises ``SettingError``
    where matplotlib is missing, ``KgError`` where a file cannot be written."""
    if not any(results.metrics[:1] and results.metrics[0] in setup.scores for setup in results.setups):
        return []
    with style():
        return _draw_cost(results, timing, folder)


def in_lines(name: str, longest: int = _LONGEST) -> str:
    """``name`` as it can be drawn: in lines of ``longest`` letters, what no font has as a sign for that."""
    return fill("".join(letter if letter.isprintable() else "\ufffd" for letter in tidy(name)), longest)


def look(number: int) -> dict[str, Any]:
    """How the points of the setup or reader of that number, from 0, are drawn."""
    pair = {"color": COLOURS[number % len(COLOURS)], "marker": MARKERS[number % len(MARKERS)]}
    return {**pair, "markeredgecolor": _EDGE, "markeredgewidth": 0.6}


def _amount(value: float, _: object = None) -> str:
    """``0.05``, ``300``, ``20k``, ``1.5M``: for an axis."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:g}"


@contextmanager
def style() -> Iterator[None]:
    """Draw in here: whatever the machine's own configuration of matplotlib says. Raises ``SettingError`` without it."""
    try:
        import matplotlib.style  # an extra, and half a second
    except ImportError as error:
        raise SettingError(f"Pictures need matplotlib. Run `{to_install('evaluate')}`.") from error
    with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def new_figure(width: float, height: float, title: str) -> Figure:
    """An empty one, in inches; with a canvas that needs no screen."""
    from matplotlib.figure import Figure  # as in ``style``
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    figure = Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.1))
    figure.suptitle(title, fontsize=12)
    return figure


def _save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """``folder/name.png`` and ``.svg``, with the title inside."""
    files = []
    for kind, unset in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
        content = io.BytesIO()
        figure.savefig(content, format=kind, metadata={"Title": figure.get_suptitle(), **unset})
        files.append(folder / f"{name}.{kind}")
        write_whole(files[-1], content.getvalue(), mode=0o644)
    return files


def _draw_cost(results: Results, timing: Timing, folder: Path) -> list[Path]:
    """A panel for each cost: for each setup that has both figures a point, and the interval of its score in percent."""
    from matplotlib.lines import Line2D  # as in ``style``
    from matplotlib.transforms import offset_copy

    metric, costs = results.metrics[0], per_question(results, timing)
    names = [setup.setup.name for setup in results.setups]
    looks = {name: look(number) for number, name in enumerate(names)}
    scores = {
        setup.setup.name: tuple(100 * share for share in (score.mean, score.low, score.high))
        for setup in results.setups
        if (score := setup.scores.get(metric))
    }
    of = f"{counted(results.questions, 'question')} of {in_lines(results.dataset, 100)}"
    lines = sum(in_lines(name).count("\n") + 1 for name in names)
    figure = new_figure(11.0, max(4.2, 1.0 + 0.16 * lines), f"{title_of(metric)} against cost, {of}")
    panels = figure.subplots(1, len(_COSTS), sharey=True)
    panels[0].set_ylim(-4, 104)
    panels[0].set_ylabel(f"{title_of(metric)}, % (95 % interval)")
    for panel, (what, spent) in zip(panels, _COSTS, strict=True):
        places = {name: spent(cost) for name, cost in costs.items() if cost and name in scores}
        places = {name: place for name, place in places.items() if place is not None}
        panel.set_xlabel(what)
        panel.grid(visible=True)
        if not places:
            panel.text(0.5, 0.5, "not measured", transform=panel.transAxes, ha="center", color=_EDGE)
            panel.set_xticks([])
            continue
        _set_scale(panel, list(places.values()))
        on_axis = panel.transScale + panel.transLimits
        near = {name: round(on_axis.transform((place, 0))[0] / _TOGETHER) for name, place in places.items()}
        for name, place in places.items():
            mean, low, high = scores[name]
            group = [other for other in near if near[other] == near[name]]
            aside = (group.index(name) - (len(group) - 1) / 2) * min(_APART, _FAR / len(group))
            moved = offset_copy(panel.transData, figure, x=aside, units="points")
            at: dict[str, Any] = {"transform": moved, "clip_on": False, "zorder": 3}
            panel.errorbar([place], [mean], yerr=[[mean - low], [high - mean]], **_POINT, **at, **looks[name])
    labels = []
    for name in sorted(names, key=lambda name: -scores.get(name, (-1,))[0]):
        said = f"{scores[name][0]:.0f} %" if name in scores else "not scored"
        labels.append((f"{in_lines(name)}  {said}{'' if costs[name] else ', never answered'}", looks[name]))
    handles = [Line2D([], [], linestyle="none", markersize=7, label=label, **its_look) for label, its_look in labels]
    figure.legend(handles=handles, loc="outside right upper", fontsize=8, labelspacing=0.3)
    return _save(figure, folder, "accuracy-cost")


def _set_scale(panel: Axes, values: Sequence[float]) -> None:
    """Give ``panel`` an axis from 0, or a logarithmic one where the values lie far apart."""
    from matplotlib.ticker import LogLocator  # as in ``style``

    least, most = min(values), max(values)
    if least > 0 and most / least > _WIDE:
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0) if most / least < 1000 else (1.0,)))
        panel.minorticks_off()
        panel.set_xlabel(f"{panel.get_xlabel()},\nlogarithmic")
        panel.set_xlim(least / 1.7, most * 1.7)
    else:
        panel.locator_params(axis="x", nbins=5)
        panel.set_xlim(0.0, most * 1.12 or 1.0)
    panel.xaxis.set_major_formatter(_amount)


def draw_heat_map(heat_map: HeatMap, folder: Path) -> list[Path]:
    """Needles found by length (columns) and depth (rows), a panel a setup; a cell without a run is hatched. Raises as
    ``draw`` does."""
    names, lengths, depths = list(heat_map.found), heat_map.lengths, heat_map.depths
    counts = sorted({cell.count for rows in heat_map.found.values() for row in rows for cell in row if cell}) or [0]
    texts = f"{f'{counts[0]:,} to ' if len(counts) > 1 else ''}{counted(counts[-1], 'text')}"
    rows = math.ceil(len(names) / max(1, _CELLS_WIDE // len(lengths)))
    columns = math.ceil(len(names) / rows)
    wide, high = max(2.4, 0.62 * len(lengths)), 1.0 + 0.36 * len(depths)
    title = f"Right answers by length and depth, %, {texts} per cell"
    with style():
        figure = new_figure(max(7.5, 1.6 + columns * wide), 1.0 + rows * high, title)
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
        for panel, name in zip(panels, names, strict=False):
            shares = np.array([[cell.mean if cell else np.nan for cell in row] for row in heat_map.found[name]])
            image = panel.imshow(shares, aspect="auto", interpolation="nearest", cmap="cividis", vmin=0, vmax=1)
            panel.tick_params(length=0)
            panel.spines[:].set_visible(False)
            panel.set_title(in_lines(name, int(wide / _LETTER)))
            panel.patch.set(facecolor="white", hatch="////", edgecolor="#BBBBBB")
            for (row, column), share in np.ndenumerate(shares):
                if not np.isnan(share):
                    how: dict[str, Any] = {"ha": "center", "va": "center", "fontsize": 9}
                    panel.text(column, row, f"{100 * share:.0f}", color="black" if share > 0.5 else "white", **how)
        for panel in panels[len(names) :]:
            panel.set_visible(False)
        panels[0].set_xticks(range(len(lengths)), [_amount(length) for length in lengths])
        panels[0].set_yticks(range(len(depths)), depths)
        bar = figure.colorbar(image, ax=list(panels), ticks=[0, 0.5, 1], fraction=0.03, pad=0.02)
        bar.ax.set_yticklabels(["0 %", "50 %", "100 %"])
        figure.supxlabel("length of the text, tokens", fontsize=10)
        figure.supylabel("depth of the needle", fontsize=10)
        return _save(figure, folder, "heat-map")
