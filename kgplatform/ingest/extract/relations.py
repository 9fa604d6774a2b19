"""Relations and attributes that a sentence states in so many words: few patterns, each of high precision.

A relation is read from the words between two neighbouring names of one sentence; an attribute from the words after a
name. Passive and inverse wordings are turned round, so that "Y was directed by X" gives (X, directed, Y).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kgplatform.ingest.extract.lexicon import kind_of_name, kind_of_noun_phrase
from kgplatform.ingest.extract.names import Span

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
_ASIDE = re.compile(r"\s*\([^()]*\)")
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
    rf"\s*\((?:[^()]{{0,80}}?[;,]\ ?)?(?:(?:born|b\.)\ (?:[^()\d]{{0,40}})?(?P<born>{DATE})"
    rf"|(?P<from>{DATE})\s?[–—-]\s?(?P<to>{DATE}))"
)
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


@dataclass(frozen=True, slots=True)
class Relation:
    """``subject`` and ``object`` are names of the sentence."""

    subject: str
    predicate: str
    object: str


@dataclass(frozen=True, slots=True)
class Value:
    """An attribute of a name of the sentence."""

    name: str
    key: str
    value: str


def relations(text: str, spans: Sequence[Span], start: int, end: int) -> Iterator[Relation]:
    """What the words between neighbouring names state; ``spans`` are the names of ``text[start:end]``, one sentence.

    A participle without "is" or "was" (", directed by", "starring") belongs to what the sentence is about: its first
    name if the sentence says what that is, else only a name that stands first.
    """
    described = _what_first_is(text, spans, start, end)
    topic = spans[0] if described else None
    for position, (left, right) in enumerate(zip(spans, spans[1:], strict=False)):
        if not left.end < right.start <= left.end + _LONGEST_BETWEEN or _POSSESSIVE.match(text, right.end, end):
            continue
        between = _ASIDE.sub("", text[left.end : right.start]).replace("\n", " ").rstrip("\"“'«")
        subject = left
        if _PARTICIPLE.match(between) or _AND.match(between):
            if topic is None and (position > 0 or _AND.match(between)):
                continue
            subject = topic or left
        relation = _relation(subject.name, between, right.name)
        if relation is None and described and position == 0:
            relation = _relation(left.name, text[described[1] : right.start].rstrip("\"“'«"), right.name)
        if relation is not None and relation.subject != relation.object:
            yield relation


def _relation(left: str, between: str, right: str) -> Relation | None:
    if (match := _PASSIVE.fullmatch(between)) is not None:
        return Relation(right, _MADE[match[1]], left)
    if (match := _ACTIVE.fullmatch(between)) is not None:
        return Relation(left, _MADE[match[1]], right)
    if _IS_PLACE.fullmatch(between) and kind_of_name(right) in (None, "Place"):
        return Relation(left, "located in", right)
    for predicate, pattern in _FORWARD_PATTERNS:
        if pattern.fullmatch(between):
            return Relation(left, predicate, right)
    for predicate, pattern in _INVERSE_PATTERNS:
        if pattern.fullmatch(between):
            return Relation(right, predicate, left)
    return None


def values(text: str, spans: Sequence[Span], start: int, end: int) -> Iterator[Value]:
    """Dates of birth, death and founding, and what its first name is, as ``text[start:end]`` says."""
    for span in spans:
        if (match := _LIFE.match(text, span.end, end)) is not None:
            yield from _life(span.name, match)
        for key, pattern in (("born", _BORN_ON), ("died", _DIED_ON), ("founded", _FOUNDED_IN)):
            if (match := pattern.match(text, span.end, end)) is not None:
                yield Value(span.name, key, match["date"])
    if (described := _what_first_is(text, spans, start, end)) is not None:
        yield Value(spans[0].name, "description", described[0])


def _life(name: str, match: re.Match[str]) -> Iterator[Value]:
    """Birth and death from brackets; a range of bare years is a life only after the name of a person."""
    if match["born"]:
        yield Value(name, "born", match["born"])
    elif not (match["from"].isdecimal() and match["to"].isdecimal()) or kind_of_name(name) == "Person":
        yield Value(name, "born", match["from"])
        yield Value(name, "died", match["to"])


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
