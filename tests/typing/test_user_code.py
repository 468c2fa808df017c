"""Code as users write it: type checkers know every type, and it runs.

`make types` checks this file with mypy and pyright, both strict. An import fails there if its name
is not public, and `assert_type` if a type is unknown or Any.
"""

# pyright: strict

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import berryeval as be
from berryeval import Qrels, Run, Scores, __version__
from berryeval.data import Chunk, Hit, JudgedRanking, Query
from berryeval.errors import BerryEvalError
from berryeval.metrics import BACKEND, evaluate_arrays, ndcg
from berryeval.metrics.lists import RelevanceJudgment, compute_all
from berryeval.providers import Provider

QRELS = {"q1": {"d1": 2, "d2": 1}, "q2": {"d7": 1}}
RUN = {"q1": {"d1": 9.2, "d5": 8.1}, "q2": {"d7": 3.0}}


@be.metric("FoundByUser", text="number of relevant documents found", aggregate="sum")
def found(judged: JudgedRanking, *, rel: float = 1.0) -> int:
    """Number of relevant documents found."""
    return len(judged.relevant_ranks(rel))


class FirstChunks(Provider):
    """Return the first chunks for every query."""

    def index(self, chunks: Sequence[Chunk]) -> None:
        """Keep the chunks."""
        self._chunks = list(chunks)

    def search(self, query: Query, k: int) -> list[Hit]:
        """Return the first `k` chunks."""
        assert_type(query.text, str)
        return [Hit(one.id, 1.0 / (rank + 1)) for rank, one in enumerate(self._chunks[:k])]


def test_scores() -> None:
    scores = be.evaluate(QRELS, RUN, ["nDCG@10", "AP", "FoundByUser"])
    assert_type(scores, Scores)
    assert_type(scores.mean["AP"], float)
    assert_type(scores.per_query("AP"), dict[str, float])
    assert_type(scores.queries, tuple[str, ...])
    low, high = scores.ci("AP")
    assert_type(low, float)
    assert_type(high, float)
    assert BACKEND in {"native", "python"}
    assert __version__.count(".")


def test_data() -> None:
    qrels = Qrels.from_dict(QRELS)
    run = Run.from_dict(RUN, name="mine")
    assert_type(qrels, Qrels)
    assert_type(run, Run)
    assert_type(run.name, str)
    assert_type(be.fuse([run, run], method="rrf"), Run)


def test_comparison() -> None:
    tables = {"old": be.evaluate(QRELS, RUN, ["RR"]), "new": be.evaluate(QRELS, RUN, ["RR"])}
    comparison = be.compare(tables, baseline="old")
    assert_type(comparison, be.Comparison)
    assert_type(comparison.row("RR").wins, int)


def test_job() -> None:
    result = be.run_benchmark("rag-template", providers=["bm25", FirstChunks()], metrics=["RR"])
    assert_type(result, be.BenchmarkResult)
    assert_type(result["bm25"].scores, Scores)
    assert_type(result["bm25"].outcomes, Mapping[str, int])


def test_arrays_and_lists() -> None:
    retrieved = np.array([[1, 2, 3]], dtype=np.int32)
    relevant = np.array([[1, 3, -1]], dtype=np.int32)
    values: npt.NDArray[np.float32] = ndcg(retrieved, relevant, 3)
    assert values.shape == (1,)
    assert set(evaluate_arrays(retrieved, relevant, ["mrr"])) == {"mrr"}
    scores = compute_all(["a", "b"], [RelevanceJudgment("a", 2)], k=2)
    assert_type(scores.ndcg, float)


def test_errors() -> None:
    try:
        be.load_benchmark("no such benchmark")
    except BerryEvalError as error:
        assert_type(str(error), str)
