"""Agreement of judges: equal to other implementations, and undefined where it is."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations, permutations
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import berryeval as be
from berryeval.data import Anchor
from berryeval.errors import ConfigurationError, DataError
from berryeval.judging import MEASURES, Vote, agreement

Rows = Sequence[Sequence[float | None]]  # a list of grades per judge


def build_table(rows: Rows) -> dict[str, dict[int, float | None]]:
    return {f"judge{place}": dict(enumerate(row)) for place, row in enumerate(rows)}


def measure(rows: Rows, scale: Sequence[float] | None = None) -> dict[str, float | None]:
    found = agreement(build_table(rows), scale=scale, resamples=0)
    return {name: one.value for name, one in found.measures.items()}


# A second implementation, from the definitions and without arrays.


def naive_kappa(
    a: Sequence[Any], b: Sequence[Any], distance: Callable[[float, float], float]
) -> float | None:
    both = [(x, y) for x, y in zip(a, b, strict=True) if x is not None and y is not None]
    if not both:
        return None
    found = sum(distance(x, y) for x, y in both) / len(both)
    chance = sum(distance(x, y) for x, _ in both for _, y in both) / len(both) ** 2
    return None if chance == 0 else 1 - found / chance


def naive_mean_kappa(rows: Rows, distance: Callable[[float, float], float]) -> float | None:
    values = [naive_kappa(a, b, distance) for a, b in combinations(rows, 2)]
    known = [one for one in values if one is not None]
    return sum(known) / len(known) if known else None


def units_of(rows: Rows, least: int) -> list[list[float]]:
    units = [[one for one in unit if one is not None] for unit in zip(*rows, strict=True)]
    return [unit for unit in units if len(unit) >= least]


def naive_alpha(rows: Rows, *, ordinal: bool) -> float | None:
    units = units_of(rows, 2)
    values = [one for unit in units for one in unit]
    counts = Counter(values)

    def distance(x: float, y: float) -> float:
        if not ordinal:
            return float(x != y)
        low, high = min(x, y), max(x, y)
        between = sum(count for one, count in counts.items() if low <= one <= high)
        return (between - (counts[low] + counts[high]) / 2) ** 2 if x != y else 0.0

    found = sum(
        sum(distance(x, y) for x, y in permutations(unit, 2)) / (len(unit) - 1) for unit in units
    )
    chance = sum(distance(x, y) for x, y in permutations(values, 2))
    return None if chance == 0 else 1 - (len(values) - 1) * found / chance


def naive_gwet(
    rows: Rows, scale: Sequence[float], closeness: Callable[[float, float], float]
) -> float | None:
    units, every = units_of(rows, 2), units_of(rows, 1)
    if len(scale) < 2:
        return None
    raw = sum(
        sum(closeness(x, y) for x, y in permutations(unit, 2)) / (len(unit) * (len(unit) - 1))
        for unit in units
    ) / len(units)
    shares = [sum(unit.count(k) / len(unit) for unit in every) / len(every) for k in scale]
    total = sum(closeness(x, y) for x in scale for y in scale)
    chance = total / (len(scale) * (len(scale) - 1)) * sum(one * (1 - one) for one in shares)
    return (raw - chance) / (1 - chance)


def naive(rows: Rows, scale: Sequence[float]) -> dict[str, float | None]:
    reach = (max(scale) - min(scale)) or 1.0
    size = len(scale)

    def ordinal(x: float, y: float) -> float:
        steps = abs(scale.index(x) - scale.index(y)) + 1
        return 1 - math.comb(steps, 2) / (math.comb(size, 2) or 1)

    units = units_of(rows, 2)
    pairs = [list(permutations(unit, 2)) for unit in units]
    return {
        "agreement": sum(sum(x == y for x, y in own) / len(own) for own in pairs) / len(units),
        "kappa relevant": naive_mean_kappa(rows, lambda x, y: (x >= 1) != (y >= 1)),
        "kappa": naive_mean_kappa(rows, lambda x, y: x != y),
        "kappa linear": naive_mean_kappa(rows, lambda x, y: abs(x - y)),
        "kappa quadratic": naive_mean_kappa(rows, lambda x, y: (x - y) ** 2),
        "alpha nominal": naive_alpha(rows, ordinal=False),
        "alpha ordinal": naive_alpha(rows, ordinal=True),
        "AC1": naive_gwet(rows, scale, lambda x, y: float(x == y)),
        "AC2 linear": naive_gwet(rows, scale, lambda x, y: 1 - abs(x - y) / reach),
        "AC2 quadratic": naive_gwet(rows, scale, lambda x, y: 1 - ((x - y) / reach) ** 2),
        "AC2 ordinal": naive_gwet(rows, scale, ordinal),
    }


def assert_equal(found: Mapping[str, float | None], wanted: Mapping[str, float | None]) -> None:
    for name, value in wanted.items():
        if value is None:
            assert found[name] is None, name
        else:
            assert found[name] == pytest.approx(value, abs=1e-12), name


grades = st.sampled_from([0, 0, 0, 1, 2, 3, None])


@settings(max_examples=50, deadline=None)
@given(
    st.integers(2, 4).flatmap(lambda n: st.lists(st.tuples(*[grades] * n), min_size=1, max_size=15))
)
def test_coefficients_equal_a_second_implementation(units: list[tuple[float | None, ...]]) -> None:
    """Missing and skewed grades, ties, many judges: coefficients equal their definitions."""
    rows = list(zip(*units, strict=True))
    rows = [row for row in rows if any(one is not None for one in row)]
    if len(rows) < 2 or not units_of(rows, 2):
        return
    scale = (0, 1, 2, 3)
    assert_equal(measure(rows, scale), naive(rows, scale))
    seen = sorted({one for row in rows for one in row if one is not None})
    assert_equal(measure(rows), naive(rows, seen))


# Vectors made with scikit-learn 1.9.1 (cohen_kappa_score), krippendorff 0.9.0
# (alpha) and irrCAC 0.4.4 (raw agreement, AC1, AC2; 15 digits).
VECTORS: dict[str, tuple[list[str], dict[str, float]]] = {
    "two judges, even grades": (
        [
            "100312312033131202013113",
            "321310212032131231013113",
        ],
        {
            "kappa": 0.5428571428571429,
            "kappa linear": 0.5465116279069768,
            "kappa quadratic": 0.5508982035928144,
            "kappa relevant": 0.40740740740740744,
            "alpha nominal": 0.5507765830346476,
            "alpha ordinal": 0.5540629240663166,
            "AC1": 0.560137457044673,
            "AC2 linear": 0.584830339321357,
            "AC2 quadratic": 0.614643545279383,
            "AC2 ordinal": 0.604938271604939,
            "agreement": 0.666666666666667,
        },
    ),
    "two judges, skewed grades": (
        [
            "000000000110000020000001020000",
            "010002000000101020000000020000",
        ],
        {
            "kappa": 0.26315789473684215,
            "kappa linear": 0.4117647058823528,
            "kappa quadratic": 0.5412844036697249,
            "kappa relevant": 0.2222222222222222,
            "alpha nominal": 0.2741652021089631,
            "alpha ordinal": 0.32259259259259265,
            "AC1": 0.739184433864624,
            "AC2 linear": 0.882131456167635,
            "AC2 quadratic": 0.946755013902858,
            "AC2 ordinal": 0.929600417182713,
            "agreement": 0.766666666666667,
        },
    ),
    "two judges, missing grades": (
        [
            "0021011.1101121311100310",
            "00210.102.01012301.003.0",
        ],
        {
            "kappa": 0.6169354838709677,
            "kappa linear": 0.7480106100795756,
            "kappa quadratic": 0.8640915593705293,
            "kappa relevant": 0.7865168539325843,
            "alpha nominal": 0.621676891615542,
            "alpha ordinal": 0.8397918230169348,
            "AC1": 0.664028930842066,
            "AC2 linear": 0.822541720154044,
            "AC2 quadratic": 0.921799339276825,
            "AC2 ordinal": 0.891438533666306,
            "agreement": 0.736842105263158,
        },
    ),
    "five judges, missing grades": (
        [
            "32.0.030.1300230",
            "31302010213.0220",
            ".1.0302032300330",
            "3132002021..013.",
            "31.011..2130.1.0",
        ],
        {
            "alpha nominal": 0.5227606461086636,
            "alpha ordinal": 0.7929796675378814,
            "AC1": 0.569247125599101,
            "AC2 linear": 0.683216932054982,
            "AC2 quadratic": 0.775149670748093,
            "AC2 ordinal": 0.745350872548689,
            "agreement": 0.672916666666667,
        },
    ),
    "three judges, high grades": (
        [
            "23111120033123333231",
            "33210120023113331230",
            "33210320132123332320",
        ],
        {
            "alpha nominal": 0.43225558121632024,
            "alpha ordinal": 0.7400448344263623,
            "AC1": 0.451353328456474,
            "AC2 linear": 0.645420008442381,
            "AC2 quadratic": 0.793605827600162,
            "AC2 ordinal": 0.745588838736152,
            "agreement": 0.583333333333333,
        },
    ),
}


@pytest.mark.parametrize("name", VECTORS)
def test_coefficients_equal_other_implementations(name: str) -> None:
    """Ties, skewed and missing grades, many judges: equal to three other packages to 1e-12."""
    texts, wanted = VECTORS[name]
    rows = [[None if letter == "." else int(letter) for letter in text] for text in texts]
    assert_equal(measure(rows, (0, 1, 2, 3)), wanted)


def test_every_measure_is_described() -> None:
    """The names of the measures are those that `agreement` returns, in the same order."""
    found = agreement(build_table([[0, 1, 2], [0, 1, 1]]), resamples=0)
    assert list(found.measures) == list(MEASURES)


def test_equal_grades_leave_kappa_undefined() -> None:
    """If every grade is the same, chance explains everything: no number, and a reason."""
    found = agreement(build_table([[0] * 30, [0] * 30]))
    assert found.measures["agreement"].value == 1
    for name in ("kappa", "kappa quadratic", "alpha nominal", "alpha ordinal", "AC1", "AC2 linear"):
        assert found.measures[name].value is None
        assert found.measures[name].interval is None
        assert "every grade is 0" in found.measures[name].cannot


def test_a_wider_scale_defines_gwets_coefficients() -> None:
    """AC1 knows that other grades were possible; kappa and alpha do not."""
    found = agreement(build_table([[0] * 30, [0] * 30]), scale=(0, 1, 2, 3))
    assert found.measures["AC1"].value == 1
    assert found.measures["kappa"].value is None


def test_few_pairs_have_no_interval() -> None:
    """Fewer than 20 pairs have a value and no interval, with the reason."""
    found = agreement(build_table([[0, 1] * 9, [0, 1, 1] * 6])).measures["kappa"]
    assert found.value is not None
    assert found.interval is None
    assert "fewer than 20 pairs" in found.cannot


def test_a_rare_grade_has_no_interval() -> None:
    """Where many resamples have one grade only, an interval of the others would be too narrow."""
    found = agreement(build_table([[1] + [0] * 39, [1] + [0] * 39])).measures["kappa"]
    assert found.value == 1
    assert found.interval is None
    assert "too few" in found.cannot


def test_intervals_are_those_of_the_seed() -> None:
    """The same seed gives the same interval; it contains the value and widens with the level."""
    rows = [[0, 1, 2, 3] * 15, [0, 1, 2, 2, 0, 1, 3, 3, 1, 1] * 6]
    one = agreement(build_table(rows), seed=7).measures
    assert one == agreement(build_table(rows), seed=7).measures
    other = agreement(build_table(rows), seed=8, level=0.99).measures
    for name, found in one.items():
        assert found.interval is not None
        assert found.value is not None
        assert found.interval.low < found.value < found.interval.high
        wider = other[name].interval
        assert wider is not None
        assert wider.low < found.interval.low < found.interval.high < wider.high


def test_intervals_cover_the_true_value() -> None:
    """About 95 of 100 intervals of kappa cover the value of the population."""
    rng = np.random.default_rng(3)
    cells = np.array([[0.5, 0.06, 0.02], [0.05, 0.12, 0.05], [0.02, 0.03, 0.15]])
    distances = np.square(np.arange(3)[:, None] - np.arange(3))
    chance = cells.sum(axis=1)[:, None] * cells.sum(axis=0)
    truth = 1 - (cells * distances).sum() / (chance * distances).sum()
    inside = 0
    for _ in range(100):
        drawn = rng.choice(9, size=150, p=cells.ravel())
        table = build_table([(drawn // 3).tolist(), (drawn % 3).tolist()])
        interval = agreement(table, resamples=200).measures["kappa quadratic"].interval
        assert interval is not None
        inside += interval.low <= truth <= interval.high
    assert 90 <= inside <= 99


def test_many_judges_have_all_pairs() -> None:
    """With three judges every two are compared, and Cohen's kappa is the mean of the pairs."""
    rows: Rows = [[0, 1, 2, 0, 1, 2, 1], [0, 1, 2, 0, 2, 2, None], [0, 0, 2, 1, 1, 2, 1]]
    found = agreement(build_table(rows), resamples=0)
    assert [one.judges for one in found.pairs] == [
        ("judge0", "judge1"),
        ("judge0", "judge2"),
        ("judge1", "judge2"),
    ]
    assert [one.items for one in found.pairs] == [6, 7, 6]
    assert found.confusion == ()
    values = [one.measures["kappa"].value for one in found.pairs]
    assert found.measures["kappa"].value == pytest.approx(sum(filter(None, values)) / 3, abs=1e-12)


