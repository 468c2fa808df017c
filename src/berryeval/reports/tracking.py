"""Runs for experiment trackers: parameters, metrics and a table per benchmark and provider."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final, NoReturn

from berryeval._internal import numbers
from berryeval._internal.masking import MASK, Masker
from berryeval._internal.plain import describe_error, plain_text
from berryeval._internal.text import pluralize
from berryeval.errors import BerryEvalError, ConfigurationError, DataError
from berryeval.reports.exports import EXPORTERS, Exporter
from berryeval.runs import mask_secrets

if TYPE_CHECKING:
    from berryeval.reports.exports import OutputFile
    from berryeval.reports.sections import Report, Section, System
    from berryeval.scoring import Scores


TABLE: Final = ("query_id", "query", "category", "outcome", "latency_seconds", "error")
_SIGNS: Final = re.compile(r"[^A-Za-z0-9]+")
_SEPARATORS: Final = re.compile(r"\s+")
# With the name of the user; addresses of databases may have any sign in a password.
_WORD: Final = re.compile(r"\S+")
_SECRETS: Final = ("MLFLOW_TRACKING_PASSWORD", "MLFLOW_TRACKING_TOKEN", "WANDB_API_KEY")


@dataclass(frozen=True)
class TrackedRun:
    """One provider on one benchmark of a run, as a tracker keeps it.

    Attributes:
        name: Name to display.
        identity: Id and start of the run, benchmark and provider: the same for every export.
        params: Settings, versions and hashes, flat; secrets are masked.
        metrics: Means, intervals, latency, cost and counts, by names that every tracker accepts.
        spellings: The name of each metric in BerryEval, by its name among `metrics`.
        tags: Tags of the run.
        columns: Titles of the table of queries.
        rows: Its rows, one per query.
        failure: Reason why there are no scores.
        files: Contents of the files to attach, by name.
    """

    name: str
    identity: Mapping[str, str]
    params: Mapping[str, Any]
    metrics: Mapping[str, float]
    spellings: Mapping[str, str]
    tags: Mapping[str, str]
    columns: tuple[str, ...]
    rows: list[list[Any]] = field(repr=False)
    failure: str = ""
    files: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def key(self) -> str:
        """Identity in 32 characters, by which a second export finds the first."""
        return _hash(dict(self.identity))[:32]

    @cached_property
    def content_hash(self) -> str:
        """Hash of everything but the attached files: an export that changes nothing has it."""
        parts = (self.name, self.params, self.metrics, self.tags, self.rows, self.failure)
        return _hash(parts)


def _hash(value: Any) -> str:
    return hashlib.sha256(json.dumps(value, default=str, sort_keys=True).encode()).hexdigest()


def tracker(
    name: str, product: str, summary: str, track: Callable[[Report, str, str], str]
) -> Exporter:
    """Return the exporter of a tracker, which has no files; its errors become one line."""

    def refuse_files(report: Report, label: str) -> list[OutputFile]:
        del report, label
        raise ConfigurationError(
            f"{name} logs runs to a tracker and writes no file; use berryeval report RUN "
            f"--format {name}, or berryeval eval --export {name}"
        )

    def track_safely(report: Report, place: str, label: str) -> str:
        with _explain_errors(product):
            return track(report, place, label)

    modules = {name: name}
    return Exporter(summary, (), refuse_files, "tracker", track=track_safely, modules=modules)


@contextmanager
def _explain_errors(product: str) -> Iterator[None]:
    """Turn any error of a tracker into one line: the run itself is safe."""
    try:
        yield
    except BerryEvalError:
        raise
    except Exception as error:  # noqa: BLE001 - of a server, a database, a disk or a package
        _fail(product, error)


def _fail(product: str, error: Exception) -> NoReturn:
    words = _SEPARATORS.sub(" ", _mask(describe_error(error))).strip()
    raise DataError(f"{product} did not take the run ({words})") from None


def _mask(text: str) -> str:
    """Mask passwords in addresses, the keys of the trackers, and the secrets of the run."""
    own = Masker(filter(None, map(os.environ.get, _SECRETS)))
    known = Masker.known().mask(text)
    return _WORD.sub(_mask_password, own.mask(known))


def _mask_password(word: re.Match[str]) -> str:
    """Mask what is between :// and the last @ of a word: passwords may have these signs."""
    scheme, colon, rest = word[0].partition("://")
    _, at, host = rest.rpartition("@")
    return f"{scheme}{colon}{MASK}@{host}" if at else word[0]


def describe_place(product: str, place: str, done: int, total: int) -> str:
    """Describe where runs were logged, and how many of them were there before."""
    before = f", {total - done} of them already there" if done < total else ""
    return f"{product}: {pluralize(total, 'run')} in {_mask(place)}{before}"


def build_tracked_runs(report: Report, label: str = "") -> list[TrackedRun]:
    """Build a run for each provider on each benchmark, with the whole HTML report attached."""
    page = {file.name: file.text for file in EXPORTERS.get("html").files(report, "")}
    return [
        _build(section, system, label, page)
        for section in report.sections
        for system in section.systems
    ]


