"""Simulate error rates of tests and intervals on real scores and write docs/statistics.md.

Run with `make calibrate`. The scores of two systems on the bundled benchmarks are the population,
from which sets of queries are drawn repeatedly. Each section is written between two marks in the
document; its numbers depend only on the number of trials.
"""

from __future__ import annotations

import argparse
import logging
import math
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from document import markdown_table, put_between_marks

import berryeval as be
from berryeval.gates import Rule, Sample, self_check
from berryeval.gates.regression import measure_drop
from berryeval.gates.verdict import judge_drop
from berryeval.stats import bounded_interval
from berryeval.stats.effects import minimum_detectable_difference, power_of
from berryeval.stats.intervals import METHODS, mean_interval
from berryeval.stats.tests import TESTS, paired_test

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    import numpy.typing as npt

    from berryeval.stats.intervals import IntervalMethod

DOCUMENT = Path(__file__).parents[1] / "docs" / "statistics.md"
BENCHMARKS: Final = ("technical-docs", "spring-boot")
SYSTEMS: Final = ("bm25", "dense")
METRICS: Final = ("nDCG@10", "RR", "R@10")
OF_LIMITS: Final = ("nDCG@10", "RR", "AP", "Success@1", "Success@5")
SAMPLES: Final = 2_000  # random samples per test
LEVEL: Final = 0.95
SIZES: Final = (20, 50, 100)
OF_MEANS: Final = ("randomization", "t", "bootstrap")  # the others do not test the mean
_BOLD: Final = "Bold: more than 1 % from the nominal value."
ALLOWED: Final = 0.01  # largest deviation from the nominal rate that is not bold
_OF_LIMIT: Final = ("covered", "wrong passes")
_OF_DROP: Final = ("wrong passes", "unchanged")
_BEYOND: Final = 0.0301  # a drop just beyond the allowed 0.03
SHIFTS: Final = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5)


@dataclass(frozen=True, eq=False)
class Population:
    """The values of two systems for the queries of a benchmark."""

    benchmark: str
    metric: str
    a: npt.NDArray[np.float64]
    b: npt.NDArray[np.float64]

    @property
    def differences(self) -> npt.NDArray[np.float64]:
        """Difference of every query."""
        return self.b - self.a

    def label(self) -> list[str]:
        """Return the first cells of a row."""
        return [self.benchmark, self.metric]

    def generator(self, purpose: int) -> np.random.Generator:
        """Return a random generator for this population and purpose."""
        return np.random.default_rng([purpose, *map(ord, "".join(self.label()))])


def populations() -> list[Population]:
    """Score the two systems on each benchmark by each metric."""
    found = []
    for benchmark in BENCHMARKS:
        result = be.run_benchmark(benchmark, SYSTEMS, METRICS)
        tables = [result[name].scores for name in SYSTEMS]
        for metric in METRICS:
            a, b = (list(table.per_query(metric).values()) for table in tables if table)
            found.append(Population(benchmark, metric, np.array(a), np.array(b)))
    return found


def percent(share: float) -> str:
    """Format a rate."""
    return f"{100 * share:.1f} %"


def marked(share: float, wanted: float) -> str:
    """Format a rate, in bold if it deviates from the nominal rate."""
    return (
        f"**{percent(share)}**"
        if abs(round(share, 3) - wanted) > ALLOWED + 1e-9
        else percent(share)
    )


def false_positive_rates(population: Population, trials: int, tests: Sequence[str]) -> list[float]:
    """Return the false positive rate of each test at 0.05.

    For all tests the two values of every query are exchanged at random. For tests of the mean the
    differences are centred at 0 and keep their distribution.
    """
    exchange = list(tests) != list(OF_MEANS)
    chance = population.generator(1 + exchange)
    size = len(population.a)
    centred = population.differences - population.differences.mean()
    findings = np.zeros(len(tests))
    for trial in range(trials):
        drawn = chance.integers(size, size=size)
        if exchange:
            flipped = chance.integers(2, size=size).astype(bool)
            a = np.where(flipped, population.b[drawn], population.a[drawn])
            b = np.where(flipped, population.a[drawn], population.b[drawn])
        else:
            a, b = np.zeros(size), centred[drawn]
        for place, name in enumerate(tests):
            p = paired_test(name, a, b, seed=trial, samples=SAMPLES).p
            findings[place] += p is not None and p <= 1 - LEVEL + 1e-12
    return list(findings / trials)


