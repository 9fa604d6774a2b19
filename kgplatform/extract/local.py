"""The local extractor: rules only, no model, no download. It sees one document, never the corpus.

    extraction = LocalExtractor().extract(passage, document, schema)

Named things, typed where their form or their document tells; relations, dates and descriptions that a sentence states
in so many words; every sentence that joins two named things as an atomic fact. Quotes are verbatim.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from pathlib import PurePosixPath
from urllib.parse import unquote, urlsplit

from kgplatform.extract.kinds import kinds_of, known_kind
from kgplatform.extract.languages import corrected, german_names, language_without_elisions
from kgplatform.extract.lexicon import (
    FUNCTION_WORDS,
    OPENERS,
    PEOPLES,
    WORDS,
    is_common,
    kind_of_name,
    kind_of_noun_phrase,
    type_in,
)
from kgplatform.extract.names import is_label, names
from kgplatform.extract.schema import Schema
from kgplatform.extract.statements import relations, values
from kgplatform.extract.tokens import NUMBERED, TOKEN, DocumentWords, Span, is_prose, is_running
from kgplatform.records import (
    AtomicFact,
    Document,
    ExtractedAttribute,
    ExtractedEntity,
    ExtractedTriple,
    Extraction,
    Passage,
)
from kgplatform.text import WORD, normalise_name, tidy, type_key
from kgplatform.text.languages import ENGLISH
from kgplatform.text.sentences import Sentence, sentences

DOCUMENTS_KEPT = 64
FEW_CAPITALS = 0.08
"""Below this share of words with a capital inside sentences, a document is read for recurring terms too."""

_ASIDE = re.compile(r"\s*[(（]([^()（）]*)[)）]\s*\Z")
LEADING_ARTICLE = re.compile(r"\A(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
_FILE_NAME = re.compile(r"_|\.[A-Za-z0-9]{1,5}\Z")
_HEADLINE = re.compile(r"\s[|–—·•»/-]\s|[|?…;]|/\Z")
_LONGEST_TITLE = 6
"""Words of a manual's title that is a name without being mentioned in its text; of others, twice as many."""
_EDGE = r"[A-Za-z0-9\u00c0-\u024f\u0370-\u052f]"
_PERSON_KEYS = ("born", "died")


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the names of a sentence. ``title`` finds the forms of the document's name in a text.

    ``language``: the document's.
    """

    words: DocumentWords
    terms: frozenset[str]
    title: re.Pattern[str]
    language: str
    surnames: frozenset[str] = frozenset()

    def find(self, text: str, sentence: Sentence) -> list[Span]:
        """The names in reading order; none where the sentence is a row of a table, code, a line of contents."""
        start, end = sentence.start, sentence.end
        if not is_prose(text[start:end]):
            return []
        if self.words.german:
            found = german_names(text, start, end, self.words, self.surnames)
        else:
            found = names(text, start, end, self.words)
            if self.language not in ("", ENGLISH):
                found = corrected(text, start, found, self.language)
        # The document's own name too; a name inside a mention of the title is a part of it.
        own = [
            Span(tidy(match[0]), match.start(), match.end())
            for match in self.title.finditer(text, sentence.start, sentence.end)
            if not any(span.start <= match.start() and match.end() <= span.end for span in found)
        ]
        kept = [span for span in found if not any(mine.start <= span.start and span.end <= mine.end for mine in own)]
        found = sorted(kept + own, key=lambda span: (span.start, -span.end))
        if self.terms:
            recurring = terms(text, start, end, self.terms)
            fresh = [term for term in recurring if not any(s.start < term.end and term.start < s.end for s in found)]
            found = sorted(found + fresh, key=lambda span: (span.start, -span.end))
        return found


def _runs(text: str, place: Sentence) -> bool:
    words = [match["word"] for match in TOKEN.finditer(text, place.start, place.end)]
    return is_running(text, place.start, place.end, words)


Lines = Mapping[int, "tuple[int, list[Span]]"]
"""By where each sentence of a document begins, where it ends and its names."""


@dataclass(frozen=True, slots=True)
class _Reading:
    """What the whole document tells: its names by sentence, which of them are ``sure``, and their kinds."""

    finder: _Finder
    lines: Lines
    sure: frozenset[str]
    forms: tuple[str, ...]
    kinds: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class _Line:
    """One sentence of a passage, where it starts there, the names in it, and what it states of them."""

    text: str
    start: int
    spans: tuple[Span, ...]
    triples: tuple[ExtractedTriple, ...]
    attributes: tuple[ExtractedAttribute, ...]


class LocalExtractor:
    """An ``Extractor`` by rules. What it says of a passage depends on the passage and its document alone."""

    name = "local"

    def __init__(self) -> None:
        self._reading = lru_cache(DOCUMENTS_KEPT)(_read)

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What ``passage`` says; never raises for any text. Types are those of ``schema``, or None."""
        reading = self._reading(document)
        lines = [_line(passage, sentence, reading) for sentence in sentences(passage.text)]
        of_document = reading.forms if passage.index == 0 else ()
        return Extraction(
            entities=tuple(_entities(lines, of_document, schema, reading.kinds)),
            triples=tuple(dict.fromkeys(triple for line in lines for triple in line.triples)),
            attributes=tuple(dict.fromkeys(attribute for line in lines for attribute in line.attributes)),
            facts=tuple(_facts(lines)),
        )


