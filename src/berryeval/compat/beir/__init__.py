"""The evaluation of BEIR 2: `EvaluateRetrieval` and the custom metrics."""

from typing import TYPE_CHECKING

from berryeval._internal.door import name_ways
from berryeval.compat.beir.retrieval_evaluation import (
    EvaluateRetrieval,
    hole,
    mrr,
    recall_cap,
    top_k_accuracy,
)

__all__ = [  # for `import *`
    "EvaluateRetrieval",
    "hole",
    "mrr",
    "recall_cap",
    "top_k_accuracy",
]

if not TYPE_CHECKING:
    __getattr__ = name_ways(
        __name__,
        {
            "LoggingHandler": "use logging.StreamHandler",
            "datasets": "berryeval.benchmarks.load_benchmark(FOLDER) reads folders of BEIR",
            "generation": "berryeval generate makes queries from a corpus",
            "losses": "models are trained with other packages",
            "reranking": "use the provider rerank in berryeval.run_benchmark",
            "util": "berryeval.benchmarks.load_benchmark('mteb:scifact') downloads a dataset",
        },
    )
