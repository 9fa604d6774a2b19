"""A stand-in for the language models of LongAgent's team: it plays leader and members by rules.

    team = SimulatedTeam(told(task), invents=0.2, seed=1)
    with OpenAIServer(team) as server: ...

A member whose part has the answer says it; one whose part has not may invent one, with probability ``invents``: a
name of its part, or one that stands nowhere. One that reads two parts says what either of them has, as the paper
observes (E, section 2.3).
"""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from model_by_prompt import Prompt

from kgplatform.evaluate.needles import RARE_NAME, NeedleTask, invented_name
from kgplatform.prompt import Messages

Knows = Callable[[str, str], str]
"""What a passage truly says to an instruction: (instruction, passage); empty where it says nothing."""


@dataclass
class SimulatedTeam:
    """Messages of any of LongAgent's prompts to a reply, the same to the same. Several threads may use it at once.

    The members' instruction is the question. Of several different replies the leader draws one, each with the same
    chance.
    """

    knows: Knows
    invents: float = 0.0
    seed: int = 0

    def __call__(self, messages: Messages) -> str:
        prompt = Prompt(_without_reminder(messages))
        if prompt.kind in ("member", "joint"):
            return self._member(prompt, prompt.section("Instruction", messages[1]["content"]))
        replies = _said(prompt)
        if prompt.kind == "group":  # all contradict each other, since each task has one answer
            members = list(range(1, len(replies) + 1))
            return json.dumps({"groups": [{"members": members, "relation": "conflicting"}]})
        objective = prompt.section("Objective")
        if prompt.kind == "instruct":
            return _json("instruction", objective)
        chance = random.Random(f"{self.seed}/{objective}/{replies}")
        return _json("answer", chance.choice(replies) if replies else "")

    def _member(self, prompt: Prompt, instruction: str) -> str:
        """The same for the same text and instruction, whoever is asked, and however often."""
        passage = "\n\n".join(prompt.passages.values())
        chance = random.Random(f"{self.seed}/{instruction}/{passage}")
        said = self.knows(instruction, passage)
        if not said and chance.random() < self.invents:
            said = _invention(chance, passage)
        named = [number for number, text in prompt.sentences.items() if said and said in text]
        return json.dumps({"mentioned": bool(said), "content": said, "sentences": named}, ensure_ascii=False)


def _invention(chance: random.Random, passage: str) -> str:
    """A name that the passage has elsewhere, as often as one that stands nowhere."""
    names = re.findall(r"(?<=[a-z] )[A-Z][a-z]{4,}", passage)
    return chance.choice(names) if names and chance.random() < 0.5 else invented_name(chance, RARE_NAME)


def told(*tasks: NeedleTask) -> Knows:
    """Members know the needle of a task, each of which has one, where they see it whole."""

    def knows(instruction: str, passage: str) -> str:
        text = _folded(passage)
        asked = (task for task in tasks if task.question == instruction)
        return next((task.answers[0] for task in asked if _folded(task.hidden[0]) in text), "")

    return knows


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
