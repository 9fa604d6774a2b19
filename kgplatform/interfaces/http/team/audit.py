"""A log of who asked, read and changed what, and what they were refused: a line of JSON each, in files that only the
owner can read. No text of a document is in it.

    {"at": "2026-11-28T23:40:01.123Z", "who": "ann", "by": "token 3fa85c21", "workspace": "contracts",
     "does": "POST /api/ask", "asked": "Who signed it?", "status": 200}
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

AUDIT_FILE = "audit.jsonl"
_LARGEST, _KEPT = 10_000_000, 20
"""Bytes of a file, and how many older ones are kept."""
_LONGEST = 2000
"""Characters of an item, such as a question, that are logged."""


class Audit:
    """The log in ``file``. Safe from several threads."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._lock = threading.Lock()

    def add(self, **told: Any) -> None:
        """Write a line; what is None is left out."""
        at = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        known = {name: value for name, value in told.items() if value not in (None, "")}
        known = {name: value[:_LONGEST] if isinstance(value, str) else value for name, value in known.items()}
        line = json.dumps({"at": at, **known}, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
        with self._lock:
            self._rotate(len(line))
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with os.fdopen(os.open(self.file, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), "wb") as file:
                file.write(line)

    def last(self, limit: int) -> list[dict[str, Any]]:
        """The latest lines, the latest first."""
        found: list[dict[str, Any]] = []
        for line in self._backwards():
            if len(found) == limit:
                break
            with suppress(ValueError):  # half of a line, of a server that was killed
                found.append(json.loads(line))
        return found

    def _backwards(self) -> Iterator[str]:
        with self._lock:
            files = [file for file in (self.file, *map(self._older, range(1, _KEPT + 1))) if file.exists()]
            texts = [file.read_text("utf-8", "replace") for file in files[:2]]
        for text in texts:
            yield from reversed(text.split("\n"))

    def _older(self, number: int) -> Path:
        return self.file.with_name(f"{self.file.name}.{number}")

    def _rotate(self, more: int) -> None:
        if not self.file.exists() or self.file.stat().st_size + more <= _LARGEST:
            return
        for number in range(_KEPT - 1, 0, -1):
            if self._older(number).exists():
                self._older(number).replace(self._older(number + 1))
        self.file.replace(self._older(1))
