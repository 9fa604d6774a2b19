"""Language models behind servers that speak the OpenAI protocol, and the replies of theirs that were paid for."""

from __future__ import annotations

import copy
import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timezone
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from kgplatform.concurrency.spans import span
from kgplatform.concurrency.system import BINARY
from kgplatform.concurrency.threads import Stop
from kgplatform.errors import ModelError, ReplyError, SettingError
from kgplatform.models.chat import FREE_TEXT, Chat, Ledger, Reply, Wanted, within
from kgplatform.models.failures import BadAnswerError, FaultError, RefusedError
from kgplatform.models.reply import circles, is_looped, split_thoughts
from kgplatform.models.request import (
    NOTHING,
    Abilities,
    KeptAbilities,
    KeptReply,
    ReplyCache,
    cache_key,
    identity,
    lesser,
    shaped,
)
from kgplatform.models.wire import PROPERTIES, ServedModel, Wire
from kgplatform.prompt import Messages, render
from kgplatform.records import Usage
from kgplatform.settings import Settings
from kgplatform.text import clipped, count_tokens, tidy, without_lone_surrogates

_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_SHOWN = 200
"""Characters of what a server or a model says, in a message."""
_CHANNEL = re.compile(
    r"<\|channel\|>\s*(\w+)[^<]*<\|message\|>(.*?)(?=<\|(?:end|return|start|channel)\|>|\Z)", re.DOTALL
)


def read_answer(answer: dict[str, Any], messages: Messages) -> tuple[Reply, bool]:
    """The reply in a server's ``answer`` to ``messages``, and whether the model thought before it.

    Models think in a field of its own (``reasoning_content``, ``reasoning``), between tags, or in a channel; none of
    that is the reply, and a thought that does not end is a reply that was cut off.

    Raises ``BadAnswerError`` where there is no message, ``ReplyError`` where the server's filter stopped it.
    """
    choices = answer.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        raise BadAnswerError("it has no text.")
    reason = choice.get("finish_reason")
    if reason == "content_filter":
        raise ReplyError("The model server's content filter stopped the answer.")
    written = _written(message.get("content")) or _arguments(message)
    thoughts = any(message.get(name) for name in _THOUGHTS)
    channels = [(found[1], found[2]) for found in _CHANNEL.finditer(written)]  # gpt-oss's format: the last final one
    finals = [said for name, said in channels if name == "final"]
    text, open_thought = split_thoughts(finals[-1] if finals else "" if channels else written)
    cut_off = reason == "length" or open_thought or bool(channels and not finals)
    thought = thoughts or text.strip() != written.strip()
    usage = usage_of(answer, messages, written)
    lack = ""  # what came in place of a reply
    if not text.strip():
        lack = "the model thought, and wrote no reply" if thought else ""
        if refusal := message.get("refusal"):
            lack = f"the model refused: {str(refusal)[:_SHOWN]}"
        elif message.get("tool_calls") or message.get("function_call"):
            lack = "the model called a tool that it was not given"
    return Reply(text, usage, cut_off, lack=lack), thought


def _written(content: object) -> str:
    if isinstance(content, list):
        return "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    return content if isinstance(content, str) else ""


def _arguments(message: dict[str, Any]) -> str:
    """What a model wrote as the arguments of a tool, which it was not given, in place of a reply."""
    calls = message.get("tool_calls")
    call = calls[0] if isinstance(calls, list) and calls else {"function": message.get("function_call")}
    function = call.get("function") if isinstance(call, dict) else None
    said = function.get("arguments") if isinstance(function, dict) else None
    return said if isinstance(said, str) else json.dumps(said) if isinstance(said, dict) else ""


def usage_of(answer: dict[str, Any], messages: Messages, text: str) -> Usage:
    """The server's own figures, and our count where it gives none."""
    figures = answer.get("usage")
    given = figures if isinstance(figures, dict) else {}
    return Usage(
        calls=1,
        input_tokens=_figure(given.get("prompt_tokens"), "\n".join(m["content"] for m in messages)),
        output_tokens=_figure(given.get("completion_tokens"), text),
    )


