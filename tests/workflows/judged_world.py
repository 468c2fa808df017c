"""A benchmark of sixty queries, a run of two systems, and the votes of three judges."""

from __future__ import annotations

import json
import random
from pathlib import Path

from berryeval.benchmarks import Benchmark, write_benchmark
from berryeval.data import Anchor, Document, Judgment, Query
from berryeval.judging import Ledger, Vote
from tests.cli.eval_world import berryeval

COUNT = 60
HUMAN = 40  # queries that people judged
WORDS = ("alpha", "beta", "gamma", "delta")
CONFIG = """\
benchmarks: [quiz]
metrics: ["nDCG@5", "P@2"]
providers:
  - {type: run-file, name: old, chunker: whole, options: {path: old.json}}
  - {type: run-file, name: new, chunker: whole, options: {path: new.json}}
"""


def write_world(folder: Path) -> None:
    """Write the benchmark, and run both systems; `new` ranks good documents higher."""
    rng = random.Random(3)
    documents = tuple(
        Document(f"d{place}-{rank}", f"Text {rank} about {place} {WORDS[rank]}.")
        for place in range(COUNT)
        for rank in range(4)
    )
    queries = tuple(
        Query(f"q{place}", f"What about {place}?", category=("easy", "hard")[place % 2])
        for place in range(COUNT)
    )
    known = tuple(
        Judgment(f"q{place}", Anchor(document=f"d{place}-0"), 3) for place in range(COUNT)
    )
    write_benchmark(Benchmark("quiz", documents, queries, known), folder / "quiz")
    for name, skill in (("old", 0.2), ("new", 0.6)):
        rankings = {}
        for place in range(COUNT):
            order = sorted(range(4), key=lambda rank: rank * skill + rng.random())
            rankings[f"q{place}"] = {f"d{place}-{rank}": 4.0 - at for at, rank in enumerate(order)}
        (folder / f"{name}.json").write_text(json.dumps(rankings), encoding="utf-8")
    (folder / "berryeval.yaml").write_text(CONFIG, encoding="utf-8")
    assert berryeval("eval", "--output", "run", "-q") == 0


def list_votes(
    judge: str,
    seed: int,
    *,
    kind: str = "human",
    noise: float = 0.1,
    bias: float = 0,
    queries: range = range(HUMAN),
    ranks: range = range(1, 4),
) -> list[Vote]:
    """Return the votes of a judge, who sees 3 - rank plus noise and bias."""
    rng = random.Random(seed)
    votes = []
    for place in queries:
        for rank in ranks:
            grade = 3 - rank + bias + (rng.choice((-1, 1)) if rng.random() < noise else 0)
            target = Anchor(document=f"d{place}-{rank}")
            votes.append(Vote(f"q{place}", target, min(3, max(0, round(grade))), judge, kind))  # type: ignore[arg-type]
    return votes


def judge_world(folder: Path, *, noise: float = 0.2, bias: float = 0, second: bool = True) -> None:
    """Write the votes: ann and bob judge some queries, the model bot all."""
    ledger = Ledger(folder / "quiz.judged")
    ledger.append(list_votes("ann", 1))
    if second:
        ledger.append(list_votes("bob", 2, queries=range(30)))
    every = range(COUNT)
    ledger.append(list_votes("bot", 4, kind="llm", noise=noise, bias=bias, queries=every))


def list_strays(judge: str, kind: str = "human") -> list[Vote]:
    """Return votes that do not count: ten on a text that has changed, ten on one that is gone."""
    votes = []
    for place in range(10):
        changed = Anchor(document=f"d{place}-0", document_hash="sha256:0")
        gone = Anchor(document=f"d{place}-9")
        votes += [
            Vote(f"q{place}", changed, 3, judge, kind, content="sha256:0"),  # type: ignore[arg-type]
            Vote(f"q{place}", gone, 3, judge, kind),  # type: ignore[arg-type]
        ]
    return votes
