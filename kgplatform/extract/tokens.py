"""The words of a sentence, as matches of a pattern, and how a document writes its words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kgplatform.extract.lexicon import FUNCTION_WORDS, INNER_PARTICLES, WORDS, is_common
from kgplatform.text import is_unspaced
from kgplatform.text.sentences import ABBREVIATIONS, Sentence

_GO_ON = ABBREVIATIONS - {"ca", "corp", "etc", "inc", "ltd"}
"""Abbreviations with a name behind them; "CA" is California more often than circa."""

Tokens = Sequence["re.Match[str]"]


_CASED = [letter for letter in map(chr, range(0x2C00)) if letter.isalpha()]
UPPER, _LOWER = ("".join(filter(is_cased, _CASED)) for is_cased in (str.isupper, str.islower))
"""For classes of a regex: the letters below U+2C00 of either case."""
_WORD = f"0-9{UPPER}{_LOWER}\u0300-\u036f"
# Initials with their full stops, "C++" and "C#", or a word of a cased script; a possessive ending is not a part of it.
TOKEN = re.compile(
    rf"(?P<word>(?:[{UPPER}]\.)+(?![{_LOWER}])|[{UPPER}](?:\+\+|#)(?![{_WORD}])|[{_WORD}]+(?:(?!['’]s(?![{_WORD}]))['’\-\u2010\u2011&][{_WORD}]+)*)"
    rf"(?P<possessive>['’]s(?![{_WORD}]))?"
)


@dataclass(frozen=True, slots=True)
class Span:
    """A name and where it stands: ``text[start:end]`` names it, give or take white space.

    ``kind``: what the place tells of it, such as "Work" of a title in quotation marks.
    """

    name: str
    start: int
    end: int
    kind: str | None = None


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


def joins(text: str, tokens: Sequence[re.Match[str]], position: int) -> bool:
    """Whether the token at ``position`` can go on the name of the token before it."""
    before = tokens[position - 1]
    gap = text[before.end() : tokens[position].start()]
    if before["possessive"]:
        return False
    if gap == ". ":
        return before["word"].lower() in _GO_ON
    return gap in (" ", "\n", "\u00a0", " & ", "& ", "\r\n") or (gap == "- " and is_capital(before["word"]))


_GLUE_BEFORE = frozenset("-_=$@\\{~#^/+<%`")
_GLUE_AFTER = re.compile(r"[_=$@\\{~^`]|\(\)|::|\.[A-Za-z0-9]|/[^A-Z\s]|/\w+[./]\w|:[^\s\W]")
_BEFORE_SLASH = re.compile(r"(?<![\w/])[A-Z][\w-]*/\Z")


def is_glued(text: str, token: re.Match[str]) -> bool:
    """Whether the word is a part of a path, an address, an option or an identifier. "GNU/Linux" is two names."""
    left, right = token.start(), token.end()
    before = text[left - 1 : left]
    if before == "/":
        return _BEFORE_SLASH.search(text, max(0, left - 30), left) is None
    if before == ":":
        return left > 1 and not text[left - 2].isspace()
    if before == ".":  # the ".LCK" of a file's name too, but not an ellipsis
        return not (left > 1 and (text[left - 2].isupper() or text[left - 2] == "."))
    return before in _GLUE_BEFORE or _GLUE_AFTER.match(text, right) is not None


GERMAN = WORDS["german function words"]
_ONLY_GERMAN = GERMAN - WORDS["german words that are english"]
_GERMAN_SHARE = 0.06
"""Of a text's words in lower case, so many are German alone if it, or a good part of it, is German."""
_LEAST_GERMAN = 6
"""Different ones that must be there: a short English text may hold "in", "so" and "was" alone."""
_GERMAN_THROUGHOUT = 0.12
"""Where so many are German alone, two different ones will do: a heading and a line."""
_CODE = re.compile(
    r"(?<![\w/])[~.]?/\w|\w_\w|(?<!\S)--?[a-z]|(?m:^[$#] )|\w\(\d?\)|<\w+>|\$[A-Za-z_]"
    r"|\w\.(?:conf|html|txt|py|sh|c|h|deb|gz)\b"
)
_CODE_SHARE = 0.005
"""Of a manual's words, so many are paths, options, identifiers; of other texts, hardly one in a thousand."""
_INTERFACE = re.compile(r"\b(?:[Cc]lick|button|menu|dialog|checkbox|toolbar|icon|window|tab)\b")
_INTERFACE_SHARE = 0.01
"""Of a manual's words, so many are of what is on a screen."""
_KEYWORDS_SHARE, _LEAST_KEYWORDS = 0.01, 5
"""Of a manual's words, so many are ordinary words in capitals, so many of them different: "DROP TABLE"."""
_SYSTEM = re.compile(
    r"\b(?:options?|defaults?|files?|director(?:y|ies)|commands?|packages?|parameters?|users?|servers?|columns?)\b"
)
_SYSTEM_SHARE = 0.03
"""Of a manual's words, so many are of what programs are given and keep."""
NUMBERED = re.compile(
    r"(?:(?:Chapter|Kapitel|Appendix|Anhang) [\dA-Z.]+|第 ?\d+ ?章|(?:[A-Z]\.)?\d+(?:\.\d+)*\.)\s+(?=\S)"
)
"""What the title of a manual's chapter begins with: "Chapter 2. ", "A.3. "; not the year of "1984 (novel)"."""


