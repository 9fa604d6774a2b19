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
from kgplatform.readers.answer_old import NOTHING_NEAR, cite_words, fence_for, joined, without_model
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
from kgplatform.readers.readagent.look_up import LookUp
from kgplatform.readers.readagent.options import Options
from kgplatform.readers.reader import AnswerMode, Reader
from kgplatform.readers.replies import Said, ask_said, finish
from kgplatform.readers.run import Calls, Run
from kgplatform.records import Answer, FoundPassage
from kgplatform.retrieve.evidence import Evidence
from kgplatform.retrieve.pages import Pages
from kgplatform.text import compression_rate

BM25_PAGES = 20_000
"""Pages that are compared by their words: the text of all of them is read for that."""

_NO_CHOICE = "The model's reply names none of the choices."


def answer(question: str, run: Run, options: Options) -> Answer:
    """The answer from gists and the pages that were read again, with the places where these have its words.

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
    asked = _Run(tagged, run.evidence, pages, calls, remembered)
    asked.look_up_pages(ranked)
    return asked.answer()


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
    evidence: Evidence
    pages: Pages
    calls: Calls
    remembered: Remembered
    said: dict[str, Said] = field(default_factory=dict)
    words: int = 0

    def __post_init__(self) -> None:
        self.look_up = LookUp(self.brief, self.pages, self.remembered.memory, self.calls)

    def look_up_pages(self, ranked: Sequence[str]) -> None:
        """Read pages again, in the way that was chosen; ``ranked``: ids of pages that were found without gists."""
        lookup = self.brief.options.lookup
        if lookup == "parallel":
            self.look_up.parallel()
        elif lookup == "sequential":
            self.look_up.sequential(self._answer_so_far)
        elif lookup == "nearest":
            self.look_up.nearest()
        elif not self.brief.options.has_gists:
            self.look_up.without_gists(ranked)

    def answer(self) -> Answer:
        """The answer, where its words stand, and what was counted."""
        options, raw = self.brief.options, self.look_up.raw
        words = self.words if self.look_up.ended else self.remembered.memory.words(raw)
        said = self._ask("answer", self._rate(words)) if words else Said(None)
        read = self._citable(said.answer) if said.answer else self.look_up.passages
        mode: AnswerMode = "reject" if options.choices else options.mode
        note = self._note(said)
        done = finish(READER.name, self.brief.question, said.answer, read, self.evidence, self.calls, mode, note)
        if said.answer is not None:
            done = replace(done, text=self.brief.with_letter(said.answer, done.text or ""))
        sizes = {"words.in_context": words, "words.of_text": self.remembered.words, "pages.looked_up": len(raw)}
        return replace(done, counts=dict(sorted((done.counts | sizes).items())))

    def _answer_so_far(self) -> str:
        """The answer from the memory as it is now, for the next look-up."""
        said = self._ask("interim answer", "")
        return self.brief.with_letter(said.answer, said.answer) if said.answer else "(none)"

    def _ask(self, name: str, detail: str) -> Said:
        """The model's answer from the memory as it is now; the one that it gave after the last page, if it did."""
        text = self.look_up.text
        if self.look_up.ended or text in self.said:
            said = self.said.get(text) or list(self.said.values())[-1]
            self.calls.note(name, f"the last interim answer; {detail}")
            return said
        mark = self.calls.mark()
        messages, form = self.brief.answer_messages(text), self.brief.answer_form
        said, broken = ask_said(self.calls, messages, form, stage="answer", tokens=self.brief.reply)
        self.calls.counts[f"malformed.{'no choice' if self.brief.options.choices else 'no answer'}"] += broken
        outcome = "answered" if said.answer else "not in the text" if said.marked else "no reply that can be used"
        self.calls.add(name, "; ".join(filter(None, (outcome, detail))), mark, prompt=self.brief.answer_prompt)
        self.said[text] = said
        self.words = self.remembered.memory.words(self.look_up.raw)
        return said

    def _rate(self, words: int) -> str:
        """The compression rate at the last prompt (section 4): question, options, tags and titles do not count."""
        whole = self.remembered.words
        return (
            f"{words:,} of {whole:,} words in the prompt, compression rate {100 * compression_rate(words, whole):.1f} %"
        )

    def _citable(self, text: str) -> Sequence[FoundPassage]:
        """What was read again; where that has no words of the answer, also the pages whose gists have them."""
        read, memory = self.look_up.passages, self.remembered.memory
        if cite_words(text, read, self.brief.question) or not memory.gists:
            return read
        gists = [
            FoundPassage(page.id, page.document, page.title, 0, len(page.gist), None, page.gist, 0.0, ())
            for number, page in memory.pages.items()
            if page.gist and number not in self.look_up.raw
        ]
        ids = list(dict.fromkeys(citation.passage for citation in cite_words(text, gists, self.brief.question)))
        if not ids:
            return read
        found = self.pages.texts(ids)
        self.calls.note("read pages", f"{len(ids)} whose gists have words of the answer, to cite them", found.queries)
        return [*read, *(each for id_ in ids if id_ in found.texts for each in found.texts[id_].passages)]

    def _note(self, said: Said) -> str:
        return joined(
            self.remembered.note,
            f"The look-up ended early: {self.look_up.ended}" if self.look_up.ended else "",
            _NO_CHOICE if self.brief.options.choices and not said.marked else "",
            "" if self.remembered.memory.pages else NOTHING_NEAR,
        )


def _read_again(answered: Answer) -> list[FoundPassage]:
    """The passages of the pages that were read again."""
    again = {id_ for step in answered.trace if step.pages for id_ in step.passages}
    return [passage for passage in answered.evidence.passages if passage.id in again]


READER = Reader(
    "readagent",
    "Answers from gists of pages, after the pages that matter are read again. Needs gists of the documents.",
    Options,
    answer,
    title="Gists, then pages (ReadAgent)",
    takes="2 calls",
    needs=lambda options: ("gists",),
    kept=_read_again,
    usual=True,
)
