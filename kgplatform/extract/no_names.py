"""Capitalised words that are no names: dates, adjectives, roles, parts of texts, keys, shouted words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from kgplatform.extract.document_words import DocumentWords
from kgplatform.extract.lexicon import (
    DAYS,
    FUNCTION_WORDS,
    GIVEN_NAMES,
    MONTHS,
    NOUN_KINDS,
    OPENERS,
    PEOPLES,
    WORDS,
    is_common,
    kind_ending,
    kind_of_name,
    known_name,
)
from kgplatform.extract.tokens import Tokens, is_capital

_ADJECTIVE = re.compile(r".{2,}(?:[ai]an|ese|ish|esque)\Z")
_AND_MORE = re.compile(r",? (?:and|&|of|for)(?: the)? [A-Z]")
_MORE_AND = re.compile(r"[A-Z][\w'’]*,? (?:and|&|of|for)(?: the)? \Z")
_ITEM = re.compile(r"(?:\A|\n|[-*•] )[A-Z][^\n.:;,]*\Z")
"""What begins an item and goes on to its colon: "- Iteration Count: …"."""
_LONGEST_LABEL = 60
_LABELLED = re.compile(
    r"[\"”’']? (?:radio |check |push )?(?:assistant|bar|box|button|checkbox|dialog|dialogue|field|icon|menu|page|pane"
    r"|screen|section|submenu|tab|toolbar|view|window|wizard)s?\b"
)
_INDEFINITE = re.compile(r"\b[Aa]n? \Z")
_DERIVED = re.compile(r"(?:an|al|ese|ish|ic)\Z")
_TAILS = ("n", "an", "ian", "ean", "nian", "ional", "al", "ese", "ish", "ic")
"""Endings that make an adjective of a name."""
_NOUN_AFTER = re.compile(r"[ -][a-z]{3,}")
_BEFORE_PEOPLES = WORDS["before peoples"]
_NO_WORD = re.compile(r"(?:Ctrl|Alt|Shift|Meta|Esc)\b|[CM]-\w+\Z|F\d+\Z|[A-Z]-\d+\Z|[A-Z]+s\Z")
"""A key, the plural of an acronym."""
_OF_A_NAME = re.compile(
    r".*-[a-z]*(?:ing|ed|like|style|born|era|wide|free|only|led|own|run|long|level|based|bug|friendly|related)\Z"
)
_NO_IDENTIFIER = re.compile(r"(?=[A-Z])[^-]*\Z|[A-Z]+[\d-]|.*-[A-Z\d]+\Z")
"""In a manual, "noMetadata" and "Signed-By" are an option and a field; "GitHub" and "UTF-8" are names."""
_NUMBERS = frozenset({"one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"})
_VERBS = ("ize", "ise", "ify")
_INFLECTED = ("ing", "ed", "ly", "tion", "ment", "ity")
_LONGEST_ACRONYM = 6
_LONGEST_IN_A_MANUAL = 4
"""A longer one is a constant or a word of a heading there, where it is not known."""
_MOST_WORDS = 4
"""Of a name in a manual that nothing else tells to be one."""


def is_adjective(text: str, tokens: Tokens, first: int, last: int, end: int, words: DocumentWords) -> bool:
    """Whether the words say of what people or kind something is: "Swedish", "the Darwinian view", "an Actress"."""
    word, left = tokens[first]["word"], tokens[first].start()
    if last - first == 2:
        return _is_people(word.lower(), tokens[first + 1]["word"].lower())
    if last - first > 2:
        return False
    known = kind_of_name(word)
    if known is None and word.isalpha() and text[max(0, left - 4) : left].endswith((" a ", " an ")):
        return not word.isupper()
    if word.lower() in PEOPLES:
        return known != "Language" or not text[max(0, left - 6) : left].endswith((" in ", " into "))
    after = _NOUN_AFTER.match(text, tokens[first].end(), end)
    if after is None or after[0][1:] in FUNCTION_WORDS or known is not None:
        return False
    return _ADJECTIVE.match(word) is not None or _is_derived(word, words)


def _is_derived(word: str, words: DocumentWords) -> bool:
    """Whether the document has the name that ``word`` comes from: "Varnian" where it has "Varn"."""
    ending = _DERIVED.search(word)
    stems = [word[: -len(tail)] for tail in _TAILS if word.endswith(tail)] if ending else []
    return any(len(stem) > 2 and (stem in words.capital or kind_of_name(stem) is not None) for stem in stems)


def is_of_a_kind(text: str, tokens: Tokens, first: int, last: int) -> bool:
    """Whether ordinary words behind "a" name one of many, with capitals for weight: "a Very Important Person"."""
    left = tokens[first].start()
    run = [token["word"] for token in tokens[first:last]]
    indefinite = _INDEFINITE.search(text, max(0, left - 4), left) is not None
    return indefinite and all(map(is_common, run)) and kind_of_name(" ".join(run)) is None


def is_part_of_more(text: str, tokens: Tokens, first: int, last: int) -> bool:
    """Whether ordinary words are a part of a longer name, cut at "and" or "of": "the Computer Science and Arts Lab"."""
    run = [token["word"] for token in tokens[first:last]]
    if not all(map(is_common, run)) or kind_of_name(" ".join(run)) is not None:
        return False
    after = _AND_MORE.match(text, tokens[last - 1].end()) is not None
    before = _MORE_AND.search(text, max(0, tokens[first].start() - 40), tokens[first].start()) is not None
    return after or before or _is_possessed(text, tokens, first)


def _is_possessed(text: str, tokens: Tokens, first: int) -> bool:
    """Whether "Women's" or the like stands before, with a capital that no sentence gives it."""
    if first < 2 or not tokens[first - 1]["possessive"]:
        return False
    word, left = tokens[first - 1]["word"], tokens[first - 1].start()
    return word[0].isupper() and is_common(word) and text[left - 1 : left] == " " and text[left - 2] not in ".!?:"


def is_label_of(text: str, right: int, run: Sequence[str]) -> bool:
    """Whether a manual goes on with what the words, which are not known, are a label of: "the Refine Search dialog"; or
    in lower case, after an ordinary word: "the Quill Web browser".
    """
    if kind_of_name(" ".join(run)) is not None:
        return False
    if text.startswith(":", right) and _ITEM.search(text, max(0, right - _LONGEST_LABEL), right):
        return True
    after = _NOUN_AFTER.match(text, right)
    cut = len(run) > 1 and is_common(run[-1]) and after is not None and len(after[0]) > 4 and is_common(after[0][1:])
    return (cut and after is not None and after[0][1:] not in FUNCTION_WORDS) or bool(_LABELLED.match(text, right))


def is_citation(text: str, left: int, right: int) -> bool:
    """Whether what stands there is the mark of a reference: "[Qui14]"."""
    bracketed = text[left - 1 : left] == "[" and text[right : right + 1] == "]"
    return bracketed and any(letter.isdecimal() for letter in text[left:right])


def is_half_of_a_pair(text: str, left: int, right: int) -> bool:
    """Whether a dash without spaces joins the name, which is not known, to another: "the Varn–Quill Agreement"."""
    joined = text[left - 1 : left] == "–" and text[max(0, left - 2) : left - 1].isalpha()
    joined |= text[right : right + 1] == "–" and text[right + 1 : right + 2].isupper()
    return joined and known_name(" ".join(text[left:right].split())) is None


def _is_people(first: str, second: str) -> bool:
    """Whether two words are an adjective: "South African", "Puerto Rican", "Anglo-Saxon German"."""
    return second in PEOPLES | {"rican", "lankan"} and (first in PEOPLES or first in _BEFORE_PEOPLES)


def is_inflected(run: Sequence[str], words: DocumentWords) -> bool:
    """Whether the word comes from a verb, with a capital for a button or a heading: "Guided", "Building"."""
    alone = len(run) == 1 and kind_of_name(run[0]) is None and run[0].lower() not in GIVEN_NAMES
    if words.technical:
        return alone and run[0].endswith(_INFLECTED)
    return alone and run[0].endswith(("ing", "ed", "ly")) and words.capital.get(run[0], 0) < 2


def is_function_word(low: str) -> bool:
    return low in FUNCTION_WORDS or low.replace("’", "'") in FUNCTION_WORDS


def is_role(tokens: Tokens, first: int, stop: int) -> bool:
    """Whether the word only says what the person named after it is: "American", "Pastor" or "Varland President"."""
    rest = [token["word"] for token in tokens[first:stop]]
    roles = [at for at, word in enumerate(rest[:-2]) if at < 4 and NOUN_KINDS.get(word.lower()) == "Person"]
    if not roles:
        return rest[0].lower() in PEOPLES and len(rest) > 2 and kind_of_name(" ".join(rest[1:])) == "Person"
    before = tokens[first - 1]["word"] if first else ""
    if roles == [0] and rest[0].lower() in WORDS["first words of Person"] and before not in ("Prime", "Vice", "Deputy"):
        return False
    return kind_of_name(" ".join(rest[roles[-1] + 1 :])) == "Person"


def is_office(tokens: Tokens, first: int, stop: int) -> bool:
    """Whether the word, or "of" behind it, only says what somebody is of what is named: "CEO of Quill Motors"."""
    at = first - 1 if tokens[first]["word"] == "of" else first
    heads = at >= 0 and tokens[at]["word"].lower() in WORDS["offices"] and at + 2 < stop
    return heads and tokens[at + 1]["word"] == "of"


def is_initial(word: str) -> bool:
    return "." in word and word.isupper()


def is_after_comma(tokens: Tokens, position: int) -> bool:
    """Whether the token stands behind a capitalised word and a comma: "Quill, A.B. Letters" is a reference's author."""
    if position == 0:
        return False
    before, token = tokens[position - 1], tokens[position]
    return is_capital(before["word"]) and token.string[before.end() : token.start()] == ", "


