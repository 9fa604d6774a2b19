"""Reader ``readagent`` (ReadAgent, arXiv 2402.09727): remember the gists, read some pages again, answer.

    answer(question, run, Options(lookup="sequential", pages=3))

The gists are those that `kgplatform gist` made, once for all questions. Calls of the model: one look-up and one answer
in parallel; up to ``pages`` look-ups, one more for STOP, and one answer in sequence; replies that are asked for again
come on top, and with ``interim`` an answer after each page. The last of them is the answer then.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from kgplatform.errors import InputError
from kgplatform.models.reply import ask
from kgplatform.prompt import fence_for
from kgplatform.readers.answer import (
    NONE,
    Answered,
    AnswerReply,
    answer_of,
    outcome,
    record,
    without_model,
    write_answer,
)
from kgplatform.readers.choices import letter
from kgplatform.readers.readagent.gist_memory import (
    PageBrief,
    Remembered,
    left_out,
    make_brief,
    memory_of,
    need_pages,
    need_vectors,
    remember,
)
from kgplatform.readers.readagent.look_up import ChoiceReply, LookUp, choice_reply
from kgplatform.readers.readagent.options import Options
from kgplatform.readers.reader import AnswerMode, Reader
from kgplatform.readers.run import Calls, Run
from kgplatform.readers.selection import Selection
from kgplatform.records import Answer, SearchResult
from kgplatform.search.pages import Pages
from kgplatform.text import compression_rate

BM25_PAGES = 20_000
"""Pages that are compared by their words: the text of all of them is read for that."""


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer from gists and the pages that were read again, whose sentences it cites.

    ``counts``: ``words.in_context`` and ``words.of_text`` make the compression rate (section 4), ``pages.looked_up`` is
    what the paper calls # LU. Raises ``InputError`` where there are no gists, and ``ModelError``.
    """
    brief = make_brief(question, options, run.context)
    if run.chat is None:
        found = run.evidence.search(brief.question, documents=options.documents)
        return without_model(brief.question, READER.name, found, run.tell)
    calls = Calls(run.chat, run.ledger, run.tell, hear=run.hear)
    pages = run.evidence.pages(brief.question, options.documents)
    if options.has_gists:
        remembered = remember(brief, pages, run.evidence, calls)
        ranked: Sequence[str] = ()
    else:
        remembered, ranked = _retrieved(options, pages, calls)
    tagged = replace(brief, tag=fence_for(remembered.memory.text({})))
    return _Run(tagged, pages, calls, remembered).answer(ranked)


def _retrieved(options: Options, pages: Pages, calls: Calls) -> tuple[Remembered, Sequence[str]]:
    """The best pages by the comparators ``bm25`` and ``dense``: as a memory without gists, and best first."""
    size = need_pages(pages)
    if options.lookup == "dense":
        need_vectors(size)
        found = pages.near(options.pages)
    elif size.pages > BM25_PAGES:
        raise InputError(
            f"bm25 reads the text of every page, and there are {size.pages:,}; it does so for {BM25_PAGES:,} at most. "
            "Choose documents.",
            "documents",
        )
    else:
        found = pages.best_by_words(options.pages)
    named = pages.named(found.ids)
    detail = f"the best {len(found.ids):,} of {size.pages:,} by {options.lookup}"
    note = left_out(size, by_meaning=options.lookup == "dense")
    calls.note("find pages", detail, (*size.queries, *found.queries, *named.queries))
    return Remembered(memory_of(named.pages, gists=False), size.words, note), found.ids


@dataclass
class _Run:
    """One question on its way from the memory to the answer. ``said``: answers by memory; ``words`` of the last."""

    brief: PageBrief
    pages: Pages
    calls: Calls
    remembered: Remembered
    said: dict[str, Answered] = field(default_factory=dict)
    words: int = 0

    def __post_init__(self) -> None:
        self.look_up = LookUp(self.brief, self.pages, self.remembered.memory, self.calls)

    def answer(self, ranked: Sequence[str]) -> Answer:
        """Read pages again in the way that was chosen, and answer; ``ranked``: ids of pages found without gists.

        Where nothing is remembered there is no answer, or in open mode what the model knows.
        """
        look_up, question, options = self.look_up, self.brief.question, self.brief.options
        if options.lookup == "parallel":
            look_up.parallel()
        elif options.lookup == "sequential":
            look_up.sequential(self._answer_so_far)
        elif options.lookup == "nearest":
            look_up.nearest()
        elif not options.has_gists:
            look_up.without_gists(ranked)
        words, whole = self.words if look_up.ended else look_up.words, self.remembered.words
        if words:  # question, options, tags and titles do not count in the compression rate (section 4)
            rate = 100 * compression_rate(words, whole)
            answered = self._ask("answer", f"{words:,} of {whole:,} words in the prompt, compression rate {rate:.1f} %")
        else:
            mode: AnswerMode = "reject" if options.choices else options.mode
            answered = write_answer(question, Selection.of(question), self.calls, mode)
        ended = f"The look-up ended early: {look_up.ended}" if look_up.ended else ""
        evidence = SearchResult(question, tuple(look_up.passages), (), 0.0)
        notes = (self.remembered.note, ended)
        done = record(READER.name, answered, evidence, self.calls, *notes, is_shown=False)
        sizes = {"words.in_context": words, "words.of_text": whole, "pages.looked_up": len(look_up.raw)}
        return replace(done, counts=dict(sorted((done.counts | sizes).items())))

    def _answer_so_far(self) -> str:
        """The answer from the memory as it is now, for the next look-up."""
        answered = self._ask("interim answer", "")
        return answered.plain if answered.holds else NONE

    def _ask(self, name: str, detail: str) -> Answered:
        """The model's answer from the memory as it is now; the one that it gave after the last page, if it did."""
        look_up, calls, brief = self.look_up, self.calls, self.brief
        text, choices = look_up.text_to_answer, brief.options.choices
        if look_up.ended or text in self.said:
            answered = self.said.get(text) or list(self.said.values())[-1]
            calls.note(name, f"the last interim answer; {detail}")
            return answered
        mark, messages = calls.mark(), brief.answer_messages(text)
        form: type[AnswerReply | ChoiceReply] = choice_reply(len(choices)) if choices else AnswerReply
        show = None if choices else calls.shown("answer")
        reply, repairs = ask(calls, messages, form, stage="answer", tokens=brief.reply, show=show)
        if isinstance(reply, ChoiceReply):  # the option behind its letter, with what speaks for it: "(C) a horse [1]"
            option = choices[ord(reply.choice) - ord(letter(0))]
            answered = answer_of(AnswerReply(answer=option, evidence=reply.evidence), look_up.shown, "reject")
            answered = replace(answered, text=f"({reply.choice}) {answered.text}", sufficient=None)
        else:
            answered = answer_of(reply, look_up.shown, brief.options.mode)
        told = filter(None, (outcome(answered, repairs), detail))
        calls.add(name, "; ".join(told), mark, prompt=brief.answer_prompt)
        self.said[text] = answered
        self.words = look_up.words
        return answered


READER = Reader(
    "readagent",
    "Answers from gists of pages after re-reading the relevant pages. Needs gists of the documents.",
    Options,
    answer,
    title="Gists, then pages (ReadAgent)",
    takes="2 calls",
    needs=lambda options: ("gists",),
    usual=True,
)
