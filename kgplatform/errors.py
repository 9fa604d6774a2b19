"""Every error of the platform, split by who can act on it.

    KgError
    ├── InputError              the caller: a file, an option, a question
    │   ├── SettingError        a setting that is missing or wrong
    │   ├── SchemaError         an extraction schema that cannot be used
    │   └── DocumentError       one source file that cannot be read
    ├── StoreError              the database
    │   ├── ServerError         the server: not there, refuses the password, too old, cannot be started
    │   ├── StatementError      a Cypher statement that the database refused
    │   └── EmbeddingMismatchError   the graph was embedded by another model
    ├── ModelError              the language model or the embedding model
    │   ├── ReplyError          an answer that is of no use: malformed after repair and one more try, filtered, endless
    │   └── BudgetError         the token budget is used up
    └── StoppedError            nobody: the work was stopped from outside

An error's message is one sentence (or two) that says what is wrong and what to do about it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kgplatform.records import SearchResult, Step


OWN = "own:"
"""Begins the name of an embedding model that is a function of a program."""


class KgError(Exception):
    """Base of all errors of the platform. Its text is written for people.

    ``options``: options that the message names, which a door spells its way.
    """

    exit_code = 1

    def __init__(self, message: str = "", *options: str) -> None:
        super().__init__(message)
        self.options = options


class InputError(KgError):
    """What the caller gave cannot be used."""

    exit_code = 2


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
    """The server, the local one or another, cannot be started, reached, logged in to or stopped, or is too old."""


class StatementError(StoreError):
    """The database refused a statement."""


class EmbeddingMismatchError(StoreError):
    """The graph's vectors come from another model than the one that is set."""

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
    """A language model or an embedding model failed. ``evidence``: what a reader that failed had found until then;
    ``steps``: what it had done."""

    evidence: SearchResult | None = None
    steps: tuple[Step, ...] = ()


class ReplyError(ModelError):
    """A model's answer is of no use, and would not be if it were asked for again: it stays malformed after repair and
    one more try, the server's filter stopped it, or it has no end."""


class BudgetError(ModelError):
    """The token budget is used up; what was done so far is kept. The message may name ``token_budget``."""

    def __init__(self, message: str = "") -> None:
        super().__init__(message, "token_budget")


class StoppedError(KgError):
    """Somebody stopped the work (``kgplatform.work.stopping.Stop``); what was done so far is kept."""

    def __init__(self) -> None:
        super().__init__("The work was stopped.")
