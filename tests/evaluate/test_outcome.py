"""What the answers come to: the chief metric; intervals and tests, computed by hand, and beside those of scipy."""

from collections.abc import Mapping

import pytest
from hypothesis import strategies as st

from kgplatform.evaluate.outcome import compare, estimate, holm, outcome, pairs
from kgplatform.evaluate.terms import DataSet, Mean, Question, Scored, Setup

pytestmark = pytest.mark.filterwarnings("error")


def chief(*scores: Mapping[str, float]) -> str | None:
    """The chief metric of one setup with these scores, an answer each."""
    questions = tuple(Question(str(number), "Who?", ("x",), facts=("Someone did.",)) for number in range(len(scores)))
    answers = [
        Scored(question.id, "", "retrieve", "x", None, False, each, {})
        for question, each in zip(questions, scores, strict=True)
    ]
    found = outcome(DataSet("own", questions), [Setup("retrieve", "retrieve")], answers, model="m", raters={})
    return found.metrics[0]


@pytest.mark.parametrize(
    ("scores", "wanted"),
    [
        (({"f1": 1.0, "judge": 0.0}, {"f1": 0.0, "judge": 1.0}), "judge"),
        (({"f1": 1.0, "judge": 0.0}, {"f1": 0.0}), "f1"),
        (({"choice": 0.0, "facts": 1.0}, {"reverted": 0.0, "facts": 1.0}, {"reverted": 0.0, "facts": 1.0}), "reverted"),
        (({"facts": 1.0, "failed": 0.0},), "facts"),
    ],
    ids=["the judge before words", "what most were scored by", "facts say nothing of answers", "nothing but facts"],
)
def test_the_chief_metric(scores: tuple[Mapping[str, float], ...], wanted: str) -> None:
    assert chief(*scores) == wanted


def test_the_recall_by_fact_and_by_sample() -> None:
    """3 of 5 facts over all questions; 1 question of 3 has all of its facts."""
    facts = {"q1": (2, 1.0), "q2": (2, 0.5), "q3": (1, 0.0)}
    questions = [Question(name, "Who?", ("Ann",), facts=("x",) * size) for name, (size, _) in facts.items()]
    answers = [
        Scored(name, "", "youtu", "Ann", None, False, {"facts": share, "facts.all": float(share == 1)}, {})
        for name, (_, share) in facts.items()
    ]
    found = outcome(DataSet("own", tuple(questions)), [Setup("youtu", "youtu")], answers, model="m", raters={})
    assert found.notes == ("Facts read, counted by fact over all questions: youtu 3 of 5 (60.0 %).",)
    assert found.setups[0].scores["facts.all"].mean == pytest.approx(1 / 3)


SHARES = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.9, 1.0]), min_size=1, max_size=25)


def named(values: list[float]) -> dict[str, float]:
    return {f"q{number:03}": value for number, value in enumerate(values)}


def test_an_interval_by_counting() -> None:
    """One right of two: a draw of two has the mean 0, 1/2 or 1, with chances 1/4, 1/2, 1/4."""
    assert estimate([0, 1]) == Mean(0.5, 0.0, 1.0, 2)


def test_mcnemar_by_hand() -> None:
    """Eight questions that one alone got right, seven of them the first: p = 2 * (1 + 8) / 2^8."""
    first = named([1] * 7 + [0] + [1, 1, 0])
    second = named([0] * 7 + [1] + [1, 1, 0])
    found = compare(first, second)
    assert found.p == pytest.approx(18 / 256)
    assert (found.difference, found.count) == (pytest.approx(6 / 11), 11)
    assert found.low < found.difference < found.high


def test_signs_turned_by_hand() -> None:
    """Differences 0.5, 0.5, 0.2, and one of 0, which has no sign: of 8 ways +++ and --- are as far from 0 as 1.2."""
    found = compare(named([1.0, 0.5, 0.4, 0.7]), named([0.5, 0.0, 0.2, 0.7]))
    assert (found.p, found.difference) == (pytest.approx(2 / 8), pytest.approx(0.3))
    # 0.5, 0.5, -0.2 sum to 0.8: as far are ++-, +++, --+ and ---
    assert compare(named([1.0, 0.5, 0.2]), named([0.5, 0.0, 0.4])).p == pytest.approx(4 / 8)


def test_holm_by_hand() -> None:
    """Sorted 0.01, 0.02, 0.03, 0.5: times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.5."""
    assert holm([0.03, 0.5, 0.01, 0.02]) == [pytest.approx(each) for each in (0.06, 0.5, 0.04, 0.06)]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


def test_all_pairs_in_order() -> None:
    by_setup = {
        "youtu": named([1, 1, 1, 1, 1, 1, 1, 0]),
        "retrieve": named([0, 0, 0, 0, 0, 0, 0, 0]),
        "longagent": {"another": 1.0},
        "readagent": named([1, 1, 1, 0, 0, 0, 0, 0]),
    }
    found = pairs("em", by_setup)
    assert [(each.metric, each.first, each.second, each.count) for each in found] == [
        ("em", "youtu", "retrieve", 8),
        ("em", "youtu", "readagent", 8),
        ("em", "retrieve", "readagent", 8),
    ]
    # 7 to 0: 2/2^7; 4 to 0: 2/2^4; 0 to 3: 2/2^3; and three comparisons
    assert [each.p for each in found] == [1 / 64, 1 / 8, 1 / 4]
    assert [each.adjusted for each in found] == [3 / 64, 1 / 4, 1 / 4]
    assert [each.difference for each in found] == [7 / 8, 1 / 2, -3 / 8]
    assert pairs("em", {"youtu": named([1])}) == ()
