"""Who may do what in which workspace, in one file that its owner alone can read.

    people = People(folder / "people.json")
    people.add("ann", groups=["legal"])
    shown_once = people.token("ann", days=90).text
    people.grant(workspace.id, "group:legal", "reader", where='department = "legal"')
    people.by_token(shown_once).right_in(workspace.id)        # Right("reader", ('department = "legal"',))

A token is kept as its SHA-256, from which 256 random bits cannot be guessed. What another process changes counts at
once.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Literal, get_args

from kgplatform.concurrency.files import file_lock, write_atomically
from kgplatform.concurrency.system import is_open_to_others
from kgplatform.errors import InputError
from kgplatform.neo4j.filters import clauses_of
from kgplatform.text import did_you_mean, unknown
from kgplatform.workspaces import EVERYWHERE

Role = Literal["reader", "editor", "admin"]
ROLES: tuple[Role, ...] = get_args(Role)
"""Each may do what those before it may."""
PEOPLE_FILE = "people.json"
_KINDS = ("user", "group", "claim")
_NAME = re.compile(r"[^\s.:/\"'\\][^\s:/\"'\\]{0,199}")
SIGN_IN = "Sign in, or send a token as `Authorization: Bearer TOKEN`."
"""What is said to whom nobody knows."""


@dataclass(frozen=True, slots=True)
class Right:
    """What somebody may do in a workspace. ``where``: the documents that they may see, by any of these conditions;
    all if there are none."""

    role: Role
    where: tuple[str, ...] = ()

    def may(self, role: Role) -> bool:
        """Whether that includes what ``role`` may."""
        return ROLES.index(role) <= ROLES.index(self.role)


@dataclass(frozen=True, slots=True)
class Grant:
    """``workspace``: its id, or ``EVERYWHERE``. ``who``: ``user:ann``, ``group:legal``, or ``claim:department=legal``
    of who signed in with a provider."""

    workspace: str
    who: str
    role: Role
    where: str = ""


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody who was let in. ``claims``: what the provider says of them; ``by``: the token or session, for the
    log."""

    name: str
    groups: tuple[str, ...] = ()
    claims: Mapping[str, Any] = field(default_factory=dict, hash=False)
    grants: tuple[Grant, ...] = field(default=(), repr=False)
    by: str = ""

    def right_in(self, workspace: str) -> Right | None:
        """What they may do in the workspace of that id; None if nothing. Of several grants each adds what it gives."""
        given = [each for each in self.grants if each.workspace in (workspace, EVERYWHERE) and self._is(each.who)]
        if not given:
            return None
        role = max((each.role for each in given), key=ROLES.index)
        is_whole = any(not each.where for each in given)
        return Right(role, () if is_whole else tuple(dict.fromkeys(each.where for each in given)))

    @property
    def is_admin(self) -> bool:
        """Whether they are an admin of all workspaces, and so of the server: they add people and workspaces."""
        return any(_is_of_all(each) and self._is(each.who) for each in self.grants)

    def _claim(self, name: str) -> Any:
        """A claim; one inside another by both names with a dot between them, such as ``realm_access.roles``."""
        if name in self.claims or "." not in name:
            return self.claims.get(name)
        held: Any = self.claims
        for each in name.split("."):
            held = held.get(each) if isinstance(held, Mapping) else None
        return held

    def _is(self, who: str) -> bool:
        kind, _, name = who.partition(":")
        if kind == "claim":
            claim, _, value = name.partition("=")
            return value in map(_worded, held if isinstance(held := self._claim(claim), list) else [held])
        return name == self.name if kind == "user" else name in self.groups


@dataclass(frozen=True, slots=True)
class Token:
    """``text`` is there only when it was made. Times are in UTC; ``expires`` is the last moment that it is good."""

    id: str
    user: str
    created: str
    expires: str
    digest: str = field(default="", repr=False)
    text: str = field(default="", repr=False)