def title_forms(name: str) -> tuple[str, ...]:
    """The names that a document's title is known by: itself, without what stands in brackets, without its article.

    >>> title_forms("The Cure (band)")
    ('The Cure (band)', 'The Cure', 'Cure')
    """
    title = tidy(name)
    if not any(letter.isalpha() for letter in title) or _FILE_NAME.search(title):
        return ()
    bare = _ASIDE.sub("", title) or title
    if (numbered := NUMBERED.match(title)) is not None:
        title = bare = bare[numbered.end() :]
    forms = (title, bare, LEADING_ARTICLE.sub("", bare))
    return tuple(dict.fromkeys(form for form in forms if form))


def _read(document: Document) -> _Reading:
    places = list(sentences(document.text))
    words = DocumentWords.of(document.text, document.title, places)
    capitals, others = sum(words.capital.values()), sum(words.lower.values())
    is_plain = capitals < FEW_CAPITALS * (capitals + others) and not words.german
    forms = _forms(document, words)
    fewest = FEWEST_IN_A_MANUAL if words.technical else FEWEST_REPEATS
    recurring = recurring_terms(document.text, fewest) if is_plain else frozenset()
    # The forms of the document's name as whole words, the longest first; none of one letter.
    ordered = sorted((form for form in forms if len(form) > 1), key=lambda form: (-len(form), form))
    written = "|".join(r"\s+".join(map(re.escape, form.split())) for form in ordered)
    title = f"(?:(?<!{_EDGE})|(?!{_EDGE}))(?:{written})(?:(?<!{_EDGE})|(?!{_EDGE}))" if ordered else "(?!)"
    finder = _Finder(words, recurring, re.compile(title), language_without_elisions(document.text))
    found = [finder.find(document.text, place) for place in places]
    if words.german:
        full = (span.name for spans in found for span in spans if span.kind == "Person" and " " in span.name)
        last_words = {name.split()[-1] for name in full}
        if surnames := frozenset(name for name in last_words if len(name) > 2 and not name.isupper()):
            finder = replace(finder, surnames=surnames)
            found = [finder.find(document.text, place) for place in places]
    running = [words.german or not spans or _runs(document.text, at) for at, spans in zip(places, found, strict=True)]
    in_sentences = (span for spans, runs in zip(found, running, strict=True) if runs for span in spans)
    sure = frozenset((*forms, *(normalise_name(span.name) for span in in_sentences)))
    lines = {
        at.start: (at.end, spans if runs else _sure_ones(spans, sure))
        for at, spans, runs in zip(places, found, running, strict=True)
    }
    kinds = _kinds(document, lines, finder.terms, forms, words)
    return _Reading(finder, lines, sure, forms, kinds)


def _sure_ones(spans: Sequence[Span], sure: frozenset[str]) -> list[Span]:
    """Of the names of a heading, a list or a reference, those that surely are, or stand in a sentence elsewhere."""
    return [each for each in spans if {normalise_name(each.name), each.name} & sure or kind_of_name(each.name)]


def _kinds(
    document: Document, found: Lines, terms: Iterable[str], forms: Sequence[str], words: DocumentWords
) -> dict[str, str]:
    """The kinds of the document's names; all forms of its own name have the one that it is said to be."""
    lines = [
        (document.text[start:end], [replace(span, start=span.start - start, end=span.end - start) for span in spans])
        for start, (end, spans) in found.items()
        if spans
    ]
    # Sentences state kinds by what something is, and by being born.
    stated = [
        (normalise_name(said.entity), kind)
        for text, spans in lines
        for said in values(text, spans, 0, len(text))
        if said.key != "founded"
        and (kind := "Person" if said.key in _PERSON_KEYS else kind_of_noun_phrase(said.value)) is not None
    ]
    kinds = kinds_of(lines, stated, technical=words.technical, german=words.german)
    kinds.update((normalise_name(term), "Concept") for term in terms)
    aside = _ASIDE.search(document.title)
    said_aside = kind_of_noun_phrase(aside[1]) if aside else None
    keys = [normalise_name(form) for form in forms]
    own = said_aside or next((kinds[key] for key in keys if key in kinds), None)
    if own is not None:
        kinds.update(dict.fromkeys(keys, own))
    return kinds


