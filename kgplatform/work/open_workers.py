"""The processes that the settings ask for: workers, of this machine or a Ray cluster's, and one that parses files."""

from __future__ import annotations

from kgplatform.settings import Settings
from kgplatform.work.bounded import BoundedCalls
from kgplatform.work.stopping import Stop
from kgplatform.work.workers import LocalWorkers, Workers

_READING = "kgplatform.ingest.share"
"""What workers import before anything else: it takes a second, while the first files are loaded."""


def open_workers(settings: Settings) -> Workers | None:
    """None if this process is to do the work itself. Raises ``SettingError`` if Ray is not installed or not there."""
    if settings.ray:
        from kgplatform.work.ray_workers import RayWorkers  # it takes seconds to load

        return RayWorkers(settings.ray)
    return LocalWorkers(settings.workers, _READING) if settings.workers > 1 else None


def bounded_calls(settings: Settings, stop: Stop) -> BoundedCalls:
    """Calls within the bounds for one file."""
    return BoundedCalls(settings.file_seconds, settings.file_memory, stop)
