"""How much memory the managed server gets, chosen at each start, and whether that is enough for its graph.

    machine: 64 GB, 60 free    store: 20 GB of records, 12 GB of search indexes
        -> heap 5 GB, page cache 25 GB; 12 GB and a fourth of the machine are left to the system

Neo4j keeps records and ordinary indexes in its page cache. Vector and full-text indexes are Lucene's: their files are
mapped into memory that belongs to neither the page cache nor the heap, so that much is left free. Filling a vector
index takes heap, about a third of its files: of those it has, or of those it will have where a first build left its
nodes without indexes. An empty graph gets a heap of 1 GB and a page cache of 512 MB, less on a machine of less than
8 GB. The figures are in docs/how-to/own-neo4j.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import psutil  # type: ignore[import-untyped]  # it ships no types

from kgplatform.errors import StatementError

if TYPE_CHECKING:
    from kgplatform.neo4j.store import Store

AUTO = "auto"
_MB = 2**20
_GB = 2**30
_HEAP, _PAGES = _GB, 512 * _MB
"""What a small graph gets."""
_MOST_HEAP = 31 * _GB
"""Beyond it Java needs eight bytes for a reference, and has no more room than before."""
_GROWTH = 1.25
"""A store may grow by this much before its page cache is too small."""
_HEAP_OF_VECTORS = 1 / 3
_MAPPED_OF_IMPORTED = 2
"""Bytes of search indexes to come for a byte of the records that a bulk import made, which have no vectors yet."""
_CGROUPS = Path("/sys/fs/cgroup")
_OWN_GROUP = Path("/proc/self/cgroup")
_NO_BOUND = ("0B", "0")
_UNITS = {"k": 2**10, "m": _MB, "g": _GB}


@dataclass(frozen=True, slots=True)
class Machine:
    """Bytes of memory: all that there is for this process, and what of it is free or can be freed at once."""

    total: int
    free: int

    @property
    def spare(self) -> int:
        """What is left to the system and to everything else that runs."""
        return max(_GB, self.total // 4)


@dataclass(frozen=True, slots=True)
class StoreSize:
    """Bytes of a graph's files: ``paged`` go through the page cache, ``mapped`` are Lucene's indexes."""

    paged: int
    mapped: int


@dataclass(frozen=True, slots=True)
class Memory:
    """Heap and page cache, as Java takes sizes: ``1g``, ``1536m``."""

    heap: str
    page_cache: str


UNSET = Memory(AUTO, AUTO)


def read_machine() -> Machine:
    """This machine, or what its container leaves of it."""
    memory = psutil.virtual_memory()
    total, free = memory.total, memory.available
    for limit, used in _group_limits(_CGROUPS, _OWN_GROUP):
        total, free = min(total, limit), min(free, max(0, limit - used))
    return Machine(total, free)


def read_store(database: Path) -> StoreSize:
    """The files of the database in the folder ``database``; nothing where it does not exist yet."""
    paged = mapped = 0
    for file in database.rglob("*"):
        try:
            size = file.stat().st_size if file.is_file() else 0
        except FileNotFoundError:  # a running server removes files
            continue
        parts = file.relative_to(database).parts  # schema, index, vector-2.0, 7, …
        if parts[:2] == ("schema", "index") and "".join(parts[2:3]).startswith(("vector", "fulltext", "text")):
            mapped += size
        else:
            paged += size
    return StoreSize(paged, mapped)


def choose(machine: Machine, store: StoreSize, given: Memory = UNSET) -> Memory:
    """What the server gets; what is set (``given``, where it is not ``auto``) is obeyed.

    Everybody gets a little whatever is free. Of the rest, heap, page cache and Lucene's files get what they want, or
    each the same share of it.
    """
    heap, page_cache = given.heap, given.page_cache
    least_heap, least_pages = min(_HEAP, machine.total // 6), min(_PAGES, machine.total // 12)
    sure_heap = least_heap if heap == AUTO else bytes_of(heap)
    sure_pages = least_pages if page_cache == AUTO else bytes_of(page_cache)
    wanted_heap, wanted_pages = _wanted(store)
    more_heap = max(0, wanted_heap - sure_heap) if heap == AUTO else 0
    more_pages = max(0, wanted_pages - sure_pages) if page_cache == AUTO else 0
    left = max(0, machine.free - machine.spare - sure_heap - sure_pages)
    share = min(1.0, left / max(1, more_heap + more_pages + store.mapped))
    return Memory(
        _jvm_size(sure_heap + more_heap * share) if heap == AUTO else heap,
        _jvm_size(sure_pages + more_pages * share) if page_cache == AUTO else page_cache,
    )


def advice(machine: Machine, store: StoreSize, now: Memory, given: Memory = UNSET) -> str:
    """One sentence on what to do where ``now`` is too little for the graph; empty where it is enough. ``machine.free``:
    what would be free without the server. ``given``: what is set."""
    if _is_enough(machine, store, now):
        return ""
    files = f"{_words(store.paged)} of records and {_words(store.mapped)} of search indexes"
    has = f"heap {now.heap}, page cache {now.page_cache}"
    again = "restart it with `kgplatform down` and `kgplatform up`."
    if _is_enough(machine, store, choose(machine, store, given)):
        return f"The graph ({files}) has outgrown the memory that its server was started with ({has}): {again}"
    if _is_enough(machine, store, choose(machine, store)):
        names = "KGPLATFORM_NEO4J_HEAP and KGPLATFORM_NEO4J_PAGE_CACHE"
        return (
            f"The graph ({files}) has outgrown the memory that is set for its server ({has}): raise or unset {names}, "
            f"then {again}"
        )
    if _is_enough(machine, store, choose(Machine(machine.total, machine.total), store)):
        return (
            f"The graph ({files}) has too little memory ({has}), since other programs use this machine's: end some of "
            f"them, then {again}"
        )
    return (
        f"The graph ({files}) has outgrown this machine, whose {_words(machine.total)} of memory leave its server "
        f"{has}: searches read from the disk. Move it to a machine with {machine_for(store)} GB "
        "(docs/how-to/own-neo4j.md)."
    )


def unbounded(store: Store) -> str:
    """One sentence where the server lets a single statement use up its memory, or does not say; else empty."""
    try:
        limits = {row["name"]: row["value"] for row in store.read("neo4j/limits")}
    except StatementError:  # Aura does not show its settings, and an account may not see them
        return "Could not check whether the server limits the memory of a statement (docs/how-to/own-neo4j.md)."
    missing = [name for name, value in sorted(limits.items()) if value in _NO_BOUND]
    if not missing:
        return ""
    return (
        f"The server does not set {' and '.join(missing)}: one statement can use up its memory and stop it "
        "(docs/how-to/own-neo4j.md)."
    )


def machine_for(store: StoreSize) -> int:
    """The memory, in GB, of a machine that holds all of a graph: a usual size, a power of two."""
    wanted = sum(_wanted(store)) + store.mapped
    size = 8
    while (size - max(1, size // 4)) * _GB < wanted:
        size *= 2
    return size


def bytes_of(size: str) -> int:
    """``1536m`` as bytes."""
    return int(size[:-1]) * _UNITS[size[-1].lower()]


def _wanted(store: StoreSize) -> tuple[int, int]:
    """Bytes of heap and page cache."""
    indexes = store.mapped or store.paged * _MAPPED_OF_IMPORTED
    heap = min(_MOST_HEAP, _HEAP + int(indexes * _HEAP_OF_VECTORS))
    return heap, max(_PAGES, int(store.paged * _GROWTH))


def _is_enough(machine: Machine, store: StoreSize, memory: Memory) -> bool:
    """Whether all files find room, and indexes can be filled: half of the heap for that is slow, but does."""
    heap, pages = bytes_of(memory.heap), bytes_of(memory.page_cache)
    if store.paged + store.mapped < _PAGES:  # whatever has been set for a graph as small as that
        return True
    left = machine.total - machine.spare - heap - pages
    return pages >= store.paged and 2 * heap >= _wanted(store)[0] and left >= store.mapped


def _group_limits(groups: Path, own: Path) -> list[tuple[int, int]]:
    """What the control groups of this process may use, and what they do use that cannot be freed, in bytes. Both kinds
    of groups of Linux, from the process's own up to the outermost. Elsewhere there are none."""
    if not own.is_file():
        return []
    found = []
    for line in own.read_text("utf-8").splitlines():
        _, controllers, path = line.split(":", 2)
        if controllers not in ("", "memory"):
            continue
        root = groups / controllers
        names = _NAMES[controllers]
        inner = root / path.lstrip("/")
        for folder in (inner, *inner.parents):
            if folder == groups.parent:
                break
            if (limit := _limit(folder, *names)) is not None:
                found.append(limit)
    return found


_NAMES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""Of files with the limit and the use, and the line of ``memory.stat`` with what can be freed, by kind of group."""


def _limit(folder: Path, limit: str, used: str, freeable: str) -> tuple[int, int] | None:
    try:
        most = (folder / limit).read_text("utf-8").strip()
        if not most.isdigit():  # "max"
            return None
        use = int((folder / used).read_text("utf-8"))
        lines = (folder / "memory.stat").read_text("utf-8").splitlines()
    except OSError:  # the outermost group has no limit, and a container does not see the groups around it
        return None
    stat = dict(line.split() for line in lines)
    return int(most), use - int(stat.get(freeable, 0))


def _jvm_size(size: float) -> str:
    whole = max(32, int(size) // _MB)
    return f"{whole // 1024}g" if whole % 1024 == 0 else f"{whole}m"


def _words(size: int) -> str:
    return f"{size / _GB:.1f} GB" if size >= _GB else f"{size // _MB} MB"
