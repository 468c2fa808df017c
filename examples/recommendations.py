"""Score a recommendation feed of 100,000 users, as the arrays that a model makes.

There are no files and no strings: rows are users, entries are ids of items, -1 is padding.
"""

from __future__ import annotations

import numpy as np

from berryeval.metrics import PADDING_ID, evaluate_arrays

USERS, ITEMS, SHOWN, BOUGHT = 100_000, 5_000, 20, 8
METRICS = ["recall@10", "ndcg@10", "hit_rate@10", "mrr"]


def draw_purchases(chance: np.random.Generator) -> np.ndarray:
    """Draw up to 8 different items that each user bought later; popular ones more often."""
    drawn = np.sort((ITEMS * chance.random((USERS, BOUGHT)) ** 3).astype(np.int32), axis=1)
    drawn[:, 1:][drawn[:, 1:] == drawn[:, :-1]] = PADDING_ID  # an item bought twice
    drawn[np.arange(BOUGHT) >= chance.integers(1, BOUGHT + 1, (USERS, 1))] = PADDING_ID
    return np.sort(drawn, axis=1)[:, ::-1].copy()  # padding to the right


def draw_feed(chance: np.random.Generator, bought: np.ndarray, skill: float) -> np.ndarray:
    """Draw the feed of a model: popular items, and with a chance of `skill` one bought later."""
    feed = (ITEMS * chance.random((USERS, SHOWN)) ** 3).astype(np.int32)
    rows, places = np.nonzero((bought != PADDING_ID) & (chance.random(bought.shape) < skill))
    feed[rows, chance.integers(0, SHOWN, len(rows))] = bought[rows, places]
    return feed


def main() -> None:
    """Score two models on the same purchases, and compare them user by user."""
    chance = np.random.default_rng(7)
    bought = draw_purchases(chance)
    models = {"popular": 0.05, "personal": 0.12}
    scores = {
        name: evaluate_arrays(draw_feed(chance, bought, skill), bought, METRICS)
        for name, skill in models.items()
    }
    for name, values in scores.items():
        means = "  ".join(f"{metric} {values[metric].mean():.4f}" for metric in METRICS)
        print(f"{name:9} {means}")
    gained = scores["personal"]["ndcg@10"].astype(float) - scores["popular"]["ndcg@10"]
    error = gained.std(ddof=1) / np.sqrt(USERS)
    print(
        f"personal gains {gained.mean():+.4f} nDCG@10, 95 % interval "
        f"{gained.mean() - 1.96 * error:+.4f} to {gained.mean() + 1.96 * error:+.4f}, "
        f"over {USERS:,} users; {(gained < 0).mean():.1%} of them lose."
    )


if __name__ == "__main__":
    main()
