"""What a text names and states, whatever a model makes of it: inventions stay out of the graph, paraphrases do not.

    is_named("mayor of Lindau", "Lindau's mayor had promised …")      # True: its words stand there, in some form
    is_named("John Smith", "Ada met Charles Smith.")                  # False

Names and numbers, the words with a capital letter or a digit, must all stand in the text; of all words, most.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import lru_cache
from os.path import commonprefix

from kgplatform.records import ExtractedEntity, Extraction, Passage
from kgplatform.text import WORD, is_unspaced, normalise_name, tidy
from kgplatform.text.languages import language_of
from kgplatform.text.matching import Place, find_words, fold_words
from kgplatform.text.sentences import numbered, sentences

LONGEST = 200
"""Characters of a name: titles of treaties have 150. Of 17,657 in MuSiQue (GPT-3.5) the longest has 79."""

_SHORT_WORD = 3
"""Letters. Shorter words without a capital letter or a digit stand everywhere."""
_SHARE = 0.6
"""Of a name's or a statement's words, how many must stand in the text."""
_ALIKE = 0.75
"""How much of the longer of two words must be the beginning of both, as of "Москва" and "Москве"."""
_PRONOUNS = {
    "en": "he she it they we you i him her his hers its them their theirs us our me my this that these those who which",
    "de": "er sie es ihr ihm ihn wir ich du",
    "fr": "il elle ils elles lui leur nous vous je",
    "es": "él ella ellos ellas",
    "it": "lui lei loro egli essa",
    "pt": "ele ela eles elas",
    "ru": "он она оно они его её их",
    "zh": "他 她 它 他们 她们",
    "ja": "彼 彼女",
    "ar": "هو هي",
}
"""What stands for a name in a language, and names nobody. In another one it may be a name: Ella, Lei."""
_NO_VALUES = frozenset(["true", "false", "null", "none", "nan"])
"""What programs write for nothing; a name only where the text has it with a capital letter."""


def is_named(name: str, text: str, title: str = "") -> bool:
    """Whether ``text`` or ``title`` names ``name``: as it is, or its words in some order and some inflection."""
    return not why_unnamed(name, text, title)


def why_unnamed(name: str, text: str, title: str = "") -> str:
    """Why ``name`` is no name of ``text`` or ``title``, in a few words; empty where it is one."""
    if len(name) > LONGEST:
        return f"longer than {LONGEST} characters"
    if len(numbered(_IN_NAMES.sub("", name))) > 1:
        return "more than one sentence"
    if _is_nobody(name, text):
        return "a pronoun, or a word for nothing"
    is_there = any(letter.isalnum() for letter in name) and (find_words(name, text) or find_words(name, title))
    return "" if is_there or _has_words(name, text, title) else "not in the text"


_IN_NAMES = re.compile("[!?！？]")
"""What ends a sentence, and stands in names too: "Panic! At the Disco"."""


def _is_nobody(name: str, text: str) -> bool:
    """Whether ``name`` is a pronoun of the language of ``text``, or a program's word for nothing. With a capital letter
    where no sentence begins, or before another name, a pronoun is a name: "the film It", "Ella Fitzgerald"."""
    key = normalise_name(name)
    if key in _NO_VALUES:
        return name == key or name not in text
    if name.isupper() or key not in _PRONOUNS.get(language_of(text), "").split():
        return False
    places = [match for match in re.finditer(rf"\b{re.escape(name)}\b", text) if name[0].isupper()]
    return not any(_WITHIN.search(text[: at.start()]) or text[at.end() :][1:2].isupper() for at in places)


_WITHIN = re.compile(r"[\w,;] \Z")


def stated_place(words: Sequence[str], text: str, title: str) -> Place | None:
    """The sentence of ``text`` that has most of ``words``; None unless it has what ``is_named`` asks for."""
    if not all(_has_words(each, text, title) for each in words):
        return None
    wanted = [word for each in words for word in WORD.findall(each)]
    counts = {each: len(_standing(wanted, text[each.start : each.end])) for each in sentences(text)}
    best = max(counts, key=lambda each: (counts[each], -each.start), default=None)
    return Place(best.start, best.end, exact=False) if best and counts[best] else None


def sentence_of(number: int | None, said: Sequence[str], text: str) -> int | None:
    """The number of the sentence of ``text`` that says of the first text of ``said`` what the others say: ``number``,
    unless another one has more than twice as many of their words. Small models count on where they skip a sentence, or
    name the title for all that is said of what it names."""
    known = [text[each.shown : each.end] for each in numbered(text)]
    subject, told = (
        [word for word in WORD.findall(each) if len(word) > _SHORT_WORD or not word.islower()]
        for each in (said[0], " ".join(said[1:]))
    )
    counts = [(len(_standing(told, each)), len(_standing(subject, each))) for each in known]
    best = max(range(len(known)), key=lambda at: (counts[at], -at), default=None)
    own = counts[number - 1][0] if number else 0
    return number if best is None or counts[best][0] <= 2 * own else best + 1


def without_inventions(extraction: Extraction, passage: Passage, title: str) -> tuple[Extraction, dict[str, str]]:
    """``extraction`` without the names that the passage does not have, and without what is said of them alone; and why,
    for each of these. A type in place of the name, and a type behind it in brackets, are put right first."""
    reasons: dict[str, str] = {}

    def stays(*names: str) -> bool:
        why = {tidy(name): reasons.get(tidy(name)) or why_unnamed(name, passage.text, title) for name in names}
        unnamed = {name: reason for name, reason in why.items() if reason and normalise_name(name) not in listed}
        reasons.update(unnamed)
        return not unnamed

    listed = set[str]()
    entities = tuple(_righted(each, passage.text, title) for each in extraction.entities)
    kept = tuple(each for each in entities if stays(each.name))
    listed.update(normalise_name(each.name) for each in kept)
    triples = tuple(each for each in extraction.triples if stays(each.subject, each.object))
    attributes = tuple(each for each in extraction.attributes if stays(each.entity))
    named = (replace(each, key_elements=tuple(filter(stays, each.key_elements))) for each in extraction.facts)
    facts = tuple(each for each in named if each.key_elements)
    return replace(extraction, entities=kept, triples=triples, attributes=attributes, facts=facts), reasons


_THOUSANDS = re.compile(r"(?<=\d)[.,'’ \u00a0\u2009\u202f](?=\d{3}(?!\d))")


def lacks_a_number(text: str, source: str, digits: int = 2) -> bool:
    """Whether ``text`` has a number of ``digits`` or more that ``source`` does not have, whatever parts its thousands;
    "1870s" is none."""
    parts = _THOUSANDS.sub("", text), f"{source}\n{_THOUSANDS.sub('', source)}"
    numbers = [word for word in WORD.findall(parts[0]) if word.isdigit() and len(word) >= digits]
    return len(_standing(numbers, parts[1])) < len(numbers)


_BRACKETED = re.compile(r"(?P<name>.+?)\s*[(（](?P<type>[^()（）]+)[)）]")


def _righted(entity: ExtractedEntity, text: str, title: str) -> ExtractedEntity:
    if is_named(entity.name, text, title):
        return entity
    if entity.type and is_named(entity.type, text, title):
        return replace(entity, name=entity.type, type=entity.name)
    found = _BRACKETED.fullmatch(entity.name)
    if found and is_named(found["name"], text, title):
        return replace(entity, name=found["name"], type=entity.type or found["type"])
    return entity


def _has_words(name: str, text: str, title: str) -> bool:
    words = WORD.findall(name)
    if not words or is_unspaced(name):
        return False
    standing = _standing(words, f"{title}\n{text}")
    telling = [word for word in words if word[0].isupper() or any(letter.isdigit() for letter in word)]
    return len(standing) >= _SHARE * len(words) and all(word in standing for word in telling)


def _standing(words: Collection[str], text: str) -> list[str]:
    """Those of ``words`` that ``text`` has, in this form or in another with the same beginning."""
    there = _words_of(text)
    standing = []
    for word in words:
        folded = fold_words(word)
        stands = folded in there
        if not stands and folded.isalpha():
            least = max(3, len(folded) * _ALIKE)
            near = (other for other in there if other[:3] == folded[:3])
            stands = any(len(commonprefix((folded, other))) >= max(least, _ALIKE * len(other)) for other in near)
        if stands:
            standing.append(word)
    return standing


@lru_cache(maxsize=256)
def _words_of(text: str) -> frozenset[str]:
    return frozenset(WORD.findall(fold_words(text)))
