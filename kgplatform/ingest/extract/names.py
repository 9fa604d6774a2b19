"""Named things of a sentence: capitalised spans, acronyms and quoted titles, in cased and in caseless scripts.

Everything is decided by the sentence and by what the document does elsewhere with the same words
(``DocumentWords``), so that a passage's names do not depend on the rest of the corpus.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgplatform.ingest.extract.lexicon import (
    DAYS,
    FUNCTION_WORDS,
    GIVEN_NAMES,
    INNER_PARTICLES,
    MONTHS,
    NOUN_KINDS,
    OPENERS,
    PEOPLES,
    WORDS,
    kind_ending,
    kind_of_name,
)
from kgplatform.sentences import ABBREVIATIONS, Sentence
from kgplatform.text import is_unspaced

MOST_WORDS = 12
"""Words in a name; a longer run of capitals is a heading or a list, and is cut there."""

_GO_ON = ABBREVIATIONS - {"ca", "corp", "etc", "inc", "ltd"}
"""Abbreviations with a name behind them; "CA" is California more often than circa."""


def _letters(test: str) -> str:
    """The letters below U+2C00 whose ``str`` method ``test`` is true, as ranges for a class of a regex."""
    ranges: list[list[int]] = []
    for code in (code for code in range(0x2C00) if chr(code).isalpha() and getattr(chr(code), test)()):
        if ranges and ranges[-1][1] == code - 1:
            ranges[-1][1] = code
        else:
            ranges.append([code, code])
    return "".join(f"{chr(first)}-{chr(last)}" for first, last in ranges)


_UPPER = _letters("isupper")
_LOWER = _letters("islower")
_WORD = f"0-9{_UPPER}{_LOWER}\u0300-\u036f"
_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
# Initials with their full stops, or a word of a cased script; a possessive ending is not a part of it.
TOKEN = re.compile(
    rf"(?P<word>(?:[{_UPPER}]\.)+(?![{_LOWER}])|[{_WORD}]+(?:(?!['’]s(?![{_WORD}]))['’\-\u2010\u2011&][{_WORD}]+)*)"
    rf"(?P<possessive>['’]s(?![{_WORD}]))?"
)
_QUOTED = re.compile(r'"([^"“”\n]{2,80})"|“([^"“”\n]{2,80})”|«\s?([^«»\n]{2,80}?)\s?»|„([^„“”\n]{2,80})[“”]')
_CASELESS = re.compile(
    r"《([^《》\n]{1,60})》|〈([^〈〉\n]{1,60})〉|「([^「」\n]{1,40})」|『([^『』\n]{1,40})』"
    rf"|([\u30a1-\u30fa\u30fc]{{2,}}(?:[・＝][\u30a1-\u30fa\u30fc]{{2,}})+|[\u30a1-\u30fa\u30fc]{{4,}})"
    rf"|([{_HAN}]{{1,6}}(?:[·・‧](?:(?![的是在和与與及于於了曾为為出也被])[{_HAN}]){{1,6}})+)"
)
# In Chinese, what stands between punctuation or function characters and ends like an institution or a place.
_INSTITUTION = re.compile(
    rf"(?<![{_HAN}])(?:[{_HAN}]*?[于於在的是和与與及或由从從到向为為至去往对對被把，])?"
    rf"([{_HAN}]{{2,10}}?(?:大学|大學|公司|学院|學院|研究所|研究院|银行|銀行|博物馆|博物館|出版社|委员会|委員會))"
)


_NO_TITLE = re.compile(r"[/\\=<>{}|_$~]|\w\(|\.\w|^\W*\w\W*$")
"""What a quoted title does not have: signs of paths and of code, and one letter alone."""
_IN_A_NAME = re.compile(r"[A-Z][\w.]* ?\Z")
"""Before a nickname: Ada "Red" Quill."""


@dataclass(frozen=True, slots=True)
class Span:
    """A name and where it stands: ``text[start:end]`` names it, give or take white space. ``kind``: what its place tells."""

    name: str
    start: int
    end: int
    kind: str | None = None


GERMAN = WORDS["german function words"]
_ONLY_GERMAN = GERMAN - frozenset(
    [
        "also",
        "am",
        "an",
        "bin",
        "da",
        "des",
        "die",
        "du",
        "er",
        "hat",
        "hier",
        "in",
        "ist",
        "man",
        "mine",
        "oder",
        "so",
        "war",
        "was",
        "will",
    ]
)
_GERMAN_SHARE = 0.06
"""Of a text's words in lower case, so many are German alone if it, or a good part of it, is German."""
_LEAST_GERMAN = 6
"""Different ones that must be there: a short English text may hold "in", "so" and "was" alone."""


