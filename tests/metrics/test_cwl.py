"""C/W/L metrics: values by hand, cwl_eval through ir_measures as the oracle, native equality."""

from __future__ import annotations

import math
from typing import Any

import ir_measures
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from berryeval.errors import MetricError
from berryeval.metrics.grammar import parse_metric
from tests.metrics.ir_measures_oracle import (
    any_grades,
    found_rankings,
    ours,
    rankings,
    reference,
    theirs,
    whole_grades,
)

CUT = ["SDCG", "BPM", "NERR8", "NERR9"]
WITH_T = ["BPM", "INSQ", "INST", "NERR11"]
NAMES = [*CUT, "INSQ", "INST", "NERR10", "NERR11"]

VECTORS = [
    # gain 1 at rank 2 over two ranks of full gain
    ("SDCG(max_rel=1)@2", ["x", "a"], {"a": 1}, (1 / math.log2(3)) / (1 + 1 / math.log2(3))),
    ("SDCG(max_rel=2)@1", ["a"], {"a": 1}, 1 / 2),
    # reads until one unit is gained, at rank 2; or to rank 4
    ("BPM(max_rel=1)@4", ["x", "a", "b"], {"a": 1, "b": 1}, 1 / 2),
    ("BPM(max_rel=1,T=2)@4", ["x", "a", "b"], {"a": 1, "b": 1}, 2 / 3),
    ("BPM(max_rel=1,T=3)@4", ["x", "a", "b"], {"a": 1, "b": 1}, 2 / 4),
    # half a gain at rank 1 leaves half of the users for rank 2
    ("NERR8(max_rel=2)@2", ["a", "b"], {"a": 1, "b": 2}, (1 / 2 + 1 / 2) / (3 / 2)),
    ("NERR8(max_rel=2)@4", ["a", "x", "b"], {"a": 1, "b": 2}, (1 / 2 + 1 / 2) / 2),
    # the same, and of those who would go on from rank 1 one half does
    ("NERR9(max_rel=2)@2", ["a", "b"], {"a": 1, "b": 2}, (1 / 2 + 1 / 4) / (5 / 4)),
    ("NERR10(max_rel=1)", ["a", "b"], {"a": 1, "b": 1}, 1.0),
    ("NERR10(max_rel=1,p=0.5)", ["x", "a"], {"a": 1}, (1 / 2) / (3 / 2)),
    ("NERR11(max_rel=1)", ["x", "a"], {"a": 1}, (4 / 9) / (13 / 9)),
    # a need that is met at once
    ("INST(max_rel=1,T=0.25)", ["a", "b"], {"a": 1, "b": 1}, 1.0),
]


@pytest.mark.parametrize(("metric", "ranking", "grades", "expected"), VECTORS)
def test_values_by_hand(
    metric: str, ranking: list[str], grades: dict[str, float], expected: float
) -> None:
    assert ours(metric, ranking, grades) == pytest.approx(expected, abs=1e-15)


def spelled(name: str, **params: float) -> tuple[str, Any]:
    """Return a metric by its name here and in ir_measures."""
    cutoff = params.pop("cutoff")
    params = {key: value for key, value in params.items() if key != "T" or name in WITH_T}
    text = f"{name}({','.join(f'{key}={value!r}' for key, value in params.items())})"
    theirs = getattr(ir_measures, name)(**params)
    return (f"{text}@{cutoff}", theirs @ cutoff) if name in CUT else (text, theirs)


@settings(max_examples=40)
@given(
    found_rankings,
    whole_grades,
    st.integers(1, 20),
    st.sampled_from([0.5, 1.0, 1.5, 3.0]),
    st.sampled_from([(0, 1), (0, 3), (1, 3), (0, 5)]),
)
def test_agreement_with_cwl_eval(
    ranking: list[str], grades: dict[str, int], cutoff: int, need: float, scale: tuple[int, int]
) -> None:
    for name in NAMES:
        text, metric = spelled(name, cutoff=cutoff, T=need, min_rel=scale[0], max_rel=scale[1])
        expected = theirs(metric, ranking, grades)
        assert ours(text, ranking, grades) == pytest.approx(expected, abs=1e-9), text


@pytest.mark.parametrize("p", [0.0, 0.3, 0.9, 1.0])
def test_nerr10_with_other_patience_agrees_with_cwl_eval(p: float) -> None:
    ranking, grades = ["a", "x", "b", "c"], {"a": 1, "b": 3, "c": 2}
    expected = theirs(ir_measures.NERR10(p=p, max_rel=3), ranking, grades)
    assert ours(f"NERR10(p={p},max_rel=3)", ranking, grades) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_models_without_an_end_stop_after_1000_ranks(name: str) -> None:
    ranking = [f"d{rank}" for rank in range(1, 1200)]
    grades = {"d1": 1, "d999": 2, "d1000": 3, "d1001": 3}
    text, metric = spelled(name, cutoff=1000, T=4.0, min_rel=0, max_rel=3)
    expected = theirs(metric, ranking, grades)
    assert ours(text, ranking, grades) == pytest.approx(expected, abs=1e-9)
    assert ours(text, ranking, grades).hex() == reference(text, ranking, grades).hex()
    without_the_last = {"d1": 1, "d999": 2, "d1000": 3}
    assert ours(text, ranking, grades) == ours(text, ranking, without_the_last)


@given(
    rankings,
    any_grades,
    st.integers(1, 20),
    st.floats(1e-6, 50.0),
    st.floats(-2.0, 2.0),
    st.floats(0.01, 5.0),
)
@settings(max_examples=50)
def test_twins_agree(
    ranking: list[str],
    grades: dict[str, float],
    cutoff: int,
    need: float,
    low: float,
    range_: float,
) -> None:
    for name in NAMES:
        text, _ = spelled(name, cutoff=cutoff, T=need, min_rel=low, max_rel=low + range_)
        value = ours(text, ranking, grades)
        assert value.hex() == reference(text, ranking, grades).hex(), text
        assert 0 <= value <= 1 + 1e-9, text


@pytest.mark.parametrize("name", NAMES)
def test_nothing_to_gain_scores_0(name: str) -> None:
    text, _ = spelled(name, cutoff=10, T=1.0, max_rel=3)
    for ranking, grades in (["a"], {"a": 0}), ([], {"a": 3}), (["x"], {"a": 3}), (["a"], {"a": -1}):
        assert ours(text, ranking, grades) == 0.0


@pytest.mark.parametrize("name", NAMES)
def test_full_gain_scores_1(name: str) -> None:
    text, _ = spelled(name, cutoff=10, T=1.0, max_rel=3)
    ranking = [f"d{rank}" for rank in range(1000)]
    assert ours(text, ranking, dict.fromkeys(ranking, 4)) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
def test_an_invalid_scale_is_rejected(name: str) -> None:
    at = "@10" if name in CUT else ""
    with pytest.raises(MetricError, match=f"{name} needs the parameter 'max_rel'"):
        parse_metric(f"{name}{at}")
    with pytest.raises(MetricError, match=r"min_rel of .* must be less than max_rel, found 3 and"):
        parse_metric(f"{name}(min_rel=3,max_rel=3){at}")


@pytest.mark.parametrize("name", WITH_T)
def test_the_target_must_be_positive(name: str) -> None:
    at = "@10" if name in CUT else ""
    with pytest.raises(MetricError, match="must be a number above 0, found 0"):
        parse_metric(f"{name}(T=0,max_rel=1){at}")
