"""Tests of the coverage rule and the span index."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from berryeval.anchors.coverage import CoverageRule
from berryeval.data.spans import SpanIndex
from berryeval.errors import ConfigurationError

spans = st.tuples(st.integers(0, 60), st.integers(1, 60)).map(lambda one: (one[0], sum(one)))


@pytest.mark.parametrize(
    ("chunk", "target", "covered"),
    [
        ((0, 10), (0, 10), True),  # the same
        ((0, 100), (40, 50), True),  # the target inside the chunk
        ((40, 50), (0, 100), True),  # the chunk inside the target
        ((0, 10), (10, 20), False),  # they touch
        ((10, 20), (0, 10), False),
        ((0, 10), (5, 15), True),  # half of each
        ((0, 10), (6, 16), False),  # less than half
        ((0, 10), (5, 500), True),  # half of the shorter one
        ((0, 10), (6, 500), False),
        ((0, 500), (495, 505), True),
        ((0, 500), (496, 506), False),
        ((0, 1), (0, 1), True),
        ((0, 1), (1, 2), False),
    ],
)
def test_half_of_the_shorter_span_is_enough(
    chunk: tuple[int, int], target: tuple[int, int], *, covered: bool
) -> None:
    assert CoverageRule().covers(chunk, target) is covered


@given(spans, spans, st.sampled_from([0.01, 0.3, 0.5, 1.0]))
def test_coverage_is_symmetric_and_needs_a_shared_character(
    one: tuple[int, int], other: tuple[int, int], share: float
) -> None:
    rule = CoverageRule(share)
    shared = len(set(range(*one)) & set(range(*other)))
    shorter = min(one[1] - one[0], other[1] - other[0])
    assert rule.covers(one, other) == (shared > 0 and shared / shorter >= share)
    assert rule.covers(one, other) == rule.covers(other, one)


@pytest.mark.parametrize("percent", range(1, 101))
def test_exactly_the_share_is_enough(percent: int) -> None:
    rule = CoverageRule(percent / 100)
    assert rule.covers((0, 100), (100 - percent, 300))
    assert not rule.covers((0, 100), (101 - percent, 301))


@pytest.mark.parametrize("share", [0.0, -0.1, 1.01, float("nan")])
def test_share_outside_0_to_1_is_rejected(share: float) -> None:
    with pytest.raises(ConfigurationError, match="above 0 and at most 1, found"):
        CoverageRule(share)


@given(st.lists(spans, max_size=20), spans)
def test_span_index_agrees_with_a_loop(
    members: list[tuple[int, int]], wanted: tuple[int, int]
) -> None:
    index = SpanIndex((*span, number) for number, span in enumerate(members))
    found = sorted(number for _, _, number in index.overlapping(*wanted))
    assert found == [
        number
        for number, span in enumerate(members)
        if max(span[0], wanted[0]) < min(span[1], wanted[1])
    ]