def _forms(document: Document, words: DocumentWords) -> tuple[str, ...]:
    """The forms of the title, if it is a name: written like one, or mentioned by the text. A headline is none."""
    forms = title_forms(document.title)
    if forms and _only_names_its_file(document):
        return ()
    if not forms or (words.german and not _is_defined(forms, document.text)):
        return ()
    parts = forms[-1].split()
    if not parts or parts[0].lower().rstrip(".:") in WORDS["parts of texts"] or (words.technical and is_label(parts)):
        return ()
    mentioned = any(_is_mentioned(form, document.text) for form in forms)
    if words.german or mentioned:
        return forms if mentioned else ()
    written_so = _HEADLINE.search(forms[0]) is None and not NUMBERED.match(document.title)
    capitals = sum(not word[0].islower() for word in parts)
    written_so &= capitals > 1 or len(parts) == 1  # "Search patterns" is a heading
    if words.technical:
        gerund = parts[0].endswith("ing")
        written_so &= len(parts) <= _LONGEST_TITLE and capitals > len(parts) / 2 and not gerund
    else:
        says = any(word.islower() and word in WORDS["function words"] - WORDS["in titles"] for word in parts)
        written_so &= len(parts) <= 2 * _LONGEST_TITLE and not says
    return forms if written_so else ()


def _only_names_its_file(document: Document) -> bool:
    """Whether the title is plainly that of the file alone: ordinary words ("report", "Annual Report"), or a number
    ("scan0001") or a word in lower case ("readme") that the text does not have."""
    stem = PurePosixPath(unquote(urlsplit(document.source).path)).stem
    if document.uri != document.source or type_key(stem) != type_key(document.title):
        return False
    words = WORD.findall(document.title)
    if all(map(is_common, words)):
        return len(words) == 1 or not _is_mentioned(document.title, document.text)
    odd = document.title.islower() or not all(word.isalpha() for word in words)
    return odd and kind_of_name(document.title) is None and not _is_mentioned(document.title, document.text)


def _is_defined(forms: Sequence[str], text: str) -> bool:
    """Whether a German text is about one of ``forms``: it is known, a person, or said what it is; a heading is not."""
    if any(kind_of_name(form) for form in forms):
        return True
    name = re.escape(forms[-1])
    if re.search(rf"\b(?:[Dd](?:er|ie|as|em|en|es)|[Ee]in(?:e[mnrs]?)?|[Dd]iese[mnrs]?) {name}\b", text):
        return False
    found = name + r"(?: \([^()]*\))?,? (?:ist|war|sind|waren|bezeichnet) (?:ein|der|die|das|eine)\b"
    return re.search(found, text) is not None


def _is_mentioned(form: str, text: str) -> bool:
    """Whether ``text`` has ``form`` inside a line, and not only as a line of its own, as a heading has it."""
    at = text.find(form)
    while at >= 0:
        line = text[text.rfind("\n", 0, at) + 1 : (text.find("\n", at) + 1 or len(text) + 1) - 1]
        if len(line.strip("#* ")) > len(form) + 3:
            return True
        at = text.find(form, at + len(form))
    return False


def _spans_of(passage: Passage, sentence: Sentence, reading: _Reading) -> list[Span]:
    """The names of a sentence of ``passage``: as found in the document, where its sentences are cut alike."""
    known = reading.lines.get(passage.start + sentence.start)
    if known is not None and known[0] == passage.start + sentence.end:
        before = passage.start
        return [replace(span, start=span.start - before, end=span.end - before) for span in known[1]]
    found = reading.finder.find(passage.text, sentence)
    keeps_all = reading.finder.words.german or _runs(passage.text, sentence)
    return found if keeps_all else _sure_ones(found, reading.sure)


def _line(passage: Passage, sentence: Sentence, reading: _Reading) -> _Line:
    text, start, end = passage.text, sentence.start, sentence.end
    found = _spans_of(passage, sentence, reading)
    apart: list[Span] = []
    for span in found:
        if not apart or span.start >= apart[-1].end:
            apart.append(span)
    kind_of = partial(known_kind, kinds=reading.kinds)
    return _Line(
        text[start:end],
        start,
        tuple(found),
        tuple(relations(text, apart, start, end, kind_of)),
        tuple(values(text, apart, start, end, kind_of)),
    )


