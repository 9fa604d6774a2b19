"""The rounds of LongAgent's team: everybody is asked, conflicts are resolved, the leader decides (section 2).

    meeting = Meeting(team, leader, calls, counts, options)
    meeting.hold(instruction)          # the answer
    meeting.sources()                  # the passages of the members whose answers were left, the likeliest first

Each round is a step of the trace, each member that found something one beside it, each conflict one after them. A
member is told as it answers, before the round is.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kgplatform.errors import ModelError
from kgplatform.readers.calls import Calls
from kgplatform.readers.citations import cite_words
from kgplatform.readers.longagent.conflict import Cluster, Merge, Reading, Resolution, Way, clustered, resolve
from kgplatform.readers.longagent.envelope import Envelope
from kgplatform.readers.longagent.leader import Leader, Round
from kgplatform.readers.longagent.options import MEMBER_PROMPT, Options
from kgplatform.readers.longagent.team import Outcome, Reply, Team
from kgplatform.records import FoundPassage, Step, Usage
from kgplatform.text import normalise_name

NOBODY = "No member found what the instruction asks for."
NOTHING_CONFIRMED = (
    "Nothing was confirmed: members gave different answers, and took them back when they read each other's parts."
)
_SOURCES = 100
"""Passages that are kept as evidence."""

_LISTED = 10


@dataclass
class Meeting:
    """The discussion of one question. What is said is added to ``calls`` as steps, what happens is counted."""

    team: Team
    leader: Leader
    calls: Calls
    counts: Counter[str]
    options: Options
    errors: list[ModelError] = field(default_factory=list)
    found: list[tuple[Cluster, ...]] = field(default_factory=list)

    def hold(self) -> str:
        """The leader's answer, after as many rounds as it needs or may have. Raises ``ModelError``."""
        instruction = self.leader.instruct(len(self.team))
        earlier: dict[str, dict[int, str]] = {}
        for number in range(1, self.options.rounds + 1):
            answers = self._ask(number, instruction)
            clusters = self._clusters(answers)
            resolution = self._resolve(number, instruction, clusters, str(number))
            seen = self._seen(number, instruction, resolution, any_found=bool(answers))
            self.found.append(resolution.clusters)
            if earlier.get(normalise_name(instruction)) == answers:
                self.counts["repeated instruction"] += 1
                break
            earlier[normalise_name(instruction)] = answers
            decision = self._decide(seen, resolution)
            if decision is None:
                break
            if decision.type == "answer":
                self.counts["actions.answer"] += 1
                return decision.content
            instruction = decision.content
        self.counts["actions.answer"] += 1
        return self.leader.end(seen)

    def sources(self) -> list[FoundPassage]:
        """The passages of the members whose answers were left: those with the words of the answer, then the others;
        the last round first, in it by member. At most a hundred."""
        ranked: dict[tuple[str, int], tuple[bool, FoundPassage]] = {}
        for clusters in reversed(self.found):
            for cluster in clusters:
                for passage in (each for number in cluster.members for each in self.team.member(number).passages):
                    said = bool(cite_words(cluster.answer, [passage]))
                    ranked.setdefault((passage.id, passage.start), (said, passage))
        return [passage for _, passage in sorted(ranked.values(), key=lambda each: not each[0])][:_SOURCES]

    # ------------------------------------------------------------------------------------------------------ a round

    def _ask(self, number: int, instruction: str) -> dict[int, str]:
        """What every member found, by its number. Raises ``ModelError`` where all calls failed."""
        started = time.perf_counter()

        def heard(reply: Reply) -> None:
            if reply.outcome == "answer":
                self.calls.tell(self._member_step(number, reply))

        everybody = [(each.number,) for each in self.team.members]
        replies = self.team.ask(instruction, everybody, stage="member", heard=heard)
        self.counts["rounds"] += 1
        self.counts["actions.query"] += 1
        self._count("member", replies)
        outcomes = Counter(each.outcome for each in replies)
        self.counts["no mention"] += outcomes["no mention"]
        silent = sum((each.step.usage for each in replies if each.outcome != "answer"), Usage())
        detail = f"round {number}; {_asked_in_words(replies, outcomes)}"
        seconds = round(time.perf_counter() - started, 4)
        self.calls.take(Step("members", detail, seconds, prompt=MEMBER_PROMPT, usage=silent))
        self.calls.steps += [self._member_step(number, each) for each in replies if each.outcome == "answer"]
        if outcomes["failed"] == len(replies):
            raise next(each.error for each in replies if each.error is not None)
        return {each.member: each.text for each in replies if each.outcome == "answer"}

    def _member_step(self, number: int, reply: Reply) -> Step:
        """What a member found in round ``number``. Its path is known before the others have answered."""
        path = (number - 1) * len(self.team) + reply.member
        passages = tuple(each.id for each in self.team.member(reply.member).passages)
        return replace(reply.step, path=path, passages=passages)

    def _clusters(self, answers: dict[int, str]) -> list[Cluster]:
        """Members with the same answer together; by the paper's letters where its way of resolving is wanted."""
        if not self.leader.expert.resolves:
            return [Cluster(text, (number,)) for number, text in answers.items()]
        return clustered(answers, exact=self.options.conflict == "once")

    def _seen(self, number: int, instruction: str, resolution: Resolution, *, any_found: bool) -> Round:
        """The round as the leader is shown it."""
        clusters = resolution.clusters
        labels = [place for place, each in enumerate(clusters, 1) if each in resolution.unsettled]
        status = ""
        if labels:
            status = f"Replies {_listed(labels)} contradict each other, and members could not settle it between them."
        elif not clusters:
            status = NOTHING_CONFIRMED if any_found else NOBODY
        shown = self.leader.shown([each.answer for each in clusters], instruction)
        return Round(number, instruction, shown, status)

    def _decide(self, seen: Round, resolution: Resolution) -> Envelope | None:
        """The leader's decision. A conflict that it raises itself is resolved, between the replies that it names."""
        decision = self.leader.decide(seen, settled=self.options.conflict == "off")
        if decision is None or decision.type != "conflict":
            return decision
        clusters = resolution.clusters
        named = [each for place, each in enumerate(clusters, 1) if place in decision.numbers]
        chosen = named if len(named) > 1 else list(clusters)
        again = self._resolve(seen.number, seen.instruction, chosen, f"{seen.number} again", self.options.conflict)
        left = sorted([*again.clusters, *(each for each in clusters if each not in chosen)], key=lambda c: c.members)
        resolution = Resolution(tuple(left), again.merges, again.unsettled)
        self.found[-1] = resolution.clusters
        return self.leader.decide(
            self._seen(seen.number, seen.instruction, resolution, any_found=bool(clusters)), settled=True
        )

    # ---------------------------------------------------------------------------------------------------- conflicts

    def _resolve(
        self, number: int, instruction: str, clusters: Sequence[Cluster], draw: str, way: Way | None = None
    ) -> Resolution:
        """What is left of ``clusters``. ``way`` is given where the leader wants it, whatever its members' kind."""
        way = way or (self.options.conflict if self.leader.expert.resolves else "off")
        if way == "off" or len(clusters) < 2:
            return Resolution(tuple(clusters), (), ())
        self.counts["actions.conflict"] += 1
        self.calls.note("conflict", f"CONFLICT in round {number}: {_shown_clusters(clusters)}")
        heard: list[list[Reply]] = []

        def reread(pairs: Sequence[tuple[int, int]]) -> list[Reading]:
            heard.append(self.team.ask(instruction, pairs, stage="merge"))
            return [Reading(each.text or None, failed=each.outcome in ("malformed", "failed")) for each in heard[-1]]

        chance = random.Random(f"{self.options.seed} {draw}")
        done = resolve(clusters, way, reread, lambda said, member: self.team.member(member).says(said), chance)
        for merge, replies in zip(done.merges, heard, strict=True):
            self._count("merge", replies)
            self.calls.take(self._merge_step(merge, replies))
        self.counts["unsettled"] += sum(each.unsettled for each in done.merges)
        return done

    def _merge_step(self, merge: Merge, replies: Sequence[Reply]) -> Step:
        passages = [each.id for number in (merge.first, merge.second) for each in self.team.member(number).passages]
        return Step(
            "merge",
            f"members {merge.first} and {merge.second}: {_verdict(merge)}",
            max(each.step.seconds for each in replies),
            prompt=MEMBER_PROMPT,
            reply="\n\n".join(each.step.reply for each in replies),
            passages=tuple(dict.fromkeys(passages)),
            usage=sum((each.step.usage for each in replies), Usage()),
        )

    def _count(self, kind: str, replies: Sequence[Reply]) -> None:
        """Calls, and what was wrong with them."""
        self.counts[f"calls.{kind}"] += sum(each.calls for each in replies)
        for reply in replies:
            for fault, times in reply.faults.items():
                self.counts[f"malformed.{fault}"] += times
            if reply.outcome == "malformed":
                self.counts[f"malformed.{kind}"] += 1
            if reply.error is not None:
                self.counts[f"failed.{kind}"] += 1
                self.errors.append(reply.error)


