"""What a request to one model says, and what of it the model's server takes.

    abilities = Abilities()
    body = shaped("gpt-4.1-mini", messages, Wanted(Answer, 600), {}, abilities)
    abilities = lesser(abilities, refusal, body)        # what to try next, None where nothing is left to try

Servers differ in the forms of replies that they know, and in the names and the parameters that they take. The most is
asked for first; what is refused is left out from then on, for the model in question, in this process and in those that
come within a week. The form of a reply is sent as its JSON schema (``json_schema``).

Replies lie on disk (``ReplyCache``): what was paid for once is there for the next run.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from kgplatform.concurrency.files import write_atomically
from kgplatform.models.chat import AnyObject, Wanted
from kgplatform.models.failures import RefusedError
from kgplatform.prompt import Messages
from kgplatform.text import count_tokens

_DROPPED = ("title", "default", "$defs", "description")
_BOUNDS = ("minLength", "maxLength", "minItems", "maxItems", "minimum", "maximum", "pattern", "format")


@cache
def json_schema(form: type[BaseModel]) -> dict[str, Any]:
    """The schema of ``form``, without references. Do not change it: it is kept."""
    schema = form.model_json_schema()
    found: dict[str, Any] = _inlined(schema, schema.get("$defs", {}), ())
    return found


@cache
def without_bounds(form: type[BaseModel]) -> dict[str, Any]:
    """``json_schema`` without lengths and limits, which some servers refuse in a strict schema."""
    found: dict[str, Any] = _less(json_schema(form), _BOUNDS)
    return found


@cache
def is_closed(form: type[BaseModel]) -> bool:
    """Whether the schema of ``form`` says of everything in a reply what it is, as "strict" wants it."""
    return _closed(json_schema(form))


def _inlined(node: Any, known: dict[str, Any], inside: tuple[str, ...]) -> Any:
    """``node`` with what it refers to in its place. Raises ``ValueError`` for a form that contains itself."""
    if isinstance(node, list):
        return [_inlined(item, known, inside) for item in node]
    if not isinstance(node, dict):
        return node
    if "$ref" in node:
        name = str(node["$ref"]).rsplit("/", 1)[-1]
        if name in inside:
            raise ValueError(f"The form {name} contains itself: no schema without references can say so.")
        return _inlined(known[name], known, (*inside, name))
    schema = {key: _inlined(value, known, inside) for key, value in node.items() if key not in _DROPPED}
    if isinstance(node.get("properties"), dict):
        schema["properties"] = {name: _inlined(value, known, inside) for name, value in node["properties"].items()}
        schema["required"] = list(schema["properties"])
        schema["additionalProperties"] = False
    return schema


def _less(node: Any, keys: tuple[str, ...]) -> Any:
    if isinstance(node, list):
        return [_less(item, keys) for item in node]
    if not isinstance(node, dict):
        return node
    kept = {key: _less(value, keys) for key, value in node.items() if key not in keys or key == "properties"}
    if isinstance(node.get("properties"), dict):  # a field may be called as a bound is
        kept["properties"] = {name: _less(value, keys) for name, value in node["properties"].items()}
    return kept


def _closed(node: Any) -> bool:
    if not isinstance(node, dict):
        return False
    if "anyOf" in node:
        return all(map(_closed, node["anyOf"]))
    if "enum" in node or "const" in node:
        return True
    if node.get("type") == "object":
        return bool(node.get("properties")) and all(map(_closed, node["properties"].values()))
    if node.get("type") == "array":
        return _closed(node.get("items"))
    return "type" in node


STRICT, UNBOUNDED, LOOSE, OBJECT, NOTHING = range(5)
"""Forms of a reply, the most first: a strict schema, the same without lengths and limits, a schema that is not strict,
any JSON object, free text."""

_DEFAULT_TOKENS = 4096
_THOUGHT_TOKENS = 8192
"""Room for the thoughts of a model that is known to think, beside its reply's."""
_LEAST_TOKENS = 256
_AGAIN = 0.5
"""Temperature of a request that is made again: at 0, small models repeat the broken reply word for word."""
_WEEK = 7 * 24 * 3600.0
_PER_MESSAGE = 4
_OURS_TO_THEIRS = 1.15
"""How many of the server's tokens one of ours can be."""