def _build(section: Section, system: System, label: str, page: Mapping[str, str]) -> TrackedRun:
    run, record, scores = system.run, system.record, system.scores
    identity = {
        "run_id": run.id, "created": run.created, "benchmark": section.name,
        "provider": record.name,
    }  # fmt: skip
    spellings, metrics = _collect_metrics(system)
    columns, rows = _build_table(section, system)
    files = dict(page)
    if scores is not None:
        files["scores.json"] = json.dumps(scores.to_dict(), ensure_ascii=False) + "\n"
    name = " ".join(filter(None, (label or run.id, section.title, record.name)))
    parts = _clean([
        name, identity, _collect_params(identity, system), metrics, spellings, run.tags,
        columns, rows, record.failure, files,
    ])  # fmt: skip
    return TrackedRun(*parts)


def _clean(value: Any) -> Any:
    """Replace what cannot be encoded in texts: one of them can make a whole store unreadable."""
    if isinstance(value, str):
        return plain_text(value)
    if isinstance(value, Mapping):
        return {_clean(name): _clean(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(map(_clean, value))
    return value


def _collect_params(identity: Mapping[str, str], system: System) -> dict[str, Any]:
    """Return what decided the scores; only plans with masked secrets are recorded."""
    run, part, record = system.run, system.benchmark, system.record
    specs = run.plan.get("providers")
    spec: Mapping[str, Any] = next(
        (one for one in specs or () if isinstance(one, Mapping) and _label(one) == record.name), {}
    )
    found = {
        **identity,
        "provider_type": record.type,
        "chunker": record.chunker,
        "k": part.k,
        "queries": len(part.queries),
        "seed": run.plan.get("seed"),
        "limit": run.plan.get("limit"),
        "filter": run.plan.get("filter"),
        "judging": record.judging,
        "content_hash": part.content_hash,
        "config_hash": run.config_hash,
        "options": mask_secrets(spec.get("options") or {}),
        "version": run.versions,
    }
    flat = dict(_flatten(found))
    return {name: one for name, one in flat.items() if one not in (None, "")}


def _label(spec: Mapping[str, Any]) -> str:
    kind, chunker = spec.get("type"), spec.get("chunker")
    return str(spec.get("name") or (f"{kind}:{chunker}" if chunker else kind))


def _flatten(values: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Yield nested values under joined names, such as options.url; lists as JSON."""
    for name, value in values.items():
        path = before + _SIGNS.sub("_", str(name))
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{path}.")
        elif isinstance(value, list | tuple):
            yield path, json.dumps(value, ensure_ascii=False, default=str)
        else:
            yield path, value


def _collect_metrics(system: System) -> tuple[dict[str, str], dict[str, float]]:
    """Return the metrics by their names in BerryEval, and all values, by safe names."""
    record = system.record
    spellings: dict[str, str] = {}
    found = _collect_scores(system.scores, spellings) if system.scores is not None else {}
    if record.latency is not None:
        found["latency_p50_seconds"] = record.latency.p50
        found["latency_p95_seconds"] = record.latency.p95
    units: dict[str, str] = {}
    for unit, amount in record.cost.items():
        found[_safe_name(f"cost_{unit}", units)] = float(amount)
    for outcome, count in record.outcomes.items():
        found[f"queries_{_SIGNS.sub('_', outcome)}"] = float(count)
    return spellings, found


def _collect_scores(scores: Scores, spellings: dict[str, str]) -> dict[str, float]:
    found: dict[str, float] = {}
    for metric in scores.metrics:
        name = _safe_name(metric, spellings)
        found[name] = float(scores.mean[metric])
        interval = numbers.known_interval(*scores.ci(metric), scores.count)
        if interval is not None:
            found[f"{name}_low"], found[f"{name}_high"] = map(float, interval)
    return found


def _safe_name(metric: str, taken: dict[str, str]) -> str:
    """Return a name of letters, digits and underscores: `nDCG_at_10` for nDCG@10.

    Two metrics never share a name, also where a tracker ignores case.
    """
    first = name = _SIGNS.sub("_", metric.replace("@", "_at_")).strip("_") or "metric"
    number = 1
    while name.lower() in map(str.lower, taken):
        number += 1
        name = f"{first}_{number}"
    taken[name] = metric
    return name


def _build_table(section: Section, system: System) -> tuple[tuple[str, ...], list[list[Any]]]:
    """Build a row per query: its text, outcome, latency, and the value of each metric."""
    scores = system.scores
    metrics = scores.metrics if scores is not None else ()
    values = [scores.per_query(metric) for metric in metrics] if scores is not None else []
    answers = {one.query_id: one for one in system.summaries}
    rows = []
    for query in section.queries:
        answer = answers.get(query.id)
        about = ("missing", None, "") if answer is None else (
            answer.outcome, answer.latency, answer.error
        )  # fmt: skip
        own = [column.get(query.id) for column in values]
        rows.append([query.id, query.text, query.category or "", *about, *own])
    return (*TABLE, *metrics), rows
