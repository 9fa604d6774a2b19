"""All settings in one table: name, default, unit and help. Environment, ``.env`` and docs come from it.

Nothing is read on import: ``Settings()`` reads the environment, then ``.env`` in the working directory; the real
environment wins. Every setting is ``KGPLATFORM_`` + its name in capitals, except for those that have a
conventional name (``NEO4J_URI``, ``OPENAI_API_KEY`` …). Last comes the language model that was connected in the page,
which the home has in a file: all of it, and only where nothing of a language model is set elsewhere, so that no key
reaches a server that it was not given for.
"""

from __future__ import annotations

import json
import os
import re
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar, TypedDict

from dotenv import dotenv_values
from platformdirs import user_cache_path, user_data_path
from pydantic import AliasChoices, Field, SecretStr, ValidationError
from pydantic_settings import (
    BaseSettings,
    DotEnvSettingsSource,
    EnvSettingsSource,
    SettingsConfigDict,
    SettingsError,
)

from kgplatform.errors import SettingError
from kgplatform.text import did_you_mean

MOST_CALLS = 64
"""Language-model calls in progress at once, where their number is not set."""

_FILE = ".env"
_PREFIX = "KGPLATFORM_"
_NOT_OURS = "KGPLATFORM_BENCH_"
"""Variables of the benchmarks."""
_REMOVED = {
    "cypher_limit": "Give the statement a limit.",
    "cypher_timeout": "Give the statement a time limit.",
    "embed_batch": "How many texts a server takes in a call is found out.",
    "expansion_support": "A schema gains a type that two documents, or six passages, propose.",
    "expansion_threshold": "A proposed type counts from a confidence of 0.9 on.",
    "form_threshold": "Key elements are one node of GraphReader from the cosine on that was measured for their model.",
    "facts_tokens": "The reply for a passage has at most 1,024 tokens.",
    "ray": "KGPLATFORM_WORKERS uses the processors of this machine.",
    "neo4j_start_timeout": "The managed server has ten minutes to start.",
}
"""What was a setting until the release before, and what to do instead."""
_PASSWORD = re.compile(r"//[^/@\s]+@")


def _setting(default: Any, text: str, *, unit: str = "", env: tuple[str, ...] = (), **bounds: Any) -> Any:
    alias = AliasChoices(*env) if env else None
    return Field(default, description=text, json_schema_extra={"unit": unit}, validation_alias=alias, **bounds)


