"""Times that words say: the labelled set, kinds of expressions, what is none, and which time a statement has.

``time_expressions.jsonl``: candidates in context, until 100 of English and 100 of German were times (the others are
none). English are sentences of MuSiQue, 2WikiMultihopQA, HotpotQA and the medical corpus of GraphRAG-Benchmark, as many
of each; German ones of XQuAD. Drawn with seed 49 among all sentences with a number of three or four digits, the name of
a month, or a word such as "century", "last", "seit"; one such place of each, ``text[start:end]``, with 70 characters
before and 50 after it. Each was labelled by hand, before the parser was run, with its interval in the sense of
``kgplatform.text.times``; ``granularity`` is null where the place says no time, or none with a year. Of each
language, every second line was tuned on.
"""

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from kgplatform.shown import shown_days, with_time
from kgplatform.text.times import period, stated_time, times_in

LABELLED = [json.loads(line) for line in (Path(__file__).parent / "time_expressions.jsonl").open(encoding="utf-8")]


@pytest.mark.parametrize(("language", "found"), [("en", 0.95), ("de", 0.8)])
def test_labelled(language: str, found: float) -> None:
    """The half that was not tuned on: of the intervals that are given, at least 95 % are right."""
    counts = Counter[str]()
    for row in [row for row in LABELLED if row["language"] == language][1::2]:
        given = [each for each in times_in(row["text"]) if each.start < row["end"] and row["start"] < each.end]
        wanted = row["since"], row["until"], row["granularity"]
        is_right = bool(given) and (given[0].since, given[0].until, given[0].granularity) == wanted
        counts.update(given=bool(given), right=is_right, times=row["granularity"] is not None)
    assert counts["times"] >= 50
    assert counts["right"] >= 0.95 * counts["given"]
    assert counts["right"] >= found * counts["times"]


INTERVALS = {
    "He was engineer from 1842 to 1861.": "1842–1861",
    "She has led it since March 2024.": "since 2024-03",
    "It was valid until the amendment of 12 May 2020.": "until 2020-05-12",
    "The rule, effective 1 January 2021, applies.": "since 2021-01-01",
    "It was built in the 1850s.": "1850–1859",
    "In the 19th century the town grew.": "1801–1900",
    "It lay between 1857 and 1861.": "1857–1861",
    "He held the post (1990–present).": "since 1990",
    "He was not made king until 1861.": "since 1861",
    "From May to July 2020 it was closed.": "2020-05–2020-07",
    "He reigned from AD 450 to AD 470.": "0450–0470",
    "Er war von 1842 bis 1861 Leiter der Bahn und der Post.": "1842–1861",
    "Es galt bis zum 12. Mai 2020 und nicht länger.": "until 2020-05-12",
    "Vom 16. bis zum 18. Jahrhundert war die Stadt reich.": "1501–1800",
    "Seit den 1970er Jahren ist die Stadt nicht mehr das, was sie war.": "since 1970",
    "Nach 1990 wurde die Stadt nicht mehr von der Bahn bedient.": "since 1991",
}
NONE = (
    *("In 2000 people died there.", "Over 1500 employees work there.", "A population of 1842 was counted."),
    *("See pages 1842–1861 of the report.", "It runs on version 2019.06 or v1842.", "She may march on 12 people."),
    *("Windows 2000 is old.", "Call +49 1857 1861 now.", "The 1842 metre race", "In 1200 BC the city fell."),
    *("Die Stadt hat 1500 Einwohner und die Gemeinde 2000 neue Wohnungen.", "Das kostet bis 2000 Euro und ist gut."),
    *(
        "Vor 2000 Jahren war die Stadt ein Dorf und nicht mehr.",
        "The 31 April 2020 is none, as is 30/02/2020.",
        "",
        "–",
    ),
)


def test_kinds() -> None:
    assert {text: [shown_days(t.since, t.until, t.granularity) for t in times_in(text)] for text in INTERVALS} == {
        text: [shown] for text, shown in INTERVALS.items()
    }
    assert {text: times_in(text) for text in NONE} == dict.fromkeys(NONE, [])
    (one,) = times_in("He was engineer from 1842 to 1861.")
    assert (one.start, one.end, one.since, one.until) == (16, 33, "1842-01-01", "1862-01-01")


def test_by_the_day_of_the_document() -> None:
    text = "Last year, two years ago and this month; im vergangenen Jahr"
    assert times_in(text) == []
    days = [shown_days(each.since, each.until, each.granularity) for each in times_in(text, "2024-03-15")]
    assert days == ["2023", "2022", "2024-03", "2023"]


@pytest.mark.parametrize("words", ["1857 ", "1857–", "May ", "12 to ", "in the year of ", "since the ", "19th and "])
def test_the_time_grows_with_the_text(words: str) -> None:
    """A text of 50,000 characters, whatever it says; what is quadratic would take minutes."""
    before = time.process_time()
    times_in(words * (50_000 // len(words)) + "1857")
    assert time.process_time() - before < 30


STATED = [
    ("Ada joined Acme in 1990 and Globex in 1995.", ("Ada", "Acme"), "1990"),
    ("Ada joined Acme in 1990 and Globex in 1995.", ("Ada", "Globex"), "1995"),
    ("In 1990, Ada joined Acme, and in 1995 she led Globex.", ("Ada", "Acme"), "1990"),
    ("In 1990, Ada joined Acme, and in 1995 she led Globex.", ("Ada", "Globex"), "1995"),
    ("Acme, founded in 1850, moved to Berlin in 1870.", ("Acme", "Berlin"), "1870"),
    ("Ada (1824–1907) was engineer of Acme (1857–1861), then of Globex (1861–1865).", ("Ada", "Acme"), "1857–1861"),
    ("Ada was born in 1824 and died in 1907.", ("Ada", "1824"), "1824"),
    ("Ada was engineer of Acme from 1857 to 1861.", ("Ada", "Acme"), "1857–1861"),
    ("In 1990 and 1995 Ada led Acme.", ("Ada", "Acme"), ""),
    ("Ada led Acme. In 1990 Bob came.", ("Ada", "Acme"), ""),
]


def test_which_time_a_statement_has() -> None:
    for text, names, shown in STATED:
        end = text.find(". ") + 1 or len(text)
        time = stated_time(text, 0, end, names)
        assert (shown_days(time.since, time.until, time.granularity) if time else "") == shown, (text, names)


def test_as_people_read_it() -> None:
    assert with_time("Ada led Acme", ["1857–1861", "", "since 1870"]) == "Ada led Acme (1857–1861; since 1870)"
    assert with_time("Ada was born in 1824", ["1824"]) == "Ada was born in 1824"
    assert period("2019-12") == ("2019-12-01", "2020-01-01")
    for text in ("", "19", "2019-13", "2019-02-30", "May 2019", "10000", "٢٠١٩"):
        with pytest.raises(ValueError):
            period(text)
