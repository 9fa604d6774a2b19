"""What every prompt of a GraphReader run shares, and what each may hold so that none leaves the window.

The window is divided once: a plan, a notebook and the list of previous actions have their largest size, the question
must leave room for them, and a quarter at least is left for what is read. So the notebook of every path fits into
every prompt, and all notebooks fit into the last one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from kgplatform.errors import InputError
from kgplatform.prompt import Messages, render, with_reminder
from kgplatform.readers.answer import LARGEST_FENCE, NONE, REFUSAL, fence_for
from kgplatform.readers.graphreader.actions import FUNCTIONS, Stage
from kgplatform.readers.graphreader.options import Options
from kgplatform.readers.reader import AnswerMode
from kgplatform.readers.window import NAME_TOKENS, Window, cost, head, tokens

EMPTY = "(empty)"
PROMPTS: dict[Stage, str] = {
    "facts": "graphreader/facts",
    "chunk": "graphreader/chunk",
    "neighbours": "graphreader/neighbours",
}
OWN_KNOWLEDGE_MARK = "Own knowledge:"
INSUFFICIENT: dict[AnswerMode, str] = {
    "reject": f"If the notebooks do not say it, the final answer is this sentence and nothing else: {REFUSAL}",
    "open": "If the notebooks do not say it, answer from your own knowledge, without any mark; the final answer then "
    f'begins with "{OWN_KNOWLEDGE_MARK}".',
}
LEAST_PROPOSED = 10
"""Nodes that the model is asked to propose (figure 8)."""

_PLAN_PART = 8
_ACTIONS_PART = 8
_NOTEBOOK_PART = 5
_DATA_PART = 4
_RESERVE = 150
"""Tokens for a reminder, and for the names of page, passage and tags."""

_SHORTEST_NOTEBOOK = 60
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

    def plan_messages(self) -> Messages:
        """Asks for the rational plan."""
        return render("graphreader/plan", question=self.question, fence=fence_for(self.question))

    def with_plan(self, plan: str) -> Brief:
        """With ``plan``, cut at a sentence's end where it is too long."""
        return replace(self, plan=plan[: head(plan, self.window.limit // _PLAN_PART)].strip())

    def nodes_messages(self, names: str, *, fence: str = "") -> Messages:
        """Asks for initial nodes among ``names``, one a line."""
        inputs = {"question": self.question, "plan": self.plan or NONE, "fence": fence or fence_for(names)}
        return render("graphreader/nodes", least=str(max(LEAST_PROPOSED, self.options.nodes)), nodes=names, **inputs)

    def nodes_room(self) -> int:
        """Tokens of names in one prompt."""
        return self.window.room(self.nodes_messages("", fence=LARGEST_FENCE)) - _RESERVE

    def step_messages(
        self, stage: Stage, node: str, data: str, actions: str, notebook: str, *, page: str = "", fence: str = ""
    ) -> Messages:
        """Asks what to do with ``data``: facts of ``node``, a passage's text or the names of neighbours."""
        inputs = {"words": str(self.words)} if stage != "neighbours" else {}
        return render(
            PROMPTS[stage],
            question=self.question,
            plan=self.plan or NONE,
            fence=fence or fence_for(actions, notebook, node, data),
            actions=actions,
            notebook=notebook or EMPTY,
            node=node,
            page=page,
            data=data,
            **inputs,
        )

    def step_room(self, stage: Stage, node: str, actions: str) -> int:
        """Tokens of data in one prompt of ``stage``, whatever the notebook becomes."""
        without = self.step_messages(stage, node, "", actions, "", fence=LARGEST_FENCE)
        return self.window.room(without) - self.notebook - _RESERVE

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
        inputs = {"question": self.question, "insufficient": INSUFFICIENT[self.options.mode]}
        return render("graphreader/answer", fence=fence_for(shown), notebooks=shown, **inputs)

    @property
    def words(self) -> int:
        """The size of a notebook, as the prompts say it."""
        return max(20, int(self.notebook * _WORDS_PER_TOKEN) // 10 * 10)


def make_brief(question: str, options: Options) -> Brief:
    """The window divided. Raises ``InputError`` where the question, or the number of paths, leaves no room in it."""
    brief = Brief(question, options, Window(options.window_tokens), 0)
    limit = brief.window.limit
    templates = max(cost(brief.step_messages(stage, "", "", "", "")) for stage in FUNCTIONS)
    bounds = limit // _PLAN_PART + limit // _ACTIONS_PART + limit // _DATA_PART + NAME_TOKENS + _RESERVE
    spare = brief.window.room(brief.answer_messages([""] * options.nodes)) - _RESERVE
    notebook = min(limit // _NOTEBOOK_PART, spare // options.nodes - _HEADING, limit - templates - bounds)
    lacking = _SHORTEST_NOTEBOOK - (limit - templates - bounds)
    brief.window.check_question(question, lacking)
    if notebook < _SHORTEST_NOTEBOOK:
        raise InputError(
            f"A window of {options.window_tokens:,} tokens has no room for this question with nodes={options.nodes}. "
            "Raise window_tokens, or start from fewer.",
            "window_tokens",
            "nodes",
        )
    return replace(brief, notebook=notebook)


def reminded(messages: Messages, fault: str, forms: str) -> Messages:
    """The same prompt with a reminder of the form at its end: the faulty reply would not fit into the window."""
    reminder = render("graphreader/again", fault=fault, forms=forms)[1]["content"]
    return with_reminder(messages, f"\n\n{reminder}")
