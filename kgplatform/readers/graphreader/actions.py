"""What a model may do on its walk over the graph, and how its reply is read (GraphReader, figures 9 to 11).

    read_step('Updated Notebook: …\\nRationale for Next Action: …\\nChosen Action: read_chunk(["ID-1001"])', "facts")

A reply has labelled parts, as the paper has them; JSON with such keys is read too. Case, markdown, quotes and missing
parentheses are tolerated. A function of another stage does not count.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Literal

from kgplatform.models.json_text import pieces, value_of, without_thoughts
from kgplatform.text import normalise_name, type_key

Stage = Literal["facts", "chunk", "neighbours"]

FUNCTIONS: dict[Stage, tuple[str, ...]] = {
    "facts": ("read_chunk", "stop_and_read_neighbor"),
    "chunk": ("search_more", "read_previous_chunk", "read_subsequent_chunk", "termination"),
    "neighbours": ("read_neighbor_node", "termination"),
}
FALLBACK: dict[Stage, str] = {"facts": "stop_and_read_neighbor", "chunk": "search_more", "neighbours": "termination"}
"""What is done where a model's reply cannot be used, nor the next one."""

_ALL = sorted({name for names in FUNCTIONS.values() for name in names}, key=lambda name: (-len(name), name))
# "read_neighbour_node" and "Read Neighbor Node" are meant as well.
_SPELLED = "|".join(rf"(?P<{name}>{name.replace('neighbor', 'neighbou?r').replace('_', '[_ -]?')})" for name in _ALL)
_FUNCTION = re.compile(rf"(?<![A-Za-z_])(?:{_SPELLED})(?![A-Za-z_])", re.IGNORECASE)

_START = r"^[ \t]*(?:[-*+>#]+[ \t]*|\(?\d{1,2}[.)][ \t]*)*[*_`\"'\[]*"
_LABELS = {"notebook": r"Updated[ _]Notebook", "rationale": r"Rationale(?:[ _]for[ _](?:the[ _])?Next[ _]Action)?"}
_LABEL = re.compile(
    rf"{_START}(?:(?P<notebook>{_LABELS['notebook']})|(?P<rationale>{_LABELS['rationale']})"
    r"|(?P<action>Chosen[ _]Action))[*_`\"'\]]*[ \t]*[:：][*_`]*",
    re.IGNORECASE | re.MULTILINE,
)
_DECORATION = " \t\r\n*_`\"'“”‘’«»<>"
_SAME = frozenset({"none", "n/a", "unchanged", "no change", "no changes", "no update", "no updates", "empty"})
_PREFIX = re.compile(r"^\s*(?:key[ _]element(?:[ _]of[ _]node)?|node|name)\s*[:=]\s*", re.IGNORECASE)
_ID = re.compile(r"\bID\s*[-_–:#]?\s*(\d+)", re.IGNORECASE)
_NOTEBOOK_KEYS = ("updatednotebook", "notebook")
_ACTION_KEYS = ("chosenaction", "action", "function")
_NAME_KEYS = ("name", "function", "action")
_ARGUMENT_KEYS = ("arguments", "args", "parameters", "argument")


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


def read_step(reply: str, stage: Stage) -> Read:
    """The notebook and the action of a reply in ``stage``. The last ``Chosen Action`` counts.

    Without that label the last function that the reply names counts. Faults: "no action", "wrong stage".
    """
    text = without_thoughts(reply, cut_off=False).strip()
    from_json = _json_parts(text)
    notebook, action = from_json or _labelled(text)
    name, arguments = _call(action) if action else ("", ())
    if not name and from_json is None:
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


def json_values(text: str) -> Iterator[Any]:
    """The JSON values in a reply, the largest first, mended where they are broken."""
    return (value for piece in pieces(text) if (value := value_of(piece.text)) is not None)


def first_of(value: object, keys: Collection[str]) -> Any:
    """What ``value`` has under the first of ``keys`` (of ``type_key``); None where it has none, or is not an object."""
    known = {type_key(str(key)): item for key, item in value.items()} if isinstance(value, dict) else {}
    return next((known[key] for key in keys if key in known), None)


def _name_forms(arguments: tuple[str, ...]) -> Iterator[str]:
    for words in arguments:
        yield words.strip()
        yield undecorated(words)
    for words in arguments[:1]:
        parts = re.split(r"[\"']\s*,\s*[\"']|,", words.strip().strip("[]"))
        yield from (undecorated(part) for part in parts if len(parts) > 1)


def _labelled(text: str) -> tuple[str | None, str]:
    """The notebook and the words after the last label of the action."""
    marks = list(_LABEL.finditer(text))
    ends = [*(mark.start() for mark in marks), len(text)][1:]
    parts = [(mark.lastgroup, text[mark.end() : end].strip()) for mark, end in zip(marks, ends, strict=True)]
    notebooks = [words for label, words in parts if label == "notebook"]
    actions = [words for label, words in parts if label == "action"]
    return _kept(notebooks[-1]) if notebooks else None, actions[-1] if actions else ""


def _kept(notebook: str) -> str | None:
    """A notebook's text, empty for what says that it stays as it is, None for none."""
    words = notebook.strip().strip("*").strip()
    return "" if normalise_name(words).strip("().[]") in _SAME else words or None


def _call(words: str) -> tuple[str, tuple[str, ...]]:
    """The first function in the words of an action, and its arguments."""
    found = _FUNCTION.search(words)
    return (found.lastgroup or "", _arguments(words, found.end())) if found else ("", ())


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
        return (line.strip(" \t:"),) if line.strip(" \t:.*`\"'") else ()
    level = 0
    for place, mark in enumerate(rest):
        level += (mark == "(") - (mark == ")")
        if level == 0:
            inner, outer = rest[1:place], line[1 : line.rfind(")")] if ")" in line else ""
            return tuple(dict.fromkeys(words for words in (inner, outer) if words.strip()))
    return (line[1:].rstrip(") \t"),) if line[1:].strip(") \t") else ()


def _json_parts(text: str) -> tuple[str | None, str] | None:
    """The notebook and the action of a reply that is a JSON object; None for other replies."""
    if not re.match(r"(?:```\w*\s*)?\{", text):
        return None
    for value in json_values(text):
        action, notebook = first_of(value, _ACTION_KEYS), first_of(value, _NOTEBOOK_KEYS)
        if action is not None:
            words = _action_words(action, first_of(value, _ARGUMENT_KEYS))
            return None if notebook is None else _kept(_in_words(notebook)), words
    return None


def _action_words(action: object, beside: object) -> str:
    """An action as the labelled form writes it: ``read_chunk(ID-6, ID-9)``."""
    if isinstance(action, dict):
        return f"{first_of(action, _NAME_KEYS) or ''}({_listed(first_of(action, _ARGUMENT_KEYS))})"
    if isinstance(action, list):
        return _action_words(action[0], beside) if action else ""
    words = str(action)
    return words if "(" in words or beside is None else f"{words}({_listed(beside)})"


def _listed(value: object) -> str:
    items = value.values() if isinstance(value, dict) else value if isinstance(value, list) else [value]
    return ", ".join(_listed(item) if isinstance(item, dict | list) else str(item) for item in items if item)


def _in_words(value: object) -> str:
    if isinstance(value, dict):
        return "\n".join(f"{key}: {_in_words(item)}" for key, item in value.items())
    return "\n".join(map(_in_words, value)) if isinstance(value, list) else "" if value is None else str(value)
