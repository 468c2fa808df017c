"""The store of past runs: one SQLite file, or a PostgreSQL; a run is in it whole or not at all."""

from berryeval.store.database import NoStoreError
from berryeval.store.rows import FailedResult, StoredResult, StoredRun, StoredValue, TrendPoint
from berryeval.store.store import Added, Store, open_store

__all__ = [
    "Added",
    "FailedResult",
    "NoStoreError",
    "Store",
    "StoredResult",
    "StoredRun",
    "StoredValue",
    "TrendPoint",
    "open_store",
]
