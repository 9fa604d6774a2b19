"""The verdicts that raters ask for: a form each, and what reads their words, which stand in free text as well.

parse_reply('{"reasoning": "Both name Moe.", "agrees": "Yes, partially"}', Agreement).agrees    # 'partially'
read_degree("**Ja, teilweise.** Der Ort stimmt.")                                               # 'partially'
read_score("Reason: vague.\\nScore: 1/2", "012")                                                 # 1
recall_of(2).free("1. needed: yes, recalled: no\\n2. not needed").needed                          # 1
"""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import BeforeValidator, WithJsonSchema, create_model, model_validator

from kgplatform.models.forms import REASONING, Form, Words, is_json, named, number_of, thinking
from kgplatform.models.lenient import truth_of, words_of

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
# Of a supporting fact: "needed: yes", "not recalled"; and of all of them "needed: 2".
_NEEDED = r"needed|required|necessary|(?:be)?nötigt?|erforderlich|nécessaire|necesari[oa]|necessari[oa]|需要|必要|нужен"
_RECALLED = (
    r"recalled|stated|(?:present|found) in the text|erinnert|(?:steht )?im text|rappelé|dans le texte|recordad[oa]"
    r"|en el texto|ricordat[oa]|文中提到|提到"
)
_DENIED = r"(?P<not>\b(?:not|nicht|pas|no)\s{1,3}|n['’]t\s{1,3}|[不没]\s?)?"
_SAID = rf"(?:(?:(?P<yes>{_YES}|true)|(?P<no>{_NO}|false))(?![^\W_])){_NOT_A_LIST}"
_FACT_NUMBER = re.compile(
    r"^[^\w\n]{0,9}(?:fact|fakt|fait|hecho|fatto|事实|事実)?\W{0,5}\d{1,3}\b", re.I | re.MULTILINE
)
_COUNT = r"(?<![\w.,/−-])(?P<count>\d{1,3})(?![\w%/]|[.,]\d)"
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
    if after := _behind(_LABELLED, said, text):
        return after
    end = text.rstrip()
    return said.match(text) or said.match(end, end.rfind("\n") + 1)


def _behind(label: re.Pattern[str], said: re.Pattern[str], text: str) -> re.Match[str] | None:
    """What is ``said`` right behind a ``label``: the last time."""
    found = [match for each in label.finditer(text) if (match := said.match(text, each.end()))]
    return found[-1] if found else None


# --------------------------------------------------------------------------------------------------------------- forms


_KEYS = "verdict judgement judgment rating decision conclusion result answer urteil bewertung antwort"
V = TypeVar("V", bound="Verdict")
R = TypeVar("R", bound="Recall")


class Verdict(Form):
    """What a rater says."""

    last: ClassVar[bool] = True

    @classmethod
    @abstractmethod
    def free(cls: type[V], text: str) -> V | None:
        """Free text as such a verdict; None where it has none."""


class _Judged(Verdict):
    """Thoughts, and after them the field ``COUNTS``."""

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


class Correctness(_Judged):
    """Whether an answer is right."""

    PROMPT: ClassVar[str] = "evaluate/rater_judge"
    COUNTS: ClassVar[str] = "correct"

    correct: Annotated[Literal[0, 1], BeforeValidator(_bit)] = named(f"correct is_correct score {_KEYS}")


class StrictAgreement(_Judged):
    """Whether two answers agree, without anything between yes and no."""

    PROMPT: ClassVar[str] = "evaluate/rater_strict"
    COUNTS: ClassVar[str] = "agrees"

    agrees: Annotated[Literal["yes", "no"], BeforeValidator(_degree)] = named(f"agrees agree agreement {_KEYS}")


class Agreement(_Judged):
    """How far two answers agree."""

    PROMPT: ClassVar[str] = "evaluate/rater_permissive"
    COUNTS: ClassVar[str] = "agrees"

    agrees: Annotated[Degree, BeforeValidator(_degree)] = named(f"agrees agree agreement {_KEYS}")


class Points(_Judged):
    """How consistent an answer is."""

    PROMPT: ClassVar[str] = "evaluate/rater_rubric"
    COUNTS: ClassVar[str] = "score"

    score: Annotated[Literal[0, 1, 2], BeforeValidator(lambda value: read_score(words_of(value), "012"))] = named(
        f"score points punkte punktzahl {_KEYS}"
    )


