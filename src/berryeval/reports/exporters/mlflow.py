"""MLflow: a run for each provider on each benchmark, in the store or server of MLflow."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from berryeval._internal.optional import import_optional
from berryeval._internal.text import parse_timestamp
from berryeval.reports.tracking import TrackedRun, build_tracked_runs, describe_place, tracker

if TYPE_CHECKING:
    from berryeval.reports.sections import Report


EXPERIMENT: Final = "berryeval"  # unless MLFLOW_EXPERIMENT_NAME or MLFLOW_EXPERIMENT_ID is set
QUERIES: Final = "queries.json"
_KEY: Final = "berryeval.key"
_CONTENT: Final = "berryeval.content_hash"
_BATCH: Final = 100  # parameters, tags or metrics per request
_LONGEST: Final = 5000  # characters of a tag; MLflow cuts parameters itself
_LONGEST_NAME: Final = 250
_SIGNS: Final = re.compile(r"[^\w/.: -]")  # those that names of tags must not have
# A server that does not answer would be tried for minutes, unless the user sets another number.
_RETRIES: Final = ("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "2")


def track(report: Report, place: str, label: str) -> str:
    """Log the runs to a tracking URI, by default that of MLflow, and say where they are."""
    mlflow = import_optional("mlflow", "the exporter mlflow", extra="mlflow")
    address = place or mlflow.get_tracking_uri()
    runs = build_tracked_runs(report, label)
    with _few_retries():
        client = mlflow.MlflowClient(tracking_uri=address)
        experiment = _find_experiment(client)
        done = [_log(client, experiment.experiment_id, run) for run in runs]
    where = f"the experiment {experiment.name} at {address}"
    return describe_place("MLflow", where, sum(done), len(runs))


MLFLOW: Final = tracker(
    "mlflow", "MLflow", "runs of MLflow: parameters, metrics, a table of queries, the report", track
)


@contextmanager
def _few_retries() -> Iterator[None]:
    name, number = _RETRIES
    if name in os.environ:
        yield
        return
    os.environ[name] = number
    try:
        yield
    finally:
        os.environ.pop(name, None)


def _find_experiment(client: Any) -> Any:
    """Return the experiment that the environment names, or ours; create it if missing."""
    number = os.environ.get("MLFLOW_EXPERIMENT_ID")
    if number:
        return client.get_experiment(number)
    name = os.environ.get("MLFLOW_EXPERIMENT_NAME") or EXPERIMENT
    found = client.get_experiment_by_name(name)
    return found or client.get_experiment(client.create_experiment(name))


def _log(client: Any, experiment: str, run: TrackedRun) -> bool:
    """Log one run, into the one of an earlier export if there is one; return whether it changed."""
    wanted = f"tags.`{_KEY}` = '{run.key}'"
    found = client.search_runs([experiment], wanted, max_results=1)
    if not found:
        start = int(parse_timestamp(run.identity["created"], run.identity["run_id"]) * 1000)
        tags = {_KEY: run.key, "mlflow.source.name": "berryeval"}
        found = [client.create_run(experiment, start, tags, run.name)]
    elif found[0].data.tags.get(_CONTENT) == run.content_hash:
        return False
    (kept,) = found
    number = kept.info.run_id
    try:
        if kept.info.run_name != run.name:
            client.update_run(number, name=run.name)
        _log_values(client, number, run, kept.data)
        for name, text in {**run.files, QUERIES: _write_table(run)}.items():
            client.log_text(number, text, name)
    except BaseException:
        with suppress(Exception):  # the first error counts
            client.set_terminated(number, "FAILED")
        raise
    client.set_terminated(number, "FAILED" if run.failure else "FINISHED")
    client.set_tag(number, _CONTENT, run.content_hash)  # last: an export cut short is done again
    return True


def _log_values(client: Any, number: str, run: TrackedRun, kept: Any) -> None:
    """Log parameters, metrics and tags in parts; values that are there already are left out."""
    from mlflow.entities import Metric, Param, RunTag

    now = int(time.time() * 1000)
    changed = {name: one for name, one in run.metrics.items() if kept.metrics.get(name) != one}
    new = {name: one for name, one in run.params.items() if name not in kept.params}
    for some in _split([Metric(name, one, now, 0) for name, one in changed.items()]):
        client.log_batch(number, metrics=some)
    for some in _split([Param(name, str(one)) for name, one in new.items()]):
        client.log_batch(number, params=some)
    tags = {
        **{_safe_tag(name): one for name, one in run.tags.items()},
        **{f"berryeval.{name}": one for name, one in run.identity.items()},
        **{f"berryeval.metric.{name}": metric for name, metric in run.spellings.items()},
        "berryeval.failure": run.failure,
        # By this tag the pages of MLflow show the file as a table.
        "mlflow.loggedArtifacts": json.dumps([{"path": QUERIES, "type": "table"}]),
        _KEY: run.key,
    }
    shown = [RunTag(name, one[:_LONGEST]) for name, one in tags.items() if one]
    for some in _split(shown):
        client.log_batch(number, tags=some)


def _safe_tag(name: str) -> str:
    """Return a name that MLflow accepts: few signs, and no path that leads elsewhere."""
    plain = _SIGNS.sub("_", name)[:_LONGEST_NAME]
    steps = plain.split("/")
    return plain if all(one.strip(".") for one in steps) else re.sub("[./]", "_", plain)


def _split(values: Sequence[Any]) -> Iterator[list[Any]]:
    left = iter(values)
    while some := list(islice(left, _BATCH)):
        yield some


def _write_table(run: TrackedRun) -> str:
    """Write the table of queries as `mlflow.load_table` reads it."""
    return json.dumps({"columns": run.columns, "data": run.rows}, ensure_ascii=False)
