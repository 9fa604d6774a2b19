"""Samples, drawn by seed, of what the local extractor finds in a folder of texts, for a person to judge.

    .venv/bin/python tests/benchmarks/judge_facts.py FOLDER --seed 7 --count 40

Documents are read, cut and extracted as an ingest does it. Items are those of the graph: a name with its type once,
a relation once. Each is printed with the sentence it rests on; before them, how many there are, the share of names
that have a type, and the processor time per megabyte.
"""

import argparse
import random
import time
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
Found = dict[str, dict[Key, str]]
"""By kind, each distinct item with the words around its first mention, in the order of the documents."""
MEGABYTE = 1_000_000
SHOWN = 130
"""Characters of a sentence before and after the name, at most."""


def read(paths: list[Path]) -> tuple[Found, int, float]:
    """What an ingest of ``paths`` would find without a model, the bytes of the texts, and the processor's seconds."""
    found: Found = {"names": {}, "relations": {}, "life dates": {}}
    extractor, schema, size, seconds = LocalExtractor(), load_schema("general"), 0, 0.0
    for document in load(paths):
        if not isinstance(document, Document):
            continue
        size += len(document.text.encode())
        for passage in cut_document(document, Settings().passage_tokens):
            started = time.process_time()
            extraction = extractor.extract(passage, document, schema)
            seconds += time.process_time() - started
            _add(found, extraction, passage, document)
    return found, size, seconds


def _add(found: Found, extraction: Extraction, passage: Passage, document: Document) -> None:
    for entity in extraction.entities:
        context = f"[{document.title}] {_around(passage.text, entity.quote or entity.name)}"
        key = (normalise_name(entity.name), entity.type)
        found["names"].setdefault(key, f"{entity.name}\t{entity.type}\t{context}")
    for triple in extraction.triples:
        stated = (triple.subject, triple.predicate, triple.object)
        line = f"{' | '.join(stated)}\t{tidy(triple.quote or '')}"
        found["relations"].setdefault(tuple(map(normalise_name, stated)), line)
    for each in extraction.attributes:
        if each.key in ("born", "died"):
            line = f"{each.entity} | {each.key} | {each.value}\t{tidy(each.quote or '')}"
            found["life dates"].setdefault((normalise_name(each.entity), each.key, each.value), line)


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
    asked = parser.parse_args()
    found, size, seconds = read(asked.paths)
    typed = [line for (_, type_), line in found["names"].items() if type_ is not None]
    print(f"{size / MEGABYTE:.1f} MB, {seconds / size * MEGABYTE:.2f} CPU-seconds per MB")
    print(f"types: given to {100 * len(typed) / max(1, len(found['names'])):.0f} % of {len(found['names']):,}")
    for kind, lines in {**{kind: list(items.values()) for kind, items in found.items()}, "types": typed}.items():
        chosen = random.Random(f"{kind} {asked.seed}").sample(lines, min(asked.count, len(lines)))
        print(f"\n{kind}: {len(chosen)} of {len(lines):,}")
        print("\n".join(f"{number}. {line}" for number, line in enumerate(chosen, 1)))


if __name__ == "__main__":
    main()
