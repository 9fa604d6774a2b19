"""LongAgent's leader: it instructs the members, decides what follows from their replies, and answers (section 2.2).

    leader = Leader("Which team does the most valuable player play for?", options, calls)
    instruction = leader.instruct(members=43)
    shown = leader.shown(["Buddy Hield"], instruction)
    leader.decide(Round(1, instruction, shown))                  # an Envelope: an answer, or the next instruction

The dialogue of all rounds stays in its prompts, less the oldest rounds where the window needs it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from kgplatform.errors import InputError, ModelError
from kgplatform.models.chat import ANY_OBJECT
from kgplatform.prompt import Messages, render
from kgplatform.readers.answer import LARGEST_FENCE, NONE, fence_for
from kgplatform.readers.longagent.envelope import Envelope, Unusable, ask_envelope, reminder_tokens
from kgplatform.readers.longagent.options import Options, sizes_of
from kgplatform.readers.longagent.team import EXPERTS, Expert, find_expert, listed_experts
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Window, cost, head, pack, tokens
from kgplatform.text import tidy

STAGE = "leader"
_EXPERT = "longagent/expert"
_INSTRUCT = "longagent/instruct"
_DECIDE = "longagent/decide"
_BATCH = "longagent/batch"
_END = "longagent/end"
_Piece = tuple[int, int, str]
"""A line of replies: the numbers of the first and the last member that it speaks for, and what they say."""

_ACTIONS = ("answer", "instruction", "conflict")
_UNUSABLE = "The leader's reply could not be used"
_LONGEST_STATUS = "No member found " * 20
"""As many tokens as a status has at most, to measure a prompt with."""

_LEAST_PART = 8
"""Of the window, the part that members' replies must have room in."""

_LABEL = 12
"""Tokens of ``Members 1,000-2,000: `` and a line end."""

_SHORTEST_SUM = 30
_WORDS_PER_TOKEN = 0.6


@dataclass(frozen=True, slots=True)
class Round:
    """A round as the leader sees it: its instruction and the replies, a line for each answer that is left.

    ``status``: a sentence about the replies, where there is something to say.
    """

    number: int
    instruction: str
    shown: str
    status: str = ""


