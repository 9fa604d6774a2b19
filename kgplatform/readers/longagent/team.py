"""LongAgent's team (section 2.1): the kinds of members, the text in parts, and what members say.

    members, source, queries = read_parts(question, evidence, Options(member_tokens=1024))
    team = Team(members, chat)
    replies = team.ask("Who kept the lamp?", [(1,), (2,), (1, 2)], stage="member")    # the last reads both parts

Members know their own part and the instruction, and remember nothing. A part has whole paragraphs where that is
possible, of several documents where they are small, each under its title; the parts together are all of the text. A
conflict sends the texts of two members in one prompt, so that a member's text is less than half of the window.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from typing import Literal

from kgplatform.errors import BudgetError, ModelError
from kgplatform.models.chat import FREE_TEXT, Chat, metered
from kgplatform.readers.answer import cite_words, fence_for
from kgplatform.readers.longagent.envelope import Envelope, Unusable, ask_envelope
from kgplatform.readers.longagent.options import MEMBER_PROMPT, MEMBER_TYPES, Options, member_messages
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.readers.run import Calls
from kgplatform.readers.window import head, short_name, tokens
from kgplatform.records import FoundPassage, QueryRun, Step
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.found import part_of
from kgplatform.text import rejoin, tidy, type_key
from kgplatform.work.threads import side_by_side


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


def find_expert(name: str) -> Expert | None:
    """The kind that ``name`` means, whatever its case and with or without "member"; None if there is none."""
    wanted = type_key(name).removesuffix("member")
    return next((expert for expert in EXPERTS.values() if type_key(expert.name).removesuffix("member") == wanted), None)


def listed_experts() -> str:
    """All kinds, one a line."""
    return "\n".join(f"- {expert.name}: {expert.good_at}" for expert in EXPERTS.values())


MemberOutcome = Literal["answer", "no mention", "malformed", "failed"]

_THREADS = 16
"""Members that are asked at the same time; settings.concurrency may let fewer of them through."""

_TITLE = 20
"""Tokens of a title; a longer one is cut."""

_BETWEEN = 2
"""Tokens of what stands between two pieces of a text."""

_WHOLE = 4
"""A paragraph that has this part of a member's room at most is never cut."""

