"""Intervals and tests: values computed by hand, those of scipy, and what holds for any scores."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from kgplatform.evaluate import outcome
from kgplatform.evaluate.outcome import compare, estimate, holm, pairs
from kgplatform.evaluate.terms import Mean

pytestmark = pytest.mark.filterwarnings("error")
SHARES = st.lists(st.sampled_from([0.0, 0.25, 1 / 3, 0.5, 0.9, 1.0]), min_size=1, max_size=25)


def named(values: list[float]) -> dict[str, float]:
    return {f"q{number:03}": value for number, value in enumerate(values)}


# ----------------------------------------------------------------------------------------------------------- intervals


def test_an_interval_by_counting() -> None:
    """One right of two: a draw of two has the mean 0, 1/2 or 1, with chances 1/4, 1/2, 1/4."""
    assert estimate([0, 1]) == Mean(0.5, 0.0, 1.0, 2)


def test_the_interval_of_a_share_is_the_binomial_one() -> None:
    """60 of 100 right: the bootstrap's means are binomial; its quantiles are known."""
    found = estimate([1.0] * 60 + [0.0] * 40)
    low, high = (float(stats.binom(100, 0.6).ppf(q)) / 100 for q in (0.025, 0.975))
    assert (found.mean, found.count) == (0.6, 100)
    assert (found.low, found.high) == (pytest.approx(low, abs=0.011), pytest.approx(high, abs=0.011))


def test_the_interval_agrees_with_scipys() -> None:
    values = [n / 40 for n in range(41)]
    theirs = stats.bootstrap(
        (np.asarray(values),), np.mean, n_resamples=10_000, method="percentile", random_state=np.random.default_rng(3)
    ).confidence_interval
    found = estimate(values)
    assert (found.low, found.high) == (pytest.approx(theirs.low, abs=0.01), pytest.approx(theirs.high, abs=0.01))


def test_an_interval_holds_the_truth_about_as_often_as_it_says() -> None:
    """Shares of 50 questions, 60 % of them right in truth: of 200 such samples 95 % should hold 0.6; 90 to 99 do."""
    chance = random.Random(5)
    samples = [[float(chance.random() < 0.6) for _ in range(50)] for _ in range(200)]
    held = [found.low <= 0.6 <= found.high for found in (estimate(each, resamples=1000) for each in samples)]
    assert 0.9 <= sum(held) / len(held) <= 0.99


@pytest.mark.parametrize("values", [[1.0] * 20, [0.0], [0.3], [1 / 3] * 7])
def test_values_without_a_spread_are_their_own_bounds(values: list[float]) -> None:
    assert estimate(values) == Mean(values[0], values[0], values[0], len(values))


def test_nothing_cannot_be_estimated() -> None:
    with pytest.raises(ValueError, match="nothing to estimate"):
        estimate([])
    with pytest.raises(ValueError, match="nothing to estimate"):
        compare({"a": 1.0}, {"b": 1.0})


@given(SHARES, st.randoms())
@settings(max_examples=40, deadline=None)
def test_the_mean_is_within_its_bounds_and_order_is_of_no_consequence(
    values: list[float], chance: random.Random
) -> None:
    found = estimate(values, resamples=500)
    assert min(values) - 1e-12 <= found.low <= found.mean + 1e-12
    assert found.mean - 1e-12 <= found.high <= max(values) + 1e-12
    shuffled = list(values)
    chance.shuffle(shuffled)
    assert estimate(shuffled, resamples=500) == found


def test_another_seed_draws_otherwise_and_the_same_one_the_same() -> None:
    values = [n / 30 for n in range(30)]
    assert estimate(values) == estimate(values) != estimate(values, seed=1)


def test_many_values_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """However few are held at once, the interval is about the same."""
    values = [n / 50 for n in range(50)]
    whole = estimate(values)
    monkeypatch.setattr(outcome, "_DRAWN_AT_ONCE", 70)
    parts = estimate(values)
    assert (parts.low, parts.high) == (pytest.approx(whole.low, abs=0.01), pytest.approx(whole.high, abs=0.01))


# ---------------------------------------------------------------------------------------------------------- comparisons


def test_mcnemar_by_hand() -> None:
    """Eight questions that one alone got right, seven of them the first: p = 2 * (1 + 8) / 2^8."""
    first = named([1] * 7 + [0] + [1, 1, 0])
    second = named([0] * 7 + [1] + [1, 1, 0])
    found = compare(first, second)
    assert found.p == pytest.approx(18 / 256)
    assert (found.difference, found.count) == (pytest.approx(6 / 11), 11)
    assert found.low < found.difference < found.high