def _asked_in_words(replies: Sequence[Reply], outcomes: Counter[Outcome]) -> str:
    """``parts: 43; all calls: 45, tokens: 51,234 in and 900 out; found something: 5 …``."""
    usage = sum((each.step.usage for each in replies), Usage())
    calls = sum(each.calls for each in replies)
    spent = f"all calls: {calls:,}, tokens: {usage.input_tokens:,} in and {usage.output_tokens:,} out"
    own = " (each a step of its own)" if outcomes["answer"] else ""
    said = f"found something: {outcomes['answer']:,}{own}, nothing: {outcomes['no mention']:,}"
    said += f", gave no reply that can be used: {outcomes['malformed']:,}" if outcomes["malformed"] else ""
    said += f", could not be asked: {outcomes['failed']:,}" if outcomes["failed"] else ""
    return f"parts: {len(replies):,}; {spent}; {said}"


def _shown_clusters(clusters: Sequence[Cluster]) -> str:
    shown = [f"‘{each.answer}’ ({_numbers(each.members)})" for each in clusters[:_LISTED]]
    more = f"; and {len(clusters) - _LISTED:,} more" if len(clusters) > _LISTED else ""
    return f"{len(clusters):,} different answers: {'; '.join(shown)}{more}"


def _numbers(members: Sequence[int]) -> str:
    shown = ", ".join(map(str, members[:_LISTED]))
    more = f" and {len(members) - _LISTED:,} more" if len(members) > _LISTED else ""
    return f"member{'' if len(members) == 1 else 's'} {shown}{more}"


def _listed(labels: Sequence[int]) -> str:
    """The first numbers of a list of any length, so that a status has its bounds."""
    shown = [str(each) for each in labels[:_LISTED]]
    more = [f"{len(labels) - _LISTED:,} more"] if len(labels) > _LISTED else []
    parts = [*shown, *more]
    return f"{', '.join(parts[:-1])} and {parts[-1]}"


def _verdict(merge: Merge) -> str:
    kept, dropped = (", ".join(f"‘{each}’" for each in answers) for answers in (merge.kept, merge.dropped))
    if merge.unsettled:
        return f"not settled: {kept}"
    if not merge.kept:
        return f"neither answer stays: {dropped}"
    if len(merge.dropped) > 1:
        return f"{kept} takes the place of {dropped}"
    return f"{kept} stays" + (f", {dropped} is dropped" if dropped else "")
