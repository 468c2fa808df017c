"""What tables need words for: only what stands in them."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from berryeval.reports.methods import OF_A_VALUE
from berryeval.reports.rows import best_value, interval_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from berryeval.reports.model import Section
    from berryeval.scores import Scores

__all__ = ["legend_of", "namesakes"]

_INTERVALS: Final = f"with each value its {OF_A_VALUE}"
_HASH_CHARACTERS: Final = 15  # "sha256:" and eight digits


def legend_of(best: str, tables: Sequence[Scores | None], measures: Sequence[str]) -> str:
    """What marks the best, if there is one, and what the intervals are, if there are any."""
    marked = any(best_value(tables, measure) is not None for measure in measures)
    spans = any(
        interval_of(scores, measure) is not None
        for scores in tables
        if scores is not None
        for measure in measures
        if measure in scores.measures
    )
    return "; ".join([best] * marked + [_INTERVALS] * spans)


def namesakes(section: Section) -> list[str]:
    """Of providers in several runs of one name: which label is of which run."""
    systems = section.systems
    times = Counter((one.record.name, one.run.id) for one in systems)
    return [
        f"{one.label}: the run {one.run.id} of {one.run.created}, "
        f"plan {one.run.config_hash[:_HASH_CHARACTERS] or 'unknown'}"
        for one in systems
        if times[one.record.name, one.run.id] > 1
    ]