def _figure(value: object, text: str) -> int:
    """``value``; our count where it is none, or 0 for a text that has words."""
    return value if isinstance(value, int) and (value > 0 or (value == 0 and not text)) else count_tokens(text)


_ROUND = 800
"""Characters that are four times the same: more than a table or a number says."""
_LOOK = 50
"""Characters from one look for that to the next, which takes longer than a piece does."""


class Pieces:
    """A streamed answer as it comes: ``add`` each event; ``answer`` is the whole, as a server sends it at once.

    ``listen`` gets the text so far, if it is given; first the empty one, since a try before may have written some.
    ``goes_round``: the end of the reply is one piece again and again, which a small model does not come out of. It
    counts as cut off there.
    """

    def __init__(self, listen: Callable[[str], None] | None) -> None:
        self._listen = listen or (lambda text: None)
        self._message: dict[str, Any] = {}
        self._reason: str | None = None
        self._usage: object = None
        self._began = False
        self.goes_round = False
        self._listen("")

    def add(self, event: object) -> None:
        """Take in one event. Raises ``BadAnswerError`` for one that says that something went wrong."""
        if not isinstance(event, dict) or self.goes_round:
            return
        if event.get("error"):
            raise BadAnswerError(f"it says {str(event['error'])[:_SHOWN]}.")
        self._usage = event.get("usage") or self._usage
        choices = event.get("choices")
        choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
        self._began = self._began or bool(choice)
        self._reason = choice.get("finish_reason") or self._reason
        delta = choice.get("delta") or choice.get("message") or {}
        for name in ("content", "refusal", *_THOUGHTS):
            if piece := _written(delta.get(name)):
                self._message[name] = self._message.get(name, "") + piece
        if more := _arguments(delta):
            self._message["function_call"] = {"arguments": _arguments(self._message) + more}
        elif delta.get("tool_calls"):
            self._message.setdefault("function_call", {"arguments": ""})
        if delta.get("content"):
            self._listen(said := self._message.get("content", ""))
            is_due = len(said) // _LOOK > (len(said) - len(_written(delta["content"]))) // _LOOK
            if is_due and any(circles(said[-_ROUND:], _ROUND)):
                self.goes_round, self._reason = True, "length"

    def answer(self) -> dict[str, Any]:
        """The whole answer. Raises ``BadAnswerError`` for a stream that ended before the reply did."""
        if not self._began or (self._reason is None and self._usage is None):
            raise BadAnswerError("its stream ended before the reply did.")
        return {"choices": [{"message": self._message, "finish_reason": self._reason}], "usage": self._usage}


@dataclass(frozen=True)
class _Asked:
    """What a model is asked: ``key`` is that of the reply in the cache."""

    messages: Messages
    wanted: Wanted
    stage: str
    key: str


