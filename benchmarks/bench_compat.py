"""Compare the floors of `berryeval.compat` with their peers in one run, as ratios.

Both sides are called in the same way on the same objects and must agree before a time counts.
Times are of the processor: every call runs in one thread. The
sizes are those of the peers: the examples and the sweep of pytrec_eval, and a run of TREC size.
BEIR is not installed: its side is what BEIR does, pytrec_eval and a loop over the values.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ir_measures
import pytrec_eval
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parent))

from data import POOLS

from berryeval.compat import beir
from berryeval.compat import ir_measures as own_measures
from berryeval.compat import pytrec_eval as own_evaluator

SWEEP = (1, 3, 10, 100, 1_000, 10_000, 100_000)
CUTS = [1, 3, 5, 10, 100, 1000]
FIVE = ("nDCG@10", "AP", "P@10", "R@100", "RR")
ENOUGH = 0.02  # seconds of a round


@dataclass(frozen=True)
class Duel:
    """A call of the floor and the same call of its peer, each with a number to compare."""

    name: str
    ours: Callable[[], float]
    theirs: Callable[[], float]


def fastest(call: Callable[[], float], rounds: int) -> float:
    """Return the seconds of one call, in the fastest round of enough calls."""
    start = time.process_time()
    call()
    calls = max(1, round(ENOUGH / max(time.process_time() - start, 1e-6)))
    best = float("inf")
    for _ in range(rounds):
        start = time.process_time()
        for _ in range(calls):
            call()
        best = min(best, (time.process_time() - start) / calls)
    return best


def draw(queries: int, depth: int, judged: int) -> tuple[dict[str, Any], dict[str, Any]]:
    """Draw random rankings, and grades for some of their documents."""
    chance = random.Random(2026)  # noqa: S311 - a seed, not a secret
    qrels, run = {}, {}
    for query in range(queries):
        documents = [f"d{chance.randrange(10**7)}" for _ in range(depth)]
        run[f"q{query}"] = {document: chance.random() for document in documents}
        qrels[f"q{query}"] = {document: chance.randint(0, 3) for document in documents[:judged]}
    return qrels, run


def evaluate_once(module: Any, qrels: Any, run: Any, measures: set[str], shown: str) -> float:
    """Build an evaluator, score one run, and return a value of the last query."""
    found = module.RelevanceEvaluator(qrels, measures).evaluate(run)
    return float(found[next(reversed(found))][shown])


def list_pytrec_eval() -> Iterator[Duel]:
    """Yield the sweep of pytrec_eval, its first example, and many queries."""

    def duel(name: str, qrels: Any, run: Any, measures: set[str]) -> Duel:
        arguments = (qrels, run, measures, "ndcg")
        return Duel(
            f"pytrec_eval: {name}",
            lambda: evaluate_once(own_evaluator, *arguments),
            lambda: evaluate_once(pytrec_eval, *arguments),
        )

    example = {"q1": {"d1": 0, "d2": 1, "d3": 0}, "q2": {"d2": 1, "d3": 1}}
    ranked = {"q1": {"d1": 1.0, "d2": 0.0, "d3": 1.5}, "q2": {"d1": 1.5, "d2": 0.2, "d3": 0.5}}
    yield duel("the example of its README", example, ranked, {"map", "ndcg"})
    for count in SWEEP:
        scores = {"0": {str(number): float(number) for number in range(count)}}
        grades = {"0": {str(number): 1 for number in range(count)}}
        yield duel(f"its sweep, 1 query x {count:,}", grades, scores, {"ndcg"})
    large = draw(1_000, 1_000, 100)
    yield duel("1,000 queries x 1,000, map and ndcg", *large, {"map", "ndcg"})
    yield duel("1,000 queries x 1,000, all measures", *large, pytrec_eval.supported_measures)


def list_ir_measures(folder: Path) -> Iterator[Duel]:
    """Yield a TREC-sized run from files, tuples and dicts, and one query of two documents."""
    run, qrels = (str(path) for path in POOLS.write(folder))

    def duel(name: str, read: Callable[[Any], tuple[Any, Any]]) -> Duel:
        def call(module: Any) -> Callable[[], float]:
            measures = [module.parse_measure(text) for text in FIVE]
            return lambda: float(module.calc_aggregate(measures, *read(module))[measures[1]])

        return Duel(f"ir_measures: {name}", call(own_measures), call(ir_measures))

    def read_files(module: Any) -> tuple[Any, Any]:
        return module.read_trec_qrels(qrels), module.read_trec_run(run)

    tuples = tuple(list(rows) for rows in read_files(ir_measures))
    dicts = (
        own_measures.util.QrelsConverter(tuples[0]).as_dict_of_dict(),
        own_measures.util.RunConverter(tuples[1]).as_dict_of_dict(),
    )
    small = {"q": {"d1": 1, "d2": 0}}, {"q": {"d1": 1.0, "d2": 2.0}}
    size = f"{POOLS.queries} queries x {POOLS.depth:,}"
    yield duel("1 query x 2, from dicts", lambda _: small)
    yield duel(f"{size}, from files", read_files)
    yield duel(f"{size}, from tuples", lambda _: (tuples[0], tuples[1]))
    yield duel(f"{size}, from dicts", lambda _: dicts)


def average_as_beir(qrels: Any, results: Any) -> float:
    """Score as BEIR does: pytrec_eval, then a sum over queries for every metric and cutoff."""
    cuts = ",".join(map(str, CUTS))
    names = ("ndcg_cut", "map_cut", "recall", "P")
    for query, row in results.items():
        for document in list(row):
            if query == document:
                row.pop(document)
    measures = {f"{name}.{cuts}" for name in names}
    scores = pytrec_eval.RelevanceEvaluator(qrels, measures).evaluate(results)
    means = {f"{name}@{k}": 0.0 for name in names for k in CUTS}
    for query in scores:
        for k in CUTS:
            for name in names:
                means[f"{name}@{k}"] += scores[query][f"{name}_{k}"]
    return round(means["ndcg_cut@10"] / len(scores), 5)


def list_beir() -> Iterator[Duel]:
    """Yield the size of a small BEIR data set, and a tiny one."""
    for queries, depth, judged in ((1, 2, 1), (300, 1_000, 40)):
        qrels, results = draw(queries, depth, judged)

        def ours(qrels: Any = qrels, results: Any = results) -> float:
            return beir.EvaluateRetrieval.evaluate(qrels, results, CUTS)[0]["NDCG@10"]

        def theirs(qrels: Any = qrels, results: Any = results) -> float:
            return average_as_beir(qrels, results)

        yield Duel(f"beir: {queries} queries x {depth:,}", ours, theirs)


def main() -> None:
    """Print a table of times and ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="rounds per contender")
    rounds = parser.parse_args().rounds
    table = Table("call", "peer", "berryeval.compat", "ratio", title="Floors and their peers")
    with tempfile.TemporaryDirectory() as folder:
        for duel in (*list_pytrec_eval(), *list_ir_measures(Path(folder)), *list_beir()):
            if abs(duel.ours() - duel.theirs()) > 1e-9:
                sys.exit(f"{duel.name}: the values differ")
            theirs, ours = fastest(duel.theirs, rounds), fastest(duel.ours, rounds)
            table.add_row(
                duel.name, f"{theirs * 1e3:.4f} ms", f"{ours * 1e3:.4f} ms", f"{theirs / ours:.1f}x"
            )
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
