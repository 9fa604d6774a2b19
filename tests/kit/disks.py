"""Small file systems that fill up."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[Path]:
    """``folder`` as a file system of its own."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True).returncode:
        pytest.skip("a small file system cannot be mounted here (that takes root)")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def leave(disk: Path, space: int) -> None:
    """Fill ``disk`` but for so many bytes."""
    with (disk / "filler").open("wb", buffering=0) as filler:
        while (left := shutil.disk_usage(disk).free - space) > 0:
            filler.write(bytes(min(left, 2**20)))
