"""Workspaces: graphs of their own in one folder, each a home with its managed server.

    workspaces = Workspaces(Path("/srv/kg"))
    workspaces.create("contracts")
    with connect(home=workspaces.home("contracts")) as kg: …

Nothing of one graph can be seen from another: they share no database. Those of a home lie in its folder ``workspaces``;
``connect(workspace="contracts")`` opens one of these.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

from kgplatform.concurrency.files import file_lock, write_atomically
from kgplatform.errors import InputError
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.parts import stop_parts
from kgplatform.settings import WORKSPACE_FILE, Settings
from kgplatform.text import did_you_mean

EVERYWHERE = "*"
"""Stands for every workspace, as a name and as an id."""
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")


@dataclass(frozen=True, slots=True)
class Workspace:
    """``id``: what rights in it are tied to, so that they follow it to another name, and to no other workspace.
    ``created``: when, in UTC. ``archived``: kept on disk, and opened by nobody."""

    name: str
    id: str
    home: Path
    created: str
    archived: bool = False


class Workspaces:
    """Those of ``folder``. What another process does to them is seen at once."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def all(self) -> list[Workspace]:
        """By name, the archived ones too."""
        found = (self._read(file.parent) for file in sorted(self.folder.glob(f"*/{WORKSPACE_FILE}")))
        return [each for each in found if each is not None]

    def get(self, name: str) -> Workspace:
        """The workspace that is called ``name``. Raises ``InputError`` where there is none."""
        found = self._read(self.folder / name) if _NAME.fullmatch(name) else None
        if found is None:
            names = [each.name for each in self.all()]
            there = f" There are: {', '.join(names)}." if names else ""
            raise InputError(f'There is no workspace "{name}".{did_you_mean(name, names)}{there}')
        return found

    def home(self, name: str) -> Path:
        """The home folder of a workspace that can be opened. Raises ``InputError``."""
        found = self.get(name)
        if found.archived:
            raise InputError(f'The workspace "{name}" is archived. Restore it first.')
        return found.home

    def id_of(self, name: str) -> str:
        """The id of a workspace, or ``EVERYWHERE``. Raises ``InputError``."""
        return name if name == EVERYWHERE else self.get(name).id

    def names(self) -> dict[str, str]:
        """The names by ids, that of ``EVERYWHERE`` among them."""
        return {EVERYWHERE: EVERYWHERE} | {each.id: each.name for each in self.all()}

    def create(self, name: str) -> Workspace:
        """A new, empty workspace. Raises ``InputError`` for a name that is taken, or cannot be one in an address."""
        with self._changing():
            self._check_free(name)
            now = datetime.now(timezone.utc).isoformat(timespec="seconds")
            made = Workspace(name, secrets.token_hex(8), self.folder / name, now)
            made.home.mkdir(mode=0o700)
            self._write(made)
        return made

    def rename(self, name: str, new: str) -> Workspace:
        """Give a workspace another name. Its server must be stopped. Raises ``InputError``."""
        with self._changing():
            found = self.get(name)
            self._check_free(new)
            self._stop(found)
            found.home.rename(self.folder / new)
        return self.get(new)

    def archive(self, name: str, *, archived: bool = True) -> Workspace:
        """Keep a workspace on disk, and let nobody open it; or let people open it again."""
        with self._changing():
            found = self.get(name)
            self._stop(found)
            self._write(replace(found, archived=archived))
        return self.get(name)

    def delete(self, name: str) -> int:
        """Remove a workspace with all that is in it; returns how many bytes that were."""
        with self._changing():
            found = self.get(name)
            self._stop(found)
            size = sum(file.lstat().st_size for file in found.home.rglob("*") if not file.is_dir())
            shutil.rmtree(found.home)
        return size

    def _changing(self) -> Any:
        return file_lock(self.folder / "lock")

    def _check_free(self, name: str) -> None:
        if not _NAME.fullmatch(name):
            raise InputError(
                f'"{name[:100]}" cannot name a workspace. Use at most 63 lower-case letters of English, digits and '
                "hyphens."
            )
        if (self.folder / name).exists():
            raise InputError(f'There is a workspace "{name}" already, or a folder of that name. Choose another name.')

    def _read(self, home: Path) -> Workspace | None:
        try:
            told: Mapping[str, Any] = json.loads((home / WORKSPACE_FILE).read_text("utf-8"))
            return Workspace(home.name, str(told["id"]), home, str(told["created"]), bool(told.get("archived")))
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise InputError(f"{home / WORKSPACE_FILE} cannot be read ({error}). Restore it from a copy.") from error

    def _write(self, workspace: Workspace) -> None:
        told = {"id": workspace.id, "created": workspace.created, "archived": workspace.archived}
        write_atomically(workspace.home / WORKSPACE_FILE, json.dumps(told).encode())

    def _stop(self, workspace: Workspace) -> None:
        settings = Settings(home=workspace.home, workspace=None)
        stop_parts(settings, lambda line: None, used=True)
        LocalNeo4j(settings).down()