class OpenAIChat(ServedModel):
    """``settings.chat_model`` at ``settings.openai_base_url``, with retries, a disk cache and a budget.

    The same messages are paid for once: an answer comes from ``cache_folder`` if it is there, and threads that ask
    the same thing at once share one call. Only whole answers are kept (not those that were cut off, nor empty ones).
    An answer in the cache may be malformed for its reader; ``reply.ask`` then asks again with the error, which is
    another message list with its own entry, so that a second run goes the same way and pays nothing. Where that is of
    no use either, ``reply.ask`` has both forgotten.
    """

    def __init__(self, settings: Settings, ledger: Ledger, cache_folder: Path | None, **pace: Any) -> None:
        super().__init__(settings, ledger, **pace)
        self.model = settings.chat_model
        self._settings = settings
        self._folder = cache_folder
        self._cache = ReplyCache(cache_folder) if cache_folder else None
        self._log = CallLog(settings.call_log) if settings.call_log else None
        self._of_its_own()

    def _of_its_own(self) -> None:
        """What no other model shares."""
        self._abilities = KeptAbilities(self._folder, self._wire.address, self.model)
        self._under_way: dict[str, Future[Reply | None]] = {}
        """The calls that threads wait for, by their keys; None comes of one whose own thread was stopped."""
        self._lock = threading.Lock()

    def send(self, messages: Messages, *, stage: str, wanted: Wanted = FREE_TEXT) -> Reply:
        """See ``Chat.send``. ``usage`` of a reply that cost nothing is ``Usage(cached_calls=1)``."""
        self._stop.check()
        asked = self._asked(messages, wanted, stage)
        reply = self._known(asked) or self._shared(asked)
        if reply.usage.cached_calls:
            self._count(stage, reply.usage, reply.worth)
            self._log_call(asked, _said(reply), 0.0, {"model": self.model})
        if wanted.on_text:
            wanted.on_text(reply.text)
        return reply

    def forget(self, messages: Messages, *, wanted: Wanted = FREE_TEXT) -> None:
        """See ``Chat.forget``."""
        if self._cache:
            self._cache.forget(self._asked(messages, wanted, "").key)

    def with_model(self, model: str) -> OpenAIChat:
        """See ``ManyModels.with_model``. What one of them learns of the server's parameters is the other's to learn."""
        other = copy.copy(self)
        other.model = model
        other._of_its_own()
        return other

    def identity(self) -> dict[str, object]:
        """What tells this model, as it is asked, from others."""
        return {"address": self._wire.address, "model": self.model, **self._settings.chat_parameters}

    def context(self) -> int | None:
        """The tokens of the model's window, prompt and reply together: the setting, else what the server tells; None
        where it does not."""
        if self._settings.context_tokens:
            return self._settings.context_tokens
        if not self._abilities.now.told and (listed := self._wire.get("/models", self._stop)) is not None:
            window = window_of(listed, self.model, self._wire, self._stop)
            self._abilities.learn(self._abilities.now.model_copy(update={"context": window, "told": True}))
        return self._abilities.now.context

    def listed(self) -> list[str]:
        """The names of the models that the server lists, in order; none where it lists none."""
        found = (self._wire.get("/models", self._stop) or {}).get("data")
        rows = found if isinstance(found, list) else []
        return sorted({str(row["id"]) for row in rows if isinstance(row, dict) and row.get("id")})

    def _asked(self, messages: Messages, wanted: Wanted, stage: str) -> _Asked:
        # No JSON body in UTF-8 can carry half surrogate pairs.
        sent = [{name: without_lone_surrogates(text) for name, text in message.items()} for message in messages]
        identified = identity(self.model, sent, wanted, self._settings.chat_parameters)
        return _Asked(sent, wanted, stage, cache_key({"address": self._wire.address, **identified}))

    def _known(self, asked: _Asked) -> Reply | None:
        kept = self._cache.get(asked.key) if self._cache else None
        if kept is None:
            return None
        figures = {"prompt_tokens": kept.input_tokens, "completion_tokens": kept.output_tokens}
        usage = usage_of({"usage": figures}, asked.messages, kept.text)
        return _from_cache(Reply(kept.text, usage, cut_off=kept.cut_off))

    def _shared(self, asked: _Asked) -> Reply:
        """The reply: from the thread that is already asking for it, or by asking. Where that thread is stopped, one of
        those that wait for it asks in its place, and the others wait for that one."""
        while True:
            mine: Future[Reply | None] = Future()
            with self._lock:
                under_way = self._under_way.setdefault(asked.key, mine)
            if under_way is mine:
                return self._pay_for_all(asked, mine)
            if (reply := self._stop.result_of(under_way)) is not None:
                return _from_cache(reply)

    def _pay_for_all(self, asked: _Asked, mine: Future[Reply | None]) -> Reply:
        outcome: Reply | ModelError | None = None
        try:
            outcome = self._known(asked)
            if outcome is None:
                outcome = self._call(asked)
                # What had no room may have more the next time; what goes round would do so again.
                if self._cache and outcome.text.strip() and (not outcome.cut_off or is_looped(outcome.text)):
                    cost = outcome.usage.input_tokens, outcome.usage.output_tokens
                    self._cache.put(asked.key, KeptReply(outcome.text, *cost, cut_off=outcome.cut_off))
            return outcome
        except ModelError as error:
            outcome = error
            raise
        finally:
            with self._lock:
                del self._under_way[asked.key]
            if isinstance(outcome, ModelError):
                mine.set_exception(outcome)
            else:
                mine.set_result(outcome)

    def _call(self, asked: _Asked) -> Reply:
        """Ask the server; what it refuses of the request is left out, now and from now on."""
        trying = self._abilities.now
        retries = None
        while True:
            body = self._body(asked, trying)
            try:
                reply, thought = self._post(asked, body, retries)
            except RefusedError as error:
                less = lesser(trying, error, body)
                if less is None:
                    raise
                trying = less
            except FaultError:
                if trying.proven or "response_format" not in body:
                    raise
                trying, retries = trying.model_copy(update={"form": NOTHING}), 0
            else:
                proven = trying.proven or "response_format" in body
                self._abilities.learn(trying.model_copy(update={"proven": proven, "thinks": trying.thinks or thought}))
                # Where the bound of the reply is not ours, asking for more changes nothing.
                longer = replace(asked, wanted=replace(asked.wanted, tokens=sys.maxsize))
                return replace(reply, full=reply.cut_off and self._body(longer, trying) == body)

    def _body(self, asked: _Asked, abilities: Abilities) -> dict[str, Any]:
        context = self._settings.context_tokens or abilities.context
        return shaped(self.model, asked.messages, asked.wanted, self._settings.chat_parameters, abilities, context)

    def _post(self, asked: _Asked, body: dict[str, Any], retries: int | None = None) -> tuple[Reply, bool]:
        """The reply, and whether the model thought before it; spanned and logged."""
        started = time.perf_counter()
        answered: tuple[Reply, bool]
        most = body.get("max_tokens") or body.get("max_completion_tokens")
        attributes = {  # by the conventions for generative models
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": "openai",
            "gen_ai.request.model": body["model"],
            "server.address": urlsplit(self._wire.address).hostname or "",
            **({"gen_ai.request.max_tokens": most} if most else {}),
        }
        try:
            with span(f"chat {self.model}", attributes) as tell:
                answered = self._wire.post(
                    "/chat/completions",
                    body,
                    stage=asked.stage,
                    stop=self._stop,
                    before=self._ledger.check,
                    read=partial(self._read, asked=asked),
                    on_text=partial(Pieces, asked.wanted.on_text),
                    retries=retries,
                )
                reply = answered[0]
                tell(
                    {
                        "gen_ai.usage.input_tokens": reply.usage.input_tokens,
                        "gen_ai.usage.output_tokens": reply.usage.output_tokens,
                        "gen_ai.response.finish_reasons": ("length" if reply.cut_off else "stop",),
                    }
                )
        except ModelError as error:
            self._log_call(asked, {"error": str(error)}, time.perf_counter() - started, body)
            raise
        self._log_call(asked, _said(reply), time.perf_counter() - started, body)
        return answered

    def _log_call(self, asked: _Asked, said: dict[str, Any], seconds: float, body: dict[str, Any]) -> None:
        if self._log:
            self._log.add(asked.stage, asked.messages, said, seconds, body)

    def _read(self, answer: dict[str, Any], asked: _Asked) -> tuple[Reply, bool]:
        try:
            reply, thought = read_answer(answer, asked.messages)
        except ModelError:
            self._count(asked.stage, usage_of(answer, asked.messages, ""))
            raise
        self._count(asked.stage, reply.usage)
        return reply, thought