@dataclass(frozen=True, slots=True)
class DocumentWords:
    """How a document writes its words: in lower case anywhere, and capitalised where no sentence begins.

    ``german``: it writes every noun with a capital, so that one tells nothing. ``technical``: it has paths, options and
    code among its words, and so names of fields, buttons and constants with capitals.
    """

    lower: Mapping[str, int]
    capital: Mapping[str, int]
    german: bool
    technical: bool

    @classmethod
    def of(cls, text: str, title: str, places: Sequence[Sentence]) -> DocumentWords:
        """The words of ``text``, whose sentences are ``places``; those of ``title`` count as capitalised."""
        lower: Counter[str] = Counter()
        capital = Counter(match["word"] for match in TOKEN.finditer(title) if is_capital(match["word"]))
        for sentence in places:
            words = [match["word"] for match in TOKEN.finditer(text, sentence.start, sentence.end)]
            lower.update(word for word in words if word[0].islower())
            if not is_shouted(words) and is_running(text, sentence.start, sentence.end, words):
                found = TOKEN.finditer(text, sentence.start, sentence.end)
                capital.update(match["word"] for match in found if _tells(text, sentence.start, match))
        known = [count for word, count in lower.items() if word in _ONLY_GERMAN]
        german = len(known) >= _LEAST_GERMAN and sum(known) > _GERMAN_SHARE * lower.total()
        technical = sum(1 for _ in _CODE.finditer(text)) > _CODE_SHARE * (lower.total() + 20)
        return cls(lower, capital, german, technical)

    def is_proper(self, word: str) -> bool:
        """Whether the document writes ``word`` with a capital inside sentences, and so more often than without."""
        capital, lower = self.capital.get(word, 0), self.lower.get(word.lower(), 0)
        return capital > lower and (not self.technical or (capital > 1 and not lower))


def _tells(text: str, start: int, token: re.Match[str]) -> bool:
    """Whether the word has a capital that the beginning of something does not explain."""
    left = token.start()
    return (
        text[left].isupper() and left > start and text[left - 1] not in _OPEN_QUOTES and text[left - 2] not in _OPENERS
    )


_OPEN_QUOTES = frozenset('"“„‘(')
_OPENERS = frozenset(":;|•·–—>*.")


_CODE = re.compile(
    r"(?<![\w/])[~.]?/\w|\w_\w|(?<!\S)--?[a-z]|(?m:^[$#] )|\w\(\d?\)|\w\.(?:conf|html|txt|py|sh|c|h|deb|gz)\b|<\w+>|\$\w"
)
_CODE_SHARE = 0.005
"""Of a manual's words, so many are paths, options, identifiers; of other texts, hardly one in a thousand."""


_FIELDS = re.compile(r"(?<![\w-])[A-Z][\w-]*: ")
_PROMPT = re.compile(r"\s*[$#>%] |.*\s\$ ")
_LEADERS = re.compile(r"\.{4}|(?:\. ){4}|…{2}")
_SYMBOLS = re.compile(r"[{}=;<>$\\`_|]|->|::|\(\)")
_LEAST_SYMBOLS = 3
_SYMBOL_SHARE = 0.03


def is_prose(line: str) -> bool:
    """Whether ``line`` may state something: not a row of a table, not code, not a line of a list of contents."""
    if line.count("|") >= 3 or line.count("\t") >= 3 or _LEADERS.search(line):
        return False
    if _PROMPT.match(line) or len(_FIELDS.findall(line)) >= 3:
        return False
    symbols = len(_SYMBOLS.findall(line))
    return symbols < _LEAST_SYMBOLS or symbols < _SYMBOL_SHARE * len(line)


