"""Passes that write, side by side: who goes first, who waits, and what becomes of those that are gone."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from stopped import until

from kgplatform.concurrency.system import machine
from kgplatform.errors import InputError, StoreError
from kgplatform.neo4j.passes import Pass, Turn, refuse_meanwhile, wait_meanwhile
from kgplatform.neo4j.store import Store

MUCH = 60.0


class Run:
    """A pass in a thread of its own; ``told``: what became of it, in order."""

    def __init__(self, store: Store, kind: str, told: list[str], name: str, turn: Turn = "alone") -> None:
        self.go = threading.Event()
        self._given = (store, kind, told, name, turn)
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self) -> None:
        store, kind, told, name, turn = self._given
        waits = set[str]()

        def tell(stage: str, done: int, total: int) -> None:
            if stage not in waits:
                waits.add(stage)
                told.append(f"{name} waits: {stage.partition(' (')[0]}")

        with Pass(store, kind, tell, turn):
            told.append(f"{name} has it")
            self.go.wait(MUCH)
            told.append(f"{name} ends")

    def end(self) -> None:
        self.go.set()
        self.thread.join()


@contextmanager
def quiet(store: Store, kind: str, turn: Turn = "alone") -> Iterator[Pass]:
    with Pass(store, kind, lambda stage, done, total: None, turn) as opened:
        yield opened


def nodes(store: Store) -> int:
    table = store.run_statement("MATCH (p:WritePass) RETURN count(p)", {}, write=False, timeout=30, limit=1)
    return int(table.rows[0][0])


def test_one_alone_at_a_time_in_the_order_of_asking(store: Store) -> None:
    told = list[str]()
    first = Run(store, "remove", told, "first")
    until(lambda: "first has it" in told)
    second = Run(store, "ingest", told, "second")
    until(lambda: "second waits: waiting for a removal" in told)
    third = Run(store, "remove", told, "third")
    until(lambda: "third waits: waiting for a removal" in told)
    first.end()
    until(lambda: "second has it" in told)
    assert "third has it" not in told
    second.end()
    until(lambda: "third has it" in told)
    third.end()
    assert nodes(store) == 0, "nothing is left when all are over"


def test_those_that_share_give_way(store: Store) -> None:
    told = list[str]()
    with quiet(store, "ingest") as one:
        one.share()
        with quiet(store, "ingest", "shared") as other:
            assert not one.others_wait()
            removal = Run(store, "remove", told, "removal")
            until(lambda: "removal waits: waiting for an ingest" in told)
            time.sleep(0.4)  # it is looked at several times a second
            assert one.others_wait()
            assert other.others_wait()
            removal.go.set()
            both = threading.Thread(target=other.give_way)
            both.start()
            one.give_way()
            both.join()
            assert told[-1] == "removal ends"
            removal.thread.join()
            one.store.write(("neo4j/passes/renew", {"id": one.id, "seconds": 60}))


def test_a_tree_waits_for_a_whole_ingest_and_what_comes_after_it_for_the_tree(store: Store) -> None:
    """Though the ingest shares; and the ingest, which must be alone at its end, does not wait for who waits for it."""
    told = list[str]()
    with quiet(store, "ingest") as ingest:
        ingest.share()
        tree = Run(store, "tree", told, "tree")
        until(lambda: "tree waits: waiting for an ingest" in told)
        removal = Run(store, "remove", told, "removal")
        until(lambda: "removal waits: waiting for an ingest" in told)
        time.sleep(0.4)
        assert not ingest.others_wait(), "what waits for its end is not helped by a pause"
        ingest.alone()
        assert "tree has it" not in told
        assert "removal has it" not in told
    until(lambda: "tree has it" in told)
    assert "removal has it" not in told
    tree.end()
    until(lambda: "removal has it" in told)
    removal.end()


def test_gists_run_beside_everything_but_gists_and_what_changes_all(store: Store) -> None:
    told = list[str]()
    with quiet(store, "remove"):
        gist = Run(store, "gist", told, "gist", "beside")
        until(lambda: "gist has it" in told)
    with quiet(store, "tree"):
        pass
    another = Run(store, "gist", told, "another", "beside")
    until(lambda: "another waits: waiting for writing gists" in told)
    again = Run(store, "reembed", told, "reembed")
    until(lambda: "reembed waits: waiting for writing gists" in told)
    gist.end()
    until(lambda: "another has it" in told)
    another.end()
    until(lambda: "reembed has it" in told)
    with pytest.raises(StoreError, match=r"Embedding the graph again \(process \d+ on .*\) is under way. Try again"):
        refuse_meanwhile(store, ("import", "reembed"))
    lines = list[str]()
    waiting = threading.Thread(target=wait_meanwhile, args=(store, ("reembed",), lines.append))
    waiting.start()
    while not lines:
        time.sleep(0.02)
    again.end()
    waiting.join()
    assert lines[0].startswith("Waiting for embedding the graph again (process ")
    assert len(lines) == 1


def made(store: Store, host: str, process: int, seconds: int) -> str:
    """A pass that holds the graph alone, of some process, which counts for so long."""
    id = f"{host}|{process}|before this one|1|abc"
    statement = (
        "CREATE (:WritePass {id: $id, kind: 'ingest', who: 'x', excludes: [], begun: true, has: 'alone', "
        "until: datetime.realtime() + duration({seconds: $seconds})})"
    )
    store.run_statement(statement, {"id": id, "seconds": seconds}, write=True, timeout=30, limit=1)
    return id


def test_a_pass_of_a_process_that_is_gone_is_over(store: Store) -> None:
    made(store, machine(), 2**22 + 1, 600)
    refuse_meanwhile(store, ("ingest",))
    with quiet(store, "ingest"):
        pass
    assert nodes(store) == 0


def test_a_pass_of_another_machine_is_waited_for_until_it_gives_no_sign_of_life(store: Store) -> None:
    made(store, "another-machine", 1, 2)
    told = list[str]()
    Run(store, "ingest", told, "ours").end()
    assert told[0] == "ours waits: waiting for an ingest"
    assert nodes(store) == 0


def test_what_was_given_up_cannot_write(store: Store) -> None:
    with quiet(store, "ingest") as ours:
        store.run_statement("MATCH (p:WritePass {id: $id}) DELETE p", {"id": ours.id}, write=True, timeout=30, limit=1)
        with pytest.raises(StoreError, match="lease expired; another run took over.*resumes"):
            ours.store.write(("ingest/set_graph_state", {"state": {"format": 99}}))
        assert store.read("ingest/graph_state") == []


def test_a_pass_inside_of_another_one_is_refused_rather_than_waited_for(store: Store) -> None:
    with (
        quiet(store, "ingest"),
        pytest.raises(InputError, match=r"An ingest \(.*\) was started by the same thread"),
        quiet(store, "tree"),
    ):
        pass
    assert nodes(store) == 0
