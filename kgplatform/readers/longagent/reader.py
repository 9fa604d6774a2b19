"""Reader ``longagent`` (LongAgent, EMNLP 2024 and arXiv 2402.11550): a leader asks a team that shares out the text.

    answer(question, run, Options(member_tokens=1024))

Each member reads a part. In every round the leader gives all of them an instruction and groups what they answer,
members that contradict each other read both parts, and the leader answers or asks on. So no prompt is longer than the
window, however long the text, and the cost grows with its length: in a round a call for each member, one to group
answers that differ, for each conflict one or two, and one of the leader.

    members, source, queries = read_parts(question, evidence, options, room=8192)
    team = Team(members, chat, sizes, Numbering())
    replies = team.ask("Who kept the lamp?", [(1,), (2,), (1, 2)], stage="member")    # the last reads both parts

Members know their own part and the instruction, and remember nothing (section 2.1). A part has whole paragraphs where
that is possible, of several documents where they are small, each under its title; the parts together are all of the
text. A conflict sends the texts of two members in one prompt, so that a member's text is less than half of the window.
"""

from __future__ import annotations

import random
import re
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock

from kgplatform.concurrency.threads import side_by_side
from kgplatform.errors import BudgetError, InputError, ModelError, ReplyError
from kgplatform.models.chat import Chat, ManyModels, metered
from kgplatform.models.reply import ask
from kgplatform.prompt import Messages, fence_for, render
from kgplatform.readers.answer import NOTHING_NEAR, REFUSAL, Answered, AnswerReply, answer_of, record, without_model
from kgplatform.readers.longagent.conflict import (
    Cluster,
    Duel,
    MemberOutcome,
    MemberReply,
    Merge,
    Resolution,
    clustered,
    once,
    sorted_out,
    tournament,
)
from kgplatform.readers.longagent.leader import Leader, Round
from kgplatform.readers.longagent.options import (
    JOINT_PROMPT,
    MEMBER_PROMPT,
    Decided,
    Options,
    Responded,
    Sizes,
    sizes_of,
)
from kgplatform.readers.reader import Reader
from kgplatform.readers.relevance import Asked
from kgplatform.readers.run import Calls, Run
from kgplatform.readers.selection import around_best, weighed
from kgplatform.readers.window import Numbering, cost_of, heading_cost, length_within
from kgplatform.records import Answer, FoundPassage, QueryRun, SearchResult, Step, Usage
from kgplatform.search.evidence import Evidence
from kgplatform.search.found import part_of
from kgplatform.search.question import asked
from kgplatform.text import listed, normalise_name, tidy
from kgplatform.text.matching import find_names
from kgplatform.text.sentences import numbers_in

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


