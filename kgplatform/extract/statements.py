"""What an English sentence states of its names in so many words: relations, dates of birth, death and founding, what
its first name is. A pattern is here because at least nine in ten of what it finds are right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from kgplatform.extract.lexicon import (
    FUNCTION_WORDS,
    NOUN_KINDS,
    OPENERS,
    PEOPLES,
    WORDS,
    kind_of_name,
    kind_of_noun_phrase,
)
from kgplatform.extract.tokens import Span
from kgplatform.records import ExtractedAttribute, ExtractedTriple

_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)\.?"
)
DATE = (
    rf"(?:\d{{1,2}}\ {_MONTH},?\ \d{{3,4}}|{_MONTH}\ \d{{1,2}},?\ \d{{3,4}}|{_MONTH},?\ \d{{3,4}}"
    r"|c\.\ ?\d{3,4}|\d{4})"
)

_MADE = {
    **{"written": "wrote", "authored": "wrote", "established": "founded", "owned": "owns"},
    **{word: word for word in ("directed", "wrote", "composed", "produced", "founded", "created", "designed")},
    **{word: word for word in ("developed", "published", "invented", "painted", "acquired", "manufactured")},
}
"""The relation that a participle or a past states."""
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
    "starred in": rf"(?:,?\ who)?\ (?:starred|acted)\ in{_ARTICLE}{_ROLE}\ ",
    "won": r"(?:,?\ who)?\ (?:won|received|was\ awarded)\ (?:the|a|an)\ ",
    "named after": rf",?{_BE}\ named\ (?:after|for|in\ honou?r\ of)(?:\ the)?\ ",
    "fought in": r"(?:,?\ who)?\ fought\ in(?:\ the)?\ ",
    "served in": r"(?:,?\ who)?\ served\ in(?:\ the)?\ ",
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
_BETWEEN = [
    (predicate, re.compile(pattern), is_inverse)
    for is_inverse, patterns in ((False, _FORWARD), (True, _INVERSE))
    for predicate, pattern in patterns.items()
]
_BRACKETS = re.compile(r"\s*\([^()]*\)")
_BEGINS = re.compile(r"(?:The\ |A\ |An\ )?[\"“«'‘]?")
_LOOSE_ENDS = frozenset({"and", "or", "later", "being", "now", "held", "set", "made", "written", "also", "as", "first"})
_POSSESSIVE = re.compile(r"\ ?['’](?:s\b|\ )")
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
_TERMS = range(50)
"""Years that one may hold an office. Of 1,044 lives in three corpora this takes one, of a director who died at 47."""
_LIVES = re.compile(r",?\ (?:is|are)\b")
_IN_OFFICE = re.compile(r",?\ (?:was|were)\ the\b|.*\ (?:of\ |for)\Z", re.S)
"""How it is said that somebody holds an office, not that he has a profession ("was an American film director")."""
_AFTER = len(" for")
_BORN_ON = re.compile(rf"(?:\s*\([^()]*\))?\ was\ born\ (?:on\ |in\ )?(?P<date>{DATE})")
_DIED_ON = re.compile(rf"(?:\s*\([^()]*\))?(?:,?\ who)?\ died\ (?:[a-z\ ]{{0,20}}?)?(?:on\ |in\ )?(?P<date>{DATE})")
_FOUNDED_IN = re.compile(
    rf"(?:\s*\([^()]*\))?,?\ (?:was|were)\ (?:founded|established|formed|incorporated)\ (?:on\ |in\ )(?P<date>{DATE})"
)
_DATED = re.compile(r"\s*\(|,?\ (?:was|were|who|died)\b")
"""What stands behind a name of which a date can be stated: the other patterns are tried only there."""
_OF_MANY = re.compile(r"\b(?:[Tt]he|[Aa]n?|[Ee]very|[Ee]ach|[Nn]o|[Tt]his|[Tt]hat)\ (?:[a-z-]+\ ){0,3}([a-z-]+)\ \Z")
_WINDOW = 60
_IS_A = re.compile(
    r"(?:\s*\([^()]*\))?,?\ (?:is|was|are|were)\ (?:a|an|the|one\ of\ the)\ (?P<what>[^.,;:()\n]{3,80}?)"
    r"(?=[.,;:()]|\ (?:who|that|which|whose|where|when|in|from|by|based|located|situated|for|at|on|with|of|born"
    r"|and\ is|and\ was|released|directed|written|known|to)\b|\Z)"
)
_FIRST_TO = re.compile(r"(?:first|second|third|last|only|youngest|oldest)\b[^.,;:()\n]*\ to\ \w+")
"""What one was the first to do is not what it is: "Belgium was the first continental European country to …"."""


KindOf = Callable[[str], "str | None"]
_ANY = frozenset({None})
_PERSON, _PLACE = _ANY | {"Person"}, _ANY | {"Place"}
_MAKER, _GROUP = _PERSON | {"Organization"}, _ANY | {"Organization"}
_WORK = _ANY | {"Work", "Product", "Concept", "Event", "Language"}
_ENDS = {
    "born in": (_PERSON, _PLACE),
    "died in": (_PERSON, _PLACE),
    "located in": (_PLACE | _GROUP | {"Event", "Work"}, _PLACE),
    "capital of": (_PLACE, _PLACE),
    "member of": (_MAKER | _PLACE, _GROUP),
    "married to": (_PERSON, _PERSON),
    "sibling of": (_PERSON, _PERSON),
    "parent of": (_PERSON, _PERSON),
    "educated at": (_PERSON, frozenset({"Organization"})),
    "plays for": (_PERSON, _GROUP | _PLACE),
    "works for": (_PERSON, _GROUP | {"Person", "Work"}),
    "subsidiary of": (_GROUP, _GROUP),
    "starred in": (_PERSON, _WORK - {"Event"}),
    "based on": (frozenset({"Work", "Product"}), _WORK),
    "won": (_PERSON | _WORK, _ANY | {"Award", "Event"}),
    "fought in": (_MAKER, _ANY | {"Event", "Organization"}),
    "served in": (_PERSON, _GROUP | {"Event"}),
    "leads": (_PERSON, _GROUP | _PLACE | {"Event"}),
} | dict.fromkeys(("directed", "wrote", "composed", "painted", "published", "produced"), (_MAKER, _WORK))
"""The kinds that a relation's ends may have; None is a name whose kind is not known."""


