"""Run records built from numbers, for gates to judge."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from berryeval.data.records import Query
from berryeval.gates import Baseline, Gate, Rule, Verdict, judge
from berryeval.runs.record import BenchmarkRecord, ProviderRecord, RunRecord
from berryeval.scoring.scores import Scores

if TYPE_CHECKING:
    from collections.abc import Mapping

    from berryeval.runs.stages import Latency
    from berryeval.scoring.scores import Outcome

__all__ = ["run_of", "scores_of", "verdict"]


def scores_of(values: Mapping[str, Any]) -> Scores:
    """Build scores with these values for the queries q00, q01, ..."""
    count = len(next(iter(values.values())))
    ok: Outcome = "ok"
    return Scores(
        metrics=tuple(values),
        queries=tuple(f"q{place:02}" for place in range(count)),
        values=np.array([list(row) for row in values.values()], dtype=np.float64),
        aggregates=("mean",) * len(values),
        outcomes=(ok,) * count,
        counts=np.tile(np.array([[10, 10, 2, 1]], dtype=np.int64), (count, 1)),
    )


def run_of(
    values: Mapping[str, Any] | None,
    *,
    name: str = "run-1",
    content_hash: str = "sha256:one",
    k: int = 20,
    outcomes: Mapping[str, int] | None = None,
    latency: Latency | None = None,
    cost: Mapping[str, float] | None = None,
) -> RunRecord:
    """Build a run of one provider, failed if without values. Every other query is "easy"."""
    scores = scores_of(values) if values is not None else None
    count = scores.count if scores else 0
    provider = ProviderRecord(
        "bm25",
        "bm25",
        scores=scores,
        standard=scores,
        outcomes=outcomes if outcomes is not None else {"ok": count},
        latency=latency,
        cost=cost or {},
        failure="" if scores else "the server went away",
    )
    queries = tuple(
        Query(f"q{place:02}", "?", "factual", "easy" if place % 2 else "hard")
        for place in range(count)
    )
    part = BenchmarkRecord("drinks", content_hash, k, queries, (provider,))
    return RunRecord(name, "2026-11-15T10:00:00+00:00", (part,))


def verdict(rule: dict[str, Any], run: Any, before: Any = None) -> Verdict:
    """Judge a run by one rule, against a baseline if `before` is given."""
    gate = Gate(baseline="given", rules=[Rule(**rule)])
    (found,) = judge(gate, run, None if before is None else Baseline.of(before))
    return found
