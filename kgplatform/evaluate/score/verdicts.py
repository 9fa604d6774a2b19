"""The verdicts that raters ask for: a form each, and what reads their words, which stand in free text as well.

parse_reply('{"reasoning": "Both name Moe.", "agrees": "Yes, partially"}', Agreement).agrees    # 'partially'
read_degree("**Ja, teilweise.** Der Ort stimmt.")                                               # 'partially'
read_score("Reason: vague.\\nScore: 1/2", "012")                                                 # 1
"""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BeforeValidator

from kgplatform.models.forms import REASONING, Form, Words, is_json, named, thinking
from kgplatform.models.lenient import words_of

Degree = Literal["yes", "partially", "no"]

# All that is repeated has a bound, so that a reply of any length is read in a time that grows with it alone.
_MARKS = r"[\W_]{0,20}"
_SURE_LABEL = (
    r"(?:verdict|rating|score|judge?ment|decision|conclusion|final answer|urteil|bewertung|punktzahl|评分|得分)"
)
_BEFORE_LABEL = r"(?:(?:my|the|overall|final|so|therefore|hence|thus)[\W_]{1,5}){0,3}"
_LABEL = (
    rf"{_BEFORE_LABEL}(?:{_SURE_LABEL}|answer|correct(?:ness)?|agree(?:s|ment)?|result|reply"
    r"|(?:points|punkte)(?=[\s*_]{0,5}[:=])|antwort|réponse|respuesta|risposta|resposta|答案|ответ)"
)
_IS = r"(?:[^\w\n]|_){0,9}(?:\b(?:is|would be|ist|lautet|est|es)\b)?"
_NOT_A_LIST = (
    r"(?!\W{0,4}(?:/|\||\bor\b|\band\b)\W{0,4}(?:yes|no|partially)\b)"
    r"(?!\W{1,4}yes\W{1,3}partially\W{1,5}(?:or\W{1,4})?no\b)"
)
# What may follow a verdict: the end, a sign, or a reason. "No difference" is none.
_ENDS = (
    rf"(?![^\W_]){_NOT_A_LIST}(?=[\s*_]{{0,9}}(?:\Z|\n|[^\w\s/|]|"
    r"(?:because|since|as|john|his|her|he|she|it|this|the|both|weil|denn|car|parce|porque|perché)\b))"
)
_ENDS_LINE = r"(?=[^\w\n]{0,9}(?:\Z|\n))"
_YES = r"(?:yes|ja|oui|s[íìi]|sim|да|是的?|はい)"
_NO = r"(?:no|nein|non|não|нет|否|不是?|いいえ)"
_PARTLY = (
    r"(?:(?:partial(?:ly)?|partly|in part|teilweise|zum teil|partiellement|en partie|parcialmente|en parte|em parte"
    r"|parzialmente|in parte|частично)\b|部分)"
)
_BETWEEN = r"(?:[^\w.!?\n]|_)"
_ONLY = r"(?:but|only|it|does|agrees|is|at least|aber|nur|mais|seulement|pero|s[óo]lo|ma|mas)"
_WORDS = (
    rf"(?P<partially>(?:{_YES}{_BETWEEN}{{0,5}}(?:{_ONLY}{_BETWEEN}{{1,5}}){{0,4}})?{_PARTLY}){_NOT_A_LIST}"
    rf"|(?P<yes>{_YES}(?!{_BETWEEN}{{0,5}}{_PARTLY}){_ENDS}|(?:true|correct){_ENDS_LINE})"
    rf"|(?P<no>{_NO}{_ENDS}|(?:false|incorrect){_ENDS_LINE})"
)
_LABELLED = re.compile(
    rf"^{_MARKS}{_LABEL}\b{_IS}|\b{_SURE_LABEL}\b(?:[^\w\n]|_){{0,5}}(?:\bis\b|[:=])", re.IGNORECASE | re.MULTILINE
)
_NO_OTHER = r"(?!\s{0,3}(?:/|\||,|\bor\b)\s{0,3}\d|\s{1,3}(?:out\s)?of\b)"
_NOT_NUMBERED = r"(?![.)]\s[^\n]{0,500}\n\s{0,9}2[.)])"


