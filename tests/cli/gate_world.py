"""Run files for the tests of `berryeval gate` and `berryeval baseline`."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from berryeval.cli.app import build_app, run
from berryeval.runs.stages import Latency
from tests.gates.worlds import run_of

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

_SEED = 7
_QUERIES = 40


def write_runs(folder: Path) -> None:
    """Write runs named after their change since `before`, each to NAME.json."""
    drawn = np.random.default_rng(_SEED)
    ndcg, rank = drawn.uniform(0.3, 0.9, (2, _QUERIES)).round(3)
    small = drawn.normal(0, 0.25, _QUERIES)
    times = Latency(0.010, 0.030, 0.045, 0.060)
    changes = {
        "before": ndcg,
        "same": ndcg,
        "worse": np.clip(ndcg - 0.15, 0, 1).round(3),
        "noisy": np.clip(ndcg - 0.03 + small, 0, 1).round(3),
    }
    for name, values in changes.items():
        record = run_of({"nDCG@10": values, "RR": rank}, name=name, latency=times)
        _write(folder, name, record.dumps())
    other = run_of({"nDCG@10": ndcg, "RR": rank}, name="other-data", content_hash="sha256:two")
    _write(folder, "other-data", other.dumps())
    _write(folder, "failed", run_of(None, name="failed").dumps())
    few = run_of({"nDCG@10": ndcg[:10], "RR": rank[:10]}, name="few")
    _write(folder, "few", few.dumps())
    two = run_of({"nDCG@10": ndcg, "RR": rank}, name="two")
    (part,) = two.benchmarks
    both = (*part.providers, replace(part.providers[0], name="hybrid"))
    _write(folder, "two", replace(two, benchmarks=(replace(part, providers=both),)).dumps())
    gone = replace(both[1], scores=None, standard=None, failure="the server went away")
    lost = replace(two, id="two-lost", benchmarks=(replace(part, providers=(both[0], gone)),))
    _write(folder, "two-lost", lost.dumps())
    errors = run_of({"nDCG@10": ndcg}, name="errors", outcomes={"ok": 36, "error": 4})
    _write(folder, "errors", errors.dumps())
    _write(folder, "empty", replace(few, id="empty", benchmarks=()).dumps())


def _write(folder: Path, name: str, text: str) -> None:
    (folder / f"{name}.json").write_text(text, encoding="utf-8")


def outcome_of(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    """Run a command; return its line, output and exit code as in golden files."""
    code = run(build_app(), list(arguments))
    shown = capsys.readouterr()
    lines = [f"$ berryeval {' '.join(arguments)}", shown.out.rstrip(), shown.err.rstrip()]
    return "\n".join(line for line in lines if line) + f"\nexit code {code}\n"
