"""The queue of jobs in the graph: who may take which, for how long it is theirs, and how a job ends.

A server that holds its jobs for no time at all (``lease`` 0) is one that is gone.
"""

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from stopped import LONG

from kgplatform.client import KnowledgeGraph
from kgplatform.explore import jobs as jobs_module
from kgplatform.explore.jobs import GATE, Claim, Files, Job, JobQueue
from kgplatform.neo4j.store import Store

HERE, ELSEWHERE = "here", "elsewhere"


def queue(store: Store, server: str = "one", lease: float = LONG, place: str = HERE) -> JobQueue:
    return JobQueue(store, place, server, lease)


def added(jobs: JobQueue, *names: str, alone: bool = False, place: str = HERE) -> str:
    files = Files(place, f".new-{'-'.join(names)}", names, 10, "a machine") if names else None
    job = jobs.add("work", {"how": "well"}, alone=alone, most=50, files=files)
    assert job is not None
    return job.id


def claimed(jobs: JobQueue) -> Claim:
    claim = jobs.claim()
    assert claim is not None
    return claim


def finish(jobs: JobQueue, claim: Claim) -> None:
    assert jobs.note_outcome(claim, "done", {"added": 2}, None)
    jobs.end(claim)


def now(jobs: JobQueue, id: str) -> Job:
    job = jobs.get(id)
    assert job is not None
    return job


def test_jobs_come_in_their_order_and_end(store: Store) -> None:
    jobs = queue(store)
    first, second = added(jobs), added(jobs)
    claim = claimed(jobs)
    assert (claim.job.id, claim.parameters, claim.tries, claim.stopping) == (first, {"how": "well"}, 1, False)
    assert now(jobs, first).state == "running"
    assert jobs.beat(claim.job.id, claim.lease, "reading", 3, 7) is False
    assert (now(jobs, first).stage, now(jobs, first).done, now(jobs, first).total) == ("reading", 3, 7)
    assert jobs.note_outcome(claim, "done", {"added": 2}, None)
    assert now(jobs, first).state == "running", "what it leaves behind is still to be removed"
    jobs.end(claim)
    ended = now(jobs, first)
    assert (ended.state, ended.report, ended.error, ended.ended) == ("done", {"added": 2}, None, True)
    assert [job.id for job in jobs.all()] == [second, first]
    assert claimed(jobs).job.id == second
    assert jobs.claim() is None
    assert jobs.get("none") is None


def test_a_job_whose_server_is_gone_is_taken_up(store: Store) -> None:
    gone, living = queue(store, "gone", lease=0), queue(store, "living")
    id = added(gone)
    lost = claimed(gone)
    assert (now(living, id).state, now(living, id).note) == (
        "waiting",
        "gone stopped before it finished; the job will be resumed.",
    )
    assert gone.beat(lost.job.id, lost.lease, "", 0, 0) is False, "late, but nobody has taken it yet"
    taken = claimed(living)
    assert (taken.job.id, taken.tries) == (id, 2)
    assert living.claim() is None
    assert gone.beat(lost.job.id, lost.lease, "", 0, 0) is None, "it is another's now"
    assert not gone.note_outcome(lost, "failed", None, {"kind": "x", "message": "y"})
    gone.release(lost)
    gone.end(lost)
    assert (now(gone, id).state, now(gone, id).server) == ("running", "living")


def test_a_job_that_is_given_back_waits_for_the_next(store: Store) -> None:
    jobs = queue(store)
    id = added(jobs)
    jobs.release(claimed(jobs))
    assert now(jobs, id).state == "waiting"
    assert claimed(queue(store, "next")).tries == 1, "who gave it back did not fail"


def test_stopping(store: Store) -> None:
    jobs, gone = queue(store), queue(store, lease=0)
    running, waiting = added(jobs), added(jobs)
    claim = claimed(jobs)
    for id, state in ((running, "running"), (waiting, "stopped")):
        stopped = jobs.stop(id)
        assert stopped is not None
        assert stopped.state == state
    assert jobs.beat(claim.job.id, claim.lease, "", 0, 0) is True
    jobs.release(claim)
    assert claimed(jobs).stopping, "who takes it up again learns of it"
    left = added(jobs)
    claimed(gone)
    stopped = jobs.stop(left)
    assert stopped is not None
    assert stopped.state == "stopped", "its server is gone"
    assert jobs.claim() is None
    assert jobs.stop("none") is None
    assert jobs.stop("gate") is None


