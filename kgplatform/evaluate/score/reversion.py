"""How much of what was hidden an answer restores: the deterministic score of anonymity reversion.

score_reversion("[PERSON#200]: Queequeg", {"[PERSON#200]": ("Queequeg",)})    # Reversion(whole=True, restored=1.0)

AnonyRAG counts an item as right if all of it is (Youtu-GraphRAG, appendix B); the share of placeholders is ours, for
what is partly right.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from kgplatform.evaluate.anonymise.mentions import PLACEHOLDER
from kgplatform.models.json_text import pieces, without_thoughts
from kgplatform.text import in_word, normalise_name

# PERSON#12 with or without brackets, spaces and emphasis, as models repeat it.
_SAID = re.compile(r"[\[(【<*`\"']*\b([^\W\d_]\w*)\s*#\s*(\d{1,9})\b[\])】>*`\"']*")
_JOIN = re.compile(
    r"[\s\"'*`]*(?:->|=>|→|:=|[:=：]|[-\u2010-\u2015]+|\b(?:is|was|are|means|refers\s+to|stands\s+for|stood\s+for)\b)"
    r"[\s:\"'*`“‘]*",
    re.IGNORECASE,
)
_STOP = re.compile(
    r"[\n;|]|(?<!\b[A-Z])(?<!\bMr)(?<!\bDr)(?<!\bSt)(?<!\bMrs)\.\s|\.\Z|,?\s+(?:and|while|but|whereas)\s+(?=[\[(<*`\"']*\w+\s*#)"
)
_ARTICLE = re.compile(r"\A(?:the|a|an)\s+")
# What may follow a name: an aside, or words that say who that is; never another name.
_ASIDE = re.compile(r"\s*(?:\(|=|,?\s+(?:also|aka|alias)\b|,\s+(?=[a-z]))")
_CITED = re.compile(r"\s*\[\d+\]")


@dataclass(frozen=True, slots=True)
class Reversion:
    """``restored``: the share of placeholders that got a right name, 0 to 1; ``whole``: all of them did."""

    whole: bool
    restored: float


def score_reversion(prediction: str, placeholders: Mapping[str, Sequence[str]]) -> Reversion:
    """How many of ``placeholders`` the prediction names rightly, by one of the names of each.

    Read are ``[PERSON#2]: Ahab`` and its like (``PERSON#2 —— Ahab``, ``PERSON#2 is Ahab``), a JSON mapping, and where
    one placeholder is asked for, the plain name. Of two different names for one placeholder the last counts, as a
    correction. Case, punctuation, articles, white space and the numbers of citations say nothing. Raises
    ``ValueError`` without placeholders.
    """
    if not placeholders:
        raise ValueError("a question without placeholders has no reversion to be scored")
    said = restorations(prediction)
    if not said and len(placeholders) == 1 and prediction.strip():
        said = {_canonical(next(iter(placeholders))): _CITED.sub("", prediction)}
    right = sum(_is_one_of(said.get(_canonical(each), ""), names) for each, names in placeholders.items())
    return Reversion(right == len(placeholders), right / len(placeholders))


def restorations(prediction: str) -> dict[str, str]:
    """What the prediction says that each placeholder stands for, by ``[PERSON#12]``."""
    text = _CITED.sub("", without_thoughts(prediction, cut_off=False))
    found = dict(_from_json(text))
    return found or dict(_from_words(text))


def _canonical(placeholder: str) -> str:
    found = PLACEHOLDER.fullmatch(placeholder.strip()) or _SAID.fullmatch(placeholder.strip())
    return f"[{found[1].upper()}#{int(found[2])}]" if found else placeholder


def _from_json(text: str) -> Iterator[tuple[str, str]]:
    for piece in pieces(text):
        try:
            value = json.loads(piece.text) if piece.whole else None
        except (ValueError, RecursionError):
            continue
        yield from _pairs(value)


def _pairs(value: object) -> Iterator[tuple[str, str]]:
    """Of ``{"[PERSON#1]": "Ahab"}``, also in lists and other objects, and of ``{"placeholder": …, "name": …}``."""
    if isinstance(value, list):
        for each in value:
            yield from _pairs(each)
    elif isinstance(value, dict):
        texts = [each for each in value.values() if isinstance(each, str)]
        if len(texts) == 2 and len(value) == 2 and _SAID.fullmatch(texts[0].strip()):
            yield _canonical(texts[0]), texts[1]
            return
        for key, inner in value.items():
            name = inner[0] if isinstance(inner, list) and inner else inner
            if isinstance(name, str) and _SAID.fullmatch(key.strip()):
                yield _canonical(key), name
            else:
                yield from _pairs(inner)


def _from_words(text: str) -> Iterator[tuple[str, str]]:
    for said in _SAID.finditer(text):
        join = _JOIN.match(text, said.end())
        if join:
            stop = _STOP.search(text, join.end())
            after = _SAID.search(text, join.end())
            ends = [len(text), *([stop.start()] if stop else []), *([after.start()] if after else [])]
            name = text[join.end() : min(ends)].strip()
            if name:
                yield _canonical(said[0]), name


def _is_one_of(said: str, names: Sequence[str]) -> bool:
    """Whether what was said is one of the names, alone or with another beside it: ``Ahab (captain of the Pequod)``."""
    wanted = {_plain(name) for name in names} - {""}
    readings = {_plain(said), _plain(_ASIDE.split(said)[0])}
    return bool(wanted & readings)


def _plain(name: str) -> str:
    """Letters, digits and single spaces of a name, case folded, without an article."""
    letters = "".join(letter if in_word(letter) else " " for letter in normalise_name(name))
    return _ARTICLE.sub("", " ".join(letters.split()))
