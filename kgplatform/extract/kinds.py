"""The kinds of a document's names, by what its sentences say around them: each mention votes.

    kinds_of(lines)      # {"ada quill": "Person", "lund": "Place"}

A name whose form tells its kind (``lexicon.kind_of_name``) has that in every document and needs no vote. Else the words
beside it vote: "the physicist …", "…, a Swedish company", "… was born", "the … protocol". Names of a list share a kind,
a surname is the person whose full name the document has, an acronym in brackets is what it stands behind, and "Quill"
beside "Quill Inc" is the firm.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from kgplatform.extract.lexicon import (
    FUNCTION_WORDS,
    GIVEN_NAMES,
    NOUN_KINDS,
    PEOPLES,
    WORDS,
    is_common,
    kind_of_name,
    kind_of_noun_phrase,
)
from kgplatform.extract.tokens import Span
from kgplatform.text import normalise_name

Votes = Mapping[str, "Counter[str]"]
Line = tuple[str, Sequence[Span]]
"""A sentence's text, and its names with their places in it."""
Mention = tuple[str, Span]

_SURE, _LIKELY, _MAYBE = 4, 2, 1
_LEAD = 2
"""How many times the votes of the second kind the first must have."""
_WINDOW = 60

_TITLES = WORDS["titles"]
_PREPOSITIONS = frozenset({"in", "to", "at", "near", "from", "of", "outside", "nearby"})
_LAST_WORD = re.compile(r"([^\W\d_-]+)\.? [\"“„]?\Z")
_NOUN_BEFORE = re.compile(
    r"\b(?:[Tt]he|[Aa]n?|[Hh]is|[Hh]er|[Tt]heir|[Ii]ts|by|of|and|with|'s|[A-Z]?[a-z]+(?:an|ish|ese|ch)|former)\ "
    r"(?:(?!(?:at|by|for|from|in|of|on|to|with)\ )[a-z-]+\ ){0,3}?([a-z-]{3,})\ [\"“„]?\Z"
)
_PLACE_OF = re.compile(
    r"\b(?:city|town|village|municipality|province|district|island|kingdom|duchy|republic|suburb|commune|parish|hamlet"
    r"|king|queen|duke|earl|bishop|residents|people|government|university|mayor|coast|north|south|east|west)\ of\ \Z"
)
_BY = re.compile(r"\b(?:directed|written|composed|starring|stars?|edited|painted|sung|portrayed|played)(?:\ by)?\ \Z")
_BORN_IN = re.compile(
    r"\b(?:born|died|lived|lives|living|raised|buried|settled|moved|emigrated)(?:\ (?:in|to|at|near))\ \Z"
)
_PERSON_AFTER = re.compile(
    r"(?:\ ?\([^()]*\))?(?:,?\ who\b(?!se)|,\ \d\d,|\ (?:was|were)\ (?:born|married|educated)\b|,?\ born\b"
    r"|\ (?:married|graduated|retired|starred|told)\b|\ recalled(?:[,:]|\ (?:that|how|when)\b)"
    r"|['’]s\ (?:wife|husband|father|mother|son|daughter|brother|sister|death|career|life)\b)"
)
_BY_A_PERSON = re.compile(
    r"\b(?:[Tt]hanks(?:\ to)?|(?:contributed|discovered|fixed|implemented|maintained|noted|noticed|posted|proposed"
    r"|provided|reported|reviewed|sent|spotted|submitted|suggested|translated|written|pointed\ out|comments?"
    r"|patch(?:es)?)(?:\ by|\ from))\ \Z"
)
_BEFORE_AUTHORS = frozenset({"by", "from", "to", "thanks", "Thanks"})
_SAID = re.compile(
    r"\ (?:said|says|explained|argued|added|wrote|writes|thinks|believes|noted|told|asked|warned|recalled|replied)\b"
)
_REFERENCE = re.compile(r"(?:\A|[,;]\ |\.\ |\n)([A-Z][\w'’-]+\ [A-Z]{1,3})(?=[,;.]|\ et\ al)")
"""An author in a list of references: "Quill AB, Stone X"."""
_NAME_PART = re.compile(r"[^\W\d_](?:\.|[^\W\d_'’-]*(?:['’-][^\W\d_]+)*)")
_PLURAL = re.compile(r"[A-Z]+s|The .*s")
_BRACKET = re.compile(r"\ ?\(([^()]{2,40})\)")
_APPOSITION = re.compile(
    r",\ (?:an?|the|one\ of\ the)\ ((?:[\w'-]+\ ){0,6}?[a-z-]+)"
    r"(?=[,.;:)]|\ (?:who|which|that|from|in|of|at|for|by|with|on)\b)"
)
_NOUN_AFTER = re.compile(r"\ ((?:programming\ |file\ )?[a-z]{4,})\b(?!-)")
_HEADS = (
    dict.fromkeys(("command", "package", "daemon", "library", "utility", "tool", "compiler"), "Product")
    | dict.fromkeys(("editor", "shell", "kernel", "packages", "distribution"), "Product")
    | dict.fromkeys(("protocol", "format", "algorithm", "standard", "filesystem", "file system"), "Concept")
    | dict.fromkeys(("syndrome", "disease", "virus", "encoding", "theorem", "file systems"), "Concept")
    | dict.fromkeys(("programming language", "language", "dialect"), "Language")
)
_HUMPS = re.compile(r"[A-Z]+(?![a-z])|[A-Z][a-z]+")
_KNOWN_AFTER = re.compile(r",\ ([A-Z][\w.]*(?:\ [A-Z][\w.]*){0,2})")
_ENDS_CLAUSE = re.compile(
    r"\Z|[.,;:)]|\ (?:and|in|on|with|where|when|for|from|to|until|during|by|after|before|as|at)\b"
)
_BETWEEN = re.compile(r"(?:['’]s)?,?\ (?:and|&|und|et)\ |,\ ")
_ACRONYM = re.compile(r"\ \(([A-Z][A-Za-z]{1,6})\)")