def names(text: str, start: int, end: int, words: DocumentWords) -> list[Span]:
    """The names in the sentence ``text[start:end]`` in reading order; a name inside a quoted title is not one more."""
    found = list(_quoted(text, start, end))
    taken = [(span.start, span.end) for span in found]
    taken += [match.span() for match in _SECTION.finditer(text, start, end)]
    if words.technical:  # what it quotes are headings, buttons and values
        found = []
    for span in _capitalised(text, start, end, words):
        if not any(left <= span.start and span.end <= right for left, right in taken):
            found.append(span)
    found.extend(_caseless(text, start, end))
    return sorted(found, key=lambda span: (span.start, -span.end))


_SECTION = re.compile(
    r"\b(?:Chapter|Section|Appendix|Table|Figure|Kapitel|Abschnitt|Anhang)\ [\dA-Z][\w.]*,\ (?:[“„\"][^”“\"]{1,90}|[^.,;)]{1,90})"
)
"""A reference to a part of a text with that part's heading."""


def _quoted(text: str, start: int, end: int) -> Iterator[Span]:
    """Quoted titles: short, beginning with a capital or a digit, with most of their longer words capitalised."""
    for match in _QUOTED.finditer(text, start, end):
        number = match.lastindex or 0
        inner = match[number].strip().rstrip(",.;:")
        long_words = [word for word in inner.split() if len(word) > 3] or inner.split()
        titled = sum(1 for word in long_words if not word[0].islower())
        short = any(letter.isalpha() for letter in inner) and len(inner.split()) <= MOST_WORDS
        if short and inner[0].isalnum() and not inner[0].islower() and 2 * titled > len(long_words):
            left = text.index(inner, match.start(number))
            nickname = _IN_A_NAME.search(text, max(start, match.start() - 9), match.start()) and text[match.end() :][:2]
            if nickname and nickname.strip()[:1].isupper():
                continue
            if not _NO_TITLE.search(inner) and inner.lower() not in FUNCTION_WORDS:
                yield Span(inner, left, left + len(inner), "Work")


def _caseless(text: str, start: int, end: int) -> Iterator[Span]:
    for pattern in (_CASELESS, _INSTITUTION):
        for match in pattern.finditer(text, start, end):
            number = match.lastindex or 0
            yield Span(match[number].strip(), match.start(number), match.end(number))


def _capitalised(text: str, start: int, end: int, words: DocumentWords) -> Iterator[Span]:
    tokens = list(TOKEN.finditer(text, start, end))
    if is_shouted([token["word"] for token in tokens]):
        return
    position = 0
    while position < len(tokens):
        if not is_capital(tokens[position]["word"]) or is_glued(text, tokens[position]):
            position += 1
            continue
        stop = _run_end(text, tokens, position)
        opens = _opens(text, start, tokens, position)
        first = _first_of_name(tokens, position, stop, words, opens)
        last = _last_of_name(text, tokens, first, stop)
        if first < last and _is_name(tokens[first:last], words, opens and first == position):
            adjective = last - first == 2 and _is_people([token["word"].lower() for token in tokens[first:last]])
            if (last - first > 1 and not adjective) or not (
                _is_adjective(text, tokens, first, end) or adjective or _is_inflected(tokens[first], words)
            ):
                first = _with_number_before(text, tokens, first)
                left, right = tokens[first].start("word"), tokens[last - 1].end("word")
                right = _with_title_after(text, tokens, last, right)
                yield Span(" ".join(text[left:right].split()), left, right)
                while stop < len(tokens) and tokens[stop].start() < right:
                    stop += 1
        position = max(stop, position + 1)


_OPENING = re.compile(r"(?:[:;|•·–—>*]|--|\d[.)])\s+[\"“‘'(\[]?\Z|[\"“‘]\Z")


