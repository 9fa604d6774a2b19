"""What memory the managed server gets, for machines and stores of all sizes, and what it says if that is too little."""

from pathlib import Path

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kgplatform.neo4j.config import write_configuration
from kgplatform.neo4j.memory import (
    Machine,
    Memory,
    StoreSize,
    _group_limits,
    advice,
    bytes_of,
    choose,
    machine_for,
    read_machine,
    read_store,
    unbounded,
)
from kgplatform.neo4j.process import Ports
from kgplatform.neo4j.store import Store

GB = 2**30
EMPTY = StoreSize(0, 0)
SMALL = Memory("1g", "512m")


def sparse(file: Path, size: int) -> Path:
    """A real file of that size, which takes no room on the disk."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("wb") as stream:
        stream.truncate(size)
    return file


@pytest.fixture
def database(tmp_path: Path) -> Path:
    """The files of a large graph, as Neo4j lays them."""
    folder = tmp_path / "data" / "databases" / "neo4j"
    sparse(folder / "neostore.propertystore.db.arrays", 15 * GB)
    sparse(folder / "neostore.nodestore.db", GB)
    index = folder / "schema" / "index"
    sparse(index / "range-1.0" / "3" / "index-3", 4 * GB)
    sparse(index / "vector-2.0" / "7" / "vector-2.0-7" / "1" / "_0_Lucene99HnswVectorsFormat_0.vec", 10 * GB)
    sparse(index / "fulltext-1.0" / "9" / "fulltext-1.0-9" / "1" / "_0.cfs", 2 * GB)
    return folder


def test_the_files_are_told_apart(database: Path, tmp_path: Path) -> None:
    assert read_store(database) == StoreSize(paged=20 * GB, mapped=12 * GB)
    assert read_store(tmp_path / "nothing") == EMPTY


@pytest.mark.parametrize(
    ("total", "free", "store", "wanted"),
    [
        (8, 0, EMPTY, SMALL),
        (64, 64, EMPTY, SMALL),  # a large machine is no reason to take more
        (2, 1, EMPTY, Memory("341m", "170m")),  # and a small one is not filled
        (64, 60, StoreSize(20 * GB, 12 * GB), Memory("5g", "25g")),  # Lucene's files have room beside it
        (64, 60, StoreSize(3 * GB, 0), Memory("3g", "3840m")),  # a bulk import, whose indexes are still to be filled
        (2048, 2000, StoreSize(400 * GB, 400 * GB), Memory("31g", "500g")),  # the heap has an end
    ],
)
def test_a_graph_gets_what_its_files_need(total: int, free: int, store: StoreSize, wanted: Memory) -> None:
    machine = Machine(total * GB, free * GB)
    assert choose(machine, store) == wanted
    assert advice(machine, store, wanted) == ""


@pytest.mark.parametrize(("heap", "buffer"), [("128m", 16), ("1g", 102), ("31g", 1900)])
def test_vector_indexes_are_filled_in_buffers_that_the_heap_can_hold(tmp_path: Path, heap: str, buffer: int) -> None:
    (tmp_path / "conf").mkdir()
    write_configuration(tmp_path, Memory(heap, "512m"), Ports(7687, 7474), [])
    conf = (tmp_path / "conf" / "neo4j.conf").read_text("utf-8")
    assert f"\ninternal.dbms.index.vector.population_ram_buffer_size={buffer}\n" in conf
    assert f"\ninternal.dbms.index.lucene.max_merge={buffer // 2}\n" in conf


def test_where_not_all_fits_each_gets_the_same_share(database: Path) -> None:
    chosen = choose(Machine(32 * GB, 30 * GB), read_store(database))
    heap, pages = bytes_of(chosen.heap), bytes_of(chosen.page_cache)
    assert GB < heap < 4 * GB
    assert 10 * GB < pages < 20 * GB
    assert 32 * GB - heap - pages > 12 * GB, "the rest is not given away"
    beside = bytes_of(choose(Machine(64 * GB, 30 * GB), read_store(database)).page_cache)
    assert beside < 15 * GB, "half of that machine is another server's"


def test_what_is_set_is_obeyed(database: Path) -> None:
    store = read_store(database)
    machine = Machine(64 * GB, 60 * GB)
    assert choose(machine, store, Memory("9g", "700M")) == Memory("9g", "700M")
    assert choose(machine, store, Memory("2g", "auto")) == Memory("2g", "25g")
    assert choose(machine, store, Memory("auto", "1g")) == Memory("5g", "1g")
    assert choose(Machine(2 * GB, 0), store, Memory("8g", "8g")) == Memory("8g", "8g")


SIZES = st.integers(0, 2**40)


@given(SIZES, SIZES, SIZES, SIZES)
def test_it_never_takes_what_is_not_there(total: int, free: int, paged: int, mapped: int) -> None:
    """Beyond what everybody gets, which a machine of 8 GB has even if nothing of it is free."""
    machine = Machine(total + 2 * GB, min(free, total + 2 * GB))
    chosen = choose(machine, StoreSize(paged, mapped))
    taken = bytes_of(chosen.heap) + bytes_of(chosen.page_cache)
    least = min(1.5 * GB, machine.total / 4)
    assert taken <= max(least, machine.free - machine.spare) + 2 * 2**20
    assert bytes_of(chosen.heap) <= 31 * GB


def test_it_says_what_to_do(database: Path) -> None:
    store = read_store(database)
    large, full, small = Machine(64 * GB, 60 * GB), Machine(64 * GB, 10 * GB), Machine(16 * GB, 12 * GB)
    files = "The graph (20.0 GB of records and 12.0 GB of search indexes) has "
    assert advice(large, store, SMALL) == (
        f"{files}outgrown the memory that its server was started with (heap 1g, page cache 512m): restart it with "
        "`kgplatform down` and `kgplatform up`."
    )
    assert "KGPLATFORM_NEO4J_HEAP" in advice(large, store, SMALL, Memory("1g", "auto"))
    assert "other programs use this machine's: end some of them" in advice(full, store, choose(full, store))
    assert advice(small, store, choose(small, store)).endswith(
        "searches read from the disk. Move it to a machine with 64 GB (docs/how-to/own-neo4j.md)."
    )
    for machine in (large, full, small):
        assert advice(machine, StoreSize(300 * 2**20, 100 * 2**20), SMALL) == ""


def test_the_machine_that_it_names_is_large_enough() -> None:
    for size in (GB // 2, 5 * GB, 20 * GB, 100 * GB):
        store = StoreSize(size, size)
        machine = Machine(machine_for(store) * GB, machine_for(store) * GB)
        assert advice(machine, store, choose(machine, store)) == ""


def test_this_machine() -> None:
    machine = read_machine()
    assert 0 <= machine.free <= machine.total <= psutil.virtual_memory().total


def test_containers_limit_it(tmp_path: Path) -> None:
    """Control groups of the second kind: the innermost limit with what is in use, and those around it."""
    own = tmp_path / "own"
    own.write_text("0::/outer/inner\n")
    groups = tmp_path / "groups"
    (groups / "outer" / "inner").mkdir(parents=True)
    for folder, most in ((groups / "outer", 4 * GB), (groups / "outer" / "inner", "max")):
        (folder / "memory.max").write_text(f"{most}\n")
        (folder / "memory.current").write_text(f"{2 * GB}\n")
        (folder / "memory.stat").write_text(f"anon 5\ninactive_file {GB}\n")
    assert _group_limits(groups, own) == [(4 * GB, GB)]
    assert _group_limits(tmp_path, tmp_path / "none") == []


def test_older_containers_limit_it(tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.write_text("5:devices:/\n4:memory:/not/seen/from/inside\n0::/\n")
    root = tmp_path / "groups" / "memory"
    root.mkdir(parents=True)
    (root / "memory.limit_in_bytes").write_text(f"{3 * GB}\n")
    (root / "memory.usage_in_bytes").write_text(f"{GB}\n")
    (root / "memory.stat").write_text(f"total_inactive_file {GB // 2}\n")
    assert _group_limits(tmp_path / "groups", own) == [(3 * GB, GB // 2)]


def test_a_managed_server_bounds_the_memory_of_statements(store: Store) -> None:
    """A quarter of the heap for one, half of it for all."""
    limits = {row["name"]: row["value"] for row in store.read("neo4j/limits")}
    assert set(limits) == {"db.memory.transaction.max", "dbms.memory.transaction.total.max"}
    assert not any(value.startswith("0") for value in limits.values())
    assert unbounded(store) == ""
