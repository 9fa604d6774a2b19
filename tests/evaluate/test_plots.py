"""The pictures: the same bytes from the same figures, and points where the figures are."""

import re
import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest
from made_results import results_of, timing_of
from matplotlib.figure import Figure

from kgplatform.errors import SettingError, to_install
from kgplatform.evaluate import plots
from kgplatform.evaluate.needles import HeatMap
from kgplatform.evaluate.plots import draw, draw_heat_map
from kgplatform.evaluate.terms import Mean


def cells(*shares: float | None) -> tuple[Mean | None, ...]:
    return tuple(None if share is None else Mean(share, share, share, 4) for share in shares)


MAP = HeatMap(
    lengths=(1000, 16384),
    depths=("0", "0.5", "1"),
    found={
        "retrieve": (cells(1.0, 0.0), cells(0.5, None), cells(1.0, 0.25)),
        "longagent": (cells(1.0, 1.0),) * 3,
    },
)


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> list[Figure]:
    """The figures that are drawn from now on. Their files stay empty: all is put in its place, once, and not drawn."""
    made: list[Figure] = []
    make = plots.new_figure

    def new_figure(width: float, height: float, title: str) -> Figure:
        made.append(make(width, height, title))
        return made[-1]

    def lay_out(figure: Figure, *_: object, format: str, **__: object) -> None:
        if format == "png":
            figure.draw_without_rendering()

    monkeypatch.setattr(plots, "new_figure", new_figure)
    monkeypatch.setattr(Figure, "savefig", lay_out)
    return made


@pytest.mark.filterwarnings("error")
def test_the_same_figures_give_the_same_bytes_with_their_title_and_no_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever letters and signs stand in names: the font lacks some."""
    marks = {"retrieve 水滸傳": "+--0", "youtu $x^2$ agent=false": "++-+", "readagent": "    ", "longagent": "xxxx"}
    results = results_of(marks, kinds=["a", "b"])
    first = draw(results, timing_of(results), tmp_path / "one") + draw_heat_map(MAP, tmp_path / "one")
    # As on a machine with habits of its own.
    for name, habit in {"font.size": 30, "axes.facecolor": "red", "svg.hashsalt": "other"}.items():
        monkeypatch.setitem(mpl.rcParams, name, habit)
    second = draw(results, timing_of(results), tmp_path / "two") + draw_heat_map(MAP, tmp_path / "two")
    assert [file.name for file in first] == [
        *("accuracy-cost.png", "accuracy-cost.svg", "heat-map.png", "heat-map.svg"),
    ]
    for one, other in zip(first, second, strict=True):
        assert one.read_bytes() == other.read_bytes(), one.name
    svg = first[1].read_text()
    title = re.search(r"<title>(.*?)</title>", svg)
    assert title is not None
    assert title[1] == "Judged right against cost, 4 questions of own"
    assert "<dc:date>" not in svg
    assert title[1].encode() in first[0].read_bytes()


def test_without_matplotlib_one_sentence_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.style", None)
    results = results_of({"retrieve": "+-"})
    with pytest.raises(SettingError, match=re.escape(to_install("evaluate"))):
        draw(results, timing_of(results), tmp_path)


def test_points_stand_where_the_figures_are(tmp_path: Path, figures: list[Figure]) -> None:
    results = results_of({"retrieve": "++-", "youtu $x^2$": "+--"})
    draw(results, timing_of(results), tmp_path)
    tokens, seconds, calls = figures[0].axes
    points = [container.lines[0].get_xydata()[0].tolist() for container in tokens.containers]
    assert np.allclose(points, [[2050, 200 / 3], [9050, 100 / 3]])
    assert [container.lines[0].get_xdata()[0] for container in seconds.containers] == [2.0, 7.0]
    assert [container.lines[0].get_xdata()[0] for container in calls.containers] == [1.0, 5.0]
    low, high = tokens.containers[0].lines[2][0].get_segments()[0][:, 1]
    estimate = results.setups[0].scores["judge"]
    assert np.allclose((low, high), (100 * estimate.low, 100 * estimate.high))
    assert not any(text.get_parse_math() for text in figures[0].findobj(mpl.text.Text))


def test_the_heat_map_writes_each_share_and_hatches_what_was_not_run(tmp_path: Path, figures: list[Figure]) -> None:
    draw_heat_map(MAP, tmp_path)
    first, second = figures[0].axes[:2]
    assert [first.get_title(), second.get_title()] == list(MAP.found)
    written = {(int(text.get_position()[1]), int(text.get_position()[0])): text.get_text() for text in first.texts}
    assert written == {(0, 0): "100", (0, 1): "0", (1, 0): "50", (2, 0): "100", (2, 1): "25"}
    assert np.isnan(np.ma.filled(first.images[0].get_array(), np.nan)[1, 1])