def exchanged(found: list[Population], trials: int) -> str:
    """Tabulate type I error rates with the systems exchanged at random in every query."""
    return _errors(found, trials, list(TESTS))


def centred(found: list[Population], trials: int) -> str:
    """Tabulate type I error rates with centred differences."""
    return _errors(found, trials, OF_MEANS)


def _errors(found: list[Population], trials: int, tests: Sequence[str]) -> str:
    rows = []
    for population in found:
        shares = false_positive_rates(population, trials, tests)
        size = str(len(population.a))
        rows.append([*population.label(), size, *(marked(share, 1 - LEVEL) for share in shares)])
    noise = 1.96 * math.sqrt(0.05 * 0.95 / trials)
    table = markdown_table(["benchmark", "metric", "queries", *tests], rows)
    seen = f"{trials:,} trials per row; 95 % sampling error ± {100 * noise:.1f} %."
    return f"{table}\n\n{seen} {_BOLD}"


def coverage(found: list[Population], trials: int) -> str:
    """Tabulate the coverage of 95 % intervals of the mean difference by sample size."""
    return _coverage([(one, 3, one.differences) for one in found], trials, METHODS)


def coverage_of_means(found: list[Population], trials: int) -> str:
    """Tabulate the coverage of 95 % intervals of the mean of one system."""
    return _coverage([(one, 5, one.a) for one in found], trials, ("t", "percentile"))


def skewed_populations() -> list[tuple[str, npt.NDArray[np.float64]]]:
    """Return values of bm25 by more metrics, and two sets that are skewed on purpose.

    The last two are shares of hits just below 0.95, and average precision as in collections with
    many relevant documents: near 0 for most queries and near 1 for few.
    """
    found = []
    for benchmark in BENCHMARKS:
        table = be.run_benchmark(benchmark, SYSTEMS[:1], OF_LIMITS)[SYSTEMS[0]].scores
        for metric in OF_LIMITS if table else ():
            values = np.array(list(table.per_query(metric).values()))
            found.append((f"{benchmark}, {metric}", values))
    low = np.random.default_rng(5).beta(0.42, 1.6, 1_000) ** 1.3
    hits = np.arange(1_000) < 949
    return [*found, ("94.9 % hits", hits.astype(np.float64)), ("low AP", low), ("high", 1 - low)]


def limits(_: list[Population], trials: int) -> str:
    """Tabulate the coverage of the interval by which limits are judged, and wrong passes.

    A limit that is just above the true mean, or just below it for `at_most`, should not pass.
    """
    sizes = (10, *SIZES)
    header = ["values", "mean", *(f"{what}, n = {n}" for n in sizes for what in _OF_LIMIT)]
    rows = []
    for name, values in skewed_populations():
        chance = np.random.default_rng([6, *map(ord, name)])
        true = float(values.mean())
        cells = []
        for size in sizes:
            low, high = np.transpose(
                [bounded_interval(chance.choice(values, size), (0, 1)) for _ in range(trials)]
            )
            above, below = float((low > true).mean()), float((high < true).mean())
            cells += [percent(1 - above - below), percent(max(above, below))]
        rows.append([name, f"{true:.3f}", *cells])
    return f"{markdown_table(header, rows)}\n\n{trials:,} trials per cell."


def drops(found: list[Population], trials: int) -> str:
    """Tabulate how often a drop just beyond `max_drop: 0.03` passes.

    In "shifted" the differences of the two systems are moved to a mean of -0.0301. In "lost" some
    queries of the first system lose everything. Runs without any changed query are counted apart:
    they pass.
    """
    header = ["queries from", "change", *(f"{what}, n = {n}" for n in SIZES for what in _OF_DROP)]
    rule, rows = Rule(metric="nDCG@10", max_drop=0.03), []
    for population in found:
        moved = population.differences - population.differences.mean() - _BEYOND
        for change in ("shifted", "lost"):
            chance = population.generator(7 + (change == "lost"))
            cells = []
            for size in SIZES:
                statuses = [0, 0]  # wrong passes, unchanged
                for _ in range(trials):
                    drawn = chance.integers(len(moved), size=size)
                    before, after = population.a[drawn], population.a[drawn] + moved[drawn]
                    if change == "lost":
                        hit = chance.random(size) < _BEYOND / population.a.mean()
                        after = np.where(hit, 0.0, before)
                    sample = Sample(rule, before, after)
                    drop = measure_drop(sample, samples=SAMPLES)
                    statuses[drop.same] += judge_drop(drop, rule).status == "pass"
                cells += [percent(count / trials) for count in statuses]
            rows.append([f"{population.benchmark}, {population.metric}", change, *cells])
    return f"{markdown_table(header, rows)}\n\n{trials:,} trials per cell."