def read_degree(text: str) -> Degree | None:
    """Which of the three a text says, None if none of them."""
    found = _placed(text, _WORDS)
    kinds: tuple[Degree, ...] = ("yes", "partially", "no")
    return next((kind for kind in kinds if found and found[kind]), None)


def read_score(text: str, scores: str) -> int | None:
    """The score that a text gives, one of the digits ``scores``; "2/2" and "2 points" are 2, "1/0" and "12" none."""
    found = _placed(text, _score(scores))
    return int(found["score"]) if found else None


def _score(scores: str) -> str:
    highest = max(scores)
    whole = rf"(?:\s?/\s?{highest}(?!\w))?" if highest > "1" else ""
    return rf"(?<![\w.,/−-])(?P<score>[{scores}])(?![\w%]|[.,]\d){_NOT_NUMBERED}{whole}{_NO_OTHER}"


def _placed(text: str, verdict: str) -> re.Match[str] | None:
    """The verdict behind the last label, else at the start, else in the last line."""
    said = re.compile(rf"{_MARKS}(?:{verdict})", re.IGNORECASE)
    after = [match for label in _LABELLED.finditer(text) if (match := said.match(text, label.end()))]
    if after:
        return after[-1]
    end = text.rstrip()
    return said.match(text) or said.match(end, end.rfind("\n") + 1)


# --------------------------------------------------------------------------------------------------------------- forms


_KEYS = "verdict judgement judgment rating decision conclusion result answer urteil bewertung antwort"
V = TypeVar("V", bound="Verdict")


class Verdict(Form):
    """Thoughts, and after them the field ``COUNTS``."""

    last: ClassVar[bool] = True

    reasoning: Words = thinking()

    @classmethod
    def free(cls: type[V], text: str) -> V | None:
        """Free text with a verdict. None for broken JSON: what its thoughts call a verdict may be none."""
        return None if is_json(text, [*REASONING.split(), cls.COUNTS]) else cls.of(**{cls.COUNTS: text})


def _bit(value: Any) -> int | None:
    said = words_of(value)
    score = read_score(said, "01")
    return {"yes": 1, "no": 0}.get(read_degree(said) or "") if score is None else score


def _degree(value: Any) -> Degree | None:
    said = words_of(value)
    bits: dict[str, Degree] = {"1": "yes", "0": "no"}
    return bits.get(said) or read_degree(said)


class Correctness(Verdict):
    """Whether an answer is right."""

    PROMPT: ClassVar[str] = "evaluate/rater_judge"
    COUNTS: ClassVar[str] = "correct"

    correct: Annotated[Literal[0, 1], BeforeValidator(_bit)] = named(f"correct is_correct score {_KEYS}")


class StrictAgreement(Verdict):
    """Whether two answers agree, without anything between yes and no."""

    PROMPT: ClassVar[str] = "evaluate/rater_strict"
    COUNTS: ClassVar[str] = "agrees"

    agrees: Annotated[Literal["yes", "no"], BeforeValidator(_degree)] = named(f"agrees agree agreement {_KEYS}")


class Agreement(Verdict):
    """How far two answers agree."""

    PROMPT: ClassVar[str] = "evaluate/rater_permissive"
    COUNTS: ClassVar[str] = "agrees"

    agrees: Annotated[Degree, BeforeValidator(_degree)] = named(f"agrees agree agreement {_KEYS}")


class Points(Verdict):
    """How consistent an answer is."""

    PROMPT: ClassVar[str] = "evaluate/rater_rubric"
    COUNTS: ClassVar[str] = "score"

    score: Annotated[Literal[0, 1, 2], BeforeValidator(lambda value: read_score(words_of(value), "012"))] = named(
        f"score points punkte punktzahl {_KEYS}"
    )
