"""Where sentences end, in any script: by end marks, abbreviations, lines, list items, headings and paragraphs.

    [text[each.start : each.end] for each in sentences(text)]

A doubtful full stop ("J.", "No. 5") is taken as no end: joining two sentences costs little, cutting one in two is what
must not happen. Offsets count code points, half open. The time grows with the length of the text, whatever it says.

Models see every sentence with a number, so that a number is a place in the text:

    lines("The cable broke. It was mended.", "2")     # '[2.1] The cable broke.\\n[2.2] It was mended.'
    numbers_in("[2.1-3], 4.1")                        # ['2.1', '2.2', '2.3', '4.1']

A model that names a number cites by construction; of the words that a model of 1.5 billion parameters copies, two of
three are not found (docs/explanation/benchmarks/answers.md).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

LIKELY, SENTENCE, PARAGRAPH = 4, 5, 6
"""Ranks of a boundary: how good a place for a cut it is. Lower ones are for who must cut inside a sentence.

LIKELY is the end of a line that does not look wrapped, and a full stop after a number ("aged 12. He", "War I. He").
"""

LONGEST_SENTENCE = 2000
"""Characters. What ``sentences`` finds longer is a table or a text without end marks; it is cut at spaces."""

FULL_ENDS = "。！？｡؟۔।॥።፧။។៕།։"
"""Marks that end a sentence without white space after them too.

