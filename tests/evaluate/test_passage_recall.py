"""Supporting passages by rank and supporting facts by their words."""

import pytest

from kgplatform.evaluate.metrics import all_found_at, facts_found, ranks, recall_at, what_was_read
from kgplatform.evaluate.terms import Text
from kgplatform.records import Answer, FoundFact, FoundPassage, SearchResult, Step, Usage

FIELD = "Cyrus Field made his money in paper. He asked Maury about the floor of the Atlantic."


def passage(title: str, text: str, document: str = "") -> FoundPassage:
    return FoundPassage(
        "id", document or f"file:///corpus.json#{title}", title, 0, len(text), None, text, 1.0, ("all",)
    )


@pytest.mark.parametrize(
    ("supports", "found", "wanted"),
    [
        # The first of the passages counts.
        (
            [Text("Cyrus Field", FIELD), Text("Great Eastern", "A ship."), Text("Maury", "He mapped the sea.")],
            [
                passage("Whitehouse", "A surgeon."),
                passage("Cyrus Field", "He asked Maury about the floor of the Atlantic."),
                passage("Cyrus Field", "Cyrus Field made his money in paper."),
                passage("Great Eastern", "A ship."),
            ],
            (2, 4, None),
        ),
        # Of two passages with one title the text decides, where there is one.
        (
            [Text("Faraday", "A ship of 1874."), Text("Faraday", "A scientist."), Text("Faraday")],
            [passage("Faraday", "A scientist."), passage("Faraday", "x")],
            (None, 1, 1),
        ),
        # Neither white space nor the form of letters matters.
        (
            [Text("Cafe\u0301  Paris", "One line.\nAnother line.")],
            [passage("Caf\u00e9 Paris", "One line.  Another\u00a0line.")],
            (1,),
        ),
        # A file is named by its title or its name, and the file of a corpus names none of its members.
        (
            [Text("Great Eastern.docx"), Text("The Great Eastern"), Text("Great Eastern")],
            [passage("The Great Eastern", "A ship.", "file:///data/Great%20Eastern.docx")],
            (1, 1, None),
        ),
        (
            [Text("People.json"), Text("Daniel Gooch")],
            [passage("Daniel Gooch", "A chairman.", "file:///data/People.json#Daniel%20Gooch")],
            (None, 1),
        ),
    ],
)
def test_ranks(supports: list[Text], found: list[FoundPassage], wanted: tuple[int | None, ...]) -> None:
    assert ranks(supports, found) == wanted


def test_recall_and_all_found_by_hand() -> None:
    found = (1, 3, None, 10)
    assert [recall_at(found, k) for k in (1, 2, 3, 9, 10)] == [0.25, 0.25, 0.5, 0.5, 0.75]
    assert [all_found_at((1, 3), k) for k in (1, 2, 3, 10)] == [0, 0, 1, 1]
    assert all_found_at(found, 100) == 0


def test_a_fact_counts_where_its_words_stand() -> None:
    read = "The “Great Eastern” was  designed by Brunel.\nIt laid 2,600 miles of cable in 1866."
    facts = [
        *("the 'Great Eastern' was designed by Brunel", "It laid 2,600 miles of cable in 1866."),
        *("It laid 2,600 miles of cable in 1865.", "Brunel designed her", ""),
    ]
    assert facts_found(facts, read) == (True, True, False, False, False)
    assert facts_found(facts[:2], "") == (False, False)
    assert facts_found([], read) == ()


def test_what_was_read_is_passages_facts_and_the_last_notebook_of_each_path() -> None:
    def noted(notebook: str | None, path: int) -> Step:
        return Step("search_more", "at Petrel", 0.0, prompt="graphreader/chunk", path=path, notebook=notebook)

    found = SearchResult("Q?", (passage("note", "One."),), (FoundFact("f", "x is y", 0.0, (), ()),), 0.0)
    steps = (noted("old", 1), noted("b", 2), noted("new", 1), noted(None, 1))
    assert what_was_read(Answer("Q?", "youtu", "A.", (), found, (), Usage())) == "note\nOne.\n\n- x is y"
    assert what_was_read(Answer("Q?", "youtu", "A.", (), found, steps, Usage())).endswith("- x is y\n\nnew\n\nb")
