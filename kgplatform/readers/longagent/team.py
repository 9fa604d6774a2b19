"""LongAgent's team (section 2.1): the kinds of members, the text in parts, and what members say.

    members, source, queries = read_parts(question, evidence, options, room=8192)
    team = Team(members, chat, sizes)
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
from itertools import groupby
from typing import Literal

from kgplatform.errors import BudgetError, ModelError, ReplyError
from kgplatform.models.chat import Chat, metered
from kgplatform.models.reply import ask
from kgplatform.places import find_words
from kgplatform.prompt import Messages
from kgplatform.readers.answer_old import cite_words, fence_for
from kgplatform.readers.longagent.forms import Responded
from kgplatform.readers.longagent.options import (
    JOINT_PROMPT,
    MEMBER_PROMPT,
    Options,
    Sizes,
    joint_messages,
    member_messages,
)
from kgplatform.readers.refusals import is_members_refusal
from kgplatform.readers.run import Calls
from kgplatform.readers.window import head, short_name, tokens
from kgplatform.records import FoundPassage, QueryRun, Step
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.found import part_of
from kgplatform.text import rejoin, tidy, type_key
from kgplatform.text.sentences import sentences
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

_SHORT = 40
"""Words of an answer whose sentence is looked for."""

_BETWEEN = 2
"""Tokens of what stands between two pieces of a text."""

_BLANK = 20
"""Characters at most that are only white space between two passages."""

_GAP = "\n\n[…]\n\n"

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

    def quoted(self, quote: str, answer: str) -> str:
        """``quote`` as the part has it; else the sentence with the words of ``answer``, if there is one."""
        for passage in self.passages if quote else ():
            if place := find_words(quote, passage.text):
                return passage.text[place.start : place.end]
        is_short = len(answer.split()) <= _SHORT
        for cited in cite_words(answer, self.passages)[:1] if is_short else ():
            passage = next(each for each in self.passages if each.id == cited.passage and each.start <= cited.start)
            at = cited.start - passage.start
            for each in sentences(passage.text):
                if each.start <= at < each.end:
                    return passage.text[each.start : each.end]
        return ""


@dataclass(frozen=True, slots=True)
class MemberReply:
    """What a member said: ``text`` is empty where it has no answer. ``readers``: it, and whose part it read too.
    ``quote``: the words of the parts that say so.

    ``step`` of the trace has what was sent, got and spent in ``calls`` calls.
    """

    readers: tuple[int, ...]
    outcome: MemberOutcome
    text: str
    step: Step
    calls: int
    quote: str = ""
    error: ModelError | None = None

    @property
    def member(self) -> int:
        """The number of the member that replied."""
        return self.readers[0]


class Team:
    """The members, ready to be asked. Thread-safe."""

    def __init__(self, members: Sequence[Member], chat: Chat, sizes: Sizes) -> None:
        self.members = tuple(members)
        self.model = chat.model
        self._chat = chat
        self._sizes = sizes

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
        claims: Mapping[tuple[int, ...], str] | None = None,
        heard: Callable[[MemberReply], None] = lambda reply: None,
    ) -> list[MemberReply]:
        """What the first of each group of ``readers`` says that has read the parts of all of it, in this order.

        ``claims``: the answers between which a group decides. Many are asked at the same time; ``heard`` gets each
        reply as it comes, in the thread that asked. A member whose call fails is a reply too. Raises ``BudgetError``
        and what ``heard`` raises.
        """

        def ask_one(group: tuple[int, ...]) -> MemberReply:
            reply = self._ask(instruction, group, stage, (claims or {}).get(group, ""))
            heard(reply)
            return reply

        return side_by_side([partial(ask_one, reader) for reader in readers], _THREADS)

    def _ask(self, instruction: str, readers: tuple[int, ...], stage: str, claims: str) -> MemberReply:
        prompt = JOINT_PROMPT if claims else MEMBER_PROMPT
        calls = Calls(*metered(self._chat))
        mark = calls.mark()
        outcome: MemberOutcome = "answer"
        answer, quote = "", ""
        failed: ModelError | None = None
        try:
            messages = self._messages(instruction, readers, claims)
            said = ask(calls, messages, Responded, stage=stage, tokens=self._sizes.reply)[0]
        except BudgetError:
            raise
        except ReplyError:
            outcome = "malformed"
        except ModelError as error:
            outcome, failed = "failed", error
        else:
            answer = "" if is_members_refusal(said.content) else tidy(said.content)
            outcome = "answer" if answer else "no mention"
            quotes = (self.member(number).quoted(said.quote, answer) for number in readers if answer)
            quote = next(filter(None, quotes), "")
        calls.add(f"member {readers[0]}", f"failed: {failed}" if failed else answer or outcome, mark, prompt=prompt)
        return MemberReply(readers, outcome, answer, calls.steps[0], calls.made, quote, failed)

    def _messages(self, instruction: str, readers: tuple[int, ...], claims: str) -> Messages:
        """The prompt: the text first, under tags made of it alone, so that it begins alike in every round."""
        text = "\n\n".join(self.member(number).text for number in readers)
        fence, asked = fence_for(text), fence_for(text, claims, instruction)
        if claims:
            return joint_messages(instruction, text, claims, fence, asked)
        return member_messages(instruction, text, fence, asked)


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
                is_new = not share or share[-1].document != passage.document
                opening = _BETWEEN + (tokens(_heading(passage.title)) if is_new else 0)
                opening += tokens(_GAP) if not is_new and passage.start + start - share[-1].end > _BLANK else 0
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
    """What a part has of a document, under its title; an ellipsis stands for what lies between two passages of it."""
    runs: list[list[FoundPassage]] = []
    for share in shares:
        if runs and share.start - runs[-1][-1].end <= _BLANK:
            runs[-1].append(share)
        else:
            runs.append([share])
    texts = [rejoin([(each.start, each.text) for each in run], run[0].start, run[-1].end) for run in runs]
    return _heading(shares[0].title) + _GAP.join(texts)


def _heading(title: str) -> str:
    return f"# {short_name(tidy(title), _TITLE)}\n\n"
