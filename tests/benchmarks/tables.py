"""What a benchmark found, as tables: printed, and kept beside those of the other benchmarks of earlier runs."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

_DIGITS = {"s": 1, "ms": 1, "MB": 0, "%": 1, "": 0, "n^": 2, "times": 2, "/s": 0, "kB/s": 0}


@dataclass(frozen=True, slots=True)
class Figure:
    """One number, and what is wanted of it. ``unit`` is a key of ``_DIGITS``."""

    what: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None
    exactly: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether it is as wanted; None if nothing is."""
        checks = [
            self.at_most is None or self.value <= self.at_most,
            self.at_least is None or self.value >= self.at_least,
            self.exactly is None or self.value == self.exactly,
        ]
        return all(checks) if self._bounds() else None

    @property
    def measured(self) -> str:
        """The number as people read it."""
        return _shown(self.value, self.unit)

    @property
    def wanted(self) -> str:
        """What is wanted, or nothing."""
        return ", ".join(f"{word} {_shown(bound, self.unit)}" for word, bound in self._bounds())

    def _bounds(self) -> list[tuple[str, float]]:
        bounds = (("at most", self.at_most), ("at least", self.at_least), ("exactly", self.exactly))
        return [(word, bound) for word, bound in bounds if bound is not None]


@dataclass(frozen=True, slots=True)
class Table:
    """Numbers for information, each already as text."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]


@dataclass(slots=True)
class Section:
    """One benchmark's findings. ``conditions`` tell what else may have shaped them."""

    name: str
    title: str
    conditions: str
    figures: list[Figure] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def add(self, what: str, value: float, unit: str = "", **wanted: float) -> None:
        """Note one number; ``wanted`` is ``at_most``, ``at_least`` or ``exactly``."""
        self.figures.append(Figure(what, float(value), unit, **wanted))

    def markdown(self) -> str:
        """The section as Markdown, which is also what is printed."""
        rows = [(each.what, each.measured, each.wanted, _verdict(each)) for each in self.figures]
        parts = [f"## {self.title}", self.conditions, _grid(("", "measured", "wanted", ""), rows)]
        for table in self.tables:
            parts += [f"### {table.title}", _grid(table.columns, table.rows)]
        parts += [f"- {note}" for note in self.notes]
        return "\n\n".join(parts) + "\n"

    def plain(self) -> dict[str, Any]:
        """The section for ``results.json``."""
        met = {each.what: each.met for each in self.figures if each.met is not None}
        return {**asdict(self), "met": met, "markdown": self.markdown()}


def keep(folder: Path, section: Section) -> None:
    """Put ``section`` into ``results.json`` and ``results.md``, in place of what the same benchmark found before."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "results.json"
    sections = json.loads(file.read_text("utf-8")) if file.exists() else {}
    sections[section.name] = section.plain()
    file.write_text(json.dumps(sections, ensure_ascii=False, indent=2) + "\n", "utf-8")
    texts = [sections[name]["markdown"] for name in sorted(sections)]
    (folder / "results.md").write_text("# Benchmarks\n\n" + "\n".join(texts), "utf-8")


def _verdict(figure: Figure) -> str:
    return {None: "", True: "met", False: "**MISSED**"}[figure.met]


def _shown(value: float, unit: str) -> str:
    digits = _DIGITS[unit]
    number = f"{value:,.{digits}f}"
    if unit == "n^":
        return f"n^{number}"
    return number + unit if unit in ("%", "/s") else f"{number} {unit}".rstrip()


def _grid(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A Markdown table whose columns stand below each other; the first holds words, the others numbers."""
    lines = [list(columns), *[list(row) for row in rows]]
    widths = [max(len(line[at]) for line in lines) for at in range(len(columns))]
    rule = ["-" * max(3, widths[0]), *("-" * (max(3, width) - 1) + ":" for width in widths[1:])]
    return "\n".join("| " + " | ".join(_padded(line, widths)) + " |" for line in [lines[0], rule, *lines[1:]])


def _padded(line: Sequence[str], widths: Sequence[int]) -> list[str]:
    wide = [max(3, width) for width in widths]
    return [line[0].ljust(wide[0]), *(cell.rjust(width) for cell, width in zip(line[1:], wide[1:], strict=True))]
