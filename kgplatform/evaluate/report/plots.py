"""The pictures of an evaluation, as PNG and SVG: accuracy against cost, who is right where, accuracy by kind.

    files = draw(results, timing, out, caption="simulated readers")

``caption`` stands in the title of every picture. matplotlib comes with ``pip install 'kgplatform[evaluate]'``.
"""

from __future__ import annotations

import math
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from kgplatform.evaluate.report.canvas import (
    EDGE,
    LETTER,
    MOST_NAMED,
    WIDTH,
    add_legend,
    colour,
    distinct,
    draw_right_where,
    handle,
    legend_height,
    marker,
    new_figure,
    save,
    short,
    style,
)
from kgplatform.evaluate.report.overview import (
    PerQuestion,
    kinds_of,
    per_question,
    right_where,
    title_of,
)
from kgplatform.evaluate.results import Estimate, Results, Timing
from kgplatform.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

    from kgplatform.evaluate.needles.heat_map import HeatMap

_WIDE = 30.0
"""How many times the smallest value the largest is where an axis becomes logarithmic."""
_TOGETHER = 0.025
"""Of an axis: points that are nearer than this are drawn side by side."""
_APART, _FAR = 11.0, 48.0
"""Points (of 1/72 inch) between two of those, at most, and between the first and the last of them."""
_MOST_KINDS = 20
_CELLS_WIDE = 18
"""Cells of a heat map side by side, over all panels of a row."""


def draw(results: Results, timing: Timing, folder: Path, caption: str = "") -> list[Path]:
    """All pictures that the results allow, in ``folder``; their files, each PNG before its SVG.

    Of very many kinds of question, or setups, there is none by kind; the report has its figures.
    Raises ``SettingError`` where matplotlib is missing, ``KgError`` where a file cannot be written.
    """
    where = right_where(results)
    if where is None:
        return []
    with style():
        files = _draw_cost(results, timing, folder, caption)
        title = _title(f"Right on which question, by {title_of(where.metric)}", results, caption)
        files += draw_right_where(where, folder, title)
        if 0 < len(kinds_of(results)) <= _MOST_KINDS and len(results.setups) <= MOST_NAMED:
            files += _draw_by_kind(results, folder, caption)
    return files


def _title(what: str, results: Results, caption: str) -> str:
    of = f"{counted(results.questions, 'question')} of {short(results.dataset)}"
    return f"{what}, {of}{f' ({short(caption, 60)})' if caption else ''}"


def _percent(estimate: Estimate | None) -> str:
    return "not scored" if estimate is None else f"{100 * estimate.mean:.0f} %"


# --------------------------------------------------------------------------------------------------- accuracy and cost


def _draw_cost(results: Results, timing: Timing, folder: Path, caption: str) -> list[Path]:
    metric = results.metrics[0]
    costs = per_question(results, timing)
    known = {name: cost for name, cost in costs.items() if cost is not None}
    panels: tuple[tuple[str, dict[str, float | None]], ...] = (
        ("tokens a question", {name: cost.tokens for name, cost in known.items()}),
        ("seconds a question (median)", {name: cost.median for name, cost in known.items()}),
        ("model calls a question", {name: cost.calls for name, cost in known.items()}),
    )
    scores = {each.setup.name: each.scores.get(metric) for each in results.setups}
    looks = _looks(results)
    legend = _legend(results, scores, {name for name, cost in costs.items() if cost is None})
    figure = new_figure(WIDTH, 4.2 + legend_height(legend))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    for panel, (name, values) in zip(axes, panels, strict=True):
        points = {
            setup: (value, score)
            for setup, value in values.items()
            if value is not None and (score := scores[setup]) is not None
        }
        _draw_panel(figure, panel, name, points, looks)
    axes[0].set_ylim(-4, 104)
    axes[0].set_yticks(range(0, 101, 20))
    axes[0].set_ylabel(f"{title_of(metric)}, % (95 % interval)")
    title = _title(f"{title_of(metric)} against cost", results, caption)
    figure.suptitle(title, fontsize=12)
    add_legend(figure, legend)
    return save(figure, folder, "accuracy-cost", title, _told_cost(title, scores, costs))


