"""A stand-in for the language models of LongAgent's team: it plays leader and members by rules.

    team = SimulatedTeam(told(task), invents=0.2, errs=0.1, seed=1)
    with OpenAIServer(team) as server: ...

A member whose part has the answer says it; one whose part has not may invent one, with probability ``invents``: a
name of its part, or one that stands nowhere. One that reads two parts says what either of them has, as the paper
observes (E, section 2.3), but errs with probability ``errs``: then it repeats what was invented, invents something
itself, or finds nothing. With ``errs`` the leader groups wrongly too. ``expected_by_chance`` is what is left without
resolution.
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from model_by_prompt import Prompt

from kgplatform.evaluate.needles import RANKS, RARE_NAME, NeedleTask, invented_name
from kgplatform.prompt import Messages

REFUSAL = ""
Knows = Callable[[str, str], str]
"""What a passage truly says to an instruction: (instruction, passage); empty where it says nothing."""


def _as_asked(objective: str) -> Sequence[str]:
    return (objective,)


def _any_of(chance: random.Random, objective: str, replies: Sequence[str]) -> str:
    return chance.choice(replies)


@dataclass
class SimulatedTeam:
    """Messages of any of LongAgent's prompts to a reply, the same to the same. Several threads may use it at once.

    ``errs``: how often a member that reads two parts is wrong, and the leader where it groups. ``wrong``: what all that
    invent say; else each invents something else. ``plan``: the instructions for an objective,
    in order; "{}" stands for the answer to the one before. ``concludes``: how the leader comes from several different
    replies to an answer; else it draws one of them, each with the same chance. ``replies`` has what members said.
    """

    knows: Knows
    invents: float = 0.0
    errs: float = 0.0
    seed: int = 0
    wrong: str = ""
    plan: Callable[[str], Sequence[str]] = _as_asked
    concludes: Callable[[random.Random, str, Sequence[str]], str] = _any_of
    replies: list[str] = field(default_factory=list)
    raised: set[str] = field(default_factory=set)

    def __call__(self, messages: Messages) -> str:
        prompt = Prompt(_without_reminder(messages))
        if prompt.kind in ("member", "joint"):
            user = messages[1]["content"]
            return self._member(prompt, prompt.section("Instruction", user))
        if prompt.kind == "group":
            return self._groups(_said(prompt))
        objective = prompt.section("Objective")
        if prompt.kind == "instruct":
            self.raised.clear()
            return _json("instruction", self.plan(objective)[0])
        if prompt.kind == "batch":
            return json.dumps({"content": "; ".join(_said(prompt))})
        return self._decide(objective, prompt)

    def _member(self, prompt: Prompt, instruction: str) -> str:
        """The same for the same text and instruction, whoever is asked, and however often."""
        passage = "\n\n".join(prompt.passages.values())
        chance = random.Random(f"{self.seed}/{instruction}/{passage}")
        parts = _parts(prompt)
        if len(parts) > 1 and chance.random() < self.errs:
            said = self._error(chance, instruction, parts)
        else:
            said = self._honest(chance, instruction, passage)
        self.replies.append(said)
        values = [value for value in said.split(", ") if value]
        named = [number for number, text in prompt.sentences.items() if any(value in text for value in values)]
        return json.dumps({"mentioned": bool(said), "content": said, "sentences": named}, ensure_ascii=False)

    def _honest(self, chance: random.Random, instruction: str, passage: str) -> str:
        """The truth where the passage has it, else perhaps an invention."""
        said = self.knows(instruction, passage)
        if said or chance.random() >= self.invents:
            return said or REFUSAL
        return self.wrong or self._invention(chance, passage)

    def _invention(self, chance: random.Random, passage: str) -> str:
        """A name that the passage has elsewhere, as often as one that stands nowhere."""
        names = re.findall(r"(?<=[a-z] )[A-Z][a-z]{4,}", passage)
        return chance.choice(names) if names and chance.random() < 0.5 else invented_name(chance, RARE_NAME)

    def _error(self, chance: random.Random, instruction: str, parts: Sequence[str]) -> str:
        """What was invented from one of the parts, something new, or nothing: each as often."""
        alone = [self._honest(random.Random(f"{self.seed}/{instruction}/{part}"), instruction, part) for part in parts]
        truth = self.knows(instruction, "\n\n".join(parts))
        wrong = [said for said in alone if said not in (truth, REFUSAL)] or [REFUSAL]
        return chance.choice([chance.choice(wrong), self._invention(chance, parts[0]), REFUSAL])

    def _groups(self, replies: Sequence[str]) -> str:
        """All contradict each other, since each task has one answer; the leader overlooks each where it errs."""
        chance = random.Random(f"{self.seed}/{replies}")
        seen = [number for number in range(1, len(replies) + 1) if chance.random() >= self.errs]
        return json.dumps({"groups": [{"members": seen, "relation": "conflicting"}]})

    def _decide(self, objective: str, prompt: Prompt) -> str:
        replies = _said(prompt)
        if not replies:
            return _json("answer", REFUSAL)
        chance = random.Random(f"{self.seed}/{objective}/{replies}")
        done = re.match(r"Round (\d+) ", prompt.messages[-1]["content"])
        if len(set(replies)) > 1 and self._raises(prompt, chance, done[1] if done else ""):
            return _json("conflict", ", ".join(str(n) for n in range(1, len(replies) + 1)))
        said = replies[0] if len(set(replies)) == 1 else self.concludes(chance, objective, replies)
        rest = self.plan(objective)[int(done[1]) :] if done else ()
        return _json("instruction", rest[0].format(said)) if rest else _json("answer", said)

    def _raises(self, prompt: Prompt, chance: random.Random, place: str) -> bool:
        """Whether it has the members of different replies read each other's parts, once a round, if that is offered."""
        if self.concludes is not _any_of or '- "conflict"' not in prompt.system or not place or place in self.raised:
            return False
        self.raised.add(place)
        return chance.random() >= self.errs


