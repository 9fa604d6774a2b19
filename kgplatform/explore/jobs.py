"""Jobs of servers, kept in the graph so that they outlive a server and any server of the graph can take them up.

    (:ServerJob {id, kind, state, lease, leaseUntil, …})    # docs/reference/graph-model.md lists them all

Who runs a job holds it by a ``lease``: a token, and a time by the database's clock, which its heart beats push on. A
server that dies lets its leases run out; then another server, or its successor, takes the job. All pass one node, the
gate (``id: 'gate'``), one after the other, so that no two take the same job. A job that must be ``alone`` runs beside
no other. One with files runs only where they lie (``place``), and not beside another whose files have the same names.
The nodes are no knowledge: counts, exports and the schema leave them out.
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from kgplatform.concurrency.threads import Stop
from kgplatform.neo4j.store import Row, Store

State = Literal["waiting", "running", "done", "failed", "stopped"]
ENDS = ("done", "failed", "stopped")
GATE = "gate"
_KEPT = 100
"""Jobs that are remembered."""


@dataclass(frozen=True, slots=True)
class Job:
    """A job as clients see it: ``done`` of ``total`` in its ``stage``; ``seconds`` since it first began to run.

    ``files``: the names of an upload. ``report``: of the ingest or the tree, once it is done. ``server``: who runs it,
    or ran it last. ``note``: why it waits, where that is not for its turn alone.
    """

    id: str
    kind: str
    state: State = "waiting"
    stage: str = ""
    done: int = 0
    total: int = 0
    seconds: float = 0.0
    files: tuple[str, ...] = ()
    report: dict[str, Any] | None = None
    error: dict[str, str] | None = None
    server: str = ""
    note: str = ""

    @property
    def ended(self) -> bool:
        """Whether it is over."""
        return self.state in ENDS


@dataclass(frozen=True, slots=True)
class Files:
    """Where the files of a job lie: in ``folder`` of the uploads that are ``place``, on ``host``."""

    place: str
    folder: str
    names: tuple[str, ...]
    bytes: int
    host: str


@dataclass(frozen=True, slots=True)
class Claim:
    """A job that this server holds, by the token ``lease``.

    ``tries``: how often a server began it, this one included. ``stopping``: somebody stopped it. ``outcome``: the
    state in which it is to end, where only what it leaves behind is still to be removed.
    """

    job: Job
    lease: str
    parameters: dict[str, Any]
    folder: str
    tries: int
    stopping: bool
    outcome: State | None


@dataclass(frozen=True, slots=True)
class Load:
    """How many jobs wait or run, and of those with files in one place the bytes and the folders."""

    jobs: int
    bytes: int
    folders: tuple[str, ...]


@dataclass(eq=False)
class JobQueue:
    """The jobs of one graph, as the server sees them whose uploads are ``place``. Thread-safe.

    ``server``: this server, in words. ``lease``: seconds for which a job is held without a sign of life.
    """

    store: Store
    place: str
    server: str
    lease: float
    _is_defined: bool = field(default=False, init=False)

    def within(self, stop: Stop) -> JobQueue:
        """The same queue for work that ``stop`` ends, also while it waits for a database that is gone."""
        return replace(self, store=self.store.within(stop))

    def add(self, kind: str, parameters: Row, *, alone: bool, most: int, files: Files | None = None) -> Job | None:
        """Queue a job; None if ``most`` wait or run already."""
        self._define()
        given = files or Files("", "", (), 0, "")
        id = uuid.uuid4().hex
        row = {
            "id": id,
            "kind": kind,
            "alone": alone,
            "parameters": json.dumps(parameters),
            "files": list(given.names),
            "bytes": given.bytes,
            "place": given.place,
            "folder": given.folder,
            "host": given.host,
            "most": most,
        }
        added, _ = self.store.write(("explore/jobs/add", row), ("explore/jobs/forget", {"kept": _KEPT}))
        return Job(id, kind, files=given.names) if added else None

    def load(self) -> Load:
        """What waits or runs now."""
        (row,) = self.store.read("explore/jobs/load", place=self.place)
        return Load(row["jobs"], row["bytes"], tuple(row["folders"]))

    def all(self) -> list[Job]:
        """The jobs that are remembered, the latest first."""
        return [self._job(row) for row in self.store.read("explore/jobs/jobs", ids=[], most=_KEPT)]

    def get(self, id: str) -> Job | None:
        """The job as it is now."""
        rows = self.store.read("explore/jobs/jobs", ids=[id], most=1)
        return self._job(rows[0]) if rows else None

    def stop(self, id: str) -> Job | None:
        """Stop a job: one that nobody runs has ended now, else its server ends it. None for an unknown id."""
        (found,) = self.store.write(("explore/jobs/stop", {"id": id}))
        return self.get(id) if found else None

    def claim(self) -> Claim | None:
        """Take the job whose turn it is, if there is one that can run here now."""
        while due := self.store.read("explore/jobs/due", place=self.place):
            row = {**due[0], "lease": uuid.uuid4().hex, "seconds": self.lease, "server": self.server}
            (taken,) = self.store.write(("explore/jobs/claim", row))
            job = self.get(row["id"]) if taken else None
            if job is not None:
                (found,) = taken
                return Claim(job, row["lease"], **{**found, "parameters": json.loads(found["parameters"])})
        return None

    def beat(self, id: str, lease: str, stage: str = "", done: int = 0, total: int = 0) -> bool | None:
        """Hold a job, or the gate, for another while; whether somebody stopped it, None where it is no longer held."""
        row = {"id": id, "lease": lease, "seconds": self.lease, "stage": stage, "done": done, "total": total}
        (held,) = self.store.write(("explore/jobs/beat", row))
        return bool(held[0]["stopping"]) if held else None

    def release(self, claim: Claim) -> None:
        """Give a job back, for another server or the next one."""
        self.store.write(("explore/jobs/release", {"id": claim.job.id, "lease": claim.lease}))

    def note_outcome(
        self, claim: Claim, outcome: State, report: dict[str, Any] | None, error: dict[str, Any] | None
    ) -> bool:
        """Note how a job will end, before what it leaves behind is removed; False where it is no longer held."""
        texts = {"report": json.dumps(report) if report else "", "error": json.dumps(error) if error else ""}
        row = {"id": claim.job.id, "lease": claim.lease, "outcome": outcome, **texts}
        (noted,) = self.store.write(("explore/jobs/outcome", row))
        return bool(noted)

    def end(self, claim: Claim) -> None:
        """End a job as it was noted."""
        self.store.write(("explore/jobs/end", {"id": claim.job.id, "lease": claim.lease}))

    def hold_gate(self) -> str | None:
        """Keep all jobs from beginning; a token, or None if one runs."""
        self._define()
        lease = uuid.uuid4().hex
        (held,) = self.store.write(("explore/jobs/hold", {"lease": lease, "seconds": self.lease}))
        return lease if held else None

    def leave_gate(self, lease: str) -> None:
        """Let jobs begin again."""
        self.store.write(("explore/jobs/leave", {"lease": lease}))

    def _define(self) -> None:
        if not self._is_defined:  # the graph may be older than the label
            self.store.define("neo4j/schema/constraint_server_job")
            self._is_defined = True

    def _job(self, row: Row) -> Job:
        note = ""
        if row["state"] == "waiting" and row["place"] not in ("", self.place):
            note = f"Its files are on {row['host']}; it waits for a server with the home folder that holds them."
        elif row["state"] == "waiting" and row["server"]:
            note = f"{row['server']} stopped before it finished; the job will be resumed."
        report, error = (json.loads(row[name]) if row[name] else None for name in ("report", "error"))
        plain: Row = {name: row[name] for name in ("id", "kind", "state", "stage", "done", "total", "server")}
        seconds, files = round(row["seconds"], 3), tuple(row["files"])
        return Job(**plain, seconds=seconds, files=files, report=report, error=error, note=note)