def _opens(text: str, start: int, tokens: Sequence[re.Match[str]], position: int) -> bool:
    """Whether a word would have a capital there in any case: it begins a sentence, a cell, an item or a quotation."""
    left = tokens[position].start()
    if position == 0:
        return not any(letter.isalnum() for letter in text[start:left])
    return _OPENING.search(text, max(start, left - 4), left) is not None


_GLUE_BEFORE = frozenset("-_=$@\\{~#^/+<%`")
_GLUE_AFTER = re.compile(r"[_=$@\\{~^`]|\(\)|::|\.[A-Za-z0-9]|/[^A-Z\s]|:[^\s\W]")
_BEFORE_SLASH = re.compile(r"(?<![\w/])[A-Z][\w-]*/\Z")


def is_glued(text: str, token: re.Match[str]) -> bool:
    """Whether the word is a part of a path, an address, an option or an identifier. "GNU/Linux" is two names."""
    left, right = token.start(), token.end()
    before = text[left - 1 : left]
    if before == "/":
        return _BEFORE_SLASH.search(text, max(0, left - 30), left) is None
    if before in (".", ":"):
        return left > 1 and (before != "." or not text[left - 2].isupper()) and not text[left - 2].isspace()
    return before in _GLUE_BEFORE or _GLUE_AFTER.match(text, right) is not None


_ADJECTIVE = re.compile(r".{2,}(?:[ai]an|ese|ish|esque)\Z")
_NOUN_AFTER = re.compile(r"[ -][a-z]{3,}")


_NOBLE = re.compile(
    r",\ (?:\d+(?:st|nd|rd|th)\ )?(?:Duke|Count|Earl|Prince|Princess|Duchess|Countess|Marquess|Marquis|Marchioness|Margrave"
    r"|Landgrave|Elector|Viscount|Viscountess|Baron|Baroness|Lord|King|Queen|Archduke|Seigneur|Bishop|Archbishop)\b"
    rf"(?:\ of)?\ [{_UPPER}][\w'’-]*(?:-\ [{_UPPER}][\w'’-]*|\ (?:of\ )?[{_UPPER}][\w'’-]*)?"
)


def _with_title_after(text: str, tokens: Sequence[re.Match[str]], last: int, right: int) -> int:
    """The end of the name with the title of nobility behind its comma: "Ada, Duchess of Lund"."""
    if not text.startswith(", ", right) or not is_capital(tokens[last - 1]["word"]):
        return right
    match = _NOBLE.match(text, right)
    return match.end() if match is not None else right


def _is_people(words: Sequence[str]) -> bool:
    """Whether two words are an adjective: "South African", "Puerto Rican", "Anglo-Saxon German"."""
    return words[-1] in PEOPLES | {"rican", "lankan"} and (words[0] in PEOPLES or words[0] in _BEFORE_PEOPLES)


_BEFORE_PEOPLES = frozenset(
    [
        "north",
        "south",
        "east",
        "west",
        "puerto",
        "sri",
        "costa",
        "saudi",
        "new",
        "central",
        "old",
        "ancient",
        "modern",
        "medieval",
    ]
)


def _is_adjective(text: str, tokens: Sequence[re.Match[str]], position: int, end: int) -> bool:
    """Whether the one word says of what people or kind something is: "Swedish", "the Darwinian view", "an Actress"."""
    word = tokens[position]["word"]
    if (
        text[max(0, tokens[position].start() - 4) : tokens[position].start()].endswith((" a ", " an "))
        and kind_of_name(word) is None
        and word.isalpha()
    ):
        return not word.isupper()
    if word.lower() in PEOPLES:
        return not (
            kind_of_name(word) == "Language"
            and text[max(0, tokens[position].start() - 6) : tokens[position].start()].endswith((" in ", " into "))
        )
    after = _NOUN_AFTER.match(text, tokens[position].end(), end)
    return bool(after and _ADJECTIVE.match(word) and after[0][1:] not in FUNCTION_WORDS and kind_of_name(word) is None)


