"""The commands of ``kgplatform workspaces``."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kgplatform.interfaces.cli.shared import AsJson, Home, note, settings_of

if TYPE_CHECKING:
    from kgplatform.workspaces import Workspace, Workspaces

app = typer.Typer(help="Keep several graphs apart, each with its own database.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The workspace.", show_default=False)]
Folder = Annotated[
    Path | None,
    typer.Option("--folder", help="The folder of the workspaces. Default: `workspaces` in the home folder."),
]


def workspaces_in(folder: Path | None, home: str | None) -> Workspaces:
    """The workspaces in ``folder``, or those of ``home``."""
    from kgplatform.settings import WORKSPACES
    from kgplatform.workspaces import Workspaces

    if folder is None:
        folder = settings_of(home).model_copy(update={"workspace": None}).home_folder / WORKSPACES
    return Workspaces(folder.expanduser().absolute())


@app.command("list")
def list_(folder: Folder = None, home: Home = None, as_json: AsJson = False) -> None:
    """List the workspaces."""
    from kgplatform.interfaces.cli.show import terminal

    def show(found: list[Workspace]) -> None:
        rows = [(each.name, each.created[:10], "archived" if each.archived else "", str(each.home)) for each in found]
        terminal.table(terminal.console(), ("Name", "Created", "", "Home"), rows)
        if not rows:
            note("There are none. `kgplatform workspaces create NAME` makes one.")

    found = workspaces_in(folder, home).all()
    terminal.show(as_json, found, show, {"workspaces": found})


@app.command()
def create(name: Name, folder: Folder = None, home: Home = None) -> None:
    """Make a new, empty workspace."""
    made = workspaces_in(folder, home).create(name)
    print(f"Created {made.name}. Use it with --workspace {made.name}, or --home {made.home}.")


@app.command()
def rename(
    name: Name,
    new: Annotated[str, typer.Argument(help="Its new name.", show_default=False)],
    folder: Folder = None,
    home: Home = None,
) -> None:
    """Give a workspace another name; its server is stopped for that."""
    workspaces_in(folder, home).rename(name, new)
    print(f"{name} is called {new} now.")


@app.command()
def archive(
    name: Name,
    restore: Annotated[bool, typer.Option("--restore", help="Let people open it again.")] = False,
    folder: Folder = None,
    home: Home = None,
) -> None:
    """Stop a workspace, and let nobody open it. Its graph stays on disk."""
    workspaces_in(folder, home).archive(name, archived=not restore)
    print(f"{name} can be opened again." if restore else f"{name} is archived. `archive {name} --restore` opens it.")


@app.command()
def delete(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    folder: Folder = None,
    home: Home = None,
) -> None:
    """Remove a workspace with its graph, its uploads and its caches, for ever."""
    found = workspaces_in(folder, home)
    there = found.get(name)
    if not yes:
        typer.confirm(f"Delete {name} and all that is in {there.home}?", abort=True)
    print(f"Deleted {name} ({found.delete(name) / 1e6:,.0f} MB).")
