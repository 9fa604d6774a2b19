"""Sub-questions: what each waits for, and what stands in the place of an answer that it waits for (section 3.3).

    parts = arrange(["Who directed Jaws?", "When was that director born?"], "When was the director of Jaws born?", 4)
    [(part.text, part.needs) for part in parts]
    # [('Who directed Jaws?', ()), ('When was #1 born?', (0,))]

A mark ``#1`` stands for the answer of the first sub-question, as in MuSiQue's decompositions. Sub-questions without
marks are at level 0 and are searched at the same time; one that needs another is a level above it. Models write "that
director" where ``#1`` was asked for, and a search for that finds any director: ``mark_references`` puts the mark there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

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


MOST_ANSWERS = 3
"""Answers of one sub-question that are filled in, and searches that a sub-question becomes by them."""

_MARK = re.compile(r"\[\s*#(\d{1,3})\s*\]|(?<![A-Za-z0-9])#(\d{1,3})(?![A-Za-z0-9])")


@dataclass(frozen=True, slots=True)
class SubQuestion:
    """``needs``: positions (from 0) of the earlier sub-questions whose answers replace the marks in ``text``."""

    text: str
    needs: tuple[int, ...] = ()
    level: int = 0


def arrange(texts: Sequence[str], question: str, most: int) -> tuple[SubQuestion, ...]:
    """Sub-questions in order, numbered again; what says nothing, comes twice or is beyond ``most`` is left out.

    Words that stand for an earlier answer ("that film", "the answer to sub-question 1") become its mark; where there is
    no earlier one, the whole question is asked in its place. A mark of an earlier one makes it needed. Any other mark
    gives way to the words of the sub-question that it names, or to nothing; one that the question itself has ("the #1
    hit") is a word like others. So no two wait for each other.
    """
    kept: list[tuple[int, str]] = []
    places: dict[int, int] = {}
    known: dict[str, int] = {}
    for number, text in enumerate(mark_references(list(map(tidy, texts)), question), 1):
        key = same_words(text)
        if key and key not in known and len(kept) < most:
            known[key] = len(kept)
            kept.append((number, text))
        if key in known:
            places[number] = known[key]
    parts: list[SubQuestion] = []
    for position, (number, text) in enumerate(kept):
        filled, needs = _with_marks(text, number, position, places, texts, question)
        level = 1 + max((parts[need].level for need in needs), default=-1)
        parts.append(SubQuestion(filled if same_words(filled) else question, tuple(sorted(needs)), level))
    return tuple(parts) or (SubQuestion(question),)


def _with_marks(
    text: str, number: int, position: int, places: Mapping[int, int], texts: Sequence[str], question: str
) -> tuple[str, set[int]]:
    """``text`` with the marks that count, and the positions that they name."""
    own = {int(mark[1] or mark[2]) for mark in _MARK.finditer(question)}
    needs: set[int] = set()

    def put(mark: re.Match[str]) -> str:
        named = int(mark[1] or mark[2])
        place = places.get(named)
        if named in own:
            return mark[0]
        if place is not None and place < position:
            needs.add(place)
            return f"#{place + 1}"
        other = 1 <= named <= len(texts) and named != number and place != position
        return bare(_MARK.sub("", texts[named - 1])) if other else ""

    return tidy(_MARK.sub(put, text)), needs


def fill(part: SubQuestion, answers: Mapping[int, Sequence[str]]) -> tuple[str, ...]:
    """``part`` with ``answers`` (by position) in place of its marks: a text for each, at most ``MOST_ANSWERS``."""
    chosen = islice(product(*(answers[need] for need in part.needs)), MOST_ANSWERS)
    return tuple(_filled(part, dict(zip(part.needs, words, strict=True))) for words in chosen)


def _filled(part: SubQuestion, words: Mapping[int, str]) -> str:
    def put(mark: re.Match[str]) -> str:
        return words.get(int(mark[1] or mark[2]) - 1, mark[0])

    return tidy(_MARK.sub(put, part.text))


def bare(text: str) -> str:
    """A question as words inside of another one: without its question mark."""
    return tidy(text).rstrip("?？؟ ")


def same_words(text: str) -> str:
    """Equal for texts that differ in case, spaces and punctuation only; empty if there is no letter or digit."""
    return " ".join(re.findall(r"\w+", normalise_name(text).replace("_", " ")))