Chinese and Japanese, Arabic and Urdu, Indic, Ethiopic, Burmese, Khmer, Tibetan, Armenian.
"""

SPACED_ENDS = ".!?…‼⁇⁈⁉"
"""Marks that end a sentence only before white space."""

CLAUSE_MARKS = "，、；：．"
_ENDS = SPACED_ENDS + FULL_ENDS
_CLOSERS = "\"'”’»›)]}」』）】》〉*_"
_CLOSER = f"[{re.escape(_CLOSERS)}]"
NO_START = FULL_ENDS + re.escape(_CLOSERS) + CLAUSE_MARKS + ",;:\u0300-\u036f\ufe00-\ufe0f"
"""For a class of a regex: what continues the text before it where no white space parts them."""

_LINE_ENDS = "\n\r\v\f\u0085\u2028\u2029"
# White space after what may be an end, or with the end of a line in it; or nothing, after a full end. Kana after a
# closing bracket continues the sentence: 「本当？」と言った。
_GAP = re.compile(
    rf"(?<=[{_ENDS}{re.escape(_CLOSERS)}])\s+|(?<!\s)[^\S{_LINE_ENDS}]*[{_LINE_ENDS}]\s*"
    rf"|(?<=[{FULL_ENDS}])(?=[^\s{NO_START}])"
    rf"|(?:(?<=[{FULL_ENDS}]{_CLOSER})|(?<=[{FULL_ENDS}]{_CLOSER}{_CLOSER}))(?=[^\s{NO_START}ぁ-ん])"
)
# The end mark, then closing quotes (in French after a space) and footnote marks, at the end of a short tail.
_END_MARK = re.compile(rf"([{_ENDS}]+)(?:\[\w{{1,4}}\]|{_CLOSER}|[ \u00a0\u202f](?=»))*$")
_MAY_END = frozenset(_ENDS + _CLOSERS)
_LAST_WORD = re.compile(r"[^\s()\[\]{}\"'“”‘’«»/（）〈〉《》「」『』【】]*$")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,3}\.-?)+[^\W\d_]{1,3}")
_GERMAN = "am im vom zum beim den dem der des die das ab bis seit und"
_BEFORE_ORDINALS = frozenset(_GERMAN.split())
"""Words of the language in which nouns, which ordinals count, have capitals."""

_ROMAN_ONE = re.compile(r"(?P<name>[^\W\d_])[^\W\d_]{2,} I$")
_MEASURE = re.compile(r"\d\s?[mgl]$")
_ELIDED = re.compile(r"\w['’][a-z]$")
_PER = re.compile(r"[^\W\d_]/[^\W\d_]$")
_BEFORE_CHRIST = re.compile(r"(?:\bav\.|\bap\.|\bavant|\baprès)\sJ\.-C$")
_FIRST_HALVES = {"EE": "U", "FF": "A", "CC": "AO", "JJ": "O", "DD": "H", "RR": "H", "SS": "M", "av": "J", "ap": "J"}
"""What an abbreviation of two goes on with: Spanish "EE. UU.", "FF. AA." and the like, French "av. J.-C."."""
_BRACKETS = tuple("([{（〈《「『【")
_TAIL_LENGTH = 32

LIST_ITEM = re.compile(r"(?:[-*+•‣◦▪]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\)|#{1,6})[^\S\n]|\|")
"""What a list item, a Markdown heading or the row of a table begins with."""

MARKDOWN_HEADING = re.compile(r"#{1,6}[^\S\n]")

_LONGEST_HEADING = 120
"""Characters."""

_WRAPPED = 50
"""Characters. A line of prose at least as long, without tabs and bars, may go on in the next line."""

_NO_PROSE = re.compile(rf"[{_LINE_ENDS}\t|]")
_SAYS_SOMETHING = re.compile(r"[^\W_]")

_TITLES_AND_SUCH = (
    # English
    "dr mr mrs ms messrs prof st ste sr jr hon rev gen adm brig col maj capt cmdr cpl lt sgt pvt gov sen rep pres supt "
    "msgr mt ft fl inc ltd corp co bros dept univ assn vs viz cf al etc eg ie est approx resp trans ed eds vol vols pp "
    "fig figs op jan feb apr jun jul aug sep sept oct nov dec ave blvd rd "
    # German, French, Spanish, Italian, Portuguese, Dutch, Polish
    "bzw usw ca evtl ggf inkl vgl sog geb gest hrsg bd abb str mme mlle mgr sra srta dra dott sig bijv tzw "
    # Russian
    "им ул др гг св"
)
ABBREVIATIONS = frozenset(_TITLES_AND_SUCH.split())
"""Folded words whose full stop, which is left out here, does not end a sentence."""

_BEFORE_NUMBERS = "no nos nr eq eqs sec sect ch chap art app tab núm núms рис стр табл гл"
_ABBREVIATIONS_BEFORE_NUMBERS = frozenset(_BEFORE_NUMBERS.split())


@dataclass(frozen=True, slots=True)
class Sentence:
    """``text[start:end]`` of the text that was cut; without white space at its ends. ``heading``: where the heading
    above it begins, if it is shown with one."""

    start: int
    end: int
    heading: int | None = field(default=None, compare=False)

    @property
    def shown(self) -> int:
        """Where it begins as models see it."""
        return self.start if self.heading is None else self.heading


def sentences(text: str) -> Iterator[Sentence]:
    """The sentences of ``text`` in order; lines that are not wrapped are sentences too. None is longer than
    ``LONGEST_SENTENCE``, and each has a letter or a digit."""
    for start, end, _ in ranked_sentences(text, LIKELY):
        for piece in _not_too_long(text, start, end):
            if _SAYS_SOMETHING.search(text, piece.start, piece.end):
                yield piece


def ranked_sentences(
    text: str, least: int = SENTENCE, page_starts: frozenset[int] = frozenset()
) -> Iterator[tuple[int, int, int]]:
    """``(start, end, rank of the boundary before it)`` of what lies between boundaries of rank ``least`` and more.

    Together they are all of ``text`` but white space, which none of them has at its ends. ``page_starts`` are offsets
    where a page begins: an empty line before one is not a boundary where a sentence runs on over it.
    """
    stop = len(text.rstrip())
    start = line_start = len(text) - len(text.lstrip())
    rank = PARAGRAPH
    for gap in _GAP.finditer(text, 0, stop):
        left, right = gap.span()
        if right <= start:
            continue
        lines = 0 if text[left:right] in ("", " ") else len(f"{gap[0]}.".splitlines()) - 1
        found = _rank(text, left, right, lines, line_start, page_starts)
        if lines:
            line_start = right
        if found >= least:
            yield start, left, rank
            start, rank = right, found
    if start < stop:
        yield start, stop, rank


def _rank(text: str, start: int, end: int, lines: int, line_start: int, page_starts: frozenset[int]) -> int:
    """What the gap ``[start, end)`` is, with the ends of ``lines`` lines in it; 0 if no boundary."""
    if start == end:
        return SENTENCE
    if lines > 1 or (lines and any(mark in text[start:end] for mark in "\f\u2029")):
        runs_on = end in page_starts and text[end].islower() and not _END_MARK.search(text[max(0, start - 8) : start])
        return 0 if runs_on else PARAGRAPH
    found = _sentence_end(text, start, end) if text[start - 1] in _MAY_END else 0
    if found == SENTENCE or not lines:
        return found
    if LIST_ITEM.match(text, end) or MARKDOWN_HEADING.match(text, line_start):
        return SENTENCE
    # A line that is long enough for prose may continue in the next one.
    is_long = start >= _WRAPPED and not _NO_PROSE.search(text, start - _WRAPPED, start)
    return found if is_long and (text[end].isalnum() or text[end] in "\"'“‘(«") else LIKELY


def _sentence_end(text: str, start: int, end: int) -> int:
    """The rank of the gap ``[start, end)`` by the mark before it and what follows it."""
    after = text[end]
    if after.islower() or after in ",;:)]" or (after == "»" and not text[end + 1 : end + 2].isalnum()):
        return 0
    tail = text[max(0, start - _TAIL_LENGTH) : start]
    mark = _END_MARK.search(tail)
    if mark is None:
        return 0
    return SENTENCE if mark[1] != "." else _full_stop(tail[: mark.start()], after)


def _full_stop(before: str, after: str) -> int:
    """The rank of a full stop: 0 after initials, "Dr", "U.S", ordinals, "No" if a number follows."""
    word = _last_word(before)
    if len(word) == 1 and word.isalpha():
        # An initial is not an end, nor are "v" and "b"; "World War I", "20 m", "m/s", "she didn't", "Ada's" may be.
        if _ELIDED.search(before) or _PER.search(before):
            return SENTENCE
        numeral = _ROMAN_ONE.search(before)
        is_numeral = numeral is not None and numeral["name"].isupper()
        return LIKELY if is_numeral or _MEASURE.search(before) else 0
    if len(word) <= 2 and word.isdigit():
        left = before[: -len(word)]
        return 0 if left.endswith(_BRACKETS) or _counts(left.rstrip(" ("), word) else LIKELY
    if after in _FIRST_HALVES.get(word, ""):
        return 0
    folded = word.casefold()
    if folded in ABBREVIATIONS or (after.isdigit() and folded in _ABBREVIATIONS_BEFORE_NUMBERS):
        return 0
    return 0 if _DOTTED.fullmatch(word) and not _BEFORE_CHRIST.search(before) else SENTENCE


def _last_word(text: str) -> str:
    found = _LAST_WORD.search(text)
    return found[0] if found else ""


def _counts(before: str, number: str) -> bool:
    """True if a number with a full stop after ``before`` counts what follows: a list's at the beginning, an ordinal."""
    if before.endswith("."):
        return _full_stop(before[:-1], number) == SENTENCE
    begins = not before or before[-1] in _LINE_ENDS or before[-1] in _ENDS
    return begins or _last_word(before).casefold() in _BEFORE_ORDINALS