_LARGE = 100  # members. What a larger team costs is said with its answer.


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer of the leader, the sentences that members named for it, and the discussion step by step.

    Raises ``InputError`` for a question that is empty or too long for the window, or a model that the server does not
    have beside its own; ``BudgetError`` where the tokens ran out; ``ModelError`` where the model failed for the leader,
    or for all members of a round.
    """
    question = asked(question)
    if run.chat is None:
        found = run.evidence.search(question, documents=options.documents)
        return without_model(question, READER.name, found, run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    sizes = sizes_of(options, run.context)
    shown = Numbering()
    leader = Leader(question, options, calls, sizes, shown)
    members, source, queries = read_parts(question, run.evidence, options, sizes.text)
    chat = run.chat
    if options.member_model and options.member_model != chat.model:  # another model of the leader's server
        if not isinstance(chat, ManyModels):
            only = f"{chat.model} is the only language model here. Leave out member_model."
            raise InputError(only, "member_model")
        chat = chat.with_model(options.member_model)
    team = Team(members, chat, sizes, shown)
    calls.note("team", f"{source}; the leader's model: {calls.model}, the members': {team.model}", queries)
    calls.counts["members"] = len(members)
    if not members:
        nothing = SearchResult(question, (), (), 0.0)
        return record(READER.name, Answered(REFUSAL, note=NOTHING_NEAR), nothing, calls)
    if options.task == "auto":
        leader.recruit()
    meeting = Meeting(team, leader)
    said = meeting.hold()
    calls.counts["calls.leader"] = calls.made
    if said.sufficient and not said.evidence:
        said = said.model_copy(update={"evidence": meeting.named(said.answer)})
    result = SearchResult(question, tuple(meeting.sources()), (), 0.0)
    return record(READER.name, answer_of(said, shown, options.mode), result, calls, *_notes(meeting), is_shown=False)


def _notes(meeting: Meeting) -> list[str]:
    """What a large team cost, in calls and tokens; and how often a member was not heard: its reply could not be used,
    or its call failed."""
    counts, usage, errors = meeting.counts, meeting.calls.usage, meeting.errors
    notes = []
    size = len(meeting.team.members)
    if size > _LARGE:
        made = sum(number for name, number in counts.items() if name.startswith("calls."))
        notes.append(
            f"The team of {size:,} members took {made:,} calls, with {usage.input_tokens:,} tokens in and "
            f"{usage.output_tokens:,} out."
        )
    unusable = counts["malformed.member"] + counts["malformed.merge"]
    said = [f"members' replies that could not be used: {unusable:,}"] if unusable else []
    said += [f"members' calls that failed: {len(errors):,}, the first: {errors[0]}"] if errors else []
    if said:
        notes.append(f"What some members read may be missing here; {'; '.join(said).rstrip('.')}.")
    return notes


NOBODY = "No member found what the instruction asks for."
NOTHING_CONFIRMED = (
    "Nothing was confirmed: members gave different answers, and took them back when they read each other's parts."
)
COLLECTED = (
    "Each of the replies is what one part has; the parts do not overlap: unite the items of a list, add up counts."
)
_SOURCES = 100  # passages that are kept as evidence
_NAMED = 12  # sentences that stand behind an answer of the leader that names none
_LISTED = 10


class Meeting:
    """The discussion of one question: everybody is asked, conflicts are resolved, the leader decides.

    Each round is a step of the trace, each member that found something one beside it, each conflict one after them. A
    member's step is reported as it answers, before that of the round.
    """

    def __init__(self, team: Team, leader: Leader) -> None:
        self.team = team
        self.leader = leader
        self.calls = leader.calls
        self.counts = leader.calls.counts
        self.options = leader.options
        self.errors: list[ModelError] = []
        self.found: list[tuple[Cluster, ...]] = []

    def hold(self) -> AnswerReply:
        """The leader's answer, after as many rounds as it needs or may have. Raises ``ModelError``."""
        instruction = self.leader.instruct(len(self.team.members))
        earlier: dict[str, dict[int, str]] = {}
        for number in range(1, self.options.rounds + 1):
            found = self._ask(number, instruction)
            resolution = self._resolve(number, instruction, found)
            seen = self._seen(number, instruction, resolution, any_found=bool(found))
            self.found.append(resolution.clusters)
            answers = {each.member: each.text for each in found}
            if earlier.get(normalise_name(instruction)) == answers:
                self.counts["repeated instruction"] += 1
                break
            earlier[normalise_name(instruction)] = answers
            decision = self._decide(seen, resolution)
            if decision is None:
                break
            is_refusal = decision.type == "answer" and not decision.sufficient
            if is_refusal and self.found[-1] and self._resolves and self.options.conflict != "once":
                break  # though members found something: it is asked once more, with nothing else to choose
            if decision.type == "answer":
                self.counts["actions.answer"] += 1
                return decision.reply
            instruction = decision.content
        self.counts["actions.answer"] += 1
        return self.leader.end(seen)

    def named(self, answer: str) -> list[str]:
        """The sentences that members named for what the leader says; where it says nothing of theirs, for what was
        found last."""
        left = [cluster for clusters in reversed(self.found) for cluster in clusters]
        said = [each for each in left if find_names(each.answer, answer) or find_names(answer, each.answer)]
        chosen = said or next((list(clusters) for clusters in reversed(self.found) if clusters), [])
        return list(dict.fromkeys(number for cluster in chosen for number in cluster.sentences))[:_NAMED]

    def sources(self) -> list[FoundPassage]:
        """The passages of the members whose answers were left: those that they named sentences of, then the others;
        the last round first, in it by member. At most a hundred."""
        ranked: dict[tuple[str, int], tuple[bool, FoundPassage]] = {}
        for cluster in (cluster for clusters in reversed(self.found) for cluster in clusters):
            named = {int(number.partition(".")[0]) for number in cluster.sentences}
            for passage in (passage for number in cluster.members for passage in self.team.member(number).passages):
                is_named = self.team.shown.number_of(passage) in named
                ranked.setdefault((passage.id, passage.start), (is_named, passage))
        return [passage for _, passage in sorted(ranked.values(), key=lambda one: not one[0])][:_SOURCES]

    def _ask(self, number: int, instruction: str) -> list[MemberReply]:
        """What every member found. Raises ``ModelError`` where all calls failed.

        Of long parts the sentences near the instruction are shown, unless all values count; where nobody finds anything
        in them, these parts are read whole.
        """
        everybody = [member.number for member in self.team.members]
        found = self._hear(number, instruction, everybody, whole=not self._resolves)
        long = [member.number for member in self.team.members if member.cost > READ]
        if not found and long and self._resolves:
            found = self._hear(number, instruction, long, whole=True)
        self.counts["rounds"] += 1
        self.counts["actions.query"] += 1
        return found

    def _hear(self, number: int, instruction: str, asked: Sequence[int], *, whole: bool) -> list[MemberReply]:
        started = time.perf_counter()

        def heard(reply: MemberReply) -> None:
            if reply.outcome == "answer":
                self.calls.tell(self._member_step(number, reply))

        readers = [(member,) for member in asked]
        replies = self.team.ask(instruction, readers, stage="member", whole=whole, heard=heard)
        self._count("member", replies)
        found = [reply for reply in replies if reply.outcome == "answer"]
        silent = sum((reply.step.usage for reply in replies if reply.outcome != "answer"), Usage())
        outcomes, calls = Counter(reply.outcome for reply in replies), sum(reply.calls for reply in replies)
        usage = sum((reply.step.usage for reply in replies), Usage())
        self.counts["no mention"] += outcomes["no mention"]
        spent = f"all calls: {calls:,}, tokens: {usage.input_tokens:,} in and {usage.output_tokens:,} out"
        own = " (each a step of its own)" if outcomes["answer"] else ""
        said = f"found something: {outcomes['answer']:,}{own}, nothing: {outcomes['no mention']:,}"
        said += f", gave no reply that can be used: {outcomes['malformed']:,}" if outcomes["malformed"] else ""
        said += f", could not be asked: {outcomes['failed']:,}" if outcomes["failed"] else ""
        detail = f"round {number}; parts: {len(replies):,}; {spent}; {said}"
        seconds = round(time.perf_counter() - started, 4)
        self.calls.take(Step("members", detail, seconds, prompt=MEMBER_PROMPT, usage=silent))
        self.calls.steps += [self._member_step(number, reply) for reply in found]
        errors = [reply.error for reply in replies if reply.error is not None]
        if len(errors) == len(replies):
            raise errors[0]
        return found

    def _member_step(self, number: int, reply: MemberReply) -> Step:
        """What a member found in round ``number``. Its path is known before the others have answered."""
        path = (number - 1) * len(self.team.members) + reply.member
        passages = tuple(passage.id for passage in self.team.member(reply.member).passages)
        return replace(reply.step, path=path, passages=passages)

    @property
    def _resolves(self) -> bool:
        """Whether answers that differ contradict each other: one part has the answer, and no values are collected."""
        return self.leader.expert.resolves and not self.leader.collects

    def _seen(self, number: int, instruction: str, resolution: Resolution, *, any_found: bool) -> Round:
        clusters = resolution.clusters
        labels = [str(place) for place, cluster in enumerate(clusters, 1) if cluster in resolution.unsettled]
        status = COLLECTED if self.leader.collects and len(clusters) > 1 else ""
        if labels:
            several = f"{', '.join(labels[:-1])} and {labels[-1]}"
            shown = listed(labels) if len(labels) > _LISTED else several  # so that a status has its bounds
            status = f"Replies {shown} contradict each other, and members could not settle it between them."
        elif not clusters:
            status = NOTHING_CONFIRMED if any_found else NOBODY
        return Round(number, instruction, self.leader.replies(clusters, instruction), status)

    def _decide(self, seen: Round, resolution: Resolution) -> Decided | None:
        """The leader's decision. A conflict that it raises itself is resolved, between the replies that it names."""
        decision = self.leader.decide(seen, settled=self.options.conflict == "off")
        if decision is None or decision.type != "conflict":
            return decision
        clusters = resolution.clusters
        named = [cluster for place, cluster in enumerate(clusters, 1) if place in decision.numbers]
        chosen = named if len(named) > 1 else list(clusters)
        again = self._put_to_the_test(seen.number, seen.instruction, chosen, [tuple(range(len(chosen)))], " again")
        left = sorted(
            [*again.clusters, *(cluster for cluster in clusters if cluster not in chosen)], key=lambda c: c.members
        )
        resolution = Resolution(tuple(left), again.merges, again.unsettled)
        self.found[-1] = resolution.clusters
        return self.leader.decide(
            self._seen(seen.number, seen.instruction, resolution, any_found=bool(clusters)), settled=True
        )

    def _resolve(self, number: int, instruction: str, found: Sequence[MemberReply]) -> Resolution:
        """What is left of what was ``found``: members that agree together (by the paper's letters, where its way is
        wanted), once those that contradict each other were put to the test."""
        way = self.options.conflict
        if not self._resolves:
            return Resolution(tuple(Cluster(each.text, (each.member,), each.sentences) for each in found))
        clusters = clustered(found, exact=way == "once")
        if way == "off" or len(clusters) < 2:
            return Resolution(tuple(clusters))
        rivals = [tuple(range(len(clusters)))]
        if way == "group":
            clusters, rivals = sorted_out(clusters, self.leader.group(clusters, instruction))
        return self._put_to_the_test(number, instruction, clusters, rivals) if rivals else Resolution(tuple(clusters))

    def _put_to_the_test(
        self,
        number: int,
        instruction: str,
        clusters: Sequence[Cluster],
        rivals: Sequence[tuple[int, ...]],
        again: str = "",
    ) -> Resolution:
        """What is left of ``clusters`` of which the ``rivals`` contradict each other; a member reads for two."""
        if len(clusters) < 2:
            return Resolution(tuple(clusters))
        self.counts["actions.conflict"] += 1
        every = [clusters[place] for places in rivals for place in places]
        shown = [
            f"‘{each.answer}’ (member{'' if len(each.members) == 1 else 's'} {listed(list(map(str, each.members)))})"
            for each in every[:_LISTED]
        ]
        more = f"; and {len(every) - _LISTED:,} more" if len(every) > _LISTED else ""
        told = f"{len(every):,} different answers: {'; '.join(shown)}{more}"
        self.calls.note("conflict", f"CONFLICT in round {number}: {told}")
        chance = random.Random(f"{self.options.seed} {number}{again}")

        def reread(duels: Sequence[Duel]) -> list[MemberReply]:
            pairs: list[tuple[int, ...]] = [(duel.i, duel.j) for duel in duels]
            is_group = self.options.conflict == "group"
            claims = dict(zip(pairs, map(self.leader.claims, duels), strict=True)) if is_group else {}
            return self.team.ask(instruction, pairs, stage="merge", claims=claims)

        if self.options.conflict == "once":
            done = once(clusters, reread, chance)
        else:
            done = tournament(clusters, rivals, reread, chance)
        for merge in done.merges:
            self._count("merge", merge.readings)
            self.calls.take(self._merge_step(merge))
        self.counts["unsettled"] += sum(bool(merge.aside) for merge in done.merges)
        return done

    def _merge_step(self, merge: Merge) -> Step:
        replies, i, j = merge.readings, merge.duel.i, merge.duel.j
        kept, dropped = (", ".join(f"‘{answer}’" for answer in answers) for answers in (merge.kept, merge.dropped))
        if merge.aside:
            verdict = f"not settled: {kept}"
        elif not merge.kept:
            verdict = f"neither answer stays: {dropped}"
        elif len(merge.dropped) > 1:
            verdict = f"{kept} takes the place of {dropped}"
        else:
            verdict = f"{kept} stays" + (f", {dropped} is dropped" if dropped else "")
        passages = [each.id for number in (i, j) for each in self.team.member(number).passages]
        return Step(
            "merge",
            f"members {i} and {j}: {verdict}",
            max(reply.step.seconds for reply in replies),
            prompt=replies[0].step.prompt,
            reply="\n\n".join(reply.step.reply for reply in replies),
            passages=tuple(dict.fromkeys(passages)),
            usage=sum((reply.step.usage for reply in replies), Usage()),
        )

    def _count(self, kind: str, replies: Sequence[MemberReply]) -> None:
        self.counts[f"calls.{kind}"] += sum(reply.calls for reply in replies)
        for reply in replies:
            if reply.outcome == "malformed":
                self.counts[f"malformed.{kind}"] += 1
            if reply.error is not None:
                self.counts[f"failed.{kind}"] += 1
                self.errors.append(reply.error)


READER = Reader(
    "longagent",
    "A team reads all the text, a part each; a leader asks questions and settles conflicts.",
    Options,
    answer,
    title="A team reads everything (LongAgent)",
    takes="1 call for each 8,000 tokens of text, in each round",
    needs=lambda options: (),
    usual=True,
    reads=(MEMBER_PROMPT, JOINT_PROMPT),
)
