"""An open graph: its store, settings and models, as a whole and for one piece of work.

part = graph.within(stop)          # on the same connections and caches
part.ask("Who designed the ship?")
part.ledger.total                  # what this work spent; ``stop.set()`` in another thread ends it
"""

from __future__ import annotations

import copy
import json
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from kgplatform.errors import Code, InputError, SettingError, coded, wrong_value
from kgplatform.graph.info import DocumentInfo, GraphSchema, named_documents
from kgplatform.graph.jobs import JobQueue
from kgplatform.ingest.compare import holds
from kgplatform.ingest.facts_pass import lacks_facts
from kgplatform.ingest.graph_state import (
    OLDER_GRAPH,
    check_embedder,
    graph_state,
    is_up_to_date,
    set_state,
    state_meanwhile,
)
from kgplatform.ingest.schema import Schema, load_schema
from kgplatform.models.chat import Chat, Ledger, within
from kgplatform.models.embed import Embedder, OpenAIEmbedder, make_embedder
from kgplatform.models.openai_chat import OpenAIChat, Trial, make_chat, try_model
from kgplatform.neo4j.memory import unbounded
from kgplatform.neo4j.passes import Pass, Turn, wait_meanwhile
from kgplatform.neo4j.server import LocalNeo4j
from kgplatform.neo4j.store import Connection, Row, Store
from kgplatform.records import Progress
from kgplatform.settings import Settings
from kgplatform.work.arguments import checked
from kgplatform.work.stopping import Stop

if TYPE_CHECKING:
    import py2neo  # type: ignore[import-untyped]  # it ships no types

_FOLLOWED_EVERY = 2.0

G = TypeVar("G", bound="OpenedGraph")


