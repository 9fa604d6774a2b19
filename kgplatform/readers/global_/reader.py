"""Reader ``global``: a question about the whole collection, put to all communities of the tree and answered from what
they say (the map and reduce of GraphRAG, arXiv 2404.16130, section 3.1.6).

    answer("Which themes do the letters deal with?", run, Options())

Communities with their summaries and facts are laid out in parts. A call for each part says what it has to say, with the
numbers of facts; a last call writes the answer. Where what was found does not fit into one prompt, calls before it put
it together page by page. A question that speaks of some things is put to what is said of them; any other to everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import groupby

from pydantic import Field

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import ModelError
from kgplatform.models.chat import metered
from kgplatform.models.forms import Form, items, text
from kgplatform.models.reply import ask
from kgplatform.prompt import LARGEST_FENCE, Messages, fence_for, render
from kgplatform.readers.answer import (
    NONE,
    REFUSAL,
    Answered,
    AnswerReply,
    answer_of,
    joined,
    manner,
    record,
    without_model,
    write_answer,
)
from kgplatform.readers.reader import AnswerOptions, Reader, option, window_option
from kgplatform.readers.relevance import Asked, stems_of
from kgplatform.readers.run import Calls, Run, StepFound
from kgplatform.readers.selection import Selection
from kgplatform.readers.window import FACTS, Numbering, Window, head, pack, short_name, tokens
from kgplatform.records import Answer, FoundFact, QueryRun, SearchResult, Usage
from kgplatform.search.communities import Group, GroupFact, Groups
from kgplatform.search.question import asked
from kgplatform.text import counted, listed, normalise_name, tidy
from kgplatform.text.sentences import numbers_in

_PROMPT, _STAGE = "global_/map", "map"
_THREADS = 16  # parts that are read at the same time; settings.concurrency may let fewer of them through
_REPLY_SHARE, _LONGEST_REPLY = 4, 8192
"""What a reply may take: a part of the window, and no more tokens than that."""
_LEAST_ROOM = 200
_SOURCES = 100  # passages that are kept as evidence
_MANY = 10  # parts. What more of them cost is said with the answer.


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
    question = asked(question)
    if run.chat is None:
        return without_model(question, READER.name, run.evidence.search(question, route="community"), run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    size = options.window_tokens or run.context
    window = Window(size, min(_LONGEST_REPLY, size // _REPLY_SHARE))
    room = window.room(_messages(question, ""))
    window.check(question, room, _LEAST_ROOM, "communities")
    room = min(room, options.part_tokens)
    groups = run.evidence.groups(question, options.level, options.communities, options.facts)
    outside = [groups.outside] if groups.outside.facts else []
    read, apart = [*groups.found, *outside], 0
    if options.facts is None:
        read, apart = spoken_of(read, question)
    parts = lay_out(read, room)
    calls.note("communities", _plan(groups, apart, parts, room), groups.queries)
    statements, things, errors = _read(parts, question, run, calls, window.reply)
    groundless = sum(not each.facts for each in (*statements, *things))
    calls.counts.update({"parts": len(parts), "parts.lost": len(errors), "groundless": groundless})
    facts: tuple[FoundFact, ...] = ()
    queries: tuple[QueryRun, ...] = ()
    if statements or things:
        answered, facts, queries = _Reducer(question, window, calls, run, options).reduce(statements, things)
    elif options.mode == "reject":
        answered = Answered(REFUSAL, sufficient=False)
    else:
        nothing, mode = Selection.of(question), options.mode
        answered = write_answer(question, nothing, calls, mode, name="own knowledge", style=options.answer_style)
    places = [place.passage for place in answered.citations]
    places += [place.passage for fact in facts for place in fact.citations]
    stored = run.evidence.stored(list(dict.fromkeys(places))[:_SOURCES])
    cited = f"{counted(len(answered.citations), 'place')} cited"
    told = f"{cited}, of {counted(len(facts), 'fact')} behind what was found"
    calls.note("find citations", told, (*queries, *stored.queries))
    communities = tuple(group.community for group in groups.found)
    passages = tuple(stored.passages.values())
    result = SearchResult(question, passages, facts, 0.0, communities=communities)
    note = _note(groups, len(parts), errors, groundless, calls.usage)
    return record(READER.name, answered, result, calls, note, is_shown=False)


_UNSAID = 50  # the score of a point that has none


class Point(Form):
    """A statement with the numbers of the facts, or statements, that it was made from. ``score``: 0 to 100."""

    point: str = text(600, ...)
    facts: list[int] = items(40)
    score: int = Field(_UNSAID, ge=0, le=100)


class Item(Form):
    """A thing that is counted or listed, with the numbers of the facts that say so."""

    name: str = text(120, ...)
    facts: list[int] = items(10)


class Remaining(Form):
    """The statements that remain of a page of them."""

    points: list[Point] = items(40)


class Findings(Remaining):
    """What a part says about the question."""

    items: list[Item] = items(300)


_WHOLE = 4
"""A community, or what is about one thing, that takes this part of a prompt's room at most is never divided."""
_LINE = 4  # no line takes more than this part of the room
_ALSO = "Also in it: "
_TELLING = 0.3
"""Of a question, in a fact: with so much of it in any, the question speaks of some things, and not of all."""
_LEAST_SHARE = 0.08  # of a question, in one fact at least of a thing that it speaks of
_LEADING = 10  # facts with most of a question, whose names lead on from it
_SHORTEST = 4  # characters of a name that is looked for in texts


