"""The pictures: the same bytes from the same figures, names as they are, and what stands where in them."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from made_results import results_of, timing_of
from matplotlib import image
from matplotlib.axis import Axis, Tick
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from kgplatform.errors import SettingError, to_install
from kgplatform.evaluate import plots
from kgplatform.evaluate.needles import HeatMap
from kgplatform.evaluate.plots import MARKS, distinct, draw, draw_heat_map, short
from kgplatform.evaluate.terms import Results

FIVE = {
    "retrieve": "+--0+---+-",
    "youtu $x^2$ agent=false": "++-++-0-+-",
    "graphreader": "+++-+--++-",
    "readagent": "          ",
    "longagent": "xxxxxxxxxx",
}
MAP = HeatMap(
    setups=("retrieve", "longagent"),
    lengths=(1000, 16384),
    depths=("0", "0.5", "1"),
    found={"retrieve": ((1.0, 0.0), (0.5, None), (1.0, 0.25)), "longagent": ((1.0, 1.0),) * 3},
    counts={"retrieve": ((4, 4), (4, 0), (4, 4)), "longagent": ((4, 4),) * 3},
    metric="contains",
)


@pytest.fixture
def drawn(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are drawn from now on, to be asked what is in them."""
    made: list[Figure] = []
    make = plots.new_figure

    def new_figure(width: float, height: float, title: str) -> Figure:
        made.append(make(width, height, title))
        return made[-1]

    monkeypatch.setattr(plots, "new_figure", new_figure)
    return made


