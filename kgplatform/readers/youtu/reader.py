"""Reader ``youtu`` (Youtu-GraphRAG, section 3.3): take the question apart by the schema, search, answer, reflect.

    answer(question, run, Options(mode="open"))

Calls of the model: 1 to take the question apart, 1 for the first answer, up to 5 for reflection, 1 for the final
answer; 8 as in the paper. Each level of sub-questions that waits for earlier answers adds one, so 11 at most. Calls
that ask again for a broken answer count too.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

from kgplatform.errors import BudgetError, InputError, ModelError
from kgplatform.readers.answer import Answered, joined, record, without_model, write_answer
from kgplatform.readers.reader import AnswerMode, Reader, check, mode_option, option
from kgplatform.readers.replies import asked
from kgplatform.readers.run import Calls, Run, search_step
from kgplatform.readers.youtu.reflect import AgentMemory, reflect
from kgplatform.readers.youtu.sub_questions import Decomposition, bare, decompose, fill, fill_in, same_words
from kgplatform.records import Answer, SearchResult
from kgplatform.retrieve.evidence import Evidence, Retrieved
from kgplatform.retrieve.search import round_robin
from kgplatform.work.threads import side_by_side

PARTS = ("entity", "triple", "path", "community", "passage")
"""The routes that a search takes at the same time (eq. 10), and the passages."""

_WHOLE = -1
"""Stands for the whole question among the positions of sub-questions."""


@dataclass(frozen=True, slots=True)
class Options:
    """How the reader works. ``agent``, ``community`` and ``schema`` set to False are the paper's ablations (table 3).

    ``top_k`` passages and facts are kept of each search, and of the sub-questions' searches merged.
    """

    mode: AnswerMode = mode_option()
    agent: bool = option(True, "reflection after the first answer, which searches again")
    community: bool = option(True, "the route community")
    schema: bool = option(True, "the schema when the question is taken apart")
    top_k: int = option(20, "how many passages and facts", least=1)
    steps: int = option(5, "the most steps of reflection", least=0)
    sub_questions: int = option(4, "the most sub-questions", least=1)
    evidence_tokens: int = option(6000, "the most tokens of evidence in a prompt", least=1)
    without: tuple[str, ...] = option(
        (), "leave this route out of its searches; may be repeated", choices=PARTS, example="path", one="route"
    )

    def __post_init__(self) -> None:
        check(self)
        if set(self.left_out) == set(PARTS):
            raise InputError("Without all of its routes a search finds nothing. Leave at least one in.")

    @property
    def left_out(self) -> tuple[str, ...]:
        """The routes that take no part, ``community`` among them where it is turned off."""
        return self.without if self.community else (*self.without, "community")


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer, its citations checked, and how it came about, step by step.

    Raises ``ModelError`` where the model failed before there was an answer, ``BudgetError`` where the tokens ran out.
    """
    question = asked(question)
    if run.chat is None:
        return without_model(question, READER.name, _find(run.evidence, options, question), run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, limit=3 + options.steps)
    plan = decompose(question, run.schema() if options.schema else None, calls, options.sub_questions)
    calls.limit = 3 + options.steps + plan.levels - 1
    memory = _search_parts(question, plan, run.evidence, calls, options)
    seen = memory.evidence()
    first = _write("first answer", memory, run.evidence, calls, options)
    if isinstance(first, BudgetError):
        raise first
    if not (options.agent and options.steps and seen.passages):
        return record(READER.name, _standing(first, None), seen, calls)
    note = ""
    final: Answered | ModelError | None = None
    if isinstance(first, Answered):
        memory.thoughts.append(f"First answer: {first.plain}")
        search = partial(_search_again, run.evidence, calls, options)
        note, final = reflect(memory, calls, search, options.steps)
    if not isinstance(final, BudgetError):
        final = _write("final answer", memory, run.evidence, calls, options)
    if isinstance(final, Answered):
        return record(READER.name, final, memory.evidence(), calls, note)
    return record(READER.name, _standing(first, final), seen, calls, note)