@pytest.mark.parametrize(("only_first", "only_second"), [(0, 0), (1, 0), (5, 5), (9, 2), (0, 12), (40, 60), (700, 900)])
def test_mcnemar_is_scipys_binomial_test(only_first: int, only_second: int) -> None:
    first = named([1] * only_first + [0] * only_second + [1])
    second = named([0] * only_first + [1] * only_second + [1])
    discordant = only_first + only_second
    theirs = stats.binomtest(only_first, discordant, 0.5).pvalue if discordant else 1.0
    assert compare(first, second, resamples=50).p == pytest.approx(theirs)


def test_signs_turned_by_hand() -> None:
    """Differences 0.5, 0.5, 0.2, and one of 0, which has no sign: of 8 ways +++ and --- are as far from 0 as 1.2."""
    found = compare(named([1.0, 0.5, 0.4, 0.7]), named([0.5, 0.0, 0.2, 0.7]))
    assert (found.p, found.difference) == (pytest.approx(2 / 8), pytest.approx(0.3))
    # 0.5, 0.5, -0.2 sum to 0.8: as far are ++-, +++, --+ and ---
    assert compare(named([1.0, 0.5, 0.2]), named([0.5, 0.0, 0.4])).p == pytest.approx(4 / 8)


def test_signs_turned_all_ways_are_scipys_permutation_test() -> None:
    chance = random.Random(2)
    first, second = ([chance.random() for _ in range(11)] for _ in range(2))
    theirs = stats.permutation_test(
        (np.asarray(first), np.asarray(second)),
        lambda one, other, axis: np.mean(one - other, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    assert compare(named(first), named(second)).p == pytest.approx(theirs.pvalue)


def test_drawn_ways_come_near_to_all_ways() -> None:
    chance = random.Random(3)
    first = [min(1.0, chance.random() + 0.2) for _ in range(13)]
    second = [chance.random() for _ in range(13)]
    exact = compare(named(first), named(second), resamples=10_000).p
    drawn = compare(named(first), named(second), resamples=8_000).p
    assert exact != drawn
    assert drawn == pytest.approx(exact, abs=0.02)


def test_a_drawn_p_is_never_nothing() -> None:
    first = named([0.9 + n / 1000 for n in range(40)])
    second = named([0.1] * 40)
    assert compare(first, second, resamples=999).p == pytest.approx(1 / 1000)


def test_no_difference_at_all_is_a_p_of_one() -> None:
    for scores in ([1, 0, 1], [0.3, 0.7], [0.5], [1]):
        found = compare(named(scores), named(scores))
        assert (found.difference, found.low, found.high, found.p) == (0, 0, 0, 1)


def test_only_questions_that_both_have_are_compared() -> None:
    first = {"a": 1.0, "b": 0.0, "only": 1.0}
    second = {"b": 0.0, "a": 0.0, "other": 1.0}
    found = compare(first, second)
    assert (found.count, found.difference, found.p) == (2, 0.5, 1.0)


def test_the_test_finds_a_difference_no_more_often_than_it_says() -> None:
    """Two equal setups, 300 times: p is at most 0.05 in about 5 % of them, and surely not in 9 %."""
    chance = random.Random(11)
    pairs_ = [tuple(named([chance.random() for _ in range(15)]) for _ in range(2)) for _ in range(300)]
    found = [compare(first, second, resamples=400).p <= 0.05 for first, second in pairs_]
    assert sum(found) / len(found) < 0.09


@given(SHARES, st.data())
@settings(max_examples=40, deadline=None)
def test_turned_round_everything_is(values: list[float], data: st.DataObject) -> None:
    others = data.draw(st.lists(st.sampled_from([0.0, 0.5, 1.0]), min_size=len(values), max_size=len(values)))
    there = compare(named(values), named(others), resamples=300)
    back = compare(named(others), named(values), resamples=300)
    assert there.p == pytest.approx(back.p)
    assert 0 < there.p <= 1
    assert there.difference == pytest.approx(-back.difference)
    assert there.low - 1e-12 <= there.difference <= there.high + 1e-12


# ---------------------------------------------------------------------------------------------------- many comparisons


def test_holm_by_hand() -> None:
    """Sorted 0.01, 0.02, 0.03, 0.5: times 4, 3, 2, 1 is 0.04, 0.06, 0.06, 0.5."""
    assert holm([0.03, 0.5, 0.01, 0.02]) == [pytest.approx(each) for each in (0.06, 0.5, 0.04, 0.06)]
    assert holm([0.01, 0.04, 0.03]) == [pytest.approx(each) for each in (0.03, 0.06, 0.06)]
    assert holm([0.4, 0.9]) == [0.8, 0.9]
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
@settings(deadline=None)
def test_an_adjusted_p_is_no_smaller_and_keeps_the_order(ps: list[float]) -> None:
    adjusted = holm(ps)
    assert all(p <= after <= 1 for p, after in zip(ps, adjusted, strict=True))
    assert [after for _, after in sorted(zip(ps, adjusted, strict=True))] == sorted(adjusted)


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
