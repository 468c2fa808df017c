"""BerryEval: exact, fast evaluation of retrieval.

    >>> import berryeval as be
    >>> scores = be.evaluate({"q": {"a": 1}}, {"q": {"a": 0.9, "b": 0.8}}, ["P@1", "AP"])
    >>> scores.mean["AP"]
    1.0

The innermost APIs are `berryeval.metrics` (integer ids in NumPy arrays) and
`berryeval.metrics.lists` (lists of string ids with graded judgments). What is offered here is
imported when it is first used, so that `import berryeval` costs next to nothing.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from berryeval.auditing import audit, bounds
    from berryeval.benchmarks import Benchmark, load_benchmark, write_benchmark
    from berryeval.engine import evaluate
    from berryeval.hit_engine import evaluate_hits
    from berryeval.measures import Measure, parse_measure
    from berryeval.measures import register as measure
    from berryeval.pipeline.comparing import compare_runs
    from berryeval.pipeline.reporting import write_report
    from berryeval.pipeline.run_result import BenchmarkResult
    from berryeval.pipeline.start import run_benchmark
    from berryeval.qrels import Qrels
    from berryeval.run import Run
    from berryeval.scores import Scores
    from berryeval.stats import Comparison, compare

__all__ = [
    "Benchmark",
    "BenchmarkResult",
    "Comparison",
    "Measure",
    "Qrels",
    "Run",
    "Scores",
    "__version__",
    "audit",
    "bounds",
    "compare",
    "compare_runs",
    "evaluate",
    "evaluate_hits",
    "load_benchmark",
    "measure",
    "parse_measure",
    "run_benchmark",
    "write_benchmark",
    "write_report",
]

__version__ = "0.1.0"

_HOMES = {
    "Benchmark": "benchmarks:Benchmark",
    "BenchmarkResult": "pipeline.run_result:BenchmarkResult",
    "Comparison": "stats:Comparison",
    "Measure": "measures:Measure",
    "Qrels": "qrels:Qrels",
    "Run": "run:Run",
    "Scores": "scores:Scores",
    "audit": "auditing:audit",
    "bounds": "auditing:bounds",
    "compare": "stats:compare",
    "compare_runs": "pipeline.comparing:compare_runs",
    "evaluate": "engine:evaluate",
    "evaluate_hits": "hit_engine:evaluate_hits",
    "load_benchmark": "benchmarks:load_benchmark",
    "measure": "measures:register",
    "parse_measure": "measures:parse_measure",
    "run_benchmark": "pipeline.start:run_benchmark",
    "write_benchmark": "benchmarks:write_benchmark",
    "write_report": "pipeline.reporting:write_report",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        msg = f"module {__name__!r} has no attribute {name!r}"
        raise AttributeError(msg)
    from importlib import import_module

    module, _, member = _HOMES[name].partition(":")
    value = globals()[name] = getattr(import_module(f"{__name__}.{module}"), member)
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
