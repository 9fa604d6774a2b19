"""A log of the calls of a language model, one JSON object a line, messages and replies included."""

from __future__ import annotations

import json
import logging
import os
import threading
from dataclasses import asdict
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from kgplatform.models.chat import Reply
from kgplatform.prompt import Messages
from kgplatform.work.system import BINARY

_log = logging.getLogger(__name__)


class CallLog:
    """Appends to ``path``, which only its owner can read: it holds what documents and people say. Safe in threads."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._warned = False

    def replied(self, stage: str, messages: Messages, reply: Reply, seconds: float, body: dict[str, Any]) -> None:
        """A call that brought a ``reply``, from the server or from the cache; ``body``: the request."""
        said = {"reply": reply.text, "cut_off": reply.cut_off, "lack": reply.lack, "usage": asdict(reply.usage)}
        self._append(stage, messages, seconds, body, said)

    def failed(self, stage: str, messages: Messages, error: Exception, seconds: float, body: dict[str, Any]) -> None:
        """A call that failed, also one that is made again in another form."""
        self._append(stage, messages, seconds, body, {"error": str(error)})

    def _append(
        self, stage: str, messages: Messages, seconds: float, body: dict[str, Any], said: dict[str, Any]
    ) -> None:
        parameters = {name: value for name, value in body.items() if name != "messages"}
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        told = {"time": now, "stage": stage, "seconds": round(seconds, 3), "request": parameters, "messages": messages}
        line = json.dumps(told | said, ensure_ascii=False) + "\n"
        try:
            with self._lock:
                file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY, 0o600)
                with os.fdopen(file, "ab") as log:
                    log.write(line.encode())
        except OSError as error:
            if not self._warned:
                _log.warning("Calls of the language model cannot be logged in %s: %s", self._path, error)
            self._warned = True
