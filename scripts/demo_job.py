"""Run a small job with an installed BerryEval: evaluate, compare, set a gate, report, score files.

    python scripts/demo_job.py native

`make dist` and the release run it on every wheel. It stops at the first command that fails, or if
the backend is not the given one.
"""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Final

QRELS: Final = "q1 0 d1 1\nq1 0 d2 0\nq2 0 d3 2\n"
RUN: Final = "q1 Q0 d1 1 9 demo\nq1 Q0 d2 2 8 demo\nq2 Q0 d3 1 7 demo\n"
COMMANDS: Final = """\
eval --benchmarks rag-template --providers bm25 bm25:fixed-400 --quiet
compare latest --baseline bm25 --quiet
baseline set latest
gate latest --baseline berryeval-baseline.json --max-drop nDCG@10=0.01
report latest --format markdown
runs show latest
score qrels.txt demo.run -m nDCG@10 AP
"""


def call(folder: Path, *words: str) -> str:
    """Run a command of the package in a folder and return its output."""
    outside = {name: text for name, text in os.environ.items() if name != "PYTHONPATH"}
    line = [sys.executable, "-m", "berryeval", *words]
    done = subprocess.run(
        line, cwd=folder, env=outside, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"berryeval {shlex.join(words)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def main() -> None:
    """Run the job and print the version, the backend and the score."""
    wanted = sys.argv[1]
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "qrels.txt").write_text(QRELS, encoding="utf-8")
        (folder / "demo.run").write_text(RUN, encoding="utf-8")
        found = json.loads(call(folder, "version", "--json"))["data"]
        if found["backend"] != wanted:
            problem = found["native_problem"]
            raise SystemExit(f"found the backend {found['backend']}, expected {wanted}: {problem}")
        outputs = [call(folder, *shlex.split(line)) for line in COMMANDS.splitlines()]
        if "1.000" not in outputs[-1]:
            raise SystemExit(f"berryeval score: expected a perfect run, found\n{outputs[-1]}")
        if not list(folder.glob(".berryeval/runs/*/report.html")):
            raise SystemExit("berryeval eval: expected report.html in the run folder")
    print(f"berryeval {found['version']} ({wanted}): {len(outputs)} commands passed")


if __name__ == "__main__":
    main()
