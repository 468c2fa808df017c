"""The limits of gates and the values of baselines, beside values over time."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import TYPE_CHECKING

from berryeval._internal import numbers
from berryeval.errors import BerryEvalError
from berryeval.reports import TrendLimit
from berryeval.workflows.baselines import find_baseline
from berryeval.workflows.verdicts import add_limits, read_rules

if TYPE_CHECKING:
    from berryeval.reports import TrendLine
    from berryeval.runs import RunRecord

log = logging.getLogger("berryeval")


def find_trend_limits(lines: Sequence[TrendLine], run: RunRecord) -> list[TrendLimit]:
    """Return the limits of the gate that a run was made with, and the values of its baseline.

    Rules about drops, or about some queries only, have no place in a chart. Rules and baselines
    that cannot be read are logged and left out.

    Args:
        lines: Values over time.
        run: Run whose plan has the gate, usually the newest.
    """
    try:
        gate = add_limits(*read_rules(run), {})
    except BerryEvalError as error:
        log.warning("the rules of the run %s are not shown: %s", run.id, error)
        return []
    limits = [
        TrendLimit(line.benchmark, line.points[-1].provider, "gate", rule.limit, f"gate: {rule}")
        for line in lines
        for rule in gate.rules
        if rule.subject == line.metric
        and rule.max_drop is None
        and not rule.where
        and rule.covers(line.benchmark, line.points[-1].provider)
    ]
    return limits + _find_baseline_values(lines, gate.baseline)


def _find_baseline_values(lines: Sequence[TrendLine], baseline: str) -> list[TrendLimit]:
    if not baseline:
        return []
    try:
        kept = find_baseline(baseline)
    except BerryEvalError as error:
        log.warning("the baseline %s is not shown: %s", baseline, error)
        return []
    limits = []
    for line in lines:
        for part in kept.parts:
            value = part.value(line.metric) if line.metric in part.values else None
            if part.owner == (line.benchmark, line.points[-1].provider) and value is not None:
                words = f"baseline {kept.run}: {part.provider} {numbers.format_metric(value)}"
                limits.append(TrendLimit(*part.owner, "baseline", value, words))
    return limits