def make_chat(settings: Settings, ledger: Ledger) -> Chat | None:
    """The language model that ``settings`` name; None if neither a key nor an address is set."""
    if settings.openai_api_key is None and settings.openai_base_url is None:
        return None
    return OpenAIChat(settings, ledger, settings.home_folder / "llm-cache")


def _said(reply: Reply) -> dict[str, Any]:
    """Of a reply, for the log."""
    return {"reply": reply.text, "cut_off": reply.cut_off, "lack": reply.lack, "usage": asdict(reply.usage)}


def _from_cache(reply: Reply) -> Reply:
    """``reply`` for one who does not pay for it."""
    return replace(reply, usage=Usage(cached_calls=1), worth=reply.worth or reply.usage)


_SIZES = ("max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length", "n_ctx")
_TRAINED = "n_ctx_train"
_LEAST_WINDOW = 512


def window_of(listed: dict[str, Any], model: str, wire: Wire, stop: Stop) -> int | None:
    """The tokens of ``model``'s window, prompt and reply together, by the server's list of models; None where neither
    that nor the server tells.

    vLLM, OpenRouter, Groq, Mistral, LM Studio and llama.cpp say it in their list of models, each in its own word;
    llama.cpp says the size that it was started with elsewhere. OpenAI and Ollama do not tell.
    """
    entries = listed.get("data")
    ours = [entry for entry in entries or () if isinstance(entry, dict) and entry.get("id") == model]
    if not ours and isinstance(entries, list) and len(entries) == 1 and isinstance(entries[0], dict):
        ours = entries  # a server of one model answers for it under any name
    if not ours:
        return None
    entry = ours[0]
    if entry.get("owned_by") == "llamacpp":
        served = wire.get(PROPERTIES, stop) or {}
        if size := _size(served.get("default_generation_settings"), _SIZES):
            return size
    return _size(entry, _SIZES) or _size(entry.get("meta"), (*_SIZES, _TRAINED))


