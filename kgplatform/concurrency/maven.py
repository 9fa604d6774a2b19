"""Files from a Maven repository, each held to a lock file that names it with its size and SHA-256.

So every machine runs the same bytes: the managed Neo4j's program files, and the weights of the embedding model. The
folder that they are fetched into is laid out like a Maven repository and may be shared by processes and users.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from kgplatform.concurrency.files import file_lock, write_atomically

Report = Callable[[str], None]
Download = Callable[["Jar"], bytes | None]
"""The bytes of a jar; None where no repository has it. Raises ``OSError``."""

_DOWNLOADS_AT_ONCE = 8
_TRIES = 3


class FetchError(Exception):
    """A file cannot be fetched or stored; worded for people."""


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


def read_lock(file: Path) -> list[Jar]:
    """Every jar that ``file`` names, in its order."""
    jars = []
    for line in filter(None, file.read_text("utf-8").splitlines()):
        coordinate, size, sha256 = line.split()
        group, artifact, version, *classifier = coordinate.split(":")
        jars.append(Jar(group, artifact, version, "".join(classifier), int(size), sha256))
    return jars


def fetch(folder: Path, jars: list[Jar], what: str, report: Report, *, recheck: bool = False) -> list[Path]:
    """Make sure that ``jars``, which make up ``what``, lie whole in ``folder``; return them. Raises ``FetchError``.

    Each was held to its checksum when it was written: from then on its size tells, unless ``recheck`` reads all again.
    """
    if recheck or _wanting(folder, jars):
        try:
            with file_lock(folder / ".lock", partial(report, f"Another process is fetching {what}; waiting for it …")):
                if wanting := _wanting(folder, jars, recheck):
                    _fetch_all(folder, wanting, what, report)
        except OSError as error:
            raise FetchError(f"{what} cannot be stored in {folder}: {error.strerror or error}.") from error
    return [folder / jar.path for jar in jars]


def _wanting(folder: Path, jars: list[Jar], recheck: bool = False) -> list[Jar]:
    """Those that are not there whole."""

    wanting = []
    for jar in jars:
        path = folder / jar.path
        try:
            is_whole = path.stat().st_size == jar.size and (
                not recheck or hashlib.sha256(path.read_bytes()).hexdigest() == jar.sha256
            )
        except (FileNotFoundError, NotADirectoryError):
            is_whole = False
        if not is_whole:
            wanting.append(jar)
    return wanting


def _fetch_all(folder: Path, jars: list[Jar], what: str, report: Report) -> None:
    size = sum(jar.size for jar in jars) / 1e6
    files = f"{len(jars)} files, " if len(jars) > 1 else ""
    report(f"Fetching {what} ({files}{size:.0f} MB, once) …")
    with _repositories() as download, ThreadPoolExecutor(_DOWNLOADS_AT_ONCE) as pool:
        try:
            for done, _ in enumerate(pool.map(partial(_fetch, download, folder, what), jars), start=1):
                if done % 50 == 0:
                    report(f"Fetched {done} of {len(jars)} files …")
        finally:
            pool.shutdown(cancel_futures=True)


@contextmanager
def _repositories() -> Iterator[Download]:
    """What downloads a jar from the repositories of the user's jgo configuration (a mirror, say) or Maven Central.
    Connections are kept: jgo's own resolver opens two for each jar, and reads all certificates for each."""
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


def _fetch(download: Download, folder: Path, what: str, jar: Jar) -> None:
    """Write ``jar`` into ``folder``. What was broken off or arrived damaged is fetched again."""
    path = folder / jar.path
    path.parent.mkdir(parents=True, exist_ok=True)
    path.unlink(missing_ok=True)  # a bad one of the right size would be taken as whole
    for last in (*[False] * (_TRIES - 1), True):
        try:
            content = download(jar)
        except OSError as error:
            if last:
                raise _fetch_error(what, jar, error) from error
            continue
        if content is None:
            raise _fetch_error(what, jar)
        if hashlib.sha256(content).hexdigest() == jar.sha256:
            write_atomically(path, content, mode=0o644)  # other users may read it
            return
    raise FetchError(
        f"{path.name} arrived damaged {_TRIES} times (its checksum is not the expected one); "
        "check the connection or the mirror, then run it again."
    )


def _fetch_error(what: str, jar: Jar, error: OSError | None = None) -> FetchError:
    what = what[0].upper() + what[1:]
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        return FetchError(
            f"{what} cannot be fetched: the Maven repository's certificate is not trusted on this machine. If "
            "your network has a certificate of its own, name its file in REQUESTS_CA_BUNDLE."
        )
    return FetchError(
        f"{what} cannot be fetched: the Maven repository does not give {Path(jar.path).name}. Connect to the "
        "network for this first time, or set KGPLATFORM_NEO4J_JARS to a folder that has the files."
    )
