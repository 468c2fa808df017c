"""Stores of experiment trackers for tests, and reading back what was logged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from berryeval.runs.record import ProviderRecord, RunRecord
from tests.reports.world import FAILURE, run_of
from tests.reports.world import provider as answered

if TYPE_CHECKING:
    import pytest

_BLOCK = 32768  # bytes of a block of a .wandb file
_HEADER = 7  # bytes at the beginning of the file, and in front of each record


def quiet_trackers(monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
    """Let both trackers write below a folder and call nobody."""
    settings = {
        "MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_ALLOW_FILE_STORE": "true",
        "WANDB_MODE": "offline", "WANDB_ERROR_REPORTING": "false", "WANDB_DIR": str(folder),
        **{f"WANDB_{name}_DIR": str(folder / name) for name in ("CACHE", "CONFIG", "DATA")},
    }  # fmt: skip
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    for name in ("MLFLOW_EXPERIMENT_NAME", "MLFLOW_EXPERIMENT_ID", "MLFLOW_TRACKING_URI",
                 "WANDB_PROJECT", "WANDB_ENTITY", "WANDB_RUN_ID"):  # fmt: skip
        monkeypatch.delenv(name, raising=False)


def tracked_run() -> RunRecord:
    """Return a run with options, tags, costs and a provider that failed."""
    costly = replace(answered("bm25"), cost={"usd": 0.25})
    failed = ProviderRecord("broken", "http", outcomes={"error": 1}, failure=FAILURE)
    options = {"url": "http://search.invalid", "headers": {"api_key": "***"}, "fields": ["a", "b"]}
    plan = {
        "k": 20, "seed": 3, "tags": {"model": "small"},
        "providers": [{"type": "bm25", "name": "bm25", "options": options}],
    }  # fmt: skip
    return replace(run_of(costly, failed), plan=plan)


def read_wandb_file(path: Path) -> Iterator[Any]:
    """Yield the records of a .wandb file, which are split into blocks as in LevelDB."""
    messages: Any = import_module("wandb.proto.wandb_internal_pb2")
    data = path.read_bytes()
    assert data[:4] == b":W&B"
    place, part = _HEADER, b""
    while place + _HEADER <= len(data):
        left = _BLOCK - place % _BLOCK
        if left < _HEADER:
            place += left
            continue
        size, kind = int.from_bytes(data[place + 4 : place + 6], "little"), data[place + 6]
        part += data[place + _HEADER : place + _HEADER + size]
        place += _HEADER + size
        if kind in {1, 4}:  # whole, or the last part
            record = messages.Record()
            record.ParseFromString(part)
            yield record
            part = b""


def read_wandb_run(folder: Path) -> dict[str, Any]:
    """Return the settings, summary, artifacts and exit code in an offline folder."""
    (file,) = folder.glob("run-*.wandb")
    found: dict[str, Any] = {"config": {}, "summary": {}, "artifacts": [], "exit": None}
    for record in read_wandb_file(file):
        kind = record.WhichOneof("record_type")
        if kind == "run":
            found["run"] = record.run
            found["config"] = _read_items(record.run.config.update)
        elif kind == "history":
            found["summary"] |= _read_items(record.history.item)
        elif kind == "summary":
            found["summary"] |= _read_items(record.summary.update)
        elif kind == "artifact":
            found["artifacts"].append(record.artifact)
        elif kind == "request" and record.request.WhichOneof("request_type") == "log_artifact":
            found["artifacts"].append(record.request.log_artifact.artifact)
        elif kind == "exit":
            found["exit"] = record.exit.exit_code
    return found


def _read_items(items: Iterable[Any]) -> dict[str, Any]:
    return {one.key or ".".join(one.nested_key): json.loads(one.value_json) for one in items}
