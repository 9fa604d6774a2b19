"""One walk of GraphReader (section 3.3.2): the facts of a node, then passages of text, then a neighbour, and again.

    path = Walk(1, "Never Too Loud", brief, nodes, Calls(chat, ledger, path=1)).walk()
    path.notebook, path.calls.counts, path.calls.steps

At each step the model sees the question, the plan, what it did before, its notebook, and what is there to read; it
rewrites the notebook and calls one function. What does not fit into the window is shown page by page, which is still
one function call. Walks share nothing, so that several run at the same time: the sentences of passages, and the facts
that these state, have numbers of the walk.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial

from kgplatform.errors import ModelError, ReplyError
from kgplatform.models.chat import Wanted
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, with_reminder
from kgplatform.readers.graphreader.brief import EMPTY, FALLBACK, FORMS, PROMPTS, Brief, Done, Stage, same_name
from kgplatform.readers.grounding import marks_in, renumbered, settled
from kgplatform.readers.run import Calls, StepFound
from kgplatform.readers.window import Numbering, cut, head, pack, short_name, tokens
from kgplatform.records import FoundPassage
from kgplatform.search.evidence import Nodes, Stated, ToRead
from kgplatform.text import counted, listed, normalise_name
from kgplatform.text.sentences import lines, numbered, numbers_in, sentences

_CHARACTERS_PER_TOKEN = 6
"""More than text has: what lies around a passage is read from the graph by characters, and cut by tokens."""
_PER_PASSAGE = 8  # tokens of a passage's number and of the empty line before it


_NO_ACTION = "no action"
_FAULTS = {
    "unknown passage": "it names no passage that was shown.",
    "unknown node": "it names a node that is not in the list.",
    "visited node": "it names a node that you were at before.",
}
_Judge = Callable[[Done], str]


class Walk:
    """Walk number ``number`` from ``node`` on, which takes its steps, one method a stage.

    ``actions``: what it did, in words; ``made``: function calls; ``ended``: why it is over, with the ``error`` where
    the model failed. ``shown``: what the prompts showed, by number; ``passages`` by theirs. ``queue``: passages to
    read, by id, each from the sentence with that number. ``visited``, ``read`` and ``facts`` (id to text) are in the
    order in which the walk came to them.
    """

    def __init__(self, number: int, node: str, brief: Brief, nodes: Nodes, calls: Calls) -> None:
        self.number, self.node, self.calls = number, node, calls
        self.notebook, self.ended, self.made = "", "", 0
        self.error: ModelError | None = None
        self.shown = Numbering()
        self.passages: dict[int, FoundPassage] = {}
        self.queue: deque[tuple[str, int]] = deque()
        self.actions: list[str] = []
        self.visited: dict[str, None] = {}
        self.read: dict[str, FoundPassage] = {}
        self.facts: dict[str, str] = {}
        self._brief, self._options, self._nodes = brief, brief.options, nodes
        self._elements: tuple[str, ...] = ()
        self._most_pages = None if self._options.is_paper else self._options.list_pages
        self._begin("facts")

    def number_of(self, passage: FoundPassage) -> int:
        """The number of ``passage`` on this walk."""
        number = self.shown.number_of(passage)
        self.passages[number] = passage
        return number

    def _label(self, passage: FoundPassage) -> str:
        return f"{self.number_of(passage)} ({short_name(passage.title)})"

    def _numbers(self, passages: Sequence[FoundPassage]) -> str:
        return listed([str(self.number_of(each)) for each in passages])

    def _do(self, stage: str, function: str, where: str, arguments: str = "") -> None:
        self.made += 1
        self.calls.counts[f"{stage}.{function}"] += 1
        self.actions.append(f"at {where}: {function}({arguments})")

    def _end(self, reason: str) -> None:
        self.ended = reason
        self.calls.amend(f"the path ends: {reason}")

    def walk(self) -> Walk:
        """From the facts of the first node to the end. A failing model ends it: see ``error``."""
        try:
            while not self.ended:
                if self._may_continue("facts"):
                    self._read_facts()
                while self.queue and self._may_continue("chunk"):
                    self._read_next_passage()
                if self._may_continue("neighbours"):
                    self._read_neighbours()
        except ModelError as error:
            self.error = error
            self._add(self.stage, f"at {self.node}: failed: {error}", StepFound(elements=self._elements))
            self._end("the model failed")
        return self

    def _may_continue(self, stage: Stage) -> bool:
        """Whether the path has not ended, and has a call left; the next step begins now."""
        if not self.ended and self.made >= self._options.calls:
            self._end(f"the limit of {self._options.calls} function calls")
        self._begin(stage)
        return not self.ended

    def _read_facts(self) -> None:
        """Passages into the queue, chosen by what they state of the node: one call, whatever its pages. Those that were
        read before are not shown again; where there are no others, the model is not asked."""
        node = self.node
        self.visited[node] = None
        found = self._nodes.facts(node, self._options.passages)
        self._elements = found.elements
        facts = {id_: text for group in found.groups for id_, text, *_ in group.facts}
        self.facts.update(facts)
        shown = StepFound(found.queries, tuple(facts), elements=found.elements)
        groups = [group for group in found.groups if group.passage.id not in self.read]
        if not groups:
            why = "all that states its facts was read before" if found.groups else "it has no facts any more"
            self.calls.note("facts", f"at {node}: {why}", found=shown)
            return
        actions = self._brief.shown_actions(self.actions)
        pages, passages = self._fact_pages(groups, self._brief.step_room("facts", short_name(node), actions))
        chosen: dict[str, FoundPassage] = {}

        def judge(done: Done) -> str:  # what it names beside passages that were not shown is read
            return "unknown passage" if done.action == "read_chunk" and not self._known(done) else ""

        for number, page in enumerate(pages, 1):
            done = self._ask("facts", node, "\n".join(page), actions, (number, len(pages)), judge)
            self._take_notebook(done)
            named = {passage.id: passage for passage in self._known(done)}
            chosen |= named
            if number < len(pages):
                said = f"at {node}: passages to read: {self._numbers([*named.values()]) if named else 'none'}"
                self._add(f"facts, page {number} of {len(pages)}", said, shown)
                shown = StepFound(elements=found.elements)
                self._begin("facts")
        function = "read_chunk" if chosen else "stop_and_read_neighbor"
        self._do("facts", function, short_name(node), self._numbers([*chosen.values()]) if chosen else "")
        self.queue.extend((passage, 1) for passage in chosen)
        where = f"at {node}: {listed([self._label(each) for each in chosen.values()])}" if chosen else f"at {node}"
        facts_shown = sum(line.startswith("[") for page in pages for piece in page for line in piece.splitlines())
        every = len(groups) + found.passages - len(found.groups)
        bound = "" if passages == every else f"the nearest {passages:,} of "
        said = f"{where}; {counted(facts_shown, 'fact')} of {bound}{counted(every, 'passage')} shown"
        self._add(function, said, replace(shown, passages=tuple(chosen)))

    def _fact_pages(self, groups: Sequence[Stated], room: int) -> tuple[list[list[str]], int]:
        """The facts of a node, a page after the other, and of how many passages they are.

        In reading order where they fit on one page; else those of the passages nearest to the question first, and no
        more pages than there may be.
        """
        pieces = _pieces(groups, room, Numbering())
        if len(pack([piece for _, piece in pieces], room)) > 1:
            groups = sorted(groups, key=lambda group: -group.nearness)
            pieces = _pieces(groups, room, Numbering())
            shown = pack([piece for _, piece in pieces], room)[: self._most_pages]
            kept = {pieces[n][0] for page in shown for n in page}
            groups = [group for group in groups if group.passage.id in kept]
        for group in groups:
            self.number_of(group.passage)
        pieces = _pieces(groups, room, self.shown)
        pages = pack([piece for _, piece in pieces], room)[: self._most_pages]
        return [[pieces[each][1] for each in page] for page in pages], len(groups)

    def _known(self, done: Done) -> list[FoundPassage]:
        numbers = done.passages if done.action == "read_chunk" else ()
        return [self.passages[number] for number in numbers if number in self.passages]

    def _read_next_passage(self) -> None:
        """The next passage of the queue with those around it, or as much of it as fits; what is left of it is next."""
        wanted, first = self.queue.popleft()
        if first == 1 and wanted in self.read:
            return
        found = self._nodes.to_read(wanted, self._options.reading_tokens * _CHARACTERS_PER_TOKEN)
        passage = found.passage
        if passage is None:
            self.calls.counts["malformed.passage is gone"] += 1
            self.calls.note("chunk", "a passage is no longer in the graph", found.queries)
            return
        actions = self._brief.shown_actions(self.actions)
        room = self._brief.step_room("chunk", "", actions)
        last, count = _upto(passage, first, room), len(numbered(passage.text))
        is_whole = first == 1 and last >= count
        window = self._reading_window(passage, found, room) if is_whole else [passage]
        self.read.update({each.id: each for each in window})
        if last < count:
            self.queue.appendleft((passage.id, last + 1))
        for each in window:
            self.number_of(each)
        text = self.shown.passages(window, None if is_whole else {passage.id: range(first, last + 1)})
        done = self._ask("chunk", "", text[: head(text, room)], actions)
        self._take_notebook(done)
        self._do("chunk", done.action, f"passage {self._numbers(window)}")
        outcome = self._follow(done.action, window, found)
        around = f" with {counted(len(window) - 1, 'passage')} around it" if len(window) > 1 else ""
        part = "" if is_whole else f", sentences {first:,} to {last:,} of {count:,}"
        detail = f"in {self._label(passage)}{around}{part}"
        read = StepFound(found.queries, passages=tuple(each.id for each in window))
        self._add(done.action, f"{detail}; {outcome}" if outcome else detail, read)
        if done.action == "termination":
            self._end("enough was found")

    def _reading_window(self, passage: FoundPassage, found: ToRead, room: int) -> list[FoundPassage]:
        """``passage`` with those after and before it in turn, as many as fit, up to what was read before."""
        window = [passage]
        sides = {"after": list(found.after), "before": list(found.before[::-1])}
        left = min(room, self._options.reading_tokens) - _size(passage)
        while sides:
            for side, near in list(sides.items()):
                size = _size(near[0]) if near else 0
                if not near or near[0].id in self.read or size > left:
                    del sides[side]
                    continue
                left -= size
                window.insert(0 if side == "before" else len(window), near.pop(0))
        return window

    def _follow(self, function: str, window: Sequence[FoundPassage], found: ToRead) -> str:
        """Puts the passage before or after the window into the queue; in words, what came of it."""
        if function not in ("read_previous_chunk", "read_subsequent_chunk"):
            return ""
        is_before = function == "read_previous_chunk"
        read = {each.id for each in window}
        beyond = [each for each in (found.before[::-1] if is_before else found.after) if each.id not in read]
        if not beyond:
            return f"there is none {'before' if is_before else 'after'} it, so the queue is next"
        label = self._label(beyond[0])
        if beyond[0].id in self.read:
            return f"{label} was read before"
        queue = self.queue  # what follows comes behind what is left of the last passage, if that is cut
        rest_is_first = not is_before and queue and queue[0][0] == window[-1].id and queue[0][1] > 1
        queue.insert(1 if rest_is_first else 0, (beyond[0].id, 1))
        return f"next is {label}"

    def _read_neighbours(self) -> None:
        """On to a neighbour, or the end: one call, whatever its pages; the first page that names one counts."""
        node = self.node
        found = self._nodes.neighbours(node, self._options.neighbours)
        shown = StepFound(found.queries, elements=self._elements)
        if not found.names:
            self.calls.note("neighbours", f"{node} has none", found=shown)
            self._end("there is no neighbour")
            return
        bound = "" if len(found.names) == found.total else f"the nearest {len(found.names):,} of "
        how_many = bound + counted(found.total, "neighbour")
        if self._options.random_nodes is not None:
            new = [name for name in found.names if name not in self.visited]
            chance = random.Random(f"{self._options.random_nodes} {self.number} {self.made}")
            self._go(chance.choice(new) if new else None, f"{how_many}; drawn at random", shown)
            return
        names = {short_name(name): name for name in found.names}

        def judge(done: Done) -> str:
            name = same_name(done.node, names) if done.action == "read_neighbor_node" else ""
            return "unknown node" if name is None else "visited node" if names.get(name) in self.visited else ""

        actions = self._brief.shown_actions(self.actions)
        listed_names = list(names)
        pages = pack(listed_names, self._brief.step_room("neighbours", short_name(node), actions))[: self._most_pages]
        if (fit := sum(map(len, pages))) < found.total:
            how_many = f"the nearest {fit:,} of {counted(found.total, 'neighbour')}"
        for number, page in enumerate(pages, 1):
            data = "\n".join(listed_names[each] for each in page)
            done = self._ask("neighbours", node, data, actions, (number, len(pages)), judge)
            if done.action == "read_neighbor_node":
                self._go(names[same_name(done.node, names) or ""], how_many, shown)
                return
            if number < len(pages):
                self._add(f"neighbours, page {number} of {len(pages)}", f"at {node}: none of these", shown)
                shown = StepFound(elements=self._elements)
                self._begin("neighbours")
        self._go(None, how_many, shown)

    def _go(self, name: str | None, how_many: str, shown: StepFound) -> None:
        """To the neighbour ``name``; without one the path ends."""
        node = self.node
        function = "termination" if name is None else "read_neighbor_node"
        self._do("neighbours", function, short_name(node), short_name(name or ""))
        detail = f"at {node}: {how_many}" if name is None else f"from {node} to {name}, of {how_many}"
        self._add(function, detail, shown)
        if name is None:
            self._end("no neighbour was chosen")
        else:
            self.node = name

    def _ask(
        self,
        stage: Stage,
        node: str,
        data: str,
        actions: str,
        page: tuple[int, int] = (1, 1),
        judge: _Judge = lambda done: "",
    ) -> Done:
        """What the model does. A reply that cannot be used is asked for once more; then the stage's fallback."""
        number, pages = page
        which = f" (page {number} of {pages}; the other pages are asked about apart)" if pages > 1 else ""
        messages = self._brief.step_messages(stage, short_name(node), data, actions, self.notebook, page=which)
        done, fault = self._sent(messages, stage, judge)
        if fault in _FAULTS:
            again, first = with_reminder(messages, "graphreader/again", fault=_FAULTS[fault]), done
            done, fault = self._sent(again, stage, judge)
            done = replace(done, notebook=done.notebook or first.notebook)
            for sent in (messages, again) if fault else ():
                self.calls.forget(sent, wanted=Wanted(FORMS[stage], self._brief.window.reply))
        return Done(FALLBACK[stage], done.notebook) if fault else done

    def _sent(self, messages: Messages, stage: Stage, judge: _Judge) -> tuple[Done, str]:
        """What the model does, and what is wrong with that; no action where neither its reply nor the next has one."""
        before, done, fault = self.calls.made, Done(""), _NO_ACTION
        try:
            reply, _ = ask(self.calls, messages, FORMS[stage], stage=stage, tokens=self._brief.window.reply)
            said = reply.model_dump()
            chunks = dict.fromkeys(int(number.partition(".")[0]) for number in numbers_in(said.get("chunks")))
            done = Done(said["action"], said.get("notebook", "").strip(), tuple(chunks), said.get("node", ""))
            fault = judge(done)
        except ReplyError:
            pass
        blamed = [_NO_ACTION] * (self.calls.made - before - bool(done.action)) + ([fault] if fault in _FAULTS else [])
        self.faults += blamed
        self.calls.counts.update(f"malformed.{each}" for each in blamed)
        return done, fault

    def _take_notebook(self, done: Done) -> None:
        """The new notebook, cut where it is too long; a reply without one leaves the old one."""
        if done.notebook and done.notebook != EMPTY:
            self.notebook, said = renewed(self.notebook, done.notebook, self._brief.notebook)
            self.calls.counts["cut.notebook"] += "notebook" in said
            self.calls.counts["kept.forgotten notes"] += "forgot" in said
            self.faults += [said] if said else []

    def _begin(self, stage: Stage) -> None:
        self.stage: Stage = stage
        self.mark = self.calls.mark()
        self.faults: list[str] = []

    def _add(self, name: str, detail: str, found: StepFound) -> None:
        """The step that began last, with what was wrong with the model's replies in it."""
        prompt = PROMPTS[self.stage] if self.calls.made > self.mark.calls else None
        if self.faults:
            detail = f"{detail}; {'; '.join(self.faults)}"
        if prompt is None:
            self.calls.note(name, detail, found=found)
        else:
            self.calls.add(name, detail, self.mark, prompt=prompt, found=found, notebook=self.notebook or None)


