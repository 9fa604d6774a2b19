"""``neo4j-admin database import full``: the managed server's database made anew of files, while the server is stopped.

It is all or nothing. A file beside the database says that an import is under way, and which process it is; with that
file there, the database is half of one: whoever starts the server next ends that process and begins with an empty one.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from kgplatform.concurrency.files import write_atomically
from kgplatform.concurrency.stopping import Stop
from kgplatform.concurrency.system import own_session
from kgplatform.neo4j.config import java_environment
from kgplatform.neo4j.install import VERSION
from kgplatform.neo4j.process import ServerRecord, load_record, process_mark, stop

_POLL = 0.05


def import_full(java: Path, arguments: Sequence[str], home: Path, folder: Path, log: Path, stopping: Stop) -> bool:
    """Run the importer in ``folder``; True if it made the database; else, as if it is stopped, that is empty."""
    mark = _mark(home)
    write_atomically(mark, b"{}")
    try:
        with log.open("wb") as output, ExitStack() as undo:
            importer = subprocess.Popen(
                [java, *arguments],
                cwd=folder,
                env=java_environment(home),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                **own_session(),  # Ctrl-C is for this process, which then ends that one
            )
            undo.callback(_end, importer)
            ServerRecord(importer.pid, process_mark(importer.pid) or "", 0, 0, VERSION).save(mark)
            while importer.poll() is None:
                stopping.sleep(_POLL)
    except BaseException:  # whatever it is, half a database goes
        drop_half_import(home)
        raise
    if importer.returncode:
        drop_half_import(home)
        return False
    mark.unlink()
    return True


def _end(importer: subprocess.Popen[bytes]) -> None:
    """At once: what it made is of no use."""
    importer.kill()
    importer.wait()


def drop_half_import(home: Path) -> None:
    """End an import that its process has left behind, and remove what it made, if there is one."""
    mark = _mark(home)
    if not mark.exists():
        return
    if (record := load_record(mark)) is not None:
        stop(record)
    for kind in ("databases", "transactions"):
        shutil.rmtree(home / "data" / kind / "neo4j", ignore_errors=True)
    mark.unlink()


def _mark(home: Path) -> Path:
    return home / "importing.json"
