"""What the tests of the reader longagent share: texts of numbered notes, a note a member, and a team that plays its
part over a server on loopback."""

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from model_by_prompt import Model, Prompt
from texts import ingest

from kgplatform.client import KnowledgeGraph
from kgplatform.models.embed import HashEmbedder
from kgplatform.neo4j.store import Store
from kgplatform.readers.window import cost
from kgplatform.records import Answer
from kgplatform.settings import load_settings
from kgplatform.testing import Fault, OpenAIServer

NOTE_TOKENS = 70
"""Tokens of a member that reads one note."""

_WEATHER = (
    "On this day nothing else was seen from the tower but rain, gulls, a few sails, and the grey sea below, "
    "and in the evening the wind went down again."
)
_LITTLE_ELSE = "Nothing else was seen from the old tower on that day but rain, gulls, and the grey sea below."


def notes(count: int, told: Mapping[int, str] | None = None) -> str:
    """``count`` paragraphs of some forty tokens, numbered from 1; what a note is ``told`` stands in it."""
    said = {n: f"{text} {_LITTLE_ELSE}" for n, text in (told or {}).items()}
    return "\n\n".join(f"Note {n}: {said.get(n, _WEATHER)}" for n in range(1, count + 1))


class Asked(Prompt):
    """A prompt of the reader, taken apart."""

    @property
    def user(self) -> str:
        """The last message: in the leader's conversation that of this round."""
        return self.messages[-1]["content"]

    @property
    def numbers(self) -> tuple[int, ...]:
        """The notes in the passage, in its order: one for a member, two for a merge."""
        return tuple(map(int, re.findall(r"^\[[\d.]+\] Note (\d+):", self.data, re.MULTILINE)))

    @property
    def replies(self) -> list[str]:
        """What the members said, as the leader is shown it, less the sentences that say so."""
        return [re.sub(r"(?: \[[\d., ]+\])?(?: — “.*)?$", "", line) for line in self.section("Replies").splitlines()]

    @property
    def size(self) -> int:
        return cost(self.messages)


Rule = Callable[[Asked], "str | Fault"]


class Script(Model[Asked]):
    """A team by rules: ``leader`` has its replies in order, or one rule; ``member`` makes those of members.

    ``groups`` makes the leader's grouping: by default all replies contradict each other.
    Members are told apart by what they read, not by their turn.
    """

    def __init__(self, leader: Sequence[str | Fault] | Rule, member: Rule, groups: Rule | None = None) -> None:
        super().__init__(prompt=Asked)
        self.groups = groups or (lambda prompt: related(conflicting=range(1, len(prompt.replies) + 1)))
        self.leader = leader
        self.member = member

    def place(self, prompt: Asked) -> int:
        """All prompts but the members' are the leader's; those that group are asked of ``groups``."""
        return sum(kind not in ("member", "joint", "group") for kind in self.kinds)

    def reply(self, prompt: Asked, place: int) -> str | Fault:
        """See ``Model.reply``."""
        if prompt.kind in ("member", "joint"):
            return self.member(prompt)
        if prompt.kind == "group":
            return self.groups(prompt)
        return self.leader(prompt) if callable(self.leader) else self.leader[place]

    def merges(self) -> list[tuple[int, ...]]:
        """Whose notes were read together, in the order in which they came; those at the same time sorted."""
        return [each.numbers for each in self.of("member", "joint") if len(each.numbers) > 1]


def instructs(text: str) -> str:
    return json.dumps({"type": "instruction", "content": text})


def answers(text: str) -> str:
    """The leader's answer, whichever form is asked for."""
    return json.dumps({"type": "answer", "content": text, "answer": text, "sufficient": bool(text)})


def responds(text: str, prompt: Asked | None = None) -> str:
    """A member's reply, with the sentences of ``prompt`` that have its words."""
    shown = prompt.sentences if prompt else {}
    named = [number for number, sentence in shown.items() if text and text in sentence]
    said = {"reasoning": "The note {says} this.", "mentioned": bool(text), "content": text, "sentences": named}
    return json.dumps(said)


def related(**groups: Iterable[int]) -> str:
    """Members by their relation: same, complementary or conflicting."""
    said = [{"members": list(members), "relation": relation} for relation, members in groups.items()]
    return json.dumps({"reasoning": "", "groups": said})


def by_note(said: Mapping[tuple[int, ...], str]) -> Rule:
    """A member's reply by the numbers of the notes that it reads, in their order; others find nothing."""
    return lambda prompt: responds(said.get(prompt.numbers, ""), prompt)


def fill(store: Store, folder: Path, texts: Mapping[str, str], passage_tokens: int = 400) -> None:
    """An empty graph, filled with ``texts`` by file name."""
    ingest(store, folder, dict(texts), passage_tokens)


@contextmanager
def graph_with(store: Store, script: Script, home: Path, **settings: Any) -> Iterator[KnowledgeGraph]:
    """The graph that is there, with ``script`` behind a server as its language model."""
    with OpenAIServer(script) as server:
        chosen = load_settings(home=home, embedder="hash:64", openai_base_url=server.base_url, **settings)
        yield KnowledgeGraph(store, chosen, embedder=HashEmbedder(64))


def ask(store: Store, script: Script, home: Path, question: str, **options: Any) -> Answer:
    """The team's answer; a note a member, unless ``options`` say otherwise."""
    with graph_with(store, script, home) as graph:
        return graph.ask(question, "longagent", **{"member_tokens": NOTE_TOKENS, **options})


def actions(answer: Answer) -> list[str]:
    """What the leader did, in the paper's words: QUERY, CONFLICT, ANSWER."""
    named = ("instruction", "decision", "conflict", "forced answer")
    return [each.detail.partition(" ")[0].rstrip(":") for each in answer.trace if each.name in named]