def _entities(
    lines: Sequence[_Line], of_document: Sequence[str], schema: Schema, kinds: Mapping[str, str]
) -> Iterator[ExtractedEntity]:
    """Each name once, as it is first written; the document's own name has a quote only where the passage writes it."""
    seen: set[str] = set()
    for line in lines:
        for span in line.spans:
            key = normalise_name(span.name)
            if key and key not in seen:
                seen.add(key)
                quote = line.text[span.start - line.start : span.end - line.start]
                yield ExtractedEntity(span.name, type_in(schema, known_kind(span.name, kinds)), quote=quote)
    for form in of_document:
        key = normalise_name(form)
        if key not in seen:
            seen.add(key)
            yield ExtractedEntity(form, type_in(schema, known_kind(form, kinds)))


def _facts(lines: Sequence[_Line]) -> Iterator[AtomicFact]:
    """Sentences that join two names or more, or a name and a people: "Ada Quill was a Swedish chemist"."""
    for line in lines:
        by_key: dict[str, str] = {}
        for span in line.spans:
            by_key.setdefault(normalise_name(span.name), span.name)
        key_elements = tuple(by_key.values())
        peoples = (word[0].isupper() and word.lower() in PEOPLES for word in WORD.findall(line.text))
        if len(key_elements) > 1 or (key_elements and any(peoples)):
            yield AtomicFact(tidy(line.text), key_elements, quote=line.text)


FEWEST_REPEATS, FEWEST_IN_A_MANUAL = 3, 5
"""How often a document has a term; a manual repeats its phrases."""
MOST_TERMS = 2000
_MOST_WORDS = 4

_PIECE = re.compile(
    r"(?P<word>(?<![\w/$@])[^\W\d_]+(?![\w/=(]|::)(?:['’\-\u2010\u2011][^\W\d_]+)*)|(?P<space>[ \n])|(?P<stop>.)",
    re.DOTALL,
)
"""A word is no part of a path, a call or an identifier."""
_BREAKS = FUNCTION_WORDS | OPENERS | WORDS["verbs"]
_AFTER_A_VERB = re.compile(r"\s(?:the|an?|how|whether|which|what|that|this|these|if)\s", re.IGNORECASE)
"""Where mostly this follows, the last word is a verb: "the variable controls the order"."""
_DETERMINED = re.compile(r"\b(?:the|an?|of|this|each|its|their|your|any|every|in|for|from|no)\s\Z", re.IGNORECASE)


def recurring_terms(text: str, fewest: int = FEWEST_REPEATS) -> frozenset[str]:
    """Folded terms of ``text`` that stand in it ``fewest`` times or more, the most frequent ones if there are many.

    A term is two to four words between function words and punctuation that the document repeats (after Rose and
    others, 2010, "Automatic keyword extraction from individual documents"), and that stands behind an article or "of"
    somewhere: a command does not.
    """
    counts: Counter[str] = Counter()
    determined: set[str] = set()
    verbal: Counter[str] = Counter()
    for term, left, right in _candidates(text):
        counts[term] += 1
        verbal[term] += _AFTER_A_VERB.match(text, right) is not None
        if term not in determined and _DETERMINED.search(text, max(0, left - 8), left):
            determined.add(term)
    frequent = [
        (-count, term)
        for term, count in counts.items()
        if count >= fewest and term in determined and 2 * verbal[term] < count
    ]
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


_PARTICIPLE = re.compile(r"(?:ly|ed|(?<!operat)(?<!programm)(?<!mail)(?<!process)(?<!comput)(?<!spr)ing)\Z")
_VERB_FORMS = frozenset(verb + ending for verb in WORDS["verbs"] for ending in ("s", "es", "ing")) - {
    *("uses", "ends", "works")
}


def _term(run: list[re.Match[str]]) -> Iterator[tuple[str, int, int]]:
    """The run as a term, without the adjectives before it that say nothing of what it is."""
    while run and run[0][0].lower() in WORDS["loose adjectives"]:
        run = run[1:]
    if not 2 <= len(run) <= _MOST_WORDS:
        return
    words = [piece[0].lower() for piece in run]
    inflected = (
        words[-1].endswith(("ly", "ing", "ed", "able")) or _PARTICIPLE.search(words[0]) or words[0] in _VERB_FORMS
    )
    possessive = any(word.endswith(("'s", "’s")) for word in words)
    if not inflected and not possessive and len(set(words)) == len(words) and words[-1] not in _VERB_FORMS:
        yield " ".join(words), run[0].start(), run[-1].end()
