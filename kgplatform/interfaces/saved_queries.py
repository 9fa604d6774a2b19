"""The saved queries of ``cypher/saved``, for Neo4j Browser and the explorer.

saved_title("saved/tree")       # "The knowledge tree from the top"
"""

from __future__ import annotations

from kgplatform.query import data_folder


def saved_text(name: str) -> str:
    """The file of ``saved/tree``: a comment of a title and what it shows, and the statement."""
    return data_folder("cypher").joinpath(*f"{name}.cypher".split("/")).read_text("utf-8").strip()


def saved_title(name: str) -> str:
    """The title: the first line of the comment."""
    return saved_text(name).partition("\n")[0].removeprefix("// ")


def saved_about(name: str) -> str:
    """What it shows: the other lines of the comment."""
    _, *lines = (line.removeprefix("//").strip() for line in saved_text(name).splitlines() if line.startswith("//"))
    return " ".join(lines)


def saved_statement(name: str) -> str:
    """The statement, without its comments."""
    return "\n".join(line for line in saved_text(name).splitlines() if not line.startswith("//"))
