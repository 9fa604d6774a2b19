"""A language model for tests that plays a rule for each prompt of the platform, and remembers what it was asked.

    model = Model(plan="Find it.", nodes=["Node: A, Score: 9", "Node: B, Score: 9"], facts=lambda prompt: …)
    with OpenAIServer(model) as server: ...       # or ScriptedChat(model)
    model.of("nodes")[0].data

A prompt is known by its file in ``kgplatform/prompts``, or by the last part of that name.
"""

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any, Generic, TypeVar

from kgplatform.errors import BudgetError
from kgplatform.prompt import Messages, prompt_names, source_of
from kgplatform.testing import Fault

_TAGS = r"<([a-z]+-[0-9a-f]{12})>\n?(.*?)\n?</\1>"
"""A fence: its name is one that no text between its tags has."""


@dataclass(frozen=True)
class Prompt:
    """A prompt taken apart."""

    messages: Messages

    @cached_property
    def name(self) -> str:
        """Of its file: that with the longest beginning that the messages have; of several, that which asks in its
        words. Raises ``LookupError`` for none."""
        fitting = [(len(start), name) for name, start in beginnings().items() if self.system.startswith(start)]
        if not fitting:
            raise LookupError(f"no prompt begins with {self.system[:80]!r}")
        asked = set(self.user.splitlines())
        return max(fitting, key=lambda each: (each[0], len(lines_of(each[1]) & asked), each[1]))[1]

    @property
    def kind(self) -> str:
        """The name without its folder."""
        return self.name.rpartition("/")[2]

    @property
    def system(self) -> str:
        """The rules."""
        return self.messages[0]["content"]

    @property
    def user(self) -> str:
        """What the prompt asks, whatever was asked again since."""
        return self.messages[1]["content"]

    @property
    def question(self) -> str:
        """Behind "Question:", else all of the data."""
        found = re.search(r"^Question: (.+)", self.user, re.MULTILINE)
        return found[1].strip() if found else self.data.strip()

    @property
    def data(self) -> str:
        """Between the first tags, else all that it asks."""
        found = re.search(_TAGS, self.user, re.DOTALL)
        return found[2] if found else self.user

    def section(self, label: str, user: str | None = None) -> str:
        """Between the tags under the line of the last message that begins with ``label``; empty where there is none."""
        user = self.messages[-1]["content"] if user is None else user
        found = re.search(rf"^{label}[^:\n]*:\n{_TAGS}", user, re.DOTALL | re.MULTILINE)
        return found[2] if found else ""

    @property
    def sentences(self) -> dict[str, str]:
        """The numbered sentences and facts, by number."""
        return dict(re.findall(r"^\[(\d+(?:\.\d+)?)\] (.*)", self.data, re.MULTILINE))

    @property
    def passages(self) -> dict[int, str]:
        """The sentences of each numbered passage, joined."""
        found: dict[int, list[str]] = {}
        for number, words in self.sentences.items():
            found.setdefault(int(number.split(".")[0]), []).append(words)
        return {number: " ".join(words) for number, words in found.items() if number}

    def number_of(self, words: str) -> str | None:
        """The number of the first sentence that has ``words``; None where none has."""
        return next((number for number, sentence in self.sentences.items() if words in sentence), None)

    @property
    def pages(self) -> dict[int, str]:
        """What a memory has under the tags of its pages."""
        parts = re.split(r"^<Page (\d+)>\n", self.data, flags=re.MULTILINE)[1:]
        return {int(number): text for number, text in zip(parts[::2], parts[1::2], strict=True)}


@cache
def beginnings() -> dict[str, str]:
    """How each prompt begins, up to its first input; those that only ask again are no prompts of their own."""
    starts = {name: source_of(name).lstrip().partition("\n")[0].partition("$")[0] for name in prompt_names()}
    return {name: start for name, start in starts.items() if start and not name.endswith("again") and start != "---"}


@cache
def lines_of(name: str) -> frozenset[str]:
    """The lines of what a prompt asks that have no input in them."""
    asked = source_of(name).partition("\n---\n")[2].splitlines()
    return frozenset(line for line in asked if line and "$" not in line)


def budgeted(answers: Callable[[Messages], str], left: list[int]) -> Callable[[Messages], str]:
    """``answers`` for as many calls as are ``left``."""

    def reply(messages: Messages) -> str:
        if not left[0]:
            raise BudgetError("The budget is used up.")
        left[0] -= 1
        return answers(messages)

    return reply


P = TypeVar("P", bound=Prompt)
Reply = str | Fault | Exception
Line = Reply | Callable[[Any], Reply]


class Model(Generic[P]):
    """Plays ``rules``, each for one kind of prompt. Several threads may ask it.

    A line is a reply, an error to raise, or a function that makes either of the prompt. A single line is said again and
    again; a list is played once, in order. ``asked`` has every prompt.
    """

    def __init__(
        self,
        rules: Mapping[str, Line | Sequence[Line]] | None = None,
        prompt: Callable[[Messages], P] = Prompt,  # type: ignore[assignment]
        **more: Line | Sequence[Line],
    ) -> None:
        self.rules = {**(rules or {}), **more}
        self.asked: list[P] = []
        self._prompt = prompt
        self._lock = threading.Lock()

    def __call__(self, messages: Messages) -> Any:
        prompt = self._prompt(messages)
        with self._lock:
            place = self.place(prompt)
            self.asked.append(prompt)
        said = self.reply(prompt, place)
        if isinstance(said, Exception):
            raise said
        return said

    def place(self, prompt: P) -> int:
        """Which line of its list ``prompt`` gets."""
        return len(self.of(prompt.kind))

    def reply(self, prompt: P, place: int) -> Reply:
        """To ``prompt``, from line ``place`` if its rule is a list."""
        rule = self.rules[prompt.name if prompt.name in self.rules else prompt.kind]
        line = rule[place] if isinstance(rule, Sequence) and not isinstance(rule, str) else rule
        return line(prompt) if callable(line) else line

    def of(self, *kinds: str) -> list[P]:
        """The prompts of these kinds, in order."""
        return [prompt for prompt in self.asked if prompt.kind in kinds]

    @property
    def kinds(self) -> list[str]:
        """The kinds of all prompts, in order."""
        return [prompt.kind for prompt in self.asked]
