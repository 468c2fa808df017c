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
        array_reader,
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
    from berryeval.runs.redaction import (
        Secrets,
        describe_objects,
        find_open_keys,
        mask_secrets,
        matches_masked,
    )
    from berryeval.runs.store.database import Database, NoStoreError, Place
    from berryeval.runs.store.queries import (
        FailedResult,
        Filters,
        RunPage,
        StoredResult,
        StoredRun,
        StoredValue,
    )
    from berryeval.runs.store.schema import to_column_text, vote_rows
    from berryeval.runs.store.store import Added, Store, canonical_metric, open_store
    from berryeval.runs.store.trends import TrendAbout, TrendPoint
    from berryeval.runs.store.users import ROLES, Role, StoredUser, Users
else:
    __getattr__, __dir__ = open_door(__name__)
