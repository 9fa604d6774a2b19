"""Small corpora for tests: a pair of files that share much, and any number of invented notes."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from graph_state import Snapshot

from kgplatform.prompt import Messages

ENDS = {"founded": ("Person", "Organization"), "born_in": ("Person", "Place"), "works_for": ("Person", "Organization")}


def put(folder: Path, files: dict[str, str]) -> list[Path]:
    """Files by name, written into ``folder``; their paths, in order."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")
    return [folder / name for name in files]


def put_jsonl(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    """A recording (or any JSONL file) at ``path``."""
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def difference(one: Snapshot, other: Snapshot) -> list[str]:
    """What two graphs differ in, a line a node or relationship; for messages that people can read."""
    lines = []
    for key in sorted(one[0].keys() | other[0].keys()):
        mine, theirs = one[0].get(key), other[0].get(key)
        if mine is None or theirs is None:
            lines.append(
                f"{'only in the second' if mine is None else 'only in the first'}: {key} {mine or theirs}"[:400]
            )
        elif mine != theirs:
            fields = {name: (mine.get(name), theirs.get(name)) for name in mine.keys() | theirs.keys()}
            lines.append(f"{key} {mine.get('name')}: { {k: v for k, v in fields.items() if v[0] != v[1]} }"[:600])
    first, second = ({repr(edge) for edge in side[1]} for side in (one, other))
    lines += [f"only in the first: {edge}" for edge in sorted(first - second)]
    lines += [f"only in the second: {edge}" for edge in sorted(second - first)]
    if not lines and one != other:
        lines.append("the same relationship is there several times")
    return lines


FIELD = {
    "field.txt": (
        "Cyrus Field was born in Stockbridge in 1819. Cyrus Field founded the Atlantic Telegraph Company. "
        "The cable of 1866 made him famous, and he worked for peace."
    )
}
OTHERS = {
    "letter.txt": (
        "CYRUS FIELD was born in 1819. Cyrus Field founded the Atlantic Telegraph Company, and CYRUS FIELD was a "
        "merchant. Cyrus West Field financed a Cable to Ireland. John Pender worked for the Atlantic Telegraph Company."
    ),
    "obituary.txt": (
        "CYRUS FIELD of New York died in 1892. CYRUS FIELD had FOUNDED the Atlantic Telegraph Company. "
        "John Pender financed a Cable as well."
    ),
}


def _people(*names: str) -> list[dict[str, str]]:
    return [{"name": name, "type": "Person"} for name in names]


def _triple(subject: str, predicate: str, object_: str) -> dict[str, str]:
    return {"subject": subject, "predicate": predicate, "object": object_}


_COMPANY = {"name": "Atlantic Telegraph Company", "type": "Organization"}
_FINANCED = {"kind": "relation", "name": "financed", "confidence": 0.95, "example": "financed a Cable"}
RECORDING: list[dict[str, Any]] = [
    {
        "document": "field.txt",
        "entities": [*_people("Cyrus Field"), _COMPANY, {"name": "Stockbridge", "type": "Place"}],
        "triples": [
            _triple("Cyrus Field", "founded", "Atlantic Telegraph Company"),
            _triple("Cyrus Field", "born in", "Stockbridge"),
        ],
        "attributes": [{"entity": "Cyrus Field", "key": "birth date", "value": "1819"}],
        "facts": [
            {"text": "Cyrus Field founded the company.", "key_elements": ["Cyrus Field", "founded", "company"]},
            {"text": "The cable of 1866 made him famous.", "key_elements": ["cable", "famous"]},
        ],
    },
    {
        "document": "letter.txt",
        "entities": [*_people("CYRUS FIELD", "Cyrus Field", "Cyrus West Field", "John Pender"), _COMPANY],
        "triples": [
            _triple("Cyrus Field", "founded", "Atlantic Telegraph Company"),
            _triple("CYRUS FIELD", "founded", "Atlantic Telegraph Company"),
            _triple("John Pender", "works for", "Atlantic Telegraph Company"),
        ],
        "attributes": [
            {"entity": "CYRUS FIELD", "key": "birth date", "value": "1819"},
            {"entity": "CYRUS FIELD", "key": "occupation", "value": "merchant"},
        ],
        "facts": [{"text": "Cyrus West Field financed a Cable.", "key_elements": ["Cyrus West Field", "Cable"]}],
        "proposals": [_FINANCED],
    },
    {
        "document": "obituary.txt",
        "entities": [*_people("CYRUS FIELD", "John Pender"), _COMPANY, {"name": "New York", "type": "Place"}],
        "triples": [_triple("CYRUS FIELD", "founded", "Atlantic Telegraph Company")],
        "attributes": [{"entity": "CYRUS FIELD", "key": "death date", "value": "1892"}],
        "facts": [{"text": "He had FOUNDED the company.", "key_elements": ["FOUNDED", "CYRUS FIELD"]}],
        "proposals": [_FINANCED],
    },
]


_PEOPLE = ("Ada Norrby", "Ben Okafor", "Chloé Marchand", "Dong Wei", "Elif Şahin", "Finn Aalto", "Grace Mbeki")
_FIRMS = ("Harbour Works", "Kestrel Lines", "Northern Cable", "Ostrava Steel")
_TOWNS = ("Aberdeen", "Brest", "Cádiz", "Danzig", "Esbjerg")
_SHIPS = ("Petrel", "Sea Lark", "Marigold")


def invented(folder: Path, count: int) -> list[Path]:
    """``count`` notes that share people, firms, towns and ships; each is three passages of 40 tokens at most."""
    return put(folder, {f"note_{number:03}.txt": note(number) for number in range(count)})


def note(n: int) -> str:
    """The ``n``-th of the invented notes."""
    person, other = _PEOPLE[n % 7], _PEOPLE[(3 * n + 1) % 7]
    firm, town, ship = _FIRMS[n % 4], _TOWNS[n % 5], _SHIPS[n % 3]
    shown = person.upper() if n % 4 == 1 else person
    return (
        f"{shown} works for {firm} in the town of {town}. {person} was born in {_TOWNS[(n + 2) % 5]} in {1900 + n}, "
        f"and moved there as a child.\n\n"
        f"{firm} was founded by {other} in {1800 + n}. {firm} Limited has an office in {town}, and a large yard.\n\n"
        f"The {ship} was built by {firm} for the trade with {town}. {other} sailed on the {ship} for number {n}.\n"
    )


def extracted(messages: Messages) -> str:
    """A language model's answer about an invented note, by rules. It types ships only if the schema has ``Vessel``,
    which it proposes.
    """
    schema, text = messages[0]["content"], messages[1]["content"]
    has_vessel = "- Vessel" in schema
    people = [name for name in _PEOPLE if name in text or name.upper() in text]
    forms = [name.upper() if name.upper() in text else name for name in people]
    firms, towns = [name for name in _FIRMS if name in text], [name for name in _TOWNS if name in text]
    ships = [name for name in _SHIPS if name in text]
    kinds = [
        ("Person", forms),
        ("Organization", firms),
        ("Place", towns),
        ("Vessel" if has_vessel else "Product", ships),
    ]
    founded = re.search(r"(\w[\w ]+) was founded by ([^.]+?) in \d+", text)
    works = re.search(r"(\w[\w ]+) works for ([\w ]+) in the town", text)
    triples = [_triple(founded[2], "founded", founded[1])] if founded else []
    triples += [_triple(works[1], "works_for", works[2])] if works else []
    sentences = [each for each in re.findall(r"^\[\d+\] (.*)", text, re.MULTILINE) if each.endswith(".")]
    names = [name for _, found in kinds for name in found]
    return json.dumps(
        {
            "entities": [{"name": name, "type": kind} for kind, found in kinds for name in found],
            "triples": [each for each in triples if each["subject"] in names and each["object"] in names],
            "attributes": [{"entity": each, "key": "size", "value": "large"} for each in ships if "trade" in text],
            "facts": [
                {"text": each, "key_elements": [n for n in names if n in each] or re.findall(r"\w{5,}", each)[:1]}
                for each in sentences
            ],
            "proposals": []
            if has_vessel or not ships
            else [{"kind": "entity", "name": "Vessel", "confidence": 0.97, "example": ships[0]}],
        }
    )
