"""Reader ``longagent`` (LongAgent, EMNLP 2024 and arXiv 2402.11550): a leader asks a team that shares out the text.

    answer(question, run, Options(member_tokens=1024))

Each member reads a part. In every round the leader gives all of them an instruction, members that contradict each other
read both parts, and the leader answers or asks on. So no prompt is longer than the window, however long the text, and
the cost grows with its length: in a round a call for each member, for each conflict one or two, and one of the leader.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from kgplatform.errors import InputError
from kgplatform.models.chat import Chat, ManyModels
from kgplatform.readers.answer import NOTHING_NEAR, OWN_KNOWLEDGE, without_model
from kgplatform.readers.calls import Calls
from kgplatform.readers.longagent.leader import Leader
from kgplatform.readers.longagent.meeting import Meeting
from kgplatform.readers.longagent.options import Options
from kgplatform.readers.longagent.team import Team, read_parts
from kgplatform.readers.marked import asked, finish
from kgplatform.readers.reader import Reader
from kgplatform.readers.refusals import is_refusal
from kgplatform.readers.run import Run
from kgplatform.records import Answer
from kgplatform.retrieve.evidence import Evidence

NO_GROUND = "No member found anything in the text, so the leader's answer has no ground and was left out."

_LARGE = 100
"""Members. What a larger team costs is said with its answer."""


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer of the leader, the places of its words in what the members read, and the discussion step by step.

    Raises ``InputError`` for a question that is empty or too long for the window, or a model that the server does not
    have beside its own; ``BudgetError`` where the tokens ran out; ``ModelError`` where the model failed for the leader,
    or for all members of a round.
    """
    question = asked(question)
    if run.chat is None:
        return without_model(question, READER.name, run.evidence.search_in(question, options.documents), run.tell)
    calls, counts = Calls(run.chat, run.ledger, run.tell), Counter[str]()
    leader = Leader(question, options, calls, counts)
    parts = read_parts(question, run.evidence, options)
    team = Team(parts.members, _members_chat(run.chat, options.member_model))
    models = f"the leader's model: {calls.model}, the members': {team.model}"
    calls.note("team", f"{parts.source}; {models}", parts.queries)
    counts["members"] = len(team)
    if not len(team):
        return finish(READER.name, question, None, [], run.evidence, calls, options.mode, counts, NOTHING_NEAR)
    if options.task == "auto":
        leader.recruit()
    meeting = Meeting(team, leader, calls, counts, options)
    return _finish(meeting.hold(), meeting, question, run.evidence)


def _finish(said: str, meeting: Meeting, question: str, evidence: Evidence) -> Answer:
    """What the leader ``said``, if the members gave it ground; else a refusal, or the model's own knowledge."""
    calls, counts, mode = meeting.calls, meeting.counts, meeting.options.mode
    counts["calls.leader"] = calls.made
    sources = meeting.sources()
    has_no_ground = not sources and not is_refusal(said)
    answered = None if is_refusal(said) or (has_no_ground and mode == "reject") else said
    notes = [_cost(meeting), _failures(meeting), NO_GROUND if has_no_ground and mode == "reject" else ""]
    note = " ".join(filter(None, notes))
    done = finish(READER.name, question, answered, sources, evidence, calls, mode, dict(sorted(counts.items())), note)
    if has_no_ground and mode == "open":
        return replace(done, note=" ".join(filter(None, (*notes, OWN_KNOWLEDGE))))
    return done


def _cost(meeting: Meeting) -> str:
    """What a large team cost, in calls and tokens."""
    if len(meeting.team) <= _LARGE:
        return ""
    usage = meeting.calls.usage
    made = sum(number for name, number in meeting.counts.items() if name.startswith("calls."))
    return (
        f"The team of {len(meeting.team):,} members took {made:,} calls, with {usage.input_tokens:,} tokens in and "
        f"{usage.output_tokens:,} out."
    )


def _failures(meeting: Meeting) -> str:
    """How often a member was not heard: its reply could not be used, or its call failed."""
    unusable = sum(meeting.counts[f"malformed.{kind}"] for kind in ("member", "merge"))
    failed = len(meeting.errors)
    told = [f"members' replies that could not be used: {unusable:,}"] if unusable else []
    told += [f"members' calls that failed: {failed:,}, the first: {meeting.errors[0]}"] if failed else []
    return f"What some members read may be missing here; {'; '.join(told).rstrip('.')}." if told else ""


def _members_chat(chat: Chat, model: str | None) -> Chat:
    """The chat that members use: the leader's, or another model of its server."""
    if model is None or model == chat.model:
        return chat
    if not isinstance(chat, ManyModels):
        said = f"Beside {chat.model} there is no other language model here. Leave out member_model."
        raise InputError(said, "member_model")
    return chat.with_model(model)


READER = Reader(
    "longagent",
    "A team reads all of it, a part each; a leader asks, and conflicts are put to the test.",
    Options,
    answer,
    needs=lambda options: (),
    usual=True,
)
