"""What of the evidence speaks to the question: sentences and facts, by words alone."""

from dataclasses import replace
from pathlib import Path

import pytest
from answers import passage

from kgplatform.client import SEARCHES, KnowledgeGraph
from kgplatform.models.embed import embed_question
from kgplatform.models.onnx_encoder import DEFAULT
from kgplatform.readers.relevance import FITS, judged
from kgplatform.records import Citation, FoundFact, FoundPassage, SearchResult

CABLE = "The cable of 1866\n\nThe ship left in July. The Great Eastern laid the cable of 1866. It broke in no storm."
MILL = "Anna Reed built the mill in 1704. It ground corn. Her brother Tom Reed sold it in 1720."
ADA = "Ada Lovelace married William King."
CALIBRATED = f"local:{DEFAULT}"
QUESTION = "Which ship laid the cable of 1866?"


def found(*passages: FoundPassage, facts: tuple[FoundFact, ...] = ()) -> SearchResult:
    return SearchResult(QUESTION, passages, facts, 0.0)


def stated(words: str, where: FoundPassage, *, is_found: bool = True) -> FoundFact:
    """A fact that ``where`` states in ``words``, which are its own too."""
    start = where.start + where.text.index(words)
    place = Citation(where.document, where.title, start, start + len(words), None, where.id, is_found)
    return FoundFact(words, words, 0.0, ("triple",), (place,))


def sentence(result: SearchResult, number: int = 0) -> str:
    quote = result.passages[number].sentence
    return quote.text if quote else ""


def test_it_is_cited_by_the_characters_of_the_document() -> None:
    places = ((500, "slide 1"), (500 + MILL.index("Her brother"), "slide 2"))
    later = FoundPassage("p", "d", "note", 500, 500 + len(MILL), None, MILL, 1.0, (), locations=places)
    sold = judged(found(later), "Who sold the mill in 1720?").passages[0].sentence
    assert (sold.location if sold else None) == "slide 2"
    quote = judged(found(later), "Who built the mill?").passages[0].sentence
    assert quote is not None
    assert MILL[quote.start - 500 : quote.end - 500] == quote.text == "Anna Reed built the mill in 1704."


def test_what_the_title_says_tells_no_sentence_from_another() -> None:
    text = "Cyrus Field was born in Stockbridge. He died in 1892. A street bears his name."
    asked = "When did Cyrus Field die?"
    assert sentence(judged(found(passage("life", text, title="Cyrus Field")), asked)) == "He died in 1892."
    asked = "Was Cyrus Field a chemist?"
    assert sentence(judged(found(passage("life", text, title="Cyrus Field")), asked)).startswith("Cyrus Field was")


def test_a_heading_gives_way_to_a_sentence() -> None:
    assert sentence(judged(found(passage("cable", CABLE)), QUESTION)) == "The Great Eastern laid the cable of 1866."


@pytest.mark.parametrize("text", ["", "…", "Nothing of the kind."])
def test_where_no_word_is_shared_there_is_no_sentence(text: str) -> None:
    assert judged(found(passage("other", text)), QUESTION).passages[0].sentence is None


def test_words_of_scripts_without_spaces_count() -> None:
    text = "夏目漱石は東京で生まれた。吾輩は猫であるを書いた。"
    assert (
        sentence(judged(found(passage("soseki", text)), "夏目漱石はどこで生まれたか")) == "夏目漱石は東京で生まれた。"
    )


def test_a_fact_of_the_best_sentence_is_relevant() -> None:
    cable, mill = passage("cable", CABLE), passage("mill", MILL)
    fact = stated("The Great Eastern laid the cable of 1866", cable)
    elsewhere = stated("The ship left", cable)
    other = stated("Anna Reed built the mill", mill)
    result = judged(found(cable, mill, facts=(fact, elsewhere, other)), QUESTION)
    assert [each.relevant for each in result.facts] == [True, False, False]
    renamed = FoundFact("f", "Leviathan description: old book", 0.0, (), fact.citations)
    unfound = stated("The Great Eastern laid the cable of 1866", cable, is_found=False)
    for none in (renamed, unfound):
        assert not judged(found(cable, facts=(none,)), QUESTION).facts[0].relevant
    behind = found(mill, passage("other", "It rains."), cable, facts=(fact,))
    assert not judged(behind, QUESTION).facts[0].relevant, "only the first passages make a fact relevant"
    assert judged(behind, QUESTION, first=3).facts[0].relevant


