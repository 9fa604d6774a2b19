"""Conditions on documents' metadata: what they choose, and what is said of one that cannot be read."""

import operator
import re
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from kgplatform.errors import InputError
from kgplatform.interfaces.cli.shared import alternatives
from kgplatform.neo4j.filters import Where, clauses_of, documents_where
from kgplatform.neo4j.store import Store

DAYS_AGO = [str(date.today() - timedelta(days)) for days in (0, 5, 89, 91, 400)]
METADATA: dict[str, dict[str, Any]] = {
    "none": {},
    "old": {"year": 1999, "author": "Orlova", "tag": ["annex", "sea"], "draft": True, "updated": DAYS_AGO[4]},
    "new": {
        "year": 2024,
        "d": "2020-05-01T08:00",
        "author": "O'Neill",
        "tag": ["contract"],
        "draft": False,
        "updated": DAYS_AGO[1],
        "id": 12345678901234567,
    },
    "text": {
        "year": "2024",
        "d": "2020-05-01-B",
        "author": "orlova",
        "draft": "yes",
        "due date": "2024-02-30",
        "version": "1.10",
        "updated": DAYS_AGO[2],
    },
    "odd": {
        "year": "01234",
        "author": 'says "and" \\ or',
        "draft": "no",
        "updated": "soon",
        "part-no.": 7.5,
        "note": "a\nb",
    },
    "many": {"year": [1999, 2024], "author": ["Orlova", "Verne"], "updated": DAYS_AGO[3], "naïve": "ja"},
}
METADATA["none"] |= {"version": 1.1}
METADATA["new"] |= {"id": 12345678901234567, "d": "2020-05-01T08:00"}
METADATA["text"] |= {"version": "1.10", "d": "2020-05-01-B"}
METADATA["odd"] |= {"note": "a\nb"}
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
        ("draft = false", "new odd"),
        ("draft=true", "old text"),
        ({"draft": False}, "new odd"),
        ("author", "many new odd old text"),
        ("not author or naïve", "many none"),
        ("author = O'Neill OR `due date` < 2025", "new text"),
        ("`due date` < \"2025\" or naïve = 'ja'", "many text"),
        ("author = “Orlova” or author = ‘O'Neill’", "many new old"),
        ("year = 2024", "many new text"),
        ('year != "2024"', "none odd old"),
        ({"year": "2024"}, "many new text"),
        ("year >= 2024", "many new text"),
        ('year >= "2024"', "many new text"),
        ("year => 1 and year =< 1999", "many odd old"),
        ("updated > 1990 and updated < 3000-01-01", "many new old text"),
        ("year not in (1999, 2024) and author != none", "none odd"),
        ("year=01234", "odd"),
        ("year=1234", ""),
        ('author = "says \\"and\\" \\\\ or"', "odd"),
        ("part-no. > 7 and part-no. < 8", "odd"),
        ("updated within '1 week' or not (updated within \"2 years\")", "new none odd"),
        ({"year": [1999, "2024"], "author": "Orlova"}, "many old"),
        ('folder = contracts and type != "pdf"', "odd"),
        ("folder = /data/Contracts and added within '1 week'", "new"),
        ({"folder": ["contracts/2024", "nowhere"]}, "new"),
        ('document in ("Annex A", "b.txt") or document = many', "many new odd"),
        ({"document": ["old", "none", "gone"]}, "none old"),
        ([{"document": ["old", "gone"]}], "old"),
        ("document = contracts/b.txt or (document = odd and not document = nowhere)", "odd"),
        ("file = annex a.pdf or path = '2024/../b.txt' or title = B", "new odd"),
        ({"type": "PDF", "language": ["EN", "fr"]}, "new"),
        ("language != en and not folder = data", "many none old text"),
        (f"added = {date.today() - timedelta(3)}", "new"),
        (f"added <= {date.today() - timedelta(3)}", "new odd"),
        (["author=Orlova", {"author": "Verne"}], "many"),
        (["draft or year = 2024", "", "author=Orlova"], "many old"),
        ("tag = annex and tag = sea", "old"),
        ("version = 1.10 or id = 12345678901234567", "new none text"),
        ("id >= 12345678901234567 and id < 1e18", "new"),
        ("version = 1.1", "none"),
        ({"d": ["2020-05-01", "2019"]}, "new"),
        ('d in ("2020-05-01", "2020-05-02T10:00")', "new"),
        ("d <= 2020-05-01", "new"),
        ("type", "new odd"),
        ("note = 'a\nb'", "odd"),
    ],
)
def test_what_they_choose(documents: Store, where: Where, ids: str) -> None:
    assert documents_where(documents, where) == ids.split()


