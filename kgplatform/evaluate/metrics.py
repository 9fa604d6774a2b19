"""Every metric by its name, and the scores of one answer that need no language model.

These are of its words (exact match, F1, F1*, ROUGE, containment), of what the reader found, and of how much of what was
hidden behind placeholders it restores.

    without_model(question, answer)      # {"em": 1.0, "f1": 1.0, …, "recall@5": 0.5, "failed": 0.0}
    f1("the Casa Loma", ["Casa Loma", "Casa Loma, Toronto"])     # 1.0
    score_reversion("[PERSON#200]: Queequeg", {"[PERSON#200]": ("Queequeg",)})    # Reversion(whole=True, restored=1.0)

``docs/reference/metrics.md`` defines them. All are shares from 0 to 1 for one question; a setup's score is their mean.
Of several right answers the one that gives the most counts. The rules on words are those of the official scorers, to
the letter for ASCII; the page says what is added for other scripts.
"""

from __future__ import annotations

import re
import string
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any, Literal

from kgplatform.errors import SettingError, to_install
from kgplatform.evaluate.terms import Question, Text, file_name
from kgplatform.models.reply import without_thoughts
from kgplatform.readers.answer import REFUSAL
from kgplatform.readers.choices import read_choice
from kgplatform.records import Answer, FoundPassage
from kgplatform.text import folded, in_word, is_unspaced, normalise_name
from kgplatform.text.matching import find_words

_SPACE = re.compile(r"\s+")


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
    """2PR / (P + R) of the words that both have, each as often as both have it (SQuAD, HotpotQA, LongBench). HotpotQA's
    extra rule on "yes", "no" and "noanswer" is not used."""

    def overlap(one: str, other: str) -> float:
        ours, theirs = one.split(), other.split()
        shared = sum((Counter(ours) & Counter(theirs)).values())
        if not shared:
            return 0.0
        precision, recall = shared / len(ours), shared / len(theirs)
        return 2 * precision * recall / (precision + recall)

    return _best(overlap, prediction, references)