def _size(said: Any, names: tuple[str, ...]) -> int | None:
    values = [said.get(name) for name in names] if isinstance(said, dict) else []
    return next((value for value in values if isinstance(value, int) and value >= _LEAST_WINDOW), None)


_log = logging.getLogger(__name__)


class CallLog:
    """A log of the calls of a language model, one JSON object a line, messages and replies included.

    Appends to ``path``, which only its owner can read: it holds what documents and people say. Safe in threads.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._warned = False

    def add(self, stage: str, messages: Messages, said: dict[str, Any], seconds: float, body: dict[str, Any]) -> None:
        """A call with what came of it, from the server or from the cache; ``body``: the request."""
        parameters = {name: value for name, value in body.items() if name != "messages"}
        now = datetime.now(timezone.utc).isoformat(timespec="milliseconds")
        told = {"time": now, "stage": stage, "seconds": round(seconds, 3), "request": parameters, "messages": messages}
        line = json.dumps(told | said, ensure_ascii=False) + "\n"
        try:
            with self._lock:
                file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | BINARY, 0o600)
                with os.fdopen(file, "ab") as log:
                    log.write(line.encode())
        except OSError as error:
            if not self._warned:
                _log.warning("Calls of the language model cannot be logged in %s: %s", self._path, error)
            self._warned = True


_TRIAL_STAGE = "trial"
_TRIAL_TOKENS = 50
"""Of the reply, which is one word."""


@dataclass(frozen=True, slots=True)
class Trial:
    """What the model ``model`` replied, shortened, after how many seconds, and what that cost."""

    model: str
    reply: str
    seconds: float
    usage: Usage


def try_model(chat: Chat | None, settings: Settings, ledgers: Sequence[Ledger], stop: Stop) -> Trial:
    """Call ``chat`` once, without retries and the cache; all ``ledgers`` count it. Raises ``SettingError`` for None,
    and what the call raises."""
    if chat is None:
        raise SettingError("No language model is set. Set OPENAI_API_KEY, or OPENAI_BASE_URL for a server of your own.")
    if not isinstance(chat, OpenAIChat):
        return _tried(chat)
    first, *others = ledgers
    fresh = OpenAIChat(settings.model_copy(update={"model_retries": 0}), first, None)
    try:
        for ledger in others:
            fresh = within(fresh, meter=ledger)
        return _tried(within(fresh, stop=stop))
    finally:
        fresh.close()


def _tried(chat: Chat) -> Trial:
    started = time.perf_counter()
    reply = chat.send(render("models/trial"), stage=_TRIAL_STAGE, wanted=Wanted(tokens=_TRIAL_TOKENS))
    return Trial(chat.model, clipped(tidy(reply.text), _SHOWN), round(time.perf_counter() - started, 3), reply.usage)
