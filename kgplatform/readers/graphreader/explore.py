"""One walk of GraphReader (section 3.3.2): the facts of a node, then passages of text, then a neighbour, and again.

    path = explore(1, "Never Too Loud", brief, nodes, run.chat, run.tell)
    path.notebook, path.calls.counts, path.calls.steps

At each step the model sees the question, the plan, what it did before, its notebook, and what is there to read; it
rewrites the notebook and calls one function. What does not fit into the window is shown page by page, which is still
one function call. Walks share nothing, so that several run at the same time.

Passages are known to the model by short ids that no other walk of the run uses: the k-th passage that walk p meets is
``ID-<1000 p + k>``, whatever the threads of the other walks do.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from kgplatform.errors import ModelError, ReplyError
from kgplatform.models.chat import Chat, metered
from kgplatform.prompt import Messages
from kgplatform.readers.graphreader.actions import FALLBACK, Read, Stage, ask_step, same_name, wanted_step
from kgplatform.readers.graphreader.brief import PROMPTS, Brief, reminded
from kgplatform.readers.graphreader.notebook import renewed
from kgplatform.readers.run import Calls, StepFound, Tell
from kgplatform.readers.window import cut, head, pack, short_name, tokens
from kgplatform.records import FoundPassage
from kgplatform.retrieve.nodes import NodeFacts, Nodes, Stated, ToRead
from kgplatform.text import counted, listed

_WIDTH = 1000
_CHARACTERS_PER_TOKEN = 6
"""More than text has: what lies around a passage is read from the graph by characters, and cut by tokens."""


@dataclass
class Walk:
    """One walk. ``actions``: what it did, in words; ``made``: function calls; ``ended``: why it is over.

    ``queue``: passages to read, by id, each from the character where what was read of it ends. ``visited``, ``read``
    and ``facts`` (id to text) are in the order in which the walk came to them.
    """

    number: int
    node: str
    calls: Calls
    notebook: str = ""
    queue: deque[tuple[str, int]] = field(default_factory=deque)
    actions: list[str] = field(default_factory=list)
    made: int = 0
    visited: dict[str, None] = field(default_factory=dict)
    read: dict[str, FoundPassage] = field(default_factory=dict)
    facts: dict[str, str] = field(default_factory=dict)
    ended: str = ""
    error: ModelError | None = None
    passages: dict[int, str] = field(default_factory=dict)
    _labels: dict[str, str] = field(default_factory=dict)

    def label(self, passage: str, title: str) -> str:
        """The passage's short id and its document's title, as prompts show it."""
        if passage not in self._labels:
            count = len(self._labels) + 1
            number = (self.number * _WIDTH if count < _WIDTH else self.number * _WIDTH**2) + count
            self.passages[number] = passage
            self._labels[passage] = f"ID-{number} ({short_name(title)})"
        return self._labels[passage]

    def labels(self, passages: Iterable[str]) -> list[str]:
        """Of passages that the walk has met."""
        return [self._labels[passage] for passage in passages]

    def ids(self, passages: Iterable[str]) -> list[str]:
        """The short ids alone of passages that the walk has met."""
        return [label.partition(" ")[0] for label in self.labels(passages)]

    def do(self, stage: str, function: str, where: str, arguments: str = "") -> None:
        """Note a function call."""
        self.made += 1
        self.calls.counts[f"{stage}.{function}"] += 1
        self.actions.append(f"at {where}: {function}({arguments})")

    def put_first(self, passage: str, *, after_rest_of: str = "") -> None:
        """Into the queue at the front, or behind what is left of ``after_rest_of`` there."""
        rest_is_first = bool(self.queue) and self.queue[0][0] == after_rest_of and self.queue[0][1] > 0
        self.queue.insert(1 if rest_is_first else 0, (passage, 0))

    def end(self, reason: str) -> None:
        """The walk is over; its last step says why."""
        self.ended = reason
        self.calls.amend(f"the path ends: {reason}")


_FAULTS = {
    "no action": "there was no function in it.",
    "unknown passage": "it names a passage ID that was not shown.",
    "unknown node": "it names a node that is not in the list.",
    "visited node": "it names a node that you were at before.",
}
_FORMS: dict[Stage, str] = {
    "facts": '{"reasoning": "…", "notebook": "…", "action": "read_chunk" or "stop_and_read_neighbor", '
    '"chunks": ["ID-…"]}',
    "chunk": '{"reasoning": "…", "notebook": "…", "action": "search_more", "read_previous_chunk", '
    '"read_subsequent_chunk" or "termination"}',
    "neighbours": '{"reasoning": "…", "action": "read_neighbor_node" or "termination", "node": "a name from the list"}',
}
_Judge = Callable[[Read], str]


def explore(number: int, start: str, brief: Brief, nodes: Nodes, chat: Chat, tell: Tell) -> Walk:
    """Walk number ``number`` from the node ``start``, to its end. A failing model ends it: see ``error``."""
    path = Walk(number, start, Calls(*metered(chat), tell, path=number))
    walker = _Walker(path, brief, nodes)
    try:
        walker.walk()
    except ModelError as error:
        path.error = error
        walker.fail(error)
    return path


class _Walker:
    """Takes the steps of ``path``, one method a stage."""

    def __init__(self, path: Walk, brief: Brief, nodes: Nodes) -> None:
        self.path = path
        self.brief = brief
        self.options = brief.options
        self.nodes = nodes
        self.calls = path.calls
        self.elements: tuple[str, ...] = ()
        self._begin("facts")

    def walk(self) -> None:
        """From the facts of the first node until the path ends. Raises ``ModelError``."""
        while not self.path.ended:
            if self._may_continue("facts"):
                self._read_facts()
            while self.path.queue and self._may_continue("chunk"):
                self._read_next_passage()
            if self._may_continue("neighbours"):
                self._read_neighbours()

    def fail(self, error: ModelError) -> None:
        """The step that the model failed in, and the end of the path."""
        self._add(self.stage, f"at {self.path.node}: failed: {error}", StepFound(elements=self.elements))
        self.path.end("the model failed")

    def _may_continue(self, stage: Stage) -> bool:
        """Whether the path has not ended, and has a call left; the next step begins now."""
        if not self.path.ended and self.path.made >= self.options.calls:
            self.path.end(f"the limit of {self.options.calls} function calls")
        self._begin(stage)
        return not self.path.ended

    def _read_facts(self) -> None:
        """Passages into the queue, chosen by what they state of the node: one call, whatever its pages."""
        path, node = self.path, self.path.node
        path.visited[node] = None
        found = self.nodes.facts(node, self.options.passages)
        self.elements = found.elements
        facts = [fact for group in found.groups for fact in group.facts]
        path.facts.update(facts)
        shown = StepFound(found.queries, tuple(id_ for id_, _ in facts), elements=found.elements)
        if not found.groups:
            self.calls.note("facts", f"at {node}: it has no facts any more", found=shown)
            return
        actions = self.brief.shown_actions(path.actions)
        pages, groups = self._fact_pages(found, self.brief.step_room("facts", short_name(node), actions))
        chosen: dict[str, None] = {}
        for number, page in enumerate(pages, 1):
            read = self._ask("facts", node, "\n".join(page), actions, _page(number, len(pages)))
            self._take_notebook(read)
            chosen.update(dict.fromkeys(self._known(read)))
            if number < len(pages):
                said = f"at {node}: passages to read: {', '.join(path.ids(self._known(read))) or 'none'}"
                self._add(f"facts, page {number} of {len(pages)}", said, shown)
                shown = StepFound(elements=found.elements)
                self._begin("facts")
        function = "read_chunk" if chosen else "stop_and_read_neighbor"
        path.do("facts", function, short_name(node), listed(path.ids(chosen)) if chosen else "")
        path.queue.extend((passage, 0) for passage in chosen)
        where = f"at {node}: {listed(path.labels(chosen))}" if chosen else f"at {node}"
        facts_shown = sum(line.startswith("- ") for page in pages for piece in page for line in piece.splitlines())
        said = _shown(found, groups, facts_shown)
        self._add(function, f"{where}; {said}", replace(shown, passages=tuple(chosen)))

    def _fact_pages(self, found: NodeFacts, room: int) -> tuple[list[list[str]], int]:
        """The facts of a node, a page after the other, and of how many passages they are.

        In reading order where they fit on one page; else those of the passages nearest to the question first, and no
        more pages than there may be.
        """
        groups = list(found.groups)
        pieces = [(group.passage, piece) for group in groups for piece in self._group_pieces(group, room)]
        pages = pack([piece for _, piece in pieces], room)
        if len(pages) > 1:
            groups.sort(key=lambda group: -group.nearness)
            pieces = [(group.passage, piece) for group in groups for piece in self._group_pieces(group, room)]
            pages = self._bounded(pack([piece for _, piece in pieces], room))
        return [[pieces[each][1] for each in page] for page in pages], len(
            {pieces[n][0] for page in pages for n in page}
        )

    def _bounded(self, pages: list[list[int]]) -> list[list[int]]:
        return pages if self.options.is_paper else pages[: self.options.list_pages]

    def _group_pieces(self, group: Stated, room: int) -> list[str]:
        """The facts of a passage under its id; several pieces where they do not fit on one page."""
        label = self.path.label(group.passage, group.title)
        lines = [f"- {text}" for _, text in group.facts]
        whole = "\n".join([label, *lines]) + "\n"
        if tokens(whole) + 1 <= room:
            return [whole]
        inner = room - tokens(label) - 3  # the ends of its first and of its last lines
        parts = [part.strip() for line in lines for part in cut(line, inner - 1)]
        return ["\n".join([label, *(parts[each] for each in page)]) + "\n" for page in pack(parts, inner)]

    def _known(self, read: Read) -> list[str]:
        """The passages that a reply wants to read."""
        numbers = read.chunks if read.function == "read_chunk" else ()
        return [self.path.passages[number] for number in numbers if number in self.path.passages]

    def _read_next_passage(self) -> None:
        """The next passage of the queue with those around it, or as much of it as fits; what is left of it is next."""
        path = self.path
        wanted, start = path.queue.popleft()
        if not start and wanted in path.read:
            return
        found = self.nodes.to_read(wanted, self.options.reading_tokens * _CHARACTERS_PER_TOKEN)
        passage = found.passage
        if passage is None:
            self.calls.counts["malformed.passage is gone"] += 1
            self.calls.note("chunk", f"{path.ids([wanted])[0]} is no longer in the graph", found.queries)
            return
        actions = self.brief.shown_actions(path.actions)
        label = path.label(passage.id, passage.title)
        room = self.brief.step_room("chunk", label, actions)
        end = start + head(passage.text[start:], room)
        part = _part(start, end, len(passage.text))
        window = [passage] if part else self._reading_window(passage, found, room)
        if end < len(passage.text):
            path.queue.appendleft((passage.id, end))
        path.read.update({each.id: each for each in window})
        shown = (
            [self._chunk_text(each) for each in window]
            if not part
            else [f"Chunk {label}{part}:\n{passage.text[start:end]}"]
        )
        read = self._ask("chunk", label, "\n\n".join(shown), actions, "")
        self._take_notebook(read)
        ids = path.ids(each.id for each in window)
        where = ids[0] if len(ids) == 1 else f"{ids[0]} to {ids[-1]}"
        path.do("chunk", read.function, where)
        outcome = self._follow(read.function, window, found)
        around = f" with {counted(len(window) - 1, 'passage')} around it" if len(window) > 1 else ""
        detail = f"in {label}{around}{part}; {outcome}" if outcome else f"in {label}{around}{part}"
        self._add(read.function, detail, StepFound(found.queries, passages=tuple(each.id for each in window)))
        if read.function == "termination":
            path.end("enough was found")

    def _reading_window(self, passage: FoundPassage, found: ToRead, room: int) -> list[FoundPassage]:
        """``passage`` with those after and before it in turn, as many as fit, up to what was read before."""
        window = [passage]
        sides = {"after": list(found.after), "before": list(found.before[::-1])}
        left = min(room, self.options.reading_tokens) - tokens(self._chunk_text(passage))
        while sides:
            for side, near in list(sides.items()):
                size = tokens(self._chunk_text(near[0])) + 2 if near else 0
                if not near or near[0].id in self.path.read or size > left:
                    del sides[side]
                    continue
                left -= size
                window.insert(0 if side == "before" else len(window), near.pop(0))
        return window

    def _chunk_text(self, passage: FoundPassage) -> str:
        return f"Chunk {self.path.label(passage.id, passage.title)}:\n{passage.text}"

    def _follow(self, function: str, window: Sequence[FoundPassage], found: ToRead) -> str:
        """Puts the passage before or after the window into the queue; in words, what came of it."""
        if function not in ("read_previous_chunk", "read_subsequent_chunk"):
            return ""
        is_before = function == "read_previous_chunk"
        read = {each.id for each in window}
        beyond = [each for each in (found.before[::-1] if is_before else found.after) if each.id not in read]
        if not beyond:
            return f"there is none {'before' if is_before else 'after'} it, so the queue is next"
        label = self.path.label(beyond[0].id, beyond[0].title)
        if beyond[0].id in self.path.read:
            return f"{label} was read before"
        self.path.put_first(beyond[0].id, after_rest_of="" if is_before else window[-1].id)
        return f"next is {label}"

    def _read_neighbours(self) -> None:
        """On to a neighbour, or the end: one call, whatever its pages; the first page that names one counts."""
        path, node = self.path, self.path.node
        found = self.nodes.neighbours(node, self.options.neighbours)
        shown = StepFound(found.queries, elements=self.elements)
        if not found.names:
            self.calls.note("neighbours", f"{node} has none", found=shown)
            path.end("there is no neighbour")
            return
        bound = "" if len(found.names) == found.total else f"the nearest {len(found.names):,} of "
        how_many = bound + counted(found.total, "neighbour")
        if self.options.random_nodes is not None:
            self._go(self._drawn(found.names), f"{how_many}; drawn at random", shown)
            return
        names = {short_name(name): name for name in found.names}
        actions = self.brief.shown_actions(path.actions)
        listed_names = list(names)
        pages = self._bounded(pack(listed_names, self.brief.step_room("neighbours", short_name(node), actions)))
        if (fit := sum(map(len, pages))) < found.total:
            how_many = f"the nearest {fit:,} of {counted(found.total, 'neighbour')}"
        for number, page in enumerate(pages, 1):
            data, place = "\n".join(listed_names[each] for each in page), _page(number, len(pages))
            read = self._ask("neighbours", node, data, actions, place, partial(self._judge_node, names))
            if read.function == "read_neighbor_node":
                self._go(names[same_name(read.node, names) or ""], how_many, shown)
                return
            if number < len(pages):
                self._add(f"neighbours, page {number} of {len(pages)}", f"at {node}: none of these", shown)
                shown = StepFound(elements=self.elements)
                self._begin("neighbours")
        self._go(None, how_many, shown)

    def _go(self, name: str | None, how_many: str, shown: StepFound) -> None:
        """To the neighbour ``name``; without one the path ends."""
        path, node = self.path, self.path.node
        function = "termination" if name is None else "read_neighbor_node"
        path.do("neighbours", function, short_name(node), short_name(name or ""))
        detail = f"at {node}: {how_many}" if name is None else f"from {node} to {name}, of {how_many}"
        self._add(function, detail, shown)
        if name is None:
            path.end("no neighbour was chosen")
        else:
            path.node = name

    def _drawn(self, names: Sequence[str]) -> str | None:
        """A neighbour at random, the same for the same seed and path, of those where the path was not yet."""
        new = [name for name in names if name not in self.path.visited]
        chance = random.Random(f"{self.options.random_nodes} {self.path.number} {self.path.made}")
        return chance.choice(new) if new else None

    def _judge_node(self, names: dict[str, str], read: Read) -> str:
        if read.function != "read_neighbor_node":
            return ""
        name = same_name(read.node, names)
        if name is None:
            return "unknown node"
        return "visited node" if names[name] in self.path.visited else ""

    def _ask(self, stage: Stage, node: str, data: str, actions: str, page: str, judge: _Judge | None = None) -> Read:
        """What the model does. A reply that cannot be used is asked for once more; then the stage's fallback."""
        messages = self.brief.step_messages(
            stage, short_name(node) if stage != "chunk" else node, data, actions, self.path.notebook, page=page
        )
        judge = judge or self._judge_passages
        before = self.calls.made
        read = self._sent(messages, stage)
        is_second = self.calls.made > before + 1  # a reply that said nothing was asked for again
        if is_second:
            self._blame("no action")
        fault = read.fault or judge(read)
        if not fault:
            return read
        self._blame(fault)
        if self._known(read):  # what it names beside the unknown is read
            return read
        if is_second:
            return Read(read.notebook, FALLBACK[stage], fault=fault)
        again = reminded(messages, _FAULTS[fault], _FORMS[stage])
        second = self._sent(again, stage)
        notebook = second.notebook or read.notebook
        fault = second.fault or judge(second)
        if fault:
            self._blame(fault)
            for sent in (messages, again):
                self.calls.forget(sent, wanted=wanted_step(stage, self.brief.window.reply))
        if fault and not self._known(second):
            return Read(notebook, FALLBACK[stage], fault=fault)
        return replace(second, notebook=notebook)

    def _sent(self, messages: Messages, stage: Stage) -> Read:
        """What the model does; no action where neither its reply nor the one after it says anything."""
        try:
            return ask_step(self.calls, messages, stage, tokens=self.brief.window.reply)
        except ReplyError:
            return Read("", "", fault="no action")

    def _judge_passages(self, read: Read) -> str:
        """A passage id that was never shown is a fault, and so is none where text is to be read."""
        if read.function != "read_chunk":
            return ""
        unknown = any(number not in self.path.passages for number in read.chunks)
        return "unknown passage" if unknown or not read.chunks else ""

    def _blame(self, fault: str) -> None:
        self.faults.append(fault)
        self.calls.counts[f"malformed.{fault}"] += 1

    def _take_notebook(self, read: Read) -> None:
        """The new notebook, cut where it is too long; a reply without one leaves the old one."""
        if read.notebook:
            noted = renewed(self.path.notebook, read.notebook, self.brief.notebook)
            self.path.notebook = noted.text
            self.calls.counts["cut.notebook"] += "notebook" in noted.said
            self.calls.counts["kept.forgotten notes"] += "forgot" in noted.said
            self.faults += [noted.said] if noted.said else []

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
            self.calls.add(name, detail, self.mark, prompt=prompt, found=found, notebook=self.path.notebook or None)


def _page(number: int, pages: int) -> str:
    """Which page of a list this is, for a prompt; nothing where there is one only."""
    return f" (page {number} of {pages}; the other pages are asked about apart)" if pages > 1 else ""


def _part(start: int, end: int, length: int) -> str:
    """Which characters of a passage these are; nothing where they are all."""
    whole = not start and end == length
    return "" if whole else f" (characters {start:,} to {end:,} of {length:,}; the next part follows by itself)"


def _shown(found: NodeFacts, passages: int, facts: int) -> str:
    """How much of a node was shown: "2 facts of 2 passages shown", "… of the nearest 200 of 3,120 passages shown"."""
    bound = "" if passages == found.passages else f"the nearest {passages:,} of "
    return f"{counted(facts, 'fact')} of {bound}{counted(found.passages, 'passage')} shown"
