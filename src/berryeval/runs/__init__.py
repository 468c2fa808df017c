"""The record of a run, and the store of past runs."""

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
        array_of,
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
        deeper_than,
        depth_note,
        group_of,
        property_of,
        standard_of,
        with_property,
    )
    from berryeval.runs.redaction import MASK, Secrets, masked, same_if_masked, without_objects
    from berryeval.runs.store.database import NoStoreError, Place
    from berryeval.runs.store.queries import (
        FailedResult,
        Filters,
        StoredResult,
        StoredRun,
        StoredValue,
        TrendPoint,
    )
    from berryeval.runs.store.store import Added, Store, canonical, open_store
else:
    __getattr__, __dir__ = open_door(__name__)
