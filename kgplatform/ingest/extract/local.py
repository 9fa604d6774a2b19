"""The local extractor: rules only, no model, no download. It sees one document, never the corpus.

    extraction = LocalExtractor().extract(passage, document, schema)

Named things, typed where their form or their sentence tells; relations, dates and descriptions that a sentence states
in so many words; every sentence that joins two named things as an atomic fact. Quotes are verbatim.
"""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from threading import Lock

from kgplatform.ingest.extract import Mode
from kgplatform.ingest.extract.lexicon import FUNCTION_WORDS, OPENERS, kind_of_name, kind_of_noun_phrase, type_in, words
from kgplatform.ingest.extract.names import DocumentWords, Span, names
from kgplatform.ingest.extract.relations import Relation, Value, relations, values
from kgplatform.ingest.schema import Schema
from kgplatform.records import (
    AtomicFact,
    Document,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Passage,
)
from kgplatform.sentences import Sentence, sentences
from kgplatform.text import normalise_name, tidy

DOCUMENTS_KEPT = 64
FEW_CAPITALS = 0.08
"""Below this share of words with a capital inside sentences, a document is read for recurring terms too."""

_ASIDE = re.compile(r"\s*[(（][^()（）]*[)）]\s*\Z")
_ARTICLE = re.compile(r"\A(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
_FILE_NAME = re.compile(r"_|\.[A-Za-z0-9]{1,5}\Z")
_EDGE = r"[A-Za-z0-9\u00c0-\u024f\u0370-\u052f]"
_PERSON_KEYS = ("born", "died")


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the whole document tells about its words. ``title`` finds the forms of the document's name in a text."""

    words: DocumentWords
    terms: frozenset[str]
    forms: tuple[str, ...]
    title: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class _Line:
    """One sentence of a passage, where it starts there, and the names in it."""

    text: str
    start: int
    spans: tuple[Span, ...]
    relations: tuple[Relation, ...]
    values: tuple[Value, ...]


class LocalExtractor:
    """An ``Extractor`` by rules. What it says of a passage depends on the passage and its document alone."""

    name = "local"
    default_mode: Mode = "flexible"

    def __init__(self) -> None:
        self._readings: OrderedDict[tuple[str, str], _Reading] = OrderedDict()
        self._lock = Lock()

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What ``passage`` says; never raises for any text. Types are those of ``schema``, or None."""
        reading = self._reading(document)
        lines = [_line(passage.text, sentence, reading) for sentence in sentences(passage.text)]
        of_document = reading.forms if passage.index == 0 else ()
        return Extraction(
            entities=tuple(_entities(lines, of_document, schema)),
            triples=tuple(_triples(lines)),
            attributes=tuple(_attributes(lines)),
            facts=tuple(_facts(lines)),
        )

    def _reading(self, document: Document) -> _Reading:
        """The document's reading, from the last ``DOCUMENTS_KEPT`` if it is there."""
        key = (document.id, document.sha256)
        with self._lock:
            if key in self._readings:
                self._readings.move_to_end(key)
                return self._readings[key]
        reading = _read(document)
        with self._lock:
            self._readings[key] = reading
            while len(self._readings) > DOCUMENTS_KEPT:
                self._readings.popitem(last=False)
        return reading


def title_forms(name: str) -> tuple[str, ...]:
    """The names that a document's title is known by: itself, without what stands in brackets, without its article.

    >>> title_forms("The Cure (band)")
    ('The Cure (band)', 'The Cure', 'Cure')
    """
    title = tidy(name)
    if not any(letter.isalpha() for letter in title) or _FILE_NAME.search(title):
        return ()
    bare = _ASIDE.sub("", title) or title
    forms = (title, bare, _ARTICLE.sub("", bare))
    return tuple(dict.fromkeys(form for form in forms if form))


def _read(document: Document) -> _Reading:
    words = DocumentWords.of(document.text, document.title)
    capitals, others = sum(words.capital.values()), sum(words.lower.values())
    is_plain = capitals < FEW_CAPITALS * (capitals + others)
    forms = title_forms(document.title)
    return _Reading(words, recurring_terms(document.text) if is_plain else frozenset(), forms, _finder(forms))


def _finder(forms: Sequence[str]) -> re.Pattern[str] | None:
    """A pattern that finds the forms as whole words, the longest first; forms of one letter are not looked for."""
    patterns = []
    for form in sorted((form for form in forms if len(form) > 1), key=lambda form: (-len(form), form)):
        before = rf"(?<!{_EDGE})" if re.match(_EDGE, form) else ""
        after = rf"(?!{_EDGE})" if re.match(_EDGE, form[-1]) else ""
        patterns.append(before + r"\s+".join(map(re.escape, form.split())) + after)
    return re.compile("|".join(patterns)) if patterns else None


def _line(text: str, sentence: Sentence, reading: _Reading) -> _Line:
    found = names(text, sentence.start, sentence.end, reading.words)
    if reading.title is not None:
        found = _with_titles(text, sentence, reading.title, found)
    if reading.terms:
        found = _with_terms(found, terms(text, sentence.start, sentence.end, reading.terms))
    stated = _without_overlap(found)
    return _Line(
        text[sentence.start : sentence.end],
        sentence.start,
        tuple(found),
        tuple(relations(text, stated, sentence.start, sentence.end)),
        tuple(values(text, stated, sentence.start, sentence.end)),
    )


def _with_titles(text: str, sentence: Sentence, title: re.Pattern[str], found: list[Span]) -> list[Span]:
    """The names and the document's own; a name inside a mention of the title is a part of it."""
    own = [
        Span(tidy(match[0]), match.start(), match.end())
        for match in title.finditer(text, sentence.start, sentence.end)
        if not any(span.start <= match.start() and match.end() <= span.end for span in found)
    ]
    kept = [span for span in found if not any(mine.start <= span.start and span.end <= mine.end for mine in own)]
    return sorted(kept + own, key=lambda span: (span.start, -span.end))


def _with_terms(found: list[Span], recurring: list[Span]) -> list[Span]:
    fresh = [term for term in recurring if not any(span.start < term.end and term.start < span.end for span in found)]
    return sorted(found + fresh, key=lambda span: (span.start, -span.end))


def _without_overlap(found: Iterable[Span]) -> list[Span]:
    kept: list[Span] = []
    for span in found:
        if not kept or span.start >= kept[-1].end:
            kept.append(span)
    return kept


def _entities(lines: Sequence[_Line], of_document: Sequence[str], schema: Schema) -> Iterator[ExtractedEntity]:
    """Each name once, as it is first written; the document's own name has a quote only where the passage writes it."""
    kinds = _stated_kinds(lines)
    seen: set[str] = set()
    for line in lines:
        for span in line.spans:
            key = normalise_name(span.name)
            if key and key not in seen:
                seen.add(key)
                kind = kind_of_name(span.name) or kinds.get(key)
                quote = line.text[span.start - line.start : span.end - line.start]
                yield ExtractedEntity(span.name, type_in(schema, kind), quote=quote)
    for form in of_document:
        key = normalise_name(form)
        if key not in seen:
            seen.add(key)
            yield ExtractedEntity(form, type_in(schema, kind_of_name(form) or kinds.get(key)))


def _stated_kinds(lines: Sequence[_Line]) -> dict[str, str]:
    """The kinds that the sentences give to names: by what something is, and by being born."""
    kinds: dict[str, str] = {}
    for line in lines:
        for value in line.values:
            kind = "Person" if value.key in _PERSON_KEYS else kind_of_noun_phrase(value.value)
            if kind is not None and value.key != "founded":
                kinds.setdefault(normalise_name(value.name), kind)
    return kinds


def _triples(lines: Sequence[_Line]) -> Iterator[ExtractedTriple]:
    triples = (
        ExtractedTriple(relation.subject, relation.predicate, relation.object, quote=line.text)
        for line in lines
        for relation in line.relations
    )
    return iter(dict.fromkeys(triples))


def _attributes(lines: Sequence[_Line]) -> Iterator[ExtractedAttribute]:
    attributes = (
        ExtractedAttribute(value.name, value.key, value.value, quote=line.text)
        for line in lines
        for value in line.values
    )
    return iter(dict.fromkeys(attributes))


def _facts(lines: Sequence[_Line]) -> Iterator[AtomicFact]:
    """Sentences that join two names or more."""
    for line in lines:
        by_key: dict[str, str] = {}
        for span in line.spans:
            by_key.setdefault(normalise_name(span.name), span.name)
        key_elements = tuple(by_key.values())
        if len(key_elements) > 1:
            yield AtomicFact(tidy(line.text), key_elements, quote=line.text)


# ------------------------------------------------------------------------------------------------------ recurring terms


FEWEST_REPEATS = 3
MOST_TERMS = 2000
_MOST_WORDS = 4

_PIECE = re.compile(r"(?P<word>[^\W\d_]+(?:['’\-\u2010\u2011][^\W\d_]+)*)|(?P<space>[ \n])|(?P<stop>.)", re.DOTALL)
_VERBS = words(
    """
    accept affect allow appear apply ask avoid begin believe bring call care cause change check choose come consider
    contain continue cost create decide depend describe develop die differ discuss drink eat end exist explain feel
    find follow forget get give go grow happen hear help hold hope include increase involve keep know lead learn leave
    let like live look lose love lower make mean meet move need occur offer open order pass pay play prevent provide
    put raise reach read receive recommend reduce remain remember remove require say see seem send serve show sit
    sleep speak spend spread stand start stay stop suggest take talk tell tend think treat try turn understand use
    visit wait want watch win wish work worry write able asks called calls causes comes common contains different done
    gets gives goes good got great helps high important includes including involves keeps known large leads like
    likely long looks low made makes means much needed needs new old possible provides put puts removes says seen sees
    shows small taken takes tells tends told took uses using wants way ways went works sometimes usually often always
    also well lot lots thing things people person day days week weeks month months year years time times number kind
    kinds type types
    """
)
_BREAKS = FUNCTION_WORDS | OPENERS | _VERBS


def recurring_terms(text: str) -> frozenset[str]:
    """Folded terms of ``text`` that stand in it at least three times, the most frequent ones if there are many.

    Domain texts (medicine, law, manuals) write what they are about in lower case. A term is two to four words between
    function words and punctuation that the document repeats (after Rose and others, 2010, "Automatic keyword
    extraction from individual documents").
    """
    counts = Counter(term for term, _, _ in _candidates(text))
    frequent = [(-count, term) for term, count in counts.items() if count >= FEWEST_REPEATS]
    return frozenset(term for _, term in sorted(frequent)[:MOST_TERMS])


def terms(text: str, start: int, end: int, known: frozenset[str]) -> list[Span]:
    """The ``known`` terms in ``text[start:end]``, in reading order."""
    part = text[start:end]
    return [Span(term, start + left, start + right) for term, left, right in _candidates(part) if term in known]


def _candidates(text: str) -> Iterator[tuple[str, int, int]]:
    """Every run of two to four content words: its folded form and its characters."""
    run: list[re.Match[str]] = []
    for piece in _PIECE.finditer(text):
        if piece["space"]:
            continue
        if piece["word"] and piece["word"].lower() not in _BREAKS and len(piece["word"]) > 1:
            run.append(piece)
            continue
        yield from _term(run)
        run = []
    yield from _term(run)


def _term(run: list[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    if 2 <= len(run) <= _MOST_WORDS and not run[-1][0].lower().endswith(("ly", "ing", "ed")):
        yield " ".join(piece[0].lower() for piece in run), run[0].start(), run[-1].end()
