"""The door of the package: `import berryeval as be`."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import berryeval as be

OFFERED = {
    "Benchmark", "BenchmarkResult", "Comparison", "FusionModel", "Metric", "OptimizedFusion",
    "Qrels", "Run", "Scores", "audit", "bounds", "compare", "compare_runs", "evaluate",
    "evaluate_hits", "fuse", "judging", "load_benchmark", "metric", "optimize_fusion",
    "parse_metric", "run_benchmark", "train_fusion", "write_benchmark", "write_report",
}  # fmt: skip


def test_the_package_offers_its_public_names() -> None:
    assert set(import_module("berryeval").__all__) == OFFERED
    assert set(dir(be)) >= OFFERED
    assert all(getattr(be, name).__doc__ for name in OFFERED)


def test_an_unknown_name_is_an_attribute_error() -> None:
    misspelt = "evalute"
    with pytest.raises(AttributeError, match="module 'berryeval' has no attribute 'evalute'"):
        getattr(be, misspelt)


def test_importing_the_package_is_cheap() -> None:
    script = (
        "import sys; before = set(sys.modules); import berryeval; berryeval.__version__; "
        "new = set(sys.modules) - before; "
        "print(sorted(m for m in new if m.startswith(('berryeval', 'numpy', 'rich', 'cyclopts'))))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout == "['berryeval', 'berryeval._internal', 'berryeval._internal.door']\n"