def only_opens(word: str, words: DocumentWords) -> bool:
    """Whether the document gives reason to think that ``word`` has its capital from the beginning of the sentence."""
    if word.lower() in words.lower and word not in words.capital:
        return True
    sure = words.is_proper(word) or any(letter.isupper() for letter in word[1:])
    ordinary = is_common(word) or word.endswith(_INFLECTED + _VERBS)
    return words.technical and not sure and ordinary and kind_of_name(word) is None


def only_calls(tokens: Tokens, first: int, stop: int, words: DocumentWords) -> bool:
    """Whether an ordinary word begins the sentence before a person's name: "Enter Ada Quill"."""
    word = tokens[first]["word"]
    if not is_common(word) or word in words.capital or word.lower() in WORDS["first words of Person"]:
        return False
    return kind_of_name(" ".join(token["word"] for token in tokens[first + 1 : stop])) == "Person"


def is_made_of_a_name(word: str) -> bool:
    """Whether the word is made of a name and an ordinary word: "Go-playing", "NASA-inspired", "SQL-standard"."""
    if _OF_A_NAME.match(word) is not None:
        return True
    first, hyphen, last = word.rpartition("-")
    named = bool(hyphen) and (first.isupper() or not is_common(first))
    return named and len(last) > 3 and last.islower() and is_common(last)