def _is_inflected(token: re.Match[str], words: DocumentWords) -> bool:
    """Whether the word of a manual is a verb's form, with a capital for a button or a heading: "Guided", "Building"."""
    return words.technical and token["word"].endswith(("ing", "ed", "ly")) and kind_of_name(token["word"]) is None


def _last_of_name(text: str, tokens: Sequence[re.Match[str]], first: int, stop: int) -> int:
    """``stop`` moved before a date that ends the run: "Ada Quill August 1993", "Lund on Sunday"."""
    for position in range(first + 1, stop):
        word = tokens[position]["word"].lower()
        dated = word in MONTHS and position + 1 < len(tokens) and tokens[position + 1]["word"].isdecimal()
        if dated or (word in DAYS and tokens[position - 1]["word"].islower()):
            stop = position
            break
    while stop > first + 1 and tokens[stop - 1]["word"] in INNER_PARTICLES:
        stop -= 1
    return stop


def is_capital(word: str) -> bool:
    """``Word``, ``WORD``, ``W.``, and names such as ``iPhone`` and ``d'Artagnan``."""
    return word[0].isupper() or (len(word) > 3 and word[0].islower() and any(letter.isupper() for letter in word[1:4]))


def is_shouted(words: Sequence[str]) -> bool:
    """Whether a sentence stands in capitals, so that they tell nothing: a heading, a warning."""
    cased = [word for word in words if word[0].isalpha()]
    upper = sum(len(word) for word in cased if word.isupper())
    total = sum(len(word) for word in cased)
    if len(cased) < 3:
        return total > 0 and upper == total and max(len(word) for word in cased) > 5
    return upper > 0.7 * total


_RUNNING = 0.25
"""Of the words of a sentence, so many begin in lower case; of a heading, a list of names, a reference, fewer."""
_ENDED = re.compile(r"[.!?…。！？][\"”'’)\]]*\Z")


def is_running(text: str, start: int, end: int, words: Sequence[str]) -> bool:
    """Whether the ``words`` of ``text[start:end]`` are a sentence, in which a capital tells something, and no heading."""
    lower = [word for word in words if word[0].islower()]
    cased = sum(1 for word in words if word[0].isalpha())
    if len(lower) >= 2 and len(lower) >= _RUNNING * cased:
        return True
    ended = _ENDED.search(text, max(start, end - 4), end) is not None
    return (
        cased == 0
        or is_unspaced(text[start:end])
        or (ended and any(word not in FUNCTION_WORDS and word not in INNER_PARTICLES for word in lower))
    )


def _run_end(text: str, tokens: Sequence[re.Match[str]], first: int) -> int:
    """One past the last token of the run of capitalised words, inner particles and numbers that begins at ``first``."""
    stop = first + 1
    while stop < len(tokens) and stop - first < MOST_WORDS:
        before = tokens[stop - 1]["word"]
        if not joins(text, tokens, stop):
            break
        word = tokens[stop]["word"]
        goes_on = is_capital(word) and not (before.endswith(".") and word.lower() in FUNCTION_WORDS)
        right = tokens[stop].end()
        whole = text[right : right + 1] not in (".", ",") or not text[right + 1 : right + 2].isdecimal()
        numbered = word.isdecimal() and len(word) <= 4 and before.lower() not in MONTHS and whole
        if goes_on or numbered:
            stop += 1
        elif (after := _past_particles(text, tokens, stop)) is not None:
            stop = after + 1
        else:
            break
    return stop


def _past_particles(text: str, tokens: Sequence[re.Match[str]], position: int) -> int | None:
    """The capitalised token after one to three particles at ``position``, if that is what stands there."""
    before = tokens[position - 1]["word"]
    for after in range(position + 1, min(position + 4, len(tokens))):
        word = tokens[after - 1]["word"]
        if not (word in INNER_PARTICLES or (word == "and" and after == position + 1)) or not joins(text, tokens, after):
            return None
        if is_capital(tokens[after]["word"]):
            particles = [token["word"] for token in tokens[position:after]]
            return after if _may_join(particles, before, tokens, position, tokens[after]["word"]) else None
    return None