@dataclass(frozen=True, slots=True)
class DocumentWords:
    """How a document writes its words: in lower case anywhere, and capitalised where no sentence begins.

    ``german``: it writes every noun with a capital, so that one tells nothing. ``technical``: it is a numbered chapter,
    or has paths, code or parts of screens among its words, and so names of fields, buttons and constants with capitals.
    """

    lower: Mapping[str, int]
    capital: Mapping[str, int]
    german: bool
    technical: bool

    @classmethod
    def of(cls, text: str, title: str, places: Sequence[Sentence]) -> DocumentWords:
        """The words of ``text``, whose sentences are ``places``; those of ``title`` count as capitalised."""
        lower: Counter[str] = Counter()
        keywords: Counter[str] = Counter()
        capital = Counter(match["word"] for match in TOKEN.finditer(title) if is_capital(match["word"]))
        for sentence in places:
            found = list(TOKEN.finditer(text, sentence.start, sentence.end))
            words = [match["word"] for match in found]
            lower.update(word for word in words if word[0].islower())
            if not is_shouted(words) and is_running(text, sentence.start, sentence.end, words):
                for match in found:  # with a capital that the beginning of something does not explain
                    left = match.start()
                    begins = left <= sentence.start or text[left - 1] in _OPEN_QUOTES or text[left - 2] in _OPENERS
                    if text[left].isupper() and not begins:
                        capital[match["word"]] += 1
                shouted = (word for word in words if len(word) > 2 and word.isupper() and is_common(word))
                keywords.update(word for word in shouted if word.lower() not in FUNCTION_WORDS)
        known = [count for word, count in lower.items() if word in _ONLY_GERMAN]
        least, share = (_LEAST_GERMAN, _GERMAN_SHARE) if len(known) >= _LEAST_GERMAN else (2, _GERMAN_THROUGHOUT)
        german = len(known) >= least and sum(known) > share * lower.total()
        commands = len(keywords) >= _LEAST_KEYWORDS and keywords.total() > _KEYWORDS_SHARE * (lower.total() + 20)
        shares = ((_CODE, _CODE_SHARE), (_INTERFACE, _INTERFACE_SHARE), (_SYSTEM, _SYSTEM_SHARE))
        technical = (
            commands
            or any(sum(1 for _ in each.finditer(text)) > share * (lower.total() + 20) for each, share in shares)
            or NUMBERED.match(title) is not None
        )
        return cls(lower, capital, german, technical)

    def is_proper(self, word: str) -> bool:
        """Whether the document writes ``word`` with a capital inside sentences, and so more often than without."""
        capital, lower = self.capital.get(word, 0), self.lower.get(word.lower(), 0)
        return capital > lower and (not self.technical or (capital > 1 and not lower))


_OPEN_QUOTES = frozenset('"“„‘(')
_OPENERS = frozenset(":;|•·–—>*.-")


_FIELDS = re.compile(r"(?<![\w-])[A-Z][\w-]*: |[\w)]\": ")
_PROMPT = re.compile(r"\s*[$#>%] |.*\s\$ ")
_LEADERS = re.compile(r"\.{4}|(?:\. ){4}|…{2}")
_SYMBOLS = re.compile(r"[{}=;<>$\\`_|%]|->|::|\(\)|(?<!\w)/\w")
_LEAST_SYMBOLS = 3
_MARKS = re.compile(r"[^\w\s]")
_LONG, _MARK_EACH = 300, 150
"""Characters of a line, and how many of them have one mark at least in a sentence; headings in a row have none."""
_SYMBOL_SHARE = 0.03


def is_prose(line: str) -> bool:
    """Whether ``line`` may state something: not a row of a table, not code, not a line of a list of contents."""
    if line.count("|") >= 3 or line.count("\t") >= 3 or _LEADERS.search(line):
        return False
    if len(line) > _LONG and len(_MARKS.findall(line)) * _MARK_EACH < len(line):
        return False
    if _PROMPT.match(line) or len(_FIELDS.findall(line)) >= 3:
        return False
    symbols = len(_SYMBOLS.findall(line))
    return symbols < _LEAST_SYMBOLS or symbols < _SYMBOL_SHARE * len(line)


_RUNNING = 0.25
"""Of the words of a sentence, so many begin in lower case; of a heading, a list of names, a reference, fewer."""
_ENDED = re.compile(r"[.!?…。！？][\"”'’)\]]*\Z")


def is_running(text: str, start: int, end: int, words: Sequence[str]) -> bool:
    """Whether the ``words`` of ``text[start:end]`` are a sentence, in which a capital tells something: no heading."""
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
