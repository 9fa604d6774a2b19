"""What the readers' tests share: a small library of invented lives, and a language model that plays its part."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

from corpora import put, put_jsonl

from kgplatform.client import KnowledgeGraph
from kgplatform.ingest.schema import Schema
from kgplatform.prompt import Messages
from kgplatform.readers.run import SchemaTypes
from kgplatform.records import Answer, FoundFact, FoundPassage, Step
from kgplatform.retrieve.evidence import Evidence
from kgplatform.testing import Fault

STARTS = {
    "You answer a question from numbered": "answer",
    "You prepare a question": "decompose",
    "You answer short questions": "fill_in",
    "You work towards the answer": "reflect",
}


def kind(messages: Messages) -> str:
    """Which prompt ``messages`` are, or ask again for."""
    return next(name for start, name in STARTS.items() if messages[0]["content"].startswith(start))


Line = str | Fault | Exception | Callable[[str], str]


@dataclass
class Model:
    """Plays ``lines``, each for one kind of prompt, in order; the last one of a kind is said again and again.

    A line that is a function makes the reply from the user message, one that is an error is raised. ``asked`` has the
    kind of every prompt, ``prompts`` its user message, ``systems`` its system message.
    """

    lines: dict[str, Sequence[Line]]
    asked: list[str] = field(default_factory=list)
    prompts: list[str] = field(default_factory=list)
    systems: list[str] = field(default_factory=list)

    def __call__(self, messages: Messages) -> Any:
        name, user = kind(messages), messages[1]["content"]
        place = self.asked.count(name)
        self.asked.append(name)
        self.prompts.append(user)
        self.systems.append(messages[0]["content"])
        line = self.lines[name][min(place, len(self.lines[name]) - 1)]
        if isinstance(line, Exception):
            raise line
        return line(user) if callable(line) else line

    def of(self, name: str) -> list[str]:
        """The user messages of one kind, in order."""
        return [prompt for asked, prompt in zip(self.asked, self.prompts, strict=True) if asked == name]


@dataclass(frozen=True)
class Prompt:
    """A prompt of a reader, of one ``kind``."""

    kind: str
    messages: Messages

    @property
    def user(self) -> str:
        """What it asks."""
        return self.messages[1]["content"]


def plan(
    *questions: str, nodes: Sequence[str] = (), relations: Sequence[str] = (), attributes: Sequence[str] = ()
) -> str:
    """A decomposition, in the form that the prompt asks for."""
    involved = {"nodes": list(nodes), "relations": list(relations), "attributes": list(attributes)}
    return json.dumps({"sub_questions": [{"sub-question": each} for each in questions], "involved_types": involved})


def filled(**answers: str) -> str:
    """Short answers: ``filled(n1="…")``."""
    return json.dumps({"answers": [{"number": int(n[1:]), "answer": text} for n, text in answers.items()]})


REFUSES = json.dumps({"sufficient": False, "answer": "", "citations": []})


def says(text: str, *quotes: str) -> Callable[[str], str]:
    """An answer that cites the passages of the prompt in which ``quotes`` stand; a refusal where one is missing."""

    def reply(prompt: str) -> str:
        passages = dict(re.findall(r"^\[(\d+)\] (.*(?:\n(?!\[\d+\]|</).*)*)", prompt, re.MULTILINE))
        numbers = [next((int(n) for n, words in passages.items() if quote in words), 0) for quote in quotes]
        if 0 in numbers:
            return REFUSES
        citations = [{"passage": n, "quote": quote} for n, quote in zip(numbers, quotes, strict=True)]
        marks = "".join(f"[{n}]" for n in numbers)
        return json.dumps({"sufficient": True, "answer": f"{text} {marks}", "citations": citations})

    return reply


# -------------------------------------------------------------------------------------------------------------- graphs

SCHEMA = Schema.from_dict(
    {
        "name": "lives",
        "entities": {"Person": "a human being", "Creative work": "a film or book", "Organization": "", "Place": ""},
        "relations": {
            "directed by": {"heads": ["Creative work"], "tails": ["Person"]},
            "signed": {"heads": ["Organization"], "tails": ["Person"]},
            "educated_at": {"heads": ["Person"], "tails": ["Organization"]},
            "headquartered in": {"heads": ["Organization"], "tails": ["Place"]},
            "compared to": {},
            "transferred from": {"heads": ["Person"], "tails": ["Organization"]},
            "visited": {"heads": ["Person"], "tails": ["Place"]},
        },
        "attributes": ["award", "death date", "revenue"],
    }
)
TYPES = SchemaTypes(
    SCHEMA.prompt_text(),
    tuple(each.name for each in SCHEMA.entities),
    tuple(each.name for each in SCHEMA.relations),
    tuple(each.name for each in SCHEMA.attributes),
)


def fill_graph(
    kg: KnowledgeGraph, folder: Path, texts: dict[str, str], recording: Sequence[dict[str, Any]]
) -> Evidence:
    """``texts`` by file name, ingested with what ``recording`` says about them."""
    files = put(folder / "texts", texts)
    lines = [*recording, *({"document": name} for name in texts if name not in {r["document"] for r in recording})]
    kg.ingest(files, schema=SCHEMA, recorded=put_jsonl(folder / "recording.jsonl", lines))
    return Evidence(kg.store, kg.embedder)


def entities(kinds: dict[str, str]) -> list[dict[str, str]]:
    return [{"name": name, "type": kind} for name, kind in kinds.items()]


def triple(subject: str, predicate: str, object_: str) -> dict[str, str]:
    return {"subject": subject, "predicate": predicate, "object": object_}


def cited(answer: Answer) -> list[tuple[str, str]]:
    """Title and words of each citation, read from the file that it names."""
    files = [Path(url2pathname(urlparse(each.document).path)) for each in answer.citations]
    texts = [file.read_text(encoding="utf-8") for file in files]
    return [(each.title, text[each.start : each.end]) for each, text in zip(answer.citations, texts, strict=True)]


def steps(answer: Answer, name: str) -> list[Step]:
    return [each for each in answer.trace if each.name.startswith(name)]


def passage(id_: str, text: str, score: float = 1.0, title: str = "note") -> FoundPassage:
    """A passage that no store has."""
    return FoundPassage(id_, f"file:///{id_}", title, 0, len(text), None, text, score, ("passage",))


def fact(id_: str, text: str, score: float = 1.0) -> FoundFact:
    """A fact that no store has."""
    return FoundFact(id_, text, score, ("triple",), ())
