"""What an answer rests on: the sentences whose numbers stand behind its statements.

    grounded = ground("In Kingston [2.3]. He was born in 1815 [2.4].", shown)
    grounded.text              # 'In Kingston [1]. He was born in 1815 [2].'
    grounded.citations[0]      # Citation(document='…', start=12, end=40, text='He grew up in Kingston.', …)
    grounded.statements[1]     # Statement(…, citations=(2,), unread=('1815',), compared=True)

A number *is* a place, so nothing is matched and nothing is refused. What of a statement can be compared, its names,
numbers and dates, is marked where its citation does not have it (``kgplatform.readers.unread``); whether the citation
supports the statement is not decided here: a relation that was turned round has no mark. ``verified`` asks the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from kgplatform.models.forms import Form, items
from kgplatform.models.reply import ask
from kgplatform.prompt import fence_for, render
from kgplatform.readers.numbering import Numbering, Source, joined
from kgplatform.readers.run import Calls
from kgplatform.readers.unread import unread
from kgplatform.records import Answer, Citation, Statement
from kgplatform.text import counted
from kgplatform.text.numbered import numbers_in
from kgplatform.text.sentences import FULL_ENDS, sentences

_NUMBERS = r"(?:(?:passages?|sentences?|facts?|and|to)\b|[\d\s.,;:、&‐-―~-]){0,200}"
_OPEN_MARK = rf"[\[【]+{_NUMBERS}\d{_NUMBERS}(?:[\]】]+|\Z)|\(\d+\.\d+{_NUMBERS}\)"
_MARK = re.compile(rf"[ \t\u00a0]*(?P<said>{_OPEN_MARK})", re.IGNORECASE)
# "He was born. [2.3]": the mark belongs to what stands before it.
_AFTER_END = re.compile(rf"([.!?…{FULL_ENDS}]+[\"'”’»)\]]*)((?:[ \t\u00a0]*(?:{_OPEN_MARK}))+)", re.IGNORECASE)
_LEFT = re.compile(r"[ \t\u00a0]+(?=[.,;:!?](?:\s|$))")
_RUN = re.compile(r"(?:\[[\d.]+\]){2,}")
_LONGEST_STRAY = 99
"""Of a number in brackets that was not shown and is no pair: a larger one is a year or a quantity, and stays."""


@dataclass(frozen=True, slots=True)
class Grounded:
    """``text`` with the numbers of ``citations``, from 1; ``dropped``: how many of its numbers were not shown."""

    text: str
    citations: tuple[Citation, ...] = ()
    statements: tuple[Statement, ...] = ()
    dropped: int = 0


def ground(answer: str, shown: Numbering, evidence: Sequence[str] = ()) -> Grounded:
    """What ``answer`` rests on among what was ``shown``.

    ``evidence``: numbers that the reply names apart from its statements; where none of these has a number itself, they
    stand at the end and are those of all.
    """
    answer = settled(answer)
    meant = marks_in(answer)
    named = {number: shown.sources(number) for number in (*meant, *evidence)}
    known = {number: sources for number, sources in named.items() if sources is not None}
    dropped = sum(number not in known for number in dict.fromkeys([*meant, *evidence]))
    whole = not any(number in known for number in meant)
    if whole:
        at_end = "".join(f"[{number}]" for number in evidence if number in known)
        plain = without_numbers(answer)
        words = plain.rstrip(f".!?…{FULL_ENDS}")
        answer = f"{words} {at_end}{plain[len(words) :]}" if at_end else plain
    places: list[Citation] = []
    pieces: list[str] = []
    statements: list[Statement] = []
    at = 0
    spans = [(0, len(answer))] if whole else [(each.start, each.end) for each in sentences(answer)]
    for start, end in spans:
        said, cited, sources = _read(answer[start:end], known, places)
        found = unread(without_numbers(answer[start:end]), [text for source in sources for text in source.near])
        pieces += [answer[at:start], said]
        statements.append(Statement(said, cited, found.words if cited else (), found.compared if cited else False))
        at = end
    text = _LEFT.sub("", "".join([*pieces, answer[at:]])).strip()
    return Grounded(text, tuple(places), tuple(statements), dropped)


def _read(
    said: str, known: dict[str, tuple[Source, ...]], places: list[Citation]
) -> tuple[str, tuple[int, ...], list[Source]]:
    """A statement with the numbers of its citations, which are added to ``places``; these; and its sources."""
    cited: list[int] = []
    sources: list[Source] = []

    def put(numbers: Sequence[str]) -> list[int]:
        own = [source for number in numbers for source in known.get(number, ())]
        sources.extend(own)
        new: list[int] = []
        for citation in joined([source.citation for source in own]):
            if citation not in places:
                places.append(citation)
            new.append(places.index(citation) + 1)
        cited.extend(new)
        return new

    return renumbered(said, put), tuple(dict.fromkeys(cited)), sources


def _numbers(mark: re.Match[str]) -> list[str] | None:
    """The numbers that a mark names; None for what is none, such as a year in brackets."""
    numbers = numbers_in(mark["said"])
    is_stray = all("." not in number and int(number) > _LONGEST_STRAY for number in numbers)
    return None if is_stray else numbers


def without_numbers(text: str) -> str:
    """``text`` without the numbers of sentences, or of citations, behind its statements."""
    return _LEFT.sub("", _MARK.sub(lambda mark: mark[0] if _numbers(mark) is None else "", text)).strip()


def marks_in(text: str) -> list[str]:
    """The numbers that stand behind the statements of ``text``, each once, in order."""
    found = (number for mark in _MARK.finditer(text) for number in _numbers(mark) or ())
    return list(dict.fromkeys(found))


def settled(text: str) -> str:
    """``text`` with the numbers that stand behind the end of a sentence before it: they belong to what it says."""
    return _AFTER_END.sub(r"\2\1", text.strip())


def renumbered(text: str, own: Callable[[Sequence[str]], Iterable[object]]) -> str:
    """``text`` with the numbers of each mark behind its statements as ``own`` gives them, side by side each once;
    without any it goes."""

    def put(mark: re.Match[str]) -> str:
        numbers = _numbers(mark)
        if numbers is None:
            return mark[0]
        kept = "".join(f"[{number}]" for number in dict.fromkeys(own(numbers)))
        return f" {kept}" if kept and not text[: mark.start()].endswith(("]", "】")) else kept

    once = _RUN.sub(lambda run: "".join(dict.fromkeys(re.findall(r"\[[\d.]+\]", run[0]))), _MARK.sub(put, text))
    return _LEFT.sub("", once)


class Verdicts(Form):
    """``supported``: of each statement, in order, whether its sentences support it."""

    supported: list[bool] = items(60)


def verified(answer: Answer, calls: Calls) -> Answer:
    """``answer`` with what the model says of each cited statement: whether the cited sentences alone support it.

    One call, a step of the trace. Raises ``ModelError``.
    """
    asked = [place for place, each in enumerate(answer.statements) if each.citations]
    if not asked:
        return answer
    shown = []
    for number, place in enumerate(asked, 1):
        statement = answer.statements[place]
        words = " ".join(answer.citations[each - 1].text for each in statement.citations)
        shown.append(f"Statement {number}: {without_numbers(statement.text)}\nSentences: {words}")
    text = "\n\n".join(shown)
    mark = calls.mark()
    messages = render("readers/verify", fence=fence_for(text), statements=text, question=answer.question)
    reply, _ = ask(calls, messages, Verdicts, stage="verify", tokens=20 + 10 * len(asked))
    verdicts = dict(zip(asked, reply.supported, strict=False))
    statements = tuple(replace(each, supported=verdicts.get(at)) for at, each in enumerate(answer.statements))
    holding = sum(verdicts.values())
    detail = f"the model finds {holding} of {counted(len(asked), 'statement')} supported"
    calls.add("verify", detail, mark, prompt="readers/verify")
    return replace(answer, statements=statements, trace=(*answer.trace, *calls.steps), usage=answer.usage + calls.usage)
