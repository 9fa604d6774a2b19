"""The picture of who is right where: a square for each answer, coloured by what became of it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from kgplatform.evaluate.canvas import EDGE, WIDTH, add_legend, distinct, new_figure, save, short
from kgplatform.evaluate.overview import RIGHT_FROM, Mark, RightWhere
from kgplatform.text import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.patches import Patch

_MOST_IDS = 40
"""Questions that can have their ids below."""
_MOST_SQUARES = 80
"""Questions that can be told apart by white lines."""
_MARKS: dict[Mark, str] = {
    "right": "#0072B2",
    "wrong": "#E69F00",
    "refused": "#DADADA",
    "failed": "#000000",
    "unscored": "#FFFFFF",
}
"""Told apart by how light they are, too."""


def draw_right_where(where: RightWhere, folder: Path, title: str) -> list[Path]:
    """A row a setup, a column a question, and at the right how many it was right on. To be called in ``style()``."""
    from matplotlib.colors import ListedColormap  # as in ``canvas.style``

    setups, questions = where.setups, where.questions
    number = {mark: position for position, mark in enumerate(_MARKS)}
    cells = [[number[where.mark(setup, question)] for question in questions] for setup in setups]
    named = len(questions) <= _MOST_IDS
    figure = new_figure(WIDTH, 1.6 + 0.3 * len(setups) + (0.9 if named else 0.0))
    axes = figure.subplots()
    axes.imshow(
        cells,
        cmap=ListedColormap(list(_MARKS.values())),
        vmin=0,
        vmax=len(_MARKS) - 1,
        aspect="auto",
        interpolation="nearest",
    )
    _label_squares(axes, where, named)
    figure.suptitle(title, fontsize=12)
    seen = [mark for mark in _MARKS if any(where.count(setup, mark) for setup in setups)]
    add_legend(figure, [_patch(mark, where) for mark in seen])
    told = "; ".join(f"{short(setup)}: {where.count(setup, 'right'):,} right" for setup in setups)
    return save(figure, folder, "right-where", title, f"{title}. {told}.")


def _label_squares(axes: Axes, where: RightWhere, named: bool) -> None:
    setups, questions = where.setups, where.questions
    axes.set_yticks(range(len(setups)), distinct(setups))
    for row, setup in enumerate(setups):
        scored = where.count(setup, "unscored") < len(questions)
        right = f"{where.count(setup, 'right'):,}" if scored else "–"
        axes.text(1.01, row, right, transform=axes.get_yaxis_transform(), va="center", fontsize=10)
    axes.text(1.01, -0.55, "right", transform=axes.get_yaxis_transform(), va="bottom", fontsize=9, color=EDGE)
    axes.set_xlabel(f"{counted(len(questions), 'question')}: on the left those that the fewest were right on")
    if named:
        axes.set_xticks(range(len(questions)), [short(each, 16) for each in questions], rotation=90, fontsize=8)
    else:
        axes.set_xticks([])
    axes.tick_params(length=0)
    axes.spines[:].set_visible(False)
    for edge in range(1, len(setups)):
        axes.axhline(edge - 0.5, color="white", linewidth=2)
    if len(questions) <= _MOST_SQUARES:
        for edge in range(1, len(questions)):
            axes.axvline(edge - 0.5, color="white", linewidth=1)


def _patch(mark: Mark, where: RightWhere) -> Patch:
    from matplotlib.patches import Patch  # as in ``canvas.style``

    words = f"right ({RIGHT_FROM:g} or more)" if mark == "right" and where.graded else mark
    return Patch(
        facecolor=_MARKS[mark], edgecolor=EDGE, linewidth=0.5, label="not scored" if mark == "unscored" else words
    )
