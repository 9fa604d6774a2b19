"""Scores of an answer by its words: golden values computed by hand, other scripts, and what holds for any text."""

import re
import string
import sys
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kgplatform.errors import SettingError, to_install
from kgplatform.evaluate import metrics as scores
from kgplatform.evaluate.metrics import (
    compression,
    contains,
    exact_match,
    f1,
    f1_star,
    normalised,
    plain,
    rouge,
    rouge_scorer,
)

ASCII = st.text(st.characters(codec="ascii"), max_size=60)


def official(text: str) -> str:
    """SQuAD's published normal form, from its description."""
    bare = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return " ".join(re.sub(r"\b(a|an|the)\b", " ", bare).split())


def official_f1(prediction: str, reference: str) -> float:
    ours, theirs = official(prediction).split(), official(reference).split()
    shared = sum((Counter(ours) & Counter(theirs)).values())
    return 2 * shared / (len(ours) + len(theirs)) if shared else 0.0


@pytest.mark.parametrize(
    ("text", "form"),
    [
        *(("Cafe\u0301", "caf\u00e9"), ("“Heart’s Content”", "hearts content"), ("ＣＡＢＬＥ！１８６６", "cable1866")),
        *(("Straße", "strasse"), ("soft\u00adhyphen", "softhyphen"), ("東京、大阪。", "東京大阪"), ("−5", "5")),
        ("non\u00a0breaking\u2003space", "non breaking space"),
    ],
)
def test_the_normal_form_of_other_scripts(text: str, form: str) -> None:
    assert normalised(text) == unicodedata.normalize("NFC", form)


def test_citations_are_no_part_of_an_answer() -> None:
    assert plain("Casa Loma [1][2], in Toronto [12].") == "Casa Loma, in Toronto."
    assert plain("[PERSON#12]: Ahab [1]") == "[PERSON#12]: Ahab"
    assert plain("in [1866]") == "in [1866]"
    assert plain("[94]") == "[94]"
    assert plain("  ") == ""
    assert exact_match(plain("The Casa Loma. [1]"), ["Casa Loma"]) == 1


@pytest.mark.parametrize(
    ("prediction", "references", "score"),
    [
        *(("the Yale Law Journal.", ["Yale Law Journal"], 1), ("Yale Law", ["Yale Law Journal"], 0)),
        *(("JFK", ["John F. Kennedy", "J.F.K."], 1), ("", ["the"], 0), ("The The", ["the the"], 1)),
        *(("!!!", ["!!!"], 1), ("Cafe\u0301 Müller", ["café müller"], 1), ("東 京", ["東京"], 1)),
    ],
)
def test_exact_match(prediction: str, references: list[str], score: float) -> None:
    assert exact_match(prediction, references) == score


@pytest.mark.parametrize(
    ("prediction", "references", "score"),
    [
        ("the Great Eastern", ["Great Eastern"], 1),
        # P = 2/4, R = 2/3: 2 * 1/2 * 2/3 / (7/6) = 4/7
        ("Great Eastern was built", ["Great Eastern steamship"], 4 / 7),
        # "new" twice in both, "york" once: shared 3 of 4 and of 3
        ("New New York city", ["new york new"], 6 / 7),
        # "cable" counts once, since the reference has it once: P = 1/3, R = 1/1
        ("cable cable cable", ["cable"], 1 / 2),
        ("cable", ["rope", "the cable ship"], 2 / 3),
        ("The The", ["the the"], 1),
        # letters of 東京都 and 東京: P = 2/3, R = 2/2
        ("東京都", ["東京"], 4 / 5),
        # HotpotQA would say 0 here: its rule on "yes" is not used. P = 1/3, R = 1
        ("yes it was", ["yes"], 1 / 2),
    ],
)
def test_f1(prediction: str, references: list[str], score: float) -> None:
    assert f1(prediction, references) == pytest.approx(score, abs=1e-12)


