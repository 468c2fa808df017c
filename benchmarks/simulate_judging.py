"""Simulate judging with the strategy `decisive` on the golden sets, and write docs/judging.md.

Run with `make simulate-judging`. All judgments of a golden set are hidden. The rankings of two
systems for queries drawn with replacement are pooled to depth 10, and pairs are revealed as if they
were judged (unlisted ones get 0) until `decisive` stops. Its verdict is compared with that of all
judgments. The numbers depend only on the number of trials.
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from document import markdown_table, put_between_marks

import berryeval as be
from berryeval.data import Hit
from berryeval.judging import Pool, build_contests, choose_pairs
from berryeval.relevance import Relevance
from berryeval.workflows.selection import chunk_documents

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

DOCUMENT = Path(__file__).parents[1] / "docs" / "judging.md"
BENCHMARKS: Final = ("technical-docs", "spring-boot")
SYSTEMS: Final[dict[str, dict[str, Any]]] = {
    "bm25": {},
    "bm25 plain": {"type": "bm25", "options": {"stemmer": "", "stopwords": False}},
    "bm25 short": {"type": "bm25", "options": {"k1": 0.4, "b": 0.2}},
    "bm25 feedback": {"type": "bm25", "options": {"feedback": 3}},
    "bm25 pieces": {"type": "bm25", "chunker": "fixed-400"},
    "dense": {},
    "hybrid": {},
    "sqlite": {"type": "sqlite", "options": {"mode": "text"}},
}
DEPTH: Final = 10
METRIC: Final = "nDCG@10"
HEADER: Final = [
    "set", "systems", "pairs", "mean", "median", "90th percentile", "right", "claimed error",
    "error",
]  # fmt: skip
LOOKS: Final = 50  # looks at the verdict until everything is judged

Ranked = dict[str, dict[str, list[tuple[str, float]]]]  # by system and query: hits with grades


def rank(benchmark: str) -> Ranked:
    """Run the systems, and grade every hit by the judgments of the set."""
    loaded = be.load_benchmark(benchmark)
    specs = [{"type": name, "name": name, **spec} for name, spec in SYSTEMS.items()]
    result = be.run_benchmark(loaded, specs, [METRIC], k=DEPTH)
    found: Ranked = {}
    for name, spec in SYSTEMS.items():
        chunks = chunk_documents(loaded, str(spec.get("chunker", "")))
        chunk_of = {chunk.id: chunk for chunk in chunks}
        judge = Relevance(loaded, chunks=chunks)
        found[name] = {
            answer.query_id: [
                (hit.id, grade_alone(judge, answer.query_id, chunk_of[hit.id]))
                for hit in answer.hits
            ]
            for answer in result[name].record.answers
        }
    return found


def grade_alone(judge: Relevance, query: str, chunk: Any) -> float:
    """Return the grade that a judge would give to a passage."""
    hit = Hit(chunk.id, 1.0, 1, chunk.text, chunk.doc_id, start=chunk.start, end=chunk.end)
    return max((one.grade for one in judge.judge(query, [hit]).ranking.hits), default=0.0)


def degrade(ranked: Mapping[str, list[tuple[str, float]]], share: float, seed: int) -> Any:
    """Return a worse system: for a share of the queries the upper half goes below the lower."""
    chance = np.random.default_rng(seed)
    return {
        query: [*hits[DEPTH // 2 :], *hits[: DEPTH // 2]] if chance.random() < share else hits
        for query, hits in ranked.items()
    }


@dataclass(frozen=True)
class Trial:
    """One simulated session of judging."""

    used: int
    pairs: int
    verdict: str
    probability: float
    truth: str

    @property
    def share(self) -> float:
        """Share of the pairs that were judged."""
        return self.used / self.pairs


def build_pool(
    systems: Mapping[str, Mapping[str, list[tuple[str, float]]]], queries: Sequence[str], seed: int
) -> tuple[Pool, dict[str, float]]:
    """Pool the rankings of drawn queries; also return the hidden grades."""
    rankings: dict[str, dict[str, list[str]]] = {}
    grades: dict[str, float] = {}
    for system, ranked in systems.items():
        own = rankings.setdefault(system, {})
        for place, query in enumerate(queries):
            hits = ranked.get(query, [])[:DEPTH]
            own[f"{place:03}"] = [f"{place:03} {name}" for name, _ in hits]
            grades |= {f"{place:03} {name}": grade for name, grade in hits}
    top = max(grades.values())
    pool = Pool("", "", "decisive", DEPTH, seed, metrics=(METRIC,), highest=top, rankings=rankings)
    return pool, grades


def judge_until_decided(pool: Pool, grades: Mapping[str, float], seed: int) -> Trial:
    """Reveal grades until the verdict is decided."""
    (contest,) = build_contests(pool)
    contest.judge(grades)
    truth, _ = contest.weigh()
    known: dict[str, float] = {}
    contest.judge(known)
    while True:
        more = -(-len(grades) // LOOKS)
        chosen = [] if contest.is_decided() else choose_pairs([contest], more, seed)
        if not chosen:
            verdict, probability = contest.weigh()
            return Trial(len(known), len(grades), verdict, probability, truth)
        known |= {name: grades[name] for name in chosen}
        contest.judge(known)


def simulate(ranked: Ranked, pair: tuple[str, str], trials: int, first: int = 0) -> list[Trial]:
    """Run trials with different queries."""
    done = []
    for seed in range(first, first + trials):
        chance = np.random.default_rng([seed, *map(ord, " ".join(pair))])
        names = list(ranked[pair[0]])
        drawn = [names[place] for place in chance.integers(len(names), size=len(names))]
        pool, grades = build_pool({name: ranked[name] for name in pair}, drawn, seed)
        done.append(judge_until_decided(pool, grades, seed))
    return done


def summarize(trials: Sequence[Trial]) -> list[str]:
    """Return the cells of a row."""
    shares = np.array([one.share for one in trials])
    right = np.mean([one.verdict == one.truth for one in trials])
    said = np.mean([1 - one.probability for one in trials])
    return [
        f"{np.mean([one.pairs for one in trials]):.0f}",
        f"{shares.mean():.0%}",
        f"{np.median(shares):.0%}",
        f"{np.quantile(shares, 0.9):.0%}",
        f"{right:.1%}",
        f"{said:.1%}",
        f"{1 - right:.1%}",
    ]


def list_pairs(ranked: Ranked) -> Iterator[tuple[str, str]]:
    """Add worse copies of bm25 and hybrid, and yield the pairs to compare."""
    ranked["bm25 -10 %"] = degrade(ranked["bm25"], 0.1, 1)
    ranked["bm25 -30 %"] = degrade(ranked["bm25"], 0.3, 2)
    ranked["hybrid -60 %"] = degrade(ranked["hybrid"], 0.6, 3)
    yield from combinations(("bm25", "dense", "hybrid", "sqlite"), 2)
    for name in SYSTEMS:
        if name.startswith("bm25 "):
            yield "bm25", name
    yield from (("bm25", "bm25 -10 %"), ("bm25", "bm25 -30 %"), ("hybrid", "hybrid -60 %"))


def main() -> None:
    """Simulate, print the table, and write it to the document if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=25, help="per pair of systems")
    parser.add_argument("--first", type=int, default=2000, help="first seed")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--document", action="store_true", help="write docs/judging.md")
    options = parser.parse_args()
    jobs: list[tuple[str, Any, tuple[str, str]]] = []
    for benchmark in BENCHMARKS:
        ranked = rank(benchmark)
        jobs += [(benchmark, {n: ranked[n] for n in pair}, pair) for pair in list_pairs(ranked)]
    rows, every = [], []
    with ProcessPoolExecutor(options.workers) as workers:
        done = [
            workers.submit(simulate, ranked, pair, options.trials, options.first)
            for _, ranked, pair in jobs
        ]
        for (benchmark, _, pair), future in zip(jobs, done, strict=True):
            every += (trials := future.result())
            rows.append([benchmark, f"{pair[0]}, {pair[1]}", *summarize(trials)])
            print(" | ".join(rows[-1]), flush=True)
    for verdict in ("better", "worse", "no significant difference"):
        some = [one for one in every if one.truth == verdict]
        rows.append(["all", f"truth: {verdict} ({len(some)} trials)", *summarize(some)])
    rows.append(["all", f"all {len(every)} trials", *summarize(every)])
    table = markdown_table(HEADER, rows)
    print(table)
    if options.document:
        put_between_marks(DOCUMENT, "decisive", table)


if __name__ == "__main__":
    main()
