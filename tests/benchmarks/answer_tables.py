"""Tables of what came of questions: how right the answers are, what they rest on, what they cost, and which way is
better than which."""

from collections.abc import Callable, Mapping, Sequence
from statistics import mean

from answer_ways import DENSE, OURS, RETRIEVE, WAYS, YOUTU, Record
from tables import Section, Table

from kgplatform.evaluate.metrics import exact_match, f1, plain
from kgplatform.evaluate.outcome import compare

Answers = Mapping[str, Sequence[Record]]
"""Of one set, by way."""

Score = Callable[[Record], float]

COLUMNS = (
    *("", "questions", "EM", "F1", "EM, odd", "F1, odd", "refused", "failed"),
    *("cited", "exist", "in gold", "calls", "tokens in", "tokens out", "seconds"),
)
_BETTER = 8
"""Points of F1 that a reader has to be above the nearest passages with a bare prompt."""
_MORE = 3
"""Points of F1 that taking a question apart has to bring."""


def em_of(record: Record) -> float:
    """100 if the answer is a right one to the letter, else 0."""
    return 100 * exact_match(plain(record["text"] or ""), record["answers"])


def f1_of(record: Record) -> float:
    """F1 of the answer's words, in percent; of a failure 0."""
    return 100 * f1(plain(record["text"] or ""), record["answers"])


def table(title: str, answers: Answers) -> Table:
    """A row for each way."""
    return Table(title, COLUMNS, [_row(name, records) for name, records in answers.items()])


def differences(title: str, answers: Answers) -> Table:
    """Every two ways that matter, by question, over those that both answered."""
    rows = []
    for one, other in ((OURS, DENSE), (RETRIEVE, OURS), (RETRIEVE, DENSE), (YOUTU, RETRIEVE)):
        for half, chosen in (("all", answers), ("odd", {way: odd(records) for way, records in answers.items()})):
            if chosen.get(one) and chosen.get(other):
                rows.append([f"{one} less {other}", half, *_difference(chosen[one], chosen[other])])
    return Table(title, ("F1", "questions", "count", "difference", "95 % interval", "p"), rows)


def odd(records: Sequence[Record]) -> list[Record]:
    """The half that nothing is tuned to: questions with an odd place in their set."""
    return [record for record in records if record["at"] % 2]


def add_figures(section: Section, name: str, answers: Answers) -> None:
    """What is wanted of ``retrieve`` and ``youtu``, over the questions that both sides of a comparison answered."""
    compared = ((OURS, DENSE, None), (RETRIEVE, OURS, 0), (RETRIEVE, DENSE, _BETTER), (YOUTU, RETRIEVE, _MORE))
    for one, other, more in compared:
        found = _both(answers.get(one, ()), answers.get(other, ()))
        if found:
            first, second = (mean(map(f1_of, side)) for side in zip(*found, strict=True))
            section.add(f"{name}: F1 of {one}, less that of {other}", first - second, "%", **_at_least(more))
    read = answers.get(RETRIEVE, ())
    for what, share, wanted in (
        ("answers with a citation", _cited(read), 85),
        ("citations that exist", _exist(read), 97),
        ("citations in gold passages", _in_gold(read), 85 if name.startswith("HotpotQA") else None),
    ):
        if share is not None:
            section.add(f"{name}: {RETRIEVE}: {what}", share, "%", **_at_least(wanted))
    for way in [each for each in answers if each not in (DENSE, OURS)]:
        section.add(f"{name}: {way}: errors", sum("error" in each for each in answers[way]), exactly=0)


def _at_least(wanted: float | None) -> dict[str, float]:
    return {} if wanted is None else {"at_least": wanted}


def in_order(records: Sequence[Record]) -> dict[str, list[Record]]:
    """Answers to one set by way, in the order of ``WAYS``, questions in that of their set."""
    by_way = {way.name: [record for record in records if record["way"] == way.name] for way in WAYS}
    return {name: sorted(own, key=lambda record: record["at"]) for name, own in by_way.items() if own}


def _row(name: str, records: Sequence[Record]) -> list[str]:
    half = odd(records)
    right = [f"{mean(map(score, each)):.1f}" if each else "" for each in (records, half) for score in (em_of, f1_of)]
    shares = [_percent(share(records)) for share in (_cited, _exist, _in_gold)]
    cost = [f"{mean(record[key] for record in records):,.1f}" for key in ("calls",)]
    cost += [f"{mean(record[key] for record in records):,.0f}" for key in ("tokens_in", "tokens_out", "seconds")]
    refused, failed = (str(sum(bool(record.get(key)) for record in records)) for key in ("refused", "error"))
    return [name, str(len(records)), *right, refused, failed, *shares, *cost]


def _cited(records: Sequence[Record]) -> float | None:
    """Of the answers that are neither failures nor what the model calls none, the share that cites something."""
    given = [record for record in records if "citations" in record and not record["refused"]]
    return 100 * mean(bool(record["citations"]) for record in given) if given else None


def _exist(records: Sequence[Record]) -> float | None:
    """Of the sentences that answers cite, the share of those that the model was shown."""
    kept = sum(len(record.get("citations", ())) for record in records)
    left_out = sum(record.get("left_out", 0) for record in records)
    return 100 * kept / (kept + left_out) if kept + left_out else None


def _in_gold(records: Sequence[Record]) -> float | None:
    """Of the citations, the share that lies in a passage which the question needs."""
    known = [each["needed"] for record in records for each in record.get("citations", ()) if each["needed"] is not None]
    return 100 * mean(known) if known else None


def _percent(share: float | None) -> str:
    return "" if share is None else f"{share:.0f} %"


def _both(first: Sequence[Record], second: Sequence[Record]) -> list[tuple[Record, Record]]:
    by_question = {record["question"]: record for record in second}
    return [(each, by_question[each["question"]]) for each in first if each["question"] in by_question]


def _difference(first: Sequence[Record], second: Sequence[Record]) -> list[str]:
    scores = [{record["question"]: f1_of(record) for record in records} for records in (first, second)]
    if not scores[0].keys() & scores[1].keys():
        return ["0", "", "", ""]
    pair = compare(scores[0], scores[1])
    return [str(pair.count), f"{pair.difference:+.1f}", f"{pair.low:+.1f} to {pair.high:+.1f}", f"{pair.p:.3f}"]
