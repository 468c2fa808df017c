"""The floor of BEIR has its keys, denominators and rounding, over the values of pytrec_eval."""

from __future__ import annotations

import copy
from importlib import import_module
from typing import Any

import numpy as np
import pytest
import pytrec_eval

from berryeval.compat import beir
from berryeval.compat.beir import EvaluateRetrieval
from tests.compat.peers import Judgments, Rankings, draw

CUTS = [1, 3, 5, 10]
NAMES = {"NDCG": "ndcg_cut", "MAP": "map_cut", "Recall": "recall", "P": "P"}


def judged_part(seed: int) -> tuple[Judgments, Rankings]:
    qrels, run = draw(seed)
    return qrels, {query: row for query, row in run.items() if query in qrels}


@pytest.mark.parametrize("seed", range(15))
def test_evaluate_rounds_the_means_of_pytrec_eval(seed: int) -> None:
    qrels, run = draw(seed)
    wanted = {f"{name}.{','.join(map(str, CUTS))}" for name in NAMES.values()}
    scores = pytrec_eval.RelevanceEvaluator(qrels, wanted).evaluate(run)
    found = EvaluateRetrieval.evaluate(qrels, run, CUTS)
    for means, (shown, name) in zip(found, NAMES.items(), strict=True):
        assert list(means) == [f"{shown}@{k}" for k in CUTS]
        for k in CUTS:
            total = 0.0
            for values in scores.values():
                total += values[f"{name}_{k}"]
            assert means[f"{shown}@{k}"] == round(total / len(scores), 5)


def naive(metric: str, qrels: Judgments, run: Rankings, k: int) -> float:
    total = 0.0
    judged = {document for row in qrels.values() for document in row}
    for query, row in run.items():
        top = sorted(row.items(), key=lambda item: item[1], reverse=True)[:k]
        relevant = [place for place, (one, _) in enumerate(top, 1) if qrels[query].get(one, 0) > 0]
        possible = min(k, sum(grade > 0 for grade in qrels[query].values()))
        total += {
            "mrr": 1 / relevant[0] if relevant else 0.0,
            "acc": float(bool(relevant)),
            "r_cap": len(relevant) / possible,
            "hole": sum(document not in judged for document, _ in top) / k,
        }[metric]
    return round(total / len(qrels), 5)


@pytest.mark.parametrize("seed", range(15))
@pytest.mark.parametrize(
    ("metric", "shown"), [("mrr", "MRR"), ("acc", "Accuracy"), ("r_cap", "R_cap"), ("hole", "Hole")]
)
def test_custom_metrics_divide_by_all_judged_queries(metric: str, shown: str, seed: int) -> None:
    qrels, run = judged_part(seed)
    found = EvaluateRetrieval.evaluate_custom(qrels, run, CUTS, metric)
    assert found == {f"{shown}@{k}": naive(metric, qrels, run, k) for k in CUTS}


def test_documents_with_the_id_of_their_query_are_removed() -> None:
    qrels = {"a": {"b": 1}}
    results = {"a": {"a": 2.0, "b": 1.0}}
    kept = copy.deepcopy(results)
    assert EvaluateRetrieval.evaluate(qrels, kept, [1], ignore_identical_ids=False)[3] == {"P@1": 0}
    assert EvaluateRetrieval.evaluate(qrels, results, [1])[3] == {"P@1": 1.0}
    assert (kept, results) == ({"a": {"a": 2.0, "b": 1.0}}, {"a": {"b": 1.0}})


class Retriever:
    """A retriever that returns what it was asked."""

    def search(self, *asked: Any, **options: Any) -> Any:
        return asked, options


def test_a_retriever_is_asked_for_the_deepest_cutoff() -> None:
    evaluation = EvaluateRetrieval(Retriever(), [1, 7], score_function="dot")
    found: Any = evaluation.retrieve("corpus", "queries", x=1)
    assert found == (
        ("corpus", "queries", 7, "dot"),
        {"x": 1},
    )
    assert EvaluateRetrieval().top_k == 1000
    with pytest.raises(ValueError, match="retriever"):
        EvaluateRetrieval().retrieve({}, {})


def test_mistakes_are_errors() -> None:
    with pytest.raises(ValueError, match="unknown metric"):
        EvaluateRetrieval.evaluate_custom({}, {}, [1], "ndcg")
    with pytest.raises(ValueError, match="judged"):
        EvaluateRetrieval.evaluate({"q": {"d": 1}}, {"p": {"d": 1.0}}, [1])
    with pytest.raises(KeyError):
        beir.mrr({"q": {"d": 1}}, {"p": {"d": 1.0}}, [1])
    with pytest.raises(TypeError):
        EvaluateRetrieval.evaluate({"q": {"d": 1}}, {"q": {"d": "high"}}, [1])


def test_a_query_without_relevant_documents_adds_nothing_to_capped_recall() -> None:
    assert beir.recall_cap({"q": {"d": 0}}, {"q": {"d": 1.0}}, [1]) == {"R_cap@1": 0.0}


@pytest.mark.parametrize("grade", [np.int64(1), 1.0, np.float32(1.0), True])
def test_custom_metrics_take_any_whole_grade(grade: Any) -> None:
    qrels = {"q": {"a": 0, "b": grade}}
    run = {"q": {"a": np.float32(2.0), "b": np.int64(1)}}
    assert beir.mrr(qrels, run, [2]) == {"MRR@2": 0.5}
    assert beir.recall_cap(qrels, run, [2]) == {"R_cap@2": 1.0}
    assert beir.top_k_accuracy(qrels, run, [1]) == {"Accuracy@1": 0.0}


def test_a_grade_that_is_no_whole_number_is_a_type_error() -> None:
    half: Any = {"q": {"a": 0.5}}
    with pytest.raises(TypeError, match=r"must be an int, found float 0\.5"):
        beir.mrr(half, {"q": {"a": 1.0}}, [1])


def test_the_modules_have_the_paths_of_the_peer() -> None:
    evaluation = import_module("berryeval.compat.beir.retrieval.evaluation")
    assert evaluation.EvaluateRetrieval is EvaluateRetrieval
    assert import_module("berryeval.compat.beir.retrieval.custom_metrics").mrr is beir.mrr


@pytest.mark.parametrize(
    ("module", "way"),
    [
        ("datasets.data_loader", "load_benchmark"),
        ("util.download", "load_benchmark"),
        ("retrieval.search.dense", "run_benchmark"),
        ("reranking.rerank", "provider rerank"),
    ],
)
def test_what_is_missing_names_the_native_way(module: str, way: str) -> None:
    with pytest.raises(ImportError, match=way):
        import_module(f"berryeval.compat.beir.{module}")


def test_imports_of_other_parts_name_the_native_way() -> None:
    with pytest.raises(ImportError, match="StreamHandler"):
        _ = beir.LoggingHandler  # type: ignore[attr-defined]
    with pytest.raises(ImportError, match="run_benchmark"):
        _ = import_module("berryeval.compat.beir.retrieval").models
