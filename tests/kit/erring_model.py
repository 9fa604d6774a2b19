"""A language model that answers by rule and errs by chance, for any reader, and the counting of what comes of it.

    model = ErringModel(RULES["youtu"], errs=0.2, seed=1)        # the rules are in ``erring_readers``
    tally = ask_all(graph, "youtu", fleet.questions, errs=0.2, seeds=(1, 2, 3), folder=tmp_path)
    tally.share, tally.calls, tally.errors["youtu: headings"]

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
from pathlib import Path
from typing import Any

from model_by_prompt import Prompt
from planted_ships import Asked

from kgplatform import KnowledgeGraph, ModelError
from kgplatform.prompt import Messages
from kgplatform.testing import Fault, OpenAIServer

Fields = dict[str, Any]
"""A reply by the keys of its form."""
Slip = Callable[[Prompt, Fields, random.Random], Fields]
"""An error in what a reply says: (prompt, the right reply, chance) to the wrong one."""

NONE = ("none", "None.", "N/A", "null", "unknown", "not stated", "Not mentioned in the text.", "no answer", "nothing")
_LABEL = re.compile(r"^([A-Z][\w ]{2,30}):[ \n]*", re.MULTILINE)


@dataclass(frozen=True)
class Rule:
    """How one kind of prompt is answered. ``plain``: the reply as people, and the papers' prompts, write it."""

    right: Callable[[Prompt], Fields]
    plain: Callable[[Fields], str]
    slips: Mapping[str, Slip]


def _headings(plain: str) -> str:
    """Labels as headings, without a colon."""
    return _LABEL.sub(r"### \1\n\n", plain) if _LABEL.search(plain) else f"### Answer\n\n{plain}"


def _fenced(plain: str, form: str) -> str:
    said = f"```json\n{form}\n```" if form else _LABEL.sub(r"**\1:** ", plain)
    return f"Sure! Here is my reply:\n\n{said}\n\nI hope this helps."


def _cut(plain: str, form: str) -> Fault:
    whole = form or plain
    return Fault.length_limit(whole[: len(whole) * 2 // 3])


FORMS: Mapping[str, Callable[[str, str], str | Fault]] = {
    "prose": lambda plain, form: plain if form else f"Let me think. {plain}",
    "headings": lambda plain, form: _headings(plain),
    "fenced": _fenced,
    "cut off": _cut,
    "empty": lambda plain, form: "",
}
"""Errors of form, by kind: from the reply in prose, and in JSON where the prompt asks for that, else empty."""


class ErringModel:
    """Messages of a reader's prompts to a reply. Several threads may ask it.

    ``errors``: what it made, by kind. ``sent``: how often the same messages came; ``broken``: those whose reply was
    empty or broke off, which a reader may well send again.
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
        with self._lock:
            self.sent[key] += 1
            time = self.sent[key]
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
        is_json = "JSON" in prompt.system
        if chance.random() >= self.errs:
            return "", _written(rule, right, is_json)
        if chance.random() < 0.5:
            kind = chance.choice(sorted(FORMS))
            return kind, FORMS[kind](rule.plain(right), _json(right) if is_json else "")
        kind = chance.choice(sorted(rule.slips))
        return kind, _written(rule, rule.slips[kind](prompt, right, chance), is_json)


def _written(rule: Rule, said: Fields, is_json: bool) -> str:
    return _json(said) if is_json else rule.plain(said)


def _json(said: Fields) -> str:
    return json.dumps(said, ensure_ascii=False)


# --------------------------------------------------------------------------------------------------------- the counting


@dataclass
class Tally:
    """What came of questions. ``failed``: ended with an error of the model; ``most``: calls of the dearest question;
    ``again``: whole replies that were paid twice."""

    asked: int = 0
    right: int = 0
    refused: int = 0
    failed: int = 0
    calls: int = 0
    tokens: int = 0
    most: int = 0
    again: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    wrong: list[tuple[int, str, str]] = field(default_factory=list)

    @property
    def share(self) -> float:
        """Of the questions, those that are answered right and cited, in percent."""
        return 100 * self.right / self.asked


def ask_all(
    graph: KnowledgeGraph,
    reader: str,
    rules: Mapping[str, Rule],
    questions: Sequence[Asked],
    *,
    errs: float,
    seeds: Sequence[int],
    folder: Path,
    **options: Any,
) -> Tally:
    """All ``questions`` by a model of each of ``seeds`` behind a server, each with a cache of its own in ``folder``."""
    tally = Tally()
    for seed in seeds:
        model = ErringModel(rules, errs, seed)
        with OpenAIServer(model) as server:
            home = folder / f"{reader} {errs} {seed}"
            settings = graph.settings.model_copy(update={"openai_base_url": server.base_url, "home": home})
            own = KnowledgeGraph(graph.store, settings, embedder=graph.embedder)
            for question in questions:
                before = sum(model.sent.values())
                _ask(own, reader, question, seed, tally, options)
                made = sum(model.sent.values()) - before
                tally.calls += made
                tally.most = max(tally.most, made)
        tally.again += model.again
        tally.errors += model.errors
    return tally


def _ask(
    graph: KnowledgeGraph, reader: str, question: Asked, seed: int, tally: Tally, options: Mapping[str, Any]
) -> None:
    tally.asked += 1
    try:
        answer = graph.ask(question.text, reader, **options)
    except ModelError as error:
        tally.failed += 1
        tally.wrong.append((seed, question.text, f"failed: {error}"))
        return
    tally.tokens += answer.usage.input_tokens + answer.usage.output_tokens
    if question.is_right(answer):
        tally.right += 1
    else:
        tally.refused += not answer.citations
        tally.wrong.append((seed, question.text, f"{answer.text} {answer.note}"))