class Settings(BaseSettings):
    """What is set from outside. Build one with ``load_settings``, which words errors for people."""

    model_config: ClassVar[SettingsConfigDict] = SettingsConfigDict(
        env_prefix=_PREFIX,
        env_file=_FILE,
        env_ignore_empty=True,  # as most programs have it: `OPENAI_API_KEY= command` is to do without a key
        extra="ignore",
        populate_by_name=True,
        frozen=True,
    )

    home: Path | None = _setting(
        None,
        "Home folder of the managed Neo4j and the caches; an empty folder starts a new graph. Default: kgplatform in "
        "your user data directory.",
    )
    workspace: str | None = _setting(
        None, "Workspace to open, one of `kgplatform workspaces list`. Default: the graph of the home folder itself."
    )
    neo4j_uri: str | None = _setting(
        None,
        "Address of your own Neo4j server, 5.26 or newer (bolt://, neo4j://, or their +s forms). Default: the managed "
        "local server.",
        env=("NEO4J_URI",),
    )
    neo4j_username: str = _setting("neo4j", "User name for that server.", env=("NEO4J_USERNAME", "NEO4J_USER"))
    neo4j_password: SecretStr | None = _setting(None, "Password for that server.", env=("NEO4J_PASSWORD",))
    neo4j_database: str | None = _setting(None, "Database on that server.", env=("NEO4J_DATABASE",))
    adopt_uri: str | None = _setting(None, "Address of the graph that `kgplatform adopt` reads.")
    adopt_username: str = _setting("neo4j", "User name there; reading is enough.")
    adopt_password: SecretStr | None = _setting(None, "Password there.")
    adopt_database: str | None = _setting(None, "Database there.")
    neo4j_heap: str = _setting(
        "auto",
        "Heap of the managed server, such as 2g; auto chooses at each start by the machine's memory and the graph's "
        "size.",
        unit="JVM size",
    )
    neo4j_page_cache: str = _setting(
        "auto", "Page cache of the managed server, such as 2g; auto chooses.", unit="JVM size"
    )
    neo4j_jars: Path | None = _setting(
        None,
        "Folder for the managed server's program files and the embedding model's weights, downloaded once and shared "
        "by all homes. Default: .kgplatform/jars in the checkout if `make` has filled it, else your user cache "
        "directory.",
    )

    embedder: str = _setting(
        "auto",
        "Embedding model: auto (the graph's model; for a new graph local:bge-small-en-v1.5-q, which runs on your "
        "machine), local:all-MiniLM-L6-v2 (the default of earlier graphs), local:multilingual-e5-small (100 "
        "languages; needs the extra multilingual), local:NAME (any sentence-transformers model; needs the extra "
        "sentence-transformers), openai:NAME, or a model from a plug-in package. hash:DIMENSION (hashed words, no "
        "model) is for tests.",
    )

    openai_api_key: SecretStr | None = _setting(None, "API key of the language-model server.", env=("OPENAI_API_KEY",))
    openai_base_url: str | None = _setting(None, "Base URL of an OpenAI-compatible server.", env=("OPENAI_BASE_URL",))
    chat_model: str = _setting("gpt-4.1-mini", "Language model for extraction and answers.")
    chat_parameters: dict[str, Any] = _setting(
        {},
        'Extra parameters for every language-model call, as JSON, such as {"reasoning_effort": "low"}; null drops a '
        'default parameter, such as {"temperature": null}.',
    )
    context_tokens: int | None = _setting(
        None,
        "Context window of the language model, for prompt and reply together. Default: the server's value, else "
        "32,768.",
        unit="tokens",
        ge=1000,
    )
    call_log: Path | None = _setting(
        None, "Log file for language-model calls: one JSON line per call, with its messages and reply."
    )
    model_timeout: float = _setting(
        120.0, "Time without a new token after which a language-model call is given up.", unit="s", gt=0
    )
    model_retries: int = _setting(5, "Retries after 429, 5xx, a time-out or a broken connection.", ge=0)
    concurrency: int | None = _setting(
        None,
        "Number of parallel language-model calls. Default: adapts to what the server can handle.",
        unit="calls",
        gt=0,
    )
    workers: int = _setting(
        1,
        "Number of processes that parse files and read passages. Each has its own limit on parallel language-model "
        "calls.",
        ge=1,
        le=256,
    )
    file_seconds: float = _setting(
        60.0, "CPU time for parsing one file; files that take longer are skipped.", unit="s", ge=1, le=86_400
    )
    file_memory: int = _setting(
        2000,
        "Memory for parsing one file (on Linux); files that need more are skipped.",
        unit="MB",
        ge=200,
        le=1_000_000,
    )
    text_field: str = _setting(
        "", "JSON key of a document's text, if not text, context, content, contents, body, page_content or passage."
    )
    title_field: str = _setting("", "JSON key of a document's title, if not title or corpus_name.")
    encoding: str = _setting(
        "",
        "Encoding of the files that are not UTF-8, such as windows-1250. By default each file's declaration decides, "
        "and without one a guess, which the report names.",
    )
    bulk_import: int = _setting(
        10_000,
        "Passages needed before the first ingest into an empty managed graph uses bulk import; 0 disables it. An "
        "ingest with a language model never uses it.",
        unit="passages",
        ge=0,
    )
    token_budget: int | None = _setting(
        None,
        "Token budget of one run, for prompts and replies together; the run stops cleanly when it is used up.",
        unit="tokens",
        gt=0,
        env=("KGPLATFORM_TOKEN_BUDGET", "KGPLATFORM_MAX_TOKENS"),
    )

    webhook_secret: SecretStr | None = _setting(None, "Secret that signs the messages of `kgplatform watch`.")

    passage_tokens: int = _setting(
        400,
        "Maximum length of a passage.",
        unit="tokens",
        ge=20,
        env=("KGPLATFORM_PASSAGE_TOKENS", "KGPLATFORM_CHUNK_TOKENS"),
    )
    same_as_threshold: float | None = _setting(
        None,
        "Minimum cosine similarity for a SAME_AS link between two names. Default: 0.85 with bge-small-en-v1.5-q, else "
        "0.8.",
        gt=0,
        le=1,
    )

    @property
    def home_folder(self) -> Path:
        """``home``, or the platform's data directory for the user if it is not set; of a workspace the one inside."""
        home = self.home.expanduser().absolute() if self.home is not None else user_data_path("kgplatform")
        return home / WORKSPACES / self.workspace if self.workspace else home

    @property
    def parts_folder(self) -> Path:
        """Where the homes of graphs of a part of the documents lie."""
        return self.home_folder / "parts"

    def in_home(self, home: Path) -> Settings:
        """The same for the managed graph of another home, with the program files that are there already."""
        changes = {"home": home, "workspace": None, "neo4j_uri": None, "neo4j_jars": self.jar_folder}
        return self.model_copy(update=changes)

    @property
    def calls_at_once(self) -> int:
        """How many language-model calls may be in progress: threads for them."""
        return self.concurrency or MOST_CALLS

    @property
    def jar_folder(self) -> Path:
        """``neo4j_jars``; if it is not set, the folder of the checkout that this is run from, where `make` has filled
        it, or one in the platform's cache directory for the user."""
        if self.neo4j_jars is not None:
            return self.neo4j_jars.expanduser().absolute()
        return _OF_CHECKOUT if _OF_CHECKOUT.is_dir() else user_cache_path("kgplatform") / "neo4j"


