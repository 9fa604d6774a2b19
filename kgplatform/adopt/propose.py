"""A first mapping of a graph: from its labels, properties, constraints and relationships, with what was found beside
each line. People know better: they edit it."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass

from kgplatform.adopt.mapping import NAME, path_text, spelled_out
from kgplatform.extract.schema import Schema, fault_of_name, reserved
from kgplatform.neo4j.store import Row, Store
from kgplatform.text import counted

_NAMES = re.compile(r"(?:.*[a-z_\W])?(?:name|title|label)", re.IGNORECASE)
_FIRST, _LAST = (re.compile(f"(?:{words})_?name", re.IGNORECASE) for words in ("first|given", "last|family|sur"))
_ID = re.compile(r"(?:.*[a-z_\W])?(?:id|key|code|uuid)|.*ID", re.IGNORECASE)
_PLAIN = re.compile(r"[A-Za-z_]\w*")
_UNSAID = re.compile(r"LIST<(?:FLOAT|INTEGER).*|POINT|VECTOR.*")
"""Types of vectors, and of what no sentence says."""
_HEAD = """\
# What `kgplatform adopt` reads of this graph. Edit it, then run `kgplatform adopt` with this file's name.
#
# A node becomes a document: a sentence for each property, and for each relationship that leads from it. In a sentence
# {{property}} is a value, {{name}} what the node is called; what is in [brackets] is left out where it lacks a value.
# Delete what is not to be read. Give a label the type that documents have for such things, and both are one.
from: {source}
nodes:"""


@dataclass(slots=True)
class _Property:
    """A property of the nodes of a label, and how many of them have it."""

    name: str
    types: set[str]
    count: int
    every: bool = False

    @property
    def is_text(self) -> bool:
        return self.types == {"STRING"}

    @property
    def found(self) -> str:
        """For people: what it holds."""
        return f"{' or '.join(sorted(self.types)).lower()}{'' if self.every else ', not on every node'}"


def proposed(theirs: Store, source: str, schema: Schema) -> str:
    """A mapping of the graph ``theirs``, whose address is ``source``, as a file. ``schema``: that of the own graph."""
    combinations = theirs.read("adopt/labels")
    counts = Counter[str]()
    for row in combinations:
        counts.update(dict.fromkeys(row["labels"], row["count"]))

    def chosen(labels: Collection[str]) -> str:
        """Of a node's labels that which most nodes have."""
        return min(labels, key=lambda each: (-counts[each], each), default="")

    sizes, properties = Counter[str](), defaultdict[str, dict[str, _Property]](dict)
    for row in combinations:
        sizes[chosen(row["labels"])] += row["count"]
    for row in theirs.read("adopt/properties"):
        label, one = chosen(row["labels"]), _property(row)
        known = properties[label].setdefault(one.name, _Property(one.name, set(), 0))
        known.types, known.count = known.types | one.types, known.count + one.count
        known.every = known.count == sizes[label]
    unique = {(row["label"], row["property"]) for row in theirs.read("adopt/unique")}
    lines = [_HEAD.format(source=json.dumps(source))]
    for label in sorted(filter(None, sizes)):
        lines += _of_label(label, sizes[label], [*properties[label].values()], unique, schema)
    return "\n".join((*lines, *_of_paths(theirs, chosen))) + "\n"


def _property(row: Row) -> _Property:
    return _Property(row["name"], {each.replace(" NOT NULL", "") for each in row["types"]}, row["count"])


def _is_unsaid(one: _Property) -> bool:
    return any(map(_UNSAID.fullmatch, one.types))


def _of_label(
    label: str, count: int, properties: Sequence[_Property], unique: Collection[tuple[str, str]], schema: Schema
) -> Iterator[str]:
    """The lines of a label."""
    fitting = [each for each in sorted(properties, key=lambda each: each.name) if not _is_unsaid(each)]
    name = _name(label, fitting)
    keys = [each for each in fitting if (label, each.name) in unique]
    likely = [each for each in fitting if each.every and _ID.fullmatch(each.name)]
    id_ = min(keys or likely, key=lambda each: (len(each.name), each.name), default=None)
    sure = "unique by a constraint" if keys else "is it unique?"
    if id_ is None:
        id_ = min(fitting, key=lambda each: f"{{{each.name}}}" != name, default=None)
        sure = "please choose a property that tells these nodes apart"
    known = schema.entity(label)
    is_free = not (fault_of_name(label) or reserved("entity", label))
    type_ = known.name if known else label if is_free else f"{spelled_out(label)} row"
    called = name or f"{spelled_out(label).capitalize()} {{{id_.name if id_ else ''}}}"
    yield f"  {_key(label)}:  # {counted(count, 'node')}"
    yield f"    id: {_key(id_.name) if id_ else ''}  # {sure}"
    yield f"    name: {json.dumps(called, ensure_ascii=False)}"
    yield f"    type: {_key(type_)}"
    said = [each for each in fitting if each.name != NAME and f"{{{each.name}}}" not in called]
    if said:
        yield "    sentences:"
    for each in said:
        sentence = f"{{name}}: {spelled_out(each.name)} {{{each.name}}}."
        yield f"      {_key(each.name)}: {json.dumps(sentence, ensure_ascii=False)}  # {each.found}"


def _name(label: str, properties: Sequence[_Property]) -> str:
    """What the nodes of a label are called; empty where no property looks like a name."""
    first, last = (
        next((each for each in properties if pattern.fullmatch(each.name)), None) for pattern in (_FIRST, _LAST)
    )
    if first and last:
        return f"{{{first.name}}} {{{last.name}}}"
    fitting = [each for each in properties if each.is_text and _NAMES.fullmatch(each.name)]
    own = (f"{label}name".casefold(), f"{label}_name".casefold())
    best = min(
        fitting,
        key=lambda each: (not each.every, each.name.casefold() not in ("name", *own), len(each.name), each.name),
        default=None,
    )
    return f"{{{best.name}}}" if best else ""


def _of_paths(theirs: Store, chosen: Callable[[Collection[str]], str]) -> Iterator[str]:
    """The lines of the relationships."""
    properties = defaultdict[str, list[str]](list)
    for row in theirs.read("adopt/path_properties"):
        if not _is_unsaid(_property(row)):
            properties[row["type"]].append(row["name"])
    sizes = Counter[tuple[str, str, str]]()
    for row in theirs.read("adopt/paths"):
        sizes[chosen(row["start"]), row["type"], chosen(row["end"])] += row["count"]
    if sizes:
        yield "relationships:"
    for (start, type_, end), count in sorted(sizes.items()):
        if start and end:
            more = "".join(f"[, {spelled_out(each)} {{{each}}}]" for each in sorted(properties[type_]))
            sentence = json.dumps(f"{{a.name}} {spelled_out(type_)} {{b.name}}{more}.", ensure_ascii=False)
            path = json.dumps(path_text(start, type_, end), ensure_ascii=False)
            yield f"  {path}: {sentence}  # {counted(count, 'relationship')}"


def _key(name: str) -> str:
    """A name as YAML takes it."""
    return name if _PLAIN.fullmatch(name) else json.dumps(name, ensure_ascii=False)