def test_judges_without_a_common_pair_are_named() -> None:
    """Two of three judges share no pair: the note says which."""
    table = {"ann": {1: 0, 2: 1}, "bob": {1: 0, 2: 1, 3: 1}, "cy": {3: 1}}
    found = agreement(table, resamples=0)
    assert found.notes == ("ann and cy have no pair in common",)
    assert [one.judges for one in found.pairs] == [("ann", "bob"), ("bob", "cy")]


def test_confusion_and_disputes() -> None:
    """Rows are the first judge; the largest disagreement comes first."""
    found = agreement(
        {"a": {"x": 0, "y": 3, "z": 1, "w": 1}, "b": {"x": 0, "y": 0, "z": 2, "w": 1}}
    )
    assert found.scale == (0, 1, 2, 3)
    assert found.confusion == ((1, 0, 0, 0), (0, 1, 1, 0), (0, 0, 0, 0), (1, 0, 0, 0))
    assert [(one.item, one.distance) for one in found.disputes] == [("y", 3), ("z", 1)]
    assert found.disputes[0].grades == {"a": 3, "b": 0}


def vote(judge: str, document: str, grade: float | None, **more: Any) -> Vote:
    return Vote("q1", Anchor(document=document), grade, judge, time="2026-01-01T10:00:00Z", **more)