def kinds_of(
    lines: Sequence[Line], stated: Iterable[tuple[str, str]], *, technical: bool, german: bool = False
) -> dict[str, str]:
    """The kinds of names by their normalised names. ``stated``: names and what a sentence says that they are; these
    win. ``technical``: the text is a manual or of a science, where an acronym is a concept and "in X" no place.
    ``german``: a word alone may be anything there, since every noun has a capital."""
    votes: defaultdict[str, Counter[str]] = defaultdict(Counter)
    forms: dict[str, str | None] = {}
    mentions = [(text, span) for text, spans in lines for span in spans]
    for text, span in mentions:
        key = normalise_name(span.name)
        forms[key] = kind_of_name(span.name)
        for kind, weight in _around(text, span, technical, german):
            votes[key][kind] += weight
    for key, kind in stated:
        forms.setdefault(key, None)
        votes[key][kind] += _SURE
    kinds: dict[str, str] = {}
    for key, counts in votes.items():  # by far the most votes; more are needed against a form
        (kind, most), *rest = counts.most_common(2)
        if (not rest or most >= _LEAD * rest[0][1]) and (forms[key] in (None, kind) or most >= _SURE):
            kinds[key] = kind
    _share_in_lists(lines, kinds)
    _share_acronyms(mentions, kinds)
    for _, span in mentions:  # a firm without the word that says so: "Quill" beside "Quill Inc"
        name, _, last = span.name.rpartition(" ")
        name = name.rstrip(",")
        if last.lower().rstrip(".") in WORDS["firms"] and kind_of_name(name) is None:
            kinds.setdefault(normalise_name(name), "Organization")
    _share_surnames(mentions, kinds)
    for text, _ in lines:
        authors = _REFERENCE.findall(text)
        if len(authors) > 1 or " et al" in text:
            kinds.update((normalise_name(name), "Person") for name in authors)
    return kinds