class GivenSettings(TypedDict, total=False):
    """What a program may give ``connect`` of the settings, for type checkers: a test compares the names."""

    workspace: str | None
    neo4j_uri: str | None
    neo4j_username: str | None
    neo4j_password: SecretStr | str | None
    neo4j_database: str | None
    adopt_uri: str | None
    adopt_username: str | None
    adopt_password: SecretStr | str | None
    adopt_database: str | None
    neo4j_heap: str | None
    neo4j_page_cache: str | None
    neo4j_jars: str | Path | None
    openai_api_key: SecretStr | str | None
    openai_base_url: str | None
    chat_model: str | None
    chat_parameters: dict[str, Any] | None
    context_tokens: int | None
    call_log: str | Path | None
    model_timeout: float | None
    model_retries: int | None
    concurrency: int | None
    workers: int | None
    file_seconds: float | None
    file_memory: int | None
    text_field: str | None
    title_field: str | None
    encoding: str | None
    bulk_import: int | None
    token_budget: int | None
    webhook_secret: SecretStr | str | None
    passage_tokens: int | None
    same_as_threshold: float | None


_OF_CHECKOUT = Path(__file__).parent.parent / ".kgplatform" / "jars"
"""Where the Makefile has program files fetched: 122 MB that nobody needs twice."""


def load_settings(**overrides: Any) -> Settings:
    """The settings, with ``overrides`` (those that are not None) before everything else. Raises ``SettingError`` with
    one line per wrong value, and for a name that no setting has."""
    for name in overrides.keys() - Settings.model_fields.keys():
        known = name.lower().removeprefix(_PREFIX.lower())
        instead = f" {_REMOVED[known]}" if known in _REMOVED else did_you_mean(known, Settings.model_fields)
        raise SettingError(f'There is no setting "{name}".{instead} `kgplatform settings` lists them.')
    if overrides.get("home") == "":
        raise SettingError("The name of the home folder is empty. Name a folder, or leave it out.")
    given: dict[str, Any] = {name: value for name, value in overrides.items() if value is not None}
    given["_env_file_encoding"] = _file_encoding()
    try:
        found = Settings(**given)
        _check_workspace(found)
        connected = {} if found.model_fields_set & MODEL else saved_model(found.home_folder)
        return Settings(**given, **connected) if connected else found
    except SettingsError as error:  # of the settings, one alone is JSON
        raise SettingError(
            'KGPLATFORM_CHAT_PARAMETERS cannot be used: give one JSON object, such as {"reasoning_effort": "low"}.'
        ) from error
    except ValidationError as error:
        faults = "; ".join(f"{env_name(str(e['loc'][0]))}: {e['msg']}" for e in error.errors())
        raise SettingError(f"A setting cannot be used: {faults}. `kgplatform settings` lists them.") from error


WORKSPACES = "workspaces"
"""The folder of a home that has its workspaces."""
WORKSPACE_FILE = "workspace.json"
"""In the home of each."""


def _check_workspace(settings: Settings) -> None:
    """Raise ``SettingError`` for a workspace that cannot be opened: a mistyped name would begin an empty graph."""
    if settings.workspace is None:
        return
    if settings.neo4j_uri is not None:
        raise SettingError("A workspace has a managed server of its own. Unset NEO4J_URI, or leave out workspace.")
    home = settings.home_folder
    there = sorted(file.parent.name for file in home.parent.glob(f"*/{WORKSPACE_FILE}"))
    if settings.workspace not in there:
        known = f" There are: {', '.join(there)}." if there else ""
        raise SettingError(
            f'There is no workspace "{settings.workspace}".{did_you_mean(settings.workspace, there)}{known}'
        )
    if json.loads((home / WORKSPACE_FILE).read_text("utf-8")).get("archived"):
        raise SettingError(f'The workspace "{settings.workspace}" is archived. Restore it first.')


