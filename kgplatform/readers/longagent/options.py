"""The options of the reader ``longagent``, how they divide the window, and the forms of its replies: the paper's type
and content, with the numbers of the sentences that say so."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from pydantic import field_validator, model_validator

from kgplatform.errors import InputError
from kgplatform.models.forms import Form, items, text
from kgplatform.prompt import LARGEST_FENCE, render
from kgplatform.readers.answer import AnswerReply
from kgplatform.readers.grounding import without_numbers
from kgplatform.readers.reader import AnswerOptions, Preset, documents_option, option, preset_option, window_option
from kgplatform.readers.window import Window, cost

Way = Literal["group", "once", "off"]
"""What is done with answers that differ."""
TaskKind = Literal["qa", "kv", "number", "passkey", "math", "auto"]
MEMBER_PROMPT = "longagent/member"
JOINT_PROMPT = "longagent/joint"
AGAIN = 120
"""Tokens that asking again adds to a prompt, at most."""
_PAPER_WINDOW = 4096
_PAPER_TEXT = 1024
_LEAST_TEXT = 50  # tokens of a member's text, at least
_LARGEST_TEXT = 8192
"""Tokens of a member's text that nobody set: in longer ones models overlook what stands in the middle."""
_INSTRUCTION_PART = 10
_REPLY_PART = 7
_SHOWN_PART = 16
_CLAIM_PART = 100
_LONGEST_REPLY = 1024
"""Tokens that a reply is left room for, less in a small window: 512 in one of 4,096, as in the paper's experiments."""
_LONGEST_INSTRUCTION = 1024
_LONGEST_SHOWN = 512
_JOINT = 12
_RETRIEVED = re.compile(r"retrieved:([1-9]\d{0,5})")


@dataclass(frozen=True, slots=True)
class Options(AnswerOptions):
    """How the reader works. ``documents``: ids of those to read, by default all. ``seed`` chooses who speaks for those
    that agree."""

    documents: tuple[str, ...] = documents_option()
    members: str = option(
        "all", "what the team reads: all text, or retrieved:K, the K best passages of a search", example="retrieved:500"
    )
    member_tokens: int | None = option(
        None,
        "maximum tokens of a member's text; two texts must fit into the window; by default what fits, at most "
        f"{_LARGEST_TEXT:,}",
        least=_LEAST_TEXT,
        example="1024",
    )
    member_model: str | None = option(
        None, "model for the members, on the same server; by default the leader's", example="gpt-4.1-nano"
    )
    rounds: int = option(5, "maximum rounds of questions", least=1)
    task: TaskKind = option("qa", "the team's task; auto lets the leader choose")
    conflict: Way = option(
        "group",
        "what to do with differing answers: the leader groups them by meaning and tests those that contradict each "
        "other (group); tests every two of them, as in the paper (once); or sees them all (off)",
    )
    seed: int = option(0, "random seed for choosing one member of those that agree")
    window_tokens: int | None = window_option()
    preset: Preset = preset_option()

    def __post_init__(self) -> None:
        AnswerOptions.__post_init__(self)
        if self.members != "all" and not _RETRIEVED.fullmatch(self.members):
            raise InputError(
                f"members={self.members} cannot be used: it must be all, or retrieved:K with K from 1, as "
                "retrieved:500.",
                "members",
            )
        if self.retrieved and self.documents:
            raise InputError(
                "Who is retrieved is chosen from all documents: leave out documents, or members.",
                "documents",
                "members",
            )

    @property
    def retrieved(self) -> int:
        """How many passages are retrieved; 0 where everything is read."""
        found = _RETRIEVED.fullmatch(self.members)
        return int(found[1]) if found else 0


@dataclass(frozen=True, slots=True)
class Sizes:
    """Tokens: of the window, of a prompt in all, of an instruction, of a reply, of a member's answer as the leader is
    shown it, of an answer or quote as two members are, and of a member's text."""

    window: int
    prompt: int
    instruction: int
    reply: int
    shown: int
    claim: int
    text: int


