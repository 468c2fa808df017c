"""A regression that thresholds do not see: a provider that loses 3 % of its best hits.

BM25 is run on a bundled benchmark and kept as the baseline. Then a few of the relevant hits among
its first ten, drawn by a seed, are taken away: what a filter that is a little too strict does, or
an index that lost some chunks. The means hardly move, so a bare threshold passes. A rule about
drops compares query by query with the baseline, and says whether that is chance.

    python examples/seeded_regression.py [spring-boot] [SHARE] [SEED] [LEAST GRADE]
"""

from __future__ import annotations

import random
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import berryeval as be
from berryeval.gates import Baseline, Gate, Rule, judge
from berryeval.providers.bm25 import Bm25

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.data.records import Chunk, Hit, Query
    from berryeval.gates import Verdict
    from berryeval.runs.record import RunRecord

METRIC = "nDCG@10"
DEPTH = 10


class Forgetful:
    """BM25 without some of its hits: pairs of a query and a chunk."""

    def __init__(self, lost: set[tuple[str, str]]) -> None:
        self._lost = lost
        self._inner = Bm25()

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Take in what will be searched."""
        self._inner.index(chunks)

    def __call__(self, query: Query, k: int) -> list[Hit]:
        """The best hits that are not lost."""
        hits = self._inner.search(query, k + len(self._lost))
        return [hit for hit in hits if (query.id, hit.id) not in self._lost][:k]


@dataclass(frozen=True)
class Outcome:
    """What was lost, how the mean moved, and what the two kinds of rules say."""

    best_hits: int
    lost: int
    queries: int
    before: float
    after: float
    threshold: Verdict
    drop: Verdict


def lost_hits(
    run: RunRecord, share: float, seed: int, grade: float
) -> tuple[int, set[tuple[str, str]]]:
    """How many hits of this grade or better are in the top ten, and a share of them by chance."""
    answers = run.benchmarks[0].providers[0].answers
    best = [
        (answer.query_id, hit.id)
        for answer in answers
        for hit in answer.hits[:DEPTH]
        if hit.grade is not None and hit.grade >= grade
    ]
    drawn = random.Random(seed)  # noqa: S311 - no secret
    return len(best), set(drawn.sample(best, round(share * len(best))))


def measured(benchmark: str, lost: set[tuple[str, str]]) -> RunRecord:
    """A run of the provider, which is called bm25 whatever it has lost."""
    spec = {"type": "callable", "name": "bm25", "options": {"function": Forgetful(lost)}}
    return be.run_benchmark(benchmark, [spec], [METRIC]).whole_run


def regression(
    benchmark: str = "spring-boot", share: float = 0.03, seed: int = 0, grade: float = 1.0
) -> Outcome:
    """Make the regression, and judge it by a threshold and by a rule about drops."""
    good = measured(benchmark, set())
    count, lost = lost_hits(good, share, seed, grade)
    bad = measured(benchmark, lost)
    before, after = (_mean(run) for run in (good, bad))
    limit = round(before - 0.05, 2)  # what people set: a bit below what was reached
    rules = [Rule(metric=METRIC, at_least=limit), Rule(metric=METRIC, max_drop=0.0)]
    gate = Gate(baseline="the run before", rules=rules)
    threshold, drop = judge(gate, bad, Baseline.of(good))
    return Outcome(count, len(lost), len({q for q, _ in lost}), before, after, threshold, drop)


def _mean(run: RunRecord) -> float:
    scores = run.benchmarks[0].providers[0].scores
    return scores.mean[METRIC] if scores is not None else 0.0


def told(found: Outcome) -> str:
    """The story in lines."""
    verdicts = (found.threshold, found.drop)
    return "\n".join(
        [
            f"{found.lost} of {found.best_hits} relevant hits are lost, in {found.queries} queries",
            f"{METRIC}: {found.before:.4f} before, {found.after:.4f} after",
            *(f"{one.status.upper():<12} {one.rule}: {one.sentence}" for one in verdicts),
        ]
    )


def main(arguments: list[str]) -> None:
    """Print the story."""
    kinds = (str, float, int, float)
    given = [kind(text) for kind, text in zip(kinds, arguments, strict=False)]
    print(told(regression(*given)))


if __name__ == "__main__":
    main(sys.argv[1:])
