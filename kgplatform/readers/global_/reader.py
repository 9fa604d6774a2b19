"""Reader ``global``: a question about the whole collection, put to all communities of the tree and answered from what
they say (the map and reduce of GraphRAG, arXiv 2404.16130, section 3.1.6).

    answer("Which themes do the letters deal with?", run, Options())

Communities with their summaries and facts are laid out in parts. A call for each part says what it has to say, with the
numbers of facts; a last call writes the answer. Where what was found does not fit into one prompt, calls before it put
it together page by page. A question that speaks of some things is put to what is said of them; any other to everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import InputError, ModelError
from kgplatform.models.chat import metered
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render
from kgplatform.readers.answer import REFUSAL, Answered, joined, record, without_model, write_answer
from kgplatform.readers.global_.parts import Findings, Part, Said, lay_out, spoken_of
from kgplatform.readers.global_.reduce import Reduced, Reducer
from kgplatform.readers.reader import AnswerOptions, Reader, option, window_option
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import Window
from kgplatform.records import Answer, SearchResult, Usage
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
    size = options.window_tokens or run.context
    window = Window(size, min(_LONGEST_REPLY, size // _REPLY_SHARE))
    room = _room(question, window, options)
    groups = run.evidence.groups(question, options.level, options.communities, options.facts)
    outside = [groups.outside] if groups.outside.facts else []
    read, apart = [*groups.found, *outside], 0
    if options.facts is None:
        read, apart = spoken_of(read, question)
    parts = lay_out(read, room)
    calls.note("communities", _plan(groups, apart, parts, room), groups.queries)
    said, errors = _read(parts, question, run, calls, window.reply)
    statements = [each for found in said for each in found.statements]
    things = [each for found in said for each in found.things]
    groundless = sum(not each.facts for each in (*statements, *things))
    calls.counts.update({"parts": len(parts), "parts.lost": len(errors), "groundless": groundless})
    if statements or things:
        reducer = Reducer(question, window, calls, run.chat, options.mode, style, run.evidence)
        reduced = reducer.reduce(statements, things)
    elif options.mode == "reject":
        reduced = Reduced(Answered(REFUSAL, sufficient=False))
    else:
        nothing, mode = Selection.of(question), options.mode
        reduced = Reduced(write_answer(question, nothing, calls, mode, name="own knowledge", style=style))
    places = [place.passage for place in reduced.answered.citations]
    places += [place.passage for fact in reduced.facts for place in fact.citations]
    stored = run.evidence.stored(list(dict.fromkeys(places))[:_SOURCES])
    cited = f"{counted(len(reduced.answered.citations), 'place')} cited"
    told = f"{cited}, of {counted(len(reduced.facts), 'fact')} behind what was found"
    calls.note("find citations", told, (*reduced.queries, *stored.queries))
    communities = tuple(group.community for group in groups.found)
    passages = tuple(stored.passages.values())
    result = SearchResult(question, passages, reduced.facts, 0.0, communities=communities)
    note = _note(groups, len(parts), errors, groundless, calls.usage)
    return record(READER.name, reduced.answered, result, calls, note, is_shown=False)


def _read(
    parts: Sequence[Part], question: str, run: Run, calls: Calls, most: int
) -> tuple[list[Said], list[ModelError]]:
    """What each part says in a reply of at most ``most`` tokens, in the order of the tree, many at a time; and why
    others could not be read. Raises ``ModelError`` where all of them fail."""
    assert run.chat is not None
    chat = run.chat

    def read(part: Part) -> tuple[Calls, Said | ModelError]:
        own = Calls(*metered(chat), run.tell, path=part.number)
        mark, shown = own.mark(), counted(len(part.facts), "fact")
        try:
            reply, _ = ask(own, _messages(question, part.text), Findings, stage=_STAGE, tokens=most)
        except ModelError as error:
            own.add(f"part {part.number}", f"{shown}; failed: {error}", mark, prompt=_PROMPT)
            return own, error
        found = Said.of(reply, part)
        told = f"{counted(len(found.statements), 'point')}, {counted(len(found.things), 'thing')}"
        own.add(f"part {part.number}", f"{shown}: {told}", mark, prompt=_PROMPT, found=StepFound(facts=found.facts))
        return own, found

    said: list[Said] = []
    errors: list[ModelError] = []
    for own, found in side_by_side([partial(read, part) for part in parts], _THREADS):
        calls.steps += own.steps
        calls.counts["calls.map"] += own.made
        if isinstance(found, Said):
            said.append(found)
        else:
            errors.append(found)
    if parts and len(errors) == len(parts):
        raise errors[0]
    return said, errors


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


def _note(groups: Groups, parts: int, errors: Sequence[ModelError], groundless: int, usage: Usage) -> str:
    """What was not read or did not count, and what many parts cost."""
    facts = sum(group.facts_left_out for group in (*groups.found, groups.outside))
    outside = len(groups.outside.facts)
    return joined(
        f"{counted(len(groups.found), 'community')} nearest to the question were read, {groups.left_out:,} were left "
        "out."
        if groups.left_out
        else "",
        f"Facts of communities that were left out: {facts:,}." if facts else "",
        f"Facts in no community were read too: {outside:,}. An update of the tree assigns them to communities."
        if outside
        else "",
        f"{len(errors):,} of {parts:,} parts failed, so their content may be missing; the first error: {errors[0]}"
        if errors
        else "",
        f"Points and things for which no fact was named: {groundless:,}." if groundless else "",
        f"{parts:,} parts took {usage.calls + usage.cached_calls:,} calls, with {usage.input_tokens:,} tokens "
        f"in and {usage.output_tokens:,} out."
        if parts > _MANY
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
