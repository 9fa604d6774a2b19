"""Documents of plain sentences, and an extractor that reads these: what a passage says follows from its text alone."""

import random
import re

from kgplatform.extract.schema import Schema, TypeKind
from kgplatform.records import (
    AtomicFact,
    Document,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Passage,
    Proposal,
)
from kgplatform.sources.objects import Text

NAMES = (
    *("Ada Lovelace", "Lovelace", "ada lovelace", "Ada  Lovelace", "Countess Ada Lovelace", "Adah Lovelace"),
    *("Acme", "ACME", "Acme Works", "Acme Work", "the Acme Works", "Mercury", "mercury", "Mercuri"),
    *("Paris", "Paris, Texas", "paris", "Jean Valjean", "Valjean", "Jean-Valjean", "R2-D2", "r2d2"),
)
TYPES = ("Person", "Organization", "Location", "Ship", "Deity", "")
PREDICATES = ("founded", "located_in", "works_for", "haunts", "is moored at")
KEYS = ("born", "height", "motto")
_STATED = re.compile(r'"([^"]+)" \((\w*)\) (\S[^"]*?) "([^"]+)" \((\w*)\)\.')
_VALUED = re.compile(r'"([^"]+)" \((\w*)\) has the (\w+) \[([^\]]+)\]\.')


class SentenceReader:
    """Reads ``"Ada" (Person) founded "Acme" (Ship).`` and ``"Ada" (Person) has the born [1815].``; each sentence is an
    atomic fact about its names too."""

    name = "sentences"

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """See ``Extractor``."""
        entities: list[ExtractedEntity] = []
        triples, attributes, facts = [], [], []
        for found in _STATED.finditer(passage.text):
            one, one_type, predicate, other, other_type = found.groups()
            entities += [ExtractedEntity(one, one_type or None), ExtractedEntity(other, other_type or None)]
            triples.append(ExtractedTriple(one, predicate, other, found[0]))
            facts.append(AtomicFact(found[0], (one, other, predicate), found[0]))
        for found in _VALUED.finditer(passage.text):
            owner, type_, key, value = found.groups()
            entities.append(ExtractedEntity(owner, type_ or None))
            attributes.append(ExtractedAttribute(owner, key, value, found[0]))
        asked: list[tuple[TypeKind, str]] = [
            *(("entity", each.type) for each in entities if each.type),
            *(("relation", each.predicate) for each in triples),
            *(("attribute", each.key) for each in attributes),
        ]
        proposed = [Proposal(kind, name, 0.95) for kind, name in asked if schema.lacks(kind, name)]
        return Extraction(tuple(entities), tuple(triples), tuple(attributes), tuple(facts), tuple(proposed))


def sentences(chance: random.Random, many: int) -> str:
    """Some sentences about names that other documents have too, of whatever type."""
    said = []
    for _ in range(many):
        one, other = chance.sample(NAMES, 2)
        type_ = chance.choice(TYPES)
        if chance.random() < 0.25:
            said.append(f'"{one}" ({type_}) has the {chance.choice(KEYS)} [{chance.randint(1, 3)} units].')
        else:
            said.append(f'"{one}" ({type_}) {chance.choice(PREDICATES)} "{other}" ({chance.choice(TYPES)}).')
    return " ".join(said)


def corpus(chance: random.Random, documents: int) -> list[Text]:
    """Documents of one or several passages, with metadata to tell them apart."""
    return [
        Text(
            "\n\n".join(sentences(chance, chance.randint(1, 4)) for _ in range(chance.randint(1, 3))),
            f"Note {number}",
            id=f"note-{number}",
            metadata={"number": number, "half": number % 2 == 0},
        )
        for number in range(documents)
    ]
