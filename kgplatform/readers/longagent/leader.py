"""LongAgent's leader: it instructs the members, decides what follows from their replies, and answers (section 2.2).

    leader = Leader("Which team does the most valuable player play for?", options, calls, sizes, Numbering())
    instruction = leader.instruct(members=43)
    shown = leader.replies([Cluster("Buddy Hield", (7,), ("12.4",))], instruction)
    leader.decide(Round(1, instruction, shown))                  # Decided: an answer, or the next instruction

The dialogue of all rounds stays in its prompts, less the oldest rounds where the window needs it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from kgplatform.errors import ModelError, ReplyError
from kgplatform.models.reply import Show, ask
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render
from kgplatform.readers.answer import NONE, AnswerReply, manner
from kgplatform.readers.longagent.conflict import Cluster, Duel
from kgplatform.readers.longagent.options import (
    AGAIN,
    EXPERTS,
    Chosen,
    Decided,
    Expert,
    Group,
    Grouped,
    Instructed,
    Options,
    Settled,
    Sizes,
    Summed,
)
from kgplatform.readers.run import Calls
from kgplatform.readers.window import Numbering, Window, cost, head, pack, tokens
from kgplatform.text import normalise_name, tidy, type_key

STAGE = "leader"
_EXPERT = "longagent/expert"
_INSTRUCT = "longagent/instruct"
_DECIDE = "longagent/decide"
_BATCH = "longagent/batch"
_END = "longagent/end"
_GROUP = "longagent/group"
M = TypeVar("M", bound=BaseModel)
_Piece = tuple[int, int, str]
"""A line of replies: the numbers of the first and the last member that it speaks for, and what they say."""
_UNUSABLE = "The leader's reply could not be used"
_LONGEST_STATUS = "No member found " * 20  # as many tokens as a status has at most, to measure a prompt with
_LEAST_PART = 8  # of the window, the part that members' replies must have room in
_LABEL = 12  # tokens of ``Members 1,000-2,000: `` and a line end
_WAYS = {"ways": "two", "conflict": ""}
_CONFLICT = (
    '"conflict": two or more replies contradict each other, and their members are to read each other\'s parts. The '
    "content has the numbers of these replies."
)
_WAYS_AND_CONFLICT = {"ways": "three", "conflict": f"\n  - {_CONFLICT}"}
"""What the leader may decide, without a conflict and with it."""
_MARKS = 4  # sentences of an answer that the leader is shown
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
    """The leader of one run. What it does is added to ``calls`` as steps. ``shown``: what members were shown.

    ``collects``: its last instruction was for a list or a count, so that replies that differ do not contradict.
    """

    objective: str
    options: Options
    calls: Calls
    sizes: Sizes
    shown: Numbering
    expert: Expert = EXPERTS["qa"]
    collects: bool = False
    history: list[Messages] = field(default_factory=list)

    def __post_init__(self) -> None:
        if self.options.task != "auto":
            self.expert = EXPERTS[self.options.task]
        room, least = self._room(_DECIDE), self.sizes.prompt // _LEAST_PART
        Window(self.sizes.window).check(self.objective, room, least, "the leader of a team")

    def recruit(self) -> None:
        """The kind of members that fits the objective (A, section 2.1). One that is not there is a QA member."""
        mark = self.calls.mark()
        kinds = "\n".join(f"- {expert.name}: {expert.good_at}" for expert in EXPERTS.values())
        messages = render(_EXPERT, experts=kinds, objective=self.objective, fence=fence_for(self.objective))
        said = self._ask(messages, Chosen)
        known = {type_key(expert.name).removesuffix("member"): expert for expert in EXPERTS.values()}
        found = known.get(type_key(said.content).removesuffix("member")) if said else None
        if found is None and said:
            self.calls.counts["malformed.unknown expert"] += 1
        self.expert = found or EXPERTS["qa"]
        detail = self.expert.name if found else f"{self.expert.name}, since the reply names none"
        self.calls.add("expert", detail, mark, prompt=_EXPERT)

    def instruct(self, members: int) -> str:
        """The first instruction. Where no reply can be used it is the objective, as it is for a simple question."""
        mark = self.calls.mark()
        inputs = {"members": f"{members:,}", "task": self.expert.work, "objective": self.objective}
        messages = render(_INSTRUCT, fence=fence_for(self.objective), **inputs)
        said = self._ask(messages, Instructed)
        instruction = self._cut(tidy(said.content if said else self.objective), self.sizes.instruction, "instruction")
        self.collects = said.collect if said else False
        self._remember(messages[-1]["content"].partition("\n")[0], instruction)
        unusable = "" if said else " (the question itself: no reply could be used)"
        self.calls.add("instruction", f"QUERY: {instruction}{unusable}", mark, prompt=_INSTRUCT)
        return instruction

    def group(self, clusters: Sequence[Cluster], instruction: str) -> list[Group] | None:
        """How the answers stand to each other, numbered from 1; None where no reply can be used, or they do not fit."""
        empty = render(_GROUP, replies="", instruction="", fence=LARGEST_FENCE)
        room = self.sizes.prompt - cost(empty) - self.sizes.instruction - AGAIN
        replies = self._fitting(clusters, [self._said(each) for each in clusters], room)
        if not replies:
            self.calls.counts["not grouped"] += 1
            return None
        mark = self.calls.mark()
        fence = fence_for(replies, instruction)
        messages = render(_GROUP, replies=replies, instruction=instruction, fence=fence)
        said = self._ask(messages, Grouped)
        if said is None:
            self.calls.add("groups", _UNUSABLE, mark, prompt=_GROUP)
            return None
        detail = "; ".join(f"{', '.join(map(str, each.members))}: {each.relation}" for each in said.groups)
        self.calls.add("groups", detail or "each reply stands by itself", mark, prompt=_GROUP)
        return said.groups

    def decide(self, seen: Round, *, settled: bool = False) -> Decided | None:
        """What follows from a round: an answer, an instruction or a conflict; None where no reply can be used.
        ``settled``: conflicts were resolved, and none can be raised."""
        ways = _WAYS if settled else _WAYS_AND_CONFLICT
        numbers = {"round": str(seen.number), "rounds": str(self.options.rounds)}
        messages = self._rendered(_DECIDE, seen.instruction, seen.shown, status=seen.status, **numbers, **ways)
        mark = self.calls.mark()
        shown = self.calls.shown("content", only=("type", "answer"))
        said = self._ask(messages, Settled if settled else Decided, shown, with_history=True)
        if said is None:
            self.calls.add("decision", _UNUSABLE, mark, prompt=_DECIDE)
            return None
        if said.type == "instruction":
            content = self._cut(tidy(said.content), self.sizes.instruction, "instruction")
            said = said.model_copy(update={"content": content})
            self.collects = said.collect
            fence = fence_for(seen.shown)
            if seen.number < self.options.rounds:  # else no member is asked it: the end sees the same replies again
                self._remember(f"Replies:\n<{fence}>\n{seen.shown}\n</{fence}>", said.content)
        action = {"instruction": "QUERY", "answer": "ANSWER", "conflict": "CONFLICT"}[said.type]
        self.calls.add("decision", f"{action}: {said.content}", mark, prompt=_DECIDE)
        return said

    def end(self, seen: Round) -> AnswerReply:
        """The answer after the last round, from all that was said. Raises ``ModelError`` where there is none."""
        messages = self._rendered(_END, seen.instruction, seen.shown, status=seen.status)
        mark = self.calls.mark()
        said = self._ask(messages, AnswerReply, self.calls.shown("answer"), with_history=True)
        self.calls.counts["forced answer"] += 1
        self.calls.add("forced answer", f"ANSWER: {said.answer}" if said else _UNUSABLE, mark, prompt=_END)
        if said is None:
            raise ModelError(
                "The leader of the team gave no answer, although it was asked twice for one and nothing else. "
                "A larger model (KGPLATFORM_CHAT_MODEL) may do better."
            )
        return said

    def replies(self, clusters: Sequence[Cluster], instruction: str) -> str:
        """The replies as one prompt holds them, numbered from 1, with the sentences that say so where there is room;
        summed up page by page where they are too many."""
        room = self._room(_DECIDE)
        said = [self._said(each) for each in clusters]
        if lines := self._fitting(clusters, said, room):
            return lines
        pieces = [(number, number, text) for number, text in enumerate(said, 1)]
        while len(pieces) > 1 and sum(tokens(_line(piece)) + 1 for piece in pieces) > room:
            pieces = self._summed(pieces, instruction)
        return "\n".join(map(_line, pieces)) or NONE

    def claims(self, duel: Duel) -> str:
        """The two answers of a duel, in the order in which their parts are read."""
        by_member = {duel.i: duel.x, duel.j: duel.y} if duel.i in duel.x.members else {duel.i: duel.y, duel.j: duel.x}
        bound = self.sizes.claim
        said = [f"{self._cut(each.answer, bound, 'claims')}{_marks(each)}" for each in by_member.values()]
        return "\n".join(f"- {answer}" for answer in said)

    def _fitting(self, clusters: Sequence[Cluster], said: Sequence[str], room: int) -> str:
        """The answers as they are ``said``, a line each, with their sentences or else without; empty where there is no
        room."""
        quotes = []
        for cluster in clusters:  # the words of its sentences; none where they only repeat the answer
            sources = [source for number in cluster.sentences[:_MARKS] if (source := self.shown.source(number))]
            words = tidy(" ".join(source.citation.text for source in sources))
            is_new = normalise_name(words).strip(" .") != normalise_name(cluster.answer).strip(" .")
            quotes.append(f" — “{words[: head(words, self.sizes.shown)].strip()}”" if words and is_new else "")
        for texts in ([text + quote for text, quote in zip(said, quotes, strict=True)], said):
            lines = [_line((number, number, text)) for number, text in enumerate(texts, 1)]
            if sum(tokens(line) + 1 for line in lines) <= room:
                return "\n".join(lines)
        return ""

    def _said(self, cluster: Cluster) -> str:
        """An answer with its other wordings, and the numbers of its sentences."""
        others = f" (also: {'; '.join(cluster.others)})" if cluster.others else ""
        return self._cut(f"{cluster.answer}{others}", self.sizes.shown, "replies") + _marks(cluster)

    def _summed(self, pieces: Sequence[_Piece], instruction: str) -> list[_Piece]:
        """A piece for each page of ``pieces``; one whose sum cannot be used is its own beginning."""
        pages = pack([_line(piece) for piece in pieces], self._room(_BATCH))
        bound = max(_SHORTEST_SUM, self._room(_DECIDE) // len(pages) - _LABEL)
        sums: list[_Piece] = []
        for number, page in enumerate(pages, 1):
            lines = "\n".join(_line(pieces[each]) for each in page)
            mark, of_all = self.calls.mark(), f"{number} of {len(pages)}"
            words = str(int(bound * _WORDS_PER_TOKEN))
            said = self._ask(self._rendered(_BATCH, instruction, lines, page=of_all, words=words), Summed)
            self.calls.counts["pages of replies"] += 1
            told = f"page {of_all}" if said else f"page {of_all}; {_UNUSABLE}"
            self.calls.add("replies", told, mark, prompt=_BATCH)
            text = self._cut(tidy(said.content if said else lines), bound, "replies")
            sums.append((pieces[page[0]][0], pieces[page[-1]][1], text))
        return sums

    def _ask(
        self, messages: Messages, form: type[M], show: Show | None = None, *, with_history: bool = False
    ) -> M | None:
        """What the leader says; None where no reply could be used, although it was asked for once more. Of the history,
        the earlier turns, the oldest are forgotten where the window needs it, and counted."""
        if with_history:
            left = self.sizes.prompt - cost(messages) - AGAIN
            while self.history and sum(map(cost, self.history)) > left:
                del self.history[0]
                self.calls.counts["cut.rounds"] += 1
            messages = [messages[0], *(message for turn in self.history for message in turn), messages[1]]
        try:
            return ask(self.calls, messages, form, stage=STAGE, tokens=self.sizes.reply, show=show)[0]
        except ReplyError:
            self.calls.counts["malformed.leader"] += 1
            return None

    def _rendered(self, prompt: str, instruction: str, replies: str, fence: str = "", **inputs: str) -> Messages:
        answers = manner(self.options.answer_style, self.options.mode, "answer" if prompt == _END else "content")
        return render(
            prompt,
            instruction=instruction,
            replies=replies,
            objective=self.objective,
            task=self.expert.work,
            **({} if prompt == _BATCH else answers),
            fence=fence or fence_for(instruction, replies, self.objective),
            **inputs,
        )

    def _room(self, prompt: str) -> int:
        """Tokens of replies in a prompt, next to the longest instruction and status that there may be."""
        inputs = {"page": "10 of 10", "words": "100"} if prompt == _BATCH else {"status": _LONGEST_STATUS}
        inputs |= {"round": "10", "rounds": "10", **_WAYS_AND_CONFLICT} if prompt == _DECIDE else {}
        empty = self._rendered(prompt, "", "", LARGEST_FENCE, **inputs)
        return self.sizes.prompt - cost(empty) - self.sizes.instruction - AGAIN

    def _remember(self, shown: str, instruction: str) -> None:
        """A turn: what of a prompt is not said again in the next ones, and the instruction that followed."""
        reply = json.dumps({"type": "instruction", "content": instruction}, ensure_ascii=False)
        self.history.append([{"role": "user", "content": shown}, {"role": "assistant", "content": reply}])

    def _cut(self, text: str, bound: int, what: str) -> str:
        """``text``, or its beginning, at a sentence's end where it can be; counted."""
        end = head(text, bound)
        if end < len(text):
            self.calls.counts[f"cut.{what}"] += 1
        return text[:end].strip()


def _marks(cluster: Cluster) -> str:
    return f" [{', '.join(cluster.sentences[:_MARKS])}]" if cluster.sentences else ""


def _line(piece: _Piece) -> str:
    first, last, text = piece
    return f"Member {first}: {text}" if first == last else f"Members {first}-{last}: {text}"
