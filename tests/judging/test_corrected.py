"""Corrected estimates: unbiased, never wider than the human sample alone, and rightly sure."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.errors import DataError
from berryeval.judging import Corrected, correct_difference, correct_mean, rectify
from berryeval.stats import student_interval

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))

from simulate_correction import CASES, JUDGES, draw, find_truth, simulate

# As in docs/judging.md: intervals of a good judge are too wide, and those of one that is
# rarely, but then very wrong, too narrow with 20 queries.
LIMITS = {"good": (0.95, 1.0), "rarely wrong": (0.9, 0.99)}


def name(values: np.ndarray) -> dict[str, float]:
    return {f"q{place}": float(value) for place, value in enumerate(values)}


def estimate(case: str, judge: str, human: int = 30, model: int = 300, seed: int = 0) -> Corrected:
    rng = np.random.default_rng(seed)
    truths, guesses = draw(rng, case, JUDGES[judge], (1, model))
    return correct_mean(name(truths[0, :human]), name(guesses[0]))


@pytest.mark.parametrize("case", CASES)
def test_intervals_cover_the_truth(case: str) -> None:
    """A reduced version of the table of docs/judging.md: coverage and width for every judge."""
    truth = find_truth(case)
    for judge in JUDGES:
        found = simulate(case, judge, 20, 200, 500, truth)
        least, most = LIMITS.get(judge, (0.925, 0.975))
        assert least <= found["coverage"] <= most, (judge, found)
        assert found["width"] <= 1
        if judge == "good":
            assert found["width"] < 0.6
        if judge == "useless":
            assert found["weight"] < 0.05


def test_the_bias_of_a_model_is_removed() -> None:
    """The mean of many corrected estimates is the truth, though the model is far too lenient."""
    truth = find_truth("moderate")
    rng = np.random.default_rng(1)
    truths, guesses = draw(rng, "moderate", JUDGES["biased"], (1000, 200))
    value, *_ = rectify(truths[:, :40], guesses[:, :40], guesses[:, 40:])
    error = float(value.std()) / math.sqrt(len(value))
    assert abs(float(value.mean()) - truth) < 4 * error
    assert abs(float(guesses.mean()) - truth) > 0.08


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 10_000), st.sampled_from(CASES), st.sampled_from(list(JUDGES)))
def test_never_wider_than_the_human_sample(seed: int, case: str, judge: str) -> None:
    """Whatever the model, the interval is at most as wide as that of the human values alone."""
    found = estimate(case, judge, human=15, model=60, seed=seed)
    width = found.interval.high - found.interval.low
    assert width <= found.human_interval.high - found.human_interval.low + 1e-12
    assert 0 <= found.weight <= 1
    assert found.interval.low <= found.value <= found.interval.high
    assert (found.p <= 0.05) == (not found.interval.low <= 0 <= found.interval.high)


def test_values_equal_a_second_implementation() -> None:
    """The estimate is that of the formulas, with a loop over the queries left out."""
    rng = np.random.default_rng(7)
    truths, guesses = draw(rng, "moderate", JUDGES["good"], (1, 120))
    human, model, others = truths[0, :25], guesses[0, :25], guesses[0, 25:]
    values, weights = [], []
    for place in range(25):
        x, y = np.delete(model, place), np.delete(human, place)
        slope = np.polyfit(x, y, 1)[0]
        square = np.corrcoef(x, y)[0, 1] ** 2
        slope *= max(0.0, 1 - 2 * (1 - square) / (22 * square))
        weight = min(max(slope, 0.0), 1.0) / (1 + 25 / 95)
        weights.append(weight)
        values.append(human[place] - weight * (model[place] - others.mean()))
    found = correct_mean(name(truths[0, :25]), name(guesses[0]))
    assert found.value == pytest.approx(np.mean(values), abs=1e-12)
    assert found.weight == pytest.approx(np.mean(weights), abs=1e-12)
    own = (24 * np.var(values, ddof=1) + 2 * np.var(human, ddof=1)) / 26 / 25
    rest = np.mean(weights) ** 2 * np.var(others, ddof=1) / 95
    strays = np.array(values) - np.mean(values)
    third = 25 * np.sum(strays**3) / (24 * 23) / 25**2
    error = math.sqrt(own + rest) * (1 + 2.5 * third**2 / (own + rest) ** 3)
    freedom = (own + rest) ** 2 / (own**2 / 24 + rest**2 / 94)
    assert found.interval == pytest.approx(student_interval(found.value, error, freedom, 0.95))


def test_a_sample_without_errors_does_not_prove_a_model_right() -> None:
    """A model that is right on 20 queries may be wrong elsewhere: the interval allows for it."""
    model = name(np.random.default_rng(4).random(1000))
    human = {query: model[query] for query in list(model)[:20]}
    found = correct_mean(human, model)
    spread = np.std(list(human.values()), ddof=1)
    assert found.interval.high - found.value > 2 * spread / 20


def test_the_model_judged_nothing_else() -> None:
    """If humans judged every query, the estimate is their mean, with weight 0."""
    values = name(np.linspace(0, 1, 20))
    found = correct_mean(values, values)
    assert found.value == found.human_value == pytest.approx(0.5)
    assert found.weight == 0
    assert found.interval == found.human_interval


def test_a_difference_is_the_mean_of_differences() -> None:
    """Two systems are compared query by query, over the queries that both have."""
    rng = np.random.default_rng(2)
    first, second = rng.random(80), rng.random(80)
    human = (name(first[:20] * 0.9), name(second[:20] * 0.9))
    found = correct_difference(human, (name(first), name(second)))
    alone = correct_mean(name((second - first)[:20] * 0.9), name(second - first))
    assert (found.value, found.human_interval) == (alone.value, alone.human_interval)
    assert found.label.startswith("corrected: 20 human-judged and 80 model-judged queries, weight")
    assert found.to_json()["interval"] == list(found.interval)


def test_a_difference_allows_for_a_favoured_system() -> None:
    """Systems that hardly differ vary much; the model may favour one by as much."""
    rng = np.random.default_rng(2)
    first = rng.random(400)
    second = first + 0.01 * rng.random(400)
    human = (name(first[:20]), name(second[:20]))
    found = correct_difference(human, (name(first), name(second)))
    alone = correct_mean(name((second - first)[:20]), name(second - first))
    assert alone.weight > 0.9
    assert found.weight == 0
    assert found.interval == found.human_interval == alone.human_interval


@pytest.mark.parametrize("value", [0.0, 0.1, 0.5, 1.0])
def test_equal_values_have_no_point(value: float) -> None:
    """Twenty equal values do not show that every query has this value."""
    model = {f"q{place}": 0.3 * (place % 4 == 0) for place in range(200)}
    found = correct_mean(dict.fromkeys(list(model)[:20], value), model, within=(0, 1))
    assert found.value == pytest.approx(value)
    assert found.interval == found.human_interval
    assert 0 <= found.interval.low < found.interval.high <= 1
    assert found.interval.high - found.interval.low > 0.1
    assert (found.p <= 0.05) == (found.interval.low > 0)


def test_ties_have_no_point() -> None:
    """Twenty ties under human judgments: the interval reaches what the model sees elsewhere."""
    same = {f"q{place}": 0.5 for place in range(200)}
    other = {query: 0.8 if place % 4 == 0 else 0.5 for place, query in enumerate(same)}
    drawn = dict.fromkeys(list(same)[:20], 0.5)
    found = correct_difference((drawn, drawn), (same, other))
    assert found.value == 0
    assert found.interval.low < -0.04 < 0.04 < found.interval.high
    assert found.p == 1
    equal = correct_difference((drawn, drawn), (same, same))
    assert equal.interval.low < 0 < equal.interval.high


def test_intervals_stay_within_the_range() -> None:
    """A mean of values from 0 to 1 is not more than 1; other ranges are given."""
    human = {f"q{place}": float(place % 6 > 0) for place in range(12)}
    found = correct_mean(human, dict(human), within=(0, 1))
    assert found.interval.high == found.human_interval.high == 1
    assert correct_mean(human, dict(human), within=(0, math.inf)).interval.high > 1
    assert correct_mean(human, dict(human)).interval.high > 1


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2])
def test_rare_differences_are_covered(share: float) -> None:
    """Systems that differ on few queries: the sample may show none of them."""
    rng = np.random.default_rng(3)
    human = np.where(rng.random((1000, 200)) < share, rng.choice([0.4, 0.4, -0.4], (1000, 200)), 0)
    model = np.where(rng.random(human.shape) < 0.95, human, 0)
    found = rectify(human[:, :20], model[:, :20], model[:, 20:], reach=0.4)
    reach = [student_interval(0, e, f, 0.95).high for e, f in zip(*found[1:3], strict=True)]
    assert np.mean(np.abs(found[0] - share * 0.4 / 3) <= reach) > 0.93


@pytest.mark.parametrize(
    ("human", "text"),
    [
        ({f"q{place}": 0.5 for place in range(9)}, "at least 10 human-judged queries, found 9"),
        ({f"x{place}": 0.5 for place in range(12)}, r"did not judge the query 'x0'.*\(12 of 12\)"),
        ({f"q{place}": math.nan for place in range(12)}, "finite number"),
    ],
)
def test_bad_input_is_named(human: dict[str, float], text: str) -> None:
    """Too few queries, queries without a model value and odd numbers are named in one line."""
    with pytest.raises(DataError, match=text):
        correct_mean(human, {f"q{place}": 0.5 for place in range(50)})


def test_a_sample_that_is_not_random_is_noticed() -> None:
    """Human-judged queries of one category, or easier ones, are no random sample: a note."""
    rng = np.random.default_rng(5)
    model = name(rng.random(200))
    groups = {query: "hard" if place % 2 else "easy" for place, query in enumerate(model)}
    drawn = list(model)[:40]
    assert correct_mean({one: model[one] for one in drawn}, model, groups=groups).notes == ()
    easy = [query for query in model if groups[query] == "easy"][:40]
    (first, second) = correct_mean({one: model[one] for one in easy}, model, groups=groups).notes
    assert "100 % of them are easy, of all queries 50 %" in first
    assert "0 % of them are hard" in second
    best = sorted(model, key=lambda one: -model[one])[:40]
    (note,) = correct_mean({one: model[one] for one in best}, model).notes
    assert "do not look like a random sample" in note


def test_one_query_of_a_rare_category_is_no_alarm() -> None:
    """A random sample of 20 of 1,000 has one of the two queries of a category now and then."""
    model = name(np.random.default_rng(5).random(1000))
    groups = dict.fromkeys(model, "common") | {"q3": "rare", "q700": "rare"}
    human = {query: model[query] for query in list(model)[:20]}
    assert correct_mean(human, model, groups=groups).notes == ()
    groups |= {f"q{place}": "rare" for place in range(8)}
    notes = correct_mean(human, model, groups=groups).notes
    assert any("40 % of them are rare, of all queries 1 %" in note for note in notes)