@dataclass(frozen=True, slots=True)
class Part:
    """What one prompt shows. ``facts`` and ``groups``: what it numbers, from 1."""

    number: int
    text: str
    facts: tuple[GroupFact, ...]
    groups: tuple[Group, ...]


@dataclass
class _Sheet:
    """A part that is being filled."""

    left: int
    lines: list[str] = field(default_factory=list)
    facts: list[GroupFact] = field(default_factory=list)
    groups: list[Group] = field(default_factory=list)


def spoken_of(groups: Sequence[Group], question: str) -> tuple[list[Group], int]:
    """``groups`` with the facts of things that the ``question`` speaks of, and how many others are left out.

    It speaks of those of which a fact has words of it, and of those that the facts with most of it name. Where no fact
    has much of it, it speaks of no one thing: all facts stay.
    """
    facts = [fact for group in groups for fact in group.facts]
    stems = {fact.id: stems_of(fact.text.replace("_", " ")) for fact in facts}
    asked = Asked.among(question, list(stems.values()))
    shares = {fact.id: asked.share(stems[fact.id]) for fact in facts}
    if max(shares.values(), default=0.0) < _TELLING:
        return list(groups), 0
    speaking = [fact for fact in facts if shares[fact.id] >= _LEAST_SHARE]
    best = sorted(speaking, key=lambda fact: -shares[fact.id])[:_LEADING]
    names = {fact.about for fact in facts if len(fact.about) >= _SHORTEST and fact.about not in question}
    led = [name for name in names if any(name in fact.text for fact in best)]
    near = {fact.about for fact in speaking} | {f.about for f in facts if any(name in f.text for name in led)}
    kept = [replace(group, facts=tuple(fact for fact in group.facts if fact.about in near)) for group in groups]
    return [group for group in kept if group.facts], sum(fact.about not in near for fact in facts)


