"""What tests of stopped work share: work in a thread, a model that falls silent, and what must not be left."""

import threading
from collections.abc import Callable
from typing import Any

import psutil

from kgplatform.concurrency.threads import Stop
from kgplatform.prompt import Messages
from kgplatform.testing import Fault, OpenAIServer
from kgplatform.testing.openai_server import RecordedRequest

LONG = 3600
"""Seconds that no test takes. None sets an end to its waiting: what never comes runs into pytest's own limit."""


class Working:
    """``work`` in a thread of its own, which the ``stop`` that it is given is to end."""

    def __init__(self, work: Callable[[Stop], Any]) -> None:
        self.stop = Stop()
        self.result: Any = None
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, args=(work,), daemon=True)
        self._thread.start()

    def _run(self, work: Callable[[Stop], Any]) -> None:
        try:
            self.result = work(self.stop)
        except BaseException as error:  # noqa: BLE001 - the test looks at it
            self.error = error

    def ended(self) -> BaseException | None:
        """Wait for its end; what it raised."""
        self._thread.join()
        return self.error

    def stopped(self) -> BaseException | None:
        """Stop it, and wait for its end; what it raised."""
        self.stop.set()
        return self.ended()


class Silent:
    """A model server that answers as ``reply`` does, and from the request ``number`` on, if it is set, not at all."""

    def __init__(self, reply: Callable[[Messages], str]) -> None:
        self.reached = threading.Event()
        self.number: int | None = None
        self._lock = threading.Lock()
        self._count = 0
        self.server = OpenAIServer(reply, faults=self._fault)

    def silent_from(self, number: int | None) -> None:
        """Answer ``number`` - 1 more requests; all that come, where it is None."""
        with self._lock:
            self._count, self.number = 0, number
            self.reached.clear()

    def wait(self) -> None:
        """Return when a request has come that gets no answer."""
        self.reached.wait()

    def connections(self) -> int:
        """How many connections this process holds open to the server."""
        port = int(self.server.base_url.rpartition(":")[2].partition("/")[0])
        return sum(bool(each.raddr) and each.raddr.port == port for each in psutil.Process().net_connections("tcp"))

    def _fault(self, request: RecordedRequest) -> Fault | None:
        with self._lock:
            self._count += 1
            if self.number is None or self._count < self.number:
                return None
            self.reached.set()
        return Fault.hang()


def threads() -> set[threading.Thread]:
    """All threads but those of the model server, which lives in this process too."""
    return {each for each in threading.enumerate() if "process_request_thread" not in each.name}


def until(holds: Callable[[], bool]) -> None:
    """Come back when it is so, which may take another thread or process a moment."""
    pause = threading.Event()
    while not holds():
        pause.wait(0.01)