def _looks(results: Results) -> dict[str, int]:
    """The number of each setup's look; where they are too many for a legend, that of its reader's."""
    if len(results.setups) <= MOST_NAMED:
        return {each.setup.name: number for number, each in enumerate(results.setups)}
    readers = list(dict.fromkeys(each.setup.reader for each in results.setups))
    return {each.setup.name: readers.index(each.setup.reader) for each in results.setups}


def _legend(
    results: Results, scores: Mapping[str, Estimate | None], failed: Container[str] = frozenset()
) -> list[Line2D]:
    """The best first, with those that ``failed`` on everything; the readers where the setups are too many."""
    looks, setups = _looks(results), [each.setup for each in results.setups]
    if len(setups) > MOST_NAMED:
        readers = list(dict.fromkeys(each.reader for each in setups))
        many = {reader: sum(each.reader == reader for each in setups) for reader in readers}
        of_readers = [f"{short(reader)}: {counted(many[reader], 'setup')}" for reader in readers]
        return [handle(number, label) for number, label in enumerate(of_readers)]
    order = sorted(range(len(setups)), key=lambda number: (-_mean(scores[setups[number].name]), number))
    labels = distinct([each.name for each in setups])
    for number in order:
        name = setups[number].name
        labels[number] += f"  {_percent(scores[name])}{', never answered' if name in failed else ''}"
    return [handle(looks[setups[number].name], labels[number]) for number in order]


def _mean(estimate: Estimate | None) -> float:
    return -1.0 if estimate is None else estimate.mean


def _draw_panel(
    figure: Figure,
    panel: Axes,
    name: str,
    points: Mapping[str, tuple[float, Estimate]],
    looks: Mapping[str, int],
) -> None:
    """One cost: for each setup that has both figures, (cost, score), a point and its interval."""
    from matplotlib.transforms import ScaledTranslation  # as in ``canvas.style``

    panel.set_xlabel(name)
    panel.grid(visible=True, axis="both")
    if not points:
        panel.text(0.5, 0.5, "not measured", transform=panel.transAxes, ha="center", color=EDGE)
        panel.set_xticks([])
        return
    scale = _scale(panel, [value for value, _ in points.values()])
    shifts = _shifts({setup: _place(value, scale) for setup, (value, _) in points.items()})
    for setup, (value, score) in points.items():
        aside = panel.transData + ScaledTranslation(shifts[setup] / 72, 0, figure.dpi_scale_trans)
        panel.errorbar(
            [value],
            [100 * score.mean],
            yerr=_reach(score),
            transform=aside,
            color=colour(looks[setup]),
            marker=marker(looks[setup]),
            markersize=9,
            markeredgecolor=EDGE,
            markeredgewidth=0.6,
            elinewidth=1.4,
            capsize=3,
            clip_on=False,
            zorder=3,
        )


def _reach(score: Estimate) -> list[list[float]]:
    """How far its interval goes down and up, in percent."""
    return [[100 * max(0.0, score.mean - score.low)], [100 * max(0.0, score.high - score.mean)]]


def _scale(panel: Axes, values: Sequence[float]) -> tuple[float, float, bool]:
    """Give ``panel`` an axis from 0, or a logarithmic one where the values lie far apart; its ends, and whether it is
    logarithmic."""
    from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullLocator  # as in ``canvas.style``

    least, most = min(values), max(values)
    logarithmic = least > 0 and most / least > _WIDE
    low, high = (least / 1.7, most * 1.7) if logarithmic else (0.0, most * 1.12 or 1.0)
    if logarithmic:
        panel.set_xscale("log")
        panel.xaxis.set_major_locator(LogLocator(subs=(1.0, 3.0) if most / least < 1000 else (1.0,)))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.set_xlabel(f"{panel.get_xlabel()},\nlogarithmic")
    else:
        panel.xaxis.set_major_locator(MaxNLocator(5))
    panel.set_xlim(low, high)
    panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: _amount(value)))
    return low, high, logarithmic


