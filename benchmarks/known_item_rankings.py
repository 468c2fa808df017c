"""Rank systems by known-item queries and by the judgments of people, and compare the two orders.

Writes a table into docs/judging.md. For each bundled benchmark every system answers the questions
of the benchmark and known-item queries drawn from the same documents, by each method and several
seeds. Kendall's tau compares the orders by mean nDCG@10; the ceiling is what people's own questions
reach: the order by one random half of them against the other half, which also has half the size.
"""

from __future__ import annotations

import argparse
import logging
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Final, get_args

import numpy as np
from scipy.stats import kendalltau

sys.path.insert(0, str(Path(__file__).parent))

from document import markdown_table, put_between_marks

import berryeval as be
from berryeval.judging import KnownItems, build_benchmark, draw_known_items
from berryeval.judging.known_items import TermSelection

if TYPE_CHECKING:
    import numpy.typing as npt

    from berryeval.benchmarks import Benchmark

DOCUMENT = Path(__file__).parents[1] / "docs" / "judging.md"
BENCHMARKS: Final = ("spring-boot", "technical-docs", "rag-template")
CHUNKERS: Final = ("section", "fixed-400", "fixed-1200", "sentence-200")
ENGINES: Final[Mapping[str, Mapping[str, object]]] = {
    "bm25": {"type": "bm25"},
    "bm25 without stems": {"type": "bm25", "options": {"stemmer": ""}},
    "bm25 with feedback": {"type": "bm25", "options": {"feedback": 5}},
    "dense": {"type": "dense"},
    "hybrid": {"type": "hybrid"},
}
METRIC: Final = "nDCG@10"
HALVES: Final = 200  # random splits for the ceiling
FEWEST: Final = 30  # questions of people, of which halves still say something


@dataclass(frozen=True)
class Means:
    """Scores of all systems: a row per system, a column per query."""

    systems: Sequence[str]
    people: npt.NDArray[np.float64]
    drawn: Mapping[tuple[str, int], npt.NDArray[np.float64]]  # by method and seed
    seconds: float  # to generate one set


def measure(name: str, count: int, seeds: int, how: KnownItems) -> Means:
    """Let every system answer all queries of one benchmark."""
    golden = be.load_benchmark(name)
    queries, judgments = list(golden.queries), list(golden.judgments)
    groups: dict[tuple[str, int], list[str]] = {}
    times = []
    for method in get_args(TermSelection):
        for seed in range(seeds):
            started = time.perf_counter()
            drafts = draw_known_items(
                golden.documents, count, replace(how, method=method, seed=seed)
            )
            made = build_benchmark("x", golden.documents, drafts.kept, {"kind": "known-item"})
            times.append(time.perf_counter() - started)
            prefix = f"{method} {seed} "
            groups[method, seed] = [prefix + one.id for one in made.queries]
            queries += [replace(one, id=prefix + one.id) for one in made.queries]
            judgments += [replace(one, query_id=prefix + one.query_id) for one in made.judgments]
    whole = replace(
        golden, queries=tuple(queries), judgments=tuple(judgments), locations={}, thresholds={}
    )
    systems = {
        f"{engine}:{chunker}": {**options, "chunker": chunker}
        for engine, options in ENGINES.items()
        for chunker in CHUNKERS
    }
    tables = score(whole, systems)
    asked = [query.id for query in golden.queries]
    return Means(
        list(systems),
        np.array([[values[one] for one in asked] for values in tables]),
        {
            key: np.array([[values[one] for one in ids] for values in tables])
            for key, ids in groups.items()
        },
        float(np.median(times)),
    )


def score(whole: Benchmark, systems: Mapping[str, object]) -> list[dict[str, float]]:
    """Return the score of every query by system."""
    result = be.run_benchmark(whole, systems, [METRIC], k=10)
    found = []
    for name in systems:
        scores = result[name].scores
        if scores is None:
            raise SystemExit(f"{name} failed on {whole.name}")
        found.append(scores.per_query(METRIC))
    return found