def expected_by_chance(members: int, invents: float) -> float:
    """How often a leader is right that draws one of different answers, of which exactly one is true.

    Beside the true answer there are B invented ones, all different, with B binomial over the ``members - 1`` others.
    The mean of 1 / (1 + B) is (1 - (1 - p)^m) / (m p).
    """
    return (1 - (1 - invents) ** members) / (members * invents) if invents else 1.0


# ---------------------------------------------------------------------------------------------------------- what is so


def told(*tasks: NeedleTask) -> Knows:
    """Members know a needle where they see it whole; of two that belong together, each at its own of the ``hops``."""
    return knows_needles([truth for task in tasks for truth in _truths(task)])


def knows_needles(truths: Iterable[tuple[str, str, str]]) -> Knows:
    """By (instruction, the statement that must be seen, the answer that follows)."""
    known: dict[str, list[tuple[str, str]]] = {}
    for instruction, said, answer in truths:
        known.setdefault(instruction, []).append((_folded(said), answer))

    def knows(instruction: str, passage: str) -> str:
        text = _folded(passage)
        return next((answer for said, answer in known[instruction] if said in text), "")

    return knows


def hops(task: NeedleTask) -> Callable[[str], Sequence[str]]:
    """The plan for a question that needs two needles: who is meant, and then what is said of them."""
    first = f"Say who is meant in this question: {task.question}"
    return lambda objective: (first, "Say what your part tells of {}.")


def _truths(task: NeedleTask) -> list[tuple[str, str, str]]:
    if task.bridge is None:
        return [(task.question, task.hidden[0], task.answers[0])]
    first, then = hops(task)(task.question)
    return [(first, task.hidden[0], task.bridge), (then.format(task.bridge), task.hidden[1], task.answers[0])]


def finds_number(instruction: str, passage: str) -> str:
    """A pass key, or a hidden number."""
    found = re.search(r"(?:pass key|hidden number) is (\d+)\.|\b(\d+) is the (?:pass key|hidden number)\.", passage)
    return (found[1] or found[2]) if found else ""


def finds_value(instruction: str, passage: str) -> str:
    """The value of the key that the instruction names."""
    key = re.search(r'"([0-9a-f-]{36})"', instruction)
    found = re.search(rf'"{key[1]}": "([0-9a-f-]{{36}})"', passage) if key else None
    return found[1] if found else ""


def finds_extremes(instruction: str, passage: str) -> str:
    """The part's own largest three numbers, or its smallest: what a number of that rank in the whole list can be."""
    numbers = sorted({int(each) for each in re.findall(r"\b\d{6}\b", passage)})
    return ", ".join(map(str, numbers[:1] if "smallest" in instruction else reversed(numbers[-3:])))


def compares(chance: random.Random, objective: str, replies: Sequence[str]) -> str:
    """The number of the objective's rank among all that were reported."""
    numbers = sorted({int(each) for reply in replies for each in re.findall(r"\d{6}", reply)})
    rank = next(place for name, place in sorted(RANKS.items(), key=lambda each: -len(each[0])) if name in objective)
    return str(numbers[-rank if rank > 0 else 0])


# ------------------------------------------------------------------------------------------------------------- prompts


def _parts(prompt: Prompt) -> list[str]:
    """What one member read, or two: passages whose numbers do not follow each other are of two parts."""
    parts: list[list[str]] = []
    last = 0
    for number, text in prompt.passages.items():
        if not parts or number != last + 1:
            parts.append([])
        parts[-1].append(text)
        last = number
    return ["\n\n".join(each) for each in parts]


def _without_reminder(messages: Messages) -> Messages:
    """Up to the message that has the data, where the same is asked again."""
    places = [place for place, each in enumerate(messages) if "\n</data-" in each["content"]]
    return messages[: places[-1] + 1] if places else messages


def _said(prompt: Prompt) -> list[str]:
    """The members' replies, as the leader is shown them, less quotes and other wordings."""
    lines = re.findall(r"^Members? [\d-]+: (.*)$", prompt.section("Replies"), re.MULTILINE)
    return [re.split(r" — “| \(also: | \[\d", line)[0] for line in lines]


def _json(kind: str, content: str) -> str:
    said = {"type": kind, "content": content, "answer": content, "sufficient": bool(content)}
    return json.dumps(said, ensure_ascii=False)


def _folded(text: str) -> str:
    return " ".join(text.split())
