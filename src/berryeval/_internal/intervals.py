"""Former names of `_internal.aggregates`, until every package uses the new ones."""

# ruff: noqa: PLC0414

from __future__ import annotations

from berryeval._internal import aggregates
from berryeval._internal.aggregates import FEWEST_ALIKE as FEWEST_ALIKE
from berryeval._internal.aggregates import MANY as MANY
from berryeval._internal.aggregates import RESAMPLES as RESAMPLES
from berryeval._internal.aggregates import RESAMPLES_OF_MANY as RESAMPLES_OF_MANY
from berryeval._internal.aggregates import Interval as Interval
from berryeval._internal.aggregates import aggregate as aggregate
from berryeval._internal.aggregates import bootstrap_interval as bootstrap_interval
from berryeval._internal.aggregates import t_interval as t_interval

spread_known = aggregates.is_spread_known
restored = aggregates.restore_scale