def fits(kept: Any, sign: str, value: Any) -> bool:
    """What a comparison says of one value, told apart from how the server finds it."""
    spelt = {True: (True, "true", "yes"), False: (False, "false", "no")}
    if isinstance(value, bool):
        return sign == "=" and any(type(kept) is type(each) and kept == each for each in spelt[value])
    number = float(value) if re.fullmatch(r"-?(0|[1-9]\d*)(\.\d+)?", str(value)) else None
    if sign == "=":
        return not isinstance(kept, bool) and (str(kept) == str(value) or (type(kept) is not str and kept == number))
    if isinstance(kept, bool):
        return False
    try:
        kept_number = float(kept)
    except ValueError:
        kept_number = None
    if number is not None and kept_number is not None:
        return bool(SIGNS[sign](kept_number, number))
    both_begin_so = not str(value)[0].isdigit() or str(kept)[:1].isdigit()
    return isinstance(kept, str) and both_begin_so and bool(SIGNS[sign](kept, str(value)))


def comparisons() -> st.SearchStrategy[Choice]:
    names = sorted({name for has in METADATA.values() for name in has})
    values = st.sampled_from(
        [1999, 2024, 7.5, True, False, "2024", "2024-02", "Orlova", "O'Neill", 'says "and" \\ or', "01234", "soon"]
    )

    def one(name: str, sign: str, value: Any) -> Choice:
        if isinstance(value, bool) and sign not in ("=", "!="):
            sign = "="
        found = set()
        for id, has in METADATA.items():
            kept = has.get(name, [])
            items = kept if isinstance(kept, list) else [kept]
            if any(fits(item, sign.removeprefix("!"), value) for item in items) != (sign == "!="):
                found.add(id)
        text = str(value).replace("\\", "\\\\").replace('"', '\\"')
        written = f'"{text}"' if isinstance(value, str) else str(value)
        return f"`{name}` {sign} {written}", frozenset(found)

    return st.builds(one, st.sampled_from(names), st.sampled_from(sorted({*SIGNS, "!="})), values)


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
    assert documents_where(documents, where) == sorted(ids), where


