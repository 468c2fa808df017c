"""Scores of Spark DataFrames: the bytes of `berryeval.evaluate`, computed in the executors.

scores = berryeval.spark.evaluate(judgments, run, ["nDCG@10", "AP"])
scores.mean["nDCG@10"], scores.per_query.write.parquet("per_query")
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.spark.batch_scoring import score_batches
    from berryeval.spark.cluster_scoring import evaluate
    from berryeval.spark.replicates import ClusterComparison, compare
    from berryeval.spark.spark_files import score_spark_files
    from berryeval.spark.spark_scores import SparkScores

    __all__ = [
        "ClusterComparison",
        "SparkScores",
        "compare",
        "evaluate",
        "score_batches",
        "score_spark_files",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
