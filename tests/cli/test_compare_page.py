"""The examples of docs/compare.md."""

from __future__ import annotations

import doctest
import io
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import berryeval as be
from berryeval.cli.compare import print_comparisons

PAGE = Path(__file__).parents[2] / "docs" / "compare.md"
SESSIONS: list[tuple[str, dict[str, Any]]] = [
    ("technical-docs", {"by": "category", "moved": 1}),
    ("spring-boot", {"metrics": ["nDCG@10", "P@5", "R@10"], "moved": 0}),
]


def session(benchmark: str, options: dict[str, Any]) -> str:
    """What the command prints on a terminal of 100 columns, without times, which differ."""
    result = be.run_benchmark(benchmark, ["bm25", "hybrid"])
    stream = io.StringIO()
    screen = Console(file=stream, width=100, markup=False, highlight=False, emoji=False)
    print_comparisons(screen, be.compare_runs(result, **options))
    shown = stream.getvalue().partition(f"{benchmark}: times and costs")[0]
    return "\n".join(line.rstrip() for line in shown.splitlines()).strip()


@pytest.mark.parametrize(("benchmark", "options"), SESSIONS)
def test_the_page_shows_the_real_output(benchmark: str, options: dict[str, Any]) -> None:
    assert session(benchmark, options) in PAGE.read_text(encoding="utf-8")


def test_the_python_lines_of_the_page_run() -> None:
    results = doctest.testfile(str(PAGE), module_relative=False, encoding="utf-8")
    assert results.attempted > 3
    assert results.failed == 0