def known_kind(name: str, kinds: Mapping[str, str]) -> str | None:
    """The kind of ``name`` that the document is sure of, else by its form, else what the document makes likely."""
    kind, by_form = kinds.get(normalise_name(name)), kind_of_name(name)
    return by_form if by_form is not None and kind in (None, "Concept") else kind


def _around(text: str, span: Span, technical: bool, german: bool) -> Iterator[tuple[str, int]]:
    """The votes of one mention."""
    before = text[max(0, span.start - _WINDOW) : span.start]
    after = text[span.end : span.end + _WINDOW]
    if span.kind is not None:
        yield span.kind, _LIKELY
    found = _LAST_WORD.search(before, max(0, len(before) - 24))
    last = found[1] if found else ""
    # The word directly before the name says which pattern can match at all.
    did_it = last in _BEFORE_AUTHORS and _BY_A_PERSON.search(before) and _is_full_name(span.name)
    if did_it or last in _TITLES or (last in ("by", "starring", "stars", "star") and _BY.search(before)):
        yield "Person", _LIKELY
    elif (last == "of" and _PLACE_OF.search(before)) or (last in _PREPOSITIONS and _BORN_IN.search(before)):
        yield "Place", _LIKELY
    elif last in NOUN_KINDS and _NOUN_BEFORE.search(before):
        yield NOUN_KINDS[last], _LIKELY
    several = " " in span.name
    may_act = not span.name.isupper() and not _PLURAL.fullmatch(span.name)
    if may_act and (_PERSON_AFTER.match(after) or (several and _SAID.match(after))):
        yield "Person", _LIKELY
    apposition = _APPOSITION.match(after)
    if apposition is not None and (kind := kind_of_noun_phrase(apposition[1])) is not None:
        yield kind, _LIKELY
    if (match := _NOUN_AFTER.match(after)) is not None and match[1] in _HEADS:
        yield _HEADS[match[1]], _LIKELY
    if (match := _BRACKET.match(after)) is not None and match[1].islower() and span.name.isupper():
        yield "Concept", _LIKELY
    if german and not after.startswith("-"):  # of "die XY-Datei", XY is a concept; alone it may be a firm, a share
        return
    yield from _in_a_manual(before, after, span) if technical else _by_place(last, after, span)


def _in_a_manual(before: str, after: str, span: Span) -> Iterator[tuple[str, int]]:
    """Acronyms, keywords in capitals and identifiers are concepts there, and so is what is said to be an option; a full
    name in brackets is who did it."""
    words = span.name.split()
    if before.endswith("(") and after.startswith(")") and _is_full_name(span.name) and not any(map(is_common, words)):
        yield "Person", _MAYBE
    if len(span.name) > 2 and len(words) < 4 and all(word.isupper() for word in words):
        yield "Concept", _MAYBE
    elif len(words) == 1:
        humps = _HUMPS.findall(span.name)
        made_up = len(humps) > 1 and "".join(humps) == span.name and all(map(is_common, humps))
        said = _NOUN_AFTER.match(after)
        if made_up and (len(humps) > 2 or (said is not None and said[1] in WORDS["parts of programs"])):
            yield "Concept", _LIKELY


def _by_place(last: str, after: str, span: Span) -> Iterator[tuple[str, int]]:
    """Names of places by what stands before and behind: "in Lund, Sweden", "in Lund."; a first name alone."""
    if last in _PREPOSITIONS:
        known = _KNOWN_AFTER.match(after)
        if known is not None and kind_of_name(known[1]) == "Place":
            yield "Place", _LIKELY
        elif last in ("in", "near", "outside") and _ENDS_CLAUSE.match(after) and _may_be_place(span.name):
            yield "Place", _MAYBE
    if span.name.lower() in GIVEN_NAMES:
        yield "Person", _MAYBE


