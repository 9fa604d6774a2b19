"""A graph that is there already, adopted beside the documents.

    text = kg.adopt.propose("neo4j://localhost:7687")      # a mapping, to be edited
    kg.adopt.ingest("adopt.yaml")                          # its rows are documents from here on
    kg.adopt.refresh()                                     # what changed since
    kg.adopt.forget()                                      # and all of it is gone again

User name and password of the other server are settings (``adopt_username``, ``adopt_password``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

from kgplatform.adopt.mapping import Added, read_mapping, terms_of, without
from kgplatform.adopt.propose import proposed
from kgplatform.adopt.rows import AdoptedRows, remove_rows, some_rows
from kgplatform.concurrency.arguments import checked
from kgplatform.errors import InputError, ServerError, SettingError
from kgplatform.extract.schema import GraphSchema, Schema
from kgplatform.ingest.graph_state import graph_state, set_state
from kgplatform.ingest.pipeline import IngestReport, ingest, remove_documents
from kgplatform.ingest.window import Tools
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.server import store_at
from kgplatform.neo4j.store import Store
from kgplatform.records import SILENT, Progress
from kgplatform.settings import Settings

_KINDS = {"01N50": "label", "01N51": "relationship type", "01N52": "property"}


@checked
class Adopt:
    """The graph that is adopted beside the documents of ``store``; one at a time. ``writing`` opens a pass."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        writing: Callable[[Schema, Progress], AbstractContextManager[tuple[Pass, Tools]]],
        schema: Callable[[], Schema],
    ) -> None:
        self._store, self._settings = store, settings
        self._writing, self._schema = writing, schema

    @property
    def mapping(self) -> str | None:
        """The mapping of the graph that is adopted, as it was given; None if none is."""
        text: str | None = self._kept().get("mapping")
        return text

    def propose(self, source: str | None = None) -> str:
        """A mapping of the graph at ``source`` (``adopt_uri`` by default), as YAML to edit. Raises ``InputError``."""
        address = source or self._settings.adopt_uri
        if not address:
            raise InputError("Name the address of the graph to adopt, such as neo4j://localhost:7687.")
        with self._theirs(address) as theirs:
            return proposed(theirs, address, self._base())

    def ingest(self, mapping: str | Path, *, progress: Progress = SILENT) -> IngestReport:
        """Read the rows of a mapping, which is a file: new ones, changed ones; what is gone is removed. Raises
        ``InputError``, with a line for each fault of the file."""
        path = Path(mapping)
        try:
            text = path.read_text("utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"The mapping {path} cannot be read: {error}.") from error
        return self._read(text, str(path), progress)

    def refresh(self, *, progress: Progress = SILENT) -> IngestReport:
        """Read again what changed, by the mapping that was given last. Raises ``InputError`` if no graph is adopted."""
        text = self.mapping
        if text is None:
            raise InputError("No graph is adopted yet. Run `kgplatform adopt` with a mapping first.")
        return self._read(text, "The mapping", progress)

    def forget(self, *, progress: Progress = SILENT) -> int:
        """Remove all that came of the rows, and nothing else; returns how many these were."""
        number = 0
        if not (self._kept() or some_rows(self._store)):
            return number
        with self._writing(self._base(), progress) as (_, tools):
            before: list[str] = []
            while (some := some_rows(tools.store)) and some != before:
                remove_rows(tools.store, before := some)
                number += len(some)
                progress("removing", number, 0)
            known = GraphSchema.of(graph_state(tools.store))
            if known is not None:
                left = without(known.schema, self._kept().get("added", {}))
                tools.store.write(set_state(schema=json.dumps(left.to_dict(), ensure_ascii=False)))
            tools.store.write(set_state(adopted=None))
            remove_documents(tools, (), ())
        return number

    def _read(self, text: str, name: str, progress: Progress) -> IngestReport:
        mapping = read_mapping(text, name)
        if self._settings.adopt_password and mapping.source != self._settings.adopt_uri:  # it may be anybody's
            raise InputError(
                f"The password would be sent to {mapping.source:.200}, which the mapping names. "
                "Set KGPLATFORM_ADOPT_URI to this address if the password is for it."
            )
        kept = self._kept()
        if kept and kept["from"] != mapping.source:
            raise InputError(f"The graph at {kept['from']} is adopted already. Forget it before you adopt another.")
        with self._theirs(mapping.source) as theirs:
            mapping = read_mapping(text, name, _names(theirs))
            terms = terms_of(mapping, self._base())
            with self._writing(terms.schema, progress) as (turn, tools):
                told = {"from": mapping.source, "mapping": text, "added": terms.added}
                tools.store.write(set_state(adopted=json.dumps(told, ensure_ascii=False)))
                rows = AdoptedRows(theirs.within(tools.store.stop), tools.store, mapping, terms)
                report = ingest(tools, (), rows, turn)
        return replace(report, removed=report.removed + rows.gone)

    def _kept(self) -> dict[str, Any]:
        kept: dict[str, Any] = json.loads(graph_state(self._store).get("adopted") or "{}")
        return kept

    def _base(self) -> Schema:
        """The schema of the graph without what a mapping has added."""
        added: Added = self._kept().get("added", {})
        return without(self._schema(), added)

    @contextmanager
    def _theirs(self, address: str) -> Iterator[Store]:
        """The other graph. Raises ``InputError`` if it lies in the same database as the own one."""
        with _opened(address, self._settings) as theirs:
            check_apart(theirs, self._store)
            yield theirs


def _opened(address: str, settings: Settings) -> Store:
    if settings.adopt_password is None:
        raise SettingError(f"Set KGPLATFORM_ADOPT_PASSWORD, the password of {address:.200}.")
    try:
        theirs = store_at(address, settings.adopt_username, settings.adopt_password, settings.adopt_database)
        try:
            theirs.check()
        except BaseException:  # whatever it is, close the connections and pass it on
            theirs.close()
            raise
    except (ServerError, SettingError) as error:  # which name the settings of the own server
        raise type(error)(str(error).replace("NEO4J_", "KGPLATFORM_ADOPT_")) from error
    return theirs


def check_apart(theirs: Store, ours: Store) -> None:
    """Raise ``InputError`` where both graphs are in one database: labels such as Person would be of both."""
    one, other = (store.read("neo4j/database")[0]["id"] for store in (theirs, ours))
    if one == other:
        raise InputError(
            "The graph to adopt is in the database that kgplatform writes to, and both may have nodes with the same "
            "label. Unset NEO4J_URI: the managed server keeps kgplatform's own nodes, and yours are only read."
        )


def _names(theirs: Store) -> Mapping[str, set[str]]:
    """The labels, relationship types and properties that the other graph has."""
    known: dict[str, set[str]] = {kind: set() for kind in _KINDS.values()}
    for row in theirs.read("neo4j/names"):
        known[_KINDS[row["code"]]].add(row["name"])
    return known