MODEL = frozenset(("openai_base_url", "openai_api_key", "chat_model"))
"""The settings that say which language model is asked."""
MODEL_FILE = "model.json"
"""In the home; its owner alone can read it."""


def saved_model(home: Path) -> dict[str, Any]:
    """The language model that was connected for this ``home``: values of ``MODEL``. Raises ``SettingError``."""
    file = home / MODEL_FILE
    try:
        found = json.loads(file.read_text("utf-8"))
        return {name: found[name] for name in MODEL}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise SettingError(f"{file} cannot be read. Delete it, and connect the language model again.") from error


def model_values(settings: Settings) -> dict[str, Any]:
    """The values of ``MODEL`` as a file has them."""
    key = settings.openai_api_key
    found = {name: getattr(settings, name) for name in MODEL}
    return found | {"openai_api_key": key.get_secret_value() if key else None}


def with_model(settings: Settings, address: str | None, key: str | None, model: str) -> Settings:
    """``settings`` with another language model."""
    secret = SecretStr(key) if key else None
    return settings.model_copy(update={"openai_base_url": address, "openai_api_key": secret, "chat_model": model})


def _file_encoding() -> str:
    """That of ``.env``: editors of Windows write UTF-16, and marks of order. Raises ``SettingError`` for any other."""
    content = Path(_FILE).read_bytes() if Path(_FILE).is_file() else b""
    for encoding in ("utf-16", "utf-8-sig") if content.startswith((BOM_UTF16_LE, BOM_UTF16_BE)) else ("utf-8-sig",):
        with suppress(UnicodeDecodeError):
            content.decode(encoding)
            return encoding
    raise SettingError(f"{Path(_FILE).absolute()} is not in UTF-8. Save it again as UTF-8.")


def unknown_variables() -> list[str]:
    """A sentence for each variable of the environment or of ``.env`` that is named like a setting and is none."""
    known = {env_name(name) for name in Settings.model_fields}
    removed = {env_name(name): f" {instead}" for name, instead in _REMOVED.items()}
    where = {name.upper(): f" in {_FILE}" for name in dotenv_values(_FILE, encoding=_file_encoding())}
    return [
        f"{name}{where.get(name, '')} is not a setting and is ignored.{removed.get(name) or did_you_mean(name, known)}"
        for name in sorted({*os.environ, *where} - known)
        if name.startswith(_PREFIX) and not name.startswith(_NOT_OURS)
    ]


def env_name(name: str) -> str:
    """The environment variable that sets ``name``."""
    field = Settings.model_fields.get(name)
    if field is not None and isinstance(field.validation_alias, AliasChoices):
        return str(field.validation_alias.choices[0])
    return name if name.isupper() else _PREFIX + name.upper()


def values_in_force(**overrides: Any) -> list[tuple[str, str]]:
    """The value of every setting, in the order of ``settings_table``, and where it comes from: "argument" (one of
    ``overrides``), "environment", ".env", "home" (of the model that was connected in the page) or "default".

    Secrets are hidden; a value that cannot be used is shown as it was given. Raises ``SettingError`` for JSON that is
    none.
    """
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        environment, file = (
            EnvSettingsSource(Settings)(),
            DotEnvSettingsSource(Settings, env_file_encoding=_file_encoding())(),
        )
    except SettingsError:
        load_settings(**overrides)  # which words it
        raise
    default = Settings.model_construct()
    folders = {"home": default.home_folder, "neo4j_jars": default.jar_folder}
    named = file | environment | given
    home = Path(named["home"]) if named.get("home") else None
    is_set = named.keys() & {*MODEL, *map(env_name, MODEL)}
    connected = {} if is_set else saved_model(Settings.model_construct(home=home).home_folder)
    values = []
    for name, field in Settings.model_fields.items():
        sources = {"argument": given, "environment": environment, ".env": file, "home": connected}
        found = (
            (each[key], origin) for origin, each in sources.items() for key in (name, env_name(name)) if key in each
        )
        value, origin = next(found, (folders.get(name, field.default), "default"))
        # For people to see: no secret, and no password in an address.
        shown = "" if value in (None, "") else _PASSWORD.sub("//********@", str(value))
        values.append(("********" if shown and "SecretStr" in str(field.annotation) else shown, origin))
    return values


def settings_table() -> list[tuple[str, str, str, str]]:
    """``(environment name, default, unit, help)`` of every setting, for ``--help`` and the docs."""
    rows = []
    for name, field in Settings.model_fields.items():
        extra = field.json_schema_extra
        unit = str(extra.get("unit", "")) if isinstance(extra, dict) else ""
        default = "" if field.default is None else str(field.default)
        rows.append((env_name(name), default, unit, field.description or ""))
    return rows
