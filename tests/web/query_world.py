"""A benchmark of three long documents, one of them on the web, and a run of two systems on it."""

from __future__ import annotations

import json
from pathlib import Path

from berryeval.benchmarks import Benchmark, write_benchmark
from berryeval.data import Anchor, Document, Judgment, Query
from berryeval.workflows import open_history
from berryeval.workflows.evaluation import evaluate
from berryeval.workflows.plan import Plan
from berryeval.workflows.run_folder import RunFolder

RUN = "relay-run"
ADDRESS = "https://example.org/keys"
LONG = "The relay keeps a key for ninety days and then asks for another one. "
TEXTS = {
    "keys": ("# Keys\n\n" + LONG * 12 + "The last word is lantern.", ADDRESS),
    "doors": ("# Doors\n\n" + "A door opens with a card. " * 30, "javascript:alert(1)"),
    "lamps": ("# Lamps\n\nA lamp is on at night.", ""),
}
RANKINGS = {
    "old": {"q1": ["lamps", "doors"], "q2": ["doors"]},
    "new": {"q1": ["keys", "doors"], "q2": ["lamps"]},
}


def write_world(folder: Path) -> None:
    """Write the benchmark, and run both systems, in the working folder."""
    documents = tuple(Document(name, text, "", at) for name, (text, at) in TEXTS.items())
    queries = (
        Query("q1", "How long is a key kept by the relay?", "factual"),
        Query("q2", "When is the lamp on?", "factual"),
    )
    judgments = (
        Judgment("q1", Anchor(document="keys"), 2),
        Judgment("q2", Anchor(document="lamps"), 1),
        Judgment("q2", Anchor(document="keys", quote="The last word is lantern."), 1),
    )
    write_benchmark(Benchmark("relay", documents, queries, judgments), folder / "relay")
    providers = []
    for name, rankings in RANKINGS.items():
        ranked = {
            query: {hit: 9.0 - place for place, hit in enumerate(found)}
            for query, found in rankings.items()
        }
        path = folder / f"{name}.json"
        path.write_text(json.dumps(ranked), encoding="utf-8")
        options = {"path": str(path)}
        providers.append({"type": "run-file", "name": name, "chunker": "whole", "options": options})
    plan = Plan.model_validate(
        {"benchmarks": ["relay"], "providers": providers, "metrics": ["nDCG@5", "RR"]}
    )
    done = evaluate(plan, RunFolder(folder / ".berryeval" / "runs" / RUN))
    with open_history(make=True) as store:
        store.add(done.record)