def _size(passage: FoundPassage) -> int:
    """Its tokens in a prompt, with its numbers and its title."""
    return tokens(lines(passage.text, "99")) + tokens(short_name(passage.title)) + _PER_PASSAGE


def _upto(passage: FoundPassage, first: int, room: int) -> int:
    """The number of the last sentence, from ``first`` on, that fits into ``room``; never none."""
    left = room - tokens(short_name(passage.title)) - 2 * _PER_PASSAGE
    shown = lines(passage.text, "99").splitlines()[first - 1 :]
    for place, line in enumerate(shown):
        left -= tokens(line) + 2
        if left < 0 and place:
            return first + place - 1
    return first + max(0, len(shown) - 1)


def _pieces(groups: Sequence[Stated], room: int, shown: Numbering) -> list[tuple[str, str]]:
    """Ids of passages, with the facts that they state under their numbers, as ``shown`` has them; several pieces of a
    passage where they do not fit on one page."""
    pieces: list[tuple[str, str]] = []
    for group in groups:
        passage = group.passage
        title = f"Passage {shown.number_of(passage)}: {short_name(passage.title)}"
        told = [shown.told(passage, start, end, text) for _, text, start, end in group.facts]
        inner = room - tokens(title) - 3  # the ends of its first and of its last lines
        if tokens("\n".join([title, *told])) + 1 <= room:
            pages = [told]
        else:
            parts = [part.strip() for line in told for part in cut(line, inner - 1)]
            pages = [[parts[each] for each in page] for page in pack(parts, inner)]
        pieces += [(passage.id, "\n".join([title, *page])) for page in pages]
    return pieces