_AT_MOST = re.compile(r"(?:at most|maximum (?:value |allowed )?(?:is|of)|less than or equal to|<=)\s*(\d[\d,]*)")
_FORM = r"response_?format|json_?\s?(?:schema|object|mode)|schema|strict|grammar|structured"
_PARAMETER = re.compile(r"unsupported|not supported|unknown|unrecogni[sz]ed|unexpected|extra|parameter|argument")
_SYSTEM = r"system[\s_'\"`]*(?:role|message|prompt|instruction)|role[\s_'\"`:]*system|jinja|chat template"


class Abilities(BaseModel):
    """What one model of one server takes.

    ``form``: the most of the forms of replies. ``proven``: it was taken once. ``refused``: parameters to leave out.
    ``output``: what it calls the bound of a reply, and ``most`` the largest that it takes. ``system``: whether there
    may be a system message. ``streams``: whether it answers piece by piece. ``thinks``: it was seen to think before it
    replies. ``context``: the tokens of its window, where it told; ``told``: it was asked.
    """

    form: int = Field(default=STRICT, ge=STRICT, le=NOTHING)
    proven: bool = False
    refused: tuple[str, ...] = ()
    output: str = "max_tokens"
    most: int | None = None
    system: bool = True
    streams: bool = True
    thinks: bool = False
    context: int | None = None
    told: bool = False


class KeptAbilities:
    """Abilities in a file of a cache folder, or in memory alone where there is none; forgotten after a week."""

    def __init__(self, folder: Path | None, address: str, model: str) -> None:
        key = cache_key({"address": address, "model": model})
        self._file = folder / "servers" / f"{key}.json" if folder else None
        self.now = Abilities()
        # A file that is not there, or no longer what this version writes: what it said is learnt again.
        with suppress(OSError, ValidationError):
            if self._file and time.time() - self._file.stat().st_mtime < _WEEK:
                self.now = Abilities.model_validate_json(self._file.read_bytes())

    def learn(self, abilities: Abilities) -> None:
        """Keep ``abilities``, if they are other than before."""
        if abilities == self.now:
            return
        self.now = abilities
        if self._file is None:
            return
        with suppress(OSError):  # a server is asked once more then
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(self._file, abilities.model_dump_json().encode())


def shaped(
    model: str, messages: Messages, wanted: Wanted, more: dict[str, Any], abilities: Abilities, context: int | None
) -> dict[str, Any]:
    """The body of a request. ``more``: parameters that the user sets; None leaves one out. ``context``: tokens, None
    where the model's window is not known."""
    sent = messages
    if not abilities.system:  # then it is the beginning of what the user says
        system = "\n\n".join(message["content"] for message in messages if message["role"] == "system")
        sent = [message for message in messages if message["role"] != "system"]
        if not sent:
            sent = [{"role": "user", "content": system}]
        elif system:
            sent = [{**sent[0], "content": f"{system}\n\n{sent[0]['content']}"}, *sent[1:]]
    body: dict[str, Any] = {"model": model, "messages": sent, "temperature": _AGAIN if wanted.again else 0}
    body[abilities.output] = _room(messages, wanted, abilities, context)
    if form := _response_format(wanted.form, abilities.form):
        body["response_format"] = form
    if abilities.streams:
        body |= {"stream": True, "stream_options": {"include_usage": True}}
    body |= more
    return {name: value for name, value in body.items() if value is not None and name not in abilities.refused}


def identity(model: str, messages: Messages, wanted: Wanted, more: dict[str, Any]) -> dict[str, Any]:
    """What makes a request another one than the last, whatever its server takes of it: for the cache key."""
    schema = {"form": json_schema(wanted.form)} if wanted.form else {}
    return {"model": model, "messages": messages, "temperature": _AGAIN if wanted.again else 0, **schema, **more}


def lesser(abilities: Abilities, error: RefusedError, body: dict[str, Any]) -> Abilities | None:
    """What to try after ``error``: less of what it names; where it names nothing, of what servers refuse most often."""
    if error.too_long:
        return None
    said = f"{error.parameter or ''} {error.said}".lower()
    could_go = list(_could_go(abilities, said, body))
    found = next((change for names, change in could_go if re.search(names, said)), None)
    if found is None and error.parameter is None and ("response_format" in body or _PARAMETER.search(said)):
        found = next((change for _, change in could_go), None)
    return abilities.model_copy(update=found) if found else None


