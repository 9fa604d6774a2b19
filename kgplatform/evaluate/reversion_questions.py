"""Questions about an anonymised corpus: anonymity reversion and multiple choice, simple and complex (AnonyRAG).

A question is made of a chain of triples: each fact of it joins two names, and the next one begins where the last
one ended. Up to four facts are simple, more are complex (Youtu-GraphRAG, Table 4).

- Reversion: the facts are shown with their placeholders; the answer says what each placeholder stands for.
- Choice: in the facts one placeholder and all names between are letters; the answer is the placeholder behind the
  letter X, out of four. What counts is who did what, not what a model remembers of famous names.

What a model knows without any text measures its memory, not its retrieval: ask the comparator ``closed`` too.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from kgplatform.evaluate.hidden_names import Dictionary, Finder, StatedTriple
from kgplatform.evaluate.terms import PLACEHOLDER, Question, Text
from kgplatform.text import node_id, tidy

OPTIONS = 4
_LETTERS = "XYZWVUTSR"
_TRIES = 3
_LONGEST_CLUE = 600

_REVERSION = (
    "Names in these statements are hidden behind placeholders. Say what each placeholder stands for, one line for "
    'each, in this form: "{example}: name".'
)
_CHOICE_ONE = "Which placeholder was hidden behind the letter X in this statement?"
_CHOICE_MORE = (
    "In these statements each letter hides one name or placeholder, the same letter always the same one. "
    "Which placeholder is hidden behind X?"
)


@dataclass(frozen=True, slots=True)
class Edge:
    """A triple between two names as the anonymised texts show them, with the sentence that states it."""

    subject: str
    predicate: str
    object: str
    clue: str
    document: str


Chain = tuple[tuple[Edge, str], ...]
"""Edges that follow each other, with the node that each leads to."""


def edges_of(statements: Iterable[StatedTriple], dictionary: Dictionary, documents: Mapping[str, str]) -> list[Edge]:
    """The statements that join two names, at least one of them hidden, in a sentence that shows both."""
    edges: dict[Edge, None] = {}
    for statement in statements:
        ends = [dictionary.finder.placeholder_of(name) or tidy(name) for name in (statement.subject, statement.object)]
        clue = tidy(dictionary.finder.replaced(statement.text))
        hidden = any(end in dictionary.entities for end in ends)
        if hidden and ends[0] != ends[1] and all(end in clue for end in ends) and len(clue) <= _LONGEST_CLUE:
            document = documents.get(statement.document, dictionary.finder.replaced(statement.document))
            edges[Edge(ends[0], statement.predicate, ends[1], clue, document)] = None
    return sorted(edges, key=lambda edge: (edge.subject, edge.predicate, edge.object, edge.clue, edge.document))


def make_items(edges: Sequence[Edge], dictionary: Dictionary) -> Iterator[Question]:
    """Items of the four kinds in turn until there are no more; the same for the same edges."""
    makers = [
        _of_kind(edges, dictionary, kind, hops, random.Random(kind))
        for hops, level in (((1, 2, 3, 4), "simple"), ((5, 6, 7, 8), "complex"))
        for kind in (f"reversion {level}", f"choice {level}")
    ]
    while makers:
        for maker in list(makers):
            item = next(maker, None)
            if item is None:
                makers.remove(maker)
            else:
                yield item


def build_questions(
    dictionary: Dictionary, statements: Iterable[StatedTriple], documents: Mapping[str, str], wanted: int
) -> list[Question]:
    """At most ``wanted`` items about an anonymised corpus. ``documents``: its new titles by the old ones."""
    return list(islice(make_items(edges_of(statements, dictionary, documents), dictionary), wanted))


def _of_kind(
    edges: Sequence[Edge], dictionary: Dictionary, kind: str, hops: Sequence[int], draw: random.Random
) -> Iterator[Question]:
    make = _reversion if kind.startswith("reversion") else _choice
    seen: set[frozenset[str]] = set()
    for chain in _chains(edges, hops, draw):
        clues = frozenset(edge.clue for edge, _ in chain)
        if clues not in seen:
            item = make(kind, chain, edges, dictionary, draw)
            if item is not None:
                seen.add(clues)
                yield item


def _chains(edges: Sequence[Edge], hops: Sequence[int], draw: random.Random) -> Iterator[Chain]:
    """Paths of each length from each edge, in an order that is drawn; no name and no sentence comes twice in one."""
    at: dict[str, list[Edge]] = defaultdict(list)
    for edge in edges:
        at[edge.subject].append(edge)
        at[edge.object].append(edge)
    starts = [(number, length) for length in hops for number in range(len(edges))]
    draw.shuffle(starts)
    for number, length in starts:
        for _ in range(_TRIES):
            chain = _walk(edges[number], length, at, draw)
            if chain is not None:
                yield chain
                break


def _walk(first: Edge, length: int, at: Mapping[str, Sequence[Edge]], draw: random.Random) -> Chain | None:
    ends = [first.subject, first.object]
    draw.shuffle(ends)
    chain = [(first, ends[1])]
    names, clues = set(ends), {first.clue}
    while len(chain) < length:
        end = chain[-1][1]
        onward = [
            (edge, other)
            for edge in at[end]
            for other in (edge.subject, edge.object)
            if other not in names and edge.clue not in clues
        ]
        if not onward:
            return None
        chain.append(draw.choice(onward))
        names.add(chain[-1][1])
        clues.add(chain[-1][0].clue)
    return tuple(chain)


def _reversion(kind: str, chain: Chain, edges: Sequence[Edge], dictionary: Dictionary, draw: random.Random) -> Question:
    clues = [edge.clue for edge, _ in chain]
    asked = {
        placeholder: dictionary.names_of(placeholder)
        for placeholder in _shown_in(clues)
        if placeholder in dictionary.entities
    }
    question = "\n".join((_REVERSION.format(example=next(iter(asked))), *(f"- {clue}" for clue in clues)))
    answer = "; ".join(f"{placeholder}: {names[0]}" for placeholder, names in asked.items())
    return _item(kind, chain, question, answer, placeholders=asked)


def _choice(
    kind: str, chain: Chain, edges: Sequence[Edge], dictionary: Dictionary, draw: random.Random
) -> Question | None:
    """A multiple choice of the end of the chain; None where it is not hidden, or too few others are like it."""
    last, end = chain[-1]
    if end not in dictionary.entities:
        return None
    clues = [edge.clue for edge, _ in chain]
    others = _distractors(last, end, edges, dictionary, _shown_in(clues), draw)
    if len(others) < OPTIONS - 1:
        return None
    between = [name for _, name in chain[:-1]]
    letters = dict(zip([end, *reversed(between)], _LETTERS, strict=False))
    hidden = [_lettered(clue, letters) for clue in clues]
    choices = [end, *others[: OPTIONS - 1]]
    draw.shuffle(choices)
    lead = _CHOICE_ONE if len(clues) == 1 else _CHOICE_MORE
    question = "\n".join((lead, *(f"- {clue}" for clue in hidden)))
    return _item(kind, chain, question, end, choices=tuple(choices))


def _item(kind: str, chain: Chain, text: str, answer: str, **more: Any) -> Question:
    return Question(
        id=f"{kind.replace(' ', '-')}-{node_id(text, *more.get('choices', ()))[:10]}",
        text=text,
        answers=(answer,),
        supports=tuple(map(Text, dict.fromkeys(edge.document for edge, _ in chain))),
        facts=tuple(edge.clue for edge, _ in chain),
        kind=kind,
        **more,
    )


def _shown_in(clues: Iterable[str]) -> dict[str, None]:
    """The placeholders in the order in which they come."""
    return dict.fromkeys(found[0] for clue in clues for found in PLACEHOLDER.finditer(clue))


def _distractors(
    last: Edge, end: str, edges: Sequence[Edge], dictionary: Dictionary, shown: Collection[str], draw: random.Random
) -> list[str]:
    """Placeholders of the same label that are not right as well: first those with the same relation, then others.

    A name that may mean several ("Bright", of two brothers) is right wherever one of them is.
    """
    label = dictionary.entities[end].label
    is_object = last.object == end
    other_end = last.subject if is_object else last.object
    others = {other_end, *_may_be_one_of({other_end}, dictionary)}
    alike: set[str] = set()
    right: set[str] = {end}
    for edge in edges:
        mine, theirs = (edge.object, edge.subject) if is_object else (edge.subject, edge.object)
        if edge.predicate == last.predicate:
            alike.add(mine)
        if mine in others or theirs in others:
            right |= {mine, theirs}
    right |= _may_be_one_of(right, dictionary)
    in_use = {name for edge in edges for name in (edge.subject, edge.object)}
    usable = sorted(
        each
        for each in in_use - right - set(shown)
        if each in dictionary.entities and dictionary.entities[each].label == label
    )
    draw.shuffle(usable)
    return sorted(usable, key=lambda each: each not in alike)


def _may_be_one_of(placeholders: set[str], dictionary: Dictionary) -> set[str]:
    """The placeholders that may stand for one whom one of ``placeholders`` may stand for."""
    entities = dictionary.entities
    meant = {name for placeholder in placeholders & entities.keys() for name in entities[placeholder].meant}
    return {placeholder for placeholder, entity in entities.items() if not meant.isdisjoint(entity.meant)}


def _lettered(clue: str, letters: Mapping[str, str]) -> str:
    """The clue with letters for names and placeholders."""
    for name, letter in letters.items():
        if PLACEHOLDER.fullmatch(name):
            clue = clue.replace(name, letter)
    names = {name: letter for name, letter in letters.items() if not PLACEHOLDER.fullmatch(name)}
    return Finder(names).replaced(clue) if names else clue
