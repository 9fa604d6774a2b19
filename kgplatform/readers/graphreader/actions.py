"""What a model may do on its walk over the graph, and how its reply is read (GraphReader, figures 9 to 11).

    ask_step(calls, messages, "facts", tokens=900)    # Read(notebook='…', function='read_chunk', arguments=('ID-6',))

A reply is one JSON object (``FORMS``). What keeps to no form is read by its labels, as the paper has them. Case,
markdown, quotes and missing parentheses are tolerated. A function of another stage does not count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

from pydantic import BaseModel, Field, PrivateAttr, model_validator

from kgplatform.models.chat import Chat, Wanted
from kgplatform.models.json_text import values_in
from kgplatform.models.labels import labelled
from kgplatform.models.lenient import first_of, objects, words_of
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages
from kgplatform.text import normalise_name, type_key

Stage = Literal["facts", "chunk", "neighbours"]

FUNCTIONS: dict[Stage, tuple[str, ...]] = {
    "facts": ("read_chunk", "stop_and_read_neighbor"),
    "chunk": ("search_more", "read_previous_chunk", "read_subsequent_chunk", "termination"),
    "neighbours": ("read_neighbor_node", "termination"),
}
FALLBACK: dict[Stage, str] = {"facts": "stop_and_read_neighbor", "chunk": "search_more", "neighbours": "termination"}
"""What is done where a model's reply cannot be used, nor the next one."""

# "read_neighbour_node", "Read Neighbor Node", "readNextChunk" and "terminate" are meant as well.
_SPELLED = {
    "stop_and_read_neighbor": "stop_and_read_neighbou?rs?",
    "read_subsequent_chunk": "read_(?:the_)?(?:subsequent|next|following)_chunk",
    "read_previous_chunk": "read_(?:the_)?prev(?:ious)?_chunk",
    "read_neighbor_node": "read_neighbou?r(?:ing)?_nodes?",
    "termination": "terminat(?:ion|e)",
    "search_more": "search_(?:for_)?more",
    "read_chunk": "read_(?:the_)?chunks?",
}
_NAMED = "|".join(f"(?P<{name}>{spelled.replace('_', '[_ -]?')})" for name, spelled in _SPELLED.items())
_FUNCTION = re.compile(rf"(?<![A-Za-z_])(?:{_NAMED})(?![A-Za-z_])", re.IGNORECASE)
# What is meant where it is all that a reply gives as its action.
_SHORT: dict[Stage, dict[str, str]] = {
    "facts": {"read": "read_chunk", "readneighbor": "stop_and_read_neighbor", "stop": "stop_and_read_neighbor"},
    "chunk": {
        **dict.fromkeys(("search", "continue", "more"), "search_more"),
        **dict.fromkeys(("stop", "finish", "end", "done"), "termination"),
    },
    "neighbours": {
        **dict.fromkeys(("readneighbor", "readneighbour", "readnode", "goto", "visit"), "read_neighbor_node"),
        **dict.fromkeys(("stop", "finish", "end", "done"), "termination"),
    },
}