@checked
class OpenedGraph:
    """Close it, or use it in a ``with`` block. Safe from several threads."""

    def __init__(
        self,
        store: Store,
        settings: Settings,
        *,
        embedder: Embedder | None = None,
        chat: Chat | None = None,
        report: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.store = store
        self._report = report
        self.settings = settings
        self.ledger: Ledger = Ledger(settings.token_budget)
        self._given_embedder = embedder
        self._given_chat = chat
        self._whole: OpenedGraph | None = None
        """The graph that this is a part of."""
        self._followed = [time.monotonic()]
        """When it was last looked at which model made the vectors; shared by all parts, too."""
        self._learnt: set[str] = set()
        """What was found out about the graph, shared by all its parts."""

    def __enter__(self: G) -> G:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        home = f", home {self.settings.home_folder}" if self.settings.neo4j_uri is None else ""
        return f"{type(self).__name__}({self.store.connection.uri}{home})"

    def close(self) -> None:
        """Close the connections, but for those of models that were given. A managed server keeps running;
        ``kgplatform down`` stops it."""
        self.store.close()
        given = (self._given_chat, self._given_embedder)
        for model in (self.__dict__.get("language_model"), self.__dict__.get("embedder")):
            if isinstance(model, OpenAIChat | OpenAIEmbedder) and model not in given:
                model.close()

    @property
    def connection(self) -> Connection:
        """The database's address, user name and password."""
        return self.store.connection

    @property
    def stop(self) -> Stop:
        """What ends this work."""
        return self.store.stop

    def lend_driver(self, to: str) -> AbstractContextManager[Any]:
        """The driver itself, for a library (``to``) that needs one; errors are translated as the platform's own are."""
        return self.store.lend_driver(to)

    def py2neo(self) -> py2neo.Graph:
        """A py2neo ``Graph`` on the same database, for those who use it (extra ``py2neo``; no longer maintained)."""
        try:
            from py2neo import Graph
        except ImportError as error:
            raise SettingError("py2neo is not installed. Run `pip install 'kgplatform[py2neo]'`.") from error
        connection = self.store.connection
        return Graph(connection.uri, auth=(connection.username, connection.password), name=connection.database)

    def state(self) -> Row:
        """What the graph knows about itself, such as its schema and its models; empty for a new graph."""
        return graph_state(self.store)

    def schema(self) -> GraphSchema | None:
        """The schema of the last ingest with its expansions; None before the first."""
        return GraphSchema.of(state_meanwhile(self.store))

    def use_schema(self, schema: str | Path | Schema) -> Schema:
        """Have the next ingest use ``schema``, a file or a shipped name. What was read before stays as it is until it
        is read again. Raises ``SchemaError``, and ``InputError`` for a graph without documents, which has no schema."""
        found, own = self._schema(schema), self.schema()
        if own is None:
            raise InputError("The graph has no schema yet: give this one with the first documents.")
        chosen = None if found == own.schema else json.dumps(found.to_dict(), ensure_ascii=False)
        self.store.write(set_state(schemaChosen=chosen))
        return found

    def check(self) -> str:
        """The version of the server. Raises ``StoreError`` if the database is down."""
        return self.store.check()

    def server_advice(self) -> str:
        """One sentence on what to do where the graph has outgrown the memory of its managed server, or where another
        server does not bound the memory of statements; else empty."""
        if self.settings.neo4j_uri is None:
            return LocalNeo4j(self.settings).status().advice
        return unbounded(self.store)

    def database_id(self) -> str:
        """What tells the graph's database from all others."""
        return str(self.store.read("neo4j/database")[0]["id"])

    def documents(self) -> list[DocumentInfo]:
        """The documents of the graph, by title."""
        return [DocumentInfo.of(row) for row in self.store.read("graph/documents")]

    def holds(self, file: Path) -> bool:
        """Whether the graph holds any document of ``file`` with the text that it has now."""
        return holds(self.store, file, self.settings)

    def lacks_facts(self) -> bool:
        """Whether some passage has no atomic facts from a model or a recording."""
        return lacks_facts(self.store)

    def jobs(self, place: str, server: str, lease: float) -> JobQueue:
        """The jobs of the graph's servers, for ``server``, whose uploads are ``place``; it holds one for ``lease``
        seconds without a sign of life."""
        return JobQueue(self.store, place, server, lease)

    def within(self: G, stop: Stop | None = None) -> G:
        """This graph for one piece of work, on the same connections: ``ledger`` counts what this work alone spends.

        ``stop``, set by another thread, ends the work within a second, whatever it waits for; by default the graph's
        own. Close only the whole.
        """
        part = copy.copy(self)
        for bound in ("embedder", "language_model", "look"):
            part.__dict__.pop(bound, None)
        part.store, part.ledger, part._whole = self.store.within(stop or self.store.stop), Ledger(), self
        return part

    @cached_property
    def embedder(self) -> Embedder:
        """The embedding model: the one that is set, otherwise the one that the graph was embedded with."""
        if self._whole is not None:
            return within(self._whole.embedder, meter=self.ledger, stop=self.store.stop)
        if self._given_embedder is not None:
            return self._given_embedder
        stored = self.state().get("embeddingModel")
        if self.settings.embedder == "auto" and stored is not None:
            return make_embedder(self.settings.model_copy(update={"embedder": stored}), self.ledger, self._report)
        return make_embedder(self.settings, self.ledger, self._report)

    @cached_property
    def language_model(self) -> Chat | None:
        """The language model, or None if none is configured."""
        if self._whole is not None:
            return within(self._whole.language_model, meter=self.ledger, stop=self.store.stop)
        return self._given_chat or make_chat(self.settings, self.ledger)

    @property
    def model_name(self) -> str | None:
        """The language model's name, or None if none is configured."""
        return self.language_model.model if self.language_model is not None else None

    def try_model(self) -> Trial:
        """Call the language model once, whatever is in the cache: what it replied, how fast, and what that cost.

        Raises ``SettingError`` if there is none, and ``ModelError``, which says what to do.
        """
        ledgers = [part.ledger for part in self._wholes()]
        return try_model(self.language_model, self.settings, ledgers, self.store.stop)

    def check_model(self) -> None:
        """Raise ``EmbeddingMismatchError`` if the graph was embedded by another model than the one that is set.

        Waits while the graph is imported or embedded again.
        """
        wait_meanwhile(self.store, ("import", "reembed"), self._report)
        state = self.state()
        if state.get("embeddingModel"):
            check_embedder(state, self.embedder)

    @contextmanager
    def _writing(self, kind: str, progress: Progress, turn: Turn = "alone") -> Iterator[Pass]:
        """A pass of this ``kind``, once its turn has come; what is known of the graph is looked at again."""
        with Pass(self.store, kind, progress, turn) as opened:
            if kind != "import":  # the file says which model it has
                self._follow_model(opened.store)
            yield opened

    def _follow_model(self, store: Store) -> None:
        """Use the graph's own model, if it is to be that: another process may have embedded the graph again."""
        used = next((part.__dict__["embedder"].name for part in self._wholes() if "embedder" in part.__dict__), None)
        if used is not None and self.settings.embedder == "auto":
            stored = graph_state(store).get("embeddingModel")
            if stored not in (None, used):
                self._forget_embedder()

    def _wholes(self) -> Iterator[OpenedGraph]:
        """This graph, that which it is a part of, and so on."""
        part: OpenedGraph | None = self
        while part is not None:
            yield part
            part = part._whole

    def _embed_as_set(self) -> None:
        """Use the embedder that is set, whichever the graph was embedded with."""
        self._forget_embedder()
        *_, whole = self._wholes()
        whole.embedder = whole._given_embedder or make_embedder(whole.settings, whole.ledger, whole._report)

    def _forget_embedder(self) -> None:
        """Look again which model made the graph's vectors."""
        for part in self._wholes():
            part.__dict__.pop("embedder", None)

    def _schema(self, given: str | Path | Schema | None) -> Schema:
        if given is None:
            own = self.schema()
            return (own.chosen or own.schema) if own is not None else load_schema("general")
        if not isinstance(given, str | Path | Schema):
            raise wrong_value("schema", given, "name one, or a file, or give a kgplatform.Schema")
        return given if isinstance(given, Schema) else load_schema(given)

    def _model(self, what: str) -> Chat:
        """The language model, which does ``what`` ("Gists are written"). Raises ``SettingError`` if there is none."""
        if self.language_model is None:
            raise SettingError(f"{what} by a language model. Set OPENAI_API_KEY, or OPENAI_BASE_URL.")
        return self.language_model

    def _need_documents(self) -> None:
        """Raise ``InputError`` if there is nothing to ask; documents once seen are not looked for again.

        What another process makes of the graph's vectors is noticed, if not at once.
        """
        is_known = "documents" in self._learnt
        if not is_known or time.monotonic() > self._followed[0] + _FOLLOWED_EVERY:
            self._followed[0] = time.monotonic()
            self._follow_model(self.store)
        if is_known:
            return
        state = self.state()
        if not state:
            raise coded(Code.EMPTY_GRAPH)
        if "schema" not in state:
            raise coded(Code.UNFINISHED_INGEST)
        if not self.store.read("graph/has_documents"):
            raise coded(Code.NO_DOCUMENTS)
        if not is_up_to_date(state):
            self._report(OLDER_GRAPH)
        self._learnt.add("documents")

    def _look_for_documents(self) -> None:
        """Look for documents again: some were removed or imported."""
        self._learnt.discard("documents")

    def _named(self, documents: str | Path | Sequence[str | Path]) -> list[DocumentInfo]:
        return named_documents(documents, self.documents())