@dataclass
class Leader:
    """The leader of one run. What it does is added to ``calls`` as steps."""

    objective: str
    options: Options
    calls: Calls
    expert: Expert = EXPERTS["qa"]
    history: list[Messages] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.sizes = sizes_of(self.options)
        if self.options.task != "auto":
            self.expert = EXPERTS[self.options.task]
        lacking = self.sizes.prompt // _LEAST_PART - self._room(_DECIDE)
        Window(self.options.window_tokens).check_question(self.objective, lacking)
        if lacking > 0:
            raise InputError(
                f"A window of {self.options.window_tokens:,} tokens has no room for the leader of a team. "
                "Raise window_tokens.",
                "window_tokens",
            )

    def recruit(self) -> None:
        """The kind of members that fits the objective (A, section 2.1). One that is not there is a QA member."""
        mark = self.calls.mark()
        messages = render(_EXPERT, experts=listed_experts(), objective=self.objective, fence=fence_for(self.objective))
        said = self._ask(messages, ("member",))
        wanted = said.content if isinstance(said, Envelope) else said.plain
        found = find_expert(wanted)
        if found is None and isinstance(said, Envelope):
            self.calls.counts["malformed.unknown expert"] += 1
        self.expert = found or EXPERTS["qa"]
        detail = self.expert.name if found else f"{self.expert.name}, since the reply names none"
        self.calls.add("expert", detail, mark, prompt=_EXPERT)

    def instruct(self, members: int) -> str:
        """The first instruction. Where no reply can be used it is the objective, as it is for a simple question."""
        mark = self.calls.mark()
        inputs = {"members": f"{members:,}", "task": self.expert.work, "objective": self.objective}
        messages = render(_INSTRUCT, fence=fence_for(self.objective), **inputs)
        said = self._ask(messages, ("instruction",))
        instruction = self._instruction(said.content if isinstance(said, Envelope) else self.objective)
        self._remember(messages, Envelope("instruction", instruction))
        unusable = "" if isinstance(said, Envelope) else " (the question itself: no reply could be used)"
        self.calls.add("instruction", f"QUERY: {instruction}{unusable}", mark, prompt=_INSTRUCT)
        return instruction

    def decide(self, seen: Round, *, settled: bool = False) -> Envelope | None:
        """What follows from a round: an answer, an instruction or a conflict; None where no reply can be used.

        In the last round text without JSON is an answer. ``settled``: conflicts were resolved, and none can be raised.
        """
        wanted = ("answer", "instruction") if settled else _ACTIONS
        messages = self._messages(_DECIDE, seen, round=str(seen.number), rounds=str(self.options.rounds))
        mark = self.calls.mark()
        said = self._ask([messages[0], *self._kept(messages), messages[1]], wanted)
        if isinstance(said, Unusable) and said.plain and seen.number == self.options.rounds:
            said = Envelope("answer", said.plain)
        if isinstance(said, Unusable):
            self.calls.add("decision", f"{_UNUSABLE}: {said.fault}", mark, prompt=_DECIDE)
            return None
        if said.type == "instruction":
            said = Envelope("instruction", self._instruction(said.content))
            if seen.number < self.options.rounds:  # else no member is asked it: the end sees the same replies again
                self._remember(messages, said)
        action = {"instruction": "QUERY", "answer": "ANSWER", "conflict": "CONFLICT"}[said.type]
        self.calls.add("decision", f"{action}: {said.content}", mark, prompt=_DECIDE)
        return said

    def end(self, seen: Round) -> str:
        """The answer after the last round, from all that was said. Raises ``ModelError`` where there is none."""
        messages = self._messages(_END, seen)
        mark = self.calls.mark()
        said = self._ask([messages[0], *self._kept(messages), messages[1]], ("answer",))
        answer = said.content if isinstance(said, Envelope) else said.plain
        self.calls.counts["forced answer"] += 1
        self.calls.add("forced answer", f"ANSWER: {answer}" if answer else _UNUSABLE, mark, prompt=_END)
        if not answer:
            raise ModelError(
                "The leader of the team gave no answer, although it was asked three times for one and nothing else. "
                "A larger model (KGPLATFORM_CHAT_MODEL) may do better."
            )
        return answer

    def shown(self, replies: Sequence[str], instruction: str) -> str:
        """The replies as one prompt holds them, numbered from 1; summed up page by page where they are too many."""
        bound = self.sizes.shown
        pieces = [(number, number, self._cut(text, bound, "replies")) for number, text in enumerate(replies, 1)]
        while len(pieces) > 1 and sum(tokens(_line(piece)) + 1 for piece in pieces) > self._room(_DECIDE):
            pieces = self._summed(pieces, instruction)
        return "\n".join(map(_line, pieces)) or NONE

    def _summed(self, pieces: Sequence[_Piece], instruction: str) -> list[_Piece]:
        """A piece for each page of ``pieces``; one whose sum cannot be used is its own beginning."""
        pages = pack([_line(piece) for piece in pieces], self._room(_BATCH))
        bound = max(_SHORTEST_SUM, self._room(_DECIDE) // len(pages) - _LABEL)
        sums: list[_Piece] = []
        for number, page in enumerate(pages, 1):
            lines = "\n".join(_line(pieces[each]) for each in page)
            text = self._sum(lines, instruction, f"{number} of {len(pages)}", bound)
            sums.append((pieces[page[0]][0], pieces[page[-1]][1], text))
        return sums

    def _sum(self, lines: str, instruction: str, page: str, bound: int) -> str:
        mark = self.calls.mark()
        messages = self._rendered(_BATCH, instruction, lines, page=page, words=str(int(bound * _WORDS_PER_TOKEN)))
        said = self._ask(messages, ("response",))
        text = tidy(said.content if isinstance(said, Envelope) else said.plain or lines)
        self.calls.counts["pages of replies"] += 1
        detail = f"page {page}" if isinstance(said, Envelope) else f"page {page}; {_UNUSABLE}: {said.fault}"
        self.calls.add("replies", detail, mark, prompt=_BATCH)
        return self._cut(text, bound, "replies")

    def _ask(self, messages: Messages, wanted: Sequence[str]) -> Envelope | Unusable:
        return ask_envelope(self.calls, messages, wanted, stage=STAGE, form=ANY_OBJECT)

    def _messages(self, prompt: str, seen: Round, **inputs: str) -> Messages:
        return self._rendered(prompt, seen.instruction, seen.shown, status=seen.status, **inputs)

    def _rendered(self, prompt: str, instruction: str, replies: str, fence: str = "", **inputs: str) -> Messages:
        return render(
            prompt,
            instruction=instruction,
            replies=replies,
            objective=self.objective,
            task=self.expert.work,
            fence=fence or fence_for(instruction, replies, self.objective),
            **inputs,
        )

    def _room(self, prompt: str) -> int:
        """Tokens of replies in a prompt, next to the longest instruction and status that there may be."""
        inputs = {"page": "10 of 10", "words": "100"} if prompt == _BATCH else {"status": _LONGEST_STATUS}
        inputs |= {"round": "10", "rounds": "10"} if prompt == _DECIDE else {}
        empty = self._rendered(prompt, "", "", LARGEST_FENCE, **inputs)
        return self.sizes.prompt - cost(empty) - self.sizes.instruction - reminder_tokens(_ACTIONS)

    def _kept(self, messages: Messages) -> Messages:
        """The earlier turns; the oldest are forgotten where the prompt would leave the window, and counted."""
        left = self.sizes.prompt - cost(messages) - reminder_tokens(_ACTIONS)
        while self.history and sum(map(cost, self.history)) > left:
            del self.history[0]
            self.calls.counts["cut.rounds"] += 1
        return [message for turn in self.history for message in turn]

    def _remember(self, messages: Messages, said: Envelope) -> None:
        reply = json.dumps({"type": said.type, "content": said.content}, ensure_ascii=False)
        self.history.append([messages[-1], {"role": "assistant", "content": reply}])

    def _instruction(self, text: str) -> str:
        return self._cut(tidy(text), self.sizes.instruction, "instruction")

    def _cut(self, text: str, bound: int, what: str) -> str:
        """``text``, or its beginning, at a sentence's end where it can be; counted."""
        end = head(text, bound)
        if end < len(text):
            self.calls.counts[f"cut.{what}"] += 1
        return text[:end].strip()


def _line(piece: _Piece) -> str:
    first, last, text = piece
    return f"Member {first}: {text}" if first == last else f"Members {first}-{last}: {text}"