def _fits(relation: tuple[str, str, str], kind_of: KindOf) -> bool:
    """Whether the names may stand in the relation, as far as their kinds are known; what makes something is known."""
    subject, predicate, object_ = relation
    heads, tails = _ENDS.get(predicate, (None, None))
    if predicate in ("born in", "died in") and any(map(str.isdecimal, object_)):
        return False
    if object_.split()[-1].lower() in PEOPLES:
        return False
    if predicate in _MADE.values() and kind_of(subject) not in ("Person", "Organization"):
        return False
    return (heads is None or kind_of(subject) in heads) and (tails is None or kind_of(object_) in tails)


def relations(text: str, spans: Sequence[Span], start: int, end: int, kind_of: KindOf) -> Iterator[ExtractedTriple]:
    """What the words between neighbouring names state; ``spans`` are the names of ``text[start:end]``, one sentence.

    A participle without "is" or "was" (", directed by", "starring") belongs to what the sentence is about: its first
    name if the sentence says what that is, else only a name that stands first.
    """
    described = _what_first_is(text, spans, start, end)
    topic = spans[0] if described else None
    for position, (left, right) in enumerate(zip(spans, spans[1:], strict=False)):
        if not left.end < right.start <= left.end + _LONGEST_BETWEEN or _POSSESSIVE.match(text, right.end, end):
            continue
        if _is_cut(text, left, end) or _is_cut(text, right, end) or _IN_A.search(text, start, left.start):
            continue
        between = _BRACKETS.sub("", text[left.end : right.start]).replace("\n", " ").rstrip("\"“'«")
        subject = left
        if _PARTICIPLE.match(between) or _AND.match(between):
            stated = position > 0 or _AND.match(between) or _STATED.search(text, start, left.start)
            if topic is None and stated:
                continue
            subject = topic or left
        elif between.startswith(",") and _IN_APPOSITION.search(text, max(start, left.start - 12), left.start):
            continue
        relation = _relation(subject.name, between, right.name)
        if relation is None and described and position == 0:
            relation = _relation(left.name, text[described[1] : right.start].rstrip("\"“'«"), right.name)
        if relation is None:
            continue
        after = _FOLLOWS.match(text, right.end, end) if relation[1] in _OF_WORKS else None
        if after is not None and not _says(after[1]):
            continue  # who "developed the Quill DS version" did not develop the Quill DS
        if relation[0] != relation[2] and _fits(relation, kind_of):
            yield ExtractedTriple(*relation, quote=text[start:end])


_IN_APPOSITION = re.compile(r"\b(?:of|in|at|from|de|von|to|and|for)(?:\ the)?\ \Z")
"""Before a name that is the end of something: of "Ada, countess of Lund, daughter of Bo", Lund is nobody's daughter."""
_STATED = re.compile(r"\b(?:by|is|are|was|were|with)\ ")
"""Before a name that is not what the sentence is about: "It was made by Ada, directed by Bo"."""
_OF_WORKS = frozenset(_MADE.values()) | {"based on"}
_IN_A = re.compile(r"\b[Aa]n?\ (?:[a-z-]+\ ){0,2}\Z")
"""Before a name that says of what kind something is: "a holiday Varn Channel Movie starring …"."""
_FOLLOWS = re.compile(r"\s([a-z]{3,})(?![\w-])")


def _says(word: str) -> bool:
    """Whether the word in lower case goes on with the sentence, not with the name before it."""
    said = word in FUNCTION_WORDS | OPENERS | WORDS["verbs"] or word.endswith(("ed", "ing", "ly"))
    return said or word in _MADE