def test_so_many_wait_or_run_and_so_many_are_remembered(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = queue(store)
    ids = [added(jobs, "a.txt"), added(jobs), added(jobs, "b.txt", place=ELSEWHERE)]
    claimed(jobs)
    load = jobs.load()
    assert (load.jobs, load.bytes, load.folders) == (3, 10, (".new-a.txt",))
    assert jobs.add("work", {}, alone=False, most=3) is None
    assert jobs.add("work", {}, alone=False, most=4) is not None
    monkeypatch.setattr(jobs_module, "_KEPT", 2)
    jobs.stop(ids[1])
    last = added(jobs)
    left = {job.id for job in queue(store).all()}
    assert last in left
    assert ids[1] not in left, "it has ended"
    assert jobs.get(ids[0]) is not None, "it runs"


def test_who_must_be_alone_waits_and_is_waited_for(store: Store) -> None:
    jobs = queue(store)
    before, beside, alone, after = added(jobs), added(jobs), added(jobs, alone=True), added(jobs)
    held = [claimed(jobs), claimed(jobs)]
    assert [claim.job.id for claim in held] == [before, beside]
    assert jobs.claim() is None, "one waits for those that run, the other for its turn"
    for claim in held:
        assert jobs.hold_gate() is None, "a job runs"
        finish(jobs, claim)
    lease = jobs.hold_gate()
    assert lease is not None
    assert jobs.claim() is None
    jobs.beat(GATE, lease)
    jobs.leave_gate(lease)
    claim = claimed(jobs)
    assert (claim.job.id, jobs.claim()) == (alone, None)
    jobs.stop(alone)
    jobs.release(claim)
    assert claimed(jobs).job.id == alone
    assert queue(store, lease=0).hold_gate() is None
    assert now(jobs, after).state == "waiting"


def test_files_are_ingested_where_they_lie_and_in_their_order(store: Store) -> None:
    jobs = queue(store)
    there = added(jobs, "a.txt", place=ELSEWHERE)
    first, again, other = added(jobs, "a.txt", "b.txt"), added(jobs, "b.txt"), added(jobs, "c.txt")
    claim = claimed(jobs)
    assert (claim.job.id, claim.folder) == (first, ".new-a.txt-b.txt")
    assert claimed(jobs).job.id == other, "its files have other names"
    assert jobs.claim() is None
    assert (
        now(jobs, there).note
        == "Its files are on a machine; it waits for a server with the home folder that holds them."
    )
    assert now(jobs, again).note == ""
    finish(jobs, claim)
    assert claimed(jobs).job.id == again
    assert claimed(queue(store, place=ELSEWHERE)).job.id == there


def test_no_two_servers_take_the_same_job(store: Store) -> None:
    ids = {added(queue(store)) for _ in range(6)}
    start = threading.Barrier(4)

    def take(number: int) -> list[str]:
        mine = queue(store, f"server {number}")
        start.wait()
        return [claim.job.id for claim in iter(mine.claim, None)]

    with ThreadPoolExecutor(4) as servers:
        taken = [id for some in servers.map(take, range(4)) for id in some]
    assert (len(taken), set(taken)) == (6, ids)


def test_jobs_are_no_knowledge(kg: KnowledgeGraph, store: Store, tmp_path: Path) -> None:
    (tmp_path / "field.txt").write_text("Cyrus Field founded the Atlantic Telegraph Company in London.")

    def told(name: str) -> object:
        kg.export(tmp_path / name)
        schema = [store.read(f"search/{each}") for each in ("graph_counts", "schema_labels", "schema_properties")]
        return kg.stats(), schema, kg.look.map(), kg.look.find("a"), (tmp_path / name).read_bytes()

    def work() -> None:
        jobs = queue(store)
        added(jobs, "a.txt")
        finish(jobs, claimed(jobs))
        added(jobs)
        claimed(jobs)

    work()
    assert not store.read("exchange/has_content")[0]["any"]
    assert kg.stats().nodes == {}
    store.write(("explore/jobs/forget", {"kept": 0}))
    kg.ingest(tmp_path / "field.txt", extractor="local")
    before = told("before.jsonl")
    work()
    assert told("after.jsonl") == before