@dataclass(frozen=True, slots=True)
class _Kept:
    users: dict[str, tuple[str, ...]]
    """Their groups, by their names."""
    tokens: tuple[Token, ...]
    grants: tuple[Grant, ...]


class People:
    """Those of ``file``."""

    def __init__(self, file: Path, now: Callable[[], datetime] = lambda: datetime.now(timezone.utc)) -> None:
        self.file, self._now = file, now
        self._read_at: tuple[int, int] | None = None
        self._kept = _Kept({}, (), ())

    @property
    def users(self) -> dict[str, tuple[str, ...]]:
        """The groups of each user."""
        return dict(self._read().users)

    @property
    def tokens(self) -> tuple[Token, ...]:
        """Those that are good, without their texts."""
        return tuple(each for each in self._read().tokens if self._is_good(each))

    @property
    def grants(self) -> tuple[Grant, ...]:
        """In the order in which they were given."""
        return self._read().grants

    def by_token(self, text: str) -> Person | None:
        """Whose token this is; None for one that is unknown, has expired or was revoked."""
        kept, digest = self._read(), _digest(text)
        found = next((each for each in kept.tokens if secrets.compare_digest(each.digest, digest)), None)
        if found is None or not self._is_good(found) or found.user not in kept.users:
            return None
        return Person(found.user, kept.users[found.user], grants=kept.grants, by=f"token {found.id}")

    def signed_in(self, name: str, groups: Sequence[str], claims: Mapping[str, Any], by: str) -> Person:
        """Who signed in with a provider: also in the groups that they have here, if they are known here."""
        kept = self._read()
        return Person(name, tuple(dict.fromkeys((*kept.users.get(name, ()), *groups))), claims, kept.grants, by)

    def add(self, name: str, groups: Sequence[str] = ()) -> bool:
        """Add a user, or give one other groups. The very first one is an admin of everything, since from then on nobody
        else is let in; whether it is that one. Raises ``InputError``."""
        for each in (name, *groups):
            if not _NAME.fullmatch(each) or not each.isprintable():
                raise InputError(
                    f"{each[:100]!r} cannot be a name. Use no blanks, colons, slashes or quotes, and no dot in front."
                )
        with self._changing() as kept:
            is_first = not self.file.exists()
            first = (Grant(EVERYWHERE, f"user:{name}", "admin"),) if is_first else ()
            users = {**kept.users, name: tuple(dict.fromkeys(groups))}
            self._write(replace(kept, users=users, grants=(*kept.grants, *first)))
        return is_first

    def remove(self, name: str) -> None:
        """Remove a user with their tokens and grants. Raises ``InputError`` where there is none."""
        with self._changing() as kept:
            self._check_user(kept, name)
            users = {each: groups for each, groups in kept.users.items() if each != name}
            tokens = tuple(each for each in kept.tokens if each.user != name)
            self._write(_Kept(users, tokens, tuple(each for each in kept.grants if each.who != f"user:{name}")))

    def token(self, name: str, days: int = 90) -> Token:
        """A new token, whose ``text`` can be read only now."""
        if not 1 <= days <= 3650:
            raise InputError("A token is good for 1 to 3,650 days.", "days")
        text, now = f"kg_{secrets.token_urlsafe(32)}", self._now()
        ends = (now + timedelta(days)).isoformat(timespec="seconds")
        made = Token(secrets.token_hex(4), name, now.isoformat(timespec="seconds"), ends, _digest(text))
        with self._changing() as kept:
            self._check_user(kept, name)
            good = tuple(each for each in kept.tokens if self._is_good(each))
            self._write(replace(kept, tokens=(*good, made)))
        return replace(made, text=text)

    def revoke(self, id: str) -> None:
        """End a token at once. Raises ``InputError`` for an unknown id."""
        with self._changing() as kept:
            left = tuple(each for each in kept.tokens if each.id != id)
            if len(left) == len(kept.tokens):
                raise InputError(f"There is no token {id[:100]!r}.")
            self._write(replace(kept, tokens=left))

    def grant(self, workspace: str, who: str, role: str, where: str = "") -> Grant:
        """Let a user, a group or a claim be ``role`` in a workspace (its id), or in all (``EVERYWHERE``), in place of
        what they were there. ``where``: which documents a reader may see. Raises ``InputError``."""
        kind, colon, name = (part.strip() for part in who.partition(":"))
        who = f"{kind}{colon}{name}"
        if kind not in _KINDS or not colon or not name or (kind == "claim" and "=" not in name):
            raise InputError(f"{who[:100]!r} is nobody. Write user:NAME, group:NAME or claim:NAME=VALUE.")
        if role not in ROLES:
            raise InputError(unknown("role", role, ROLES))
        if where.strip() and role != "reader":
            raise InputError(
                f"Only a reader can be kept to a part of the documents; {role} is for all of them.", "where"
            )
        clauses_of(where)
        given = Grant(workspace, who, role, where.strip())
        with self._changing() as kept:
            if kind == "user":
                self._check_user(kept, name)
            self._write(replace(kept, grants=(*_without(kept.grants, workspace, who), given)))
        return given

    def ungrant(self, workspace: str, who: str) -> None:
        """Take away what somebody was in a workspace. Raises ``InputError`` where they were nothing."""
        with self._changing() as kept:
            left = _without(kept.grants, workspace, who)
            if len(left) == len(kept.grants):
                raise InputError(f"{who[:100]} has no grant there.")
            self._write(replace(kept, grants=left))

    def _is_good(self, token: Token) -> bool:
        return datetime.fromisoformat(token.expires) > self._now()

    def _check_user(self, kept: _Kept, name: str) -> None:
        if name not in kept.users:
            raise InputError(f"There is no user {name[:100]!r}.{did_you_mean(name, kept.users)}")

    @contextmanager
    def _changing(self) -> Any:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        with file_lock(self.file.with_suffix(".lock")):
            yield self._read()

    def _read(self) -> _Kept:
        try:
            found = self.file.stat()
        except FileNotFoundError:
            return _Kept({}, (), ())
        if self._read_at != (found.st_mtime_ns, found.st_ino):
            if is_open_to_others(found.st_mode):
                raise InputError(f"Others can read {self.file}. Run `chmod 600` on it.")
            try:
                told = json.loads(self.file.read_text("utf-8"))
                users = {str(name): tuple(map(str, groups)) for name, groups in told["users"].items()}
                tokens = tuple(Token(**each) for each in told["tokens"])
                self._kept = _Kept(users, tokens, tuple(Grant(**each) for each in told["grants"]))
            except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
                raise InputError(f"{self.file} cannot be read ({error}). Restore it from a copy.") from error
            self._read_at = (found.st_mtime_ns, found.st_ino)
        return self._kept

    def _write(self, kept: _Kept) -> None:
        """Raises ``InputError`` for what would leave nobody who may do everything: then nobody could mend that."""
        admins = [any(_is_of_all(each) for each in grants) for grants in (self._read().grants, kept.grants)]
        if admins == [True, False]:
            raise InputError("Nobody would be an admin of everything any more. Let somebody else be one first.")
        tokens = [{name: value for name, value in asdict(each).items() if name != "text"} for each in kept.tokens]
        told = {"users": kept.users, "tokens": tokens, "grants": [asdict(each) for each in kept.grants]}
        write_atomically(self.file, json.dumps(told, ensure_ascii=False, indent=1).encode())


def _worded(value: Any) -> str:
    """As a grant has it: true, false and numbers as JSON has them."""
    return value if isinstance(value, str) else json.dumps(value)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()


def _is_of_all(grant: Grant) -> bool:
    return grant.workspace == EVERYWHERE and grant.role == "admin"


def _without(grants: Sequence[Grant], workspace: str, who: str) -> tuple[Grant, ...]:
    return tuple(each for each in grants if (each.workspace, each.who) != (workspace, who))
