"""Reader ``global``: a question about the whole collection, put to all communities of the tree and answered from what
they say (the map and reduce of GraphRAG, arXiv 2404.16130, section 3.1.6).

    answer("Which themes do the letters deal with?", run, Options())

Communities with their summaries and facts are laid out in parts. A call for each part says what it has to say, with the
numbers of facts; a last call writes the answer. Where what was found does not fit into one prompt, calls before it put
it together page by page. By default no community is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from kgplatform.errors import InputError, ModelError
from kgplatform.models.chat import metered
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, render
from kgplatform.readers.answer_old import LARGEST_FENCE, fence_for, joined, record, without_model
from kgplatform.readers.corpus.findings import Grounded, Statement, grounded
from kgplatform.readers.corpus.parts import Part, lay_out
from kgplatform.readers.corpus.reduce import Reduced, Reducer
from kgplatform.readers.corpus.replies import Findings
from kgplatform.readers.reader import (
    AnswerMode,
    AnswerStyle,
    Reader,
    check,
    mode_option,
    option,
    style_option,
    window_option,
)
from kgplatform.readers.replies import asked, finish
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.window import Window
from kgplatform.records import Answer, SearchResult
from kgplatform.retrieve.communities import Groups
from kgplatform.text import counted
from kgplatform.work.threads import side_by_side

_PROMPT, _STAGE = "corpus/map", "map"
_THREADS = 16
"""Parts that are read at the same time; settings.concurrency may let fewer of them through."""

_REPLY_SHARE, _LONGEST_REPLY = 4, 8192
"""What a reply may take: a part of the window, and no more tokens than that."""

_LEAST_ROOM = 200
_SOURCES = 100
"""Passages that are kept as evidence."""

_MANY = 10
"""Parts. What more of them cost is said with the answer."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works: which communities it reads, and how much of each."""

    mode: AnswerMode = mode_option()
    answer_style: AnswerStyle = style_option()
    level: int | None = option(
        None, "the depth of the communities that are read, 0 for the outermost; by default the innermost", least=0
    )
    communities: int | None = option(
        None, "the most communities that are read, those nearest to the question; by default all", least=1
    )
    facts: int | None = option(
        None, "the most facts of a community, those that most passages state; by default all", least=0
    )
    part_tokens: int = option(12_000, "the most tokens of communities in a prompt", least=_LEAST_ROOM)
    window_tokens: int | None = window_option()

    def __post_init__(self) -> None:
        check(self)


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer from all parts, each citation a place of a fact that it rests on, and how it came about.

    Raises ``InputError`` where the graph has no finished tree, or the question is too long for the window;
    ``ModelError`` where no part could be read.
    """
    question = asked(question)
    if run.chat is None:
        return without_model(question, READER.name, run.evidence.search(question, route="community"), run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    window = _window(options.window_tokens or run.context)
    room = _room(question, window, options)
    groups = run.evidence.groups(question, options.level, options.communities, options.facts)
    outside = [groups.outside] if groups.outside.facts else []
    parts = lay_out([*groups.found, *outside], room)
    calls.note("communities", _plan(groups, parts, room), groups.queries)
    reading = _Reading(question, run, calls, window.reply, options.mode)
    reading.read(parts)
    reducer = Reducer(question, window, calls, run.chat, options.mode, options.answer_style)
    reduced = reducer.reduce(reading.statements, reading.things)
    return _record(reduced, reading, groups)


def _record(reduced: Reduced, reading: _Reading, groups: Groups) -> Answer:
    """The answer with the places of the facts behind it; in open mode what the model knows, where there are none."""
    calls, evidence, note = reading.calls, reading.run.evidence, _note(groups, reading)
    statements = [*reading.things, *reading.statements]
    ids = tuple(dict.fromkeys(fact for each in statements for fact in each.facts))
    if not ids and reading.mode == "open":
        return finish(READER.name, reading.question, None, [], evidence, calls, "open", note)
    facts, queries = evidence.facts(ids)
    answered = reduced.answered(facts)
    passages = [place.passage for place in answered.citations]
    passages += [place.passage for fact in facts.values() for place in fact.citations]
    stored = evidence.stored(list(dict.fromkeys(passages))[:_SOURCES])
    told = f"{counted(len(answered.citations), 'place')} cited, of {counted(len(facts), 'fact')} behind what was found"
    calls.note("find citations", told, (*queries, *stored.queries))
    known = tuple(facts[each] for each in ids if each in facts)
    communities = tuple(group.community for group in groups.found)
    result = SearchResult(reading.question, tuple(stored.passages.values()), known, 0.0, communities=communities)
    return record(READER.name, answered, result, calls, note, is_shown=False)


@dataclass
class _Reading:
    """One question on its way through the parts. ``reply``: the most tokens of what a part may get for an answer."""

    question: str
    run: Run
    calls: Calls
    reply: int
    mode: AnswerMode
    found: list[Grounded] = field(default_factory=list)
    errors: list[ModelError] = field(default_factory=list)
    parts: int = 0

    def read(self, parts: Sequence[Part]) -> None:
        """Ask for what each part says, many at a time. Raises ``ModelError`` where all of them fail."""
        self.parts = len(parts)
        for read in side_by_side([partial(self._read, part) for part in parts], _THREADS):
            self.calls.steps += read.calls.steps
            self.calls.counts["calls.map"] += read.calls.made
            if isinstance(read.found, Grounded):
                self.found.append(read.found)
            else:
                self.errors.append(read.found)
        if parts and len(self.errors) == len(parts):
            raise self.errors[0]
        counts = {"parts": len(parts), "parts.lost": len(self.errors), "groundless": self.groundless}
        self.calls.counts.update(counts)

    @property
    def statements(self) -> list[Statement]:
        """The points of all parts, in the order of the tree."""
        return [each for found in self.found for each in found.statements]

    @property
    def things(self) -> list[Statement]:
        """The things of all parts, in the order of the tree."""
        return [each for found in self.found for each in found.things]

    @property
    def groundless(self) -> int:
        """Points and things that no fact of their part says."""
        return sum(found.groundless for found in self.found)

    def _read(self, part: Part) -> _Read:
        """A part that cannot be read is an outcome too: the others go on."""
        assert self.run.chat is not None
        chat, ledger = metered(self.run.chat)
        own = Calls(chat, ledger, self.run.tell, path=part.number)
        mark, shown = own.mark(), counted(len(part.facts), "fact")
        try:
            messages = _messages(self.question, part.text)
            reply, _ = ask(own, messages, Findings, stage=_STAGE, tokens=self.reply)
        except ModelError as error:
            own.add(f"part {part.number}", f"{shown}; failed: {error}", mark, prompt=_PROMPT)
            return _Read(own, error)
        found = grounded(reply, part, self.question)
        told = f"{counted(len(found.statements), 'point')}, {counted(len(found.things), 'thing')}"
        facts = tuple(dict.fromkeys(fact for each in (*found.statements, *found.things) for fact in each.facts))
        own.add(f"part {part.number}", f"{shown}: {told}", mark, prompt=_PROMPT, found=StepFound(facts=facts))
        return _Read(own, found)


@dataclass(frozen=True, slots=True)
class _Read:
    """What came of a part, and the calls that it took."""

    calls: Calls
    found: Grounded | ModelError


def _window(tokens: int) -> Window:
    return Window(tokens, min(_LONGEST_REPLY, tokens // _REPLY_SHARE))


def _messages(question: str, communities: str) -> Messages:
    fence = fence_for(communities) if communities else LARGEST_FENCE
    return render(_PROMPT, fence=fence, communities=communities, question=question)


def _room(question: str, window: Window, options: Options) -> int:
    """Tokens of a part. Raises ``InputError`` for a question that leaves none."""
    room = window.room(_messages(question, ""))
    if room < _LEAST_ROOM:
        window.check_question(question, _LEAST_ROOM - room)
        raise InputError(
            f"A window of {window.tokens:,} tokens has no room for communities. Raise window_tokens.", "window_tokens"
        )
    return min(room, options.part_tokens)


def _plan(groups: Groups, parts: Sequence[Part], room: int) -> str:
    """What is read, and how many calls that will take."""
    facts = sum(len(part.facts) for part in parts)
    depths = sorted({group.depth for group in groups.found})
    levels = f" at depth {' and '.join(map(str, depths))}" if depths else ""
    left = f", {groups.left_out:,} left out" if groups.left_out else ""
    left += f", facts whose words stand in no passage left out: {groups.unfound:,}" if groups.unfound else ""
    return (
        f"{counted(len(groups.found), 'community')}{levels}{left}; {counted(facts, 'fact')} in "
        f"{counted(len(parts), 'part')} of at most {room:,} tokens: {counted(len(parts), 'call')} to read them, and 1 "
        "for the answer"
    )


def _note(groups: Groups, reading: _Reading) -> str:
    """What was not read or did not count, and what many parts cost."""
    facts = sum(group.facts_left_out for group in (*groups.found, groups.outside))
    errors, outside = reading.errors, len(groups.outside.facts)
    usage = reading.calls.usage
    return joined(
        f"{counted(len(groups.found), 'community')} nearest to the question were read, {groups.left_out:,} were left "
        "out."
        if groups.left_out
        else "",
        f"Facts of communities that were left out: {facts:,}." if facts else "",
        f"Facts that are in no community were read beside them: {outside:,}; an update of the tree places what is new."
        if outside
        else "",
        f"Parts that were lost: {len(errors):,} of {reading.parts:,}, so what they say may be missing; the first: "
        f"{errors[0]}"
        if errors
        else "",
        f"Points and things that no fact says were left out: {reading.groundless:,}." if reading.groundless else "",
        f"{reading.parts:,} parts took {usage.calls + usage.cached_calls:,} calls, with {usage.input_tokens:,} tokens "
        f"in and {usage.output_tokens:,} out."
        if reading.parts > _MANY
        else "",
    )


READER = Reader(
    "global",
    "A question about the whole collection: every community says what it has to say, and one answer is made of that. "
    "Needs the tree.",
    Options,
    answer,
    title="The whole collection (communities)",
    takes="1 call for each 12,000 tokens of facts, and 1 more",
    needs=lambda options: ("entities", "tree"),
    whole_graph=True,
)
