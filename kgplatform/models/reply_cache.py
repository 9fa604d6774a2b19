"""Replies of language models on disk: what was paid for once is there for the next run."""

from __future__ import annotations

import hashlib
import json
import logging
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from kgplatform.concurrency.files import write_atomically

_log = logging.getLogger(__name__)


def cache_key(request: dict[str, object]) -> str:
    """SHA-256, in hexadecimal, of a JSON-like ``request``; the order of its keys does not matter."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class KeptReply:
    """An answer that was paid for, and the tokens that it cost; None of an answer that was kept without them."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None


class ReplyCache:
    """Answers under ``folder/ab/ab….json``, readable by the owner alone. The folder appears with the first answer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._warned = False

    def get(self, key: str) -> KeptReply | None:
        """The answer for ``key``; None if there is none, or if the file is broken (``put`` then replaces it)."""
        try:
            entry = json.loads(self._path(key).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(entry, dict) or entry.get("key") != key or not isinstance(entry.get("text"), str):
            return None
        return KeptReply(entry["text"], *(_count(entry.get(name)) for name in ("input_tokens", "output_tokens")))

    def put(self, key: str, reply: KeptReply) -> None:
        """Keep ``reply``. An answer that is paid for is not lost to a full disk: that is a warning, said once."""
        try:
            path = self._path(key)
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomically(path, json.dumps({"key": key, **asdict(reply)}).encode())
        except OSError as error:
            if not self._warned:
                _log.warning("Answers of the language model cannot be kept in %s: %s", self._folder, error)
            self._warned = True

    def forget(self, key: str) -> None:
        """Keep no answer for ``key`` any longer."""
        with suppress(OSError):  # it is gone already, or the folder cannot be written: then nothing is lost
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"


def _count(value: object) -> int | None:
    return value if isinstance(value, int) and value >= 0 else None
