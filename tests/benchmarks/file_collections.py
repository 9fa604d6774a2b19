"""Real files out of repositories: bare git repositories, or folders, below one folder; each content once."""

from __future__ import annotations

import hashlib
import subprocess
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

_LARGEST = 60
"""Files of each format."""


def collect(folder: Path, formats: Sequence[str], target: Path) -> Mapping[str, list[Path]]:
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
