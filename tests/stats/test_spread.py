"""How many values it takes to know how they vary: the same everywhere."""

from __future__ import annotations

import numpy as np
import pytest

from berryeval._internal.intervals import FEWEST_ALIKE, spread_known
from berryeval.stats.intervals import difference_interval, mean_interval
from berryeval.stats.paired import spread_of
from berryeval.stats.rows import compare
from tests.stats.worlds import table


def test_what_is_known() -> None:
    """Two values that vary tell, and ten that are alike; one value tells nothing."""
    assert spread_known(2, 0.1)
    assert not spread_known(1, 0.1)
    assert not spread_known(FEWEST_ALIKE - 1, 0.0)
    assert spread_known(FEWEST_ALIKE, 0.0)


def test_rounding_is_no_spread() -> None:
    """Values that differ by rounding alone are alike, and so are none and one."""
    assert spread_of(np.array([0.3, 0.1 + 0.2, 0.3])) == 0.0
    assert spread_of(np.array([0.3])) == spread_of(np.array([])) == 0.0
    assert spread_of(np.array([0.0, 1.0])) == pytest.approx(0.5**0.5)


def test_one_rule_for_values_and_differences() -> None:
    """An interval without width is claimed of ten alike values, never of nine, rounding or not."""
    noise = np.array([0.3, 0.1 + 0.2] * 5)
    assert mean_interval(noise[:9]) is None
    assert mean_interval(noise) == pytest.approx((0.3, 0.3))
    assert difference_interval(np.zeros(9), noise[:9]) is None
    assert difference_interval(np.zeros(10), noise) is not None


@pytest.mark.parametrize("how", ["mean", "sum", "geometric mean"])
@pytest.mark.parametrize("size", [2, 3, 9, 10])
def test_rows_of_alike_queries(how: str, size: int) -> None:
    """However queries are put together, few that are all alike have no interval at all."""
    tables = [table("a", [0.2] * size, "RR", how), table("b", [0.4] * size, "RR", how)]
    row = compare(tables).row("RR")
    ends = (row.interval, row.baseline_interval, row.system_interval)
    if size < FEWEST_ALIKE:
        assert ends == (None, None, None)
    else:
        assert all(one is not None and one.low == pytest.approx(one.high) for one in ends)