# "node: Toronto" in the line after that of the function.
_BELOW = re.compile(
    r"\s*(?:[-*]\s*)?[*_`\"']*(?:node|neighbou?r|chunk|argument|id)\w*(?: ids?)?[*_`\"']*\s*[:=]\s*(?P<words>[^\n]+)",
    re.IGNORECASE,
)
_DECORATION = " \t\r\n*_`\"'“”‘’«»<>"
_PREFIX = re.compile(r"^\s*(?:key[ _]element(?:[ _]of[ _]node)?|node|name)\s*[:=]\s*", re.IGNORECASE)
_ID = re.compile(r"\bID\s*[-_–:#]?\s*(\d+)", re.IGNORECASE)
_PLACEHOLDER = re.compile(r"\W*<[^<>]{2,80}>\W*|\W*(?:\.\.\.|…)\W*|the (?:whole |updated )*notebook")
_SAME = re.compile(
    r"(?:the )?(?:notebook )?(?:is |remains? |stays )?(?:none|n/?a|null|nil|empty|same(?: as before)?|as before|"
    r"unchanged|not updated|no (?:changes?|updates?)(?: needed| required)?|nothing|keine?|leer|unverändert|"
    r"(?:keine |ohne )änderung(?:en)?|aucun(?: changement)?|inchangé|vide|sin cambios|ninguno|vacío|nessuno|nenhum|"
    r"无|無|没有变化|无变化|不变|空|なし|変更なし|нет|пусто|без изменений)"
    r"|(?:there (?:is|are) |i found )?(?:no|nothing) "
    r"(?:new|relevant|useful|helpful|further|additional|yet|so far|to add)\b"
    r"[^.;\[]{0,80}"
)
_NOTEBOOK_KEYS = (
    "updatednotebook newnotebook notebook notebookupdate updatednotes notes note notizbuch aktualisiertesnotizbuch "
    "carnet cuaderno notebookcontent 笔记本 更新后的笔记本 ノート"
)
_ACTION_KEYS = (
    "chosenaction action nextaction selectedaction function functioncall toolcall tool aktion acción gewählteaktion "
    "行动 操作 行動"
)
_ARGUMENT_KEYS = (
    "arguments args parameters argument input chunks chunkids chunkid ids chunk id node neighbor neighbour "
    "neighbornode nodename keyelement neighborname"
)


@dataclass(frozen=True, slots=True)
class Read:
    """What a reply says. ``function`` is one of its stage, or empty; then ``fault`` says why.

    ``notebook`` is None where the reply has none, empty where it says only that it stays. ``arguments`` are the words
    in the function's parentheses: those up to the one that closes them, and those up to the last one of the line.
    """

    notebook: str | None
    function: str
    arguments: tuple[str, ...] = ()
    fault: str = ""


class _Step(BaseModel):
    """The form of a reply; a JSON object with other keys, or another spelling of them, is put into it.

    An object without a function of this stage, or without a notebook, is refused, so that all of the reply is read as
    free text.
    """

    stage: ClassVar[Stage]
    reasoning: str = Field(json_schema_extra={"maxLength": 800})
    _read: Read | None = PrivateAttr(None)

    @model_validator(mode="before")
    @classmethod
    def _put_into_form(cls, value: Any) -> Any:
        read = _of_object(value, cls.stage) if isinstance(value, dict) else None
        if read is None or read.function not in FUNCTIONS[cls.stage]:
            raise ValueError(f"it has none of the actions {', '.join(FUNCTIONS[cls.stage])}")
        if read.notebook is None and "notebook" in cls.model_fields:
            raise ValueError("it has no notebook")
        words = "".join(read.arguments[:1])
        chunks = [f"ID-{number}" for number in passage_numbers(read.arguments)]
        reasoning = words_of(first_of(value, "reasoning rationale thought"), "\n")
        return {
            "reasoning": reasoning,
            "notebook": read.notebook,
            "action": read.function,
            "chunks": chunks,
            "node": words,
        }

    def read(self) -> Read:
        """What the reply says."""
        if self._read:
            return self._read
        said = self.model_dump()
        words = ", ".join(said.get("chunks", ())) or said.get("node", "")
        return Read(said.get("notebook"), said["action"], (words,) if words else ())


class _Facts(_Step):
    stage = "facts"
    notebook: str
    action: Literal["read_chunk", "stop_and_read_neighbor"]
    chunks: list[str] = Field(json_schema_extra={"maxItems": 20})


class _Chunk(_Step):
    stage = "chunk"
    notebook: str
    action: Literal["search_more", "read_previous_chunk", "read_subsequent_chunk", "termination"]


class _Neighbours(_Step):
    stage = "neighbours"
    action: Literal["read_neighbor_node", "termination"]
    node: str = Field(json_schema_extra={"maxLength": 200})