def _not_too_long(text: str, start: int, end: int) -> Iterator[Sentence]:
    """The span, or its pieces of at most ``LONGEST_SENTENCE`` characters, cut at their last space if they have one."""
    while end - start > LONGEST_SENTENCE:
        stop = start + LONGEST_SENTENCE
        space = text.rfind(" ", start + 1, stop)
        stop = space if space > 0 else stop
        yield Sentence(start, start + len(text[start:stop].rstrip()))
        start = stop
        while text[start].isspace():
            start += 1
    yield Sentence(start, end)


_LONGEST_RANGE = 20
"""Sentences that one range names at most: a longer one is no citation."""

_RANGE = r"[-‐-―~]"
_ONE = re.compile(
    rf"(?:(?P<part>\d{{1,4}})\s*[.:]\s*)?(?P<first>\d{{1,4}})(?:\s*{_RANGE}\s*(?:\d{{1,4}}\s*[.:]\s*)?(?P<last>\d{{1,4}}))?"
)


@lru_cache(maxsize=4096)
def numbered(text: str) -> tuple[Sentence, ...]:
    """The sentences of ``text``, the first of which has the number 1.

    The row of a table, an item of a list and a line that is not wrapped are sentences too. A heading states nothing,
    and a small model likes to cite what comes first: it is shown under the number of the sentence below it.
    """
    places: list[Sentence] = []
    for place in sentences(text):
        if places:  # a short line without an end mark, alone above a sentence with one, is a heading
            line = places[-1]
            words, gap = text[line.start : line.end], text[line.end : place.start]
            is_above = len(f"{gap}.".splitlines()) > 2 or MARKDOWN_HEADING.match(words)
            is_item = LIST_ITEM.match(words) and not MARKDOWN_HEADING.match(words)
            ends = [_END_MARK.search(text[max(each.start, each.end - 8) : each.end]) for each in (line, place)]
            if is_above and not is_item and len(words) <= _LONGEST_HEADING and not ends[0] and ends[1]:
                places[-1] = Sentence(place.start, place.end, line.start)
                continue
        places.append(place)
    return tuple(places)


