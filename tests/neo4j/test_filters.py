"""Conditions on documents' metadata: what they choose, and what is said of one that cannot be read."""

import operator
from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgplatform.errors import InputError
from kgplatform.interfaces.cli.shared import joined
from kgplatform.neo4j.filters import Where, clauses_of, documents_where
from kgplatform.neo4j.store import Store

DAYS_AGO = [str(date.today() - timedelta(days)) for days in (0, 5, 89, 91, 400)]
METADATA: dict[str, dict[str, Any]] = {
    "none": {},
    "old": {"year": 1999, "author": "Orlova", "tag": ["annex", "sea"], "draft": True, "updated": DAYS_AGO[4]},
    "new": {"year": 2024, "author": "O'Neill", "tag": ["contract"], "draft": False, "updated": DAYS_AGO[1]},
    "text": {"year": "2024", "author": "orlova", "draft": "yes", "due date": "2024-02-30", "updated": DAYS_AGO[2]},
    "odd": {"year": "01234", "author": 'says "and" \\ or', "draft": "no", "updated": "soon", "part-no.": 7.5},
    "many": {"year": [1999, 2024], "author": ["Orlova", "Verne"], "updated": DAYS_AGO[3], "naïve": "ja"},
}
KNOWN = {
    "new": {"source": "file:///data/Contracts/2024/Annex%20A.PDF", "name": "Annex A", "language": "en", "days": 3},
    "odd": {"source": "file:///data/contracts/b.txt", "name": "B", "language": "de", "days": 300},
}
SIGNS = {"=": operator.eq, "!=": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
Choice = tuple[str, frozenset[str]]
"""A condition, and the documents that it chooses."""


@pytest.fixture(scope="module")
def documents(neo4j_server: Any) -> Any:
    with Store(neo4j_server) as store:
        rows = [{"id": id, **{f"meta_{name}": value for name, value in has.items()}} for id, has in METADATA.items()]
        with store.lend_driver("the tests") as driver:
            driver.execute_query("MATCH (n) DETACH DELETE n")
            driver.execute_query("UNWIND $rows AS row CREATE (d:Document {uri: row.id}) SET d += row", rows=rows)
            driver.execute_query(
                "UNWIND keys($known) AS id MATCH (d:Document {id: id}) SET d += $known[id], "
                "d.addedAt = datetime() - duration({days: d.days}), d.days = null",
                known=KNOWN,
            )
        yield store


def chosen(store: Store, where: Where) -> list[str]:
    return documents_where(store, where)


@pytest.mark.parametrize(
    ("where", "ids"),
    [
        (
            'year >= 2020 and (tag in ("contract", "annex") or author = "Orlova") and not draft and updated within '
            '"90 days"',
            "new",
        ),
        ("draft", "old text"),
        ("not draft", "many new none odd"),
        ("draft = false", "new"),
        ("author = O'Neill OR due date < 2025", "new"),
        ("`due date` < \"2025\" or naïve = 'ja'", "many text"),
        ("year = 2024", "many new text"),
        ('year != "2024"', "none odd old"),
        ("year not in (1999, 2024) and author != none", "none odd"),
        ("year=01234", "odd"),
        ('author = "says \\"and\\" \\\\ or"', "odd"),
        ("part-no. > 7 and part-no. < 8", "odd"),
        ("updated within '1 week' or not (updated within \"2 years\")", "new none odd"),
        ({"year": [1999, "2024"], "author": "Orlova"}, "many old"),
        ('folder = contracts and type != "pdf"', "odd"),
        ("folder = /data/Contracts and added within '1 week'", "new"),
        ('folder in ("contracts/2024", "nowhere")', "new"),
        ("file = annex a.pdf or file = '2024/b.txt' or title = B", "new odd"),
        ({"type": "PDF", "language": ["en", "fr"]}, "new"),
        ("language != en and not folder = data", "many none old text"),
        ({}, "many new none odd old text"),
        ("", "many new none odd old text"),
    ],
)
def test_what_they_choose(documents: Store, where: Where, ids: str) -> None:
    assert chosen(documents, where) == ids.split()


def test_those_of_the_command_must_all_hold_and_values_of_one_name_are_alternatives(documents: Store) -> None:
    assert chosen(documents, joined(["author=Orlova", "author=O'Neill", "year > 2000"])) == ["many", "new"]
    assert chosen(documents, joined(["author=says \\ or", "year=1"])) == []
    assert chosen(documents, joined(["draft or year = 2024", "author=Orlova"])) == ["many", "old"]
    assert joined(None) == ""


def comparisons() -> st.SearchStrategy[Choice]:
    names = sorted({name for has in METADATA.values() for name in has})
    values = st.sampled_from([1999, 2024, 7.5, True, False, "Orlova", "O'Neill", 'says "and" \\ or', "01234", "soon"])

    def one(name: str, sign: str, value: Any) -> Choice:
        def fits(kept: Any) -> bool:
            numbers = isinstance(kept, int | float) and isinstance(value, int | float)
            if isinstance(kept, bool) != isinstance(value, bool) or not (numbers or isinstance(kept, type(value))):
                return sign in ("=", "!=") and not isinstance(value, bool) and str(kept) == str(value)
            return bool(SIGNS[sign](kept, value))

        found = set()
        for id, has in METADATA.items():
            kept = has.get(name, [])
            if any(map(fits, kept if isinstance(kept, list) else [kept])) != (sign == "!="):
                found.add(id)
        text = str(value).replace("\\", "\\\\").replace('"', '\\"')
        written = f'"{text}"' if isinstance(value, str) else str(value)
        return f"`{name}` {sign} {written}", frozenset(found)

    return st.builds(one, st.sampled_from(names), st.sampled_from(sorted(SIGNS)), values)


def grown(inner: st.SearchStrategy[Choice]) -> st.SearchStrategy[Choice]:
    return st.one_of(
        inner.map(lambda one: (f"not ({one[0]})", frozenset(METADATA) - one[1])),
        st.tuples(inner, inner).map(lambda two: (f"({two[0][0]} and {two[1][0]})", two[0][1] & two[1][1])),
        st.tuples(inner, inner).map(lambda two: (f"(({two[0][0]}) OR {two[1][0]})", two[0][1] | two[1][1])),
    )


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.recursive(comparisons(), grown, max_leaves=6))
def test_any_condition_chooses_what_it_says(documents: Store, choice: Choice) -> None:
    where, ids = choice
    assert chosen(documents, where) == sorted(ids), where


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("year >= 2020 or or draft", r"at or draft \(character 17\): give the name of metadata"),
        ("year >=", "at its end: give a value"),
        ("(year = 1", "at its end: close the bracket"),
        ('author = "Verne', r'at "Verne \(character 10\): give a value'),
        ("author = Verne (Jules)", 'at \\(Jules\\) .*: join conditions by "and" or "or"'),
        ("year not 1999", 'at 1999 .*: write "not in"'),
        ("year in 1999", r'list values in brackets, such as \("a", "b"\)'),
        ('updated within "3 moons"', "give a period such as"),
        ("(" * 60 + "year" + ")" * 60, "no more than 50 conditions in one another"),
        (" or ".join(f"(year = {n} and draft)" for n in range(9)), "too many conditions"),
        ("x" * 10_001, "10,001 characters; 10,000 are the most"),
        ({"author": {"x": 1}}, "author=.* cannot be used"),
        ({"author": []}, "author=.* cannot be used"),
        (["author"], "it must be a condition or a dictionary"),
        ("year > 1 or auther = 'x'", 'No document has metadata "auther". Did you mean author'),
    ],
)
def test_what_is_said_of_a_mistake(documents: Store, where: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        chosen(documents, where)


def test_no_value_becomes_part_of_a_statement(documents: Store) -> None:
    odd = 'a = "x\\"}) DETACH DELETE d //" or `b}) DETACH DELETE d` = 1'
    assert [term["values"] for clause in clauses_of(odd) for term in clause] == [['x"}) DETACH DELETE d //'], [1, "1"]]
    with pytest.raises(InputError, match="No document has metadata"):
        chosen(documents, odd)
    assert len(chosen(documents, "")) == len(METADATA)
