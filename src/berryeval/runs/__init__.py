"""Records of runs, secrets, and the store of past runs."""

from typing import TYPE_CHECKING

from berryeval._internal.door import open_door

if TYPE_CHECKING:
    from berryeval.runs.answers import (
        AnswerColumns,
        AnswerRecord,
        AnswersBuilder,
        AnswerTally,
        FoundTarget,
        HitRecord,
        MissedTarget,
        Passage,
        WantedTarget,
    )
    from berryeval.runs.data_changes import DataChange, DataVersion, find_touched, mark_corpus
    from berryeval.runs.record import (
        CURVE,
        FIELDS,
        RECALL_LEVELS,
        SCHEMA_VERSION,
        STANDARD,
        Asked,
        BenchmarkRecord,
        ProviderRecord,
        RunRecord,
        StoredValue,
        describe_depth,
        filter_queries,
        find_deeper,
        get_property,
        group_queries,
        standard_metrics,
    )
    from berryeval.runs.redaction import (
        Secrets,
        describe_objects,
        find_open_keys,
        has_mask,
        mask_secrets,
        matches_masked,
    )
    from berryeval.runs.stages import Latency, StageAnswer, StageRecord
    from berryeval.runs.store.database import Database, NoStoreError, Place
    from berryeval.runs.store.queries import (
        FailedResult,
        Filters,
        RunPage,
        StoredResult,
        StoredRun,
    )
    from berryeval.runs.store.schema import TIMES, to_column_text, vote_rows
    from berryeval.runs.store.store import Added, Store, canonical_metric, open_store
    from berryeval.runs.store.trends import TrendAbout, TrendPoint
    from berryeval.runs.store.users import ROLES, Role, StoredUser, Users

    __all__ = [
        "CURVE",
        "FIELDS",
        "RECALL_LEVELS",
        "ROLES",
        "SCHEMA_VERSION",
        "STANDARD",
        "TIMES",
        "Added",
        "AnswerColumns",
        "AnswerRecord",
        "AnswerTally",
        "AnswersBuilder",
        "Asked",
        "BenchmarkRecord",
        "DataChange",
        "DataVersion",
        "Database",
        "FailedResult",
        "Filters",
        "FoundTarget",
        "HitRecord",
        "Latency",
        "MissedTarget",
        "NoStoreError",
        "Passage",
        "Place",
        "ProviderRecord",
        "Role",
        "RunPage",
        "RunRecord",
        "Secrets",
        "StageAnswer",
        "StageRecord",
        "Store",
        "StoredResult",
        "StoredRun",
        "StoredUser",
        "StoredValue",
        "TrendAbout",
        "TrendPoint",
        "Users",
        "WantedTarget",
        "canonical_metric",
        "describe_depth",
        "describe_objects",
        "filter_queries",
        "find_deeper",
        "find_open_keys",
        "find_touched",
        "get_property",
        "group_queries",
        "has_mask",
        "mark_corpus",
        "mask_secrets",
        "matches_masked",
        "open_store",
        "standard_metrics",
        "to_column_text",
        "vote_rows",
    ]
else:
    __getattr__, __dir__ = open_door(__name__)
