"""Metrics on integer ids held in NumPy arrays, and (in `.lists`) on lists of string ids.

Ranks are columns counted from 1; -1, anywhere in a row, is padding. A repeated id counts once, at
its first rank; its copies are misses that keep their places. Arithmetic is float64, results are
float32. `BACKEND` is the active implementation ("native" or "python"); both give the same bytes.
"""

from typing import TYPE_CHECKING

from berryeval._internal.backend import BACKEND
from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.data import JudgedHit, JudgedRanking, SubtopicHit, SubtopicRanking
    from berryeval.metrics.array_checks import (
        PADDING_ID,
        GradeArray,
        MetricResult,
        QueryDocArray,
        RelevanceArray,
        validate_inputs,
        validate_score_inputs,
    )
    from berryeval.metrics.arrays import (
        evaluate_arrays,
        hit_rate,
        mrr,
        ndcg,
        precision_at_k,
        recall_at_k,
    )
    from berryeval.metrics.base import Aggregate, Definition, Metric, NativeSpec, native_spec
    from berryeval.metrics.catalogue import definitions, register
    from berryeval.metrics.grammar import (
        distinct_names,
        parse_metric,
        parse_metrics,
        scored_name,
        split_names,
        trec_name,
    )
    from berryeval.metrics.lists import QueryType
    from berryeval.metrics.profiles import (
        PROFILES,
        Conventions,
        RequestedMetrics,
        find_profile,
        request_metrics,
    )
    from berryeval.metrics.ranges import (
        UNBOUNDED,
        Direction,
        Range,
        cut_to_range,
        direction_of,
        range_of,
    )
else:
    __getattr__, __dir__ = open_door(__name__)