FORMS: dict[Stage, type[_Step]] = {"facts": _Facts, "chunk": _Chunk, "neighbours": _Neighbours}


def ask_step(chat: Chat, messages: Messages, stage: Stage, *, tokens: int) -> Read:
    """What the model does, in a reply of at most ``tokens``. Raises ``ReplyError`` where two replies say nothing."""
    form, _ = ask(chat, messages, FORMS[stage], stage=stage, tokens=tokens, free=partial(_free, stage))
    return form.read()


def wanted_step(stage: Stage, tokens: int) -> Wanted:
    """How ``ask_step`` wants the reply, to have the chat forget it."""
    return Wanted(FORMS[stage], tokens)


def _free(stage: Stage, text: str) -> _Step | None:
    read = read_step(text, stage)
    if read.fault == "no action" and not read.notebook:
        return None
    form = FORMS[stage].model_construct()
    form._read = read
    return form


def read_step(text: str, stage: Stage) -> Read:
    """The notebook and the action of a reply in no form. The last ``Chosen Action`` counts.

    Without that label the last function that the reply names counts. Faults: "no action", "wrong stage".
    """
    found = [
        read for value in values_in(text, broken=True) for each in objects(value) if (read := _of_object(each, stage))
    ]
    parts = labelled(text, "notebook", "rationale", "action")
    notebooks = [read.notebook for read in found if read.notebook is not None]
    notebook = notebooks[-1] if notebooks else _kept(parts["notebook"]) if "notebook" in parts else None
    called = [(read.function, read.arguments) for read in found if read.function]
    name, arguments = called[-1] if called else _call(parts.get("action", ""), stage)
    if not name:
        name, arguments = _last_call(text)
    if not name:
        return Read(notebook, "", fault="no action")
    if name not in FUNCTIONS[stage]:
        return Read(notebook, "", fault="wrong stage")
    return Read(notebook, name, arguments)


def passage_numbers(arguments: tuple[str, ...]) -> tuple[int, ...]:
    """The numbers of the passages that ``read_chunk`` was called with, each once: ``["ID-6"]``, ``ID-6``, ``[1, 3]``.

    Where some have their ``ID-``, bare numbers beside them are something else, such as a year in a title.
    """
    words = arguments[0] if arguments else ""
    found = _ID.findall(words) or re.findall(r"\d+", words)
    return tuple(dict.fromkeys(int(each) for each in found if len(each) <= 12))


def named(arguments: tuple[str, ...], names: Collection[str]) -> str | None:
    """The one of ``names`` that ``read_neighbor_node`` was called with: as written, else the same name normalised.

    Where several are given the first counts: one node is read at a time.
    """
    return next((name for words in _name_forms(arguments) if (name := same_name(words, names))), None)


def same_name(words: str, names: Collection[str]) -> str | None:
    """``words`` if they are one of ``names``, else the first of them that is the same name normalised."""
    if words in names:
        return words
    wanted = normalise_name(words)
    return next((name for name in names if normalise_name(name) == wanted), None) if wanted else None


def undecorated(words: str) -> str:
    """``words`` without the quotes, brackets and markdown round them."""
    words = _PREFIX.sub("", words.strip())
    while len(words) > 1 and words[0] in "[(" and words[-1] in "])":
        words = words[1:-1].strip()
    return words.strip(_DECORATION)


def _name_forms(arguments: tuple[str, ...]) -> Iterator[str]:
    for words in arguments:
        yield words.strip()
        yield undecorated(words)
    for words in arguments[:1]:
        parts = re.split(r"[\"']\s*,\s*[\"']|,", words.strip().strip("[]"))
        yield from (undecorated(part) for part in parts if len(parts) > 1)


def _kept(notebook: str) -> str | None:
    """A notebook's text, empty for what says that it stays as it is, None for none or a placeholder."""
    words = notebook.strip().strip("*").strip()
    if _PLACEHOLDER.fullmatch(words):
        return None
    return "" if _SAME.fullmatch(normalise_name(words).strip("().[]<>\"' ")) else words or None


