"""A regression that thresholds miss: a provider that loses 3 % of its best hits.

BM25 runs on a bundled benchmark, and the run becomes the baseline. Then a random 3 % of the
relevant hits among the first ten are removed, as a filter that is slightly too strict or an index
that lost some chunks would do. The means hardly change, so a threshold alone passes. A rule about
drops compares with the baseline query by query, and tests whether the drop is significant.

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
    """BM25 without some of its hits, given as pairs of a query and a chunk."""

    def __init__(self, lost: set[tuple[str, str]]) -> None:
        self._lost = lost
        self._inner = Bm25()

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Index the chunks."""
        self._inner.index(chunks)

    def __call__(self, query: Query, k: int) -> list[Hit]:
        """Return the best hits that are not lost."""
        hits = self._inner.search(query, k + len(self._lost))
        return [hit for hit in hits if (query.id, hit.id) not in self._lost][:k]


@dataclass(frozen=True)
class Outcome:
    """The lost hits, the means before and after, and the verdicts of both kinds of rules."""

    best_hits: int
    lost: int
    queries: int
    before: float
    after: float
    threshold: Verdict
    drop: Verdict


def choose_lost_hits(
    run: RunRecord, share: float, seed: int, grade: float
) -> tuple[int, set[tuple[str, str]]]:
    """Count the hits of at least this grade in the top ten, and draw a fraction of them."""
    answers = run.benchmarks[0].providers[0].answers
    best = [
        (answer.query_id, hit.id)
        for answer in answers
        for hit in answer.hits[:DEPTH]
        if hit.grade is not None and hit.grade >= grade
    ]
    drawn = random.Random(seed)  # noqa: S311 - not for security
    return len(best), set(drawn.sample(best, round(share * len(best))))


def run_provider(benchmark: str, lost: set[tuple[str, str]]) -> RunRecord:
    """Run the provider under the name bm25."""
    spec = {"type": "callable", "name": "bm25", "options": {"function": Forgetful(lost)}}
    return be.run_benchmark(benchmark, [spec], [METRIC]).whole_run


def regression(
    benchmark: str = "spring-boot", share: float = 0.03, seed: int = 0, grade: float = 1.0
) -> Outcome:
    """Create the regression, and judge it by a threshold and by a rule about drops."""
    good = run_provider(benchmark, set())
    count, lost = choose_lost_hits(good, share, seed, grade)
    bad = run_provider(benchmark, lost)
    before, after = (_mean(run) for run in (good, bad))
    limit = round(before - 0.05, 2)  # a typical threshold: slightly below the score
    rules = [Rule(metric=METRIC, at_least=limit), Rule(metric=METRIC, max_drop=0.0)]
    gate = Gate(baseline="the run before", rules=rules)
    threshold, drop = judge(gate, bad, Baseline.of(good))
    return Outcome(count, len(lost), len({q for q, _ in lost}), before, after, threshold, drop)


def _mean(run: RunRecord) -> float:
    scores = run.benchmarks[0].providers[0].scores
    return scores.mean[METRIC] if scores is not None else 0.0


def describe(found: Outcome) -> str:
    """Describe the outcome in a few lines."""
    verdicts = (found.threshold, found.drop)
    return "\n".join(
        [
            f"{found.lost} of {found.best_hits} relevant hits are lost, in {found.queries} queries",
            f"{METRIC}: {found.before:.4f} before, {found.after:.4f} after",
            *(f"{one.status.upper():<12} {one.rule}: {one.sentence}" for one in verdicts),
        ]
    )


def main(arguments: list[str]) -> None:
    """Print the outcome."""
    kinds = (str, float, int, float)
    given = [kind(text) for kind, text in zip(kinds, arguments, strict=False)]
    print(describe(regression(*given)))


if __name__ == "__main__":
    main(sys.argv[1:])