@given(ASCII, ASCII)
@settings(deadline=None)
def test_f1_and_exact_match_of_ascii_are_the_official_ones(prediction: str, reference: str) -> None:
    if official(prediction) or official(reference):
        assert f1(prediction, [reference]) == pytest.approx(official_f1(prediction, reference))
        assert exact_match(prediction, [reference]) == float(official(prediction) == official(reference))


TEN, BATTLE = "one two three four five six seven eight nine ten", "battle of the bay of fundy"
HUNDRED = [f"w{number}" for number in range(100)]


@pytest.mark.parametrize(
    ("prediction", "reference", "keywords", "score"),
    [
        ("one two", "one two three", TEN, 4 / 5),  # 2 of 10 words: 0.2 is not below 0.2
        ("one", "one", TEN, 0),
        (" ".join(HUNDRED[:20]), " ".join(HUNDRED), " ".join(HUNDRED), 2 * 20 / 120),
        (" ".join(HUNDRED[:19]), " ".join(HUNDRED), " ".join(HUNDRED), 0),
        # Stop words are needed and never recalled: "of of bay" recalls "bay" alone, 1 of 5, or 1 of 6.
        ("of of bay", "bay", BATTLE, 1 / 2),
        ("of of bay", "bay", f"{BATTLE} 1866", 0),
        ("of of", "of of", BATTLE, 0),
    ],
)
def test_f1_star(prediction: str, reference: str, keywords: str, score: float) -> None:
    assert f1_star(prediction, [reference], [keywords]) == pytest.approx(score)


def test_rouge_by_hand() -> None:
    """Six words each. Unigrams: "the" twice, "cat", "on", "mat": 5 of 6. Bigrams: the cat, on the, the mat: 3 of 5."""
    assert rouge("the cat sat on the mat", ["the cat lay on the mat"]) == {
        "rouge1": pytest.approx(5 / 6),
        "rouge2": pytest.approx(3 / 5),
        "rougeL": pytest.approx(5 / 6),
    }


def test_rouge_counts_letters_that_are_not_english() -> None:
    """The library's tokenizer has no letter of these texts but c, f and bl."""
    assert rouge("câble", ["câble"])["rouge1"] == 1
    assert rouge("кабель лежит", ["кабель лежал"]) == {"rouge1": 0.5, "rouge2": 0.0, "rougeL": 0.5}
    # 東京都 and 東京: 2 of 3 letters and 2 of 2; one pair of two and of one
    assert rouge("東京都", ["東京"]) == {
        "rouge1": pytest.approx(4 / 5),
        "rouge2": pytest.approx(2 / 3),
        "rougeL": pytest.approx(4 / 5),
    }
    assert rouge("हिन्दी भाषा", ["हिन्दी भाषा"])["rouge2"] == 1


def test_without_its_package_rouge_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rouge_score.rouge_scorer", None)
    scores.rouge_scorer.cache_clear()
    with pytest.raises(SettingError, match=re.escape(to_install("evaluate"))):
        rouge_scorer()
    monkeypatch.undo()
    rouge_scorer()


@pytest.mark.parametrize(
    ("prediction", "references", "score"),
    [
        ("It was the Yale Law Journal that published it.", ["Yale Law Journal"], 1),
        ("The population is 1,658,798.", ["658,798"], 0),
        ("It is 658,798 in all", ["658798"], 1),
        ("Parisian", ["Paris"], 0),
        ("In Paris", ["London", "the Paris"], 1),
        ("首都は東京です", ["東京"], 1),
    ],
)
def test_contains(prediction: str, references: list[str], score: float) -> None:
    assert contains(prediction, references) == score


def test_the_compression_rate_by_hand() -> None:
    """1,000 words, gists of 150; a page of 100 words in place of its gist of 15 makes 235 (ReadAgent, section 4)."""
    assert compression({"words.in_context": 150 - 15 + 100, "words.of_text": 1000}) == pytest.approx(0.765)
    for counts in ({}, {"words.in_context": 10}, {"words.in_context": 0, "words.of_text": 100}):
        assert compression(counts) is None, "nobody counted"