def _call(words: str, stage: Stage) -> tuple[str, tuple[str, ...]]:
    """The first function in the words of an action, and its arguments."""
    if found := _FUNCTION.search(words):
        return found.lastgroup or "", _arguments(words, found.end())
    first = re.match(r"\W*([A-Za-z _-]+)", words)
    name = _SHORT[stage].get(type_key(first[1]), "") if first else ""
    return (name, _arguments(words, first.end())) if name and first else ("", ())


def _last_call(text: str) -> tuple[str, tuple[str, ...]]:
    """The last function that a text names as one: with its underscores, its parentheses, or alone on a line."""
    for found in reversed(list(_FUNCTION.finditer(text))):
        line = text[text.rfind("\n", 0, found.start()) + 1 :].partition("\n")[0]
        if "_" in found[0] or text[found.end() :].lstrip("*_` ").startswith("(") or undecorated(line) == found[0]:
            return found.lastgroup or "", _arguments(text, found.end())
    return "", ()


def _arguments(text: str, start: int) -> tuple[str, ...]:
    """The words in the parentheses after ``start``; without parentheses, the rest of the line."""
    rest = text[start:].lstrip("*_`\"' \t")
    line = rest.partition("\n")[0]
    if not rest.startswith("("):
        below = _BELOW.match(rest)
        words = line.strip(" \t:") if line.strip(" \t:.*`\"'") else below["words"] if below else ""
        return (words,) if words else ()
    level = 0
    for place, mark in enumerate(rest):
        level += (mark == "(") - (mark == ")")
        if level == 0:
            inner, outer = rest[1:place], line[1 : line.rfind(")")] if ")" in line else ""
            return tuple(dict.fromkeys(words for words in (inner, outer) if words.strip()))
    return (line[1:].rstrip(") \t"),) if line[1:].strip(") \t") else ()


def _of_object(value: dict[str, Any], stage: Stage) -> Read | None:
    """The notebook and the action of a JSON object; None where it has neither."""
    notebook, action = first_of(value, _NOTEBOOK_KEYS), first_of(value, _ACTION_KEYS)
    beside = first_of(value, _ARGUMENT_KEYS)
    if action is None and _FUNCTION.fullmatch(str(first_of(value, "name"))):
        action = value
    name, arguments = _keyed(value) if action is None else _of_action(action, beside, stage)
    if not name and action is None and None not in (notebook, beside):
        name = {"facts": "read_chunk", "neighbours": "read_neighbor_node"}.get(stage, "")
        arguments = (_listed(beside),)
    if notebook is None and not name:
        return None
    return Read(None if notebook is None else _kept(words_of(notebook, "\n")), name, arguments)


def _keyed(value: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """``{"read_chunk": ["ID-1"]}``: a function as the key of its arguments."""
    for key, item in value.items():
        if (found := _FUNCTION.fullmatch(str(key))) and item not in (False, None):
            return found.lastgroup or "", (words,) if (words := "" if item is True else _listed(item)) else ()
    return "", ()


def _of_action(action: object, beside: object, stage: Stage) -> tuple[str, tuple[str, ...]]:
    """An action that is a text, or an object, or the first of a list; its arguments may stand ``beside`` it."""
    if isinstance(action, dict):
        name = first_of(action, "name function action type")
        return _keyed(action) if name is None else _of_action(name, first_of(action, _ARGUMENT_KEYS) or beside, stage)
    if isinstance(action, list):
        return _of_action(action[0], beside, stage) if action else ("", ())
    name, arguments = _call(str(action), stage)
    return (name, arguments) if arguments or not beside else (name, (_listed(beside),))


def _listed(value: object) -> str:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return ", ".join(_listed(item) if isinstance(item, dict | list) else str(item) for item in items if item)