def _is_cut(text: str, span: Span, end: int) -> bool:
    """Whether ``span`` is a part of something: of a name with a hyphen and a space ("Jean- Baptiste"), or, as one word,
    of what a noun after it names ("the Parisian suburb")."""
    if text[span.end : span.end + 1] == "-" or text[: span.start].endswith(("-", "- ")):
        return True
    after = _FOLLOWS.match(text, span.end, end)
    if after is None or " " in span.name:
        return False
    return not _says(after[1])


def _relation(left: str, between: str, right: str) -> tuple[str, str, str] | None:
    """Subject, predicate and object that the words ``between`` two names state."""
    if (match := _PASSIVE.fullmatch(between)) is not None:
        return right, _MADE[match[1]], left
    if (match := _ACTIVE.fullmatch(between)) is not None:
        return left, _MADE[match[1]], right
    if _IS_PLACE.fullmatch(between) and kind_of_name(right) in (None, "Place"):
        return left, "located in", right
    for predicate, pattern, is_inverse in _BETWEEN:
        if pattern.fullmatch(between):
            return (right, predicate, left) if is_inverse else (left, predicate, right)
    return None


def values(
    text: str, spans: Sequence[Span], start: int, end: int, kind_of: KindOf = kind_of_name
) -> Iterator[ExtractedAttribute]:
    """Dates of birth, death and founding, and what its first name is, as ``text[start:end]`` says."""
    quote = text[start:end]
    described = _what_first_is(text, spans, start, end)
    for span in spans:
        if _DATED.match(text, span.end, end) is None:
            continue
        # "the last full-blooded Varnian died in 1933" is of one of many.
        before = _OF_MANY.search(text, max(start, span.start - _WINDOW), span.start)
        word = before[1] if before is not None else "the"
        qualified = word not in FUNCTION_WORDS and NOUN_KINDS.get(word.rpartition("-")[2]) != "Person"
        living = kind_of(span.name) in (None, "Person") and not qualified
        if living and (match := _LIFE.match(text, span.end, end)) is not None:
            what, upto = described if described and span == spans[0] else (None, match.end())
            yield from _life(span.name, match, quote, what, text[match.end() : upto + _AFTER])
        for key, pattern in (("born", _BORN_ON), ("died", _DIED_ON), ("founded", _FOUNDED_IN)):
            if (living or key == "founded") and (match := pattern.match(text, span.end, end)) is not None:
                yield ExtractedAttribute(span.name, key, match["date"], quote)
    if described is not None:
        yield ExtractedAttribute(spans[0].name, "description", described[0], quote)


def _life(name: str, match: re.Match[str], quote: str, what: str | None, said: str) -> Iterator[ExtractedAttribute]:
    """Birth and death from brackets. A range is a life only where the sentence begins with the name and goes on to say
    ``what`` that is: "Ada (1815–1852) was a mathematician", but not "under Bill (1975–2000)". Of bare years, which
    bands and empires have too, it must be a person's. ``said``: how it goes on; an office's years are no life."""
    if match["born"]:
        yield ExtractedAttribute(name, "born", match["born"], quote)
    elif what is not None:
        begun, ended = (int(re.findall(r"\d{3,4}", match[end])[-1]) for end in ("from", "to"))
        years = ended - begun
        holds = years in _TERMS and what.split()[-1].lower() in WORDS["terms of office"] and _IN_OFFICE.match(said)
        if years not in _AGES or holds or _LIVES.match(said):
            return
        bare = match["from"].isdecimal() and match["to"].isdecimal()
        if not bare or "Person" in (kind_of_name(name), kind_of_noun_phrase(what)):
            yield ExtractedAttribute(name, "born", match["from"], quote)
            yield ExtractedAttribute(name, "died", match["to"], quote)


def _what_first_is(text: str, spans: Sequence[Span], start: int, end: int) -> tuple[str, int] | None:
    """What the sentence says that its first name is, if that name begins it, and where the saying ends. "American film"
    for "X is an American film directed by Y"."""
    if not spans or not _BEGINS.fullmatch(text, start, spans[0].start):
        return None
    match = _IS_A.match(text, spans[0].end, end)
    phrase = _noun_phrase(match["what"]) if match and not _FIRST_TO.match(text, match.start("what"), end) else None
    return (phrase, match.end()) if match and phrase else None


def _noun_phrase(words: str) -> str | None:
    """``words`` without loose ends; None if what is left is quoted, or is one word that names no kind of thing."""
    parts = re.split(r"\ and\ (?=the\b|was\b|is\b|later\b)", words)[0].split()
    while parts and (parts[-1].endswith("ed") or parts[-1] in _LOOSE_ENDS):
        parts.pop()
    phrase = " ".join(parts)
    if (
        not phrase
        or set("\"“”'") & set(phrase)
        or phrase.endswith(" -")
        or (len(parts) == 1 and kind_of_noun_phrase(phrase) is None)
    ):
        return None
    return phrase
