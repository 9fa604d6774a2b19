"""Signing in with any OpenID provider, and the sessions that follow (extra ``oidc``).

    signin = SignIn(load_provider(Path("oidc.json")))
    signin.add_to(desk)                     # /signin, /signin/back, /signout
    signin.person_of(headers, people)       # who a request's cookie stands for

The authorisation code with PKCE, state and nonce, by Authlib, which also checks the ID token's signature, issuer,
audience and times. A cookie names a session by a random number, of which only the hash is kept, in memory: a server
that starts again has people sign in again.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Any

import httpx2
from authlib.common.errors import AuthlibBaseError  # type: ignore[import-untyped]  # it ships no types
from authlib.integrations.starlette_client import OAuth  # type: ignore[import-untyped]  # as above
from fastapi import FastAPI, Request, Response
from joserfc.errors import JoseError
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from starlette.datastructures import Headers
from starlette.middleware.sessions import SessionMiddleware
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from kgplatform.concurrency.system import is_open_to_others
from kgplatform.errors import InputError
from kgplatform.interfaces.http.failures import log
from kgplatform.interfaces.http.team.people import People, Person
from kgplatform.interfaces.web_server import Json, refusal

COOKIE = "kgplatform_session"
_LONGEST, _UNUSED, _ROTATED = 12 * 3600.0, 2 * 3600.0, 900.0
"""Seconds that a session lasts at most, and unused; and after which its cookie gets another number."""
_GRACE = 30.0
"""Seconds that the number before is still good: requests that were on their way."""
_MOST = 100_000
"""Sessions that are kept; then the oldest go."""
_SIGNING_IN = 600
"""Seconds between leaving for the provider and coming back."""
_BACK = re.compile(r"/(?:w/[a-z0-9-]{1,63}/)?")
"""Where somebody may be sent after signing in: pages of this server alone."""
_SIGNATURES = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""Never "none", and none by a secret that a client may know."""


class Provider(BaseModel):
    """The file that ``serve --oidc`` is given. ``address``: where people reach this server, as the provider knows it.
    ``name_claim``: which claim names a person here; an address of mail counts only if the provider has verified it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    issuer: str = Field(pattern=r"^https?://\S+$")
    client_id: str = Field(min_length=1)
    client_secret: str = Field("", repr=False)
    address: str = Field(pattern=r"^https?://[^/\s]+$")
    scope: str = "openid profile email"
    name_claim: str = "email"
    groups_claim: str = "groups"


def load_provider(file: Path) -> Provider:
    """The provider in ``file``, which only its owner may read. Raises ``InputError``."""
    try:
        if is_open_to_others(file.stat().st_mode):
            raise InputError(f"Others can read {file}. Run `chmod 600` on it.")
        return Provider.model_validate(json.loads(file.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InputError(f"{file} cannot be read: {error}.") from error
    except ValidationError as error:
        faults = "; ".join(f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in error.errors())
        raise InputError(f"{file} cannot be used: {faults}.") from error


@dataclass(frozen=True, slots=True)
class _Session:
    name: str
    groups: tuple[str, ...]
    claims: Mapping[str, Any]
    used: float
    rotated: float
    ends: float


class Sessions:
    """Who signed in, by the hashes of their cookies' numbers. ``now``: seconds."""

    def __init__(self, now: Callable[[], float] = time.monotonic) -> None:
        self._now = now
        self._kept: dict[str, _Session] = {}

    def begin(self, name: str, groups: tuple[str, ...], claims: Mapping[str, Any]) -> str:
        """A new session; returns the number of its cookie."""
        now = self._now()
        self._kept = {key: each for key, each in self._kept.items() if self._is_good(each, now)}
        while len(self._kept) >= _MOST:
            del self._kept[next(iter(self._kept))]
        return self._keep(_Session(name, groups, claims, now, now, now + _LONGEST))

    def get(self, number: str) -> _Session | None:
        """The session of a cookie; None where it has ended. It counts as used."""
        key, now = _hash(number), self._now()
        found = self._kept.get(key)
        if found is None or not self._is_good(found, now):
            self._kept.pop(key, None)
            return None
        self._kept[key] = found = replace(found, used=now)
        return found

    def rotated(self, number: str) -> str | None:
        """Another number for a session whose own is old; None where that is still young, or there is no session."""
        found, now = self.get(number), self._now()
        if found is None or now - found.rotated < _ROTATED or found.ends <= now + _GRACE:
            return None
        self._kept[_hash(number)] = replace(found, ends=now + _GRACE)
        return self._keep(replace(found, rotated=now))

    def end(self, number: str) -> None:
        """End a session."""
        self._kept.pop(_hash(number), None)

    def _keep(self, session: _Session) -> str:
        number = secrets.token_urlsafe(32)
        self._kept[_hash(number)] = session
        return number

    def _is_good(self, session: _Session, now: float) -> bool:
        return now < session.ends and now - session.used < _UNUSED


