"""LongAgent's team (section 2.1): the kinds of members, the text in parts, and what members say.

    members, source, queries = read_parts(question, evidence, options, room=8192)
    team = Team(members, chat, sizes, Numbering())
    replies = team.ask("Who kept the lamp?", [(1,), (2,), (1, 2)], stage="member")    # the last reads both parts

Members know their own part and the instruction, and remember nothing. A part has whole paragraphs where that is
possible, of several documents where they are small, each under its title; the parts together are all of the text. A
conflict sends the texts of two members in one prompt, so that a member's text is less than half of the window.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Lock

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import BudgetError, ModelError, ReplyError
from kgplatform.models.chat import Chat, metered
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, render
from kgplatform.readers.longagent.conflict import MemberOutcome, MemberReply
from kgplatform.readers.longagent.options import JOINT_PROMPT, MEMBER_PROMPT, Options, Responded, Sizes
from kgplatform.readers.numbering import Numbering, cost_of, heading_cost, length_within
from kgplatform.readers.relevance import Asked
from kgplatform.readers.run import Calls
from kgplatform.readers.selection import around_best, weighed
from kgplatform.records import FoundPassage, QueryRun
from kgplatform.search.evidence import Evidence
from kgplatform.search.found import part_of
from kgplatform.text import tidy
from kgplatform.text.sentences import numbers_in


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


_THREADS = 16  # members that are asked at the same time; settings.concurrency may let fewer of them through
READ = 1024
"""Tokens of a part that a member is shown: the usual part in the paper. Of a longer one the sentences around those that
share most with the instruction."""
_LEAST_SHARE = 0.1  # of an instruction, in a sentence of a long part that is shown
_WHOLE = 4  # a paragraph that has this part of a member's room at most is never cut

# A paragraph with the white space round it.
_PARAGRAPH = re.compile(r"\s*\S(?:(?!\n[^\S\n]*\n).)*\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Member:
    """A member by its number, from 1, and what it reads: ``passages``, each cut to what of it belongs to the part."""

    number: int
    passages: tuple[FoundPassage, ...]

    @property
    def cost(self) -> int:
        """The tokens of its part as a prompt shows it."""
        return sum(cost_of(each.text, each.title) for each in self.passages)

    def around(self, asked: str) -> dict[str, set[int]] | None:
        """The sentences of a long part that are shown, by passage; None for all of a part that is short or has no
        word of what is ``asked``."""
        if self.cost <= READ:
            return None
        by_passage = [weighed(each) for each in self.passages]
        words = Asked.among(asked, [stems for sentences in by_passage for _, stems in sentences])
        best, _ = around_best([each for sentences in by_passage for each in sentences], words, READ, _LEAST_SHARE)
        if not best:
            return None
        only: dict[str, set[int]] = {}
        first = 0
        for passage, sentences in zip(self.passages, by_passage, strict=True):
            only[passage.id] = {number - first for number in best if first < number <= first + len(sentences)}
            first += len(sentences)
        return only


class Team:
    """The members, ready to be asked. ``shown``: what they are shown, by number. Thread-safe."""

    def __init__(self, members: Sequence[Member], chat: Chat, sizes: Sizes, shown: Numbering) -> None:
        self.members = tuple(members)
        self.model = chat.model
        self.shown = shown
        self._chat = chat
        self._sizes = sizes
        self._lock = Lock()
        for passage in (passage for member in members for passage in member.passages):
            shown.number_of(passage)  # in the order of the parts, whoever is asked first

    def __len__(self) -> int:
        return len(self.members)

    def member(self, number: int) -> Member:
        return self.members[number - 1]

    def ask(
        self,
        instruction: str,
        readers: Iterable[tuple[int, ...]],
        *,
        stage: str,
        claims: Mapping[tuple[int, ...], str] | None = None,
        whole: bool = False,
        heard: Callable[[MemberReply], None] = lambda reply: None,
    ) -> list[MemberReply]:
        """What the first of each group of ``readers`` says that has read the parts of all of it, in this order.

        ``claims``: the answers between which a group decides. ``whole``: long parts are shown whole. Many are asked at
        the same time; ``heard`` gets each reply as it comes, in the thread that asked. A member whose call fails is a
        reply too. Raises ``BudgetError`` and what ``heard`` raises.
        """

        def ask_one(group: tuple[int, ...]) -> MemberReply:
            reply = self._ask(instruction, group, stage, (claims or {}).get(group, ""), whole=whole)
            heard(reply)
            return reply

        return side_by_side([partial(ask_one, group) for group in readers], _THREADS)

    def _ask(self, instruction: str, readers: tuple[int, ...], stage: str, claims: str, *, whole: bool) -> MemberReply:
        prompt = JOINT_PROMPT if claims else MEMBER_PROMPT
        calls = Calls(*metered(self._chat))
        mark = calls.mark()
        outcome: MemberOutcome = "malformed"
        answer = ""
        sentences: tuple[str, ...] = ()
        failed: ModelError | None = None
        try:
            messages = self._messages(instruction, readers, claims, whole=whole)
            said = ask(calls, messages, Responded, stage=stage, tokens=self._sizes.reply)[0]
        except BudgetError:
            raise
        except ReplyError:
            pass
        except ModelError as error:
            outcome, failed = "failed", error
        else:
            answer = tidy(said.answer)
            outcome = "answer" if answer else "no mention"
            if answer:
                own = {self.shown.number_of(each) for number in readers for each in self.member(number).passages}
                named = [n for n in numbers_in(said.sentences) if int(n.partition(".")[0]) in own]
                sentences = tuple(filter(self.shown.source, named))
        calls.add(f"member {readers[0]}", f"failed: {failed}" if failed else answer or outcome, mark, prompt=prompt)
        return MemberReply(readers, outcome, answer, sentences, calls.steps[-1], calls.made, failed)

    def _messages(self, instruction: str, readers: tuple[int, ...], claims: str, *, whole: bool) -> Messages:
        """The prompt: the text first, under tags made of it alone, so that it begins alike in every round."""
        members = [self.member(number) for number in readers]
        only = [None if whole else member.around(f"{instruction} {claims}") for member in members]
        with self._lock:
            parts = [
                self.shown.passages([each for each in member.passages if shown is None or shown[each.id]], shown)
                for member, shown in zip(members, only, strict=True)
            ]
        text = "\n\n".join(parts)
        inputs = {"instruction": instruction, "passage": text, "fence": fence_for(text)}
        inputs |= {"claims": claims} if claims else {}
        asked = fence_for(text, claims, instruction)
        return render(JOINT_PROMPT if claims else MEMBER_PROMPT, asked=asked, **inputs)


def read_parts(
    question: str, evidence: Evidence, options: Options, room: int
) -> tuple[list[Member], str, tuple[QueryRun, ...]]:
    """All members, each with at most ``room`` tokens, what they read, in words, and the statements that fetched it.

    That is all text in reading order, or the passages that are best for ``question``, as many to a member as it can
    read.
    """
    if options.retrieved:
        found = evidence.search(question, top_k=options.retrieved)
        passages = sorted(found.result.passages, key=lambda each: (each.title, each.document, each.start))
        source = f"the best of a search; passages: {len(passages):,}"
        queries = found.queries
    else:
        pages = list(evidence.in_reading_order(documents=options.documents))
        passages = [passage for page, _ in pages for passage in page]
        documents = len({passage.document for passage in passages})
        source = f"all text; documents: {documents:,}"
        queries = tuple(run for _, ran in pages for run in ran)
    members = [Member(number, tuple(share)) for number, share in enumerate(_shares(passages, room), 1)]
    return members, f"{source}, parts: {len(members):,}, each of at most {room:,} tokens", queries


def _shares(passages: Iterable[FoundPassage], room: int) -> Iterator[list[FoundPassage]]:
    """``passages`` in parts of at most ``room`` tokens: whole paragraphs, large ones cut at ends of sentences."""
    share: list[FoundPassage] = []
    left = room
    for passage in passages:
        for found in _PARAGRAPH.finditer(passage.text):
            start, end = found.span()
            while start < end:
                is_begun = share and share[-1].id == passage.id
                free = left - (0 if is_begun else heading_cost(passage.title))
                needed = cost_of(passage.text[start:end])
                if share and needed > free and min(needed, free) <= room // _WHOLE:
                    yield share
                    share, left = [], room
                    continue
                length = end - start if needed <= free else length_within(passage.text[start:end], free)
                left = free - cost_of(passage.text[start : start + length])
                first = share.pop().start if is_begun else passage.start + start
                start += length
                share.append(part_of(passage, first, passage.start + start))
    if share:
        yield share