def _place(value: float, scale: tuple[float, float, bool]) -> float:
    """Where on the axis, from 0 to 1, ``value`` stands."""
    low, high, logarithmic = scale
    return math.log(value / low) / math.log(high / low) if logarithmic else (value - low) / (high - low)


def _amount(value: float) -> str:
    """``0.05``, ``300``, ``20k``, ``1.5M``: for an axis."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:.3g}{name}"
    return f"{value:g}"


def _shifts(places: Mapping[str, float]) -> dict[str, float]:
    """How far aside, in points, each is drawn: those that stand almost at one place stand side by side."""
    groups: list[list[str]] = []
    for setup in sorted(places, key=lambda setup: places[setup]):  # stable: of equal ones the first comes first
        if groups and places[setup] - places[groups[-1][0]] < _TOGETHER:
            groups[-1].append(setup)
        else:
            groups.append([setup])
    return {
        setup: min(_APART, _FAR / len(group)) * (position - (len(group) - 1) / 2)
        for group in groups
        for position, setup in enumerate(group)
    }


def _told_cost(title: str, scores: Mapping[str, Estimate | None], costs: Mapping[str, PerQuestion | None]) -> str:
    parts = []
    for name, score in scores.items():
        cost = costs[name]
        spent = f"{cost.tokens:,.0f} tokens and {cost.calls:.1f} calls" if cost else "no answers"
        parts.append(f"{short(name)}: {_percent(score)}, {spent}")
    return f"{title}. {'; '.join(parts)}."


# -------------------------------------------------------------------------------------------------------------- by kind


def _draw_by_kind(results: Results, folder: Path, caption: str) -> list[Path]:
    """A row a kind; in it a point a setup."""
    metric, number = results.metrics[0], kinds_of(results)
    kinds = list(number)
    scores = {each.setup.name: each.scores.get(metric) for each in results.setups}
    step = 0.8 / len(results.setups)
    legend = _legend(results, scores)
    figure = new_figure(WIDTH, 1.2 + legend_height(legend) + max(0.45, 0.17 * len(results.setups)) * len(kinds))
    axes = figure.subplots()
    for row, kind in enumerate(kinds):
        if row % 2:
            axes.axhspan(row - 0.5, row + 0.5, color="#F5F5F5", zorder=0)
        for position, each in enumerate(results.setups):
            estimate = each.by_kind.get(kind, {}).get(metric)
            if estimate is not None:
                _draw_row_point(axes, estimate, row - 0.4 + step * (position + 0.5), position)
    axes.set_yticks(range(len(kinds)), [f"{short(kind)} ({number[kind]:,})" for kind in kinds])
    axes.set_ylim(len(kinds) - 0.5, -0.5)
    axes.set_xlim(-2, 102)
    axes.grid(visible=True, axis="x")
    axes.tick_params(axis="y", length=0)
    axes.set_xlabel(f"{title_of(metric)}, % (95 % interval)")
    title = _title(f"{title_of(metric)} by kind of question", results, caption)
    figure.suptitle(title, fontsize=12)
    add_legend(figure, legend)
    return save(figure, folder, "accuracy-by-kind", title, _told_kinds(title, results, kinds, metric))


def _draw_row_point(axes: Axes, score: Estimate, place: float, number: int) -> None:
    axes.errorbar(
        [100 * score.mean],
        [place],
        xerr=_reach(score),
        color=colour(number),
        marker=marker(number),
        markersize=7,
        markeredgecolor=EDGE,
        markeredgewidth=0.6,
        elinewidth=1.2,
        clip_on=False,
        zorder=3,
    )


def _told_kinds(title: str, results: Results, kinds: Sequence[str], metric: str) -> str:
    parts = [
        f"{short(kind)}: "
        + ", ".join(
            f"{short(each.setup.name)} {_percent(each.by_kind.get(kind, {}).get(metric))}" for each in results.setups
        )
        for kind in kinds
    ]
    return f"{title}. {'; '.join(parts)}."


# ------------------------------------------------------------------------------------------------------------- heat map


def draw_heat_map(heat_map: HeatMap, folder: Path, caption: str = "") -> list[Path]:
    """Needles found by length (columns) and depth (rows), a panel a setup; a cell without a run is hatched.

    Raises as ``draw`` does.
    """
    if not heat_map.setups:
        return []
    rows = math.ceil(len(heat_map.setups) / max(1, _CELLS_WIDE // len(heat_map.lengths)))
    columns = math.ceil(len(heat_map.setups) / rows)
    wide = max(2.4, 0.62 * len(heat_map.lengths))
    labels = distinct(heat_map.setups, int(wide / LETTER))
    with style():
        figure = new_figure(max(7.5, 1.6 + columns * wide), 1.0 + rows * (1.0 + 0.36 * len(heat_map.depths)))
        panels = figure.subplots(rows, columns, squeeze=False, sharex=True, sharey=True).flatten()
        for panel, name, label in zip(panels, heat_map.setups, labels, strict=False):
            image = _draw_map(panel, heat_map, name)
            panel.set_title(label)
        for panel in panels[len(heat_map.setups) :]:
            panel.set_visible(False)
        bar = figure.colorbar(image, ax=list(panels), ticks=[0, 0.5, 1], fraction=0.03, pad=0.02)
        bar.ax.set_yticklabels(["0 %", "50 %", "100 %"])
        title = f"Right answers by length and depth, %{_samples(heat_map)}"
        title += f" ({short(caption, 60)})" if caption else ""
        figure.suptitle(title, fontsize=12)
        figure.supxlabel("length of the text, tokens", fontsize=10)
        figure.supylabel("depth of the needle", fontsize=10)
        return save(figure, folder, "heat-map", title, f"{title}. By {heat_map.metric}: {_told_map(heat_map)}")


def _draw_map(panel: Axes, heat_map: HeatMap, name: str) -> AxesImage:
    found = heat_map.found[name]
    image = panel.imshow(
        [[math.nan if share is None else share for share in row] for row in found],
        cmap="cividis",
        vmin=0,
        vmax=1,
        aspect="auto",
        interpolation="nearest",
    )
    panel.patch.set(facecolor="white", hatch="////", edgecolor="#BBBBBB")
    for row, shares in enumerate(found):
        for column, share in enumerate(shares):
            if share is not None:
                colour = "black" if share > 0.5 else "white"
                panel.text(column, row, f"{100 * share:.0f}", ha="center", va="center", color=colour, fontsize=9)
    panel.set_xticks(range(len(heat_map.lengths)), [_amount(length) for length in heat_map.lengths])
    panel.set_yticks(range(len(heat_map.depths)), [short(depth, 16) for depth in heat_map.depths])
    panel.tick_params(length=0)
    panel.spines[:].set_visible(False)
    return image


def _samples(heat_map: HeatMap) -> str:
    """How many runs a cell stands for."""
    numbers = {count for rows in heat_map.counts.values() for row in rows for count in row if count}
    least, most = (min(numbers), max(numbers)) if numbers else (0, 0)
    return f", {counted(most, 'text')} a cell" if least == most else f", {least:,} to {counted(most, 'text')} a cell"


def _told_map(heat_map: HeatMap) -> str:
    parts = []
    for name in heat_map.setups:
        shares = [share for row in heat_map.found[name] for share in row if share is not None]
        mean = f"{100 * sum(shares) / len(shares):.0f} % on average" if shares else "not run"
        parts.append(f"{short(name)}: {mean}")
    return f"{'; '.join(parts)}."
