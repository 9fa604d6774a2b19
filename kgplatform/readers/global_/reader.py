"""Reader ``global``: a question about the whole collection, put to all communities of the tree and answered from what
they say (the map and reduce of GraphRAG, arXiv 2404.16130, section 3.1.6).

    answer("Which themes do the letters deal with?", run, Options())

Communities with their summaries and facts are laid out in parts. A call for each part says what it has to say, with the
numbers of facts; a last call writes the answer. Where what was found does not fit into one prompt, calls before it put
it together page by page. A question that speaks of some things is put to what is said of them; any other to everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import InputError, ModelError
from kgplatform.models.chat import metered
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render
from kgplatform.readers.answer import REFUSAL, Answered, joined, record, without_model, write_answer
from kgplatform.readers.global_.parts import Findings, Part, Said, Statement, lay_out, spoken_of
from kgplatform.readers.global_.reduce import Reduced, Reducer
from kgplatform.readers.reader import AnswerOptions, Reader, option, window_option
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import Window
from kgplatform.records import Answer, SearchResult
from kgplatform.search.communities import Groups
from kgplatform.search.question import asked
from kgplatform.text import counted

_PROMPT, _STAGE = "global_/map", "map"
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
class Options(AnswerOptions):
    """How the reader works: which communities it reads, and how much of each."""

    level: int | None = option(
        None, "depth of the communities to read, 0 for the outermost; by default the innermost", least=0
    )
    communities: int | None = option(
        None, "maximum number of communities to read, nearest to the question first; by default all", least=1
    )
    facts: int | None = option(
        None,
        "maximum facts per community, those stated by most passages first; by default the facts about things that the "
        "question mentions, or all facts if it mentions none",
        least=0,
    )
    part_tokens: int = option(12_000, "maximum tokens of communities in a prompt", least=_LEAST_ROOM)
    window_tokens: int | None = window_option()


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer from all parts, each citation a place of a fact that it rests on, and how it came about.

    Raises ``InputError`` where the graph has no finished tree, or the question is too long for the window;
    ``ModelError`` where no part could be read.
    """
    question, style = asked(question), options.answer_style
    if run.chat is None:
        return without_model(question, READER.name, run.evidence.search(question, route="community"), run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    window = _window(options.window_tokens or run.context)
    room = _room(question, window, options)
    groups = run.evidence.groups(question, options.level, options.communities, options.facts)
    outside = [groups.outside] if groups.outside.facts else []
    read, apart = [*groups.found, *outside], 0
    if options.facts is None:
        read, apart = spoken_of(read, question)
    parts = lay_out(read, room)
    calls.note("communities", _plan(groups, apart, parts, room), groups.queries)
    reading = _Reading(question, run, calls, window.reply)
    reading.read(parts)
    reduced = _reduced(reading, Reducer(question, window, calls, run.chat, options.mode, style, run.evidence))
    places = [place.passage for place in reduced.answered.citations]
    places += [place.passage for fact in reduced.facts for place in fact.citations]
    stored = run.evidence.stored(list(dict.fromkeys(places))[:_SOURCES])
    cited = f"{counted(len(reduced.answered.citations), 'place')} cited"
    told = f"{cited}, of {counted(len(reduced.facts), 'fact')} behind what was found"
    calls.note("find citations", told, (*reduced.queries, *stored.queries))
    communities = tuple(group.community for group in groups.found)
    passages = tuple(stored.passages.values())
    result = SearchResult(question, passages, reduced.facts, 0.0, communities=communities)
    return record(READER.name, reduced.answered, result, calls, _note(groups, reading), is_shown=False)


def _reduced(reading: _Reading, reducer: Reducer) -> Reduced:
    """One answer of what was found; where that is nothing none, or in open mode what the model knows by itself."""
    if reading.statements or reading.things:
        return reducer.reduce(reading.statements, reading.things)
    if reducer.mode == "reject":
        return Reduced(Answered(REFUSAL, sufficient=False))
    nothing, calls = Selection.of(reading.question), reading.calls
    return Reduced(
        write_answer(reading.question, nothing, calls, reducer.mode, name="own knowledge", style=reducer.style)
    )


@dataclass
class _Reading:
    """One question on its way through the parts. ``reply``: the most tokens of what a part may get for an answer."""

    question: str
    run: Run
    calls: Calls
    reply: int
    found: list[Said] = field(default_factory=list)
    errors: list[ModelError] = field(default_factory=list)
    parts: int = 0

    def read(self, parts: Sequence[Part]) -> None:
        """Ask for what each part says, many at a time. Raises ``ModelError`` where all of them fail."""
        self.parts = len(parts)
        for read in side_by_side([partial(self._read, part) for part in parts], _THREADS):
            self.calls.steps += read.calls.steps
            self.calls.counts["calls.map"] += read.calls.made
            if isinstance(read.found, Said):
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
        """Points and things for which no fact of their part was named."""
        return sum(not each.facts for each in (*self.statements, *self.things))

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
        found = Said.of(reply, part)
        told = f"{counted(len(found.statements), 'point')}, {counted(len(found.things), 'thing')}"
        own.add(f"part {part.number}", f"{shown}: {told}", mark, prompt=_PROMPT, found=StepFound(facts=found.facts))
        return _Read(own, found)


@dataclass(frozen=True, slots=True)
class _Read:
    """What came of a part, and the calls that it took."""

    calls: Calls
    found: Said | ModelError


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


def _plan(groups: Groups, apart: int, parts: Sequence[Part], room: int) -> str:
    """What is read, and how many calls that will take. ``apart``: facts that are left out as not spoken of."""
    facts = sum(len(part.facts) for part in parts)
    depths = sorted({group.depth for group in groups.found})
    levels = f" at depth {' and '.join(map(str, depths))}" if depths else ""
    left = f", {groups.left_out:,} left out" if groups.left_out else ""
    left += f", facts about things that the question does not mention left out: {apart:,}" if apart else ""
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
        f"Facts in no community were read too: {outside:,}. An update of the tree assigns them to communities."
        if outside
        else "",
        f"{len(errors):,} of {reading.parts:,} parts failed, so their content may be missing; the first error: "
        f"{errors[0]}"
        if errors
        else "",
        f"Points and things for which no fact was named: {reading.groundless:,}." if reading.groundless else "",
        f"{reading.parts:,} parts took {usage.calls + usage.cached_calls:,} calls, with {usage.input_tokens:,} tokens "
        f"in and {usage.output_tokens:,} out."
        if reading.parts > _MANY
        else "",
    )


READER = Reader(
    "global",
    "For questions about the whole collection: map-reduce over all communities. Needs the tree.",
    Options,
    answer,
    title="The whole collection (communities)",
    takes="1 call for each 12,000 tokens of facts, and 1 more",
    needs=lambda options: ("entities", "tree"),
    whole_graph=True,
)
