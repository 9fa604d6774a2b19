"""Files of others: how many are read, and whether their words are those that other programs find.

The files come from a folder ``repositories`` in the folder of the data sets: bare git repositories or checkouts, any
number. ``make bench ONLY=formats`` makes an environment of the other readers below ``.kgplatform/bench`` the first
time: 550 MB. Without it the words are not compared.
"""

from __future__ import annotations

import json
import os
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from conftest import RESULTS
from data_sets import Data, Place
from file_collections import collect
from measure import MEGABYTE
from peer_environments import NotInstalled, Peer, python_of
from tables import Section, Table

from kgplatform.concurrency.bounded import BoundedCalls
from kgplatform.records import Document
from kgplatform.sources.load import load
from kgplatform.text import WORD

_MAKE = "formats" in os.environ.get("ONLY", "").split()
_READER = Path(__file__).with_name("peers") / "read_files.py"
_OTHERS = Peer(
    "readers of files",
    "markitdown",
    False,
    ("markitdown[pptx,xlsx,xls,outlook]==0.1.9", "pypandoc_binary==1.17", "odfpy==1.4.1", "pyxlsb==1.0.10"),
)
_COMPARED = {
    **dict.fromkeys(("docx", "odt", "epub", "rst", "rtf"), "pandoc 3.9"),
    **dict.fromkeys(("pptx", "msg"), "markitdown 0.1.9"),
    **dict.fromkeys(("ods", "odp"), "odfpy 1.4"),
    **dict.fromkeys(("csv", "tsv"), "the file itself"),
    **{"xlsx": "openpyxl 3.1", "xls": "xlrd 2.0", "xlsb": "pyxlsb 1.0", "pdf": "pdftotext"},
    "eml": "Python's email, the plain body",
}
_FORMATS = os.environ.get("KGPLATFORM_BENCH_FORMATS", "").split() or list(_COMPARED)
"""Read on import: the benchmarks' own runs see no setting of the person who measures."""
_MUCH = 98
_SECONDS, _MEGABYTES = 60, 2000
"""The bounds of a file, as in an ingest."""


@dataclass(slots=True)
class _Reading:
    """What came of the files of a format. ``texts``: by path. ``peak``: the most megabytes that a child held
    after a file."""

    texts: dict[str, str] = field(default_factory=dict)
    reasons: Counter[str] = field(default_factory=Counter)
    in_part: int = 0
    size: int = 0
    seconds: float = 0.0
    peak: float = 0.0


def test_formats(section: Callable[[str, str], Section], place: Place, data: Data) -> None:
    files = collect(data.file("repositories"), _FORMATS, place.folder / "formats")
    found = section("formats", "Files of others: read, and their words compared with what other programs find")
    readings = {suffix: _read(paths) for suffix, paths in files.items()}
    others = _texts_of_others(found, place, [str(path) for paths in files.values() for path in paths])
    rows, reasons = [], []
    for suffix, reading in readings.items():
        shares = {path: _share(text, others[path]) for path, text in reading.texts.items() if _words(others.get(path))}
        rows.append((suffix.upper(), *_figures(reading, len(files[suffix]), list(shares.values())), _COMPARED[suffix]))
        reasons += [(suffix.upper(), str(count), reason) for reason, count in reading.reasons.most_common()]
        if shares:
            found.add(f"{suffix.upper()}: words found, mean of the files", sum(shares.values()) / len(shares), "%")
    columns = ("read", "in part", "MB", "s of a processor", "peak MB", "compared", "words, %", "files of 98 % and more")
    found.tables.append(Table("Files", ("format", "files", *columns, "with"), rows))
    found.tables.append(Table("Why files were refused", ("format", "files", "reason"), reasons))


def _read(paths: Sequence[Path]) -> _Reading:
    """Read the files as an ingest does, in a child process within its bounds."""
    reading = _Reading(size=sum(path.stat().st_size for path in paths))
    seconds: dict[int, float] = {}
    with BoundedCalls(_SECONDS, _MEGABYTES) as calls:
        for path in paths:
            items = list(load([path], calls))
            told = [each for each in items if not isinstance(each, Document)]
            texts = [each.text for each in items if isinstance(each, Document)]
            if texts:
                reading.texts[str(path)] = "\n".join(texts)
                reading.in_part += bool(told)
            else:
                reading.reasons[told[0].reason] += 1
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.NoSuchProcess):
                    seconds[child.pid] = sum(child.cpu_times()[:2])
                    reading.peak = max(reading.peak, child.memory_info().rss / MEGABYTE)
    reading.seconds = sum(seconds.values())
    return reading


def _texts_of_others(found: Section, place: Place, paths: Sequence[str]) -> Mapping[str, str]:
    """By path, the text that the other readers find."""
    try:
        python = python_of(_OTHERS, RESULTS, make=_MAKE)
    except NotInstalled as error:
        found.notes.append(f"Words were not compared: {error}.")
        return {}
    listed, result = place.folder / "listed.json", place.folder / "read.json"
    listed.write_text(json.dumps(paths), "utf-8")
    subprocess.run([str(python), str(_READER), str(listed), str(result)], check=True, capture_output=True)
    texts: dict[str, str] = json.loads(result.read_text("utf-8"))
    return texts


def _words(text: str | None) -> Counter[str]:
    """How often a text has each word; of scripts without spaces, each letter."""
    return Counter(WORD.findall((text or "").lower()))


def _share(text: str, other: str) -> float:
    """How many percent of the words of ``other`` are in ``text``, each as often as it is there."""
    wanted, there = _words(other), _words(text)
    return 100 * sum((wanted & there).values()) / sum(wanted.values())


def _figures(reading: _Reading, files: int, shares: Sequence[float]) -> tuple[str, ...]:
    megabytes = reading.size / MEGABYTE
    read = (str(files), str(len(reading.texts)), str(reading.in_part))
    costs = (f"{megabytes:.1f}", f"{reading.seconds:.1f}", f"{reading.peak:.0f}")
    if not shares:
        return (*read, *costs, "0", "", "")
    mean, many = sum(shares) / len(shares), sum(1 for each in shares if each >= _MUCH)
    return (*read, *costs, str(len(shares)), f"{mean:.1f}", str(many))
