"""A server of workspaces, on a free port of loopback, with people who have rights in them."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest

from kgplatform import connect
from kgplatform.interfaces.http.parts import Limits
from kgplatform.interfaces.http.team.desk import make_desk
from kgplatform.interfaces.http.team.host import Host, guarded
from kgplatform.interfaces.http.team.people import PEOPLE_FILE, People
from kgplatform.interfaces.http.team.signin import SignIn
from kgplatform.interfaces.web_server import LOOPBACK, QuietServer, address_of, listen
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.settings import load_settings
from kgplatform.sources.objects import Ingestible
from kgplatform.workspaces import Workspaces

TOKEN = "the-server-s-own-token-of-the-test"


@dataclass(frozen=True, slots=True)
class Team:
    """``address`` is where it is served; ``host`` is the application."""

    host: Host
    address: str

    def client(self, token: str | None = None, workspace: str = "") -> httpx.Client:
        """A client of somebody, whose paths begin in ``workspace``."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        base = f"{self.address}/w/{workspace}" if workspace else self.address
        return httpx.Client(base_url=base, headers=headers, timeout=120)

    def token(self, name: str, *grants: tuple[str, str] | tuple[str, str, str], groups: tuple[str, ...] = ()) -> str:
        """A token of a new user, who is let in by ``grants``: workspace, role, and the condition of a part."""
        people = self.host.people
        people.add(name, groups)
        for workspace, role, *where in grants:
            people.grant(self.host.workspaces.id_of(workspace), f"user:{name}", role, *where)
        return people.token(name).text


@contextmanager
def team(folder: Path, *, signin: SignIn | None = None, port: int = 0, **options: Any) -> Iterator[Team]:
    """Workspaces in ``folder``, served; afterwards all of it has ended."""
    workspaces, settings = Workspaces(folder), load_settings(home=folder / "own", embedder="hash:64")
    people = People(folder / PEOPLE_FILE)
    sessions = (lambda headers: signin.person_of(headers, people)) if signin else None
    options = {"token": TOKEN, **options}
    people.add("owner")  # the first one may do everything
    host = Host(workspaces, settings, people, desk=partial(make_desk, signin=signin), sessions=sessions, **options)
    with listen("127.0.0.1", port) as listening:
        server = QuietServer(guarded(host, Limits(), LOOPBACK, ()), grace=5, lifespan=True)
        thread = threading.Thread(target=server.run, args=([listening],), name="team")
        thread.start()
        try:
            yield Team(host, address_of(listening))
        finally:
            server.should_exit = True
            thread.join()


@contextmanager
def quick_servers_of(java: Path) -> Iterator[None]:
    """The servers that a module's tests start run with ``java``, as with the fixture ``quick_servers``."""
    defaults = LocalNeo4j.__init__.__kwdefaults__
    assert defaults is not None
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(defaults, "java", java)
        yield


def fill(workspaces: Workspaces, name: str, given: Ingestible, **how: Any) -> None:
    """Make a workspace with a graph, and stop its server."""
    workspaces.create(name)
    home = workspaces.home(name)
    with connect(home=home, embedder="hash:64") as kg:
        kg.ingest(given, **{"extractor": "local", **how})
        kg.build_tree()
        LocalNeo4j(kg.settings).down()