def gathered(notebooks: Iterable[tuple[str, Numbering]]) -> tuple[list[str], Numbering]:
    """``notebooks``, each with the numbers of its own walk, by the numbers of one numbering for all. What several walks
    read has one number then; what a walk was not shown has none."""
    shown = Numbering()

    def common(own: Numbering, numbers: Iterable[str]) -> Iterable[str]:
        return filter(None, (shown.taken(number, own) for number in numbers))

    return [renumbered(text, partial(common, own)) for text, own in notebooks], shown


def renewed(old: str, new: str, room: int) -> tuple[str, str]:
    """``new`` in place of ``old``, in ``room`` tokens; and what there is to say of it, empty where it is as the model
    wrote it.

    The model is asked to repeat what shall stay, and may forget it: notes whose numbers, such as [2.3], stand nowhere
    in ``new`` are kept before it. Where that is too long, the oldest are left out: first what ``old`` has too, from its
    beginning.
    """
    new, old = settled(new), settled(old)
    before, after = ([text[each.start : each.end].strip() for each in sentences(text)] for text in (old, new))
    marked = set(marks_in(new))
    forgotten = [note for note in before if (own := set(marks_in(note))) and not own & marked]
    notes = [*forgotten, *after]
    known = {normalise_name(note) for note in before}
    oldest = sorted(range(len(notes)), key=lambda place: (normalise_name(notes[place]) not in known, place))
    size = sum(tokens(note) + 1 for note in notes)
    dropped: set[int] = set()
    for place in oldest[:-1]:
        if size <= room:
            break
        dropped.add(place)
        size -= tokens(notes[place]) + 1
    left = [note for place, note in enumerate(notes) if place not in dropped]
    text = "\n".join(left if dropped else [*forgotten, new])
    start = 0 if (over := tokens(text) - room) <= 0 else head(text, over + 1)
    told = [f"{counted(len(forgotten), 'earlier note')} kept that it forgot"] if forgotten else []
    told += [f"notebook too long: its {counted(len(dropped), 'oldest note')} left out"] if dropped else []
    told += [f"notebook cut by {start:,} characters"] if start else []
    return text[start:].strip(), "; ".join(told)