# A paragraph with the white space round it.
_PARAGRAPH = re.compile(r"\s*\S(?:(?!\n[^\S\n]*\n).)*\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Member:
    """A member by its number, from 1, and what it reads: ``passages``, each cut to what of it belongs to the part."""

    number: int
    passages: tuple[FoundPassage, ...]

    @property
    def text(self) -> str:
        """The part as a prompt shows it: what it has of each document, under its title."""
        by_document = [list(group) for _, group in groupby(self.passages, key=lambda each: each.document)]
        return "\n\n".join(_titled(shares) for shares in by_document)

    def says(self, answer: str) -> bool:
        """Whether the words of ``answer`` stand in the part."""
        return bool(cite_words(answer, self.passages))


@dataclass(frozen=True, slots=True)
class MemberReply:
    """What a member said: ``text`` is empty where it has no answer. ``readers``: it, and whose part it read too.

    ``step`` of the trace has what was sent, got and spent in ``calls`` calls; ``faults`` count what was wrong.
    """

    readers: tuple[int, ...]
    outcome: MemberOutcome
    text: str
    step: Step
    calls: int
    faults: Counter[str]
    error: ModelError | None = None

    @property
    def member(self) -> int:
        """The number of the member that replied."""
        return self.readers[0]


class Team:
    """The members, ready to be asked. Thread-safe."""

    def __init__(self, members: Sequence[Member], chat: Chat) -> None:
        self.members = tuple(members)
        self.model = chat.model
        self._chat = chat

    def __len__(self) -> int:
        return len(self.members)

    def member(self, number: int) -> Member:
        """The member of this number, from 1."""
        return self.members[number - 1]

    def ask(
        self,
        instruction: str,
        readers: Iterable[tuple[int, ...]],
        *,
        stage: str,
        heard: Callable[[MemberReply], None] = lambda reply: None,
    ) -> list[MemberReply]:
        """What the first of each group of ``readers`` says that has read the parts of all of it, in this order.

        Many are asked at the same time; ``heard`` gets each reply as it comes, in the thread that asked. A member
        whose call fails is a reply too. Raises ``BudgetError`` and what ``heard`` raises.
        """

        def ask_one(group: tuple[int, ...]) -> MemberReply:
            reply = self._ask(instruction, group, stage)
            heard(reply)
            return reply

        return side_by_side([partial(ask_one, reader) for reader in readers], _THREADS)

    def _ask(self, instruction: str, readers: tuple[int, ...], stage: str) -> MemberReply:
        text = "\n\n".join(self.member(number).text for number in readers)
        messages = member_messages(instruction, text, fence_for(instruction, text))
        calls = Calls(*metered(self._chat))
        mark = calls.mark()
        try:
            said = ask_envelope(calls, messages, MEMBER_TYPES, stage=stage, form=FREE_TEXT, enough=is_members_refusal)
        except BudgetError:
            raise
        except ModelError as error:
            calls.add(f"member {readers[0]}", f"failed: {error}", mark, prompt=MEMBER_PROMPT)
            return MemberReply(readers, "failed", "", calls.steps[0], calls.made, calls.counts, error)
        outcome, answer = _outcome(said)
        calls.add(f"member {readers[0]}", answer or outcome, mark, prompt=MEMBER_PROMPT)
        return MemberReply(readers, outcome, answer, calls.steps[0], calls.made, calls.counts)


def read_parts(question: str, evidence: Evidence, options: Options) -> tuple[list[Member], str, tuple[QueryRun, ...]]:
    """All members, what they read, in words, and the statements that fetched it.

    That is all text in reading order, or the passages that are best for ``question``.
    """
    if options.retrieved:
        found = evidence.search(question, top_k=options.retrieved)
        passages = sorted(found.result.passages, key=lambda each: (each.title, each.document, each.start))
        shares = [share for passage in passages for share in _shares([passage], options.member_tokens)]
        source = f"the best of a search; passages: {len(passages):,}"
        queries = found.queries
    else:
        pages = list(evidence.in_reading_order(documents=options.documents))
        passages = [passage for page, _ in pages for passage in page]
        shares = list(_shares(passages, options.member_tokens))
        documents = len({passage.document for passage in passages})
        source = f"all text; documents: {documents:,}"
        queries = tuple(run for _, ran in pages for run in ran)
    members = [Member(number, tuple(share)) for number, share in enumerate(shares, 1)]
    return members, f"{source}, parts: {len(members):,}, each of at most {options.member_tokens:,} tokens", queries


def _shares(passages: Iterable[FoundPassage], room: int) -> Iterator[list[FoundPassage]]:
    """``passages`` in parts of at most ``room`` tokens: whole paragraphs, large ones cut at ends of sentences."""
    share: list[FoundPassage] = []
    left = room
    for passage in passages:
        for found in _PARAGRAPH.finditer(passage.text):
            start, end = found.span()
            while start < end:
                is_new = not share or share[-1].document != passage.document
                opening = _BETWEEN + (tokens(_heading(passage.title)) if is_new else 0)
                needed = tokens(passage.text[start:end])
                if share and needed > left - opening and min(needed, left - opening) <= room // _WHOLE:
                    yield share
                    share, left = [], room
                    continue
                length = end - start if needed <= left - opening else head(passage.text[start:end], left - opening)
                left -= opening + tokens(passage.text[start : start + length])
                share = _with(share, passage, start, start + length)
                start += length
    if share:
        yield share


def _with(share: list[FoundPassage], passage: FoundPassage, start: int, end: int) -> list[FoundPassage]:
    """The part with ``passage.text[start:end]``, which is joined to what it has of this passage already."""
    if share and share[-1].id == passage.id:
        return [*share[:-1], part_of(passage, share[-1].start, passage.start + end)]
    return [*share, part_of(passage, passage.start + start, passage.start + end)]


def _titled(shares: Sequence[FoundPassage]) -> str:
    pieces = [(share.start, share.text) for share in shares]
    return f"{_heading(shares[0].title)}{rejoin(pieces, shares[0].start, shares[-1].end)}"


def _heading(title: str) -> str:
    return f"# {short_name(tidy(title), _TITLE)}\n\n"


def _outcome(said: Envelope | Unusable) -> tuple[MemberOutcome, str]:
    if isinstance(said, Unusable):
        return ("no mention" if said.plain and is_members_refusal(said.plain) else "malformed"), ""
    answer = tidy(said.content)
    return ("no mention", "") if is_members_refusal(answer) else ("answer", answer)
