"""Which value of a column is the best."""

from __future__ import annotations

import pytest

from berryeval.reports.tables import best_of, is_best


@pytest.mark.parametrize(
    ("metric", "values", "best"),
    [
        ("P@5", [0.22000000000000006, 0.22000000000000003, 0.1], [True, True, False]),
        ("P@5", [0.22000000000000006, 0.22000000000000003], [False, False]),
        ("P@5", [0.5, None, 0.25], [True, False, False]),
        ("P@5", [0.5], [False]),
        ("P@5", [], []),
        ("Unjudged@10", [0.5, 0.25], [False, True]),
        ("NumRet", [5.0, 7.0], [False, False]),
    ],
)
def test_rounding_makes_nobody_the_best(
    metric: str, values: list[float | None], best: list[bool]
) -> None:
    """What is equal but for rounding is equally good; one alone is no best, nor are all."""
    found = best_of(values, metric)
    assert [is_best(value, found) for value in values] == best
