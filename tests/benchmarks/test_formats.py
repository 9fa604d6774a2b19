"""Files of others: how many are read, and whether their words are those that other programs find.

The files come from a folder ``repositories`` in the folder of the data sets: bare git repositories or checkouts, any
number. ``make bench ONLY=formats`` makes an environment of the other readers below ``.kgplatform/bench`` the first
time: 550 MB. Without it the words are not compared.
"""

import hashlib
import json
import os
import subprocess
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
from conftest import RESULTS
from data_sets import Data, Place
from measure import MEGABYTE
from peer_environments import NotInstalled, Peer, python_of
from tables import Section, Table

from kgplatform.concurrency.workers import BoundedCalls
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
_LARGEST = 60
"""Files of each format."""
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
    files = _collect(data.file("repositories"), _FORMATS, place.folder / "formats")
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


def _collect(folder: Path, formats: Sequence[str], target: Path) -> Mapping[str, list[Path]]:
    """The largest files of each format that lie below ``folder``, copied into ``target``.

    Formats are suffixes without a point. A folder below ``folder``, or a folder ``repo`` in it, is a repository.
    """
    found: dict[str, dict[str, tuple[int, str, Path]]] = defaultdict(dict)
    for place in sorted(each for each in folder.iterdir() if each.is_dir()):
        home = place / "repo" if (place / "repo").is_dir() else place
        for name, key, size in _in_repository(home) if (home / "objects").is_dir() else _in_folder(home):
            suffix = name.rpartition(".")[2].lower()
            if suffix in formats and size:
                found[suffix].setdefault(key, (size, name, home))
    return {suffix: list(_copied(held, suffix, target)) for suffix, held in sorted(found.items())}


def _in_repository(home: Path) -> Iterator[tuple[str, str, int]]:
    """Name, id and size of each file of the newest commit."""
    listed = _git(home, "ls-tree", "-r", "-l", "-z", "HEAD").decode("utf-8", "replace")
    for line in filter(None, listed.split("\0")):
        about, _, name = line.partition("\t")
        _, kind, key, size = about.split()
        if kind == "blob" and size.isdecimal():
            yield name, key, int(size)


def _in_folder(home: Path) -> Iterator[tuple[str, str, int]]:
    for path in sorted(home.rglob("*")):
        if path.is_file() and not path.is_symlink():
            yield str(path.relative_to(home)), hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_size


def _copied(held: Mapping[str, tuple[int, str, Path]], suffix: str, target: Path) -> Iterator[Path]:
    """The largest files, each in a folder of its own under its own name. What is a link or not stored is left out."""
    chosen = sorted(held.items(), key=lambda each: (-each[1][0], each[0]))[:_LARGEST]
    for key, (_, name, home) in chosen:
        is_bare = (home / "objects").is_dir()
        try:
            content = _git(home, "cat-file", "blob", key) if is_bare else (home / name).read_bytes()
        except (subprocess.CalledProcessError, OSError):
            continue
        if content.startswith(b"version https://git-lfs") or b"\0" not in content and len(content) < 100:
            continue
        path = target / suffix / key[:12] / Path(name).name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        yield path


def _git(home: Path, *command: str) -> bytes:
    return subprocess.run(["git", "-C", str(home), *command], capture_output=True, check=True).stdout
