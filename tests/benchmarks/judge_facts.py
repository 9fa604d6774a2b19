"""Samples, drawn by seed, of what the local extractor finds in a folder of texts, for a person to judge.

    .venv/bin/python tests/benchmarks/judge_facts.py FOLDER --seed 7 --count 40

Documents are read, cut and extracted as an ingest does it. Items are those of the graph: a name with its type once,
a relation once. Each is printed with the sentence it rests on; before them, how many there are, the share of names
that have a type, and the processor time per megabyte.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from kgplatform.extract.local import LocalExtractor
from kgplatform.extract.schema import load_schema
from kgplatform.records import Document, Extraction, Passage
from kgplatform.settings import Settings
from kgplatform.sources.cut import cut_document
from kgplatform.sources.load import load
from kgplatform.text import normalise_name, tidy
from kgplatform.text.sentences import sentences

Key = tuple[str | None, ...]
MEGABYTE = 1_000_000
SHOWN = 130
"""Characters of a sentence before and after the name, at most."""


@dataclass(slots=True)
class Found:
    """Each distinct item with the words around its first mention, in the order of the documents."""

    names: dict[Key, str] = field(default_factory=dict)
    relations: dict[Key, str] = field(default_factory=dict)
    dates: dict[Key, str] = field(default_factory=dict)
    size: int = 0
    seconds: float = 0.0

    def add(self, extraction: Extraction, passage: Passage, document: Document) -> None:
        for entity in extraction.entities:
            context = f"[{document.title}] {_around(passage.text, entity.quote or entity.name)}"
            self.names.setdefault(
                (normalise_name(entity.name), entity.type), f"{entity.name}\t{entity.type}\t{context}"
            )
        for triple in extraction.triples:
            stated = (triple.subject, triple.predicate, triple.object)
            self.relations.setdefault(
                tuple(map(normalise_name, stated)), f"{' | '.join(stated)}\t{tidy(triple.quote or '')}"
            )
        for each in extraction.attributes:
            if each.key in ("born", "died"):
                line = f"{each.entity} | {each.key} | {each.value}\t{tidy(each.quote or '')}"
                self.dates.setdefault((normalise_name(each.entity), each.key, each.value), line)

    def kinds(self) -> Mapping[str, list[str]]:
        typed = [line for (_, type_), line in self.names.items() if type_ is not None]
        return {
            "names": list(self.names.values()),
            "types": typed,
            "relations": list(self.relations.values()),
            "life dates": list(self.dates.values()),
        }


def read(paths: list[Path]) -> Found:
    """What an ingest of ``paths`` would find without a model."""
    found, extractor, schema = Found(), LocalExtractor(), load_schema("general")
    for document in load(paths):
        if not isinstance(document, Document):
            continue
        passages = cut_document(document, Settings().passage_tokens)
        started = time.process_time()
        extracted = [extractor.extract(passage, document, schema) for passage in passages]
        found.seconds += time.process_time() - started
        found.size += len(document.text.encode())
        for passage, extraction in zip(passages, extracted, strict=True):
            found.add(extraction, passage, document)
    return found


def _around(text: str, name: str) -> str:
    """The sentence of ``text`` that has ``name``, with that marked."""
    for place in sentences(text):
        at = text.find(name, place.start, place.end)
        if at >= 0:
            before, after = text[max(place.start, at - SHOWN) : at], text[at + len(name) : place.end][:SHOWN]
            return tidy(f"{before}»{name}«{after}")
    return ""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--count", type=int, default=40)
    parser.add_argument("--only", choices=("names", "types", "relations", "life dates"))
    asked = parser.parse_args()
    found = read(asked.paths)
    kinds = found.kinds()
    print(f"{found.size / MEGABYTE:.1f} MB, {found.seconds / found.size * MEGABYTE:.2f} CPU-seconds per MB")
    print(f"types: given to {100 * len(kinds['types']) / max(1, len(kinds['names'])):.0f} % of {len(kinds['names']):,}")
    for kind, lines in kinds.items():
        if asked.only in (None, kind):
            chosen = random.Random(f"{kind} {asked.seed}").sample(lines, min(asked.count, len(lines)))
            print(f"\n{kind}: {len(chosen)} of {len(lines):,}")
            print("\n".join(f"{number}. {line}" for number, line in enumerate(chosen, 1)))


if __name__ == "__main__":
    main()