def is_name(run: Sequence[str], words: DocumentWords, opens: bool) -> bool:
    """Whether the run is a name: not a date, not a function word, not a word that only its sentence capitalises."""
    if all(word.isdecimal() or word.lower() in MONTHS or word.lower().rstrip("s") in DAYS for word in run):
        return False
    if run[0].lower() in WORDS["parts of texts"] and all(_is_number(word) for word in run[1:]):
        return False
    if len(run) == 1:
        return _is_name_alone(run[0], words, opens)
    shouted = [word for word in run if word.isupper() and word.isalpha() and len(word) > 1]
    if len(shouted) > 2 or sum(1 for word in shouted if len(word) > 4) > 1:
        return False
    if all(word.lower() in WORDS["generic"] or is_function_word(word.lower()) for word in run):
        return False
    if words.technical and (_is_heading(run) or is_label(run)):
        return False
    if is_made_of_a_name(run[-1]) and is_common(run[-1].rpartition("-")[2]) and kind_of_name(" ".join(run)) != "Person":
        return False
    if is_function_word(run[-1].lower()) and not run[-1].isupper():
        return False
    if len(run) == 2 and _is_number(run[1]) and run[0].lower() in words.lower:
        return False
    return not all(is_function_word(word.lower()) or len(word.strip(".")) < 2 for word in run)