@pytest.fixture
def figures(drawn: list[Figure], monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The same where nobody looks at the files, which stay empty: all is put in its place, once, and not drawn."""

    def lay_out(figure: Figure, *_: object, format: str, **__: object) -> None:
        if format == "png":
            figure.draw_without_rendering()

    monkeypatch.setattr(Figure, "savefig", lay_out)
    return drawn


def legend_of(figure: Figure) -> list[str]:
    return [text.get_text() for text in figure.legends[0].get_texts()]


def ticks_of(figure: Figure, panel: int = 0) -> tuple[list[str], list[str]]:
    axes = figure.axes[panel]
    return [each.get_text() for each in axes.get_xticklabels()], [each.get_text() for each in axes.get_yticklabels()]


def not_drawn(axis: Axis) -> list[Tick]:
    """Its ticks that lie beyond its ends."""
    low, high = sorted(axis.get_view_interval())
    return [tick for tick in axis.get_major_ticks() if not low <= tick.get_loc() <= high]


def boxes_overlap(figure: Figure) -> list[tuple[str, str]]:
    """The pairs of texts of a figure, which was laid out, that lie over each other."""
    renderer = FigureCanvasAgg(figure).get_renderer()
    outside = {id(each.label1) for axes in figure.axes for axis in (axes.xaxis, axes.yaxis) for each in not_drawn(axis)}
    texts = [
        each
        for each in figure.findobj(mpl.text.Text)
        if each.get_visible() and each.get_text().strip() and id(each) not in outside
    ]
    boxes = [(each.get_text(), each.get_window_extent(renderer)) for each in texts]
    return [
        (one, other)
        for place, (one, first) in enumerate(boxes)
        for other, second in boxes[place + 1 :]
        if first.width and second.width and first.shrunk(0.98, 0.98).overlaps(second.shrunk(0.98, 0.98))
    ]


# ------------------------------------------------------------------------------------------------------------ the files


def test_the_same_figures_give_the_same_bytes_with_their_title_and_no_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    results = results_of(FIVE, kinds=["a", "b"])
    first = draw(results, timing_of(results), tmp_path / "one") + draw_heat_map(MAP, tmp_path / "one")
    # As on a machine with habits of its own.
    for name, habit in {"font.size": 30, "axes.facecolor": "red", "svg.hashsalt": "other"}.items():
        monkeypatch.setitem(mpl.rcParams, name, habit)
    second = draw(results, timing_of(results), tmp_path / "two") + draw_heat_map(MAP, tmp_path / "two")
    assert [file.name for file in first] == [
        *("accuracy-cost.png", "accuracy-cost.svg", "right-where.png", "right-where.svg"),
        *("heat-map.png", "heat-map.svg"),
    ]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    svg = first[1].read_text()
    title = re.search(r"<title>(.*?)</title>", svg)
    assert title is not None
    assert title[1] == "Judged right against cost, 10 questions of own"
    assert "<dc:date>" not in svg
    assert title[1].encode() in first[0].read_bytes()


def test_without_matplotlib_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    results = results_of(FIVE)
    with pytest.raises(SettingError, match=re.escape(to_install("evaluate"))):
        draw(results, timing_of(results), tmp_path)


# ---------------------------------------------------------------------------------------------------- accuracy and cost


def test_the_legend_has_the_best_first_and_what_has_no_point(tmp_path: Path, figures: list[Figure]) -> None:
    results = results_of(FIVE)
    draw(results, timing_of(results), tmp_path)
    assert legend_of(figures[0]) == [
        "graphreader  60 %",
        "youtu $x^2$ agent=false  50 %",
        "retrieve  30 %",
        "longagent  0 %, never answered",
        "readagent  not scored",
    ]
    assert [len(axes.containers) for axes in figures[0].axes] == [3, 3, 3]
    assert not any(text.get_parse_math() for text in figures[0].findobj(mpl.text.Text))


def test_points_stand_where_the_figures_are(tmp_path: Path, figures: list[Figure]) -> None:
    results = results_of({"retrieve": "++-", "youtu": "+--"})
    draw(results, timing_of(results), tmp_path)
    tokens, seconds, calls = figures[0].axes
    points = [container.lines[0].get_xydata()[0].tolist() for container in tokens.containers]
    assert np.allclose(points, [[2050, 200 / 3], [9050, 100 / 3]])
    assert [container.lines[0].get_xdata()[0] for container in seconds.containers] == [2.0, 7.0]
    assert [container.lines[0].get_xdata()[0] for container in calls.containers] == [1.0, 5.0]
    low, high = tokens.containers[0].lines[2][0].get_segments()[0][:, 1]
    estimate = results.setups[0].scores["judge"]
    assert np.allclose((low, high), (100 * estimate.low, 100 * estimate.high))
    assert tokens.get_ylim() == (-4, 104)


def test_no_label_lies_over_another(tmp_path: Path, figures: list[Figure]) -> None:
    setups = [
        f"youtu agent={flag} community={flag} schema=false top_k={n}" for flag in (True, False) for n in range(12)
    ]
    results = results_of(dict.fromkeys(setups, "+-0-+-+-++"), kinds=["one hop", "two hops, and one of them is long"])
    draw(results, timing_of(results), tmp_path)
    draw_heat_map(
        HeatMap(
            tuple(setups),
            (1000, 2000),
            ("0", "1"),
            dict.fromkeys(setups, ((0.5, 1.0), (0.0, None))),
            dict.fromkeys(setups, ((2, 2), (2, 0))),
            "contains",
        ),
        tmp_path,
    )
    assert len(figures) == 3
    for figure in figures:
        assert boxes_overlap(figure) == []
        box = figure.get_tightbbox()
        width, height = figure.get_size_inches()
        assert box.x0 >= -0.01
        assert box.y0 >= -0.01
        assert box.x1 <= width + 0.01
        assert box.y1 <= height + 0.01


# --------------------------------------------------------------------------------------------------- who is right where


def test_squares_are_sorted_and_coloured(tmp_path: Path, figures: list[Figure]) -> None:
    results = results_of({"retrieve": "+-0x", "youtu": "+-+ "})
    draw(results, timing_of(results), tmp_path)
    axes = figures[1].axes[0]
    assert ticks_of(figures[1]) == (["q02", "q04", "q03", "q01"], ["retrieve", "youtu"])
    values = list(MARKS)
    cells = np.asarray(axes.images[0].get_array())
    assert [[values[cell] for cell in row] for row in cells] == [
        ["wrong", "failed", "refused", "right"],
        ["wrong", "unscored", "right", "right"],
    ]
    assert legend_of(figures[1]) == ["right", "wrong", "refused", "failed", "not scored"]


# ------------------------------------------------------------------------------------------------------------- heat map


def test_the_heat_map_writes_each_share_and_hatches_what_was_not_run(tmp_path: Path, drawn: list[Figure]) -> None:
    files = draw_heat_map(MAP, tmp_path)
    assert [file.name for file in files] == ["heat-map.png", "heat-map.svg"]
    first, second = drawn[0].axes[:2]
    assert (first.get_title(), second.get_title()) == MAP.setups
    written = {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in first.texts}
    assert written == {(0, 0): "100", (0, 1): "0", (1, 0): "50", (2, 0): "100", (2, 1): "25"}
    assert np.isnan(np.ma.filled(first.images[0].get_array(), np.nan)[1, 1])
    assert first.images[0].get_clim() == (0, 1)
    assert ticks_of(drawn[0])[0] == ["1k", "16.4k"]
    assert drawn[0].get_suptitle() == "Right answers by length and depth, %, 4 texts per cell"
    assert image.imread(files[0]).shape[1] == 7.5 * 160


# ---------------------------------------------------------------------------------------------------------------- names


def test_names_are_cut_in_their_middle_and_stay_apart() -> None:
    assert short("retrieve") == "retrieve"
    assert short("a\nb\x1b[31m\ud800") == "a b[31m\ufffd"
    assert short("youtu agent=false community=false top_k=20", 21) == "youtu agen…e top_k=20"
    assert distinct([f"{'x' * 30}{n}{'y' * 30}" for n in range(2)], 11) == ["1. xxx…yyy", "2. xxx…yyy"]


def test_letters_that_the_font_lacks_warn_nobody(tmp_path: Path) -> None:
    results: Results = results_of({"水滸傳": "+-"})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        draw(results, timing_of(results), tmp_path)
