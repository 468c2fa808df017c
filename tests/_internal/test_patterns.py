"""No regular expression of the package takes more than linear time."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from tests._internal.patterns import LENGTH, find_patterns, make_texts


def run_patterns() -> list[str]:
    """Try every pattern in child processes, and return those that took too long."""
    slow: list[str] = []
    first = 0
    while True:
        child = subprocess.run(
            [sys.executable, "-m", "tests._internal.patterns", str(first)],
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        last = child.stdout.splitlines()[-1]
        if last == "done":
            return slow
        assert child.returncode < 0, child.stderr
        slow.append(last)
        first = int(last.split()[0]) + 1


def test_every_pattern_is_linear() -> None:
    """Each gets texts of 10⁵ characters made from itself; a quadratic one exceeds its CPU time."""
    assert run_patterns() == []


def test_patterns_are_found() -> None:
    patterns = find_patterns()
    found = {used.where.partition(":")[0] for used in patterns}
    assert {"_internal/secrets.py", "benchmarks/documents.py", "metrics/grammar.py"} <= found
    assert len(patterns) >= 100


@pytest.mark.parametrize(
    ("pattern", "wanted"),
    [
        (r"<DOCNO>\s*(.*?)\s*</DOCNO>", "<DOCNO>" + " " * LENGTH),
        (r"<TEXT>(.*?)</TEXT>", "<TEXT>" * (LENGTH // 6)),
        (r"x(?:a|b)+c", "x" + "a" * LENGTH + "\0"),
        (r"[0-9]+\.?[0-9]*", "0" * LENGTH + "\0"),
    ],
)
def test_texts_attack_a_pattern(pattern: str, wanted: str) -> None:
    assert wanted in set(make_texts(re.compile(pattern)))