def sizes_of(options: Options, context: int) -> Sizes:
    """The window divided; ``context``: tokens of the model's. Raises ``InputError`` where two texts do not fit."""
    is_paper = options.preset == "paper"
    window = options.window_tokens or (_PAPER_WINDOW if is_paper else context)
    limit = Window(window).limit
    reply = min(_LONGEST_REPLY, limit // _REPLY_PART)
    instruction = min(_LONGEST_INSTRUCTION, limit // _INSTRUCTION_PART)
    claim, prompt = min(_LONGEST_SHOWN, limit // _CLAIM_PART), Window(window, reply).limit
    texts, rules = (1, MEMBER_PROMPT) if options.conflict == "off" else (2, JOINT_PROMPT)
    tags = {"fence": LARGEST_FENCE, "asked": LARGEST_FENCE, **({"claims": ""} if texts == 2 else {})}
    empty = render(rules, instruction="", passage="", **tags)
    claims = 4 * claim if rules == JOINT_PROMPT and options.conflict == "group" else 0
    largest = (prompt - cost(empty) - AGAIN - instruction - claims - _JOINT) // texts
    if largest < _LEAST_TEXT:
        said = f"A window of {window:,} tokens has no room for members' texts. Raise window_tokens."
        raise InputError(said, "window_tokens")
    text = options.member_tokens or min(largest, _PAPER_TEXT if is_paper else _LARGEST_TEXT)
    if text > largest:
        raise InputError(
            f"member_tokens must be from {_LEAST_TEXT} to {largest:,} with a window of {window:,} tokens"
            f"{', since a conflict puts the texts of two members into one prompt' if texts == 2 else ''}. "
            "Stay within that, or raise window_tokens.",
            "member_tokens",
            "window_tokens",
        )
    return Sizes(window, prompt, instruction, reply, min(_LONGEST_SHOWN, limit // _SHOWN_PART), claim, text)


class Chosen(Form):
    """The kind of members, by its name."""

    content: str


class Instructed(Form):
    """The first instruction. ``collect``: the members' replies are to be put together, since each has a part of a list
    or of a count."""

    reasoning: str = text(300)
    content: str
    collect: bool = False


class Decided(Form):
    """What follows from a round. Raises ``ValueError`` where there is no content, unless an answer is none.

    ``sufficient``: of an answer, whether the replies give it.
    """

    reasoning: str = text(300)
    type: Literal["answer", "instruction", "conflict"]
    content: str = text(6000)
    collect: bool = False
    sufficient: bool = True

    @field_validator("type", mode="before")
    @classmethod
    def _in_the_papers_words(cls, value: object) -> object:
        said = str(value).replace(" ", "_").casefold()
        return "instruction" if said in ("query", "new_state") else said

    @field_validator("content", mode="before")
    @classmethod
    def _of_a_list(cls, value: object) -> object:
        return ", ".join(map(str, value)) if isinstance(value, list) else value

    @model_validator(mode="after")
    def _says_something(self) -> Decided:
        if not without_numbers(self.content) and (self.type != "answer" or self.sufficient):
            raise ValueError('write the "content", or set "sufficient" to false')
        return self

    @property
    def numbers(self) -> tuple[int, ...]:
        """Those in the content, which name members where the type is a conflict."""
        return tuple(map(int, re.findall(r"\d+", self.content)))

    @property
    def reply(self) -> AnswerReply:
        """An answer as every reader reads it."""
        return AnswerReply(answer=self.content, sufficient=self.sufficient)


class Settled(Decided):
    """What follows from a round whose conflicts were resolved."""

    type: Literal["answer", "instruction"]


class Responded(Form):
    """What a member says. ``mentioned``: whether its part has what is asked for; ``sentences``: the numbers of those
    that say so."""

    reasoning: str = text(300)
    mentioned: bool = True
    content: str = text(1500)
    sentences: list[str] = items(12)

    @property
    def answer(self) -> str:
        """The content; empty where its part does not mention it."""
        return self.content.strip() if self.mentioned else ""


class Summed(Form):
    """The sum of some replies."""

    content: str = text(4000)


Relation = Literal["same", "complementary", "conflicting"]


class Group(Form):
    """Replies by number, and how they stand to each other."""

    members: list[int]
    relation: Relation


class Grouped(Form):
    """How replies stand to each other; one that is in no group stands by itself."""

    reasoning: str = text(300)
    groups: list[Group] = items(30)


@dataclass(frozen=True, slots=True)
class Expert:
    """A kind of member. ``good_at`` is what the leader chooses by, ``work`` tells it what the team is to do.

    ``resolves``: members with different answers contradict each other, since one part has the answer. Where an answer
    is made from the values of all parts, different values are no conflict (appendix B.4.1).
    """

    name: str
    good_at: str
    work: str
    resolves: bool = True


EXPERTS: dict[str, Expert] = {
    "qa": Expert(
        "QA member",
        "answers questions",
        "Answer the question from the passages. The answer must be taken from the passages.",
    ),
    "kv": Expert(
        "KV member", "finds the value of a key in a dictionary", "Find the value that belongs to a key in a dictionary."
    ),
    "number": Expert(
        "NS member",
        "finds repeated numbers that are hidden in a long text of noise",
        "Find the number that is hidden, and repeated, in a long text of noise.",
    ),
    "passkey": Expert(
        "PassKey member",
        "finds keys that are hidden in a long text of noise",
        "Find the pass key that is hidden in a long text of noise.",
    ),
    "math": Expert(
        "Math member",
        "finds special integers in a long list",
        "Find special numbers in a long list of numbers.",
        resolves=False,
    ),
}
