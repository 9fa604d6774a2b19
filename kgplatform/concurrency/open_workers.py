"""The processes that the settings ask for: workers, of this machine or a Ray cluster's, and one that parses files.

A worker on a Ray cluster that dies is replaced by Ray, and what it was doing done again.
"""

from __future__ import annotations

import logging
import socket
import tempfile
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any
from urllib.parse import urlsplit

from kgplatform.concurrency.bounded import BoundedCalls
from kgplatform.concurrency.stopping import Stop
from kgplatform.concurrency.workers import LocalWorkers, Workers, answer_of, settle
from kgplatform.errors import SettingError
from kgplatform.settings import Settings

_READING = "kgplatform.ingest.window"
"""What workers import before anything else: it takes a second, while the first files are loaded."""
_TRIES = 5
_SECONDS = 5


def open_workers(settings: Settings) -> Workers | None:
    """None if this process is to do the work itself. Raises ``SettingError`` if Ray is not installed or not there."""
    if settings.ray:
        return RayWorkers(settings.ray)
    return LocalWorkers(settings.workers, _READING) if settings.workers > 1 else None


def bounded_calls(settings: Settings, stop: Stop) -> BoundedCalls:
    """Calls within the bounds for one file."""
    return BoundedCalls(settings.file_seconds, settings.file_memory, stop)


class RayWorkers:
    """As many workers as the cluster has processors. ``address`` as `ray.init` takes it; "local" starts a cluster here.

    What is sent goes through the cluster's object store: whoever may use the cluster may read it.
    """

    def __init__(self, address: str) -> None:
        try:
            import ray  # it takes seconds to load
        except ImportError as error:
            raise SettingError(
                "Ray is not installed. Install it with `pip install 'kgplatform[ray]'`, or use workers instead.", "ray"
            ) from error
        self._ray = ray
        _check(address)
        # Ray leaves its logs behind, in /tmp/ray unless it is told another folder.
        self._folder = tempfile.TemporaryDirectory(prefix="kg-ray-", ignore_cleanup_errors=True)
        of_its_own = {"_temp_dir": self._folder.name, "include_dashboard": False} if address == "local" else {}
        try:
            ray.init(address, logging_level=logging.ERROR, log_to_driver=False, **of_its_own)
        except (ConnectionError, RuntimeError, ValueError) as error:
            self._folder.cleanup()
            raise SettingError(f"The Ray cluster {address} cannot be used: {error}", "ray") from error
        self.number = max(1, int(ray.cluster_resources().get("CPU", 1)))
        self._call = ray.remote(max_retries=_TRIES)(answer_of)

    def __enter__(self) -> RayWorkers:
        return self

    def __exit__(self, *_: object) -> None:
        self._ray.shutdown()
        self._folder.cleanup()

    def submit(self, function: Callable[[Any], Any], argument: Any) -> Future[Any]:
        """See ``Workers.submit``."""
        found: Future[Any] = Future()
        self._call.remote(function, argument).future().add_done_callback(lambda done: _pass_on(done, found))
        return found


def _check(address: str) -> None:
    """Raise ``SettingError`` if nobody listens there: Ray tries for minutes, and then ends the process."""
    found = urlsplit(address if "://" in address else f"ray://{address}")
    try:
        if found.port is not None:
            socket.create_connection((found.hostname or "", found.port), timeout=_SECONDS).close()
    except (OSError, ValueError) as error:
        raise SettingError(f"No Ray cluster listens at {address} ({error}). Is it running?", "ray") from error


def _pass_on(done: Future[tuple[bool, Any]], found: Future[Any]) -> None:
    error = done.exception()
    if error is not None:
        found.set_exception(SettingError(f"The Ray cluster lost a worker too often: {error}", "ray"))
    else:
        settle(found, done.result())
