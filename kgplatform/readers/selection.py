"""What of the evidence a model is shown: little, the best first.

    selected = select(found.result, room=1100)
    selected.text(Numbering())        # 'Passage 1: …\n[1.1] …'

Ten passages and twenty facts make the answers of a small model worse than five passages do, and cost more with every
model (docs/explanation/benchmarks/answers.md). A long passage is shown by the sentences around what matches the
question; a fact only where no shown sentence says it and it speaks to the question.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from kgplatform.readers.relevance import Asked, stems_of
from kgplatform.readers.window import Numbering, tokens
from kgplatform.records import FoundFact, FoundPassage, SearchResult
from kgplatform.search.in_time import is_of_others
from kgplatform.text.languages import language_of
from kgplatform.text.sentences import numbered

PASSAGES = 5
"""How many passages answers profit from."""
FACTS = 5
MORE = 2
"""Times as many passages are looked at."""
_LEAST = 0.34  # what share of the question a fact has that is shown
_PER_LINE = 6  # tokens of a sentence's number
_NO_ROOM = 1_000_000
_PER_PASSAGE = 6  # tokens of a passage's number and the empty line before it


@dataclass(frozen=True, slots=True)
class Selection:
    """``result``: what is shown, best first. ``only``: by the id of a passage, the numbers of the sentences shown."""

    result: SearchResult
    only: Mapping[str, frozenset[int]]

    @classmethod
    def of(cls, question: str, passages: Sequence[FoundPassage] = ()) -> Selection:
        """All of ``passages``; by default nothing, for what a model knows by itself."""
        return cls(SearchResult(question, tuple(passages), (), 0.0), {})

    @property
    def is_empty(self) -> bool:
        """Whether there is nothing to show."""
        return not (self.result.passages or self.result.facts)

    def text(self, shown: Numbering) -> str:
        """It as a prompt has it, with the numbers of ``shown``."""
        passages = shown.passages(self.result.passages, self.only)
        facts = shown.facts(self.result.facts)
        return "\n\n".join(filter(None, (passages, f"Facts:\n{facts}" if facts else "")))


def select(
    result: SearchResult,
    room: int,
    passages: int = PASSAGES,
    facts: int = FACTS,
    days: tuple[str, str] | None = None,
) -> Selection:
    """What of ``result`` is shown in ``room`` tokens: so many ``passages`` and ``facts`` at most, and no sentence that
    is of other times than ``days`` alone.

    Up to as many passages more are shown if each has a sentence that has no less of the question than the best one of
    those before: so it is where a question lists or compares. Each passage has an equal part of the room, and what
    those before it left. Facts take what is left at the end.
    """
    likely = result.passages[: MORE * passages]
    sentences = [weighed(each, days) for each in likely]
    asked = Asked.among(result.question, [stems for each in sentences for _, stems in each])
    shares = [max((asked.share(stems) for _, stems in each), default=0.0) for each in sentences]
    least = max(shares[:passages], default=0.0)
    chosen = [place for place, share in enumerate(shares) if place < passages or share >= least > 0]
    found, by_passage = [likely[place] for place in chosen], [sentences[place] for place in chosen]
    kept: list[FoundPassage] = []
    only: dict[str, frozenset[int]] = {}
    for place, (passage, costs) in enumerate(zip(found, by_passage, strict=True)):
        part = room // (len(found) - place)
        numbers, cost = around_best(costs, asked, part - tokens(passage.title) - _PER_PASSAGE)
        if numbers:
            kept.append(passage)
            only[passage.id] = frozenset(numbers)
            room -= cost + tokens(passage.title) + _PER_PASSAGE
    shown = Numbering()
    shown.passages(kept, only)
    words = {each.id: stems_of(each.text.replace("_", " ")) for each in result.facts}
    telling = [each for each in shown.unsaid(result.facts) if asked.share(words[each.id]) >= _LEAST]
    fitting: list[FoundFact] = []
    for fact in telling[:facts]:
        room -= tokens(fact.text) + _PER_LINE
        fitting += [fact] if room >= 0 else []
    return Selection(replace(result, passages=tuple(kept), facts=tuple(fitting)), only)


def weighed(passage: FoundPassage, days: tuple[str, str] | None = None) -> list[tuple[int, frozenset[str]]]:
    """Of each sentence its tokens and its stems; what is of other times than ``days`` has no room and no stem."""
    language = language_of(passage.text)
    texts = [passage.text[each.shown : each.end] for each in numbered(passage.text)]
    return [
        (_NO_ROOM, frozenset())
        if days and is_of_others(text, days)
        else (tokens(text) + _PER_LINE, stems_of(text, language))
        for text in texts
    ]


def around_best(
    sentences: Sequence[tuple[int, frozenset[str]]], asked: Asked, room: int, least: float = 0.0
) -> tuple[set[int], int]:
    """The numbers of the sentences that have most of the question, ``least`` of it at least, with those beside them,
    and what they cost. All of these if they fit; never none, if there are any."""
    kept: set[int] = set()
    spent = 0
    by_share = sorted(range(len(sentences)), key=lambda place: (-asked.share(sentences[place][1]), place))
    for best in by_share:
        if asked.share(sentences[best][1]) < least:
            break
        for place in (best, best - 1, best + 1):
            if 0 <= place < len(sentences) and place + 1 not in kept:
                cost = sentences[place][0]
                if cost < _NO_ROOM and (spent + cost <= room or not kept):
                    kept.add(place + 1)
                    spent += cost
    return kept, spent