def tau(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> float:
    """Return Kendall's tau-b of the orders of systems by mean."""
    return float(kendalltau(one.mean(axis=1), other.mean(axis=1)).statistic)


def find_ceiling(people: npt.NDArray[np.float64]) -> str:
    """Return the mean tau between random halves of people's questions."""
    size = people.shape[1]
    if size < FEWEST:
        return "-"
    chance = np.random.default_rng(0)
    values = []
    for _ in range(HALVES):
        order = chance.permutation(size)
        values.append(tau(people[:, order[: size // 2]], people[:, order[size // 2 :]]))
    return f"{np.mean(values):.2f}"


def agree_on_kinds(means: Means, drawn: npt.NDArray[np.float64], *, within: bool) -> float:
    """Return the share of pairs in the same order, of one engine or of two.

    Pairs that people's questions do not tell apart do not count.
    """
    same = []
    a, b = means.people.mean(axis=1), drawn.mean(axis=1)
    for one, other in combinations(range(len(means.systems)), 2):
        engines = {means.systems[place].split(":")[0] for place in (one, other)}
        if (len(engines) == 1) == within and abs(a[one] - a[other]) > 1e-12:
            same.append((a[one] - a[other]) * (b[one] - b[other]) > 0)
    return float(np.mean(same))


def print_means(means: Means) -> None:
    """Print the mean of every system, people's questions first, then by method."""
    people = means.people.mean(axis=1)
    for place in np.argsort(-people):
        by_method: dict[str, list[float]] = {}
        for (method, _), values in means.drawn.items():
            by_method.setdefault(method, []).append(float(values[place].mean()))
        drawn = "  ".join(f"{method} {np.mean(own):.3f}" for method, own in by_method.items())
        print(f"  {people[place]:.3f}  {drawn}  {means.systems[place]}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and write the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    logging.disable(logging.WARNING)
    parser.add_argument("--count", type=int, default=50)
    parser.add_argument("--seeds", type=int, default=4)
    parser.add_argument("--noise", type=float, default=KnownItems.noise)
    parser.add_argument("--length", type=float, default=KnownItems.length)
    parser.add_argument("--document", action="store_true", help="write the table to docs")
    given = parser.parse_args(arguments)
    rows = []
    for name in BENCHMARKS:
        how = KnownItems(noise=given.noise, length=given.length)
        means = measure(name, given.count, given.seeds, how)
        ceiling = find_ceiling(means.people)
        for method in get_args(TermSelection):
            own = [means.drawn[method, seed] for seed in range(given.seeds)]
            taus = [tau(means.people, one) for one in own]
            rs = [np.corrcoef(means.people.mean(axis=1), one.mean(axis=1))[0, 1] for one in own]
            within, across = (
                100 * np.mean([agree_on_kinds(means, one, within=flag) for one in own])
                for flag in (True, False)
            )
            rows.append(
                [
                    name, method, f"{np.mean(taus):.2f} ({min(taus):.2f} to {max(taus):.2f})",
                    f"{np.mean(rs):.2f}", f"{within:.0f} %", f"{across:.0f} %", ceiling,
                    f"{np.mean([one.mean() for one in own]):.2f}",
                ]
            )  # fmt: skip
        size = f"{len(means.systems)} systems, {means.people.shape[1]} questions of people"
        print(f"{name}: {size}, {means.seconds:.2f} s to draw {given.count} queries", flush=True)
        print_means(means)
    header = [
        "benchmark", "method", "τ (range over seeds)", "r", "same order, one engine",
        "same order, two engines", "τ of people's halves", "mean nDCG@10",
    ]  # fmt: skip
    table = markdown_table(header, rows)
    print(table)
    if given.document:
        put_between_marks(DOCUMENT, "known items", table)
    return 0


if __name__ == "__main__":
    sys.exit(main())
