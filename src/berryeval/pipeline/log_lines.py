"""What the log says about the quality of a run."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from berryeval.scores import Scores

__all__ = ["scored_and_said"]

# Whatever is asked for, the log says the same three, by the names people know.
_QUALITY: Final = {"P@5": "P@5", "P@10": "P@10", "RR": "MRR"}
log = logging.getLogger("berryeval")


def scored_and_said(score: Callable[[Sequence[str]], Scores], measures: Sequence[str]) -> Scores:
    """The scores by these measures; the log gets what every run should say."""
    from berryeval.measures import parse_measures

    everything = score([*measures, *_QUALITY])
    means = ", ".join(f"{shown}={everything.mean[name]:.3f}" for name, shown in _QUALITY.items())
    log.info("Quality metrics: %s", means)
    first = everything.per_query("RR")
    for query, outcome in zip(everything.queries, everything.outcomes, strict=True):
        if first[query] == 0 and outcome != "no relevant documents":
            log.warning("Query %s returned no relevant results", query)
    asked = set(map(str, parse_measures(measures)))
    scores = everything
    for name in _QUALITY:
        if name not in asked:
            scores = scores.without(name)
    return scores
