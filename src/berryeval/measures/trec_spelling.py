"""What trec_eval calls a measure, for its own output format."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from berryeval.measures.base import AT_PARAMETERS

if TYPE_CHECKING:
    from berryeval.measures.base import Measure

__all__ = ["trec_name"]

_NAME = re.compile(r"[A-Za-z0-9_]+")


def trec_name(measure: Measure) -> str:
    """trec_eval's name, as in ndcg_cut_10; our own where trec_eval has no such measure.

    A measure that takes a cutoff or does without has two names there, as in "map, map_cut": the
    second is the one with the cutoff.
    """
    names = [name.strip() for name in measure.definition.peers.get("trec_eval", "").split(",")]
    at: int | float | None = None
    optional = False
    for parameter in measure.definition.parameters:
        value = measure.params[parameter.name]
        if parameter.name in AT_PARAMETERS:
            at, optional = value, not parameter.required
        elif value != parameter.default:
            return str(measure)
    if optional and at is not None and len(names) == 1:
        return str(measure)
    name = names[0] if at is None else names[-1]
    if not _NAME.fullmatch(name):
        return str(measure)
    if at is None:
        return name
    return f"{name}_{at:.2f}" if isinstance(at, float) else f"{name}_{at}"
