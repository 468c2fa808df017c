"""The door of the package: `import berryeval as be`."""

from __future__ import annotations

import subprocess
import sys

import pytest

import berryeval as be
from berryeval import benchmarks, engine, hit_engine, measures, qrels, run, scores, stats
from berryeval.auditing import audit, bounds
from berryeval.pipeline.comparing import compare_runs
from berryeval.pipeline.reporting import write_report
from berryeval.pipeline.run_result import BenchmarkResult
from berryeval.pipeline.start import run_benchmark


def test_the_facade_offers_the_real_things() -> None:
    """Every name is the object of its home."""
    homes = {
        "evaluate": engine.evaluate, "Qrels": qrels.Qrels, "Run": run.Run, "Scores": scores.Scores,
        "Measure": measures.Measure, "parse_measure": measures.parse_measure,
        "measure": measures.register, "audit": audit, "bounds": bounds,
        "Benchmark": benchmarks.Benchmark, "load_benchmark": benchmarks.load_benchmark,
        "write_benchmark": benchmarks.write_benchmark, "evaluate_hits": hit_engine.evaluate_hits,
        "compare": stats.compare, "Comparison": stats.Comparison,
        "BenchmarkResult": BenchmarkResult, "run_benchmark": run_benchmark,
        "write_report": write_report, "compare_runs": compare_runs,
    }  # fmt: skip
    assert set(homes) | {"__version__"} == set(be.__all__)
    for name, value in homes.items():
        assert getattr(be, name) is value
    assert set(be.__all__) <= set(dir(be))


def test_an_unknown_name_is_an_attribute_error() -> None:
    """As with any module."""
    with pytest.raises(AttributeError, match="module 'berryeval' has no attribute 'evalute'"):
        _ = be.evalute


def test_importing_the_package_is_cheap() -> None:
    """Nothing of ours but the door is imported, and NumPy not at all."""
    script = (
        "import sys; before = set(sys.modules); import berryeval; berryeval.__version__; "
        "new = set(sys.modules) - before; "
        "print(sorted(m for m in new if m.startswith(('berryeval', 'numpy', 'rich', 'cyclopts'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['berryeval']\n"
