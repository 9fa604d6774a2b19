"""Work for a child process. What this module imports, the child does within its time."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from time import process_time


def pid(_: object = None) -> list[int]:
    return [os.getpid()]


def steps(*seconds: float) -> Iterator[float]:
    """Takes so much processor time, step by step."""
    for each in seconds:
        end = process_time() + each
        while process_time() < end:
            pass
        yield each


KEPT: list[bytes] = []


def keep(megabytes: int) -> list[int]:
    """Memory that stays in use."""
    KEPT.append(b"x" * (1_000_000 * megabytes))
    return [len(KEPT)]


def fill(megabytes: int) -> list[int]:
    """Memory in small pieces."""
    return [len([bytes(1000) for _ in range(1000 * megabytes)])]


def noise() -> Iterator[str]:
    print("noise of Python's", flush=True)
    os.write(1, b"noise of a library's")
    yield "answer"


def die_once(place: Path) -> list[str]:
    if place.exists():
        return ["alive"]
    place.touch()
    os.kill(os.getpid(), signal.SIGKILL)
    return []
