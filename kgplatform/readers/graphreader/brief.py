"""The options of ``graphreader``, what every prompt of a run shares and may hold so that none leaves the window, and
the replies by which the model acts (GraphReader, figures 9 to 11).

The window is divided once: the reply, a plan, a notebook and the list of previous actions have their largest size, the
question must leave room for them, and a sixth at least is left for what is read. So the notebook of every path fits
into every prompt and every reply, and all notebooks fit into the last one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Literal

from pydantic import BeforeValidator, WithJsonSchema

from kgplatform.errors import InputError
from kgplatform.models.forms import Form, text
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render
from kgplatform.readers.answer import NONE, cited_manner
from kgplatform.readers.reader import AnswerOptions, Preset, option, preset_option, window_option
from kgplatform.readers.window import NAME_TOKENS, Window, cost, tokens
from kgplatform.text import normalise_name

PAPER_WINDOW = 4096
"""Tokens of a prompt (section 4.1)."""


@dataclass(frozen=True, slots=True)
class Options(AnswerOptions):
    """How the reader works: each of ``nodes`` starts a path of its own."""

    preset: Preset = preset_option()
    nodes: int = option(5, "number of start nodes; each starts its own path", least=1)
    candidates: int = option(
        60,
        "number of candidates for the start nodes, those nearest to the question and the plan by name and by meaning; "
        "with preset=paper all nodes",
        least=1,
    )
    plan: bool = option(True, "the rational plan")
    random_nodes: int | None = option(
        None,
        "random seed: draws start nodes and neighbours at random instead of asking the model (table 4 of the paper)",
        example="7",
    )
    calls: int = option(10, "maximum function calls per path", least=1)
    window_tokens: int | None = window_option()
    reading_tokens: int = option(
        600, "amount of text to read at once: a passage with those before and after it in its document", least=1
    )
    list_pages: int = option(
        1,
        "maximum prompts for the facts or the neighbours of one node, those nearest to the question first; with "
        "preset=paper as many as needed",
        least=1,
    )
    passages: int = option(200, "maximum passages per node whose facts are shown", least=1)
    neighbours: int = option(1000, "maximum neighbours shown per node", least=1)

    @property
    def is_paper(self) -> bool:
        """Whether all names and all pages are shown, in prompts of the paper's size."""
        return self.preset == "paper"


Stage = Literal["facts", "chunk", "neighbours"]
FALLBACK: dict[Stage, str] = {"facts": "stop_and_read_neighbor", "chunk": "search_more", "neighbours": "termination"}
"""What is done where a model's reply cannot be used, nor the next one."""
_THOUGHTS = 300  # characters
_Numbers = Annotated[list[str], WithJsonSchema({"type": "array", "items": {"type": "integer"}, "maxItems": 20})]
_SENTENCE = {"type": "string", "pattern": r"^[0-9]+\.[0-9]+$"}


class _Note(Form):
    note: str = text(200)
    sentence: Annotated[str, WithJsonSchema(_SENTENCE)] = ""


def _noted(said: object) -> object:
    """The notebook as one text, a note a line with its number behind it."""
    lines = []
    for each in said if isinstance(said, list) else [said]:
        noted = _Note.model_validate(each) if isinstance(each, dict) else _Note(note=str(each))
        lines.append(f"{noted.note} [{noted.sentence}]" if noted.sentence else noted.note)
    return "\n".join(lines)


_Notebook = Annotated[
    str, BeforeValidator(_noted), WithJsonSchema({"type": "array", "items": _Note.model_json_schema(), "maxItems": 20})
]
"""The form that the server is asked for gives each note the number of a sentence. Prompts show no example: a model of
1.5 billion parameters noted it as if it had read it (docs/explanation/benchmarks/answers.md)."""


class _Facts(Form):
    reasoning: str = text(_THOUGHTS)
    notebook: _Notebook = ""
    action: Literal["read_chunk", "stop_and_read_neighbor"]
    chunks: _Numbers = []


class _Chunk(Form):
    reasoning: str = text(_THOUGHTS)
    notebook: _Notebook = ""
    action: Literal["search_more", "read_previous_chunk", "read_subsequent_chunk", "termination"]


class _Neighbours(Form):
    reasoning: str = text(_THOUGHTS)
    action: Literal["read_neighbor_node", "termination"]
    node: str = text(200)


FORMS: dict[Stage, type[Form]] = {"facts": _Facts, "chunk": _Chunk, "neighbours": _Neighbours}


@dataclass(frozen=True, slots=True)
class Done:
    """A function call: the ``action``, the new ``notebook``, empty where it stays, and what the action is about:
    the numbers of ``passages``, or a ``node``."""

    action: str
    notebook: str = ""
    passages: tuple[int, ...] = ()
    node: str = ""


def same_name(words: str, names: Collection[str]) -> str | None:
    """``words`` if they are one of ``names``, else the first of them that is the same name normalised."""
    if words in names:
        return words
    wanted = normalise_name(words)
    return next((name for name in names if normalise_name(name) == wanted), None) if wanted else None


