"""Finding a measure among those that were scored, by any spelling."""

from __future__ import annotations

import difflib
from typing import TYPE_CHECKING

from berryeval.errors import MeasureError, NotScoredError
from berryeval.measures.grammar import parse_measure

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from berryeval.measures.base import Measure

__all__ = ["scored_name"]


def scored_name(
    wanted: str | Measure, measures: Sequence[str], spellings: Mapping[str, str]
) -> str:
    """Which of `measures` is wanted; a `NotScoredError` if none is.

    A spelling that asks for what another asked for means the same measure, whatever a profile made
    of it. Otherwise it means the measure of its canonical name.

    Args:
        wanted: a spelling that is neither in `measures` nor in `spellings`.
        measures: canonical names.
        spellings: which of them each text means that was used to ask for it.
    """
    measure = _parsed(wanted)
    if measure is not None:
        for text, name in spellings.items():
            asked = _parsed(text)
            if asked is not None and (asked, asked.given) == (measure, measure.given):
                return name
        if str(measure) in measures:
            return str(measure)
    spelled = str(wanted if measure is None else measure)
    known = {text.lower(): text for text in (*spellings, *measures)}
    near = difflib.get_close_matches(spelled.lower(), known, n=1)
    hint = f"; did you mean {known[near[0]]}?" if near else ""
    msg = f"{wanted!r} was not computed; there are {', '.join(measures)}{hint}"
    raise NotScoredError(msg)


def _parsed(text: str | Measure) -> Measure | None:
    try:
        return parse_measure(text)
    except MeasureError:
        return None
