"""A graph of given statements: one document for each, so that every passage states one thing."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from corpora import put, put_jsonl

from kgplatform.client import KnowledgeGraph

Statement = tuple[str, str, str]


def ingest(
    kg: KnowledgeGraph, folder: Path, statements: Sequence[Statement], types: Mapping[str, str] | None = None
) -> None:
    """Each statement as a document and its triple; ``types`` of entities by name, the others have none."""
    files = {f"{number:03}.txt": f"{' '.join(each)}." for number, each in enumerate(statements)}
    lines = [_line(f"{number:03}.txt", each, types or {}) for number, each in enumerate(statements)]
    kg.ingest(put(folder, files), recorded=put_jsonl(folder / "recorded.jsonl", lines), mode="flexible")


def _line(document: str, statement: Statement, types: Mapping[str, str]) -> dict[str, object]:
    subject, predicate, object_ = statement
    names = [{"name": each, "type": types[each]} for each in (subject, object_) if each in types]
    triple = {"subject": subject, "predicate": predicate, "object": object_, "quote": " ".join(statement)}
    return {"document": document, "entities": names, "triples": [triple]}


def chain(*names: str, predicate: str = "taught") -> list[Statement]:
    """Each of ``names`` with the next one."""
    return [(one, predicate, other) for one, other in zip(names, names[1:], strict=False)]