class SignIn:
    """Signing in with ``provider``."""

    def __init__(self, provider: Provider, sessions: Sessions | None = None) -> None:
        self.provider, self.sessions = provider, sessions or Sessions()
        self._client = OAuth().register(
            "provider",
            client_id=provider.client_id,
            client_secret=provider.client_secret or None,
            server_metadata_url=f"{provider.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={"scope": provider.scope, "code_challenge_method": "S256"},
        )
        self._is_secure = provider.address.startswith("https://")

    def person_of(self, headers: Headers, people: People) -> Person | None:
        """Who the cookie of a request stands for."""
        number = _cookie(headers)
        found = self.sessions.get(number) if number else None
        if found is None:
            return None
        return people.signed_in(found.name, found.groups, found.claims, f"session {_hash(number)[:8]}")

    def add_to(self, desk: FastAPI) -> None:
        """The addresses for signing in and out."""

        @desk.get("/signin")
        async def signin(request: Request, back: str = "/") -> Response:
            request.session.clear()
            request.session["back"] = back if _BACK.fullmatch(back) else "/"
            try:
                await self._metadata()
            except httpx2.HTTPError:
                return _silent()
            redirect: Response = await self._client.authorize_redirect(request, f"{self.provider.address}/signin/back")
            return redirect

        @desk.get("/signin/back")
        async def back(request: Request) -> Response:
            to = request.session.get("back", "/")
            try:
                await self._metadata()
                options = {
                    "iss": {"essential": True, "value": self.provider.issuer},
                    "aud": {"essential": True, "value": self.provider.client_id},
                }
                token = await self._client.authorize_access_token(request, claims_options=options, leeway=30)
                name, groups, claims = self._named(dict(token.get("userinfo") or {}))
            except (AuthlibBaseError, JoseError, KeyError, ValueError) as error:
                log.warning("somebody could not be signed in: %s", type(error).__name__)
                message = "You could not be signed in. Go back, and try again; if that fails again, ask an admin."
                return refusal(403, "SignInError", str(error) if isinstance(error, _NoNameError) else message)
            except httpx2.HTTPError:
                return _silent()
            finally:
                request.session.clear()
            request.scope["kgplatform.signed_in"] = name
            if old := _cookie(request.headers):
                self.sessions.end(old)  # nobody goes on with a number that somebody else may have put there
            return self._with_cookie(RedirectResponse(to, 303), self.sessions.begin(name, groups, claims))

        @desk.post("/api/signout")
        async def signout(request: Request) -> Response:
            if number := _cookie(request.headers):
                self.sessions.end(number)
            response = Json({"signed_out": True})
            response.delete_cookie(COOKIE, secure=self._is_secure, httponly=True, samesite="lax")
            return response

        desk.add_middleware(_OfPath, prefix="/signin", inner=self._with_state)

    def renew(self, request: Request, response: Response) -> Response:
        """``response``, with another number for the session of ``request`` where it is time for that."""
        if (number := _cookie(request.headers)) and (new := self.sessions.rotated(number)):
            self._with_cookie(response, new)
        return response

    def _with_state(self, app: ASGIApp) -> ASGIApp:
        """What Authlib keeps between leaving and coming back: in a signed cookie, good for these pages alone."""
        return SessionMiddleware(
            app,
            secret_key=secrets.token_urlsafe(32),
            session_cookie="kgplatform_signin",
            path="/signin",
            max_age=_SIGNING_IN,
            https_only=self._is_secure,
        )

    async def _metadata(self) -> None:
        told = await self._client.load_server_metadata()
        offered = told.get("id_token_signing_alg_values_supported") or ["RS256"]
        told["id_token_signing_alg_values_supported"] = [each for each in offered if each in _SIGNATURES]

    def _named(self, claims: dict[str, Any]) -> tuple[str, tuple[str, ...], dict[str, Any]]:
        claim = self.provider.name_claim
        name = claims.get(claim)
        if not isinstance(name, str) or not name:
            raise _NoNameError(f"The provider does not say who you are: the claim {claim} is missing. Ask an admin.")
        if claim == "email" and claims.get("email_verified") is not True:
            raise _NoNameError("Your address of mail is not verified. Verify it with your provider, and try again.")
        groups = claims.get(self.provider.groups_claim) or ()
        return name, tuple(map(str, groups if isinstance(groups, list | tuple) else [groups])), claims

    def _with_cookie(self, response: Response, number: str) -> Response:
        response.set_cookie(
            COOKIE, number, max_age=int(_LONGEST), secure=self._is_secure, httponly=True, samesite="lax"
        )
        return response


class _NoNameError(ValueError):
    """What people are told."""


class _OfPath:
    """Middleware: puts ``inner`` round requests to paths that begin with ``prefix``."""

    def __init__(self, app: ASGIApp, prefix: str, inner: Callable[[ASGIApp], ASGIApp]) -> None:
        self._app, self._prefix, self._inner = app, prefix, inner(app)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        is_meant = scope["type"] == "http" and str(scope["path"]).startswith(self._prefix)
        await (self._inner if is_meant else self._app)(scope, receive, send)


def _silent() -> Response:
    return refusal(502, "SignInError", "The provider does not answer. Try again in a minute, or send a token.")


def _cookie(headers: Headers) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(COOKIE)
    except CookieError:
        return ""
    return found.value if found else ""


def _hash(number: str) -> str:
    return hashlib.sha256(number.encode("utf-8", "surrogateescape")).hexdigest()