def _coverage(
    found: list[tuple[Population, int, npt.NDArray[np.float64]]],
    trials: int,
    methods: Sequence[IntervalMethod],
) -> str:
    """Tabulate coverage for these values, each with the purpose of its random generator."""
    header = ["benchmark", "metric", *(f"{m}, n = {n}" for n in SIZES for m in methods)]
    rows = []
    for population, purpose, values in found:
        chance = population.generator(purpose)
        true = float(values.mean())
        cells = []
        for size in SIZES:
            held = dict.fromkeys(methods, 0)
            for trial in range(trials):
                drawn = chance.choice(values, size)
                for method in methods:
                    ends = mean_interval(drawn, LEVEL, method, trial, SAMPLES)
                    held[method] += ends is not None and ends.low <= true <= ends.high
            cells += [marked(count / trials, LEVEL) for count in held.values()]
        rows.append([*population.label(), *cells])
    noise = 1.96 * math.sqrt(0.05 * 0.95 / trials)
    return (
        f"{markdown_table(header, rows)}\n\n"
        f"{trials:,} trials per cell; 95 % sampling error ± {100 * noise:.1f} %. "
        f"{_BOLD}"
    )


def power(found: list[Population], trials: int) -> str:
    """Tabulate simulated and predicted power of the randomization test."""
    header = ["benchmark", "metric", "queries", "true difference", "power", "predicted"]
    rows = []
    for population in found:
        if population.metric != METRICS[0]:
            continue
        chance = population.generator(4)
        moved = population.differences - population.differences.mean()
        size = len(moved)
        least = minimum_detectable_difference(moved, level=LEVEL) or 0.0
        for factor in SHIFTS:
            shift = factor * least
            findings = 0
            for trial in range(trials):
                drawn = moved[chance.integers(size, size=size)] + shift
                p = paired_test(
                    "randomization", np.zeros(size), drawn, seed=trial, samples=SAMPLES
                ).p
                findings += p is not None and p <= 1 - LEVEL + 1e-12
            predicted = power_of(moved, shift, LEVEL) or 0.0
            shown = [f"{shift:.3f}", percent(findings / trials), percent(predicted)]
            rows.append([*population.label(), str(size), *shown])
    return markdown_table(header, rows)


def gate(found: list[Population], trials: int) -> str:
    """Tabulate false alarms of gates with one rule and with all rules of a benchmark."""
    rows = []
    for benchmark in BENCHMARKS:
        samples = [
            Sample(Rule(metric=one.metric, max_drop=0.0), one.a, one.b)
            for one in found
            if one.benchmark == benchmark
        ]
        gates = [[sample] for sample in samples] + [samples]
        for rules in gates:
            checked = self_check(rules, trials=trials)
            shown = ", ".join(sample.rule.metric for sample in rules)
            cells = [str(len(rules[0].before)), percent(checked.rate), percent(checked.claimed)]
            rows.append([benchmark, shown, *cells])
    noise = 1.96 * math.sqrt(0.025 * 0.975 / trials)
    table = markdown_table(
        ["benchmark", "rules: no drop of", "queries", "false alarms", "nominal"], rows
    )
    allowed = f"95 % sampling error ± {100 * noise:.1f} %."
    return f"{table}\n\n{trials:,} trials per row; {allowed}"


# The function that writes each section of the document.
SECTIONS: Final[dict[str, Callable[[list[Population], int], str]]] = {
    "false positives by exchange": exchanged,
    "false positives by resampling": centred,
    "coverage": coverage,
    "coverage of means": coverage_of_means,
    "limits": limits,
    "drops": drops,
    "power": power,
    "false alarms of gates": gate,
}


def main() -> None:
    """Simulate, print and write the sections of the document."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=4_000)
    parser.add_argument("--sections", nargs="*", choices=list(SECTIONS), default=list(SECTIONS))
    parser.add_argument("--no-document", action="store_true", help="print only")
    arguments: Any = parser.parse_args()
    logging.getLogger("berryeval").setLevel(logging.ERROR)
    found = populations()
    for name in arguments.sections:
        text = SECTIONS[name](found, arguments.trials)
        print(f"{name}\n\n{text}\n", flush=True)
        if not arguments.no_document:
            put_between_marks(DOCUMENT, name, text)


if __name__ == "__main__":
    main()
