"""Records of small runs, and programs that write them in other processes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from berryeval.data.records import Query
from berryeval.runs.answers import AnswerRecord, HitRecord, MissedTarget, Passage
from berryeval.runs.record import BenchmarkRecord, ProviderRecord, RunRecord
from berryeval.runs.stages import Latency
from berryeval.scoring.scores import Scores

if TYPE_CHECKING:
    from berryeval.scoring.scores import Outcome

ROOT = Path(__file__).parents[2]


def scores_of(values: list[list[float]], metrics: tuple[str, ...], name: str = "bm25") -> Scores:
    """Build scores from these values, one row per metric."""
    count = len(values[0])
    answered: Outcome = "ok"
    return Scores(
        metrics=metrics,
        queries=tuple(f"q{n:04}" for n in range(count)),
        values=np.array(values, dtype=np.float64),
        aggregates=("mean",) * len(metrics),
        outcomes=(answered,) * count,
        counts=np.array([[3, 2, 1, 1]] * count, dtype=np.int64),
        run_name=name,
    )


def run_of(
    number: int = 0,
    *,
    queries: int = 5,
    content_hash: str = "sha256:1",
    providers: tuple[str, ...] = ("bm25", "dense"),
    name: str = "",
) -> RunRecord:
    """Build the run of a number: an hour after the previous one, with its own values."""
    drawn = np.random.default_rng(number)
    part = BenchmarkRecord(
        "fruit",
        content_hash,
        5,
        tuple(Query(f"q{n:04}", f"number {n}?", category="odd" if n % 2 else "even")
              for n in range(queries)),
        tuple(_provider(one, drawn, queries) for one in providers),
        (Passage("An apple.", "apple > Top"), Passage("A \u2014 \0 \ud83c \U0001f350.")),
        {"RR": 0.5},
        ("made by hand",),
        extra={"colour": "red"},
    )  # fmt: skip
    day, hour = divmod(number, 24)
    return RunRecord(
        name or f"run-{number:04}",
        f"2026-{1 + day // 28:02}-{1 + day % 28:02}T{hour:02}:00:00+00:00",
        (part,),
        {"benchmarks": ["fruit"], "k": 5},
        f"sha256:{number}",
        {"berryeval": "0.1.0"},
        {"note": "kept"},
    )


def _provider(name: str, drawn: np.random.Generator, queries: int) -> ProviderRecord:
    values = drawn.random((2, queries)).tolist()
    return ProviderRecord(
        name,
        name,
        "section",
        scores_of(values, ("nDCG@10", "RR"), name),
        scores_of(drawn.random((1, queries)).tolist(), ("R@5",), name),
        tuple(drawn.random(11).tolist()),
        tuple(
            AnswerRecord(
                f"q{n:04}",
                "ok",
                (HitRecord("a", 1 / 3, 1.0, passage=0), HitRecord("b", 0.1, None, again=True)),
                (MissedTarget("c", 2.0),),
                0.1 + 0.2,
            )
            for n in range(queries)
        ),
        {"ok": queries},
        Latency(0.1, 0.2, 0.3, 1 / 3),
        ("a warning",),
    )


def program(*lines: str, arguments: tuple[str, ...] = ()) -> subprocess.Popen[str]:
    """Start a program that can use this module."""
    first = ("import sys, os", "from berryeval.runs import open_store",
             "from tests.runs.kept import run_of")  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", "\n".join((*first, *lines)), *arguments],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def ended(running: subprocess.Popen[str]) -> str:
    """Wait for a program to succeed and return its output."""
    out, err = running.communicate(timeout=120)
    assert running.returncode == 0, err
    return out
