"""How every picture of an evaluation looks, and how it is written: the same figures give the same bytes.

Names from users and data sets are drawn as they are, never read as formulas; letters that the bundled font lacks are
drawn as boxes. Colours are those of Okabe and Ito (2008), which people with any colour vision tell apart, and no two
setups have both colour and marker in common.
"""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from kgplatform.errors import KgError, SettingError
from kgplatform.evaluate.journal import write_whole
from kgplatform.evaluate.report.overview import RIGHT_FROM, Mark, RightWhere
from kgplatform.text import counted, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9", "#000000", "#F0E442")
"""Okabe and Ito's eight; the yellow last, since it is hard to see on white."""
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "p", "h")
"""Nine, so that the pairs of a colour and a marker begin to repeat after 72."""
EDGE = "#333333"
MOST_NAMED = 24
"""Setups that a legend can name."""
WIDTH = 11.0
"""Of a picture, in inches."""
_LONGEST = 34
LETTER = 0.09
"""Inches that a letter of a name takes."""
_MARKER, _LINE = 0.5, 0.24
"""Inches that a marker with its margins, and a line of a legend take."""
_DPI = 160
_STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 10.0,
    "axes.titlesize": 11.0,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": "#888888",
    "axes.axisbelow": True,
    "grid.color": "#E6E6E6",
    "legend.frameon": False,
    "text.parse_math": False,
    "svg.hashsalt": "kgplatform",
    "svg.fonttype": "path",
}


@contextmanager
def style() -> Iterator[None]:
    """Draw in here: whatever the machine's own configuration of matplotlib says. Raises ``SettingError`` without it."""
    try:
        import matplotlib.style  # an extra, and half a second
    except ImportError as error:
        raise SettingError("Pictures need matplotlib. Run `pip install 'kgplatform[evaluate]'`.") from error
    with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from")
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty one, in inches; with a canvas that needs no screen."""
    from matplotlib.figure import Figure  # as in ``style``
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return Figure(figsize=(width, height), layout=ConstrainedLayoutEngine(w_pad=0.1))


def save(figure: Figure, folder: Path, name: str, title: str, told: str) -> list[Path]:
    """``folder/name.png`` and ``.svg``; inside are ``title`` and ``told``, for people who cannot see it.

    Raises ``KgError`` where they cannot be written.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise KgError(f"The folder {folder} cannot be made: {error.strerror or error}.") from error
    files = []
    for kind, apart in (("png", {"Software": None}), ("svg", {"Date": None, "Creator": None})):
        content = io.BytesIO()
        figure.savefig(
            content, format=kind, dpi=_DPI, facecolor="white", metadata={"Title": title, "Description": told, **apart}
        )
        files.append(folder / f"{name}.{kind}")
        write_whole(files[-1], content.getvalue(), mode=0o644)
    return files


def colour(number: int) -> str:
    """Of the setup or reader of that number, from 0."""
    return COLOURS[number % len(COLOURS)]


def marker(number: int) -> str:
    """Likewise."""
    return MARKERS[number % len(MARKERS)]


def handle(number: int, label: str) -> Line2D:
    """Its line in a legend."""
    from matplotlib.lines import Line2D  # as in ``style``

    return Line2D(
        [],
        [],
        linestyle="none",
        color=colour(number),
        marker=marker(number),
        markersize=8,
        markeredgecolor=EDGE,
        markeredgewidth=0.6,
        label=label,
    )


def add_legend(figure: Figure, handles: Sequence[Line2D | Patch]) -> None:
    """Below everything else, in as many columns as fit; they are read downwards."""
    figure.legend(handles=handles, loc="outside lower center", ncols=_columns(handles))


def legend_height(handles: Sequence[Line2D | Patch]) -> float:
    """In inches."""
    return _LINE * math.ceil(len(handles) / _columns(handles))


def _columns(handles: Sequence[Line2D | Patch]) -> int:
    longest = max(len(str(each.get_label())) for each in handles)
    return max(1, min(len(handles), int(WIDTH / (_MARKER + LETTER * longest))))


def short(name: str, longest: int = _LONGEST) -> str:
    """``name`` on one line, without its middle where it is long: setups of a grid differ at their ends."""
    flat = "".join(letter if letter.isprintable() else "\ufffd" for letter in tidy(name))
    half = (longest - 1) // 2
    return flat if len(flat) <= longest else f"{flat[:half]}…{flat[-half:]}"


def distinct(names: Sequence[str], longest: int = _LONGEST) -> list[str]:
    """The names, short; those that would look alike then have their number in front."""
    cut = [short(name, longest) for name in names]
    return [f"{number}. {name}" if cut.count(name) > 1 else name for number, name in enumerate(cut, 1)]


# ---------------------------------------------------------------------------------------------------------- right where


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