def _is_full_name(name: str) -> bool:
    """Whether it may be a person's: two or three words that begin with a capital and go on in lower case."""
    words = name.split()
    return 1 < len(words) < 4 and all(_NAME_PART.fullmatch(word) for word in words) and not all(map(is_common, words))


def _may_be_place(name: str) -> bool:
    words = name.split()
    return (
        len(words) <= 2
        and words[0].lower() not in PEOPLES
        and not all(map(is_common, words))
        and all(word[0].isupper() and not word.isupper() and word.isalpha() for word in words)
    )


def _share_in_lists(lines: Sequence[Line], kinds: dict[str, str]) -> None:
    """Names of people and of places beside others of their kind: "Ada Quill, Bo Stone and Xu Reed"."""
    for text, spans in lines:
        for group in _lists(text, spans):
            known = [known_kind(span.name, kinds) for span in group]
            told = {kind for kind in known if kind is not None}
            many = 2 * known.count(None) <= len(group) or all(_is_full_name(span.name) for span in group)
            if len(told) == 1 and many and told <= {"Person", "Place"}:
                for span in group:
                    if known_kind(span.name, kinds) is None and _looks_like(span.name, *told):
                        kinds[normalise_name(span.name)] = next(iter(told))


def _lists(text: str, spans: Sequence[Span]) -> Iterator[list[Span]]:
    """Names one after another, parted by commas and "and": three, or two with "and"."""
    group: list[Span] = []
    for span in [*spans, None]:
        if group and (span is None or not _BETWEEN.fullmatch(text, group[-1].end, max(span.start, group[-1].end))):
            if len(group) > 2 or (len(group) == 2 and text[group[0].end : group[1].start] != ", "):
                yield group
            group = []
        if span is not None:
            group.append(span)


def _looks_like(name: str, kind: str) -> bool:
    words = name.split()
    plain = all(word[0].isupper() and not (word.isupper() and len(word) > 2) for word in words if len(word) > 3)
    return plain and (1 < len(words) < 5 if kind == "Person" else len(words) < 4) and not any(map(str.isdigit, name))


def _share_acronyms(mentions: Sequence[Mention], kinds: dict[str, str]) -> None:
    """An acronym in brackets is of the kind of what it stands behind."""
    for text, span in mentions:
        if (match := _ACRONYM.match(text, span.end)) is None:
            continue
        initials = [word[0].lower() for word in span.name.split() if word.lower() not in FUNCTION_WORDS]
        if len(initials) > 1 and match[1][0].lower() == initials[0] and len(match[1]) <= len(initials) + 2:
            kind = known_kind(span.name, kinds)
            if kind is not None and kind_of_name(match[1]) is None:
                kinds[normalise_name(match[1])] = kind


def _share_surnames(mentions: Sequence[Mention], kinds: dict[str, str]) -> None:
    """A person's last word, or first name, alone is the person, unless the document says that it is something else."""
    people: set[str] = set()
    said = {span.name for text, span in mentions if _SAID.match(text, span.end)}
    speakers = {name for name in said if kind_of_name(name) != "Organization"}
    for _, span in mentions:
        words = span.name.split()
        if words[-1] in speakers and _looks_like(span.name, "Person"):
            kinds.setdefault(normalise_name(span.name), kind_of_name(span.name) or "Person")
        is_person = 1 < len(words) < 5 and known_kind(span.name, kinds) == "Person"
        # "King Olaf" and "Olaf of Lund" do not end with a surname.
        if (
            is_person
            and words[-2].lower() not in ("of", "the")
            and words[0].lower() not in WORDS["first words of Person"]
        ):
            people |= {words[0], words[-1]}
    for _, span in mentions:
        if span.name in people and len(span.name) > 2 and not span.name.isupper():
            kinds.setdefault(normalise_name(span.name), "Person")
