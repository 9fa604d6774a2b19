"""An ingest as a whole: whether it is a first build, and the import that ends one.

with FirstBuild(tools, turn) as build:
    groups = build.begin(groups)        # from here on ``build.spill`` takes the writes; None if the database does
    …
    build.bring_in()                    # the graph is in the database, and the ingest continues as always
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from itertools import chain

from kgplatform.concurrency.spool import Shards, Spool
from kgplatform.errors import InputError, ServerError, StoreError
from kgplatform.ingest.bulk.graph_files import GraphFiles, Spill
from kgplatform.ingest.bulk.tables import Tables
from kgplatform.ingest.compare import Group
from kgplatform.ingest.extract_pass import Tools
from kgplatform.ingest.graph_state import define_keys, graph_state, set_state
from kgplatform.neo4j.connect import meet_again
from kgplatform.neo4j.passes import Pass
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Store
from kgplatform.query import batches
from kgplatform.settings import Settings, env_name

_SPACE = 4
"""A database is at most so many times as large as the files that it is made of."""
_GB = 1e9


class FirstBuild:
    """One ingest. ``spill`` takes what it writes, while it is one; ``note`` says in a sentence what was done.

    A context manager: at its end nothing is left on disk. ``turn`` is alone while it is one.
    """

    def __init__(self, tools: Tools, turn: Pass) -> None:
        self.spill: Spill | None = None
        self.note = ""
        self._tools = tools
        self._home = tools.settings.home_folder
        self._folder = self._home / "first-build"
        self._server = _managed_server(tools.settings, tools.store)
        self._turn = turn
        self._open = ExitStack()

    def __enter__(self) -> FirstBuild:
        return self

    def __exit__(self, *_: object) -> None:
        self._open.close()

    def begin(self, groups: Iterator[Group]) -> Iterator[Group]:
        """Decide by the first of ``groups``, which are all of them again."""
        if self._server is None:
            return groups
        # What a model is paid for takes its time anyway: it is written as it comes, and can be searched from then on.
        least = 0 if self._tools.extractor.name == "llm" else self._tools.settings.bulk_import
        shutil.rmtree(self._folder, ignore_errors=True)  # of one that was killed
        if not least or not (_is_empty(self._tools.store) and self._turn.is_only):
            return groups
        seen = self._open.enter_context(Spool[Group](self._home))
        passages = 0
        for group in groups:
            seen.add(group)
            passages += sum(len(each.passages) for each in group.documents)
            if passages >= least:
                self.spill = Spill(self._open.enter_context(Shards(self._home)))
                return chain(seen, groups)
        return iter(seen)

    def bring_in(self) -> None:
        """Make the database of what was spilled; the server is stopped meanwhile.

        Raises ``InputError`` if the disk has not enough room, ``StoreError`` if somebody has written into the graph
        meanwhile, and ``ServerError``. Then the graph is as empty as it was.
        """
        assert self.spill is not None
        assert self._server is not None
        self._tools.progress("importing", 0, 1)
        self._folder.mkdir()
        self._open.callback(shutil.rmtree, self._folder, ignore_errors=True)
        with self._open:
            tables, nodes = self._tables(self.spill)
            self._import(self._server, tables)
            for rows in self.spill.shards.parts("ingest/metadata"):  # which differ from document to document
                for some in batches(rows):
                    self._tools.store.write(("ingest/metadata", {"rows": some}))
        relationships = sum(table.rows for table in tables.relationships)
        self.spill = None
        self.note = (
            f"The graph was empty, so Neo4j's bulk import loaded {nodes:,} nodes and {relationships:,} "
            "relationships; the server was restarted for it."
        )
        self._tools.progress("importing", 1, 1)

    def _tables(self, spill: Spill) -> tuple[Tables, int]:
        self._check_space(spill.shards.size)
        try:
            with Tables(self._folder) as tables:
                files = GraphFiles(spill.shards, tables)
                files.write()
        except UnicodeEncodeError as error:
            raise InputError("A text has a character that Neo4j cannot hold.") from error
        except OSError as error:
            raise InputError(f"The files of the bulk import cannot be written ({error.strerror}).") from error
        self._check_space(_SPACE * tables.size)
        return tables, files.nodes

    def _import(self, server: LocalNeo4j, tables: Tables) -> None:
        store = self._tools.store
        state = graph_state(store)
        if not _is_empty(store):
            raise StoreError(
                "Another process wrote to the graph during its first build, and a bulk import would overwrite that. "
                "Run the same command again: it adds to what is there."
            )
        nodes = [(table.kind, table.name) for table in tables.nodes]
        relationships = [(table.kind, table.name) for table in tables.relationships]
        connection = server.replace_database(nodes, relationships, tables.folder, store.stop)
        if connection.uri != store.connection.uri:
            raise ServerError("The server has another port now. Run the same command again to continue.")
        meet_again(store)
        self._turn.again()
        define_keys(store)
        store.write(set_state(**state))

    def _check_space(self, needed: float) -> None:
        free = shutil.disk_usage(self._home).free
        if needed > free:
            raise InputError(
                f"The bulk import needs {needed / _GB:.1f} GB in {self._home}, where {free / _GB:.1f} GB are free. "
                f"Make room, choose another place with {env_name('home')}, or set {env_name('bulk_import')}=0, which "
                "needs less at a time."
            )


def _managed_server(settings: Settings, store: Store) -> LocalNeo4j | None:
    """The server of ``store``, if that is the one which is run from here."""
    if settings.neo4j_uri is not None:
        return None
    server = LocalNeo4j(settings)
    return server if server.connection() == store.connection else None


def _is_empty(store: Store) -> bool:
    return bool(store.read("ingest/is_empty")[0]["empty"])
