"""What a host answers outside of its workspaces: who somebody is, which workspaces there are; and for admins people,
tokens, grants and the log."""

from __future__ import annotations

from dataclasses import asdict
from importlib.metadata import version
from typing import TYPE_CHECKING, Annotated, Any

import anyio.to_thread
from fastapi import Depends, FastAPI, Query, Request, Response
from pydantic import Field
from starlette.responses import RedirectResponse

from kgplatform.interfaces.http.app import EXPLORER, ExplorerFiles
from kgplatform.interfaces.http.failures import HANDLERS, HttpRequestError, Reporting, errors
from kgplatform.interfaces.http.parts import Sent
from kgplatform.interfaces.http.team.people import SIGN_IN
from kgplatform.interfaces.http.team.spaces import is_checked
from kgplatform.interfaces.web_server import Json

if TYPE_CHECKING:
    from kgplatform.interfaces.http.team.host import Host
    from kgplatform.interfaces.http.team.people import Person
    from kgplatform.interfaces.http.team.signin import SignIn


class WorkspaceBody(Sent):
    """A workspace."""

    name: str = Field(max_length=100)


class ChangeBody(Sent):
    """What is to become of a workspace."""

    name: str | None = Field(None, max_length=100, description="Its new name.")
    archived: bool | None = Field(None, description="Whether it is kept on disk and opened by nobody.")


class UserBody(Sent):
    """A user."""

    name: str = Field(max_length=200)
    groups: list[str] = Field([], max_length=1000)


class TokenBody(Sent):
    """A token of a user."""

    user: str = Field(max_length=200)
    days: int = Field(90, description="How long it is good.")


class WhoBody(Sent):
    """Somebody in a workspace."""

    workspace: str = Field(max_length=100, description="Its name; `*` for all.")
    who: str = Field(max_length=500, description="`user:NAME`, `group:NAME` or `claim:NAME=VALUE`.")


class GrantBody(WhoBody):
    """What somebody is to be in a workspace."""

    role: str = Field(max_length=20, description="reader, editor or admin.")
    where: str = Field("", max_length=10_000, description="Which documents a reader may see; empty for all.")


def _person(request: Request) -> Person:
    person: Person | None = request.scope.get("kgplatform.person")
    if person is None:
        raise HttpRequestError(401, "TokenError", SIGN_IN)
    return person


def _admin(request: Request) -> Person:
    person = _person(request)
    if request.method not in ("GET", "HEAD") and request.app.state.read_only:
        raise HttpRequestError(403, "ReadOnlyError", "This server is read-only.")
    if not person.is_admin:
        raise HttpRequestError(403, "RightError", "Only an admin of the server may do that.")
    return person


Somebody = Annotated["Person", Depends(_person)]
Admin = Annotated["Person", Depends(_admin)]


def make_desk(host: Host, signin: SignIn | None = None) -> FastAPI:
    """The application; with ``signin`` people can sign in with a provider."""
    desk = FastAPI(
        title="kgplatform",
        version=version("kgplatform"),
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers=HANDLERS,
    )
    desk.state.read_only = host.read_only
    _add_pages(desk)
    if signin is not None:
        signin.add_to(desk)
    _add_workspaces(desk, host, signin)
    _add_people(desk, host)
    desk.add_middleware(Reporting)
    return desk


def _add_pages(desk: FastAPI) -> None:
    files = ExplorerFiles(directory=EXPLORER)

    @desk.get("/")
    async def chooser(request: Request) -> Response:
        return await files.get_response("team.html", request.scope)

    @desk.get("/w/{name}")
    async def without_slash(name: str) -> Response:
        return RedirectResponse(f"/w/{name}/")

    @desk.get("/w/{name}/")
    async def page(name: str, request: Request) -> Response:
        return await files.get_response("index.html", request.scope)

    @desk.get("/w/{name}/docs")
    async def reference(name: str) -> Response:
        return RedirectResponse("./#/http")

    @desk.get("/favicon.ico")
    async def icon() -> Response:
        return Response(status_code=204)

    desk.mount("/w/{name}/static", files)
    desk.mount("/static", files)


