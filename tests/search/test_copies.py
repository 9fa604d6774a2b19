"""A text that is there twice takes one place, and tables of contents come last."""

from dataclasses import replace
from pathlib import Path

import pytest
from gists import opened

from kgplatform.neo4j.store import Store
from kgplatform.records import Citation, FoundPassage, SearchResult
from kgplatform.search.found import distinct, is_contents
from kgplatform.search.search import fuse_results

PDF = """Table of Contents
1 Introduction . . . . . . . . . . . . . . . . 1
2 Cables . . . . . . . . . . . . . . . . . . . . 2
2.1 Gutta-percha. . . . . . . . . . . . . . . . 2
2.2 Iron wire . . . . . . . . . . . . . . . . . . 3
3 Ships . . . . . . . . . . . . . . . . . . . . 5
3.1 The Great Eastern . . . . . . . . . . . . 5
"""
REST = ". . . . . 8\n3.2 The Faraday ..... 9\n4 Stations ..... 11\n4.1 Valentia ..... 12\n4.2 Brest …… 13\n"
LIST = "Ships that laid cables:\nAgamemnon\nNiagara\nGreat Eastern\nHooper\nFaraday\nMinia\n"
FORM = "\n".join(f"{word} _______ Date ________" for word in ("Name", "Ship", "Port", "Master", "Cargo", "Berth"))
PROSE = "\n".join(f"The cable broke for the {number}th time ... and was mended at sea." for number in range(8))
CHAPTER = "Contents\n" + "\n".join(f"Barrel {number} held water, which the crew drank at noon." for number in range(8))


@pytest.mark.parametrize("text", [PDF, REST])
def test_a_table_of_contents_is_known(text: str) -> None:
    assert is_contents(text)


@pytest.mark.parametrize("text", [LIST, PROSE, CHAPTER, "Contents\n1 Introduction\n", "", FORM, PDF + PROSE * 4])
def test_other_texts_are_none(text: str) -> None:
    assert not is_contents(text)


def passage(name: str, text: str) -> FoundPassage:
    return FoundPassage(name, f"file:///{name}", name, 3, 8, 2, text, 1.0, ("passage",))


def test_a_copy_is_named_by_the_first_and_frees_its_place() -> None:
    found = distinct([passage("a", "Ahoy."), passage("b", "Land."), passage("c", "Ahoy."), passage("d", "Rain.")], 3)
    assert [each.id for each in found] == ["a", "b", "d"]
    assert found[0].copies == (Citation("file:///c", "c", 3, 8, 2, "c"),)
    assert found[1].copies == ()


def test_tables_of_contents_come_last() -> None:
    given = [passage("contents", PDF), passage("a", "Ahoy."), passage("b", "Land.")]
    assert [each.id for each in distinct(given, 5)] == ["a", "b", "contents"]
    assert [each.id for each in distinct(given, 2)] == ["a", "b"]


def test_results_of_parts_that_found_different_copies_have_the_text_once() -> None:
    one, other = (SearchResult("q", (passage(name, "Ahoy."),), (), 0.0) for name in "ab")
    assert [each.id for each in fuse_results([one, other], 5).passages] == ["a"]


def test_what_each_part_knew_of_copies_stays() -> None:
    same = [passage(name, "Ahoy.") for name in "abc"]
    one, other = distinct(same[:2], 5), distinct([replace(same[2], score=2.0)], 5)
    (found,) = fuse_results([SearchResult("q", each, (), 0.0) for each in (one, other)], 5).passages
    assert found.id == "c"
    assert sorted(each.passage for each in found.copies) == ["a", "b"]


def test_many_copies_leave_no_place_free(store: Store, tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"same {number}.txt").write_text("The cable broke off the coast of Ireland.")
    for number in range(5):
        (tmp_path / f"other {number}.txt").write_text(f"In {1860 + number} a ship sailed, and the sea was calm.")
    kg = opened(store, tmp_path / "home", None)
    kg.ingest([*tmp_path.glob("*.txt")])
    for route in ("all", "dense", "bm25"):
        found = kg.search("Where did the cable break off the coast?", route=route, top_k=4).passages
        assert len(found) == 4 or route == "bm25", route
        assert len(found[0].copies) >= (19 if route == "all" else 8), route
