"""Records of runs, secrets, and the store of past runs."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.runs.answers import (
        AnswerColumns,
        AnswerRecord,
        AnswersBuilder,
        HitRecord,
        MissedTarget,
        Passage,
        array_reader,
    )
    from berryeval.runs.answers import (
        array_reader as array_of,
    )
    from berryeval.runs.record import (
        CURVE,
        FIELDS,
        RECALL_LEVELS,
        SCHEMA_VERSION,
        STANDARD,
        Asked,
        BenchmarkRecord,
        Latency,
        ProviderRecord,
        RunRecord,
        describe_depth,
        filter_queries,
        find_deeper,
        get_property,
        group_queries,
        standard_metrics,
    )

    # Former names, until every package uses the new ones.
    from berryeval.runs.record import describe_depth as depth_note
    from berryeval.runs.record import filter_queries as with_property
    from berryeval.runs.record import find_deeper as deeper_than
    from berryeval.runs.record import get_property as property_of
    from berryeval.runs.record import group_queries as group_of
    from berryeval.runs.record import standard_metrics as standard_of
    from berryeval.runs.redaction import (
        MASK,
        Secrets,
        describe_objects,
        mask_secrets,
        matches_masked,
    )
    from berryeval.runs.redaction import describe_objects as without_objects
    from berryeval.runs.redaction import mask_secrets as masked
    from berryeval.runs.redaction import matches_masked as same_if_masked
    from berryeval.runs.store.database import NoStoreError, Place
    from berryeval.runs.store.queries import (
        FailedResult,
        Filters,
        StoredResult,
        StoredRun,
        StoredValue,
        TrendPoint,
    )
    from berryeval.runs.store.store import Added, Store, canonical_metric, open_store
    from berryeval.runs.store.store import canonical_metric as canonical
else:
    __getattr__, __dir__ = open_door(__name__)