@pytest.mark.parametrize(
    ("where", "said"),
    [
        ("year >= 2020 or or draft", r"read at or draft \(character 17\): a name of metadata is missing"),
        ("year >=", "The condition ends too early: a value is missing"),
        ("(year = 1", "ends too early: close the bracket"),
        ('author = "Verne', r'read at "Verne \(character 10\): close the quotation marks'),
        ("`due", "close the quotation marks"),
        ("author = Verne (Jules)", r"read at \(Jules\) \(character 16\): compare a name by"),
        ("year > 1800 && draft", "read at && draft .*: compare a name by"),
        ("author = Orlova; draft", "read at ; draft .*: compare a name by"),
        ("author = Orlova || draft", r"read at \|\| draft .*: compare a name by"),
        ("year=1865,1898", "read at ,1898 .* put values that have signs in quotes"),
        ("year ≥ 1869", "read at ≥ 1869 .*: compare a name by"),
        ("year between 1800 and 1900", "read at between 1800 and 1900"),
        ("$author = x", "read at .author = x"),
        (["year = 1", "draft)"], r"read at \) \(character 6\)"),
        (["year = 1", "year > 1) or (draft"], r"read at \) or \(draft \(character 9\)"),
        ("author = Tom and Jerry", 'No document has metadata "Jerry".* Put a value that has "and" or "or" in quotes'),
        ("year not 1999", 'read at 1999 .*: write "not in"'),
        ("year in 1999", r'list values in brackets, such as \("a", "b"\)'),
        ('updated within "3 moons"', 'read at "3 moons" .*: give a period such as'),
        ("updated within 24 hours", "read at 24 hours .*: give a period such as"),
        ("draft > true", "read at > true .*: compare with true by =, != or in"),
        ('folder > "a"', "compare folder by =, != or in"),
        ("folder within '3 days'", "compare folder by =, != or in"),
        ('folder = ""', "give the name of a folder, not ''"),
        ("folder = '\ud800'", "give the name of a folder"),
        ("(" + " and ".join(["draft"] * 200) + ")" + " or draft" * 700, "The condition is too long"),
        (["draft" + " " * 5000] * 3, "more than 10,000 characters together"),
        ("(" * 60 + "year" + ")" * 60, "nest at most 50 conditions"),
        (" or ".join(f"(year = {n} and draft)" for n in range(9)), "The condition is too long"),
        ("x" * 10_001, "10,001 characters; at most 10,000 are allowed"),
        ({"author": {"x": 1}}, "author=.* cannot be used: give a value or a list of values"),
        ({"author": []}, "author=.* cannot be used"),
        ('document in ("B", "Anex A")', 'There is no document "Anex A" in the graph. Did you mean Annex A'),
        ({"document": "b.tx"}, 'There is no document "b.tx" in the graph. Did you mean b.txt'),
        ('folder in ("contracts/2024", "contract")', 'There is no folder "contract" in .* Did you mean contracts'),
        ([5], "it must be a condition, a dictionary or a list of those"),
        ("year > 1 or auther = 'x'", 'No document has metadata "auther". Did you mean author'),
        (
            "Folder = x",
            'No document has metadata "Folder". Did you mean folder.* the platform adds added, document, file, folder',
        ),
    ],
)
def test_what_is_said_of_a_mistake(documents: Store, where: Any, said: str) -> None:
    with pytest.raises(InputError, match=said):
        documents_where(documents, where)


@pytest.mark.parametrize("value", ["1٣", "2０２０", "caf\udce9", "9" * 30, "1e99"])
def test_odd_values_are_texts_or_are_refused(documents: Store, value: str) -> None:
    for where in (f"year = {value}", f"file = {value}", {"year": value}, {"file": value}):
        try:
            assert documents_where(documents, where) == []
        except InputError as error:
            assert "Neo4j cannot hold" in str(error)


def test_blanks_cost_no_more_than_other_letters() -> None:
    (clause,) = clauses_of("author = a" + " " * 9000 + "b")
    assert clause[0]["text"] == "a" + " " * 9000 + "b"


def test_of_the_command_values_of_one_name_are_alternatives(documents: Store) -> None:
    def found(*conditions: str) -> list[str] | None:
        return documents_where(documents, alternatives(conditions))

    assert found("author=Orlova", 'author = "O\'Neill"', "year > 2000") == ["many", "new"]
    assert found("title=B", "title = 'Annex A'", "type=txt") == ["odd"]
    assert found("tag=annex and tag=sea", "draft=true") == ["old"]
    assert alternatives(["year=1"], ["a"], ["c"]) == ["year=1", 'document in ("a")', 'folder in ("c")']
    odd = "says \"and\" \\ or, 'this'"
    (clause,) = clauses_of(alternatives([], [odd, "./b.md"]))
    assert clause[0]["values"] == [odd, str(Path("b.md").absolute())]
    assert found("not author=Orlova", "not author=Verne") == ["new", "none", "odd", "text"]
    assert alternatives(None) == alternatives([" "]) == []


def test_no_value_becomes_part_of_a_statement(documents: Store) -> None:
    odd = 'a = "x\\"}) DETACH DELETE d //" or `b}) DETACH DELETE d` = 1'
    assert [term["values"] for clause in clauses_of(odd) for term in clause] == [['x"}) DETACH DELETE d //'], ["1", 1]]
    with pytest.raises(InputError, match="No document has metadata"):
        documents_where(documents, odd)
    assert len(documents_where(documents, "not naïve or naïve") or ()) == len(METADATA)


@pytest.mark.parametrize("where", [None, {}, "", "  ", [], [{}, " "]])
def test_no_condition(documents: Store, where: Any) -> None:
    assert documents_where(documents, where) is None
