"""The peers of the benchmark: which packages of which versions, in a virtual environment of each one's own."""

import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_READY = "ready.txt"


@dataclass(frozen=True, slots=True)
class Peer:
    """One peer. ``bare`` packages are installed without those they name; ``server``: it wants a Neo4j.

    ``whole``: it is given all passages as one document. ``peers/drivers.py`` has the function ``module``.
    """

    name: str
    module: str
    server: bool
    packages: Sequence[str] = ()
    bare: Sequence[str] = ()
    whole: bool = False


_TOKENS = "litellm==1.110.2"
"""It ships the tables of the tokens that LightRAG and nano-graphrag count, which they would fetch from outside."""
_LIGHTRAG = ("lightrag-hku==1.5.7", "neo4j==6.4.1")
PEERS = (
    Peer("kgplatform", "kgplatform", server=True),
    Peer("LightRAG", "lightrag", True, _LIGHTRAG, (_TOKENS,)),
    Peer("LightRAG, one document", "lightrag", True, _LIGHTRAG, (_TOKENS,), whole=True),
    Peer("nano-graphrag", "nano_graphrag", False, ("nano-graphrag==0.0.8.2", _TOKENS)),
    Peer(
        "HippoRAG 2",
        "hipporag",
        False,
        (
            *("torch==2.5.1", "openai==1.91.0", "python-igraph==0.11.8", "tenacity==8.5.0", "pydantic==2.10.4"),
            *("numpy==2.4.6", "pandas==3.1.1", "pyarrow==26.0.1", "filelock", "packaging", "tqdm"),
        ),
        ("hipporag==2.0.0a4",),
    ),
    Peer("neo4j-graphrag", "neo4j_graphrag", True, ("neo4j-graphrag==1.22.0",)),
)


class NotInstalled(Exception):  # noqa: N818 - it says what is, not what went wrong in the code
    """A peer's packages are not here; the reason is the message."""


def python_of(peer: Peer, folder: Path, *, make: bool) -> Path:
    """The interpreter of the peer's environment below ``folder``, which is made if it is not there and ``make`` is set.

    Raises ``NotInstalled``.
    """
    if not peer.packages:
        return Path(sys.executable)
    home = folder / f"peers-{peer.module}"
    python, ready = home / "bin" / "python", home / _READY
    wanted = "\n".join((*peer.packages, *peer.bare))
    if ready.exists() and ready.read_text("utf-8") == wanted:
        return python
    if not make:
        raise NotInstalled("its environment is made by `make bench ONLY=peers`")
    _run([sys.executable, "-m", "venv", "--clear", str(home)])
    _run([str(python), "-m", "pip", "install", "--quiet", *peer.packages])
    if peer.bare:
        _run([str(python), "-m", "pip", "install", "--quiet", "--no-deps", *peer.bare])
    ready.write_text(wanted, "utf-8")
    return python


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise NotInstalled(next(iter(done.stderr.strip().splitlines()[-1:]), f"{command[0]} failed"))
