"""The saved queries of ``cypher/browse`` as Neo4j Browser keeps favourites, in a folder of their own."""

from __future__ import annotations

from kgplatform.query import data_folder, query_names

FOLDER = {"id": "kgplatform", "name": "kgplatform"}


def favorites() -> list[dict[str, str]]:
    """Each with the file's text, whose first line is the title, under an id that stays the same."""
    return [
        {"id": f"kgplatform-{name.removeprefix('browse/')}", "folder": FOLDER["id"], "content": _text(name)}
        for name in query_names("browse")
    ]


def saved_title(name: str) -> str:
    """What ``browse/tree`` is called: the first line of its file."""
    return _text(name).partition("\n")[0].removeprefix("// ")


def saved_statement(name: str) -> str:
    """The statement of ``browse/tree``, without what its file says of it."""
    return "\n".join(line for line in _text(name).splitlines() if not line.startswith("//"))


def _text(name: str) -> str:
    return data_folder("cypher").joinpath(*f"{name}.cypher".split("/")).read_text("utf-8").strip()