def _may_join(particles: Sequence[str], before: str, tokens: Sequence[re.Match[str]], position: int, word: str) -> bool:
    """Whether ``particles`` go on a name. "For" and "and" do where it is an institution's, "the" in "Philip the Good"."""
    if particles[0] in ("on", "upon"):
        return before[0].isupper() and word.lower() not in MONTHS | DAYS and len(particles) < 3 and word != "Level"
    if particles[0] == "for":
        return before.lower() in WORDS["joins more"]
    if particles[0] == "and":
        start = next((at for at in range(position - 1, 0, -1) if tokens[at]["word"] in ("of", "for")), 0)
        return start > 0 and position - start < 4 and tokens[start - 1]["word"].lower() in WORDS["joins more"]
    if particles[0] == "the":
        return word.lower() in WORDS["epithets"] and before.lower() not in FUNCTION_WORDS
    return not (before.lower() in FUNCTION_WORDS and len(before) > 1)


def joins(text: str, tokens: Sequence[re.Match[str]], position: int) -> bool:
    """Whether the token at ``position`` can go on the name of the token before it."""
    before = tokens[position - 1]
    gap = text[before.end() : tokens[position].start()]
    if before["possessive"]:
        return False
    if gap == ". ":
        return before["word"].lower() in _GO_ON
    return gap in (" ", "\n", "\u00a0", " & ", "& ", "\r\n") or (gap == "- " and is_capital(before["word"]))


def _first_of_name(tokens: Sequence[re.Match[str]], first: int, stop: int, words: DocumentWords, opens: bool) -> int:
    """``first`` moved past words that stand before a name but are not a part of it; ``opens``: it begins a sentence."""
    begin = first
    while first < stop:
        word = tokens[first]["word"]
        low = word.lower()
        last = first == stop - 1
        droppable = low in {"the", "a", "an"} or low in WORDS["formal honorifics"] or low in INNER_PARTICLES
        if not last:
            droppable |= low in _BEFORE_NAMES or (opens and _is_function_word(low) and low not in {"will", "may", "us"})
            droppable |= _is_role(tokens, first, stop)
            droppable |= opens and low in OPENERS
            droppable |= opens and first == begin and _only_opens(word, words)
        droppable |= first == begin and not last and _is_initial(word) and _after_comma(tokens, first)
        if not droppable and not word.isdecimal():
            return first
        first += 1
    return first


def _only_opens(word: str, words: DocumentWords) -> bool:
    """Whether the document gives reason to think that ``word`` has its capital from the beginning of the sentence."""
    if word.lower() in words.lower and word not in words.capital:
        return True
    sure = words.is_proper(word) or any(letter.isupper() for letter in word[1:])
    return words.technical and not sure and word.lower() not in GIVEN_NAMES and kind_of_name(word) is None


_BEFORE_NAMES = frozenset(
    [
        "in",
        "at",
        "on",
        "from",
        "of",
        "by",
        "for",
        "to",
        "with",
        "and",
        "or",
        "as",
        "into",
        "via",
        "during",
        "after",
        "before",
        "since",
        "until",
        "when",
        "where",
        "while",
        "if",
        "that",
        "this",
        "these",
        "those",
        "see",
        "use",
        "using",
        "per",
        "than",
        "but",
        "also",
        "both",
        "between",
        "against",
        "under",
        "over",
        "through",
    ]
)
"""Function words that begin no name, wherever the run stands; others do: "No Doubt", "All Saints", "Our Town"."""


def _is_initial(word: str) -> bool:
    return "." in word and word.isupper()


def _after_comma(tokens: Sequence[re.Match[str]], position: int) -> bool:
    """Whether the token stands behind a capitalised word and a comma: "Quill, A.B. Letters" is a reference's author."""
    if position == 0:
        return False
    before, token = tokens[position - 1], tokens[position]
    return is_capital(before["word"]) and token.string[before.end() : token.start()] == ", "


