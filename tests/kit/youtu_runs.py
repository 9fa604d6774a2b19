"""What the tests of the reader youtu share: replies in the forms that its prompts ask for, and graphs of lives."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from corpora import put, put_jsonl
from model_by_prompt import Prompt

from kgplatform.client import KnowledgeGraph
from kgplatform.extract.schema import Schema
from kgplatform.readers.run import SchemaTypes
from kgplatform.search.evidence import Evidence


def plan(
    *questions: str,
    nodes: Sequence[str] = (),
    relations: Sequence[str] = (),
    attributes: Sequence[str] = (),
    group: bool = False,
) -> str:
    """A decomposition, in the form that the prompt asks for."""
    types = [*nodes, *relations, *attributes]
    return json.dumps({"sub_questions": list(questions), "types": types, "group": group})


def filled(*answers: str | Sequence[str]) -> str:
    """Short answers to the questions that are asked, one or several each: ``filled("…", ["…", "…"])``."""
    return json.dumps({"answers": [[words] if isinstance(words, str) else list(words) for words in answers]})


def looks_for(query: str) -> str:
    """A step of the reflection that searches again."""
    return json.dumps({"reasoning": "Not all is there.", "query": query, "answer": ""})


def concludes(answer: str) -> str:
    return json.dumps({"reasoning": "All is there.", "query": "", "answer": answer})


REFUSES = json.dumps({"evidence": [], "answer": "", "sufficient": False})


def says(text: str, *sentences: str) -> Callable[[Prompt], str]:
    """An answer that cites the sentences of the prompt that have these words; a refusal where one is missing."""

    def reply(prompt: Prompt) -> str:
        numbers = [prompt.number_of(words) for words in sentences]
        if None in numbers:
            return REFUSES
        marks = "".join(f"[{number}]" for number in numbers)
        return json.dumps({"evidence": numbers, "answer": f"{text} {marks}", "sufficient": True})

    return reply


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


MILL_LINES: list[dict[str, Any]] = [
    {
        "document": "mill.txt",
        "entities": entities({"Anna Reed": "Person", "Hollow Ford": "Place"}),
        "triples": [triple("Anna Reed", "visited", "Hollow Ford")],
    },
    {
        "document": "reed.txt",
        "entities": entities({"Anna Reed": "Person", "Joost Vink": "Person", "Saltmarsh": "Place"}),
        "triples": [triple("Anna Reed", "visited", "Saltmarsh")],
    },
]
"""The extraction of "mill.txt" and "reed.txt", in which Anna Reed is named."""
