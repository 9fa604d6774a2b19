"""The local extractor: rules only, no model, no download. It sees one document, never the corpus.

    extraction = LocalExtractor().extract(passage, document, schema)

Named things, typed where their form or their sentence tells; relations, dates and descriptions that a sentence states
in so many words; every sentence that joins two named things as an atomic fact. Quotes are verbatim.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

from kgplatform.ingest.bound import Mode
from kgplatform.ingest.extract.lexicon import (
    FUNCTION_WORDS,
    OPENERS,
    WORDS,
    kind_of_name,
    kind_of_noun_phrase,
    type_in,
)
from kgplatform.ingest.extract.names import DocumentWords, Span, is_prose, names, recurring_terms, terms
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
LEADING_ARTICLE = re.compile(r"\A(?:the|a|an)\s+(?=\S)", re.IGNORECASE)
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
    """One sentence of a passage, where it starts there, the names in it, and what it states of them."""

    text: str
    start: int
    spans: tuple[Span, ...]
    triples: tuple[ExtractedTriple, ...]
    attributes: tuple[ExtractedAttribute, ...]


class LocalExtractor:
    """An ``Extractor`` by rules. What it says of a passage depends on the passage and its document alone."""

    name = "local"
    default_mode: Mode = "flexible"

    def __init__(self) -> None:
        self._reading = lru_cache(DOCUMENTS_KEPT)(_read)

    def extract(self, passage: Passage, document: Document, schema: Schema) -> Extraction:
        """What ``passage`` says; never raises for any text. Types are those of ``schema``, or None."""
        reading = self._reading(document)
        lines = [_line(passage.text, sentence, reading) for sentence in sentences(passage.text)]
        of_document = reading.forms if passage.index == 0 else ()
        return Extraction(
            entities=tuple(_entities(lines, of_document, schema)),
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
    forms = (title, bare, LEADING_ARTICLE.sub("", bare))
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
    if not is_prose(text[sentence.start : sentence.end]):
        return _Line(text[sentence.start : sentence.end], sentence.start, (), (), ())
    found = names(text, sentence.start, sentence.end, reading.words)
    if reading.title is not None:
        found = _with_titles(text, sentence, reading.title, found)
    if reading.terms:
        recurring = terms(text, sentence.start, sentence.end, reading.terms)
        fresh = [term for term in recurring if not any(s.start < term.end and term.start < s.end for s in found)]
        found = sorted(found + fresh, key=lambda span: (span.start, -span.end))
    apart: list[Span] = []
    for span in found:
        if not apart or span.start >= apart[-1].end:
            apart.append(span)
    return _Line(
        text[sentence.start : sentence.end],
        sentence.start,
        tuple(found),
        tuple(relations(text, apart, sentence.start, sentence.end)),
        tuple(values(text, apart, sentence.start, sentence.end)),
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
        for stated in line.attributes:
            kind = "Person" if stated.key in _PERSON_KEYS else kind_of_noun_phrase(stated.value)
            if kind is not None and stated.key != "founded":
                kinds.setdefault(normalise_name(stated.entity), kind)
    return kinds


def _facts(lines: Sequence[_Line]) -> Iterator[AtomicFact]:
    """Sentences that join two names or more."""
    for line in lines:
        by_key: dict[str, str] = {}
        for span in line.spans:
            by_key.setdefault(normalise_name(span.name), span.name)
        key_elements = tuple(by_key.values())
        if len(key_elements) > 1:
            yield AtomicFact(tidy(line.text), key_elements, quote=line.text)


_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"
)
DATE = (
    rf"(?:\d{{1,2}}\ {_MONTH},?\ \d{{3,4}}|{_MONTH}\ \d{{1,2}},?\ \d{{3,4}}|{_MONTH},?\ \d{{3,4}}"
    r"|c\.\ ?\d{3,4}|\d{4})"
)

_MADE = {
    "directed": "directed",
    "written": "wrote",
    "wrote": "wrote",
    "composed": "composed",
    "produced": "produced",
    "founded": "founded",
    "established": "founded",
    "created": "created",
    "designed": "designed",
    "developed": "developed",
    "published": "published",
    "invented": "invented",
    "painted": "painted",
    "owned": "owns",
    "acquired": "acquired",
    "manufactured": "manufactured",
    "authored": "wrote",
}
_BE = r"(?:\ (?:is|was|are|were|has\ been))?"
_IS = r"(?:,?\ (?:is|was|are|were|has\ been)|,)"
_OFTEN = r"(?:\ (?:also|later|first|originally|currently|jointly|officially|mainly|now))?"
_ARTICLE = r"(?:\ (?:the|a|an|his|her|their|its))?"
_ROLE = (
    r"(?:\ (?:[a-z-]+\ ){0,2}(?:film|novel|book|album|song|play|opera|company|band|city|town|magazine|series|director"
    r"|writer|author|filmmaker|brothers|architect|engineer|businessman|actor|king|queen))?"
)
_PASSIVE = re.compile(rf",?(?:\ and)?{_BE}{_OFTEN}\ ({'|'.join(_MADE)})(?:\ (?:in|on)\ {DATE})?\ by{_ARTICLE}{_ROLE}\ ")
_ACTIVE = re.compile(
    rf"(?:,\ who|\ who)?{_OFTEN}\ ({'|'.join(word for word in _MADE if word != 'written')}){_ARTICLE}{_ROLE}\ "
)

_FORWARD = {
    "born in": rf"(?:,|,?\ who)?{_BE}\ born(?:\ on\ {DATE}|\ {DATE})?(?:\ in|\ at)(?:\ the)?\ ",
    "died in": rf"(?:\ who)?\ died(?:\ on\ {DATE}|\ {DATE})?\ in(?:\ the)?\ ",
    "located in": rf",?{_BE}{_OFTEN}\ (?:located|situated|based|headquartered)\ in(?:\ the)?\ ",
    "capital of": rf"{_IS}(?:\ the)?\ capital(?:\ city)?(?:\ and\ largest\ city)?\ of(?:\ the)?\ ",
    "member of": rf"{_IS}(?:\ a|\ the)?(?:\ former|\ founding)?\ members?\ of(?:\ the)?(?:\ [a-z-]+){{0,2}}\ ",
    "married to": rf",?{_BE}\ (?:married(?:\ to)?|(?:the\ )?(?:wife|husband|widow|spouse)\ of)\ ",
    "sibling of": rf"{_IS}(?:\ the)?(?:\ (?:older|younger|elder|twin))?\ (?:brother|sister|sibling)\ of\ ",
    "educated at": r"(?:,?\ who)?\ (?:attended|graduated\ from|studied\ at|was\ educated\ at)(?:\ the)?\ ",
    "plays for": r"(?:,?\ who)?\ (?:plays|played)\ for(?:\ the)?\ ",
    "works for": r"(?:,?\ who)?\ (?:works|worked)\ (?:for|at)(?:\ the)?\ ",
    "subsidiary of": rf"{_IS}(?:\ a|\ the)?(?:\ wholly[\ -]owned)?\ (?:subsidiary|division)\ of(?:\ the)?\ ",
    "part of": rf"{_IS}\ (?:a\ )?part\ of(?:\ the)?\ ",
    "based on": rf",?{_BE}(?:\ loosely)?\ based\ on{_ARTICLE}{_ROLE}(?:\ of\ the\ same\ name\ by)?\ ",
    "starred in": rf"(?:,?\ who)?\ (?:starred|appeared|acted)\ in{_ARTICLE}{_ROLE}\ ",
    "won": r"(?:,?\ who)?\ (?:won|received|was\ awarded)\ (?:the|a|an)\ ",
    "named after": rf",?{_BE}\ named\ (?:after|for|in\ honou?r\ of)(?:\ the)?\ ",
    "fought in": r"(?:,?\ who)?\ (?:fought|served)\ in(?:\ the)?\ ",
    "succeeded by": rf",?{_BE}\ succeeded\ by\ ",
}
_INVERSE = {
    "parent of": rf"{_IS}(?:\ the|\ a)?(?:\ [a-z]+)?\ (?:son|daughter|child)\ of(?:\ the\ [a-z]+)?\ ",
    "starred in": r",?(?:\ is\ a[a-z\d\ -]{0,60}|\ and)?\ starring\ ",
    "leads": rf",?{_BE}\ (?:led|headed)\ by(?:\ the)?\ ",
}
_PLACE_NOUN = (
    r"(?:city|town|village|municipality|county|province|commune|district|suburb|neighbou?rhood|borough|township|hamlet"
    r"|river|lake|island|region|airport)"
)
_IS_PLACE = re.compile(
    r"\ (?:is|was)\ (?:a|an|the|one\ of\ the)\ (?:[a-z-]+\ ){0,5}?"
    rf"(?:{_PLACE_NOUN}(?:\ located|\ situated)?\ (?:in|of)"
    r"|(?:school|university|college|museum)(?:\ located|\ situated)?\ in)(?:\ the)?\ "
)
_FORWARD_PATTERNS = [(predicate, re.compile(pattern)) for predicate, pattern in _FORWARD.items()]
_INVERSE_PATTERNS = [(predicate, re.compile(pattern)) for predicate, pattern in _INVERSE.items()]
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_BEGINS = re.compile(r"(?:The\ |A\ |An\ )?[\"“«'‘]?")
_LOOSE_ENDS = frozenset({"and", "or", "later", "being", "now", "held", "set", "made", "written", "also", "as"})
_POSSESSIVE = re.compile(r"['’]s?\b")
_PARTICIPLE = re.compile(
    rf",?(?:\ and)?{_OFTEN}\ (?:starring\b|(?:{'|'.join(_MADE)}|based|located|situated|headquartered|led|headed|born"
    r"|named|succeeded)\b(?=.*\ (?:by|on|in|after|for)\b))"
)
_AND = re.compile(r",?\ and\ ")
_LONGEST_BETWEEN = 160

_LIFE = re.compile(
    rf"\s*\(\s?(?:[^()]{{0,80}}?[;,]\ ?)??(?:(?:born|b\.)\ (?:[^()\d]{{0,40}})?(?P<born>{DATE})"
    rf"|(?P<from>{DATE})\s?[–—-]\s?(?P<to>{DATE})\))"
)
_AGES = range(10, 116)
"""Years of a life that is worth a sentence: what took less was an office, a war or a tour."""
_BORN_ON = re.compile(rf"(?:\s*\([^()]*\))?\ was\ born\ (?:on\ |in\ )?(?P<date>{DATE})")
_DIED_ON = re.compile(rf"(?:\s*\([^()]*\))?(?:,?\ who)?\ died\ (?:[a-z\ ]{{0,20}}?)?(?:on\ |in\ )?(?P<date>{DATE})")
_FOUNDED_IN = re.compile(
    rf"(?:\s*\([^()]*\))?,?\ (?:was|were)\ (?:founded|established|formed|incorporated)\ (?:on\ |in\ )(?P<date>{DATE})"
)
_IS_A = re.compile(
    r"(?:\s*\([^()]*\))?,?\ (?:is|was|are|were)\ (?:a|an|the|one\ of\ the)\ (?P<what>[^.,;:()\n]{3,80}?)"
    r"(?=[.,;:()]|\ (?:who|that|which|whose|where|when|in|from|by|based|located|situated|for|at|on|with|of|born"
    r"|and\ is|and\ was|released|directed|written|known|to)\b|\Z)"
)


def relations(text: str, spans: Sequence[Span], start: int, end: int) -> Iterator[ExtractedTriple]:
    """What the words between neighbouring names state; ``spans`` are the names of ``text[start:end]``, one sentence.

    A participle without "is" or "was" (", directed by", "starring") belongs to what the sentence is about: its first
    name if the sentence says what that is, else only a name that stands first.
    """
    described = _what_first_is(text, spans, start, end)
    topic = spans[0] if described else None
    for position, (left, right) in enumerate(zip(spans, spans[1:], strict=False)):
        if not left.end < right.start <= left.end + _LONGEST_BETWEEN or _POSSESSIVE.match(text, right.end, end):
            continue
        if _is_cut(text, left, end) or _is_cut(text, right, end):
            continue
        between = _BRACKETS.sub("", text[left.end : right.start]).replace("\n", " ").rstrip("\"“'«")
        subject = left
        if _PARTICIPLE.match(between) or _AND.match(between):
            if topic is None and (position > 0 or _AND.match(between)):
                continue
            subject = topic or left
        relation = _relation(subject.name, between, right.name)
        if relation is None and described and position == 0:
            relation = _relation(left.name, text[described[1] : right.start].rstrip("\"“'«"), right.name)
        if relation is not None and relation[0] != relation[2]:
            yield ExtractedTriple(*relation, quote=text[start:end])


_FOLLOWS = re.compile(r"\s([a-z]{3,})(?![\w-])")


def _is_cut(text: str, span: Span, end: int) -> bool:
    """Whether ``span`` is a part of something: of a name with a hyphen and a space ("Jean- Baptiste"), or, as one word,
    of what a noun after it names ("the Parisian suburb").
    """
    if text[span.end : span.end + 1] == "-" or text[: span.start].endswith(("-", "- ")):
        return True
    after = _FOLLOWS.match(text, span.end, end)
    if after is None or " " in span.name:
        return False
    word = after[1]
    said = word in FUNCTION_WORDS | OPENERS | WORDS["verbs"] or word.endswith(("ed", "ing", "ly"))
    return not said and word not in _MADE


def _relation(left: str, between: str, right: str) -> tuple[str, str, str] | None:
    """Subject, predicate and object that the words ``between`` two names state."""
    if (match := _PASSIVE.fullmatch(between)) is not None:
        return right, _MADE[match[1]], left
    if (match := _ACTIVE.fullmatch(between)) is not None:
        return left, _MADE[match[1]], right
    if _IS_PLACE.fullmatch(between) and kind_of_name(right) in (None, "Place"):
        return left, "located in", right
    for predicate, pattern in _FORWARD_PATTERNS:
        if pattern.fullmatch(between):
            return left, predicate, right
    for predicate, pattern in _INVERSE_PATTERNS:
        if pattern.fullmatch(between):
            return right, predicate, left
    return None


def values(text: str, spans: Sequence[Span], start: int, end: int) -> Iterator[ExtractedAttribute]:
    """Dates of birth, death and founding, and what its first name is, as ``text[start:end]`` says."""
    quote = text[start:end]
    described = _what_first_is(text, spans, start, end)
    for span in spans:
        if (match := _LIFE.match(text, span.end, end)) is not None:
            yield from _life(span.name, match, quote, described[0] if described and span == spans[0] else None)
        for key, pattern in (("born", _BORN_ON), ("died", _DIED_ON), ("founded", _FOUNDED_IN)):
            if (match := pattern.match(text, span.end, end)) is not None:
                yield ExtractedAttribute(span.name, key, match["date"], quote)
    if described is not None:
        yield ExtractedAttribute(spans[0].name, "description", described[0], quote)


def _life(name: str, match: re.Match[str], quote: str, what: str | None) -> Iterator[ExtractedAttribute]:
    """Birth and death from brackets. A range is a life only where the sentence begins with the name and goes on to say
    ``what`` that is: "Ada (1815–1852) was a mathematician", but not "under Bill (1975–2000)". Of bare years, which
    bands and empires have too, it must be a person's.
    """
    if match["born"]:
        yield ExtractedAttribute(name, "born", match["born"], quote)
    elif what is not None and _years(match["to"]) - _years(match["from"]) in _AGES:
        bare = match["from"].isdecimal() and match["to"].isdecimal()
        if not bare or "Person" in (kind_of_name(name), kind_of_noun_phrase(what)):
            yield ExtractedAttribute(name, "born", match["from"], quote)
            yield ExtractedAttribute(name, "died", match["to"], quote)


def _years(date: str) -> int:
    return int(re.findall(r"\d{3,4}", date)[-1])


def _what_first_is(text: str, spans: Sequence[Span], start: int, end: int) -> tuple[str, int] | None:
    """What the sentence says that its first name is, if that name begins it, and where the saying ends.

    "American film" for "X is an American film directed by Y".
    """
    if not spans or not _BEGINS.fullmatch(text, start, spans[0].start):
        return None
    match = _IS_A.match(text, spans[0].end, end)
    phrase = _noun_phrase(match["what"]) if match else None
    return (phrase, match.end()) if match and phrase else None


def _noun_phrase(words: str) -> str | None:
    """``words`` without loose ends; None if what is left is quoted, or is one word that names no kind of thing."""
    parts = re.split(r"\ and\ (?=the\b|was\b|is\b|later\b)", words)[0].split()
    while parts and (parts[-1].endswith("ed") or parts[-1] in _LOOSE_ENDS):
        parts.pop()
    phrase = " ".join(parts)
    if not phrase or set("\"“”'") & set(phrase) or (len(parts) == 1 and kind_of_noun_phrase(phrase) is None):
        return None
    return phrase