def _could_go(abilities: Abilities, said: str, body: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """What a server may refuse of ``body``, most often first: what names it, and how to ask without it."""

    if "response_format" in body:
        yield _FORM, {"form": _level(body) + 1}
    for name in ("stream_options", "temperature"):
        if name in body:
            yield name, {"refused": (*abilities.refused, name)}
    if (output := abilities.output) in body:
        bound = _AT_MOST.search(said)
        if bound and (most := int(bound[1].replace(",", ""))) < body[output]:
            yield output, {"most": most}
        refused = {"refused": (*abilities.refused, output)}
        yield output, {"output": "max_completion_tokens"} if output == "max_tokens" else refused
    if any(message["role"] == "system" for message in body["messages"]):
        yield _SYSTEM, {"system": False}
    if body.get("stream"):
        yield "stream", {"streams": False}


def _level(body: dict[str, Any]) -> int:
    """Which of the forms ``body`` asks for."""
    form = body["response_format"]
    if form.get("type") != "json_schema":
        return OBJECT
    asked = form["json_schema"]
    if not asked.get("strict"):
        return LOOSE
    return STRICT if _less(asked["schema"], _BOUNDS) != asked["schema"] else UNBOUNDED


def _response_format(form: type[BaseModel] | None, most: int) -> dict[str, Any] | None:
    if form is None or json_schema(form).get("type") != "object":  # servers take no lists
        return None
    level = max(most, OBJECT if issubclass(form, AnyObject) else STRICT if is_closed(form) else LOOSE)
    if level == NOTHING:
        return None
    if level == OBJECT:
        return {"type": "json_object"}
    schema = without_bounds(form) if level == UNBOUNDED else json_schema(form)
    strict = {"strict": True} if level < LOOSE else {}
    return {"type": "json_schema", "json_schema": {"name": form.__name__.strip("_"), "schema": schema, **strict}}


def _room(messages: Messages, wanted: Wanted, abilities: Abilities, context: int | None) -> int:
    """The most tokens of the reply: what is wanted and room for thoughts, as far as window and server have it."""
    tokens = (wanted.tokens or _DEFAULT_TOKENS) + (_THOUGHT_TOKENS if abilities.thinks else 0)
    bounds = [tokens]
    if context:
        sent = sum(count_tokens(message["content"]) + _PER_MESSAGE for message in messages)
        bounds.append(max(_LEAST_TOKENS, context - int(sent * _OURS_TO_THEIRS)))
    if abilities.most:
        bounds.append(abilities.most)
    return min(bounds)


_log = logging.getLogger(__name__)


def cache_key(request: dict[str, object]) -> str:
    """SHA-256, in hexadecimal, of a JSON-like ``request``; the order of its keys does not matter."""
    return hashlib.sha256(json.dumps(request, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class KeptReply:
    """An answer that was paid for, and the tokens that it cost; None of an answer that was kept without them.
    ``cut_off``: it was stopped since it went round in circles, which it would do again."""

    text: str
    input_tokens: int | None = None
    output_tokens: int | None = None
    cut_off: bool = False


class ReplyCache:
    """Answers under ``folder/ab/ab….json``, readable by the owner alone. The folder appears with the first answer."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._warned = False

    def get(self, key: str) -> KeptReply | None:
        """The answer for ``key``; None if there is none, or if the file is broken (``put`` then replaces it)."""
        try:
            entry = json.loads(self._path(key).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None
        if not isinstance(entry, dict) or entry.get("key") != key or not isinstance(entry.get("text"), str):
            return None
        figures = [entry.get(name) for name in ("input_tokens", "output_tokens")]
        read, written = (each if isinstance(each, int) and each >= 0 else None for each in figures)
        return KeptReply(entry["text"], read, written, entry.get("cut_off") is True)

    def put(self, key: str, reply: KeptReply) -> None:
        """Keep ``reply``. An answer that is paid for is not lost to a full disk: that is a warning, said once."""
        try:
            path = self._path(key)
            self._folder.parent.mkdir(parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            write_atomically(path, json.dumps({"key": key, **asdict(reply)}).encode())
        except OSError as error:
            if not self._warned:
                _log.warning("Answers of the language model cannot be kept in %s: %s", self._folder, error)
            self._warned = True

    def forget(self, key: str) -> None:
        """Keep no answer for ``key`` any longer."""
        with suppress(OSError):  # it is gone already, or the folder cannot be written: then nothing is lost
            self._path(key).unlink()

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / f"{key}.json"