def _add_workspaces(desk: FastAPI, host: Host, signin: SignIn | None) -> None:
    @desk.get("/api/signin")
    async def ways() -> Response:
        return Json({"provider": signin and signin.provider.issuer})

    @desk.get("/api/me")
    async def me(request: Request, person: Somebody) -> Response:
        def told() -> dict[str, Any]:
            rights = ((each, person.right_in(each.id)) for each in host.workspaces.all())
            spaces = [
                {"name": each.name, "role": right.role, "is_part": bool(right.where), "archived": each.archived}
                for each, right in rights
                if right is not None and (person.is_admin or not each.archived)
            ]
            is_session = person.by.startswith("session")
            return {"name": person.name, "is_admin": person.is_admin, "is_session": is_session, "workspaces": spaces}

        response = Json(await anyio.to_thread.run_sync(told))
        return signin.renew(request, response) if signin else response

    @desk.post("/api/workspaces", responses=errors(400, 403))
    async def create(body: WorkspaceBody, person: Admin) -> Response:
        made = await anyio.to_thread.run_sync(host.workspaces.create, body.name)
        return Json({"name": made.name, "created": made.created}, 201)

    @desk.post("/api/workspaces/{name}", responses=errors(400, 403))
    async def change(name: str, body: ChangeBody, person: Admin) -> Response:
        found = await anyio.to_thread.run_sync(host.workspaces.get, name)
        async with host.spaces.closed(found.id):
            if body.archived is not None:
                await anyio.to_thread.run_sync(lambda: host.workspaces.archive(name, archived=bool(body.archived)))
            if body.name is not None:
                await anyio.to_thread.run_sync(host.workspaces.rename, name, body.name)
        found = await anyio.to_thread.run_sync(host.workspaces.get, body.name or name)
        return Json({"name": found.name, "created": found.created, "archived": found.archived})

    @desk.delete("/api/workspaces/{name}", responses=errors(400, 403))
    async def delete(name: str, person: Admin) -> Response:
        found = await anyio.to_thread.run_sync(host.workspaces.get, name)
        async with host.spaces.closed(found.id):
            size = await anyio.to_thread.run_sync(host.workspaces.delete, name)
        return Json({"removed": name, "bytes": size})


def _add_people(desk: FastAPI, host: Host) -> None:
    people = host.people

    @desk.get("/api/people", responses=errors(403))
    async def all_(person: Admin) -> Response:
        def told() -> dict[str, Any]:
            users = [{"name": name, "groups": groups} for name, groups in people.users.items()]
            tokens = [
                {name: getattr(each, name) for name in ("id", "user", "created", "expires")} for each in people.tokens
            ]
            names = host.workspaces.names()
            grants = [
                asdict(each) | {"workspace": names[each.workspace]} for each in people.grants if each.workspace in names
            ]
            return {"users": users, "tokens": tokens, "grants": grants}

        return Json(await anyio.to_thread.run_sync(told))

    @desk.post("/api/people/users", responses=errors(400, 403))
    async def add(body: UserBody, person: Admin) -> Response:
        is_first = await anyio.to_thread.run_sync(people.add, body.name, body.groups)
        token = await anyio.to_thread.run_sync(people.token, body.name) if is_first else None
        return Json({"name": body.name, "groups": body.groups, "token": token and token.text}, 201)

    @desk.delete("/api/people/users/{name}", responses=errors(400, 403))
    async def remove(name: str, person: Admin) -> Response:
        await anyio.to_thread.run_sync(people.remove, name)
        return Json({"removed": name})

    @desk.post("/api/people/tokens", responses=errors(400, 403))
    async def token(body: TokenBody, person: Admin) -> Response:
        made = await anyio.to_thread.run_sync(people.token, body.user, body.days)
        return Json({"id": made.id, "user": made.user, "expires": made.expires, "token": made.text}, 201)

    @desk.delete("/api/people/tokens/{id}", responses=errors(400, 403))
    async def revoke(id: str, person: Admin) -> Response:
        await anyio.to_thread.run_sync(people.revoke, id)
        return Json({"revoked": id})

    @desk.post("/api/people/grants", responses=errors(400, 403))
    async def grant(body: GrantBody, person: Admin) -> Response:
        if await anyio.to_thread.run_sync(is_checked, host.workspaces, body.workspace, body.where):
            await host.spaces.check(host.workspaces.get(body.workspace), body.where)
        made = await anyio.to_thread.run_sync(
            lambda: people.grant(host.workspaces.id_of(body.workspace), body.who, body.role, body.where)
        )
        return Json(asdict(made) | {"workspace": body.workspace}, 201)

    @desk.post("/api/people/grants/remove", responses=errors(400, 403))
    async def ungrant(body: WhoBody, person: Admin) -> Response:
        await anyio.to_thread.run_sync(lambda: people.ungrant(host.workspaces.id_of(body.workspace), body.who))
        return Json({"removed": body.who})

    @desk.get("/api/audit", responses=errors(403))
    async def audit(person: Admin, limit: Annotated[int, Query(ge=1, le=10_000)] = 200) -> Response:
        return Json({"lines": await anyio.to_thread.run_sync(host.audit.last, limit)})
