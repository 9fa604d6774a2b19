"""The pictures of an evaluation, as PNG and SVG: accuracy against cost, who is right where, needles.

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
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kgplatform.errors import SettingError, to_install
from kgplatform.evaluate.costs import per_question
from kgplatform.evaluate.journal import write_whole
from kgplatform.evaluate.report import RIGHT_FROM, AnswerMark, RightWhere, right_where, title_of
from kgplatform.evaluate.terms import Results, Timing
from kgplatform.text import counted, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from numpy.typing import ArrayLike, NDArray

    from kgplatform.evaluate.needles import HeatMap

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's eight; the yellow last, since it is hard to see on white."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h")
"""Nine, so that the pairs of a colour and a marker begin to repeat after 72."""
MARKS: Mapping[AnswerMark, str] = {
    "right": "#0072B2",
    "wrong": "#E69F00",
    "refused": "#DADADA",
    "failed": "#000000",
    "unscored": "#FFFFFF",
}
"""The colours of squares, told apart by how light they are, too."""
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
_WIDTH = 11.0  # of a picture, in inches
_LETTER = 0.09  # of a name, in inches
_LONGEST = 34  # letters of a name
_MOST_NAMED = 24  # setups that a legend can name
_MOST_IDS = 40  # questions that can have their ids below
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
    """All pictures that the results allow, in ``folder``; their files, each PNG before its SVG.

    Raises ``SettingError`` where matplotlib is missing, ``KgError`` where a file cannot be written.
    """
    where = right_where(results)
    if where is None:
        return []
    of = f"{counted(results.questions, 'question')} of {short(results.dataset)}"
    with style():
        files = _draw_cost(results, timing, folder, f"{title_of(where.metric)} against cost, {of}")
        return files + _draw_right_where(where, folder, f"Right on which question, by {title_of(where.metric)}, {of}")


def short(name: str, longest: int = _LONGEST) -> str:
    """``name`` on one line, without its middle where it is long: setups of a grid differ at their ends."""
    flat = "".join(letter if letter.isprintable() else "\ufffd" for letter in tidy(name))
    half = (longest - 1) // 2
    return flat if len(flat) <= longest else f"{flat[:half]}…{flat[-half:]}"


def distinct(names: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """The names, short; those that would look alike then have their number in front."""
    cut = [short(name, longest) for name in names]
    shown = []
    for number, (name, brief) in enumerate(zip(names, cut, strict=True), 1):
        prefix = f"{number}. " if cut.count(brief) > 1 else ""
        shown.append(prefix + short(name, longest - len(prefix)))
    return shown


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


def _add_legend(figure: Figure, labels: Sequence[tuple[str, dict[str, Any]]]) -> None:
    """At the right: what it says, and how the marker beside it is drawn."""
    from matplotlib.lines import Line2D  # as in ``style``

    handles = [Line2D([], [], linestyle="none", markersize=7, label=label, **its_look) for label, its_look in labels]
    figure.legend(handles=handles, loc="outside right upper", fontsize=8, labelspacing=0.3)


def _draw_squares(axes: Axes, cells: ArrayLike, **more: Any) -> AxesImage:
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    return axes.imshow(cells, aspect="auto", interpolation="nearest", **more)


def _draw_cost(results: Results, timing: Timing, folder: Path, title: str) -> list[Path]:
    """A panel for each cost: for each setup that has both figures a point, and the interval of its score in percent."""
    from matplotlib.transforms import offset_copy  # as in ``style``

    metric, costs = results.metrics[0], per_question(results, timing)
    names = [setup.setup.name for setup in results.setups]
    looks = {name: look(number) for number, name in enumerate(names)}
    scores = {
        setup.setup.name: tuple(100 * share for share in (score.mean, score.low, score.high))
        for setup in results.setups
        if (score := setup.scores.get(metric))
    }
    figure = new_figure(_WIDTH, 4.2, title)
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
    shown = dict(zip(names, distinct(names), strict=True))
    for name in sorted(names, key=lambda name: -scores.get(name, (-1,))[0]):
        said = f"{scores[name][0]:.0f} %" if name in scores else "not scored"
        labels.append((f"{shown[name]}  {said}{'' if costs[name] else ', never answered'}", looks[name]))
    more = [(f"… and {len(labels) - _MOST_NAMED} more", {"marker": ""})] if len(labels) > _MOST_NAMED else []
    _add_legend(figure, [*labels[:_MOST_NAMED], *more])
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


def _draw_right_where(where: RightWhere, folder: Path, title: str) -> list[Path]:
    """A row a setup, a column a question; so many questions that their ids can be read have them below."""
    from matplotlib.colors import ListedColormap  # as in ``style``

    setups, questions, marks = where.setups, where.questions, list(MARKS)
    cells = [[marks.index(where.marks[setup][question]) for question in questions] for setup in setups]
    ids = [short(question, 16) for question in questions] if len(questions) <= _MOST_IDS else []
    figure = new_figure(_WIDTH, 1.36 + 0.3 * len(setups) + (0.9 if ids else 0.0), title)
    axes = figure.subplots()
    _draw_squares(axes, cells, cmap=ListedColormap(list(MARKS.values())), vmin=0, vmax=len(MARKS) - 1)
    axes.set_yticks(range(len(setups)), distinct(setups))
    axes.set_xticks(range(len(ids)), ids, rotation=90, fontsize=8)
    axes.set_xlabel(f"{counted(len(questions), 'question')}: on the left those that the fewest were right on")
    axes.hlines([row + 0.5 for row in range(len(setups) - 1)], -0.5, len(questions) - 0.5, color="white", linewidth=2)
    said = {mark: mark for mark in marks} | {"unscored": "not scored"}
    said |= {"right": f"right ({RIGHT_FROM:g} or more)"} if where.graded else {}
    seen = [mark for mark in marks if any(where.count(setup, mark) for setup in setups)]
    square = {"marker": "s", "markeredgecolor": _EDGE, "markeredgewidth": 0.5}
    _add_legend(figure, [(said[mark], {**square, "color": MARKS[mark]}) for mark in seen])
    return _save(figure, folder, "right-where")


def draw_heat_map(heat_map: HeatMap, folder: Path) -> list[Path]:
    """Needles found by length (columns) and depth (rows), a panel a setup; a cell without a run is hatched.

    Raises as ``draw`` does.
    """
    if not heat_map.setups:
        return []
    names, lengths = heat_map.setups, heat_map.lengths
    shares = np.array([heat_map.found[name] for name in names], float)  # by setup, depth and length; None becomes NaN
    counts = sorted({0, *np.ravel([heat_map.counts[name] for name in names]).tolist()})[1:] or [0]
    texts = f"{f'{counts[0]:,} to ' if len(counts) > 1 else ''}{counted(counts[-1], 'text')}"
    rows = math.ceil(len(names) / max(1, _CELLS_WIDE // len(lengths)))
    columns = math.ceil(len(names) / rows)
    wide, high = max(2.4, 0.62 * len(lengths)), 1.0 + 0.36 * len(heat_map.depths)
    title = f"Right answers by length and depth, %, {texts} per cell"
    with style():
        figure = new_figure(max(7.5, 1.6 + columns * wide), 1.0 + rows * high, title)
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
        for panel, label, found in zip(panels, distinct(names, int(wide / _LETTER)), shares, strict=False):
            image = _draw_map(panel, label, found)
        for panel in panels[len(names) :]:
            panel.set_visible(False)
        panels[0].set_xticks(range(len(lengths)), [_amount(length) for length in lengths])
        panels[0].set_yticks(range(len(heat_map.depths)), [short(depth, 16) for depth in heat_map.depths])
        bar = figure.colorbar(image, ax=list(panels), ticks=[0, 0.5, 1], fraction=0.03, pad=0.02)
        bar.ax.set_yticklabels(["0 %", "50 %", "100 %"])
        figure.supxlabel("length of the text, tokens", fontsize=10)
        figure.supylabel("depth of the needle", fontsize=10)
        return _save(figure, folder, "heat-map")


def _draw_map(panel: Axes, label: str, shares: NDArray[np.float64]) -> AxesImage:
    image = _draw_squares(panel, shares, cmap="cividis", vmin=0, vmax=1)
    panel.set_title(label)
    panel.patch.set(facecolor="white", hatch="////", edgecolor="#BBBBBB")
    for (row, column), share in np.ndenumerate(shares):
        if not np.isnan(share):
            colour = "black" if share > 0.5 else "white"
            panel.text(column, row, f"{100 * share:.0f}", ha="center", va="center", color=colour, fontsize=9)
    return image
