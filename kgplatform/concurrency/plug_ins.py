"""What other packages add to the platform, by entry points: extractors, embedders, loaders, readers.

A package names them in its ``pyproject.toml``; they are known by name at once and loaded when they are first used:

    [project.entry-points."kgplatform.extractors"]
    years = "my_package:YearExtractor"
"""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any, Literal

from kgplatform.errors import KgError, SettingError

Kind = Literal["extractor", "embedder", "loader", "reader"]


def names(kind: Kind) -> tuple[str, ...]:
    """The names of all that are installed, in order."""
    return tuple(sorted(_found(kind)))


def is_installed(kind: Kind, name: str) -> bool:
    """Whether some package has one of that name."""
    return name in _found(kind)


def load(kind: Kind, name: str) -> Any:
    """What the entry point ``name`` stands for. Raises ``SettingError`` if it cannot be imported."""
    entry = _found(kind)[name]
    try:
        return entry.load()
    except Exception as error:  # a module of other people raises anything at all
        raise broken(kind, name, error) from error


def made(kind: Kind, name: str, given: object, *attributes: str) -> Any:
    """What the entry point ``name`` makes of ``given``. Raises ``SettingError`` if it cannot, or if that lacks one of
    ``attributes``."""
    make = load(kind, name)
    try:
        found = make(given)
    except KgError:
        raise
    except Exception as error:  # other people's code raises anything at all
        raise broken(kind, name, error) from error
    if lacking := [each for each in attributes if not hasattr(found, each)]:
        raise broken(kind, name, f"what it makes has no {' and no '.join(lacking)}")
    return found


def broken(kind: Kind, name: str, error: Exception | str) -> SettingError:
    """What to say of one that does not work: its package is to blame, and to be named."""
    package = _found(kind)[name].dist
    of = f" of the package {package.name}" if package is not None else ""
    why = f"{type(error).__name__}: {error}" if isinstance(error, Exception) else error
    return SettingError(f"The {kind} {name}{of} cannot be used ({why}). Update the package, or uninstall it.", kind)


def forget() -> None:
    """Look again for what is installed."""
    _found.cache_clear()


@cache
def _found(kind: Kind) -> dict[str, EntryPoint]:
    return {entry.name: entry for entry in entry_points(group=f"kgplatform.{kind}s")}
