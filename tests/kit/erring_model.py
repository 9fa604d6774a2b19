"""A language model that answers by rule and errs by chance, for any reader, and the counting of what comes of it.

    model = ErringModel(YOUTU, errs=0.2, seed=1)        # the rules are in ``erring_readers``
    tally = ask_all(graph, "youtu", READERS["youtu"], errs=0.2, seeds=(1, 2, 3), folder=tmp_path)
    tally.share, tally.calls, tally.errors["headings"]

Each call errs with the probability ``errs``: half of the errors are in the form of the reply, half in what it says,
each kind as often as the others of its prompt. The same prompt, sent the same number of times, gets the same reply.
Corpus, model and errors are invented: a share of right answers says what a reader makes of errors, and nothing of how
often a real model makes them.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import accumulate
from math import comb
from pathlib import Path
from typing import Any, Protocol

from model_by_prompt import Prompt

from kgplatform import KnowledgeGraph, ModelError
from kgplatform.prompt import Messages
from kgplatform.records import Answer, Statement
from kgplatform.testing import Fault, OpenAIServer

Fields = dict[str, Any]
"""A reply by the keys of its form."""
Slip = Callable[[Prompt, Fields, random.Random], Fields]
"""An error in what a reply says: (prompt, the right reply, chance) to the wrong one."""

INVENTED = ("Nemo Drake", "Nemo Harbour", "1799")
"""A person, a place and a year of which no text tells."""
_INVENTED = re.compile("Nemo|1795|1799")
_ASKED_AGAIN = "\n\nA reply to this could not be used"
NONE = ("none", "None.", "N/A", "null", "unknown", "not stated", "Not mentioned in the text.", "no answer", "nothing")


@dataclass(frozen=True)
class Rule:
    """How one kind of prompt is answered, and what may go wrong with it."""

    right: Callable[[Prompt], Fields]
    slips: Mapping[str, Slip]


def _fenced(form: str) -> str:
    return f"Sure! Here is my reply:\n\n```json\n{form}\n```\n\nI hope this helps."


def _cut(form: str) -> Fault:
    return Fault.length_limit(form[: len(form) * 2 // 3])


FORMS: Mapping[str, Callable[[str], str | Fault]] = {
    "fenced": _fenced,
    "broken": lambda form: form.replace("{", "{,", 1).removesuffix("}"),
    "in a string": json.dumps,
    "cut off": _cut,
    "empty": lambda form: "",
    "refused": lambda form: "I am sorry, but I cannot help with that.",
}
"""Errors of form, by kind: from the reply in JSON."""


class ErringModel:
    """Messages of a reader's prompts to a reply. Several threads may ask it.

    ``errors``: what it made, by kind. ``sent``: how often the same messages came; ``broken``: those whose reply was
    empty, broke off or, as a reader says that then asks in other words, was of no use. Nobody keeps such a reply, so
    that a reader may well send them again.
    """

    def __init__(self, rules: Mapping[str, Rule], errs: float = 0.0, seed: int = 0) -> None:
        self.rules = rules
        self.errs = errs
        self.seed = seed
        self.errors: Counter[str] = Counter()
        self.sent: Counter[str] = Counter()
        self.broken: set[str] = set()
        self._lock = threading.Lock()

    def __call__(self, messages: Messages) -> str | Fault:
        key = json.dumps(messages)
        *before, last = messages
        asked, is_again, _ = last["content"].rpartition(_ASKED_AGAIN)
        with self._lock:
            self.sent[key] += 1
            time = self.sent[key]
            self.broken.update([key, json.dumps([*before, {**last, "content": asked}])] if is_again else [])
        prompt = Prompt(messages)
        chance = random.Random(f"{self.seed}/{time}/{key}")
        kind, said = self._reply(prompt, chance)
        with self._lock:
            self.errors.update([kind] if kind else [])
            if not said or isinstance(said, Fault):
                self.broken.add(key)
        return said

    @property
    def again(self) -> int:
        """How many messages came again though their reply was whole."""
        return sum(times - 1 for key, times in self.sent.items() if key not in self.broken)

    def _reply(self, prompt: Prompt, chance: random.Random) -> tuple[str, str | Fault]:
        """The kind of error, if any, and what is said."""
        rule = self.rules[prompt.kind]
        right = rule.right(prompt)
        if chance.random() >= self.errs:
            return "", _json(right)
        if chance.random() < 0.5:
            kind = chance.choice(sorted(FORMS))
            return kind, FORMS[kind](_json(right))
        kind = chance.choice(sorted(rule.slips))
        return kind, _json(rule.slips[kind](prompt, right, chance))


def _json(said: Fields) -> str:
    return json.dumps(said, ensure_ascii=False)


@dataclass
class Tally:
    """What came of questions. ``uncited``: refused, not cited, or with a mark; ``failed``: ended with an error of the
    model; ``invented``: a statement cites something, without a mark, for a name or year that no text has; ``most``:
    calls of the dearest question; ``again``: whole replies that were paid twice; ``wrong``: seed, question, what was
    said, and the errors before it.
    """

    asked: int = 0
    right: int = 0
    uncited: int = 0
    failed: int = 0
    invented: int = 0
    calls: int = 0
    most: int = 0
    again: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[int, str, str, list[str]]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Of the questions, those that are answered right and cited, in percent."""
        return 100 * self.right / self.asked

    @property
    def misled(self) -> int:
        """Wrong answers that cite something and have no mark."""
        return self.asked - self.right - self.uncited - self.failed