def test_nothing_of_the_result_is_lost_or_moved() -> None:
    cable, mill = passage("cable", CABLE, 0.9), passage("mill", MILL, 0.8)
    before = found(*(cable, mill) * 60, facts=(stated("It ground corn", mill), stated("It broke", cable)))
    after = judged(before, QUESTION)
    assert [each.id for each in after.passages] == [each.id for each in before.passages]
    assert [each.text for each in after.facts] == [each.text for each in before.facts]
    assert after.passages[0].sentence and after.passages[-1].sentence is None, "thousands are not looked at"


def test_a_passage_is_relevant_if_it_is_near_and_has_the_questions_words() -> None:
    near = [replace(passage("cable", CABLE), cosine=cosine) for cosine in (0.9, 0.7, 0.5)]
    far = replace(passage("mill", MILL), cosine=0.5)
    result = judged(found(*near, far), QUESTION, CALIBRATED)
    high, middle, low, least = (each.relevance for each in result.passages)
    assert result.fits and 1 > high > 0.9 > middle > low > least > 0
    assert judged(found(far), QUESTION, CALIBRATED).fits is False
    assert [each.score for each in result.passages] == [1.0] * 4, "the score and the order are left as they are"


def test_what_shares_no_word_does_not_fit() -> None:
    """The cosine of letters without a meaning may be as high as that of a passage that answers."""
    near = replace(passage("mill", MILL), cosine=0.7)
    result = judged(found(near), "asdf qwerty zxcv", CALIBRATED)
    assert result.passages[0].relevance and result.passages[0].relevance > FITS
    assert result.fits is False


@pytest.mark.parametrize(("embedder", "cosine"), [("", 0.9), ("hash:64", 0.9), (CALIBRATED, None)])
def test_without_a_calibrated_embedder_or_a_cosine_nothing_is_said(embedder: str, cosine: float | None) -> None:
    result = judged(found(replace(passage("cable", CABLE), cosine=cosine)), QUESTION, embedder)
    assert (result.passages[0].relevance, result.fits) == (None, None)
    assert judged(found(), QUESTION, embedder).fits is None


def test_every_route_tells_the_cosines(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (tmp_path / "ada.txt").write_text(ADA, "utf-8")
    kg.ingest(tmp_path / "ada.txt", extractor="local")
    question = "Who was Ada Lovelace married to?"
    wanted = float(embed_question(kg.embedder, question) @ kg.embedder.embed([f"ada\n{ADA}"])[0])
    assert kg.embedder.name not in (CALIBRATED, "")
    for route in (each for each in SEARCHES if each != "community"):
        (only,) = kg.search(question, route).passages
        assert only.cosine == pytest.approx(wanted, abs=0.001), route
        assert only.relevance is None


def test_a_search_and_an_answer_say_the_same(kg: KnowledgeGraph, tmp_path: Path) -> None:
    (tmp_path / "ada.txt").write_text(
        "Rain fell. Ada Lovelace was born in London in 1815. Tom Reed died in Paris.", "utf-8"
    )
    kg.ingest(tmp_path / "ada.txt", extractor="local")
    question = "Where was Ada Lovelace born?"
    result, answer = kg.search(question), kg.ask(question)
    assert sentence(result) == "Ada Lovelace was born in London in 1815."
    assert result.passages == answer.evidence.passages
    assert result.facts == answer.evidence.facts
    assert {each.relevant for each in result.facts} == {True, False}


def test_a_sentence_and_its_triple_are_one_fact() -> None:
    cable = passage("cable", CABLE)
    sentence = stated("The Great Eastern laid the cable of 1866.", cable)
    triple = replace(sentence, id="triple", text="Great Eastern laid_cable cable of 1866")
    shorter = replace(sentence, id="shorter", text="Great Eastern laid cable")
    copy = passage("copy", CABLE)
    elsewhere = replace(stated("The Great Eastern laid the cable of 1866.", copy), id="elsewhere", text=shorter.text)
    result = judged(found(cable, copy, facts=(triple, sentence, shorter, elsewhere)), QUESTION, least=0.0)
    shown = {fact.id for fact in result.facts if fact.relevant}
    assert shown == {"triple", "elsewhere"}, "the first of the same words; who says less in the same place goes"
    assert [fact.id for fact in result.facts] == ["triple", sentence.id, "shorter", "elsewhere"]
    result = judged(found(cable, facts=(shorter, sentence)), QUESTION, least=0.0)
    assert [fact.relevant for fact in result.facts] == [False, True]
