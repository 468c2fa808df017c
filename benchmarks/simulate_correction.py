"""How often corrected intervals cover the truth: the tables of docs/judging.md.

    python benchmarks/simulate_correction.py [--runs 10000] [--json FILE]

Queries have a latent quality, which a curve turns into a value between 0 and 1 with the skewness of
nDCG@10 on the bundled sets (-0.5 to -1.6). A model judge sees a distorted quality: a good one is
right on half of the queries and close on the others; one that is rarely wrong is right on nine of
ten, and takes the tenth for perfect; a biased one is lenient; a noisy one has little to do with
humans, and a useless one nothing. For differences, leniency is towards one system only.

The second table is about samples in which nearly all values are equal: systems that differ on few
queries, and metrics of hits and misses.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from berryeval.judging import Corrected, correct_difference, correct_mean, rectify
from berryeval.stats import student_interval

Floats = npt.NDArray[np.float64]
BATCH = 2000  # experiments at a time
HUMAN = (20, 50, 100)
MODEL = (200, 1000)
CURVES = {"moderate": (1.12, 0.42, 0.58), "skewed": (1.06, 0.235, 0.62)}
CASES = ("moderate", "skewed", "difference")
SPARSE = {"few differences": (0.05, 0.1, 0.2), "hits": (0.8, 0.9, 0.95, 0.99)}
SPARSE_RIGHT = 0.95  # share of queries that the model judge takes for what they are
GAIN = 0.3


class Judge(NamedTuple):
    """A model judge: correlation with human quality, leniency, share of exact judgments."""

    correlation: float
    leniency: float
    exact: float

    def look(self, rng: np.random.Generator, quality: Floats, *, lenient: bool = True) -> Floats:
        """Return the quality that the judge sees."""
        noise = math.sqrt(1 - self.correlation**2) * rng.standard_normal(quality.shape)
        seen = self.correlation * quality + noise + (self.leniency if lenient else 0.0)
        return np.where(rng.random(quality.shape) < self.exact, quality, seen)


JUDGES = {
    "good": Judge(0.95, 0.0, 0.5),
    "rarely wrong": Judge(1.0, 10.0, 0.9),
    "biased": Judge(0.85, 0.6, 0.2),
    "noisy": Judge(0.5, 0.0, 0.0),
    "useless": Judge(0.0, 0.0, 0.0),
}


def score(quality: Floats, curve: str) -> Floats:
    """Turn quality into a metric between 0 and 1."""
    top, scale, rate = CURVES[curve]
    return np.clip(top - scale * np.exp(-rate * quality), 0.0, 1.0)


def draw(
    rng: np.random.Generator, case: str, judge: Judge, shape: tuple[int, int]
) -> tuple[Floats, Floats]:
    """Draw human and model values; a row per simulated experiment."""
    if case != "difference":
        quality = rng.standard_normal(shape)
        return score(quality, case), score(judge.look(rng, quality), case)
    both = rng.standard_normal(shape)
    own = math.sqrt(1 - 0.9**2)
    first = 0.9 * both + own * rng.standard_normal(shape)
    second = 0.9 * both + own * rng.standard_normal(shape) + 0.3
    second = np.where(rng.random(shape) < 0.2, first, second)  # the same ranking
    seen = judge.look(rng, first, lenient=False)
    other = np.where(first == second, seen, judge.look(rng, second))
    human = score(second, "moderate") - score(first, "moderate")
    return human, score(other, "moderate") - score(seen, "moderate")


def find_truth(case: str) -> float:
    """Return the expected human value."""
    places = np.linspace(-10, 10, 200_001)
    density = np.exp(-(places**2) / 2) / math.sqrt(2 * math.pi) * (places[1] - places[0])
    if case != "difference":
        return float(score(places, case) @ density)
    gains = score(places + 0.3, "moderate") - score(places, "moderate")
    return 0.8 * float(gains @ density)  # a fifth of the rankings are the same


def find_least(case: str) -> float:
    """Return the least variance of an unseen query: half of that of a system for a difference."""
    if case != "difference":
        return 0.0
    quality = np.random.default_rng(1).standard_normal(2**20)
    return float(score(quality, "moderate").var()) / 2


def simulate(
    case: str, judge: str, human: int, model: int, runs: int, truth: float
) -> dict[str, Any]:
    """Return coverage and mean width of human-only and corrected intervals."""
    rng = np.random.default_rng([CASES.index(case), list(JUDGES).index(judge), human, model])
    plain, fitted = np.zeros(3), np.zeros(3)
    correlation = bias = 0.0
    least = find_least(case)
    batches = [min(BATCH, runs - start) for start in range(0, runs, BATCH)]
    for size in batches:
        truths, guesses = draw(rng, case, JUDGES[judge], (size, model))
        known, same, others = truths[:, :human], guesses[:, :human], guesses[:, human:]
        plain += size * _cover(rectify(known, same, others[:, :0]), truth)
        fitted += size * _cover(rectify(known, same, others, least), truth)
        bias += size * (float(guesses.mean()) - truth)
        correlation += size * float(np.corrcoef(truths[:20].ravel(), guesses[:20].ravel())[0, 1])
    return {
        "case": case,
        "judge": judge,
        "human": human,
        "model": model,
        "correlation": correlation / runs,
        "bias": bias / runs,
        "coverage_human": float(plain[0]) / runs,
        "coverage": float(fitted[0]) / runs,
        "width": float(fitted[1] / plain[1]),
        "weight": float(fitted[2]) / runs,
    }


def _cover(found: tuple[Floats, ...], truth: float) -> Floats:
    """Return the share of intervals that cover the truth, their mean reach and the mean weight."""
    value, error, freedom, weight = found
    reach = np.array(
        [student_interval(0.0, e, f, 0.95).high for e, f in zip(error, freedom, strict=True)]
    )
    inside = np.abs(value - truth) <= reach
    return np.array([inside.mean(), reach.mean(), weight.mean()])


def simulate_all(runs: int) -> Iterator[dict[str, Any]]:
    """Simulate every case, judge and size."""
    for case in CASES:
        truth = find_truth(case)
        for judge in JUDGES:
            for human in HUMAN:
                for model in MODEL:
                    yield simulate(case, judge, human, model, runs, truth)


def draw_sparse(rng: np.random.Generator, case: str, share: float, human: int) -> Corrected:
    """Correct one sample of few differences of 0.3, two of three a gain, or of hits and misses."""
    names = [f"q{place}" for place in range(MODEL[0])]
    same = rng.random(len(names)) < SPARSE_RIGHT
    if case == "hits":
        hits = (rng.random(len(names)) < share).astype(float)
        seen = dict(zip(names, np.where(same, hits, 1 - hits), strict=True))
        return correct_mean(dict(zip(names[:human], hits, strict=False)), seen, within=(0, 1))
    first = rng.uniform(0.3, 0.7, len(names))
    sizes = rng.choice([GAIN, GAIN, -GAIN], (2, len(names)))
    gains = np.where(rng.random(len(names)) < share, sizes[0], 0.0)
    guesses = np.where(same, gains, np.where(gains, 0.0, sizes[1]))
    known = [dict(zip(names[:human], one, strict=False)) for one in (first, first + gains)]
    model = [dict(zip(names, one, strict=True)) for one in (first, first + guesses)]
    return correct_difference((known[0], known[1]), (model[0], model[1]), within=(0, 1))


def simulate_sparse(runs: int) -> str:
    """Return a table of how often intervals of samples with nearly equal values cover the truth."""
    lines = ["| values | share | 20 of 200 | 50 of 200 | 100 of 200 |", "| --- " * 5 + "|"]
    for case, shares in SPARSE.items():
        for share in shares:
            truth = share if case == "hits" else share * GAIN / 3
            cells = []
            for human in HUMAN:
                rng = np.random.default_rng([len(case), int(1000 * share), human])
                found = [draw_sparse(rng, case, share, human).interval for _ in range(runs)]
                inside = np.mean([one.low - 1e-12 <= truth <= one.high + 1e-12 for one in found])
                width = np.mean([one.high - one.low for one in found])
                cells.append(f"{100 * inside:.1f} ({width:.2f})")
            lines.append(f"| {case} | {share:g} | {' | '.join(cells)} |")
    return "\n".join(lines)


def format_table(rows: list[dict[str, Any]]) -> str:
    """Format a Markdown table: a row per case and judge, coverage and width by size."""
    sizes = [(human, model) for human in HUMAN for model in MODEL]
    titles = ["values", "judge", "r", "bias", *(f"{one} of {all_:,}" for one, all_ in sizes)]
    lines = [f"| {' | '.join(titles)} |", f"| {' | '.join(['---'] * len(titles))} |"]
    for case in CASES:
        for judge in JUDGES:
            own = [row for row in rows if (row["case"], row["judge"]) == (case, judge)]
            cells = [
                f"{100 * row['coverage']:.1f} ({100 * row['coverage_human']:.1f}) "
                f"x{row['width']:.2f}"
                for row in own
            ]
            first = [case, judge, f"{own[0]['correlation']:.2f}", f"{own[0]['bias']:+.2f}"]
            lines.append(f"| {' | '.join([*first, *cells])} |")
    return "\n".join(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description="Coverage of corrected intervals.")
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    rows = list(simulate_all(given.runs))
    if given.json:
        given.json.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    print(format_table(rows), simulate_sparse(given.runs // 5), sep="\n\n")


if __name__ == "__main__":
    main()
