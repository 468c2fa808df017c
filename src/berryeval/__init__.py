"""BerryEval: exact, fast evaluation of retrieval.

    >>> import berryeval as be
    >>> scores = be.evaluate({"q": {"a": 1}}, {"q": {"a": 0.9, "b": 0.8}}, ["P@1", "AP"])
    >>> scores.mean["AP"]
    1.0

The innermost APIs are `berryeval.metrics` (integer ids in NumPy arrays) and
`berryeval.metrics.lists` (lists of string ids with graded judgments). Names offered here are
imported on first use, so `import berryeval` costs next to nothing.
"""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval import judging
    from berryeval.benchmarks import Benchmark, load_benchmark, write_benchmark
    from berryeval.data import Qrels, Run
    from berryeval.fusion import FusionModel, fuse, train_fusion
    from berryeval.metrics import Metric, parse_metric
    from berryeval.metrics import register as metric
    from berryeval.scoring import Scores, audit, bounds, evaluate, evaluate_hits
    from berryeval.stats import Comparison, compare
    from berryeval.workflows import (
        BenchmarkResult,
        OptimizedFusion,
        compare_runs,
        optimize_fusion,
        run_benchmark,
        write_report,
    )

    __all__ = [
        "Benchmark",
        "BenchmarkResult",
        "Comparison",
        "FusionModel",
        "Metric",
        "OptimizedFusion",
        "Qrels",
        "Run",
        "Scores",
        "audit",
        "bounds",
        "compare",
        "compare_runs",
        "evaluate",
        "evaluate_hits",
        "fuse",
        "judging",
        "load_benchmark",
        "metric",
        "optimize_fusion",
        "parse_metric",
        "run_benchmark",
        "train_fusion",
        "write_benchmark",
        "write_report",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)

__version__ = "0.1.0"