def is_label(run: Sequence[str]) -> bool:
    """Whether the words are what a manual calls a part of a screen, a page or a form: "Summary Bar", "Find Bill"."""
    kind = kind_of_name(" ".join(run))
    if kind in ("Person", "Organization", "Place", "Event") or run[-1].lower() in WORDS["laws"]:
        return False
    if all(word.isupper() for word in run) or any(known_name(word) for word in run):
        return False
    plain = WORDS["generic"] | OPENERS
    ordinary = all(is_common(word) or word.lower() in plain or word.isdecimal() for word in run)
    return ordinary or (kind is None and run[-1].lower() in WORDS["parts of screens"])


def _is_heading(run: Sequence[str]) -> bool:
    """Whether the words, in a manual, are a heading, a list of headings, or a word in capitals before one."""
    function = any(word[0].isupper() and not word.isupper() and is_function_word(word.lower()) for word in run)
    long = len(run) > _MOST_WORDS and kind_of_name(" ".join(run)) is None
    gerund = run[0].endswith("ing") and is_common(run[0]) and kind_of_name(" ".join(run)) is None
    option = any(word[0].islower() and any(map(str.isupper, word)) and kind_of_name(word) is None for word in run)
    return function or long or option or gerund or (run[0].isupper() and run[0].isalpha() and len(run[0]) > 4)


def _is_name_alone(word: str, words: DocumentWords, opens: bool) -> bool:
    low = word.lower()
    if _NO_WORD.match(word) or is_made_of_a_name(word):
        return False
    if len(word.strip(".")) < 2 or is_function_word(low):
        return word.isupper() and len(word) > 1 and low in {"us", "it"} and not opens
    if word.isupper() and "." not in word:
        return kind_of_name(word) is not None or is_acronym(word, words)
    if any(letter.isupper() for letter in word[1:]):
        return not words.technical or kind_of_name(word) is not None or _NO_IDENTIFIER.match(word) is not None
    if kind_of_name(word) is None and (low in NOUN_KINDS or kind_ending(low) is not None or low in WORDS["generic"]):
        return False
    if is_common(word) and kind_of_name(word) is None:
        once = words.capital.get(word, 0) < 2 or words.lower.get(low, 0) > 0
        if words.technical or once:
            return False
    if known_name(word) is not None and not opens:
        return words.capital.get(word, 0) > words.lower.get(low, 0)
    return words.is_proper(word) and (not opens or low not in OPENERS)


def is_acronym(word: str, words: DocumentWords) -> bool:
    """Whether the word in capitals is short and no word that the document, or any program, writes otherwise too."""
    low = word.lower()
    longest = _LONGEST_IN_A_MANUAL if words.technical and word.isalpha() else _LONGEST_ACRONYM
    if known_name(word) is None and (len(word) == 2 if words.technical else len(word) > 3 and is_common(word)):
        return False
    short = 2 <= len(word) <= longest and len(set(word)) > 1 and sum(map(str.isalpha, word)) > 1
    return short and low not in WORDS["no acronyms"] and low not in words.lower


def _is_number(word: str) -> bool:
    return word[0].isdecimal() or len(word.rstrip(".")) == 1 or set(word) <= set("IVXLC") or word.lower() in _NUMBERS
