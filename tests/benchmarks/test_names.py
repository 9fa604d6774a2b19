"""Which names are joined as one thing, of labelled pairs: precision and recall, before and after."""

import time
from collections import Counter
from collections.abc import Callable

from labelled_names import Pair, labelled, scores
from tables import Section, Table


def test_names(section: Callable[[str, str], Section]) -> None:
    found = section("names", "Names: one thing under several, of labelled pairs, without a language model")
    ways: dict[str, Callable[[Pair], object]] = {
        "by name and vector (17865a2e)": lambda pair: pair.before,
        "by what passages say, else by name and vector": Pair.joined_by,
    }
    begun = time.process_time()
    by = Counter(pair.joined_by() for pair in labelled() if pair.half == "held")
    spent = time.process_time() - begun
    precision, recall = scores("held", Pair.joined_by)
    found.add("precision, pairs not looked at", 100 * precision, "%", at_least=97)
    found.add("recall, pairs not looked at", 100 * recall, "%", at_least=60)
    found.add("processor time of one pair, mean", 1000 * spent / by.total(), "ms")
    rows = [
        (half, way, *(f"{100 * share:.1f}" for share in scores(half, joins)))
        for half in ("tuned", "held")
        for way, joins in ways.items()
    ]
    found.tables.append(Table("Pairs joined", ("half", "how", "precision, %", "recall, %"), rows))
    counts = Counter((pair.kind, pair.same, bool(pair.joined_by())) for pair in labelled() if pair.half == "held")
    kinds = sorted({kind for kind, *_ in counts})
    told = [
        (kind, str(counts[kind, True, True]), str(counts[kind, True, False]), str(counts[kind, False, True]),
         str(counts[kind, False, False]))
        for kind in kinds
    ]  # fmt: skip
    found.tables.append(
        Table("By how the pair was drawn, half not looked at", ("drawn by", "found", "missed", "wrong", "apart"), told)
    )
    found.notes.append(", ".join(f"{number} {why or 'not joined'}" for why, number in sorted(by.items())) + ".")
