"""Scores of an answer by its words alone: exact match, F1, F1*, ROUGE, containment, compression, and how much
of what was hidden behind placeholders it restores.

    f1("the Casa Loma", ["Casa Loma", "Casa Loma, Toronto"])     # 1.0
    score_reversion("[PERSON#200]: Queequeg", {"[PERSON#200]": ("Queequeg",)})    # Reversion(whole=True, restored=1.0)

Every score is a share from 0 to 1. Of several right answers the one that gives the most counts. The rules are those of
the official scorers, to the letter for ASCII; ``docs/reference/metrics.md`` says what is added for other scripts.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

from kgplatform.errors import SettingError, to_install
from kgplatform.models.json_text import without_thoughts
from kgplatform.text import compression_rate, folded, in_word, is_unspaced

ROUGE = ("rouge1", "rouge2", "rougeL")

_CITATION = re.compile(r"\s?\[\d{1,3}\]")
_ARTICLE = re.compile(r"\b(?:a|an|the)\b")
_PUNCTUATION = frozenset(string.punctuation + "−⁄")  # the minus and the fraction slash are - and / as they are printed
_LEAST_RECALL = (1, 5)
"""F1*: with less than one fifth of the keywords' words an answer counts for nothing. A fraction, since 0.2 is none."""

_LITTLE_WORDS = (
    "and to of in her was with for it from is that his he by she they or at because be on are their what as had were "
    "about being this who but have has when which does"
)
_STOP_WORDS = frozenset(_LITTLE_WORDS.split())  # words that do not count as recalled keywords (LV-Eval's list)


def plain(text: str) -> str:
    """``text`` without the numbers of its citations, ``[1]``. A text that is nothing else is left as it is.

    >>> plain("Casa Loma [1][2], in Toronto [3].")
    'Casa Loma, in Toronto.'
    """
    return _CITATION.sub("", text).strip() or text.strip()


def normalised(text: str) -> str:
    """SQuAD's normal form: lower case, no punctuation, no articles (a, an, the), single spaces.

    Punctuation is ASCII's, −, ⁄, and Unicode's categories P and Cf. Compatibility forms are unified (NFKC) and case is
    folded, so that é in one code point is é in two, and full-width digits are digits.

    >>> normalised("The “Well-Known”  castle, １９１４")
    'wellknown castle 1914'
    """
    letters = "".join(letter for letter in folded(text) if not _is_punctuation(letter))
    return " ".join(_ARTICLE.sub(" ", letters).split())


def words(text: str) -> list[str]:
    """The words of the normal form. Letters of scripts that are written without spaces, and of Korean, are a word each.

    >>> words("The castle 東京")
    ['castle', '東', '京']
    """
    return [piece for word in normalised(text).split() for piece in _pieces(word)]


def exact_match(prediction: str, references: Sequence[str]) -> float:
    """1 if the normal form is that of one of ``references``."""
    return _best(lambda one, other: float(one == other), prediction, references)


def f1(prediction: str, references: Sequence[str]) -> float:
    """2PR / (P + R) of the words that both have, each as often as both have it (SQuAD, HotpotQA, LongBench).

    HotpotQA's extra rule on "yes", "no" and "noanswer" is not used.
    """
    return _best(_overlap, prediction, references)


def f1_star(prediction: str, references: Sequence[str], keywords: Sequence[str]) -> float:
    """F1*: F1, but 0 if less than 0.2 of the words of ``keywords`` are in the prediction (LV-Eval).

    Stop words never count as recalled, and always as needed. Without a word in ``keywords`` it is F1.
    """
    needed = words(" ".join(keywords))
    shared = Counter(needed) & Counter(words(prediction))
    recalled = sum(count for word, count in shared.items() if word not in _STOP_WORDS)
    least, of = _LEAST_RECALL
    return 0.0 if recalled * of < least * len(needed) else f1(prediction, references)


def contains(prediction: str, references: Sequence[str]) -> float:
    """1 if one of ``references`` is in the prediction, as whole words next to each other, both in normal form."""
    return _best(lambda one, other: float(bool(other) and f" {other} " in f" {one} "), prediction, references)


def rouge(prediction: str, references: Sequence[str]) -> dict[str, float]:
    """F-measures of ROUGE-1, ROUGE-2 and ROUGE-L by ``rouge-score``, with Porter stems; of each the best reference.

    Raises ``SettingError`` where the package is missing.
    """
    scores = _scorer().score_multi(list(references) or [""], prediction)
    return {name: float(scores[name].fmeasure) for name in ROUGE}


def need_rouge() -> None:
    """Raise ``SettingError`` where ROUGE cannot be computed."""
    _scorer()


def compression(counts: Mapping[str, int]) -> float | None:
    """ReadAgent's compression rate, 1 - words in the last prompt / words of the text, from ``Answer.counts``.

    None where the reader does not count them or asked nothing. Below 0 if the memory is longer than the text.
    """
    shown, whole = counts.get("words.in_context"), counts.get("words.of_text")
    return compression_rate(shown, whole) if shown and whole else None


def _best(score: Callable[[str, str], float], prediction: str, references: Sequence[str]) -> float:
    return max((_compared(score, prediction, reference) for reference in references), default=0.0)


def _compared(score: Callable[[str, str], float], prediction: str, reference: str) -> float:
    """The score of the normal forms. Where nothing is left of either ("The The", "!!!"), whether they are the same."""
    one, other = " ".join(words(prediction)), " ".join(words(reference))
    if one or other:
        return score(one, other)
    return float(bool(prediction.strip()) and folded(prediction) == folded(reference))