def test_votes_count_once_and_adjudications_settle() -> None:
    """The last vote of a judge counts; an adjudication is no grade, and ends a dispute."""
    votes = [
        vote("ann", "d1", 3),
        vote("ann", "d1", 0),
        vote("bob", "d1", 0),
        vote("ann", "d2", 2),
        vote("bob", "d2", 0),
        vote("ann", "d3", 1),
        vote("bob", "d3", 2),
        vote("bob", "d2", 2, adjudicates=True),
        vote("ann", "d4", None),
        vote("bob", "d4", 1),
    ]
    found = be.judging.agreement(votes)
    assert found.items == 3
    assert found.measures["agreement"].value == pytest.approx(1 / 3)
    assert [one.item[2] for one in found.disputes] == ["d3"]


@pytest.mark.parametrize(
    ("table", "options", "error", "text"),
    [
        ({"ann": {1: 0}}, {}, DataError, "two judges, found only ann"),
        ({}, {}, DataError, "two judges, found no votes"),
        ({"ann": {1: 0}, "bob": {2: 0}}, {}, DataError, "ann and bob have no pair in common"),
        ({"ann": {1: 0}, "bob": {1: 0}}, {"judges": ["an"]}, ConfigurationError, "mean 'ann'"),
        ({"ann": {1: 4}, "bob": {1: 0}}, {"scale": (0, 1)}, DataError, "the grade 4 is not one"),
        ({"ann": {1: "x"}, "bob": {1: 0}}, {}, DataError, "expected a grade"),
    ],
)
def test_bad_input_is_named(table: Any, options: Any, error: type[Exception], text: str) -> None:
    """Too few judges, unknown judges and odd grades are named in one line."""
    with pytest.raises(error, match=text):
        agreement(table, **options)
