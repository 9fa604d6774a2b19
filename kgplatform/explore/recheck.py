"""Whether kept answers stay true: what became of the sentences that they rest on.

    kept = [KeptAnswer.of(row) for row in store.read("explore/kept_answers", runs=[])]
    checked = recheck(store, kept, dispute, search)
    checked[0].state                   # "changed"
    checked[0].sentences[0].then.text, checked[0].sentences[0].now.text
    summary(checked)                   # "Of 40 kept answers, 1 cites a sentence that changed."

A sentence is looked for where it stood, then in the whole text of its document; if it is in neither, the most similar
one is shown beside it. No model is asked. All answers together take three statements, and each a few more for what
contradicts it, and a search for what would be better.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

from kgplatform.errors import InputError, ModelError
from kgplatform.explore.runs import marks
from kgplatform.neo4j.store import Row, Store
from kgplatform.query import batches
from kgplatform.records import SILENT, Answer, Citation, Conflict, FoundFact, FoundPassage, Progress, SearchResult
from kgplatform.search.found import passages_by_id
from kgplatform.shown import Shown
from kgplatform.text import WORD, counted, folded, node_id, rejoin
from kgplatform.text.sentences import sentences

State = Literal["stands", "moved", "better", "contradicted", "changed", "lost"]
STATES: tuple[State, ...] = ("stands", "moved", "better", "contradicted", "changed", "lost")
"""What can be said of an answer, the worst last. ``moved`` counts as standing."""
SHAKEN = STATES[2:]
"""Those of an answer that somebody should look at."""
_SAYS = {
    "lost": ("lost a sentence", "lost a sentence"),
    "changed": ("cites a sentence that changed", "cite a sentence that changed"),
    "contradicted": ("is contradicted", "are contradicted"),
    "better": ("could be answered better", "could be answered better"),
}
LIKE = 0.45
"""How much a sentence shares with another from which it may have been made, by the weights of words."""
_DOCUMENTS = 20
"""Documents whose texts are compared at a time."""


@dataclass(frozen=True, slots=True, repr=False)
class CheckedSentence(Shown):
    """A sentence that an answer rests on: as it was ``then``, and what stands there ``now``, or is most like it; None
    where nothing is. ``against``: what another place says in contradiction to it."""

    number: int
    state: State
    then: Citation
    now: Citation | None = None
    against: FoundFact | None = None


@dataclass(frozen=True, slots=True, repr=False)
class CheckedAnswer(Shown):
    """A kept answer and what became of it. ``better``: a passage that the search did not find when that was asked, and
    now ranks above what it rests on. ``again``: the answer that a model gives now, if it was asked."""

    run: str
    question: str
    reader: str
    answer: str | None
    at: str
    state: State
    sentences: tuple[CheckedSentence, ...] = ()
    better: FoundPassage | None = None
    again: Answer | None = None


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """An answer as it was kept. ``sentences``: the number, the place, and the hash of the document's text of each that
    it rests on. ``asked_with``: ``options``, ``where`` and ``as_of``. ``found``: hashes of what a search found then."""

    run: str
    question: str
    reader: str
    answer: str | None
    at: str
    sentences: tuple[tuple[int, Citation, str], ...]
    asked_with: Mapping[str, Any]
    found: Sequence[str] | None

    @classmethod
    def of(cls, row: Row) -> KeptAnswer | None:
        """From a row of ``explore/kept_answers``; None if it lacks something, as one in a file from elsewhere may."""
        told = {name: row[name] for name in ("question", "reader", "answer", "at")}
        left_out: dict[str, Any] = {"page": None, "title": "", "document": ""}
        try:
            cited = [dict(each) for each in json.loads(row["restsOn"])]
            sentences = tuple((each.pop("number"), each.pop("sha256"), Citation(**left_out | each)) for each in cited)
            given = json.loads(row["askedWith"])
            asked_with = {name: given[name] for name in ("options", "where", "as_of")}
        except (ValueError, TypeError, KeyError):
            return None
        numbered = tuple((number, citation, sha256) for number, sha256, citation in sentences)
        return cls(row["id"], **told, sentences=numbered, asked_with=asked_with, found=row["foundThen"])


class _DocumentNow:
    """The text of a document as the graph has it, from its passages."""

    def __init__(self, passages: Iterable[FoundPassage]) -> None:
        self._passages = sorted(passages, key=lambda each: each.start)
        self.text = rejoin([(each.start, each.text) for each in self._passages], 0, self._passages[-1].end)

    @cached_property
    def _sentences(self) -> list[tuple[int, int, Counter[str]]]:
        found = ((each.start, each.end) for each in sentences(self.text))
        return [(start, end, _words(self.text[start:end])) for start, end in found]

    @cached_property
    def _having(self) -> Counter[str]:
        """How many sentences have each word: those that all have tell nothing."""
        return Counter(word for _, _, words in self._sentences for word in words)

    def cited(self, start: int, end: int) -> Citation:
        at = max(0, bisect_right(self._passages, start, key=lambda each: each.start) - 1)
        return replace(self._passages[at].cited(start, end), text=self.text[start:end])

    def standing(self, then: Citation) -> Citation | None:
        """The words of ``then``, where they stand nearest to their old place, whatever white space is in them."""
        if self.text[then.start : then.end] == then.text:
            return self.cited(then.start, then.end)
        places = re.finditer(r"\s+".join(map(re.escape, then.text.split())), self.text)
        nearest = min(places, key=lambda each: abs(each.start() - then.start), default=None)
        return nearest and self.cited(*nearest.span())

    def like(self, text: str) -> Citation | None:
        """As many sentences as ``text`` has that share most with it; None where none shares enough."""
        said, number = _words(text), max(1, sum(1 for _ in sentences(text)))
        wanted = self._weight(said)
        weights = [self._weight(words) for _, _, words in self._sentences]
        window, weight, best, place = Counter[str](), 0.0, LIKE, None
        for at, (_, end, words) in enumerate(self._sentences):
            window.update(words)
            weight += weights[at]
            first = at - number + 1
            if first > 0:
                window.subtract(self._sentences[first - 1][2])
                weight -= weights[first - 1]
            shared = sum(min(count, window[word]) / max(1, self._having[word]) for word, count in said.items())
            if first >= 0 and (share := 2 * shared / (wanted + weight or 1)) > best:
                best, place = share, (self._sentences[first][0], end)
        return self.cited(*place) if place else None

    def _weight(self, words: Counter[str]) -> float:
        return sum(count / max(1, self._having[word]) for word, count in words.items())


def _words(text: str) -> Counter[str]:
    return Counter(WORD.findall(folded(text)))


def recheck(
    store: Store,
    kept: Sequence[KeptAnswer],
    dispute: Callable[[Sequence[Citation], Mapping[str, Any]], Iterable[Conflict]],
    search: Callable[[str, Mapping[str, Any]], SearchResult] | None,
    progress: Progress = SILENT,
) -> tuple[CheckedAnswer, ...]:
    """What became of the answers ``kept``, in their order. ``search`` finds passages for a question without a model
    (None: what would be better is not looked for), and ``dispute`` what is said against citations, asked as that was.
    """
    found = _sentences_now(store, {then: sha256 for each in kept for _, then, sha256 in each.sentences})
    answers = []
    for done, each in enumerate(kept):
        progress("checking kept answers", done, len(kept))
        became = ((number, then, *found[then]) for number, then, _ in each.sentences)
        checked = tuple(CheckedSentence(number, state, then, now) for number, then, state, now in became)
        rivals = tuple(dispute([one.now for one in checked if one.now], each.asked_with))
        checked = tuple(_contradicted(one, rivals) for one in checked)
        state, better = max((one.state for one in checked), key=STATES.index, default=STATES[0]), None
        if search and state not in SHAKEN and each.found is not None:
            held = {one.now.passage for one in checked if one.now}
            with suppress(InputError, ModelError):  # no document fits its condition any more, or there are no vectors
                better = _better(search(each.question, each.asked_with), held, each.found)
            state = "better" if better else state
        told = (each.run, each.question, each.reader, each.answer, each.at)
        answers.append(CheckedAnswer(*told, state, checked, better))
    return tuple(answers)


def _sentences_now(store: Store, wanted: Mapping[Citation, str]) -> dict[Citation, tuple[State, Citation | None]]:
    """Each of these sentences, with the hash of its document's text, and what became of it, and where that stands. A
    passage that is still there has all that was cited of it: its id is made from its text and its place."""
    passages = list(dict.fromkeys(each.passage for each in wanted))
    there = {row["id"] for some in batches(passages) for row in store.read("ingest/passages_there", passages=some)}
    found: dict[Citation, tuple[State, Citation | None]] = {each: ("stands", each) for each in wanted}
    by_document: defaultdict[str, list[Citation]] = defaultdict(list)
    for each in wanted:
        if each.passage not in there:
            by_document[each.document].append(each)
    for uris in batches(list(by_document), _DOCUMENTS):
        documents = _documents_now(store, {uri: uri for uri in uris})
        gone = {wanted[each] for uri in uris if uri not in documents for each in by_document[uri]}
        rows = store.read("explore/documents_of_text", hashes=sorted(gone)) if gone else []
        renamed = _documents_now(store, {row["uri"]: row["sha256"] for row in rows})
        for each in (each for uri in uris for each in by_document[uri]):
            found[each] = _became(each, documents.get(each.document) or renamed.get(wanted[each]))
    return found


def _documents_now(store: Store, uris: Mapping[str, str]) -> dict[str, _DocumentNow]:
    """The documents that are there, each under what ``uris`` names it."""
    rows = store.read("explore/document_passages", documents=[node_id("document", uri) for uri in uris])
    by_uri: defaultdict[str, list[FoundPassage]] = defaultdict(list)
    for some in batches([row["id"] for row in rows]):
        for passage in passages_by_id(store, some).values():
            by_uri[passage.document].append(passage)
    return {uris[uri]: _DocumentNow(passages) for uri, passages in by_uri.items() if uri in uris}


def _became(then: Citation, document: _DocumentNow | None) -> tuple[State, Citation | None]:
    if document is None:
        return "lost", None
    if now := document.standing(then):
        is_there = (now.document, now.start, now.text) == (then.document, then.start, then.text)
        return ("stands" if is_there else "moved"), now
    like = document.like(then.text)
    return ("changed" if like else "lost"), like


def _contradicted(each: CheckedSentence, rivals: Iterable[Conflict]) -> CheckedSentence:
    """With what another place says of what it states, if any does."""
    now = each.now if each.state != "changed" else None
    for rival in rivals if now else ():
        places = (place for place in rival.facts[0].citations if now and place.document == now.document)
        if any(now and place.start < now.end and now.start < place.end for place in places):
            return replace(each, state="contradicted", against=rival.facts[1])
    return each


def _better(found: SearchResult, held: Collection[str], then: Collection[str]) -> FoundPassage | None:
    """The first passage above those that are ``held`` whose best sentence was not found ``then``; where none of these
    is found, only the first of all counts."""
    ids = [{each.id, *(copy.passage for copy in each.copies)} for each in found.passages]
    last = next((rank for rank, each in enumerate(ids) if each & set(held)), min(1, len(ids)))
    above = found.passages[:last]
    return next((each for each in above if each.sentence and not marks([each.sentence.text]) <= set(then)), None)


def summary(checked: Sequence[CheckedAnswer]) -> str:
    """What became of them all, in a sentence."""
    count = Counter(each.state for each in checked)
    total = counted(len(checked), "kept answer")
    said = [f"{count[state]:,} {_SAYS[state][count[state] > 1]}" for state in reversed(SHAKEN) if count[state]]
    if not said:
        return f"{total}: all stand." if checked else "No answers are kept: ask with the option keep."
    return f"Of {total}, {', '.join(said)}."