def _is_role(tokens: Sequence[re.Match[str]], first: int, stop: int) -> bool:
    """Whether the word only says what the person named after it is: "American", "Pastor" or "Varland President"."""
    rest = [token["word"] for token in tokens[first:stop]]
    roles = [at for at, word in enumerate(rest[:-2]) if at < 4 and NOUN_KINDS.get(word.lower()) == "Person"]
    if not roles:
        return rest[0].lower() in PEOPLES and len(rest) > 2 and kind_of_name(" ".join(rest[1:])) == "Person"
    if roles == [0] and rest[0].lower() in WORDS["first words of Person"]:
        return False
    return kind_of_name(" ".join(rest[roles[-1] + 1 :])) == "Person"


def _only_opens(word: str, words: DocumentWords) -> bool:
    """Whether the document gives reason to think that ``word`` has its capital from the beginning of the sentence."""
    if word.lower() in words.lower and word not in words.capital:
        return True
    sure = words.is_proper(word) or any(letter.isupper() for letter in word[1:])
    return words.technical and not sure and word.lower() not in GIVEN_NAMES and kind_of_name(word) is None


_BEFORE_NAMES = frozenset(
    [
        "in",
        "at",
        "on",
        "from",
        "of",
        "by",
        "for",
        "to",
        "with",
        "and",
        "or",
        "as",
        "into",
        "via",
        "during",
        "after",
        "before",
        "since",
        "until",
        "when",
        "where",
        "while",
        "if",
        "that",
        "this",
        "these",
        "those",
        "see",
        "use",
        "using",
        "per",
        "than",
        "but",
        "also",
        "both",
        "between",
        "against",
        "under",
        "over",
        "through",
    ]
)
"""Function words that begin no name, wherever the run stands; others do: "No Doubt", "All Saints", "Our Town"."""


def _is_initial(word: str) -> bool:
    return "." in word and word.isupper()


def _after_comma(tokens: Sequence[re.Match[str]], position: int) -> bool:
    """Whether the token stands behind a capitalised word and a comma: "Quill, A.B. Letters" is a reference's author."""
    if position == 0:
        return False
    before, token = tokens[position - 1], tokens[position]
    return is_capital(before["word"]) and token.string[before.end() : token.start()] == ", "


def _is_role(tokens: Sequence[re.Match[str]], first: int, stop: int) -> bool:
    """Whether the word only says what the person named after it is: "American" or "Pastor" before "Ada Quill"."""
    low = tokens[first]["word"].lower()
    if low not in PEOPLES and (NOUN_KINDS.get(low) != "Person" or low in WORDS["first words of Person"]):
        return False
    rest = [token["word"] for token in tokens[first + 1 : stop]]
    if rest and NOUN_KINDS.get(rest[0].lower()) == "Person" and low in PEOPLES:
        rest = rest[1:]
    return len(rest) > 1 and kind_of_name(" ".join(rest)) == "Person"


def _is_function_word(low: str) -> bool:
    return low in FUNCTION_WORDS or low.replace("’", "'") in FUNCTION_WORDS


_LONGEST_ACRONYM = 6


def _is_name(tokens: Sequence[re.Match[str]], words: DocumentWords, opens: bool) -> bool:
    """Whether the run is a name: not a date, not a function word, not a word that only its sentence capitalises."""
    run = [token["word"] for token in tokens]
    if all(word.isdecimal() or word.lower() in MONTHS or word.lower() in DAYS for word in run):
        return False
    if run[0].lower() in WORDS["parts of texts"] and all(_is_number(word) for word in run[1:]):
        return False
    if len(run) > 1:
        shouted = [word for word in run if word.isupper() and len(word) > 4 and word.isalpha()]
        return len(shouted) < 2 and not all(_is_function_word(word.lower()) or len(word.strip(".")) < 2 for word in run)
    word = run[0]
    if _NO_WORD.match(word):
        return False
    if len(word.strip(".")) < 2 or _is_function_word(word.lower()):
        return word.isupper() and len(word) > 1 and word.lower() in {"us", "it"} and not opens
    if word.isupper() and "." not in word:
        return kind_of_name(word) is not None or (
            len(word) <= _LONGEST_ACRONYM
            and word.lower() not in WORDS["no acronyms"]
            and word.lower() not in words.lower
            and len(set(word)) > 1
        )
    if any(letter.isupper() for letter in word[1:]):
        return True
    common = word.lower() in NOUN_KINDS or kind_ending(word.lower()) is not None or word.lower() in WORDS["generic"]
    return words.is_proper(word) and (not opens or word.lower() not in OPENERS) and not common


