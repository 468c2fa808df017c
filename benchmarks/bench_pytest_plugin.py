"""Measure the cost of the pytest plugin for a suite that does not use it.

    python benchmarks/bench_pytest_plugin.py [tests] [repetitions]

The two are run in turns, each in a process of its own, with no other plugin from outside; without
ours an empty plugin is loaded, as `-p` itself looks through what is installed. For POSIX systems.
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

EMPTY = "empty_plugin"
PLUGIN = "berryeval.pytest_plugin.hooks"
IMPORT = (
    "import {0}; import time; t = time.perf_counter(); import {1}; print(time.perf_counter() - t)"
)


def seconds(folder: str, arguments: list[str]) -> float:
    """Return the CPU time of one run of the suite."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments, folder]
    ours = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": folder}
    before = _children()
    subprocess.run(command, env={**os.environ, **ours}, check=True, stdout=subprocess.DEVNULL)
    return _children() - before


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def import_seconds() -> float:
    """Time the import of the plugin in a process that has loaded pytest."""
    code = IMPORT.format("pytest", PLUGIN)
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout)


def main(tests: int = 2000, repetitions: int = 9) -> None:
    """Print medians, and the spread of identical runs."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        lines = "".join(f"def test_{number}(): pass\n" for number in range(tests))
        (Path(folder) / "test_many.py").write_text(lines, encoding="utf-8")
        (Path(folder) / f"{EMPTY}.py").write_text("", encoding="utf-8")
        seconds(folder, ["-p", PLUGIN])  # what is compiled once is compiled now
        without, with_it = [], []
        for _ in range(repetitions):
            without.append(seconds(folder, ["-p", EMPTY]))
            with_it.append(seconds(folder, ["-p", PLUGIN]))
    imports = [import_seconds() for _ in range(repetitions)]
    base, ours = statistics.median(without), statistics.median(with_it)
    spread = statistics.quantiles(without, n=4)
    print(f"{tests} empty tests, {repetitions} runs each, CPU seconds")
    print(f"without the plugin  {base:.3f}  (middle half {spread[0]:.3f} to {spread[2]:.3f})")
    print(f"with the plugin     {ours:.3f}  ({ours - base:+.3f} s, {ours / base - 1:+.1%})")
    print(f"its import          {statistics.median(imports) * 1000:.2f} ms")
    print(f"measured in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
