"""Words for text: identity of names, identity of nodes, how things are told."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from kgplatform.text.tokens import count_tokens as count_tokens  # words and tokens are counted in the same places

_SPACE = re.compile(r"\s+")
_NO_NAME = dict.fromkeys([*range(9), *range(14, 28), *range(127, 133), *range(134, 160)])
"""The control characters that are not white space: whatever steers a terminal or was damaged, no name has it."""
_CONTROL = dict.fromkeys([*range(9), *range(11, 32), *range(127, 160)], "\ufffd")
LONGEST_NAME = 500
"""Characters of a name. Longer ones are not names, and Neo4j cannot index much longer ones."""
_NUMBERED = " · "
_ASIDE = re.compile(r"\s*\([^()]*\)\s*$")

UNSPACED = (
    r"\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
    r"\uf900-\ufaff\U00020000-\U0003ffff"
)
"""For a class of a regex: scripts whose words no white space parts, and Korean, which adds its particles to them.

Thai and Lao, Burmese, Khmer, Kana, Han, Hangul.
"""

WORD = re.compile(rf"[{UNSPACED}]|[^\W_{UNSPACED}]+")
"""A run of letters and digits; of a script that is written without spaces, one letter."""

WORD_RUN = re.compile(r"\w+")
"""Letters, digits and underscores without a break; of a script that is written without spaces, a whole clause."""

_UNSPACED_LETTER = re.compile(rf"[{UNSPACED}]")


def tidy(text: str) -> str:
    """``text`` in Unicode's composed form, white space folded to single spaces: a name as it is shown."""
    return _SPACE.sub(" ", unicodedata.normalize("NFC", _without_no_name(text))).strip()


def _without_no_name(text: str) -> str:
    return text if text.isprintable() else text.translate(_NO_NAME)


def normalise_name(name: str) -> str:
    """The identity of a name: compatibility forms unified, case folded, white space folded. Script is kept.

    >>> normalise_name("  Ｂｊörk   GUÐMUNDSDÓTTIR ")
    'björk guðmundsdóttir'
    """
    return folded(_without_no_name(name))


def folded(name: str) -> str:
    """``name`` without what spelling and white space make of it, as scores compare answers: control characters stay."""
    if name.isascii():  # most are, and a question has hundreds of runs of words
        return " ".join(name.lower().split())
    composed = unicodedata.normalize("NFKC", name).casefold()
    # Case folding can undo the composition (as for U+0130), so that a second fold would differ: compose again.
    return _SPACE.sub(" ", unicodedata.normalize("NFKC", composed)).strip()


def title_key(title: str) -> str:
    """The identity of a title as a question would say it: normalised, without a trailing "(film)" or the like."""
    return (normalise_name(_ASIDE.sub("", title)) or normalise_name(title))[:LONGEST_NAME]


def passage_name(title: str, number: int) -> str:
    """What passage ``number``, from 1, of the document ``title`` is called."""
    return f"{title}{_NUMBERED}{number}"


def passage_title(name: str) -> str:
    """The title in a ``passage_name``; empty if there is none."""
    return name.rpartition(_NUMBERED)[0]


def type_key(name: str) -> str:
    """The identity of a type's name: ``directed by``, ``directed_by``, ``Directed-By`` and ``directedBy`` are one.

    Letters, digits and marks count, case and all else do not.
    """
    letters = "".join(filter(in_word, unicodedata.normalize("NFKC", name)))
    return unicodedata.normalize("NFKC", letters.casefold())


def in_word(letter: str) -> bool:
    """Whether a character belongs to a word: a letter, a digit, or a mark on one."""
    return letter.isalnum() or unicodedata.category(letter).startswith("M")


def is_unspaced(text: str) -> bool:
    """Whether ``text`` has letters of a script that is written without spaces (``UNSPACED``)."""
    return _UNSPACED_LETTER.search(text) is not None


def without_lone_surrogates(text: str) -> str:
    """``text`` with each half of a surrogate pair replaced by U+FFFD: no UTF-8, and so no JSON body, can carry it."""
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def node_id(*parts: object) -> str:
    """The id of the node that ``parts`` identify: 128 bits of SHA-256, in hexadecimal."""
    joined = "\x1f".join("" if part is None else str(part) for part in parts)
    return hashlib.sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def hash64(text: str) -> int:
    """64 bits that stand for ``text`` where there are too many to keep; two texts may have the same."""
    return int.from_bytes(hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def count_words(text: str) -> int:
    """How many words ``text`` has, as white space parts them (ReadAgent counts so)."""
    return len(text.split())


def compression_rate(shown: int, whole: int) -> float:
    """1 - words shown / words of the ``whole`` text (ReadAgent, section 4); below 0 if more are shown than it has."""
    return 1 - shown / whole


def rejoin(pieces: Iterable[tuple[int, str]], start: int, end: int) -> str:
    """The characters ``[start, end)`` of a document, from its passages: ``(first character, text)``, in order.

    Passages leave out white space alone. Which it was is not known: one character between two passages is given as a
    space, more of them as line ends.

    >>> rejoin([(0, "One."), (6, "Two."), (11, "Three.")], 0, 13)
    'One.\\n\\nTwo. Th'
    """
    parts: list[str] = []
    at = start
    for first, text in pieces:
        inside = text[max(0, at - first) : max(0, end - first)]
        if inside:
            parts += (_blank(max(0, first - at)), inside)
            at = max(at, first) + len(inside)
    return "".join((*parts, _blank(end - at)))


def _blank(length: int) -> str:
    return " " if length == 1 else "\n" * length


def counted(number: int, noun: str) -> str:
    """``1 document``, ``2,000 documents``, ``3 entities``."""
    many = f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
    return f"{number:,} {noun if number == 1 else many}"


def clipped(text: str, most: int) -> str:
    """``text`` on one line, in at most ``most`` characters, the mark of the cut included."""
    flat = " ".join(text.split())
    return flat if len(flat) <= most else f"{flat[: most - 1].rstrip()}…"


def listed(items: Sequence[str], most: int = 10) -> str:
    """``a, b and 3 more``: the first ``most`` of ``items``; ``none`` without any."""
    more = f" and {len(items) - most:,} more" if len(items) > most else ""
    return ", ".join(items[:most]) + more if items else "none"


def without_controls(text: str) -> str:
    """``text`` from a document or a model without the codes that steer a terminal."""
    return text.translate(_CONTROL)


def duration(seconds: float) -> str:
    """``85 ms``, ``2.4 s``, ``3 min 05 s``, ``2 h 10 min``."""
    if seconds < 0.9995:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 59.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02} min"


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` Did you mean X?``, with a blank before it; nothing where no known word is near."""
    by_case = {name.casefold(): name for name in known}
    found = get_close_matches(word.casefold(), by_case, n=1)
    return f" Did you mean {by_case[found[0]]}?" if found else ""


def unknown(noun: str, word: str, known: Iterable[str]) -> str:
    """`Unknown reader "x". Did you mean y? Choose one of y, z.`: the sentence for a bad choice, on one line."""
    known = list(known)
    return f'Unknown {noun} "{tidy(word)[:100]}".{did_you_mean(word, known)} Choose one of {", ".join(known)}.'
