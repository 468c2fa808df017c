"""Random judged rankings, with everything in which evaluation tools differ."""

from __future__ import annotations

import math
import random

Judgments = dict[str, dict[str, int]]
Rankings = dict[str, dict[str, float]]


def draw(seed: int, *, ties: bool = True, most: int = 40) -> tuple[Judgments, Rankings]:
    """Draw judgments (graded, negative) and a run (ties, float32 ties, missing, extra, empty)."""
    chance = random.Random(seed)
    documents = [f"d{number}" for number in range(chance.choice([3, 12, most]))]
    qrels: Judgments = {}
    for query in range(4):
        sample = chance.sample(documents, chance.randint(1, len(documents)))
        qrels[f"q{query}"] = {one: chance.choice([-1, 0, 0, 1, 1, 2, 3]) for one in sample}
        qrels[f"q{query}"]["nowhere"] = 1  # pytrec_eval hangs if every grade is negative
    run: Rankings = {}
    for query in range(1, 6):
        sample = chance.sample(documents, chance.randint(int(query > 1), len(documents)))
        tied = [0.0, 1.0, 1.00000001, 2.5, -3.0]
        run[f"q{query}"] = {one: chance.choice(tied) if ties else chance.random() for one in sample}
    return qrels, run


def agree(ours: float, theirs: float) -> bool:
    """Whether two values are equal up to rounding, or both are not numbers."""
    return abs(ours - theirs) < 1e-9 or (math.isnan(ours) and math.isnan(theirs))
