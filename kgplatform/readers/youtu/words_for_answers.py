"""Words that stand for the answer of an earlier sub-question, as models write them where ``#1`` was asked for.

    mark_references(["Who directed Jaws?", "When was that director born?"], question)
    # ['Who directed Jaws?', 'When was #1 born?']

A search for "that director" finds any director. What a question says of itself is left as it is.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgplatform.text import normalise_name, tidy

_ANSWER = r"(?:answers?|results?|antworte?n?|ergebnis|réponses?|resultat|respuestas?|resultado|risposta|答案|回答|答え)"
_PART = (
    r"(?:(?:sub|teil|sous|sotto)?[-_ ]?(?:questions?|quer(?:y|ies)|frage|pregunta|domanda|pergunta)|part|step|q"
    r"|子?问题|質問)"
)
_SMALL = r"(?:(?:to|of|from|for|the|auf|zu|der|die|von|à|de|la|le|a|al|alla)\s+)*"
_NUMBER = r"[\s_]*(?:no\.?\s*|n[°º]\s*)?#?(?P<number>\d{1,2})"
_OPEN, _CLOSE = r"[\[({<]*\s*", r"\s*[\])}>]*"
# Each names a sub-question by its number: "(answer to sub-question 2)", "Q1's answer", "问题1的答案", "{{1}}".
_BY_NUMBER = (
    re.compile(
        rf"{_OPEN}(?<!\w)(?:the\s+|die\s+|la\s+)?{_ANSWER}\s*{_SMALL}{_PART}?{_NUMBER}(?!\d){_CLOSE}", re.IGNORECASE
    ),
    re.compile(rf"{_OPEN}(?<!\w){_PART}{_NUMBER}(?:['’]s)?(?:\s+|的|の)?{_ANSWER}{_CLOSE}", re.IGNORECASE),
    re.compile(r"[\[({<]+\s*#?(?P<number>\d{1,2})\s*[\])}>]+"),
)
_ORDINALS = {"first": 1, "second": 2, "third": 3, "previous": 0, "last": 0, "above": 0, "preceding": 0}
_BY_ORDINAL = re.compile(
    rf"{_OPEN}(?<!\w)(?:the\s+)?{_ANSWER}\s+{_SMALL}(?P<ordinal>{'|'.join(_ORDINALS)})(?:\s+{_PART})?{_CLOSE}",
    re.IGNORECASE,
)

_LETTERS = r"[^\W\d_]+"
_POINTING = re.compile(
    rf"(?P<words>\b(?:[Tt]h(?:is|ese|ose)|(?:[Tt]he )?(?:aforementioned|above-mentioned)|[Tt]he (?:former|latter)"
    rf"|[Dd]ies(?:er|e|es|em|en)|[Jj]ene[rsmn]?|[Cc]et(?:te)?|[Ee]s[ae]|[Ee]sta|[Qq]uest[oa])\s+(?P<noun>{_LETTERS})"
    r"|(?:该|这[位个部座家条]|那[位个部座家条])(?P<sign>[一-鿿]{2}))"
)
_THAT = re.compile(rf"(?:\A|(?P<before>{_LETTERS})\s+)(?P<words>[Tt]hat\s+(?P<noun>{_LETTERS}))")
_NOT_NOUNS = (
    "who whom whose which that what of in on at by to for from with is are was were be been has have had do does did "
    "can could will would may might won wrote made led ran became"
)
_NO_NOUNS = frozenset(_NOT_NOUNS.split())
# What stands before "that film" and not before "(the film) that won": prepositions, auxiliaries, verbs of the past.
_BEFORE = (
    "of in on at by to for from with about after before under over near into is are was were did does do has have had "
    "can could will would wrote made won built led ran sang drew began bought sold sent left met knew took gave held "
    "became taught fought lost found whose which what and or than as"
)
_BEFORE_NOUN = frozenset(_BEFORE.split())
_PRONOUN = re.compile(
    r"\b(?P<words>(?P<whose>[Hh]is|[Ii]ts|[Tt]heir|[Hh]er(?= [a-z]))|[Hh]e|[Ss]he|[Ii]t|[Tt]hey|[Hh]im|[Tt]hem)\b"
)
_NAMED = re.compile(r"(?<=[\w,;] )[^\W\d_a-zß-öø-ÿ]\w|\d|[\"“«„#]")
"""A name, a number or a quotation: a pronoun beside one may well mean that."""


def mark_references(texts: Sequence[str], question: str) -> list[str]:
    """``texts`` (by number, from 1) with marks for words that stand for an answer.

    Where there is no earlier answer, ``question`` takes the place of the text.
    """
    own = normalise_name(question)
    marked: list[str] = []
    for number, text in enumerate(texts, 1):
        text = _numbered(text, number, own)
        found = _dangling(text, own, texts[: number - 1])
        if found and number > 1:
            groups = found.groupdict()
            earlier = _meant(groups.get("noun") or groups.get("sign") or "", texts[: number - 1])
            start, end = found.span("words")
            ending = "'s" if groups.get("whose") else ""
            text = f"{text[:start]}#{earlier}{ending}{text[end:]}"
        marked.append(question if found and number == 1 else tidy(text))
    return marked


def _numbered(text: str, number: int, question: str) -> str:
    """``text`` with marks for answers that it names by a number or by their order."""

    def put(found: re.Match[str]) -> str:
        if normalise_name(found[0]) in question:
            return found[0]
        groups = found.groupdict()
        named = int(groups["number"]) if "number" in groups else _ORDINALS[groups["ordinal"].lower()]
        return f" #{named or number - 1} "

    for pattern in (*_BY_NUMBER, _BY_ORDINAL):
        text = pattern.sub(put, text)
    return re.sub(r"(#\d+) (?=[?？.,;!'’])", r"\1", tidy(text))


def _dangling(text: str, question: str, earlier: Sequence[str]) -> re.Match[str] | None:
    """Where ``text`` has words that stand for an answer: "that film", or a pronoun where it names nothing itself."""
    if "#" in text:
        return None
    for found in (*_POINTING.finditer(text), *_THAT.finditer(text)):
        noun = (found["noun"] or "").lower()
        if noun not in _NO_NOUNS and _is_pointing(found, earlier) and normalise_name(found["words"]) not in question:
            return found
    pronoun = None if _NAMED.search(text) else _PRONOUN.search(text)
    return None if pronoun is None or re.search(rf"\b{pronoun[0].lower()}\b", question) else pronoun


def _is_pointing(found: re.Match[str], earlier: Sequence[str]) -> bool:
    """Whether "that" points to a thing and begins no clause: by the word before it, or as its noun came ``earlier``."""
    if found.re is not _THAT:
        return True
    before = (found["before"] or "").lower()
    known = any(found["noun"].lower() in text.lower().split() for text in earlier)
    return not before or before in _BEFORE_NOUN or before.endswith("ed") or known


def _meant(noun: str, earlier: Sequence[str]) -> int:
    """The number of the last of the ``earlier`` sub-questions that has ``noun``, else of the last one."""
    having = [number for number, text in enumerate(earlier, 1) if noun and noun.lower() in text.lower()]
    return having[-1] if having else len(earlier)
