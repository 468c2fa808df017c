"""Metrics on integer ids held in NumPy arrays, and (in `.lists`) on lists of string ids.

Ranks are columns counted from 1; -1, anywhere in a row, is padding. A repeated id counts once, at
its first rank; its copies are misses that keep their places. Arithmetic is float64, results are
float32. `BACKEND` is the active implementation ("native" or "python"); both give the same bytes.

    >>> import numpy as np
    >>> from berryeval.metrics import ndcg, parse_metric
    >>> retrieved = np.array([[1, 2, 3]], dtype=np.int32)
    >>> ndcg(retrieved, np.array([[3]], dtype=np.int32), 3)
    array([0.5], dtype=float32)
    >>> str(parse_metric("map_cut.10"))
    'AP@10'
"""

from typing import TYPE_CHECKING

from berryeval._internal.backend import BACKEND
from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.data import JudgedHit, JudgedRanking, SubtopicHit, SubtopicRanking
    from berryeval.metrics.array_checks import (
        PADDING_ID,
        Denominator,
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
    from berryeval.metrics.device_arrays import LOW_BITS, UNIT_BITS, sum_scores
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
        find_deciding,
        gain_sign,
        range_of,
    )

    __all__ = [
        "BACKEND",
        "LOW_BITS",
        "PADDING_ID",
        "PROFILES",
        "UNBOUNDED",
        "UNIT_BITS",
        "Aggregate",
        "Conventions",
        "Definition",
        "Denominator",
        "Direction",
        "GradeArray",
        "JudgedHit",
        "JudgedRanking",
        "Metric",
        "MetricResult",
        "NativeSpec",
        "QueryDocArray",
        "QueryType",
        "Range",
        "RelevanceArray",
        "RequestedMetrics",
        "SubtopicHit",
        "SubtopicRanking",
        "cut_to_range",
        "definitions",
        "direction_of",
        "distinct_names",
        "evaluate_arrays",
        "find_deciding",
        "find_profile",
        "gain_sign",
        "hit_rate",
        "mrr",
        "native_spec",
        "ndcg",
        "parse_metric",
        "parse_metrics",
        "precision_at_k",
        "range_of",
        "recall_at_k",
        "register",
        "request_metrics",
        "scored_name",
        "split_names",
        "sum_scores",
        "trec_name",
        "validate_inputs",
        "validate_score_inputs",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
