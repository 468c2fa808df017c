"""A store with many runs, filled cheaply: every row is packed once and written many times."""

from __future__ import annotations

import json
import random
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Any

from sqlalchemy import insert

from berryeval.runs.store.database import Database, Place
from berryeval.runs.store.schema import measured, pack_parts, pack_run, parts, results, runs
from tests.reports.html_records import run_record

if TYPE_CHECKING:
    from pathlib import Path

START = 1_760_000_000  # October 2025
# As in a run of `berryeval eval`: metrics that were not asked for have no interval.
MORE = [
    {"metric": f"{name}@{k}", "low": None, "high": None}
    for name in ("R", "P", "Success", "AP")
    for k in (5, 20, 50)
    if (name, k) != ("P", 5)
]


def fill_store(path: Path | str, count: int, *, seed: int = 0) -> None:
    """Fill a new store with runs of 4 providers on one benchmark, six hours apart."""
    dice = random.Random(seed)
    record = run_record(8)
    head, [(part, packed)] = pack_run(record), pack_parts(record)
    rows: dict[Any, list[dict[str, Any]]] = {
        table: [] for table in (runs, parts, results, measured)
    }
    for key in range(1, count + 1):
        tags = {"model": dice.choice(["small", "large"]), "branch": f"topic-{key // 40}"}
        rows[runs].append({
            **head, "key": key, "id": f"run-{key:05}", "moment": START + key * 21_600,
            "created": datetime.fromtimestamp(START + key * 21_600, timezone.utc).isoformat(),
            "digest": f"{key}", "tags": json.dumps(tags),
        })  # fmt: skip
        rows[parts].append({**part, "key": key, "run": key, "place": 0})
        for place, (result, values) in enumerate(packed):
            own = key * len(packed) + place
            rows[results].append({**result, "key": own, "part": key, "place": place})
            for one in [*values, *({**values[0], **more} for more in MORE)]:
                size = dice.uniform(0.8, 1.0)
                ends = {name: one[name] and size * one[name] for name in ("value", "low", "high")}
                rows[measured].append({**one, **ends, "result": own})
    database = Database(Place.of(path), make=True)
    with database.writing() as connection:
        for table, found in rows.items():
            connection.execute(insert(table), found)
    database.close()
