"""The one dictionary of a corpus and its questions: which placeholder stands for whom."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from kgplatform.evaluate.anonymity.entities import Entity, WordUse, resolve
from kgplatform.evaluate.anonymity.placeholders import number_entities, taken_numbers
from kgplatform.evaluate.anonymity.replace import Finder
from kgplatform.evaluate.anonymity.sources import Names


@dataclass(frozen=True, slots=True)
class Dictionary:
    """``entities`` by placeholder, in the order of their labels and names; ``finder`` finds all forms of them."""

    entities: Mapping[str, Entity]
    finder: Finder

    @classmethod
    def of(cls, names: Sequence[Names], texts: Sequence[str], seed: int) -> Dictionary:
        """The dictionary for ``texts`` out of all that the sources give, the surest source first."""
        candidates = [candidate for each in names for candidate in each.candidates]
        likenesses = [likeness for each in names for likeness in each.likenesses]
        entities = resolve(candidates, likenesses, WordUse.of(texts))
        taken = {number for text in texts for number in taken_numbers(text)}
        numbers = number_entities(((each.label, each.name) for each in entities), seed, taken)
        by_placeholder = {numbers[each.label, each.name]: each for each in entities}
        forms = {form: placeholder for placeholder, each in by_placeholder.items() for form in each.forms}
        plain = {form for each in entities for form in each.plain_words}
        return cls(by_placeholder, Finder(forms, plain))

    def names_of(self, placeholder: str) -> tuple[str, ...]:
        """All right answers for a placeholder, its name first."""
        entity = self.entities[placeholder]
        return tuple(dict.fromkeys((entity.name, *entity.forms, *entity.may_be)))

    def meant_by(self, placeholder: str) -> tuple[str, ...]:
        """The names of those whom a placeholder may stand for."""
        entity = self.entities[placeholder]
        return (entity.name, *entity.may_be)

    def without_entry(self, names: Iterable[str]) -> list[str]:
        """Those of ``names`` in which nothing is replaced."""
        return [name for name in names if not self.finder.mentions(name)]
