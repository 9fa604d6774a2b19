"""The commands of ``kgplatform people``: who may do what in the workspaces of a server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from kgplatform.interfaces.cli.shared import AsJson, Home, note, settings_of
from kgplatform.interfaces.cli.workspaces import Folder, workspaces_in

if TYPE_CHECKING:
    from kgplatform.interfaces.http.team.people import People
    from kgplatform.workspaces import Workspaces

app = typer.Typer(help="Decide who may do what in the workspaces of a server.", no_args_is_help=True)

User = Annotated[str, typer.Argument(help="The user.", show_default=False)]
Place = Annotated[str, typer.Argument(metavar="WORKSPACE", help="The workspace; * for all.", show_default=False)]
Who = Annotated[
    str, typer.Argument(metavar="WHO", help="user:NAME, group:NAME or claim:NAME=VALUE.", show_default=False)
]


def _opened(folder: Folder, home: str | None) -> tuple[Workspaces, People]:
    from kgplatform.interfaces.http.team.people import PEOPLE_FILE, People

    workspaces = workspaces_in(folder, home)
    return workspaces, People(workspaces.folder / PEOPLE_FILE)


@app.command("list")
def list_(folder: Folder = None, home: Home = None, as_json: AsJson = False) -> None:
    """List users, their tokens, and what everybody may do."""
    from kgplatform.interfaces.cli.show import terminal

    workspaces, people = _opened(folder, home)
    names = workspaces.names()
    users = [(name, ", ".join(groups)) for name, groups in people.users.items()]
    tokens = [(each.id, each.user, each.expires[:10]) for each in people.tokens]
    grants = [
        (names[each.workspace], each.who, each.role, each.where) for each in people.grants if each.workspace in names
    ]
    tables: dict[str, tuple[tuple[str, ...], Sequence[tuple[str, ...]]]] = {
        "users": (("User", "Groups"), users),
        "tokens": (("Token", "User", "Expires"), tokens),
        "grants": (("Workspace", "Who", "Role", "Documents"), grants),
    }

    def show(_: object) -> None:
        for heads, rows in tables.values():
            if rows:
                terminal.table(terminal.console(), heads, rows)

    told = {
        name: [dict(zip(map(str.lower, heads), row, strict=True)) for row in rows]
        for name, (heads, rows) in tables.items()
    }
    terminal.show(as_json, tables, show, told)


@app.command()
def add(
    user: User,
    group: Annotated[list[str] | None, typer.Option("--group", help="A group of theirs. May be repeated.")] = None,
    folder: Folder = None,
    home: Home = None,
) -> None:
    """Add a user, or give one other groups."""
    is_first = _opened(folder, home)[1].add(user, group or ())
    more = ", and as the first one an admin of everything" if is_first else ""
    print(f"{user} is a user{more}. `kgplatform people token {user}` makes a token.")


@app.command()
def remove(user: User, folder: Folder = None, home: Home = None) -> None:
    """Remove a user with their tokens and grants."""
    _opened(folder, home)[1].remove(user)
    print(f"{user} is removed, with all tokens.")


@app.command()
def token(
    user: User,
    days: Annotated[int, typer.Option("--days", min=1, max=3650, help="How long it is good.")] = 90,
    folder: Folder = None,
    home: Home = None,
) -> None:
    """Make a token for a user, and print it: it is shown only now."""
    made = _opened(folder, home)[1].token(user, days)
    print(made.text)
    typer.echo(f"Token {made.id} of {user}, good until {made.expires[:10]}. It is not shown again.", err=True)


@app.command()
def revoke(
    token: Annotated[str, typer.Argument(help="The id of the token, of `kgplatform people list`.", show_default=False)],
    folder: Folder = None,
    home: Home = None,
) -> None:
    """End a token at once."""
    _opened(folder, home)[1].revoke(token)
    print(f"The token {token} is revoked.")


@app.command()
def grant(
    workspace: Place,
    who: Who,
    role: Annotated[str, typer.Argument(metavar="ROLE", help="reader, editor or admin.", show_default=False)],
    where: Annotated[
        str, typer.Option("--where", metavar="CONDITION", help="The documents that a reader may see; default: all.")
    ] = "",
    folder: Folder = None,
    home: Home = None,
) -> None:
    """Let somebody into a workspace."""
    from kgplatform.client import open_graph
    from kgplatform.interfaces.http.team.spaces import check_names, is_checked
    from kgplatform.neo4j.server import LocalNeo4j

    workspaces, people = _opened(folder, home)
    if is_checked(workspaces, workspace, where):
        settings = settings_of(home).in_home(workspaces.home(workspace))
        was_running = LocalNeo4j(settings).status().running
        try:
            with open_graph(settings, note) as graph:
                check_names(graph, where)
        finally:
            if not was_running:
                LocalNeo4j(settings, note).down()
    people.grant(workspaces.id_of(workspace), who, role, where)
    part = f", and sees the documents with {where}" if where else ""
    print(f"{who} is {role} in {'all workspaces' if workspace == '*' else workspace}{part}.")


@app.command()
def ungrant(workspace: Place, who: Who, folder: Folder = None, home: Home = None) -> None:
    """Take away what somebody may do in a workspace."""
    workspaces, people = _opened(folder, home)
    people.ungrant(workspaces.id_of(workspace), who)
    print(f"{who} may do nothing more there by that grant.")