def lay_out(groups: Iterable[Group], room: int) -> list[Part]:
    """``groups`` in parts of at most ``room`` tokens each. Nothing is left out."""
    sheets = [_Sheet(room)]
    for group in groups:
        # A number has no more digits than the tokens of the room.
        blocks = [
            [(line, fact, _size([line if fact is None else f"[{room}] {line}"])) for line, fact in block]
            for block in _blocks(group, room)
        ]
        needed = sum(cost for block in blocks for *_, cost in block) + _size(_heading(group, sheets[-1], room))
        if needed > sheets[-1].left and needed <= room // _WHOLE:
            sheets.append(_Sheet(room))
        _begin(group, sheets, room)
        for block in blocks:
            together = sum(cost for *_, cost in block)
            for line, fact, cost in block:
                if (cost if together > room // _WHOLE else together) > sheets[-1].left:
                    sheets.append(_Sheet(room))
                    _begin(group, sheets, room)
                together -= cost
                sheet = sheets[-1]
                sheet.left -= cost
                sheet.facts += [] if fact is None else [fact]
                sheet.lines.append(line if fact is None else f"[{len(sheet.facts)}] {line}")
    kept = [sheet for sheet in sheets if sheet.lines]
    return [
        Part(number, "\n".join(sheet.lines).strip(), tuple(sheet.facts), tuple(sheet.groups))
        for number, sheet in enumerate(kept, 1)
    ]


def _begin(group: Group, sheets: list[_Sheet], room: int) -> None:
    """The heading of ``group``, in a new part where this one has no room for it."""
    heading = _heading(group, sheets[-1], room)
    if _size(heading) > sheets[-1].left and sheets[-1].lines:
        sheets.append(_Sheet(room))
        heading = _heading(group, sheets[-1], room)
    sheet = sheets[-1]
    sheet.groups.append(group)
    sheet.lines += heading
    sheet.left -= _size(heading)


def _heading(group: Group, sheet: _Sheet, room: int) -> list[str]:
    """Its name, and those of the communities around it where they are not the same as before."""
    around = sheet.groups[-1].above if sheet.groups else ()
    new = [_cut(f"= {short_name(name)}: {tidy(said)}", room // _LINE) for name, said in group.above]
    community = group.community
    if not community.name:
        return ["", "# What is in no community"]
    name = f"# {short_name(community.name)}, {counted(community.size, 'member')}"
    return ["", *(new if group.above != around else []), name]


_Line = tuple[str, GroupFact | None]


def _blocks(group: Group, room: int) -> Iterator[list[_Line]]:
    """What is said of a community, what is about one thing together. A summary would only repeat its facts."""
    most = room // _LINE
    if group.community.summary and not group.facts:
        yield [(_cut(tidy(group.community.summary), most), None)]
    for _, facts in groupby(group.facts, key=lambda fact: fact.about):
        yield [(_cut(tidy(fact.text), most), fact) for fact in facts]
    names = [short_name(each) for each in group.members]
    for line in pack(names, most - tokens(_ALSO)):
        yield [(_cut(f"{_ALSO}{'; '.join(names[place] for place in line)}", most), None)]


def _size(lines: Sequence[str]) -> int:
    return sum(tokens(line) + 1 for line in lines)


def _cut(line: str, most: int) -> str:
    end = head(line, most)
    return line if end == len(line) else f"{line[:end].rstrip()}…"


_ARTICLE = re.compile(r"^(?:the|a|an|der|die|das|le|la|les|el|los|las|il|lo|gli)\s+(?=\S)|^l['’](?=\S)")


@dataclass(frozen=True, slots=True)
class Statement:
    """``text`` and the ids of the facts that it rests on; ``score``: 0 to 100."""

    text: str
    facts: tuple[str, ...]
    score: int = 0


def unite(statements: Iterable[Statement]) -> list[Statement]:
    """Each thing or statement once, by its words but for case, article and end mark; the facts of all that are one."""
    united: dict[str, Statement] = {}
    for each in statements:
        key = _ARTICLE.sub("", normalise_name(each.text).strip(" .,;:\"'“”«»"))
        known = united.get(key, each)
        facts = tuple(dict.fromkeys((*known.facts, *each.facts)))
        united[key] = replace(known, facts=facts, score=max(known.score, each.score))
    return list(united.values())


def _read(
    parts: Sequence[Part], question: str, run: Run, calls: Calls, most: int
) -> tuple[list[Statement], list[Statement], list[ModelError]]:
    """What the parts say, each in a reply of at most ``most`` tokens, in the order of the tree, many at a time: points
    and things; and why others could not be read. Raises ``ModelError`` where all of them fail."""
    assert run.chat is not None
    chat = run.chat

    def read(part: Part) -> tuple[Calls, list[Statement], list[Statement], ModelError | None]:
        own = Calls(*metered(chat), run.tell, path=part.number)
        mark, shown = own.mark(), counted(len(part.facts), "fact")
        try:
            reply, _ = ask(own, _messages(question, part.text), Findings, stage=_STAGE, tokens=most)
        except ModelError as error:
            own.add(f"part {part.number}", f"{shown}; failed: {error}", mark, prompt=_PROMPT)
            return own, [], [], error

        def rests_on(text: str, numbers: Iterable[int], score: int = 0) -> Statement:
            shown = (part.facts[number - 1].id for number in numbers if 1 <= number <= len(part.facts))
            return Statement(tidy(text), tuple(dict.fromkeys(shown)), score)

        points = [rests_on(each.point, each.facts, each.score) for each in reply.points if each.score > 0]
        items = [rests_on(each.name, each.facts) for each in reply.items]
        facts = tuple(dict.fromkeys(fact for each in (*points, *items) for fact in each.facts))
        told = f"{counted(len(points), 'point')}, {counted(len(items), 'thing')}"
        own.add(f"part {part.number}", f"{shown}: {told}", mark, prompt=_PROMPT, found=StepFound(facts=facts))
        return own, points, items, None

    statements: list[Statement] = []
    things: list[Statement] = []
    errors: list[ModelError] = []
    for own, points, found, error in side_by_side([partial(read, part) for part in parts], _THREADS):
        calls.steps += own.steps
        calls.counts["calls.map"] += own.made
        statements += points
        things += found
        errors += [error] if error else []
    if parts and len(errors) == len(parts):
        raise errors[0]
    return statements, things, errors


def _messages(question: str, communities: str) -> Messages:
    fence = fence_for(communities) if communities else LARGEST_FENCE
    return render(_PROMPT, fence=fence, communities=communities, question=question)


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
    read, left, outside = counted(len(groups.found), "community"), groups.left_out, len(groups.outside.facts)
    facts = sum(group.facts_left_out for group in (*groups.found, groups.outside))
    made, spent = usage.calls + usage.cached_calls, f"{usage.input_tokens:,} tokens in and {usage.output_tokens:,} out"
    said = {
        f"{read} nearest to the question were read, {left:,} were left out.": left,
        f"Facts of communities that were left out: {facts:,}.": facts,
        f"Facts in no community were read too: {outside:,}. An update of the tree assigns them to "
        "communities.": outside,
        f"{len(errors):,} of {parts:,} parts failed, so their content may be missing; the first error: "
        f"{errors[0] if errors else ''}": errors,
        f"Points and things for which no fact was named: {groundless:,}.": groundless,
        f"{parts:,} parts took {made:,} calls, with {spent}.": parts > _MANY,
    }
    return joined(*(words for words, is_so in said.items() if is_so))


_REDUCE, _MERGE = "global_/reduce", "global_/merge"
_ROUNDS = 5
"""Times that statements are put together at most; a page becomes a third as long each time, or is cut to that."""
_SHRINK = 3
_LEAST = 100  # tokens that a page of statements may always keep
_THINGS_SHARE = 2  # of the last prompt's room, the part that things may take where there are statements too
_MARKS = 3  # facts of a statement whose numbers stand behind it
_MARK = " [0.999]"
_MOST_MARKS = 20  # facts that stand behind a count


@dataclass
class _Reducer:
    """Makes one answer, which cites the places of the facts behind it. ``window`` has room for the replies.

    Things are united and counted first. Statements that do not fit into one prompt are put together page by page, those
    of neighbouring communities on one page, until they do; so that goes up the tree level by level.
    """

    question: str
    window: Window
    calls: Calls
    run: Run
    options: Options
    shown: Numbering = field(default_factory=Numbering)

    def reduce(
        self, statements: Sequence[Statement], things: Sequence[Statement]
    ) -> tuple[Answered, tuple[FoundFact, ...], tuple[QueryRun, ...]]:
        """One answer of all of it, the facts behind what was found, and the statements that read them.

        Where the last call fails, the answer is what was found, and the note says so. Raises nothing for a model that
        fails: all parts have been paid for by then.
        """
        things, statements = unite(things), unite(statements)
        self.calls.counts.update({"points": len(statements), "things": len(things)})
        room = self.window.room(self._messages(NONE))
        listed_things = _fitting(things, room // _THINGS_SHARE if statements else room)
        left = room - _cost(listed_things)
        merged = self._merged(statements, left)
        best = _fitting(sorted(merged, key=lambda each: -each.score), left)
        cut = len(things) - len(listed_things) + len(merged) - len(best)
        told = f"Things that were found in all parts and counted: {len(things):,} ({listed([t.text for t in things])})."
        note = joined(
            told if things else "", f"Things and points that did not fit into the last prompt: {cut:,}." if cut else ""
        )
        ids = dict.fromkeys(fact for each in (*listed_things, *best) for fact in each.facts)
        facts, queries = self.run.evidence.facts(tuple(ids))
        known = tuple(facts[each] for each in ids if each in facts)
        self.shown.facts(known)
        numbers = {fact.id: f"{FACTS}.{number}" for number, fact in enumerate(known, 1)}
        shown = []
        for chosen in (listed_things, best):  # each with the numbers of its first facts behind it
            marks = [[f"[{numbers[fact]}]" for fact in each.facts if fact in numbers][:_MARKS] for each in chosen]
            shown.append([f"- {each.text} {''.join(own)}".rstrip() for each, own in zip(chosen, marks, strict=True)])
        answered = self._final(shown[0], shown[1], len(things))
        return replace(answered, note=joined(answered.note, note)), known, queries

    def _merged(self, statements: list[Statement], room: int) -> list[Statement]:
        for number in range(1, _ROUNDS + 1):
            if _cost(statements) <= room:
                break
            whole = self.window.room(self._merge_messages([]))
            pages = pack([_line(n, each) for n, each in enumerate(statements, 1)], whole)
            works = [partial(self._merge, [statements[place] for place in page], number) for page in pages]
            done = side_by_side(works, _THREADS)
            self.calls.steps += [step for calls, _ in done for step in calls.steps]
            self.calls.counts["calls.merge"] += sum(calls.made for calls, _ in done)
            statements = unite(each for _, remaining in done for each in remaining)
        return statements

    def _merge(self, page: list[Statement], number: int) -> tuple[Calls, list[Statement]]:
        """What remains of a page: no more than a third of it. Where the call fails, its best statements as they are."""
        assert self.run.chat is not None
        own = Calls(*metered(self.run.chat))
        mark = own.mark()
        name, most = f"merge, round {number}", max(_LEAST, _cost(page) // _SHRINK)
        try:
            reply, _ = ask(own, self._merge_messages(page), Remaining, stage="merge", tokens=self.window.reply)
        except ModelError as error:
            own.add(name, f"failed, so the best of {counted(len(page), 'point')} stay: {error}", mark, prompt=_MERGE)
            return own, _fitting(sorted(page, key=lambda each: -each.score), most)
        remaining = []
        for point in reply.points:
            chosen = [page[number - 1] for number in point.facts if 1 <= number <= len(page)]
            behind = tuple(dict.fromkeys(fact for each in chosen for fact in each.facts))
            remaining += [Statement(tidy(point.point), behind, point.score)] if point.score else []
        kept = _fitting(remaining or page, most)
        own.add(name, f"{counted(len(kept), 'point')} of {len(page):,}", mark, prompt=_MERGE)
        return own, kept

    def _final(self, things: list[str], points: list[str], total: int) -> Answered:
        """The last call. ``total`` things were found, of which ``things`` are listed."""
        mark = self.calls.mark()
        of_them = f", of which {len(things):,} are listed" if len(things) < total else ""
        title = f"Things that were found, put together from all parts; their number is {total:,}{of_them}:"
        shown = [title, *things, ""] if things else []
        shown += ["Statements:", *points] if points else []
        messages = self._messages("\n".join(shown).strip())
        try:
            most, show = self.window.reply, self.calls.shown("answer")
            reply, repairs = ask(self.calls, messages, AnswerReply, stage="reduce", tokens=most, show=show)
        except ModelError as error:
            self.calls.add("answer", f"failed: {error}", mark, prompt=_REDUCE)
            found = answer_of(AnswerReply(answer="\n".join([*things, *points])), self.shown, self.options.mode)
            note = f"The language model wrote no answer from it, so this is what the parts say. {error}"
            return replace(found, note=joined(note, found.note), sufficient=None)
        self.calls.counts["calls.reduce"] = self.calls.made
        outcome = "answered" if reply.sufficient else "what was found is not enough"
        detail = f"{outcome}, from {counted(len(things), 'thing')} and {counted(len(points), 'point')}"
        self.calls.add("answer", f"{detail}; repairs: {repairs}" if repairs else detail, mark, prompt=_REDUCE)
        if not reply.evidence and str(total) in re.findall(r"\d+", reply.answer.replace(",", "")):
            behind = numbers_in(re.findall(r"\[[\d.]+\]", "".join(things)))[:_MOST_MARKS]
            reply = reply.model_copy(update={"evidence": behind})
        return answer_of(reply, self.shown, self.options.mode)

    def _messages(self, findings: str) -> Messages:
        asks = manner(self.options.answer_style, self.options.mode)
        fence = LARGEST_FENCE if findings == NONE else fence_for(findings)
        return render(_REDUCE, question=self.question, findings=findings, fence=fence, **asks)

    def _merge_messages(self, page: Sequence[Statement]) -> Messages:
        lines = (f"[{number}] {each.text} (score {each.score})" for number, each in enumerate(page, 1))
        shown = "\n".join(lines) or NONE
        fence = fence_for(shown) if page else LARGEST_FENCE
        words = str(max(_LEAST, _cost(page) // _SHRINK) // 2)
        return render(_MERGE, question=self.question, statements=shown, fence=fence, words=words)


def _line(number: int, each: Statement) -> str:
    """A line that is as long as that of any prompt."""
    return f"[{number}] {each.text} (score {each.score}){_MARK * min(len(each.facts), _MARKS)}"


def _cost(statements: Sequence[Statement]) -> int:
    return sum(tokens(_line(number, each)) + 1 for number, each in enumerate(statements, 1))


def _fitting(statements: Sequence[Statement], room: int) -> list[Statement]:
    """The first of them that fit; of a first one that does not, its beginning."""
    pages = pack([_line(number, each) for number, each in enumerate(statements, 1)], room)
    first = [statements[place] for place in pages[0]] if pages else []
    return [replace(each, text=each.text[: head(each.text, room)]) for each in first] if len(first) == 1 else first


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