_NO_WORD = re.compile(
    r"(?:Ctrl|Alt|Shift|Meta|Esc)\b|F\d+\Z|.*-[a-z]*(?:ing|ed|like|style|born|era|wide|free|only|led|own|run|long)\Z|[A-Z]+s\Z"
)
"""A key, an adjective made of a name ("Go-playing"), the plural of an acronym."""


def _is_number(word: str) -> bool:
    return word[0].isdecimal() or len(word) == 1 or set(word) <= set("IVXLC")


def _with_number_before(text: str, tokens: Sequence[re.Match[str]], first: int) -> int:
    """``first`` moved before "2018" in "the 2018 FIFA World Cup" and "20th" in "20th Century Fox"."""
    if first == 0:
        return first
    number = tokens[first - 1]["word"]
    if text[tokens[first - 1].end() : tokens[first].start()] != " ":
        return first
    if re.fullmatch(r"\d{1,3}(?:st|nd|rd|th)", number):
        return first - 1
    after_article = first >= 2 and tokens[first - 2]["word"].lower() == "the"
    return first - 1 if after_article and re.fullmatch(r"(?:1[5-9]|20)\d\d", number) else first


FEWEST_REPEATS = 3
MOST_TERMS = 2000
_MOST_WORDS = 4

_PIECE = re.compile(r"(?P<word>[^\W\d_]+(?:['’\-\u2010\u2011][^\W\d_]+)*)|(?P<space>[ \n])|(?P<stop>.)", re.DOTALL)
_BREAKS = FUNCTION_WORDS | OPENERS | WORDS["verbs"]


def recurring_terms(text: str) -> frozenset[str]:
    """Folded terms of ``text`` that stand in it at least three times, the most frequent ones if there are many.

    Domain texts (medicine, law, manuals) write what they are about in lower case. A term is two to four words between
    function words and punctuation that the document repeats (after Rose and others, 2010, "Automatic keyword
    extraction from individual documents"), and that stands behind an article or "of" somewhere: a command does not.
    """
    counts: Counter[str] = Counter()
    determined: set[str] = set()
    for term, left, _ in _candidates(text):
        counts[term] += 1
        if term not in determined and _DETERMINED.search(text, max(0, left - 8), left):
            determined.add(term)
    frequent = [(-count, term) for term, count in counts.items() if count >= FEWEST_REPEATS and term in determined]
    return frozenset(term for _, term in sorted(frequent)[:MOST_TERMS])


_DETERMINED = re.compile(r"\b(?:the|an?|of|this|each|its|their|your|any|every|in|for|from|no)\s\Z", re.IGNORECASE)


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
    """The run as a term, without the adjectives before it that say nothing of what it is."""
    while run and run[0][0].lower() in WORDS["loose adjectives"]:
        run = run[1:]
    if not 2 <= len(run) <= _MOST_WORDS:
        return
    words = [piece[0].lower() for piece in run]
    inflected = (
        words[-1].endswith(("ly", "ing", "ed", "able")) or _PARTICIPLE.search(words[0]) or words[0] in _VERB_FORMS
    )
    if not inflected and len(set(words)) == len(words) and words[-1] not in _VERB_FORMS:
        yield " ".join(words), run[0].start(), run[-1].end()


_PARTICIPLE = re.compile(r"(?:ly|ed|(?<!operat)(?<!programm)(?<!mail)(?<!process)(?<!comput)(?<!spr)ing)\Z")
_VERB_FORMS = frozenset(verb + ending for verb in WORDS["verbs"] for ending in ("s", "es", "ing")) - {
    "uses",
    "ends",
    "works",
}