EMPTY = "(empty)"
PROMPTS: dict[Stage, str] = {
    "facts": "graphreader/facts",
    "chunk": "graphreader/chunk",
    "neighbours": "graphreader/neighbours",
}
LEAST_PROPOSED = 10
"""Nodes that the model is asked to propose (figure 8)."""
_PLAN_PART = 8
_ACTIONS_PART = 10
_NOTEBOOK_PART = 10
_DATA_PART = 6
RESERVE = 150
"""Tokens for a reminder, and for the names of page, passage and tags."""
_LONGEST_NOTEBOOK = 500
_SHORTEST_NOTEBOOK = 60
_BESIDE_PART = 16
_MOST_BESIDE = 500  # tokens of a reply beside its notebook: its thoughts, and what it chose
_LONGEST_PLAN = 200
_SHORTEST_LIST = 200
_HEADING = 8
_WORDS_PER_TOKEN = 0.6


@dataclass(frozen=True, slots=True)
class Brief:
    """The question, the plan, and the sizes of everything in tokens."""

    question: str
    options: Options
    window: Window
    notebook: int
    plan: str = ""

    def nodes_messages(self, names: str, *, fence: str = "") -> Messages:
        """Asks for initial nodes among ``names``, one a line."""
        inputs = {"question": self.question, "plan": self.plan or NONE, "fence": fence or fence_for(names)}
        return render("graphreader/nodes", least=str(max(LEAST_PROPOSED, self.options.nodes)), nodes=names, **inputs)

    def step_messages(
        self, stage: Stage, node: str, data: str, actions: str, notebook: str, *, page: str = "", fence: str = ""
    ) -> Messages:
        """Asks what to do with ``data``: facts of ``node``, numbered passages, or the names of neighbours."""
        words = max(20, int(self.notebook * _WORDS_PER_TOKEN) // 10 * 10)  # the size of a notebook
        inputs = {"words": str(words)} if stage != "neighbours" else {}
        inputs |= {"node": node, "page": page} if stage != "chunk" else {}
        # The same tags in all steps, so that their prompts begin alike; others where the texts have their name.
        usual, texts = fence_for(self.question, self.plan), (actions, notebook, node, data)
        tags = fence_for(*texts) if any(usual in text for text in texts) else usual
        return render(
            PROMPTS[stage],
            question=self.question,
            plan=self.plan or NONE,
            fence=fence or tags,
            actions=actions,
            notebook=notebook or EMPTY,
            data=data,
            **inputs,
        )

    def step_room(self, stage: Stage, node: str, actions: str) -> int:
        """Tokens of data in one prompt of ``stage``, whatever the notebook becomes. Lists of facts and names have a
        third of what is read of a text at once: a hub does not fill a large window."""
        without = self.step_messages(stage, node, "", actions, "", fence=LARGEST_FENCE)
        room = self.window.room(without) - self.notebook - RESERVE
        is_whole = stage == "chunk" or self.options.is_paper
        return room if is_whole else min(room, max(_SHORTEST_LIST, self.options.reading_tokens // 3))

    def shown_actions(self, actions: Sequence[str]) -> str:
        """The previous actions, numbered, the newest as far as they fit; what is left out is said."""
        left = self.window.limit // _ACTIONS_PART - _HEADING
        first = len(actions)
        while first and (left := left - tokens(f"{first}. {actions[first - 1]}\n")) >= 0:
            first -= 1
        lines = [f"{number}. {each}" for number, each in enumerate(actions[first:], first + 1)]
        return "\n".join([*([f"({first} earlier ones)"] if first else []), *lines]) or NONE

    def answer_messages(self, notebooks: Sequence[str]) -> Messages:
        """Asks for the answer from all notebooks, numbered from 1; empty ones are listed too."""
        shown = "\n\n".join(f"Notebook {n}:\n{text or EMPTY}" for n, text in enumerate(notebooks, 1)) or NONE
        style, mode = self.options.answer_style, self.options.mode
        return render(
            "graphreader/answer",
            question=self.question,
            fence=fence_for(shown),
            notebooks=shown,
            **cited_manner(style, mode, example=False),
        )


def make_brief(question: str, options: Options, context: int) -> Brief:
    """The window divided, of ``context`` tokens where the options name none. Raises ``InputError`` where the question,
    or the number of paths, leaves no room in it."""
    size = options.window_tokens or (min(PAPER_WINDOW, context) if options.is_paper else context)
    largest = min(_LONGEST_NOTEBOOK, size // _NOTEBOOK_PART)
    reply = largest + min(_MOST_BESIDE, size // _BESIDE_PART)
    if options.is_paper and not options.window_tokens:  # the paper's window is that of a prompt alone
        size = min(context, size + reply)
    window = Window(size, reply=reply)
    brief = Brief(question, options, window, 0)
    limit = window.limit
    templates = max(cost(brief.step_messages(stage, "", "", "", "")) for stage in PROMPTS)
    bounds = plan_size(window) + limit // _ACTIONS_PART + limit // _DATA_PART + NAME_TOKENS + RESERVE
    spare = window.room(brief.answer_messages([""] * options.nodes)) - RESERVE
    room = limit - templates - bounds
    notebook = min(largest, spare // options.nodes - _HEADING, room)
    window.check(question, room, _SHORTEST_NOTEBOOK, "the steps of a walk")
    if notebook < _SHORTEST_NOTEBOOK:
        raise InputError(
            f"A window of {window.tokens:,} tokens has no room for this question with nodes={options.nodes}. "
            "Raise window_tokens, or start from fewer.",
            "window_tokens",
            "nodes",
        )
    return replace(brief, notebook=notebook)


def plan_size(window: Window) -> int:
    """The most tokens of a plan."""
    return min(_LONGEST_PLAN, window.limit // _PLAN_PART)
