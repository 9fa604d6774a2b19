"""Pairs of names that were judged by reading what names them (``tests/resolution/names.jsonl``), and what joins them.

The names are entities that the local extractor finds in MuSiQue's and 2Wiki's passages, HotpotQA's paragraphs and a
medical text, 10,827 passages in all. Broad searches drew pairs, by a seed: names with words that may state an alias
between them, acronyms beside and apart from what they may stand for, one name under two types, the same words, a word
more, the same consonants, one surname or initial, few letters apart, a rare word shared, near vectors. Pairs whose
types exclude each other were drawn as one name under two types alone. One reader judged each of 810 by the sentences
that are shown, without knowing what joins them: do both names mean the same there? 36 were left out, since a name was
cut wrongly, or it could not be told. Of each kind and judgement one half was looked at while the rules were made
(``tuned``), the other was not (``held``).
"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from kgplatform.extract.aliases import PART, aliases
from kgplatform.resolution import are_alike
from kgplatform.text import normalise_name

_FILE = Path(__file__).parents[1] / "resolution" / "names.jsonl"
_LEAST_COSINE = 0.85
"""Of bge-small-en-v1.5-q, the embedder that the cosines are by."""
Named = tuple[str, str | None]


@dataclass(frozen=True, slots=True)
class Pair:
    """Two ``names`` with their types, and whether they are one thing. ``before``: whether 17865a2e joined them.

    ``passages``: how many name the one, the other, both. ``texts``: what was judged, and the names that the passage has
    there: 0 and 1 for the two, others if they have a word of theirs.
    """

    names: tuple[Named, Named]
    same: bool
    half: str
    kind: str
    cosine: float
    before: bool
    passages: tuple[int, int, int]
    texts: tuple[tuple[str, dict[str, Named]], ...]

    def joined_by(self) -> str:
        """Why they are joined; "" if they are not. Of a part of a name it counts how many passages have the whole."""
        told = [
            each for text, here in self.texts for each in aliases(text, here) if {each.one, each.other} == {"0", "1"}
        ]
        for each in sorted(told, key=lambda each: each.by == PART):
            if each.by != PART or 2 * self.passages[2] > self.passages[int(each.one)]:
                return each.by
        mine, theirs = ((normalise_name(name), kind) for name, kind in self.names)
        return "name" if are_alike(mine, theirs) and self.cosine >= _LEAST_COSINE else ""


def labelled() -> Iterator[Pair]:
    """All pairs."""
    for line in _FILE.read_text("utf-8").splitlines():
        one, its, other, of_other, same, half, kind, cosine, before, *passages, texts = json.loads(line)
        names = (one, its), (other, of_other)
        shown = tuple(
            (text, {str(each): names[each] if isinstance(each, int) else tuple(each) for each in here})
            for text, here in texts
        )
        yield Pair(names, bool(same), half, kind, cosine, bool(before), tuple(passages), shown)


def scores(half: str, joins: Callable[[Pair], object]) -> tuple[float, float]:
    """Precision and recall of ``joins`` on the pairs of one half."""
    pairs = [each for each in labelled() if each.half == half]
    found = [each.same for each in pairs if joins(each)]
    return sum(found) / len(found), sum(found) / sum(each.same for each in pairs)