def _overlap(one: str, other: str) -> float:
    ours, theirs = one.split(), other.split()
    shared = sum((Counter(ours) & Counter(theirs)).values())
    if not shared:
        return 0.0
    precision, recall = shared / len(ours), shared / len(theirs)
    return 2 * precision * recall / (precision + recall)


@lru_cache(maxsize=4096)
def _is_punctuation(letter: str) -> bool:
    return letter in _PUNCTUATION or unicodedata.category(letter)[0] == "P" or unicodedata.category(letter) == "Cf"


def _pieces(word: str) -> list[str]:
    """A word, or the letters of scripts without spaces in it one by one."""
    if word.isascii() or not is_unspaced(word):
        return [word]
    return "".join(f" {letter} " if is_unspaced(letter) else letter for letter in word).split()


@lru_cache(maxsize=1)
def _scorer() -> Any:
    # Imported here: it takes a second, and comes with an extra.
    try:
        from rouge_score.rouge_scorer import RougeScorer  # type: ignore[import-untyped]  # it has no types
        from rouge_score.tokenizers import DefaultTokenizer  # type: ignore[import-untyped]  # nor here
    except ImportError as error:
        raise SettingError(
            f"ROUGE needs the package rouge-score, which is not installed. Run `{to_install('evaluate')}`."
        ) from error
    english = DefaultTokenizer(use_stemmer=True).tokenize

    def tokenize(text: str) -> list[str]:
        """The words of any script, English ones in their stems: the library's own tokenizer drops all letters but a to
        z."""
        pieces = (piece for word in _spaced(text).split() for piece in _pieces(word))
        return [token for piece in pieces for token in (english(piece) if piece.isascii() else [piece])]

    return RougeScorer(list(ROUGE), tokenizer=SimpleNamespace(tokenize=tokenize))


def _spaced(text: str) -> str:
    """Letters, digits and marks of ``text``, case folded, and blanks for all else."""
    return "".join(letter if in_word(letter) else " " for letter in folded(text))


# PERSON#12 with or without brackets, spaces and emphasis, as models repeat it, and what says that its name follows.
_MARK = re.compile(
    r"\b([^\W\d_]\w*)\s*#\s*(\d{1,9})\b[\])】>*`\"']*\s*([-=:：→\u2010-\u2015]|(?:is|was|means|stands|refers)\b)?",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\(.*?(?:\)|\Z)")
_SENTENCE_END = re.compile(r"(?<=\w{4})\.\s")  # no shortened title ("Mrs.") is as long
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Reversion:
    """``restored``: the share of placeholders that got a right name, 0 to 1; ``whole``: all of them did."""

    whole: bool
    restored: float


def score_reversion(prediction: str, placeholders: Mapping[str, Sequence[str]]) -> Reversion:
    """How many of ``placeholders`` the prediction names rightly, by one of the names of each.

    AnonyRAG counts an item as right if all of it is (Youtu-GraphRAG, appendix B); the share of placeholders is ours.

    Read are ``[PERSON#2]: Ahab`` and its like (``PERSON#2 —— Ahab``, ``PERSON#2 is Ahab``), a JSON mapping, and where
    one placeholder is asked for, the plain name. A name counts if no other word beside it has a capital letter, but in
    brackets: who names two names none. Of two lines for one placeholder the last counts, as a correction. Case,
    punctuation, articles, white space and the numbers of citations say nothing. Raises ``ValueError`` without
    placeholders.
    """
    if not placeholders:
        raise ValueError("a question without placeholders has no reversion to be scored")
    said = restorations(prediction)
    if not said and len(placeholders) == 1:
        said = {_canonical(next(iter(placeholders))): prediction}
    right = sum(_is_one_of(said.get(_canonical(each), ""), names) for each, names in placeholders.items())
    return Reversion(right == len(placeholders), right / len(placeholders))


def restorations(prediction: str) -> dict[str, str]:
    """What the prediction says that each placeholder stands for, by ``[PERSON#12]``: the rest of its line, up to the
    next placeholder."""
    text = without_thoughts(prediction, cut_off=False)
    marks = list(_MARK.finditer(text))
    ends = [*(mark.start() for mark in marks[1:]), len(text)]
    found = {mark: text[mark.end() : end].strip().partition("\n")[0] for mark, end in zip(marks, ends, strict=False)}
    return {_canonical(mark[0]): said for mark, said in found.items() if mark[3]}


def _canonical(placeholder: str) -> str:
    found = _MARK.search(placeholder)
    return f"[{found[1].upper()}#{int(found[2])}]" if found else placeholder


def _is_one_of(said: str, names: Sequence[str]) -> bool:
    """Whether what was said is one of the names, with nothing else beside it that may be a name."""
    told = {
        word: folded(word) for word in _name_words(_SENTENCE_END.split(_ASIDE.sub(" ", _CITATION.sub("", said)))[0])
    }
    wanted = [set(map(folded, _name_words(name))) for name in names]
    return any(
        name and name <= set(told.values()) and all(word == word.lower() for word in told if told[word] not in name)
        for name in wanted
    )


def _name_words(text: str) -> list[str]:
    """The words of ``text``, in composed form, without articles."""
    found = _WORD.findall(unicodedata.normalize("NFKC", text))
    return [word for word in found if word.lower() not in ("a", "an", "the")]
