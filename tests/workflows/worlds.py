"""A small benchmark, a scripted provider, and programs that run it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import berryeval as be
from berryeval.data.records import Anchor, Document, Judgment, Query
from berryeval.workflows.evaluation import evaluate
from berryeval.workflows.plan import Plan
from berryeval.workflows.run_folder import RunFolder

if TYPE_CHECKING:
    from berryeval.workflows.run_result import ProviderResult

ROOT = Path(__file__).parents[2]
LATE = 2.0  # seconds; who does not hang answers sooner, also where the machine is busy
PATIENT = {"warm_up": 0, "first_wait": 0.01, "longest_wait": 0.05, "error_budget": 1.0}


def benchmark(folder: Path, count: int, words: str = "apple pear plum fig") -> str:
    """Write a benchmark of `count` documents and queries; query n asks for document n."""
    kinds = words.split()
    made = be.Benchmark(
        "fruit",
        documents=tuple(
            Document(f"d{n}", f"Number {n} is a {kinds[n % len(kinds)]}.") for n in range(count)
        ),
        queries=tuple(
            Query(f"q{n}", f"number {n}", category=kinds[n % len(kinds)]) for n in range(count)
        ),
        judgments=tuple(Judgment(f"q{n}", Anchor(document=f"d{n}"), 1) for n in range(count)),
    )
    be.write_benchmark(made, folder / "fruit")
    return str(folder / "fruit")


def plan_of(source: str, *providers: Any, **settings: Any) -> Plan:
    """Build a plan on one benchmark."""
    data = {
        "benchmarks": [source],
        "providers": [{"chunker": "whole", **spec} for spec in providers],
        "k": 5,
        **settings,
        "run": {**PATIENT, **settings.get("run", {})},
    }
    return Plan.model_validate(data)


def results_of(plan: Plan, folder: Path, **options: Any) -> dict[str, ProviderResult]:
    """Return the results of the providers on the first benchmark."""
    (result,) = evaluate(plan, RunFolder(folder), **options).results
    return {one.name: one for one in result.providers}


def program(plan: Plan, folder: Path, instead: str = "") -> list[str]:
    """Return a command that runs the plan, or other code, in a new process."""
    lines = (
        "import json, logging, signal, sys",
        # Tests in the background of a shell hand down that it is ignored.
        "signal.signal(signal.SIGINT, signal.default_int_handler)",
        "logging.disable(logging.WARNING)",
        "import tests.workflows.scripted",
        "from berryeval.workflows.run_folder import RunFolder",
        "from berryeval.workflows.plan import Plan",
        "from berryeval.workflows.evaluation import evaluate",
        "plan = Plan.model_validate(json.loads(sys.argv[1]))",
        instead or "evaluate(plan, RunFolder(sys.argv[2]))",
    )
    text = json.dumps(plan.model_dump(mode="json"))
    return [sys.executable, "-c", "\n".join(lines), text, str(folder)]


def started(command: list[str]) -> subprocess.Popen[str]:
    """Start a command."""
    return subprocess.Popen(
        command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def asked(log: Path) -> list[str]:
    """Return the ids of the queries that the scripted provider was asked, in order."""
    return log.read_text(encoding="utf-8").split() if log.exists() else []
