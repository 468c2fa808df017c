"""`EvaluateRetrieval` and the metrics of BEIR 2, with its keys, denominators and rounding.

Means of `evaluate` divide by the judged queries of the results, those of `evaluate_custom` by all
judged queries, as in BEIR. docs/migrating.md explains both.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from berryeval._internal.door import name_ways
from berryeval.compat.lenient_scorer import LenientScorer
from berryeval.compat.pytrec_eval import RelevanceEvaluator
from berryeval.data import RankingRule
from berryeval.errors import ConfigurationError, DataError, MetricError
from berryeval.metrics import definitions
from berryeval.scoring import DictPlan

logger = logging.getLogger(__name__)

Rows: TypeAlias = dict[str, dict[str, Any]]
Means: TypeAlias = dict[str, float]

_GIVEN_ORDER: Final = RankingRule("given order")
_FAMILIES: Final = (("NDCG", "ndcg_cut"), ("MAP", "map_cut"), ("Recall", "recall"), ("P", "P"))
_DEPTHS: Final = (1, 3, 5, 10, 100, 1000)


class EvaluateRetrieval:
    """Ask a retriever, and score its results.

    Args:
        retriever: Object with the method `search(corpus, queries, top_k, score_function, ...)`.
        k_values: Cutoffs; the highest is the number of documents to ask for.
        score_function: Passed to the retriever.
    """

    def __init__(
        self,
        retriever: Any = None,
        k_values: Sequence[int] = _DEPTHS,
        score_function: str | None = "cos_sim",
    ) -> None:
        self.k_values = list(k_values)
        self.top_k = max(k_values)
        self.retriever = retriever
        self.score_function = score_function

    def _require_retriever(self) -> Any:
        if not self.retriever:
            raise ConfigurationError(
                "no retriever was given; berryeval.run_benchmark asks and scores providers"
            )
        return self.retriever

    def retrieve(self, corpus: Any, queries: Any, **kwargs: Any) -> Rows:
        """Return the results of the retriever."""
        search = self._require_retriever().search
        found: Rows = search(corpus, queries, self.top_k, self.score_function, **kwargs)
        return found

    def encode_and_retrieve(
        self,
        corpus: Any,
        queries: Any,
        encode_output_path: str = "./embeddings/",
        overwrite: bool = False,
        query_filename: str = "queries.pkl",
        corpus_filename: str = "corpus.*.pkl",
        **kwargs: Any,
    ) -> Rows:
        """Let the retriever write embeddings, and search in those files."""
        retriever = self._require_retriever()
        retriever.encode(
            corpus, queries, encode_output_path=encode_output_path, overwrite=overwrite,
            query_filename=query_filename, corpus_filename=corpus_filename, **kwargs,
        )  # fmt: skip
        files = sorted(map(str, Path(encode_output_path).glob(corpus_filename)))
        found: Rows = retriever.search_from_files(
            query_embeddings_file=f"{encode_output_path}/{query_filename}",
            corpus_embeddings_files=files,
            top_k=self.top_k,
            **kwargs,
        )
        return found

    @staticmethod
    def evaluate(
        qrels: Mapping[str, Mapping[str, int]],
        results: Rows,
        k_values: Sequence[int],
        ignore_identical_ids: bool = True,
    ) -> tuple[Means, Means, Means, Means]:
        """Return nDCG, MAP, recall and precision at each cutoff.

        `ignore_identical_ids` removes documents with the id of their query from `results`.
        """
        if ignore_identical_ids:
            logger.info("documents with the id of their query are removed from the results")
            for query, row in results.items():
                row.pop(query, None)
        measures, names, shown = _columns(tuple(k_values))
        scores = RelevanceEvaluator(qrels, measures).evaluate(results)
        if not scores:
            raise DataError("no query of the results is judged; do the query ids fit?")
        columns = zip(*([row[name] for name in names] for row in scores.values()), strict=True)
        means = iter([_mean(column, len(scores)) for column in columns])
        ndcg, average, recall, precision = (
            {name: next(means) for name in family} for family in shown
        )
        _log(ndcg, average, recall, precision)
        return ndcg, average, recall, precision

    @staticmethod
    def evaluate_custom(
        qrels: Mapping[str, Mapping[str, int]],
        results: Rows,
        k_values: Sequence[int],
        metric: str,
    ) -> Means:
        """Return a metric by one of its names: MRR, capped recall, holes or accuracy."""
        try:
            compute = _CUSTOM[metric.lower()]
        except KeyError:
            raise MetricError(
                f"unknown metric {metric!r}; BEIR has {', '.join(_CUSTOM)}, and berryeval.evaluate "
                "has more"
            ) from None
        return compute(qrels, results, k_values)


@lru_cache(maxsize=64)
def _columns(
    k_values: tuple[int, ...],
) -> tuple[frozenset[str], list[str], list[list[str]]]:
    """Return the measures, the names of their values, and the names of BEIR by family."""
    cuts = ",".join(map(str, k_values))
    return (
        frozenset(f"{name}.{cuts}" for _, name in _FAMILIES),
        [f"{name}_{k}" for _, name in _FAMILIES for k in k_values],
        [[f"{shown}@{k}" for k in k_values] for shown, _ in _FAMILIES],
    )


def mrr(qrels: Mapping[str, Mapping[str, int]], results: Rows, k_values: Sequence[int]) -> Means:
    """Return the mean reciprocal rank at each cutoff; ties stay in the given order."""
    return _average("MRR", "RR", qrels, results, k_values)


def top_k_accuracy(
    qrels: Mapping[str, Mapping[str, int]], results: Rows, k_values: Sequence[int]
) -> Means:
    """Return the share of queries with a relevant document at each cutoff."""
    return _average("Accuracy", "Success", qrels, results, k_values)


def recall_cap(
    qrels: Mapping[str, Mapping[str, int]], results: Rows, k_values: Sequence[int]
) -> Means:
    """Return recall that a full ranking can reach: relevant documents over the lower of R and k."""
    found = _score("P", qrels, results, k_values)
    plan = DictPlan({"R": definitions()["NumRel"]()}, _GIVEN_ORDER)
    counts = LenientScorer(qrels, plan).score({query: {} for query in found})
    means = {}
    for k in k_values:
        values = [
            round(row[str(k)] * k) / min(counts[query]["R"], k)
            for query, row in found.items()
            if counts[query]["R"]
        ]
        means[f"R_cap@{k}"] = _mean(values, len(qrels))
    _log(means)
    return means


def hole(qrels: Mapping[str, Mapping[str, int]], results: Rows, k_values: Sequence[int]) -> Means:
    """Return the share of documents at each cutoff that are judged for no query."""
    known = {document for row in qrels.values() for document in row}
    holes: dict[int, list[float]] = {k: [] for k in k_values}
    for row in results.values():
        ranked = sorted(row, key=row.__getitem__, reverse=True)[: max(k_values)]
        for k in k_values:
            holes[k].append(sum(document not in known for document in ranked[:k]) / k)
    means = {f"Hole@{k}": _mean(values, len(qrels)) for k, values in holes.items()}
    _log(means)
    return means


_CUSTOM: Final[dict[str, Callable[..., Means]]] = {
    **dict.fromkeys(("mrr", "mrr@k", "mrr_cut"), mrr),
    **dict.fromkeys(("recall_cap", "r_cap", "r_cap@k"), recall_cap),
    **dict.fromkeys(("hole", "hole@k"), hole),
    **dict.fromkeys(
        ("acc", "top_k_acc", "accuracy", "accuracy@k", "top_k_accuracy"), top_k_accuracy
    ),
}


def _average(
    shown: str,
    name: str,
    qrels: Mapping[str, Mapping[str, int]],
    results: Rows,
    k_values: Sequence[int],
) -> Means:
    found = _score(name, qrels, results, k_values)
    means = {
        f"{shown}@{k}": _mean([row[str(k)] for row in found.values()], len(qrels)) for k in k_values
    }
    _log(means)
    return means


def _score(
    name: str, qrels: Mapping[str, Mapping[str, int]], results: Rows, k_values: Sequence[int]
) -> dict[str, dict[str, float]]:
    unknown = next((query for query in results if query not in qrels), None)
    if unknown is not None:
        raise KeyError(unknown)
    metrics = {str(k): definitions()[name](cutoff=k) for k in k_values}
    return LenientScorer(qrels, DictPlan(metrics, _GIVEN_ORDER)).score(results)


def _mean(values: Sequence[float], count: int) -> float:
    total = 0.0  # one by one, as BEIR adds: sum() rounds less from Python 3.12 on
    for value in values:
        total += value
    return round(total / count, 5)


def _log(*families: Means) -> None:
    if not logger.isEnabledFor(logging.INFO):
        return
    for means in families:
        for name, value in means.items():
            logger.info("%s: %.4f", name, value)


# In BEIR these are modules, as in `from beir.retrieval.evaluation import EvaluateRetrieval`.
_PARTS: Final = ("retrieval", "retrieval.evaluation", "retrieval.custom_metrics")
sys.modules.update({f"{__package__}.{part}": sys.modules[__name__] for part in _PARTS})
_SEARCH: Final = "berryeval.run_benchmark searches with the providers of docs/providers.md"
if not TYPE_CHECKING:
    __getattr__ = name_ways(
        f"{__package__}.retrieval",
        {
            "apis": _SEARCH,
            "models": _SEARCH,
            "search": _SEARCH,
            "train": "models are trained with other packages",
        },
    )
