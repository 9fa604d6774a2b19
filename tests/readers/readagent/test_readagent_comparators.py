"""What ReadAgent is compared with (section 4.2): the best pages alone, by words or by meaning, of chosen documents."""

import pytest
from readagent_runs import Rereader, ask, cites, details, document_ids, fill, in_lines, place_near

from kgplatform.client import KnowledgeGraph
from kgplatform.errors import InputError
from kgplatform.readers.answer import NOTHING_NEAR, OWN_KNOWLEDGE, REFUSAL
from kgplatform.readers.readagent import reader as readagent
from kgplatform.search.evidence import Evidence

QUESTION = "Who fired the bricks of Marsh End?"
KILN = [
    ("Swallows lived there.", "Swallows."),
    ("At Marsh End the bricks were fired by Ada Stone.", "Ada Stone."),
    ("It rained.", "Rain."),
    ("The bricks were red.", "Red bricks."),
]
DECOY = [("Who fired the bricks of Marsh End? The bricks of Marsh End were fired by Jon Reed.", QUESTION)]


@pytest.fixture(scope="module")
def evidence(shared_kg: KnowledgeGraph, tmp_path_factory: pytest.TempPathFactory) -> Evidence:
    return fill(shared_kg.store, tmp_path_factory.mktemp("compared"), {"kiln.txt": KILN, "decoy.txt": DECOY})


@pytest.mark.parametrize("lookup", ["bm25", "dense"])
def test_a_perfect_match_in_another_document_does_not_come_up(evidence: Evidence, lookup: str) -> None:
    place_near(evidence._store, QUESTION, [f"kiln · page {n}" for n in range(4)], ["kiln · page 1", "kiln · page 3"])
    model = Rereader(answer=[cites("Ada Stone")])
    done = ask(evidence, model, QUESTION, lookup=lookup, pages=2, documents=(document_ids(evidence)["kiln"],))
    assert {n: model.asked[0].plain(n) for n in model.asked[0].memory} == {1: KILN[1][0], 3: KILN[3][0]}, (
        "its tags are the indices of its pages"
    )
    assert model.kinds == ["answer"]
    assert done.text == "Ada Stone [1]"
    assert details(done, "find pages") == [f"the best 2 of 4 by {lookup}"]
    assert [each.name for each in done.trace] == ["find pages", "read pages", "answer"]
    everywhere = Rereader(answer=[cites("Jon Reed")])
    ask(evidence, everywhere, QUESTION, lookup=lookup, pages=1)
    assert everywhere.asked[0].plain(0) == in_lines(DECOY[0][0])


def test_where_no_page_has_a_word_of_the_question_nobody_is_asked(evidence: Evidence) -> None:
    done = ask(evidence, Rereader(), "Xylophones?", lookup="bm25")
    assert (done.text, done.note, done.counts["words.in_context"]) == (REFUSAL, NOTHING_NEAR, 0)
    known = Rereader(**{"readers/answer": ['{"sufficient": false, "answer": "Wooden bars."}']})
    done = ask(evidence, known, "Xylophones?", lookup="bm25", mode="open")
    assert (done.text, done.note) == ("Wooden bars.", OWN_KNOWLEDGE)
    chosen = ask(evidence, Rereader(), "Xylophones?", lookup="bm25", choices=("wood", "brass"), mode="open")
    assert (chosen.text, chosen.note) == (REFUSAL, NOTHING_NEAR), "no model was asked to choose"


def test_a_graph_that_is_too_large_to_be_read_for_its_words_is_refused(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(readagent, "BM25_PAGES", 4)
    with pytest.raises(InputError, match="bm25 reads the text of every page, and there are 5; .* Choose documents"):
        ask(evidence, Rereader(), QUESTION, lookup="bm25")
    chosen = (document_ids(evidence)["kiln"],)
    assert ask(evidence, Rereader(answer=[cites("Ada Stone")]), QUESTION, lookup="bm25", documents=chosen).text
