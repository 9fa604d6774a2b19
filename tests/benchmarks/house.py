"""The size of the code and of its tests, as a table: `make measure`, and `make measure REV=main` beside a commit."""

import ast
import math
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).parents[2]
QUICK = "not chromium and not killed and not long"
"""What `make test` runs; an older commit may have one target for all tests."""


def measured(clone: Path) -> dict[str, float]:
    """The figures of the code that lies in ``clone``."""
    package = clone / "kgplatform"
    files = sorted(package.rglob("*.py"))
    texts = [path.read_text("utf-8") for path in files]
    lengths = [length for text in texts for length in function_lengths(text)]
    quick, tests = cases(clone)
    return {
        "files": len(files),
        "modules at the top": len([path for path in package.glob("*.py") if path.name != "__init__.py"]),
        "lines": sum(len(text.splitlines()) for text in texts),
        "functions": len(lengths),
        "lines a function, median": round(median(lengths)),
        "lines a function, p90": round(quantiles(lengths, n=10)[-1]),
        "lines a function, most": max(lengths),
        "cases of make test": quick,
        "cases of make test-all": tests,
        "lines of tests": sum(len(path.read_text("utf-8").splitlines()) for path in (clone / "tests").rglob("*.py")),
    }


def function_lengths(text: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield (node.end_lineno or node.lineno) - node.lineno + 1


def cases(clone: Path) -> tuple[int, int]:
    """How many tests `make test` and `make test-all` have in ``clone``; ``SystemExit`` if pytest finds a fault."""
    marks = QUICK if "\ntest-all:" in (clone / "Makefile").read_text("utf-8") else ""
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider", "-m", marks]
    done = subprocess.run(command, cwd=clone, capture_output=True, text=True, check=False)
    found = re.search(r"^(\d+)(?:/(\d+))? tests collected", done.stdout, re.M)
    if done.returncode or not found:
        sys.exit(f"The tests of {clone} cannot be collected:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return int(found[1]), int(found[2] or found[1])


def unpack(revision: str, folder: Path) -> None:
    """The files of a commit, into ``folder``."""
    packed = subprocess.run(["git", "archive", revision], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=packed, check=True)


def main(revision: str = "") -> None:
    """Print the table."""
    columns = {"now": measured(ROOT)}
    if revision:
        with tempfile.TemporaryDirectory(prefix="kgplatform-measure-") as folder:
            unpack(revision, Path(folder))
            columns = {revision: measured(Path(folder)), **columns}
    print(f"{'':26}" + "".join(f"{name:>12}" for name in columns))
    for row in columns["now"]:
        print(f"{row:26}" + "".join(f"{figures.get(row, math.nan):>12,.10g}" for figures in columns.values()))


if __name__ == "__main__":
    main(*sys.argv[1:])