def lines(text: str, label: str = "", only: Collection[int] | None = None) -> str:
    """The sentences of ``text``, one a line, with their numbers: "[2.3]" of a text with the ``label`` 2, else "[3]".
    ``only``: the numbers of those that are shown, which keep them; where some are left out stands "…"."""
    shown, before = [], 0
    for number, place in enumerate(numbered(text), 1):
        if only is None or number in only:
            gap = ["…"] if number > before + 1 else []
            name = f"{label}.{number}" if label else str(number)
            shown += [*gap, f"[{name}] {' '.join(text[place.shown : place.end].split())}"]
            before = number
    return "\n".join(shown)


def numbers_in(said: object) -> list[str]:
    """The numbers that a reply means by ``said``, a text, a number or a list of such: each once, in order.

    A range is all that is between; what follows a number of the same brackets without a part of its own has that part:
    "[2.3, 5]" is 2.3 and 2.5. What names no sentence is a part alone, "2".

    >>> numbers_in(["2.3", "[4.1-2]"]), numbers_in("passage 3, sentence 1"), numbers_in(2.5)
    (['2.3', '4.1', '4.2'], ['3.1'], ['2.5'])
    """
    if isinstance(said, (list, tuple)):
        return list(dict.fromkeys(number for each in said for number in numbers_in(each)))
    if isinstance(said, bool) or not isinstance(said, (str, int, float)):
        return []
    return list(dict.fromkeys(_named(str(said))))


def _named(said: str) -> list[str]:
    found: list[str] = []
    part, end = "", 0
    for one in _ONE.finditer(said):
        first, last = int(one["first"]), int(one["last"] or one["first"])
        between, end = said[end : one.start()], one.end()
        if not (one["part"] or part):
            part = str(first)
            found.append(part)
            continue
        # "passage 2, sentence 3" names a sentence; "2, 3" names the part too, as a list of rows does.
        if found[-1:] == [part] and not one["part"] and any(map(str.isalpha, between)):
            found.pop()
        part = str(int(one["part"] or part))
        found += [f"{part}.{number}" for number in range(first, min(last, first + _LONGEST_RANGE) + 1)]
    return found