def _search_parts(
    question: str, plan: Decomposition, evidence: Evidence, calls: Calls, options: Options
) -> AgentMemory:
    """What is known after the sub-questions, merged; those of one level are searched at the same time.

    The whole question is one more list, and not bounded by types: decomposition can lose a name or a condition, and
    involved types can be wrong. It comes last in each turn. Each list gives its best, however small ``top_k`` is.
    """
    texts: dict[int, str] = {}
    found: dict[int, SearchResult] = {}
    answers: dict[int, str] = {}
    tried: set[int] = set()
    for level in range(plan.levels):
        here = [place for place, part in enumerate(plan.parts) if part.level == level]
        needed = sorted({need for place in here for need in plan.parts[place].needs} - tried)
        if needed:
            wanted = {need + 1: (texts[need], found[need]) for need in needed}
            answers.update({n - 1: words for n, words in fill_in(wanted, calls, options.evidence_tokens).items()})
            tried.update(needed)
        words = {place: answers.get(place, bare(text)) for place, text in texts.items()}
        texts.update({place: fill(plan.parts[place], words) for place in here})
        searches = {place: texts[place] for place in here}
        alike = not plan.types and same_words(question) in map(same_words, searches.values())
        if level == 0 and not alike:
            searches[_WHOLE] = question
        found.update(_search_at_once(searches, plan.types, evidence, calls, options))
    lists = [found[place] for place in sorted(found, key=lambda each: (each == _WHOLE, each))]
    return AgentMemory(
        question,
        options.evidence_tokens,
        results=[round_robin(lists, max(options.top_k, len(lists)))],
        thoughts=[f"{texts[place]} {answers[place]}" for place in sorted(answers)],
        queries=list({same_words(text): text for text in [question, *texts.values()]}.values()),
    )


def _search_at_once(
    searches: dict[int, str], types: tuple[str, ...], evidence: Evidence, calls: Calls, options: Options
) -> dict[int, SearchResult]:
    """What each of ``searches`` found, by its place; a step each. The first step has the tokens of all of them."""
    since = calls.mark()
    bounds = {place: () if place == _WHOLE else types for place in searches}
    works = [partial(_find, evidence, options, text, bounds[place]) for place, text in searches.items()]
    found = side_by_side(works, len(works))
    spent = calls.mark().spent - since.spent
    for (place, text), searched in zip(searches.items(), found, strict=True):
        name = "the whole question" if place == _WHOLE else f"sub-question {place + 1}"
        step = search_step(searched, f"{name}: {text}")
        calls.take(replace(step, usage=spent) if searched is found[0] else step)
    return {place: searched.result for place, searched in zip(searches, found, strict=True)}


def _search_again(evidence: Evidence, calls: Calls, options: Options, query: str) -> SearchResult:
    """What the reflection asks for. Types do not bound it: they were chosen before anything was known."""
    since = calls.mark()
    found = _find(evidence, options, query)
    calls.take(replace(search_step(found, f"new query: {query}"), usage=calls.mark().spent - since.spent))
    return found.result


def _find(evidence: Evidence, options: Options, text: str, types: tuple[str, ...] = ()) -> Retrieved:
    """The routes entity, triple, community, path and passages at once (eq. 10), fused."""
    return evidence.search(text, route="all", top_k=options.top_k, types=types, without=options.left_out)


def _write(name: str, memory: AgentMemory, evidence: Evidence, calls: Calls, options: Options) -> Answered | ModelError:
    """The answer to the original question from all evidence so far and the thoughts about it; or why there is none."""
    shown, notes = memory.evidence(), memory.notes()
    try:
        return write_answer(memory.question, shown, evidence, calls, options.mode, name=name, notes=notes)
    except ModelError as error:
        return error


def _standing(first: Answered | ModelError, final: ModelError | None) -> Answered:
    """The first answer, where it is the last one or ``final`` says why there is no other.

    Raises the error where there was none, and where the first was a refusal that more evidence could have changed.
    """
    if isinstance(first, ModelError):
        raise final or first
    if final is None:
        return first
    if not (first.holds or isinstance(final, BudgetError)):
        raise final
    note = f"This is the first answer: there was no final one. {final}"
    return replace(first, note=joined(first.note, note))


READER = Reader(
    "youtu",
    "Takes the question apart by the schema, searches for each part along all routes, and reflects.",
    Options,
    answer,
    needs=lambda options: ("entities",) if "community" in options.left_out else ("entities", "tree"),
    usual=True,
)
