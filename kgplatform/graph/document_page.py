"""The documents of a graph by the page, for a person who has thousands of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from kgplatform.errors import InputError
from kgplatform.graph.info import DocumentInfo
from kgplatform.neo4j.store import Store
from kgplatform.text import tidy, unknown

DocumentOrder = Literal["title", "file", "added", "characters", "passages", "facts", "failed"]
ORDERS: tuple[DocumentOrder, ...] = ("title", "file", "added", "characters", "passages", "facts", "failed")
"""What documents can be sorted by."""


@dataclass(frozen=True, slots=True)
class DocumentRow(DocumentInfo):
    """A document, how many ``facts`` are stated in it, and at most three reasons why passages of it failed."""

    facts: int = 0
    failures: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DocumentPage:
    """Some documents, and how many there are in all."""

    documents: tuple[DocumentRow, ...]
    total: int


def document_page(
    store: Store, text: str = "", sort: str = "title", *, descending: bool = False, skip: int = 0, limit: int = 100
) -> DocumentPage:
    """Documents whose title or file has ``text`` in it, ``limit`` of them after the first ``skip``.

    Raises ``InputError`` for an order that there is not, and for numbers below 0.
    """
    if sort not in ORDERS:
        raise InputError(unknown("order", sort, ORDERS))
    if skip < 0 or limit < 0:
        raise InputError("The page's start and length must be 0 or more.")
    (row,) = store.read(
        "graph/document_page", text=tidy(text).lower(), sort=sort, descending=descending, skip=skip, limit=limit
    )
    rows = (DocumentRow(**{**each, "failures": tuple(each["failures"])}) for each in row["documents"])
    return DocumentPage(tuple(rows), row["total"])
