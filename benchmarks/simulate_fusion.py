"""Check by simulation that `optimize_fusion` is honest: what its intervals hold.

Runs are drawn whose scores find the relevant documents to a known degree. The true score of a
fusion and of a run is that on thousands of other queries. `make bench` does not run this: it takes
minutes, and docs/fusion.md has the result.
"""

from __future__ import annotations

import argparse
import logging
import random
import sys
from functools import cache

import berryeval as be

METRIC = "nDCG@10"
CASES = ((1.0, 0.5), (1.0, 0.0), (0.5, 0.5, 0.5, 0.5))  # how well each run tells relevance
SEEN, OTHERS = 24, 20_000  # queries
Judgments = dict[str, dict[str, int]]


def draw(
    chance: random.Random, queries: int, signals: tuple[float, ...]
) -> tuple[Judgments, list[be.Run]]:
    """Draw judgments, and a run for each signal."""
    documents = [f"d{place}" for place in range(30)]
    qrels: Judgments = {}
    rows: list[dict[str, dict[str, float]]] = [{} for _ in signals]
    for query in range(queries):
        relevant = set(chance.sample(documents, 3))
        qrels[f"q{query}"] = dict.fromkeys(relevant, 1)
        for row, signal in zip(rows, signals, strict=True):
            row[f"q{query}"] = {
                one: (one in relevant) * signal + chance.gauss(0, 1) for one in documents
            }
    return qrels, [be.Run.from_dict(row, name=str(place)) for place, row in enumerate(rows)]


def simulate(signals: tuple[float, ...], trials: int) -> str:
    """Optimize on small samples, and count how often the intervals hold the truth."""
    qrels, runs = draw(random.Random(7), OTHERS, signals)  # noqa: S311 - a sample, not a secret
    singles = [be.evaluate(qrels, run, [METRIC]).mean[METRIC] for run in runs]

    @cache
    def score(weights: tuple[float, ...]) -> float:
        return be.evaluate(qrels, be.fuse(runs, "wsum", weights=weights), [METRIC]).mean[METRIC]

    sums = dict.fromkeys(("training", "held out", "truth"), 0.0)
    held = above = below = 0
    for trial in range(trials):
        sample = draw(random.Random(1000 + trial), SEEN, signals)  # noqa: S311 - likewise
        found = be.optimize_fusion(*sample, METRIC, folds=4)
        truth, row = score(found.model.weights), found.comparison
        sums["training"] += found.training.mean[METRIC]
        sums["held out"] += found.held_out.mean[METRIC]
        sums["truth"] += truth
        low, high = found.held_out.ci(METRIC)
        held += low <= truth <= high
        gain = truth - singles[int(found.best)]
        low, high = row.interval or (row.difference, row.difference)
        above += gain < low
        below += gain > high
    means = ", ".join(f"{name} {total / trials:.3f}" for name, total in sums.items())
    return (
        f"signals {signals}: {means}; of {trials} intervals of held_out {held} hold the truth; of "
        f"those of the comparison {above} are above it and {below} below"
    )


def main() -> None:
    """Print a line for each case."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=200)
    trials = parser.parse_args().trials
    logging.disable(logging.WARNING)
    for signals in CASES:
        sys.stdout.write(simulate(signals, trials) + "\n")


if __name__ == "__main__":
    main()