def _truth(value: Any) -> bool | None:
    known = truth_of(value)
    return {"yes": True, "no": False}.get(read_degree(words_of(value)) or "") if known is None else known


_Truth = Annotated[bool | None, BeforeValidator(_truth), WithJsonSchema({"type": "boolean"})]


class FactVerdict(Form):
    """Of one supporting fact, thoughts first: whether it is truly needed, and whether the text says it."""

    fact: Annotated[int | None, BeforeValidator(number_of), WithJsonSchema({"type": "integer"})] = named(
        "fact number id index", None
    )
    reasoning: Words = thinking(300)
    needed: _Truth = named("needed is_needed truly_needed required necessary benötigt nécessaire necesario 需要 必要")
    recalled: _Truth = named("recalled is_recalled stated in_text found in_the_text erinnert genannt 提到", None)

    @model_validator(mode="after")
    def _decides(self) -> FactVerdict:
        if self.needed is None or (self.needed and self.recalled is None):
            raise ValueError('write true or false for "needed" and "recalled"')
        return self


class Recall(Verdict):
    """Which of the supporting facts are needed, and which of those the text says: ``FACTS`` verdicts."""

    PROMPT: ClassVar[str] = "evaluate/rater_facts"
    COUNTS: ClassVar[str] = "facts"
    FACTS: ClassVar[int] = 0
    joins: ClassVar[bool] = True

    facts: list[FactVerdict]

    @model_validator(mode="after")
    def _has_each(self) -> Recall:
        numbers = {place if each.fact is None else each.fact for place, each in enumerate(self.facts)}
        if not len(numbers) == len(self.facts) == self.FACTS:
            raise ValueError(f"write one verdict for each of the {self.FACTS} facts")
        return self

    @property
    def needed(self) -> int:
        """How many facts are needed."""
        return sum(each.needed is True for each in self.facts)

    @property
    def recalled(self) -> int:
        """How many of those the text says."""
        return sum(each.needed is True and each.recalled is True for each in self.facts)

    @classmethod
    def free(cls: type[R], text: str) -> R | None:
        """Free text that says it fact by fact, or how many of them. None for broken JSON."""
        if is_json(text, ("facts",)):
            return None
        return cls.of(facts=list(_by_fact(text))) or cls.of(facts=list(_by_count(text, cls.FACTS)))


@cache
def recall_of(count: int) -> type[Recall]:
    """``Recall`` of ``count`` facts."""
    fields: Any = {"facts": (list[FactVerdict], named("facts verdicts supporting_facts", items=count))}
    form = create_model("Recall", __base__=Recall, **fields)
    form.FACTS = count
    return form


def _by_fact(text: str) -> Iterator[dict[str, bool | None]]:
    """What stands behind each number at the start of a line."""
    starts = [found.start() for found in _FACT_NUMBER.finditer(text)]
    for start, end in pairwise([*starts, len(text)]):
        needed, recalled = (_is_said(label, text[start:end]) for label in (_NEEDED, _RECALLED))
        if needed is not None:
            yield {"needed": needed, "recalled": recalled}


def _is_said(label: str, text: str) -> bool | None:
    """Whether ``text`` says yes to ``label``, or no: behind it, or by its being there; the last time counts."""
    said = rf"{_DENIED}(?<![^\W_不没])(?:{label})(?![^\W_])(?:{_MARKS}{_SAID}|(?![\s*_`\"']{{0,5}}[:：=]))"
    found = list(re.finditer(said, text, re.IGNORECASE))
    return None if not found else not (found[-1]["not"] or found[-1]["no"])


def _by_count(text: str, facts: int) -> Iterator[dict[str, bool | None]]:
    """As many verdicts as ``text`` counts: "needed: 2, recalled: 1" of three facts is yes and yes, yes and no, no."""
    count = re.compile(rf"{_MARKS}{_COUNT}")
    needed, recalled = (_behind(re.compile(label, re.IGNORECASE), count, text) for label in (_NEEDED, _RECALLED))
    if needed and recalled and int(recalled["count"]) <= int(needed["count"]) <= facts:
        for place in range(facts):
            yield {"needed": place < int(needed["count"]), "recalled": place < int(recalled["count"])}
