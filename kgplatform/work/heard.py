"""What a call tells its listener, as an iterator: the call runs in a thread of its own.

for event in heard(lambda hear, stop: graph.ask(question, on_step=hear, stop=stop), stop):
    …                                     # each that ``hear`` was called with, and at last the result
"""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from typing import TypeVar

from kgplatform.work.stopping import Stop

E = TypeVar("E")
T = TypeVar("T")


def heard(call: Callable[[Callable[[E], None], Stop], T], stop: Stop) -> Iterator[E | T]:
    """What ``call(hear, stop)`` says through ``hear``, then what it returns; what it raises is raised here.

    The call begins with the first event that is asked for. Closing the iterator stops it, as ``stop``
    does, and waits for its end.
    """
    events: queue.SimpleQueue[tuple[str, E | T | BaseException]] = queue.SimpleQueue()

    with stop.part() as ended:

        def run() -> None:
            try:
                events.put(("end", call(lambda event: events.put(("event", event)), ended)))
            except BaseException as error:  # noqa: BLE001 -- whatever it is, it is raised where it is heard
                events.put(("error", error))

        thread = threading.Thread(target=run, name="heard", daemon=True)
        thread.start()
        try:
            while True:
                kind, value = events.get()
                if isinstance(value, BaseException):
                    raise value
                yield value
                if kind == "end":
                    return
        finally:
            ended.set()
            thread.join()