def f1_star(prediction: str, references: Sequence[str], keywords: Sequence[str]) -> float:
    """F1*: F1, but 0 if less than 0.2 of the words of ``keywords`` are in the prediction (LV-Eval). Stop words never
    count as recalled, and always as needed. Without a word in ``keywords`` it is F1."""
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
    Raises ``SettingError`` where the package is missing."""
    scores = rouge_scorer().score_multi(list(references) or [""], prediction)
    return {name: float(scores[name].fmeasure) for name in ROUGE}


def compression(counts: Mapping[str, int]) -> float | None:
    """ReadAgent's compression rate, 1 - words in the last prompt / words of the text, from ``Answer.counts``. None
    where the reader does not count them or asked nothing. Below 0 if the memory is longer than the text."""
    shown, whole = counts.get("words.in_context"), counts.get("words.of_text")
    return 1 - shown / whole if shown and whole else None


def _best(score: Callable[[str, str], float], prediction: str, references: Sequence[str]) -> float:
    """The best score of the normal forms. Where nothing is left of either ("The The", "!!!"), whether they are the
    same."""
    found = [0.0]
    for reference in references:
        one, other = " ".join(words(prediction)), " ".join(words(reference))
        if one or other:
            found.append(score(one, other))
        else:
            found.append(float(bool(prediction.strip()) and folded(prediction) == folded(reference)))
    return max(found)


@lru_cache(maxsize=4096)
def _is_punctuation(letter: str) -> bool:
    return letter in _PUNCTUATION or unicodedata.category(letter)[0] == "P" or unicodedata.category(letter) == "Cf"


def _pieces(word: str) -> list[str]:
    """A word, or the letters of scripts without spaces in it one by one."""
    if word.isascii() or not is_unspaced(word):
        return [word]
    return "".join(f" {letter} " if is_unspaced(letter) else letter for letter in word).split()


@lru_cache(maxsize=1)
def rouge_scorer() -> Any:
    """What computes ROUGE. Raises ``SettingError`` where its package is missing."""
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
        spaced = "".join(letter if in_word(letter) else " " for letter in folded(text))
        pieces = (piece for word in spaced.split() for piece in _pieces(word))
        return [token for piece in pieces for token in (english(piece) if piece.isascii() else [piece])]

    return RougeScorer(list(ROUGE), tokenizer=SimpleNamespace(tokenize=tokenize))


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


def ranks(supports: Sequence[Text], passages: Sequence[FoundPassage]) -> tuple[int | None, ...]:
    """For each of ``supports`` the rank, from 1, of the first of ``passages`` that is of it; None if none is.

    A passage is of a support whose title is its own, or the name of its file, and in whose text its
    text stands, or the other way round, white space aside. Where a support has no text its title is enough.
    """
    compared = []
    for passage in passages:
        names = {passage.title, file_name(passage.document) or passage.title}  # of a file of its own: no ``#`` follows
        compared.append((frozenset(map(_squeezed, names)), _squeezed(passage.text)))
    places: list[int | None] = []
    for support in supports:
        title, text = _squeezed(support.title), _squeezed(support.text)
        fits = (title in names and (found in text or text in found) for names, found in compared)
        places.append(next((at for at, fit in enumerate(fits, start=1) if fit), None))
    return tuple(places)


def recall_at(found: Sequence[int | None], k: int) -> float:
    """The share of supporting passages among the first ``k``. Raises ``ValueError`` where there are none to find."""
    if not found:
        raise ValueError("recall needs a supporting passage at least")
    return sum(rank is not None and rank <= k for rank in found) / len(found)


def all_found_at(found: Sequence[int | None], k: int) -> float:
    """1 if every supporting passage is among the first ``k``. Raises ``ValueError`` where there are none to find."""
    return float(recall_at(found, k) == 1)


def facts_found(facts: Sequence[str], read: str) -> tuple[bool, ...]:
    """Of each fact whether its words stand in what was ``read``: to the letter, folded, or nearly (``find_words``).
    What is said in other words is not found so."""
    return tuple(find_words(fact, read) is not None for fact in facts)


@lru_cache(maxsize=1024)
def _squeezed(text: str) -> str:
    """``text`` in composed form without white space: passages are cut at it, and ingesting changes it."""
    return _SPACE.sub("", unicodedata.normalize("NFC", text))


def what_was_read(answer: Answer) -> str:
    """Passages under their titles, then facts, then notes that the reader made; empty if it read nothing.

    >>> what_was_read(answer)  # doctest: +SKIP
    'The cable\\nIt was laid in 1858.\\n\\n- Field paid for it.'
    """
    last = {step.path: step.notebook for step in answer.trace if step.notebook}  # of each path, by its number
    parts = [
        *(f"{passage.title}\n{passage.text}" for passage in answer.evidence.passages),
        "\n".join(f"- {fact.text}" for fact in answer.evidence.facts),
        *(last[path] for path in sorted(last)),
    ]
    return "\n\n".join(filter(None, parts))


CUTS = (2, 5, 10)
"""Ranks up to which supporting passages are looked for."""

Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Metric:
    """``title`` heads a column. ``rater``: the name of the model-based rater that gives it, None if none does."""

    name: str
    title: str
    better: Better
    source: str
    rater: str | None = None


_LONGBENCH = "LongBench; GraphReader, 4.1"
_READAGENT = "ReadAgent, 4.1; GraphReader, appendix B"
_ALL = (
    Metric("judge", "Judged right", "higher", "Youtu-GraphRAG, 4.1", "judge"),
    Metric("lr1", "LR-1", "higher", _READAGENT, "lr"),
    Metric("lr2", "LR-2", "higher", _READAGENT, "lr"),
    Metric("strict", "Strict rater", "higher", "ReadAgent, figure 6", "lr"),
    Metric("permissive", "Permissive rater", "higher", "ReadAgent, figure 7", "lr"),
    Metric("choice", "Right choice", "higher", "QuALITY; ReadAgent, 4.3"),
    Metric("reverted", "Reverted", "higher", "AnonyRAG: Youtu-GraphRAG, appendix B"),
    Metric("restored", "Placeholders restored", "higher", "this project"),
    Metric("em", "EM", "higher", "SQuAD; GraphReader, 4.1"),
    Metric("f1", "F1", "higher", f"SQuAD; {_LONGBENCH}"),
    Metric("f1*", "F1*", "higher", "LV-Eval; GraphReader, 4.1"),
    Metric("contains", "Contains", "higher", "LongAgent, appendix B, without a person"),
    Metric("rouge1", "ROUGE-1", "higher", "Lin 2004; ReadAgent, 4.1"),
    Metric("rouge2", "ROUGE-2", "higher", "Lin 2004; ReadAgent, 4.1"),
    Metric("rougeL", "ROUGE-L", "higher", "Lin 2004; ReadAgent, 4.1"),
    Metric("hallucination", "Hallucination", "lower", "LongAgent, 4.2"),
    Metric("refusal", "Wrong refusal", "lower", "LongAgent, 4.2; Youtu-GraphRAG, 4.1"),
    *(Metric(f"recall@{k}", f"Recall@{k}", "higher", "Youtu-GraphRAG, 4.1") for k in CUTS),
    *(Metric(f"all@{k}", f"All found@{k}", "higher", "this project") for k in CUTS),
    Metric("facts", "Facts read", "higher", "GraphReader, appendix F, without a model"),
    Metric("facts.all", "All facts read", "higher", "GraphReader, appendix F, without a model"),
    Metric("compression", "Compression", "higher", "ReadAgent, section 4"),
    Metric("failed", "Failed", "lower", "this project"),
)
METRICS: dict[str, Metric] = {each.name: each for each in _ALL}
"""By name, in the order in which they are shown: what tells most about the answers comes first."""


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """The metrics ``names``, each once, in the order of ``METRICS``. Raises ``KeyError`` for an unknown one."""
    place = {name: at for at, name in enumerate(METRICS)}
    return tuple(sorted(set(names), key=place.__getitem__))


def in_order(scores: Mapping[str, float]) -> dict[str, float]:
    """The same scores in the order in which metrics are shown."""
    return {name: scores[name] for name in ordered(scores)}


def without_model(question: Question, answer: Answer) -> dict[str, float]:
    """Every score of ``answer`` that applies to ``question`` and needs no rater, in the order of ``METRICS``.

    An answer without a text is a failure: 0 wherever something could have been right, and ``failed`` 1; it neither
    refused nor invented anything. Raises ``SettingError`` where ROUGE's package is missing.
    """
    if answer.text is None:
        could_be = _of_text(question, "", refused=True)
        scores = {name: 0.0 for name in could_be if name != "hallucination"} | {"failed": 1.0}
    else:
        scores = _of_text(question, answer.text, has_refused(answer))
    scores |= _of_retrieval(question, answer)
    rate = compression(answer.counts)
    if rate is not None:
        scores["compression"] = rate
    return in_order(scores)


def has_refused(answer: Answer) -> bool:
    """Whether the model said that what it read does not have the answer, or nothing was written; no words decide it."""
    return answer.text is not None and (answer.sufficient is False or answer.text.strip() in ("", REFUSAL))


def _of_text(question: Question, text: str, refused: bool) -> dict[str, float]:
    if not question.answerable:
        return {"hallucination": float(not refused), "failed": 0.0}
    refused = refused and not exact_match(plain(text), question.answers)
    scores = {"failed": 0.0}
    if question.placeholders:
        done = score_reversion(plain(text), question.placeholders)
        scores |= {"reverted": float(done.whole), "restored": done.restored}
    elif question.answers:
        scores |= _of_words(question, plain(text), refused)
    if question.placeholders or question.answers:
        scores["refusal"] = float(refused)
    return scores


def _of_words(question: Question, said: str, refused: bool) -> dict[str, float]:
    """The scores of what was ``said`` against the right answers; of a choice its words count, not its letter.
    ``refused``: the reader said that there is no answer, and what else it said is not the right one."""
    scores: dict[str, float] = {}
    answers = question.answers
    if question.choices:
        chosen = None if refused else read_choice(said, question.choices)
        said = said if chosen is None else question.choices[chosen]
        right = normalise_name(said) in map(normalise_name, answers)
        scores["choice"] = float(chosen is not None and right)
    scores |= {"em": exact_match(said, answers), "f1": f1(said, answers)}
    if question.keywords:
        scores["f1*"] = f1_star(said, answers, question.keywords)
    scores["contains"] = 0.0 if refused else contains(said, answers)
    return scores | rouge(said, answers)


def _of_retrieval(question: Question, answer: Answer) -> dict[str, float]:
    scores: dict[str, float] = {}
    if question.supports:
        found = ranks(question.supports, answer.evidence.passages)
        scores |= {f"recall@{k}": recall_at(found, k) for k in CUTS}
        scores |= {f"all@{k}": all_found_at(found, k) for k in CUTS}
    if question.facts:
        stated = facts_found(question.facts, what_was_read(answer))
        scores |= {"facts": sum(stated) / len(stated), "facts.all": float(all(stated))}
    return scores
