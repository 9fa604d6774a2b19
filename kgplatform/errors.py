"""Every error of the platform, split by who can act on it.

    KgError
    ├── InputError              the caller: a file, an option, a question
    │   ├── SettingError        a setting that is missing or wrong
    │   ├── SchemaError         an extraction schema that cannot be used
    │   └── DocumentError       one source file that cannot be read
    ├── StoreError              the database
    │   ├── ServerError         the server: unreachable, wrong password, too old, cannot be started
    │   ├── StatementError      a Cypher statement that the database refused
    │   └── EmbeddingMismatchError   the graph was embedded by another model
    ├── ModelError              the language model or the embedding model
    │   ├── ReplyError          an unusable reply: malformed after repair and one more try, filtered, endless
    │   └── BudgetError         the token budget is used up
    └── StoppedError            nobody: the work was stopped

An error's message is one sentence (or two) that says what is wrong and what to do about it.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from enum import Enum
from importlib import metadata
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kgplatform.records import SearchResult, Step


def to_install(extra: str) -> str:
    """The command that installs what ``extra`` needs into the environment that runs, which may have no pip itself."""
    wanted = re.compile(rf"([^;]+);.*extra == ['\"]{re.escape(extra)}['\"]")
    try:
        found = map(wanted.fullmatch, metadata.requires("kgplatform") or ())
    except metadata.PackageNotFoundError:  # a checkout that nobody installed
        return f"pip install '.[{extra}]'"
    packages = " ".join(f'"{each[1].strip()}"' for each in found if each)
    python = f'"{sys.executable}"' if " " in sys.executable else sys.executable
    pip = f"{python} -m pip" if find_spec("pip") else f"pip --python {python}"
    return f"{pip} install {packages}"


OWN = "own:"
"""Begins the name of an embedding model that is a function of a program."""


class Code(Enum):
    """Errors whose sentence names a command or an option, by their codes for interfaces that have others.

    Over HTTP, ``Code.NO_TREE`` is ``"code": "no_tree"`` beside the sentence; what stands in braces are ``parameters``.
    """

    EMPTY_GRAPH = "The graph is empty. Run `kgplatform ingest PATH…` first."
    NO_DOCUMENTS = "The graph has no documents. Run `kgplatform ingest PATH…` first."
    UNFINISHED_INGEST = "The first ingest is unfinished. Run the same `kgplatform ingest` again."
    NO_ENTITIES = "The graph has no entities to build a tree from. Run `kgplatform ingest PATH…` first."
    NO_TREE = (
        "The graph has no finished knowledge tree. Run `kgplatform tree` first, or choose another reader or route."
    )
    NO_GISTS = "No gists yet. Run `kgplatform gist` first; it reads each document once."
    NO_GIST_VECTORS = "The gists have no vectors yet. Run `kgplatform gist` again to finish them."
    UNKNOWN_DOCUMENT = "There is no document {document} in the graph. `kgplatform documents` lists them."
    UNKNOWN_RUN = "There is no saved run {run} in the graph. Ask with the option keep to save one."
    STATEMENT_REFUSED = "{why} `kgplatform cypher` runs any statement that only reads."
    STATEMENT_WRITES = "This statement changes the graph. Allow that with the option write."
    STATEMENT_LOADS = "LOAD CSV is refused: statements may not read files or URLs. Use `kgplatform ingest`."


class KgError(Exception):
    """Base of all errors of the platform. Its text is written for people.

    ``options``: options in the message, spelled differently by each interface. ``code``, ``parameters``: see ``Code``.
    """

    exit_code = 1
    code: Code | None = None
    parameters: Mapping[str, Any] = {}

    def __init__(self, message: str = "", *options: str) -> None:
        super().__init__(message)
        self.options = options


class InputError(KgError):
    """What the caller gave cannot be used."""

    exit_code = 2


def coded(code: Code, *options: str, **parameters: str) -> InputError:
    """The error of this ``code``, its sentence filled in."""
    error = InputError(code.value.format(**parameters), *options)
    error.code, error.parameters = code, parameters
    return error


def wrong_value(name: str, value: object, wanted: str) -> InputError:
    """The argument ``name`` has a ``value`` of a type that cannot be used; ``wanted``: "give a dictionary"."""
    return InputError(f"{name}={value!r:.100} cannot be used: {wanted}.", name)


class SettingError(InputError):
    """A setting is missing or has a value that cannot be used."""


class SchemaError(InputError):
    """An extraction schema cannot be used."""


class DocumentError(InputError):
    """One source file cannot be read. ``reason`` is short enough for a report line."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


class StoreError(KgError):
    """The database cannot be reached, or did not do what was asked."""


class ServerError(StoreError):
    """The server, managed or not, cannot be started, reached, logged in to or stopped, or is too old."""


class StatementError(StoreError):
    """The database refused a statement."""


class EmbeddingMismatchError(StoreError):
    """The graph's vectors come from another model than the configured one."""

    def __init__(self, stored: str, stored_dimension: int, wanted: str, wanted_dimension: int) -> None:
        use, again = f"Set KGPLATFORM_EMBEDDER={stored}", "run `kgplatform reembed`"
        if wanted.startswith(OWN):
            use = "Leave embedder out"
            again = "call kgplatform.client.open_graph(kgplatform.settings.load_settings(), embedder=…).reembed()"
        if stored.startswith(OWN):
            use = f"Give connect its embedder, the function {stored.removeprefix(OWN)}"
        super().__init__(
            f"The graph was embedded with {stored} ({stored_dimension} dimensions), but {wanted} "
            f"({wanted_dimension} dimensions) is set. {use}, or {again} to embed the graph again with the new model."
        )
        self.stored = stored
        self.wanted = wanted


class ModelError(KgError):
    """A language model or an embedding model failed. ``evidence``: what the reader had found until then; ``steps``: its
    steps until then."""

    evidence: SearchResult | None = None
    steps: tuple[Step, ...] = ()


class ReplyError(ModelError):
    """A model's reply is unusable, and another try would not help: it is malformed after repair and one more try, the
    server's filter stopped it, or it has no end."""


class BudgetError(ModelError):
    """The token budget is used up; what was done so far is kept. The message may name ``token_budget``."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message, "token_budget")


class StoppedError(KgError):
    """The work was stopped (``kgplatform.concurrency.threads.Stop``); what was done so far is kept."""

    def __init__(self) -> None:
        super().__init__("The work was stopped.")
