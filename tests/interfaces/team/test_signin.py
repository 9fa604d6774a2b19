"""Signing in with an OpenID provider: a real one in a process of its own, and one that forges."""

import base64
import hmac
import json
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from pytest_httpserver import HTTPServer
from starlette.datastructures import Headers
from teams import Team, team
from werkzeug import Request, Response

from kgplatform.errors import InputError
from kgplatform.interfaces.http.team.people import People
from kgplatform.interfaces.http.team.signin import COOKIE, Provider, Sessions, SignIn, load_provider

CLIENT = "kgplatform-of-the-test"


def free_port() -> int:
    """A port that nobody has now."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


@contextmanager
def signed_by(issuer: str, folder: Path, **more: Any) -> Iterator[Team]:
    """A server that has people sign in with ``issuer``."""
    port = free_port()
    told = {"issuer": issuer, "client_id": CLIENT, "client_secret": "s3cret", "address": f"http://127.0.0.1:{port}"}
    signin = SignIn(Provider(**{**told, **more}))
    with team(folder, signin=signin, port=port, token=None) as made:
        yield made


@pytest.fixture
def provider() -> Iterator[str]:
    """A real provider, in a process of its own."""
    port = free_port()
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-m", "oidc_provider_mock", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    address = f"http://localhost:{port}"
    try:
        for _ in range(300):
            try:
                httpx.get(address)
                break
            except httpx.TransportError:
                time.sleep(0.1)
        yield address
    finally:
        process.kill()
        process.wait()


def sign_in(client: httpx.Client, provider: str, name: str, back: str = "/") -> httpx.Response:
    """Go to the provider as ``name`` and come back; what the server answers then."""
    away = client.get("/signin", params={"back": back})
    assert away.status_code == 302, away.text
    asked = {key: value for key, (value,) in parse_qs(urlsplit(away.headers["location"]).query).items()}
    assert asked["response_type"] == "code" and asked["code_challenge_method"] == "S256"
    assert asked["nonce"] and asked["state"] and "s3cret" not in away.headers["location"]
    returned = httpx.post(away.headers["location"], data={"sub": name})
    assert returned.status_code == 302, returned.text
    return client.get(returned.headers["location"])


def test_somebody_signs_in_and_out(provider: str, tmp_path: Path) -> None:
    claims = {"email": "ann@example.org", "email_verified": True, "groups": ["legal"], "department": "law"}
    httpx.put(f"{provider}/users/ann", json=claims)
    httpx.put(f"{provider}/users/eve", json={"email": "ann@example.org", "email_verified": False})
    with signed_by(provider, tmp_path) as made, made.client() as client, made.client() as other:
        host = made.host
        host.workspaces.create("papers")
        host.people.grant(host.workspaces.id_of("papers"), "claim:department=law", "reader")
        host.people.grant(host.workspaces.id_of("papers"), "group:legal", "editor")
        assert client.get("/api/me").status_code == 401, "a server where people sign in is open to nobody else"
        client.cookies.set(COOKIE, "chosen-by-somebody-else")
        back = sign_in(client, provider, "ann", "/w/papers/")
        assert (back.status_code, back.headers["location"]) == (303, "/w/papers/")
        cookie = next(each for each in back.headers.get_list("set-cookie") if each.startswith(COOKIE))
        assert re.search("HttpOnly", cookie, re.I) and re.search("SameSite=lax", cookie, re.I)
        assert "chosen-by-somebody-else" not in cookie
        client.cookies.delete(COOKIE, domain="")
        number = re.match(rf"{COOKIE}=([^;]+)", cookie)
        assert number is not None
        me = client.get("/api/me").json()
        assert (me["name"], me["workspaces"][0]["role"], me["is_admin"]) == ("ann@example.org", "editor", False)
        for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
            assert client.post("/api/workspaces", json={"name": "x"}, headers=headers).status_code == 403
        again = client.get("/signin/back", params={"code": "x", "state": "y"})
        assert again.status_code == 403, "nobody comes back twice"
        assert sign_in(other, provider, "eve").status_code == 403, "the address is not verified"
        assert other.get("/api/me").status_code == 401
        assert client.post("/api/signout").status_code == 200
        replayed = httpx.get(f"{made.address}/api/me", headers={"Cookie": f"{COOKIE}={number[1]}"})
        assert replayed.status_code == 401, "a session that was ended is over for its cookie too"


def test_nobody_is_sent_elsewhere(provider: str, tmp_path: Path) -> None:
    httpx.put(f"{provider}/users/ann", json={"email": "ann@example.org", "email_verified": True})
    with signed_by(provider, tmp_path) as made:
        for back in (
            *("https://evil.example", "//evil.example", "/\\evil.example", "/w/../../evil", "/w/x", "http:/evil", ""),
            *("javascript:alert(1)", "/w/x/\r\nSet-Cookie: a=b", "/%2f/evil.example", "/w/X/", "/w/x/?next=//evil"),
            "/@evil.example",
        ):
            with made.client() as client:
                assert sign_in(client, provider, "ann", back).headers["location"] == "/", back


KEY, OTHER_KEY = RSAKey.generate_key(2048, {"kid": "good"}), RSAKey.generate_key(2048, {"kid": "good"})


@dataclass(slots=True)
class Forger:
    """A provider whose ID tokens ``forge`` makes of the right claims."""

    server: HTTPServer
    forge: Callable[[dict[str, Any]], str] = field(
        default=lambda claims: jwt.encode({"alg": "RS256", "kid": "good"}, claims, KEY)
    )
    claims: dict[str, Any] = field(default_factory=dict)
    nonce: str = ""
    algorithms: tuple[str, ...] = ("RS256", "none", "HS256")

    @property
    def issuer(self) -> str:
        """Its address."""
        return self.server.url_for("").rstrip("/")

    def serve(self) -> None:
        """Answer as a provider does."""
        self.server.expect_request("/.well-known/openid-configuration").respond_with_json(
            {
                "issuer": self.issuer,
                "authorization_endpoint": f"{self.issuer}/authorize",
                "token_endpoint": f"{self.issuer}/token",
                "jwks_uri": f"{self.issuer}/jwks",
                "id_token_signing_alg_values_supported": list(self.algorithms),
            }
        )
        self.server.expect_request("/jwks").respond_with_json({"keys": [KEY.as_dict(private=False)]})
        self.server.expect_request("/token").respond_with_handler(self._token)

    def _token(self, request: Request) -> Response:
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "sub": "ann", "iat": now, "exp": now + 300, "nonce": self.nonce}
        claims |= {"email": "ann@example.org", "email_verified": True}
        claims = {name: value for name, value in {**claims, **self.claims}.items() if value is not None}
        told = {"access_token": "x", "token_type": "Bearer", "expires_in": 300, "id_token": self.forge(claims)}
        return Response(json.dumps(told), content_type="application/json")

    def comes_back(self, client: httpx.Client, **more: str) -> httpx.Response:
        """Go away and come back with a code, or with ``more``."""
        location = client.get("/signin").headers["location"]
        asked = {key: value for key, (value,) in parse_qs(urlsplit(location).query).items()}
        self.nonce = self.nonce or asked["nonce"]
        return client.get("/signin/back", params={"code": "c", "state": asked["state"], **more})


def _part(told: bytes | dict[str, Any]) -> str:
    written = told if isinstance(told, bytes) else json.dumps(told).encode()
    return base64.urlsafe_b64encode(written).decode().rstrip("=")


def unsigned(claims: dict[str, Any]) -> str:
    """A token without a signature."""
    return f"{_part({'alg': 'none'})}.{_part(claims)}."


def by_public_key(claims: dict[str, Any]) -> str:
    """A token signed with what everybody knows, as if that were a secret."""
    told = f"{_part({'alg': 'HS256', 'kid': 'good'})}.{_part(claims)}"
    return f"{told}.{_part(hmac.digest(KEY.as_pem(private=False), told.encode(), 'sha256'))}"


FORGED: dict[str, dict[str, Any]] = {
    "another audience": {"claims": {"aud": "another-client"}},
    "no audience": {"claims": {"aud": None}},
    "another issuer": {"claims": {"iss": "https://evil.example"}},
    "no issuer": {"claims": {"iss": None}},
    "expired": {"claims": {"exp": int(time.time()) - 3600}},
    "never expires": {"claims": {"exp": None}},
    "of the future": {"claims": {"iat": int(time.time()) + 7200, "nbf": int(time.time()) + 7200}},
    "another nonce": {"claims": {"nonce": "another"}},
    "no nonce": {"claims": {"nonce": None}},
    "no subject": {"claims": {"sub": None}},
    "no signature": {"forge": unsigned},
    "algorithm none in capitals": {"forge": lambda claims: unsigned(claims).replace("bm9uZ", "Tm9uZ")},
    "the public key as a secret": {"forge": by_public_key},
    "another key": {"forge": lambda claims: jwt.encode({"alg": "RS256", "kid": "good"}, claims, OTHER_KEY)},
    "a key that it brings itself": {
        "forge": lambda claims: jwt.encode({"alg": "RS256", "jwk": OTHER_KEY.as_dict(private=False)}, claims, OTHER_KEY)
    },
    "claims changed after signing": {
        "forge": lambda claims: ".".join(
            [
                (parts := jwt.encode({"alg": "RS256", "kid": "good"}, claims, KEY).split("."))[0],
                unsigned({**claims, "email": "root@example.org"}).split(".")[1],
                parts[2],
            ]
        )
    },
    "no token": {"forge": lambda claims: ""},
    "no JWT": {"forge": lambda claims: "x.y"},
    "no address of mail": {"claims": {"email": None}},
    "an address that is not verified": {"claims": {"email_verified": False}},
    "an address verified in words": {"claims": {"email_verified": "true"}},
    "a list of addresses": {"claims": {"email": ["ann@example.org"]}},
}


@pytest.fixture(scope="module")
def forging(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Team, Forger]]:
    """A server and its provider, which forges."""
    with HTTPServer() as server:
        forger = Forger(server)
        forger.serve()
        with signed_by(forger.issuer, tmp_path_factory.mktemp("forged")) as made:
            yield made, forger


@pytest.fixture
def forger(forging: tuple[Team, Forger]) -> Iterator[tuple[Team, Forger]]:
    """The same, which forges nothing yet."""
    made, found = forging
    honest = Forger(found.server)
    found.forge, found.claims, found.nonce = honest.forge, {}, ""
    yield made, found


@pytest.mark.parametrize("kind", FORGED)
def test_a_forged_token_lets_nobody_in(forger: tuple[Team, Forger], kind: str) -> None:
    made, provider = forger
    for name, value in FORGED[kind].items():
        setattr(provider, name, value)
    with made.client() as client:
        back = provider.comes_back(client)
        assert back.status_code == 403, back.text
        assert COOKIE not in client.cookies and not any(COOKIE in each for each in back.headers.get_list("set-cookie"))
        assert client.get("/api/me").status_code == 401


def test_a_provider_that_does_not_answer_is_told_as_such(tmp_path: Path) -> None:
    with signed_by(f"http://127.0.0.1:{free_port()}", tmp_path) as made, made.client() as client:
        refused = client.get("/signin")
        assert (refused.status_code, refused.json()["error"]["kind"]) == (502, "SignInError")


def test_the_honest_one_lets_somebody_in(forger: tuple[Team, Forger]) -> None:
    made, provider = forger
    with made.client() as client, made.client() as victim:
        assert provider.comes_back(client).status_code == 303
        assert client.get("/api/me").json()["name"] == "ann@example.org"
        provider.nonce = ""
        for more in ({"state": ""}, {"state": "x"}, {"code": ""}, {"error": "access_denied"}):
            assert provider.comes_back(client, **more).status_code == 403, more
        location = client.get("/signin").headers["location"]
        state = parse_qs(urlsplit(location).query)["state"][0]
        assert victim.get("/signin/back", params={"code": "c", "state": state}).status_code == 403, "another browser's"
        for _ in range(2):
            last = client.get("/signin/back", params={"code": "c", "state": state})
        assert last.status_code == 403, "twice"


def test_a_made_up_cookie_stands_for_nobody(tmp_path: Path) -> None:
    signin = SignIn(Provider(issuer="http://x", client_id="x", address="http://localhost"))
    signin.sessions.begin("ann", (), {})
    for cookie in (
        *("", "x", "x" * 5000, "\x00", '"', "a; b", COOKIE, "eyJhbGciOiJub25lIn0.e30.", "../../people.json"),
        *("' OR 1=1 --", "null", "true", "0", "%00", "ann@example.org", "admin", "é"),
    ):
        headers = Headers(raw=[(b"cookie", f"{COOKIE}={cookie}".encode())])
        assert signin.person_of(headers, People(tmp_path / "people.json")) is None, cookie


def test_sessions_end_and_change_their_numbers() -> None:
    now = 0.0
    sessions = Sessions(lambda: now)
    first = sessions.begin("ann", (), {})
    assert sessions.rotated(first) is None, "it is young"
    now += 1000
    second = sessions.rotated(first)
    assert second and second != first
    assert sessions.get(first) and sessions.get(second), "requests were on their way"
    assert sessions.rotated(first) is None, "the old number makes no more new ones"
    now += 31
    assert sessions.get(first) is None
    for _ in range(100):
        now += 7000
        if sessions.get(second) is None:
            break
    assert 12 * 3600 <= now < 12 * 3600 + 7001 + 1031, "it lasts twelve hours, however much it is used"
    third = sessions.begin("ann", (), {})
    now += 7201
    assert sessions.get(third) is None, "unused for two hours"


def test_the_provider_s_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    file = tmp_path / "oidc.json"
    good = {"issuer": "https://login.example.org", "client_id": "kg", "address": "https://kg.example.org"}
    file.write_text(json.dumps(good), "utf-8")
    file.chmod(0o644)
    with pytest.raises(InputError, match="chmod 600"):
        load_provider(file)
    file.chmod(0o600)
    assert load_provider(file).name_claim == "email"
    for wrong in ({"issuer": "login"}, {"address": "https://kg.example.org/path"}, {"secret": "x"}, {"client_id": ""}):
        file.write_text(json.dumps({**good, **wrong}), "utf-8")
        with pytest.raises(InputError, match="cannot be used"):
            load_provider(file)
    assert "s3cret" not in repr(Provider(**good, client_secret="s3cret"))
