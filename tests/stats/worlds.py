"""Values and score tables for tests of statistics."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from hypothesis import strategies as st

from berryeval.scoring.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.scoring.scores import Outcome

# Fractions with small denominators, like scores, so that there are ties.
values = st.integers(0, 20).map(lambda twentieths: twentieths / 20)
paired_values = st.lists(st.tuples(values, values), min_size=2, max_size=40)


def drawn(seed: int, size: int, shift: float = 0.0, noise: float = 0.1) -> tuple[Any, Any]:
    """Draw the values of two systems, the second better by `shift` on average."""
    random = np.random.default_rng(seed)
    first = random.random(size)
    return first, first + random.normal(shift, noise, size)


def scores_of(
    name: str, by_metric: Mapping[str, Mapping[str, float]], aggregate: str = "mean"
) -> Scores:
    """Build a score table with these values."""
    ok: Outcome = "ok"
    queries = tuple(sorted({query for row in by_metric.values() for query in row}))
    rows = [[row[query] for query in queries] for row in by_metric.values()]
    return Scores(
        metrics=tuple(by_metric),
        queries=queries,
        values=np.array(rows, dtype=np.float64).reshape(len(by_metric), len(queries)),
        aggregates=(aggregate,) * len(by_metric),
        outcomes=(ok,) * len(queries),
        counts=np.ones((len(queries), 4), dtype=np.int64),
        run_name=name,
    )


def table(name: str, numbers: Any, metric: str = "AP", aggregate: str = "mean") -> Scores:
    """Build a score table of one metric with queries q000, q001 and so on."""
    row = {f"q{place:03}": float(number) for place, number in enumerate(numbers)}
    return scores_of(name, {metric: row}, aggregate)
