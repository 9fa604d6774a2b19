"""The program files of the managed Neo4j: fetched once into one folder that all homes share.

The lock file beside this module names every jar with its size and SHA-256, so that every machine runs the same
bytes. A jar folder is laid out like a Maven repository. ``complete.json`` in it lists the size and the time of every
jar that was checked; while it agrees with the files, nothing is read or fetched again.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kgplatform.errors import ServerError
from kgplatform.work.files import file_lock, write_atomically

VERSION = "5.26.30"
Report = Callable[[str], None]
Download = Callable[["Jar"], bytes | None]
"""The bytes of a jar; None where no repository has it. Raises ``OSError``."""

_LOCK_FILE = Path(__file__).with_name(f"neo4j-{VERSION}.lock")
_DOWNLOADS_AT_ONCE = 8
_TRIES = 3


@dataclass(frozen=True, slots=True)
class Jar:
    """One line of the lock file: Maven coordinate, size in bytes, SHA-256."""

    group: str
    artifact: str
    version: str
    classifier: str
    size: int
    sha256: str

    @property
    def path(self) -> str:
        """Where the jar lies, relative to the jar folder."""
        name = "-".join(part for part in (self.artifact, self.version, self.classifier) if part)
        return "/".join((*self.group.split("."), self.artifact, self.version, f"{name}.jar"))


def locked_jars() -> list[Jar]:
    """Every jar of the server, in the order of the class path."""
    jars = []
    for line in filter(None, _LOCK_FILE.read_text("utf-8").splitlines()):
        coordinate, size, sha256 = line.split()
        group, artifact, version, *classifier = coordinate.split(":")
        jars.append(Jar(group, artifact, version, "".join(classifier), int(size), sha256))
    return jars


def install(folder: Path, report: Report, *, recheck: bool = False) -> list[Path]:
    """Make sure that every jar lies whole in ``folder``; return them in the order of the class path.

    ``recheck`` reads every file again even if nothing seems to have changed. Raises ``ServerError``.
    """
    jars = locked_jars()
    if recheck or not _unchanged(folder, jars):
        with _alone_in(folder, report):
            if recheck or not _unchanged(folder, jars):
                _complete(folder, jars, report)
    return [folder / jar.path for jar in jars]


def install_one(folder: Path, artifact: str, report: Report) -> Path:
    """Make sure that the one jar of ``artifact`` lies whole in ``folder``, and return it. Raises ``ServerError``."""
    jar = next(each for each in locked_jars() if each.artifact == artifact)
    with _alone_in(folder, report):
        if not _whole(folder / jar.path, jar):
            _fetch_all(folder, [jar], report)
    return folder / jar.path


@contextmanager
def _alone_in(folder: Path, report: Report) -> Iterator[None]:
    """No other process fetches into ``folder``; what the file system refuses is worded for people."""
    try:
        with file_lock(folder / ".lock", partial(report, "Another process is fetching Neo4j; waiting for it …")):
            yield
    except OSError as error:
        raise ServerError(f"Neo4j cannot be stored in {folder}: {error.strerror or error}.") from error


def _marks(folder: Path, jars: list[Jar]) -> dict[str, list[int]]:
    """Size and time of change, in whole seconds (image layers keep no finer ones), of every jar that is there."""
    marks = {}
    for jar in jars:
        with suppress(FileNotFoundError):
            stat = (folder / jar.path).stat()
            marks[jar.path] = [stat.st_size, int(stat.st_mtime)]
    return marks


def _unchanged(folder: Path, jars: list[Jar]) -> bool:
    try:
        known = json.loads((folder / "complete.json").read_text("utf-8"))
    except (FileNotFoundError, NotADirectoryError, ValueError):
        return False
    return bool(known == _marks(folder, jars)) and len(known) == len(jars)


def _complete(folder: Path, jars: list[Jar], report: Report) -> None:
    wanting = [jar for jar in jars if not _whole(folder / jar.path, jar)]
    if wanting:
        _fetch_all(folder, wanting, report)
    manifest = json.dumps(_marks(folder, jars), indent=0).encode()
    write_atomically(folder / "complete.json", manifest, mode=0o644)


def _whole(path: Path, jar: Jar) -> bool:
    with suppress(FileNotFoundError):
        return path.stat().st_size == jar.size and hashlib.sha256(path.read_bytes()).hexdigest() == jar.sha256
    return False


def _fetch_all(folder: Path, jars: list[Jar], report: Report) -> None:
    size = sum(jar.size for jar in jars) / 1e6
    report(f"Fetching Neo4j {VERSION} ({len(jars)} files, {size:.0f} MB, once) …")
    with _repositories() as download, ThreadPoolExecutor(_DOWNLOADS_AT_ONCE) as pool:
        try:
            for done, _ in enumerate(pool.map(partial(_fetch, download, folder), jars), start=1):
                if done % 50 == 0:
                    report(f"Fetched {done} of {len(jars)} files …")
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _repositories() -> Iterator[Download]:
    """What downloads a jar from the repositories of the user's jgo configuration (a mirror, say) or Maven Central.

    Connections are kept: jgo's own resolver opens two for each jar, and reads all certificates for each.
    """
    import requests
    from jgo.config import GlobalSettings
    from jgo.constants import MAVEN_CENTRAL_URL
    from urllib3 import Retry

    remotes = {**GlobalSettings.load().repositories}
    remotes.setdefault("central", MAVEN_CENTRAL_URL)
    # Too many requests: asked again when the repository says. All other faults are for ``_fetch``.
    busy = Retry(total=None, connect=0, read=0, other=0, status=3, status_forcelist=[429], raise_on_status=False)
    with requests.Session() as session:
        for scheme in ("https://", "http://"):
            session.mount(scheme, requests.adapters.HTTPAdapter(pool_maxsize=_DOWNLOADS_AT_ONCE, max_retries=busy))

        def download(jar: Jar) -> bytes | None:
            for remote in remotes.values():
                response = session.get(f"{remote.rstrip('/')}/{jar.path}", timeout=30)
                if response.status_code == 200:
                    return bytes(response.content)
            return None

        yield download


def _fetch(download: Download, folder: Path, jar: Jar) -> None:
    """Write ``jar`` into ``folder``. What was broken off or arrived damaged is fetched again."""
    path = folder / jar.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # a bad one whose size and time are those of ``complete.json`` would be taken as whole
    for last in (*[False] * (_TRIES - 1), True):
        try:
            content = download(jar)
        except OSError as error:
            if last:
                raise _fetch_error(jar, error) from error
            continue
        if content is None:
            raise _fetch_error(jar)
        if hashlib.sha256(content).hexdigest() == jar.sha256:
            write_atomically(path, content, mode=0o644)  # other users may read it
            return
    raise ServerError(
        f"{path.name} arrived damaged {_TRIES} times (its checksum is not the expected one); "
        "check the connection or the mirror, then run it again."
    )


def _fetch_error(jar: Jar, error: OSError | None = None) -> ServerError:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return ServerError(
            f"Neo4j {VERSION} cannot be fetched: the Maven repository's certificate is not trusted on this machine. If "
            "your network has a certificate of its own, name its file in REQUESTS_CA_BUNDLE."
        )
    return ServerError(
        f"Neo4j {VERSION} cannot be fetched: the Maven repository does not give {Path(jar.path).name}. Connect to the "
        "network for this first start, or set KGPLATFORM_NEO4J_JARS to a folder that has the files."
    )