class Asked(Protocol):
    """A question, and who knows the answer."""

    @property
    def text(self) -> str: ...

    def is_right(self, answer: Answer) -> bool:
        """Right, and cited."""


@dataclass(frozen=True)
class Trial:
    """What a reader is tried with: the ``rules`` of its model, ``questions``, and the ``options`` of asking them."""

    rules: Mapping[str, Rule]
    questions: Sequence[Asked]
    options: Mapping[str, Any] = field(default_factory=dict)


def ask_all(
    graph: KnowledgeGraph, reader: str, trial: Trial, *, errs: float, seeds: Sequence[int], folder: Path
) -> Tally:
    """All questions by a model of each of ``seeds`` behind a server, each with a cache of its own in ``folder``."""
    tally = Tally()
    for seed in seeds:
        model = ErringModel(trial.rules, errs, seed)
        with OpenAIServer(model) as server:
            home = folder / f"{reader} {errs} {seed}"
            settings = graph.settings.model_copy(update={"openai_base_url": server.base_url, "home": home})
            own = KnowledgeGraph(graph.store, settings, embedder=graph.embedder)
            for question in trial.questions:
                _ask(own, reader, question, model, tally, trial.options)
        tally.again += model.again
        tally.errors += model.errors
    return tally


def _ask(
    graph: KnowledgeGraph, reader: str, question: Asked, model: ErringModel, tally: Tally, options: Mapping[str, Any]
) -> None:
    calls, errors = model.sent.total(), model.errors.copy()
    said = _said(graph, reader, question, tally, options)
    tally.asked += 1
    tally.calls += model.sent.total() - calls
    tally.most = max(tally.most, model.sent.total() - calls)
    if said:
        tally.wrong.append((model.seed, question.text, said, sorted((model.errors - errors).elements())))


def _said(graph: KnowledgeGraph, reader: str, question: Asked, tally: Tally, options: Mapping[str, Any]) -> str:
    """What was said, if it is wrong."""
    try:
        answer = graph.ask(question.text, reader, **options)
    except ModelError as error:
        tally.failed += 1
        return f"failed: {error}"
    unmarked = bool(answer.citations) and not any(each.unread for each in answer.statements)
    tally.invented += any(map(cites_an_invention, answer.statements))
    if question.is_right(answer):
        tally.right += 1
        return ""
    tally.uncited += not unmarked
    return f"{answer.text} {answer.note}"


def cites_an_invention(statement: Statement) -> bool:
    """Whether what stands in no text is cited, and has no mark. A statement that cites nothing claims no sentence."""
    return bool(statement.citations and not statement.unread and _INVENTED.search(statement.text))


def check(none: Tally, some: Tally, *, measured: float, most: int) -> None:
    """That without errors all is right, and that where one call in five errs as much is right as was ``measured``, but
    for chance; that nothing invented is cited, nothing is paid twice, and no question takes more than ``most`` calls.

    A prompt that changes draws other errors. So what is counted has no fixed floor, but ``fewest``.
    """
    assert (none.share, none.failed, none.again) == (100, 0, 0), none.wrong
    assert not none.errors
    assert some.right >= fewest(some.asked, measured), some.wrong
    assert some.asked - some.failed >= fewest(some.asked, 0.99), "two replies in turn of which a reader makes nothing"
    assert (some.invented, some.again) == (0, 0), some.wrong
    assert max(none.most, some.most) <= most
    assert some.errors, "no call erred"


def fewest(of: int, share: float) -> int:
    """How many ``of`` so many turn out well at the least, each with the chance ``share``: fewer do so once in 1,000
    drawings, as of 16 with a chance of 0.9 it is 10."""
    chances = (comb(of, n) * share**n * (1 - share) ** (of - n) for n in range(of + 1))
    return next(n for n, upto in enumerate(accumulate(chances)) if upto >= 0.001)
